"""Reading bytes from, and writing them to, files: what is common to all formats."""

from __future__ import annotations

import hashlib
import os
import threading
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from ..arrays import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def read_bytes(path: Path) -> bytes:
    """Return the content of a file.

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


def digest(content: bytes) -> str:
    """Return the SHA-256 of a file's bytes, as hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the file's path before every InputError raised inside that does not name a file itself."""
    try:
        yield
    except InputError as error:
        sentence = str(error)
        if sentence.startswith((f"{path}: ", f"{path.parent}{os.sep}")):
            raise
        raise InputError(f"{path}: {sentence}") from error


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `path` that takes its place when the block ends without an error.

    Raises
    ------
    InputError
        where the folder does not exist or cannot be written to.
    """
    # Named by process and thread, so that two writers of one file cannot meet in the temporary one.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        stream = temporary.open("wb")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error
    try:
        with stream:
            yield stream
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
