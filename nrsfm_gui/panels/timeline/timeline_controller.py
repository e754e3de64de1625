"""The errors of all frames, the selected points and the frames with ground truth, on the timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

if TYPE_CHECKING:
    from core import Sequence
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.timeline.timeline import Timeline
    from nrsfm_gui.scene.display import Display
    from nrsfm_gui.scene.scene import ErrorSeries


class TimelineController(QObject):
    """Shows on the timeline what the session and the display have come to."""

    def __init__(
        self, session: Session, display: Display, timeline: Timeline, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._display, self._timeline = session, display, timeline
        self._errors: ErrorSeries | None = None
        self._shown: ErrorSeries | None = None
        session.sequence_changed.connect(self._on_sequence_changed)
        session.hidden_changed.connect(timeline.set_hidden)
        session.selection_changed.connect(lambda _points: self._on_selection_changed())
        session.point_changed.connect(lambda _point: self._on_selection_changed())
        session.compare_mode_changed.connect(lambda _mode: self._show_series())
        session.compared_changed.connect(lambda _run: self._show_series())
        display.errors.series_changed.connect(self._on_series_changed)
        display.scene_shown.connect(lambda _scene: self._show_series())

    def _on_sequence_changed(self, sequence: Sequence) -> None:
        truth = sequence.truth
        frames = () if truth is None else tuple(int(frame) for frame in truth.frames)
        self._timeline.set_frame_count(sequence.frame_count)
        self._timeline.set_truth_frames(frames, -1 if truth is None else truth.reference)
        self._on_series_changed(None)

    def _on_selection_changed(self) -> None:
        self._timeline.set_selection(self._session.selection, self._session.point)

    def _on_series_changed(self, series: ErrorSeries | None) -> None:
        self._errors = series
        self._show_series()

    def _show_series(self) -> None:
        """Show the errors of all frames, or where two runs are differenced how far apart they are."""
        session, together = self._session, self._display.together
        series = self._errors
        if session.compared is not None and session.compare_mode == "difference" and together is not None:
            series = together.series
        if series is not self._shown:
            self._shown = series
            self._timeline.set_series(series)
