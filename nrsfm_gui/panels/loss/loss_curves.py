"""The curves of the loss plot: one per run, the current one in front, and a legend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt

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
STYLES = (Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)
LOWEST_SHOWN = -16.0  # a residual of zero must not dominate the range


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
