"""The numbers of points, written beside them: the same in the 2-D and in the 3-D view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QPointF, QRectF
from PyQt6.QtGui import QFontMetricsF, QPainter

from .colors import qcolor

if TYPE_CHECKING:
    from collections.abc import Sequence as Items

    from core.arrays import Floats
    from nrsfm_gui.theme import Theme

MOST_LABELS = 150  # more could not be read
BESIDE = (9.0, -5.0)  # pixels from a point to the lower left corner of its number


def paint_point_numbers(painter: QPainter, points: Items[int], pixels: Floats, theme: Theme) -> None:
    """Write 1-based numbers beside points.

    Parameters
    ----------
    painter
        active on the widget.
    points
        N indices; of more than MOST_LABELS the first are written, and none over another one.
    pixels
        (N, 2) where the points are seen; NaN for those that are not.
    theme
        colors.
    """
    metrics = QFontMetricsF(painter.font())
    written: list[QRectF] = []
    for point, (x, y) in list(zip(points, pixels, strict=True))[:MOST_LABELS]:
        if not np.isfinite(x + y):
            continue
        place, text = QPointF(x + BESIDE[0], y + BESIDE[1]), f"{point + 1}"
        ground = metrics.tightBoundingRect(text).translated(place).adjusted(-2, -2, 2, 2)
        if any(ground.intersects(other) for other in written):
            continue
        written.append(ground)
        painter.fillRect(ground, qcolor(theme.panel, 0.65))
        painter.setPen(qcolor(theme.selection))
        painter.drawText(place, text)
