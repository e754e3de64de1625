"""kill -9 at random moments of writing: half of them after a random time, half before a random operation."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from findings import Lost, StormRow, Wrong
from processes import Child, FileOperations, Report
from writings import VERSIONS, Writing

from core.foundation import remove_temporaries

MEASURED = 6  # versions that are written to know how long one takes
LONGEST = 120.0  # seconds until the measured ones are written


def kill_while_writing(writing: Writing, moments: int, seed: int, folder: Path) -> StormRow:
    """Kill a process that writes version after version, and read what there is then."""
    row = StormRow(f"kill -9: {writing.name}")
    seconds, operations = _measure(writing, folder / "measured")
    row.notes.append(f"{1000 * seconds:.0f} ms and {operations} file operations a time")
    for moment in range(moments):
        choice = random.Random(f"{seed} {writing.name} {moment}")
        place = folder / f"{moment}"
        if moment % 2:
            killed_at, delay = choice.randint(1, 2 * operations), LONGEST
            what = f"moment {moment}, before file operation {killed_at}"
        else:
            killed_at, delay = 0, choice.uniform(0, 3 * seconds)
            what = f"moment {moment}, after {delay:.4f} s"
        with row.noting(what):
            writing.prepare(place)
            child = Child(_write_forever(writing, place, killed_at), folder / f"{moment}.log")
            child.lines(1, LONGEST)  # it has begun
            acknowledged = _kill(child, delay, killed_at)
            check_whole(writing, place, {acknowledged % VERSIONS, (acknowledged + 1) % VERSIONS})
        shutil.rmtree(place)
    return row


def check_whole(writing: Writing, folder: Path, accepted: set[int]) -> None:
    """Read what there is as the next start of the program does."""
    found = writing.versions_in(folder)
    if not found & accepted:
        raise Lost(f"found are the versions {sorted(found)}; accepted are {sorted(accepted)}")
    remove_temporaries(folder)  # as the next that is written there does
    left = [path.name for path in folder.rglob(".nrsfm-*")]
    if left:
        raise Wrong(f"temporary files are left: {', '.join(left)}")


def _measure(writing: Writing, folder: Path) -> tuple[float, int]:
    """Return the seconds and the file operations of writing a version."""
    writing.prepare(folder)
    child = Child(_write_forever(writing, folder, 0), folder.with_suffix(".log"))
    child.lines(3, LONGEST)  # the first ones import modules
    began = time.monotonic()
    lines = child.lines(3 + MEASURED, LONGEST)
    seconds = (time.monotonic() - began) / MEASURED
    child.kill()
    code, _, printed = child.end(LONGEST)
    if len(lines) < 3 + MEASURED:
        raise RuntimeError(f"{writing.name} ended with {code}:\n{printed}")
    operations = [int(line.split()[1]) for line in lines]
    return seconds, max(1, (operations[2 + MEASURED] - operations[2]) // MEASURED)


def _kill(child: Child, delay: float, killed_at: int) -> int:
    """Kill a process after a time, or wait until it has killed itself; return the last version it wrote."""
    if not killed_at:
        time.sleep(delay)
        child.kill()
    code, lines, printed = child.end(LONGEST)
    if code != -9:
        raise Wrong(f"it ended with {code}: {printed[-500:]}")
    return int(lines[-1].split()[0])


def _write_forever(writing: Writing, folder: Path, killed_at: int) -> Callable[[Report], None]:
    def write(report: Report) -> None:
        report("0 0")
        operations = FileOperations(killed_at)
        for version in count(1):
            writing.write(folder, version % VERSIONS)
            report(f"{version} {operations.count}")

    return write
