"""Damaged copies of files: of what their structure states, and of any of their bytes.

Each format is changed as what it is: arrays and archives of them, trees of JSON, lines and words of text in
modules of their own, items of HDF5, variables of MATLAB and operations of pickles here. What is damaged so is
still read far enough to reach what comes after the first check. Bits that flip, bytes that are cut off,
doubled or from another file are for all formats.
"""

from __future__ import annotations

import io
import pickletools
import struct
import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import h5py
import numpy as np
from array_mutation import is_npy, is_zip, mutated_array, mutated_npy, mutated_zip
from scipy.io import loadmat, savemat
from scipy.sparse import issparse
from text_mutation import NAMES, is_json, is_text, mutated_json, mutated_text

BYTES_ONLY = 0.2  # the share of inputs whose structure is left as it is
BOTH = 0.15  # of those whose bytes are damaged after their structure
MOST_CHANGES = 3  # of the structure of one input
NUMBERS = (
    0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1,
)  # fmt: skip
HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
MAT4_KINDS = {struct.pack("<i", 10 * number + form) for number in range(6) for form in range(3)}
OPERATIONS = tuple(operation.code.encode("latin-1") for operation in pickletools.opcodes)  # of pickles


def is_hdf5(content: bytes) -> bool:
    return HDF5_MAGIC in (content[:8], content[512:520])


def mutated_hdf5(content: bytes, random: Random) -> bytes:
    """Return a file with an item that is another, is left out, or leads elsewhere."""
    stream = io.BytesIO(content)
    try:
        with h5py.File(stream, "r+") as file:
            _change_hdf5(file, random)
    except Exception:  # it is damaged already, or becomes what h5py does not write
        return content[: random.randrange(len(content))]
    return stream.getvalue()


def _change_hdf5(file: Any, random: Random) -> None:
    found: list[str] = []
    file.visit(found.append)
    name, kind = random.choice(sorted(found)), random.randrange(10)
    item, new = file[name], f"new{random.randrange(1000)}"
    if kind <= 3 and isinstance(item, h5py.Dataset) and item.dtype.kind in "biuf":
        attributes = dict(item.attrs)
        value = mutated_array(item[()], random)
        del file[name]
        file[name] = value
        file[name].attrs.update(attributes)
    elif kind == 4:
        del file[name]
    elif kind == 5:
        file[new] = random.choice(
            (h5py.SoftLink("/"), h5py.SoftLink(f"/{name}"), h5py.ExternalLink("/etc/passwd", "/"))
        )
    elif kind == 6:
        file[random.choice([each for each in NAMES if each.strip("/.")] + [new])] = item
    elif kind == 7:
        chosen = random.choice((b"char", b"cell", b"logical", b"struct", b"double"))
        item.attrs[random.choice(("MATLAB_class", "MATLAB_empty"))] = random.choice(
            (np.bytes_(chosen), np.uint8(1))
        )
    elif kind == 8:
        size = random.choice((10**3, 10**6, 10**9, 10**12))
        file.create_dataset(new, (size,), "f8", chunks=(min(size, 1000),), compression="gzip")
    else:
        references = [file[each].ref for each in random.choices(found, k=random.choice((1, 5, 300)))]
        file.create_dataset(new, data=np.array([references], dtype=object), dtype=h5py.ref_dtype)


def is_mat5(content: bytes) -> bool:
    return content[126:128] == b"IM"


def is_mat4(content: bytes) -> bool:
    return 0 in content[:4] and len(content) >= 20 and content[:4] in MAT4_KINDS


def mutated_mat(content: bytes, random: Random) -> bytes:
    """Return a file with a variable that is another, is left out, or has the name of another."""
    stream = io.BytesIO()
    try:
        variables = {
            name: value for name, value in loadmat(io.BytesIO(content)).items() if not name.startswith("__")
        }
        name, kind = random.choice(sorted(variables)), random.randrange(8)
        if kind <= 5:
            variables[name] = _mutated_variable(variables[name], random)
        elif kind == 6:
            del variables[name]
        else:
            other = random.choice(sorted(variables))
            variables[name], variables[other] = variables[other], variables[name]
        version = "5" if is_mat5(content) else "4"
        savemat(stream, variables, format=version, do_compression=version == "5" and random.random() < 0.5)
    except Exception:  # it becomes what scipy does not write
        return content[: random.randrange(len(content))]
    return stream.getvalue()


