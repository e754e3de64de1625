"""The panel Loss: the objective that a run minimizes, stage by stage, the error beside it, and what it tried.

"Best so far" is the lowest value so far of each stage against seconds, and "Everything" the value of every
iteration, of other objectives and levels too, with the phases. On an axis at the right is the 3-D error of
what was shown at each moment, or the error of observations that the solver does not see. The axis at the left
is of one stage, see `LossCurves`. The visible range follows the current run, or the two that are compared,
until the mouse zooms; it follows again when another run becomes the current one.
"""

from __future__ import annotations

import html

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QAction, QActionGroup, QContextMenuEvent, QFontMetrics, QResizeEvent
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QMenu, QSplitter, QVBoxLayout, QWidget
from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent

from core.foundation import DEPTHS, Floats, phase_text
from nrsfm_gui.model.history import History
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.panels.loss.attempts import Attempt, AttemptsTable
from nrsfm_gui.panels.loss.best_line import objectives, steps
from nrsfm_gui.panels.loss.loss_curves import (
    LossCurves,
    LossState,
    RightCurve,
    RightValues,
    below_names,
    name_axis,
)
from nrsfm_gui.panels.loss.loss_marks import ChangeTicks, CurveReading, IterationCursor, StageMarks
from nrsfm_gui.scene.run_errors import TRUTH, ErrorTrace
from nrsfm_gui.scene.summaries import duration, measure, objective_text
from nrsfm_gui.widgets.fields import ComboBox, filled, tool_button, with_tip
from nrsfm_gui.widgets.labels import ElidedLabel, EmptyLabel
from nrsfm_gui.widgets.plots.plot_export import StackedFigure
from nrsfm_gui.widgets.plots.plot_style import SIDES, PlainPlot, apply_plot_theme
from nrsfm_gui.widgets.style import Themed

BEST, EVERYTHING = "Best so far", "Everything"
AXES = {"iterations": "iteration", "seconds": "computing time (s)"}
# Of the vertical axis; the longest that there is room for is shown.
ENERGY_LABELS = ("energy per point and frame (nats)", "energy (nats)", "energy")
DIGITS = 4  # of values that are read
NOT_YET = "not of the final objective"
SCALES = {True: "log10 of the loss", False: "loss, linear"}
PADDING = 0.04
NAMED, PADDED = "━", 8  # the mark of a name, and pixels beside the names
NARROW = 560  # pixels of width below which the table is folded
LEAST_TABLE, LEAST_PLOT = 190, 120  # pixels of width
TIP = (
    "Left: what is minimized, the loss of the WNN problem or the energy of the depths. Shaded: other stages "
    "of the run, each in a scale of its own. Lighter lengths: lengths do not stay, and all is searched again "
    "with less weight of them. Thin and gray: what is tried now. Right: the error of what was "
    "shown at each moment. Ticks below: ends of candidates and starts, which the table lists.\n"
    "Click to see the shape at this moment; Esc returns. Wheel: zoom; drag: move. Right click: scale."
)
EMPTY = "The loss appears here while a run goes on"
HOLD_OUT = '<a href="hold out">Hold out 5 %</a> of the observations: the error at them is measured'


