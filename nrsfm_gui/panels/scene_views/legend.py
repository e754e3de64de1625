"""The small legend in the corner of a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QFontMetricsF, QPainter, QPen

from nrsfm_gui.widgets.colors import qcolor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nrsfm_gui.model.theme import Theme

SIGN = 10.0  # width of a sign, pixels
GAP = 7.0  # between sign and text
GROUND = 0.7  # opacity of what is behind the entries: points may lie there
BETWEEN = 16.0  # between entries in a row


@dataclass(frozen=True)
class LegendEntry:
    """A sign and what it stands for."""

    text: str
    color: str
    hollow: bool = False
    line: bool = False


def paint_legend(
    painter: QPainter,
    entries: Iterable[LegendEntry],
    theme: Theme,
    x: float,
    y: float,
    *,
    horizontal_to: float | None = None,
) -> QRectF:
    """Paint entries from (x, y) on: below each other, or in rows up to an x where that is given.

    Returns where they stand, an empty rectangle where there are none.
    """
    metrics = QFontMetricsF(painter.font())
    left, height = x, metrics.height() + 2
    middle = y + height / 2
    area = QRectF()
    for entry in entries:
        width = SIGN + GAP + metrics.horizontalAdvance(entry.text)
        if horizontal_to is not None and x > left and x + width > horizontal_to:
            x, middle = left, middle + height
        place = QRectF(x, middle - height / 2, width, height)
        painter.fillRect(place.adjusted(-3, 0, 3, 0), qcolor(theme.panel, GROUND))
        _paint_sign(painter, entry, x, middle)
        painter.setPen(qcolor(theme.muted))
        painter.drawText(QPointF(x + SIGN + GAP, middle + metrics.ascent() / 2 - 1), entry.text)
        area = area.united(place)
        if horizontal_to is None:
            middle += height
        else:
            x += width + BETWEEN
    return area


def _paint_sign(painter: QPainter, entry: LegendEntry, x: float, middle: float) -> None:
    if entry.line:
        painter.setPen(QPen(qcolor(entry.color), 1.6))
        painter.drawLine(QPointF(x, middle), QPointF(x + SIGN, middle))
        return
    painter.setPen(QPen(qcolor(entry.color), 1.4) if entry.hollow else Qt.PenStyle.NoPen)
    painter.setBrush(Qt.BrushStyle.NoBrush if entry.hollow else qcolor(entry.color))
    painter.drawEllipse(QPointF(x + SIGN / 2, middle), 3.8, 3.8)
