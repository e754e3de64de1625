"""Sequences from files: the table of readers, the functions that choose among them, the bundled samples.

A new format is a module here and a line in `READERS`: the command line and the window read the table.
The samples lie in `assets/samples` of a checkout, or inside the installed viewer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...data.sequence import CameraModel
from ...foundation.assets import asset_folder
from ...foundation.exceptions import InputError
from ...foundation.representation import one_line_repr
from . import challenge
from .challenge import ChallengeFile, challenge_file, find
from .contents import check_camera, is_zip, parse_matrix, read_bytes, sequence_name
from .csv import is_csv, read_csv
from .entry import SequenceEntry, entry_of
from .known_layouts import CAMERA_FILE
from .layouts import sequence_of
from .mat import is_mat, load_variables
from .npz import read_npz

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from ...data.sequence import Sequence

DEPTH_OF_FILES = 2  # how far below a folder without files of its own they are looked for


def read_sequence(
    path: str | os.PathLike[str],
    *,
    camera: CameraModel | None = None,
    layout: str | None = None,
    frame_base: int = 1,
    path_name: str | None = None,
) -> Sequence:
    """Read the tracks of one camera, and what files next to theirs hold about them.

    Parameters
    ----------
    path
        a file (`.txt`, `.mat`, `.npz`, `.csv`), the folder of one NRSfM Challenge object, or "sample:NAME"
        with a name that `sample_path` accepts.
    camera
        which of an object's cameras to read (the default: perspective where it is there). For a file that
        does not state its camera model: the model to assume (the default: perspective where the file gives
        intrinsics, else orthogonal; `provenance` records it).
    layout
        name of the layout of a `.mat`, `.npz` or single `.txt`, where its variables fit several or none: a
        key of `core.io.readers.layouts.LAYOUTS`, or of `array_shapes.SHAPES` with ":" and the variable. After
        another ":", the variable that holds the visibility: "frames-points-xy:tracks:visible".
    frame_base
        number of the first frame in the Challenge's `gt_frame_N`: 1 or 0.
    path_name
        which of an object's camera paths to read; the default is the first there, "circle" in the Challenge.

    Returns
    -------
    Sequence
        with everything that the files give.

    Raises
    ------
    InputError
        one sentence with the file, the variable or row, what was found and what is accepted.

    Examples
    --------
    >>> import core
    >>> core.read_sequence("sample:balloon/circle")
    Sequence('balloon circle', perspective, 45 frames, 96 points)
    """
    path = resolve(Path(path))
    if frame_base not in (0, 1):
        raise InputError(f"frame base is {frame_base}; accepted are 1 and 0")
    if path.is_dir():
        return _with_options(
            challenge.read(_chosen(path, camera, path_name), frame_base), frame_base=frame_base
        )
    item = challenge_file(path)
    if item is not None and layout is None:
        check_camera(item.camera, camera, path)
        return _with_options(challenge.read(item, frame_base), frame_base=frame_base)
    return _with_options(_read_file(path, camera, layout), camera=camera, layout=layout)


def _with_options(
    sequence: Sequence,
    *,
    camera: CameraModel | None = None,
    layout: str | None = None,
    frame_base: int = 1,
) -> Sequence:
    """Return the sequence with the options that its file must be read with to give it again."""
    reading: dict[str, str | int] = {}
    if camera is not None:
        reading["camera"] = camera.value
    if layout is not None:
        reading["layout"] = layout
    if frame_base != 1:
        reading["frame_base"] = frame_base
    return replace(sequence, reading=reading) if reading else sequence


def _read_file(path: Path, camera: CameraModel | None, layout: str | None) -> Sequence:
    """Read a file that holds one sequence, by its first bytes, or by its suffix where these do not decide."""
    content = read_bytes(path)
    suffix = path.suffix.lower()
    for reader in READERS.values():
        if reader.recognizes(content) or suffix == reader.suffix:
            return reader.read(path, content, camera, layout)
    raise InputError(f"{path}: is none of the formats that can be read: {', '.join(READERS)}")


def _read_npz(path: Path, content: bytes, camera: CameraModel | None, layout: str | None) -> Sequence:
    return read_npz(path, camera=camera, layout=layout)


def _read_mat(path: Path, content: bytes, camera: CameraModel | None, layout: str | None) -> Sequence:
    return sequence_of(load_variables(content, path), path, content, camera=camera, layout=layout)


def _read_csv(path: Path, content: bytes, camera: CameraModel | None, layout: str | None) -> Sequence:
    if layout is not None:
        raise InputError(f"{path}: layout is {layout!r}; a csv file has only one and accepts none")
    return read_csv(path, camera=camera)


def _read_text(path: Path, content: bytes, camera: CameraModel | None, layout: str | None) -> Sequence:
    variables = {"text": parse_matrix(content, path)}
    return sequence_of(variables, path, content, camera=camera, layout=layout or "interleaved:text")


def _never(content: bytes) -> bool:
    """Plain text has no first bytes to be recognized by."""
    return False


@dataclass(frozen=True)
class Reader:
    """One file format.

    `read` gets the path, the bytes of the file, the camera model to assume or None, and the layout or None,
    and raises InputError where the file is not what it should be.
    """

    suffix: str
    label: str  # in a file dialog
    read: Callable[[Path, bytes, CameraModel | None, str | None], Sequence]
    recognizes: Callable[[bytes], bool] = _never  # whether bytes are of this format, whatever the suffix
    self_contained: bool = False  # whether no other file (visibility, truth, camera) is read with it

    __repr__ = one_line_repr


# In the order in which first bytes are tried.
READERS: dict[str, Reader] = {
    reader.suffix: reader
    for reader in (
        Reader(".npz", "NumPy arrays", _read_npz, is_zip, self_contained=True),
        Reader(".mat", "MATLAB variables", _read_mat, is_mat),
        Reader(".csv", "Table of observations", _read_csv, is_csv, self_contained=True),
        Reader(".txt", "Matrix as text", _read_text),
    )
}


def _listed() -> list[str]:
    """Return the suffixes of the files that a folder lists; many text files are no tracks."""
    return [suffix for suffix in READERS if suffix != ".txt"]


def _accepted_folders() -> str:
    *others, last = _listed()
    return (
        "accepted is a folder of the NRSfM Challenge, <object>/sequence/{orthogonal,perspective}/<path>.txt, "
        f"the folder above it, or a folder of {', '.join(others)} or {last} files, up to two levels deep"
    )


def is_self_contained(content: bytes) -> bool:
    """Return whether a file of these bytes is read without other files, as npz and csv are.

    The others may have visibility, truth, a companion or a camera in files next to them.

    Parameters
    ----------
    content
        the bytes of the file.

    Returns
    -------
    bool
        False for files that are not recognized.
    """
    return any(reader.self_contained and reader.recognizes(content) for reader in READERS.values())


def list_sequences(path: str | os.PathLike[str], *, frame_base: int = 1) -> tuple[SequenceEntry, ...]:
    """Return what can be read in a folder or file, with the cheap facts about each.

    A file that is broken is listed too, with its problem; only an absent path and a folder without any
    sequence are refused.

    Parameters
    ----------
    path
        a Challenge object's folder, a folder of such folders (up to three levels deep), a folder of `.mat`,
        `.npz` or `.csv` files, a folder of such folders (up to two levels deep), one file, or "sample:NAME";
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
    if path.is_dir():
        entries = [challenge.entry(item, frame_base) for item in find(path)]
        entries += _entries_of_files(path, DEPTH_OF_FILES)
        if not entries:
            raise InputError(f"{path}: holds no sequence; {_accepted_folders()}")
        return tuple(entries)
    item = challenge_file(path)
    return (_entry(path)[0] if item is None else challenge.entry(item, frame_base),)


