"""What a run tries, candidates for the rotations and starting points, with how each ended; and its table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PyQt6.QtCore import QEvent, QModelIndex, QSortFilterProxyModel, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QFont, QStandardItem, QStandardItemModel
from PyQt6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from core import Iterate
from core.foundation import PhaseKind
from nrsfm_gui.model.history import History
from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.scene.summaries import signed
from nrsfm_gui.widgets.labels import plain_tip
from nrsfm_gui.widgets.style import Themed
from nrsfm_gui.widgets.tables import ROW_PADDING, prepare_table

GIVEN_UP = "given up"
OF_ROTATIONS = "candidate for the rotations, whose losses are of another objective than those of the others"
NAME, LOSS, AGREES = range(3)
SORTED_BY, ATTEMPT = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1  # of the cells
WIDTHS = (62, 60)  # pixels of the columns after the name, at least
DIGITS = 4
COLUMNS = (  # titles and tips
    ("tried", "Starts, the best one bold; then candidates for the rotations, gray"),
    ("log10 loss", "At its end; candidates and subsets have an objective of their own"),
    ("agrees", "Whether a start ended in the lowest minimum: within a relative 1e-5 of it"),
)


@dataclass(frozen=True)
class Attempt:
    """A candidate for the rotations, or a start, that a run tries."""

    name: str
    log_loss: float | None  # base-10 logarithm, of its end; None before there is one
    agrees: str  # "yes", "no", "given up", "chosen", or "" where that is not known yet
    best: bool = False
    note: str = ""
    records: tuple[int, int] | None = None  # the first and the last one, None where it has none of its own
    candidate: bool = False  # whether it is one for the rotations


def attempt_parts(history: History) -> dict[tuple[bool, str], tuple[int, int]]:
    """Return the first and the last record of every candidate for the rotations (True) and every start."""
    parts: dict[tuple[bool, str], tuple[int, int]] = {}
    for phase, first, last in history.phase_spans:
        key = phase.kind is PhaseKind.ROTATIONS, phase.attempt
        if key[1]:
            parts[key] = parts[key][0] if key in parts else first, last
    return parts


def attempts_of(history: History, last: Iterate | None) -> tuple[Attempt, ...]:
    """Return what a run has tried, in the order of time."""
    parts = attempt_parts(history)
    reports = () if last is None else last.starts
    lowest = min((report.loss for report in reports if report.agrees), default=None)
    found = []
    for report in reports:
        given_up, best = report.note == GIVEN_UP, report.loss == lowest and not report.note
        value = float(np.log10(report.loss)) if 0 < report.loss < np.inf else None
        agrees = GIVEN_UP if given_up else "yes" if report.agrees else "no"
        records = parts.get((False, report.name))
        found.append(Attempt(report.name, value, agrees, best, "" if given_up else report.note, records))
    chosen = last.rotations if last is not None and last.rotations_chosen else ""
    for (candidate, name), records in parts.items():
        if candidate:
            agrees = "chosen" if name == chosen else ""
            end = float(np.log10(history.values[records[1]]))
            found.append(Attempt(name, end, agrees, note=OF_ROTATIONS, records=records, candidate=True))
    return tuple(found)


class _MissingLast(QSortFilterProxyModel):
    """Puts losses that are missing last in both orders."""

    def lessThan(self, left: QModelIndex, right: QModelIndex) -> bool:
        """Return whether a row comes before another one in ascending order."""
        missing = [index.data(SORTED_BY) is None for index in (left, right)]
        if missing[0] != missing[1]:
            return missing[1] == (self.sortOrder() is Qt.SortOrder.AscendingOrder)
        return super().lessThan(left, right)


class AttemptsTable(Themed, QTableView):
    """Shows attempts, and signals the one under the mouse."""

    hovered = pyqtSignal(object)  # the attempt, None where the mouse is on none

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._attempts: tuple[Attempt, ...] = ()
        self._cells, model = QStandardItemModel(0, len(COLUMNS)), _MissingLast(self)
        for column, (title, tip) in enumerate(COLUMNS):
            heading = QStandardItem(title)
            heading.setToolTip(f"{tip}. Click: sort.")
            self._cells.setHorizontalHeaderItem(column, heading)
        model.setSourceModel(self._cells)
        model.setSortRole(SORTED_BY)
        self.setModel(model)
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
        self.entered.connect(lambda index: self.hovered.emit(index.data(ATTEMPT)))

    @property
    def full_width(self) -> int:
        """Pixels in which no text is cut."""
        bar = self.verticalScrollBar()
        columns = self.sizeHintForColumn(NAME) + sum(map(self.columnWidth, (LOSS, AGREES)))
        return columns + (0 if bar is None else bar.sizeHint().width()) + 2 * self.frameWidth()

    def set_attempts(self, attempts: tuple[Attempt, ...]) -> None:
        """Show other attempts, in the same kind of order."""
        if attempts != self._attempts:
            self._attempts = attempts
            self._fill(self._theme)

    def leaveEvent(self, event: QEvent | None) -> None:
        """Signal that no row is under the mouse."""
        super().leaveEvent(event)
        self.hovered.emit(None)

    def _apply_theme(self, theme: Theme) -> None:
        self._fill(theme)

    def _fill(self, theme: Theme) -> None:
        bold = QFont()
        bold.setBold(True)
        self._cells.setRowCount(0)
        for attempt in self._attempts:
            loss = NONE if attempt.log_loss is None else signed(attempt.log_loss, DIGITS)
            cells = []
            for text, value in (
                (attempt.name, attempt.name), (loss, attempt.log_loss), (attempt.agrees, attempt.agrees)
            ):  # fmt: skip
                cell = QStandardItem(text)
                cell.setData(value, SORTED_BY)
                cell.setData(attempt, ATTEMPT)
                tip = f"{attempt.name}: {attempt.note}" if attempt.note else attempt.name
                cell.setToolTip(plain_tip(tip))
                if attempt.best:
                    cell.setFont(bold)
                if attempt.best or attempt.candidate:
                    cell.setForeground(QColor(theme.accent if attempt.best else theme.muted))
                cells.append(cell)
            cells[LOSS].setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self._cells.appendRow(cells)
