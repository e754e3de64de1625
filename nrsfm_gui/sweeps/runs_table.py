"""The table of the runs of a sweep and its model: any column sorts it, a filter shows some of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from PyQt6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QSignalBlocker,
    Qt,
    pyqtSignal,
)
from PyQt6.QtGui import QBrush, QColor, QFocusEvent, QFont, QFontMetrics, QKeyEvent, QKeySequence
from PyQt6.QtWidgets import QAbstractItemView, QStyledItemDelegate, QStyleOptionViewItem, QTableView, QWidget

from core.foundation import Bools, Ints
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.text.sweep_rows import SweepColumn, SweepRows
from nrsfm_gui.text.table_text import shortened
from nrsfm_gui.widgets.labels import EmptyLabel, known, plain_tip
from nrsfm_gui.widgets.style import Themed
from nrsfm_gui.widgets.tables import prepare_table

NO_INDEX = QModelIndex()
MEASURED_ROWS = 200  # whose texts decide how wide a column is
LONGEST_TIP = 1000  # characters
GAP = 10  # pixels before a text
WIDEST = 320  # pixels of a column at first
NO_ROWS: Ints = np.zeros(0, dtype=int)


class SweepModel(QAbstractTableModel):
    """The runs of a sweep; which of them are rows, and in which order, is its own."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: SweepRows | None = None
        self._kept: Bools = np.zeros(0, dtype=bool)
        self.order: Ints = NO_ROWS  # the run of every row
        self._by = ""  # name of the column that sorts, "" for the order of the sweep
        self._descending = False
        self._muted = QBrush(QColor("gray"))
        self._best, self._best_of = -1, ""  # the run that is bold, and the number that it has the least of
        self._bold = QFont()
        self._bold.setBold(True)

    @property
    def columns(self) -> tuple[SweepColumn, ...]:
        """The columns, from the left."""
        return () if self._rows is None else self._rows.columns

    @property
    def sorting(self) -> tuple[int, Qt.SortOrder]:
        """The column that sorts, -1 for none that is there, and in which direction."""
        section = next((k for k, each in enumerate(self.columns) if each.name == self._by), -1)
        return section, Qt.SortOrder.DescendingOrder if self._descending else Qt.SortOrder.AscendingOrder

    def set_rows(self, rows: SweepRows | None, kept: Bools) -> None:
        """Show other runs, of which `kept` (R,) are rows, in the same kind of order."""
        if rows is not self._rows or not np.array_equal(kept, self._kept):
            self._rows, self._kept = rows, kept
            self._arrange()

    def set_best(self, run: int, number: str) -> None:
        """Show a run in bold, that with the least of a number; -1 for none."""
        if (run, number) != (self._best, self._best_of):
            self._best, self._best_of = run, number
            self.dataChanged.emit(
                self.index(0, 0),
                self.index(self.rowCount() - 1, self.columnCount() - 1),
                [Qt.ItemDataRole.FontRole, Qt.ItemDataRole.ToolTipRole],
            )

    def set_muted(self, color: str) -> None:
        """Draw runs without a result in a color."""
        self._muted = QBrush(QColor(color))

    # The interface of the model

    def rowCount(self, parent: QModelIndex = NO_INDEX) -> int:
        """Return how many rows there are."""
        return 0 if parent.isValid() else len(self.order)

    def columnCount(self, parent: QModelIndex = NO_INDEX) -> int:
        """Return how many columns there are."""
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell as text, its alignment, color and tip."""
        if self._rows is None:
            return None
        run, column = int(self.order[index.row()]), self.columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(run)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.FontRole and run == self._best:
            return self._bold
        if role == Qt.ItemDataRole.ForegroundRole and self._rows.sweep.failed[run]:
            return self._muted
        if role == Qt.ItemDataRole.ToolTipRole:
            runs = self._rows.sweep.runs
            sentences = (shortened(runs[name].iat[run], LONGEST_TIP) for name in ("error", "command"))
            full = f"{shortened(column.name)}: {column.full_text(run)}" if column.is_number else ""
            best = f"Least {shortened(self._best_of)} of these runs" if run == self._best else ""
            return plain_tip("\n".join(filter(None, (full, best, *sentences))))
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return the title of a column with its unit, and its tip."""
        if orientation != Qt.Orientation.Horizontal or section >= len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.heading
        if role == Qt.ItemDataRole.ToolTipRole:
            unit = f", {column.unit}" if column.unit else ""
            return plain_tip(f"{shortened(column.name)}{unit}\n{shortened(column.tip)}.\nClick: sort.")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Put the rows in the order of a column; what is missing comes last."""
        by = self.columns[column].name if 0 <= column < len(self.columns) else ""
        descending = order == Qt.SortOrder.DescendingOrder
        if (by, descending) != (self._by, self._descending):
            self._by, self._descending = by, descending
            self._arrange()

    def _arrange(self) -> None:
        """Find the rows anew: to report each one that moves would need seconds for very many."""
        self.beginResetModel()
        shown: Ints = np.flatnonzero(self._kept)
        column = next((each for each in self.columns if each.name == self._by), None)
        if column is not None:
            keys = column.sort_keys[shown]
            keys = np.where(np.isfinite(keys), -keys if self._descending else keys, np.inf)
            shown = shown[np.argsort(keys, kind="stable")]
        self.order = shown
        self.endResetModel()


def _alignment(column: SweepColumn) -> int:
    """Return the place of the texts of a column and of its heading: numbers to the right."""
    side = Qt.AlignmentFlag.AlignRight if column.is_number else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)


class IndentedText(QStyledItemDelegate):
    """Draws cells of text with a gap to the numbers on their left."""

    def initStyleOption(self, option: QStyleOptionViewItem | None, index: QModelIndex) -> None:
        """Move the text to the right."""
        super().initStyleOption(option, index)
        assert option is not None
        option.rect.setLeft(option.rect.left() + GAP)


class RunsTable(Themed, QTableView):
    """The runs of a sweep; one row is chosen."""

    GESTURES = (
        ("Click a row", "show the reconstruction of that run in the main window"),
        ("Enter, double click", "show it, and bring the main window to the front"),
        ("Arrows", "choose a run"),
        ("Click a heading", "sort"),
        ("Left, Right, S", "go to another column, sort by it, again: in the other direction"),
        ("Right click", "menu of that run"),
    )

    # A run is the current one; its reconstruction is wanted, and whether in front of this window.
    run_chosen = pyqtSignal(int)
    run_requested = pyqtSignal(int, bool)
    menu_requested = pyqtSignal(object)  # a click with the right button on a row, at a place of the screen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.runs = SweepModel()
        self.chosen = -1  # the run of the current row, -1 where there is none
        self._column = 0  # that was current before the rows were arranged anew
        self._emitting = True
        self._widths_of: tuple[str, ...] = ()  # names of the columns that were measured
        self._indented = IndentedText(self)
        self.setModel(self.runs)
        self.setAccessibleName("Runs of the sweep")
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._header, self._selection = prepare_table(self), known(self.selectionModel())
        self._header.setSectionsMovable(True)
        self._selection.currentRowChanged.connect(self._on_current_changed)
        self.empty = EmptyLabel("", self)  # shown without a row
        self.runs.modelAboutToBeReset.connect(self._on_model_about_to_be_reset)
        self.runs.modelReset.connect(self._on_model_reset)
        self.clicked.connect(lambda index: self._request(index.row(), in_front=False))
        self.doubleClicked.connect(lambda index: self._request(index.row(), in_front=True))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu_requested)
        self._follow_theme()

    @property
    def columns(self) -> tuple[SweepColumn, ...]:
        """The columns that are seen, from the left."""
        header, columns = self._header, self.runs.columns
        sections = [header.logicalIndex(place) for place in range(len(columns))]
        return tuple(columns[section] for section in sections if not header.isSectionHidden(section))

    def set_rows(self, rows: SweepRows | None, kept: Bools, chosen: int) -> None:
        """Show other runs, of which `kept` (R,) are rows, and choose one of them. Emits nothing."""
        self.chosen = chosen
        self.runs.set_rows(rows, kept)
        names = tuple(column.name for column in self.runs.columns)
        if names != self._widths_of and len(kept):
            self._widths_of = names
            self._measure()

    def choose(self, run: int) -> None:
        """Make a run the current row, where it is one. Emits nothing."""
        self.chosen = run
        rows = np.flatnonzero(self.runs.order == run)
        self._emitting = False
        if len(rows):
            index = self.runs.index(int(rows[0]), min(self._column, self.runs.columnCount() - 1))
            flag = QItemSelectionModel.SelectionFlag
            self._selection.setCurrentIndex(index, flag.ClearAndSelect | flag.Rows)
            self.scrollTo(index)
        else:
            self._selection.clear()
        self._emitting = True

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Enter shows the chosen run; Ctrl+C is left to the window, which copies the table."""
        assert event is not None
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._request(self.currentIndex().row(), in_front=True)
        elif event.matches(QKeySequence.StandardKey.Copy):
            event.ignore()
        elif event.key() == Qt.Key.Key_S and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            self._sort_by_current()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent | None) -> None:
        """Take the keys; Qt makes the first row the current one then, which chooses none."""
        self._emitting = False
        super().focusInEvent(event)
        self._emitting = True
        if self.chosen < 0:
            self._selection.clear()

    def _apply_theme(self, theme: Theme) -> None:
        self.runs.set_muted(theme.muted)

    def _measure(self) -> None:
        """Make columns as wide as their headings and first texts."""
        bold = QFont(self.font())
        bold.setBold(True)
        metrics = QFontMetrics(bold)  # of the best run
        for section, column in enumerate(self.runs.columns):
            texts = {column.text(int(run)) for run in self.runs.order[:MEASURED_ROWS]}
            needed = max((metrics.horizontalAdvance(text) for text in texts), default=0) + 14
            indented = section > 0 and not column.is_number
            needed += GAP if indented else 0
            self.setItemDelegateForColumn(section, self._indented if indented else None)
            self.setColumnWidth(section, min(max(needed, self._header.sectionSizeHint(section)), WIDEST))

    def _request(self, row: int, *, in_front: bool) -> None:
        if 0 <= row < len(self.runs.order):
            self.run_requested.emit(int(self.runs.order[row]), in_front)

    def _on_current_changed(self, index: QModelIndex, _before: QModelIndex) -> None:
        if self._emitting and index.isValid():
            self.chosen = int(self.runs.order[index.row()])
            self.run_chosen.emit(self.chosen)

    def _on_model_about_to_be_reset(self) -> None:
        self._column = max(self.currentIndex().column(), 0)
        self._emitting = False

    def _on_model_reset(self) -> None:
        self.choose(self.chosen)
        with QSignalBlocker(self._header):  # the rows are in this order already
            self._header.setSortIndicator(*self.runs.sorting)

    def _sort_by_current(self) -> None:
        section, direction = self.runs.sorting
        column = self.currentIndex().column()
        if column >= 0:
            again = column == section and direction == Qt.SortOrder.AscendingOrder
            self.sortByColumn(column, Qt.SortOrder.DescendingOrder if again else Qt.SortOrder.AscendingOrder)

    def _on_menu_requested(self, place: QPoint) -> None:
        viewport = self.viewport()
        if viewport is not None and self.indexAt(place).isValid():
            self.menu_requested.emit(viewport.mapToGlobal(place))
