"""Processes that write, forked from this one so that they need not import anything, and their ends."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
import traceback
from typing import TYPE_CHECKING

from findings import Wrong

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Report = Callable[[str], object]  # sends a line to the process that started this one

DEFECT = 70  # exit code of a child that ended by an exception
FILE_EVENTS = frozenset(
    "open os.chmod os.link os.listdir os.mkdir os.remove os.rename os.rmdir os.scandir".split()
)


class Child:
    """A process that calls a function, which gets one to report with."""

    def __init__(self, function: Callable[[Report], object], log: Path) -> None:
        self._log = log
        self._reading, writing = os.pipe()
        self._received = b""
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid:
            os.close(writing)
            return
        code = DEFECT
        try:
            file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(file, 1)
            os.dup2(file, 2)
            os.close(self._reading)
            function(lambda line: os.write(writing, f"{line}\n".encode()))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def lines(self, count: int, seconds: float) -> list[str]:
        """Return what was reported, when it is `count` lines, the child has ended, or the time is over."""
        deadline = time.monotonic() + seconds
        while self._received.count(b"\n") < count:
            ready, _, _ = select.select([self._reading], [], [], max(deadline - time.monotonic(), 0.0))
            piece = os.read(self._reading, 65536) if ready else b""
            if not piece:
                break
            self._received += piece
        return self._received.decode().splitlines()

    def kill(self) -> None:
        """Send kill -9."""
        os.kill(self.pid, signal.SIGKILL)

    def end(self, seconds: float) -> tuple[int, list[str], str]:
        """Wait for the end, and return the exit code, what was reported, and what was printed."""
        deadline = time.monotonic() + seconds
        lines = self.lines(sys.maxsize, seconds)  # until the child has closed its end
        late = time.monotonic() >= deadline
        if late:
            self.kill()
        _, status = os.waitpid(self.pid, 0)
        os.close(self._reading)
        if late:
            raise Wrong(f"it did not end in {seconds:g} s")
        return os.waitstatus_to_exitcode(status), lines, self._log.read_text(errors="replace")


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
