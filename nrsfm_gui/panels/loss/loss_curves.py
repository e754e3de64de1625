"""The curves of the loss plot: one per run, other stages of the current run, and an axis at the right.

The axis at the left is of one stage: that of the newest record, of the moment that is shown, or of the
attempt that is highlighted. Each other stage of the current run fills the height in its own span, since its
values do not compare.
"""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtGui import QFontMetricsF
from PyQt6.QtWidgets import QGraphicsItem

from core.foundation import WNN, Bools, Floats, Ints, RunStage
from nrsfm_gui.model.history import History
from nrsfm_gui.model.theme import DARK, Theme
from nrsfm_gui.panels.loss.attempts import Attempt
from nrsfm_gui.panels.loss.best_line import FLAT, best_line, best_range, line_starts, widened
from nrsfm_gui.scene.run_errors import ErrorTrace
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.plots.plot_export import INTERACTIVE_ONLY

EARLIER_OPACITY = 190 / 255  # earlier runs stay in the background
FAINT_OPACITY = 60 / 255  # while two runs are compared
GHOST_OPACITY = 110 / 255  # of what is tried
FRONT_WIDTH = 2  # pixels of the line of the lowest value in front, which has few vertices
MOST_NAMES = 8  # of runs, the newest
NAMES_ROOM = 20  # pixels above the curves, for the names of phases and stages
MOST_ROOM = 0.25  # of the height of a low plot, for these
MARGIN = 0.08  # of a range of values, below
STYLES = (Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)
LOWEST_SHOWN = -16.0  # a residual of zero must not dominate the range
LEAST_LOSS = 1e-300  # a loss of zero has no logarithm


@dataclass(frozen=True)
class LossState:
    """What the plot shows: the histories of runs, and from `attempts` on what belongs to the one in front."""

    histories: Mapping[int, History] = field(default_factory=dict)  # by the number of the run
    shown: int | None = None  # the run in front
    names: Mapping[int, str] = field(default_factory=dict)  # of the runs, for the legend
    compared: int | None = None  # the run beside which all others but the one in front are faint
    lengths: tuple[int, ...] = ()  # of the histories, which grow
    attempts: tuple[Attempt, ...] = ()
    until: int | None = None  # the last record of the line, -1 for none, None for that of the history
    trying: bool = False  # whether the run goes on, so that what it tries is shown
    trace: ErrorTrace | None = None
    can_hold_out: bool = False  # whether there is neither a truth nor any observation that is held out


def below_names(low: float, high: float, height: float) -> tuple[float, float]:
    """Return the range with room for the names of phases above values, in a plot of a height in pixels."""
    room = min(NAMES_ROOM / max(height, 1.0), MOST_ROOM)
    return low - MARGIN * (high - low), high + room / (1 - room) * (1 + MARGIN) * (high - low)


def name_axis(plot: pg.PlotItem, side: str, labels: Collection[str], color: str) -> None:
    """Label an axis in the color of its curve by the longest label that has room, of the longest first."""
    axis = plot.getAxis(side)
    metrics, height = QFontMetricsF(axis.label.font()), plot.getViewBox().height()
    *_, shortest = labels
    label = next((each for each in labels if metrics.horizontalAdvance(each) <= height), shortest)
    if (axis.labelText, axis.labelStyle.get("color")) != (html.escape(label), color):  # a label is laid out
        axis.setLabel(html.escape(label), color=color)
        axis.resizeEvent()  # which centers the label
    axis.setTextPen(pg.mkPen(color))


def _overlay(plot: pg.PlotItem) -> pg.ViewBox:
    """Return a box in front of that of a plot, with its horizontal axis and a vertical one of its own."""
    box, below = pg.ViewBox(enableMenu=False), plot.getViewBox()
    box.setParentItem(plot)
    box.setXLink(below)
    box.setMouseEnabled(x=False, y=False)
    box.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
    box.setZValue(below.zValue() + 1)

    def follow(*_: object) -> None:
        box.setGeometry(below.geometry())
        box.linkedViewChanged(below, pg.ViewBox.XAxis)

    below.sigResized.connect(follow)
    return box


