"""Jumps of the clock, forwards and backwards by up to years, while the program computes, saves and reads.

libfaketime gives a process another time of day, which a file says; it is written anew while the process runs.
The files get other times, too, as those have that were written before a jump.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from findings import StormRow, Wrong
from kills import check_whole
from processes import Command, running
from writings import VERSIONS, Writing

HERE = Path(__file__).resolve().parent
LIBRARIES = ("usr/lib/*/faketime/libfaketimeMT.so.1", "usr/lib/faketime/libfaketimeMT.so.1")
DAYS = 2000.0  # of the farthest jump
PAUSE = 0.2  # seconds, on average, between two jumps
VERSIONS_WRITTEN = 4  # before it is killed, at least
WRITE = """
import sys
from itertools import count
from pathlib import Path
from writings import VERSIONS, written
(writing,) = [each for each in written(Path(sys.argv[1])) if each.name == sys.argv[2]]
for version in count(1):
    writing.write(Path(sys.argv[3]), version % VERSIONS)
    print(version, flush=True)
"""


def library() -> Path | None:
    """Return the library that changes the time, None where it is not installed."""
    return next((path for pattern in LIBRARIES for path in Path("/").glob(pattern)), None)


class Clock:
    def __init__(self, file: Path, choice: random.Random) -> None:
        self._file, self._choice = file, choice
        self.jump()
        self.environment = {
            "LD_PRELOAD": str(library()),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def jump(self) -> None:
        other = self._file.with_suffix(".next")
        other.write_text(f"{self._choice.uniform(-DAYS, DAYS):+.4f}d\n")
        other.replace(self._file)

    def jump_until(self, condition: Callable[[], bool]) -> int:
        """Change it again and again; return how often."""
        for jumps in count():
            if condition():
                return jumps
            time.sleep(self._choice.uniform(0, 2 * PAUSE))
            self.jump()
        raise AssertionError


def jump_while_writing(writing: Writing, materials: Path, moments: int, seed: int, folder: Path) -> StormRow:
    """Kill what writes version after version while its clock jumps, and read it by the right time."""
    row = StormRow(f"clock jumps: {writing.name}")
    choice = random.Random(f"{seed} {writing.name}")
    clock = Clock(folder / "clock", choice)
    jumps = 0
    while jumps < moments:
        place, own = folder / f"{jumps}", materials / f"{jumps}"
        own.mkdir(parents=True)
        with row.noting(f"the process after {jumps} jumps"):
            writing.prepare(place)
            words = ["-c", WRITE, str(own), writing.name, str(place)]
            where = {"PYTHONPATH": os.pathsep.join(map(str, (HERE, HERE.parents[1])))}
            with running(words, folder / f"{jumps}.log", clock.environment | where) as command:
                jumps += 1 + clock.jump_until(_has_printed(command, VERSIONS_WRITTEN + choice.randrange(20)))
                if command.code is not None:
                    raise Wrong(f"it ended with {command.code}: {command.printed[-500:]}")
                command.send(signal.SIGKILL)
                command.end()
                last = int(command.printed.split()[-1])
            for path in place.glob("*.nrsfm"):
                when = time.time() + 86400 * choice.uniform(-DAYS, DAYS)
                os.utime(path, (when, when))
            check_whole(writing, place, {last % VERSIONS, (last + 1) % VERSIONS})
        shutil.rmtree(place)
    row.notes.append(f"{row.moments} processes, each killed")
    row.moments = jumps
    return row


def _has_printed(command: Command, lines: int) -> Callable[[], bool]:
    return lambda: command.code is not None or command.printed.count("\n") >= lines
