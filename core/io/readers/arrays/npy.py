"""A single NumPy array in a `.npy`, with the mask that lies in a file of the same name next to it.

    cloth_tracks.npy, cloth_visibility.npy      the names of the trackers' arrays, after the same beginning

SpatialTracker writes (F, N, 3): x and y in pixels and the depth, which is not read.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ....foundation.exceptions import InputError
from ...files.allowance import Allowance
from ...files.contents import PythonObjectsError, parse_array, read_bytes
from ...files.reading_options import ReadingOptions
from ...files.variables import LoadedFile, Parts, describe, is_array, without_batch
from .layouts import parts_of
from .pickles import named_values, unpickle
from .trackers import TRACKERS

MAGIC = b"\x93NUMPY"
SUFFIX = ".npy"
SPATIAL_TRACKER = "SpatialTracker"
FLAT = 4.0  # times as far in pixels as in depth, which has other units


def is_npy(content: bytes) -> bool:
    """Return whether bytes begin as a `.npy` does."""
    return content.startswith(MAGIC)


def load_npy(path: Path, content: bytes) -> LoadedFile:
    """Return the array of a file, with the masks in files next to it."""
    value = parse_npy(content, path)
    if isinstance(value, dict):
        return LoadedFile(path, content, named_values(value))
    tracks = tracks_of_mask(path)
    if tracks is not None:
        raise InputError(f"{path}: is the visibility of {tracks.name}; open that file")
    for name, masks in _pairs():
        files = {mask: file for mask in masks if (file := _beside(path, name, mask)) is not None}
        if files:
            masks_read = {mask: parse_npy(read_bytes(file), file) for mask, file in files.items()}
            return LoadedFile(path, content, {name: value} | masks_read)
    return LoadedFile(path, content, {path.stem: value})


def interpret_npy(file: LoadedFile, options: ReadingOptions) -> Parts:
    """Return the tracks of an array; of SpatialTracker's, without the depths."""
    name = options.tracks or next(iter(file.variables))
    value = without_batch(file.variables.get(name))
    if not is_array(value, 3) or value.shape[2] != 3:
        return parts_of(file, options)
    finite = value[np.isfinite(value).all(axis=2)]
    if (
        not finite.size
        or np.ptp(finite[:, :2], axis=0).max() < FLAT * np.ptp(finite[:, 2])
        or finite[:, 2].min() < 0
    ):
        raise InputError(
            f"holds {describe({name: value})}, points in space without cameras; accepted are tracks frames x "
            f"points x 2, or x, y in pixels and a positive depth, as {SPATIAL_TRACKER} writes them"
        )
    places = {**file.variables, name: value[:, :, :2]}
    parts = parts_of(replace(file, variables=places), replace(options, order=options.order or "tnxy"))
    guess = f"x, y and depth, as {SPATIAL_TRACKER} writes them; the depth is not read"
    return replace(parts, producer=SPATIAL_TRACKER, guesses=(*parts.guesses, f"{name} is taken for {guess}"))


def parse_npy(content: bytes, path: Path) -> Any:
    """Return the array of a `.npy`; of one of Python objects the dict or list that it holds."""
    try:
        array = parse_array(content)
        Allowance(len(content)).use_array(array.shape, array.itemsize)
        return array
    except PythonObjectsError as objects:
        return unpickle(content[objects.place :], path)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except ValueError as error:
        raise InputError(f"{path}: is not a .npy file that can be read ({error})") from None


def _pairs() -> list[tuple[str, list[str]]]:
    """Return the names of each tracker's tracks with those of its masks, the longest first."""
    pairs = [
        (name, [mask.removeprefix("~") for mask in tracker.masks])
        for tracker in TRACKERS.values()
        for name in tracker.tracks
    ]
    return sorted(pairs, key=lambda pair: -len(pair[0]))


def _beside(path: Path, name: str, other: str) -> Path | None:
    """Return the file with another name after the same beginning, None where there is none."""
    file = path.with_name(f"{path.stem.removesuffix(name)}{other}{SUFFIX}")
    return file if path.stem.endswith(name) and file.is_file() else None


def tracks_of_mask(path: Path) -> Path | None:
    """Return the file of the tracks that a file is the mask of, None where there is none."""
    if path.suffix != SUFFIX:
        return None
    files = (_beside(path, mask, name) for name, masks in _pairs() for mask in masks)
    return next(filter(None, files), None)
