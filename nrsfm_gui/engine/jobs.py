"""Functions that run beside the window, each in a thread of its own: reading a file, writing one."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, QThread, pyqtSignal

from core import InputError

if TYPE_CHECKING:
    from collections.abc import Callable


class Job(QThread):
    """One function call beside the window; `done` or `failed` arrives in the thread that made the job."""

    done = pyqtSignal(object)
    failed = pyqtSignal(str, str)  # a sentence, and the traceback of a defect ("" for bad input)

    def __init__(self, function: Callable[[], object], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._function = function

    def run(self) -> None:
        """Call the function and report."""
        try:
            value = self._function()
        except InputError as refusal:
            self.failed.emit(str(refusal), "")
        except OSError as refusal:
            self.failed.emit(str(InputError.of(refusal)), "")
        except Exception as defect:
            self.failed.emit(f"{type(defect).__name__}: {defect}", traceback.format_exc())
        else:
            self.done.emit(value)


class Jobs:
    """Any number of jobs at once, each held until its thread is over: none may be dropped before."""

    def __init__(self) -> None:
        self._held: set[Job] = set()

    def __bool__(self) -> bool:
        return bool(self._held)

    def add(
        self,
        function: Callable[[], object],
        done: Callable[[Any], object],
        failed: Callable[[str, str], object],
    ) -> Job:
        """Return a job that is still to be started.

        Parameters
        ----------
        function
            what is done beside the window.
        done, failed
            get what the signals of that name tell.
        """
        job = Job(function)
        self._held.add(job)
        job.done.connect(done)
        job.failed.connect(failed)
        job.finished.connect(lambda: self._release(job))
        return job

    def wait(self) -> None:
        """Wait for the end of all."""
        for job in list(self._held):
            job.wait()

    def _release(self, job: Job) -> None:
        self._held.discard(job)
        job.deleteLater()  # what is connected to it refers to it, and would keep it
