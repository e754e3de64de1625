"""The slider of the timeline and the error curve above it, on one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QPainter, QPainterPath, QPen, QPolygonF
from PyQt6.QtWidgets import QAbstractSlider, QSizePolicy, QToolTip, QWidget

from nrsfm_gui.theme import DARK, Theme

from .axes3d import nice_step
from .colors import qcolor
from .fields import format_number
from .frame_axis import FrameAxis
from .heat_strip import small_font

if TYPE_CHECKING:
    from PyQt6.QtGui import QMouseEvent, QPaintEvent

    from core.arrays import Floats

HANDLE_RADIUS = 6.5


class FrameSlider(QAbstractSlider):
    """A slider whose handle stands exactly on the frame's share of the axis."""

    frame_requested = pyqtSignal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedHeight(20)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setSingleStep(1)
        self.setAccessibleName("frame")
        self._theme = DARK
        self._truth: tuple[int, ...] = ()
        self._reference = -1
        self.actionTriggered.connect(lambda _: self.frame_requested.emit(self.sliderPosition()))

    def set_frame_count(self, count: int) -> None:
        """Tell how many frames there are."""
        self.setRange(0, max(count - 1, 0))
        self.setPageStep(max(count // 10, 1))
        self.setEnabled(count > 1)

    def set_truth_frames(self, frames: tuple[int, ...], reference: int) -> None:
        """Mark the frames that have ground truth (0-based), and the one that intrinsics come from (or -1)."""
        self._truth, self._reference = frames, reference
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        """Return a comfortable size."""
        return QSize(640, 20)

    def _axis(self) -> FrameAxis:
        return FrameAxis(self.maximum() + 1, self.width())

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint groove, marks and handle."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        axis, theme, y = self._axis(), self._theme, self.height() / 2
        x = axis.center(self.sliderPosition())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(qcolor(theme.border))
        painter.drawRoundedRect(QRectF(axis.left, y - 2, axis.span, 4), 2, 2)
        if self.isEnabled():
            painter.setBrush(qcolor(theme.accent))
            painter.drawRoundedRect(QRectF(axis.left, y - 2, x - axis.left, 4), 2, 2)
        self._paint_truth(painter, axis, y)
        if self.isEnabled():
            painter.setPen(QPen(qcolor(theme.text if self.hasFocus() else theme.accent), 1.5))
            painter.setBrush(qcolor(theme.raised))
            painter.drawEllipse(QPointF(x, y), HANDLE_RADIUS, HANDLE_RADIUS)
        painter.end()

    def _paint_truth(self, painter: QPainter, axis: FrameAxis, y: float) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(qcolor(self._theme.truth))
        if len(self._truth) <= self.maximum():  # marking every frame would mark none
            for frame in self._truth:
                painter.drawRect(QRectF(axis.center(frame) - 0.75, y + 3, 1.5, 5))
        if self._reference >= 0:
            x = axis.center(self._reference)
            corners = [QPointF(x - 4.5, y - 9), QPointF(x + 4.5, y - 9), QPointF(x, y - 2.5)]
            painter.drawPolygon(QPolygonF(corners))

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Ask for the frame under the mouse."""
        assert event is not None
        if event.button() == Qt.MouseButton.LeftButton:
            self._ask(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Scrub."""
        assert event is not None
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._ask(event.position().x())

    def _ask(self, x: float) -> None:
        frame = self._axis().frame_at(x)
        self.setValue(frame)
        self.frame_requested.emit(frame)

    def event(self, event: QEvent | None) -> bool:
        """Explain the marks in the tooltip."""
        if event is not None and event.type() == QEvent.Type.ToolTip:
            position = event.pos()  # type: ignore[attr-defined]
            frame = self._axis().frame_at(position.x())
            text = f"frame {frame + 1}"
            if frame == self._reference:
                text += ": ground truth; intrinsics can be estimated from it"
            elif frame in self._truth:
                text += ": has ground truth"
            QToolTip.showText(event.globalPos(), text, self)  # type: ignore[attr-defined]
            return True
        return super().event(event)


class ErrorCurve(QWidget):
    """The mean error of every frame."""

    frame_requested = pyqtSignal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setMinimumHeight(36)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._count = 0
        self._frame = 0
        self._values: Floats | None = None
        self._unit = ""
        self._name = ""
        self._theme = DARK

    def sizeHint(self) -> QSize:
        """Return a comfortable size."""
        return QSize(640, 44)

    def set_frame_count(self, count: int) -> None:
        """Tell how many frames there are."""
        self._count = count
        self.update()

    def set_frame(self, frame: int) -> None:
        """Mark a frame."""
        self._frame = frame
        self.update()

    def set_errors(self, values: Floats | None, unit: str, name: str) -> None:
        """Show errors (F,), NaN where there is none."""
        self._values = values if values is not None and np.isfinite(values).any() else None
        self._unit, self._name = unit, name
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self._theme = theme
        self.update()

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint the curve, its scale and the current frame."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        axis, theme = FrameAxis(self._count, self.width()), self._theme
        area = QRectF(axis.left, 3, axis.span, self.height() - 5)
        painter.fillRect(area, qcolor(theme.panel))
        if self._values is None:
            painter.setPen(qcolor(theme.muted))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, "Error by frame: after a run")
            painter.end()
            return
        top = curve_top(self._values)
        self._paint_scale(painter, area, top)
        x = axis.center(self._frame)
        painter.setPen(QPen(qcolor(theme.text), 1.0))
        painter.drawLine(QLineF(x, area.top(), x, area.bottom()))
        self._paint_curve(painter, area, axis, top)
        painter.end()

    def _paint_scale(self, painter: QPainter, area: QRectF, top: float) -> None:
        theme = self._theme
        painter.setPen(QPen(qcolor(theme.grid), 1.0))
        for share in (0.0, 0.5, 1.0):
            y = area.bottom() - share * area.height()
            painter.drawLine(QLineF(area.left(), y, area.right(), y))
        painter.setFont(small_font(self.font()))
        painter.setPen(qcolor(theme.muted))
        beside = QRectF(0, area.top() - 3, area.left() - 8, area.height() + 6)
        painter.drawText(
            beside,
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop,
            f"{format_number(top)} {self._unit}",
        )
        painter.drawText(beside, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom, "0")
        name = QRectF(area.right() + 8, area.top(), self.width() - area.right() - 8, area.height())
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter) | int(
            Qt.TextFlag.TextWordWrap
        )
        painter.drawText(name, flags, self._name)

    def _paint_curve(self, painter: QPainter, area: QRectF, axis: FrameAxis, top: float) -> None:
        assert self._values is not None  # the caller asks only where there are errors
        theme = self._theme
        painter.setPen(QPen(qcolor(theme.accent), 1.0))
        painter.setClipRect(area.adjusted(-4, -3, 4, 3))
        path, drawing = QPainterPath(), False
        finite = np.isfinite(self._values)
        for frame, value in enumerate(np.nan_to_num(self._values)):
            if not finite[frame]:
                drawing = False
                continue
            point = QPointF(axis.center(frame), area.bottom() - value / top * area.height())
            if drawing:
                path.lineTo(point)
            else:
                path.moveTo(point)
                if frame + 1 >= len(finite) or not finite[frame + 1]:  # alone: a line would not show
                    path.addEllipse(point, 1.5, 1.5)
            drawing = True
        painter.drawPath(path)
        if self._frame < len(finite) and finite[self._frame]:
            y = area.bottom() - self._values[self._frame] / top * area.height()
            painter.setBrush(qcolor(theme.accent))
            painter.drawEllipse(QPointF(axis.center(self._frame), y), 3.0, 3.0)

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Ask for the frame under the mouse."""
        assert event is not None
        self._point_to(event, asking=event.button() == Qt.MouseButton.LeftButton)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Say the error under the mouse; with the button down, ask for its frame."""
        assert event is not None
        self._point_to(event, asking=bool(event.buttons() & Qt.MouseButton.LeftButton))

    def _point_to(self, event: QMouseEvent, *, asking: bool) -> None:
        axis = FrameAxis(self._count, self.width())
        if not self._count or not axis.left <= event.position().x() <= axis.right:
            return
        frame = axis.frame_at(event.position().x())
        if asking:
            self.frame_requested.emit(frame)
        if self._values is not None and frame < len(self._values):
            value = self._values[frame]
            said = f"{value:.3g} {self._unit}" if np.isfinite(value) else "no ground truth"
            QToolTip.showText(
                event.globalPosition().toPoint(), f"frame {frame + 1} · {self._name} {said}", self
            )


def curve_top(values: Floats) -> float:
    """Return a round number above all errors."""
    largest = float(np.nanmax(values))
    if not largest > 0:
        return 1.0
    step = nice_step(largest, 2)
    return float(np.ceil(largest / step * 0.999) * step)
