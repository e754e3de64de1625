"""From the session to the views: shapes once per solver update, a scene once per frame, at display rate.

Changes are only noted when they happen; a timer draws what they come to, so that a thousand updates between
two pictures cost one picture. The shapes of all frames take tens of milliseconds for a large sequence: they
are computed beside the window, and the picture is of the newest ones there are.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from .runs import RunState
from .scene import Appearance, ErrorSeries, Scene, build_scene, build_shapes, error_series
from .solver_thread import Job
from .summaries import Quality, quality

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.reconstruct import Update
    from core.sequence import Sequence

    from .runs import Run
    from .session import Session
    from .shapes import Alignment, Shapes

REFRESH_MILLISECONDS = 8  # changes that come together are drawn together
STAGE_MILLISECONDS = 30  # between two views, while a run goes on
REST = 4.0  # times the duration of the last computation: the solver needs the processor, too
MANY = 200  # points above which segments cost too much to paint without OpenGL while a run goes on
SERIES_SECONDS = 0.2  # between two pictures of the errors of all frames, while a run goes on


class SceneTarget(Protocol):
    """A view of the scene."""

    def set_scene(self, scene: Scene) -> None:
        """Show a scene."""


@dataclass(frozen=True, eq=False)
class Picture:
    """Everything about a reconstruction that is computed over all frames."""

    sequence: Sequence
    update: Update | None
    alignment: Alignment
    shapes: Shapes
    series: ErrorSeries | None
    quality: Quality

    def shows(self, sequence: Sequence, update: Update | None, alignment: Alignment) -> bool:
        """Return whether it is of these."""
        # The same point may be seen in another way at the end of a run.
        shown = (None, None) if update is None else (update.shown, update.view)
        mine = (None, None) if self.update is None else (self.update.shown, self.update.view)
        same = mine[0] is shown[0] and mine[1] is shown[1]
        return self.sequence is sequence and same and self.alignment == alignment


def make_picture(sequence: Sequence, update: Update | None, alignment: Alignment) -> Picture:
    """Compute what is drawn of a reconstruction, or of the bare sequence."""
    shapes = build_shapes(sequence, update, alignment)
    found = quality(shapes, None if update is None else update.shown.loss)
    return Picture(sequence, update, alignment, shapes, error_series(sequence, shapes), found)


class Display(QObject):
    """Computes what is drawn and hands it to the views.

    Signals
    -------
    scene_shown(Scene)
        the views have it now.
    series_changed(ErrorSeries or None)
        errors of all frames, for the timeline.
    appearance_changed(Appearance)
        another one was chosen.
    quality_changed()
        numbers over all frames were computed anew.
    failed(str, str)
        a sentence and the traceback of a defect.
    """

    scene_shown = pyqtSignal(object)
    series_changed = pyqtSignal(object)
    appearance_changed = pyqtSignal(object)
    quality_changed = pyqtSignal()
    failed = pyqtSignal(str, str)

    def __init__(
        self, session: Session, targets: tuple[SceneTarget, ...], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._targets = targets
        self._picture: Picture | None = None
        self._series_of: Picture | None = None
        self._series_at = 0.0
        self._pictures: dict[Run, Picture] = {}  # the last one of each run
        self._job: Job | None = None
        self.scene: Scene | None = None
        self.appearance = Appearance()
        self.without_opengl = False
        self._drawn: tuple[object, ...] = ()  # what the present scene was built of
        self._queue: list[SceneTarget] = []  # views that have not got the present scene yet
        self._stage = QTimer(self)
        self._stage.setSingleShot(True)
        self._stage.timeout.connect(self._draw_next)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._tick)
        for signal in (
            session.sequence_changed,
            session.shown_changed,
            session.run_changed,
            session.frame_changed,
            session.selection_changed,
            session.point_changed,
            session.hidden_changed,
            session.moment_changed,
            session.alignment_changed,
        ):
            signal.connect(self._note)
        session.runs_changed.connect(self._forget_runs)

    @property
    def layers(self) -> frozenset[str]:
        """What is shown: keys of `appearance.LAYERS`."""
        return self.appearance.layers

    def set_layers(self, layers: frozenset[str]) -> None:
        """Choose what is shown."""
        self.set_appearance(self.appearance.changed(layers=layers))

    def set_appearance(self, appearance: Appearance) -> None:
        """Choose layers, colors, trails, mesh and sizes."""
        if appearance != self.appearance:
            self.appearance = appearance
            self.appearance_changed.emit(appearance)
            self._note()

    def quality_of(self, run: Run) -> Quality | None:
        """Return the errors of a run under the session's alignment, None where they are not known yet."""
        if run.last is None:
            return None
        known = self._pictures.get(run)
        if known is not None and known.shows(run.sequence, run.last, self._session.alignment):
            return known.quality
        if run.state.alive or run is self._session.shown:
            return None if known is None or known.alignment != self._session.alignment else known.quality
        known = self._pictures[run] = make_picture(run.sequence, run.last, self._session.alignment)
        return known.quality

    def refresh(self) -> None:
        """Draw the session as it is now, before returning."""
        wanted = self._wanted()
        if wanted is not None:
            if self._picture is None or not self._picture.shows(*wanted):
                self._picture = make_picture(*wanted)
            self._draw()
            self._show_series(at_once=True)

    def scenes(self) -> Callable[[int], Scene]:
        """Return a function that gives every frame as it is drawn now, whatever changes afterwards."""
        self.refresh()
        assert self._picture is not None  # whoever asks has opened a sequence
        return self._scenes(self._picture, self.appearance)

    def _scenes(self, picture: Picture, appearance: Appearance) -> Callable[[int], Scene]:
        session = self._session
        selected = session.point if session.point >= 0 else None
        selection, hidden = session.selection, session.hidden
        return lambda frame: build_scene(
            picture.sequence,
            picture.shapes,
            frame=frame,
            selected=selected,
            selection=selection,
            hidden=hidden,
            appearance=appearance,
        )

    def shut_down(self) -> None:
        """Wait for what is being computed."""
        self._timer.stop()
        self._stage.stop()
        if self._job is not None:
            self._job.wait()

    # -- at display rate ------------------------------------------------------------------------------------

    def _note(self, *_: object) -> None:
        if not self._timer.isActive():
            self._timer.start(REFRESH_MILLISECONDS)

    def _wanted(self) -> tuple[Sequence, Update | None, Alignment] | None:
        session = self._session
        if session.sequence is None:
            return None
        return session.sequence, session.seen, session.alignment

    def _tick(self) -> None:
        wanted = self._wanted()
        if wanted is None:
            return
        picture = self._picture
        if picture is None or picture.sequence is not wanted[0]:
            self.refresh()
            return
        if not picture.shows(*wanted) and self._job is None:
            self._compute(*wanted)
        self._draw()
        self._show_series()

    def _compute(self, sequence: Sequence, update: Update | None, alignment: Alignment) -> None:
        job = self._job = Job(lambda: (time.perf_counter(), make_picture(sequence, update, alignment)), self)
        job.done.connect(self._take)
        job.failed.connect(self.failed)
        job.finished.connect(self._end_job)
        job.start()

    def _take(self, made: tuple[float, Picture]) -> None:
        began, picture = made
        if picture.sequence is self._session.sequence:
            self._picture = picture
            # Drawn at once; the next one is asked for after a rest.
            self._timer.start(max(REFRESH_MILLISECONDS, round(1000 * REST * (time.perf_counter() - began))))
            self._draw()
            self._show_series()

    def _end_job(self) -> None:
        job, self._job = self._job, None
        if job is not None:
            job.deleteLater()
        self._note()

    def _draw(self) -> None:
        picture, session = self._picture, self._session
        assert picture is not None  # callers made one
        live = session.shown is not None and session.shown.state is RunState.RUNNING
        appearance = self.appearance
        if live and self.without_opengl:
            # What costs most to paint waits until the run has ended or is held.
            left_out = {"faces", "edges", "residuals"} if picture.sequence.point_count > MANY else {"faces"}
            appearance = appearance.changed(layers=appearance.layers - left_out)
        selected = session.point, session.selection, session.hidden
        key = (picture, session.frame, selected, appearance)
        if key == self._drawn:
            return
        self._drawn = key
        self.scene = self._scenes(picture, appearance)(session.frame)
        self._queue += [target for target in self._targets if target not in self._queue]
        if not live:
            while self._queue:
                self._queue.pop(0).set_scene(self.scene)
        elif not self._stage.isActive():
            self._draw_next()
        self.scene_shown.emit(self.scene)

    def _draw_next(self) -> None:
        """Hand the scene to one view; the next one gets it a moment later, so that the window can breathe."""
        if self._queue and self.scene is not None:
            self._queue.pop(0).set_scene(self.scene)
            self._stage.start(STAGE_MILLISECONDS)

    def _show_series(self, *, at_once: bool = False) -> None:
        """Show errors and numbers of all frames: a few times a second while a run goes on, and at its end."""
        picture, run = self._picture, self._session.shown
        if picture is None or picture is self._series_of:
            return
        now = time.perf_counter()
        if run is not None and run.state.alive and now - self._series_at < SERIES_SECONDS and not at_once:
            self._note()
            return
        self._series_of, self._series_at = picture, now
        if run is not None and run.sequence is picture.sequence and picture.update is not None:
            self._pictures[run] = picture
        self.series_changed.emit(picture.series)
        self.quality_changed.emit()

    def _forget_runs(self) -> None:
        runs = set(self._session.runs)
        self._pictures = {run: known for run, known in self._pictures.items() if run in runs}
