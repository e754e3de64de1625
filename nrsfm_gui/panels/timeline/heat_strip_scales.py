"""What stands beside the heat-strip: which points its rows are, and what its colors mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QFont, QPainter

from nrsfm_gui.widgets.color_bar import number, paint_upright_bar
from nrsfm_gui.widgets.colors import qcolor

if TYPE_CHECKING:
    from nrsfm_gui.model.theme import Theme

BAR_WIDTH = 8.0
LEFT_GAP, RIGHT_GAP, TEXT_GAP = 8.0, 10.0, 5.0  # pixels


def paint_scales(
    painter: QPainter, area: QRectF, theme: Theme, *, ends: tuple[str, str], top: float, unit: str
) -> None:
    """Write the names of the first and the last row beside an area, and paint the color bar opposite.

    Parameters
    ----------
    painter
        active on the widget of the strip.
    area
        of the picture.
    theme
        colors.
    ends
        names of the first and of the last row.
    top
        the error at which the scale of colors ends, in `unit`.
    unit
        of the errors.
    """
    painter.setFont(small_font(painter.font()))
    painter.setPen(qcolor(theme.muted))
    metrics = painter.fontMetrics()
    beside = QRectF(0, area.top(), area.left() - LEFT_GAP, area.height())
    right = Qt.AlignmentFlag.AlignRight
    painter.drawText(beside, right | Qt.AlignmentFlag.AlignTop, ends[0])
    painter.drawText(beside, right | Qt.AlignmentFlag.AlignBottom, ends[1])
    bar = QRectF(area.right() + RIGHT_GAP, area.top() + 1, BAR_WIDTH, area.height() - 2)
    paint_upright_bar(painter, bar, theme)
    painter.setPen(qcolor(theme.muted))
    x = bar.right() + TEXT_GAP
    painter.drawText(QPointF(x, bar.top() + metrics.ascent() - 2), f"≥{number(float(f'{top:.2g}'), top)}")
    painter.drawText(QPointF(x, bar.bottom()), "0")
    painter.drawText(QPointF(x, bar.center().y() + metrics.ascent() / 2 - 1), unit)


def small_font(font: QFont) -> QFont:
    """Return a font a little smaller, for scales."""
    small = QFont(font)
    if small.pointSizeF() > 0:
        small.setPointSizeF(small.pointSizeF() * 0.85)
    return small
