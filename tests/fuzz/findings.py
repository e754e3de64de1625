"""What was found: one file for each cause."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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


@dataclass
class Tally:
    """What became of the inputs of one reader."""

    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0  # of all
    slowest: float = 0.0
    largest: float = 0.0  # MB

    def add(self, outcome: Outcome) -> None:
        """Count an outcome."""
        self.outcomes["finding" if outcome.is_finding else outcome.kind] += 1
        self.seconds += outcome.seconds
        self.slowest = max(self.slowest, outcome.seconds)
        self.largest = max(self.largest, outcome.memory)


class Report:
    """The outcomes of all inputs, by reader and by cause."""

    def __init__(self) -> None:
        self.tallies: dict[str, Tally] = {}
        self.findings: dict[tuple[str, str], Finding] = {}

    def add(self, reader: str, name: str, case: Case, outcome: Outcome) -> None:
        """Count an input, and keep the first of each cause."""
        self.tallies.setdefault(reader, Tally()).add(outcome)
        if outcome.is_finding:
            known = self.findings.setdefault((reader, outcome.cause), Finding(reader, name, case, outcome, 0))
            known.count += 1

    @property
    def count(self) -> int:
        """The number of inputs."""
        return sum(tally.outcomes.total() for tally in self.tallies.values())

    def table(self) -> str:
        """Return the counts by reader as lines."""
        titles = f"{'inputs':>8}{'read':>8}{'refused':>9}{'findings':>10}{'CPU s':>8}{'slowest':>9}{'MB':>6}"
        lines = [f"{'reader':14}{titles}"]
        for reader, tally in self.tallies.items():
            read, refused, findings = (tally.outcomes[kind] for kind in ("read", "refused", "finding"))
            lines.append(
                f"{reader:14}{tally.outcomes.total():8}{read:8}{refused:9}{findings:10}{tally.seconds:8.1f}"
                f"{tally.slowest:9.2f}{tally.largest:6.0f}"
            )
        return "\n".join(lines)
