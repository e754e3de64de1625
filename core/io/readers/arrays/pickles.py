"""Pickled arrays, read without running anything that the file names.

A pickle is a program: it may name any function and call it. Here the operations are checked first, against a
list of those that build NumPy arrays, dict, list, tuple, text and numbers; then the names that NumPy writes
are looked up in a table of stand-ins that are defined here. No object of Python or NumPy is reached by a name
in the file. An array is made from its bytes when its type and size agree with them.

    numpy.ndarray, numpy.dtype                         marks
    numpy.core.multiarray._reconstruct, scalar         in numpy 2 numpy._core
    numpy.core.numeric._frombuffer                     protocol 5
    _codecs.encode                                     bytes in protocol 2

Sizes that a file states are compared with its own before memory is asked for: `pickletools.genops` reads the
operations without executing them, and refuses a text or number of bytes that is longer than the file.

The values are then built by the unpickler that Python has in Python. Each of its operations can be checked
before it runs. A key of a dict must be text or a small whole number before it is hashed: the hash of a deep
tuple ends the process, and large whole numbers can all have the same hash. What a stand-in is called with is
a short tuple, and what it copies is counted.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ....foundation.exceptions import InputError
from ...files.allowance import Allowance
from ...files.contents import reason
from ...files.reading_options import ReadingOptions
from ...files.variables import LoadedFile, Parts, Variables, nested_bytes, shortened
from ..keypoints.poses import chosen_individual
from .layouts import parts_of

MOST_OPERATIONS = 2_000_000
DEEPEST = 8  # dict in dict, list in list
LARGEST_KEY = 2**60  # of a dict; whole numbers below it have different hashes
LARGEST_SIZE = 2**60  # of an array's axis
MOST_ARGUMENTS = 9  # of a call; a type of elements has so many
ACCEPTED = "accepted are NumPy arrays, dict, list, tuple, text and numbers"
_CONVERT = (
    "in the program that wrote it, np.savez('tracks.npz', tracks=..., visibility=...) writes what is read"
)
_OPERATIONS = frozenset(
    "PROTO FRAME STOP MARK POP POP_MARK DUP NONE NEWTRUE NEWFALSE INT LONG LONG1 LONG4 BININT "
    "BININT1 BININT2 FLOAT BINFLOAT STRING BINSTRING SHORT_BINSTRING UNICODE BINUNICODE "
    "SHORT_BINUNICODE BINUNICODE8 BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8 LIST EMPTY_LIST "
    "APPEND APPENDS TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_TUPLE DICT EMPTY_DICT SETITEM SETITEMS PUT "
    "BINPUT LONG_BINPUT MEMOIZE GET BINGET LONG_BINGET GLOBAL STACK_GLOBAL REDUCE BUILD".split()
)
_TYPE = re.compile(r"[biufcSU][1-9]\d{0,7}|O8")


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
    """Return the value of a pickle: arrays, lists and dicts with text as keys.

    `content`, `path`: the bytes, and their name in messages.
    """
    try:
        _check_operations(content)
        value = _Unpickler(content).load()
        converted = _converted(value, 0, {})
        Allowance(len(content)).use(nested_bytes(converted, {}))
        return converted
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except _Refused as error:
        raise InputError(f"{path}: is a pickle that is not read: {error}; {ACCEPTED}; {_CONVERT}") from None
    except Exception as error:  # a damaged pickle raises nearly anything
        raise InputError(f"{path}: is a damaged pickle ({reason(error)}); {ACCEPTED}") from None


class _Refused(Exception):  # not an error of the program
    """What a pickle holds that is not read."""


def _check_operations(content: bytes) -> None:
    """Refuse operations that build other objects, and memory beyond what the file can fill."""
    for count, (operation, argument, _) in enumerate(pickletools.genops(content)):
        if operation.name not in _OPERATIONS:
            raise _Refused(f"it holds an object of Python (operation {operation.name})")
        if count > MOST_OPERATIONS:
            raise _Refused(f"it has more than {MOST_OPERATIONS} operations")
        if "PUT" in operation.name and int(str(argument)) > count:
            raise _Refused("it numbers its values with gaps")


class _Type:
    """The type of an array's elements, as a pickle describes it."""

    __slots__ = ("allowance", "code", "order")

    def __init__(self, allowance: Allowance, code: Any, *_: Any) -> None:
        if not isinstance(code, str) or not _TYPE.fullmatch(code):
            found = repr(code) if isinstance(code, str) else f"a {_kind_of(code)}"
            raise _Refused(f"it holds an array of type {shortened(found)}")
        self.code, self.order, self.allowance = code, "<", allowance

    def __setstate__(self, state: Any) -> None:
        _, order, *rest = state
        if order not in ("<", ">", "|", "=") or any(entry is not None for entry in rest[:3]):
            raise _Refused("it holds an array with fields")
        self.order = order