def _mutated_variable(value: Any, random: Random) -> Any:
    """Return an array, a cell of cells or a field of structs that is changed."""
    if issparse(value):
        return mutated_array(value.toarray(), random)
    if value.dtype.names is None and value.dtype != object:
        return mutated_array(value, random)
    changed = value.copy()
    if not changed.size or random.random() < 0.1:
        return changed[:0]
    place = np.unravel_index(random.randrange(changed.size), changed.shape)
    if changed.dtype.names is None:
        changed[place] = _mutated_variable(np.asarray(changed[place]), random)
    else:
        field = random.choice(changed.dtype.names)
        changed[field][place] = _mutated_variable(np.asarray(changed[field][place]), random)
    return changed


def is_pickle(content: bytes) -> bool:
    return content[:1] == b"\x80" and content[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")


def mutated_pickle(content: bytes, random: Random) -> bytes:
    """Return a pickle with an operation that is left out, doubled, swapped, or has another argument."""
    try:
        places = [place for _, _, place in pickletools.genops(content) if place is not None]
    except Exception:  # it is damaged already
        return content[: random.randrange(len(content))]
    parts = [content[a:b] for a, b in zip(places, [*places[1:], len(content)], strict=True)]
    place, other, kind = random.randrange(len(parts)), random.randrange(len(parts)), random.randrange(7)
    if kind == 0:
        del parts[place]
    elif kind == 1:
        parts.insert(other, parts[place])
    elif kind == 2:
        parts[place], parts[other] = parts[other], parts[place]
    elif kind == 3:
        parts[place] = random.choice(OPERATIONS) + parts[place][1:]
    elif kind == 4:
        parts.insert(place, random.choice(OPERATIONS))
    else:
        changed = bytearray(parts[place])
        changed[random.randrange(len(changed))] = random.choice(
            (0, 1, 0x7F, 0x80, 0xFF, random.randrange(256))
        )
        parts[place] = bytes(changed)
    return b"".join(parts)


# In the order in which they are tried.
STRUCTURES: tuple[tuple[Callable[[bytes], bool], Callable[[bytes, Random], bytes]], ...] = (
    (is_zip, mutated_zip),
    (is_npy, mutated_npy),
    (is_hdf5, mutated_hdf5),
    (is_mat5, mutated_mat),
    (is_pickle, mutated_pickle),
    (is_json, mutated_json),
    (is_text, mutated_text),
    (is_mat4, mutated_mat),
)


def mutated(content: bytes, random: Random, other: bytes = b"") -> bytes:
    """Return a damaged copy.

    `content`: the bytes of a file; `random`: what is damaged and how depends on it alone; `other`: another
    file, of which parts may be put in. The result is seldom equal to it.
    """
    change = next((change for fits, change in STRUCTURES if fits(content)), None)
    if change is None or random.random() < BYTES_ONLY:
        return mutated_bytes(content, random, other)
    damaged = content
    # Of names that are twice in an archive, of numbers that become others.
    with warnings.catch_warnings(action="ignore"):
        for _ in range(random.randint(1, MOST_CHANGES)):
            damaged = change(damaged, random)
            if not any(fits(damaged) and known is change for fits, known in STRUCTURES):
                break
    return mutated_bytes(damaged, random, other) if random.random() < BOTH else damaged


def mutated_bytes(content: bytes, random: Random, other: bytes = b"") -> bytes:
    """Return a copy with some bytes changed, whatever they stand for.

    `content, random, other`: as in `mutated`. There is at least one.
    """
    damaged = bytearray(content or b"\0")
    for _ in range(random.choice((1, 1, 2, 4, 16))):
        place, length = random.randrange(len(damaged)), min(random.choice((1, 4, 16, 64, 512)), len(damaged))
        kind = random.randrange(9)
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
        else:
            del damaged[max(place, 1) :]
        damaged = damaged or bytearray(b"\0")
    return bytes(damaged)
