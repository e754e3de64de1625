"""Damaged copies of files: of the values that they hold, and of any of their bytes.

A file is decoded into a tree: dicts of the parts of an archive, the variables of MATLAB and the items of
HDF5, lists of lines and of their words, the values of JSON, the operations of pickles, none of which is
executed, with arrays of NumPy in it. What is in one place of the tree becomes another value, goes, comes
twice, or gets another name, and the tree is encoded again. What is damaged so is still read far enough to
reach what comes after the first check. Bits that flip, numbers that become others, bytes that are cut off,
doubled or from another file are for all formats, and for the parts of archives.
"""

from __future__ import annotations

import io
import json
import pickle
import pickletools
import re
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt
from scipy.io import loadmat, savemat

BYTES_ONLY = 0.2  # the share of inputs whose values are left as they are
BOTH = 0.15  # of those whose bytes are damaged after their values
MOST_CHANGES = 3  # of the values of one input
NUMBERS = (
    0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1,
)  # fmt: skip
FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 1e-320, 1e300, -1e300, 1e18, 2.0**31, 2.0**63, 255.0,
)  # fmt: skip
KINDS = "<f4 >f8 <f2 <i8 <u8 i1 ? <c16 <U3 S5 >i4 <g".split()
NAMES = (
    "", "../x", "/etc/passwd", "\x1b[31mred", "=1+1", "<b>x</b>", "x" * 3000, "\u202e", "a\nb\nc\nd\ne\nf",
    "C:\\x",
)  # fmt: skip
WORDS = (
    "", "0", "-1", "1", "nan", "NaN", "inf", "-inf", "Infinity", "1e999", "-1e308", "1e308", "9" * 20,
    "9" * 400, "1" * 5000, "0x10", "1_000", "1.5", "None", "null", "true", "x", "\x1b[31m", "\u202eabc", '"',
    "'", ",", "\0", "\ufeff", "\u0661", "2147483648", "-9223372036854775809", "1e-320", "{}", "[]",
    "a" * 3000, "1;2", "é", "\t", "%s", "{0}", "\ud800",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, [], {}, "", "<b>x</b>", "x" * 3000, "\x1b[31m\u202e", "\udcff", "a\nb\nc\nd\ne\nf", 0, -1, 1, 2,
    10**400, 2**63, 2**31, 1e308, -1e308, 1e-320, 0.5, float("inf"), float("nan"), True, False, [[[]]],
    {"a": 1}, [1, 2, 3], "nan", "1", [None], [0.5] * 300, 10**18, "../../x", "sample:", "/dev/zero",
)  # fmt: skip
SPLIT = re.compile(r"([\s,;=/|:]+)")
MAT4_KINDS = {struct.pack("<i", 10 * number + form) for number in range(6) for form in range(3)}


@dataclass(frozen=True)
class Format:
    """How files of a format become values, and values files again; `encode` gets the first file, too."""

    fits: Callable[[bytes], Any]
    decode: Callable[[bytes], Any]
    encode: Callable[[Any, bytes], bytes]


@dataclass
class Decoded:
    """The values of a file, or of a part of an archive."""

    format: Format
    content: bytes
    value: Any

    def encoded(self) -> bytes:
        return self.format.encode(self.value, self.content)


def decoded(content: bytes) -> Decoded | bytes:
    """Return the values of a file, its bytes where they are of no format."""
    for known in FORMATS:
        with suppress(Exception):  # it is damaged, or begins like another
            if known.fits(content):
                return Decoded(known, content, known.decode(content))
    return content


def mutated(content: bytes, random: Random, other: bytes = b"") -> bytes:
    """Return a damaged copy.

    `content`: the bytes of a file; `random`: what is damaged and how depends on it alone; `other`: another
    file, of which parts may be put in. The result is seldom equal to it.
    """
    found = decoded(content)
    if isinstance(found, bytes) or random.random() < BYTES_ONLY:
        return mutated_bytes(content, random, other)
    # Of numbers that become others.
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        for _ in range(random.randint(1, MOST_CHANGES)):
            change(found, random)
        try:
            damaged = found.encoded()
        except Exception:  # the format has no such value
            return mutated_bytes(content, random, other)
    return mutated_bytes(damaged, random, other) if random.random() < BOTH else damaged


# -- values --------------------------------------------------------------------------------------------------


