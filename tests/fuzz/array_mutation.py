"""Damaged arrays of NumPy, and zip archives of them or of JSON."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
from text_mutation import NAMES, is_json, mutated_json

MAGIC = b"\x93NUMPY"
VALUES = (
    0.0, -0.0, 1.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 1e-320, 1e300, -1e300, 1e18, 2.0**31, 2.0**63, 255.0,
)  # fmt: skip
KINDS = (
    "<f4", ">f8", "<f2", "<i8", "<u8", "i1", "?", "<c16", "<U3", "S5", "<M8[s]", "<m8[D]", "V3", ">i4", "<g",
)  # fmt: skip
DESCRIPTIONS = (*KINDS, "O", "|O8", "<f8x", "", "<U1000000000", "(3,3)f8", "<i3", "f8,i4")
SIZES = (0, 1, 2, 3, -1, 7, 2**20, 2**31 - 1, 2**32, 2**40, 2**63, 10**30)


def is_npy(content: bytes) -> bool:
    return content.startswith(MAGIC)


def is_zip(content: bytes) -> bool:
    return content.startswith(b"PK\x03\x04")


def mutated_array(array: npt.NDArray[Any], random: Random) -> npt.NDArray[Any]:
    """Return an array with other values, another type or another shape."""
    kind = random.randrange(10)
    if array.dtype.kind not in "biufc":
        return np.array(random.choice((0.0, "", "x" * 3000, "\x1b[31m\n", "{}", "[[]]", "\ud800", np.nan)))
    if kind <= 2:
        changed = array.copy() if array.dtype.kind == "f" else array.astype(float)
        count = random.choice((1, 1, max(array.size // 4, 1), max(array.size, 1)))
        for _ in range(min(count, 100)):
            if changed.size:
                changed.flat[random.randrange(changed.size)] = random.choice(VALUES)
        with np.errstate(all="ignore"):
            return changed if random.random() < 0.5 else changed.astype(array.dtype)
    if kind == 3:
        return np.full_like(array, random.choice(VALUES), dtype=float)
    if kind == 4:
        with np.errstate(all="ignore"):
            return array.astype(random.choice(KINDS[:8]))
    if kind == 5:
        return array[..., : random.randrange(array.shape[-1] + 1)] if array.ndim else array[None]
    if kind == 6:
        return array[: random.randrange(len(array) + 1)] if array.ndim else array.reshape(1, 1)
    if kind == 7:
        return array.T if array.ndim > 1 else array[None]
    if kind == 8:
        return random.choice(
            (array[None], array[..., None], array.reshape(-1), np.concatenate([array.ravel()] * 2))
        )
    return random.choice(
        (np.zeros(0), np.array(0.0), np.zeros((0, 3)), np.zeros((3, 0, 2)), np.ones((1, 1, 1, 1)))
    )


def npy_of(array: npt.NDArray[Any]) -> bytes:
    """Return the bytes of an array."""
    content = io.BytesIO()
    np.lib.format.write_array(content, array, allow_pickle=False)
    return content.getvalue()


def mutated_npy(content: bytes, random: Random) -> bytes:
    """Return an array that is another one, or whose header is none of its bytes."""
    array = _array_of(content)
    if array is not None and random.random() < 0.6:
        return npy_of(mutated_array(array, random))
    end = content.find(b"\n")
    head, body = content[:end], content[end + 1 :]
    shape, kind = random.randrange(2), random.randrange(6)
    if kind <= 1:
        sizes = [random.choice(SIZES) for _ in range(random.choice((0, 1, 2, 3, 40)))]
        text = f"({''.join(f'{size}, ' for size in sizes)})".encode()
        head = re.sub(rb"\([^)]*\)", text, head, count=1)
    elif kind == 2:
        text = repr(random.choice(DESCRIPTIONS)).encode()
        head = re.sub(rb"'descr': *'[^']*'", b"'descr': " + text, head, count=1)
    elif kind == 3:
        head = head.replace(
            *random.choice(((b"False", b"True"), (b"fortran_order", b"x"), (b"{", b"["), (b"}", b"")))
        )
    elif kind == 4:
        body = body[: random.randrange(len(body) + 1)] if shape else body + body
    else:
        head = head[:10] + random.choice((b"1" * 3000, b"(" * 500, b"\x1b[31m", b"\xff\xfe", b"{'a': " * 200))
    head = head[:10] + head[10:].ljust(end - 10)
    length = max(len(head) - 9, 0) if random.random() < 0.9 else random.randrange(65536)
    version = (
        content[6:8] if random.random() < 0.9 else bytes((random.choice((0, 2, 3, 9)), random.randrange(3)))
    )
    return MAGIC + version + length.to_bytes(2, "little") + head[10:] + b"\n" + body


def _array_of(content: bytes) -> npt.NDArray[Any] | None:
    try:
        return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except Exception:  # it is damaged already
        return None


def mutated_zip(content: bytes, random: Random) -> bytes:
    """Return an archive with a member that is damaged, renamed, left out, doubled, swapped or misstated."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()]
    except Exception:  # it is damaged already
        return content[: random.randrange(len(content))]
    if not members:
        return content
    if random.random() < 0.15:
        return _misstated(content, random)
    place = random.randrange(len(members))
    documents = [k for k, (_, inside) in enumerate(members) if is_json(inside) or _holds_json(inside)]
    if documents and random.random() < 0.4:
        place = random.choice(documents)
    name, inside = members[place]
    kind = random.randrange(12)
    if kind <= 6:
        members[place] = name, _mutated_member(inside, random)
    elif kind == 7:
        members[place] = random.choice(NAMES) + random.choice(("", ".npy")), inside
    elif kind == 8:
        del members[place]
    elif kind == 9:
        members.append((random.choice((name, f"{name.removesuffix('.npy')}_2.npy", "extra")), inside))
    elif kind == 10:
        other = random.randrange(len(members))
        members[place], members[other] = (name, members[other][1]), (members[other][0], inside)
    else:
        members[place] = name, random.choice((b"", b"\xff\x80\0", b"text", MAGIC, b"PK\x05\x06" + bytes(18)))
    return _archive_of(members)


