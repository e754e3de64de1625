"""MATLAB files: versions 4 to 7 as plain numpy arrays, lists for cells, dicts for structs; 7.3 is `hdf5`."""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ...files.allowance import Allowance
from ...files.sandbox import read_limited
from ...files.variables import Unread, Variables, nested_bytes
from .hdf5 import is_hdf5, load_hdf5

_NEITHER = ("char", "function", "opaque", "unknown")  # classes of variables that hold no numbers
_BYTES, _NESTED = ("int8", "uint8", "logical"), ("cell", "struct", "object")
_TOO_LARGE = Unread("more than a file of this size may need, and not read")


def is_mat(content: bytes) -> bool:
    """Return whether bytes begin as a MATLAB file of version 5 or later does."""
    return content.startswith(b"MATLAB ")


def load_variables(content: bytes, path: Path) -> Variables:
    """Return the variables of a MATLAB file: arrays, lists for cells, dicts for structs.

    Text, function handles and the like are left out.
    """
    if is_hdf5(content):
        return load_hdf5(content, path)
    found: Variables = read_limited(_read, content, path, "a MATLAB file")
    return found


def _read(content: bytes, allowance: Allowance) -> Variables:
    """Return the variables of a file by scipy, which trusts files, so that this is called in a sandbox.

    Where they are too large, arrays of bytes are left out, which are masks and pictures, then cells and
    structs, too; a layout that needs one refuses its mark.
    """
    from scipy.io import whosmat  # slow to load

    stream: Any = io.BytesIO(content)  # which the types of scipy know not of
    with suppress(MemoryError):
        found = _loaded(content, None)
        if nested_bytes(found, {}) <= allowance.left:
            return found
    kinds = {name: kind for name, _, kind in whosmat(stream) if kind not in _NEITHER}
    for left_out in (_BYTES, _BYTES + _NESTED):
        names = [name for name, kind in kinds.items() if kind not in left_out]
        with suppress(MemoryError):
            found = _loaded(content, names)
            if found and nested_bytes(found, {}) <= allowance.left:
                return found | dict.fromkeys(set(kinds) - set(names), _TOO_LARGE)
    raise MemoryError


def _loaded(content: bytes, names: list[str] | None) -> Variables:
    from scipy.io import loadmat

    stream: Any = io.BytesIO(content)
    values = loadmat(stream, struct_as_record=False, variable_names=names)
    found = {name: _plain(value) for name, value in values.items() if not name.startswith("__")}
    return {name: value for name, value in found.items() if value is not None}


def _plain(value: Any) -> Any:
    """Return a value of scipy as array, list or dict, None for what is neither numbers nor holds any."""
    from scipy.io.matlab import MatlabFunction, MatlabOpaque

    if isinstance(value, MatlabFunction | MatlabOpaque):
        return None
    if hasattr(value, "toarray"):  # it is sparse
        value = value.toarray()
    if hasattr(value, "_fieldnames"):
        return {name: _plain(getattr(value, name)) for name in value._fieldnames or ()}
    if not isinstance(value, np.ndarray) or value.dtype.names is not None:
        return None
    if value.dtype.kind in "biufc":
        return np.asarray(value, dtype=value.dtype.newbyteorder("="))
    if value.dtype.kind != "O":
        return None
    items = [_plain(each) for each in value.ravel(order="F")]
    return items[0] if len(items) == 1 and isinstance(items[0], dict) and _is_struct(value) else items


def _is_struct(value: Any) -> bool:
    return hasattr(value.flat[0], "_fieldnames")
