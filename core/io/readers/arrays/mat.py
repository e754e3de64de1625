"""MATLAB files: versions 4 to 7 as plain numpy arrays, lists for cells, dicts for structs; 7.3 is `hdf5`.

scipy is not used: it looks up types and classes in C tables without checking their ends, follows cells as
deep as they go, and expands sparse arrays without checking where their entries lie, so that a damaged file
ends the process (scipy 1.17). A check that prevents all of that has to read the file as far as is done here.

A version 5 file is a text of 128 bytes and elements (type, size, content), padded to 8 bytes; a variable is
an element of elements: flags with the class, dimensions, name, and what the class needs. A compressed element
holds one variable. A version 4 file is matrices, each with a header of five numbers.
"""

from __future__ import annotations

import math
import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ....foundation.exceptions import InputError
from ...files.allowance import Allowance
from ...files.contents import DAMAGED, reason
from ...files.variables import Unread
from .hdf5 import is_hdf5, load_hdf5

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy.typing as npt

    from ....foundation.types import Ints
    from ...files.variables import Variables

_HEADER = 128  # bytes of text before the first element
_ORDERS = {b"IM": "<", b"MI": ">"}  # of bytes, by the end of that text


def is_mat(content: bytes) -> bool:
    """Return whether bytes begin as a MATLAB file of version 5 or later does."""
    return content.startswith(b"MATLAB ")


def load_variables(content: bytes, path: Path) -> Variables:
    """Return the variables of a MATLAB file: arrays, lists for cells, dicts for structs.

    Text, function handles and the like are left out.
    """
    if is_hdf5(content):
        return load_hdf5(content, path)
    allowance = Allowance(len(content))
    order = _ORDERS.get(content[_HEADER - 2 : _HEADER])
    try:
        if order is not None:
            found = dict(_Version5(len(content)).variables(_Elements(content, order, _HEADER)))
        elif 0 in content[:4]:
            found = dict(_matrices(content, allowance))
        else:
            raise ValueError("it begins with other bytes")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (*DAMAGED, zlib.error) as error:
        raise InputError(f"{path}: is not a MATLAB file that can be read ({reason(error)})") from error
    return {name: value for name, value in found.items() if value is not None}


def _dense(
    shape: tuple[int, int], rows: Ints, columns: Ints, values: npt.NDArray[Any], allowance: Allowance
) -> npt.NDArray[Any]:
    """Return a sparse array as a full one; numbers at the same place are added."""
    inside = (rows >= 0) & (rows < shape[0]) & (columns >= 0) & (columns < shape[1])
    if not inside.all():
        raise ValueError("a sparse array has entries outside of it")
    allowance.use_array(shape, values.itemsize)
    full = np.zeros(shape, values.dtype)
    np.add.at(full, (rows, columns), values)
    return full


# -- version 5 -----------------------------------------------------------------------------------------------

_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_BYTES, _INT32, _UINT32, _MATRIX, _COMPRESSED = 1, 5, 6, 14, 15  # types of elements
_CELL, _STRUCT, _OBJECT, _TEXT, _SPARSE, _FUNCTION, _OPAQUE = 1, 2, 3, 4, 5, 16, 17  # classes of variables
_NUMERIC = range(6, 16)
_UNREAD = (_TEXT, _FUNCTION, _OPAQUE)
_MAY_BE_LEFT_OUT = (_CELL, _STRUCT, 8, 9)  # 8 and 9: of bytes, as masks and pictures are
_BEGINNING = 6  # numbers of a variable: its type and size, those of its flags, the flags
_LOOKED_INTO = 4096  # bytes of a compressed element
_WITH_NAME = 512  # bytes of a variable in which its name ends, where the axes are few
_MOST_AXES = 32
_COMPLEX = 0x800  # in the flags
_DEEPEST = 32  # cells in cells
_MOST_ITEMS = 100_000  # variables, and elements of cells and structs, in a file