def _misstated(content: bytes, random: Random) -> bytes:
    """Return an archive whose list states another method, size, checksum, place or flags of a member."""
    begin = random.choice([match.start() for match in re.finditer(b"PK\x01\x02", content)])
    place, kind = random.choice(((8, "H"), (10, "H"), (16, "L"), (20, "L"), (24, "L"), (24, "L"), (42, "L")))
    methods = (1, 8, 9, 12, 14, 93, 99)
    number = random.choice(methods if kind == "H" else (0, 1, 100, 5000, 2**20, 2**31 - 1, 2**32 - 1))
    changed = bytearray(content)
    struct.pack_into(f"<{kind}", changed, begin + place, number)
    return bytes(changed)


def _mutated_member(inside: bytes, random: Random) -> bytes:
    if is_npy(inside):
        text = _holds_json(inside)
        if text and random.random() < 0.8:
            return npy_of(np.array(mutated_json(text.encode(), random).decode("utf-8", "replace")))
        return mutated_npy(inside, random)
    return mutated_json(inside, random) if is_json(inside) else inside[: random.randrange(len(inside) + 1)]


def _holds_json(inside: bytes) -> str:
    """Return the JSON text of an array, "" where it is no such text."""
    array = _array_of(inside) if is_npy(inside) else None
    if array is None or array.dtype.kind != "U" or array.ndim or not str(array).startswith(("{", "[")):
        return ""
    try:
        json.loads(str(array))
    except ValueError:
        return ""
    return str(array)


def _archive_of(members: list[tuple[str, bytes]]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for number, (name, inside) in enumerate(members):
            info = zipfile.ZipInfo(name)
            try:
                archive.writestr(info, inside, compress_type=zipfile.ZIP_DEFLATED)
            except UnicodeEncodeError:
                archive.writestr(f"member{number}", inside)
    return stream.getvalue()