def change(tree: Decoded, random: Random) -> None:
    """Change what is in one place of a tree."""
    places = list(_places(tree, "value"))
    # Deeper ones rather, which are read farther, and each depth often: most places are in long lists.
    depths = sorted({depth for depth, _, _ in places[1:]}) or [0]
    depth = max(random.choice(depths), random.choice(depths))
    _, inside, key = random.choice([place for place in places if place[0] == depth])
    if isinstance(inside, Decoded):
        inside.value = _other(inside.value, random)
        return
    value, kind = inside[key], random.randrange(10)
    if kind <= 4:
        inside[key] = _other(value, random)
    elif kind == 5:
        del inside[key]
    elif kind == 6 and isinstance(inside, dict):
        inside[random.choice((*NAMES, *map(str, inside)))] = inside.pop(key)
    elif kind == 6:
        inside.insert(key, value)
    elif kind == 7:
        inside[key] = random.choice(([value], {"a": value}))
    elif kind == 8:
        _, other, place = random.choice(places)
        inside[key] = deepcopy(other.value if isinstance(other, Decoded) else other[place])
    elif isinstance(value, list | str | bytes):
        inside[key] = value[: random.randrange(len(value) + 1)]
    else:
        inside[key] = -value if isinstance(value, int | float) else _other(value, random)


def _places(inside: Any, key: Any, depth: int = 0) -> Iterator[tuple[int, Any, Any]]:
    """Yield the depth, the container and the key of every value, of long lists the first and last items."""
    yield depth, inside, key
    value = inside.value if isinstance(inside, Decoded) else inside[key]
    if isinstance(value, Decoded):
        yield from _places(value, "value", depth + 1)
    elif isinstance(value, dict):
        for each in value:
            yield from _places(value, each, depth + 1)
    elif isinstance(value, list):
        count = len(value)
        for each in sorted({*range(min(count, 12)), *range(max(count - 2, 0), count)}):
            yield from _places(value, each, depth + 1)


def _other(value: Any, random: Random) -> Any:
    """Return another value in place of one."""
    if isinstance(value, Decoded):
        return mutated_bytes(value.encoded(), random)
    if isinstance(value, bytes) and random.random() < 0.5:
        return mutated_bytes(value, random)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return mutated_array(value, random)
    return deepcopy(random.choice(WORDS if isinstance(value, str) else VALUES))  # it is changed later