class _Elements:
    """The elements in some of the bytes of a file, one after the other, with sizes that fit into them."""

    def __init__(self, content: bytes, order: str, begin: int = 0, end: int | None = None) -> None:
        self.content = content
        self.order = order
        self.place = begin  # of the next element
        self.end = len(content) if end is None else end

    def next(self) -> tuple[int, _Elements]:
        """Return the type of the next element, and what is in it."""
        place = self.place
        if place + 8 > self.end:
            raise ValueError(f"there is no element at byte {place}")
        kind, size = (int(number) for number in self._array("u4", place, 2))
        if kind >> 16:  # size and type share four bytes, and the content follows in the other four
            kind, size, begin = kind & 0xFFFF, min(kind >> 16, 4), place + 4
            self.place = place + 8
        else:
            begin = place + 8
            self.place = begin + size + (0 if kind == _COMPRESSED else -size % 8)
        if begin + size > self.end:
            raise ValueError(f"the element at byte {place} is incomplete")
        return kind, _Elements(self.content, self.order, begin, begin + size)

    def numbers(self, *kinds: int) -> npt.NDArray[Any]:
        """Return the numbers of the next element, which is of one of these types, or of any of numbers."""
        place = self.place
        kind, element = self.next()
        if kind not in (kinds or _NUMBERS):
            raise ValueError(f"the element at byte {place} is of type {kind}")
        count, rest = divmod(element.end - element.place, np.dtype(_NUMBERS[kind]).itemsize)
        if rest:
            raise ValueError(f"the element at byte {place} ends inside a number")
        return self._array(_NUMBERS[kind], element.place, count)

    def _array(self, kind: str, place: int, count: int) -> npt.NDArray[Any]:
        return np.frombuffer(self.content, np.dtype(self.order + kind), count, place)


def _begin(element: _Elements, size: int) -> bytes:
    """Return so many bytes of what a compressed variable holds."""
    stored = memoryview(element.content)[element.place : element.end][:_LOOKED_INTO]
    return zlib.decompressobj().decompress(stored, size)


def _stated(element: _Elements) -> tuple[int, int]:
    """Return the size and the class that a compressed variable states, 0 where it has none."""
    begin = _begin(element, 4 * _BEGINNING)
    if len(begin) < 4 * _BEGINNING:
        return 0, 0
    kind, size, _, _, flags, _ = struct.unpack(f"{element.order}{_BEGINNING}I", begin)
    return (size, flags & 0xFF) if kind == _MATRIX else (0, 0)


def _stated_name(element: _Elements) -> str:
    parts = _Elements(_begin(element, _WITH_NAME), element.order, 8)  # after its type and size
    parts.next()  # the flags
    parts.next()  # the dimensions
    return parts.numbers(_BYTES).tobytes().decode("latin-1")


