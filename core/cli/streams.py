"""Standard output and standard error of a command, also where they are closed or their disk is full."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

OUTPUT, ERRORS = 1, 2


class _OutputFile(io.FileIO):
    """Standard output; what it cannot write is an error that names it."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError as error:
            raise OSError(error.errno, error.strerror, "standard output") from error


class _ErrorsFile(io.FileIO):
    """Standard error; what it cannot write is dropped: a message does not end a computation."""

    def write(self, content: Any) -> int:
        with suppress(OSError):
            return super().write(content)
        return len(content)


@contextmanager
def standard_streams() -> Iterator[None]:
    """Replace the standard streams of the process in the block, unless somebody else has replaced them.

    Names of files that are no text are written with escapes. Files that are opened later never get the
    number of a stream that is closed.
    """
    before = sys.stdout, sys.stderr
    for number in (0, OUTPUT, ERRORS):
        try:
            os.fstat(number)
        except OSError as error:
            if error.errno != errno.EBADF:
                raise
            os.open(os.devnull, os.O_RDONLY)  # the lowest number that is free
    try:
        if sys.stdout is sys.__stdout__:
            sys.stdout = _text(_OutputFile(OUTPUT, "w", closefd=False), sys.stdout)
        if sys.stderr is sys.__stderr__:
            sys.stderr = _text(_ErrorsFile(ERRORS, "w", closefd=False), sys.stderr)
        yield
    finally:
        with suppress(OSError):
            sys.stderr.flush()
        sys.stdout, sys.stderr = before


def _text(file: io.FileIO, like: Any) -> io.TextIOWrapper:
    encoding = getattr(like, "encoding", None) or "utf-8"
    lines = file.fileno() == ERRORS or file.isatty()
    return io.TextIOWrapper(
        io.BufferedWriter(file), encoding=encoding, errors="backslashreplace", line_buffering=lines
    )
