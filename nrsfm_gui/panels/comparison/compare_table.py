"""The table of what differs between two runs: parameters, then numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from nrsfm_gui.model.theme import DARK, Theme

if TYPE_CHECKING:
    from collections.abc import Sequence as Items

    from nrsfm_gui.text.compare_rows import CompareRow

MOST_LINES = 8  # that are seen without scrolling


class CompareTable(QTreeWidget):
    """Three columns: name, the run that is shown, the other one. No signals."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[CompareRow, ...] = ()
        self._theme = DARK
        self.setAccessibleName("What differs between the two runs")
        self.setColumnCount(3)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setAlternatingRowColors(True)
        self.setSelectionMode(QTreeWidget.SelectionMode.NoSelection)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.header()
        assert header is not None
        header.setStretchLastSection(False)
        for column in range(3):
            modes = QHeaderView.ResizeMode
            header.setSectionResizeMode(column, modes.Stretch if column else modes.ResizeToContents)

    def sizeHint(self) -> QSize:
        """Return the height of the lines, as far as they are not too many."""
        header = self.header()
        lines = min(max(len(self._rows), 1), MOST_LINES)
        height = max(self.sizeHintForRow(0), self.fontMetrics().height() + 4)
        return QSize(300, lines * height + (0 if header is None else header.sizeHint().height()) + 4)

    def set_rows(self, first: str, second: str, rows: Items[CompareRow]) -> None:
        """Show lines, with the names of the runs above them."""
        rows = tuple(rows)
        self.setHeaderLabels(["", first, second])
        if rows == self._rows:
            return
        self._rows = rows
        self.clear()
        for row in rows:
            item = QTreeWidgetItem([row.name, row.first, row.second])
            for column in range(3):
                item.setToolTip(column, row.tip or f"{row.name}: {row.first}, {row.second}")
            self.addTopLevelItem(item)
        self._dress()

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self._theme = theme
        self.setStyleSheet(f"CompareTable {{ border: 1px solid {theme.border}; }}")
        self._dress()

    def _dress(self) -> None:
        for index, row in enumerate(self._rows):
            item = self.topLevelItem(index)
            assert item is not None
            item.setForeground(0, QColor(self._theme.muted))
            font = self.font()
            for column in (1, 2):
                font.setBold(row.better == column)
                item.setFont(column, font)
