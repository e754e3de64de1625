"""The errors over all frames of the drawn reconstruction, and those of the other runs.

While a run is active they are published a few times per second: the panels that show them take as long to
draw as the picture. Curves and numbers are published in separate events, so that the event loop can handle
others between them. The errors of runs that are not shown are computed one by one in a thread.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from nrsfm_gui.engine.jobs import Job, Jobs
from nrsfm_gui.scene.sequence_errors import Wanted, find_quality

if TYPE_CHECKING:
    from collections.abc import Iterable

    from core import Alignment
    from nrsfm_gui.model.run import Run
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.scene.sequence_errors import Picture
    from nrsfm_gui.scene.summaries import Quality

SERIES_MILLISECONDS = 300  # between two of the errors of all frames, while a run goes on


class Qualities(QObject):
    """Knows the errors of runs, and finds out those that are asked for.

    Signals
    -------
    found()
        errors that were asked for are known now.
    failed(str, str)
        a sentence and the traceback of a defect.
    """

    found = pyqtSignal()
    failed = pyqtSignal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._known: dict[Run, tuple[Wanted, Quality]] = {}  # numbers only: pictures of all would be large
        self._asked: dict[Run, Wanted] = {}  # in their order
        self._jobs = Jobs(self)
        self._jobs.ended.connect(self._end)
        self._over = False

    def note(self, run: Run, wanted: Wanted, quality: Quality) -> None:
        """Keep what is known of a run."""
        self._known[run] = wanted, quality

    def of(self, run: Run, alignment: Alignment, *, ask: bool, exact: bool = False) -> Quality | None:
        """Return the errors of a run, or those it had before; None where it had none in this alignment.

        None, too, where they are to be `exact` and only those that it had before are known. Where they are
        not known, `ask` has them computed: `found` tells.
        """
        if run.last is None:
            return None
        known, wanted = self._known.get(run), Wanted(run.sequence, run.last, alignment)
        if known is not None and known[0].shapes_as(wanted):
            return known[1]
        if ask:
            self._asked[run] = wanted
            self._go_on()
        return None if exact or known is None or known[0].alignment != alignment else known[1]

    def keep(self, runs: Iterable[Run]) -> None:
        """Forget all runs but these."""
        kept = set(runs)
        self._known = {run: known for run, known in self._known.items() if run in kept}
        self._asked = {run: wanted for run, wanted in self._asked.items() if run in kept}

    def shut_down(self) -> None:
        """Wait for what is being computed, and compute no more."""
        self._over = True
        self._jobs.wait()

    def _go_on(self) -> None:
        if self._over or self._jobs or not self._asked:
            return
        run = next(iter(self._asked))
        wanted = self._asked.pop(run)
        self._jobs.start(
            Job(
                lambda _job: find_quality(wanted),
                done=lambda quality: self.note(run, wanted, quality),
                failed=self.failed.emit,
            )
        )

    def _end(self) -> None:
        self._go_on()
        if not self._over:
            self.found.emit()


class RunErrors(QObject):
    """Tells the errors of the newest picture, and keeps what is known of the runs.

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
        self._told: Picture | None = None
        self._told_at = 0.0
        self._qualities = Qualities(self)
        self._qualities.found.connect(self.quality_changed)
        self._qualities.failed.connect(self.failed)
        self._rest, self._numbers = QTimer(self), QTimer(self)
        for timer, do in ((self._rest, self._go_on), (self._numbers, self.quality_changed.emit)):
            timer.setSingleShot(True)
            timer.timeout.connect(do)

    def tell(self, picture: Picture, run: Run | None, *, at_once: bool = False) -> None:
        """Tell the errors of a picture, now or after a rest.

        Parameters
        ----------
        picture
            the newest.
        run
            the run whose newest point it was made for, None where it shows another.
        at_once
            before returning, whatever was told a moment ago.
        """
        self._newest = picture, run
        shown = self._session.shown
        if picture is self._told:
            return
        rest = SERIES_MILLISECONDS - round(1000 * (time.perf_counter() - self._told_at))
        if shown is not None and shown.state.alive and rest > 0 and not at_once:
            if not self._rest.isActive():
                self._rest.start(rest)
            return
        self._told, self._told_at = picture, time.perf_counter()
        self._note(picture, run)
        self.series_changed.emit(picture.series)
        if at_once:
            self.quality_changed.emit()
        else:
            self._numbers.start()

    def of_picture(self, picture: Picture | None) -> Quality | None:
        """Return the errors of what is looked at, or, until they are known, of what was before."""
        session = self._session
        if picture is None or session.seen is None or picture.of.sequence is not session.sequence:
            return None
        return picture.quality if picture.of.alignment == session.alignment else None

    def of_run(self, run: Run, *, exact: bool = False) -> Quality | None:
        """Return the errors of a run at its end, under the session's alignment; None if not known yet.

        Those of an earlier point stand for them meanwhile, unless they are to be `exact`.
        """
        seen = run is self._session.shown and self._session.moment is None  # published with its picture
        ask = not run.state.alive and not seen
        return self._qualities.of(run, self._session.alignment, ask=ask, exact=exact)

    def forget_runs(self) -> None:
        """Keep what is known of the runs that there still are."""
        self._qualities.keep(self._session.runs)

    def shut_down(self) -> None:
        """Wait for what is being computed, and tell no more."""
        for timer in (self._rest, self._numbers):
            timer.stop()
        self._qualities.shut_down()

    def _go_on(self) -> None:
        if self._newest is not None:
            self.tell(*self._newest)

    def _note(self, picture: Picture, run: Run | None) -> None:
        """Keep the errors of a picture for its run, which need not be the one that is shown by now.

        Where a run was added that goes on from another, the picture is of both.
        """
        shown = self._session.shown
        if picture.of.update is None:
            return
        both = shown is not None and replace(picture.of, update=shown.last).shapes_as(picture.of)
        for each in (run, shown if both else None):
            if each is not None:
                self._qualities.note(each, picture.of, picture.quality)
