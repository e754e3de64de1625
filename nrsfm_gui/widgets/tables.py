"""Tables of values: rows of one height, without a grid, that many thousand of them do not slow down."""

from __future__ import annotations

from PyQt6.QtCore import QItemSelectionModel, Qt
from PyQt6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QTreeWidget

from nrsfm_gui.widgets.labels import known

ROW_PADDING = 5  # pixels
LEAST_WIDTH = 40  # of a column, pixels


def prepare_tree(tree: QTreeWidget) -> QHeaderView:
    """Let a tree show rows of one height, which are not scrolled sideways; return its header."""
    tree.setUniformRowHeights(True)
    tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    header = known(tree.header())
    header.setStretchLastSection(False)
    return header


def prepare_table(table: QTableView) -> QHeaderView:
    """Let a table that has its model show rows of one height, to be sorted by a click on a heading."""
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setAlternatingRowColors(True)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    vertical, header = known(table.verticalHeader()), known(table.horizontalHeader())
    vertical.hide()
    vertical.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)  # measuring every row would need seconds
    vertical.setDefaultSectionSize(table.fontMetrics().height() + ROW_PADDING)
    header.setMinimumSectionSize(LEAST_WIDTH)
    header.setHighlightSections(False)
    header.setSortIndicatorClearable(True)
    header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    table.setSortingEnabled(True)
    for each in (vertical, header):  # a header queries every selected row each time it is painted
        each.setSelectionModel(QItemSelectionModel(table.model(), each))
    return header
