"""The errors over all frames of the drawn reconstruction, and those of the other runs.

While a run is active they are published a few times per second: the panels that show them take as long to
draw as the picture. Curves and numbers are published in separate events, so that the event loop can handle
others between them. The errors of runs that are not shown are computed one by one in a thread.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from core import Alignment
from nrsfm_gui.engine.jobs import Job, Jobs
from nrsfm_gui.engine.throttle import SERIES_MILLISECONDS, Debounce, Throttle
from nrsfm_gui.model.session import suited_mirror
from nrsfm_gui.scene.sequence_errors import SceneRequest, find_quality

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nrsfm_gui.model.run import Run
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.scene.sequence_errors import Picture
    from nrsfm_gui.scene.summaries import Quality


class Qualities(QObject):
    """The errors of runs, computed on request.

    Signals
    -------
    found()
        requested errors are known now.
    failed(str, str)
        a sentence and the traceback of a defect.
    """

    found = pyqtSignal()
    failed = pyqtSignal(str, str)

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
            return known[1]
        if compute:
            self._asked[run] = request
            self._start_next()
        return None if exact or known is None or known[0].alignment != alignment else known[1]

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
    """Publishes the errors of the newest picture, and caches those of runs.

    Signals
    -------
    series_changed(ErrorSeries or None)
        errors of all frames, for the timeline.
    quality_changed()
        numbers over all frames were computed anew.
    failed(str, str)
        a sentence and the traceback of a defect.
    """

    series_changed = pyqtSignal(object)
    quality_changed = pyqtSignal()
    failed = pyqtSignal(str, str)

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._newest: tuple[Picture, Run | None] | None = None
        self._published: Picture | None = None
        self._qualities = Qualities(self)
        self._qualities.found.connect(self.quality_changed)
        self._qualities.failed.connect(self.failed)
        self._series = Throttle(self._publish, self, milliseconds=SERIES_MILLISECONDS)
        self._numbers = Debounce(self.quality_changed.emit, 0, self)

    def publish(self, picture: Picture, run: Run | None, *, at_once: bool = False) -> None:
        """Publish the errors of a picture, now or after a pause.

        Parameters
        ----------
        picture
            the newest.
        run
            the run whose newest point it was made for, None where it shows another.
        at_once
            before returning, without a pause.
        """
        self._newest = picture, run
        shown = self._session.shown
        if picture is self._published:
            return
        if shown is not None and shown.state.alive and not at_once:
            self._series.request()
            return
        self._series.run()
        if at_once:
            self._numbers.cancel()
            self.quality_changed.emit()

    def of_picture(self, picture: Picture | None) -> Quality | None:
        """Return the errors of the shown reconstruction, or, until they are known, those before."""
        session = self._session
        if picture is None or session.seen is None or picture.of.sequence is not session.sequence:
            return None
        return picture.quality if picture.of.alignment == session.alignment else None

    def of_run(self, run: Run, *, exact: bool = False) -> Quality | None:
        """Return the errors of a run at its end, under the session's alignment; None if not known yet.

        Those of an earlier point are returned meanwhile, unless `exact`.
        """
        session = self._session
        seen = run is session.shown and session.newest_seen  # published with its picture
        compute = not run.state.alive and not seen
        alignment, scale = session.alignment, session.settings.scale
        if run not in session.runs:  # of a sequence that was left: as it is shown when it is opened again
            alignment, scale = Alignment(mirror=suited_mirror(run.sequence, run.settings)), run.settings.scale
        return self._qualities.of(run, alignment, compute=compute, exact=exact, scale=scale)

    def forget_runs(self) -> None:
        """Drop the errors of runs that were deleted."""
        self._qualities.forget_others(
            run for _sequence, runs, _shown in self._session.everything() for run in runs
        )

    def shut_down(self) -> None:
        """Wait for running jobs, and publish no more."""
        self._series.cancel()
        self._numbers.cancel()
        self._qualities.shut_down()

    def _publish(self) -> None:
        assert self._newest is not None  # it is what is to be published
        picture, run = self._newest
        if picture is not self._published:
            self._published = picture
            self._store(picture, run)
            self.series_changed.emit(picture.series)
            self._numbers.request()

    def _store(self, picture: Picture, run: Run | None) -> None:
        """Store the errors of a picture for its run, which need not be the shown one any more.

        Where a run that continues another one was added, the picture is of both.
        """
        shown = self._session.shown
        if picture.of.iterate is None:
            return
        both = shown is not None and replace(picture.of, iterate=shown.last).shapes_as(picture.of)
        for each in (run, shown if both else None):
            if each is not None:
                self._qualities.set_known(each, picture.of, picture.quality)
