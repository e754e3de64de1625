"""The timeline and the session: the frame, its playback, the errors of all frames, the selected points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from nrsfm_gui.panels.timeline.playback import Playback

if TYPE_CHECKING:
    from core import Sequence
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.timeline.timeline import Timeline
    from nrsfm_gui.scene.display import Display
    from nrsfm_gui.scene.scene import ErrorSeries


class TimelineController(QObject):
    """Moves the session's frame and its range, owns the playback, and updates the timeline."""

    def __init__(
        self, session: Session, display: Display, timeline: Timeline, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._display, self._timeline = session, display, timeline
        self._errors: ErrorSeries | None = None
        self._shown: ErrorSeries | None = None
        self.playback = playback = Playback(self)
        session.sequence_changed.connect(self._on_sequence_changed)
        session.frame_changed.connect(timeline.set_frame)
        session.frame_changed.connect(playback.set_frame)
        session.frame_range_changed.connect(timeline.set_range)
        session.frame_range_changed.connect(playback.set_range)
        session.hidden_changed.connect(timeline.set_hidden)
        session.selection_changed.connect(lambda _points: self._on_selection_changed())
        session.point_changed.connect(lambda _point: self._on_selection_changed())
        session.compare_mode_changed.connect(lambda _mode: self._update_series())
        session.compared_changed.connect(lambda _run: self._update_series())
        display.errors.series_changed.connect(self._on_series_changed)
        display.scene_shown.connect(lambda _scene: self._update_series())
        timeline.frame_requested.connect(session.set_frame)
        timeline.range_requested.connect(session.set_frame_range)
        timeline.playing_requested.connect(playback.set_playing)
        timeline.speed_requested.connect(playback.set_speed)
        timeline.loop_requested.connect(playback.set_loop)
        playback.frame_requested.connect(session.set_frame)
        playback.playing_changed.connect(timeline.set_playing)
        playback.rate_measured.connect(timeline.set_rate)

    # -- what the actions call ------------------------------------------------------------------------------

    def toggle_playing(self) -> None:
        """Play, or stop."""
        self.playback.set_playing(not self.playback.playing)

    def step(self, by: int) -> None:
        """Move by some frames, and stop playing."""
        self.playback.set_playing(False)
        self._session.set_frame(self._session.frame + by)

    def go_to(self, frame: int) -> None:
        """Go to a frame; negative ones count from the end."""
        sequence = self._session.sequence
        if sequence is not None:
            self._session.set_frame(frame % sequence.frame_count)

    def go_to_truth(self) -> None:
        """Go to the frame that the intrinsics are estimated from."""
        sequence = self._session.sequence
        if sequence is not None and sequence.truth is not None:
            self._session.set_frame(sequence.truth.reference)

    def begin_range(self) -> None:
        """Play from the frame that is shown on; an earlier end of the range moves to it."""
        self._set_end(0)

    def end_range(self) -> None:
        """Play up to the frame that is shown; a later start of the range moves to it."""
        self._set_end(1)

    def shut_down(self) -> None:
        """Stop playing."""
        self.playback.set_playing(False)

    def _set_end(self, which: int) -> None:
        sequence, frame = self._session.sequence, self._session.frame
        if sequence is None:
            return
        first, last = self._session.frame_range or (0, sequence.frame_count - 1)
        ends = (frame, max(last, frame)) if which == 0 else (min(first, frame), frame)
        self._session.set_frame_range(None if ends == (0, sequence.frame_count - 1) else ends)

    def _on_sequence_changed(self, sequence: Sequence) -> None:
        truth = sequence.truth
        frames = () if truth is None else tuple(int(frame) for frame in truth.frames)
        self.playback.set_frame_count(sequence.frame_count)
        self._timeline.set_frame_count(sequence.frame_count)
        self._timeline.set_truth_frames(frames, -1 if truth is None else truth.reference)
        self._on_series_changed(None)

    def _on_selection_changed(self) -> None:
        self._timeline.set_selection(self._session.selection, self._session.point)

    def _on_series_changed(self, series: ErrorSeries | None) -> None:
        self._errors = series
        self._update_series()

    def _update_series(self) -> None:
        """Show the errors of all frames, or the distance between two runs whose difference is shown."""
        session, together = self._session, self._display.together
        series = self._errors
        if session.compared is not None and session.compare_mode == "difference" and together is not None:
            series = together.series
        if series is not self._shown:
            self._shown = series
            self._timeline.set_series(series)
