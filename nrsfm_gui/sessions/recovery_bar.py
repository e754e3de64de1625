"""A line over the view that offers the work of a session which ended by itself."""

from __future__ import annotations

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

BUTTONS = {
    "Recover": "Open the session as it was kept last, in place of what is open",
    "Discard": "Delete what was kept of that session",
    "Later": "Leave it, and ask again when the application starts next",
}


class RecoveryBar(QFrame):
    """Stays until one of its buttons is pressed, and blocks nothing.

    Signals
    -------
    recover_requested(), discard_requested(), later_requested()
        the button that was pressed.
    """

    recover_requested = pyqtSignal()
    discard_requested = pyqtSignal()
    later_requested = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "banner")
        self.setProperty("edge", "accent")
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 6, 8, 6)
        layout.addWidget(self._text, 1)
        signals = (self.recover_requested, self.discard_requested, self.later_requested)
        self.buttons: dict[str, QPushButton] = {}
        for (title, tip), signal in zip(BUTTONS.items(), signals, strict=True):
            button = QPushButton(title)
            button.setToolTip(tip)
            button.setAccessibleName(f"{title}: {tip}")
            button.clicked.connect(lambda _checked, signal=signal: self._answer(signal))
            layout.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
            self.buttons[title] = button
        self.hide()

    @property
    def text(self) -> str:
        """The sentence that is shown, "" where none is."""
        return "" if self.isHidden() else self._text.text()

    def offer(self, sentence: str) -> None:
        """Ask what is to become of a session."""
        self._text.setText(sentence)
        self._text.setAccessibleName(sentence)
        self.show()

    def _answer(self, signal: object) -> None:
        self.hide()
        signal.emit()  # type: ignore[attr-defined]