def _entries_of_files(folder: Path, depth: int) -> list[SequenceEntry]:
    """Return the entries of the files of a folder that `_listed` names, or if it has none, of those below."""
    try:
        inside = sorted(item for item in folder.iterdir() if not item.name.startswith("."))
    except OSError as error:
        problem = f"{folder}: cannot be listed ({error.strerror or error})"
        return [SequenceEntry(folder.name, None, "", folder.absolute(), problem=problem)]
    listed = _listed()
    files = [item for item in inside if item.suffix.lower() in listed and item.is_file()]
    if files:
        return _entries(files)
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
        sequence = _read_file(path, None, None)
    except InputError as error:
        return SequenceEntry(sequence_name(path), None, "", path.absolute(), problem=str(error)), False
    return entry_of(sequence), CAMERA_FILE in sequence.provenance


def _chosen(folder: Path, camera: CameraModel | None, path_name: str | None) -> ChallengeFile:
    """Return the one sequence of a folder that the camera and path ask for."""
    found = find(folder)
    if not found:
        raise InputError(f"{folder}: holds no sequence of the Challenge; {_accepted_folders()}")
    objects = list(dict.fromkeys(item.root for item in found))
    if len(objects) > 1:
        names = ", ".join(root.name for root in objects)
        raise InputError(f"{folder}: holds {len(objects)} objects ({names}); accepted is the folder of one")
    wanted = [item for item in found if camera in (None, item.camera) and path_name in (None, item.path_name)]
    if not wanted:
        there = ", ".join(f"{item.camera.value}/{item.path_name}" for item in found)
        asked = "/".join((camera.value if camera else "any", path_name or "any"))
        raise InputError(f"{folder}: has no {asked}; there are {there}")
    return wanted[0]


