"""The signals with which a terminal or a batch system stops a command, and kill -9 of one with workers."""

from __future__ import annotations

import random
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from findings import HalfWritten, Lost, StormRow, Wrong
from processes import LONGEST, running
from sweeping import Sweep
from writings import QUICK

from core import InputError, load_result, read_sequence, reconstruct, save_result, simulate, write_npz
from core.foundation import remove_temporaries
from nrsfm_gui.model.app_store import APPLICATION, ORGANIZATION, AppStore
from nrsfm_gui.model.preferences import Preferences
from nrsfm_gui.sessions.autosave import CLOSED, PREFIX
from nrsfm_gui.sessions.session_file import read_session

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
ENDLESS = "--method irnn --margin 100 --max-iterations 1000000 --rotations truth".split()
WINDOW = {"QT_QPA_PLATFORM": "offscreen"}
STOPPED = "stopped; the best so far is in"


@dataclass(frozen=True)
class Stopping:
    name: str
    prepare: Callable[[Path], tuple[list[str], dict[str, str]]]
    observe: Callable[[Path], int] | None
    check: Callable[[Path, int, str], None]


def stopped(folder: Path, sweep: Sweep) -> tuple[Stopping, ...]:
    """Return the commands that are stopped; what they read is made in a folder."""
    sequence = simulate("balloon", frames=14, points=16, seed=3)
    tracks, before = folder / "tracks.npz", folder / "before.npz"
    write_npz(sequence, tracks)
    save_result(reconstruct(sequence, QUICK), before)

    def solve(place: Path) -> tuple[list[str], dict[str, str]]:
        shutil.copy(before, place / "a.npz")
        return ["-m", "core", "solve", str(tracks), *ENDLESS, "-o", str(place / "a.npz")], {}

    def check_solved(place: Path, _observed: int, printed: str) -> None:
        new = _read(load_result, place / "a.npz").meta["settings"]["method"] == "irnn"
        if new != (STOPPED in printed):
            raise Lost(f"it says {printed[-200:]!r}, and the file is {'new' if new else 'old'}")

    def run_sweep(place: Path) -> tuple[list[str], dict[str, str]]:
        return ["-m", "core", *sweep.words(place / "sweep")], {}

    def check_sweep(place: Path, observed: int, printed: str) -> None:
        found = len(sweep.check(place / "sweep"))
        if found < observed or ("runs are kept" in printed and f"stopped; {found} of" not in printed):
            raise Lost(f"{found} rows are there, {observed} before; it says {printed[-200:]!r}")
        remove_temporaries(place / "sweep" / "results")  # as the next run does that writes its result

    def count_rows(place: Path) -> int:
        path = place / "sweep" / "runs.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def track(place: Path) -> tuple[list[str], dict[str, str]]:
        return ["-m", "core", "track", "sample:sheet", "-o", str(place / "a.npz")], {}

    def check_tracks(place: Path, _observed: int, printed: str) -> None:
        path = place / "a.npz"
        if path.exists():
            _read(read_sequence, path)
        if path.exists() != ("wrote" in printed):
            raise Lost(f"it says {printed[-200:]!r}, and the file is {'' if path.exists() else 'not '}there")

    def open_window(place: Path) -> tuple[list[str], dict[str, str]]:
        store = AppStore(place / "config" / ORGANIZATION / f"{APPLICATION}.json")
        store.set_preferences(Preferences(autosave_seconds=1))
        homes = {"XDG_CONFIG_HOME": str(place / "config"), "XDG_DATA_HOME": str(place / "data")}
        words = ["-m", "nrsfm_gui", str(tracks), "--run", "--renderer", "software", *ENDLESS]
        return words, WINDOW | homes

    def saved_iterations(place: Path) -> int:
        found = [*place.rglob(f"{PREFIX}*.nrsfm")]
        return len(read_session(found[0]).sequences[0].runs[0].history) if found else 0

    def check_window(place: Path, observed: int, _printed: str) -> None:
        found = [*place.rglob(f"{CLOSED}*.nrsfm")]
        iterations = [len(_read(read_session, each).sequences[0].runs[0].history) for each in found]
        if observed > max(iterations, default=0):
            raise Lost(f"{observed} iterations were saved, {iterations} are")

    return (
        Stopping("solve", solve, None, check_solved),
        Stopping("sweep", run_sweep, count_rows, check_sweep),
        Stopping("track", track, None, check_tracks),
        Stopping("the window", open_window, saved_iterations, check_window),
    )


