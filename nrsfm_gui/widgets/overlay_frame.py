"""A frame over its parent that reports when the parent is resized."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, pyqtSignal
from PyQt6.QtWidgets import QFrame

if TYPE_CHECKING:
    from PyQt6.QtCore import QObject
    from PyQt6.QtGui import QHideEvent, QShowEvent


class OverlayFrame(QFrame):
    """Watches the size of its parent while it is visible."""

    parent_resized = pyqtSignal()

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
        """Report that the parent was resized."""
        if event is not None and event.type() is QEvent.Type.Resize and watched is self.parent():
            self.parent_resized.emit()
        return super().eventFilter(watched, event)
