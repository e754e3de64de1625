"""Processes that read damaged files, and may die of it: a crash, no end and too much memory are outcomes.

A worker limits its own processor time by a timer whose signal ends it, after the place in the program has
been written down.
"""

from __future__ import annotations

import faulthandler
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import textwrap
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core import InputError
from core.foundation.memory import PeakMemory
from core.foundation.processes import ProcessDied, ProcessPool

CPU_SECONDS = 5.0
WALL_SECONDS = 60.0  # of a worker that waits for something that does not come
MEMORY_MB = 500.0  # above what the worker has: small files may ask for 64 MB and 200 times their size
LAST_MB = 6000  # of memory that a worker can get at all
MOST_LINES, WIDTH = 4, 110
MOST_CAUSES = 20  # of an error, which may name itself as its cause
READ, REFUSED = "read", "refused"
OURS = re.compile(r'File "[^"]*?((?:core|nrsfm_gui|tests/fuzz)/[^"]*)", line (\d+)')


@dataclass(frozen=True)
class Case:
    """A damaged file: what it is read by, and its bytes in place of those of a seed."""

    read: Callable[[Path, tuple[str, ...]], str]
    path: Path  # that is read: a file or a folder
    changed: Path  # the file that is damaged, the same or below it
    content: bytes
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """How reading a file ended."""

    kind: str  # READ, REFUSED, or a finding: "exception TypeError", "crash SIGSEGV", "hang", "memory", ...
    place: str = ""  # of a finding, in the program: "core/io/readers/arrays/mat.py:120"
    sentence: str = ""  # of a refusal, or the last lines of a finding
    seconds: float = 0.0  # of the processor
    memory: float = 0.0  # MB above what the worker had

    @property
    def is_finding(self) -> bool:
        """Whether the program should not end like this."""
        return self.kind not in (READ, REFUSED)

    @property
    def cause(self) -> str:
        """What findings of the same cause have in common."""
        return f"{self.kind} at {self.place}" if self.place else self.kind


class Workers:
    """Processes that read file after file, one for each thread that asks; one that died is replaced."""

    def __init__(self, *, cpu_seconds: float = CPU_SECONDS, memory_mb: float = MEMORY_MB) -> None:
        self._pool = ProcessPool()
        self._limits = (cpu_seconds, memory_mb)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    def run(self, case: Case) -> Outcome:
        """Return how reading a case ends."""
        with tempfile.TemporaryDirectory(prefix="nrsfm-fuzz-") as folder:
            trace = Path(folder, "trace")
            try:
                limited = _limited, case, Path(folder), trace, *self._limits
                outcome: Outcome = self._pool.call(*limited, timeout=WALL_SECONDS)
                return outcome
            except ProcessDied as end:
                code = -(end.code or 0)
            except TimeoutError:
                code = signal.SIGALRM
            written = trace.read_text(errors="replace") if trace.exists() else ""
        return _death(code, written, self._limits[0])


def _death(number: int, written: str, seconds: float) -> Outcome:
    """Return what the end of a process by a signal, or by an exit code below 0, is a finding of."""
    place, lines = _place(written, first=True), "\n".join(written.splitlines()[:12])
    if number in (signal.SIGPROF, signal.SIGALRM):
        return Outcome("hang", place, lines, seconds=seconds)
    name = signal.Signals(number).name if number in set(signal.Signals) else f"with exit code {-number}"
    return Outcome("memory" if number == signal.SIGKILL else f"crash {name}", place, lines)


def _place(text: str, *, first: bool = False) -> str:
    """Return the innermost place of a traceback that is in the program's own code."""
    found = OURS.findall(text)
    if not found:
        return ""
    file, line = found[0 if first else -1]
    return f"{file}:{line}"


def _limited(case: Case, folder: Path, trace: Path, seconds: float, memory: float) -> Outcome:
    """Return how reading a case ends, where it does not end this process."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + LAST_MB * 10**6, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with trace.open("w") as stream, tempfile.TemporaryDirectory(dir=folder) as place:
        faulthandler.enable(stream, all_threads=False)
        # And then the signal ends the process.
        faulthandler.register(signal.SIGPROF, stream, all_threads=False, chain=True)
        os.dup2(stream.fileno(), sys.__stderr__.fileno())  # what libraries print, and what is wrong here
        try:
            return _read(case, _written(case, Path(place)), seconds, memory)
        finally:
            faulthandler.unregister(signal.SIGPROF)
            faulthandler.disable()


def _written(case: Case, folder: Path) -> Path:
    """Write a damaged file, with the others of its folder where it needs them, and return what to read."""
    if case.path == case.changed:
        path = folder / case.path.name
        for other in case.path.parent.iterdir() if case.path.parent.name == "masked" else ():
            shutil.copy(other, folder)
        path.write_bytes(case.content)
        return path
    inside = case.changed.parent if case.path.is_file() else case.path
    shutil.copytree(inside, folder / inside.name)
    (folder / inside.name / case.changed.relative_to(inside)).write_bytes(case.content)
    return folder / inside.name / case.path.relative_to(inside)


def _read(case: Case, path: Path, seconds: float, memory: float) -> Outcome:
    """Return how reading ends, where it ends in this process."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    peak, start = PeakMemory(), time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        kind, place, sentence = _ended(case, path)
    signal.setitimer(signal.ITIMER_PROF, 0)
    used, rise = time.process_time() - start, peak.rise() or 0.0
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    if largest > children:  # of a process that reads for this one
        rise = max(rise, largest * 1024 / 1e6 - 250)
    if kind in (READ, REFUSED) and rise > memory:
        kind, sentence = "memory", f"{rise:.0f} MB; {sentence}"
    elif kind in (READ, REFUSED) and warned:
        first = warned[0]
        kind, sentence = f"warning {first.category.__name__}", str(first.message)
        other = f"{Path(first.filename).name}:{first.lineno}"
        place = _place(f'File "{first.filename}", line {first.lineno}') or other
    return Outcome(kind, place, sentence.replace(str(path.parent), ""), used, rise)


def _ended(case: Case, path: Path) -> tuple[str, str, str]:
    """Return how reading ends, the place of a finding, and the sentence."""
    try:
        shown = case.read(path, case.options)
    except InputError as error:
        return _checked(error, path)
    except BaseException as error:
        lines = traceback.format_exc()
        return f"exception {type(error).__name__}", _place(lines), lines[-1500:]
    damaged = [line for line in shown.split("\n") if not line.isprintable()]
    if damaged:
        return "unprintable", "", repr(damaged[0])[:300]
    return READ, "", ""


def _checked(error: InputError, path: Path) -> tuple[str, str, str]:
    """Return what is wrong with a sentence, and with why it was raised."""
    sentence, place = str(error), _place("".join(traceback.format_tb(error.__traceback__)))
    before: BaseException | None = error
    for _ in range(MOST_CAUSES):
        if before is None:
            break
        if type(before) in (MemoryError, RecursionError):  # none of FFmpeg, which asks for no memory
            return f"{type(before).__name__} as a sentence", place, sentence
        before = before.__cause__ or before.__context__
    short = sentence.replace(f"{path.parent}{os.sep}", "")
    if len(textwrap.wrap(short, WIDTH)) > MOST_LINES or "\n" in sentence:
        return "long sentence", place, sentence
    if not sentence.isprintable():
        return "unprintable", place, repr(sentence)
    return REFUSED, "", sentence
