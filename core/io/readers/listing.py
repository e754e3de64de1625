"""What can be read in a folder: every sequence with the cheap facts about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...foundation.exceptions import InputError
from ..files.contents import sequence_name
from ..files.reading_options import ReadingOptions
from . import challenge
from .arrays.known_layouts import CAMERA_FILE
from .arrays.npy import tracks_of_mask
from .challenge import challenge_file, find
from .entry import SequenceEntry, entry_of
from .read import read_file
from .samples import PREFIX, bundled_samples, resolve
from .table import accepted_folders, is_sequence_folder, listed_suffixes

if TYPE_CHECKING:
    import os

DEPTH_OF_FILES = 2  # how far below a folder without files of its own they are looked for


def list_sequences(path: str | os.PathLike[str], *, frame_base: int = 1) -> tuple[SequenceEntry, ...]:
    """Return what can be read in a folder or file, with the cheap facts about each.

    A file that is broken is listed too, with its problem; only an absent path and a folder without any
    sequence are refused.

    Parameters
    ----------
    path
        a Challenge object's folder, a folder of such folders (up to three levels deep), a folder of `.mat`,
        `.npz`, ... files, a folder of such folders (up to two levels deep), one file, or "sample:NAME";
        "sample:" lists all bundled ones.
    frame_base
        as in `read_sequence`.

    Returns
    -------
    tuple[SequenceEntry, ...]
        one entry for each sequence.

    Raises
    ------
    InputError
        where there is no such path, or nothing in it that can be read.

    Examples
    --------
    >>> import core
    >>> [entry.path_name for entry in core.list_sequences("sample:balloon/circle")]
    ['circle']
    """
    if str(path) == PREFIX:
        return bundled_samples()
    path = resolve(Path(path))
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    if path.is_dir() and not is_sequence_folder(path):
        entries = [challenge.entry(item, frame_base) for item in find(path)]
        entries += _entries_of_files(path, DEPTH_OF_FILES)
        if not entries:
            raise InputError(f"{path}: holds no sequence; {accepted_folders()}")
        return tuple(entries)
    item = challenge_file(path)
    return (_entry(path)[0] if item is None else challenge.entry(item, frame_base),)


def _entries_of_files(folder: Path, depth: int) -> list[SequenceEntry]:
    """Return the entries of the files and sequence folders of a folder, or of those below if it has none."""
    try:
        inside = sorted(item for item in folder.iterdir() if not item.name.startswith("."))
    except OSError as error:
        problem = f"{folder}: cannot be listed ({error.strerror or error})"
        return [SequenceEntry(folder.name, None, "", folder.absolute(), problem=problem)]
    listed = listed_suffixes()
    found = [
        item
        for item in inside
        if (item.suffix.lower() in listed and item.is_file() and tracks_of_mask(item) is None)
        or (item.is_dir() and is_sequence_folder(item))
    ]
    if found:
        return _entries(found)
    if depth == 0 or (folder / "sequence").is_dir():  # below an object of the Challenge lie its own parts
        return []
    return [entry for item in inside if item.is_dir() for entry in _entries_of_files(item, depth - 1)]


def _entries(files: list[Path]) -> list[SequenceEntry]:
    """Return the entries of files in one folder, without the camera's file where a sequence uses it."""
    read = [_entry(item) for item in files]
    used = any(uses_camera_file for _, uses_camera_file in read)
    return [entry for entry, _ in read if not (used and entry.file.name == CAMERA_FILE)]


def _entry(path: Path) -> tuple[SequenceEntry, bool]:
    """Return the entry of a file, and whether its sequence has K from the camera's file in its folder."""
    try:
        sequence = read_file(path, ReadingOptions())
    except InputError as error:
        return SequenceEntry(sequence_name(path), None, "", path.absolute(), problem=str(error)), False
    return entry_of(sequence), CAMERA_FILE in sequence.provenance
