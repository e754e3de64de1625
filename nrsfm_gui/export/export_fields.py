"""Editors of the export dialog that are made of several parts: a range, a size, a path."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QWidget

from nrsfm_gui.widgets.fields import NumberField, push_button
from nrsfm_gui.widgets.path_dialog import Wanted, ask_for_path


class PairField(QWidget):
    """Two whole numbers with a word between them.

    Signals
    -------
    edited()
        one of them was changed.
    """

    edited = pyqtSignal()

    def __init__(self, between: str, names: tuple[str, str]) -> None:
        super().__init__()
        self.first, self.second = NumberField(whole=True), NumberField(whole=True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        for field, name, word in zip((self.first, self.second), names, (between, ""), strict=True):
            field.setAccessibleName(name)
            field.setToolTip(name)
            field.textChanged.connect(lambda _text: self.edited.emit())
            row.addWidget(field, 1)
            if word:
                row.addWidget(QLabel(word))

    def set_values(self, values: tuple[int, int]) -> None:
        """Show two numbers."""
        self.first.set_value(values[0])
        self.second.set_value(values[1])

    def values(self) -> tuple[int, int]:
        """Return the two numbers.

        Raises
        ------
        ValueError
            with a sentence, where a text is not a number.
        """
        return int(self.first.value() or 0), int(self.second.value() or 0)


class PathField(QWidget):
    """A line for the file to write, with a button that asks for it.

    Signals
    -------
    edited()
        another path was typed or chosen.
    """

    edited = pyqtSignal()

    def __init__(self) -> None:
        super().__init__()
        self.filter = ""
        self.line = QLineEdit()
        self.line.setAccessibleName("File to write")
        self.line.textEdited.connect(lambda _text: self.edited.emit())
        button = push_button("…", "Choose the file to write", self._ask)
        button.setAccessibleName("Choose the file to write")
        button.setFixedWidth(32)
        button.setAutoDefault(False)  # Return in a field exports
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.line, 1)
        row.addWidget(button)

    @property
    def path(self) -> Path:
        """What the line says."""
        return Path(self.line.text().strip())

    def set_path(self, path: Path) -> None:
        """Show a path; its end stays in view."""
        self.line.setText(str(path))

    def _ask(self) -> None:
        ask_for_path(
            self, "Export", self._take, wanted=Wanted.NEW_FILE, start=self.line.text(), filters=self.filter
        )

    def _take(self, path: Path) -> None:
        self.line.setText(str(path))
        self.edited.emit()
