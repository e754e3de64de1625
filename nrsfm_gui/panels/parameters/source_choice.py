"""A choice of source: an entry, a file, or numbers in an editor below."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from core.foundation import printable
from nrsfm_gui.widgets.fields import Choice
from nrsfm_gui.widgets.labels import plain_tip
from nrsfm_gui.widgets.path_dialog import ask_for_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nrsfm_gui.panels.parameters.given_intrinsics import GivenIntrinsics, Intrinsics

FILE, NUMBERS = "\0file", "\0numbers"


class SourceChoice(QWidget):
    """A choice of an entry, a file, and optionally numbers in an editor below."""

    edited = pyqtSignal()  # something else was chosen or typed

    def __init__(
        self,
        entries: Mapping[str, str],
        *,
        file_tip: str,
        numbers: GivenIntrinsics | None = None,
        titles: Mapping[str, str],
    ) -> None:
        super().__init__()
        self._file: Path | None = None
        self._before = next(iter(entries))
        self.choice = Choice(entries, titles=titles)
        self._numbers = numbers
        if numbers is not None:
            self.choice.add(NUMBERS, "given", "focal length and principal point")
        self.choice.add(FILE, "from a file…", file_tip)
        self.choice.setAccessibleName("Where it comes from")
        self.choice.chosen.connect(self._on_source_chosen)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.choice)
        if numbers is not None:
            numbers.edited.connect(self.edited)
            numbers.hide()
            layout.addWidget(numbers)

    def set_value(self, value: str | Path | Intrinsics) -> None:
        """Show a key, a file or four numbers."""
        if isinstance(value, tuple):
            assert self._numbers is not None  # no other setting is given in numbers
            self.choice.set_key(NUMBERS)
            self._numbers.set_value(value)
        elif isinstance(value, Path):
            self._show_file(value)
        else:
            self.choice.set_key(value)
        self._before = self.choice.key
        self._show_numbers()

    def value(self) -> str | Path | Intrinsics:
        """Return the key, the file or the four numbers.

        Raises ValueError with a sentence, where what is typed is not accepted.
        """
        if self.choice.key == FILE:
            assert self._file is not None  # only `_show_file` leaves this entry chosen
            return self._file
        if self.choice.key != NUMBERS:
            return self.choice.key
        assert self._numbers is not None  # else there is no such entry
        return self._numbers.value()

    def set_available(self, key: str, available: bool, *, why_not: str) -> None:
        """Gray out a source that the sequence does not have."""
        self.choice.set_available(key, available, why_not=why_not)

    def _show_file(self, path: Path) -> None:
        self._file = path
        index = self.choice.findData(FILE)
        self.choice.setItemText(index, f"file: {printable(path.name)}")
        self.choice.setItemData(index, plain_tip(printable(str(path))), Qt.ItemDataRole.ToolTipRole)
        self.choice.setCurrentIndex(index)

    def _on_source_chosen(self, key: str) -> None:
        if key == FILE:
            # The dialog stops nothing: until a file is chosen, the source is the one before.
            self.choice.set_key(self._before)
            ask_for_path(self, "Open", self._choose_file, filters="NumPy arrays (*.npz);;All files (*)")
        else:
            self._finish_choice(key)

    def _choose_file(self, path: Path) -> None:
        self._show_file(path)
        self._finish_choice(FILE)

    def _finish_choice(self, key: str) -> None:
        self._before = key
        self._show_numbers()
        if key == NUMBERS and self._numbers is not None:
            self._numbers.setFocus()
        self.edited.emit()

    def _show_numbers(self) -> None:
        if self._numbers is not None:
            self._numbers.setVisible(self.choice.key == NUMBERS)
