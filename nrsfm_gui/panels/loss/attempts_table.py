"""The table of what a run tries. Rows sort by any column; the row under the mouse is signaled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QAbstractTableModel, QModelIndex, Qt, pyqtSignal
from PyQt6.QtGui import QBrush, QColor, QFont
from PyQt6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.scene.summaries import signed
from nrsfm_gui.widgets.labels import plain_tip
from nrsfm_gui.widgets.style import Themed
from nrsfm_gui.widgets.tables import ROW_PADDING, prepare_table

if TYPE_CHECKING:
    from PyQt6.QtCore import QEvent

    from nrsfm_gui.model.theme import Theme
    from nrsfm_gui.panels.loss.attempts import Attempt

NO_INDEX = QModelIndex()
NAME, LOSS, AGREES = range(3)
WIDTHS = (62, 60)  # pixels of the columns after the name, at least
DIGITS = 4


COLUMNS = (  # titles and tips
    ("tried", "Starts, the best one bold; then candidates for the rotations, gray"),
    ("log10 loss", "At its end; candidates and subsets have an objective of their own"),
    ("agrees", "Whether a start ended in the lowest minimum: within a relative 1e-5 of it"),
)


class AttemptsModel(QAbstractTableModel):
    """A table of attempts; the order of its rows is its own."""

    def __init__(self) -> None:
        super().__init__()
        self._attempts: tuple[Attempt, ...] = ()
        self._rows: list[Attempt] = []
        self._by, self._descending = -1, False  # in the order of time
        self._bold = QFont()
        self._bold.setBold(True)
        self.best = self.muted = QBrush()

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """In the order of time."""
        return self._attempts

    def at(self, row: int) -> Attempt:
        """Return the attempt of a row."""
        return self._rows[row]

    def set_attempts(self, attempts: tuple[Attempt, ...]) -> None:
        """Show other attempts, in the same kind of order."""
        if attempts != self._attempts:
            self.beginResetModel()
            self._attempts = attempts
            self._arrange()
            self.endResetModel()

    def rowCount(self, parent: QModelIndex = NO_INDEX) -> int:
        """Return how many attempts there are."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: QModelIndex = NO_INDEX) -> int:
        """Return how many columns there are."""
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell as text, its alignment, font, color and tip."""
        attempt = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            loss = NONE if attempt.log_loss is None else signed(attempt.log_loss, DIGITS)
            return (attempt.name, loss, attempt.agrees)[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(f"{attempt.name}: {attempt.note}" if attempt.note else attempt.name)
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == LOSS:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if attempt.best and role == Qt.ItemDataRole.FontRole:
            return self._bold
        if role == Qt.ItemDataRole.ForegroundRole and (attempt.best or attempt.candidate):
            return self.best if attempt.best else self.muted
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return the title of a column, and its tip."""
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section][0]
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.ToolTipRole:
            return f"{COLUMNS[section][1]}. Click: sort."
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Put the rows in the order of a column, with -1 in that of time; what is missing comes last."""
        self.beginResetModel()
        self._by, self._descending = column, order == Qt.SortOrder.DescendingOrder
        self._arrange()
        self.endResetModel()

    def _arrange(self) -> None:
        self._rows = list(self._attempts)
        if self._by in (NAME, AGREES):
            key = "name" if self._by == NAME else "agrees"
            self._rows.sort(key=lambda attempt: str(getattr(attempt, key)), reverse=self._descending)
        elif self._by == LOSS:
            sign = -1.0 if self._descending else 1.0
            missing = float("inf")
            self._rows.sort(key=lambda t: missing if t.log_loss is None else sign * t.log_loss)


class AttemptsTable(Themed, QTableView):
    """Shows attempts, and signals the one under the mouse."""

    hovered = pyqtSignal(object)  # the attempt, None where the mouse is on none

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = AttemptsModel()
        self.setModel(self._model)
        self.setAccessibleName("Candidates and starts")
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = prepare_table(self)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        for column, width in zip((LOSS, AGREES), WIDTHS, strict=True):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            needed = header.fontMetrics().horizontalAdvance(COLUMNS[column][0]) + 4 * ROW_PADDING
            header.resizeSection(column, max(width, needed))
        self._follow_theme()
        self.entered.connect(lambda index: self.hovered.emit(self._model.at(index.row())))

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """What is shown, in the order of time."""
        return self._model.attempts

    def set_attempts(self, attempts: tuple[Attempt, ...]) -> None:
        """Show other attempts."""
        self._model.set_attempts(attempts)

    def leaveEvent(self, event: QEvent | None) -> None:
        """Signal that no row is under the mouse."""
        super().leaveEvent(event)
        self.hovered.emit(None)

    def _apply_theme(self, theme: Theme) -> None:
        self._model.best, self._model.muted = QBrush(QColor(theme.accent)), QBrush(QColor(theme.muted))
