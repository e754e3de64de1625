"""The 3-D view alone or next to that of a second run, and the table of what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import QHeaderView, QSplitter, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from nrsfm_gui.widgets.fields import filled
from nrsfm_gui.widgets.labels import PlainLabel, plain_tip
from nrsfm_gui.widgets.style import Themed

if TYPE_CHECKING:
    from collections.abc import Collection

    from nrsfm_gui.model.theme import Theme
    from nrsfm_gui.text.compare_rows import CompareRow

MOST_LINES = 8  # that are seen without scrolling
TABLE_WIDTH = 340  # pixels


class CompareTable(Themed, QTreeWidget):
    """Three columns: name, the run that is shown, the other one. No signals."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[CompareRow, ...] = ()
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
        self._follow_theme()

    def sizeHint(self) -> QSize:
        """Return the height of the lines, as far as they are not too many."""
        header = self.header()
        lines = min(max(len(self._rows), 1), MOST_LINES)
        height = max(self.sizeHintForRow(0), self.fontMetrics().height() + 4)
        return QSize(300, lines * height + (0 if header is None else header.sizeHint().height()) + 4)

    def set_rows(self, first: str, second: str, rows: Collection[CompareRow]) -> None:
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
                item.setToolTip(column, plain_tip(row.tip or f"{row.name}: {row.first}, {row.second}"))
            self.addTopLevelItem(item)
        self._apply_theme(self._theme)

    def _apply_theme(self, theme: Theme) -> None:
        for index, row in enumerate(self._rows):
            item = self.topLevelItem(index)
            assert item is not None
            item.setForeground(0, QColor(theme.muted))
            font = self.font()
            for column in (1, 2):
                font.setBold(row.better == column)
                item.setFont(column, font)


class CompareSplitter(QSplitter):
    """One view, or two of equal width, and the table. No signals."""

    def __init__(self, view: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setChildrenCollapsible(False)
        self._titles = [PlainLabel(role="run"), PlainLabel(role="other run")]
        self._columns = [_below(self._titles[0], view)]
        self.addWidget(self._columns[0])
        self.second: QWidget | None = None  # view, once there is one
        self.table = CompareTable()
        self.addWidget(self.table)
        self.table.hide()

    def add_second_view(self, view: QWidget) -> None:
        """Add a second view."""
        self.second = view
        self._columns.append(_below(self._titles[1], view))
        self._columns[1].hide()
        self.insertWidget(1, self._columns[1])

    def show_two(self, titles: tuple[str, str] | None) -> None:
        """Show both views under the names of their runs, or the first one alone without a name."""
        both = titles is not None and self.second is not None
        if len(self._columns) > 1:
            was = self._columns[1].isVisibleTo(self)
            self._columns[1].setVisible(both)
            if both != was:
                self._share()
        for label, title in zip(self._titles, titles or ("", ""), strict=True):
            label.setText(title)
            label.setVisible(both)

    def show_table(self, on: bool) -> None:
        """Show or hide the table of what differs."""
        was = self.table.isVisibleTo(self)
        self.table.setVisible(on)
        if on and not was:
            self._share()

    def _share(self) -> None:
        table = min(TABLE_WIDTH, self.width() // 2) if self.table.isVisibleTo(self) else 0
        shown = [column for column in self._columns if column.isVisibleTo(self)]
        each = (self.width() - table) // max(len(shown), 1)
        self.setSizes([*(each if column in shown else 0 for column in self._columns), table])


def _below(title: PlainLabel, view: QWidget) -> QWidget:
    column = QWidget()
    title.hide()
    filled(QVBoxLayout(column), title, view, grows=view, spacing=0)
    return column
