"""The colors of a plot in a theme, its axes, and the ticks of a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Collection

import pyqtgraph as pg
from PyQt6.QtGui import QFontMetricsF

from nrsfm_gui.model.numbers import MINUS, format_number
from nrsfm_gui.model.theme import Theme

# Pixels above a plot, or the highest number of its axis would be cut; and below, or the label would be: an
# axis puts it partly outside itself.
TOP_MARGIN, BOTTOM_MARGIN = 6, 5
SIDES = ("left", "bottom", "right", "top")
DECADES = 300  # of the numbers that a computer has, on either side of 1


class PlotAxis(pg.AxisItem):
    """An axis of a plot whose numbers have a minus sign, and do not overlap where it is low."""

    def tickStrings(self, values: Collection[float], scale: float, spacing: float) -> list[str]:
        """Return the names of places."""
        return [name.replace("-", MINUS) for name in super().tickStrings(values, scale, spacing)]

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Return the places by their spacing, the widest first; of a low axis fewer, which are all named."""
        levels: list[tuple[float, list[float]]] = super().tickValues(low, high, size)
        if self.orientation in ("top", "bottom") or not levels or high <= low:
            return levels
        spacing, values = levels[0]
        font = self.style["tickFont"] or self.font()
        apart = math.ceil(QFontMetricsF(font).height() * (high - low) / (size * abs(spacing)))
        return levels if apart <= 1 else [(apart * spacing, values[::apart])]


class PlainPlot(pg.PlotWidget):
    """A plot without a menu and buttons of its own, whose axes never scale their numbers to suit a unit.

    pyqtgraph seeks that scale, and lays the label of an axis out again, whenever a range changes.
    """

    def __init__(self, sides: Collection[str] = ("left", "bottom")) -> None:
        super().__init__(axisItems={side: PlotAxis(side) for side in sides}, enableMenu=False)
        self._plot: pg.PlotItem = self.getPlotItem()
        self._plot.hideButtons()
        self._plot.setContentsMargins(0, TOP_MARGIN, 0, BOTTOM_MARGIN)
        for side in SIDES:
            self._plot.getAxis(side).enableAutoSIPrefix(False)


def apply_plot_theme(widget: pg.PlotWidget, theme: Theme) -> None:
    """Apply the colors of a theme to a plot."""
    widget.setBackground(theme.panel)
    plot = widget.getPlotItem()
    for side in SIDES:
        axis = plot.getAxis(side)
        axis.setPen(pg.mkPen(theme.border))
        axis.setTextPen(pg.mkPen(theme.muted))
    plot.getViewBox().setBorder(None)


def log_ticks(left: float, right: float) -> list[tuple[float, str]]:
    """Return places (base-10 logarithms) and names of about ten round numbers on a logarithmic axis."""
    # A view can be zoomed to where there are no numbers.
    decades = range(math.floor(max(-DECADES, left)), math.ceil(min(DECADES, right)) + 1)
    steps = (1, 2, 5) if right - left <= 3 else (1,)
    named = decades[:: max(1, len(decades) // 10)]
    ticks = [(math.log10(step) + decade, step * 10.0**decade) for decade in named for step in steps]
    return [(place, format_number(value)) for place, value in ticks if left <= place <= right]
