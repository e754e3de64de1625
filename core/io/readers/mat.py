"""MATLAB files: versions 4 to 7 through scipy, 7.3 through h5py, as plain numpy arrays, lists and dicts."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundation.exceptions import InputError
from .mat_check import check_elements

if TYPE_CHECKING:
    from pathlib import Path

    from .variables import Variables

_HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"


def is_mat(content: bytes) -> bool:
    """Return whether bytes begin as a MATLAB file of version 5 or later does."""
    return content.startswith(b"MATLAB ") or is_hdf5(content)


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
    except (
        Exception
    ) as error:  # a damaged file raises nearly anything in scipy: zlib, struct, index, type errors
        raise InputError(f"{path}: is not a MATLAB file that can be read ({error})") from error
    found = {name: _from_scipy(value) for name, value in stored.items() if not name.startswith("__")}
    return {name: value for name, value in found.items() if value is not None}


def _from_scipy(value: Any) -> Any:
    """Return a value of scipy's as array, list or dict; None where it is neither numbers nor holds any."""
    if hasattr(value, "toarray"):
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
        raise InputError(f"{path}: is not an HDF5 file that can be read ({error})") from error
    return {name: value for name, value in found.items() if value is not None}


def _from_hdf5(file: Any, item: Any, h5py: Any) -> Any:
    """Return an HDF5 item as `_from_scipy` would; MATLAB stores arrays with the axes reversed."""
    if isinstance(item, h5py.Group):
        return {name: _from_hdf5(file, below, h5py) for name, below in item.items()}
    if item.attrs.get("MATLAB_class") == b"char":
        return None
    if item.attrs.get("MATLAB_empty"):
        return np.zeros(tuple(int(size) for size in item[()]))
    value = np.asarray(item[()])
    if value.dtype == object:
        return [_from_hdf5(file, file[reference], h5py) for reference in value.ravel()]
    return value.T if value.dtype.kind in "biufc" else None
