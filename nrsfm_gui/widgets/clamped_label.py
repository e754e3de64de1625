"""A sentence or two that wrap, as high as they need up to a few lines, and scroll beyond them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtWidgets import QFrame, QLabel, QScrollArea, QSizePolicy

if TYPE_CHECKING:
    from PyQt6.QtGui import QResizeEvent

MOST_LINES = 3


class AnswerText(QScrollArea):
    """Text that can be selected; none of it is ever cut."""

    def __init__(self) -> None:
        super().__init__()
        self.label = QLabel()
        self.label.setWordWrap(True)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.label.setContentsMargins(8, 0, 4, 0)
        self.setWidget(self.label)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def set_text(self, text: str) -> None:
        """Show another text from its beginning."""
        if text != self.label.text():
            self.label.setText(text)
            bar = self.verticalScrollBar()
            assert bar is not None  # a scroll area has one
            bar.setValue(0)
            self._fit()

    def sizeHint(self) -> QSize:
        """Return the size of the text at the present width, of a few lines at most."""
        lines = self.fontMetrics().lineSpacing()
        return QSize(60, min(max(self.label.heightForWidth(self.width()), lines), MOST_LINES * lines + 2))

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Take the height that the text needs at another width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self.maximumHeight() != self.sizeHint().height():
            self.setFixedHeight(self.sizeHint().height())
