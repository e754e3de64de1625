"""What a storm found, and the table of all storms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

COLUMNS = ("storm", "moments", "lost", "half-written", "notes")


class Found(Exception):
    """Something that a storm found."""


class Lost(Found):
    """Something that was written is not there any more."""


class HalfWritten(Found):
    """A file, or several that belong together, are neither old nor new."""


class Wrong(Found):
    """Something else is not as it should be: an exit code, a traceback, a file that is left."""


@dataclass
class StormRow:
    """A row of the table, with everything that was found, and at which moment."""

    storm: str
    moments: int = 0
    findings: list[tuple[str, Found]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def noting(self, moment: str) -> Iterator[None]:
        """Count a moment, and what is raised in the block."""
        self.moments += 1
        try:
            yield
        except Found as found:
            self.findings.append((moment, found))

    @property
    def found(self) -> list[str]:
        return [f"{moment}: {' '.join(str(found).split())}" for moment, found in self.findings]

    def cells(self) -> tuple[str, ...]:
        kinds = [type(found) for _, found in self.findings]
        notes = [*self.notes, f"{kinds.count(Wrong)} otherwise wrong"]
        if self.findings:
            notes.append(f"first: {self.found[0][:300]}")
        numbers = self.moments, kinds.count(Lost), kinds.count(HalfWritten)
        return (self.storm, *map(str, numbers), "; ".join(notes))


def render_rows(rows: Iterable[StormRow]) -> str:
    """Return the table as Markdown, with the sums in the last row."""
    rows = list(rows)
    total = StormRow("all", sum(row.moments for row in rows), [each for row in rows for each in row.findings])
    lines = [COLUMNS, ("---", "--:", "--:", "--:", "---"), *(row.cells() for row in (*rows, total))]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
