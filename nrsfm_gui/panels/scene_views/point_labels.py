"""The numbers of points, written beside them: the same in the 2-D and in the 3-D view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QPointF, QRectF
from PyQt6.QtGui import QFontMetricsF, QPainter

from nrsfm_gui.widgets.colors import qcolor

if TYPE_CHECKING:
    from collections.abc import Sequence as Items

    from core.foundation import Floats
    from nrsfm_gui.model.theme import Theme

MOST_LABELS = 80  # more could not be read
BESIDE = (9.0, -5.0)  # pixels from a point to the lower left corner of its number


def paint_point_numbers(painter: QPainter, points: Items[int], pixels: Floats, theme: Theme) -> None:
    """Write 1-based numbers beside points.

    Parameters
    ----------
    painter
        active on the widget.
    points
        N indices; at most MOST_LABELS are written, the first ones, and none over another one.
    pixels
        (N, 2) where the points are seen; NaN for those that are not.
    theme
        colors.
    """
    metrics = QFontMetricsF(painter.font())
    digit, height = metrics.horizontalAdvance("0"), metrics.ascent() - metrics.descent() + 1
    known = np.isfinite(pixels).all(axis=1)
    room = _Room(6 * digit, 2 * height)
    for point, x, y in zip(np.asarray(points)[known].tolist(), *pixels[known].T.tolist(), strict=True):
        if room.written == MOST_LABELS:
            break
        text = f"{point + 1}"
        place = QRectF(x + BESIDE[0] - 2, y + BESIDE[1] - height - 2, digit * len(text) + 4, height + 4)
        if room.take(place):
            painter.fillRect(place, qcolor(theme.panel, 0.65))
            painter.setPen(qcolor(theme.selection))
            painter.drawText(QPointF(x + BESIDE[0], y + BESIDE[1]), text)


class _Room:
    """Where rectangles lie that must not overlap; found again by their cells in a grid of larger ones."""

    def __init__(self, width: float, height: float) -> None:
        self._size = width, height
        self._cells: dict[tuple[int, int], list[QRectF]] = {}
        self.written = 0

    def take(self, place: QRectF) -> bool:
        """Take a place; False where a part of it is taken."""
        column, row = int(place.left() // self._size[0]), int(place.top() // self._size[1])
        for cell in ((column + i, row + j) for i in (-1, 0, 1) for j in (-1, 0, 1)):
            if any(place.intersects(other) for other in self._cells.get(cell, ())):
                return False
        self._cells.setdefault((column, row), []).append(place)
        self.written += 1
        return True
