"""The arrays of an .npz file, without ever unpickling one."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt


_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")  # of an archive, and of an empty one


def is_zip(content: bytes) -> bool:
    """Return whether bytes begin as an .npz does, which is a zip archive."""
    return content.startswith(_ZIP_MAGIC)


def load_arrays(content: bytes, path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an .npz by name; those that would need unpickling are left out.

    Raises
    ------
    InputError
        where the bytes, which `path` names, are not an .npz.
    """
    if not is_zip(content):
        found = "a single array (.npy)" if content.startswith(b"\x93NUMPY") else "no zip archive"
        raise InputError(f"{path}: is not an .npz file: it is {found}")
    arrays = {}
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            for name in stored.files:
                try:
                    arrays[name] = stored[name]
                except ValueError as error:
                    if "allow_pickle" not in str(error):  # numpy's word on an array of Python objects
                        raise
    except Exception as error:  # a damaged archive raises nearly anything: zip, zlib, header, memory errors
        raise InputError(f"{path}: is not an .npz file that can be read ({error})") from error
    return arrays
