"""The storms: kill -9, signals and a full disk, in the middle of what the program writes.

    python tests/storms/storms.py                           all of them, in some minutes
    python tests/storms/storms.py --storm kills --moments 30 --seed 4

The table says at how many moments, what was lost, and what was found half-written. The exit code is 1 where
anything was.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from findings import StormRow, render_rows
from full_disk import SmallDisk, fill_while_writing, in_namespace
from kills import kill_while_writing
from stops import SIGNALS, kill_parents, stop_while_running, stopped
from sweeping import Sweep, Sweeping
from writings import written

# Files that are renamed one after the other: of a process that is killed just then, some are new.
SEVERAL = ("export of numbered frames", "export of a series of meshes")
WORKERS_END = 2.0  # seconds after their parent


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def kills(folder: Path, seed: int, moments: int) -> Iterator[StormRow]:
    writings = [writing for writing in written(folder) if writing.name not in SEVERAL]
    writings.append(Sweeping(made(folder / "sweeps"), seeds=3, jobs=2))
    for writing in writings:
        yield kill_while_writing(writing, max(1, moments // len(writings)), seed, made(folder / writing.name))


def full_disk(folder: Path, _seed: int, moments: int) -> Iterator[StormRow]:
    """A disk with room for more and more pages."""
    with SmallDisk(made(folder / "disk")) as disk:
        sweeping = Sweeping(made(folder / "sweeps"), seeds=1, jobs=1)
        for writing in (*written(folder, frames=36, points=80), sweeping):
            yield fill_while_writing(writing, moments, disk, folder)


def signals(folder: Path, seed: int, moments: int) -> Iterator[StormRow]:
    stoppings = stopped(folder, Sweep(folder, seeds=500, jobs=2))
    for stopping in stoppings:
        place = made(folder / stopping.name)
        yield stop_while_running(stopping, max(1, moments // len(stoppings)), seed, place)


def workers(folder: Path, seed: int, moments: int) -> Iterator[StormRow]:
    yield kill_parents(Sweep(folder, seeds=500, jobs=2), moments, seed, folder, most=WORKERS_END)


STORMS: dict[str, tuple[Callable[[Path, int, int], Iterator[StormRow]], int]] = {
    "kills": (kills, 246),
    "full-disk": (full_disk, 200),
    "signals": (signals, 100),
    "workers": (workers, 30),
}


def run(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--storm", choices=list(STORMS), action="append", help="only this; may be repeated")
    parser.add_argument("--moments", type=int, metavar="N", help="of each storm (default: that of the storm)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default %(default)s)")
    args = parser.parse_args(arguments)
    inside = in_namespace(arguments)
    if inside is not None:
        return inside
    for number in SIGNALS:  # a shell has what it runs in the background ignore Ctrl-C, as nohup does SIGHUP
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    rows = []
    with tempfile.TemporaryDirectory(prefix="nrsfm-storms-") as folder:
        for name in args.storm or STORMS:
            storm, moments = STORMS[name]
            began = time.monotonic()
            for row in storm(made(Path(folder, name)), args.seed, args.moments or moments):
                seconds, began = time.monotonic() - began, time.monotonic()
                told = f"{row.storm}: {row.moments} moments, {len(row.found)} found, {seconds:.0f} s"
                print(told, *row.found, sep="\n  ", file=sys.stderr)
                rows.append(row)
    print(render_rows(rows))
    return 1 if any(row.found for row in rows) else 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
