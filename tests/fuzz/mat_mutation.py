"""Damaged files of MATLAB: with other values, shapes, types and names of what is in them."""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
from array_mutation import mutated_array
from scipy.io import loadmat, savemat
from scipy.sparse import issparse

if TYPE_CHECKING:
    from random import Random

HEADER = 128
_MAT4_KINDS = {struct.pack("<i", 10 * number + form) for number in range(6) for form in range(3)}


def is_mat5(content: bytes) -> bool:
    return content[HEADER - 2 : HEADER] == b"IM"


def is_mat4(content: bytes) -> bool:
    return 0 in content[:4] and len(content) >= 20 and content[:4] in _MAT4_KINDS


def mutated_mat(content: bytes, random: Random) -> bytes:
    """Return a file with a variable that is another, is left out, or has the name of another."""
    stream = io.BytesIO()
    try:
        variables = {
            name: value for name, value in loadmat(io.BytesIO(content)).items() if not name.startswith("__")
        }
        name, kind = random.choice(sorted(variables)), random.randrange(8)
        if kind <= 5:
            variables[name] = _mutated(variables[name], random)
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


def _mutated(value: Any, random: Random) -> Any:
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
        changed[place] = _mutated(np.asarray(changed[place]), random)
    else:
        field = random.choice(changed.dtype.names)
        changed[field][place] = _mutated(np.asarray(changed[field][place]), random)
    return changed
