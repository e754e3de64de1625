"""Showing all points, and the selected ones over the frames, in the panel of points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from nrsfm_gui.panels.points.points_curves import MOST_POINTS
from nrsfm_gui.text.point_table import point_courses, point_table

if TYPE_CHECKING:
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.points.points_panel import PointsPanel
    from nrsfm_gui.scene.display import Display
    from nrsfm_gui.scene.shapes import Shapes


class PointsController(QObject):
    """Shows in the panel what the session has come to, as long as the panel is visible."""

    def __init__(
        self, session: Session, display: Display, panel: PointsPanel, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._display, self._panel = session, display, panel
        self._shapes: Shapes | None = None  # that the table shows
        self._curves_of: tuple[object, ...] = ()  # what the curves show
        display.errors.series_changed.connect(lambda _series: self._show())
        session.sequence_changed.connect(lambda _sequence: self._forget())
        session.selection_changed.connect(lambda _points: self._show_selection())
        session.point_changed.connect(lambda _point: self._show_selection())
        session.hidden_changed.connect(panel.set_hidden)
        session.frame_changed.connect(lambda _frame: self._show_frame())
        session.frame_range_changed.connect(panel.set_range)
        panel.became_visible.connect(self._show)
        panel.frame_requested.connect(session.set_frame)

    def _forget(self) -> None:
        self._shapes, self._curves_of = None, ()
        self._panel.set_table(None)

    def _show(self) -> None:
        scene, sequence = self._display.scene, self._session.sequence
        if scene is None or sequence is None or not self._panel.isVisible():
            return
        if scene.shapes is not self._shapes:
            self._shapes = scene.shapes
            self._panel.set_table(point_table(sequence, scene.shapes))
        self._show_selection()
        self._show_frame()

    def _show_selection(self) -> None:
        """Show the selected points; of very many those that were selected last, and first by number."""
        if not self._panel.isVisible() or self._shapes is None:
            return
        session = self._session
        content = self._shapes, session.selection, session.point
        if content == self._curves_of:
            return  # the same change is told of twice: as a selection, and as the point that was chosen last
        self._curves_of = content
        self._panel.set_selection(session.selection, session.point)
        others = [point for point in session.selection if point != session.point]
        chosen = ([session.point] if session.point >= 0 else []) + others
        sequence = session.sequence
        assert sequence is not None  # its shapes are shown
        courses = point_courses(self._shapes, chosen[:MOST_POINTS])
        self._panel.set_courses(courses, (sequence.units, self._shapes.unit))

    def _show_frame(self) -> None:
        if self._panel.isVisible():
            self._panel.set_frame(self._session.frame)
