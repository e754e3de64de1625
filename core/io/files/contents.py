"""The contents of a file: its bytes, the matrix of a text, the arrays of an .npz; and sentences that name it.

This is the one way to everything that is read: sequences, results, meshes, true shapes, cameras, jobs. Only
regular files are opened, and sizes are checked before memory is used (`allowance`). What is wrong with a file
raises InputError here and in the readers, with a sentence that names the place, what is there and what is
accepted. In a text there is whitespace between the numbers, and a line is a row. Arrays are never unpickled.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.sequence import CameraModel
from ...foundation.exceptions import InputError, names_file, printable
from ...foundation.outputs import kind_of_file
from ...foundation.types import Bools, Floats
from .allowance import LARGEST_RATIO, VARIABLE, Allowance, memory_limit
from .variables import shortened

# Names of files that do not describe what is in them, without their suffix and in small letters.
GENERIC = frozenset(
    "data dataset file input mat matrix measurements observations points sequence tracks".split()
)


def sequence_name(path: Path) -> str:
    """Return what a sequence is called: the file's name without its suffix, or that of the folder it is in.

    The folder's where the file has a name that many have, such as "data.mat".
    """
    folder = path.absolute().parent.name
    return printable(folder if folder and path.stem.lower() in GENERIC else path.stem)


_opened: ContextVar[list[Path] | None] = ContextVar("opened", default=None)


@contextmanager
def recording_files() -> Iterator[list[Path]]:
    """Yield a list, to which every file is added that is read in the block, or belongs to what is read."""
    opened: list[Path] = []
    before = _opened.set(opened)
    try:
        yield opened
    finally:
        _opened.reset(before)


def record_files(*files: Path) -> None:
    """Add files to the list of `recording_files`, where one is made."""
    opened = _opened.get()
    if opened is not None:
        opened.extend(files)


def check_file(path: Path) -> int:
    """Return the size of a file, of one that is opened by a library, too; refuse folders, pipes, devices."""
    with _refused_by_system(path):
        record_files(path.absolute())
        found = os.stat(path)
        kind = kind_of_file(found.st_mode)
        if kind:
            raise InputError(f"{path}: is {kind}; accepted is a file")
        return found.st_size


@contextmanager
def _refused_by_system(path: Path) -> Iterator[None]:
    """Turn what the operating system refuses into a sentence."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    except InputError:
        raise
    except ValueError as error:  # a name with a zero byte, or with what the file system cannot encode
        raise InputError(f"{path}: cannot be the name of a file ({reason(error)})") from None


def read_bytes(path: Path) -> bytes:
    """Return the content of a file that is neither empty nor larger than `memory_limit`."""
    with _refused_by_system(path):
        size, limit = check_file(path), memory_limit()
        if size > limit:
            raise InputError(
                f"{path}: has {size / 1e6:.0f} MB; accepted are up to {limit / 1e6:.0f} MB ({VARIABLE} in GB)"
            )
        content = path.read_bytes()
    if not content or content.isspace():
        raise InputError(f"{path}: the file is empty")
    return content


LONGEST_REASON = 90  # characters of what a library says
_BYTES = re.compile(r"""\bb('([^'\\]|\\.)*'?|"([^"\\]|\\.)*"?)""")  # as Python writes them


def reason(error: BaseException) -> str:
    """Return what a library says is wrong, as the end of a sentence: one short line that can be printed.

    Libraries quote the bytes of a damaged file, with control characters and of any length.
    """
    text = _BYTES.sub("other bytes", str(error))
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:LONGEST_REASON]).split())
    return (line + "..." if len(text) > LONGEST_REASON else line) or type(error).__name__


def digest(content: bytes) -> str:
    """Return the SHA-256 of a file's bytes, as hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def check_camera(stated: CameraModel, wanted: CameraModel | None, path: Path) -> None:
    """Refuse to read a file under another camera model than its own."""
    if wanted not in (None, stated):
        raise InputError(f"{path}: holds {stated.value} tracks; accepted are that camera or none")


@contextmanager
def refusing_damage(path: Path, what: str = "") -> Iterator[None]:
    """Turn what values of a file raise, that no check has foreseen, into a sentence with its path.

    `what`: what the file is read as. Libraries raise nearly anything, and a reader of another package may end
    the program. Numbers near the limit of their type overflow in checks, which then refuse them; NumPy does
    not warn.
    """
    with naming(path), np.errstate(all="ignore"):
        try:
            yield
        except InputError:
            raise
        except (Exception, SystemExit) as error:
            where = f"cannot be read as {what}" if what else "holds values that cannot be read"
            raise InputError(f"{where} ({reason(error)})") from error


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the file's path before every InputError raised inside that does not name a file itself."""
    try:
        yield
    except InputError as error:
        names = f"{path}: ", f"{path.parent}{os.sep}"
        if names_file(str(error)) or str(error).startswith(tuple(map(printable, names))):
            raise
        raise InputError(f"{path}: {error}") from error


