"""The heat-strip: the error of every point in every frame, one column per frame, one row per point."""

from __future__ import annotations

import numpy as np
from PyQt6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import (
    QColor,
    QContextMenuEvent,
    QCursor,
    QFont,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PyQt6.QtWidgets import QToolTip

from core.foundation import Bools, Floats, Ints
from nrsfm_gui.engine.throttle import IDLE_MILLISECONDS, Debounce
from nrsfm_gui.panels.timeline.frame_picture import FramePicture, TimelineState
from nrsfm_gui.scene.ranking import known_means, worst_first
from nrsfm_gui.scene.scene import ErrorSeries
from nrsfm_gui.widgets.color_bar import number, paint_upright_bar
from nrsfm_gui.widgets.colors import color_table, qcolor, value_levels
from nrsfm_gui.widgets.labels import known, plain_tip
from nrsfm_gui.widgets.lasso import CLICK_TRAVEL
from nrsfm_gui.widgets.point_view import PointSignals

TOP_PERCENTILE = 98.0
MANY_IN_A_PIXEL = 100
HIDDEN_OPACITY = 90  # of 255
LUMINANCE = (0.30, 0.59, 0.11)
BAR_WIDTH = 8.0
LEFT_GAP, RIGHT_GAP, TEXT_GAP = 8.0, 10.0, 5.0  # pixels
TICK = 6.0  # length of the mark of a selected point
LEAST_CROSS = 5  # side in pixels of a cell that is crossed, not filled
MOST_LINES = 8  # selected points that are marked across the strip
WITHOUT_RUN = "Error by frame and point: after a run"
TIP = "click: go there · drag: play only these frames · with Shift: select the points, too"


def heat_image(values: Floats, size: tuple[int, int], top: float, *, hidden: Bools, color_map: str) -> QImage:
    """Return a picture of values (P, F), a column per frame at most; `hidden` points (P,) are gray."""
    columns, rows = min(size[0], values.shape[1]), min(size[1], len(values))
    if columns < values.shape[1]:
        values = np.fmax.reduceat(values, np.arange(columns) * values.shape[1] // columns, axis=1)
    starts = np.arange(rows) * len(values) // rows
    by_mean = len(values) > MANY_IN_A_PIXEL * rows
    gray = np.logical_and.reduceat(hidden, starts)
    counted = ~hidden | np.repeat(gray, np.diff([*starts, len(values)]))
    pooled = values
    if rows < len(values):
        pooled = _pooled(np.where(counted[:, None], values, np.nan), starts, by_mean=by_mean)
    pixels = color_table(color_map)[value_levels(pooled, (0.0, top))]
    if gray.any():
        pixels[gray, :, :3] = (pixels[gray, :, :3] @ LUMINANCE)[:, :, None]
        pixels[gray, :, 3] = HIDDEN_OPACITY
    pixels[~np.isfinite(pooled)] = 0
    pixels = np.ascontiguousarray(pixels)
    return QImage(pixels.tobytes(), columns, rows, 4 * columns, QImage.Format.Format_RGBA8888).copy()


def crossed_image(picture: QImage, crossed: Bools, size: tuple[int, int], color: QColor) -> QImage:
    """Return a picture of a size in which cells (P, F) are crossed out, or filled where they are small."""
    (width, height), (rows, columns) = size, crossed.shape
    large = picture.scaled(width, height).convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)
    painter = QPainter(large)
    points, frames = np.nonzero(crossed)
    x0, y0 = frames * width // columns, points * height // rows
    x1 = np.maximum((frames + 1) * width // columns, x0 + 1)
    y1 = np.maximum((points + 1) * height // rows, y0 + 1)
    if min(width / columns, height / rows) >= LEAST_CROSS:
        painter.setPen(QPen(color, 1.2))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for left, top, right, bottom in np.stack([x0 + 1, y0 + 1, x1 - 1, y1 - 1], axis=1).tolist():
            painter.drawLine(QLineF(left, top, right, bottom))
            painter.drawLine(QLineF(left, bottom, right, top))
    else:
        cells = np.unique(np.stack([x0, y0, x1 - x0, y1 - y0]), axis=1).T
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        for cell in cells.tolist():
            painter.drawRect(*cell)
    painter.end()
    return large


def top_of(values: Floats) -> float:
    """Return the value at which the color scale ends, so that few are beyond it; 1 where all are 0."""
    return float(np.percentile(values[np.isfinite(values)], TOP_PERCENTILE)) or 1.0


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


class HeatStrip(FramePicture, PointSignals):
    """Frames x points, colored by error."""

    GESTURES = (
        ("Click into the strip", "go to the frame, and select the point"),
        ("Ctrl+click", "add a point to the selected ones, or remove it"),
        ("Drag over the strip", "play these frames only"),
        ("Shift+drag", "play these frames only, and select these points"),
        ("Double click", "play all frames"),
        ("Right click", "menu of the point"),
    )

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumHeight(40)
        self.setAccessibleName("error by frame and point")
        self._series: ErrorSeries | None = None  # of which some error is known, and not all are 0
        self._order = self._row_of = np.zeros(0, dtype=int)  # the point of every row, the row of every point
        self._top = 1.0
        self._rest = Debounce(self._on_mouse_rested, IDLE_MILLISECONDS, self)
        self._pressed: QPointF | None = None
        self._dragged = False
        self._rectangle: QRectF | None = None  # of a drag that selects points
        self._why_empty = WITHOUT_RUN
        self._image: tuple[tuple[int, int], QImage] | None = None  # size it was made for, picture
        self._follow_theme()

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        return QSize(640, 56)

    # What is shown

    def set_state(self, state: TimelineState) -> None:
        """Show the errors of points, mark the selected ones, and gray those that are not drawn elsewhere."""
        before = self._state
        super().set_state(state)
        if state.series is not before.series:
            self._set_series(state.series)
        if (state.series, state.by_error) != (before.series, before.by_error):
            self._arrange()
        seen = [(each.count, each.hidden, each.color_map, id(each.excluded)) for each in (before, state)]
        if seen[0] != seen[1]:
            self.redraw()

    def _set_series(self, series: ErrorSeries | None) -> None:
        self._series, self._why_empty = series, WITHOUT_RUN
        if series is None or not np.isfinite(series.per_point).any():
            self._series = None
        elif series.zero:
            self._series, self._why_empty = None, f"The {series.name} is 0 in all frames"
        else:
            self._top = top_of(series.per_point)

    def redraw(self) -> None:
        """Color the cells anew."""
        self._image = None
        super().redraw()

    def _arrange(self) -> None:
        if self._series is not None:
            means = known_means(self._series.per_point, 0)
            self._order = worst_first(means) if self._state.by_error else np.arange(len(means))
            self._row_of = np.argsort(self._order)
        self.redraw()

    # Painting

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint the picture, the marks and the color bar."""
        painter = QPainter(self)
        area, theme = self._area(), self._theme
        painter.fillRect(area, qcolor(theme.panel))
        painter.setPen(qcolor(theme.muted))
        if self._series is None:
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, self._why_empty)
        else:
            size = max(int(area.width()), 1), max(int(area.height()), 1)
            painter.drawImage(area, self._picture(self._series.per_point, size))
            self._paint_range(painter, area)
            self._paint_line(painter, area)
            self._paint_selection(painter, area)
            if self._rectangle is not None:
                painter.setPen(QPen(qcolor(theme.selection), 1.2))
                painter.setBrush(qcolor(theme.selection, 0.15))
                painter.drawRect(self._rectangle & area)
            self._paint_scales(painter, area, self._series.unit)

    def _paint_selection(self, painter: QPainter, area: QRectF) -> None:
        """Mark the rows of the selected points: lines across the picture where they are few, and ticks."""
        chosen = [point for point in self._state.selection if point < len(self._row_of)]
        if not chosen:
            return
        heights = area.top() + (self._row_of[chosen] + 0.5) * area.height() / len(self._row_of)
        color = self._theme.selection
        painter.setPen(QPen(qcolor(color), 1.0))
        for y in np.unique(np.round(heights)):
            painter.drawLine(QLineF(area.left() - TICK, y, area.left() - 1, y))
        for point, y in zip(chosen, heights, strict=True):
            if point == self._state.point:
                painter.setPen(QPen(qcolor(color), 1.0))
            elif len(chosen) <= MOST_LINES:
                painter.setPen(QPen(qcolor(color, 0.55), 1.0))
            else:
                continue
            painter.drawLine(QLineF(area.left(), y, area.right(), y))

    def _paint_scales(self, painter: QPainter, area: QRectF, unit: str) -> None:
        """Paint the names of the first and the last row left of the area, and the color bar right of it."""
        painter.setFont(small_font(painter.font()))
        painter.setPen(qcolor(self._theme.muted))
        ascent, right = painter.fontMetrics().ascent(), Qt.AlignmentFlag.AlignRight
        ends = ("worst", "best") if self._state.by_error else ("point 1", f"{len(self._order)}")
        beside = QRectF(0, area.top(), area.left() - LEFT_GAP, area.height())
        painter.drawText(beside, right | Qt.AlignmentFlag.AlignTop, ends[0])
        painter.drawText(beside, right | Qt.AlignmentFlag.AlignBottom, ends[1])
        bar = QRectF(area.right() + RIGHT_GAP, area.top() + 1, BAR_WIDTH, area.height() - 2)
        paint_upright_bar(painter, bar, self._theme, self._state.color_map)
        painter.setPen(qcolor(self._theme.muted))
        x, top = bar.right() + TEXT_GAP, float(f"{self._top:.2g}")
        painter.drawText(QPointF(x, bar.top() + ascent - 2), f"≥{number(top, self._top)}")
        painter.drawText(QPointF(x, bar.bottom()), "0")
        painter.drawText(QPointF(x, bar.center().y() + ascent / 2 - 1), unit)

    def _area(self) -> QRectF:
        return QRectF(self._axis.left, 2, self._axis.span, self.height() - 4)

    def _picture(self, errors: Floats, size: tuple[int, int]) -> QImage:
        if self._image is None or self._image[0] != size:
            hidden, excluded = np.isin(self._order, list(self._state.hidden)), self._state.excluded
            color_map = self._state.color_map
            picture = heat_image(errors.T[self._order], size, self._top, hidden=hidden, color_map=color_map)
            if excluded is not None and excluded.shape == errors.shape:
                crossed = excluded.T[self._order]
                picture = crossed_image(picture, crossed, size, qcolor(self._theme.warning))
            self._image = size, picture
        return self._image[1]

    # Mouse

    def cell_at(self, position: QPointF) -> tuple[int, int] | None:
        """Return the frame and the point at a pixel, or None outside."""
        area = self._area()
        if self._series is None or not area.contains(position):
            return None
        return self._axis.frame_at(position.x()), int(self._order[self._row_at(position.y())])

    def _row_at(self, y: float) -> int:
        area, rows = self._area(), len(self._order)
        return min(max(int((y - area.top()) / area.height() * rows), 0), rows - 1)

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Start to drag an edge of the range, or start a click or a drag."""
        assert event is not None
        if event.button() != Qt.MouseButton.LeftButton or self._series is None:
            return
        place = event.position()
        self._held = self._edge_at(place.x())
        if self._held is None and self._area().contains(place):
            self._pressed = place

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Drag the edge or the rectangle; else show the value under the mouse."""
        assert event is not None
        x = event.position().x()
        if self._drag_edge(x):
            return
        if self._pressed is not None:
            self._drag(event, self._pressed)
        else:
            self._show_edge(x)
            self._update_tip(event.position())
            self._rest.request()

    def _drag(self, event: QMouseEvent, pressed: QPointF) -> None:
        place = event.position()
        if not self._dragged and (place - pressed).manhattanLength() < CLICK_TRAVEL:
            return
        self._dragged = True
        first, last = sorted(self._axis.frame_at(end.x()) for end in (pressed, place))
        self.range_requested.emit((first, last))
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            first, last = sorted(self._row_at(end.y()) for end in (pressed, place))
            self._rectangle = QRectF(pressed, place).normalized()
            self.points_selected.emit(self._order[first : last + 1], False)
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:
        """Request the frame and the point where the mouse did not move."""
        cell = None if self._pressed is None or self._dragged else self.cell_at(self._pressed)
        self._pressed = self._rectangle = self._held = None
        self._dragged = False
        self.update()
        if cell is None:
            return
        if known(event).modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.point_toggled.emit(cell[1])
        else:
            self.frame_requested.emit(cell[0])
            self.point_selected.emit(cell[1])

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:
        """Play all frames again."""
        self.range_requested.emit(None)

    def _on_mouse_rested(self) -> None:
        """Add the gestures to the tip."""
        position = QPointF(self.mapFromGlobal(QCursor.pos()))
        if self.underMouse() and self._pressed is None:
            self._update_tip(position, rests=True)

    def _update_tip(self, position: QPointF, *, rests: bool = False) -> None:
        cell, series, excluded = self.cell_at(position), self._series, self._state.excluded
        self.point_hovered.emit(-1 if cell is None else cell[1])
        if cell is None or series is None:
            QToolTip.hideText()
            return
        frame, point = cell
        value = series.per_point[frame, point]
        value_text = f"{value:.3g} {series.unit}" if np.isfinite(value) else "no value"
        hidden = " (not drawn in the views)" if point in self._state.hidden else ""
        if excluded is not None and excluded[frame, point]:
            hidden += " (hidden from the solver)"
        text = f"frame {frame + 1} · point {point + 1}{hidden} · {series.name} {value_text}"
        text += f" · {series.alignment}" if series.alignment else ""
        place = self.mapToGlobal(position).toPoint()
        QToolTip.showText(place, plain_tip(f"{text}\n{TIP}" if rests else text), self)

    def contextMenuEvent(self, event: QContextMenuEvent | None) -> None:
        """Show the frame and select the point under the mouse, and ask for the menu of the point."""
        assert event is not None
        cell = self.cell_at(QPointF(event.pos()))
        if cell is None:
            return
        self.frame_requested.emit(cell[0])
        if cell[1] not in self._state.selection:
            self.point_selected.emit(cell[1])
        self.menu_requested.emit(event.globalPos())

    def leaveEvent(self, event: QEvent | None) -> None:
        """Clear what belongs to the point under the mouse."""
        self._rest.cancel()
        self.point_hovered.emit(-1)
