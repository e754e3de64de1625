"""What is around the 3-D view while two runs are compared: a bar above it, the second view, and a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QSizePolicy,
    QSplitter,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from nrsfm_gui.model.session import COMPARE_MODES
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.text.table_text import shortened
from nrsfm_gui.widgets.fields import ComboBox, filled, tool_button, with_tip
from nrsfm_gui.widgets.labels import ElidedLabel, PlainLabel, known, plain_tip
from nrsfm_gui.widgets.style import Themed
from nrsfm_gui.widgets.tables import prepare_tree

TIPS = {
    "overlay": "Draw both runs in one view, the other one in its own color",
    "side": "Draw both runs side by side, seen from the same viewpoint",
    "difference": "Color every point by its distance from the same point of the other run; "
    "the heat-strip shows these distances",
}
LETTERS = 22  # of the name of a run
TABLE_WIDTH = 340  # pixels


@dataclass(frozen=True)
class CompareRow:
    """A line: what it is, and its value of either run, as text."""

    name: str
    first: str
    second: str
    tip: str = ""
    number: bool = False  # a result, not a parameter
    better: int = 0  # 1 or 2 where that run has the lower error; 0 where unknown


class ComparePanel(QFrame):
    """Chooses the second run and the way of comparing."""

    run_chosen = pyqtSignal(str)  # key of the second run, of those that are offered
    mode_chosen = pyqtSignal(str)  # a key of COMPARE_MODES
    swap_requested = pyqtSignal()  # let the two change their places; compare no longer
    closed = pyqtSignal()
    table_requested = pyqtSignal(bool)  # show what differs, or do not

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self.setProperty("edge", "other")
        self._first = PlainLabel(role="run")
        self._first.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._first.setToolTip("The run that is shown; choose another one in the list of runs")
        tip = "The run to compare with, in its own color"
        self._second = with_tip(ComboBox(), "Run to compare with", tip)
        self._second.setMinimumContentsLength(10)
        self._second.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._second.setMaximumWidth(240)
        self._second.activated.connect(lambda index: self.run_chosen.emit(self._second.itemData(index)))
        self._modes: dict[str, QToolButton] = {}
        group = QButtonGroup(self)
        for mode, title in COMPARE_MODES.items():
            chosen = partial(self.mode_chosen.emit, mode)
            self._modes[mode] = _button(title, TIPS[mode], chosen, checkable=True)
            group.addButton(self._modes[mode])
        self.summary = ElidedLabel()  # the distance between the two runs
        tip = "List the parameters and numbers in which the two runs differ"
        self._more = _button("What differs", tip, checkable=True)
        self._more.setArrowType(Qt.ArrowType.RightArrow)
        self._more.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._more.toggled.connect(self._on_more_toggled)
        swap = _button("⇄", "Let the two runs change their places", self.swap_requested.emit)
        close = _button("Stop comparing", "Show one run alone (Escape, or Ctrl+D)", self.closed.emit)
        pair = (self._first, swap, PlainLabel("with", role="other run"), self._second)
        runs = filled(QHBoxLayout(), *pair, None, *self._modes.values(), spacing=4)
        runs.addSpacing(8)
        runs.addWidget(close)
        below = filled(QHBoxLayout(), self.summary, self._more, grows=self.summary)
        filled(QVBoxLayout(self), runs, below, spacing=1, margins=(10, 3, 6, 3))
        self.set_mode("overlay")

    def set_runs(self, first: str, others: Mapping[str, str], second: str) -> None:
        """Name the run that is shown, and offer the others by key and name."""
        self._first.setText(shortened(first, LETTERS))
        self._first.setAccessibleName(first)
        offered = [(self._second.itemData(k), self._second.itemText(k)) for k in range(self._second.count())]
        if offered != list(others.items()):
            self._second.clear()
            for key, name in others.items():
                self._second.addItem(name, key)
        self._second.setCurrentIndex(self._second.findData(second))

    def set_mode(self, mode: str) -> None:
        """Show the way of comparing, a key of COMPARE_MODES. Emits nothing."""
        self._modes[mode].setChecked(True)

    def _on_more_toggled(self, on: bool) -> None:
        self._more.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)
        self.table_requested.emit(on)


class CompareTable(Themed, QTreeWidget):
    """Three columns: name, the run that is shown, the other one. No signals."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[CompareRow, ...] = ()
        self.setAccessibleName("What differs between the two runs")
        self.setColumnCount(3)
        self.setRootIsDecorated(False)
        self.setAlternatingRowColors(True)
        self.setSelectionMode(QTreeWidget.SelectionMode.NoSelection)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        header = prepare_tree(self)
        header.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # runs often begin alike
        for column in range(3):
            modes = QHeaderView.ResizeMode
            header.setSectionResizeMode(column, modes.Stretch if column else modes.ResizeToContents)
        self._follow_theme()

    def set_rows(self, names: tuple[str, str], rows: tuple[CompareRow, ...]) -> None:
        """Show lines, with the names of the runs above them."""
        self.setHeaderLabels(["", *names])
        heads = known(self.headerItem())
        for column, name in enumerate(names, start=1):
            heads.setToolTip(column, plain_tip(name))
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
            item = known(self.topLevelItem(index))
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


def _button(
    text: str, tip: str, pressed: Callable[[], object] | None = None, *, checkable: bool = False
) -> QToolButton:
    return tool_button(text, tip, f"{text}: {tip}", pressed, checkable=checkable)


def _below(title: PlainLabel, view: QWidget) -> QWidget:
    column = QWidget()
    title.hide()
    filled(QVBoxLayout(column), title, view, grows=view, spacing=0)
    return column
