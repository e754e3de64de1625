"""The colors of a plot in a theme, and the ticks of a logarithmic axis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pyqtgraph as pg

from nrsfm_gui.model.numbers import format_number

if TYPE_CHECKING:
    from nrsfm_gui.model.theme import Theme

DECADES = 300  # of the numbers that a computer has, on either side of 1


def apply_plot_theme(widget: pg.PlotWidget, theme: Theme) -> None:
    """Apply the colors of a theme to a plot."""
    widget.setBackground(theme.panel)
    plot = widget.getPlotItem()
    for name in ("left", "bottom", "right", "top"):
        axis = plot.getAxis(name)
        axis.setPen(pg.mkPen(theme.border))
        axis.setTextPen(pg.mkPen(theme.muted))
    plot.getViewBox().setBorder(None)


def log_ticks(left: float, right: float) -> list[tuple[float, str]]:
    """Return places (base-10 logarithms) and names of about ten round numbers on a logarithmic axis."""
    # A view can be zoomed to where there are no numbers.
    decades = range(math.floor(max(-DECADES, left)), math.ceil(min(DECADES, right)) + 1)
    steps = (1, 2, 5) if right - left <= 3 else (1,)
    every = max(1, len(decades) // 10)
    ticks = [
        (math.log10(step) + decade, step * 10.0**decade) for decade in decades[::every] for step in steps
    ]
    return [(place, format_number(value)) for place, value in ticks if left <= place <= right]
