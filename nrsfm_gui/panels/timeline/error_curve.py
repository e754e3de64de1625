"""The curve of the timeline: the mean error of every frame, with the worst frame marked."""

from __future__ import annotations

import numpy as np
from PyQt6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QPolygonF, QResizeEvent
from PyQt6.QtWidgets import QToolTip, QWidget
from pyqtgraph import arrayToQPath

from core.foundation import Floats
from nrsfm_gui.model.numbers import format_number, nice_step
from nrsfm_gui.panels.timeline.frame_picture import FramePicture, TimelineState
from nrsfm_gui.panels.timeline.heat_strip import small_font
from nrsfm_gui.scene.comparison import SERIES_NAME
from nrsfm_gui.scene.scene import ErrorSeries
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.labels import plain_tip


class ErrorCurve(FramePicture, QWidget):
    """The mean error of every frame; a click or a drag requests frames."""

    GESTURES = (("Click or drag over the curve", "go to the frame"),)

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumHeight(36)
        self._series: ErrorSeries | None = None  # with an error that is known
        self._background: QPixmap | None = None  # all but the current frame and the range
        self.setAccessibleName("error by frame")
        self._follow_theme()

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        return QSize(640, 44)

    def set_state(self, state: TimelineState) -> None:
        """Show the mean errors of frames."""
        before, series = self._state, state.series
        super().set_state(state)
        if (state.count, series) != (before.count, before.series):
            self._series = series if series is not None and np.isfinite(series.per_frame).any() else None
            self.redraw()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Draw the curve anew."""
        self.redraw()

    def redraw(self) -> None:
        """Draw the curve anew."""
        self._background = None
        super().redraw()

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint the curve, and over it the current frame."""
        painter = QPainter(self)
        if self._background is None or self._background.devicePixelRatio() != self.devicePixelRatioF():
            self._background = self._drawn_curve()
        painter.drawPixmap(0, 0, self._background)
        if self._series is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            area = self._area()
            self._paint_range(painter, area)
            self._paint_frame(painter, area, self._series.per_frame)
            self._paint_worst(painter, area, self._series)  # last, or the line of the frame would cross it

    def _area(self) -> QRectF:
        return QRectF(self._axis.left, 3, self._axis.span, self.height() - 5)

    def _drawn_curve(self) -> QPixmap:
        """Return all that stays the same from frame to frame: while playing, it is only copied."""
        ratio = self.devicePixelRatioF()
        picture = QPixmap(round(self.width() * ratio), round(self.height() * ratio))
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font())
        area, theme = self._area(), self._theme
        painter.fillRect(area, qcolor(theme.panel))
        if self._series is None:
            painter.setPen(qcolor(theme.muted))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, "Error by frame: after a run")
        else:
            self._paint_scale(painter, area, self._series)
            self._paint_curve(painter, area, self._series.per_frame)
        painter.end()
        return picture

    def _paint_frame(self, painter: QPainter, area: QRectF, values: Floats) -> None:
        self._paint_line(painter, area)
        frame = self._state.frame
        if frame < len(values) and np.isfinite(values[frame]):
            y = area.bottom() - values[frame] / curve_top(values) * area.height()
            painter.setPen(QPen(qcolor(self._theme.accent), 1.0))
            painter.setBrush(qcolor(self._theme.accent))
            painter.drawEllipse(QPointF(self._axis.center(frame), y), 3.0, 3.0)

    def _paint_worst(self, painter: QPainter, area: QRectF, series: ErrorSeries) -> None:
        values = series.per_frame
        if np.isfinite(values).sum() < 2 or not np.nanmax(values) > 0:
            return  # a single value is no maximum, nor is one of many that are 0
        worst = int(np.nanargmax(values))
        x, top = self._axis.center(worst), area.top()
        painter.setClipping(False)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(qcolor(self._theme.warning))
        corners = [QPointF(x - 4.5, top - 2), QPointF(x + 4.5, top - 2), QPointF(x, top + 5)]
        painter.drawPolygon(QPolygonF(corners))
        painter.setFont(small_font(self.font()))
        painter.setPen(qcolor(self._theme.warning))
        words = f"{'differ most' if series.name == SERIES_NAME else 'worst'}: frame {worst + 1}"
        metrics = painter.fontMetrics()
        width = metrics.horizontalAdvance(words)
        left = x + 8 if x + 8 + width <= area.right() else x - 8 - width
        place = QPointF(left, top + metrics.ascent() - 3)
        ground = metrics.tightBoundingRect(words).translated(place.toPoint()).adjusted(-3, -1, 3, 1)
        painter.fillRect(ground, qcolor(self._theme.panel))
        painter.drawText(place, words)

    def _paint_scale(self, painter: QPainter, area: QRectF, series: ErrorSeries) -> None:
        theme, flag = self._theme, Qt.AlignmentFlag
        painter.setPen(QPen(qcolor(theme.grid), 1.0))
        for share in (0.0, 0.5, 1.0):
            y = area.bottom() - share * area.height()
            painter.drawLine(QLineF(area.left(), y, area.right(), y))
        painter.setFont(small_font(self.font()))
        painter.setPen(qcolor(theme.muted))
        beside = QRectF(0, area.top() - 3, area.left() - 8, area.height() + 6)
        top = f"{format_number(curve_top(series.per_frame))} {series.unit}"
        painter.drawText(beside, flag.AlignRight | flag.AlignTop, top)
        painter.drawText(beside, flag.AlignRight | flag.AlignBottom, "0")
        name = QRectF(area.right() + 8, area.top(), self.width() - area.right() - 8, area.height())
        flags = int(flag.AlignLeft | flag.AlignVCenter) | int(Qt.TextFlag.TextWordWrap)
        painter.drawText(name, flags, series.name)

    def _paint_curve(self, painter: QPainter, area: QRectF, values: Floats) -> None:
        painter.setPen(QPen(qcolor(self._theme.accent), 1.0))
        painter.setClipRect(area.adjusted(-4, -3, 4, 3))
        x = np.array([self._axis.center(frame) for frame in range(len(values))])
        y = area.bottom() - values / curve_top(values) * area.height()
        known = np.pad(np.isfinite(y), 1)
        painter.drawPath(arrayToQPath(x, np.nan_to_num(y), connect=known[1:-1] & known[2:]))
        for frame in np.flatnonzero(known[1:-1] & ~known[:-2] & ~known[2:]):  # alone: a line would not show
            painter.drawEllipse(QPointF(x[frame], y[frame]), 1.5, 1.5)

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Request the frame under the mouse."""
        assert event is not None
        self._point_to(event, asking=event.button() == Qt.MouseButton.LeftButton)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Show the error under the mouse; with the button down, request its frame."""
        assert event is not None
        self._point_to(event, asking=bool(event.buttons() & Qt.MouseButton.LeftButton))

    def _point_to(self, event: QMouseEvent, *, asking: bool) -> None:
        axis, series = self._axis, self._series
        if not self._state.count or not axis.left <= event.position().x() <= axis.right:
            return
        frame = axis.frame_at(event.position().x())
        if asking:
            self.frame_requested.emit(frame)
        if series is not None and frame < len(series.per_frame):
            value = series.per_frame[frame]
            value_text = f"{value:.3g} {series.unit}" if np.isfinite(value) else "no ground truth"
            most = "the largest" if series.name == SERIES_NAME else "the worst one"
            worst = f": {most}" if value > 0 and frame == int(np.nanargmax(series.per_frame)) else ""
            text = f"frame {frame + 1} · {series.name} {value_text}{worst}"
            text += f" · {series.alignment}" if series.alignment else ""
            QToolTip.showText(event.globalPosition().toPoint(), plain_tip(text), self)


def curve_top(values: Floats) -> float:
    """Return a round number above all errors."""
    largest = float(np.nanmax(values))
    if not largest > 0:
        return 1.0
    step = nice_step(largest, 2)
    return float(np.ceil(largest / step * 0.999) * step)
