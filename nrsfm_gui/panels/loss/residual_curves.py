"""The residuals of ADMM in the plot of the loss: dashed the primal one, dotted the dual one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt

if TYPE_CHECKING:
    from core.foundation import Floats
    from nrsfm_gui.model.history import History
    from nrsfm_gui.model.theme import Theme

STYLES = (Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)
LOWEST_SHOWN = -16.0  # a residual of zero must not take the whole range


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

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        for item, style in zip(self._items, STYLES, strict=True):
            item.setPen(pg.mkPen(theme.residual, width=1, style=style))
