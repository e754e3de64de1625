"""Damaged HDF5 files, which h5py changes in memory."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
from array_mutation import mutated_array
from text_mutation import NAMES

if TYPE_CHECKING:
    from random import Random

MAGIC = b"\x89HDF\r\n\x1a\n"


def is_hdf5(content: bytes) -> bool:
    return MAGIC in (content[:8], content[512:520])


def mutated_hdf5(content: bytes, random: Random) -> bytes:
    """Return a file with an item that is another, is left out, or leads elsewhere."""
    stream = io.BytesIO(content)
    try:
        with h5py.File(stream, "r+") as file:
            _change(file, random)
    except Exception:  # it is damaged already, or becomes what h5py does not write
        return content[: random.randrange(len(content))]
    return stream.getvalue()


def _change(file: Any, random: Random) -> None:
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