# -- bundled samples -----------------------------------------------------------------------------------------

PREFIX = "sample:"


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
    return tuple(challenge.entry(item, 1) for item in _files())


def sample_path(name: str) -> Path:
    """Return the file of a bundled sequence.

    Parameters
    ----------
    name
        "balloon/circle" for its perspective tracks, "balloon/circle/orthogonal" for the others; "balloon" for
        the first of an object, and "" for the first of all.

    Returns
    -------
    Path
        the text file of its tracks.

    Raises
    ------
    InputError
        where there is no such sample.

    Examples
    --------
    >>> import core
    >>> core.sample_path("balloon/circle").name
    'circle.txt'
    """
    files = _files()
    for item in files:
        full = f"{item.root.name}/{item.path_name}/{item.camera.value}"
        if name == "" or f"{full}/".startswith(f"{name}/"):
            return item.file
    there = ", ".join(
        f"{item.root.name}/{item.path_name}" for item in files if item.camera is CameraModel.PERSPECTIVE
    )
    raise InputError(f"there is no sample {name!r}; there are {there or 'none installed'}")


def sample_name(path: Path) -> str | None:
    """Return "sample:NAME" for the file of a bundled sequence, which `resolve` turns back, or None.

    Parameters
    ----------
    path
        any file.

    Returns
    -------
    str | None
        None where the file is no bundled sequence.
    """
    for item in _files():
        if item.file.resolve() == path.resolve():
            other = "" if item.camera is CameraModel.PERSPECTIVE else f"/{item.camera.value}"
            return f"{PREFIX}{item.root.name}/{item.path_name}{other}"
    return None


def resolve(path: Path) -> Path:
    """Return the file of "sample:NAME", and any other path as it is.

    Parameters
    ----------
    path
        a path, or "sample:NAME" as one.

    Returns
    -------
    Path
        the file.
    """
    name = path.as_posix()
    return sample_path(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else path


def _files() -> tuple[ChallengeFile, ...]:
    folder = asset_folder("samples")
    return () if folder is None else find(folder)