# -- matrices in plain text ----------------------------------------------------------------------------------


def parse_matrix(content: bytes, path: Path) -> Floats:
    """Return the matrix that a text holds.

    Blank lines are skipped. NaN and infinities are numbers here: whether they are accepted is for the caller.
    """
    with naming(path):
        check_text(content)
        text = content.decode("latin-1")
        if text.isspace() or not text:
            raise InputError("the file holds no numbers")
        lines = io.BytesIO(content.replace(b"\r", b"\n"))  # a line may end with either, or with both
        try:
            matrix: Floats = np.loadtxt(lines, dtype=np.float64, comments=None, ndmin=2, encoding="latin-1")
        except ValueError as error:
            raise InputError(_what_is_wrong(text) or reason(error)) from error
    return matrix


_NEW_LINES = b"\n\r\x0b\x0c\x1c\x1d\x1e\x85"  # that `splitlines` knows
_LINE, _WORD, _NUMBERS = 64, 30, 5  # bytes of a line as an object; for each byte, of words and of numbers


def check_text(content: bytes) -> None:
    """Refuse a text whose lines and longest line's words, as objects, need more memory than a file may."""
    allowance = Allowance(len(content))
    allowance.check(_NUMBERS * len(content))  # before the text is copied
    lines = len(content) - len(content.translate(None, _NEW_LINES))
    allowance.use(_LINE * lines + _NUMBERS * len(content))  # before so many are looked for
    ends = np.flatnonzero(np.frombuffer(content, np.uint8) == ord("\n"))
    longest = int(np.diff(ends, prepend=-1, append=len(content)).max())
    allowance.use(_WORD * longest)


def parse_json(content: bytes | str) -> Any:
    """Return the value of a JSON text.

    `content`: the text, or its bytes. Returns dict, list, text, number, truth value or None.
    """
    allowance = Allowance(len(content))
    allowance.check(_TEXT_COPIES * len(content))
    of = content.count if isinstance(content, str) else lambda mark: content.count(mark.encode())
    allowance.use(sum(size * of(mark) for mark, size in _JSON_SIZES.items()))
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is no JSON ({reason(error)})") from None


_TEXT_COPIES = 2  # of a JSON text, while it is parsed
_JSON_SIZES = {"{": 232, "[": 72, ",": 64}  # bytes of what begins or follows there, as objects


def parse_mask(content: bytes, path: Path) -> Bools:
    """Return which entries of a matrix of numbers are nonzero."""
    with naming(path):
        check_text(content)
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


def _what_is_wrong(text: str) -> str:
    """Return the sentence for the first line that is ragged or not numeric, "" where none is."""
    first = width = 0
    for number, line in enumerate(text.splitlines(), 1):
        tokens = line.split()
        for token in tokens:
            try:
                float(token)
            except ValueError:
                shown = token if len(token) <= 20 else token[:20] + "..."
                return f"row {number} holds {shown!r}, which is not a number"
        if tokens and not width:
            first, width = number, len(tokens)
        if tokens and len(tokens) != width:
            return (
                f"row {number} has {len(tokens)} numbers, row {first} has {width}; all rows need the same "
                "number"
            )
    return ""


# -- arrays of an .npz file ----------------------------------------------------------------------------------

MOST_MEMBERS = 100_000
MOST_ARRAYS = 20_000  # each of which is opened when the file is
_LISTED = b"PK\x01\x02"  # begins the entry of a part in the list of an archive
_COUNTED = 8_000_000  # bytes of an archive, in which its parts are counted at once
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # zlib alone unpacks no more than it is asked for
_ENCRYPTED = 1  # in the flags of a part
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")  # of an archive, and of an empty one


def is_zip(content: bytes) -> bool:
    """Return whether bytes begin as an .npz does, which is a zip archive."""
    return content.startswith(_ZIP_MAGIC)


