"""From the session to the views: shapes once per iterate, a scene once per frame, at display rate.

A change only starts a timer, and the timer draws the state of the session. So a thousand iterates between
two pictures cost one picture. The shapes of all frames take tens of milliseconds for a large sequence: they
are computed in the background. Until then, the frame that is shown is computed alone where its geometry is
known, so that it follows a drag of a parameter or of the iteration. The other frames are computed when the
drag has ended.

A picture is published with the numbers that are of it, in one event (`RunErrors.publish`): so the views and
the numbers are of the same incumbent at any moment. A frame that is ahead of all others has no numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from core import Iterate, Sequence, Settings
from core.data import connect
from core.foundation import Watch, do_nothing
from nrsfm_gui.engine.jobs import Job, Jobs, Order
from nrsfm_gui.engine.throttle import (
    DRAG_MILLISECONDS,
    DRAG_RESTS,
    FRAME_MILLISECONDS,
    READING_MILLISECONDS,
    REFRESH_MILLISECONDS,
    SERIES_MILLISECONDS,
)
from nrsfm_gui.model.appearance import Appearance
from nrsfm_gui.model.mesh import Triangulation, file_gives_mesh
from nrsfm_gui.model.names import numbered_title
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.session import Session
from nrsfm_gui.scene.comparison import RunComparison
from nrsfm_gui.scene.incumbent import Incumbent, incumbent_of
from nrsfm_gui.scene.run_errors import RunErrors
from nrsfm_gui.scene.scene import Scene, build_scene
from nrsfm_gui.scene.sequence_errors import FrameAhead, Picture, SceneRequest, frame_ahead, make_picture
from nrsfm_gui.scene.shapes import Shapes

_Meshes = WeakKeyDictionary[Sequence | Run, tuple[Iterate | None, Triangulation]]  # with the end of a run

REST = 4.0  # times the duration of the last computation, to leave the processor to the solver
DRAWN_SETTINGS = ("hide", "scale", "upright")  # which a picture follows before a run has them
MANY = 200  # points above which segments cost too much to paint without OpenGL while a run goes on


class _SceneTarget(Protocol):
    """A view of the scene."""

    def set_scene(self, scene: Scene) -> None: ...
    def repaint(self) -> None: ...


class Display(QObject):
    """Computes the scene, and sets it in the views."""

    scene_shown = pyqtSignal(object)  # the views have it now
    refreshed = pyqtSignal()  # the present state of the session was drawn, because it is needed at once

    def __init__(
        self, session: Session, targets: tuple[_SceneTarget, ...], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._picture: Picture | None = None
        self._pictured: tuple[Run | None, bool] = None, False  # the run that it is of, whether its newest
        self._ahead: FrameAhead | None = None  # of the picture
        self.errors = RunErrors(session, self)
        self._connections = Connections(session, self)
        self._connections.found.connect(self._schedule)
        self._jobs = Jobs(self)
        self._jobs.ended.connect(self._schedule)
        self._next_picture_at = 0.0  # when the next picture may be computed
        self._next_numbers_at = 0.0  # when numbers of the same picture may be published again
        self._slow = False  # whether pictures follow each other too slowly to show what happens
        self._moved_at = -DRAG_RESTS  # time of the last change of a drag
        self._settings = session.settings
        self._over = False  # whether the window closes
        self.scene: Scene | None = None
        self.without_opengl = False
        self._drawn: tuple[object, ...] = ()  # what the present scene was built of
        self._drawn_at = 0.0  # when
        self._first, *self._others = targets
        # No Throttle: how long drawing waits depends on whether parameters are dragged, and on the picture.
        self._timers = self._timer, self._later, self._stage = QTimer(self), QTimer(self), QTimer(self)
        for timer, called in zip(self._timers, (self._tick, self._tick, self._send_to_others), strict=True):
            timer.setSingleShot(True)
            timer.timeout.connect(called)
        for signal in (
            session.sequence_changed, session.shown_changed, session.frame_changed, session.selection_changed,
            session.point_changed, session.hidden_changed, session.alignment_changed,
            session.compared_changed, session.compare_mode_changed, session.appearance_changed,
        ):  # fmt: skip
            signal.connect(self._schedule)
        session.run_changed.connect(self._on_run_changed)
        session.settings_changed.connect(self._on_settings_changed)
        session.moment_changed.connect(self._on_moment_changed)

    @property
    def drawn(self) -> Iterate | None:
        """The iterate that the present scene is of."""
        if self.scene is None or self._picture is None:
            return None
        if self._ahead is not None and self.scene.ahead:
            return self._ahead.request.iterate
        return self._picture.of.iterate

    @property
    def together(self) -> RunComparison | None:
        """The compared run in the coordinates of the one that is shown, as far as it is known yet."""
        return None if self._picture is None else self._picture.together

    @property
    def compared_incumbent(self) -> Incumbent | None:
        """The compared run by itself, under the session's alignment, as far as it is known yet."""
        run, beside = self._session.compared, None if self._picture is None else self._picture.compared
        if run is None or beside is None or beside.of.iterate is None:
            return None
        newest = beside.of.iterate is run.last
        return incumbent_of(run, beside.of.iterate, beside.quality, newest=newest)

    @property
    def found_mesh(self) -> Triangulation | None:
        """The mesh that was found in the shapes of what is shown, as far as it is known yet."""
        session = self._session
        return None if session.sequence is None else self._connections.of(session.sequence, session.shown)

    def refresh(self) -> None:
        """Draw the session as it is now, before returning."""
        request = self._scene_request()
        if request is not None:
            if self._picture is None or not self._picture.of.same_as(request):
                self._picture, self._pictured = make_picture(request, self._picture), self._subject
            self._draw()
            self._publish()
        self.refreshed.emit()

    def finish(self) -> None:
        """Draw the session as it is now before returning, with a mesh that has still to be found."""
        session = self._session
        if session.sequence is not None:
            self._connections.of(session.sequence, session.shown, at_once=True)
        self.refresh()

    def scenes(self) -> Callable[[int], Scene]:
        """Return a function that gives every frame as it is drawn now; later changes do not affect it."""
        self.finish()
        assert self._picture is not None  # the callers have opened a sequence
        return self._scenes(self._picture, None, self._session.appearance, self.found_mesh)

    def shut_down(self) -> None:
        """Wait for what is being computed; nothing is drawn any more."""
        self._over = True
        for timer in self._timers:
            timer.stop()
        self.errors.shut_down()
        self._connections.jobs.shut_down()
        self._jobs.wait()

    # -- at display rate ------------------------------------------------------------------------------------

    def _schedule(self, *_: object) -> None:
        rested = time.perf_counter() - self._drawn_at > REFRESH_MILLISECONDS / 1000
        delay = 0 if self._is_dragging or rested else REFRESH_MILLISECONDS
        if self._over:
            return
        if not self._timer.isActive() or delay < self._timer.remainingTime():
            self._timer.start(delay)

    def _on_run_changed(self, _run: Run) -> None:
        seen, drawn = self._session.seen, self.drawn
        if self._is_dragging and seen is not None and (drawn is None or seen.settings is not drawn.settings):
            self._timer.stop()
            self._tick()  # a timer has to wait for the events of the mouse
        elif not self._timer.isActive():
            self._timer.start(DRAG_MILLISECONDS if self._is_dragging else REFRESH_MILLISECONDS)

    def _on_settings_changed(self, settings: Settings) -> None:
        self._moved_at = time.perf_counter()
        before, self._settings = self._settings, settings
        if any(getattr(settings, name) != getattr(before, name) for name in DRAWN_SETTINGS):
            self._schedule()

    def _on_moment_changed(self, *_: object) -> None:
        self._moved_at = time.perf_counter()
        self._schedule()

    @property
    def _is_dragging(self) -> bool:
        return time.perf_counter() - self._moved_at < DRAG_RESTS

    def _scene_request(self) -> SceneRequest | None:
        session = self._session
        if session.sequence is None:
            return None
        scale, upright = session.settings.scale, session.settings.upright
        return SceneRequest(
            session.sequence, session.seen, session.alignment, session.seen_compared, scale, upright
        )

    @property
    def _subject(self) -> tuple[Run | None, bool]:
        """The run that what is looked at is of, or that it goes on from; whether its newest."""
        session, run = self._session, self._session.shown
        numbered = {other.number: other for other in session.runs}
        while run is not None and not len(run.history) and run.warm_from in numbered:
            run = numbered[run.warm_from]
        return run, session.moment is None and run is not None and session.seen is run.last

    def _tick(self) -> None:
        request, picture = self._scene_request(), self._picture
        if request is None or self._over:
            return
        if picture is None or picture.of.sequence is not request.sequence:
            self.refresh()
            return
        if not picture.of.same_as(request):
            if not self._jobs:
                self._compute(request, picture)
        elif self._wait_until(self._next_numbers_at):
            self._publish()
        self._draw()

    def _wait_until(self, due: float) -> bool:
        """Return whether it is time already; else return here when it is."""
        now = time.perf_counter()
        if now < due:
            self._later.start(max(1, round(1000 * (due - now))))
        return now >= due

    def _compute(self, request: SceneRequest, before: Picture) -> None:
        """Compute the picture in the background, unless one frame is enough at present."""
        ahead = self._frame_ahead() is not None
        if not self._wait_until(max(self._next_picture_at, self._moved_at + DRAG_RESTS if ahead else 0.0)):
            return
        done = partial(self._on_picture_made, time.perf_counter(), self._subject)
        fail = self._session.notifier.fail
        self._jobs.start(Job(lambda _job: make_picture(request, before), done=done, failed=fail))

    def _on_picture_made(self, began: float, subject: tuple[Run | None, bool], picture: Picture) -> None:
        request = self._scene_request()
        if self._over or request is None or picture.of.sequence is not request.sequence:
            return
        if self._picture is not None and self._picture.of.same_as(request):
            return  # `refresh` was faster
        self._picture, self._pictured = picture, subject
        # The next one is computed after a rest.
        now = time.perf_counter()
        rest, run = REST * (now - began), subject[0]
        self._slow = rest > SERIES_MILLISECONDS / 1000
        if run is not None and run.state.alive and not self._is_dragging:
            rest = max(rest, READING_MILLISECONDS / 1000)
        self._next_picture_at = now + rest
        self._draw()
        self._publish()

    def _publish(self) -> None:
        """Publish the numbers of the picture; the caller has drawn it in the same event."""
        picture, request = self._picture, self._scene_request()
        assert picture is not None  # callers made one
        assert request is not None  # of this sequence
        of, (run, newest) = picture.of, self._pictured
        if of.shapes_as(request):
            of, (run, newest) = request, self._subject  # of a newer record with the same best point
        if run is None or of.iterate is None:
            self.errors.clear()
        else:
            self.errors.publish(run, of, picture, newest=newest)
        self._next_numbers_at = time.perf_counter() + READING_MILLISECONDS / 1000

    def _frame_ahead(self) -> Shapes | None:
        """Return the shown frame computed again, where the picture is out of date."""
        picture, request, frame = self._picture, self._scene_request(), self._session.frame
        if picture is None or request is None or not request.follows(picture.of):
            return None
        if not (self._is_dragging or self._slow or self._ahead is not None):
            return None  # the next picture has numbers, too
        if self._ahead is None or not self._ahead.serves(picture, request, frame):
            assert request.iterate is not None  # what follows has one
            shapes = frame_ahead(picture.shapes, request.sequence, request.iterate, frame)
            self._ahead = None if shapes is None else FrameAhead(picture, request, frame, shapes)
        return None if self._ahead is None else self._ahead.shapes

    def _draw(self) -> None:
        picture, session = self._picture, self._session
        assert picture is not None  # callers made one
        live = session.shown is not None and session.shown.state is RunState.RUNNING
        appearance = session.appearance
        if live and self.without_opengl:
            # What costs most to paint waits until the run has ended or is held.
            many = picture.of.sequence.point_count > MANY
            left_out = {"faces", "edges", "residuals"} if many else {"faces"}
            appearance = appearance.changed(layers=appearance.layers - left_out)
        ahead = self._frame_ahead()
        selected = session.point, session.selection, session.hidden, session.settings.hide
        found = self._connections.of(picture.of.sequence, session.shown)
        key = (picture, ahead, session.frame, selected, appearance, session.compare_mode, found)
        if key == self._drawn:
            return
        self._drawn, self._drawn_at = key, time.perf_counter()
        self.scene = self._scenes(picture, ahead, appearance, found)(session.frame)
        if ahead is None:
            self._ahead = None
        self._send(live=live)
        self.scene_shown.emit(self.scene)

    def _send(self, *, live: bool) -> None:
        """Show the scene in the views before returning; in the others soon, where a run is active."""
        assert self.scene is not None  # the caller has built it
        self._first.set_scene(self.scene)  # in the event in which its numbers are published
        if not live:
            self._stage.stop()
            self._send_to_others()
            return
        if self._is_dragging:
            self._first.repaint()  # before pending mouse events are processed
        if not self._stage.isActive():
            self._stage.start(DRAG_MILLISECONDS if self._is_dragging else FRAME_MILLISECONDS)

    def _send_to_others(self) -> None:
        assert self.scene is not None  # the first view has it
        for view in self._others:
            view.set_scene(self.scene)

    def _scenes(
        self, picture: Picture, ahead: Shapes | None, appearance: Appearance, found: Triangulation | None
    ) -> Callable[[int], Scene]:
        session = self._session
        # A run that is shown in a view of its own is not drawn in that of the first.
        together = picture.together if session.compare_mode != "side" else None
        if together is not None and appearance.color_by == "difference":
            # What lies nearly in the same place would cover the colors.
            appearance = appearance.changed(layers=appearance.layers - {"truth", "residuals"})
        point, selection = session.point, session.selection
        hidden, excluded = session.hidden, session.excluded
        run = None if together is None else session.compared
        name = "" if run is None else numbered_title(run, session.compared_solution)
        return lambda frame: build_scene(
            picture.of.sequence,
            picture.shapes,
            frame=frame,
            selected=point,
            selection=selection,
            hidden=hidden,
            other=None if together is None else together.points[frame].T,
            other_name=name,
            appearance=appearance,
            excluded=excluded,
            ahead=ahead,
            found=found,
        )


