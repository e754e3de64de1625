"""Banners over a view: the most urgent of those that want to be seen is shown, the others wait."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QPoint
from PyQt6.QtWidgets import QVBoxLayout, QWidget

if TYPE_CHECKING:
    from collections.abc import Callable

    from PyQt6.QtCore import QObject

MARGIN = 8  # pixels
BUTTONS = 42  # pixels at the bottom of the view that its buttons cover


class Urgency(IntEnum):
    """What a banner is about, the most urgent first."""

    ERROR = 0
    STATE = 1  # something is read, or nothing is open
    QUESTION = 2  # a session can be recovered
    MESSAGE = 3
    PROGRESS = 4
    GUIDE = 5  # the first steps


class Banners(QWidget):
    """Shows one banner at the bottom of a widget, above its buttons, or in its middle.

    A banner is as wide as it wants to be, where there is room.

    A banner is shown and hidden by its owner as any widget; one that is not hidden waits here while a more
    urgent one is seen. Where there is none, the mouse reaches what is below.
    """

    def __init__(self, below: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._below = below
        self._banners: dict[QWidget, tuple[QWidget, Callable[[], Urgency], bool]] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        below.installEventFilter(self)
        self.hide()

    @property
    def shown(self) -> QWidget | None:
        """The banner that is seen, None where there is none."""
        waiting = [banner for banner in self._banners if not banner.isHidden()]
        return min(waiting, key=lambda banner: self._banners[banner][1](), default=None)

    def add(self, banner: QWidget, urgency: Callable[[], Urgency], *, central: bool = False) -> None:
        """Add a banner; `central` ones are shown in the middle."""
        holder = QWidget(self)
        inner = QVBoxLayout(holder)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addWidget(banner)
        holder.hide()
        self._column.addWidget(holder)
        self._banners[banner] = holder, urgency, central
        banner.installEventFilter(self)
        self.choose()

    def choose(self) -> None:
        """Show the most urgent banner: also to be called where the urgency of one has changed."""
        shown = self.shown
        for banner, (holder, _urgency, _central) in self._banners.items():
            if banner is not shown:
                holder.hide()
        if shown is not None:
            self._banners[shown][0].show()
        self.setVisible(shown is not None)
        self._place()

    def event(self, event: QEvent | None) -> bool:
        """Adapt the size to the banner."""
        done = super().event(event)
        if event is not None and event.type() is QEvent.Type.LayoutRequest:
            self._place()
        return done

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Choose anew where a banner was shown or hidden, and stay in place where the view is resized."""
        if event is not None and watched is self._below:
            if event.type() in (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show):
                self._place()
        elif event is not None and event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self.choose()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        shown, parent = self.shown, self.parentWidget()
        assert parent is not None  # as of the constructor
        if shown is None:
            return
        area, central = self._below.size(), self._banners[shown][2]
        width = max(min(shown.sizeHint().width(), area.width() - 2 * MARGIN), 0)
        height = self._column.totalHeightForWidth(width)
        if height < 0:  # no line wraps
            height = self._column.totalSizeHint().height()
        top = (area.height() - height) // 2 if central else area.height() - height - BUTTONS
        corner = QPoint((area.width() - width) // 2, max(top, 0))
        origin = QPoint(0, 0) if self._below is parent else self._below.mapTo(parent, QPoint(0, 0))
        self.setGeometry(origin.x() + corner.x(), origin.y() + corner.y(), width, height)
        self.raise_()
