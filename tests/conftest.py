"""Fixtures shared by all tests."""

from __future__ import annotations

import ctypes
import gc
import locale
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from patience import PATIENCE
from sharing import called_by_tests

from core import CameraModel, GroundTruth, Result
from core.depth import alternatives, schedule, search
from core.io.files import sandbox
from core.reconstruction.geometry import mean_and_modes
from core.stop_signals import STOP_SIGNALS

ROOT = Path(__file__).resolve().parent.parent
FRAMES, POINTS, RANK = 5, 7, 2
INTRINSICS = np.array([[1400.0, 2.0, 640.0], [0.0, 1390.0, 480.0], [0.0, 0.0, 1.0]])
MILLIMETERS = 250.0  # of one calibrated unit
SCREEN = "1600x1000x24"
ENDING = round(10 * PATIENCE)  # looks, each after 10 ms, at what is to have ended when a test is over
UNTIL_GARBAGE = 10  # of them, before garbage is collected, which ends what it holds
ADOPTS_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of Linux
# What libraries keep as long as this process lives.
KEPT_THREADS = (
    "IO loop",  # Dask's, for a client that no scheduler answered
    "jemalloc",  # of the memory of Arrow
    "llvmpipe",  # Mesa's, for all OpenGL contexts
    "QDBus",  # Qt's connection to the desktop
    "QXcbEventQueue",  # to the display, of the process's name until its thread has begun
    "Thread (pooled)",  # QThreadPool.globalInstance(), where each ends after 30 s without work
)
KEPT_VARIABLES = ("PYTEST_CURRENT_TEST", "KMP_INIT_AT_FORK")  # joblib sets the second one when it is imported
KEPT_PROCESSES = ("multiprocessing.resource_tracker", "loky.backend.resource_tracker")  # one for all


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the order of the tests, and the length of those that can go on for as long as wanted."""
    parser.addoption("--order-seed", type=int, help="shuffle the files, and the tests of each, by this seed")
    parser.addoption("--lines", type=int, default=200, help="how many absurd command lines are tried")
    parser.addoption(
        "--soak-seconds", type=float, default=2.0, help="how long the monkey plays with the window"
    )
    parser.addoption("--soak-seed", type=int, default=20, help="which deeds it does")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle the tests where a seed is given; those of a file stay together, as its fixtures do."""
    if (seed := config.getoption("order_seed")) is not None:
        chance = random.Random(seed)
        by_file: dict[Path, list[pytest.Item]] = {}
        for item in items:
            by_file.setdefault(item.path, []).append(item)
        files = list(by_file.values())
        chance.shuffle(files)
        for tests in files:
            chance.shuffle(tests)
        items[:] = [item for tests in files for item in tests]


def pytest_collection_finish() -> None:
    """Look for garbage from here on, and not in the tests themselves: they stay."""
    gc.enable()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give every process that runs tests a display of its own, and let programs that it starts hear signals.

    Two processes on one display take the keyboard focus from each other. A single process uses the display
    that is there. A shell has what it runs in the background ignore Ctrl-C, and nohup has it ignore SIGHUP.
    """
    gc.disable()  # until all tests are known
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    worker, parallel = hasattr(config, "workerinput"), bool(config.getoption("numprocesses", None))
    shown = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if (worker or not (parallel or shown)) and "QT_QPA_PLATFORM" not in os.environ:
        _start_display(config)
    if sys.platform == "linux":  # so that what a test's process leaves behind is a child of this one
        ctypes.CDLL(None).prctl(ADOPTS_ORPHANS, 1)


def _start_display(config: pytest.Config) -> None:
    """Start a virtual X server for this process; without one, Qt draws off the screen and without OpenGL."""
    if not sys.platform.startswith("linux"):
        return
    if shutil.which("Xvfb") is None:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        return
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", SCREEN, "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    with os.fdopen(reading) as answer:
        number = answer.readline().strip()
    if not number:
        raise pytest.UsageError("Xvfb did not start; run it by itself to see why")
    os.environ["DISPLAY"] = f":{number}"
    os.environ.pop("WAYLAND_DISPLAY", None)
    config.add_cleanup(server.wait)
    config.add_cleanup(server.terminate)


@pytest.fixture(scope="session", autouse=True)
def settings_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep the tests out of the settings of whoever runs them."""
    folder = tmp_path_factory.mktemp("settings")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        yield folder


class _Here:
    """Reads files in this process: another one takes a third of a second to start."""

    def call(self, function: Callable[..., Any], *arguments: Any, timeout: float) -> Any:
        return function(*arguments)


