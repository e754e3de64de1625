"""Going from frame to frame: what keys, buttons and the timeline ask for, and playing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from nrsfm_gui.panels.timeline.playback import Playback

if TYPE_CHECKING:
    from core import Sequence
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.timeline.timeline import Timeline


class Navigation(QObject):
    """Moves the session's frame and the range that is played, and owns the clock that plays."""

    def __init__(self, session: Session, timeline: Timeline, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.playback = playback = Playback(self)
        session.sequence_changed.connect(self._on_sequence_changed)
        session.frame_changed.connect(timeline.set_frame)
        session.frame_changed.connect(playback.set_frame)
        session.frame_range_changed.connect(timeline.set_range)
        session.frame_range_changed.connect(playback.set_range)
        timeline.frame_requested.connect(session.set_frame)
        timeline.range_requested.connect(session.set_frame_range)
        timeline.playing_requested.connect(playback.set_playing)
        timeline.speed_requested.connect(playback.set_speed)
        timeline.loop_requested.connect(playback.set_loop)
        playback.frame_requested.connect(session.set_frame)
        playback.playing_changed.connect(timeline.set_playing)
        playback.rate_measured.connect(timeline.set_rate)

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
        """Play from the frame that is shown on; the end of the range gives way."""
        self._set_end(0)

    def end_range(self) -> None:
        """Play up to the frame that is shown; the begin of the range gives way."""
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
        self.playback.set_frame_count(sequence.frame_count)
