"""Functions that run in threads of their own: reading a file, writing one, a series of solves.

Every thread of the window is a job, except that of a run (`solver_thread` states why).

A function gets its job. It calls `job.watch(done, total)` now and then: that reports progress, and raises
`Cancelled` after a cancel, so that the function's own clearing up (`core.foundation.atomic.replacing`) takes
place. All signals arrive in the thread that made the job.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any

from PyQt6.QtCore import QObject, QThread, pyqtBoundSignal, pyqtSignal

from core import InputError

PROGRESS_SECONDS = 0.05  # between two signals about progress
Slot = Callable[..., Any] | pyqtBoundSignal


class Cancelled(Exception):
    """The work was cancelled."""


class Job(QThread):
    """One function call in a thread."""

    progressed = pyqtSignal(int, int)  # steps that are done, and all of them
    found = pyqtSignal(object)  # a part of the result, which the function emits
    done = pyqtSignal(object)
    failed = pyqtSignal(str, str)
    cancelled = pyqtSignal()

    def __init__(
        self, function: Callable[[Job], object], *, done: Slot | None = None, failed: Slot | None = None
    ) -> None:
        super().__init__()
        self._function = function
        self._cancelled = threading.Event()
        self._progress_at = 0.0
        if done is not None:
            self.done.connect(done)
        if failed is not None:
            self.failed.connect(failed)

    @property
    def stopping(self) -> bool:
        """Whether it was cancelled."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Stop the function at its next `watch`."""
        self._cancelled.set()

    def watch(self, done: int = 0, total: int = 0) -> None:
        """Report the progress of the function; called in its thread. Raises Cancelled after a cancel."""
        if self._cancelled.is_set():
            raise Cancelled
        now = time.monotonic()
        if total and (now - self._progress_at >= PROGRESS_SECONDS or done == total):
            self._progress_at = now
            self.progressed.emit(done, total)

    def run(self) -> None:
        """Call the function and report."""
        try:
            value = self._function(self)
        except Cancelled:
            self.cancelled.emit()
        except (InputError, OSError) as refusal:
            self.failed.emit(str(InputError.of(refusal)), "")
        except Exception as defect:
            self.failed.emit(f"{type(defect).__name__}: {defect}", traceback.format_exc())
        else:
            self.done.emit(value)


class Order(Enum):
    """How a job is treated that is started while another one runs."""

    TOGETHER = "together"  # it runs at the same time
    QUEUE = "queue"  # it waits for its turn
    NEWEST = "newest"  # the running one is cancelled; of those that wait only the newest is run


class Jobs(QObject):
    """The jobs of one owner, each held until its thread is over and Qt has deleted it."""

    ended = pyqtSignal()  # a job is over, and all its signals have arrived

    def __init__(self, parent: QObject | None = None, order: Order = Order.TOGETHER) -> None:
        super().__init__(parent)
        self._order = order
        self._running: list[Job] = []
        self._ended: list[Job] = []  # that Qt has still to delete
        self._waiting: deque[Job] = deque(maxlen=1 if order is Order.NEWEST else None)
        self.over = False  # whether the owner has ended, and may be gone when the last signals arrive

    def __bool__(self) -> bool:
        return bool(self._running or self._waiting)

    def start(self, job: Job) -> Job:
        """Store a job, run it now or after those before it, and return it."""
        if self.over:
            return job
        if self._running and self._order is not Order.TOGETHER:
            if self._order is Order.NEWEST:
                self.cancel()
            self._waiting.append(job)
        else:
            self._run(job)
        return job

    def cancel(self) -> None:
        """Cancel what runs, and drop what waits."""
        self._waiting.clear()
        for job in self._running:
            job.cancel()

    def wait(self) -> None:
        """Wait for the end of all jobs, those that have not begun included."""
        for job in self._running:
            job.wait()
        while self._waiting:
            job = self._waiting.popleft()
            self._run(job)
            job.wait()

    def shut_down(self) -> None:
        """Cancel all, and wait for their end; nothing is reported or started any more."""
        self.over = True
        self.cancel()
        self.wait()

    def _run(self, job: Job) -> None:
        self._running.append(job)
        job.finished.connect(partial(self._release, job))  # which ends with this object, as no lambda does
        job.start()

    def _release(self, job: Job) -> None:
        self._running.remove(job)
        # What is connected to a job refers to it and would keep it, so it is deleted. PyQt releases its
        # Python object as soon as that is requested. If nothing else referred to it until Qt has deleted the
        # job, the garbage collector could clear the functions that are connected to the job's children while
        # a timer among them still runs: the call of such a function is a segmentation fault.
        self._ended.append(job)
        job.destroyed.connect(lambda: self._ended.remove(job))
        job.deleteLater()
        if self._waiting and not self._running:
            self._run(self._waiting.popleft())
        if not self.over:
            self.ended.emit()
