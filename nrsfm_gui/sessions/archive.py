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
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from core import InputError
from core.foundation import read_only, replacing
from core.io.readers import naming, opened_archive, parse_array, parse_json, read_member, reason

Array: TypeAlias = "npt.NDArray[Any]"
DOCUMENT, FOLDER = "session.json", "arrays"
LARGEST_DOCUMENT = 256_000_000  # bytes
LARGEST_RATIO = 20  # times its own size a file may unpack to; arrays of numbers are stored as they are
KINDS = "biuf"  # of array types: truth values and numbers
NAME_LENGTH = 24  # hexadecimal digits


class ArchiveWriter:
    """Gathers arrays, each once, and writes them with a document that names them."""

    def __init__(self) -> None:
        self._arrays: dict[str, Array] = {}
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
        """Write the file in place of the one that is there, or leave that one as it is."""
        text = json.dumps(document, separators=(",", ":")).encode()  # ASCII: a path need not be UTF-8
        with replacing(path, private=private) as temporary, temporary.open("wb") as stream:
            with zipfile.ZipFile(stream, "w") as archive:
                _add(archive, DOCUMENT, text, compressed=True)
                for name, array in self._arrays.items():
                    content = io.BytesIO()
                    np.lib.format.write_array(content, np.asarray(array, order="C"), allow_pickle=False)
                    file, compressed = f"{FOLDER}/{name}.npy", array.dtype.kind != "f"
                    _add(archive, file, content.getbuffer(), compressed=compressed)


def _add(archive: zipfile.ZipFile, name: str, content: bytes | memoryview, *, compressed: bool) -> None:
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    archive.writestr(zipfile.ZipInfo(name), content, compress_type=kind, compresslevel=1)


def read_archive(path: Path, *, arrays: bool = True) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the document of a file, and its arrays by name, read-only; none where they are not asked for."""
    try:
        with opened_archive(path, path, ratio=LARGEST_RATIO) as archive, naming(path):
            return _document(archive), _arrays(archive) if arrays else {}
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    except Exception as error:  # damaged archives raise nearly anything: zip, zlib, struct, value errors
        raise InputError(f"{path}: is not a session, or only a part of one ({reason(error)})") from error


def _document(archive: zipfile.ZipFile) -> dict[str, Any]:
    if DOCUMENT not in archive.namelist():
        raise InputError(f"lacks {DOCUMENT}; a session has it")
    member = archive.getinfo(DOCUMENT)
    if member.file_size > LARGEST_DOCUMENT:
        size, most = (round(each / 1e6) for each in (member.file_size, LARGEST_DOCUMENT))
        raise InputError(f"{DOCUMENT} has {size} MB; accepted are up to {most} MB")
    found = parse_json(read_member(archive, member))
    if not isinstance(found, dict):
        raise InputError(f"{DOCUMENT} holds {type(found).__name__}; accepted is an object")
    return found


def _arrays(archive: zipfile.ZipFile) -> dict[str, Array]:
    found = {}
    for member in archive.infolist():
        folder, _, name = member.filename.removesuffix(".npy").rpartition("/")
        if folder == FOLDER:
            array = parse_array(read_member(archive, member))
            if array.dtype.kind not in KINDS:
                kind = f"{array.dtype}; accepted are numbers and truth values"
                raise InputError(f"the array {name} holds {kind}")
            found[name] = read_only(array, array.dtype.newbyteorder("=").type)
    return found
