"""The color bar: a scale with its name, its unit and its limits, which the mouse drags."""

from __future__ import annotations

import math
from functools import lru_cache

from PyQt6.QtCore import QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QFontMetricsF,
    QLinearGradient,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PyQt6.QtWidgets import QMenu, QWidget

from nrsfm_gui.model.appearance import COLOR_MAPS, COLORINGS, Appearance
from nrsfm_gui.model.numbers import MINUS
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.widgets.colors import LEVELS, color_table, qcolor
from nrsfm_gui.widgets.labels import known
from nrsfm_gui.widgets.style import Themed

STOPS = 32
WIDTH, HEIGHT = 230, 40  # of the widget, pixels
BAR = 10.0  # height of the colors
GRIP = 12.0  # pixels from an end within which the mouse drags it
INSET = 5.0  # space for the handles at the ends
FONT = 0.88  # of the size of other text
GROUND = 0.7  # opacity of what is behind the text
LEAST_SPAN = 1e-3  # of the span before a drag, that one leaves


def number(value: float, span: float) -> str:
    """Return an end of a scale with three figures of the span: 1480.2 of 0.4, 12 of 300."""
    digits = 3
    if value and span > 0:
        magnitude = math.floor(math.log10(abs(value)))
        # All digits before the point instead of an exponent.
        digits = max(3, magnitude + 1, magnitude - math.floor(math.log10(span)) + 3)
    text = f"{value:.{min(digits, 9)}g}"
    return text.replace("-", MINUS)


def paint_color_bar(
    painter: QPainter,
    area: QRectF,
    theme: Theme,
    *,
    color_map: str,
    limits: tuple[float, float],
    label: str,
    handles: tuple[float, float] | None = None,
) -> None:
    """Paint a horizontal bar, the values at its ends, and its title.

    `label`: name and unit; `handles`: where along the bar, from 0 to 1, handles are painted; None for none.
    """
    painter.save()
    font = QFont(painter.font())
    if font.pointSizeF() > 0:
        font.setPointSizeF(font.pointSizeF() * FONT)
    painter.setFont(font)
    metrics = QFontMetricsF(font)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillRect(area, qcolor(theme.panel, GROUND))
    bar = QRectF(area.left() + INSET, area.top() + metrics.height() + 2, area.width() - 2 * INSET, BAR)
    low, high = handles or (0.0, 1.0)
    gradient = QLinearGradient(bar.topLeft(), bar.topRight())
    for share, color in _stops(color_map):  # between the handles: ends go on with their colors
        gradient.setColorAt(min(max(low + (high - low) * share, 0.0), 1.0), color)
    painter.setPen(QPen(qcolor(theme.border), 1.0))
    painter.setBrush(gradient)
    painter.drawRect(bar)
    if handles is not None:
        painter.setPen(QPen(qcolor(theme.panel), 1.0))
        painter.setBrush(qcolor(theme.text))
        for place in handles:
            x = bar.left() + min(max(place, 0.0), 1.0) * bar.width()
            painter.drawRoundedRect(QRectF(x - 2.5, bar.top() - 2.5, 5.0, BAR + 5.0), 2.0, 2.0)
    painter.setPen(qcolor(theme.text))
    left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    name = QRectF(bar.left(), area.top(), bar.width(), metrics.height())
    painter.drawText(name, left, metrics.elidedText(label, Qt.TextElideMode.ElideRight, bar.width()))
    painter.setPen(qcolor(theme.muted))
    ends = QRectF(bar.left(), bar.bottom() + 2, bar.width(), metrics.height())
    span = limits[1] - limits[0]
    painter.drawText(ends, left, number(limits[0], span))
    painter.drawText(ends, right, number(limits[1], span))
    painter.restore()


@lru_cache(maxsize=16)
def _stops(color_map: str) -> tuple[tuple[float, QColor], ...]:
    """Return some fractions of a scale and their colors."""
    table = color_table(color_map)
    shares = [k / STOPS for k in range(STOPS + 1)]
    return tuple((share, QColor(*table[round(share * (LEVELS - 1))].tolist())) for share in shares)


def paint_upright_bar(painter: QPainter, area: QRectF, theme: Theme, color_map: str) -> None:
    """Paint the scale of errors upright, 0 at the bottom, without text."""
    gradient = QLinearGradient(area.bottomLeft(), area.topLeft())
    for share, color in _stops(color_map):
        gradient.setColorAt(share, color)
    painter.setPen(QPen(qcolor(theme.border), 1.0))
    painter.setBrush(gradient)
    painter.drawRect(area)