def mutated_array(array: npt.NDArray[Any], random: Random) -> npt.NDArray[Any]:
    """Return an array of numbers with other values, of another type or of another shape."""
    changed = array.astype(random.choice((float, array.dtype)))
    for _ in range(min(random.choice((1, array.size // 4, array.size)), array.size, 100)):
        floats = changed.dtype.kind in "fc"
        changed.flat[random.randrange(array.size)] = random.choice(FLOATS if floats else (0, 1, 2))
    one = array[None]
    rows = random.randrange(len(array) + 1) if array.ndim else 0
    others = (
        np.full_like(array, random.choice(FLOATS), dtype=float), *map(array.astype, random.sample(KINDS, 3)),
        array[:rows] if array.ndim else one, array[..., :rows] if array.ndim else one, array.T, one,
        array[..., None], array.reshape(-1), np.concatenate([array.ravel()] * 2), np.zeros(0), np.array(0.0),
        np.zeros((3, 0, 2)), np.ones((1, 1, 1, 1)),
    )  # fmt: skip
    return changed if random.random() < 0.3 or not array.size else random.choice(others)


# -- bytes ---------------------------------------------------------------------------------------------------


def mutated_bytes(content: bytes, random: Random, other: bytes = b"") -> bytes:
    """Return a copy with some bytes changed, whatever they stand for; there is at least one."""
    damaged = bytearray(content or b"\0")
    for _ in range(random.choice((1, 1, 2, 4, 16))):
        place, length = random.randrange(len(damaged)), min(random.choice((1, 4, 16, 64, 512)), len(damaged))
        kind = random.randrange(11)
        if kind <= 1:
            damaged[place] ^= 1 << random.randrange(8)
        elif kind == 2:
            damaged[place] = random.randrange(256)
        elif kind <= 4:
            form = random.choice(("<B", "<H", "<I", "<Q", ">H", ">I", ">Q"))
            number = random.choice(NUMBERS) % 256 ** struct.calcsize(form)
            damaged[place : place + struct.calcsize(form)] = struct.pack(form, number)
        elif kind == 5:
            del damaged[place : place + length]
        elif kind == 6:
            damaged[place:place] = damaged[place : place + length]
        elif kind == 7:
            start = random.randrange(max(len(other), 1))
            damaged[place : place + length] = other[start : start + length]
        elif kind == 8:
            del damaged[max(place, 1) :]
        elif found := list(re.finditer(rb"\w+", damaged[:4096])):  # such as those of the header of an array
            begin, end = random.choice(found).span()
            damaged[begin:end] = random.choice(WORDS).encode("utf-8", "surrogatepass")
        damaged = damaged or bytearray(b"\0")
    return bytes(damaged)


# -- formats, in the order in which they are tried -----------------------------------------------------------


def _parts_of(content: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: decoded(archive.read(name)) for name in archive.namelist()}


def _archive_of(parts: Any, _content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            part = part.encoded() if isinstance(part, Decoded) else part
            archive.writestr(name, part if isinstance(part, bytes) else json.dumps(part).encode())
    return stream.getvalue()


def _array_of(content: bytes) -> Any:
    """Return an array, of a text that is JSON its values."""
    array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    return json.loads(str(array)) if str(array).startswith(("{", "[{")) else array


def npy_of(value: Any, _content: bytes = b"") -> bytes:
    stream = io.BytesIO()
    array = value if isinstance(value, np.ndarray) else np.array(json.dumps(value))
    np.lib.format.write_array(stream, array, allow_pickle=False)
    return stream.getvalue()


def _items_of(content: bytes) -> dict[str, Any]:
    found = {}
    with h5py.File(io.BytesIO(content), "r") as file:
        file.visititems(lambda name, item: found.update({name: item[()]} if _has_numbers(item) else {}))
    return found


def _has_numbers(item: Any) -> bool:
    return isinstance(item, h5py.Dataset) and item.dtype.kind in "biuf"


def _hdf5_of(items: Any, content: bytes) -> bytes:
    """Return the file with other numbers; its other items and its attributes stay."""
    stream, before = io.BytesIO(content), _items_of(content)
    with h5py.File(stream, "r+") as file:
        for name in sorted(before.keys() | items.keys()):
            if name in before and pickle.dumps(items.get(name)) == pickle.dumps(before[name]):
                continue
            attributes = dict(file[name].attrs) if name in before else {}
            if name in before:
                del file[name]
            if name in items:
                file[name] = items[name]
                file[name].attrs.update(attributes)
    return stream.getvalue()


def _variables_of(content: bytes) -> dict[str, Any]:
    found = loadmat(io.BytesIO(content), simplify_cells=True)
    return {name: value for name, value in found.items() if not name.startswith("__")}


def _mat_of(variables: Any, content: bytes) -> bytes:
    stream = io.BytesIO()
    form = "5" if content[126:128] == b"IM" else "4"
    savemat(stream, _for_matlab(variables), format=form, do_compression=form == "5" and len(content) % 2 > 0)
    return stream.getvalue()


def _for_matlab(value: Any) -> Any:
    """Return lists of dicts as arrays of structs, other lists as cells."""
    if isinstance(value, dict):
        return {name: _for_matlab(each) for name, each in value.items()}
    if not isinstance(value, list):
        return value
    names = list(value[0]) if value and isinstance(value[0], dict) else []
    if names and all(isinstance(each, dict) and list(each) == names for each in value):
        rows = [tuple(_for_matlab(each[name]) for name in names) for each in value]
        return np.array([rows], dtype=[(name, object) for name in names])
    cells = np.empty((1, len(value)), dtype=object)
    for place, each in enumerate(value):
        cells[0, place] = _for_matlab(each)
    return cells


def _operations_of(content: bytes) -> dict[int, bytes]:
    """Return the operations of a pickle with their arguments, by their places; none is executed."""
    places = [place for _, _, place in pickletools.genops(content) if place is not None]
    ends = (*places[1:], len(content))
    return {begin: content[begin:end] for begin, end in zip(places, ends, strict=True)}


def _pickle_of(operations: Any, _content: bytes) -> bytes:
    """Return the operations one after the other; another value is what puts it on the stack."""
    each = (one if isinstance(one, bytes) else pickle.dumps(one, 2)[2:-1] for one in operations.values())
    return b"".join(each)


def _lines_of(content: bytes) -> list[Any]:
    return [SPLIT.split(line) for line in content.decode("utf-8", "surrogateescape").split("\n")]


def _text_of(lines: Any, _content: bytes) -> bytes:
    parts = (line if isinstance(line, list) else [line] for line in lines)
    text = "\n".join("".join(map(str, part)) for part in parts)
    return text.encode("utf-16" if len(text) % 30 == 0 else "utf-8", "replace")


def _is_text(content: bytes) -> bool:
    """Return whether bytes are text but for a few."""
    some = content[:4096]
    return sum(byte < 9 or 13 < byte < 32 for byte in some) <= len(some) // 100


FORMATS = (
    Format(lambda content: content.startswith(b"PK\x03\x04"), _parts_of, _archive_of),
    Format(lambda content: content.startswith(b"\x93NUMPY"), _array_of, npy_of),
    Format(lambda content: b"\x89HDF\r\n\x1a\n" in (content[:8], content[512:520]), _items_of, _hdf5_of),
    Format(
        lambda content: content[126:128] == b"IM" or (0 in content[:4] and content[:4] in MAT4_KINDS),
        _variables_of, _mat_of,
    ),
    Format(re.compile(rb"\x80[\2-\5]").match, _operations_of, _pickle_of),
    Format(re.compile(rb"\s*[\[{]").match, json.loads, lambda value, content: json.dumps(value).encode()),
    Format(_is_text, _lines_of, _text_of),
)  # fmt: skip
