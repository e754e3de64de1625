"""MATLAB files and HDF5: plain numpy arrays, lists for cells, dicts for structs and groups.

Versions 4 to 7 of MATLAB are read by scipy, and HDF5, which 7.3 is, by h5py. No other file is opened by it:
numbers that are stored elsewhere, virtual arrays and links out of the file are refused. What references and
links lead to is read once.
"""

from __future__ import annotations

import io
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from ....foundation.exceptions import InputError
from ...files.allowance import Allowance
from ...files.sandbox import read_limited
from ...files.variables import Unread, Variables, nested_bytes

_NEITHER = ("char", "function", "opaque", "unknown")  # classes of variables that hold no numbers
_BYTES, _NESTED = ("int8", "uint8", "logical"), ("cell", "struct", "object")
_TOO_LARGE = Unread("more than a file of this size may need, and not read")


def load_variables(content: bytes) -> Variables:
    """Return the variables of a MATLAB or HDF5 file: arrays, lists for cells, dicts for structs and groups.

    Text, function handles and the like are left out.
    """
    hdf5 = is_hdf5(content)
    if hdf5 and find_spec("h5py") is None:
        raise InputError(
            "is HDF5, as MATLAB 7.3, SLEAP and DeepLabCut write it, which needs h5py: pip install "
            "'nrsfm-gui[hdf5]'; or save it in MATLAB with -v7, or as csv"
        )
    found: Variables = read_limited(_read_hdf5 if hdf5 else _read, content)
    return {name: value for name, value in found.items() if value is not None}


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
    return {name: _plain(value) for name, value in values.items() if not name.startswith("__")}


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
    is_struct = len(items) == 1 and isinstance(items[0], dict) and hasattr(value.flat[0], "_fieldnames")
    return items[0] if is_struct else items


# -- HDF5 ----------------------------------------------------------------------------------------------------

_MAGIC = b"\x89HDF\r\n\x1a\n"
_TEXT = 512  # bytes that MATLAB puts before it
_NAMES = "values_block_0_kind"  # attribute of a table in which pandas keeps the names of its columns


def is_hdf5(content: bytes) -> bool:
    """Return whether bytes are HDF5, where MATLAB puts it (after 512 bytes of text) or at the beginning."""
    return content.startswith(_MAGIC) or content[_TEXT : _TEXT + len(_MAGIC)] == _MAGIC


def _read_hdf5(content: bytes, allowance: Allowance) -> Variables:
    import h5py

    with h5py.File(io.BytesIO(content), "r") as file:
        return _Tree(h5py, file, allowance).group(file)


class _Tree:
    """The items of a file, as far as it may be followed."""

    def __init__(self, h5py: Any, file: Any, allowance: Allowance) -> None:
        self._h5py = h5py
        self._file = file
        self._allowance = allowance
        self._known: dict[int, Any] = {}  # by the place in the file; None while it is read

    def group(self, group: Any) -> Variables:
        """Return the items of a group, without those of MATLAB's own, whose names begin with #.

        References lead to these. A link to another place in the file is left out.
        """
        found: Variables = {}
        for name in group:
            link = group.get(name, getlink=True)
            if isinstance(link, self._h5py.ExternalLink):
                raise ValueError("it links to another file")
            if isinstance(link, self._h5py.HardLink) and name[:1] != "#":
                found[name] = self._value(group[name])
        if (document := _text(group.attrs, "json")) is not None:
            found["json"] = document
        return found

    def _value(self, item: Any) -> Any:
        """Return an item as `mat` would, the same one wherever references and links lead to it."""
        address = self._h5py.h5o.get_info(item.id).addr
        if address not in self._known:
            self._known[address] = None
            self._known[address] = self._read(item)
        return self._known[address]

    def _read(self, item: Any) -> Any:
        """Return the content of an item; MATLAB stores arrays with the axes reversed.

        Arrays of text and tables with named columns, which other programs write, are returned, too.
        """
        h5py = self._h5py
        if isinstance(item, h5py.Group):
            return self.group(item)
        if not isinstance(item, h5py.Dataset):
            return None
        try:
            kind, of_class = item.dtype, item.attrs.get("MATLAB_class")
            empty = np.any(item.attrs.get("MATLAB_empty", False))
        except TypeError:  # NumPy has no such type
            return None
        if np.array_equal(of_class, b"char"):
            return None
        if item.external or item.is_virtual:
            raise ValueError("the numbers of a variable are in another file")
        text = h5py.check_string_dtype(kind) is not None
        references = h5py.check_ref_dtype(kind) is h5py.Reference
        numbers = kind.kind in "biufc" or kind.names is not None
        if item.shape is None or not (text or references or numbers):
            return None
        self._allowance.use_array(item.shape, kind.itemsize)
        if text:
            return item.asstr(errors="replace")[()].astype(str) if item.shape else None
        value = np.asarray(item[()])
        if empty:
            return np.zeros(tuple(int(size) for size in value.ravel()))
        if references:
            return [self._value(self._file[each]) if each else None for each in value.ravel()]
        if value.dtype.names:
            columns = {name: value[name].T for name in value.dtype.names if value[name].dtype.kind in "biufc"}
            names = _text(item.attrs, _NAMES)
            return columns if names is None else columns | {_NAMES: names}
        return value.T


def _text(attributes: Any, name: str) -> npt.NDArray[Any] | None:
    """Return an attribute that is a text; None where it is not there, or of another kind."""
    value = attributes.get(name)
    return np.array(value.decode("utf-8", "replace")) if isinstance(value, bytes) else None
