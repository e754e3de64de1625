"""The icons of the list of runs, and the marks that its lines bear: color of the curve, pinned, noted."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPainterPathStroker, QPen, QPixmap

from nrsfm_gui.widgets.icons import path_icon

if TYPE_CHECKING:
    from collections.abc import Callable

    from nrsfm_gui.model.theme import Theme

SIDE = 16.0
SCALES = (1, 2, 3)
SWATCH, MARK = 9.0, 13.0  # pixels of width, each with the gap after it
MARK_SCALE = 0.82  # of the drawings below
SELECTED_INK = "#ffffff"  # on the accent of either theme


def _line(*corners: tuple[float, float], width: float = 1.6) -> QPainterPath:
    path = QPainterPath(QPointF(*corners[0]))
    for corner in corners[1:]:
        path.lineTo(*corner)
    stroker = QPainterPathStroker(QPen(Qt.GlobalColor.black, width))
    stroker.setCapStyle(Qt.PenCapStyle.RoundCap)
    stroker.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    return stroker.createStroke(path)


def pin_path() -> QPainterPath:
    """Return a pin, its point down."""
    path = _line((8, 9.5), (8, 14.5), width=1.4)
    path.addRoundedRect(QRectF(5, 1.5, 6, 2), 0.8, 0.8)
    path.addRect(QRectF(6, 3, 4, 4))
    path.addRoundedRect(QRectF(3.5, 7, 9, 2.6), 1.0, 1.0)
    return path


def note_path() -> QPainterPath:
    """Return three lines of writing."""
    path = _line((3, 4), (13, 4))
    path.addPath(_line((3, 8), (13, 8)))
    path.addPath(_line((3, 12), (9, 12)))
    return path


def _compare() -> QPainterPath:
    """Return two curves that part."""
    path = _line((2, 3), (5, 9.5), (9, 12), (14, 13))
    path.addPath(_line((2, 3), (6, 5), (10, 6.5), (14, 7)))
    return path


def _parameters() -> QPainterPath:
    """Return three sliders."""
    path = QPainterPath()
    for y, x in ((3.5, 10.5), (8.0, 5.0), (12.5, 9.0)):
        path.addPath(_line((2, y), (14, y), width=1.2))
        path.addEllipse(QPointF(x, y), 2.1, 2.1)
    return path


def _rename() -> QPainterPath:
    """Return a pencil."""
    path = _line((3, 13), (4, 9.8), (11, 2.8), (13.2, 5), (6.2, 12), (3, 13), width=1.3)
    path.addPath(_line((9.4, 4.4), (11.6, 6.6), width=1.2))
    return path


def _delete() -> QPainterPath:
    """Return a bin."""
    path = _line((4, 5), (4.8, 14), (11.2, 14), (12, 5), width=1.4)
    path.addPath(_line((2.5, 4), (13.5, 4), width=1.4))
    path.addPath(_line((6.5, 2.2), (9.5, 2.2), width=1.4))
    return path


PATHS: dict[str, Callable[[], QPainterPath]] = {
    "pin": pin_path,
    "compare": _compare,
    "parameters": _parameters,
    "rename": _rename,
    "delete": _delete,
}


def run_icon(name: str, color: str, disabled: str) -> QIcon:
    """Return an icon of PATHS in a color, and in another for its disabled state."""
    path = PATHS[name]()
    path.setFillRule(Qt.FillRule.WindingFill)
    return path_icon(path, SIDE, QColor(color), QColor(disabled))


def mark_width(marks: int) -> int:
    """Return the width of an icon with so many marks beside the swatch, in pixels."""
    return round(SWATCH + MARK * marks)


@lru_cache(maxsize=64)
def mark_icon(color: str, theme: Theme, *, pinned: bool, noted: bool) -> QIcon:
    """Return the swatch of a run's curve, beside it a pin and lines of writing where it has them."""
    result = QIcon()
    for mode, ink in ((QIcon.Mode.Normal, theme.text), (QIcon.Mode.Selected, SELECTED_INK)):
        for scale in SCALES:
            result.addPixmap(_mark_picture(color, ink, scale, pinned=pinned, noted=noted), mode)
    return result


def _mark_picture(color: str, ink: str, scale: int, *, pinned: bool, noted: bool) -> QPixmap:
    picture = QPixmap(mark_width(pinned + noted) * scale, int(SIDE) * scale)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(scale, scale)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(color))
    painter.drawRoundedRect(QRectF(0, 5.5, 8, 5), 1.5, 1.5)
    x = SWATCH
    for there, path in ((pinned, pin_path()), (noted, note_path())):
        if there:
            painter.save()
            painter.translate(x, SIDE * (1 - MARK_SCALE) / 2)
            painter.scale(MARK_SCALE, MARK_SCALE)
            path.setFillRule(Qt.FillRule.WindingFill)
            painter.fillPath(path, QColor(ink))
            painter.restore()
            x += MARK
    painter.end()
    picture.setDevicePixelRatio(scale)
    return picture
