"""The exports that are being written: their progress is shown, and each can be cancelled."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from nrsfm_gui.engine.jobs import Job, Jobs
from nrsfm_gui.engine.throttle import Debounce
from nrsfm_gui.scene.summaries import ETA_FROM_SECONDS, duration

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nrsfm_gui.export.task_bar import TaskBar

SHOW_MILLISECONDS = 300  # work that is over sooner is not worth a line


class Task(Job):
    """A job that writes a file."""

    def __init__(self, title: str, path: Path, function: Callable[[Job], str]) -> None:
        super().__init__(function)
        self.title = title
        self.path = path
        self.needs_window = False  # whether the window has to go on for it
        self.in_window = True  # whether its progress may be shown inside the window
        self.began = 0.0

    def discard(self) -> None:
        """Release the resources."""


class Tasks(QObject):
    """The tasks of a window, and the strips that show them: inside the window, and a floating one."""

    saved = pyqtSignal(str, object)  # a sentence, and the path that was written or None
    failed = pyqtSignal(str, str)

    def __init__(self, strip: TaskBar, floating: TaskBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._strips = {True: strip, False: floating}  # inside the window, and floating
        self._tasks: list[Task] = []
        self._jobs = Jobs(self)
        for each in (strip, floating):
            each.cancel_requested.connect(self._cancel)

    @property
    def busy(self) -> bool:
        """Whether something is being done."""
        return bool(self._tasks)

    @property
    def all(self) -> tuple[Task, ...]:
        """The active tasks, the oldest first."""
        return tuple(self._tasks)

    def start(self, task: Task) -> bool:
        """Begin a task; False, with a sentence, where its file is being written already."""
        if any(task.path == other.path for other in self._tasks):
            self.failed.emit(f"{task.path} is being written already; wait for it, or choose another name", "")
            task.discard()
            return False
        self._tasks.append(task)
        task.began = time.monotonic()
        task.done.connect(lambda sentence: self.saved.emit(sentence, task.path))
        task.cancelled.connect(lambda: self.saved.emit(f"Cancelled: {task.path} is not written", None))
        task.failed.connect(self.failed)
        task.progressed.connect(lambda done, total: self._show(task, done, total))
        task.finished.connect(lambda: self._end(task))
        self._jobs.start(task)
        Debounce(lambda: self._show(task, 0, 0), SHOW_MILLISECONDS, task).request()
        return True

    def shut_down(self) -> None:
        """Wait for the active tasks; those that need the window are cancelled first."""
        for task in self._tasks:
            if task.needs_window:
                task.cancel()
        self._jobs.wait()

    def _cancel(self, key: int) -> None:
        for task in self._tasks:
            if id(task) == key:
                task.cancel()
                self._strips[task.in_window].show_task(key, task.title, "stopping", -1.0)

    def _show(self, task: Task, done: int, total: int) -> None:
        if task not in self._tasks or task.stopping:
            return
        elapsed = time.monotonic() - task.began
        key, strip = id(task), self._strips[task.in_window]
        if 1000 * elapsed >= SHOW_MILLISECONDS and (total > 1 or not strip.has_task(key)):
            strip.show_task(key, task.title, progress_text(done, total, elapsed), _share(done, total))

    def _end(self, task: Task) -> None:
        self._tasks.remove(task)
        self._strips[task.in_window].remove_task(id(task))


def progress_text(done: int, total: int, elapsed: float) -> str:
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
