"""The contents of a file: its bytes, the matrix of a text, the arrays of an .npz; and sentences that name it.

In a text there is whitespace between the numbers, and a line is a row. Arrays are never unpickled.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundation.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy.typing as npt

    from ...data.sequence import CameraModel
    from ...foundation.types import Bools, Floats

# Names of files that do not describe what is in them, without their suffix and in small letters.
GENERIC = frozenset(
    "data dataset file input mat matrix measurements observations points sequence tracks".split()
)


def sequence_name(path: Path) -> str:
    """Return what a sequence is called: the file's name without its suffix, or that of the folder it is in.

    The folder's where the file has a name that many have, such as "data.mat".
    """
    folder = path.absolute().parent.name
    return folder if folder and path.stem.lower() in GENERIC else path.stem


def read_bytes(path: Path) -> bytes:
    """Return the content of a file.

    Parameters
    ----------
    path
        the file.

    Returns
    -------
    bytes
        its content.

    Raises
    ------
    InputError
        where the file is absent, cannot be read, or is empty.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    if not content.strip():
        raise InputError(f"{path}: the file is empty")
    return content


LONGEST_REASON = 90  # characters of what a library says


def reason(error: BaseException) -> str:
    """Return what a library says is wrong, as the end of a sentence: one short line that can be printed.

    Libraries quote the bytes of a damaged file, with control characters and of any length.

    Parameters
    ----------
    error
        what it raised.

    Returns
    -------
    str
        the name of its class where it says nothing.
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in str(error)[:LONGEST_REASON]).split())
    return (line + "..." if len(str(error)) > LONGEST_REASON else line) or type(error).__name__


def digest(content: bytes) -> str:
    """Return the SHA-256 of a file's bytes, as hexadecimal digits.

    Parameters
    ----------
    content
        the bytes.

    Returns
    -------
    str
        64 digits.
    """
    return hashlib.sha256(content).hexdigest()


def check_camera(stated: CameraModel, wanted: CameraModel | None, path: Path) -> None:
    """Refuse to read a file under another camera model than its own."""
    if wanted not in (None, stated):
        raise InputError(f"{path}: holds {stated.value} tracks; accepted are that camera or none")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the file's path before every InputError raised inside that does not name a file itself.

    Parameters
    ----------
    path
        the file.

    Yields
    ------
    None
        nothing.

    Raises
    ------
    InputError
        the one that was raised inside, with the file's path.
    """
    try:
        yield
    except InputError as error:
        sentence = str(error)
        if sentence.startswith((f"{path}: ", f"{path.parent}{os.sep}")):
            raise
        raise InputError(f"{path}: {sentence}") from error


# -- matrices in plain text ----------------------------------------------------------------------------------


def parse_matrix(content: bytes, path: Path) -> Floats:
    """Return the matrix that a text holds.

    Blank lines are skipped. NaN and infinities are numbers here: whether they are accepted is for the caller.

    Parameters
    ----------
    content
        the bytes of the file.
    path
        its name in messages.

    Returns
    -------
    Floats
        one row for each line that is not blank.

    Raises
    ------
    InputError
        naming the file and the 1-based line, where a row is ragged or holds what is not a number.
    """
    lines = [line for line in content.decode("latin-1").splitlines() if line.strip()]
    try:
        matrix: Floats = np.loadtxt(lines, dtype=np.float64, comments=None, ndmin=2)
    except ValueError as error:
        raise InputError(_what_is_wrong(content, path) or f"{path}: {reason(error)}") from error
    return matrix


def parse_mask(content: bytes, path: Path) -> Bools:
    """Return which entries of a matrix of numbers are nonzero.

    Raises
    ------
    InputError
        as `parse_matrix`, and where an entry is NaN.
    """
    digits = content.translate(None, b" \t\r\n")
    widths = [len(line.split()) for line in content.splitlines() if line.strip()]
    mask: Bools
    if (
        digits.count(b"0") + digits.count(b"1") == len(digits) == widths[0] * len(widths)
        and len(set(widths)) == 1
    ):
        # As many digits as numbers: the usual file, read at a tenth of the time.
        mask = np.frombuffer(digits, np.uint8).reshape(len(widths), -1) == ord("1")
        return mask
    matrix = parse_matrix(content, path)
    if np.isnan(matrix).any():
        row, column = np.argwhere(np.isnan(matrix))[0]
        raise InputError(f"{path}: row {row + 1}, column {column + 1} is NaN; accepted are 0 and 1")
    mask = matrix != 0
    return mask


def _what_is_wrong(content: bytes, path: Path) -> str | None:
    """Return the sentence for the first line that is ragged or not numeric, or None."""
    width = first = None
    for number, line in enumerate(content.decode("latin-1").splitlines(), 1):
        tokens = line.split()
        for token in tokens:
            try:
                float(token)
            except ValueError:
                shown = token if len(token) <= 20 else token[:20] + "..."
                return f"{path}: row {number} holds {shown!r}, which is not a number"
        if width is None and tokens:
            width, first = len(tokens), number
        if tokens and len(tokens) != width:
            return (
                f"{path}: row {number} has {len(tokens)} numbers, row {first} has {width}; "
                "all rows need the same number"
            )
    return None


# -- arrays of an .npz file ----------------------------------------------------------------------------------

LEAST_SIZE_LIMIT = 64_000_000  # bytes that any file may unpack to
LARGEST_RATIO = 200  # above that, so many times its own size; mostly hidden tracks are nearly all zeros
MOST_MEMBERS = 100_000
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")  # of an archive, and of an empty one


def is_zip(content: bytes) -> bool:
    """Return whether bytes begin as an .npz does, which is a zip archive."""
    return content.startswith(_ZIP_MAGIC)


def check_unpacked(
    archive: zipfile.ZipFile, stored: int, path: Path, *, ratio: float = LARGEST_RATIO
) -> None:
    """Refuse an archive by the sizes that it states, before any of it is unpacked.

    Parameters
    ----------
    archive, stored, path
        the archive, the bytes that it takes as it is, and its name.
    ratio
        how many times as large it may become, above `LEAST_SIZE_LIMIT`.

    Raises
    ------
    InputError
        where it has too many parts, or they are too large: a small file could fill the memory.
    """
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise InputError(f"{path}: holds {len(members)} parts; accepted are up to {MOST_MEMBERS}")
    size, limit = sum(member.file_size for member in members), LEAST_SIZE_LIMIT + ratio * stored
    if size > limit:
        raise InputError(
            f"{path}: would unpack to {size / 1e6:.0f} MB; accepted of a file of this size are "
            f"{limit / 1e6:.0f} MB"
        )


def load_arrays(content: bytes, path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an .npz by name; those that would need unpickling are left out.

    Parameters
    ----------
    content
        the bytes of the file.
    path
        its name in messages.

    Returns
    -------
    dict[str, npt.NDArray[Any]]
        arrays of numbers and text.

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
                    value = stored[name]
                    if isinstance(value, np.ndarray):  # of a member that is no array numpy returns the bytes
                        arrays[name] = value
                except ValueError as error:
                    if "allow_pickle" not in str(error):  # numpy's word on an array of Python objects
                        raise
    except InputError:
        raise
    except Exception as error:  # a damaged archive raises nearly anything: zip, zlib, header, memory errors
        raise InputError(f"{path}: is not an .npz file that can be read ({reason(error)})") from error
    return arrays


def names_in(content: bytes) -> list[str]:
    """Return the names of all arrays of an .npz that `load_arrays` reads, of those that it leaves out too."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist()]