@dataclass(frozen=True, eq=False)
class _Line:
    """What is drawn of a stage: places (M,), whether each is joined to the next, and the range to be seen."""

    x: Floats
    y: Floats
    joined: Bools
    range: tuple[float, float] | None  # None where there is nothing


@dataclass(eq=False)
class _Curve:
    history: History
    item: pg.PlotDataItem
    drawn: object = None  # what the item shows
    range: tuple[float, float] | None = None  # of it


class LossCurves:
    """Draws histories: the lowest value so far against seconds, or everything that was tried.

    Where everything is not shown, what the current run tries now is a thin curve behind its line; where there
    is no lowest value of its stage yet, all that it tried is.
    """

    def __init__(self, plot: pg.PlotItem) -> None:
        self._plot = plot
        self.everything = False
        self.seconds = True  # along the horizontal axis; else iterations
        self.logarithmic = True  # whether losses are drawn by their base-10 logarithm; energies never are
        self.moment: int | None = None  # the record that is looked at, None for the newest
        self._state = LossState()
        self._curves: dict[int, _Curve] = {}
        self.marked: tuple[int, int] | None = None  # from which record on to which one it is highlighted
        self._theme = DARK
        self._others = _OtherStages(plot)
        self._others_drawn: object = None  # what they show
        self.with_residuals = False  # whether those of ADMM are drawn, where there are some
        self._residuals = [pg.PlotDataItem(connect="finite", antialias=False) for _style in STYLES]
        for curve in self._residuals:
            curve.setZValue(5)
            plot.getViewBox().addItem(curve)
        self._ghost = pg.PlotDataItem(connect="all", antialias=False)
        self._highlight = pg.PlotDataItem(connect="all", antialias=False)
        for item, z in ((self._ghost, -2), (self._highlight, 12)):
            QGraphicsItem.setData(item, INTERACTIVE_ONLY, True)  # its own `setData` is another
            item.setZValue(z)
            plot.getViewBox().addItem(item)

    @property
    def front(self) -> History | None:
        """The history in front, None where there is none or nothing in it."""
        curve = None if self._state.shown is None else self._curves.get(self._state.shown)
        return curve.history if curve is not None and len(curve.history) else None

    @property
    def histories(self) -> list[History]:
        """Those with something in them."""
        return [curve.history for curve in self._curves.values() if len(curve.history)]

    @property
    def stage(self) -> RunStage | None:
        """The stage that the axis at the left is of."""
        if self.front is None:
            return self.histories[-1].stage_of(None) if self.histories else None
        return self.front.stage_of(self.moment if self.marked is None else self.marked[0])

    @property
    def is_logarithmic(self) -> bool:
        """Whether the axis at the left has logarithms."""
        return self.logarithmic and self.stage is not None and self.stage.objective == WNN

    @property
    def has_residuals(self) -> bool:
        """Whether there are residuals that can be drawn: logarithms, over everything that was tried."""
        return self.everything and self.is_logarithmic and self.front is not None and self.front.has_residuals

    def x(self, history: History | None) -> Floats:
        """Return where a history has its records (N,) along the axis."""
        if history is None:
            return np.zeros(0)
        return history.seconds if self.seconds else history.iterations

    def scaled(self, values: Floats, stage: RunStage) -> Floats:
        """Return values of a stage as they are drawn."""
        logarithmic = self.logarithmic and stage.objective == WNN
        return np.log10(np.maximum(values, LEAST_LOSS)) if logarithmic else values

    def values(self, history: History) -> Floats:
        """Return what is drawn of each record (N,), not scaled: the lowest, or what was tried before it."""
        lowest = history.lowest
        return history.values if self.everything else np.where(np.isnan(lowest), history.values, lowest)

    def places(self, records: Ints) -> Floats:
        """Return where records (M,) of the history in front are on the axis at the left."""
        history, stage = self.front, self.stage
        if history is None or stage is None:
            return np.zeros(0)
        values, inside = self.values(history)[records], history.in_stage(stage)[records]
        found = np.empty(len(records))
        found[inside] = self.scaled(values[inside], stage)
        for other in {each for each, *_ in history.stage_spans} - {stage}:
            inside = history.in_stage(other)[records]
            found[inside] = self._others.places(records[inside], self.scaled(values[inside], other))
        return found

    def set_axes(self, *, everything: bool, seconds: bool) -> None:
        """Draw everything or the lowest value, over seconds or iterations; `draw` shows it."""
        self.everything, self.seconds = everything, seconds or not everything
        self._color()

    def set_state(self, state: LossState) -> None:
        """Have a curve for every history, in the color of its run; `draw` shows them."""
        before, self._state, histories = self._state, state, state.histories
        gone = [n for n, curve in self._curves.items() if histories.get(n) is not curve.history]
        for number in gone:
            self._plot.removeItem(self._curves.pop(number).item)
        new = histories.keys() - self._curves.keys()
        for number in histories:
            if number in new:
                item = pg.PlotDataItem(antialias=False)
                self._plot.addItem(item)
                self._curves[number] = _Curve(histories[number], item)
        if new or (state.shown, state.compared) != (before.shown, before.compared):
            self._color()

    def range(self, *, all_runs: bool) -> tuple[float, float]:
        """Return the least and the largest value on the axis at the left, of the current run or of all."""
        shown = [curve for n, curve in self._curves.items() if all_runs or n == self._state.shown]
        ranges = [curve.range for curve in shown if curve.range is not None]
        history, stage = self.front, self.stage
        if history is None or stage is None:
            return 0.0, 1.0
        if self.marked is not None:
            y = self.scaled(history.values[self.marked[0] : self.marked[1] + 1], stage)
            ranges.append((float(y.min()), float(np.quantile(y, 0.9))))
        if not ranges:
            inside = history.in_stage(stage)
            settled = inside & history.settled  # none while the hand moves
            y = self.scaled(history.values[settled if settled.any() else inside], stage)
            ranges.append((float(y.min()), float(y.max())))
        linear = stage.objective == WNN and not self.logarithmic
        low, high = min(each[0] for each in ranges), max(each[1] for each in ranges)
        low, high = widened(low, high, 0.0 if linear else FLAT)
        residuals = self._residual_values()
        if residuals is not None:
            low, high = min(low, float(np.nanmin(residuals))), max(high, float(np.nanmax(residuals)))
        return low, high

    def draw(self) -> None:
        """Draw what the histories gained since the last time."""
        for number, curve in self._curves.items():
            history, until = curve.history, self._state.until if number == self._state.shown else None
            changes = sum(1 + len(tick.later) for tick in history.ticks)
            stage = self._stage_in(history)
            state = len(history), until, self.everything, self.seconds, self.logarithmic, stage, changes
            if state == curve.drawn or not len(history):
                continue
            curve.drawn = state
            line = self._line(history if until is None else history.until(until + 1), stage, slice(None))
            curve.range = line.range
            all_joined = bool(line.joined[:-1].all()) or not len(line.x)
            curve.item.setData(line.x, line.y, connect="all" if all_joined else line.joined)
        self._draw_others()
        residuals = self._residual_values()
        for k, item in enumerate(self._residuals):
            item.setVisible(residuals is not None)
            if residuals is not None:
                item.setData(self.x(self.front), residuals[k])
        self._draw_part(self._ghost, self._tried_part())
        self._draw_part(self._highlight, self.marked)

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self._theme = theme
        self._color()

    def names(self) -> list[tuple[pg.PlotDataItem, str]]:
        """Return the curves of several runs with names: the current one, then the newest that are seen."""
        front, names = self._state.shown, self._state.names
        order = sorted(self._curves, key=lambda number: (number == front, number), reverse=True)
        items = ((number, self._curves[number].item) for number in order if len(order) > 1)
        seen = [(n, item) for n, item in items if n == front or _is_seen(item)]
        return [(item, f"{n} {names.get(n, f'run {n}')}") for n, item in seen[:MOST_NAMES]]

    def _stage_in(self, history: History) -> RunStage | None:
        """Return the stage of a history that the axis is of; of another run under its newest parameters."""
        stage = self.stage
        if stage is None or history is self.front:
            return stage
        kinds = (each for each, *_ in reversed(history.stage_spans))
        return next((each for each in kinds if replace(each, change=stage.change) == stage), None)

    def _line(self, history: History, stage: RunStage | None, span: slice) -> _Line:
        """Return what is drawn of a stage between two records, nothing with None."""
        if stage is None:
            return _Line(np.zeros(0), np.zeros(0), np.zeros(0, dtype=bool), None)
        inside, x = (history.in_stage(stage) & history.settled)[span], self.x(history)[span]
        if self.everything:
            joined = inside & np.append(inside[1:], False) & ~history.level_ends[span]
            y = self.scaled(history.values[span][inside], stage)
            ends = (float(y.min()), float(y.max())) if len(y) else None
            return _Line(x[inside], y, joined[inside], ends)
        values = np.where(inside, self.scaled(history.lowest[span], stage), np.nan)
        begins = line_starts(values)
        return _Line(*best_line(x, values, begins), best_range(history.seconds[span], values, begins))

    def _tried_part(self) -> tuple[int, int] | None:
        """Return the first and last record of what is tried now; of all before there is a lowest value."""
        history, stage = self.front, self.stage
        if history is None or self.everything:
            return None
        _, first, last = [each for each in history.stage_spans if each[0] == stage][-1]
        if not np.isfinite(history.lowest[first : last + 1]).any():
            return first, last
        begin, tried = history.phases[-1]
        if not self._state.trying or last < len(history) - 1 or not tried.ranked:
            return None
        for earlier, phase in reversed(history.phases[:-1]):
            if not tried.attempt or phase.attempt != tried.attempt:
                break
            begin = earlier
        return max(begin, first), last

    def _residual_values(self) -> Floats | None:
        """Return the base-10 logarithms (2, N) of the residuals that are drawn; NaN where there are none."""
        if not (self.with_residuals and self.has_residuals) or self.front is None:
            return None
        return np.maximum(self.front.log_residuals, LOWEST_SHOWN)

    def _draw_others(self) -> None:
        history, stage = self.front, self.stage
        spans = [] if history is None else [each for each in history.stage_spans if each[0] != stage]
        changes = [] if history is None else history.changes.tolist()
        state = history, spans, changes, self.everything, self.seconds, self.logarithmic
        if history is None or state != self._others_drawn:
            self._others_drawn = state
            found = history and [(a, b, self._line(history, each, slice(a, b + 2))) for each, a, b in spans]
            self._others.show(found or [])

    def _draw_part(self, item: pg.PlotDataItem, records: tuple[int, int] | None) -> None:
        history, stage = self.front, self.stage
        if history is None or stage is None or records is None or records[0] >= len(history):
            item.setVisible(False)
            return
        part = records[0] + np.flatnonzero(history.settled[records[0] : records[1] + 1])
        item.setData(self.x(history)[part], self.scaled(history.values[part], stage))
        item.setVisible(True)

    def _color(self) -> None:
        opacity = EARLIER_OPACITY if self._state.compared is None else FAINT_OPACITY
        for number, curve in self._curves.items():
            front, beside = number == self._state.shown, number == self._state.compared
            color = qcolor(self._theme.runs[number % len(self._theme.runs)], opacity)
            chosen = self._theme.accent if front else self._theme.other if beside else color
            wide = (front or beside) and not self.everything
            curve.item.setPen(pg.mkPen(chosen, width=FRONT_WIDTH if wide else 1))
            curve.item.setZValue(10 if front else 5 if beside else 0)
        for item, style in zip(self._residuals, STYLES, strict=True):
            item.setPen(pg.mkPen(self._theme.residual, width=1, style=style))
        self._others.item.setPen(pg.mkPen(self._theme.accent, width=1))
        self._ghost.setPen(pg.mkPen(qcolor(self._theme.muted, GHOST_OPACITY), width=1))
        self._highlight.setPen(pg.mkPen(self._theme.selection, width=1))