@pytest.fixture(scope="session", autouse=True)
def reading_here() -> Iterator[None]:
    """Read files in this process, without limits, where it is not their reading in another that is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "_processes", _Here)
        for limit in ("limit_memory", "limit_processor", "lift_limits"):
            patch.setattr(sandbox, limit, lambda *_: None)
        yield


@pytest.fixture(autouse=True)
def nothing_left(settings_folder: Path) -> Iterator[None]:
    """Fail a test that leaves something behind which the tests after it meet."""
    before, running = _settings_of_process(settings_folder), _running()
    yield
    after, tries = _settings_of_process(settings_folder), 0
    while (left := _running()).keys() - running and tries < ENDING:
        tries += 1
        time.sleep(0.01)  # what was told to end is ending
        _deliver_events()
        if tries == UNTIL_GARBAGE:
            gc.collect()
    names = [name for key, name in left.items() if key not in running]
    changed = [name for name in after | before if after.get(name) != before.get(name)]
    assert not names, f"the test leaves behind: {', '.join(names)}"
    assert not changed, f"the test leaves changed: {', '.join(changed)}"


def _deliver_events() -> None:
    """Deliver what threads have sent to this one, and delete what is to be deleted."""
    if "PyQt6.QtCore" in sys.modules:
        from PyQt6.QtCore import QCoreApplication, QEvent

        if QCoreApplication.instance() is not None:
            QCoreApplication.processEvents()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _settings_of_process(settings: Path) -> dict[str, object]:
    """Return what applies to all tests of a process, by its name; pytest itself restores what it warns of."""
    return {
        "current folder": os.getcwd(),
        "locale": locale.setlocale(locale.LC_ALL),
        "errstate of NumPy": np.geterr(),
        "printing of NumPy": np.get_printoptions(),
        "signal handlers": [signal.getsignal(number) for number in STOP_SIGNALS],
        "sys.path": list(sys.path),
        "settings of the application": [(file, file.stat().st_mtime_ns) for file in settings.rglob("*.json")],
        **{f"${name}": value for name, value in os.environ.items() if name not in KEPT_VARIABLES},
    }


def _running() -> dict[object, str]:
    """Return the names of all that runs beside this thread, or is shown, by what tells one from another."""
    running: dict[object, str] = {}
    threads = {thread.native_id: thread.name for thread in threading.enumerate()}
    if sys.platform == "linux":
        process = _read("/proc/self/comm")  # the name also of threads of C, as those that Arrow and BLAS keep
        started = {int(task): _read(f"/proc/self/task/{task}/comm") for task in os.listdir("/proc/self/task")}
        named = {task: threads.get(task, name) for task, name in started.items()}
        threads = {t: name for t, name in named.items() if not name.startswith((process, *KEPT_THREADS))}
        running |= {number: f"process {words}" for number, words in _children()}
    running |= {("thread", number): f"thread {name}" for number, name in threads.items()}
    if "PyQt6.QtWidgets" in sys.modules:
        running |= _shown()
    return running


def _children() -> Iterator[tuple[str, str]]:
    """Yield number and command of the processes that this one started, or adopted, and that have not ended.

    Those that have ended are reaped. What a child starts is its own affair, until the child ends.
    """
    for task in os.listdir("/proc/self/task"):
        for child in _read(f"/proc/self/task/{task}/children").split():
            words = _read(f"/proc/{child}/cmdline").replace("\0", " ").strip()
            if _read(f"/proc/{child}/stat").rpartition(")")[2].split()[:1] == ["Z"]:
                with suppress(ChildProcessError):  # another thread was faster
                    os.waitpid(int(child), os.WNOHANG)
            elif not any(kept in words for kept in KEPT_PROCESSES):
                yield child, words


def _read(path: str) -> str:
    """Return the text of a file of /proc; what has ended meanwhile has none."""
    try:
        with open(path, errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def _shown() -> dict[object, str]:
    """Return the windows that are shown, and the timers that run without one."""
    from PyQt6.QtCore import QTimer
    from PyQt6.QtWidgets import QApplication

    if not isinstance(application := QApplication.instance(), QApplication):
        return {}
    windows = (widget for widget in application.topLevelWidgets() if widget.isVisible())
    timers = (timer for timer in application.findChildren(QTimer) if timer.isActive())
    named = {window: f"window {type(window).__name__}" for window in windows}
    return named | {timer: f"timer of {type(timer.parent()).__name__}" for timer in timers}


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder of real and Challenge-like data; the test is skipped where it is absent."""
    folder = Path(os.environ.get("NRSFM_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent; set NRSFM_DATA to the folder that holds challenge_like/ and real/")
    return folder


def _rotation(generator: np.random.Generator) -> np.ndarray:
    Q, _ = np.linalg.qr(generator.standard_normal((3, 3)))
    return Q * np.sign(np.linalg.det(Q))


@pytest.fixture
def small_result() -> Result:
    """An exact perspective reconstruction; the truth of frames 1 and 3 is a similarity of it."""
    generator = np.random.default_rng(7)
    B = generator.standard_normal((FRAMES, RANK)) * 0.1 + [1.0, 0.0]
    C = generator.standard_normal((3 * POINTS, RANK)) * 0.1
    S = (B @ C.T).reshape(FRAMES, 3, POINTS)
    R = np.stack([_rotation(generator) for _ in range(FRAMES)])
    t = np.array([0.1, -0.05, 1.0]) + 0.05 * generator.standard_normal((FRAMES, 3))
    Y = R @ S + t[:, :, None]
    visible = np.ones((FRAMES, POINTS), dtype=bool)
    visible[2, 4] = visible[0, 0] = False
    known = np.array([1, 3])
    moved = [
        MILLIMETERS * _rotation(generator) @ S[f] + generator.standard_normal((3, 1)) * 100 for f in known
    ]
    truth = np.stack(moved)
    truth[1, :, 5] = np.nan  # a point whose truth is missing
    return Result(
        tracks=np.where(visible[:, None, :], Y[:, :2] / Y[:, 2:], 0.0),
        visible=visible,
        rotations=R,
        translations=t,
        B=B,
        C=C,
        weights=np.array([0.1, 0.2]),
        eta=0.05,
        loss=1e-3,
        history=np.array([[0, 0.0, 1.0], [1, 0.25, 0.1], [2, 0.5, 1e-3]]),
        best_losses=np.array([np.nan, 0.1, 1e-3]),
        intrinsics=INTRINSICS,
        camera=CameraModel.PERSPECTIVE,
        truth=GroundTruth(known, truth, 3),
        edges=np.array([[0, 1], [1, 2], [5, 6]]),
        faces=np.array([[0, 1, 2], [2, 3, 4]]),
        meta={"method": "bilinear", "settings": {"rank": 2}, "units": "px"},
    )


@pytest.fixture(scope="module")
def brief_uncertainty() -> Iterator[None]:
    """Have refined shapes compared with few alternatives, briefly: the standard deviations are rough then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alternatives, "MOST_BLOCKS", 1)
        patch.setattr(alternatives, "SCALED", alternatives.TRIAL)
        patch.setattr(search, "FEW_FRAMES", 0)  # none are posed anew
        yield


@pytest.fixture(scope="module")
def brief_search(brief_uncertainty: None) -> Iterator[None]:
    """Have the depths searched among few ends, in few iterations: what it finds need not be a minimum."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("REFLECTED", "ROUNDS", "SWEEPS", "JUDGED_ROUNDS"):
            patch.setattr(search, name, 1)
        patch.setattr(schedule, "LOOSE_ITERATIONS", 50)
        yield


@called_by_tests
def move_along_rays(result: Result) -> Result:
    """Make a refined result of another one: its points are moved by 2 % along their rays."""
    generator = np.random.default_rng(8)
    frames, points = result.visible.shape
    Y = result.camera_points * (1 + 0.02 * generator.standard_normal((frames, 1, points)))
    t = Y.mean(axis=2)
    B, C = mean_and_modes(result.rotations.transpose(0, 2, 1) @ (Y - t[:, :, None]))
    verdicts = [{"kind": "jump", "sentence": "It jumps at frame 2.", "frames": [1, 1], "action": "look"}]
    return replace(
        result,
        B=B,
        C=C,
        weights=np.append(0.0, np.ones(B.shape[1] - 1)),
        translations=t,
        bilinear_B=result.B,
        bilinear_C=result.C,
        bilinear_weights=result.weights,
        bilinear_rotations=result.rotations,
        bilinear_translations=result.translations,
        energy=-12.5,
        energy_history=np.column_stack((result.history[-2:, :2], [-3.0, -12.5])),
        std=0.01 * generator.random((frames, 3, points)),
        meta=result.meta | {"verdicts": verdicts},
    )


@pytest.fixture
def refined_result(small_result: Result, move_along_rays: Callable[[Result], Result]) -> Result:
    """A refined result with all that it may hold."""
    return move_along_rays(small_result)
