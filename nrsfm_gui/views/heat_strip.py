"""The error of every point in every frame as one picture: frames to the right, points down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFont, QImage, QPainter, QPen
from PyQt6.QtWidgets import QSizePolicy, QToolTip, QWidget

from nrsfm_gui.theme import DARK, Theme

from .colorbar import paint_upright_bar
from .colors import error_levels, error_table, qcolor
from .frame_axis import FrameAxis

if TYPE_CHECKING:
    from PyQt6.QtGui import QMouseEvent, QPaintEvent

    from core.arrays import Floats, Ints

TOP_PERCENTILE = 98.0
BAR_WIDTH = 8.0
MANY_IN_A_PIXEL = 100


class HeatStrip(QWidget):
    """Frames x points, colored by error; click for a frame and a point."""

    frame_requested = pyqtSignal(int)
    point_selected = pyqtSignal(int)
    point_hovered = pyqtSignal(int)  # -1 = none

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setMinimumHeight(40)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._count = 0
        self._frame = 0
        self._selected = -1
        self._errors: Floats | None = None
        self._top = 1.0
        self._unit = ""
        self._name = ""
        self._theme = DARK
        self._image: tuple[int, QImage] | None = None  # rows it was pooled to, picture

    def sizeHint(self) -> QSize:
        """Return a comfortable size."""
        return QSize(640, 56)

    def set_frame_count(self, count: int) -> None:
        """Tell how many frames there are."""
        self._count = count
        self.update()

    def set_frame(self, frame: int) -> None:
        """Mark a frame."""
        self._frame = frame
        self.update()

    def set_selected(self, point: int) -> None:
        """Mark a point, or none with -1."""
        self._selected = point
        self.update()

    def set_errors(self, errors: Floats | None, unit: str, name: str) -> None:
        """Show errors (F, P), NaN where there is none."""
        self._errors, self._unit, self._name = errors, unit, name
        if errors is not None and np.isfinite(errors).any():
            self._top = float(np.percentile(errors[np.isfinite(errors)], TOP_PERCENTILE)) or 1.0
        else:
            self._errors = None
        self._image = None
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self._theme = theme
        self._image = None
        self.update()

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint the picture, the marks and the color bar."""
        painter = QPainter(self)
        axis, theme = FrameAxis(self._count, self.width()), self._theme
        area = self._area()
        painter.fillRect(area, qcolor(theme.panel))
        painter.setPen(qcolor(theme.muted))
        if self._errors is None:
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, "Error by frame and point: after a run")
            painter.end()
            return
        painter.drawImage(area, self._picture(max(int(area.height()), 1)))
        x = axis.center(self._frame)
        painter.setPen(QPen(qcolor(theme.text), 1.0))
        painter.drawLine(QLineF(x, area.top(), x, area.bottom()))
        if 0 <= self._selected < self._errors.shape[1]:
            y = area.top() + (self._selected + 0.5) * area.height() / self._errors.shape[1]
            painter.setPen(QPen(qcolor(theme.selection), 1.0))
            painter.drawLine(QLineF(axis.left - 6, y, axis.right, y))
        self._paint_scales(painter, area)
        painter.end()

    def _paint_scales(self, painter: QPainter, area: QRectF) -> None:
        assert self._errors is not None  # the caller asks only where there are errors
        painter.setFont(small_font(self.font()))
        painter.setPen(qcolor(self._theme.muted))
        metrics = painter.fontMetrics()
        beside = QRectF(0, area.top(), area.left() - 8, area.height())
        right = Qt.AlignmentFlag.AlignRight
        painter.drawText(beside, right | Qt.AlignmentFlag.AlignTop, "point 1")
        painter.drawText(beside, right | Qt.AlignmentFlag.AlignBottom, f"{self._errors.shape[1]}")
        bar = QRectF(area.right() + 10, area.top() + 1, BAR_WIDTH, area.height() - 2)
        paint_upright_bar(painter, bar, self._theme)
        painter.setPen(qcolor(self._theme.muted))
        x = bar.right() + 5
        painter.drawText(QPointF(x, bar.top() + metrics.ascent() - 2), f"≥{self._top:.2g}")
        painter.drawText(QPointF(x, bar.bottom()), "0")
        painter.drawText(QPointF(x, bar.center().y() + metrics.ascent() / 2 - 1), self._unit)

    def _area(self) -> QRectF:
        axis = FrameAxis(self._count, self.width())
        return QRectF(axis.left, 2, axis.span, self.height() - 4)

    def _picture(self, height: int) -> QImage:
        """Return the picture, one pixel per frame; where points outnumber pixels, the largest error shows.

        Of many points in a pixel it would always be a large one: then the mean shows.
        """
        assert self._errors is not None  # as in paintEvent
        rows = min(height, self._errors.shape[1])
        if self._image is None or self._image[0] != rows:
            values = self._errors.T
            if rows < len(values):
                starts = np.arange(rows) * len(values) // rows
                values = _pooled(values, starts, by_mean=len(values) > MANY_IN_A_PIXEL * rows)
            pixels = error_table(self._theme.name)[error_levels(values, self._top)]
            pixels[~np.isfinite(values)] = 0
            pixels = np.ascontiguousarray(pixels)
            stride = 4 * pixels.shape[1]
            image = QImage(
                pixels.tobytes(), pixels.shape[1], rows, stride, QImage.Format.Format_RGBA8888
            ).copy()
            self._image = (rows, image)
        return self._image[1]

    def cell_at(self, position: QPointF) -> tuple[int, int] | None:
        """Return the frame and the point at a pixel, or None outside."""
        area = self._area()
        if self._errors is None or not area.contains(position):
            return None
        points = self._errors.shape[1]
        point = int((position.y() - area.top()) / area.height() * points)
        return FrameAxis(self._count, self.width()).frame_at(position.x()), min(point, points - 1)

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Ask for the frame and the point."""
        assert event is not None
        cell = self.cell_at(event.position())
        if cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self.frame_requested.emit(cell[0])
            self.point_selected.emit(cell[1])

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Say what is under the mouse; with the button down, ask for its frame."""
        assert event is not None
        cell = self.cell_at(event.position())
        self.point_hovered.emit(-1 if cell is None else cell[1])
        if cell is None or self._errors is None:
            QToolTip.hideText()
            return
        frame, point = cell
        value = self._errors[frame, point]
        said = f"{value:.3g} {self._unit}" if np.isfinite(value) else "no value"
        text = f"frame {frame + 1} · point {point + 1} · {self._name} {said}"
        QToolTip.showText(event.globalPosition().toPoint(), text, self)
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.frame_requested.emit(frame)

    def leaveEvent(self, event: QEvent | None) -> None:
        """Nothing is under the mouse any more."""
        self.point_hovered.emit(-1)


def _pooled(values: Floats, starts: Ints, *, by_mean: bool) -> Floats:
    """Return the largest or the mean value of every group of rows, NaN where there is none."""
    known = np.isfinite(values)
    if by_mean:
        counts = np.add.reduceat(known, starts, axis=0, dtype=float)
        totals = np.add.reduceat(np.where(known, values, 0.0), starts, axis=0)
        return np.where(counts > 0, totals / np.maximum(counts, 1.0), np.nan)
    largest = np.maximum.reduceat(np.where(known, values, -1.0), starts, axis=0)
    return np.where(largest < 0, np.nan, largest)


def small_font(font: QFont) -> QFont:
    """Return a font a little smaller, for scales."""
    small = QFont(font)
    if small.pointSizeF() > 0:
        small.setPointSizeF(small.pointSizeF() * 0.85)
    return small
