"""The frame slider of the timeline, with the range of frames that are played."""

from __future__ import annotations

from PyQt6.QtCore import QEvent, QPointF, QRectF, Qt
from PyQt6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PyQt6.QtWidgets import QAbstractSlider, QToolTip

from nrsfm_gui.panels.timeline.frame_picture import FramePicture, TimelineState
from nrsfm_gui.widgets.colors import qcolor

HANDLE_RADIUS = 6.5
BADGE = 13.0  # pixels, of the mark of the frame that intrinsics are estimated from


class FrameSlider(FramePicture, QAbstractSlider):
    """A slider whose handle is at the center of the frame on the axis, and whose range can be dragged."""

    GESTURES = (
        ("Click or drag over the slider", "go to the frame"),
        ("Drag an end of the range", "play these frames only"),
        ("Double click", "play all frames"),
    )

    def __init__(self) -> None:
        super().__init__()
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedHeight(20)
        self.setAccessibleName("frame")
        self.actionTriggered.connect(lambda _: self.frame_requested.emit(self.sliderPosition()))

    def set_state(self, state: TimelineState) -> None:
        """Move the handle to the frame, which requests nothing, and mark the frames with ground truth."""
        super().set_state(state)
        self.setRange(0, max(state.count - 1, 0))
        self.setPageStep(max(state.count // 10, 1))
        self.setEnabled(state.count > 1)
        self.setValue(state.frame)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint groove, marks and handle."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        axis, theme, state, y = self._axis, self._theme, self._state, self.height() / 2
        x = axis.center(self.sliderPosition())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(qcolor(theme.border))
        painter.drawRoundedRect(QRectF(axis.left, y - 2, axis.span, 4), 2, 2)
        if self.isEnabled():
            painter.setBrush(qcolor(theme.accent))
            painter.drawRoundedRect(QRectF(axis.left, y - 2, x - axis.left, 4), 2, 2)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        self._paint_range(painter, QRectF(axis.left, 1, axis.span, self.height() - 2), shades=False)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(qcolor(theme.truth))
        if len(state.truth) <= self.maximum():  # marking every frame would mark none
            for frame in state.truth:
                painter.drawRect(QRectF(axis.center(frame) - 0.75, y + 3, 1.5, 5))
        if state.reference >= 0:
            self._paint_reference(painter, axis.center(state.reference), y)
        if self.isEnabled():
            painter.setPen(QPen(qcolor(theme.text if self.hasFocus() else theme.accent), 1.5))
            painter.setBrush(qcolor(theme.raised))
            painter.drawEllipse(QPointF(x, y), HANDLE_RADIUS, HANDLE_RADIUS)

    def _paint_reference(self, painter: QPainter, x: float, y: float) -> None:
        """Paint a badge with the letter of the intrinsics: a triangle marks the worst frame."""
        badge = QRectF(x - BADGE / 2, y - BADGE / 2, BADGE, BADGE)
        painter.setPen(QPen(qcolor(self._theme.muted), 1.0))
        painter.setBrush(qcolor(self._theme.panel))
        painter.drawRoundedRect(badge, 3, 3)
        font = self.font()
        font.setPixelSize(9)
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(qcolor(self._theme.text))
        painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, "K")

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Start to drag an edge of the range, or request the frame under the mouse."""
        assert event is not None
        x = event.position().x()
        if event.button() == Qt.MouseButton.LeftButton:
            self._held = self._edge_at(x)
            if self._held is None:
                self._request(x)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Drag the edge of the range, or request the frame under the mouse."""
        assert event is not None
        x = event.position().x()
        if self._drag_edge(x):
            return
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._request(x)
        else:
            self._show_edge(x)

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:
        """End the drag of an edge of the range."""
        self._held = None

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:
        """Play all frames again."""
        self.range_requested.emit(None)

    def _request(self, x: float) -> None:
        frame = self._axis.frame_at(x)
        self.setValue(frame)
        self.frame_requested.emit(frame)

    def event(self, event: QEvent | None) -> bool:
        """Explain the marks in the tooltip."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            x, axis, state = event.pos().x(), self._axis, self._state
            frame = axis.frame_at(x)
            if state.reference >= 0 and abs(x - axis.center(state.reference)) <= BADGE / 2:
                frame = state.reference  # the badge is wider than a frame
            text = f"frame {frame + 1}"
            if frame == state.reference:
                text += ": K, the intrinsics, can be estimated from its ground truth"
            elif frame in state.truth:
                text += ": has ground truth"
            if state.played is not None:
                first, last = state.played
                text += f"\nframes {first + 1} to {last + 1} are played; drag the ends, double click: all"
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)
