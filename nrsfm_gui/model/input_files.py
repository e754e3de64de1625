"""The files that a session consists of, which no export may replace. No Qt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from core import Sequence, Settings

INPUT = "a file of what is open"
SOURCES = {"rotations": "the file of the rotations", "intrinsics": "the file of the intrinsics"}


class InputFiles:
    """Files by the sequences that they belong to: tracks, pictures behind them, results, triangulations."""

    def __init__(self) -> None:
        self._files: dict[str, set[Path]] = {}  # by `Sequence.content`

    def add(self, sequences: Iterable[Sequence], files: Iterable[Path]) -> None:
        """Add files that were read for some sequences."""
        found = [file.absolute() for file in files]
        for sequence in sequences:
            self._files.setdefault(sequence.content, set()).update(found)

    def of(self, opened: Iterable[tuple[Sequence, Settings | None]]) -> dict[Path, str]:
        """Return the files of sequences and of their parameters, with what a sentence calls each."""
        uses: dict[Path, str] = {}
        for sequence, settings in opened:
            own = {file for file in (sequence.source, sequence.video) if file is not None}
            uses |= dict.fromkeys(own | self._files.get(sequence.content, set()), INPUT)
            for name, use in SOURCES.items():
                source = getattr(settings, name, None)
                if isinstance(source, Path):
                    uses[source] = use
        return uses
