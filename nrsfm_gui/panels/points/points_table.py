"""The table of points and its model. Rows sort by any column; selected rows are the selected points."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from PyQt6.QtCore import QAbstractTableModel, QItemSelection, QItemSelectionModel, QModelIndex, Qt, pyqtSignal
from PyQt6.QtGui import QBrush, QColor
from PyQt6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from core.foundation import Bools, Floats, Ints
from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.scene.summaries import size_text
from nrsfm_gui.text.point_table import PointTable
from nrsfm_gui.widgets.labels import known, plain_tip
from nrsfm_gui.widgets.style import Themed
from nrsfm_gui.widgets.tables import prepare_table

NO_INDEX = QModelIndex()
NOTHING: Floats = np.zeros(0)
NO_POINTS = PointTable(NOTHING, NOTHING, NOTHING, NOTHING, "px", "mm")
MOST_RANGES = 1500  # of selected rows; for more, Qt needs seconds, and they are only highlighted

COLUMNS = (  # titles and tips
    ("point", "Number of the point, beginning with 1"),
    ("repr.", "Mean distance of reprojection and track, over the frames in which the point is seen"),
    ("3-D", "Mean distance of estimate and {truth}, over the frames that have one"),
    ("worst", "Frame with the largest 3-D error, or reprojection error where there is no {truth}"),
    ("seen", "Share of the frames in which the point was measured"),
    ("±", "Uncertainty: one standard deviation of the place of the point, mean over frames"),
    ("weight", "Mean weight of its observations under the robust loss: 1 is full, 0 none"),
)
ERROR, WORST, SEEN, UNCERTAINTY, WEIGHT = 2, 3, 4, 5, 6
LENGTHS = (1, ERROR, UNCERTAINTY)  # the columns that have units


class PointsModel(QAbstractTableModel):
    """A table of points; the order of its rows is its own."""

    def __init__(self) -> None:
        super().__init__()
        self._table = NO_POINTS
        self._columns = [NOTHING] * len(COLUMNS)  # (P,) each
        self.order: Ints = np.zeros(0, dtype=int)  # the point of every row
        self._row_of: Ints = self.order
        self._by, self._descending = 0, False
        self._hidden: frozenset[int] = frozenset()
        self._muted = QBrush(QColor("gray"))
        self._marked: Bools = np.zeros(0, dtype=bool)  # (P,), or empty where none is
        self._mark = QBrush()

    def rows_of(self, points: Ints) -> Ints:
        """Return the rows of points."""
        rows: Ints = self._row_of[points[points < len(self._row_of)]]
        return rows

    def worst_frame(self, row: int) -> int | None:
        """Return the worst frame of the point in a row, None where it has no error."""
        frame = self._columns[WORST][self.order[row]]
        return int(frame) if np.isfinite(frame) else None

    def set_table(self, table: PointTable | None) -> None:
        """Show other values, in the same kind of order."""
        self._table = table = NO_POINTS if table is None else table
        points = np.arange(len(table.seen), dtype=float)
        unknown = np.full_like(points, np.nan)
        self._columns = [
            points, table.reprojection, table.error, table.worst_frame, table.seen,
            unknown if table.uncertainty is None else table.uncertainty,
            unknown if table.weight is None else table.weight,
        ]  # fmt: skip
        if not self._rearranged():
            self._emit_data_changed()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, LENGTHS[0], LENGTHS[-1])

    def set_hidden(self, hidden: frozenset[int], color: str) -> None:
        """Gray the points that are not drawn."""
        self._hidden, self._muted = hidden, QBrush(QColor(color))
        self._emit_data_changed()

    def set_marked(self, points: Ints | None, color: str) -> None:
        """Highlight the rows of points, or none."""
        if points is None and not len(self._marked):
            return
        self._marked = np.zeros(0 if points is None else len(self.order), dtype=bool)
        if points is not None:
            self._marked[points[points < len(self._marked)]] = True
            self._mark = QBrush(QColor(color))
        self._emit_data_changed()

    # The interface of the model

    def rowCount(self, parent: QModelIndex = NO_INDEX) -> int:
        """Return how many points there are."""
        return 0 if parent.isValid() else len(self.order)

    def columnCount(self, parent: QModelIndex = NO_INDEX) -> int:
        """Return how many columns there are."""
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell as text, its alignment and color."""
        if role == Qt.ItemDataRole.DisplayRole:
            point = int(self.order[index.row()])
            if index.column() == 0 and self._table.names is not None:
                return f"{point + 1} {self._table.names[point]}"
            return self._text(index.column(), self._columns[index.column()][point])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.BackgroundRole and len(self._marked):
            return self._mark if self._marked[self.order[index.row()]] else None
        if role == Qt.ItemDataRole.ForegroundRole and int(self.order[index.row()]) in self._hidden:
            return self._muted
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return the title of a column, with its unit, and its tip."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        table, (title, tip) = self._table, COLUMNS[section]
        if role == Qt.ItemDataRole.DisplayRole:
            unit = table.track_unit if section == 1 else table.unit
            return f"{title} ({unit})" if section in LENGTHS else title
        if role == Qt.ItemDataRole.ToolTipRole:
            how = f" ({table.alignment})" if section == ERROR and table.alignment else ""
            size = size_text(table.size, table.unit)
            if size and section in (ERROR, UNCERTAINTY):
                how += f"; {size}"
            tip = tip.format(truth=table.truth)
            return plain_tip(f"{tip}{how}. Click: sort; double click on a row: go to its worst frame.")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignCenter)  # which leaves space for the mark of the sorted column
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Put the rows in the order of a column; what is missing comes last."""
        self._by, self._descending = column, order == Qt.SortOrder.DescendingOrder
        self._rearranged()

    def _rearranged(self) -> bool:
        """Sort the rows; False where the order did not change.

        The model is reset: to report each moved row would need seconds for very many.
        """
        values = self._columns[self._by]
        keys = np.where(np.isfinite(values), -values if self._descending else values, np.inf)
        order = np.argsort(keys, kind="stable")
        if np.array_equal(order, self.order):
            return False
        self.beginResetModel()
        self.order, self._row_of = order, np.argsort(order)
        self._marked = np.zeros(0, dtype=bool)
        self.endResetModel()
        return True

    def _emit_data_changed(self) -> None:
        if len(self.order):
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.order) - 1, len(COLUMNS) - 1))

    @staticmethod
    def _text(column: int, value: float) -> str:
        if not np.isfinite(value):
            return NONE
        if column == SEEN:
            return f"{100 * value:.0f} %"
        return f"{int(value) + 1}" if column in (0, WORST) else f"{value:.3g}"


class PointsTable(Themed, QTableView):
    """Emits the rows that the user selects, and the worst frame of a row on a double click."""

    GESTURES = (
        ("Click, arrows", "select a point; with Ctrl or Shift several"),
        ("Double click", "go to the worst frame of a point"),
        ("Click a heading", "sort"),
        ("Right click", "menu of the selected points"),
    )

    points_selected = pyqtSignal(object, bool)  # (N,) indices; always False: they replace the others
    frame_requested = pyqtSignal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = PointsModel()
        self._hidden: frozenset[int] = frozenset()
        self._chosen: Ints = np.zeros(0, dtype=int)  # while the rows are put in another order
        self._marked: Ints | None = None  # the selected points, where they are too many to be selected rows
        self._place = 0  # of the scroll bar, in the meantime
        self._emitting = True  # whether a changed selection is the user's
        self.setModel(self._rows)
        self.setAccessibleName("points")
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        header = prepare_table(self)
        header.setSortIndicatorClearable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self._selection_model, self._bar = known(self.selectionModel()), known(self.verticalScrollBar())
        self._selection_model.selectionChanged.connect(lambda *_: self._on_selection_changed())
        self._rows.modelAboutToBeReset.connect(self._on_model_about_to_be_reset)
        self._rows.modelReset.connect(self._on_model_reset)  # after the view's own
        self.doubleClicked.connect(self._on_double_clicked)
        for column in (UNCERTAINTY, WEIGHT):
            self.setColumnHidden(column, True)

    def set_table(self, table: PointTable | None) -> None:
        """Show other values; the selected points stay selected."""
        self._rows.set_table(table)
        self.setColumnHidden(UNCERTAINTY, table is None or table.uncertainty is None)
        self.setColumnHidden(WEIGHT, table is None or table.weight is None)

    def set_selection(self, points: Iterable[int], last: int) -> None:
        """Select the rows of points, and bring that of the `last` one into view. Emits nothing."""
        wanted, flags = np.array(sorted(points), dtype=int), QItemSelectionModel.SelectionFlag
        if np.array_equal(wanted, self._selected()):
            return
        self._emitting = False
        ranges = self._ranges(wanted)
        self._marked = wanted if ranges is None else None
        self._rows.set_marked(self._marked, self._theme.accent)
        self._selection_model.select(ranges or QItemSelection(), flags.ClearAndSelect)
        if 0 <= last < self._rows.rowCount():
            index = self._rows.index(int(self._rows.rows_of(np.array([last]))[0]), 0)
            self._selection_model.setCurrentIndex(index, flags.NoUpdate)
            self.scrollTo(index)
        self._emitting = True

    def set_hidden(self, hidden: frozenset[int]) -> None:
        """Gray the points that are not drawn."""
        self._hidden = hidden
        self._rows.set_hidden(hidden, self._theme.muted)

    def _apply_theme(self, theme: Theme) -> None:
        self._rows.set_hidden(self._hidden, theme.muted)

    def _ranges(self, points: Ints) -> QItemSelection | None:
        """Return the selection of all rows of points, in few ranges; None where they are too many."""
        rows = np.sort(self._rows.rows_of(points))
        gaps = np.flatnonzero(np.diff(rows) > 1)
        if len(gaps) >= MOST_RANGES:
            return None
        found, index = QItemSelection(), self._rows.index
        for run in np.split(rows, gaps + 1) if len(rows) else ():
            found.select(index(int(run[0]), 0), index(int(run[-1]), len(COLUMNS) - 1))
        return found

    def _selected(self) -> Ints:
        """(N,) the points of the selected rows, ascending."""
        if self._marked is not None:
            return self._marked
        chosen = self._selection_model.selection()
        ranges = [chosen[k] for k in range(len(chosen))]
        rows = [np.arange(each.top(), each.bottom() + 1) for each in ranges]
        found: Ints = np.unique(self._rows.order[np.concatenate(rows)]) if rows else np.zeros(0, dtype=int)
        return found

    def _on_model_about_to_be_reset(self) -> None:
        self._chosen, self._place, self._emitting = self._selected(), self._bar.value(), False

    def _on_model_reset(self) -> None:
        self._emitting = True
        self._marked = None
        self.set_selection(self._chosen, -1)
        self._bar.setValue(self._place)

    def _on_selection_changed(self) -> None:
        if self._emitting:
            self._marked = None
            self._rows.set_marked(None, "")
            self.points_selected.emit(self._selected(), False)

    def _on_double_clicked(self, index: QModelIndex) -> None:
        frame = self._rows.worst_frame(index.row())
        if frame is not None:
            self.frame_requested.emit(frame)
