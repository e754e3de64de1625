"""Long work beside the window: a title, how far it is, and a way to cancel it.

The function of a task runs in a thread and calls `watch(done, total)` now and then; after a cancel that call
raises `Cancelled`, so that the function's own clearing up (`core.foundation.atomic.replacing`) takes place.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from nrsfm_gui.engine.jobs import Job
from nrsfm_gui.scene.summaries import ETA_FROM_SECONDS, duration

if TYPE_CHECKING:
    from pathlib import Path

    from nrsfm_gui.widgets.task_strip import TaskStrip

Watch = Callable[[int, int], None]

TELL_SECONDS = 0.05  # between two signals about progress
SHOW_MILLISECONDS = 300  # work that is over sooner is not worth a line


class Cancelled(Exception):
    """The work is not wanted any more."""


class Task(QObject):
    """One function in a thread.

    Parameters
    ----------
    title
        what is done, for people: "Saving balloon.glb".
    path
        what is written: no two tasks write the same.
    function
        gets `watch` and returns a sentence about what came of it.

    Signals
    -------
    progressed(int, int)
        steps that are done, and all.
    done(str)
        the sentence; cancelled() and failed(str, str) take its place.
    ended()
        after any of them, and where it is not begun.
    """

    progressed = pyqtSignal(int, int)
    done = pyqtSignal(str)
    cancelled = pyqtSignal()
    failed = pyqtSignal(str, str)
    ended = pyqtSignal()

    def __init__(
        self, title: str, path: Path, function: Callable[[Watch], str], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.title = title
        self.path = path
        self.needs_window = False  # whether the window has to go on for it
        self.in_window = True  # whether its progress may be shown inside the window
        self._function = function
        self._stop = threading.Event()
        self._failed = False  # told already
        self._told = 0.0
        self._job = Job(self._work, self)
        self._job.done.connect(self._finish)
        self._job.failed.connect(self.failed)
        self._job.finished.connect(self.ended)

    def start(self) -> None:
        """Begin."""
        self._job.start()

    def cancel(self) -> None:
        """Ask the function to stop at its next step."""
        self._stop.set()

    def fail(self, sentence: str, details: str) -> None:
        """Stop the function because something that it waits for went wrong."""
        self._failed = True
        self._stop.set()
        self.failed.emit(sentence, details)

    def wait(self) -> None:
        """Wait for its end."""
        self._job.wait()

    @property
    def stopping(self) -> bool:
        """Whether it was cancelled."""
        return self._stop.is_set()

    def watch(self, done: int, total: int) -> None:
        """Note how far the function is; called in its thread."""
        if self._stop.is_set():
            raise Cancelled
        now = time.monotonic()
        if now - self._told >= TELL_SECONDS or done == total:
            self._told = now
            self.progressed.emit(done, total)

    def _work(self) -> str | None:
        try:
            return self._function(self.watch)
        except Cancelled:
            return None

    def _finish(self, sentence: object) -> None:
        if sentence is not None:
            self.done.emit(str(sentence))
        elif not self._failed:
            self.cancelled.emit()


class Tasks(QObject):
    """The tasks of a window, and the strips that show them: inside the window, and one beside it."""

    saved = pyqtSignal(str)
    failed = pyqtSignal(str, str)

    def __init__(self, strip: TaskStrip, floating: TaskStrip, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._strips = {True: strip, False: floating}  # inside the window, and beside it
        self._tasks: dict[Task, float] = {}  # when each began
        for each in (strip, floating):
            each.cancel_requested.connect(self._cancel)

    @property
    def busy(self) -> bool:
        """Whether something is being done."""
        return bool(self._tasks)

    @property
    def all(self) -> tuple[Task, ...]:
        """What is being done, the oldest first."""
        return tuple(self._tasks)

    def start(self, task: Task) -> bool:
        """Begin a task; False, with a sentence, where its file is being written already."""
        if any(task.path == other.path for other in self._tasks):
            self.failed.emit(f"{task.path} is being written already; wait for it, or choose another name", "")
            task.ended.emit()  # it lets go of what it holds
            task.deleteLater()
            return False
        self._tasks[task] = time.monotonic()
        task.done.connect(self.saved)
        task.cancelled.connect(lambda: self.saved.emit(f"Cancelled: {task.path} is not written"))
        task.failed.connect(self.failed)
        task.progressed.connect(lambda done, total: self._show(task, done, total))
        task.ended.connect(lambda: self._end(task))
        task.start()
        patience = QTimer(task)
        patience.setSingleShot(True)
        patience.timeout.connect(lambda: self._show(task, 0, 0))
        patience.start(SHOW_MILLISECONDS)
        return True

    def shut_down(self) -> None:
        """Wait for what is being done; what needs the window for it is cancelled first."""
        for task in self._tasks:
            if task.needs_window:
                task.cancel()
            task.wait()

    def _cancel(self, key: int) -> None:
        for task in self._tasks:
            if id(task) == key:
                task.cancel()
                self._strips[task.in_window].show_task(key, task.title, "stopping", -1.0)

    def _show(self, task: Task, done: int, total: int) -> None:
        began = self._tasks.get(task)
        if began is None or task.stopping:
            return
        elapsed = time.monotonic() - began
        key, strip = id(task), self._strips[task.in_window]
        if 1000 * elapsed >= SHOW_MILLISECONDS and (total > 1 or not strip.shows(key)):
            strip.show_task(key, task.title, progress_words(done, total, elapsed), _share(done, total))

    def _end(self, task: Task) -> None:
        self._tasks.pop(task, None)
        self._strips[task.in_window].remove_task(id(task))
        task.deleteLater()


def progress_words(done: int, total: int, elapsed: float) -> str:
    """Return "34 of 100 · about 12 s left"; "" where nothing is known."""
    if total <= 1:
        return ""
    words = f"{done} of {total}"
    left = elapsed * (total - done) / done if done else 0.0
    if elapsed > ETA_FROM_SECONDS and left > ETA_FROM_SECONDS:
        words += f" · about {duration(round(left))} left"
    return words


def _share(done: int, total: int) -> float:
    return done / total if total > 1 else -1.0
