"""The singular values of the reconstruction and the weights that they carry, on one logarithmic axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from .plots import dress

if TYPE_CHECKING:
    from core.arrays import Floats
    from nrsfm_gui.theme import Theme

EMPTY = "Singular values and weights appear here with the first run"
DECADES_BELOW = 8  # values this far below the largest are drawn at the floor: zero has no logarithm
BAR_WIDTH = 0.5


class SpectrumPlot(QWidget):
    """Bars for singular values, diamonds for weights. `header` is the line above, placed by the window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._widget = pg.PlotWidget()
        self._plot: pg.PlotItem = self._widget.getPlotItem()
        self._plot.hideButtons()
        self._plot.setMenuEnabled(False)
        self._plot.setMouseEnabled(x=False, y=False)
        self._plot.setLabel("left", "log10")
        self._plot.setLabel("bottom", "k")
        self._plot.getAxis("left").enableAutoSIPrefix(False)
        self._bars = pg.BarGraphItem(x=[], height=[], width=BAR_WIDTH)
        self._weights = pg.PlotDataItem(symbol="d", symbolSize=9)
        self._plot.addItem(self._bars)
        self._plot.addItem(self._weights)
        self._empty = QLabel(EMPTY, self._widget)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._empty.setProperty("role", "muted")
        self._legend = QLabel()
        self._legend.setTextFormat(Qt.TextFormat.RichText)
        self.header = QWidget()
        bar = QHBoxLayout(self.header)
        bar.setContentsMargins(8, 2, 4, 2)
        bar.addWidget(self._legend, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._widget, 1)
        self.setMinimumSize(200, 150)

    @property
    def plot_widget(self) -> pg.PlotWidget:
        """The plot itself, for export."""
        return self._widget

    def set_values(self, singular_values: Floats | None, weights: Floats | None) -> None:
        """Show singular values and weights, each (K,); None where there is no reconstruction."""
        self._empty.setVisible(singular_values is None)
        for side in ("left", "bottom"):
            self._plot.showAxis(side, singular_values is not None)
        if singular_values is None or weights is None:
            self._bars.setOpts(x=[], y0=[], height=[])
            self._weights.setData([], [])
            return
        k = np.arange(1, len(singular_values) + 1)
        sigma, a = _log10(singular_values), _log10(weights)
        floor = np.floor(min(sigma.min(), a.min())) - 0.3
        self._bars.setOpts(x=k, y0=np.full(len(k), floor), height=sigma - floor, width=BAR_WIDTH)
        self._weights.setData(k, a)
        top = max(sigma.max(), a.max())
        self._plot.getAxis("bottom").setTicks([[(int(i), str(i)) for i in k[:: max(1, len(k) // 16)]]])
        self._plot.setRange(xRange=(0.4, len(k) + 0.6), yRange=(floor, top + 0.3), padding=0)

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        dress(self._widget, theme)
        brush = pg.mkColor(theme.estimate)
        brush.setAlpha(150)
        self._bars.setOpts(brush=pg.mkBrush(brush), pen=pg.mkPen(None))
        self._weights.setPen(pg.mkPen(theme.residual, width=1))
        self._weights.setSymbolBrush(pg.mkBrush(theme.residual))
        self._weights.setSymbolPen(pg.mkPen(theme.panel))
        self._legend.setText(
            f'<span style="color:{theme.estimate}">&#9632;</span> singular value σ'
            f'&nbsp;&nbsp;&nbsp;<span style="color:{theme.residual}">&#9670;</span> weight a'
        )

    def resizeEvent(self, event: object) -> None:
        """Keep the sentence for the empty state in the middle."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._empty.setGeometry(self._widget.rect().adjusted(12, 0, -12, 0))


def _log10(values: Floats) -> Floats:
    top = max(float(np.max(values)), 1e-300)
    return np.log10(np.maximum(values, top * 10.0**-DECADES_BELOW))
