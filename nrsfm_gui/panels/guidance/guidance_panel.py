"""The panel Guidance: a parameter, its values, the curve of held-out errors, the recommendation in words."""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QProgressBar,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core import NuclearNorm, WeightedNuclearNorm
from core.evaluation import HIDING, OBJECTIVE, HoldoutCurve, HoldoutPlan, value_text, values_in_range
from core.foundation import Floats, parameters_of
from core.reconstruction import SETTINGS
from nrsfm_gui.model.numbers import format_number
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.scene.summaries import measure
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.fields import Choice, NumberField, filled, push_button, with_tip
from nrsfm_gui.widgets.labels import ClampedLabel, EmptyLabel, PlainLabel
from nrsfm_gui.widgets.plots.plot_export import INTERACTIVE_ONLY, PlotFigure
from nrsfm_gui.widgets.plots.plot_style import PlainPlot, apply_plot_theme, log_ticks
from nrsfm_gui.widgets.style import Themed, set_property

TIP = (
    "Left axis: the reprojection error of the tracks that were hidden from the solver; the lower,\n"
    "the better they were predicted. Right axis: that of the tracks it used. The ring is on the value to use."
)
PADDING = 0.06  # of a range, on each side
WORD_PADDING = 0.2  # of a range over words, which have to fit below its ends
HEADROOM = 0.4  # of a range, above it: for the name of the lowest point
BAND_OPACITY = 60 / 255
LEAST_SPAN = 0.1  # decades of error that an axis spans
MOST_ABOVE = 0.7  # decades above the lowest held-out error that are in view: what collapsed is far above
EMPTY = (
    "Which value suits these tracks, without ground truth? A part of them is hidden, the rest is solved for "
    "several values of a parameter, and the curve shows how well what was hidden is predicted."
)
NOT_YET = "Guidance starts from a reconstruction with its rotations chosen: run one first."
UNREFINED = "The depths are not the objective: choose them in Parameters"
TITLES = {
    "xi": parameters_of(WeightedNuclearNorm)["xi"].title,
    "mu": parameters_of(NuclearNorm)["mu"].title,
    "scale": "all weights ×",
    **{name: SETTINGS[name].title for name in ("rank", "eta")},
    OBJECTIVE: "objective",
    **{name: SETTINGS[name].title for name in ("isometry", "smallest_movement", "noise", "neighbors")},
}
STRENGTHS = ("xi", "mu", "scale")  # more of these is a stronger penalty
MEANINGS = {
    **dict.fromkeys(("xi", "mu"), "the strength of the penalty"),
    "scale": "a factor on all explicit weights",
    **{name: SETTINGS[name].tip for name in TITLES if name in SETTINGS},
}
HIDING_TITLES = {"tracks": "hide tracks", "blocks": "hide blocks", "entries": "hide entries"}
USE_TIP = (
    "Put the value with the ring into Parameters: among those that predict equally well, the strongest.\n"
    "It is judged by hidden tracks, which give little information on depth: check the shapes as well"
)
MOST_VALUES = 40
LEAST_HEIGHT = 112  # pixels of the plot: the titles of its axes fit
FIELD_WIDTH, COUNT_WIDTH = 54, 38
LEAST_CHOICE_WIDTH = 66


@dataclass(frozen=True, eq=False)
class GuidanceCurves:
    """What is drawn; all by value in increasing order."""

    line: HoldoutCurve  # in the units of the tracks; where values are counts, their axis is linear
    parameter: str
    unit: str
    truth: Floats | None = None  # (N,) 3-D errors, NaN where unknown
    truth_unit: str = "mm"


@dataclass(frozen=True)
class GuidanceState:
    """What the panel shows."""

    available: bool = False  # whether there is a reconstruction to start from
    parameters: tuple[str, ...] = ("xi", "rank", "eta")  # that can be varied
    progress: tuple[int, int, str] | None = None  # solves that are done, and all; the time left
    suggested: tuple[float, float, int] | None = None  # range of the chosen parameter, where none is computed
    present: float | None = None  # the value that the parameter has now
    curves: GuidanceCurves | None = None
    sentence: str = ""  # what the curve recommends, or why there is none
    usable: bool = False  # whether the value can be put into the parameters
    warning: bool = False


