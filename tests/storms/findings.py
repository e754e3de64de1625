"""What a storm found, and the table of all storms."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COLUMNS = ("storm", "moments", "lost", "half-written", "notes")


class Lost(Exception):
    """Something that was written is not there any more."""


class HalfWritten(Exception):
    """A file, or several that belong together, are neither old nor new."""


class Wrong(Exception):
    """Something else is not as it should be: an exit code, a traceback, a file that is left."""


@dataclass
class StormRow:
    """A row of the table, with a sentence for everything that was found."""

    storm: str
    moments: int = 0
    lost: list[str] = field(default_factory=list)
    half_written: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def noting(self, moment: str) -> Iterator[None]:
        """Count a moment, and what is raised in the block."""
        self.moments += 1
        try:
            yield
        except Lost as found:
            self.lost.append(f"{moment}: {found}")
        except HalfWritten as found:
            self.half_written.append(f"{moment}: {found}")
        except Wrong as found:
            self.wrong.append(f"{moment}: {found}")

    @property
    def found(self) -> list[str]:
        """All sentences."""
        return [*self.lost, *self.half_written, *self.wrong]

    def cells(self) -> tuple[str, ...]:
        """Return the row as text."""
        notes = list(self.notes)
        if self.wrong:
            notes.append(f"{len(self.wrong)} otherwise wrong")
        if self.found:
            notes.append(f"first: {' '.join(self.found[0].split())[:300]}")
        numbers = (self.moments, len(self.lost), len(self.half_written))
        return (self.storm, *map(str, numbers), "; ".join(notes))


def render_rows(rows: Iterable[StormRow]) -> str:
    """Return the table as Markdown, with the sums in the last row."""
    rows = list(rows)
    total = StormRow("all", sum(row.moments for row in rows))
    for row in rows:
        total.lost += row.lost
        total.half_written += row.half_written
        total.wrong += row.wrong
    lines = [COLUMNS, ("---", "--:", "--:", "--:", "---"), *(row.cells() for row in rows)]
    lines.append((*total.cells()[:4], f"{len(total.wrong)} otherwise wrong"))
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
