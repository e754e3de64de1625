"""The bytes of a file, and sentences that name it."""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...foundation.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ...data.sequence import CameraModel

# Names of files that say nothing of what is in them, without their suffix and in small letters.
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


def check_camera(stated: CameraModel, wanted: CameraModel | None, path: Path) -> None:
    """Refuse to read a file as what it says it is not."""
    if wanted not in (None, stated):
        raise InputError(f"{path}: holds {stated.value} tracks; accepted are that camera or none")


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
