"""What can be read in a folder, and the bundled sequences: each with the cheap facts about it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ...data.sequence import CameraModel, Sequence
from ...foundation.exceptions import InputError
from ...foundation.representation import OneLine
from ..files.contents import parse_mask, read_bytes, sequence_name
from ..files.reading_options import ReadingOptions
from .arrays.known_layouts import CAMERA_FILE
from .arrays.saved_arrays import tracks_of_mask
from .challenge import EDGES, FACES, ChallengeFile, bundled_files, challenge_file, find, resolve, truth_file
from .read import read_file
from .table import accepted_folders, is_sequence_folder, listed_suffixes

DEPTH_OF_FILES = 2  # how far below a folder without files of its own they are looked for


@dataclass(frozen=True)
class SequenceEntry(OneLine):
    """A sequence found in a folder or file by `list_sequences`. `read_sequence(entry.file)` reads it.

    Parameters
    ----------
    object_name, path_name
        such as "balloon" and "circle"; the path is empty where the file holds one sequence that has none.
    camera
        None where the file is broken and does not state it.
    file
        where it is.
    frames, points, visible_fraction
        how many there are, and the share of the observations that are seen.
    truth_frame, truth_frames
        the 0-based frame that the ground truth refers to, and the number of frames that have one.
    intrinsics, rotations, companion
        whether K, the true cameras, and the same points under an orthogonal camera are there.
    edges, faces
        how many there are.
    problem
        a sentence on a file that is broken, whose facts are zero.
    """

    object_name: str
    camera: CameraModel | None
    path_name: str
    file: Path
    frames: int = 0
    points: int = 0
    visible_fraction: float = 0.0
    truth_frame: int | None = None
    truth_frames: int = 0
    intrinsics: bool = False
    rotations: bool = False
    companion: bool = False
    edges: int = 0
    faces: int = 0
    problem: str = ""

    @property
    def place(self) -> Path:
        """Where an object lies, with all its paths and cameras, or the file that is one sequence."""
        return self.file.parents[2] if self.path_name else self.file


def entry_of(sequence: Sequence) -> SequenceEntry:
    """Return the entry of a sequence that has been read from one file."""
    assert sequence.source is not None  # every reader sets it
    truth = sequence.truth
    return SequenceEntry(
        sequence.name,
        sequence.camera,
        "",
        sequence.source,
        sequence.frame_count,
        sequence.point_count,
        visible_fraction=float(sequence.visible.mean()),
        truth_frame=None if truth is None else truth.reference,
        truth_frames=0 if truth is None else len(truth.frames),
        intrinsics=sequence.intrinsics is not None,
        rotations=sequence.rotations is not None,
        companion=sequence.companion is not None,
        edges=0 if sequence.edges is None else len(sequence.edges),
        faces=0 if sequence.faces is None else len(sequence.faces),
    )


def bundled_samples() -> tuple[SequenceEntry, ...]:
    """Return the bundled sequences, objects by name, perspective before orthogonal; none where none are.

    Returns
    -------
    tuple[SequenceEntry, ...]
        objects by name, perspective before orthogonal; empty where none are installed.

    Examples
    --------
    >>> import core
    >>> core.bundled_samples()[0].object_name
    'articulated'
    """
    return tuple(_challenge_entry(item, 1) for item in bundled_files())


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
    path = resolve(Path(path))
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    if path.is_dir() and not is_sequence_folder(path):
        entries = [_challenge_entry(item, frame_base) for item in find(path)]
        entries += _entries_of_files(path, DEPTH_OF_FILES)
        if not entries:
            raise InputError(f"{path}: holds no sequence; {accepted_folders()}")
        return tuple(entries)
    item = challenge_file(path)
    return tuple(_entries([path]) if item is None else [_challenge_entry(item, frame_base)])


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
    entries, used = [], False
    for path in files:
        try:
            sequence = read_file(path, ReadingOptions())
            entries.append(entry_of(sequence))
            used |= CAMERA_FILE in sequence.provenance
        except InputError as error:
            name = sequence_name(path)
            entries.append(SequenceEntry(name, None, "", path.absolute(), problem=str(error)))
    return [entry for entry in entries if not (used and entry.file.name == CAMERA_FILE)]


def _challenge_entry(item: ChallengeFile, frame_base: int) -> SequenceEntry:
    """Return the facts about one sequence, its numbers counted but not parsed."""
    try:
        content = read_bytes(item.file)
        lines = [line for line in content.splitlines() if line.strip()]
        frames, points = len(lines) // 2, len(lines[0].split())
        fraction = 1.0
        if item.visibility.is_file():
            mask = parse_mask(read_bytes(item.visibility), item.visibility)
            fraction = float((mask[0::2] & mask[1::2]).mean()) if len(mask) % 2 == 0 else 0.0
        one = truth_file(item.root)
        full = item.truth.is_file()
        reference = frames // 2 if full else None
        return SequenceEntry(
            item.root.name,
            item.camera,
            item.path_name,
            item.file,
            frames,
            points,
            fraction,
            truth_frame=reference if one is None else one[1] - frame_base,
            truth_frames=frames if full else int(one is not None),
            rotations=full,
            companion=item.companion is not None,
            edges=_line_count(item.root / EDGES),
            faces=_line_count(item.root / FACES),
        )
    except InputError as error:
        return SequenceEntry(item.root.name, item.camera, item.path_name, item.file, problem=str(error))


def _line_count(file: Path) -> int:
    return len([line for line in read_bytes(file).splitlines() if line.strip()]) if file.is_file() else 0
