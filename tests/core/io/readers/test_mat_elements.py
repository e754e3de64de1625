"""The bytes of MATLAB files: read as scipy reads what it writes, refused where they are damaged."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from core import InputError
from core.io.files.variables import size_of
from core.io.readers.arrays.mat import load_variables

FILE = Path("a.mat")
TEXT = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01"
DOUBLE, INT32, UINT32, BYTES, UINT8, MATRIX, COMPRESSED = 9, 5, 6, 1, 2, 14, 15
CELL, STRUCT, OBJECT, CHAR, SPARSE, NUMBERS, FUNCTION, OPAQUE = 1, 2, 3, 4, 5, 6, 16, 17


def element(kind: int, content: bytes, order: str = "<") -> bytes:
    padding = b"" if kind == COMPRESSED else bytes(-len(content) % 8)
    return struct.pack(f"{order}II", kind, len(content)) + content + padding


def matrix(
    of_class: int, shape: tuple[int, ...], *parts: bytes, name: bytes = b"W", flags: int = 0, order: str = "<"
) -> bytes:
    head = element(UINT32, struct.pack(f"{order}II", of_class | flags, 0), order)
    head += element(INT32, struct.pack(f"{order}{len(shape)}i", *shape), order)
    return element(MATRIX, head + element(BYTES, name, order) + b"".join(parts), order)


def doubles(*values: float, order: str = "<") -> bytes:
    return element(DOUBLE, struct.pack(f"{order}{len(values)}d", *values), order)


def int32(*values: int) -> bytes:
    return element(INT32, struct.pack(f"<{len(values)}i", *values))


def load(*elements: bytes, compressed: bool = False) -> dict[str, Any]:
    if compressed:
        elements = tuple(element(COMPRESSED, zlib.compress(each)) for each in elements)
    return load_variables(TEXT + b"IM" + b"".join(elements), FILE)


def as_scipy_reads(value: Any) -> Any:
    if scipy.sparse.issparse(value):
        value = value.toarray()
    if value.dtype.names:
        structs = [
            {name: as_scipy_reads(each[name]) for name in value.dtype.names} for each in value.ravel("F")
        ]
        return structs[0] if len(structs) == 1 else structs
    if value.dtype == object:
        return [as_scipy_reads(each) for each in value.ravel("F")]
    return value if value.dtype.kind in "biufc" else None


def check_same(ours: Any, theirs: Any) -> None:
    assert type(ours) is type(theirs)
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for name in ours:
            check_same(ours[name], theirs[name])
    elif isinstance(ours, list):
        for one, other in zip(ours, theirs, strict=True):
            check_same(one, other)
    elif ours is not None:
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`:DeprecationWarning")
@pytest.mark.parametrize("options", [{}, {"do_compression": True}, {"format": "4"}])
def test_what_scipy_writes_is_read_as_scipy_reads_it(options):
    rng = np.random.default_rng(0)
    cells = np.empty((2, 3), dtype=object)
    for place in np.ndindex(cells.shape):
        cells[place] = rng.normal(size=(3, 4)) if place != (1, 1) else "text"
    structs = np.zeros((1, 2), dtype=[("p", object), ("name", object)])
    for number in range(2):
        structs[0, number] = (rng.normal(size=(2, 5)), f"view {number}")
    variables: dict[str, Any] = {
        "small": np.array([[1, 2], [3, 4]], dtype=np.uint8),
        "W": rng.normal(size=(6, 9)),
        "complex": rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3)),
        "flags": rng.random((3, 4)) < 0.5,
        "single": np.float32(3.5),
        "text": "nothing to read",
        "sparse": scipy.sparse.random(5, 4, 0.5, "csc", random_state=0),
        "empty": np.zeros((0, 3)),
    }
    if "format" not in options:
        for kind in (np.int8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float32):
            variables[np.dtype(kind).name] = rng.integers(0, 100, (2, 3, 4)).astype(kind)
        variables |= {"cells": cells, "struct": {"a": np.eye(3), "in": {"b": cells}}, "structs": structs}
    content = io.BytesIO()
    scipy.io.savemat(content, variables, **options)
    content.seek(0)
    theirs = {
        name: as_scipy_reads(value) for name, value in scipy.io.loadmat(content).items() if name[0] != "_"
    }
    check_same(load_variables(content.getvalue(), FILE), {k: v for k, v in theirs.items() if v is not None})


def test_numbers_of_the_other_order_are_the_same():
    values = (1.0, -2.5, 3e300, 4.0, 5.0, 6.0)
    ours = load_variables(
        TEXT + b"MI" + matrix(NUMBERS, (2, 3), doubles(*values, order=">"), order=">"), FILE
    )
    np.testing.assert_array_equal(ours["W"], np.reshape(values, (2, 3), order="F"))
    assert ours["W"].dtype.isnative
    header = struct.pack(">5i", 1000, 2, 3, 0, 2) + b"W\0"
    ours = load_variables(header + struct.pack(">6d", *values), FILE)
    np.testing.assert_array_equal(ours["W"], np.reshape(values, (2, 3), order="F"))


def test_functions_and_opaque_objects_are_left_out():
    opaque = element(MATRIX, element(UINT32, struct.pack("<II", OPAQUE, 0)) + bytes(64))
    function = matrix(FUNCTION, (1, 1), element(MATRIX, b"anything"), name=b"f")
    plain = matrix(NUMBERS, (1, 2), doubles(1, 2))
    assert list(load(opaque, function, plain)) == ["W"]


def nested(depth: int) -> bytes:
    inside = matrix(NUMBERS, (1, 1), doubles(1))
    for _ in range(depth):
        inside = matrix(CELL, (1, 1), inside)
    return inside


NAMES = element(INT32, struct.pack("<i", 2)) + element(BYTES, b"a\0b\0")
DAMAGED = {
    "numbers of no type": (matrix(NUMBERS, (1, 1), element(23, bytes(8))), "is of type 23"),
    "a variable for numbers": (matrix(NUMBERS, (1, 1), element(MATRIX, bytes(8))), "is of type 14"),
    "a variable of no class": (matrix(99, (1, 1), doubles(1)), "at byte .* is of no known class"),
    "a part of a number": (matrix(NUMBERS, (1, 1), element(DOUBLE, bytes(7))), "ends inside a number"),
    "more numbers than bytes": (matrix(NUMBERS, (2**30, 2**30), doubles(1)), "has 1 numbers"),
    "sides below 0": (matrix(NUMBERS, (-1, -1), doubles(1)), "has no valid dimensions"),
    "too many axes": (matrix(NUMBERS, (1,) * 40, doubles(1)), "has no valid dimensions"),
    "no flags": (element(MATRIX, element(UINT32, b"")), "has no flags"),
    "fewer imaginary parts": (matrix(NUMBERS, (1, 2), doubles(1, 2), doubles(1), flags=0x800), "imaginary"),
    "deep cells": (nested(5000), "more than 32 in each other"),
    "cells without bytes": (matrix(CELL, (2**30, 1)), "the bytes hold less than 1073741824 cells"),
    "structs without bytes": (matrix(STRUCT, (2**20, 2**10), NAMES), "the bytes hold less than"),
    "structs of nothing": (matrix(STRUCT, (2**30, 1), element(INT32, bytes(4))), "there is no element"),
    "names of no length": (
        matrix(STRUCT, (1, 1), int32(0) + element(BYTES, b"ab")),
        "a struct has no valid names",
    ),
    "a cell that is no variable": (matrix(CELL, (1, 1), doubles(1)), "the cell at byte .* is of type 9"),
    "many empty cells": (matrix(CELL, (200_000, 1), element(MATRIX, b"") * 200_000), "more than 100000"),
    "sparse rows outside": (
        matrix(SPARSE, (3, 1), int32(7), int32(0, 1), doubles(1)),
        "a sparse array has entries outside",
    ),
    "sparse rows below 0": (
        matrix(SPARSE, (3, 1), int32(-1), int32(0, 1), doubles(1)),
        "a sparse array has entries outside",
    ),
    "sparse columns that fall": (
        matrix(SPARSE, (3, 2), int32(0), int32(0, 5, 1), doubles(1)),
        "a sparse array has entries outside",
    ),
    "fewer sparse entries": (matrix(SPARSE, (3, 1), int32(0), int32(0, 9), doubles(1)), "fewer entries than"),
    "a large sparse array": (
        matrix(SPARSE, (2**30, 100), int32(), int32(*[0] * 101), doubles()),
        "needs 858993 MB of memory",
    ),
}


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_variable_is_refused(kind, compressed):
    content, sentence = DAMAGED[kind]
    with pytest.raises(InputError, match=sentence):
        load(content, compressed=compressed)


def test_a_compressed_variable_is_no_larger_than_its_file_may_ask_for():
    bomb = zlib.compress(bytes(150_000_000), 9)
    with pytest.raises(InputError, match="MB of memory; accepted of a file of this size"):
        load(element(COMPRESSED, bomb))
    with pytest.raises(InputError, match="the compressed variable at byte 136 is incomplete"):
        load(element(COMPRESSED, zlib.compress(matrix(NUMBERS, (1, 1), doubles(1)))[:-3]))
    with pytest.raises(InputError, match="is not a MATLAB file that can be read"):
        load(element(COMPRESSED, b"no compressed bytes"))


def packed(*parts: bytes) -> bytes:
    return element(COMPRESSED, zlib.compress(b"".join(parts), 9))


def test_compressed_text_is_not_inflated():
    text = packed(matrix(CHAR, (1, 5000), element(4, np.random.default_rng(0).bytes(10_000)), name=b"note"))
    damaged = text[:6000] + bytes(100) + text[6100:]  # where nothing reads it
    number = packed(matrix(NUMBERS, (1, 1), doubles(3)))
    assert load(*[damaged] * 20, number) == {"W": np.array([[3.0]])}


def test_the_sizes_of_compressed_variables_are_added_before_any_is_inflated():
    half = packed(matrix(NUMBERS, (4_000_000, 1), element(DOUBLE, bytes(32_000_000))))
    assert load(half)["W"].shape == (4_000_000, 1)
    damaged = half[:200] + bytes(100) + half[300:]
    with pytest.raises(
        InputError, match=r"needs 96 MB of memory; accepted of a file of this size are 8\d MB"
    ):
        load(damaged, damaged, damaged)


@pytest.mark.slow
@pytest.mark.parametrize("wrapped", [False, True])
def test_masks_that_are_too_large_are_marked_and_not_inflated(wrapped):
    mask = np.zeros((10_000, 10_000), np.uint8)
    cells = np.empty((1, 1), dtype=object)
    cells[0, 0] = mask
    stream = io.BytesIO()
    wanted = np.arange(24.0).reshape(4, 6)
    scipy.io.savemat(stream, {"rois": cells if wrapped else mask, "W": wanted}, do_compression=True)
    tracemalloc.start()
    found = load_variables(stream.getvalue(), FILE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(found["W"], wanted)
    assert size_of(found["rois"]).startswith("100 MB when unpacked") and peak < 5e6


def test_what_is_too_large_and_alone_is_refused():
    stream = io.BytesIO()
    scipy.io.savemat(stream, {"rois": np.zeros((10_000, 10_000), np.uint8)}, do_compression=True)
    with pytest.raises(InputError, match="needs 100 MB of memory; accepted of a file of this size"):
        load_variables(stream.getvalue(), FILE)


def test_what_is_inflated_and_not_kept_is_added_up():
    other = packed(element(BYTES, bytes(30_000_000)))  # no variable, whose size would be known before
    assert load(other, other) == {}
    with pytest.raises(InputError, match=r"needs 8\d MB of memory; accepted of a file"):
        load(other, other, other)


@pytest.mark.slow
def test_very_many_elements_are_refused():
    with pytest.raises(InputError, match="it holds more than 100000 elements"):
        load(bytes(8 * 100_001))
    with pytest.raises(InputError, match="it holds more than 100000 matrices"):
        load_variables(bytes(20 * 100_001), FILE)


@pytest.mark.parametrize(
    ("numbers", "content", "sentence"),
    [
        ((0, 10**9, 10**9, 0, 2), b"W\0", "is incomplete"),
        ((0, -5, -5, 0, 2), b"W\0", "has no valid size"),
        ((0, 1, 1, 0, 2**30), b"W\0", "is incomplete"),
        ((4099, 1, 1, 0, 2), b"W\0", "is of type"),
        ((2, 1, 3, 0, 2), b"W\0" + struct.pack("<3d", 2**20, 2**20, 0), "needs 8796093 MB"),
        ((2, 2, 3, 0, 2), b"W\0" + struct.pack("<6d", 9, 1, 1, 1, 5.0, 0), "entries outside"),
        ((2, 1, 3, 0, 2), b"W\0" + struct.pack("<3d", np.nan, 1, 0), "no valid entries"),
        ((2, 0, 3, 0, 2), b"W\0", "is not a MATLAB file that can be read"),
    ],
)
def test_a_damaged_matrix_of_version_4_is_refused(numbers, content, sentence):
    with pytest.raises(InputError, match=sentence):
        load_variables(struct.pack("<5i", *numbers) + content, FILE)