def stop_while_running(stopping: Stopping, moments: int, seed: int, folder: Path) -> StormRow:
    """Send one of the signals at random moments, from the first at which the command can hear it."""
    row = StormRow(f"SIGTERM, SIGINT, SIGHUP: {stopping.name}")
    longest = _seconds_of_start(folder)
    ended = before = 0
    observe = stopping.observe
    for moment in range(moments):
        choice = random.Random(f"{seed} {stopping.name} {moment}")
        number, delay = SIGNALS[moment % len(SIGNALS)], choice.uniform(0, longest)
        place = folder / f"{moment}"
        place.mkdir()
        words, environment = stopping.prepare(place)
        with row.noting(f"moment {moment}, {number.name} after {delay:.3f} s"):
            with running(words, folder / f"{moment}.log", environment) as command:
                hears = command.wait_until(lambda command=command, number=number: command.handles(number))
                if hears and observe is not None and moment % 2:
                    command.wait_until(lambda place=place: observe(place) > 0)
                if hears:
                    time.sleep(delay)
                observed = 0 if observe is None else observe(place)
                command.send(number)
                code = command.end()
                command.seconds_until_gone(LONGEST)
            ended, before = ended + (code == 0), before + (observed > 0)
            if code not in (0, 128 + number) or "Traceback" in command.printed:
                raise Wrong(f"it ended with {code}: {command.printed[-800:]}")
            stopping.check(place, observed, command.printed)
            left = [path.name for path in place.rglob(".nrsfm-*")]
            if left:
                raise Wrong(f"temporary files are left: {', '.join(left)}")
        shutil.rmtree(place)
    saved = "" if observe is None else f", {before} had saved something"
    row.notes.append(f"within {longest:.1f} s; {ended} had ended before{saved}")
    return row


def kill_parents(sweep: Sweep, moments: int, seed: int, folder: Path, *, most: float) -> StormRow:
    """kill -9 at random moments of commands that have started processes, which then end."""
    row = StormRow("kill -9: what its workers do")
    arrays = folder / "tracks.h5"
    with h5py.File(arrays, "w") as file:
        file["W"] = np.random.default_rng(0).normal(size=(200, 400))
    reads = ["-m", "core", "info", str(arrays)]
    shows = ["-m", "nrsfm_gui", str(arrays), "--renderer", "software"]
    longest, slowest = _seconds_of_start(folder), 0.0
    for moment in range(moments):
        choice = random.Random(f"{seed} workers {moment}")
        delay = choice.uniform(0, longest)
        words = [["-m", "core", *sweep.words(folder / f"{moment}")], reads, shows][moment % 3]
        homes = {name: str(folder / "home") for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME")}
        with row.noting(f"moment {moment}, {words[2]}, {delay:.3f} s after its first worker"):
            with running(words, folder / f"{moment}.log", WINDOW | homes) as command:
                if not command.wait_until(lambda command=command: bool(command.workers())):
                    raise Wrong(f"it had no worker: {command.printed[-500:]}")
                time.sleep(delay)
                command.send(signal.SIGKILL)
                command.end()
                slowest = max(slowest, command.seconds_until_gone(most))
    row.notes.append(f"the last worker had ended {slowest:.2f} s after its parent; accepted are {most:g} s")
    return row


def _seconds_of_start(folder: Path) -> float:
    """Return how long a command is watched: a few times what it takes to start one."""
    began = time.monotonic()
    with running(["-m", "core", "info", "sample:"], folder / "start.log") as command:
        command.end()
    return 3 * (time.monotonic() - began)


def _read(reader: Callable[[Path], Any], path: Path) -> Any:
    """Return what is read of a file, which must be whole."""
    try:
        return reader(path)
    except InputError as refusal:
        raise HalfWritten(str(refusal)) from refusal
