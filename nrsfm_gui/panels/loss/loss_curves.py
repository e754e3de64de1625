"""The curves of the loss plot: one per run, the current one in front, and a legend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtGui import QFontMetricsF

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.foundation import Floats
    from nrsfm_gui.model.history import History
    from nrsfm_gui.model.theme import Theme

AXES = {
    "iterations": "iteration",
    "seconds": "computing time (s)",
    "log seconds": "computing time (s), logarithmic",
}
SHORTEST = 1e-4  # seconds: where a logarithmic axis begins
EARLIER_ALPHA = 190  # of 255: earlier runs stay in the background
FAINT_ALPHA = 60  # while two runs are compared
LEGEND_ALPHA = 150
MOST_NAMES = 8  # of runs in the legend, the newest
LEGEND_TOP, LEGEND_MARGIN, NAME_HEIGHT = 20, 8, 22  # pixels
MOST_ROOM = 0.25  # of the height of a low plot, for the names of the phases
ENERGY_LABELS = ("energy per point and frame", "energy")  # the longest that there is room for is shown
LEAST_ENERGY_SPAN = 1e-6  # that the energy's axis holds at least
MARGIN = 0.08  # of a range of losses or energies, below
STYLES = (Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)
LOWEST_SHOWN = -16.0  # a residual of zero must not dominate the range


def below_names(low: float, high: float, height: float) -> tuple[float, float]:
    """Return the range that leaves room for the names of the phases above values.

    Parameters
    ----------
    low, high
        the values.
    height
        of the plot, pixels.

    Returns
    -------
    tuple[float, float]
        the least and the largest value of the axis.
    """
    room = min(LEGEND_TOP / max(height, 1.0), MOST_ROOM)
    return low - MARGIN * (high - low), high + room / (1 - room) * (1 + MARGIN) * (high - low)


@dataclass(eq=False)
class _Curve:
    history: History
    item: pg.PlotDataItem
    name: str
    drawn: int = -1  # records in the item


class LossCurves:
    """Draws histories over what the axis counts."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self._plot = plot
        self._axis = "iterations"
        self._curves: dict[int, _Curve] = {}
        self._current: int | None = None
        self._compared: int | None = None
        self._theme: Theme | None = None
        self._legend = pg.LegendItem(labelTextSize="9pt", verSpacing=-4)
        self._legend.setParentItem(plot.getViewBox())
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

    @property
    def logarithmic(self) -> bool:
        """Whether the axis has logarithms."""
        return self._axis.startswith("log")

    def x(self, history: History) -> Floats:
        """Return where a history has its records (N,) along the axis."""
        if self._axis == "iterations":
            return history.iterations
        return history.seconds if self._axis == "seconds" else np.log10(np.maximum(history.seconds, SHORTEST))

    def set_axis(self, axis: str) -> None:
        """Count something else along the axis, one of `AXES`; `draw` shows it."""
        self._axis = axis
        for curve in self._curves.values():
            curve.drawn = -1

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
                item = pg.PlotDataItem(connect="all", antialias=False)
                self._plot.addItem(item)
                self._curves[number] = _Curve(history, item, "")
        for number, curve in self._curves.items():
            curve.name = names.get(number, f"run {number}")
        self._current = current if current in self._curves else None
        self._compared = compared if compared in self._curves else None
        self._color()

    def draw(self) -> None:
        """Draw what the histories gained since the last time."""
        for curve in self._curves.values():
            count = len(curve.history)
            if count != curve.drawn and count:
                curve.item.setData(self.x(curve.history), curve.history.log_losses)
                curve.drawn = count

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self._theme = theme
        self._color()

    def _color(self) -> None:
        if self._theme is None:
            return
        for number, curve in self._curves.items():
            front, beside = number == self._current, number == self._compared
            color = pg.mkColor(self._theme.runs[number % len(self._theme.runs)])
            color.setAlpha(EARLIER_ALPHA if self._compared is None else FAINT_ALPHA)
            chosen = self._theme.accent if front else self._theme.other if beside else color
            curve.item.setPen(pg.mkPen(chosen, width=1))
            curve.item.setZValue(10 if front else 5 if beside else 0)
        self._name_curves(self._theme)

    def _name_curves(self, theme: Theme) -> None:
        """Write the legend, where there is more than one curve."""
        self._legend.clear()
        ground = pg.mkColor(theme.panel)
        ground.setAlpha(LEGEND_ALPHA)
        self._legend.setBrush(pg.mkBrush(ground))
        self._legend.setLabelTextColor(theme.muted)
        space = self._plot.getViewBox().height() - LEGEND_TOP - LEGEND_MARGIN
        shown = sorted(self._curves.items())[-min(MOST_NAMES, max(int(space // NAME_HEIGHT), 1)) :]
        for number, curve in shown if len(shown) > 1 else []:
            self._legend.addItem(curve.item, f"{number} {curve.name}")


class EnergyCurve:
    """The energy of the depth refinement on an axis of its own at the right, one line per phase."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self._plot, self._box = plot, pg.ViewBox(enableMenu=False)
        self._axis = plot.getAxis("right")
        self._axis.linkToView(self._box)
        self._axis.setZValue(-5)
        plot.scene().addItem(self._box)
        self._box.setXLink(plot.getViewBox())
        self._box.setMouseEnabled(x=False, y=False)
        self._box.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self._box.setZValue(plot.getViewBox().zValue() + 1)  # in front of the loss, which is flat meanwhile
        self.item = pg.PlotDataItem(antialias=False)
        self._box.addItem(self.item)
        plot.getViewBox().sigResized.connect(self._on_resized)
        plot.getViewBox().sigXRangeChanged.connect(self._fit)
        self._data: tuple[Floats, Floats] | None = None
        self._color = ""
        self._box.hide()

    def show(self, history: History | None, x: Floats | None) -> None:
        """Draw the energies of a history at `x` (N,), or nothing."""
        self._data = None
        if history is not None and x is not None and history.has_energies:
            self._data = x, history.energies
        self._box.setVisible(self._data is not None)
        self._plot.showAxis("right", self._data is not None)
        if self._data is None or history is None:
            return
        known = np.isfinite(history.energies)
        joined = known & np.append(known[1:], False) & ~history.phase_ends
        self.item.setData(x, np.where(known, history.energies, 0.0), connect=joined)
        self._on_resized()

    def place(self, record: int) -> float | None:
        """Return where the energy of a record is on the loss's axis; None where it has none."""
        if self._data is None or not np.isfinite(self._data[1][record]):
            return None
        point = self._box.mapViewToScene(QPointF(self._data[0][record], self._data[1][record]))
        return float(self._plot.getViewBox().mapSceneToView(point).y())

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self.item.setPen(pg.mkPen(theme.energy, width=1))
        self._axis.setTextPen(pg.mkPen(theme.energy))
        self._color = theme.energy
        self._name_axis()

    def _name_axis(self) -> None:
        """Label the axis; a low panel has room for a short label only."""
        metrics, height = QFontMetricsF(self._axis.label.font()), self._plot.getViewBox().height()
        fits = (label for label in ENERGY_LABELS if metrics.horizontalAdvance(label) <= height)
        self._axis.setLabel(next(fits, ENERGY_LABELS[-1]), color=self._color)

    def _on_resized(self, *_: object) -> None:
        self._name_axis()
        self._box.setGeometry(self._plot.getViewBox().sceneBoundingRect())
        self._box.linkedViewChanged(self._plot.getViewBox(), pg.ViewBox.XAxis)
        self._fit()

    def _fit(self, *_: object) -> None:
        """Let the axis hold the energies between left and right, whose range the mouse may have changed."""
        if self._data is None:
            return
        x, energies = self._data
        left, right = self._plot.getViewBox().viewRange()[0]
        seen = energies[(x >= left) & (x <= right) & np.isfinite(energies)]
        if seen.size:
            low, high = float(seen.min()), float(seen.max())
            span = max(high - low, LEAST_ENERGY_SPAN)
            self._box.setYRange(*below_names(low, low + span, self._plot.getViewBox().height()), padding=0)


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
