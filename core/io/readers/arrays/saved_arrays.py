"""Single NumPy arrays in a `.npy`, and pickled ones, which are read without running anything that they name.

A mask lies in a file of the same name next to a single array:

    cloth_tracks.npy, cloth_visibility.npy      the names of the trackers' arrays, after the same beginning

SpatialTracker writes (F, N, 3): x and y in pixels and the depth, which is not read.

A pickle is a program: it may name any function and call it. Here the names that NumPy writes are looked up
in a table of stand-ins that are defined below, and no object of Python or NumPy is reached by a name in the
file. An array is made from its bytes when its type and size agree with them. What computes without end, or
asks for any memory, is ended with the process that reads it (`sandbox`).
"""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ....foundation.exceptions import InputError
from ...files.allowance import Allowance
from ...files.contents import PythonObjectsError, check_characters, parse_array, read_bytes, refusing_damage
from ...files.reading_options import ReadingOptions
from ...files.sandbox import read_limited
from ...files.variables import LoadedFile, Parts, Variables, describe, is_array, shortened, without_batch
from ..keypoints.poses import chosen_individual
from .layouts import parts_of
from .trackers import TRACKERS

SUFFIX = ".npy"
SPATIAL_TRACKER = "SpatialTracker"
FLAT = 4.0  # times as far in pixels as in depth, which has other units
DEEPEST = 8  # dict in dict, list in list
_ENDING = (
    "accepted are NumPy arrays, dict, list, tuple, text and numbers; in the program that wrote it, "
    "np.savez('tracks.npz', tracks=..., visibility=...) writes what is read"
)
_TYPE = re.compile(r"[biufcSU][1-9]\d{0,7}|O8")


# -- single arrays -------------------------------------------------------------------------------------------


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
    name = options.tracks or next(iter(file.variables), "")
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
    with refusing_damage(path, "a .npy file"):
        try:
            array = parse_array(content)
        except PythonObjectsError as objects:
            return unpickle(content[objects.place :])
        Allowance(len(content)).use_array(array.shape, array.itemsize)
        return array


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


# -- pickles -------------------------------------------------------------------------------------------------


def load_pickle(path: Path, content: bytes) -> LoadedFile:
    """Return the arrays of a pickle by name; those of one of several videos as a dict by its name."""
    value = unpickle(content)
    videos = _videos(value)
    if videos is None:
        return LoadedFile(path, content, named_values(value))
    return LoadedFile(path, content, videos, individuals=tuple(videos))


def interpret_pickle(file: LoadedFile, options: ReadingOptions) -> Parts:
    """Return the tracks of a pickle, of the video that is chosen where it holds several."""
    if not file.individuals:
        if options.individual is not None:
            raise InputError(f"individual is {options.individual!r}; the file holds only one video")
        return parts_of(file, options)
    chosen = file.individuals[chosen_individual(file.individuals, None, options.individual)]
    parts = parts_of(replace(file, variables=file.variables[chosen]), options)
    return replace(parts, reading={**parts.reading, "individual": chosen})


def _videos(value: Any) -> Variables | None:
    """Return the values of each video by its name where a pickle holds a dict or list of dicts, else None."""
    items = dict(enumerate(value)) if isinstance(value, list) else value
    if not isinstance(items, dict) or not all(isinstance(each, dict) and each for each in items.values()):
        return None
    return {str(name): named_values(each) for name, each in items.items()} or None