class GuidancePlot(Themed, PlainPlot):
    """A plot of `GuidanceCurves`, or a text where there are none."""

    def __init__(self) -> None:
        super().__init__()
        self._curves: GuidanceCurves | None = None
        self._present: float | None = None
        self._with_truth = False
        with_tip(self, "Error of the held-out observations", TIP)
        self._plot.setMouseEnabled(x=False, y=False)
        self._low, self._high = pg.PlotCurveItem(), pg.PlotCurveItem()
        self._band = pg.FillBetweenItem(self._low, self._high)
        self._right_curve = pg.PlotCurveItem()  # what has the right axis
        self._held = pg.PlotDataItem(symbol="o", symbolSize=6)
        self._now = pg.InfiniteLine(angle=90)
        self._lowest = pg.ScatterPlotItem(symbol="o", size=14)
        self._label = pg.TextItem("", anchor=(0.5, 1.35))
        self._items = self._band, self._now, self._right_curve, self._held, self._lowest, self._label
        for depth, item in enumerate(self._items):
            item.setZValue(depth)
            self._plot.addItem(item, ignoreBounds=True)
        self._now.setData(INTERACTIVE_ONLY, True)
        self.empty = EmptyLabel("", self, margin=16)  # what is seen without a curve
        self._follow_theme()

    @property
    def figure(self) -> PlotFigure:
        """The plot, for export."""
        return PlotFigure(self, find_missing=lambda: "run Guidance first" if self._curves is None else "")

    def set_curves(self, curves: GuidanceCurves | None, present: float | None) -> None:
        """Draw curves, or none, and mark the value that the parameter has now."""
        if curves is not self._curves or present != self._present:
            self._curves, self._present = curves, present
            self._draw()

    def set_with_truth(self, on: bool) -> None:
        """Draw the 3-D error on the right axis, where it is known, instead of the error of what was used."""
        self._with_truth = on
        self._draw()

    def _apply_theme(self, theme: Theme) -> None:
        apply_plot_theme(self, theme)
        self._band.setBrush(pg.mkBrush(qcolor(theme.accent, BAND_OPACITY)))
        self._held.setPen(pg.mkPen(theme.accent, width=1))
        self._held.setSymbolBrush(pg.mkBrush(theme.accent))
        self._held.setSymbolPen(pg.mkPen(theme.panel))
        self._pens = {
            "used": pg.mkPen(theme.muted, width=1),
            "3-D": pg.mkPen(theme.truth, width=1, style=Qt.PenStyle.DashLine),
        }
        self._now.setPen(pg.mkPen(theme.residual, width=1, style=Qt.PenStyle.DashLine))
        self._lowest.setPen(pg.mkPen(theme.selection, width=2))
        self._lowest.setBrush(pg.mkBrush(None))
        self._label.setColor(theme.text)
        self._label.fill = pg.mkBrush(theme.raised)
        self._label.border = pg.mkPen(theme.border)
        self._plot.getAxis("left").setTextPen(theme.accent)
        self._draw()

    # -- drawing --------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        curves = self._curves
        self.empty.setVisible(curves is None)
        axes = map(self._plot.getAxis, ("left", "right", "bottom"))
        for item in (*self._items, *axes):
            item.setVisible(curves is not None)
        if curves is None:
            return
        line = curves.line
        x = line.values if line.integer else np.log10(line.values)
        held, deviation = _log(line.held), np.nan_to_num(line.deviation)
        low = _log(np.maximum(line.held - deviation, 0.3 * line.held))
        high = _log(line.held + deviation)
        self._low.setData(x, low)
        self._high.setData(x, high)
        self._held.setData(x, held)
        best = advised(line, curves.parameter)
        self._lowest.setData([x[best]], [held[best]])
        shown = value_label(curves.parameter, float(f"{line.values[best]:.3g}"))
        self._label.setText(f"{TITLES[curves.parameter]} {shown}")
        self._label.setAnchor((0.0 if best == 0 else 1.0 if best == len(x) - 1 else 0.5, 1.35))
        self._label.setPos(float(x[best]), float(held[best]))
        across = self._place_now(x, integer=line.integer)
        bottom = float(low.min())
        up = _wide_enough(bottom, min(float(high.max()), bottom + MOST_ABOVE))
        self._set_range(curves, across, up)
        self._draw_right_curve(x, curves, up)

    def _place_now(self, x: Floats, *, integer: bool) -> tuple[float, float]:
        """Mark the present value; return the horizontal range, with it where it is not far outside."""
        left, right = float(x[0]), float(x[-1])
        width = max(right - left, 1.0 if integer else 0.1)
        now = self._present
        there = now is not None and (integer or now > 0)
        if now is not None and there:
            place = now if integer else float(np.log10(now))
            there = left - width < place < right + width
            if there:
                self._now.setValue(place)
                left, right = min(left, place), max(right, place)
        self._now.setVisible(there)
        return left, max(right, left + 0.1)

    def _set_range(
        self, curves: GuidanceCurves, across: tuple[float, float], up: tuple[float, float]
    ) -> None:
        plot = self._plot
        worded = curves.parameter == OBJECTIVE
        aside = (WORD_PADDING if worded else PADDING) * (across[1] - across[0])
        plot.setRange(
            xRange=(across[0] - aside, across[1] + aside),
            yRange=(up[0] - PADDING * (up[1] - up[0]), up[1] + HEADROOM * (up[1] - up[0])),
            padding=0,
        )
        plot.setLabel("bottom", TITLES[curves.parameter])
        plot.setLabel("left", f"hidden ({html.escape(curves.unit)})")
        plot.getAxis("left").setTicks([_ticks(*plot.getViewBox().viewRange()[1])])
        if curves.line.integer:
            values = map(float, curves.line.values)
            ticks = [(each, value_text(OBJECTIVE, each) if worded else f"{each:g}") for each in values]
        else:
            ticks = log_ticks(*plot.getViewBox().viewRange()[0])
        plot.getAxis("bottom").setTicks([ticks])

    def _draw_right_curve(self, x: Floats, curves: GuidanceCurves, up: tuple[float, float]) -> None:
        """Draw the error of what was used, or the 3-D error, on an axis of its own."""
        errors, name, unit = curves.line.kept, "used", curves.unit
        if self._with_truth and curves.truth is not None:
            errors, name, unit = curves.truth, "3-D", curves.truth_unit
        pen = self._pens[name]
        known = np.isfinite(errors)
        self._right_curve.setVisible(bool(known.any()))
        axis = self._plot.getAxis("right")
        axis.setLabel(f"{name} ({html.escape(unit)})")
        axis.setTextPen(pen.color())
        if not known.any():
            axis.setTicks([[]])
            return
        logs = _log(errors[known])
        least, most = _wide_enough(
            float(logs.min()), min(float(logs.max()), float(logs.min()) + 2 * MOST_ABOVE)
        )
        scale = (up[1] - up[0]) / (most - least)
        self._right_curve.setPen(pen)
        self._right_curve.setData(x[known], up[0] + scale * (logs - least))
        axis.setTicks([[(up[0] + scale * (place - least), text) for place, text in _ticks(least, most)]])


