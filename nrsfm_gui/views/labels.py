"""Labels that keep to the room they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QFontMetrics
from PyQt6.QtWidgets import QLabel, QSizePolicy

if TYPE_CHECKING:
    from PyQt6.QtGui import QResizeEvent

PADDING = 14  # pixels that the style sheet may put around the text


class ElidedLabel(QLabel):
    """A label that shortens its text instead of widening the window; the whole text is then its tip."""

    def __init__(self, *, alignment: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft) -> None:
        super().__init__()
        self._whole = ""
        self.setAlignment(alignment | Qt.AlignmentFlag.AlignVCenter)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    @property
    def whole(self) -> str:
        """The whole text."""
        return self._whole

    def set_whole(self, text: str) -> None:
        """Show a text, as much of it as there is room for."""
        if text != self._whole:
            self._whole = text
            self._elide()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Elide anew."""
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        room = max(self.width() - PADDING, 0)
        short = QFontMetrics(self.font()).elidedText(self._whole, Qt.TextElideMode.ElideRight, room)
        self.setText(short)
        self.setToolTip(self._whole if short != self._whole else "")
