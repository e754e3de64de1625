"""What a storm hits: functions in processes forked from this one, and commands with all that they start."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path

from findings import Wrong

Report = Callable[[str], object]  # sends a line to the process that started this one

PROC = Path("/proc")
LONGEST = 120.0  # seconds, for what takes a few where nothing else runs
FORK = multiprocessing.get_context("fork")
FILE_EVENTS = "open os.chmod os.link os.listdir os.mkdir os.remove os.rename os.rmdir os.scandir".split()


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


class Command:
    """A command of Python in a session of its own, whose processes are known by that."""

    def __init__(self, words: list[str], log: Path, environment: dict[str, str]) -> None:
        self._log = log
        with log.open("wb") as stream:
            self._process = subprocess.Popen(
                [sys.executable, *words], stdin=subprocess.DEVNULL, stdout=stream, stderr=stream,
                env=os.environ | environment, start_new_session=True,
            )  # fmt: skip
        self.pid = self._process.pid

    @property
    def code(self) -> int | None:
        return self._process.poll()

    @property
    def printed(self) -> str:
        return self._log.read_text(errors="replace")

    def wait_until(self, condition: Callable[[], bool]) -> bool:
        """Wait until something is so, or the command has ended; return whether it still runs."""
        deadline = time.monotonic() + LONGEST
        while self.code is None and not condition():
            if time.monotonic() > deadline:
                raise Wrong(f"nothing happened in {LONGEST:g} s: {self.printed[-500:]}")
            time.sleep(0.002)
        return self.code is None

    def handles(self, number: signal.Signals) -> bool:
        try:
            lines = (PROC / f"{self.pid}" / "status").read_text().splitlines()
        except OSError:
            return False
        caught = next((line.split()[1] for line in lines if line.startswith("SigCgt:")), "0")
        return bool(int(caught, 16) >> (number - 1) & 1)

    def workers(self) -> list[int]:
        """Return the other processes of its session that run."""
        return [pid for pid in processes_of(self.pid) if pid != self.pid]

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def end(self) -> int:
        try:
            return self._process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            raise Wrong(f"it did not end in {LONGEST:g} s: {self.printed[-500:]}") from None

    def seconds_until_gone(self, most: float) -> float:
        """Return how long the other processes of its session still run."""
        began = time.monotonic()
        while left := processes_of(self.pid):
            if time.monotonic() - began > most:
                raise Wrong(f"{len(left)} of its processes still run after {most:g} s")
            time.sleep(0.01)
        return time.monotonic() - began

    def clear(self) -> None:
        for pid in processes_of(self.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()


@contextmanager
def running(words: list[str], log: Path, environment: dict[str, str] | None = None) -> Iterator[Command]:
    """Run a command, of which nothing is left after the block."""
    command = Command(words, log, environment or {})
    try:
        yield command
    finally:
        command.clear()


def processes_of(session: int) -> list[int]:
    """Return the processes of a session that have not ended."""
    found = []
    for name in os.listdir(PROC):
        if name.isdigit():
            with suppress(OSError):  # it has ended meanwhile
                fields = (PROC / name / "stat").read_bytes().rpartition(b")")[2].split()
                if int(fields[3]) == session and fields[0] not in b"ZX":
                    found.append(int(name))
    return found
