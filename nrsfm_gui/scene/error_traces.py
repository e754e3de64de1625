"""The errors of what was shown at moments of a run, against its records.

While a run goes on, the errors that are published are noted at their records. When it is over, those of the
kept snapshots are computed in a thread, the far apart ones first, so that a run that was not looked at, or
under another alignment, has a trace too. The error is the 3-D error where there is a ground truth; else that
of the observations which the settings hide from the solver.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QObject, pyqtSignal

from nrsfm_gui.engine.jobs import Job, Jobs
from nrsfm_gui.model.run import RunState
from nrsfm_gui.scene.sequence_errors import SceneRequest, find_quality

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from core import Iterate, Sequence
    from core.foundation import Floats, Ints
    from nrsfm_gui.model.run import Run
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.scene.incumbent import Incumbent
    from nrsfm_gui.scene.quality import Quality

MOST = 512  # errors of one run; above, every second one is dropped
SECONDS = 5.0  # of computing for one run
TRUTH, HELD_OUT = "3-D error", "held-out error"


@dataclass(frozen=True, eq=False)
class ErrorTrace:
    """The errors of a run at some of its records."""

    name: str  # "3-D error" or "held-out error"
    unit: str
    records: Ints  # (M,) ascending
    errors: Floats  # (M,)

    def nearest(self, record: int) -> tuple[int, float]:
        """Return the last record with an error up to a record, or the first of all, and that error."""
        place = max(int(np.searchsorted(self.records, record, side="right")) - 1, 0)
        return int(self.records[place]), float(self.errors[place])


@dataclass(eq=False)
class _Notes:
    """The errors of one run under one alignment."""

    key: object
    name: str = ""
    unit: str = ""
    errors: dict[int, float] = field(default_factory=dict)  # by record
    complete: int = -1  # length of the history for which snapshots were computed
    trace: ErrorTrace | None = None  # of these errors, until there are others

    def add(self, record: int, error: tuple[str, float, str]) -> None:
        if self.errors.get(record) == error[1]:
            return
        self.name, self.errors[record], self.unit = error
        self.trace = None
        if len(self.errors) > MOST:
            kept = sorted(self.errors)[::2]
            self.errors = {each: self.errors[each] for each in kept}


class ErrorTraces(QObject):
    """The traces of all runs of a session."""

    changed = pyqtSignal()  # there are more errors
    failed = pyqtSignal(str, str)  # a sentence and the traceback of a defect

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._notes: dict[Run, _Notes] = {}
        self._jobs = Jobs(self)
        self._jobs.ended.connect(self._on_job_ended)
        self._over = False
        session.run_changed.connect(self._give_way)

    def note(self, run: Run, incumbent: Incumbent) -> None:
        """Note the error of what is published of a run, under the session's alignment."""
        error = None if incumbent.errors is None else error_of(incumbent.errors, run.sequence)
        if error is not None and incumbent.record >= 0:
            self._notes_of(run).add(incumbent.record, error)

    def of(self, run: Run) -> ErrorTrace | None:
        """Return the trace of a run under the session's alignment, None where nothing is known.

        Of a run that is over, what is missing is computed while none is under way, and `changed` is emitted.
        """
        notes = self._notes_of(run)
        if not run.state.alive and notes.complete != len(run.history):
            self._complete(run, notes)
        if notes.trace is None and notes.errors:
            records = np.array(sorted(notes.errors), dtype=np.int64)
            errors = np.array([notes.errors[record] for record in records.tolist()])
            notes.trace = ErrorTrace(notes.name, notes.unit, records, errors)
        return notes.trace

    def lowest_kept(self, run: Run) -> tuple[int, float] | None:
        """Return the record and the error of the kept moment of a run that was the nearest to the truth.

        None where no error is known; `is_complete` says whether there may be more.
        """
        trace, kept = self.of(run), set(run.snapshots.indices)
        if trace is None:
            return None
        pairs = zip(trace.records.tolist(), trace.errors.tolist(), strict=True)
        return min((pair for pair in pairs if pair[0] in kept), key=lambda pair: pair[1], default=None)

    def is_complete(self, run: Run) -> bool:
        """Return whether the errors at all kept moments of a run that is over are known, or begin to be."""
        self.of(run)
        return self._notes_of(run).complete == len(run.history) and not self._jobs

    def forget_others(self, runs: Iterable[Run]) -> None:
        """Forget all runs but these."""
        kept = set(runs)
        self._notes = {run: notes for run, notes in self._notes.items() if run in kept}

    def shut_down(self) -> None:
        """Cancel what is being computed, and start no more."""
        self._over = True
        self._jobs.shut_down()

    def _notes_of(self, run: Run) -> _Notes:
        key = self._session.alignment, self._session.settings.scale
        notes = self._notes.get(run)
        if notes is None or notes.key != key:
            notes = self._notes[run] = _Notes(key)
        return notes

    def _complete(self, run: Run, notes: _Notes) -> None:
        """Compute the errors of the snapshots that have none, in a thread."""
        running = any(each.state is RunState.RUNNING for each in self._session.runs)
        if self._over or self._jobs or running:
            return
        notes.complete = len(run.history)
        moments = [run.snapshots.at(record) for record in run.snapshots.indices]
        missing = [moment for moment in moments if moment[0] not in notes.errors]
        alignment, scale, sequence = self._session.alignment, self._session.settings.scale, run.sequence
        if not missing or not _has_error(run, missing[-1][1]):
            return

        def compute(job: Job) -> None:
            known: dict[object, tuple[str, float, str] | None] = {}
            began = time.perf_counter()
            for record, iterate in _coarse_first(missing):
                job.watch()
                if time.perf_counter() - began > SECONDS:
                    break
                point = id(iterate.best.factors), id(iterate.depth and iterate.depth.best), id(iterate.view)
                if point not in known:
                    request = SceneRequest(sequence, iterate, alignment, scale=scale)
                    known[point] = error_of(find_quality(request), sequence)
                if (error := known[point]) is not None:
                    job.report((record, error))

        def resume_later() -> None:
            notes.complete = -1

        job = Job(compute, failed=self.failed)
        job.found.connect(lambda found: notes.add(*found))
        job.cancelled.connect(resume_later)
        self._jobs.start(job)

    def _give_way(self, run: Run) -> None:
        """Stop computing while a run is under way: what follows a hand needs the processors."""
        if run.state is RunState.RUNNING:
            self._jobs.cancel()

    def _on_job_ended(self) -> None:
        if not self._over:
            self.changed.emit()


def error_of(quality: Quality, sequence: Sequence) -> tuple[str, float, str] | None:
    """Return the name, the value and the unit of the error of a reconstruction; None where it has none."""
    if quality.error is not None:
        return TRUTH, quality.error, quality.unit
    if quality.held_out is not None and sequence.truth is None:
        return HELD_OUT, quality.held_out, sequence.units
    return None


def _has_error(run: Run, iterate: Iterate) -> bool:
    """Return whether snapshots of a run may have an error at all."""
    return run.sequence.truth is not None or iterate.settings.hide is not None


def _coarse_first(moments: list[tuple[int, Iterate]]) -> Iterator[tuple[int, Iterate]]:
    """Yield the ends, then what halves the gaps between those before."""
    step, seen = 1 << max(len(moments) - 1, 0).bit_length(), set()
    while step:
        for place in [*range(0, len(moments), step), len(moments) - 1]:
            if place not in seen:
                seen.add(place)
                yield moments[place]
        step //= 2
