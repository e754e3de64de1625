"""A reader with defects, each of which the harness has to find."""

from __future__ import annotations

import os
import signal
import warnings
from pathlib import Path

from core import InputError

MARK = b"!?"  # what the reader does not stand


class LongError(InputError):
    """An error that is not shortened."""

    def __str__(self) -> str:
        return " ".join(["word"] * 120)


def read(path: Path, options: tuple[str, ...]) -> str:
    """Show the defect that the options name, where the file has the mark."""
    if MARK not in path.read_bytes():
        return "read"
    match options:
        case ["sound"]:
            raise InputError(f"{path}: holds a mark; accepted is none")
        case ["raises"]:
            raise KeyError("a mark")
        case ["dies"]:
            os.kill(os.getpid(), signal.SIGSEGV)
        case ["leaves"]:
            os._exit(3)
        case ["hangs"]:
            while True:
                pass
        case ["takes memory"]:  # that the size of the file does not explain
            return str(len(bytearray(80_000_000)))
        case ["asks for all memory"]:  # because the size was not checked
            try:
                return str(len(bytearray(10**15)))
            except MemoryError as error:
                raise InputError(f"{path}: cannot be read") from error
        case ["speaks long"]:
            raise LongError
        case ["shows bytes"]:
            return "\x1b[31m"
        case ["warns"]:
            warnings.warn("overflow", RuntimeWarning, stacklevel=1)
    return "read"


def names(path: Path, options: tuple[str, ...]) -> str:
    """Raise with the content of a folder."""
    raise KeyError(" ".join(f"{file.name}={file.read_text()}" for file in sorted(path.iterdir())))
