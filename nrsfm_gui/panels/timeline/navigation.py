"""Going from frame to frame: what keys, buttons and the timeline ask for, and playing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from nrsfm_gui.panels.timeline.playback import Playback

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow


class Navigation(QObject):
    """Moves the session's frame, and owns the clock that plays."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._session, timeline = window.session, window.timeline
        self.playback = playback = Playback(self)
        self._session.frame_changed.connect(timeline.set_frame)
        self._session.frame_changed.connect(playback.set_frame)
        timeline.frame_requested.connect(self._session.set_frame)
        timeline.playing_requested.connect(playback.set_playing)
        timeline.speed_requested.connect(playback.set_speed)
        timeline.loop_requested.connect(playback.set_loop)
        playback.frame_requested.connect(self._session.set_frame)
        playback.playing_changed.connect(timeline.set_playing)

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

    def shut_down(self) -> None:
        """Stop playing."""
        self.playback.set_playing(False)
