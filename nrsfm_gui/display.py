"""From the session to the views: shapes once per solver update, a scene once per frame, at display rate.

Changes are only noted when they happen; a timer draws what they come to, so that a thousand updates between
two pictures cost one picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from .scene import DEFAULT_LAYERS, Scene, build_scene, build_shapes, error_series
from .summaries import Quality, quality

if TYPE_CHECKING:
    from .session import Run, Session
    from .shapes import Shapes

REFRESH_MILLISECONDS = 16
# Errors over all frames follow a running solver less often than the picture of one frame.
SERIES_EVERY = 6  # refreshes


class SceneTarget(Protocol):
    """A view of the scene."""

    def set_scene(self, scene: Scene) -> None:
        """Show a scene."""


class Display(QObject):
    """Computes what is drawn and hands it to the views.

    Signals
    -------
    scene_shown(Scene)
        the views have it now.
    series_changed(ErrorSeries or None)
        errors of all frames, for the timeline.
    quality_changed()
        numbers over all frames were computed anew.
    """

    scene_shown = pyqtSignal(object)
    series_changed = pyqtSignal(object)
    quality_changed = pyqtSignal()

    def __init__(
        self, session: Session, targets: tuple[SceneTarget, ...], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._targets = targets
        self._shapes: Shapes | None = None
        self._shapes_of: tuple[Any, ...] = ()
        self._series_of: tuple[Any, ...] | None = None
        self._qualities: dict[Run, tuple[tuple[Any, ...], Quality]] = {}
        self._skipped = 0
        self.scene: Scene | None = None
        self.layers: frozenset[str] = DEFAULT_LAYERS
        self.color_by_error = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REFRESH_MILLISECONDS)
        self._timer.timeout.connect(self.refresh)
        for signal in (
            session.sequence_changed,
            session.shown_changed,
            session.run_changed,
            session.frame_changed,
            session.point_changed,
            session.alignment_changed,
        ):
            signal.connect(self._note)
        session.runs_changed.connect(self._forget_runs)

    def set_layers(self, layers: frozenset[str]) -> None:
        """Choose what is shown: keys of `scene.LAYERS`."""
        self.layers = layers
        self._note()

    def set_color_by_error(self, by_error: bool) -> None:
        """Color points by their error instead of by their role."""
        self.color_by_error = by_error
        self._note()

    def quality_of(self, run: Run) -> Quality | None:
        """Return the errors of a run's best point under the alignment of the session."""
        if run.last is None:
            return None
        key = (run.last.best, self._session.alignment)
        known = self._qualities.get(run)
        if known is None or known[0] != key:
            if run.state.alive and run is not self._session.shown:
                return None  # it will be computed when the run has ended
            shapes = build_shapes(run.sequence, run.last, self._session.alignment)
            known = self._qualities[run] = (key, quality(shapes))
        return known[1]

    def refresh(self) -> None:
        """Draw the session as it is now."""
        self._timer.stop()
        session = self._session
        sequence = session.sequence
        if sequence is None:
            return
        run = session.shown
        last = None if run is None else run.last
        key = (sequence, None if last is None else last.best, session.alignment)
        if key != self._shapes_of:
            self._shapes = build_shapes(sequence, last, session.alignment)
            self._shapes_of = key
        assert self._shapes is not None
        self.scene = build_scene(
            sequence,
            self._shapes,
            frame=session.frame,
            selected=session.point if session.point >= 0 else None,
            color_by="error" if self.color_by_error else "role",
            layers=self.layers,
        )
        for target in self._targets:
            target.set_scene(self.scene)
        self.scene_shown.emit(self.scene)
        self._show_series(key, live=run is not None and run.state.alive)

    def _show_series(self, key: tuple[Any, ...], *, live: bool) -> None:
        if key == self._series_of:
            return
        self._skipped += 1
        if live and self._skipped < SERIES_EVERY:
            self._timer.start()  # the last update of a run that pauses is shown too
            return
        self._skipped = 0
        self._series_of = key
        assert self._shapes is not None
        run = self._session.shown
        if run is not None:
            self._qualities[run] = ((key[1], key[2]), quality(self._shapes))
        sequence = self._session.sequence
        assert sequence is not None
        self.series_changed.emit(error_series(sequence, self._shapes))
        self.quality_changed.emit()

    def _forget_runs(self) -> None:
        runs = set(self._session.runs)
        self._qualities = {run: known for run, known in self._qualities.items() if run in runs}

    def _note(self, *_: object) -> None:
        if not self._timer.isActive():
            self._timer.start()
