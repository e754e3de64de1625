"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core import CameraModel, GroundTruth, Result

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
FRAMES, POINTS, RANK = 5, 7, 2
INTRINSICS = np.array([[1400.0, 2.0, 640.0], [0.0, 1390.0, 480.0], [0.0, 0.0, 1.0]])
MILLIMETERS = 250.0  # of one calibrated unit
SCREEN = "1600x1000x24"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the length of tests that can go on for as long as wanted."""
    parser.addoption("--lines", type=int, default=200, help="how many absurd command lines are tried")
    parser.addoption(
        "--soak-seconds", type=float, help="how long the monkey plays with the window, instead of 2 and 8 s"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give every process that runs tests a display of its own, and let programs that it starts hear signals.

    Two processes on one display take the keyboard focus from each other. A single process uses the display
    that is there. A shell has what it runs in the background ignore Ctrl-C, and nohup has it ignore SIGHUP.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    worker, parallel = hasattr(config, "workerinput"), bool(config.getoption("numprocesses", None))
    shown = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if (worker or not (parallel or shown)) and "QT_QPA_PLATFORM" not in os.environ:
        _start_display(config)


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


@pytest.fixture(scope="session")
def move_along_rays() -> Callable[[Result], Result]:
    """Make a refined result of another one: its points are moved by 2 % along their rays."""

    def move(result: Result) -> Result:
        generator = np.random.default_rng(8)
        frames, points = result.visible.shape
        Y = result.camera_points * (1 + 0.02 * generator.standard_normal((frames, 1, points)))
        t = Y.mean(axis=2)
        S = result.rotations.transpose(0, 2, 1) @ (Y - t[:, :, None])
        verdicts = [{"kind": "jump", "sentence": "It jumps at frame 2.", "frames": [1, 1], "action": "look"}]
        return replace(
            result,
            B=np.eye(frames),
            C=S.reshape(frames, -1).T,
            translations=t,
            bilinear_B=result.B,
            bilinear_C=result.C,
            bilinear_rotations=result.rotations,
            bilinear_translations=result.translations,
            energy=-12.5,
            energy_history=np.column_stack((result.history[-2:, :2], [-3.0, -12.5])),
            std=0.01 * generator.random((frames, 3, points)),
            meta=result.meta | {"verdicts": verdicts},
        )

    return move


@pytest.fixture
def refined_result(small_result: Result, move_along_rays: Callable[[Result], Result]) -> Result:
    """A refined result with all that it may hold."""
    return move_along_rays(small_result)
