"""A line below a panel that says what a click or a drag would do there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtGui import QPainter

from nrsfm_gui.widgets.labels import ElidedLabel

if TYPE_CHECKING:
    from PyQt6.QtGui import QPaintEvent


class HintLine(ElidedLabel):
    """A sentence in up to two lines."""

    def sizeHint(self) -> QSize:
        """Return the height of two lines; the width is given by the layout."""
        return QSize(60, 2 * self.fontMetrics().height() + 4)

    def minimumSizeHint(self) -> QSize:
        """Return the height of two lines; there is no least width."""
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint the text, broken where it has to be."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        room = self.rect().adjusted(8, 1, -8, -1)
        painter.drawText(room, int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignVCenter), self.whole)
        painter.end()
