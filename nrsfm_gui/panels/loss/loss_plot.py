"""The panel Loss: the lowest loss so far against seconds, with the error beside it, and what a run tried.

"Best so far" is the lowest loss of the objective that the run ends with, and, on an axis at the right, the
3-D error of what was shown at each moment, or the error of observations that the solver does not see.
"Everything" is the loss of all iterations, of other objectives too, with the phases and the energies of the
refinement. The visible range follows the current run, or the two that are compared, until the mouse zooms; it
follows again when another run becomes the current one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QSplitter, QVBoxLayout, QWidget

from core.foundation import phase_text
from nrsfm_gui.panels.loss.attempts_table import AttemptsTable
from nrsfm_gui.panels.loss.best_line import best_range, objectives, steps
from nrsfm_gui.panels.loss.loss_curves import (
    LossCurves,
    ResidualCurves,
    RightCurve,
    RightValues,
    below_names,
)
from nrsfm_gui.panels.loss.loss_marks import (
    ChangeTicks,
    CurveReading,
    IterationCursor,
    PhaseMarks,
    SpanMarks,
)
from nrsfm_gui.scene.summaries import duration, measure, signed
from nrsfm_gui.widgets.fields import ComboBox, tool_button
from nrsfm_gui.widgets.labels import ElidedLabel, EmptyLabel
from nrsfm_gui.widgets.plots.plot_export import StackedFigure
from nrsfm_gui.widgets.plots.plot_style import (
    BOTTOM_MARGIN,
    TOP_MARGIN,
    PlainPlot,
    PlotAxis,
    apply_plot_theme,
)
from nrsfm_gui.widgets.style import Themed

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyqtgraph as pg
    from PyQt6.QtGui import QResizeEvent
    from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent

    from core.foundation import Floats
    from nrsfm_gui.model.history import History
    from nrsfm_gui.model.theme import Theme
    from nrsfm_gui.panels.loss.attempts import Attempt
    from nrsfm_gui.scene.error_traces import ErrorTrace

BEST, EVERYTHING = MODES = ("Best so far", "Everything")
AXES = {"iterations": "iteration", "seconds": "computing time (s)"}
ENERGY_LABELS = ("energy per point and frame", "energy")  # the longest that there is room for is shown
DIGITS = 4  # of logarithms that are read
NOT_YET = "not of the final objective"
LEAST_SPAN = 1e-3  # decades of loss that the vertical axis holds at least
PADDING = 0.04
NARROW = 560  # pixels of width below which the table is folded
TABLE_WIDTHS = (190, 270)  # pixels, the least and the usual
TABLE_SHARE = 0.4  # of the width, usually
TIP = (
    "Left: base-10 logarithm of the lowest loss so far; thin and gray: what is tried now. Right: the error "
    "of what was shown at each moment. Ticks below: ends of candidates and starts, which the table lists.\n"
    "Click to see the shape at this moment; Esc returns. Wheel: zoom; drag: move."
)
TIP_OF_EVERYTHING = (
    "Left: base-10 logarithm of the loss of every iteration. Right: the energy of the depth refinement, per "
    "point and frame; energies of two phases do not compare, so each has a line of its own.\n"
    "Click to see the shape at this moment; Esc returns. Wheel: zoom; drag: move."
)
EMPTY = "The loss appears here while a run goes on"
HOLD_OUT = '<a href="hold out">Hold out 5 %</a> of the observations: the error at them is measured'


@dataclass(frozen=True)
class RunDetails:
    """What belongs to the curve in front."""

    attempts: tuple[Attempt, ...] = ()
    until: int | None = None  # the last record of the line, None for that of the history
    trying: bool = False  # whether the run goes on
    trace: ErrorTrace | None = None
    can_hold_out: bool = False  # whether there is neither a truth nor any observation that is held out


class LossHeader(QWidget):
    """The header of the loss plot: choices, and the value under the mouse."""

    mode_chosen = pyqtSignal(str)
    axis_chosen = pyqtSignal(str)
    fit_requested = pyqtSignal()
    residuals_requested = pyqtSignal(bool)
    attempts_requested = pyqtSignal(bool)
    newest_requested = pyqtSignal()

    def __init__(self) -> None:
        super().__init__()
        self.reading = ElidedLabel()
        self.reading.setProperty("role", "muted")
        self._moment = ""
        self._newest = tool_button("Newest", "go back to the newest iteration, and to its parameters (Esc)")
        self._newest.clicked.connect(lambda _checked: self.newest_requested.emit())
        self._mode, self._axis = ComboBox(), ComboBox()
        self._mode.setAccessibleName("What the loss plot shows")
        self._mode.addItems(MODES)
        self._mode.setToolTip("the lowest loss of the final objective, or all that was tried")
        self._mode.currentTextChanged.connect(self.mode_chosen)
        self._axis.setAccessibleName("Horizontal axis of the loss")
        self._axis.addItems(list(AXES))
        self._axis.setToolTip("what the horizontal axis counts")
        self._axis.currentTextChanged.connect(self.axis_chosen)
        self._residuals = tool_button(
            "Residuals", "ADMM's relative residuals too: dashed primal, dotted dual"
        )
        self._attempts = tool_button("Starts", "list the candidates and starts, and how each ended")
        self._fit = tool_button("Fit", "show the complete run again, and follow it")
        for button, signal in (
            (self._residuals, self.residuals_requested),
            (self._attempts, self.attempts_requested),
        ):
            button.setCheckable(True)
            button.clicked.connect(signal)
        self._fit.clicked.connect(lambda _checked: self.fit_requested.emit())
        bar = QHBoxLayout(self)
        bar.setContentsMargins(8, 2, 4, 2)
        bar.addWidget(self.reading, 1)
        for widget in (self._newest, self._fit, self._attempts, self._residuals, self._mode, self._axis):
            bar.addWidget(widget)
        for button in (self._newest, self._fit, self._attempts, self._residuals):
            button.hide()

    @property
    def residuals(self) -> bool:
        """Whether residuals are shown."""
        return self._residuals.isChecked()

    def set_reading(self, text: str) -> None:
        """Show the value under the mouse; "" shows the shown moment."""
        self.reading.set_full_text(text or self._moment)

    def set_moment(self, text: str, *, newest: bool) -> None:
        """Show which moment is shown, and the button to the newest one."""
        if self.reading.full_text in ("", self._moment):
            self.reading.set_full_text(text)
        self._moment = text
        self._newest.setVisible(not newest)

    def set_axes(self, mode: str, axis: str) -> None:
        """Show what is drawn, and what the axis counts."""
        self._mode.setCurrentText(mode)
        self._axis.setCurrentText(axis)
        self._axis.setVisible(mode == EVERYTHING)

    def offer_fit(self, zoomed: bool) -> None:
        """Show the button that ends a zoom, or hide it."""
        self._fit.setVisible(zoomed)

    def offer_residuals(self, there: bool) -> None:
        """Show the button for residuals, or hide it where there are none."""
        self._residuals.setVisible(there)

    def offer_attempts(self, there: bool, *, shown: bool) -> None:
        """Show the button for the table, or hide it where there is nothing to list."""
        self._attempts.setVisible(there)
        self._attempts.setChecked(shown)


class LossPlot(Themed, QWidget):
    """Shows histories; the current one in front. `header` is the line above it, placed by the window."""

    moment_requested = pyqtSignal(object)  # the requested record of the current run, None for the newest
    change_chosen = pyqtSignal(int)  # the number of the change of parameters to go back to
    hold_out_requested = pyqtSignal()  # observations are to be held out

    GESTURES = (
        ("Click, drag the line", "see the run as it was then"),
        ("Click a triangle", "go back to before a change of the parameters"),
        ("Wheel, right drag", "zoom"),
        ("Left drag", "move"),
    )

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._mode, self._axis = BEST, "iterations"
        self._zoomed = self._all = False
        self._moment: int | None = None
        self._details = RunDetails()
        self._table_wanted: bool | None = None  # None until it was chosen: where there is room
        self._widget = PlainPlot(**{side: PlotAxis(side) for side in ("left", "bottom", "right")})
        self._widget.setAccessibleName("Loss over iterations or seconds")
        self._plot: pg.PlotItem = self._widget.getPlotItem()
        self._plot.setContentsMargins(0, TOP_MARGIN, 0, BOTTOM_MARGIN)
        self._plot.setLabel("left", "log10 loss")
        self._phases, self._spans = PhaseMarks(self._plot), SpanMarks(self._plot)
        self._curves = LossCurves(self._plot)
        self._ticks, self._cursor = ChangeTicks(self._plot), IterationCursor(self._plot)
        self._reading = CurveReading(self._plot)
        self._ticks.chosen.connect(self.change_chosen)
        self._cursor.requested.connect(self.moment_requested)
        box = self._plot.getViewBox()
        box.setDefaultPadding(PADDING)
        box.sigRangeChanged.connect(self._place_marks)
        box.sigResized.connect(lambda _box: self._apply_range())
        box.sigResized.connect(self._place_marks)
        box.sigRangeChangedManually.connect(lambda _axes: self._set_zoomed(True))
        self._empty = EmptyLabel(EMPTY, self._widget)
        self._residuals = ResidualCurves(self._plot)
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
        self.header.mode_chosen.connect(self.set_mode)
        self.header.axis_chosen.connect(self.set_axis)
        self.header.fit_requested.connect(lambda: self._set_zoomed(False))
        self.header.residuals_requested.connect(self.refresh)
        self.header.attempts_requested.connect(self._on_attempts_requested)
        self.header.newest_requested.connect(lambda: self.moment_requested.emit(None))
        self._splitter = QSplitter()
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self._widget)
        self._splitter.addWidget(self._table)
        self._splitter.setStretchFactor(0, 1)
        self._table.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._splitter, 1)
        layout.addWidget(self._hold_out)
        self._widget.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self._widget.scene().sigMouseClicked.connect(self._on_mouse_clicked)
        self._follow_theme()
        self.set_mode(BEST)

    # -- setters --------------------------------------------------------------------------------------------

    @property
    def plot_widget(self) -> pg.PlotWidget:
        """The plot itself, for export."""
        return self._widget

    @property
    def figure(self) -> StackedFigure:
        """The plot for export, with the names of its curves above."""
        title = str(self._widget.accessibleName())
        return StackedFigure(title, self, lambda: [(self._widget, 0)], self._curves.named_colors)

    def minimumSizeHint(self) -> QSize:
        """Return the least size in which the curve can be read."""
        return QSize(240, 150)

    def set_histories(
        self,
        histories: dict[int, History],
        current: int | None,
        names: Mapping[int, str] | None = None,
        *,
        compared: int | None = None,
    ) -> None:
        """Show histories by the number of their run; `current` is drawn in front.

        `names` of the runs are for the legend. With a `compared` run all others but the current are faint.
        """
        front = self._curves.front
        self._curves.set_histories(histories, current, compared, names or {})
        if self._curves.front is not front:
            self._curves.mark(None)
            self._zoomed = False
        self.refresh()

    def set_details(self, details: RunDetails) -> None:
        """Set what belongs to the current run; `refresh` shows it."""
        self._details = details
        self._curves.set_progress(details.until, trying=details.trying)
        self._table.set_attempts(details.attempts)
        self._hold_out.setVisible(details.can_hold_out)
        self._show_table()

    def set_moment(self, record: int | None) -> None:
        """Set the shown record of the current run, None for the newest."""
        self._moment = record
        self._show_cursor()

    def refresh(self) -> None:
        """Draw what the histories gained since the last time."""
        self._curves.draw()
        empty = not self._curves.histories
        self._empty.setVisible(empty)
        for side in ("left", "bottom"):
            self._plot.showAxis(side, not empty)
        self._show_ticks()
        self._show_cursor()
        self._show_residuals()
        self._apply_range()
        self._right.show(values := self._right_values())
        trace = None if values is None or self._everything else self._details.trace
        self._curves.set_beside(None if trace is None else (self._right.item, trace.name))
        self._place_marks()

    def set_mode(self, mode: str) -> None:
        """Show the lowest loss so far, or everything; one of `MODES`."""
        self._mode = mode
        self._widget.setToolTip(TIP if mode == BEST else TIP_OF_EVERYTHING)
        self._set_axes()

    def set_axis(self, axis: str) -> None:
        """Count iterations or seconds along the horizontal axis, where everything is shown."""
        self._axis = axis
        self._set_axes()

    def fit(self) -> None:
        """Show all of the current run, and follow it."""
        self.set_all(False)

    def set_all(self, on: bool) -> None:
        """Show and follow all runs, or the run in front alone."""
        self._all = on
        self._set_zoomed(False)

    def _apply_theme(self, theme: Theme) -> None:
        apply_plot_theme(self._widget, theme)
        marks = (self._ticks, self._cursor, self._reading, self._phases, self._spans)
        for part in (self._curves, self._residuals, self._right, *marks):
            part.set_colors(theme)
        self._place_marks()

    # -- drawing --------------------------------------------------------------------------------------------

    @property
    def _everything(self) -> bool:
        return self._mode == EVERYTHING

    def _set_axes(self) -> None:
        self.header.set_axes(self._mode, self._axis)
        seconds = not self._everything or self._axis == "seconds"
        self._plot.setLabel("bottom", AXES["seconds" if seconds else "iterations"])
        self._curves.set_axes(everything=self._everything, seconds=seconds)
        self._zoomed = False
        self._show_table()
        self.refresh()

    def _set_zoomed(self, zoomed: bool) -> None:
        self._zoomed = zoomed
        self._apply_range()

    def _apply_range(self) -> None:
        """Set the range that is followed."""
        self.header.offer_fit(self._zoomed)
        history = self._curves.front
        if history is None or self._zoomed:
            return
        shown = self._curves.histories if self._all else [history]
        left = min(float(self._curves.x(each)[0]) for each in shown) if self._everything else 0.0
        right = max(float(self._curves.x(each)[-1]) for each in shown)
        ranges = [self._range_of(each) for each in shown]
        if self._curves.marked_range is not None:
            ranges.append(self._curves.marked_range)
        low, high = min(each[0] for each in ranges), max(each[1] for each in ranges)
        low, high = min(low, self._residuals.bounds[0]), max(high, self._residuals.bounds[1])
        self._plot.setXRange(left, right if right > left else left + 1.0, padding=PADDING)
        low, high = below_names(low, max(high, low + LEAST_SPAN), self._plot.getViewBox().height())
        self._plot.setYRange(low, high, padding=0)

    def _range_of(self, history: History) -> tuple[float, float]:
        """Return the least and the largest logarithm that are to be seen of a history."""
        best = None if self._everything else best_range(history)
        y = history.log_losses
        return (float(y.min()), float(y.max())) if best is None else best

    def _show_table(self) -> None:
        there = len(self._details.attempts) > 1
        wanted = self.width() >= NARROW if self._table_wanted is None else self._table_wanted
        shown = there and wanted
        self.header.offer_attempts(there, shown=shown)
        if shown and self._table.isHidden():
            least, usual = TABLE_WIDTHS
            width = min(max(round(TABLE_SHARE * self.width()), least), usual)
            self._table.show()
            self._splitter.setSizes([max(self.width() - width, 1), width])
        self._table.setVisible(shown)

    def _show_ticks(self) -> None:
        history = self._curves.front
        none = np.zeros(0)
        self._ticks.show(
            history,
            none if history is None else self._curves.x(history),
            none if history is None else self._curves.y(history),
        )

    def _show_cursor(self) -> None:
        """Place the cursor at the shown moment, with its number."""
        history = self._curves.front
        self._cursor.show(None if history is None else self._curves.x(history), self._moment)
        text = ""
        if history is not None:
            last = history.records[-1]
            seen = last if self._moment is None else history.records[min(self._moment, len(history) - 1)]
            if self._everything:
                text = f"iteration {seen.iteration} of {last.iteration}"
            else:
                text = f"{duration(seen.seconds)} of {duration(last.seconds)}"
        self._cursor.set_text("" if self._moment is None else text)
        self.header.set_moment("" if self._moment is None else text, newest=self._moment is None)

    def _show_residuals(self) -> None:
        """Draw the residuals of the current run, if it has some and they are switched on."""
        history = self._curves.front
        there = self._everything and history is not None and history.has_residuals
        self.header.offer_residuals(there)
        shown = history if there and self.header.residuals else None
        self._residuals.show(shown, None if shown is None else self._curves.x(shown))

    def _right_values(self) -> RightValues | None:
        """Return what is drawn over the axis at the right."""
        history = self._curves.front
        if history is None:
            return None
        if self._everything:
            return _energies(history, self._curves.x(history)) if history.has_energies else None
        return None if self._details.trace is None else _errors(history, self._details.trace)

    def _place_marks(self, *_: object) -> None:
        history = self._curves.front
        for marks, shown in ((self._phases, self._everything), (self._spans, not self._everything)):
            if history is None or not shown:
                marks.clear()
            else:
                marks.place(history, self._curves.x(history))

    def _on_attempts_requested(self, shown: bool) -> None:
        self._table_wanted = shown
        self._show_table()

    def _on_attempt_hovered(self, attempt: Attempt | None) -> None:
        """Highlight the curve of a attempt, or of none."""
        self._curves.mark(None if attempt is None else attempt.records)
        self._curves.draw()
        self._apply_range()

    def _on_mouse_moved(self, position: object) -> None:
        """Show the value of the current curve under the mouse."""
        history, box = self._curves.front, self._plot.getViewBox()
        if history is None or not box.sceneBoundingRect().contains(position):
            self._clear_reading()
            return
        x = self._curves.x(history)
        index = int(np.abs(x - box.mapSceneToView(position).x()).argmin())
        y, record = float(self._curves.y(history)[index]), history.records[index]
        loss = signed(float(history.log_losses[index]), DIGITS)
        if self._everything:
            residuals = (
                f" · residuals {record.primal:.1e}, {record.dual:.1e}" if record.primal is not None else ""
            )
            energy = "" if record.energy is None else f"energy {signed(record.energy, 5)}"
            more = f" · {energy}" if energy else ""
            doing, spent = phase_text(record.phase), f"{record.seconds:.3g} s"
            self.header.set_reading(f"{record.iteration}: {loss}{more} · {doing} · {spent}{residuals}")
            place = self._right.place(index)
            self._reading.show(
                float(x[index]), y if place is None else place, f"{record.iteration}: {energy or loss}"
            )
            return
        parts = [signed(y, DIGITS)] if np.isfinite(history.log_best_losses[index]) else []
        trace = self._details.trace
        if trace is not None and parts:
            near, error = trace.nearest(index)
            if len(set(objectives(history, np.array([near, index])))) == 1:
                parts.append(measure(error, trace.unit))
        self._reading.show(float(x[index]), y, f"{duration(record.seconds)}: {' · '.join(parts) or NOT_YET}")
        tried = record.phase.attempt or phase_text(record.phase)
        self.header.set_reading(
            f"{duration(record.seconds)}: {' · '.join(parts) or NOT_YET} · {tried}, {loss}"
        )

    def _clear_reading(self) -> None:
        self.header.set_reading("")
        self._reading.hide()

    def _on_mouse_clicked(self, click: MouseClickEvent) -> None:
        """Request the clicked moment, unless a change of parameters was clicked."""
        box = self._plot.getViewBox()
        inside = box.sceneBoundingRect().contains(click.scenePos())
        if inside and click.button() == Qt.MouseButton.LeftButton and not click.isAccepted():
            self._cursor.go_to(box.mapSceneToView(click.scenePos()).x())

    def leaveEvent(self, event: object) -> None:
        """Clear what belongs to the point under the mouse."""
        self._clear_reading()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Keep the text of the empty state centered, and the table where there is room."""
        super().resizeEvent(event)
        self._empty.fill()
        self._show_table()


def _energies(history: History, x: Floats) -> RightValues:
    """Return the energies of a refinement, one line per phase; `x` (N,) is where the records are."""
    known = np.isfinite(history.energies)
    joined = known & np.append(known[1:], False) & ~history.phase_ends
    return RightValues(x, history.energies, joined, ENERGY_LABELS, "energy")


def _errors(history: History, trace: ErrorTrace) -> RightValues | None:
    """Return the errors of what was shown since there is a loss of the final objective, by seconds."""
    records = trace.records[trace.records < len(history)]
    shown = np.isfinite(history.log_best_losses[records])
    records, errors = records[shown], trace.errors[: len(shown)][shown]
    if not len(records):
        return None
    changed = objectives(history, records)
    starts = np.append(True, np.diff(changed) != 0)
    until = np.append(records[1:], len(history) - 1)  # an error lasts until the next, or until a change
    until = np.minimum(until, np.append(history.changes, len(history) - 1)[changed])
    x, y, joined = steps(history.seconds[records], history.seconds[until], errors, starts)
    labels = (f"{trace.name} ({trace.unit})", f"error ({trace.unit})", trace.unit)
    return RightValues(x, y, joined, labels, "residual")
