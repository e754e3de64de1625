"""Sequences from files: the NRSfM Challenge's folders, MATLAB, npz and csv, chosen by what the file is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..arrays import InputError
from . import challenge
from .entry import SequenceEntry

if TYPE_CHECKING:
    import os

    from ..sequence import CameraModel, Sequence

__all__ = ["SequenceEntry", "list_sequences", "read_sequence"]


def read_sequence(
    path: str | os.PathLike[str],
    *,
    camera: CameraModel | None = None,
    layout: str | None = None,
    frame_base: int = 1,
    path_name: str | None = None,
) -> Sequence:
    """Read the tracks of one camera, and everything that lies beside them.

    Parameters
    ----------
    path
        a file (`.txt`, `.mat`, `.npz`, `.csv`), or the folder of one NRSfM Challenge object.
    camera
        which of an object's cameras to read (the default: perspective where it is there). For a file that
        does not say what camera it is of: the model to assume.
    layout
        name of the layout of a `.mat` or `.npz`, where its variables fit several or none.
    frame_base
        number of the first frame in the Challenge's `gt_frame_N`: 1 or 0.
    path_name
        which of an object's camera paths to read; the default is the first there, "circle" in the Challenge.

    Raises
    ------
    InputError
        one sentence with the file, the variable or row, what was found and what is accepted.
    """
    path = Path(path)
    if frame_base not in (0, 1):
        raise InputError(f"frame base is {frame_base}; accepted are 1 and 0")
    if path.is_dir():
        return challenge.read(_chosen(path, camera, path_name), frame_base)
    item = challenge.challenge_file(path)
    if item is not None:
        if camera not in (None, item.camera):
            raise InputError(f"{path}: holds {item.camera.value} tracks; {camera.value} ones were asked for")
        return challenge.read(item, frame_base)
    raise InputError(f"{path}: is none of the formats that can be read")


def list_sequences(path: str | os.PathLike[str], *, frame_base: int = 1) -> tuple[SequenceEntry, ...]:
    """Return what can be read in a folder or file, with the cheap facts about each.

    A file that is broken is listed too, with its problem; only an absent path and a folder without any
    sequence are refused.

    Parameters
    ----------
    path
        a Challenge object's folder, a folder of such folders (up to three levels deep), or one file.
    frame_base
        as in `read_sequence`.

    Raises
    ------
    InputError
        where there is no such path, or nothing in it that can be read.
    """
    path = Path(path)
    if path.is_dir():
        entries = tuple(challenge.entry(item, frame_base) for item in challenge.find(path))
        if not entries:
            raise InputError(f"{path}: holds no sequence; {_FOLDERS}")
        return entries
    item = challenge.challenge_file(path)
    if item is not None and path.is_file():
        return (challenge.entry(item, frame_base),)
    raise InputError(f"{path}: is none of the formats that can be read")


_FOLDERS = (
    "accepted is a folder of the NRSfM Challenge, <object>/sequence/{orthogonal,perspective}/<path>.txt, "
    "or the folder above it"
)


def _chosen(folder: Path, camera: CameraModel | None, path_name: str | None) -> challenge.ChallengeFile:
    """Return the one sequence of a folder that the camera and path ask for."""
    found = challenge.find(folder)
    if not found:
        raise InputError(f"{folder}: holds no sequence; {_FOLDERS}")
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