def _is_seen(item: pg.PlotDataItem) -> bool:
    x, y = item.getOriginalDataset()
    if x is None or not len(x):
        return False
    connect = item.opts["connect"]
    joined = np.ones(len(x), dtype=bool) if isinstance(connect, str) else connect
    ends = np.minimum(np.arange(len(x)) + joined, len(x) - 1)
    inside = np.ones(len(x), dtype=bool)
    for values, (low, high) in zip((x, y), item.getViewBox().viewRange(), strict=True):
        inside &= (np.maximum(values, values[ends]) >= low) & (np.minimum(values, values[ends]) <= high)
    return bool(inside.any())


class _OtherStages:
    """The stages of a run that are not on the axis: each fills the height in its own span."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self._plot, self._box = plot, _overlay(plot)
        self._spans: list[tuple[int, int, float, float]] = []  # first and last record, and the range
        self.item = pg.PlotDataItem(antialias=False)
        self._box.addItem(self.item)
        plot.getViewBox().sigResized.connect(self._fit)

    def show(self, lines: list[tuple[int, int, _Line]]) -> None:
        """Draw the lines of stages, each with its first and its last record."""
        drawn = [(a, b, line, widened(*line.range)) for a, b, line in lines if line.range is not None]
        self._spans = [(a, b, *ends) for a, b, _, ends in drawn]
        self._box.setVisible(bool(drawn))
        if not drawn:
            return
        y = [(line.y - low) / (high - low or 1.0) for _, _, line, (low, high) in drawn]
        joined = [np.append(line.joined[:-1], False) for _, _, line, _ in drawn]
        x = [line.x for _, _, line, _ in drawn]
        self.item.setData(np.concatenate(x), np.concatenate(y), connect=np.concatenate(joined))
        self._fit()

    def places(self, records: Ints, y: Floats) -> Floats:
        """Return where values of records (M,), as they are drawn, are on the axis of the plot."""
        shares = np.zeros(len(records))
        for first, last, low, high in self._spans:
            inside = (records >= first) & (records <= last)
            shares[inside] = (y[inside] - low) / (high - low or 1.0)
        ends = (self._box.mapViewToScene(QPointF(0.0, share)) for share in (0.0, 1.0))
        bottom, top = (self._plot.getViewBox().mapSceneToView(end).y() for end in ends)
        found: Floats = bottom + shares * (top - bottom)
        return found

    def _fit(self, *_: object) -> None:
        self._box.setYRange(*below_names(0.0, 1.0, self._plot.getViewBox().height()), padding=0)


@dataclass(frozen=True, eq=False)
class RightValues:
    """What the axis at the right shows."""

    x: Floats  # (M,)
    y: Floats  # (M,)
    joined: Bools  # (M,) whether each is joined to the next
    labels: tuple[str, ...]  # of the axis, the longest first


class RightCurve:
    """A curve on an axis of its own at the right."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self._plot, self._box = plot, _overlay(plot)
        axis = plot.getAxis("right")
        axis.linkToView(self._box)
        axis.setZValue(-5)
        self.item = pg.PlotDataItem(antialias=False)
        # The last value may be that of one moment: without a mark its step is hidden at the edge of the plot.
        self._end = pg.ScatterPlotItem(size=6)
        for part in (self.item, self._end):
            self._box.addItem(part)
        plot.getViewBox().sigResized.connect(self._on_resized)
        plot.getViewBox().sigXRangeChanged.connect(self._fit)
        self._shown: RightValues | None = None
        self._box.hide()
        self.set_colors(DARK)

    def show(self, values: RightValues | None) -> None:
        """Draw values, or nothing."""
        self._shown = values
        self._box.setVisible(values is not None)
        self._plot.showAxis("right", values is not None)
        if values is not None:
            self.item.setData(values.x, values.y, connect=values.joined)
            self._end.setData(values.x[-1:], values.y[-1:])
            self._on_resized()

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self._color = theme.residual
        self.item.setPen(pg.mkPen(self._color, width=1))
        self._end.setPen(None)
        self._end.setBrush(pg.mkBrush(self._color))
        self._on_resized()

    def _on_resized(self, *_: object) -> None:
        if self._shown is not None:
            name_axis(self._plot, "right", self._shown.labels, self._color)
            self._fit()

    def _fit(self, *_: object) -> None:
        """Let the axis hold the values between left and right, whose range the mouse may have changed."""
        if self._shown is None:
            return
        x, y = self._shown.x, self._shown.y
        left, right = self._plot.getViewBox().viewRange()[0]
        seen = y[(x >= left) & (x <= right)]
        if seen.size:
            low, high = widened(float(seen.min()), float(seen.max()))
            bottom, top = below_names(low, high, self._plot.getViewBox().height())
            self._box.setYRange(max(bottom, 0.0) if low >= 0 else bottom, top, padding=0)
