"""Showing all points, and the selected ones over the frames, in the panel of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from nrsfm_gui.engine.throttle import FRAME_MILLISECONDS, PanelUpdater
from nrsfm_gui.panels.points.points_panel import MOST_POINTS
from nrsfm_gui.text.point_table import point_courses, point_table

if TYPE_CHECKING:
    from core import Sequence
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.points.points_panel import PointsPanel
    from nrsfm_gui.scene.display import Display
    from nrsfm_gui.scene.scene import Scene
    from nrsfm_gui.scene.shapes import Shapes


@dataclass(frozen=True)
class PointsState:
    """What the panel of points shows."""

    shapes: Shapes | None  # whose points the table lists
    hidden: frozenset[int]
    chosen: tuple[Shapes | None, tuple[int, ...], int]  # the selected points of these, and the last of them
    frame_range: tuple[int, int] | None
    frame: int


class PointsController(QObject):
    """Shows in the panel what the session has come to, as long as the panel is visible."""

    def __init__(
        self, session: Session, display: Display, panel: PointsPanel, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._display, self._panel = session, display, panel
        self._shapes: Shapes | None = None  # whose errors are known
        self._updater = PanelUpdater(
            self._resolve,
            {
                "shapes": self._show_table,
                "hidden": panel.set_hidden,
                "chosen": lambda chosen: self._show_selection(*chosen),
                "frame_range": panel.set_range,
                "frame": panel.set_frame,
            },
            self,
            milliseconds=FRAME_MILLISECONDS,
        )
        session.sequence_changed.connect(self._on_sequence_changed)
        display.scene_shown.connect(self._on_scene_shown)
        for signal in (
            session.selection_changed, session.point_changed, session.hidden_changed, session.frame_changed,
            session.frame_range_changed,
        ):  # fmt: skip
            signal.connect(self._request)
        display.refreshed.connect(self._updater.flush)
        panel.curves.export_began.connect(self._updater.run)  # the panel may be hidden
        panel.became_visible.connect(self._updater.run)
        panel.frame_requested.connect(session.set_frame)

    def _on_sequence_changed(self, _sequence: Sequence) -> None:
        self._shapes = None
        self._request()

    def _on_scene_shown(self, scene: Scene) -> None:
        if scene.shapes is not self._shapes and not scene.ahead:
            self._shapes = scene.shapes
            self._request()

    def _request(self, *_: object) -> None:
        if self._panel.isVisible():
            self._updater.request()

    def _resolve(self) -> PointsState:
        session, shapes = self._session, self._shapes
        return PointsState(
            shapes=shapes,
            hidden=session.hidden,
            chosen=(shapes, session.selection, session.point),
            frame_range=session.frame_range,
            frame=session.frame,
        )

    def _show_table(self, shapes: Shapes | None) -> None:
        sequence = self._session.sequence
        self._panel.set_table(None if shapes is None or sequence is None else point_table(sequence, shapes))

    def _show_selection(self, shapes: Shapes | None, selection: tuple[int, ...], last: int) -> None:
        """Show the selected points; of very many those that were selected last, and first by number."""
        sequence = self._session.sequence
        if shapes is None or sequence is None:
            return
        self._panel.set_selection(selection, last)
        others = [point for point in selection if point != last]
        chosen = ([last] if last >= 0 else []) + others
        self._panel.set_courses(point_courses(shapes, chosen[:MOST_POINTS]), (sequence.units, shapes.unit))