class LossHeader(QWidget):
    """The header of the loss plot: choices, and the value under the mouse."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = ElidedLabel(role="muted")
        self.newest = tool_button("Newest", "go back to the newest iteration, and to its parameters (Esc)")
        tip = "the lowest loss of the final objective, or all that was tried"
        self.mode = with_tip(ComboBox(), "What the loss plot shows", tip)
        self.mode.addItems((BEST, EVERYTHING))
        self.axis = with_tip(ComboBox(), "Horizontal axis of the loss", "what the horizontal axis counts")
        self.axis.addItems(list(AXES))
        self.residuals = tool_button("Residuals", "ADMM's relative residuals too: dashed primal, dotted dual")
        self.attempts = tool_button("Starts", "list the candidates and starts, and how each ended")
        self.fit = tool_button("Fit", "show the complete run again, and follow it")
        buttons = (self.newest, self.fit, self.attempts, self.residuals)
        filled(
            QHBoxLayout(self), self.reading, *buttons, self.mode, self.axis,
            grows=self.reading, margins=(8, 2, 4, 2),
        )  # fmt: skip
        for button in buttons:
            button.setCheckable(button in (self.attempts, self.residuals))
            button.hide()


class LossPlot(Themed, QWidget):
    """Shows histories; the current one in front. `header` is the line above it, placed by the window."""

    hold_out_requested = pyqtSignal()  # observations are to be held out
    figure_requested = pyqtSignal()  # the plot is to be saved as PDF or PNG
    scale_chosen = pyqtSignal(bool)  # whether losses are to be drawn by their logarithm

    GESTURES = (
        ("Click, drag the line", "see the run as it was then"),
        ("Click a triangle", "go back to before a change of the parameters"),
        ("Wheel, right drag", "zoom"),
        ("Left drag", "move"),
        ("Right click", "logarithmic or linear, fit"),
    )

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumSize(240, 150)
        self._zoomed = self._all = False
        self._state = LossState()
        self._moment = ""  # that is shown, in words; the header has it while nothing is under the mouse
        self._table_wanted: bool | None = None  # None until it was chosen: where there is room
        self.plot_widget = with_tip(PlainPlot(sides=SIDES[:3]), "Loss over iterations or seconds", TIP)
        self._plot: pg.PlotItem = self.plot_widget.getPlotItem()
        self._stages, self._curves = StageMarks(self._plot), LossCurves(self._plot)
        self._ticks, self._cursor = ChangeTicks(self._plot), IterationCursor(self._plot)
        self._reading = CurveReading(self._plot)
        self.change_chosen, self.moment_requested = self._ticks.chosen, self._cursor.requested
        box = self._plot.getViewBox()
        box.setDefaultPadding(PADDING)
        for function in (self._place_marks, self._show_names):
            box.sigRangeChanged.connect(function)
        for function in (self._apply_range, self._place_marks, self._name_values):
            box.sigResized.connect(function)
        box.sigRangeChangedManually.connect(lambda _axes: self._set_zoomed(True))
        self._empty = EmptyLabel(EMPTY, self.plot_widget)
        self._right = RightCurve(self._plot)
        self._table = AttemptsTable()
        self._table.hovered.connect(self._on_attempt_hovered)
        self._hold_out = QLabel(HOLD_OUT)
        self._hold_out.setProperty("role", "muted")
        self._hold_out.setContentsMargins(8, 0, 8, 2)
        self._hold_out.setWordWrap(True)
        self._hold_out.linkActivated.connect(lambda _link: self.hold_out_requested.emit())
        self._hold_out.hide()
        self.header = LossHeader()
        for choice in (self.header.mode, self.header.axis):
            choice.currentTextChanged.connect(lambda _text: self._set_axes())
        self.header.fit.clicked.connect(lambda _checked: self._set_zoomed(False))
        self.header.residuals.clicked.connect(self.refresh)
        self.header.attempts.clicked.connect(self._on_attempts_requested)
        self.header.newest.clicked.connect(lambda _checked: self.moment_requested.emit(None))
        self._splitter = QSplitter()
        self._splitter.setChildrenCollapsible(False)
        self._names = QLabel()
        self._names.setContentsMargins(PADDED, 0, PADDED, 0)
        self._names.setMinimumWidth(1)
        self._names.hide()
        curves = QWidget()
        filled(QVBoxLayout(curves), self._names, self.plot_widget, grows=self.plot_widget, spacing=0)
        self._splitter.addWidget(curves)
        self._splitter.addWidget(self._table)
        self._splitter.setStretchFactor(0, 1)
        self._table.hide()
        filled(QVBoxLayout(self), self._splitter, self._hold_out, grows=self._splitter, spacing=0)
        self.plot_widget.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.plot_widget.scene().sigMouseClicked.connect(self._on_mouse_clicked)
        self._follow_theme()
        self._set_axes()

    @property
    def figure(self) -> StackedFigure:
        """The plot for export, with the names of its curves above."""
        title = str(self.plot_widget.accessibleName())
        return StackedFigure(title, self, lambda: [(self.plot_widget, 0)], self._seen_names)

    def set_state(self, state: LossState) -> None:
        """Show a state; the range follows again where another run comes to the front or is compared."""
        front, before, self._state = self._curves.front, self._state, state
        self._curves.set_state(state)
        if (before.compared is None) != (state.compared is None):
            self._all, self._zoomed = state.compared is not None, False
        if self._curves.front is not front:
            self._curves.marked = None
            self._zoomed = False
        self._table.set_attempts(state.attempts)
        self._hold_out.setVisible(state.can_hold_out)
        self._show_table()
        self.refresh()

    def set_moment(self, record: int | None) -> None:
        """Set the shown record of the current run, None for the newest; the axis is of its stage."""
        before = self._curves.stage
        self._curves.moment = record
        if self._curves.stage == before:
            self._show_cursor()
        else:
            self._set_zoomed(False)
            self.refresh()

    def set_logarithmic(self, on: bool) -> None:
        """Draw losses by their base-10 logarithm, or as they are."""
        if on != self._curves.logarithmic:
            self._curves.logarithmic = on
            self._set_zoomed(False)
            self.refresh()

    def refresh(self) -> None:
        """Draw what the histories gained since the last time."""
        self._curves.with_residuals = self.header.residuals.isChecked()
        self._curves.draw()
        empty = not self._curves.histories
        self._empty.setVisible(empty)
        for side in ("left", "bottom"):
            self._plot.showAxis(side, not empty)
        self._name_values()
        self._show_cursor()
        self.header.residuals.setVisible(self._curves.has_residuals)
        self._apply_range()
        self._right.show(self._right_values())
        self._place_marks()
        self._show_names()

    def set_all(self, on: bool) -> None:
        """Show and follow all runs, or the run in front alone."""
        self._all = on
        self._set_zoomed(False)

    def _apply_theme(self, theme: Theme) -> None:
        apply_plot_theme(self.plot_widget, theme)
        marks = (self._ticks, self._cursor, self._reading, self._stages)
        for part in (self._curves, self._right, *marks):
            part.set_colors(theme)
        self._name_values()
        self._place_marks()
        self._show_names()

    # -- drawing --------------------------------------------------------------------------------------------

    def _set_axes(self) -> None:
        everything = self.header.mode.currentText() == EVERYTHING
        self.header.axis.setVisible(everything)
        seconds = not everything or self.header.axis.currentText() == "seconds"
        self._plot.setLabel("bottom", AXES["seconds" if seconds else "iterations"])
        self._curves.set_axes(everything=everything, seconds=seconds)
        self._zoomed = False
        self._show_table()
        self.refresh()

    def _set_zoomed(self, zoomed: bool) -> None:
        self._zoomed = zoomed
        self._apply_range()

    def _apply_range(self) -> None:
        self.header.fit.setVisible(self._zoomed)
        history = self._curves.front
        if history is None or self._zoomed:
            return
        shown = self._curves.histories if self._all else [history]
        left = min(float(self._curves.x(each)[0]) for each in shown) if self._curves.everything else 0.0
        right = max(float(self._curves.x(each)[-1]) for each in shown)
        low, high = self._curves.range(all_runs=self._all)
        self._plot.setXRange(left, right if right > left else left + 1.0, padding=PADDING)
        self._plot.setYRange(*below_names(low, high, self._plot.getViewBox().height()), padding=0)

    def _name_values(self) -> None:
        stage = self._curves.stage
        if stage is not None:
            losses = ("log10 loss",) if self._curves.logarithmic else ("loss",)
            labels = ENERGY_LABELS if stage.objective == DEPTHS else losses
            theme, front = self._theme, self._curves.front
            name_axis(self._plot, "left", labels, theme.muted if front is None else theme.accent)

    def _seen_names(self) -> list[tuple[str, str]]:
        """Return the names and colors of the curves that are seen in the range of the axes."""
        return [(name, pg.mkPen(item.opts["pen"]).color().name()) for item, name in self._curves.names()]

    def _show_names(self) -> None:
        """Write above the plot the names that there is room for, or nothing."""
        metrics, room = QFontMetrics(self._names.font()), self.plot_widget.width() - 2 * PADDED
        shown: list[str] = []
        for name, color in self._seen_names():
            room -= metrics.horizontalAdvance(f"{NAMED}    ")
            if not shown:
                name = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room)
            room -= metrics.horizontalAdvance(name)
            if room < 0 and shown:
                break
            shown.append(f'<span style="color: {color}">{NAMED}</span>&nbsp;{html.escape(name)}')
        self._names.setText("&nbsp;&nbsp; ".join(shown))
        self._names.setVisible(bool(shown))

    def _show_table(self) -> None:
        there = len(self._state.attempts) > 1
        wanted = self.width() >= NARROW if self._table_wanted is None else self._table_wanted
        shown = there and wanted
        self.header.attempts.setVisible(there)
        self.header.attempts.setChecked(shown)
        if shown and self._table.isHidden():
            width = min(max(self._table.full_width, LEAST_TABLE), self.width() - LEAST_PLOT)
            self._table.show()
            self._splitter.setSizes([max(self.width() - width, 1), width])
        self._table.setVisible(shown)

    def _show_cursor(self) -> None:
        history, moment = self._curves.front, self._curves.moment
        text = ""
        if history is not None and moment is not None:
            last, seen = history.records[-1], history.records[min(moment, len(history) - 1)]
            if self._curves.everything:
                text = f"iteration {seen.iteration} of {last.iteration}"
            else:
                text = f"{duration(seen.seconds)} of {duration(last.seconds)}"
        self._cursor.show(self._curves.x(history), moment, text)
        if self.header.reading.full_text in ("", self._moment):
            self.header.reading.set_full_text(text)
        self._moment = text
        self.header.newest.setVisible(moment is not None)

    def _right_values(self) -> RightValues | None:
        history, trace = self._curves.front, self._state.trace
        return None if history is None or trace is None else _errors(history, self._curves.x(history), trace)

    def _place_marks(self) -> None:
        history = self._curves.front
        x = self._curves.x(history)
        self._stages.place(history, x, self._curves.stage, everything=self._curves.everything)
        self._ticks.show(history, x, self._curves.places)  # those of other stages are of the range

    def _on_attempts_requested(self, shown: bool) -> None:
        self._table_wanted = shown
        self._show_table()

    def _on_attempt_hovered(self, attempt: Attempt | None) -> None:
        self._curves.marked = None if attempt is None else attempt.records
        self._curves.draw()
        self._apply_range()

    def _on_mouse_moved(self, position: object) -> None:
        history, box = self._curves.front, self._plot.getViewBox()
        if history is None or not box.sceneBoundingRect().contains(position):
            self._clear_reading()
            return
        x = self._curves.x(history)
        index = int(np.abs(x - box.mapSceneToView(position).x()).argmin())
        record, spent = history.records[index], duration(history.records[index].seconds)
        value = objective_text(float(self._curves.values(history)[index]), record.objective, DIGITS)
        phase = phase_text(record.phase)
        if self._curves.everything:
            text = f"{record.iteration}: {value}"
            parts = [text, phase, spent]
            if record.primal is not None:
                parts.append(f"residuals {record.primal:.1e}, {record.dual:.1e}")
            self.header.reading.set_full_text(" · ".join(parts))
        else:
            parts, trace = [value] if np.isfinite(history.lowest[index]) else [], self._state.trace
            if trace is not None and parts:
                near, error = trace.nearest(index)
                if len(set(objectives(history, np.array([near, index])))) == 1:
                    parts.append(measure(error, trace.unit))
            text = f"{spent}: {' · '.join(parts) or NOT_YET}"
            tried = objective_text(record.value, record.objective, DIGITS)
            self.header.reading.set_full_text(f"{text} · {record.phase.attempt or phase}, {tried}")
        self._reading.show(float(x[index]), float(self._curves.places(np.array([index]))[0]), text)

    def _clear_reading(self) -> None:
        self.header.reading.set_full_text(self._moment)
        self._reading.hide()

    def _on_mouse_clicked(self, click: MouseClickEvent) -> None:
        """Request the clicked moment, unless a change of parameters was clicked; the right button: a menu."""
        box = self._plot.getViewBox()
        if not box.sceneBoundingRect().contains(click.scenePos()) or click.isAccepted():
            return
        if click.button() == Qt.MouseButton.RightButton:
            self.menu().popup(click.screenPos().toPoint())
        elif click.button() == Qt.MouseButton.LeftButton:
            self._cursor.go_to(box.mapSceneToView(click.scenePos()).x())

    def menu(self) -> QMenu:
        """Return the menu of the plot, which is deleted when it closes."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        scales = QActionGroup(menu)
        for logarithmic, title in SCALES.items():
            action = QAction(title, scales)
            action.setCheckable(True)
            action.setChecked(logarithmic == self._curves.logarithmic)
            action.triggered.connect(lambda _on, chosen=logarithmic: self.scale_chosen.emit(chosen))
            menu.addAction(action)
        if self._curves.stage is not None and self._curves.stage.objective == DEPTHS:
            menu.addAction("energy, always linear").setEnabled(False)  # type: ignore[union-attr]
        menu.addSeparator()
        menu.addAction("Fit", lambda: self.set_all(False))
        menu.addAction("Save as a figure…", self.figure_requested.emit)
        return menu

    def contextMenuEvent(self, event: QContextMenuEvent | None) -> None:
        """Open the menu by its key; the right button does when it has not dragged."""
        if event is not None and event.reason() == QContextMenuEvent.Reason.Keyboard:
            self.menu().popup(self.mapToGlobal(self.rect().center()))

    def leaveEvent(self, event: object) -> None:
        """Clear what belongs to the point under the mouse."""
        self._clear_reading()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Keep the table where there is room."""
        super().resizeEvent(event)
        self._show_table()
        self._show_names()


def _errors(history: History, x: Floats, trace: ErrorTrace) -> RightValues | None:
    """Return the errors of what was shown at records x (N,) of the final objective; None for a point."""
    known = trace.records < len(history)
    records, errors = trace.records[known], trace.errors[known]
    entries = [history.records[record] for record in records.tolist()]
    shown = np.array([each.best is not None or each.objective == DEPTHS for each in entries], dtype=bool)
    records, errors = records[shown], errors[shown]
    if not len(records) or records[0] == len(history) - 1:
        return None
    changed = objectives(history, records)
    starts = np.append(True, np.diff(changed) != 0)
    until = np.append(records[1:], len(history) - 1)  # an error lasts until the next, or until a change
    until = np.minimum(until, np.append(history.changes, len(history) - 1)[changed])
    begin, y, joined = steps(x[records], x[until], errors, starts)
    short = "error" if trace.name == TRUTH else "held out"
    labels = (f"{trace.name} ({trace.unit})", f"{short} ({trace.unit})", trace.unit)
    return RightValues(begin, y, joined, labels)
