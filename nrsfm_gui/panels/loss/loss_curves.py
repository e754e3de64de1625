"""The curves of the loss plot: one per run, the current one in front, a legend, and an axis at the right."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtGui import QFontMetricsF
from PyQt6.QtWidgets import QGraphicsItem

from nrsfm_gui.panels.loss.best_line import best_line
from nrsfm_gui.widgets.plots.plot_export import INTERACTIVE_ONLY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.foundation import Bools, Floats
    from nrsfm_gui.model.history import History
    from nrsfm_gui.model.theme import Theme

EARLIER_ALPHA = 190  # of 255: earlier runs stay in the background
FAINT_ALPHA = 60  # while two runs are compared
GHOST_ALPHA = 110  # of what is tried
LEGEND_ALPHA = 150
FRONT_WIDTH = 2  # pixels of the line of the lowest loss in front, which has few vertices
MOST_NAMES = 8  # of runs in the legend, the newest
LOWEST = "lowest loss"  # the name of the line where there is one run only
LEAST_WIDTH = 420  # pixels of a plot that has a legend
LEGEND_TOP, LEGEND_MARGIN, NAME_HEIGHT = 20, 8, 22  # pixels
MOST_ROOM = 0.25  # of the height of a low plot, for the names of the phases
LEAST_SPAN_SHARE = 1e-3  # of a value at the right, that its axis holds at least
MARGIN = 0.08  # of a range of values, below
STYLES = (Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)
LOWEST_SHOWN = -16.0  # a residual of zero must not dominate the range


def below_names(low: float, high: float, height: float) -> tuple[float, float]:
    """Return the range that leaves room for the names of the phases above values.

    `height`: of the plot, pixels.
    """
    room = min(LEGEND_TOP / max(height, 1.0), MOST_ROOM)
    return low - MARGIN * (high - low), high + room / (1 - room) * (1 + MARGIN) * (high - low)


@dataclass(eq=False)
class _Curve:
    history: History
    item: pg.PlotDataItem
    name: str
    drawn: object = None  # what the item shows


class LossCurves:
    """Draws histories: the lowest loss so far against seconds, or everything that was tried.

    Where everything is not shown, what the current run tries now is a thin curve behind its line; where there
    is no lowest loss yet, all that it tried is.
    """

    def __init__(self, plot: pg.PlotItem) -> None:
        self._plot = plot
        self.everything = False
        self.seconds = True  # along the horizontal axis; else iterations
        self._curves: dict[int, _Curve] = {}
        self._current: int | None = None
        self._compared: int | None = None
        self._until: int | None = None
        self._trying = False
        self._marked: tuple[int, int] | None = None
        self._beside: tuple[pg.PlotDataItem, str] | None = None  # the curve at the right, and its name
        self._theme: Theme | None = None
        self._ghost = pg.PlotDataItem(connect="all", antialias=False)
        self._highlight = pg.PlotDataItem(connect="all", antialias=False)
        for item, z in ((self._ghost, -2), (self._highlight, 12)):
            QGraphicsItem.setData(item, INTERACTIVE_ONLY, True)  # its own `setData` is another
            item.setZValue(z)
            plot.getViewBox().addItem(item)
        self._legend = pg.LegendItem(labelTextSize="9pt", verSpacing=-4)
        self._legend.setParentItem(plot.getViewBox())
        self._legend.setData(INTERACTIVE_ONLY, True)  # a figure has the names above the plot
        self._legend.anchor((1, 0), (1, 0), offset=(-6, LEGEND_TOP))  # below the names of the phases
        plot.getViewBox().sigResized.connect(lambda _box: self._color())
        self._legend.setZValue(30)
        self._legend.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    @property
    def front(self) -> History | None:
        """The history in front, None where there is none or nothing in it."""
        curve = self._curves.get(self._current) if self._current is not None else None
        return curve.history if curve is not None and len(curve.history) else None

    @property
    def histories(self) -> list[History]:
        """Those with something in them."""
        return [curve.history for curve in self._curves.values() if len(curve.history)]

    def x(self, history: History) -> Floats:
        """Return where a history has its records (N,) along the axis."""
        return history.seconds if self.seconds else history.iterations

    def y(self, history: History) -> Floats:
        """Return the losses (N,) that are drawn of a history, by their base-10 logarithms."""
        best = history.log_best_losses
        return (
            history.log_losses if self.everything else np.where(np.isfinite(best), best, history.log_losses)
        )

    def set_axes(self, *, everything: bool, seconds: bool) -> None:
        """Draw everything or the lowest loss, over seconds or iterations; `draw` shows it."""
        self.everything, self.seconds = everything, seconds or not everything
        self._color()

    def set_histories(
        self,
        histories: Mapping[int, History],
        current: int | None,
        compared: int | None,
        names: Mapping[int, str],
    ) -> None:
        """Have a curve for every history, with the color and the name of its run; `draw` shows them."""
        gone = [n for n, curve in self._curves.items() if histories.get(n) is not curve.history]
        for number in gone:
            self._plot.removeItem(self._curves.pop(number).item)
        for number, history in histories.items():
            if number not in self._curves:
                item = pg.PlotDataItem(antialias=False)
                self._plot.addItem(item)
                self._curves[number] = _Curve(history, item, "")
        for number, curve in self._curves.items():
            curve.name = names.get(number, f"run {number}")
        self._current = current if current in self._curves else None
        self._compared = compared if compared in self._curves else None
        self._color()

    def set_progress(self, until: int | None, *, trying: bool) -> None:
        """Let the line of the current run end at a record, with None at its last, and show what it tries."""
        self._until, self._trying = until, trying

    def set_beside(self, beside: tuple[pg.PlotDataItem, str] | None) -> None:
        """Name a curve at the right in the legend, or none."""
        if beside != self._beside:
            self._beside = beside
            self._color()

    def mark(self, records: tuple[int, int] | None) -> None:
        """Highlight the curve between two records of the current run, or none."""
        self._marked = records

    @property
    def marked_range(self) -> tuple[float, float] | None:
        """The least and the largest logarithm of what is highlighted, None without it."""
        if self._marked is None or self.front is None:
            return None
        y = self.front.log_losses[self._marked[0] : self._marked[1] + 1]
        return float(y.min()), float(np.quantile(y, 0.9))

    def draw(self) -> None:
        """Draw what the histories gained since the last time."""
        for number, curve in self._curves.items():
            history, until = curve.history, self._until if number == self._current else None
            state = len(history), until, self.everything, self.seconds, len(history.ticks)
            if state == curve.drawn or not len(history):
                continue
            curve.drawn = state
            if self.everything:
                curve.item.setData(self.x(history), history.log_losses, connect="all")
            else:
                x, y, joined = best_line(history, self.x(history), until)
                curve.item.setData(x, y, connect=joined if len(x) else "all")
        self._draw_part(self._ghost, self._tried_part())
        self._draw_part(self._highlight, self._marked)

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self._theme = theme
        self._color()

    def named_colors(self) -> list[tuple[str, str]]:
        """Return the names and colors of the curves that are seen in the range of the axes, for a figure."""
        if self._theme is None:
            return []
        (left, right), (bottom, top) = self._plot.getViewBox().viewRange()
        shown = []
        for item, name in self._named():
            x, y = item.getData()
            if x is not None and ((x >= left) & (x <= right) & (y >= bottom) & (y <= top)).any():
                shown.append((item, name))
        shown = [*([] if self._beside is None else [self._beside]), *shown[-MOST_NAMES:]]
        return [(name, pg.mkPen(item.opts["pen"]).color().name()) for item, name in shown]

    def _tried_part(self) -> tuple[int, int] | None:
        """Return the first and last record of what is tried now; of all where there is no lowest loss yet."""
        history = self.front
        if history is None or self.everything:
            return None
        last = len(history) - 1
        if not np.isfinite(history.log_best_losses).any():
            return 0, last
        if not self._trying:
            return None
        first, tried = history.phases[-1]
        for begin, phase in reversed(history.phases[:-1]):
            if not tried.attempt or phase.attempt != tried.attempt:
                break
            first = begin
        return first, last

    def _draw_part(self, item: pg.PlotDataItem, records: tuple[int, int] | None) -> None:
        history = self.front
        if history is None or records is None or records[0] >= len(history):
            item.setVisible(False)
            return
        part = slice(records[0], records[1] + 1)
        item.setData(self.x(history)[part], history.log_losses[part])
        item.setVisible(True)

    def _color(self) -> None:
        if self._theme is None:
            return
        for number, curve in self._curves.items():
            front, beside = number == self._current, number == self._compared
            color = pg.mkColor(self._theme.runs[number % len(self._theme.runs)])
            color.setAlpha(EARLIER_ALPHA if self._compared is None else FAINT_ALPHA)
            chosen = self._theme.accent if front else self._theme.other if beside else color
            wide = (front or beside) and not self.everything
            curve.item.setPen(pg.mkPen(chosen, width=FRONT_WIDTH if wide else 1))
            curve.item.setZValue(10 if front else 5 if beside else 0)
        faint = pg.mkColor(self._theme.muted)
        faint.setAlpha(GHOST_ALPHA)
        self._ghost.setPen(pg.mkPen(faint, width=1))
        self._highlight.setPen(pg.mkPen(self._theme.selection, width=1))
        self._name_curves(self._theme)

    def _named(self) -> list[tuple[pg.PlotDataItem, str]]:
        """Return the curves of the runs with their names; one alone has none but beside another curve."""
        if len(self._curves) > 1:
            return [(curve.item, f"{number} {curve.name}") for number, curve in sorted(self._curves.items())]
        return [(curve.item, LOWEST) for curve in self._curves.values() if self._beside is not None]

    def _name_curves(self, theme: Theme) -> None:
        """Write the legend, where there is more than one curve: that at the right, then those of the runs."""
        self._legend.clear()
        ground = pg.mkColor(theme.panel)
        ground.setAlpha(LEGEND_ALPHA)
        self._legend.setBrush(pg.mkBrush(ground))
        self._legend.setLabelTextColor(theme.muted)
        box = self._plot.getViewBox()
        most = max(int((box.height() - LEGEND_TOP - LEGEND_MARGIN) // NAME_HEIGHT), 1)
        runs = self._named()
        beside = [] if self._beside is None else [self._beside]
        shown = runs[-min(MOST_NAMES, most) :]
        for item, name in beside[: most - len(shown)] + shown:
            self._legend.addItem(item, html.escape(name))
        # Of nothing its ground would be seen alone; in a narrow plot it would cover the curves.
        self._legend.setVisible(bool(shown) and box.width() >= LEAST_WIDTH)


@dataclass(frozen=True, eq=False)
class RightValues:
    """What the axis at the right shows."""

    x: Floats  # (M,)
    y: Floats  # (M,) NaN where unknown
    joined: Bools  # (M,) whether each is joined to the next
    labels: tuple[str, ...]  # of the axis, the longest first
    color: str  # the name of a color of a theme


class RightCurve:
    """A curve on an axis of its own at the right."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self._plot, self._box = plot, pg.ViewBox(enableMenu=False)
        self._axis = plot.getAxis("right")
        self._axis.linkToView(self._box)
        self._axis.setZValue(-5)
        plot.scene().addItem(self._box)
        self._box.setXLink(plot.getViewBox())
        self._box.setMouseEnabled(x=False, y=False)
        self._box.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self._box.setZValue(plot.getViewBox().zValue() + 1)  # in front of the loss, which is often flat
        self.item = pg.PlotDataItem(antialias=False)
        self._box.addItem(self.item)
        plot.getViewBox().sigResized.connect(self._on_resized)
        plot.getViewBox().sigXRangeChanged.connect(self._fit)
        self._shown: RightValues | None = None
        self._theme: Theme | None = None
        self._box.hide()

    def show(self, values: RightValues | None) -> None:
        """Draw values, or nothing."""
        self._shown = values
        self._box.setVisible(values is not None)
        self._plot.showAxis("right", values is not None)
        if values is None:
            return
        self.item.setData(values.x, np.where(np.isfinite(values.y), values.y, 0.0), connect=values.joined)
        self._color()
        self._on_resized()

    def place(self, index: int) -> float | None:
        """Return where a value is on the axis at the left; None where there is none."""
        shown = self._shown
        if shown is None or not np.isfinite(shown.y[index]):
            return None
        point = self._box.mapViewToScene(QPointF(shown.x[index], shown.y[index]))
        return float(self._plot.getViewBox().mapSceneToView(point).y())

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self._theme = theme
        self._color()

    def _color(self) -> None:
        if self._theme is not None and self._shown is not None:
            color = getattr(self._theme, self._shown.color)
            self.item.setPen(pg.mkPen(color, width=1))
            self._axis.setTextPen(pg.mkPen(color))
            self._name_axis()

    def _name_axis(self) -> None:
        """Label the axis; a low panel has room for a short label only."""
        if self._shown is None or self._theme is None:
            return
        metrics, height = QFontMetricsF(self._axis.label.font()), self._plot.getViewBox().height()
        labels = self._shown.labels
        fits = (label for label in labels if metrics.horizontalAdvance(label) <= height)
        label = html.escape(next(fits, labels[-1]))
        self._axis.setLabel(label, color=getattr(self._theme, self._shown.color))

    def _on_resized(self, *_: object) -> None:
        self._name_axis()
        self._box.setGeometry(self._plot.getViewBox().sceneBoundingRect())
        self._box.linkedViewChanged(self._plot.getViewBox(), pg.ViewBox.XAxis)
        self._fit()

    def _fit(self, *_: object) -> None:
        """Let the axis hold the values between left and right, whose range the mouse may have changed."""
        if self._shown is None:
            return
        x, y = self._shown.x, self._shown.y
        left, right = self._plot.getViewBox().viewRange()[0]
        seen = y[(x >= left) & (x <= right) & np.isfinite(y)]
        if seen.size:
            low, high = float(seen.min()), float(seen.max())
            span = max(high - low, LEAST_SPAN_SHARE * abs(high)) or LEAST_SPAN_SHARE
            bottom, top = below_names(low, low + span, self._plot.getViewBox().height())
            self._box.setYRange(max(bottom, 0.0) if low >= 0 else bottom, top, padding=0)


class ResidualCurves:
    """Two curves of base-10 logarithms, over what the plot counts."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self._plot = plot
        self._items = [pg.PlotDataItem(connect="finite", antialias=False) for _style in STYLES]
        self.bounds = (np.inf, -np.inf)  # of what is drawn
        for item in self._items:
            item.setZValue(5)

    def show(self, history: History | None, x: Floats | None) -> None:
        """Draw the residuals of a history at `x` (N,), or nothing."""
        self.bounds = (np.inf, -np.inf)
        if history is None or x is None:
            for item in self._items:
                self._plot.removeItem(item)
            return
        values = np.maximum(history.log_residuals, LOWEST_SHOWN)  # NaN stays
        for item, row in zip(self._items, values, strict=True):
            item.setData(x, row)
            if item not in self._plot.items:
                self._plot.addItem(item)
        self.bounds = float(np.nanmin(values)), float(np.nanmax(values))

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        for item, style in zip(self._items, STYLES, strict=True):
            item.setPen(pg.mkPen(theme.residual, width=1, style=style))
