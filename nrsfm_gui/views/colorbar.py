"""The color scale of errors, with its range and unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QFont, QLinearGradient, QPainter, QPen

from .colors import LEVELS, error_table, qcolor

if TYPE_CHECKING:
    from nrsfm_gui.theme import Theme

STOPS = 16


def paint_color_bar(painter: QPainter, area: QRectF, theme: Theme, *, top: float, label: str) -> None:
    """Paint a horizontal bar with 0, the top of the scale, and what it stands for.

    Parameters
    ----------
    painter
        active; its state is restored.
    area
        where; the bar takes the upper part, the text the lower.
    theme
        colors.
    top
        error at the right end; larger ones have the same color.
    label
        name and unit.
    """
    painter.save()
    font = QFont(painter.font())
    if font.pointSizeF() > 0:
        font.setPointSizeF(font.pointSizeF() * 0.88)
    painter.setFont(font)
    bar = QRectF(area.left(), area.top(), area.width(), min(10.0, area.height() / 2))
    gradient = QLinearGradient(bar.topLeft(), bar.topRight())
    for k in range(STOPS + 1):
        gradient.setColorAt(k / STOPS, table_color(theme, k / STOPS))
    painter.setPen(QPen(qcolor(theme.border), 1.0))
    painter.setBrush(gradient)
    painter.drawRect(bar)
    painter.setPen(qcolor(theme.muted))
    text = QRectF(area.left(), bar.bottom() + 2, area.width(), area.bottom() - bar.bottom() - 2)
    painter.drawText(text, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, "0")
    painter.drawText(text, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"≥ {top:.3g}")
    painter.drawText(text, Qt.AlignmentFlag.AlignCenter, label)
    painter.restore()


def table_color(theme: Theme, fraction: float) -> QColor:
    """Return the color at a fraction of the scale."""
    red, green, blue, _ = error_table(theme.name)[round(fraction * (LEVELS - 1))]
    return QColor(int(red), int(green), int(blue))


def paint_upright_bar(painter: QPainter, area: QRectF, theme: Theme) -> None:
    """Paint the scale upright, 0 at the bottom, without text."""
    gradient = QLinearGradient(QPointF(0, area.bottom()), QPointF(0, area.top()))
    for k in range(STOPS + 1):
        gradient.setColorAt(k / STOPS, table_color(theme, k / STOPS))
    painter.setPen(QPen(qcolor(theme.border), 1.0))
    painter.setBrush(gradient)
    painter.drawRect(area)
