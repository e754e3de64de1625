"""Labels that keep to the room they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QRect, QSize, Qt
from PyQt6.QtGui import QHelpEvent, QPainter
from PyQt6.QtWidgets import QLabel, QSizePolicy

if TYPE_CHECKING:
    from PyQt6.QtGui import QPaintEvent
    from PyQt6.QtWidgets import QWidget

PADDING = 6  # pixels on each side
LEAST_SHOWN = 6  # characters of a shortened text: fewer tell nothing


class ElidedLabel(QLabel):
    """A label that shortens its text instead of widening the window; the whole text is then its tip.

    It paints its text itself: setting the text of a QLabel lays out the window anew, many times a second.
    """

    def __init__(self, *, alignment: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft) -> None:
        super().__init__()
        self._whole = ""
        self.setAlignment(alignment | Qt.AlignmentFlag.AlignVCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    @property
    def whole(self) -> str:
        """The whole text."""
        return self._whole

    def set_whole(self, text: str) -> None:
        """Show a text, as much of it as there is room for."""
        if text != self._whole:
            self._whole = text
            self.setAccessibleName(text)
            self.update()

    def sizeHint(self) -> QSize:
        """Return the height of a line; the width is given by the layout."""
        return QSize(60, self.fontMetrics().height() + 6)

    def minimumSizeHint(self) -> QSize:
        """Return the height of a line; there is no least width."""
        return QSize(0, self.fontMetrics().height() + 2)

    def event(self, event: QEvent | None) -> bool:
        """Show the whole text as the tip where it is shortened."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            self.setToolTip(self._whole if self._shortened() != self._whole else "")
        return super().event(event)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint as much of the text as there is room for."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self._room(), int(self.alignment()), self._shortened())
        painter.end()

    def _room(self) -> QRect:
        return self.rect().adjusted(PADDING, 0, -PADDING, 0)

    def _shortened(self) -> str:
        shown = self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideRight, self._room().width())
        return shown if shown == self._whole or len(shown) >= LEAST_SHOWN else ""


class EmptyLabel(QLabel):
    """A sentence in the middle of a plot that has nothing to show; whoever resizes the plot calls `fill`.

    Parameters
    ----------
    text
        the sentence.
    plot
        what it lies over.
    margin
        pixels to its left and right.
    """

    def __init__(self, text: str, plot: QWidget, *, margin: int = 12) -> None:
        super().__init__(text, plot)
        self._plot, self._margin = plot, margin
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setProperty("role", "muted")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def fill(self) -> None:
        """Lie over the whole plot, as large as it is now."""
        self.setGeometry(self._plot.rect().adjusted(self._margin, 0, -self._margin, 0))