class Connections(QObject):
    """Edges and triangles found in a thread where a file gives none: of the truth, and of ended runs."""

    found = pyqtSignal()  # a mesh that was asked for is known now

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._known: _Meshes = WeakKeyDictionary()
        self._asked: tuple[Sequence | Run, Iterate | None] | None = None
        self.jobs = Jobs(self, Order.NEWEST)

    def of(self, sequence: Sequence, run: Run | None, *, at_once: bool = False) -> Triangulation | None:
        """Return the mesh of a run, or of the truth; a missing one is found later, or `at_once`."""
        if file_gives_mesh(sequence):
            return None
        ended = run is not None and run.sequence is sequence and not run.state.alive and run.last is not None
        wanted: tuple[Sequence | Run, Iterate | None] = (run, run.last) if run and ended else (sequence, None)
        known = self._known.get(wanted[0])
        # While parameters are dragged, a run ends many times: its first mesh is kept.
        if known is None or (known[0] is not wanted[1] and not self._session.live):
            if at_once:
                self._known[wanted[0]] = wanted[1], _find(sequence, wanted[1])
            elif self._asked != wanted:
                self._start(sequence, *wanted)
        known = (None if run is None else self._known.get(run)) or self._known.get(sequence)
        return None if known is None else known[1]

    def _start(self, sequence: Sequence, owner: Sequence | Run, end: Iterate | None) -> None:
        self._asked = owner, end

        def note(mesh: Triangulation) -> None:
            self._known[owner] = end, mesh
            self.found.emit()

        fail = self._session.notifier.fail
        self.jobs.start(Job(lambda job: _find(sequence, end, job.watch), done=note, failed=fail))


def _find(sequence: Sequence, end: Iterate | None, watch: Watch = do_nothing) -> Triangulation:
    """Return the mesh of an end; of the truth where that has no shape of a scene, or where there is none."""
    points = None if sequence.truth is None else sequence.truth.points
    if end is not None:
        geometry = end.geometry
        points = geometry.points if geometry.figures.get("metric", True) else points
    found = connect(np.zeros((0, 3, sequence.point_count)) if points is None else points, watch)
    return Triangulation(found.faces, found.edges, sequence.point_count, "found in the shapes")
