"""The table of points and its model. Rows sort by any column; selected rows are the selected points."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from PyQt6.QtCore import QAbstractTableModel, QItemSelection, QItemSelectionModel, QModelIndex, Qt, pyqtSignal
from PyQt6.QtGui import QBrush, QColor
from PyQt6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from core import Sequence
from core.data import GROUND_TRUTH
from core.foundation import Bools, Floats, Ints
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.scene.ranking import known_means
from nrsfm_gui.scene.shapes import Shapes
from nrsfm_gui.scene.summaries import measure, size_text
from nrsfm_gui.widgets.labels import known, plain_tip
from nrsfm_gui.widgets.style import Themed
from nrsfm_gui.widgets.tables import prepare_table

NO_INDEX = QModelIndex()
MOST_RANGES = 1500  # of selected rows; for more, Qt needs seconds, and they are only highlighted


class Column(NamedTuple):
    """A column of the table."""

    title: str
    tip: str
    values: Callable[[Sequence, Shapes], Floats | None]  # (P,) NaN or None where there is none
    unit: str = ""  # whose it is: "tracks" or "shapes"
    form: str = ""  # of a value, "" for that of all measures


def _means(values: Floats | None) -> Floats | None:
    return None if values is None else known_means(values, 0)


def _mean_weights(_sequence: Sequence, shapes: Shapes) -> Floats | None:
    """Return (P,) the mean weights of the observations that were solved, None with least squares."""
    if shapes.weights is None or shapes.residuals is None:
        return None
    return known_means(np.where(np.isfinite(shapes.residuals), shapes.weights, np.nan), 0)


def _worst_frames(_sequence: Sequence, shapes: Shapes) -> Floats | None:
    """Return (P,) the frames with the largest errors, counted from 1: 3-D ones where a point has any."""
    worst = None
    for values in (shapes.residuals, shapes.errors):
        if values is not None:
            known = np.isfinite(values)
            frames = np.where(known, values, -np.inf).argmax(axis=0) + 1.0
            worst = np.where(known.any(axis=0), frames, np.nan if worst is None else worst)
    return worst


COLUMNS = (
    Column(
        "point", "Number of the point, beginning with 1",
        lambda sequence, _: np.arange(1.0, sequence.point_count + 1), form="{:.0f}",
    ),
    Column(
        "repr.", "Mean distance of reprojection and track, over the frames in which the point is seen",
        lambda _, shapes: _means(shapes.residuals), "tracks",
    ),
    Column(
        "3-D", "Mean distance of estimate and {truth}, over the frames that have one",
        lambda _, shapes: _means(shapes.errors), "shapes",
    ),
    Column(
        "worst", "Frame with the largest 3-D error, or reprojection error where there is no {truth}",
        _worst_frames, form="{:.0f}",
    ),
    Column(
        "seen", "Share of the frames in which the point was measured",
        lambda sequence, _: 100.0 * sequence.visible.mean(axis=0), form="{:.0f} %",
    ),
    Column(
        "±", "Uncertainty: one standard deviation of the place of the point, mean over frames",
        lambda _, shapes: _means(shapes.uncertainty), "shapes",
    ),
    Column(
        "weight", "Mean weight of its observations under the robust loss: 1 is full, 0 none", _mean_weights
    ),
)  # fmt: skip
ERROR, WORST, UNCERTAINTY, WEIGHT = 2, 3, 5, 6


class PointsModel(QAbstractTableModel):
    """A table of points; the order of its rows is its own."""

    def __init__(self) -> None:
        super().__init__()
        self._of: tuple[Sequence, Shapes] | None = None
        self.columns = [np.zeros(0) for _ in COLUMNS]  # (P,) each
        self.order: Ints = np.zeros(0, dtype=int)  # the point of every row
        self._row_of: Ints = self.order
        self._by, self._descending = 0, False
        self._hidden: frozenset[int] = frozenset()
        self._muted = self._mark = QBrush()
        self._marked: Bools = np.zeros(0, dtype=bool)  # (P,), or empty where none is

    def rows_of(self, points: Ints) -> Ints:
        """Return the rows of points."""
        rows: Ints = self._row_of[points[points < len(self._row_of)]]
        return rows

    def worst_frame(self, row: int) -> int | None:
        """Return the worst frame of the point in a row, None where it has no error."""
        frame = self.columns[WORST][self.order[row]]
        return int(frame) - 1 if np.isfinite(frame) else None

    def set_shapes(self, sequence: Sequence | None, shapes: Shapes | None) -> None:
        """Show the points of other shapes, in the same kind of order; of none without a sequence."""
        self._of = None if sequence is None or shapes is None else (sequence, shapes)
        found = [None if self._of is None else column.values(*self._of) for column in COLUMNS]
        unknown = np.full(0 if found[0] is None else len(found[0]), np.nan)
        self.columns = [unknown if values is None else values for values in found]
        if not self._rearranged():
            self._emit_data_changed()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(COLUMNS) - 1)

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self._muted, self._mark = QBrush(QColor(theme.muted)), QBrush(QColor(theme.accent))
        self._emit_data_changed()

    def set_hidden(self, hidden: frozenset[int]) -> None:
        """Gray the points that are not drawn."""
        self._hidden = hidden
        self._emit_data_changed()

    def set_marked(self, points: Ints | None) -> None:
        """Highlight the rows of points, or none."""
        if points is None and not len(self._marked):
            return
        self._marked = np.zeros(0 if points is None else len(self.order), dtype=bool)
        if points is not None:
            self._marked[points[points < len(self._marked)]] = True
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
            point, column = int(self.order[index.row()]), index.column()
            value, names = self.columns[column][point], None if self._of is None else self._of[0].point_names
            form = COLUMNS[column].form
            text = form.format(value) if form and np.isfinite(value) else measure(value, "").rstrip()
            return f"{text} {names[point]}" if column == 0 and names is not None else text
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
        sequence, shapes = self._of or (None, None)
        column = COLUMNS[section]
        if role == Qt.ItemDataRole.DisplayRole:
            units = {
                "tracks": "px" if sequence is None else sequence.units,
                "shapes": "mm" if shapes is None else shapes.unit,
            }
            return f"{column.title} ({units[column.unit]})" if column.unit else column.title
        if role == Qt.ItemDataRole.ToolTipRole:
            tip = column.tip.format(truth=GROUND_TRUTH if sequence is None else sequence.truth_name)
            if shapes is not None and column.unit == "shapes":
                laid = section == ERROR and shapes.errors is not None
                size = size_text(shapes.size, shapes.unit)
                tip += (f" ({shapes.alignment_name})" if laid else "") + (f"; {size}" if size else "")
            return plain_tip(f"{tip}. Click: sort; double click on a row: go to its worst frame.")
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
        values = self.columns[self._by]
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

    def __init__(self) -> None:
        super().__init__()
        self._rows = PointsModel()
        self.set_hidden = self._rows.set_hidden
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
        header.setTextElideMode(Qt.TextElideMode.ElideRight)  # where it is narrow: not cut at both ends
        self.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self._selection_model, self._bar = known(self.selectionModel()), known(self.verticalScrollBar())
        self._selection_model.selectionChanged.connect(lambda *_: self._on_selection_changed())
        self._rows.modelAboutToBeReset.connect(self._on_model_about_to_be_reset)
        self._rows.modelReset.connect(self._on_model_reset)  # after the view's own
        self.doubleClicked.connect(self._on_double_clicked)
        self.set_shapes(None, None)
        self._follow_theme()

    def set_shapes(self, sequence: Sequence | None, shapes: Shapes | None) -> None:
        """Show the points of other shapes; the selected points stay selected."""
        self._rows.set_shapes(sequence, shapes)
        for column in (UNCERTAINTY, WEIGHT):
            self.setColumnHidden(column, not np.isfinite(self._rows.columns[column]).any())

    def set_selection(self, points: Iterable[int], last: int) -> None:
        """Select the rows of points, and bring that of the `last` one into view. Emits nothing."""
        wanted, flags = np.array(sorted(points), dtype=int), QItemSelectionModel.SelectionFlag
        if np.array_equal(wanted, self._selected()):
            return
        self._emitting = False
        ranges = self._ranges(wanted)
        self._marked = wanted if ranges is None else None
        self._rows.set_marked(self._marked)
        self._selection_model.select(ranges or QItemSelection(), flags.ClearAndSelect)
        if 0 <= last < self._rows.rowCount():
            index = self._rows.index(int(self._rows.rows_of(np.array([last]))[0]), 0)
            self._selection_model.setCurrentIndex(index, flags.NoUpdate)
            self.scrollTo(index)
        self._emitting = True

    def _apply_theme(self, theme: Theme) -> None:
        self._rows.set_colors(theme)

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
            self._rows.set_marked(None)
            self.points_selected.emit(self._selected(), False)

    def _on_double_clicked(self, index: QModelIndex) -> None:
        frame = self._rows.worst_frame(index.row())
        if frame is not None:
            self.frame_requested.emit(frame)
