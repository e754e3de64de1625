"""A frame over its parent that is placed again when the parent is resized."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent
from PyQt6.QtWidgets import QFrame

if TYPE_CHECKING:
    from PyQt6.QtCore import QObject
    from PyQt6.QtGui import QHideEvent, QShowEvent


class OverlayFrame(QFrame):
    """Follows the size of its parent while it is visible; a subclass has its place."""

    def place(self) -> None:
        """Set the geometry of this frame in its parent."""
        raise NotImplementedError

    def showEvent(self, event: QShowEvent | None) -> None:
        """Follow the size of the parent from now on."""
        super().showEvent(event)
        parent = self.parent()
        if parent is not None:
            parent.installEventFilter(self)

    def hideEvent(self, event: QHideEvent | None) -> None:
        """Follow it no longer."""
        super().hideEvent(event)
        parent = self.parent()
        if parent is not None:
            parent.removeEventFilter(self)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Place this frame again where the parent was resized."""
        if event is not None and event.type() is QEvent.Type.Resize and watched is self.parent():
            self.place()
        return super().eventFilter(watched, event)
