"""What is said over the top of a view for a while: it takes no room, so that nothing jumps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QPoint
from PyQt6.QtWidgets import QVBoxLayout, QWidget

if TYPE_CHECKING:
    from PyQt6.QtCore import QObject

WIDEST, MARGIN = 640, 8  # pixels
TITLE = 50  # pixels at the top of the view that its title and its legend take


class Banners(QWidget):
    """Lines below each other, at the right of a widget that has the same parent.

    Where all of them are hidden it has no height, and the mouse reaches what is below.
    """

    def __init__(self, below: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._below = below
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        below.installEventFilter(self)

    def add(self, banner: QWidget) -> None:
        """Put a line below the others."""
        self._column.addWidget(banner)

    def event(self, event: QEvent | None) -> bool:
        """Take the height of the lines that are shown."""
        done = super().event(event)
        if event is not None and event.type() is QEvent.Type.LayoutRequest:
            self._place()
        return done

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Keep to the place."""
        if event is not None and watched is self._below:
            if event.type() in (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show):
                self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        width = max(min(WIDEST, self._below.width() - 2 * MARGIN), 0)
        height = self._column.totalHeightForWidth(width)
        if height < 0:  # no line wraps
            height = self._column.totalSizeHint().height()
        shown = any(
            (item := self._column.itemAt(index)) is not None and not item.isEmpty()
            for index in range(self._column.count())
        )
        corner = self._below.pos() + QPoint(self._below.width() - width - MARGIN, TITLE)
        self.setGeometry(corner.x(), corner.y(), width, height if shown else 0)
        self.raise_()
