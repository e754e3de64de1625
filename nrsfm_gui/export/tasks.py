"""What is being written: a job, and the line that shows its progress and cancels it."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from nrsfm_gui.engine.jobs import Job
from nrsfm_gui.scene.summaries import ETA_FROM_SECONDS, duration
from nrsfm_gui.widgets.fields import TOP, close_button, filled, push_button, with_tip
from nrsfm_gui.widgets.labels import ElidedLabel, PlainLabel

WIDTH = 480  # pixels, whatever the texts are: the button stays where it is
CLOSE = "Close this: what is being written goes on"


class Task(Job):
    """A job that writes a file."""

    in_window = True  # whether its progress may be shown inside the window

    def __init__(self, title: str, path: Path, function: Callable[[Job], str]) -> None:
        super().__init__(function)
        self.title, self.path = title, path
        self.finished.connect(self.discard)

    def discard(self) -> None:
        """Release the resources, and memory, of which GNU's C library keeps .5 GB after large pictures."""
        with suppress(AttributeError, OSError, TypeError):  # another library
            ctypes.CDLL(None).malloc_trim(0)


class TaskRow(QWidget):
    """The progress of a task in words and as a bar, with a button that cancels it."""

    def __init__(self, task: Task, parent: QWidget) -> None:
        super().__init__(parent)
        self.hide()
        self._task, self._began = task, time.monotonic()
        title = ElidedLabel()
        title.set_full_text(task.title)
        self._progress = PlainLabel(role="muted")
        self._bar = with_tip(QProgressBar(), task.title, "Share of the frames that are written")
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 0)  # it moves as long as the total is not known
        cancel = push_button("Cancel", "Stop; nothing half-written is left", self._cancel)
        cancel.setAccessibleName(f"Cancel: {task.title}")
        texts = filled(QHBoxLayout(), title, self._progress, grows=title)
        below = filled(QHBoxLayout(), self._bar, cancel, grows=self._bar, spacing=12, margins=(6, 0, 0, 0))
        filled(QVBoxLayout(self), texts, below, spacing=2)
        task.progressed.connect(self._show_progress)

    def _cancel(self) -> None:
        self._task.cancel()
        self._progress.setText("stopping")
        self._bar.setRange(0, 0)

    def _show_progress(self, done: int, total: int) -> None:
        if total > 1 and not self._task.stopping:
            self._progress.setText(progress_text(done, total, time.monotonic() - self._began))
            self._bar.setRange(0, total)
            self._bar.setValue(done)


class TaskBar(QFrame):
    """A line for every task; hidden while there is none. A floating one is a small window of its own."""

    def __init__(self, parent: QWidget | None = None, *, floating: bool = False) -> None:
        super().__init__(parent)
        if floating:
            self.setWindowFlag(Qt.WindowType.Tool)
            self.setWindowTitle("Exporting")
        self.setProperty("role", "banner")
        self._layout = filled(QVBoxLayout(), spacing=2)
        beside = filled(QHBoxLayout(self), self._layout, grows=self._layout, margins=(8, 4, 8, 4))
        if not floating:  # which has one of its window
            beside.addWidget(close_button(CLOSE, self.hide, keyboard=False), 0, TOP)
        self.hide()

    def sizeHint(self) -> QSize:
        """Return a width that is the same for all texts."""
        return QSize(WIDTH, super().sizeHint().height())

    def add(self, row: TaskRow) -> None:
        """Show a line; a floating bar appears over the lower edge of its window."""
        self._layout.addWidget(row)
        row.show()
        parent = self.parentWidget()
        if self.isWindow() and parent is not None and not self.isVisible():
            size, below = self.sizeHint(), parent.frameGeometry()
            self.move(below.center().x() - size.width() // 2, below.bottom() - 3 * size.height())
        self.show()

    def remove(self, row: TaskRow) -> None:
        """Delete a line, shown or not."""
        row.hide()
        self._layout.removeWidget(row)
        row.deleteLater()
        if not self._layout.count():
            self.hide()


def progress_text(done: int, total: int, elapsed: float) -> str:
    """Return "34 of 100 · about 12 s left"."""
    words = f"{done} of {total}"
    left = elapsed * (total - done) / done if done else 0.0
    if elapsed > ETA_FROM_SECONDS and left > ETA_FROM_SECONDS:
        words += f" · about {duration(round(left))} left"
    return words
