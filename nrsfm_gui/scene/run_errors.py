"""The incumbent of the shown run with its errors over all frames, and those of the other runs.

`RunErrors.publish` is called in the event in which the views get the picture of the incumbent. Whatever shows
numbers reads the published value, so that these agree with each other and with the picture at any moment. The
errors of runs that are not shown are computed one by one in a thread.

While a run goes on, the errors that are published are noted at their records. When it is over, those of the
kept snapshots are computed in a thread, the far apart ones first, so that a run that was not looked at, or
under another alignment, has a trace too. The error is the 3-D error where there is a ground truth; else that
of the observations which the settings hide from the solver.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
from PyQt6.QtCore import QObject, pyqtSignal

from core import Alignment, Iterate, Sequence
from core.foundation import Floats, Ints
from nrsfm_gui.engine.jobs import Job, Jobs
from nrsfm_gui.model.run import Run, RunState, StoredErrors
from nrsfm_gui.model.session import Session, suited_mirror
from nrsfm_gui.scene.incumbent import Incumbent, Quality, incumbent_of
from nrsfm_gui.scene.scene import ErrorSeries
from nrsfm_gui.scene.sequence_errors import Picture, SceneRequest, find_quality

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

    errors: dict[int, float] = field(default_factory=dict)  # by record
    complete: int = -1  # length of the history for which snapshots were computed
    trace: ErrorTrace | None = None  # of these errors, until there are others

    def add(self, record: int, error: float) -> None:
        if self.errors.get(record) == error:
            return
        self.errors[record], self.trace = error, None
        if len(self.errors) > MOST:
            kept = sorted(self.errors)[::2]
            self.errors = {each: self.errors[each] for each in kept}


class ErrorTraces(QObject):
    """The traces of all runs of a session."""

    changed = pyqtSignal()  # there are more errors

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        # By run, and by alignment and scale.
        self._notes: WeakKeyDictionary[Run, dict[tuple[Alignment, str | None], _Notes]] = WeakKeyDictionary()
        self._jobs = Jobs(self)
        self._jobs.ended.connect(self.changed)
        session.run_changed.connect(self._give_way)

    def note(self, run: Run, incumbent: Incumbent) -> None:
        """Note the error of what is published of a run, under the session's alignment."""
        error = None if incumbent.errors is None else _error_of(incumbent.errors, run.sequence)
        if error is not None and incumbent.record >= 0:
            self._notes_of(run).add(incumbent.record, error)

    def of(self, run: Run) -> ErrorTrace | None:
        """Return the trace of a run in this alignment; what is missing is found when it is over."""
        notes = self._notes_of(run)
        if not run.state.alive and notes.complete != len(run.history):
            self._complete(run, notes)
        if notes.trace is None and notes.errors:
            records = np.array(sorted(notes.errors), dtype=np.int64)
            errors = np.array([notes.errors[record] for record in records.tolist()])
            held_out, sequence = run.sequence.truth is None, run.sequence
            name, unit = (HELD_OUT, sequence.units) if held_out else (TRUTH, sequence.truth_units)
            notes.trace = ErrorTrace(name, unit, records, errors)
        return notes.trace

    def lowest_kept(self, run: Run) -> tuple[int, float] | None:
        """Return record and error of the kept moment of a run that is nearest to the truth."""
        errors = self._notes_of(run).errors
        kept = [(record, errors[record]) for record in run.snapshots.indices if record in errors]
        return min(kept, key=lambda pair: pair[1], default=None)

    def is_complete(self, run: Run) -> bool:
        """Return whether the errors at all kept moments of a run that is over are known, or begin to be."""
        self.of(run)
        return self._notes_of(run).complete == len(run.history) and not self._jobs

    def curves_of(self, run: Run) -> tuple[StoredErrors, ...]:
        """Return all errors of a run that are known."""
        return tuple(
            StoredErrors(alignment, scale, np.array(sorted(notes.errors.items())))
            for (alignment, scale), notes in self._all_notes_of(run).items()
            if notes.errors
        )

    def shut_down(self) -> None:
        """Cancel what is being computed, and start no more."""
        self._jobs.shut_down()

    def _notes_of(self, run: Run) -> _Notes:
        key = self._session.alignment, self._session.settings.scale
        return self._all_notes_of(run).setdefault(key, _Notes())

    def _all_notes_of(self, run: Run) -> dict[tuple[Alignment, str | None], _Notes]:
        """Return the errors of a run, at first those that it was stored with."""
        if run not in self._notes:
            self._notes[run] = {
                (curve.alignment, curve.scale): _Notes(
                    {int(at): error for at, error in curve.points.tolist()}
                )
                for curve in run.errors
            }
        return self._notes[run]

    def _complete(self, run: Run, notes: _Notes) -> None:
        """Compute the errors of the snapshots that have none, in a thread."""
        running = any(each.state is RunState.RUNNING for each in self._session.runs)
        if self._jobs or running:
            return
        notes.complete = len(run.history)
        moments = [run.snapshots.at(record) for record in run.snapshots.indices]
        missing = [moment for moment in moments if moment[0] not in notes.errors]
        alignment, scale, sequence = self._session.alignment, self._session.settings.scale, run.sequence
        if not missing or (sequence.truth is None and missing[-1][1].settings.hide is None):
            return  # there is nothing that an error could be of

        def compute(job: Job) -> None:
            known: dict[object, float | None] = {}
            began = time.perf_counter()
            for record, iterate in _coarse_first(missing):
                job.watch()
                if time.perf_counter() - began > SECONDS:
                    break
                point = id(iterate.best.factors), id(iterate.depth and iterate.depth.best), id(iterate.view)
                if point not in known:
                    request = SceneRequest(sequence, iterate, alignment, scale=scale)
                    known[point] = _error_of(find_quality(request), sequence)
                if (error := known[point]) is not None:
                    job.found.emit((record, error))

        def resume_later() -> None:
            notes.complete = -1

        job = Job(compute, failed=self._session.notifier.fail)
        job.found.connect(lambda found: notes.add(*found))
        job.cancelled.connect(resume_later)
        self._jobs.start(job)

    def _give_way(self, run: Run) -> None:
        """Stop computing while a run is under way: what follows a hand needs the processors."""
        if run.state is RunState.RUNNING:
            self._jobs.cancel()


