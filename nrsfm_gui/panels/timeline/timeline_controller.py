"""The timeline and the session: the frame, its playback, the errors of all frames, the selected points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from nrsfm_gui.engine.throttle import FRAME_MILLISECONDS, PanelUpdater
from nrsfm_gui.panels.timeline.playback import Playback

if TYPE_CHECKING:
    from core import Sequence
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.timeline.timeline import Timeline
    from nrsfm_gui.scene.display import Display
    from nrsfm_gui.scene.scene import ErrorSeries


@dataclass(frozen=True)
class TimelineState:
    """What the timeline shows; how it plays is shown by the playback."""

    frame_count: int
    truth_frames: tuple[tuple[int, ...], int]  # those that have ground truth, and the reference or -1
    frame: int
    frame_range: tuple[int, int] | None
    hidden: frozenset[int]
    hide: str | None  # the observations that are hidden from the solver
    selection: tuple[tuple[int, ...], int]  # the selected points, and the one that was selected last or -1
    series: ErrorSeries | None


class TimelineController(QObject):
    """Moves the session's frame and its range, owns the playback, and updates the timeline."""

    def __init__(
        self, session: Session, display: Display, timeline: Timeline, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._display = session, display
        self._errors: ErrorSeries | None = None
        self.playback = playback = Playback(self)
        transport, slider, strip = timeline.transport, timeline.slider, timeline.strip
        self._updater = PanelUpdater(
            self._resolve,
            {
                "frame_count": timeline.set_frame_count,
                "truth_frames": lambda frames: slider.set_truth_frames(*frames),
                "frame": timeline.set_frame,
                "frame_range": timeline.set_range,
                "hidden": strip.set_hidden,
                "hide": lambda _text: strip.set_excluded(session.excluded),
                "selection": lambda chosen: strip.set_selection(*chosen),
                "series": timeline.set_series,
            },
            self,
            milliseconds=FRAME_MILLISECONDS,
        )
        session.sequence_changed.connect(self._on_sequence_changed)
        session.frame_changed.connect(playback.set_frame)
        session.frame_range_changed.connect(playback.set_range)
        for signal in (
            session.frame_changed, session.frame_range_changed, session.hidden_changed,
            session.selection_changed, session.point_changed, session.compare_mode_changed,
            session.compared_changed, session.settings_changed,
        ):  # fmt: skip
            signal.connect(self._updater.request)
        display.errors.series_changed.connect(self._on_series_changed)
        display.scene_shown.connect(self._updater.run)  # its frame is marked when it is drawn
        display.refreshed.connect(self._updater.flush)
        timeline.frame_requested.connect(session.set_frame)
        timeline.range_requested.connect(session.set_frame_range)
        transport.playing_requested.connect(playback.set_playing)
        transport.speed_requested.connect(playback.set_speed)
        transport.loop_requested.connect(playback.set_loop)
        playback.frame_requested.connect(session.set_frame)
        playback.playing_changed.connect(transport.set_playing)
        playback.rate_measured.connect(transport.set_rate)

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
        self._errors = None
        self.playback.set_frame_count(sequence.frame_count)
        self._updater.forget()  # another number of frames resets the view
        self._updater.request()

    def _on_series_changed(self, series: ErrorSeries | None) -> None:
        self._errors = series
        self._updater.run()

    def _resolve(self) -> TimelineState:
        session, together = self._session, self._display.together
        sequence, series = session.sequence, self._errors
        truth = None if sequence is None else sequence.truth
        if session.compared is not None and session.compare_mode == "difference" and together is not None:
            series = together.series  # the distance between the two runs
        return TimelineState(
            frame_count=0 if sequence is None else sequence.frame_count,
            truth_frames=((), -1) if truth is None else (tuple(truth.frames.tolist()), truth.reference),
            frame=session.frame,
            frame_range=session.frame_range,
            hidden=session.hidden,
            hide=session.settings.hide,
            selection=(session.selection, session.point),
            series=series,
        )
