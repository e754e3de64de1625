"""The runs of this session, newest first; selecting one shows it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QHeaderView, QLabel, QStackedLayout, QTreeWidget, QTreeWidgetItem, QWidget

if TYPE_CHECKING:
    from collections.abc import Sequence as Items

    from PyQt6.QtGui import QResizeEvent

COLUMNS = ("#", "run", "K", "log10", "error")
TIPS = (
    "number of the run",
    "preset, or method and penalty",
    "rank",
    "base-10 logarithm of the loss",
    "mean 3-D error after the alignment that is chosen",
)
ROOM_FOR_RANK = 240  # pixels of width below which the names need the room
EMPTY = "No runs yet.\nPress Run (Ctrl+R)."


@dataclass(frozen=True)
class RunRow:
    """A line of the list; the texts are ready to be shown."""

    number: int
    name: str  # "recommended", "bilinear, wnn"
    rank: str
    loss: str
    error: str
    tip: str


class RunList(QWidget):
    """A list of runs.

    Signals
    -------
    run_requested(int)
        the number of the run to show.
    """

    run_requested = pyqtSignal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tree = QTreeWidget()
        self._tree.setHeaderLabels(list(COLUMNS))
        self._tree.setRootIsDecorated(False)
        self._tree.setUniformRowHeights(True)
        self._tree.setAlternatingRowColors(True)
        self._tree.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._tree.setAllColumnsShowFocus(True)
        header = self._tree.header()
        assert header is not None
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(20)
        for column in range(len(COLUMNS)):
            stretch = column == 1
            header.setSectionResizeMode(
                column, QHeaderView.ResizeMode.Stretch if stretch else QHeaderView.ResizeMode.ResizeToContents
            )
        head = self._tree.headerItem()
        assert head is not None
        for column, tip in enumerate(TIPS):
            head.setToolTip(column, tip)
            if column != 1:
                head.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._tree.currentItemChanged.connect(self._request)
        self._empty = QLabel(EMPTY)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setProperty("role", "muted")
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._tree)
        self._rows: tuple[RunRow, ...] = ()
        self.setMinimumHeight(80)

    def set_rows(self, rows: Items[RunRow], shown: int | None) -> None:
        """Show the runs in the order given and mark the one that is shown; touches only what changed."""
        rows = tuple(rows)
        self._stack.setCurrentIndex(1 if rows else 0)
        self._tree.blockSignals(True)
        if [row.number for row in rows] != [row.number for row in self._rows]:
            self._tree.clear()
            self._tree.addTopLevelItems([QTreeWidgetItem() for _row in rows])
            self._rows = ()
        for index, row in enumerate(rows):
            item = self._tree.topLevelItem(index)
            assert item is not None
            if index >= len(self._rows) or row != self._rows[index]:
                _fill(item, row)
            if row.number == shown and self._tree.currentItem() is not item:
                self._tree.setCurrentItem(item)
        if shown is None:
            self._tree.setCurrentItem(None)
        self._rows = rows
        self._tree.blockSignals(False)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Leave the rank out where there is little room; the tip has it."""
        super().resizeEvent(event)
        self._tree.setColumnHidden(COLUMNS.index("K"), self.width() < ROOM_FOR_RANK)

    def _request(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            self.run_requested.emit(int(item.data(0, Qt.ItemDataRole.UserRole)))


def _fill(item: QTreeWidgetItem, row: RunRow) -> None:
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    for column, text in enumerate((str(row.number), row.name, row.rank, row.loss, row.error)):
        item.setText(column, text)
        item.setToolTip(column, row.tip)
        if column != 1:
            item.setTextAlignment(column, right)
    item.setData(0, Qt.ItemDataRole.UserRole, row.number)