class ColorBar(Themed, QWidget):
    """A color scale. Dragging an end moves that limit; a double click resets both to those of the data."""

    GESTURES = (
        ("Drag an end of the color bar", "change that limit of the colors"),
        ("Double click on the color bar", "limits of the data"),
        ("Right click on the color bar", "other colors, and what they show"),
    )

    change_requested = pyqtSignal(dict)  # of fields of the appearance

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._appearance: Appearance | None = None
        self.limits: tuple[float, float] | None = None  # the values at the ends of the scale
        self._label = ""
        self._dragged_end = -1  # which end is dragged: 0 low, 1 high, -1 none
        self._start = (0.0, 1.0)  # limits when the drag began: the bar keeps that scale
        self.setMouseTracking(True)
        self.setAccessibleName("Color scale")
        self.setToolTip(
            "Drag an end to change the limits of the colors.\nDouble-click: limits from the data.\n"
            "Right click: other colors, other values."
        )
        self.hide()

    def sizeHint(self) -> QSize:
        """Return a fixed size that holds name, bar and numbers."""
        return QSize(WIDTH, max(HEIGHT, round(2 * self.fontMetrics().height() * FONT + BAR + 6)))

    def set_scale(self, appearance: Appearance, limits: tuple[float, float] | None, label: str) -> None:
        """Show a color scale; `limits` are the values at its ends, None for no scale. Emits nothing."""
        if (appearance, limits, label) != (self._appearance, self.limits, self._label):
            self._appearance, self.limits, self._label = appearance, limits, label
            self.update()

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint it."""
        appearance, limits = self._appearance, self.limits
        if appearance is None or limits is None:
            return
        low, high = self._start if self._dragged_end >= 0 else limits
        handles = tuple((end - low) / (high - low) for end in limits)
        painter = QPainter(self)
        paint_color_bar(
            painter, QRectF(self.rect()), self._theme, color_map=appearance.color_map,
            limits=limits, label=self._label, handles=(handles[0], handles[1]),
        )  # fmt: skip

    def _end_at(self, x: float) -> int:
        distances = abs(x - INSET), abs(x - (self.width() - INSET))
        nearest = min((0, 1), key=lambda end: distances[end])
        return nearest if distances[nearest] <= GRIP else -1

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Start dragging an end."""
        assert event is not None
        if event.button() == Qt.MouseButton.LeftButton and self.limits is not None:
            self._dragged_end, self._start = self._end_at(event.position().x()), self.limits

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Drag an end; beyond the bar, the limit exceeds the present ones."""
        x = known(event).position().x()
        if self._dragged_end < 0:
            near = self._end_at(x) >= 0
            self.setCursor(Qt.CursorShape.SizeHorCursor if near else Qt.CursorShape.ArrowCursor)
            return
        low, high = self._start
        value = low + (x - INSET) / max(self.width() - 2 * INSET, 1.0) * (high - low)
        least = LEAST_SPAN * (high - low)
        if self._dragged_end == 0:
            self.change_requested.emit({"limits": (min(value, high - least), high)})
        else:
            self.change_requested.emit({"limits": (low, max(value, low + least))})

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:
        """Stop dragging: the bar spans the limits again."""
        self._dragged_end = -1
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:
        """Request the limits of the data."""
        self._dragged_end = -1
        self.change_requested.emit({"limits": None})

    def contextMenuEvent(self, event: QContextMenuEvent | None) -> None:
        """Offer other colors and other values."""
        if self._appearance is not None:
            self.menu().popup(known(event).globalPos())

    def menu(self) -> QMenu:
        """Return a menu of color maps and quantities; it deletes itself when it closes."""
        assert self._appearance is not None  # a bar without a scale is hidden
        appearance = self._appearance
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        automatic = known(menu.addAction("Limits from the data"))
        automatic.setEnabled(appearance.limits is not None)
        automatic.triggered.connect(lambda: self.change_requested.emit({"limits": None}))
        maps = {name: name.capitalize() for name in COLOR_MAPS}
        for field, titles in (("color_map", maps), ("color_by", COLORINGS)):
            menu.addSeparator()
            for key, title in titles.items():
                action = known(menu.addAction(title))
                action.setCheckable(True)
                action.setChecked(key == getattr(appearance, field))
                action.triggered.connect(lambda _on, change={field: key}: self.change_requested.emit(change))
        return menu
