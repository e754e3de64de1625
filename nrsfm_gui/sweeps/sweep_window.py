"""The window of a sweep: table, heat map, filter, and what can be done with the chosen run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
from PyQt6.QtCore import QPoint, QSize, Qt, pyqtBoundSignal, pyqtSignal
from PyQt6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PyQt6.QtWidgets import QFrame, QGridLayout, QLineEdit, QMenu, QSplitter, QToolButton, QWidget

from core.experiments.sweep.filter import apply_filter
from core.foundation import Bools, Ints, printable
from nrsfm_gui.engine.throttle import TYPING_MILLISECONDS, Debounce
from nrsfm_gui.sweeps.heat_map import HeatMap
from nrsfm_gui.sweeps.runs_table import RunsTable
from nrsfm_gui.text.sweep_map import REDUCTIONS, SweepMap, build_map, default_settings
from nrsfm_gui.text.sweep_rows import SweepRows, number_heading
from nrsfm_gui.text.table_text import LATEX, MARKDOWN, TABS, shortened
from nrsfm_gui.widgets.banners import Banners, MessageBar, Urgency
from nrsfm_gui.widgets.dialogs import resize_within_screen
from nrsfm_gui.widgets.fields import Choice, column, push_button, row, tool_button, with_tip
from nrsfm_gui.widgets.icons import icon
from nrsfm_gui.widgets.labels import ElidedLabel, PlainLabel, known, plain_tip
from nrsfm_gui.widgets.style import set_property

SIZE = QSize(1180, 700)
SMALLEST = QSize(760, 380)
MAP_WIDTH = 440  # pixels, at first
NO_SETTING = "–"
FILTER_TIP = (
    "Words that a run has in its settings, status or failure, and comparisons of a setting or number:\n"
    "rank=3,4   eta >= 0.05   3-D error<2   status!=converged\n"
    "Several with spaces between them must all be true. A number equals a value to the digits of the value.\n"
    "The heat map shows the same runs. (Ctrl+F; Enter or Down goes to the table)"
)
STILL_EMPTY = "No run has ended yet. The table fills as they end."
NO_MATCH = "No run matches the filter."
ALL_FAILED = "None of these runs has a result, so that there is no number to draw."
FEW_SETTINGS = "All runs have the same settings, so that there is nothing to draw them over."

MenuEntry: TypeAlias = "tuple[str, str, str, Callable[[], object]]"  # title, tip, key, what it does


class SweepWindow(QWidget):
    """The window of one sweep; runs are numbered as in `SweepRows`."""

    GESTURES = (
        ("Ctrl+L, Ctrl+R", "go on live from the chosen run, solve it again"),
        ("Ctrl+F", "go to the filter"),
        ("Enter, Down, Escape in the filter", "go to the table; the filter stays"),
        ("Ctrl+C, Ctrl+Shift+C", "copy the table for a spreadsheet, as Markdown"),
        ("Ctrl+S, Ctrl+E", "export the table, the heat map"),
        ("F5, Ctrl+W", "read the runs again, close the window"),
    )

    run_requested = pyqtSignal(int, bool)  # a run is to be shown, and whether in front of this window
    live_requested = pyqtSignal(int)  # a run is to be gone on from in live mode, solved again
    solve_requested = pyqtSignal(int)
    # The rows of the table, the heat map as a table are to be copied, in one of TABLE_FORMS.
    copy_requested = pyqtSignal(str)
    map_copy_requested = pyqtSignal(str)
    table_export_requested = pyqtSignal()
    figure_export_requested = pyqtSignal()
    refresh_requested = pyqtSignal()
    shortcuts_requested = pyqtSignal()  # F1 and Ctrl+K, which belong to the main window
    palette_requested = pyqtSignal()
    closed = pyqtSignal()  # the window closes

    def __init__(self) -> None:
        super().__init__()
        self.setWindowIcon(icon("application"))
        self.setMinimumSize(SMALLEST)
        self.rows: SweepRows | None = None
        self._kept: Bools = np.zeros(0, dtype=bool)
        self._names: tuple[tuple[str, ...], ...] = ()  # of numbers and settings that the choices have
        self._axes = "", ""  # the settings across and down
        self._shown_key = ""  # of the run that the main window shows
        self.messages = MessageBar()
        self.table, self.map = RunsTable(), HeatMap()
        self._make_parts()
        self._place_parts()
        self._make_keys()
        self.set_rows(None)
        resize_within_screen(self, SIZE)

    @property
    def order(self) -> Ints:
        """(N,) the runs in the rows of the table."""
        return self.table.runs.order

    @property
    def chosen(self) -> int:
        """The chosen run, -1 where there is none."""
        return self.table.chosen

    # -- setters --------------------------------------------------------------------------------------------

    def set_folder(self, folder: Path) -> None:
        """Name the sweep in the title."""
        self.setWindowTitle(f"Sweep {printable(folder.name)}")
        self._title.set_full_text(printable(folder.name))
        self.filter.clear()

    def set_rows(self, rows: SweepRows | None) -> None:
        """Show the runs, of the same sweep or of another one; the chosen run stays chosen."""
        key = None if self.rows is None or self.chosen < 0 else self.rows.key(self.chosen)
        self.rows = rows
        self._filter_rows()
        chosen = -1 if rows is None or key is None else rows.find(key)
        self.table.set_rows(rows, self._kept, chosen)
        self._offer_choices()
        self._show_all()

    def set_shown(self, key: str) -> None:
        """Note which run the main window shows, by its key, "" for none of the sweep."""
        self._shown_key = key
        self._show_chosen()

    def choose(self, run: int) -> None:
        """Choose a run in table and map."""
        self.table.choose(run)
        self._show_chosen()

    # -- making ---------------------------------------------------------------------------------------------

    def _make_parts(self) -> None:
        self._title, self._count = ElidedLabel(role="title"), PlainLabel(role="muted")
        self.filter = with_tip(QLineEdit(), "Filter the runs", FILTER_TIP)
        self._filter_problem = PlainLabel(role="warning")
        self.filter.setClearButtonEnabled(True)
        copy, copy_map = self.copy_requested.emit, self.map_copy_requested.emit
        self._copy = self._menu_button(
            "Copy",
            "Copy the rows of the table, as they are sorted and filtered, or the heat map as a table",
            ("For a &spreadsheet", "Tabs between cells, all digits", "Ctrl+C", partial(copy, TABS)),
            ("As &Markdown", "A table for a text", "Ctrl+Shift+C", partial(copy, MARKDOWN)),
            ("As &LaTeX", "A table for a paper, by the package booktabs", "", partial(copy, LATEX)),
            ("&Heat map for a spreadsheet", "Its numbers, all digits", "", partial(copy_map, TABS)),
            ("Heat map as M&arkdown", "Its numbers as a table", "", partial(copy_map, MARKDOWN)),
            ("Heat map as La&TeX", "Its numbers as a table", "", partial(copy_map, LATEX)),
        )
        self._export = self._menu_button(
            "Export",
            "Save the rows of the table, or the heat map",
            ("&Table…", "The rows as .csv", "Ctrl+S", self.table_export_requested.emit),
            ("&Heat map…", "As PDF or PNG", "Ctrl+E", self.figure_export_requested.emit),
        )
        self._number = _choice("Number", "What the colors are of")
        self._across = _choice("Across", "Setting over the columns")
        self._down = _choice("Down", "Setting down the rows")
        self._reduction = _choice("Reduction", "What a cell has of the numbers of its runs", REDUCTIONS)
        self._run_title, self._run_numbers = ElidedLabel(role="title"), ElidedLabel(role="muted")
        self._show = push_button(
            "Show", "Show the reconstruction of this run", partial(self._request, self.run_requested, False)
        )
        self._live = push_button(
            "Go on live",
            "Show this run with its parameters in live mode: the reconstruction follows what you change "
            "(Ctrl+L)",
            partial(self._request, self.live_requested),
        )
        self._again = push_button(
            "Solve again",
            "Open the sequence and solve it with the settings of this run (Ctrl+R)",
            partial(self._request, self.solve_requested),
        )
        for choice in (self._number, self._reduction):
            choice.chosen.connect(lambda _key: self._show_map())
        for choice in (self._across, self._down):
            choice.chosen.connect(lambda _key: self._on_axis_chosen())
        self._typed = Debounce(self._apply_filter, TYPING_MILLISECONDS, self)
        self.filter.textChanged.connect(lambda _text: self._typed.request())
        self.filter.returnPressed.connect(self._leave_filter)
        self.table.run_chosen.connect(lambda _run: self._show_chosen())
        self.table.run_requested.connect(self.run_requested)
        self.table.menu_requested.connect(self._open_menu)
        self.map.cell_requested.connect(self._on_cell_requested)
        self.map.cell_chosen.connect(self._on_cell_chosen)

    def _menu_button(self, text: str, tip: str, *entries: MenuEntry) -> QToolButton:
        button = tool_button(text, tip)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        menu.setToolTipsVisible(True)
        for title, explanation, key, function in entries:
            action = known(menu.addAction(title))
            action.setToolTip(explanation)
            action.setShortcut(QKeySequence(key))
            action.triggered.connect(lambda _checked, function=function: function())
            self.addAction(action)
        button.setMenu(menu)
        return button

    def _place_parts(self) -> None:
        choices = QGridLayout()
        choices.setContentsMargins(8, 4, 4, 4)
        choices.setHorizontalSpacing(6)
        choices.setVerticalSpacing(4)
        places = {"color": self._number, "by": self._reduction, "across": self._across, "down": self._down}
        for place, (text, choice) in enumerate(places.items()):
            line, pair = divmod(place, 2)
            label = PlainLabel(text, role="muted")
            choices.addWidget(label, line, 2 * pair, Qt.AlignmentFlag.AlignRight)
            choices.addWidget(choice, line, 2 * pair + 1)
        choices.setColumnStretch(1, 3)
        choices.setColumnStretch(3, 2)
        right = QWidget()
        right.setLayout(column(choices, (self.map, 1), spacing=0))
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self.table)
        self._splitter.addWidget(right)
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([SIZE.width() - MAP_WIDTH, MAP_WIDTH])
        strip = QFrame()
        strip.setProperty("role", "bar")
        texts = column(self._run_title, self._run_numbers, spacing=0)
        buttons = self._again, self._live, self._show
        strip.setLayout(row((texts, 1), *buttons, spacing=6, margins=(6, 6, 10, 6)))
        top = row((self._title, 3), self._count, (self.filter, 2), self._copy, self._export)
        layout = column(top, self._filter_problem, (self._splitter, 1), strip, margins=(8, 8, 8, 8))
        layout.setAlignment(self._filter_problem, Qt.AlignmentFlag.AlignRight)
        self.setLayout(layout)
        self._banners = Banners(self._splitter, self)  # over the table, which stays in its place
        self._banners.add(self.messages, lambda: Urgency.ERROR if self.messages.warns else Urgency.MESSAGE)
        self.messages.changed.connect(self._banners.choose)

    def _make_keys(self) -> None:
        for key, function in (
            ("Ctrl+L", self._live.click),
            ("Ctrl+R", self._again.click),
            ("Ctrl+F", self._focus_filter),
            ("F5", self.refresh_requested.emit),
            ("F1", self.shortcuts_requested.emit),
            ("Ctrl+K", self.palette_requested.emit),
            ("Ctrl+W", self.close),
            ("Escape", self.table.setFocus),
        ):
            QShortcut(QKeySequence(key), self).activated.connect(function)
        down = QShortcut(QKeySequence("Down"), self.filter, context=Qt.ShortcutContext.WidgetShortcut)
        down.activated.connect(self._leave_filter)

    # -- what is asked for ----------------------------------------------------------------------------------

    def _request(self, signal: pyqtBoundSignal, *more: object) -> None:
        if self.chosen >= 0:
            signal.emit(self.chosen, *more)

    def _focus_filter(self) -> None:
        self.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter.selectAll()

    def _leave_filter(self) -> None:
        """Filter by what is typed, and go to the table."""
        self._typed.cancel()
        self._apply_filter()
        self.table.setFocus()

    def _apply_filter(self) -> None:
        self._filter_rows()
        if self.rows is not None:
            self.table.runs.set_rows(self.rows, self._kept)
        self._show_all()

    def _filter_rows(self) -> None:
        """Find the runs that the filter keeps, and name what of it cannot be understood."""
        rows, problem, example = self.rows, "", ""
        self._kept = np.zeros(0, dtype=bool)
        if rows is not None:
            found = apply_filter(rows.sweep, self.filter.text())
            self._kept, problem, example = found.kept, found.problem, rows.filter_example()
        self.filter.setPlaceholderText(f"Filter: {example}" if example else "Filter")
        self._filter_problem.setText(problem)
        self._filter_problem.setVisible(bool(problem))
        set_property(self.filter, "invalid", bool(problem))

    def _on_cell_chosen(self, row: int, column: int) -> None:
        """Choose the best run of a cell, unless one of its runs is chosen."""
        state = self.map.state
        if state is not None and state.cell_of(self.chosen) != (row, column):
            self.choose(state.best_run(row, column))

    def _on_cell_requested(self, row: int, column: int) -> None:
        state = self.map.state
        if state is not None and (row, column) in state.members:
            run = state.best_run(row, column)
            self.choose(run)
            self.run_requested.emit(run, False)

    def _on_axis_chosen(self) -> None:
        """Draw the map over other settings; what is chosen for both axes changes places."""
        across, down = self._axes
        if self._across.key == self._down.key:
            if self._across.key != across:
                self._down.set_key(across)
            else:
                others = (name for name in (down, *self._names[1]) if name and name != self._down.key)
                self._across.set_key(next(others, across))
                if self._across.key == self._down.key:
                    self._down.set_key("")
        self._axes = self._across.key, self._down.key
        self._show_map()

    def _open_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for button, keys in ((self._show, "Enter"), (self._live, "Ctrl+L"), (self._again, "Ctrl+R")):
            action = known(menu.addAction(f"{button.text()}\t{keys}"))
            action.setEnabled(button.isEnabled())
            action.triggered.connect(lambda _checked, button=button: button.click())
        menu.popup(place)

    # -- showing --------------------------------------------------------------------------------------------

    def _offer_choices(self) -> None:
        """Offer the numbers and settings of the sweep; what was chosen before stays where it is there."""
        rows = self.rows
        numbers = () if rows is None else tuple(rows.sweep.ordered_numbers)
        settings = () if rows is None else rows.sweep.varied
        if rows is None or (numbers, settings) == self._names:
            return
        default = default_settings(rows)
        across, down = (name if name in settings else "" for name in self._axes)
        across = across or next((name for name in default if name and name != down), "")
        down = down or next((name for name in default[::-1] if name != across), "")
        before = self._number.currentData()
        number = before if before in numbers else next(iter(numbers), "")
        self._axes = across, down
        for choice, names, key, more in (
            (self._number, numbers, number, ()),
            (self._across, settings, across, ()),
            (self._down, settings, down, ("",)),
        ):
            choice.clear()
            for name in (*more, *names):
                title = number_heading(name) if choice is self._number else name or NO_SETTING
                choice.add(name, shortened(title), plain_tip(shortened(name)))
            choice.set_key(key)
        self._names = numbers, settings

    def _show_all(self) -> None:
        rows = self.rows
        self._count.setText("" if rows is None else rows.count_text(int(self._kept.sum())))
        self._count.setToolTip("" if rows is None else plain_tip(rows.common_settings()))
        if rows is not None:
            empty = "" if self._kept.any() else self._no_match() if len(rows) else STILL_EMPTY
            self.table.empty.show_text(empty)
        self._show_map()

    def _no_match(self) -> str:
        return self._filter_problem.text() or NO_MATCH

    def _show_map(self) -> None:
        rows = self.rows
        drawn: SweepMap | None = None
        if rows is not None and self._number.count() and self._across.count():
            down = str(self._down.currentData() or "")
            drawn = build_map(rows, self._kept, self._number.key, self._across.key, down, self._reduction.key)
        if rows is None or not len(rows):
            self.map.empty.setText("")
        elif not self._kept.any():
            self.map.empty.setText(self._no_match())
        else:
            self.map.empty.setText(ALL_FAILED if rows.sweep.failed[self._kept].all() else FEW_SETTINGS)
        self.map.set_state(drawn)
        best = -1 if drawn is None else drawn.best
        self.table.runs.set_best(best, "" if drawn is None else drawn.table.number)
        self._show_chosen()

    def _show_chosen(self) -> None:
        """Name the chosen run, and enable what can be done with it."""
        rows, run = self.rows, self.chosen
        there = rows is not None and run >= 0
        result = None if rows is None or not there else rows.sweep.result(run)
        title, details = "No run is chosen", "Click a row or a cell to see its reconstruction"
        if rows is not None and there:
            title, details = rows.run_title(run), rows.run_details(run, kept=result is not None)
            if not self._kept[run]:
                title = f"{title} (not in the filter)"
            elif result is not None and rows.key(run) != self._shown_key:
                title = f"{title} (Enter shows it)"
        self._run_title.set_full_text(title)
        self._run_numbers.set_full_text(details)
        self._show.setEnabled(result is not None)
        self._live.setEnabled(there)
        self._again.setEnabled(there)
        state = self.map.state
        self.map.set_cell(None if state is None or not there else state.cell_of(run))

    # -- Qt's events ----------------------------------------------------------------------------------------

    def closeEvent(self, event: QCloseEvent | None) -> None:
        """Close; the runs are read again when it is shown."""
        self.messages.hide()
        self.closed.emit()
        known(event).accept()


def _choice(name: str, tip: str, options: dict[str, str] | None = None) -> Choice:
    return with_tip(Choice(options or {}), name, tip)