class _Version5:
    """The variables of a version 5 file of so many bytes."""

    def __init__(self, stored: int) -> None:
        self._allowance = Allowance(stored)  # of arrays
        self._inflating = Allowance(stored)  # of compressed elements, also for what is not kept of them
        self._items = 0

    def variables(self, elements: _Elements) -> Iterator[tuple[str, Any]]:
        """Yield the name and the value of every variable; the one without a name is of MATLAB's own."""
        to_read, left_out = self._to_read(elements)
        yield from left_out
        for kind, element in to_read:
            if kind == _COMPRESSED:
                kind, element = self._inflated(element).next()
            if kind == _MATRIX:
                name, value = self._variable(element, 0)
                if name:
                    yield name, value

    def _to_read(self, elements: _Elements) -> tuple[list[tuple[int, _Elements]], list[tuple[str, Unread]]]:
        """Return the elements to read and their types, and the names and marks of those that are too large.

        Compressed text and the like is left out. Where the others state more bytes than the file may ask for,
        the largest cells, structs and arrays of bytes are left out, too: these are masks and pictures, and a
        layout that needs one refuses its mark.
        """
        found: list[tuple[int, _Elements, int]] = []  # with the bytes that each states
        optional: list[tuple[int, _Elements, int]] = []
        while elements.place + 8 <= elements.end:
            if len(found) >= _MOST_ITEMS:
                raise ValueError(f"it holds more than {_MOST_ITEMS} elements")
            kind, element = elements.next()
            size, of_class = _stated(element) if kind == _COMPRESSED else (0, 0)
            if of_class in _UNREAD:
                continue
            found.append((kind, element, size))
            if of_class in _MAY_BE_LEFT_OUT:
                optional.append(found[-1])
        inflated = sum(size for _, _, size in found)
        left_out: list[tuple[int, _Elements, int]] = []
        for each in sorted(optional, key=lambda each: each[2], reverse=True):
            if inflated <= self._inflating.left:
                break
            left_out.append(each)
            inflated -= each[2]
        if len(left_out) == len(found):  # nothing would be left to read
            inflated = sum(size for _, _, size in found)
        self._inflating.check(inflated)
        why = "{:.0f} MB when unpacked, more than a file of this size may need, and not read"
        marks = [(_stated_name(element), Unread(why.format(size / 1e6))) for _, element, size in left_out]
        unread = {id(element) for _, element, _ in left_out}
        return [(kind, element) for kind, element, _ in found if id(element) not in unread], marks

    def _inflated(self, element: _Elements) -> _Elements:
        """Return what a compressed element holds."""
        inflate = zlib.decompressobj()
        stored = memoryview(element.content)[element.place : element.end]
        content = inflate.decompress(stored, self._inflating.left + 1)
        self._inflating.use(len(content))
        if not inflate.eof:
            raise ValueError(f"the compressed variable at byte {element.place} is incomplete")
        return _Elements(content, element.order)

    def _variable(self, element: _Elements, depth: int) -> tuple[str, Any]:
        """Return the name and the value of a variable, None for what is neither numbers nor holds any."""
        where = f"the variable at byte {element.place - 8}"
        self._items += 1
        if self._items > _MOST_ITEMS or depth > _DEEPEST:
            raise ValueError(f"it holds more than {_MOST_ITEMS} cells, or more than {_DEEPEST} in each other")
        if element.place == element.end:
            return "", np.zeros((0, 0))
        flags = element.numbers(_UINT32)
        if len(flags) != 2:
            raise ValueError(f"{where} has no flags")
        of_class = int(flags[0]) & 0xFF
        if of_class == _OPAQUE:  # it has no dimensions
            return "", None
        shape = tuple(int(side) for side in element.numbers(_INT32))
        if not 2 <= len(shape) <= _MOST_AXES or min(shape) < 0:
            raise ValueError(f"{where} has no valid dimensions")
        name = element.numbers(_BYTES).tobytes().decode("latin-1")
        if of_class in _NUMERIC or of_class == _SPARSE:
            return name, self._array(element, of_class, bool(flags[0] & _COMPLEX), shape)
        if of_class in (_CELL, _STRUCT, _OBJECT):
            return name, self._cells(element, of_class, math.prod(shape), depth)
        if of_class in (_TEXT, _FUNCTION):
            return name, None
        raise ValueError(f"{where} is of no known class")

    def _array(self, element: _Elements, of_class: int, has_imaginary: bool, shape: tuple[int, ...]) -> Any:
        rows = element.numbers() if of_class == _SPARSE else None
        starts = element.numbers() if of_class == _SPARSE else None
        values = element.numbers()
        if has_imaginary:
            imaginary = element.numbers()
            if imaginary.shape != values.shape:
                raise ValueError("an array has not as many imaginary parts as real ones")
            values = values + 1j * imaginary
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
        if rows is None or starts is None:
            if math.prod(shape) != len(values):
                raise ValueError(f"an array of {' x '.join(map(str, shape))} has {len(values)} numbers")
            self._allowance.use_array(shape, values.itemsize)
            return values.reshape(shape, order="F")
        counts: Ints = np.asarray(np.diff(starts.astype(np.int64)), dtype=np.int64)
        if len(shape) != 2 or len(starts) != shape[1] + 1 or starts[0] != 0 or (counts < 0).any():
            raise ValueError("a sparse array has entries outside of it")
        number = int(starts[-1])
        if number > min(len(rows), len(values)):
            raise ValueError("a sparse array has fewer entries than it states")
        columns = np.repeat(np.arange(shape[1]), counts)
        return _dense((shape[0], shape[1]), rows[:number], columns, values[:number], self._allowance)

    def _cells(self, element: _Elements, of_class: int, count: int, depth: int) -> Any:
        """Return the cells of a list, or the structs of one: the struct itself where there is one."""
        if of_class == _OBJECT:
            element.numbers(_BYTES)  # the name of its class
        fields = None
        if of_class != _CELL:
            length = element.numbers(_INT32)
            names = element.numbers(_BYTES).tobytes()
            if len(length) != 1 or length[0] < 1 or len(names) % length[0]:
                raise ValueError("a struct has no valid names")
            starts = range(0, len(names), int(length[0]))
            fields = [names[k : k + int(length[0])].split(b"\0")[0].decode("latin-1") for k in starts]
        if 8 * count * len(fields or " ") > element.end - element.place and fields != []:
            raise ValueError(f"the bytes hold less than {count} cells or structs")

        def cell() -> Any:
            kind, inside = element.next()
            if kind != _MATRIX:
                raise ValueError(f"the cell at byte {inside.place} is of type {kind}")
            return self._variable(inside, depth + 1)[1]

        if fields is None:
            return [cell() for _ in range(count)]
        if not fields:
            return {}
        structs = [{name: cell() for name in fields} for _ in range(count)]
        return structs[0] if len(structs) == 1 else structs