class GuidancePanel(QWidget):
    """Controls, a curve and a recommendation. `header` is the line above, placed by the window."""

    compute_requested = pyqtSignal(str, object, str)  # the parameter, a tuple of values, and what is hidden
    cancel_requested = pyqtSignal()  # the series is to be stopped
    use_requested = pyqtSignal()  # the recommended value is to be used
    parameter_chosen = pyqtSignal(str)  # another parameter was chosen

    def __init__(self) -> None:
        super().__init__()
        self._state = GuidanceState()
        self._touched = False  # whether a range was typed
        self.plot = GuidancePlot()
        self.plot.setMinimumHeight(LEAST_HEIGHT)
        choice = Choice(MEANINGS, titles=TITLES)
        self._parameter = with_tip(choice, "parameter", "The parameter that the curve is over")
        self._parameter.setMinimumContentsLength(6)
        self._parameter.chosen.connect(self._on_parameter_chosen)
        choice = Choice(HIDING, titles=HIDING_TITLES)
        self._hiding = with_tip(choice, "what is hidden", "What is hidden: " + ";\n".join(HIDING.values()))
        self._hiding.setMinimumContentsLength(8)
        self._low = _field("lowest value", "The lowest value that is tried")
        self._high = _field("highest value", "The highest value that is tried")
        tip = "How many values are tried; of the rank, every one in the range"
        self._count = _field("number of values", tip)
        for field in (self._low, self._high, self._count):
            field.edited.connect(self._on_range_edited)
        self._compute = push_button("Compute", "", self._request)
        self._cancel = push_button("Cancel", "Stop, and keep the results so far", self.cancel_requested.emit)
        self._use = push_button("Use it", USE_TIP, self.use_requested.emit)
        self._truth = QCheckBox("Truth")
        self._truth.setToolTip(
            "Show the 3-D error too (per-frame similarity), on the right axis: it does not enter the "
            "recommendation"
        )
        self.truth_toggled = self._truth.toggled
        self.truth_toggled.connect(self.plot.set_with_truth)
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._left = PlainLabel(role="muted")
        self._line = ClampedLabel()
        self.header = QWidget()
        bar = filled(QHBoxLayout(self.header), margins=(8, 2, 4, 2))
        for choice in (self._parameter, self._hiding):
            choice.setMinimumWidth(LEAST_CHOICE_WIDTH)
            bar.addWidget(choice, 1)
        bar.addWidget(self._cancel)
        bar.addWidget(self._compute)
        self._range: list[QWidget] = []  # what is hidden where values are words
        for text, field in (("from", self._low), ("to", self._high), ("values", self._count)):
            label = PlainLabel(text, role="muted")
            label.setBuddy(field)
            self._range += [label, field]
        self._words = PlainLabel(f"values {' and '.join(SETTINGS[OBJECTIVE].choices)}", role="muted")
        self._top = QStackedWidget()  # the range, or how far it is
        for parts in (
            (*self._range, self._words, None, self._truth, self._use),
            (self._progress, self._left),
        ):
            row = QWidget()
            filled(QHBoxLayout(row), *parts, grows=self._progress, spacing=6, margins=(8, 2, 8, 2))
            self._top.addWidget(row)
        self._top.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        filled(QVBoxLayout(self), self._top, self._line, self.plot, grows=self.plot, spacing=0)
        self.setMinimumWidth(240)
        self.set_state(self._state)

    @property
    def parameter(self) -> str:
        """The chosen parameter."""
        return self._parameter.key

    @property
    def with_truth(self) -> bool:
        """Whether the 3-D error is to be shown."""
        return self._truth.isChecked() and not self._truth.isHidden()

    def set_state(self, state: GuidanceState) -> None:
        """Show a state; a range that was typed stays until another parameter is chosen."""
        self._state, names, choice = state, state.parameters, self._parameter
        unrefined = OBJECTIVE in names
        for name in TITLES:
            why_not = UNREFINED if unrefined and name in SETTINGS else "Not a parameter of this problem"
            choice.set_available(name, name in names, why_not=why_not)
        if choice.key not in names:
            choice.set_key(names[0])
            self._touched = False
        if state.suggested is not None and not self._touched:
            for field, value in zip((self._low, self._high, self._count), state.suggested, strict=True):
                field.set_value(value)
        self.plot.empty.setText(EMPTY if state.available else f"{EMPTY} {NOT_YET}")
        self.plot.set_curves(state.curves, state.present)
        self._use.setVisible(state.curves is not None)
        self._use.setEnabled(state.usable)
        self._truth.setVisible(state.curves is not None and state.curves.truth is not None)
        computing = state.progress is not None
        self._top.setCurrentIndex(int(computing))
        self._cancel.setVisible(computing)
        self._compute.setVisible(not computing)
        if state.progress is not None:
            done, count, left = state.progress
            self._progress.setMaximum(count)
            self._progress.setValue(done)
            words = f"{done} of {count} solves" + (f", {left} left" if left else "")
            self._progress.setAccessibleDescription(words)
            self._left.setText(words)
        self._show_situation()

    # -- what happens in it ---------------------------------------------------------------------------------

    def _on_parameter_chosen(self, parameter: str) -> None:
        self._touched = False
        self._show_situation()
        self.parameter_chosen.emit(parameter)

    def _on_range_edited(self) -> None:
        self._touched = True
        self._show_situation()

    def _request(self) -> None:
        values = self._values()
        if values:
            self.compute_requested.emit(self.parameter, values, self._hiding.key)

    def _values(self) -> tuple[float, ...]:
        """Return the values of the fields, () where the fields are not valid."""
        if self.parameter == OBJECTIVE:
            return values_in_range(OBJECTIVE, 0, 1, 2)
        by_one = self.parameter == "rank"
        try:
            low, high = self._low.value(), self._high.value()
            count = MOST_VALUES if by_one else self._count.value()
        except ValueError:
            return ()
        assert low is not None and high is not None and count is not None  # no field here is optional
        valid = np.isfinite([low, high]).all() and 0 < low < high and 2 <= count <= MOST_VALUES
        if not valid or (by_one and high - low >= MOST_VALUES):
            return ()
        return values_in_range(self.parameter, low, high, int(count))

    def _show_situation(self) -> None:
        values, computing = self._values(), self._state.progress is not None
        self._compute.setEnabled(self._state.available and bool(values))
        refused = "" if values else f"The range must ascend from above 0, with 2 to {MOST_VALUES} values."
        tip = refused or f"Solve for {len(values)} values; the window stays free"
        self._compute.setToolTip(tip if self._state.available else NOT_YET)
        sentence = refused or self._state.sentence
        set_property(self._line.label, "role", "warning" if refused or self._state.warning else "")
        self._line.set_text(sentence)
        self._line.setVisible(bool(sentence))
        for field in (self._low, self._high, self._count, self._parameter, self._hiding):
            field.setEnabled(not computing)
        self._count.setEnabled(not computing and self.parameter != "rank")
        for widget in self._range:
            widget.setVisible(self.parameter != OBJECTIVE)
        self._words.setVisible(self.parameter == OBJECTIVE)


