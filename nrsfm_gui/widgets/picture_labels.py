"""Text over a picture: the legend, the numbers of points, a message."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QFontMetricsF, QPainter, QPen

from core.foundation import Floats
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.widgets.colors import qcolor

CLAUSE_ENDS = re.compile(r"(?<=[,·]) ")
SIGN = 10.0  # width of a sign, pixels
GAP = 7.0  # between sign and text
GROUND = 0.7  # opacity of what is behind the entries: points may lie there
BETWEEN = 11.0  # between entries in a row
MOST_LABELS = 80  # more could not be read
BESIDE = (9.0, -5.0)  # pixels from a point to the lower left corner of its number


@dataclass(frozen=True)
class LegendEntry:
    """A sign and its meaning."""

    text: str
    color: str
    hollow: bool = False
    line: bool = False
    crossed: bool = False


Entries = Iterable[LegendEntry]


def paint_legend(
    painter: QPainter, entries: Entries, theme: Theme, x: float, y: float, *, horizontal_to: float
) -> QRectF:
    """Paint entries from (x, y) on, in rows up to another x; return their area, which may be empty."""
    metrics, area = QFontMetricsF(painter.font()), QRectF()
    for entry, text, place in place_legend(entries, metrics, x, y, horizontal_to=horizontal_to):
        middle = place.center().y()
        painter.fillRect(place.adjusted(-3, 0, 3, 0), qcolor(theme.panel, GROUND))
        _paint_sign(painter, entry, place.left(), middle)
        painter.setPen(qcolor(theme.muted))
        painter.drawText(QPointF(place.left() + SIGN + GAP, middle + metrics.ascent() / 2 - 1), text)
        area = area.united(place)
    return area


def place_legend(
    entries: Entries, metrics: QFontMetricsF, x: float, y: float, *, horizontal_to: float
) -> Iterator[tuple[LegendEntry, str, QRectF]]:
    """Yield the entries that `paint_legend` paints, each with its text as it fits, and its place."""
    left, height = x, metrics.height() + 2
    middle = y + height / 2
    for entry in entries:
        room = horizontal_to - left - SIGN - GAP
        text = metrics.elidedText(entry.text, Qt.TextElideMode.ElideRight, room)
        width = SIGN + GAP + metrics.horizontalAdvance(text)
        if x > left and x + width > horizontal_to:
            x, middle = left, middle + height
        yield entry, text, QRectF(x, middle - height / 2, width, height)
        x += width + BETWEEN


def fitting_lines(text: str, metrics: QFontMetricsF, width: float, most: int) -> list[str]:
    """Return the clauses of a text in lines of a width; the last ones are left out where they have no room.

    Clauses end in "," or " ·". A first clause that is too long by itself is elided.
    """
    lines = [""]
    for clause in CLAUSE_ENDS.split(text):
        longer = f"{lines[-1]} {clause}".lstrip()
        if metrics.horizontalAdvance(longer) <= width:
            lines[-1] = longer
        elif lines[-1] and len(lines) < most and metrics.horizontalAdvance(clause) <= width:
            lines.append(clause)
        elif not lines[-1]:
            lines[-1] = metrics.elidedText(clause, Qt.TextElideMode.ElideRight, width)
        else:
            break
    lines[-1] = lines[-1].rstrip(",")
    return [line.removesuffix(" ·") for line in lines]


def _paint_sign(painter: QPainter, entry: LegendEntry, x: float, middle: float) -> None:
    if entry.line:
        painter.setPen(QPen(qcolor(entry.color), 1.6))
        painter.drawLine(QPointF(x, middle), QPointF(x + SIGN, middle))
        return
    if entry.crossed:
        middle_x = x + SIGN / 2
        painter.setPen(QPen(qcolor(entry.color), 1.8))
        for up in (-3.4, 3.4):
            painter.drawLine(QPointF(middle_x - 3.4, middle - up), QPointF(middle_x + 3.4, middle + up))
        return
    painter.setPen(QPen(qcolor(entry.color), 1.4) if entry.hollow else Qt.PenStyle.NoPen)
    painter.setBrush(Qt.BrushStyle.NoBrush if entry.hollow else qcolor(entry.color))
    painter.drawEllipse(QPointF(x + SIGN / 2, middle), 3.8, 3.8)


def paint_point_numbers(painter: QPainter, points: Collection[int], pixels: Floats, theme: Theme) -> None:
    """Paint 1-based numbers next to points seen at pixels (N, 2), NaN for those that are not.

    A number that would overlap one of those before it is left out.
    """
    metrics = QFontMetricsF(painter.font())
    height = metrics.ascent() - metrics.descent() + 1
    numbers = np.asarray(points) + 1
    widths = metrics.horizontalAdvance("0") * (1 + np.floor(np.log10(numbers))) + 4
    left, top = pixels[:, 0] + BESIDE[0] - 2, pixels[:, 1] + BESIDE[1] - height - 2
    free = np.isfinite(pixels).all(axis=1)
    for _ in range(MOST_LABELS):
        if not free.any():
            return
        k = int(free.argmax())
        painter.fillRect(QRectF(left[k], top[k], widths[k], height + 4), qcolor(theme.panel, 0.65))
        painter.setPen(qcolor(theme.selection))
        painter.drawText(QPointF(*pixels[k] + BESIDE), f"{numbers[k]}")
        beside = (left >= left[k] + widths[k]) | (left + widths <= left[k])
        free &= beside | (np.abs(top - top[k]) >= height + 4)


def paint_message(painter: QPainter, message: str, width: int, height: int, theme: Theme) -> None:
    """Write a message in the middle of a picture."""
    painter.setPen(qcolor(theme.muted))
    area = QRectF(24, 0, max(width - 48, 0), height)
    painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap), message)
