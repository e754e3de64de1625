"""Arrays and one JSON document in a zip file: written completely or not at all, read without trusting it.

    session.json          the document; where it means an array it holds the array's name
    arrays/NAME.npy       every array once, under the beginning of the SHA-256 of its shape, type and bytes

Nothing is ever unpickled. The sizes in a file are checked against its size on disk before any of it is
unpacked, so that a small file cannot fill the memory.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from core import InputError
from core.foundation import replacing
from core.io.readers import naming, opened_archive, parse_array, parse_json, read_member, reason

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy.typing as npt

DOCUMENT = "session.json"
LARGEST_DOCUMENT = 256_000_000  # bytes
LARGEST_RATIO = 20  # times its own size a file may unpack to; arrays of numbers are stored as they are
KINDS = "biuf"  # of array types: truth values and numbers
NAME_LENGTH = 24  # hexadecimal digits


class ArchiveWriter:
    """Gathers arrays, each once, and writes them with a document that names them."""

    def __init__(self) -> None:
        self._arrays: dict[str, npt.NDArray[Any]] = {}
        self._names: dict[int, str] = {}  # of arrays by their identity; `_arrays` holds references to them

    def name(self, array: npt.ArrayLike) -> str:
        """Return the name that an array will be found under."""
        given = np.asarray(array)
        known = self._names.get(id(array))
        if known is not None and self._arrays[known] is given:
            return known
        flat = np.ascontiguousarray(given)
        content = hashlib.sha256(f"{flat.dtype.str}{given.shape}".encode())
        content.update(flat.tobytes() if not flat.size else flat.data)
        name = content.hexdigest()[:NAME_LENGTH]
        self._arrays.setdefault(name, given)
        self._names[id(given)] = name
        return name

    def write(self, path: Path, document: Mapping[str, Any], *, private: bool = False) -> None:
        """Write the file in place of the one that is there, or leave that one as it is.

        Raises InputError where it cannot be written.
        """
        text = json.dumps(document, separators=(",", ":")).encode()  # ASCII: a path need not be UTF-8
        with replacing(path, private=private) as temporary, temporary.open("wb") as stream:
            with zipfile.ZipFile(stream, "w") as archive:
                _add(archive, DOCUMENT, text, compressed=True)
                for name, array in self._arrays.items():
                    content = io.BytesIO()
                    np.lib.format.write_array(content, np.asarray(array, order="C"), allow_pickle=False)
                    _add(
                        archive, f"arrays/{name}.npy", content.getbuffer(), compressed=array.dtype.kind != "f"
                    )


def _add(archive: zipfile.ZipFile, name: str, content: bytes | memoryview, *, compressed: bool) -> None:
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    archive.writestr(zipfile.ZipInfo(name), content, compress_type=kind, compresslevel=1)


class ArchiveReader:
    """The document of a file, and its arrays by name.

    Raises InputError where the file is absent, is no such archive, or has impossible sizes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._arrays: dict[str, npt.NDArray[Any]] = {}
        with ExitStack() as opened:
            try:
                self._archive = opened.enter_context(opened_archive(path, path, ratio=LARGEST_RATIO))
            except InputError:
                raise
            except OSError as error:
                raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
            except Exception as error:  # damaged archives raise nearly anything: zip, struct, value errors
                raise InputError(
                    f"{path}: is not a session, or only a part of one ({reason(error)})"
                ) from error
            self.document = self._document()
            self._opened = opened.pop_all()

    def __enter__(self) -> ArchiveReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def array(self, name: str) -> npt.NDArray[Any]:
        """Return an array, read-only; the same one each time.

        Raises InputError where there is none of that name, or it is damaged.
        """
        if name not in self._arrays:
            try:
                array = parse_array(self._bytes(f"arrays/{name}.npy"))
            except InputError:
                raise
            except ValueError as error:
                raise InputError(f"{self.path}: the array {name} cannot be read ({reason(error)})") from error
            if array.dtype.kind not in KINDS:
                kind = f"{array.dtype}; accepted are numbers and truth values"
                raise InputError(f"{self.path}: the array {name} holds {kind}")
            own = array.astype(array.dtype.newbyteorder("="), order="C")
            own.setflags(write=False)
            self._arrays[name] = own
        return self._arrays[name]

    def _document(self) -> dict[str, Any]:
        with naming(self.path):
            found = parse_json(self._bytes(DOCUMENT))
        if not isinstance(found, dict):
            raise InputError(f"{self.path}: {DOCUMENT} holds {type(found).__name__}; accepted is an object")
        return found

    def _bytes(self, name: str) -> bytes:
        try:
            member = self._archive.getinfo(name)
        except KeyError:
            raise InputError(f"{self.path}: lacks {name}; a session has it") from None
        if name == DOCUMENT and member.file_size > LARGEST_DOCUMENT:
            raise InputError(
                f"{self.path}: {DOCUMENT} has {member.file_size / 1e6:.0f} MB; accepted are up to "
                f"{LARGEST_DOCUMENT / 1e6:.0f} MB"
            )
        try:
            with naming(self.path):
                return read_member(self._archive, member)
        except InputError:
            raise
        except Exception as error:  # as above, and errors of zlib
            raise InputError(f"{self.path}: {name} is damaged ({reason(error)})") from error
