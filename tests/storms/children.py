"""Processes that write, forked from this one so that they need not import anything, and their ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from typing import TYPE_CHECKING

from findings import Wrong

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from pathlib import Path

    Report = Callable[[str], object]  # sends a line to the process that started this one

FORK = multiprocessing.get_context("fork")
FILE_EVENTS = frozenset(
    "open os.chmod os.link os.listdir os.mkdir os.remove os.rename os.rmdir os.scandir".split()
)


class Child:
    """A process that calls a function, which gets one to report with."""

    def __init__(self, function: Callable[[Report], object], log: Path) -> None:
        self._log = log
        self._reports, theirs = FORK.Pipe(duplex=False)
        self._lines: list[str] = []
        self._ended = False
        self._process = FORK.Process(target=_call, args=(function, log, theirs))
        self._process.start()
        theirs.close()

    def lines(self, count: int, seconds: float) -> list[str]:
        """Return what was reported, when it is `count` lines, the child has ended, or the time is over."""
        deadline = time.monotonic() + seconds
        while len(self._lines) < count and self._reports.poll(max(deadline - time.monotonic(), 0.0)):
            try:
                self._lines.append(self._reports.recv())
            except EOFError:
                self._ended = True
                break
        return list(self._lines)

    def kill(self) -> None:
        """Send kill -9."""
        self._process.kill()

    def end(self, seconds: float) -> tuple[int, list[str], str]:
        """Wait for the end, and return the exit code, what was reported, and what was printed."""
        lines = self.lines(sys.maxsize, seconds)  # until the child has closed its end
        if not self._ended:
            self.kill()
        self._process.join()
        self._reports.close()
        if not self._ended:
            raise Wrong(f"it did not end in {seconds:g} s")
        return self._process.exitcode, lines, self._log.read_text(errors="replace")


def _call(function: Callable[[Report], object], log: Path, reports: Connection) -> None:
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    function(reports.send)


class FileOperations:
    """Counts what this process does to files, and kills it before one of these operations."""

    def __init__(self, killed_at: int = 0) -> None:
        self.count = 0
        self._killed_at = killed_at
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in FILE_EVENTS and not str(arguments[0]).endswith((".py", ".pyc")):
            self.count += 1
            if self.count == self._killed_at:
                os.kill(os.getpid(), signal.SIGKILL)
