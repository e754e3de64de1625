"""A line across the top of the window for what went wrong, or wants to be known: it never blocks anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, QTimer
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

if TYPE_CHECKING:
    from nrsfm_gui.theme import Theme

NOTE_MILLISECONDS = 6000


class MessageBar(QFrame):
    """Shows the newest sentence; a warning stays until it is closed or replaced, a note goes by itself."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._warning = False
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        close = QToolButton()
        close.setText("✕")
        close.setAutoRaise(True)
        close.setToolTip("Close")
        close.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        close.clicked.connect(self.hide)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 6, 8, 6)
        layout.addWidget(self._text, 1)
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(NOTE_MILLISECONDS)
        self._timer.timeout.connect(self.hide)
        self._theme: Theme | None = None
        self.hide()

    @property
    def text(self) -> str:
        """The sentence that is shown, "" where none is."""
        return "" if self.isHidden() else self._text.text()

    def warn(self, sentence: str) -> None:
        """Show a sentence until it is closed, or followed by another."""
        self._show(sentence, warning=True)
        self._timer.stop()

    def note(self, sentence: str) -> None:
        """Show a sentence for a few seconds, in place of a warning too: it tells of something newer."""
        self._show(sentence, warning=False)
        self._timer.start()

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self._theme = theme
        self._dress()

    def _show(self, sentence: str, *, warning: bool) -> None:
        self._warning = warning
        self._text.setText(sentence)
        self._dress()
        self.show()

    def _dress(self) -> None:
        if self._theme is None:
            return
        color = self._theme.warning if self._warning else self._theme.accent
        self.setStyleSheet(
            f"MessageBar {{ background: {self._theme.raised}; border: 0; border-left: 4px solid {color}; }}"
        )
