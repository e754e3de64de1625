"""The table of the arrays of a file: name, size, type, and what each is read as."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

from core.io.readers import ArrayEntry
from nrsfm_gui.widgets.fields import Choice, with_tip
from nrsfm_gui.widgets.labels import plain_tip

TRACKS, SEEN, HIDDEN, UNUSED = "tracks", "visible", "hidden", ""
NONE = "none"  # as a reading option: no array is the visibility
SCORE = "0.5"  # from which on a point is seen, unless another one is given
USES = {
    TRACKS: "The positions of the points in the pictures.",
    SEEN: "Whether a point is seen in a frame: 1, true or a high score where it is.",
    HIDDEN: "Whether a point is hidden in a frame: 1, true or a high score where it is.",
    UNUSED: "The array is left out.",
}
TITLES = {
    TRACKS: "tracks",
    SEEN: "visibility: 1 is seen",
    HIDDEN: "visibility: 1 is hidden",
    UNUSED: "not used",
}
HEADINGS = ("array", "size", "type", "is read as")
MOST_ROWS = 7  # that are seen without scrolling


class ArraysTable(QTableWidget):
    """Arrays in rows, each with a choice of what it is read as."""

    use_chosen = pyqtSignal(str, str)  # the name of an array, and a key of USES

    def __init__(self) -> None:
        super().__init__(0, len(HEADINGS))
        self.choices: dict[str, Choice] = {}  # by the name of the array
        self.setAccessibleName("Arrays of the file")
        self.setHorizontalHeaderLabels(HEADINGS)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Tab goes through the choices
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        vertical, header = self.verticalHeader(), self.horizontalHeader()
        assert vertical is not None
        assert header is not None
        vertical.hide()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)

    def set_arrays(
        self, arrays: Collection[ArrayEntry], reading: Mapping[str, Any], *, editable: bool = True
    ) -> None:
        """Show arrays and what each is read as, `editable` where that is left open; emits nothing."""
        names = [each.name for each in arrays]
        if names != list(self.choices):
            self.choices = {}
            self.setRowCount(0)
            self.setRowCount(len(names))
            for row, name in enumerate(names):
                self._add_choice(row, name)
        for row, entry in enumerate(arrays):
            kind = "text" if entry.dtype.startswith("<U") else entry.dtype
            for column, text in enumerate((entry.name, entry.size.replace(" x ", " × "), kind)):
                item = QTableWidgetItem(text)
                item.setToolTip(plain_tip(text))
                item.setFlags(Qt.ItemFlag.ItemIsEnabled)
                self.setItem(row, column, item)
            choice, use = self.choices[entry.name], use_of(entry, reading)
            choice.clear()
            for key in dict.fromkeys((*USES, use)):
                choice.add(key, TITLES.get(key, key), USES.get(key, f"The array is read as {key}."))
            choice.set_key(use)
            choice.setEnabled(editable)
        self.setMaximumHeight(self.sizeHint().height())

    def sizeHint(self) -> QSize:
        """Return the height of all rows, up to MOST_ROWS."""
        header = self.horizontalHeader()
        assert header is not None
        rows = sum(self.rowHeight(row) for row in range(min(self.rowCount(), MOST_ROWS)))
        return QSize(420, header.sizeHint().height() + rows + 2)

    def minimumSizeHint(self) -> QSize:
        """Return the height of the first rows."""
        return QSize(300, min(self.sizeHint().height(), 120))

    def _add_choice(self, row: int, name: str) -> None:
        choice = self.choices[name] = Choice({})
        choice.setMinimumContentsLength(max(map(len, TITLES.values())) - 6)
        with_tip(choice, f"{name} is read as", plain_tip(f"What the array {name} is read as"))
        choice.chosen.connect(lambda key: self.use_chosen.emit(name, key))
        self.setCellWidget(row, len(HEADINGS) - 1, choice)
        self.setRowHeight(row, choice.sizeHint().height() + 4)


def use_of(entry: ArrayEntry, reading: Mapping[str, Any]) -> str:
    """Return the key of USES for an array, or another role; that of an unread file is among the options."""
    visible = str(reading.get("visible", ""))
    if entry.role == "visibility" or (not entry.role and visible.removeprefix("~") == entry.name):
        return HIDDEN if visible.startswith("~") else SEEN
    if not entry.role and reading.get("tracks") == entry.name:
        return TRACKS
    return UNUSED if entry.role == "not read" else entry.role


def reading_with_use(
    reading: Mapping[str, Any], effective: Mapping[str, str], entry: ArrayEntry, use: str
) -> dict[str, Any]:
    """Return the reading options with another use of an array."""
    result, name = dict(reading), entry.name
    shown = str({**reading, **effective}.get("visible", "")).removeprefix("~")
    if use == TRACKS:
        result["tracks"] = name
        if shown == name:
            result["visible"] = NONE
    elif use in (SEEN, HIDDEN):
        result["visible"] = name if use == SEEN else f"~{name}"
        if entry.dtype.startswith("float"):  # scores; of 0 and 1 it is right as well
            result.setdefault("threshold", SCORE)
        if result.get("tracks") == name:
            del result["tracks"]
    elif name == shown:
        result["visible"] = NONE
    elif result.get("tracks") == name:
        del result["tracks"]
    return result
