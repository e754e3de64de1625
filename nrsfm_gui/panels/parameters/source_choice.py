"""A choice of source: an entry, a file, or numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from core import InputError
from nrsfm_gui.widgets.fields import Choice
from nrsfm_gui.widgets.path_dialog import ask_for_path

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE, NUMBERS = "\0file", "\0numbers"

Intrinsics = tuple[float, float, float, float]


class SourceChoice(QWidget):
    """A choice of an entry, a file, and optionally four numbers in a field below.

    Signals
    -------
    edited()
        something else was chosen or typed.
    """

    edited = pyqtSignal()

    def __init__(
        self, entries: Mapping[str, str], *, file_tip: str, numbers_tip: str = "", titles: Mapping[str, str]
    ) -> None:
        super().__init__()
        self._file: Path | None = None
        self._before = next(iter(entries))
        self._choice = Choice(entries, titles=titles)
        if numbers_tip:
            self._choice.add(NUMBERS, "given numbers", numbers_tip)
        self._choice.add(FILE, "from a file…", file_tip)
        self._choice.setAccessibleName("Where it comes from")
        self._choice.chosen.connect(self._on_source_chosen)
        self._line = QLineEdit()
        self._line.setPlaceholderText("fx, fy, cx, cy (px)")
        self._line.setToolTip(numbers_tip)
        self._line.setAccessibleName("Given numbers")
        self._line.textEdited.connect(lambda _text: self.edited.emit())
        self._line.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self._choice)
        layout.addWidget(self._line)

    def set_value(self, value: str | Path | Intrinsics) -> None:
        """Show a key, a file or four numbers."""
        if isinstance(value, tuple):
            self._choice.set_key(NUMBERS)
            if not self._line.hasFocus():
                self._line.setText(", ".join(f"{number:g}" for number in value))
        elif isinstance(value, Path):
            self._show_file(value)
        else:
            self._choice.set_key(value)
        self._before = self._choice.key
        self._line.setVisible(self._choice.key == NUMBERS)

    def value(self) -> str | Path | Intrinsics:
        """Return the key, the file or the four numbers.

        Raises
        ------
        InputError
            where the line does not hold four numbers.
        """
        if self._choice.key == FILE:
            assert self._file is not None  # only `_show_file` leaves this entry chosen
            return self._file
        if self._choice.key != NUMBERS:
            return self._choice.key
        parts = self._line.text().replace(";", ",").split(",")
        try:
            numbers = tuple(float(part) for part in parts)
        except ValueError:
            numbers = ()
        if len(numbers) != 4:
            raise InputError(
                f"{self._line.text()!r} is not accepted; give four numbers: fx, fy, cx, cy in pixels"
            )
        return numbers

    def set_available(self, key: str, available: bool, *, why_not: str) -> None:
        """Gray out a source that the sequence does not have."""
        self._choice.set_available(key, available, why_not=why_not)

    def _show_file(self, path: Path) -> None:
        self._file = path
        index = self._choice.findData(FILE)
        self._choice.setItemText(index, f"file: {path.name}")
        self._choice.setItemData(index, str(path), Qt.ItemDataRole.ToolTipRole)
        self._choice.setCurrentIndex(index)

    def _on_source_chosen(self, key: str) -> None:
        if key == FILE:
            # The dialog stops nothing: until a file is chosen, the source is the one before.
            self._choice.set_key(self._before)
            ask_for_path(self, "Open", self._choose_file, filters="NumPy arrays (*.npz);;All files (*)")
        else:
            self._finish_choice(key)

    def _choose_file(self, path: Path) -> None:
        self._show_file(path)
        self._finish_choice(FILE)

    def _finish_choice(self, key: str) -> None:
        self._before = key
        self._line.setVisible(key == NUMBERS)
        if key == NUMBERS:
            self._line.setFocus()
        self.edited.emit()
