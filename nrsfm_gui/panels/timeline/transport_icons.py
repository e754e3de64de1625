"""The signs on the buttons of the timeline, drawn in the colors of the theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QIcon, QPainterPath, QPainterPathStroker, QPolygonF

from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.icons import path_icon

if TYPE_CHECKING:
    from nrsfm_gui.model.theme import Theme

SIDE = 16.0


def _triangle(path: QPainterPath, base: float, tip: float) -> None:
    path.addPolygon(QPolygonF([QPointF(base, 3), QPointF(tip, 8), QPointF(base, 13)]))
    path.closeSubpath()


def _drawing(name: str) -> QPainterPath:
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    if name == "first":
        path.addRect(QRectF(3, 3, 2, 10))
        _triangle(path, 13, 5.5)
    elif name == "previous":
        _triangle(path, 11.5, 4)
    elif name == "play":
        _triangle(path, 4, 13)
    elif name == "pause":
        path.addRect(QRectF(4, 3, 3, 10))
        path.addRect(QRectF(9, 3, 3, 10))
    elif name == "next":
        _triangle(path, 4.5, 12)
    elif name == "last":
        _triangle(path, 3, 10.5)
        path.addRect(QRectF(11, 3, 2, 10))
    elif name == "back":
        for y, base, tip in ((5.0, 10.5, 14.0), (11.0, 5.5, 2.0)):
            path.addRect(QRectF(min(base, 16 - base) - 2.5, y - 0.9, 10, 1.8))
            path.addPolygon(QPolygonF([QPointF(base, y - 3.4), QPointF(tip, y), QPointF(base, y + 3.4)]))
            path.closeSubpath()
    elif name == "once":
        path.addRect(QRectF(1.5, 7.1, 8, 1.8))
        path.addPolygon(QPolygonF([QPointF(8.5, 4), QPointF(12.5, 8), QPointF(8.5, 12)]))
        path.closeSubpath()
        path.addRect(QRectF(13, 3.5, 1.8, 9))
    elif name == "worst":
        path.addPolygon(QPolygonF([QPointF(8, 2), QPointF(15, 14), QPointF(1, 14)]))
        path.closeSubpath()
        path.setFillRule(Qt.FillRule.OddEvenFill)
        path.addRect(QRectF(7.2, 6, 1.6, 4))
        path.addRect(QRectF(7.2, 11.2, 1.6, 1.6))
    elif name == "loop":
        stroker = QPainterPathStroker()
        stroker.setWidth(1.7)
        oval = QPainterPath()
        oval.arcMoveTo(QRectF(2, 4, 12, 8.5), 50)
        oval.arcTo(QRectF(2, 4, 12, 8.5), 50, 310)
        path.addPath(stroker.createStroke(oval))
        path.addPolygon(QPolygonF([QPointF(9.2, 1.6), QPointF(13.6, 4.8), QPointF(8.8, 7.4)]))
        path.closeSubpath()
    else:
        raise KeyError(name)
    return path


def transport_icon(name: str, theme: Theme) -> QIcon:
    """Return the icon of "first", "previous", "play", "pause", "next", "last", "worst" or of a loop."""
    return path_icon(_drawing(name), SIDE, qcolor(theme.text), qcolor(theme.border))
