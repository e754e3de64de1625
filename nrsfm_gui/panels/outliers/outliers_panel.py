"""The panel Outliers: a histogram of the residuals, a list of what exceeds the threshold, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QSignalBlocker, Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from nrsfm_gui.panels.outliers.outliers_plot import OutliersPlot
from nrsfm_gui.widgets.fields import explained, filled, push_button
from nrsfm_gui.widgets.labels import ElidedLabel

if TYPE_CHECKING:
    from PyQt6.QtGui import QShowEvent

    from core.evaluation import Outliers

MOST_ROWS = 300
LIST_WIDTH = 180
HIDE_TIP = "Hide all that are listed from the solver, in one step that can be undone (Ctrl+Z)"
SOLVE_TIP = (
    "Solve from scratch without what is hidden: rotations and starts are chosen again, "
    "which wrong tracks have misled"
)
SHOW_TIP = "Let the solver use all observations again (Shift+Y)"
SUGGEST_TIP = "Put the threshold back to what the residuals suggest"


@dataclass(frozen=True, eq=False)
class OutlierRow:
    """A line of the list: an observation, or a point that drifts."""

    point: int
    frame: int
    residual: float  # of a point that drifts, the largest from the frame on
    drifting: bool = False


def outlier_rows(outliers: Outliers, most: int = MOST_ROWS) -> list[OutlierRow]:
    """Return the points that drift, then the single observations, each from the largest residual down."""
    residuals = np.where(outliers.mask, outliers.residuals, np.nan)
    drifting = []
    for each in outliers.drifting:
        column = residuals[each.frame :, each.point]
        drifting.append(OutlierRow(each.point, each.frame, float(np.nanmax(column)), drifting=True))
        residuals[each.frame :, each.point] = np.nan
    frames, points = np.nonzero(np.isfinite(residuals))
    order = np.argsort(-residuals[frames, points], kind="stable")[:most]
    single = [
        OutlierRow(int(points[k]), int(frames[k]), float(residuals[frames[k], points[k]])) for k in order
    ]
    return [*sorted(drifting, key=lambda row: -row.residual), *single][:most]


class OutliersPanel(QWidget):
    """A histogram, a list and buttons. `header` is the line above, placed by the window."""

    threshold_requested = pyqtSignal(object)  # the threshold was dragged; None for the suggested one
    hide_requested = pyqtSignal()
    solve_requested = pyqtSignal()
    show_requested = pyqtSignal()
    observation_chosen = pyqtSignal(int, int)  # a frame and a point of the list
    became_visible = pyqtSignal()  # what is shown may be out of date

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumSize(240, 150)
        self.plot = OutliersPlot()
        self.plot.threshold_moved.connect(self.threshold_requested)
        self._unit = ""
        self._sentence = ElidedLabel()
        tip = "The worst ones; click one to go to its frame and select its point"
        self.list = explained(QTreeWidget(), "Outliers", tip)
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setAlternatingRowColors(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setFixedWidth(LIST_WIDTH)
        self.list.setHeaderLabels(["point", "frame", "residual"])
        self.list.currentItemChanged.connect(lambda item, _before: self._on_chosen(item))
        self.list.itemClicked.connect(lambda item, _column: self._on_chosen(item))
        heading = self.list.header()
        assert heading is not None
        heading.setStretchLastSection(False)
        heading.setMinimumSectionSize(30)
        heading.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        heading.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._hide = push_button("Hide all", HIDE_TIP, self.hide_requested.emit)
        self._solve = push_button("Solve again", SOLVE_TIP, self.solve_requested.emit)
        self._show = push_button("Show all", SHOW_TIP, self.show_requested.emit)
        self._suggest = push_button("Reset", SUGGEST_TIP, lambda: self.threshold_requested.emit(None))
        self.header = QWidget()
        filled(QHBoxLayout(self.header), None, self._hide, self._solve, self._show, margins=(8, 2, 4, 2))
        top = filled(QHBoxLayout(), self._sentence, self._suggest, grows=self._sentence, margins=(2, 2, 8, 2))
        row = filled(QHBoxLayout(), self.plot, self.list, grows=self.plot, spacing=1)
        filled(QVBoxLayout(self), top, row, grows=row, spacing=0)
        self.set_outliers(None, 0.0, "", "")
        self.set_sentence("")
        self.set_possible(hide=False, solve=False, show=False)

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        return self._sentence.full_text

    def set_outliers(self, outliers: Outliers | None, suggested: float, unit: str, solution: str) -> None:
        """Show outliers and the threshold that the residuals suggest; None where there is nothing yet.

        `solution` is what the residuals are of, "" where it is what is shown.
        """
        self.plot.set_outliers(outliers, suggested, unit, solution)
        rows = [] if outliers is None else outlier_rows(outliers)
        self._suggest.setVisible(outliers is not None and outliers.threshold != suggested)
        self.list.setVisible(outliers is not None)
        blocker = QSignalBlocker(self.list)
        self.list.clear()
        self.list.setHeaderLabels(["point", "frame", unit or "residual"])
        for each in rows:
            frame = f"{each.frame + 1} on" if each.drifting else f"{each.frame + 1}"
            item = QTreeWidgetItem([f"{each.point + 1}", frame, f"{each.residual:.3g}"])
            for column in range(3):
                item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setData(0, Qt.ItemDataRole.UserRole, (each.frame, each.point))
            if each.drifting:
                item.setToolTip(1, f"Point {each.point + 1} drifts from frame {each.frame + 1} on")
            self.list.addTopLevelItem(item)
        blocker.unblock()

    def set_sentence(self, sentence: str) -> None:
        """Show what was found, in words."""
        self._sentence.set_full_text(sentence)

    def set_possible(self, *, hide: bool, solve: bool, show: bool) -> None:
        """Enable what is possible."""
        self._hide.setEnabled(hide)
        self._solve.setEnabled(solve)
        self._show.setEnabled(show)

    def showEvent(self, event: QShowEvent | None) -> None:
        """Emit `became_visible`."""
        self.became_visible.emit()

    def _on_chosen(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            frame, point = item.data(0, Qt.ItemDataRole.UserRole)
            self.observation_chosen.emit(frame, point)
