"""The incumbent of the shown run with its errors over all frames, and those of the other runs.

`RunErrors.publish` is called in the event in which the views get the picture of the incumbent. Whatever shows
numbers reads the published value, so that these agree with each other and with the picture at any moment. The
errors of runs that are not shown are computed one by one in a thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from core import Alignment
from nrsfm_gui.engine.jobs import Job, Jobs
from nrsfm_gui.model.session import suited_mirror
from nrsfm_gui.scene.error_traces import ErrorTraces
from nrsfm_gui.scene.incumbent import incumbent_of
from nrsfm_gui.scene.sequence_errors import SceneRequest, find_quality

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from core import Iterate
    from nrsfm_gui.model.run import Run
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.scene.incumbent import Incumbent
    from nrsfm_gui.scene.quality import Quality
    from nrsfm_gui.scene.scene import ErrorSeries


class Qualities(QObject):
    """The errors of runs, computed on request."""

    found = pyqtSignal()  # requested errors are known now
    failed = pyqtSignal(str, str)  # a sentence and the traceback of a defect

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        # Numbers only: the pictures of all runs would be large.
        self._known: dict[Run, tuple[SceneRequest, Quality]] = {}
        self._asked: dict[Run, SceneRequest] = {}  # in their order
        self._jobs = Jobs(self)
        self._jobs.ended.connect(self._on_job_finished)
        self._over = False

    def set_known(self, run: Run, request: SceneRequest, quality: Quality) -> None:
        """Set the errors of a run."""
        self._known[run] = request, quality

    def of(
        self,
        run: Run,
        alignment: Alignment,
        *,
        compute: bool,
        exact: bool = False,
        scale: str | None = None,
    ) -> Quality | None:
        """Return the errors of a run, or those it had before; None where it had none in this alignment.

        None, too, where they are to be `exact` and only those that it had before are known. Where they are
        not known, `compute` starts to compute them and `found` is emitted later.
        """
        if run.last is None:
            return None
        known, request = self._known.get(run), SceneRequest(run.sequence, run.last, alignment, scale=scale)
        if known is not None and known[0].shapes_as(request):
            self._known[run] = request, known[1]  # of the newest record with this shape
            return known[1]
        if compute:
            self._asked[run] = request
            self._start_next()
        return None if exact or known is None or known[0].alignment != alignment else known[1]

    def point(self, run: Run) -> Iterate | None:
        """Return the iterate that the errors of a run are of, None where there are none."""
        known = self._known.get(run)
        return None if known is None else known[0].iterate

    def forget_others(self, runs: Iterable[Run]) -> None:
        """Forget all runs but these."""
        kept = set(runs)
        self._known = {run: known for run, known in self._known.items() if run in kept}
        self._asked = {run: request for run, request in self._asked.items() if run in kept}

    def shut_down(self) -> None:
        """Wait for running jobs, and start no more."""
        self._over = True
        self._jobs.wait()

    def _start_next(self) -> None:
        if self._over or self._jobs or not self._asked:
            return
        run = next(iter(self._asked))
        request = self._asked.pop(run)
        self._jobs.start(
            Job(
                lambda _job: find_quality(request),
                done=lambda quality: self.set_known(run, request, quality),
                failed=self.failed,
            )
        )

    def _on_job_finished(self) -> None:
        self._start_next()
        if not self._over:
            self.found.emit()


class RunErrors(QObject):
    """Publishes the incumbent of the shown run, and caches the errors of runs."""

    # The value that all numbers are of; the views have its picture when the event is over.
    incumbent_changed = pyqtSignal(object)
    series_changed = pyqtSignal(object)  # its errors of all frames, for the timeline
    found = pyqtSignal()  # errors of runs that are not shown are known now
    failed = pyqtSignal(str, str)  # a sentence and the traceback of a defect

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self.incumbent: Incumbent | None = None
        self._run: Run | None = None  # that it is of
        self._series: ErrorSeries | None = None
        self._qualities = Qualities(self)
        self._qualities.found.connect(self.found)
        self._qualities.failed.connect(self.failed)
        self._jobs = Jobs(self)
        self.traces = ErrorTraces(session, self)
        self.traces.failed.connect(self.failed)
        session.sequence_changed.connect(self.clear)
        session.shown_changed.connect(self._on_shown_changed)

    def publish(
        self,
        run: Run,
        request: SceneRequest,
        quality: Quality,
        series: ErrorSeries | None,
        *,
        newest: bool,
    ) -> None:
        """Publish the incumbent of a run with its errors, before returning."""
        assert request.iterate is not None  # a run is shown
        self._run = run
        if newest:
            self._qualities.set_known(run, request, quality)
        incumbent = incumbent_of(run, request.iterate, quality, newest=newest)
        self.traces.note(run, incumbent)
        self._emit(incumbent, series)

    def clear(self, *_: object) -> None:
        """Publish that no reconstruction is shown."""
        self._run = None
        self._emit(None, None)

    def of_run(self, run: Run, *, exact: bool = False) -> Incumbent | None:
        """Return the incumbent of a run under the session's alignment; None where it has no point yet.

        That of the shown run is the published one. Of another run it is the one whose errors are known, be
        it that of an earlier record, unless `exact`; where none are known they are computed, and the one
        without errors is returned.
        """
        session = self._session
        if run is self._run and self.incumbent is not None and self.incumbent.newest:
            return self.incumbent if self.incumbent.complete or not exact else None
        awaited = run is session.shown and session.newest_seen  # published with its picture
        compute = not run.state.alive and not awaited
        alignment, scale = session.alignment, session.settings.scale
        if run not in session.runs:  # of a sequence that was left: as it is shown when it is opened again
            alignment, scale = Alignment(mirror=suited_mirror(run.sequence, run.settings)), run.settings.scale
        quality = self._qualities.of(run, alignment, compute=compute, exact=exact, scale=scale)
        point = self._qualities.point(run)
        if quality is not None and point is not None:
            return incumbent_of(run, point, quality)
        if exact or run.last is None or (run.state.alive and (awaited or not len(run.history))):
            return None
        return incumbent_of(run, run.last, None)

    def find(
        self, run: Run, solutions: Mapping[str, Iterate], done: Callable[[dict[str, Quality]], object]
    ) -> None:
        """Find the errors of solutions of a run's sequence, by their names, under the session's alignment.

        They are found in a thread; `done` is called with them later.
        """
        session = self._session
        requests = {
            name: SceneRequest(run.sequence, solution, session.alignment, scale=session.settings.scale)
            for name, solution in solutions.items()
        }

        def find(_job: Job) -> dict[str, Quality]:
            return {name: find_quality(request) for name, request in requests.items()}

        self._jobs.start(Job(find, done=done, failed=self.failed))

    def forget_runs(self) -> None:
        """Drop the errors of runs that were deleted."""
        kept = {run for _sequence, runs, _shown in self._session.everything() for run in runs}
        self._qualities.forget_others(kept)
        self.traces.forget_others(kept)

    def shut_down(self) -> None:
        """Wait for running jobs, and publish no more."""
        self._qualities.shut_down()
        self._jobs.wait()
        self.traces.shut_down()

    def _emit(self, incumbent: Incumbent | None, series: ErrorSeries | None) -> None:
        if series is not self._series:
            self._series = series
            self.series_changed.emit(series)
        if incumbent != self.incumbent:
            self.incumbent = incumbent
            self.incumbent_changed.emit(incumbent)

    def _on_shown_changed(self, run: Run | None) -> None:
        if run is None:
            self.clear()
