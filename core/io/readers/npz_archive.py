"""The arrays of an .npz file, without ever unpickling one."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundation.exceptions import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt


LEAST_ROOM = 64_000_000  # bytes that any file may unpack to
LARGEST_RATIO = 200  # above that, so many times its own size; mostly hidden tracks are nearly all zeros
MOST_MEMBERS = 100_000
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")  # of an archive, and of an empty one


def is_zip(content: bytes) -> bool:
    """Return whether bytes begin as an .npz does, which is a zip archive."""
    return content.startswith(_ZIP_MAGIC)


def check_unpacked(
    archive: zipfile.ZipFile, stored: int, path: Path, *, ratio: float = LARGEST_RATIO
) -> None:
    """Refuse an archive by what it says of its own sizes, before any of it is unpacked.

    Parameters
    ----------
    archive, stored, path
        the archive, the bytes that it takes as it is, and its name.
    ratio
        how many times as large it may become, above `LEAST_ROOM`.

    Raises
    ------
    InputError
        where it has too many parts, or they are too large: a small file could fill the memory.
    """
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise InputError(f"{path}: holds {len(members)} parts; accepted are up to {MOST_MEMBERS}")
    size, room = sum(member.file_size for member in members), LEAST_ROOM + ratio * stored
    if size > room:
        raise InputError(
            f"{path}: would unpack to {size / 1e6:.0f} MB; accepted of a file of this size are "
            f"{room / 1e6:.0f} MB"
        )


def load_arrays(content: bytes, path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an .npz by name; those that would need unpickling are left out.

    Raises
    ------
    InputError
        where the bytes, which `path` names, are not an .npz, or would unpack to far too many.
    """
    if not is_zip(content):
        found = "a single array (.npy)" if content.startswith(b"\x93NUMPY") else "no zip archive"
        raise InputError(f"{path}: is not an .npz file: it is {found}")
    arrays = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            check_unpacked(archive, len(content), path)
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            for name in stored.files:
                try:
                    arrays[name] = stored[name]
                except ValueError as error:
                    if "allow_pickle" not in str(error):  # numpy's word on an array of Python objects
                        raise
    except InputError:
        raise
    except Exception as error:  # a damaged archive raises nearly anything: zip, zlib, header, memory errors
        raise InputError(f"{path}: is not an .npz file that can be read ({error})") from error
    return arrays


def names_in(content: bytes) -> list[str]:
    """Return the names of all arrays of an .npz that `load_arrays` reads, of those that it leaves out too."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist()]
