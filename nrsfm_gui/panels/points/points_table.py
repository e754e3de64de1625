"""The table of points: sorted by any column; its selected rows are the selected points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, Qt, pyqtSignal
from PyQt6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from nrsfm_gui.model.theme import DARK, Theme
from nrsfm_gui.panels.points.points_model import COLUMNS, PointsModel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from core.foundation import Ints
    from nrsfm_gui.text.point_table import PointTable

ROW_PADDING = 5  # pixels
MOST_RANGES = 1500  # of selected rows; for more, Qt takes seconds, and they are only marked


class PointsTable(QTableView):
    """Emits what is selected by hand, and the worst frame of a row that is double-clicked."""

    points_selected = pyqtSignal(object, bool)  # (N,) indices; always False: they replace the others
    frame_requested = pyqtSignal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = PointsModel()
        self._hidden: frozenset[int] = frozenset()
        self._theme = DARK
        self._chosen: Ints = np.zeros(0, dtype=int)  # while the rows are put in another order
        self._marked: Ints | None = None  # the selected points, where they are too many to be selected rows
        self._place = 0  # of the scroll bar, in the meantime
        self._telling = True  # whether a changed selection is the user's
        self.setModel(self._rows)
        self.setAccessibleName("points")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSortingEnabled(True)
        self.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        vertical, header = self.verticalHeader(), self.horizontalHeader()
        assert vertical is not None
        assert header is not None
        vertical.hide()
        vertical.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)  # measuring every row would take seconds
        vertical.setDefaultSectionSize(self.fontMetrics().height() + ROW_PADDING)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(40)
        header.setHighlightSections(False)
        for each in (vertical, header):  # a header asks about every selected row each time it is painted
            each.setSelectionModel(QItemSelectionModel(self._rows, each))
        chosen = self.selectionModel()
        assert chosen is not None
        chosen.selectionChanged.connect(lambda *_: self._tell())
        self._rows.modelAboutToBeReset.connect(self._remember)
        self._rows.modelReset.connect(self._restore)  # after the view's own
        self.doubleClicked.connect(self._go_to_worst)

    def set_table(self, table: PointTable | None) -> None:
        """Show other values; the selected points stay selected."""
        self._rows.set_table(table)

    def set_selection(self, points: Iterable[int], last: int) -> None:
        """Select the rows of points, and bring that of the `last` one into view. Emits nothing."""
        wanted = np.array(sorted(points), dtype=int)
        if np.array_equal(wanted, self._selected()):
            return
        model = self.selectionModel()
        assert model is not None
        self._telling = False
        ranges = self._ranges(wanted)
        self._marked = wanted if ranges is None else None
        self._rows.set_marked(self._marked, self._theme.accent)
        model.select(ranges or QItemSelection(), QItemSelectionModel.SelectionFlag.ClearAndSelect)
        if 0 <= last < self._rows.rowCount():
            row = int(self._rows.rows_of(np.array([last]))[0])
            model.setCurrentIndex(self._rows.index(row, 0), QItemSelectionModel.SelectionFlag.NoUpdate)
            self.scrollTo(self._rows.index(row, 0))
        self._telling = True

    def set_hidden(self, hidden: frozenset[int]) -> None:
        """Gray the points that are not drawn."""
        self._hidden = hidden
        self._rows.set_hidden(hidden, self._theme.muted)

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self._theme = theme
        self._rows.set_hidden(self._hidden, theme.muted)

    def _ranges(self, points: Ints) -> QItemSelection | None:
        """Return the selection of all rows of points, in few ranges; None where they are too many."""
        rows = np.sort(self._rows.rows_of(points))
        gaps = np.flatnonzero(np.diff(rows) > 1)
        if len(gaps) >= MOST_RANGES:
            return None
        found = QItemSelection()
        starts, ends = np.concatenate([[0], gaps + 1]), np.concatenate([gaps, [len(rows) - 1]])
        for start, end in zip(starts, ends, strict=True):
            if len(rows):
                first = self._rows.index(int(rows[start]), 0)
                found.select(first, self._rows.index(int(rows[end]), len(COLUMNS) - 1))
        return found

    def _selected(self) -> Ints:
        """(N,) the points of the selected rows, ascending."""
        if self._marked is not None:
            return self._marked
        model = self.selectionModel()
        assert model is not None
        chosen = model.selection()
        rows = [np.arange(each.top(), each.bottom() + 1) for each in chosen]
        found: Ints = np.unique(self._rows.order[np.concatenate(rows)]) if rows else np.zeros(0, dtype=int)
        return found

    def _remember(self) -> None:
        bar = self.verticalScrollBar()
        assert bar is not None
        self._chosen, self._place, self._telling = self._selected(), bar.value(), False

    def _restore(self) -> None:
        bar = self.verticalScrollBar()
        assert bar is not None
        self._telling = True
        self._marked = None
        self.set_selection(self._chosen, -1)
        bar.setValue(self._place)

    def _tell(self) -> None:
        if self._telling:
            self._marked = None
            self._rows.set_marked(None, "")
            self.points_selected.emit(self._selected(), False)

    def _go_to_worst(self, index: QModelIndex) -> None:
        frame = self._rows.worst_frame(index.row())
        if frame is not None:
            self.frame_requested.emit(frame)
