"""Pickled arrays, read without running anything that the file names.

A pickle is a program: it may name any function and call it. Here only the names are looked up by which NumPy
writes arrays, types and numbers; any other name is refused. The values are built in a process with limits.
"""

from __future__ import annotations

import io
import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ....foundation.exceptions import InputError
from ...files.sandbox import read_limited
from ...files.variables import LoadedFile, shortened
from ..keypoints.poses import chosen_individual
from .layouts import parts_of

if TYPE_CHECKING:
    from pathlib import Path

    from ...files.allowance import Allowance
    from ...files.reading_options import ReadingOptions
    from ...files.variables import Parts, Variables

DEEPEST = 8  # dict in dict, list in list
_NOT_READ = (
    "is a pickle that is not read: {}; accepted are NumPy arrays, dict, list, tuple, text and numbers; in "
    "the program that wrote it, np.savez('tracks.npz', tracks=..., visibility=...) writes what is read"
)
_NAMES = {("numpy", "ndarray"), ("numpy", "dtype"), ("_codecs", "encode")} | {
    (f"numpy._core.{module}", name)  # without _ in NumPy 1
    for module, name in (("multiarray", "_reconstruct"), ("multiarray", "scalar"), ("numeric", "_frombuffer"))
}

_LEAVES = (np.ndarray, np.generic, str, bool, int, float)


def is_pickle(content: bytes) -> bool:
    """Return whether bytes begin as a pickle of protocol 2 or later does."""
    return content[:1] == b"\x80" and content[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")


def load_pickle(path: Path, content: bytes) -> LoadedFile:
    """Return the arrays of a pickle by name; those of one of several videos as "VIDEO/NAME"."""
    value = unpickle(content, path)
    videos = _videos(value)
    if videos is None:
        return LoadedFile(path, content, named_values(value))
    variables = {f"{video}/{name}": each for video, found in videos.items() for name, each in found.items()}
    return LoadedFile(path, content, variables, individuals=tuple(videos))


def interpret_pickle(file: LoadedFile, options: ReadingOptions) -> Parts:
    """Return the tracks of a pickle, of the video that is chosen where it holds several."""
    if not file.individuals:
        if options.individual is not None:
            raise InputError(f"individual is {options.individual!r}; the file holds only one video")
        return parts_of(file, options)
    chosen = file.individuals[chosen_individual(file.individuals, None, options.individual)]
    start = f"{chosen}/"
    inside = {name.removeprefix(start): v for name, v in file.variables.items() if name.startswith(start)}
    parts = parts_of(replace(file, variables=inside), options)
    roles = {start + name: role for name, role in parts.roles.items()}
    return replace(parts, roles=roles, reading={**parts.reading, "individual": chosen})


def _videos(value: Any) -> dict[str, dict[str, Any]] | None:
    """Return the values of each video by its name where a pickle holds a dict or list of dicts, else None."""
    items = dict(enumerate(value)) if isinstance(value, list) else value
    if not isinstance(items, dict) or not all(isinstance(each, dict) and each for each in items.values()):
        return None
    return {str(name): named_values(each) for name, each in items.items()} or None


def named_values(value: Any) -> Variables:
    """Return the values of a pickle as a file's variables: arrays, lists and dicts by their names."""
    if isinstance(value, dict):
        return {str(name): each for name, each in value.items()}
    if isinstance(value, list):
        return {f"item {number}": each for number, each in enumerate(value)}
    return {"array": value}


def unpickle(content: bytes, path: Path) -> Any:
    """Return the value of a pickle: arrays, lists and dicts with text as keys."""
    return read_limited(_read, content, path, "a pickle")


def _read(content: bytes, allowance: Allowance) -> Any:
    return _plain(_Unpickler(io.BytesIO(content), encoding="latin1").load(), 0)


class _Unpickler(pickle.Unpickler):
    """An unpickler that finds only what NumPy names."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what a name stands for. Raises InputError where NumPy does not write it."""
        module = module.replace("numpy.core.", "numpy._core.")
        if (module, name) not in _NAMES:
            raise InputError(_NOT_READ.format(f"it names {shortened(module)}.{shortened(name)}"))
        return super().find_class(module, name)


def _plain(value: Any, depth: int) -> Any:
    """Return what was unpickled as array, list or dict."""
    if depth > DEEPEST:
        raise InputError(_NOT_READ.format(f"it is nested more than {DEEPEST} deep"))
    if isinstance(value, dict):
        return {str(key): _plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        if value and all(type(each) in (int, float, bool) for each in value):
            return np.array(value, dtype=np.float64)
        return [_plain(each, depth + 1) for each in value]
    if value is None:
        return []
    if isinstance(value, bytes | bytearray):
        return np.frombuffer(value, np.uint8)
    if isinstance(value, _LEAVES):
        array = np.asarray(value)
        if array.dtype.kind in "biufcSU":
            return array
        if array.dtype == object and array.shape == ():  # of `numpy.save`
            return _plain(array.item(), depth + 1)
        found = "Python objects" if array.dtype == object else f"type {shortened(str(array.dtype))}"
        raise InputError(_NOT_READ.format(f"it holds an array of {found}"))
    raise InputError(_NOT_READ.format(f"it holds a {type(value).__name__}"))
