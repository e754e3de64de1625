"""What was found: one file for each cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from pathlib import Path

    from workers import Case, Outcome


@dataclass
class Finding:
    """Inputs that ended in the same way at the same place."""

    reader: str
    name: str  # of the first input, as the command has it
    case: Case
    outcome: Outcome
    count: int = 1

    def write(self, folder: Path) -> Path:
        """Write the damaged file and what is known of it; return the file."""
        words = "".join(c if c.isalnum() else "_" for c in f"{self.reader} {self.outcome.cause}")[:100]
        path = folder / f"{words}{self.case.changed.suffix}"
        path.write_bytes(self.case.content)
        lines = (
            f"cause: {self.outcome.cause}",
            f"inputs: {self.count}, the first is {self.name}",
            f"in place of: {self.case.changed.name} of {self.case.path.name}",
            f"options: {' '.join(self.case.options)}",
            f"seconds: {self.outcome.seconds:.2f}, MB: {self.outcome.memory:.0f}",
            "",
            self.outcome.sentence,
        )
        path.with_name(f"{path.name}.txt").write_text("\n".join(lines), errors="backslashreplace")
        return path


class Report:
    """The outcomes of all inputs, by reader and by cause."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, str, float, float]] = []
        self.findings: dict[tuple[str, str], Finding] = {}

    def add(self, reader: str, name: str, case: Case, outcome: Outcome) -> None:
        """Count an input, and keep the first of each cause."""
        kind = "findings" if outcome.is_finding else outcome.kind
        self._rows.append((reader, kind, outcome.seconds, outcome.memory))
        if outcome.is_finding:
            known = self.findings.setdefault((reader, outcome.cause), Finding(reader, name, case, outcome, 0))
            known.count += 1

    @property
    def count(self) -> int:
        """The number of inputs."""
        return len(self._rows)

    def table(self) -> str:
        """Return the counts by reader as lines."""
        rows = pd.DataFrame(self._rows, columns=["reader", "kind", "seconds", "memory"])
        readers, kinds = rows.groupby("reader", sort=False), ("read", "refused", "findings")
        counts = {kind: (rows["kind"] == kind).groupby(rows["reader"], sort=False).sum() for kind in kinds}
        of_all = {"CPU s": readers["seconds"].sum().round(1), "slowest": readers["seconds"].max().round(2)}
        table = pd.DataFrame({"inputs": readers.size(), **counts, **of_all})
        table["MB"] = readers["memory"].max().round().astype(int)
        return table.rename_axis(None).to_string()