def _field(name: str, tip: str) -> NumberField:
    integer = name == "number of values"
    field = with_tip(NumberField(integer=integer), name, tip)
    field.setFixedWidth(COUNT_WIDTH if integer else FIELD_WIDTH)
    field.setAlignment(Qt.AlignmentFlag.AlignLeft)
    return field


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return places on a logarithmic axis and names of round numbers, at least two where it is short, too."""
    found = log_ticks(low, high)
    if len(found) > 1:
        return found
    first, last = 10.0**low, 10.0**high
    step = 10.0 ** np.floor(np.log10((last - first) / 2))
    step *= next(factor for factor in (5, 2, 1) if (last - first) / (factor * step) >= 2)
    values = np.arange(np.ceil(first / step), np.floor(last / step) + 1) * step
    return [(float(np.log10(value)), format_number(float(value))) for value in values]


def _wide_enough(low: float, high: float) -> tuple[float, float]:
    missing = max(LEAST_SPAN - (high - low), 0.0)
    return low - missing / 2, high + missing / 2


def _log(values: Floats) -> Floats:
    """Return logarithms of errors; what is not finite, or zero, is brought to where it can be drawn."""
    finite = np.nan_to_num(values, nan=1e9, posinf=1e9)
    return np.asarray(np.log10(np.clip(finite, 1e-9, 1e9)))


def value_label(parameter: str, value: float) -> str:
    """Return a value in words, or as the fields of the window have it."""
    return value_text(parameter, value) if parameter == OBJECTIVE else format_number(value)


def advised(line: HoldoutCurve, parameter: str) -> int:
    """Return the index of the value to use: of those that predict equally well, the strongest penalty."""
    if parameter not in STRENGTHS:  # the lowest rank is the best already; no eta is safer than another
        return line.best
    return int(np.flatnonzero(line.values == line.close[1])[0])


def recommendation(line: HoldoutCurve, plan: HoldoutPlan, unit: str, *, widened: bool = False) -> str:
    """Return the recommendation of a curve, its uncertainty, and the value of "Use it"."""
    name = plan.parameter
    title, best, held = TITLES[name], float(line.values[line.best]), float(line.held[line.best])
    words = f"{title} {value_label(name, best)} predicts best: {measure(held, unit)}"
    deviation = float(line.deviation[line.best])
    if np.isfinite(deviation):
        words += f" ± {deviation:.2g}"
    words += f" where hidden, {measure(float(line.kept[line.best]), unit)} where used."
    low, high = line.close
    if low < high:
        words += f" {value_label(name, low)} to {value_label(name, high)} predict equally well"
        strongest = name in STRENGTHS
        words += f": Use it sets {format_number(high)}, the strongest and safest." if strongest else "."
    if widened:
        words += " The range was widened once, as the best was at its end."
    at_end = name != OBJECTIVE and best in (line.values[0], line.values[-1])
    if at_end and len(line.values) >= len(plan.values) > 1:
        words += " It is still at the end." if widened else " It is at the end of the range: try a wider one."
    return f"{words} Tracks give little information on depth: compare the shapes, too."


def by_truth(line: HoldoutCurve, parameter: str, errors: Floats, unit: str) -> str:
    """Return the ground-truth error of the value to use, of `errors` (N,), which did not choose it."""
    here = float(errors[advised(line, parameter)])
    if not np.isfinite(here):
        return ""
    least = int(np.nanargmin(errors))
    there = f"{measure(float(errors[least]), unit)} at {value_label(parameter, float(line.values[least]))}"
    return f" By the truth, not used here: {measure(here, unit)} at the value to use, least {there}."
