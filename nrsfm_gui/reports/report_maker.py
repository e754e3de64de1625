"""Making a report beside the window: one process at a time, followed, stopped, gone on with."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, QProcess, QTimer, pyqtSignal

if TYPE_CHECKING:
    from collections.abc import Sequence as Items

KILL_MILLISECONDS = 5000  # after an interrupt that was not heeded
LAST_LINES = 12  # of what a broken process said
MODULE = "nrsfm_gui.reports.report_process"


class ReportMaker(QObject):
    """Runs `nrsfm reproduce` (see `report_process`).

    Signals
    -------
    progressed(str, float)
        where it stands, in words, and the share of the work that is done.
    made(Path)
        the page of a finished report.
    stopped(str)
        a sentence: it was stopped, and what is kept.
    failed(str)
        a sentence.
    """

    progressed = pyqtSignal(str, float)
    made = pyqtSignal(object)
    stopped = pyqtSignal(str)
    failed = pyqtSignal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._process: QProcess | None = None
        self._standing: dict[str, Any] = {}
        self._problem = ""
        self._written = ""
        self._stopping = False
        self._kill = QTimer(self)
        self._kill.setSingleShot(True)
        self._kill.setInterval(KILL_MILLISECONDS)
        self._kill.timeout.connect(self._end_hard)

    @property
    def busy(self) -> bool:
        """Whether a report is being made."""
        return self._process is not None

    def start(self, words: Items[str]) -> None:
        """Begin, or go on with, the report of `nrsfm reproduce WORDS`; nothing while one is being made."""
        if self.busy:
            return
        self._standing, self._problem, self._written, self._stopping = {}, "", "", False
        process = self._process = QProcess(self)
        process.readyReadStandardOutput.connect(self._read)
        process.finished.connect(self._finish)
        process.errorOccurred.connect(self._refuse_start)
        process.start(sys.executable, ["-m", MODULE, *words])
        self.progressed.emit("Reading the data", 0.0)

    def stop(self) -> None:
        """Interrupt it after what is finished has been kept."""
        process = self._process
        if process is None or self._stopping:
            return
        self._stopping = True
        if os.name == "posix" and process.processId():
            os.kill(process.processId(), signal.SIGINT)
            self._kill.start()
        else:
            process.kill()

    def shut_down(self) -> None:
        """Stop it and wait for its end."""
        process = self._process
        if process is not None:
            self.stop()
            if not process.waitForFinished(KILL_MILLISECONDS):
                process.kill()
                process.waitForFinished(KILL_MILLISECONDS)

    def _read(self) -> None:
        process = self._process
        while process is not None and process.canReadLine():
            line = bytes(process.readLine().data()).decode(errors="replace").strip()
            try:
                said = json.loads(line)
            except ValueError:
                continue  # what a library printed
            if "problem" in said:
                self._problem = said["problem"]
            elif "written" in said:
                self._written = said["written"]
            elif "total" in said:
                self._standing = said
                self.progressed.emit(standing_words(said), float(said["fraction"]))

    def _finish(self, code: int, _status: object) -> None:
        self._read()
        process, self._process = self._process, None
        assert process is not None  # it is the one that has finished
        self._kill.stop()
        said = bytes(process.readAllStandardError().data()).decode(errors="replace").splitlines()
        process.deleteLater()
        if self._written:
            self.made.emit(Path(self._written))
        elif self._stopping:
            done, total = self._standing.get("done", 0), self._standing.get("total", 0)
            kept = f"{done} of {total} jobs are kept" if total else "nothing was finished yet"
            self.stopped.emit(f"The report was stopped; {kept}. Make it again to go on from there.")
        else:
            self.failed.emit(self._problem or "\n".join(said[-LAST_LINES:]) or f"It ended with code {code}")

    def _refuse_start(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._process = None
            self.failed.emit(f"{sys.executable} cannot be started")

    def _end_hard(self) -> None:
        if self._process is not None:
            self._process.kill()


def standing_words(said: dict[str, Any]) -> str:
    """Return "3 of 40 jobs · about 2 min 5 s left · balloon circle"."""
    from nrsfm_gui.scene.summaries import duration

    parts = [f"{said['done']} of {said['total']} jobs"]
    left = said.get("seconds_left")
    if left is not None and said["fraction"] < 1:
        parts.append(f"about {duration(round(left))} left")
    if said["fraction"] >= 1:
        parts.append("writing the report")
    elif said.get("label"):
        parts.append(f"finished {said['label']}")
    return " · ".join(parts)