class _Array:
    """An array that a pickle is building; the object itself of a single one that `numpy.save` wraps."""

    __slots__ = ("value",)

    def __init__(self, _allowance: Allowance, *_: Any) -> None:
        self.value: Any = None

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, fortran, data = state
        if not isinstance(kind, _Type):
            raise _Refused("it holds an array of no type")
        if kind.code == "O8" and shape == () and isinstance(data, list) and len(data) == 1:
            self.value = data[0]
            return
        data = _encoded(kind.allowance, data) if isinstance(data, str) else data
        if kind.code == "O8" or not isinstance(data, bytes | bytearray) or not isinstance(shape, tuple):
            raise _Refused("it holds an array of Python objects")
        numbers: np.dtype[Any] = np.dtype(kind.code)
        if kind.order == ">":
            numbers = numbers.newbyteorder(">")
        if len(shape) > 8 or not all(isinstance(size, int) and 0 <= size <= LARGEST_SIZE for size in shape):
            raise _Refused("it holds an array of no valid shape")
        if math.prod(shape) * numbers.itemsize != len(data):
            raise _Refused(f"it holds an array of {math.prod(shape):g} elements in {len(data)} bytes")
        self.value = np.frombuffer(data, numbers).reshape(shape, order="F" if fortran else "C")


class _StandIn:
    """A name in a pickle that stands for a function of NumPy; a pickle cannot change it."""

    __slots__ = ("_allowance", "_function")

    def __init__(self, function: Callable[..., Any], allowance: Allowance) -> None:
        self._function = function
        self._allowance = allowance

    def __call__(self, *arguments: Any) -> Any:
        return self._function(self._allowance, *arguments)

    def __setstate__(self, state: Any) -> None:
        raise _Refused("it changes a function")


def _call_class(_allowance: Allowance, *_: Any) -> None:
    raise _Refused("it calls numpy.ndarray")


def _from_buffer(
    allowance: Allowance, data: Any, kind: Any, shape: Any, order: Any, axes: Any = None
) -> _Array:
    """Return the array, whose axes were put into another order where these are given."""
    array = _Array(allowance)
    array.__setstate__((1, shape, kind, order == "F", data))
    if order == "K" and axes is not None:
        array.value = array.value.transpose(axes)
    return array


def _scalar(allowance: Allowance, kind: Any, data: Any) -> _Array:
    return _from_buffer(allowance, data, kind, (), "C")


