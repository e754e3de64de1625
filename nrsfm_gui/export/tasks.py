"""The exports that are being written: their progress is shown, and each can be cancelled."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from nrsfm_gui.engine.jobs import Job, Jobs
from nrsfm_gui.engine.throttle import Debounce
from nrsfm_gui.scene.summaries import ETA_FROM_SECONDS, duration
from nrsfm_gui.widgets.fields import filled, tool_button, with_tip
from nrsfm_gui.widgets.labels import ElidedLabel, PlainLabel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SHOW_MILLISECONDS = 300  # work that is over sooner is not worth a line
BAR_WIDTH = 220
FLOATING_WIDTH = 640
CLOSE = "Close this: what is being written goes on"


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


class TaskBar(QFrame):
    """A line for every task; hidden while there is none. A floating one is a small window of its own."""

    cancel_requested = pyqtSignal(object)  # the key of a task

    def __init__(self, parent: QWidget | None = None, *, floating: bool = False) -> None:
        super().__init__(parent)
        if floating:
            self.setWindowFlag(Qt.WindowType.Tool)
            self.setWindowTitle("Exporting")
            self.setMinimumWidth(FLOATING_WIDTH)
        self.setProperty("role", "banner")
        self._rows: dict[int, _TaskRow] = {}
        self._layout = QVBoxLayout()
        self._layout.setSpacing(2)
        row = filled(QHBoxLayout(self), self._layout, grows=self._layout, margins=(12, 4, 8, 4))
        if not floating:  # which has one of its window
            close = tool_button("✕", CLOSE, CLOSE, keyboard=False)
            close.clicked.connect(self.hide)
            row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def has_task(self, key: int) -> bool:
        """Return whether a task has a line."""
        return key in self._rows

    def show_task(self, key: int, title: str, progress: str, done: int = 0, total: int = 0) -> None:
        """Show how many steps of a task are done; how much that is of a total of 0 or 1 is unknown."""
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = _TaskRow(title)
            row.cancel.clicked.connect(lambda _checked: self.cancel_requested.emit(key))
            self._layout.addWidget(row)
            self._show()
        row.show_progress(title, progress, done, total)

    def _show(self) -> None:
        """Show the bar; a floating one over the lower edge of its window."""
        parent = self.parentWidget()
        if self.isWindow() and parent is not None and not self.isVisible():
            size, below = self.sizeHint(), parent.frameGeometry()
            self.move(below.center().x() - size.width() // 2, below.bottom() - 3 * size.height())
        self.show()

    def remove_task(self, key: int) -> None:
        """Remove the row of a task."""
        row = self._rows.pop(key, None)
        if row is not None:
            row.hide()
            self._layout.removeWidget(row)
            row.deleteLater()
        if not self._rows:
            self.hide()


class _TaskRow(QWidget):
    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = ElidedLabel()
        self._progress = PlainLabel(role="muted")
        self._bar = with_tip(QProgressBar(), title, "Share of the frames that are written")
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(BAR_WIDTH)
        self.cancel = with_tip(
            QPushButton("Cancel"), f"Cancel: {title}", "Stop; nothing half-written is left"
        )
        self.cancel.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        layout = filled(QHBoxLayout(self), self._title, grows=self._title, spacing=12)
        for part in (self._progress, self._bar, self.cancel):
            layout.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_progress(self, title: str, progress: str, done: int, total: int) -> None:
        self._title.set_full_text(title)
        self._progress.setText(progress)
        self._bar.setRange(0, total if total > 1 else 0)  # of none, the bar moves
        self._bar.setValue(done)


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
                self._strips[task.in_window].show_task(key, task.title, "stopping")

    def _show(self, task: Task, done: int, total: int) -> None:
        if task not in self._tasks or task.stopping:
            return
        elapsed = time.monotonic() - task.began
        key, strip = id(task), self._strips[task.in_window]
        if 1000 * elapsed >= SHOW_MILLISECONDS and (total > 1 or not strip.has_task(key)):
            strip.show_task(key, task.title, progress_text(done, total, elapsed), done, total)

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
