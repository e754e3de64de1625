"""The bundled sequences: in `assets/samples` of a checkout, or inside the installed viewer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...data.sequence import CameraModel
from ...foundation.assets import asset_folder
from ...foundation.exceptions import InputError
from . import challenge
from .challenge import ChallengeFile, find

if TYPE_CHECKING:
    from pathlib import Path

    from .entry import SequenceEntry

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
    """Return "sample:NAME" for the file of a bundled sequence, which `resolve` turns back, or None."""
    for item in _files():
        if item.file.resolve() == path.resolve():
            other = "" if item.camera is CameraModel.PERSPECTIVE else f"/{item.camera.value}"
            return f"{PREFIX}{item.root.name}/{item.path_name}{other}"
    return None


def resolve(path: Path) -> Path:
    """Return the file of "sample:NAME", and any other path as it is."""
    name = path.as_posix()
    return sample_path(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else path


def _files() -> tuple[ChallengeFile, ...]:
    folder = asset_folder("samples")
    return () if folder is None else find(folder)
