"""A card in the middle of an empty view: a title, a sentence, and a busy bar or buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, Qt
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from PyQt6.QtCore import QObject
    from PyQt6.QtGui import QHideEvent, QShowEvent

    from nrsfm_gui.model.theme import Theme

WIDEST, MARGIN = 460, 24  # pixels


class StateCard(QFrame):
    """A title, a sentence, and a busy bar or buttons, centered in its parent."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("state card")
        self.setAccessibleName("What is going on")
        self._title = QLabel()
        self._title.setProperty("role", "title")
        self._sentence = QLabel()
        for label in (self._title, self._sentence):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._busy = QProgressBar()
        self._busy.setRange(0, 0)
        self._busy.setTextVisible(False)
        self._busy.setAccessibleName("Reading goes on")
        self._buttons = QHBoxLayout()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(10)
        for part in (self._title, self._sentence, self._busy):
            layout.addWidget(part)
        layout.addLayout(self._buttons)
        self.hide()

    @property
    def text(self) -> str:
        """Title and sentence, "" where the card is hidden."""
        return "" if self.isHidden() else f"{self._title.text()}\n{self._sentence.text()}"

    def show_busy(self, title: str, sentence: str) -> None:
        """Show a title and a sentence with a busy bar."""
        self._show(title, sentence, {}, busy=True)

    def show_choice(self, title: str, sentence: str, buttons: Mapping[str, Callable[[], object]]) -> None:
        """Show a title and a sentence with buttons."""
        self._show(title, sentence, buttons, busy=False)

    def set_theme(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self.setStyleSheet(
            f"QFrame#state\\ card {{ background: {theme.window}; border: 1px solid {theme.border};"
            f" border-radius: 8px; }} QLabel[role=title] {{ color: {theme.text}; font-weight: 600; }}"
        )

    def showEvent(self, event: QShowEvent | None) -> None:
        """Follow the size of the parent while this is visible."""
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
        """Stay centered."""
        if event is not None and event.type() is QEvent.Type.Resize and watched is self.parent():
            self._place()
        return super().eventFilter(watched, event)

    def _show(
        self, title: str, sentence: str, buttons: Mapping[str, Callable[[], object]], *, busy: bool
    ) -> None:
        self._title.setText(title)
        self._sentence.setText(sentence)
        self._busy.setVisible(busy)
        while (item := self._buttons.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for text, callback in buttons.items():
            button = QPushButton(text)
            button.setAccessibleName(text)
            button.setToolTip(text)
            button.clicked.connect(lambda _checked, callback=callback: callback())
            self._buttons.addWidget(button)
            button.show()
        self._buttons.addStretch(1)
        self.show()
        self.raise_()
        self._place()

    def _place(self) -> None:
        parent = self.parentWidget()
        assert parent is not None
        width = min(WIDEST, parent.width() - 2 * MARGIN)
        layout = self.layout()
        assert layout is not None
        height = max(layout.totalHeightForWidth(width), layout.minimumSize().height())
        self.setGeometry(
            (parent.width() - width) // 2, max((parent.height() - height) // 2, 0), width, height
        )