# -- version 4 -----------------------------------------------------------------------------------------------

_CODES = ("f8", "f4", "i4", "i2", "u2", "u1")  # of the numbers, by the third digit of a type
_FULL, _CHARACTERS, _SPARSE_4 = 0, 1, 2  # the last digit
_BIG, _SMALLEST = 1, 20  # the first digit; bytes of a header


def _matrices(content: bytes, allowance: Allowance) -> Iterator[tuple[str, Any]]:
    """Yield the name and the value of every matrix, None for text."""
    place = matrices = 0
    while place < len(content):
        matrices += 1
        if matrices > _MOST_ITEMS:
            raise ValueError(f"it holds more than {_MOST_ITEMS} matrices")
        if place + _SMALLEST > len(content):
            raise ValueError(f"the matrix at byte {place} is incomplete")
        order = "<" if int(np.frombuffer(content, "<i4", 1, place)[0]) in range(10_000) else ">"
        kind, rows, columns, has_imaginary, length = np.frombuffer(content, order + "i4", 5, place).tolist()
        first, rest = divmod(kind, 1000)
        code, form = rest // 10, rest % 10
        if first not in (0, _BIG) or code >= len(_CODES) or form > _SPARSE_4:
            raise ValueError(f"the matrix at byte {place} is of type {kind}")
        if min(rows, columns, length) < 0 or has_imaginary not in (0, 1):
            raise ValueError(f"the matrix at byte {place} has no valid size")
        number = np.dtype(order + _CODES[code])
        begin, count = place + _SMALLEST + length, rows * columns
        if begin + count * (1 + has_imaginary) * number.itemsize > len(content):
            raise ValueError(f"the matrix at byte {place} is incomplete")
        name = content[place + _SMALLEST : begin].rstrip(b"\0").decode("latin-1")
        values = np.frombuffer(content, number, count * (1 + has_imaginary), begin)
        place = begin + values.nbytes
        if form == _CHARACTERS:
            yield name, None
            continue
        values = values.astype(number.newbyteorder("="), copy=False)
        if has_imaginary:
            values = values[:count] + 1j * values[count:]
        matrix = values.reshape((rows, columns), order="F")
        allowance.use_array(matrix.shape, matrix.itemsize)
        yield name, matrix if form == _FULL else _expanded(matrix, allowance)


def _expanded(entries: npt.NDArray[Any], allowance: Allowance) -> npt.NDArray[Any]:
    """Return the array of rows (row, column, number), numbers from 1; the last row has its size."""
    if entries.dtype.kind not in "biuf" or entries.shape[1] not in (3, 4) or not np.isfinite(entries).all():
        raise ValueError("a sparse array has no valid entries")
    *places, size = entries[:, :2].astype(np.int64)
    rows, columns = np.reshape(places, (-1, 2)).T - 1
    values = entries[:-1, 2] + (1j * entries[:-1, 3] if entries.shape[1] == 4 else 0)
    return _dense((int(size[0]), int(size[1])), rows, columns, values, allowance)