def _error_of(quality: Quality, sequence: Sequence) -> float | None:
    """Return the error of a reconstruction that its trace has; None where it has none."""
    return quality.held_out if sequence.truth is None else quality.error


def _coarse_first(moments: list[tuple[int, Iterate]]) -> Iterator[tuple[int, Iterate]]:
    """Yield the ends, then what halves the gaps between those before."""
    step, seen = 1 << max(len(moments) - 1, 0).bit_length(), set()
    while step:
        for place in [*range(0, len(moments), step), len(moments) - 1]:
            if place not in seen:
                seen.add(place)
                yield moments[place]
        step //= 2


class RunErrors(QObject):
    """Publishes the incumbent of the shown run, and caches the errors of runs."""

    # The value that all numbers are of; the views have its picture when the event is over.
    incumbent_changed = pyqtSignal(object)
    series_changed = pyqtSignal(object)
    found = pyqtSignal()  # errors of runs that are not shown are known now

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self.incumbent: Incumbent | None = None
        self._run: Run | None = None  # that it is of
        self.series: tuple[ErrorSeries, ...] = ()  # kinds of errors of all frames, for the timeline
        # Numbers only: the pictures of all runs would be large.
        self._known: WeakKeyDictionary[Run, tuple[SceneRequest, Quality]] = WeakKeyDictionary()
        self._asked: dict[Run, SceneRequest] = {}  # in their order
        self._jobs = Jobs(self)
        self._jobs.ended.connect(self._on_job_ended)
        self.traces = ErrorTraces(session, self)
        session.sequence_changed.connect(self.clear)
        session.shown_changed.connect(self._on_shown_changed)

    def publish(self, run: Run, request: SceneRequest, picture: Picture, *, newest: bool) -> None:
        """Publish the incumbent of a run with the errors of its picture, before returning."""
        assert request.iterate is not None  # a run is shown
        self._run = run
        if newest:
            self._known[run] = request, picture.quality
        incumbent = incumbent_of(run, request.iterate, picture.quality, newest=newest)
        self.traces.note(run, incumbent)
        self._emit(incumbent, picture.series)

    def clear(self, *_: object) -> None:
        """Publish that no reconstruction is shown."""
        self._run = None
        self._emit(None, ())

    def of_run(self, run: Run, *, exact: bool = False) -> Incumbent | None:
        """Return the incumbent of a run, with earlier errors where it is not shown, unless `exact`."""
        session, last = self._session, run.last
        if run is self._run and self.incumbent is not None and self.incumbent.newest:
            return self.incumbent if self.incumbent.complete or not exact else None
        if last is None:
            return None
        awaited = run is session.shown and session.moment is None  # published with its picture
        alignment, scale = session.alignment, session.settings.scale
        if run not in session.runs:  # of a sequence that was left: as it is shown when it is opened again
            alignment, scale = Alignment(mirror=suited_mirror(run.sequence, run.settings)), run.settings.scale
        request, known = SceneRequest(run.sequence, last, alignment, scale=scale), self._known.get(run)
        if known is not None and known[0].measured_as(request):
            self._known[run] = known = request, known[1]  # of the newest record with this shape
        else:
            if not run.state.alive and not awaited:
                self._asked[run] = request
                self._start_next()
            if exact or (known is not None and known[0].alignment != alignment):
                known = None
        if known is not None and known[0].iterate is not None:
            return incumbent_of(run, known[0].iterate, known[1])
        if exact or (run.state.alive and (awaited or not len(run.history))):
            return None
        return incumbent_of(run, last, None)

    def find(
        self, run: Run, solutions: Mapping[str, Iterate], done: Callable[[dict[str, Quality]], object]
    ) -> None:
        """Find the errors of solutions of a run's sequence, by name, and call `done` with them later."""
        session = self._session
        requests = {
            name: SceneRequest(run.sequence, solution, session.alignment, scale=session.settings.scale)
            for name, solution in solutions.items()
        }

        def find(_job: Job) -> dict[str, Quality]:
            return {name: find_quality(request) for name, request in requests.items()}

        self._jobs.start(Job(find, done=done, failed=session.notifier.fail))

    def shut_down(self) -> None:
        """Wait for running jobs, and start no more."""
        self._jobs.shut_down()
        self.traces.shut_down()

    def _start_next(self) -> None:
        if self._jobs or not self._asked:
            return
        kept = set(self._session.all_runs)
        self._asked = {run: request for run, request in self._asked.items() if run in kept}
        if not self._asked:
            return
        run = next(iter(self._asked))
        request = self._asked.pop(run)

        def note(quality: Quality) -> None:
            self._known[run] = request, quality

        fail = self._session.notifier.fail
        self._jobs.start(Job(lambda _job: find_quality(request), done=note, failed=fail))

    def _on_job_ended(self) -> None:
        self._start_next()
        self.found.emit()

    def _emit(self, incumbent: Incumbent | None, series: tuple[ErrorSeries, ...]) -> None:
        if series is not self.series:
            self.series = series
            self.series_changed.emit(series)
        if incumbent != self.incumbent:
            self.incumbent = incumbent
            self.incumbent_changed.emit(incumbent)

    def _on_shown_changed(self, run: Run | None) -> None:
        if run is None:
            self.clear()
