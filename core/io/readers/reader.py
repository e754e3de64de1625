"""One file format: a row of the table of readers, from this program or an installed package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...foundation.representation import one_line_repr
from .variables import LoadedFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ...data.sequence import Sequence
    from .reading_options import ReadingOptions
    from .variables import Parts


def _never(_: object) -> bool:
    """Plain text has no first bytes to be recognized by, and a folder is no sequence of most formats."""
    return False


def _load_nothing(path: Path, content: bytes) -> LoadedFile:
    """Leave all of a file to `interpret`."""
    return LoadedFile(path, content, {})


@dataclass(frozen=True)
class Reader:
    """One file format.

    `load` finds what is in the bytes of a file; `interpret` finds the tracks among it. Both raise InputError
    where the file is not what it should be.
    """

    suffix: str
    label: str  # in a file dialog
    interpret: Callable[[LoadedFile, ReadingOptions], Parts | Sequence]
    load: Callable[[Path, bytes], LoadedFile] = _load_nothing
    recognizes: Callable[[bytes], bool] = _never  # whether bytes are of this format, whatever the suffix
    self_contained: bool = False  # whether no other file (visibility, truth, camera) is read with it
    options: tuple[str, ...] = ()  # reading options that it accepts besides the camera
    folder: Callable[[Path], bool] = _never  # whether a folder is one sequence of this format
    listed: bool = True  # whether a folder lists files of the suffix; many texts are no tracks

    __repr__ = one_line_repr
