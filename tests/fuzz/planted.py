"""Readers with defects, each of which the harness has to find."""

from __future__ import annotations

import os
import signal
import warnings
from pathlib import Path

from core import InputError

MARK = b"!?"  # what readers here do not stand


def sound(path: Path, options: tuple[str, ...]) -> str:
    """Refuse what has the mark."""
    if MARK in path.read_bytes():
        raise InputError(f"{path}: holds a mark; accepted is none")
    return "read"


def raises(path: Path, options: tuple[str, ...]) -> str:
    """Raise what is no error of the program's own."""
    if MARK in path.read_bytes():
        raise KeyError("a mark")
    return "read"


def dies(path: Path, options: tuple[str, ...]) -> str:
    """End the process."""
    if MARK in path.read_bytes():
        os.kill(os.getpid(), signal.SIGSEGV)
    return "read"


def leaves(path: Path, options: tuple[str, ...]) -> str:
    """End the process without a signal."""
    if MARK in path.read_bytes():
        os._exit(3)
    return "read"


def hangs(path: Path, options: tuple[str, ...]) -> str:
    """Compute without end."""
    while MARK in path.read_bytes():
        pass
    return "read"


def takes_memory(path: Path, options: tuple[str, ...]) -> str:
    """Fill memory that the size of the file does not explain."""
    return str(len(bytearray(80_000_000) if MARK in path.read_bytes() else b""))


def asks_for_all_memory(path: Path, options: tuple[str, ...]) -> str:
    """Say in a sentence that there was no memory, because the size was not checked."""
    try:
        return str(len(bytearray(10**15) if MARK in path.read_bytes() else b""))
    except MemoryError as error:
        raise InputError(f"{path}: cannot be read") from error


class LongError(InputError):
    """An error that is not shortened."""

    def __str__(self) -> str:
        return " ".join(["word"] * 120)


def speaks_long(path: Path, options: tuple[str, ...]) -> str:
    """Refuse in five lines."""
    if MARK in path.read_bytes():
        raise LongError
    return "read"


def shows_bytes(path: Path, options: tuple[str, ...]) -> str:
    """Show what the file holds as it is."""
    return "\x1b[31m" if MARK in path.read_bytes() else "read"


def warns(path: Path, options: tuple[str, ...]) -> str:
    """Let a library warn."""
    if MARK in path.read_bytes():
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)
    return "read"


def names(path: Path, options: tuple[str, ...]) -> str:
    """Raise with the content of a folder."""
    raise KeyError(" ".join(f"{file.name}={file.read_text()}" for file in sorted(path.iterdir())))
