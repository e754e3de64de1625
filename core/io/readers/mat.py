"""MATLAB files: versions 4 to 7 through scipy, 7.3 through h5py, as plain numpy arrays, lists and dicts.

The element tags of a version 5 file are checked before scipy reads it: scipy 1.17 looks up the class of a
variable and the type of its numbers in C tables without checking their ends, so that one damaged byte can end
the process. Compressed variables are safe: zlib has a checksum of its own.
"""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundation.exceptions import InputError
from .contents import LARGEST_RATIO, LEAST_SIZE_LIMIT, reason

if TYPE_CHECKING:
    from pathlib import Path

    from .variables import Variables

_HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"


def is_mat(content: bytes) -> bool:
    """Return whether bytes begin as a MATLAB file of version 5 or later does."""
    return content.startswith(b"MATLAB ")


def is_hdf5(content: bytes) -> bool:
    """Return whether bytes are HDF5, where MATLAB puts it (after 512 bytes of text) or at the beginning."""
    return content.startswith(_HDF5_MAGIC) or content[512 : 512 + len(_HDF5_MAGIC)] == _HDF5_MAGIC


def load_variables(content: bytes, path: Path) -> Variables:
    """Return the variables of a MATLAB file: arrays, lists for cells, dicts for structs.

    Text, function handles and the like are left out.

    Raises
    ------
    InputError
        where the bytes, which `path` names, cannot be read, or need h5py and that is not installed.
    """
    if is_hdf5(content):
        return _load_hdf5(content, path)
    # Imported late: a tenth of a second that only a .mat file should cost.
    import scipy.io

    try:
        check_elements(content)
        stored = scipy.io.loadmat(io.BytesIO(content))  # type: ignore[arg-type]  # the stubs know only paths
        found = {name: _from_scipy(value) for name, value in stored.items() if not name.startswith("__")}
    except (
        Exception
    ) as error:  # a damaged file raises nearly anything in scipy: zlib, struct, index, type errors
        raise InputError(f"{path}: is not a MATLAB file that can be read ({reason(error)})") from error
    return {name: value for name, value in found.items() if value is not None}


def _from_scipy(value: Any) -> Any:
    """Return a value of scipy's as array, list or dict; None where it is neither numbers nor holds any."""
    if hasattr(value, "toarray"):
        # scipy expands a sparse array in C without checking where its entries lie.
        rows, columns = value.shape
        starts, indices = np.asarray(value.indptr), np.asarray(value.indices)
        inside = indices.size == 0 or (indices.min() >= 0 and indices.max() < rows)
        ordered = len(starts) == columns + 1 and starts[0] == 0 and (np.diff(starts) >= 0).all()
        if not (inside and ordered and starts[-1] <= min(len(indices), len(value.data))):
            raise ValueError("a sparse array has entries outside of it")
        value = value.toarray()
    if not isinstance(value, np.ndarray):
        return None
    if value.dtype.names:
        structs = [{name: _from_scipy(item[name]) for name in value.dtype.names} for item in value.ravel("F")]
        return structs[0] if len(structs) == 1 else structs
    if value.dtype == object:
        return [_from_scipy(item) for item in value.ravel("F")]
    return value if value.dtype.kind in "biufc" else None


def _load_hdf5(content: bytes, path: Path) -> Variables:
    try:
        import h5py
    except ImportError:
        raise InputError(
            f"{path}: is a MATLAB 7.3 file, which needs h5py: pip install 'nrsfm-gui[hdf5]', or save it in "
            "MATLAB with -v7"
        ) from None
    try:
        with h5py.File(io.BytesIO(content), "r") as file:
            found = {name: _from_hdf5(file, item, h5py) for name, item in file.items() if name[0] != "#"}
    except Exception as error:  # as above, with what h5py raises and what a damaged tree leads to
        raise InputError(f"{path}: is not an HDF5 file that can be read ({reason(error)})") from error
    return {name: value for name, value in found.items() if value is not None}


def _from_hdf5(file: Any, item: Any, h5py: Any) -> Any:
    """Return an HDF5 item as `_from_scipy` would; MATLAB stores arrays with the axes reversed.

    Arrays of text and tables with named columns, which other programs write, are returned, too.
    """
    if isinstance(item, h5py.Group):
        return {name: _from_hdf5(file, below, h5py) for name, below in item.items()}
    if item.attrs.get("MATLAB_class") == b"char":
        return None
    if item.attrs.get("MATLAB_empty"):
        return np.zeros(tuple(int(size) for size in item[()]))
    if item.external:
        raise ValueError("the numbers of a variable are in another file")
    if item.nbytes > LEAST_SIZE_LIMIT + LARGEST_RATIO * file.id.get_filesize():
        raise ValueError("a variable is much larger than the file")
    value = np.asarray(item[()])
    if h5py.check_string_dtype(item.dtype) is not None:
        return item.asstr()[()].astype(str) if value.ndim else None
    if value.dtype == object:
        return [_from_hdf5(file, file[reference], h5py) for reference in value.ravel()]
    if value.dtype.names:
        return {name: value[name].T for name in value.dtype.names if value[name].dtype.kind in "biufc"}
    return value.T if value.dtype.kind in "biufc" else None


# -- element tags of version 5 -------------------------------------------------------------------------------

_HEADER = 128  # bytes of text before the first element
_MATRIX, _COMPRESSED = 14, 15
_TYPES = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13, _MATRIX, _COMPRESSED, 16, 17, 18}  # of elements
_CLASSES = range(1, 18)  # of variables
_PLAIN_CLASSES = range(1, 16)  # those whose content is elements too: no functions, no opaque objects


def check_elements(content: bytes) -> None:
    """Refuse a version 5 file with an element of no known type, or a variable of no known class.

    Raises
    ------
    ValueError
        with the byte where it is.
    """
    if content.startswith(b"MATLAB 5.0"):
        order = "<" if content[126:128] == b"IM" else ">"
        _check(content, _HEADER, len(content), order)


def _check(content: bytes, place: int, end: int, order: str) -> None:
    """Check the elements from one byte to another."""
    while place + 8 <= end:
        kind, size = struct.unpack_from(order + "II", content, place)
        body, following = place + 8, place + 8 + size
        if kind >> 16:  # a small element: size and type share four bytes, the content follows in the tag
            kind, following = kind & 0xFFFF, place + 8
        elif kind != _COMPRESSED:
            following += -size % 8
        if kind not in _TYPES:
            raise ValueError(f"the element at byte {place} is of no known type")
        if kind == _MATRIX and size:
            if size < 16 or following > end:
                raise ValueError(f"the variable at byte {place} is incomplete")
            (flags,) = struct.unpack_from(order + "I", content, body + 8)
            if flags & 0xFF not in _CLASSES:
                raise ValueError(f"the variable at byte {place} is of no known class")
            if flags & 0xFF in _PLAIN_CLASSES:
                _check(content, body, following, order)
        place = following