def _encoded(allowance: Allowance, text: Any, encoding: Any = "latin1") -> bytes:
    """Return the bytes of a text; a pickle can ask for those of one text many times."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise _Refused("it encodes a text")
    allowance.use(len(text))
    return text.encode("latin1")


_FUNCTIONS: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "ndarray"): _call_class,
    ("numpy", "dtype"): _Type,
    ("_codecs", "encode"): _encoded,
}
for _core in ("numpy.core", "numpy._core"):  # of NumPy 1 and 2
    _FUNCTIONS[f"{_core}.multiarray", "_reconstruct"] = _Array
    _FUNCTIONS[f"{_core}.multiarray", "scalar"] = _scalar
    _FUNCTIONS[f"{_core}.numeric", "_frombuffer"] = _from_buffer


def _checked(operation: bytes, check: Callable[[list[Any]], None]) -> tuple[int, Callable[[Any], None]]:
    """Return the number of an operation, and what checks the values since the last mark and then runs it."""
    run: Callable[[Any], None] = pickle._Unpickler.dispatch[operation[0]]

    def checked(unpickler: Any) -> None:
        check(unpickler.stack)
        run(unpickler)

    return operation[0], checked


def _check_keys(keys: list[Any]) -> None:
    """Refuse keys of a dict that are not cheap to hash and to compare."""
    for key in keys:
        if not isinstance(key, str) and not (isinstance(key, int) and abs(key) < LARGEST_KEY):
            raise _Refused("it holds a dict whose keys are no text")


def _check_arguments(values: list[Any]) -> None:
    """Refuse a call of anything but a few arguments, which are the last value."""
    if not isinstance(values[-1], tuple) or len(values[-1]) > MOST_ARGUMENTS:
        raise _Refused(f"it calls a function with other than up to {MOST_ARGUMENTS} arguments")


class _Unpickler(pickle._Unpickler):
    """An unpickler that finds only the stand-ins, and looks at keys and arguments before they are used."""

    dispatch: ClassVar[dict[int, Callable[[Any], None]]] = pickle._Unpickler.dispatch | dict(
        (
            _checked(pickle.SETITEM, lambda values: _check_keys(values[-2:-1])),
            _checked(pickle.SETITEMS, lambda values: _check_keys(values[::2])),
            _checked(pickle.DICT, lambda values: _check_keys(values[::2])),
            _checked(pickle.REDUCE, _check_arguments),
            _checked(pickle.BUILD, _check_arguments),
        )
    )

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content), encoding="latin1")
        self.allowance = Allowance(len(content))

    def find_class(self, module: str, name: str) -> Any:
        """Return a new stand-in of a name that NumPy writes. Raises _Refused for any other name."""
        function = _FUNCTIONS.get((module, name))
        if function is None:
            raise _Refused(f"it names {shortened(module)}.{shortened(name)}")
        return _StandIn(function, self.allowance)

    def persistent_load(self, pid: Any) -> Any:
        """Refuse a value that is stored elsewhere."""
        raise _Refused("it names a value outside")


def _converted(value: Any, depth: int, made: dict[int, Any]) -> Any:
    """Return what was unpickled as array, list or dict; `made`: what was returned for values by their id."""
    if depth > DEEPEST:
        raise _Refused(f"it is nested more than {DEEPEST} deep")
    if id(value) not in made:
        made[id(value)] = _made(value, depth, made)
    return made[id(value)]


def _made(value: Any, depth: int, made: dict[int, Any]) -> Any:
    if isinstance(value, _Array):
        if value.value is None:
            raise _Refused("it holds an array without content")
        wrapped = not isinstance(value.value, np.ndarray)
        return _converted(value.value, depth + 1, made) if wrapped else value.value
    if isinstance(value, dict):
        return {str(key): _converted(each, depth + 1, made) for key, each in value.items()}
    if isinstance(value, list | tuple):
        if value and all(type(each) in (int, float, bool) for each in value):
            return np.array(value, dtype=np.float64)
        return [_converted(each, depth + 1, made) for each in value]
    if isinstance(value, str | bool | float) or (isinstance(value, int) and abs(value) < 2**63):
        return np.array(value)
    if value is None:
        return []
    if isinstance(value, bytes | bytearray):
        return np.frombuffer(value, np.uint8)
    raise _Refused(f"it holds a {_kind_of(value)}")


def _kind_of(value: Any) -> str:
    return type(value).__name__.strip("_").lower()