@contextmanager
def opened_archive(
    source: Path | bytes, path: Path, *, most: int = MOST_MEMBERS, ratio: float = LARGEST_RATIO
) -> Iterator[zipfile.ZipFile]:
    """Yield an archive whose parts are as many, and unpack to as much, as they may; none is unpacked yet.

    `source`, `path`: the file or its bytes, and its name in messages.
    """
    with _refused_by_system(path):
        stored = len(source) if isinstance(source, bytes) else check_file(source)
        stream = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
    with stream:
        # zipfile makes an object of each part that the list has, whatever the end of the file states.
        count = sum(some.count(_LISTED) for some in iter(lambda: stream.read(_COUNTED), b""))
        if count > most:
            raise InputError(f"{path}: holds {count} parts; accepted are up to {most}")
        with zipfile.ZipFile(stream) as archive, naming(path):
            members = archive.infolist()
            for name, count in Counter(member.filename for member in members).most_common(1):
                if count > 1:
                    raise InputError(
                        f"holds {count} parts named {shortened(name)}; accepted is one of each name"
                    )
            Allowance(stored, ratio=ratio).use(sum(member.file_size for member in members))
            yield archive


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return the bytes of a part of an archive; no more of them are unpacked than it states."""
    if member.flag_bits & _ENCRYPTED:
        raise InputError(f"{shortened(member.filename)} is encrypted; accepted are parts that are not")
    if member.compress_type not in _METHODS:
        raise InputError(
            f"{shortened(member.filename)} is compressed by method {member.compress_type}; accepted are "
            "stored and deflate"
        )
    with archive.open(member) as stream:
        content = stream.read(member.file_size)
    if len(content) != member.file_size:
        raise zipfile.BadZipFile("a part has not the size that it states")
    return content


def parse_array(content: bytes) -> npt.NDArray[Any]:
    """Return the array of the bytes of a `.npy`."""
    stream = io.BytesIO(content)
    try:
        first = np.lib.format.read_magic(stream) == (1, 0)
        read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
        shape, fortran, kind = read(stream)
    except Exception as error:  # a damaged header raises syntax, token, value, type and memory errors
        raise ValueError(reason(error)) from None
    place = stream.tell()
    if kind.hasobject:
        raise PythonObjectsError(place)
    size, there = math.prod(shape) * kind.itemsize, len(content) - place
    if size != there or min(shape, default=0) < 0:
        sides = shortened(" x ".join(map(str, shape)))
        raise ValueError(f"an array of {sides} needs {shortened(str(size))} bytes, and there are {there}")
    array = np.frombuffer(content, kind, offset=place)
    check_characters(array)
    return array.reshape(shape, order="F" if fortran else "C")


def check_characters(array: npt.NDArray[Any]) -> None:
    """Refuse text of numbers beyond the last character, at which Python fails at some later place."""
    if array.dtype.names is not None:
        for name in array.dtype.names:
            check_characters(array[name])
    elif array.dtype.kind == "U" and array.dtype.itemsize:
        codes = np.ascontiguousarray(array).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if codes.max(initial=0) > sys.maxunicode:
            raise ValueError(
                f"its text has the character {codes.max():#x}; the last one is {sys.maxunicode:#x}"
            )


class PythonObjectsError(ValueError):
    """An array is of Python objects, which are pickled from the byte `place` on."""

    def __init__(self, place: int) -> None:
        super().__init__("it is an array of Python objects")
        self.place = place


def load_arrays(content: bytes, path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an .npz by name; those that would need unpickling are left out.

    `content`: the bytes of the file. Raises InputError where the bytes, which `path` names, are not an .npz,
    or would unpack to far too many.
    """
    if not is_zip(content):
        found = "a single array (.npy)" if content.startswith(b"\x93NUMPY") else "no zip archive"
        raise InputError(f"{path}: is not an .npz file: it is {found}")
    arrays = {}
    with refusing_damage(path, "an .npz file"), opened_archive(content, path, most=MOST_ARRAYS) as archive:
        allowance = Allowance(len(content))
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            try:
                array = parse_array(read_member(archive, member))
            except PythonObjectsError:
                continue
            except InputError:
                raise
            except ValueError as error:
                raise InputError(f"is damaged: {shortened(name)} is no array of NumPy ({error})") from None
            allowance.use_array(array.shape, array.itemsize)
            arrays[name] = array
    return arrays


def names_in(source: Path | bytes, path: Path) -> list[str]:
    """Return the names of all arrays of an .npz, of those that `load_arrays` leaves out, too."""
    with opened_archive(source, path) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist()]
