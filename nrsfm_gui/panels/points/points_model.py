"""The rows of the table of points, in the order that was asked for; fast for tens of thousands of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PyQt6.QtCore import QAbstractTableModel, QModelIndex, Qt
from PyQt6.QtGui import QBrush, QColor

if TYPE_CHECKING:
    from core.foundation import Bools, Floats, Ints
    from nrsfm_gui.text.point_table import PointTable

NONE = "–"
NO_INDEX = QModelIndex()


@dataclass(frozen=True)
class _Column:
    title: str
    tip: str


COLUMNS = (
    _Column("point", "Number of the point, beginning with 1"),
    _Column("repr.", "Mean distance of reprojection and track, over the frames in which the point is seen"),
    _Column("3-D", "Mean distance of estimate and ground truth, over the frames that have one"),
    _Column(
        "worst", "Frame with the largest 3-D error, or reprojection error where there is no ground truth"
    ),
    _Column("seen", "Share of the frames in which the point was measured"),
)
ERROR, WORST, SEEN = 2, 3, 4


class PointsModel(QAbstractTableModel):
    """A table of points; the order of its rows is its own."""

    def __init__(self) -> None:
        super().__init__()
        self._columns: list[Floats] = []  # (P,) each
        self._units = ("px", "mm")
        self._alignment = ""
        self._order: Ints = np.zeros(0, dtype=int)  # the point of every row
        self._row_of: Ints = self._order
        self._by, self._descending = 0, False
        self._hidden: frozenset[int] = frozenset()
        self._muted = QBrush(QColor("gray"))
        self._marked: Bools = np.zeros(0, dtype=bool)  # (P,)
        self._mark = QBrush()

    @property
    def order(self) -> Ints:
        """(P,) the point of every row."""
        return self._order

    def rows_of(self, points: Ints) -> Ints:
        """Return the rows in which points stand."""
        rows: Ints = self._row_of[points[points < len(self._row_of)]]
        return rows

    def worst_frame(self, row: int) -> int | None:
        """Return the worst frame of the point in a row, None where it has no error."""
        frame = self._columns[WORST][self._order[row]]
        return int(frame) if np.isfinite(frame) else None

    def set_table(self, table: PointTable | None) -> None:
        """Show other values, in the same kind of order."""
        columns: list[Floats] = []
        if table is not None:
            points = np.arange(len(table.seen), dtype=float)
            columns = [points, table.reprojection, table.error, table.worst_frame, table.seen]
            self._units, self._alignment = (table.track_unit, table.unit), table.alignment
        self._columns = columns
        if not self._rearranged():
            self._tell_all()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 1, 2)

    def set_hidden(self, hidden: frozenset[int], color: str) -> None:
        """Gray the points that are not drawn."""
        self._hidden, self._muted = hidden, QBrush(QColor(color))
        self._tell_all()

    def set_marked(self, points: Ints | None, color: str) -> None:
        """Give the rows of points a ground of their own, or of none."""
        if points is None and not self._marked.any():
            return
        self._marked = np.zeros(len(self._order), dtype=bool)
        if points is not None:
            self._marked[points[points < len(self._marked)]] = True
            self._mark = QBrush(QColor(color))
        self._tell_all()

    # What Qt asks

    def rowCount(self, parent: QModelIndex = NO_INDEX) -> int:
        """Return how many points there are."""
        return 0 if parent.isValid() else len(self._order)

    def columnCount(self, parent: QModelIndex = NO_INDEX) -> int:
        """Return how many columns there are."""
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell as text, its alignment and color."""
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(index.column(), self._columns[index.column()][self._order[index.row()]])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if (
            role == Qt.ItemDataRole.BackgroundRole
            and self._marked.any()
            and self._marked[self._order[index.row()]]
        ):
            return self._mark
        if role == Qt.ItemDataRole.ForegroundRole and int(self._order[index.row()]) in self._hidden:
            return self._muted
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return the title of a column, with its unit, and its tip."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        column = COLUMNS[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{column.title} ({self._units[section - 1]})" if section in (1, 2) else column.title
        if role == Qt.ItemDataRole.ToolTipRole:
            how = f" ({self._alignment})" if section == ERROR and self._alignment else ""
            return f"{column.tip}{how}. Click: sort; double click on a row: go to its worst frame."
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignCenter)  # which leaves the mark of the sorted column its room
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Put the rows in the order of a column; what is missing comes last."""
        self._by, self._descending = column, order == Qt.SortOrder.DescendingOrder
        self._rearranged()

    def _rearranged(self) -> bool:
        """Put the rows in order; False where they are in it already.

        All rows are new then: telling of each where it went would take Qt seconds for very many.
        """
        values = self._columns[self._by] if self._columns else np.zeros(0)
        keys = np.where(np.isfinite(values), -values if self._descending else values, np.inf)
        order = np.argsort(keys, kind="stable")
        if np.array_equal(order, self._order):
            return False
        self.beginResetModel()
        self._order, self._row_of = order, np.argsort(order)
        self._marked = np.zeros(len(order), dtype=bool)
        self.endResetModel()
        return True

    def _tell_all(self) -> None:
        if len(self._order):
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._order) - 1, len(COLUMNS) - 1))

    @staticmethod
    def _text(column: int, value: float) -> str:
        if not np.isfinite(value):
            return NONE
        if column == SEEN:
            return f"{100 * value:.0f} %"
        return f"{int(value) + 1}" if column in (0, WORST) else f"{value:.3g}"
