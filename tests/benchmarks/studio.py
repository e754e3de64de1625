"""A real window of its own for a script: opening, solving, waiting, and how late a timer's ticks come."""

from __future__ import annotations

import os
import tempfile
import time
from functools import cache
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable

import numpy as np
from PyQt6.QtCore import QObject, Qt, QTimer
from PyQt6.QtWidgets import QApplication

from core import Sequence, Settings
from nrsfm_gui import main_window
from nrsfm_gui.app import make_application, prepare_platform
from nrsfm_gui.model.app_store import AppStore
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.theme import DARK, Theme

SMALL = (1280, 800)


@cache
def application() -> QApplication:
    """Return the application of this process."""
    prepare_platform(os.environ)
    return make_application()


class Studio:
    """A window with preferences of its own, and what one does with it; a context manager that closes it."""

    def __init__(self, size: tuple[int, int] = SMALL, theme: Theme = DARK, *, software: bool = False) -> None:
        self.app = application()
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        store = AppStore(self.folder / "settings.json")
        self.window = main_window.MainWindow(store=store, software=software)
        self.window.session.set_theme(theme)
        self.window.resize(*size)
        self.window.show()
        self.settle(0.3)

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *_: object) -> None:
        self.window.close()
        self.window.deleteLater()
        self.settle(0.3)
        self._folder.cleanup()

    def settle(self, seconds: float, *, nap: float = 0.002) -> None:
        """Let the window work."""
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            self.app.processEvents()
            time.sleep(nap)

    def wait(self, until: Callable[[], object], seconds: float = 120.0) -> None:
        """Wait for something to be so."""
        end = time.perf_counter() + seconds
        while not until():
            if time.perf_counter() > end:
                raise TimeoutError("the window did not get there")
            self.settle(0.01)

    def open(self, what: str | Sequence) -> None:
        """Open a sequence and wait until it is there."""
        before, opening = self.window.session.sequence, self.window.sequence_opening
        if isinstance(what, str):
            opening.open(what)
        else:
            opening.open_sequence(what)
        self.wait(lambda: self.window.session.sequence not in (None, before))

    def set_settings(self, settings: Settings) -> None:
        """Set what the next run has."""
        self.window.parameters_panel.set_settings(settings)
        self.window.session.set_settings(settings)

    def solve(self, settings: Settings) -> None:
        """Run from nothing to the end under settings."""
        self.set_settings(settings)
        self.window.parameters_controller.run_from_scratch()
        self.wait_for_run()
        run = self.window.session.shown
        assert run is not None and run.last is not None and run.state is not RunState.FAILED, run
        self.settle(0.5)

    def wait_for_run(self) -> None:
        """Wait until no run goes on."""
        self.wait(lambda: self.window.run_control.current is None)


class Ticks(QObject):
    """A timer, and how late each of its ticks comes from when it is constructed."""

    PERIOD = 0.016  # seconds

    def __init__(self) -> None:
        super().__init__()
        self._ticks: list[float] = []
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(lambda: self._ticks.append(time.perf_counter()))
        self._timer.start(round(1000 * self.PERIOD))

    def stop(self) -> np.ndarray:
        """Return how many seconds late each tick came."""
        self._timer.stop()
        return np.maximum(np.diff(self._ticks) - self.PERIOD, 0.0)
