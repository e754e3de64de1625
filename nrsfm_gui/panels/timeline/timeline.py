"""The timeline: playback controls, frame slider, error curve and heat-strip on one axis."""

from __future__ import annotations

from dataclasses import replace
from textwrap import wrap

from PyQt6.QtCore import QObject, QPoint, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetrics
from PyQt6.QtWidgets import QHBoxLayout, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from nrsfm_gui.engine.throttle import FRAME_MILLISECONDS, PanelUpdater
from nrsfm_gui.model.session import Session
from nrsfm_gui.panels.timeline.error_curve import ErrorCurve
from nrsfm_gui.panels.timeline.frame_picture import FrameAxis, TimelineState
from nrsfm_gui.panels.timeline.frame_slider import FrameSlider
from nrsfm_gui.panels.timeline.heat_strip import HeatStrip
from nrsfm_gui.panels.timeline.playback import Playback
from nrsfm_gui.panels.timeline.transport import Transport
from nrsfm_gui.scene.display import Display
from nrsfm_gui.widgets.fields import filled
from nrsfm_gui.widgets.labels import plain_tip

MESSAGE_MILLISECONDS = 10_000  # that a sentence about a frame stays
MESSAGE_COLUMNS, LEAST_COLUMNS = 76, 30  # characters in a line
MESSAGE_GAP = 10  # pixels to the line of the frame
MESSAGE_PADDING = 16  # pixels that a tip is wider than its text, and is placed below its point


class Timeline(QWidget):
    """Buttons on the left; curve, slider and heat-strip on one axis to their right."""

    frame_requested = pyqtSignal(int)  # the frame to show, and those that playing loops over
    range_requested = pyqtSignal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Timeline")
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # of its charts, too: the keys of the views act then
        self.state = TimelineState()
        self._message_frame = -1  # the frame that a sentence is about
        self.transport = Transport()
        self.curve = ErrorCurve()
        self.slider = FrameSlider()
        self.slider.setToolTip(
            "Frame that is shown; drag, or click anywhere. K: the frame that intrinsics can be estimated from"
        )
        self.strip = HeatStrip()
        self.transport.change_requested.connect(lambda changes: self._show(replace(self.state, **changes)))
        for part in (self.transport, self.curve, self.slider, self.strip):
            part.frame_requested.connect(self.frame_requested)
        for part in (self.slider, self.strip):
            part.range_requested.connect(self.range_requested)
        charts = filled(QVBoxLayout(), self.curve, self.slider, self.strip, spacing=0)
        charts.setStretch(0, 4)
        charts.setStretch(2, 5)
        filled(QHBoxLayout(self), self.transport, charts, grows=charts, spacing=4, margins=(10, 4, 4, 6))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._show(self.state)

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        return QSize(900, 140)

    def minimumSizeHint(self) -> QSize:
        """Return the size below which the parts no longer fit."""
        return QSize(560, 128)

    def set_state(self, state: TimelineState) -> None:
        """Show a state; kind of errors and order of points stay as they were chosen here. Emits nothing."""
        self._show(replace(state, chosen=self.state.chosen, by_error=self.state.by_error))

    def _show(self, state: TimelineState) -> None:
        self.state = state
        if self._message_frame not in (-1, state.frame):
            self._message_frame = -1
            QToolTip.hideText()
        for part in (self.transport, self.curve, self.slider, self.strip):
            part.set_state(state)

    def show_message(self, frame: int, sentence: str) -> None:
        """Show a message beside a frame of the heat-strip, for some seconds or until the mouse moves."""
        if not self.isVisible():
            return
        self._message_frame = frame
        metrics, strip = QFontMetrics(QToolTip.font()), self.strip
        center = round(FrameAxis(self.state.count, strip.width()).center(frame))
        right = center < strip.width() / 2  # it is on the side with more room
        room = (strip.width() - center if right else center) - MESSAGE_GAP - MESSAGE_PADDING
        columns = room // metrics.horizontalAdvance("0")  # most letters are narrower
        lines = wrap(sentence, min(max(columns, LEAST_COLUMNS), MESSAGE_COLUMNS))
        width = max(metrics.horizontalAdvance(line) for line in lines) + MESSAGE_PADDING
        height = len(lines) * metrics.lineSpacing() + MESSAGE_PADDING
        x = center + MESSAGE_GAP if right else center - MESSAGE_GAP - width
        y = min(0, strip.height() - height)  # in the window
        place = QPoint(max(x, 0), y - MESSAGE_PADDING)
        QToolTip.showText(
            strip.mapToGlobal(place), plain_tip("\n".join(lines)), strip, strip.rect(), MESSAGE_MILLISECONDS
        )


class TimelineController(QObject):
    """Moves the session's frame and its range, owns the playback, and updates the timeline."""

    def __init__(self, session: Session, display: Display, timeline: Timeline) -> None:
        super().__init__(timeline)
        self._session, self._display = session, display
        self.playback = playback = Playback(self)
        transport = timeline.transport
        updater = PanelUpdater(self._resolve, timeline.set_state, self, milliseconds=FRAME_MILLISECONDS)
        session.sequence_changed.connect(lambda sequence: playback.set_frame_count(sequence.frame_count))
        session.frame_changed.connect(playback.set_frame)
        session.frame_range_changed.connect(playback.set_range)
        updater.follow(
            session.sequence_changed, session.frame_changed, session.frame_range_changed,
            session.hidden_changed, session.selection_changed, session.point_changed,
            session.compare_mode_changed, session.compared_changed, session.settings_changed,
            session.appearance_changed,
        )  # fmt: skip
        display.errors.series_changed.connect(updater.run)
        display.scene_shown.connect(updater.run)  # its frame is marked when it is drawn
        display.refreshed.connect(updater.flush)
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

    def shut_down(self) -> None:
        """Stop playing."""
        self.playback.set_playing(False)

    def set_end(self, which: int) -> None:
        """Let the range begin (0) or end (1) at the shown frame; the other end moves there where it must."""
        sequence, frame = self._session.sequence, self._session.frame
        if sequence is None:
            return
        first, last = self._session.frame_range or (0, sequence.frame_count - 1)
        ends = (frame, max(last, frame)) if which == 0 else (min(first, frame), frame)
        self._session.set_frame_range(None if ends == (0, sequence.frame_count - 1) else ends)

    def _resolve(self) -> TimelineState:
        """Return the state, with the errors of the shown run, or the distance of two that are compared."""
        session, sequence, together = self._session, self._session.sequence, self._display.together
        truth = None if sequence is None else sequence.truth
        differ = session.compared is not None and session.compare_mode == "difference"
        return TimelineState(
            count=0 if sequence is None else sequence.frame_count,
            frame=session.frame,
            played=session.frame_range,
            truth=() if truth is None else tuple(truth.frames.tolist()),
            reference=-1 if truth is None else truth.reference,
            kinds=together.series if differ and together is not None else self._display.errors.series,
            hidden=session.hidden,
            excluded=session.excluded,
            selection=session.selection,
            point=session.point,
            color_map=session.appearance.color_map,
        )