def named_values(value: Any) -> Variables:
    """Return the values of a pickle as a file's variables: arrays, lists and dicts by their names."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return {f"item {number}": each for number, each in enumerate(value)}
    return {"array": value}


def unpickle(content: bytes) -> Any:
    """Return the value of a pickle: arrays, lists and dicts with text as keys."""
    return read_limited(_read, content)


def _read(content: bytes, _allowance: Allowance) -> Any:
    return _converted(_Unpickler(io.BytesIO(content), encoding="latin1").load(), 0)


def _refused(found: str) -> InputError:
    return InputError(f"is a pickle that is not read: it {found}; {_ENDING}")


class _Type:
    """The type of an array's elements, as a pickle describes it."""

    __slots__ = ("code", "order")

    def __init__(self, code: Any, *_: Any) -> None:
        if not isinstance(code, str) or not _TYPE.fullmatch(code):
            found = repr(code) if isinstance(code, str) else f"a {_kind_of(code)}"
            raise _refused(f"holds an array of type {shortened(found)}")
        self.code, self.order = code, "<"

    def __setstate__(self, state: Any) -> None:
        _, order, *rest = state
        if order not in ("<", ">", "|", "=") or any(entry is not None for entry in rest[:3]):
            raise _refused("holds an array with fields")
        self.order = order


class _Array:
    """An array that a pickle is building; the object itself of a single one that `numpy.save` wraps."""

    __slots__ = ("value",)

    def __init__(self, *_: Any) -> None:
        self.value: Any = None

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, fortran, data = state
        if not isinstance(kind, _Type):
            raise _refused("holds an array of no type")
        if kind.code == "O8" and shape == () and isinstance(data, list) and len(data) == 1:
            self.value = data[0]
            return
        data = _encoded(data) if isinstance(data, str) else data
        if kind.code == "O8" or not isinstance(data, bytes | bytearray):
            raise _refused("holds an array of Python objects")
        numbers: np.dtype[Any] = np.dtype(kind.code).newbyteorder(">" if kind.order == ">" else "=")
        array = np.frombuffer(data, numbers)
        check_characters(array)
        self.value = array.reshape(shape, order="F" if fortran else "C")


def _from_buffer(data: Any, kind: Any, shape: Any, order: Any, axes: Any = None) -> _Array:
    """Return the array, whose axes were put into another order where these are given."""
    array = _Array()
    array.__setstate__((1, shape, kind, order == "F", data))
    if order == "K" and axes is not None:
        array.value = array.value.transpose(axes)
    return array


def _encoded(text: Any, encoding: Any = "latin1") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise _refused("encodes a text")
    return text.encode("latin1")


_FUNCTIONS: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Type,
    ("_codecs", "encode"): _encoded,  # of bytes in protocol 2
}
for _core in ("numpy.core", "numpy._core"):  # of NumPy 1 and 2
    _FUNCTIONS[f"{_core}.multiarray", "_reconstruct"] = _Array
    _FUNCTIONS[f"{_core}.multiarray", "scalar"] = lambda kind, data: _from_buffer(data, kind, (), "C")
    _FUNCTIONS[f"{_core}.numeric", "_frombuffer"] = _from_buffer  # in protocol 5


class _Unpickler(pickle.Unpickler):
    """An unpickler that finds only the stand-ins."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the stand-in of a name that NumPy writes, anew: a pickle can change what it finds."""
        function = _FUNCTIONS.get((module, name))
        if function is None:
            raise _refused(f"names {shortened(module)}.{shortened(name)}")
        return partial(function)


def _converted(value: Any, depth: int) -> Any:
    """Return what was unpickled as array, list or dict."""
    if depth > DEEPEST:
        raise _refused(f"is nested more than {DEEPEST} deep")
    if isinstance(value, _Array):
        return value.value if isinstance(value.value, np.ndarray) else _converted(value.value, depth + 1)
    if isinstance(value, dict):
        if not all(isinstance(key, str | int) for key in value):
            raise _refused("holds a dict whose keys are no text")
        return {str(key): _converted(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        if value and all(type(each) in (int, float, bool) for each in value):
            return np.array(value, dtype=np.float64)
        return [_converted(each, depth + 1) for each in value]
    if isinstance(value, str | bool | float) or (isinstance(value, int) and abs(value) < 2**63):
        return np.array(value)
    if value is None:
        return []
    if isinstance(value, bytes | bytearray):
        return np.frombuffer(value, np.uint8)
    raise _refused(f"holds a {_kind_of(value)}")


def _kind_of(value: Any) -> str:
    return type(value).__name__.strip("_").lower()
