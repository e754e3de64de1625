"""The histogram of the residuals, with the threshold above which an observation is an outlier."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QSignalBlocker, Qt, pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from nrsfm_gui.widgets.fields import explained, filled
from nrsfm_gui.widgets.labels import EmptyLabel
from nrsfm_gui.widgets.plots.plot_style import PlainPlot, apply_plot_theme, log_ticks
from nrsfm_gui.widgets.style import Themed

if TYPE_CHECKING:
    from core.evaluation import Outliers
    from core.foundation import Floats
    from nrsfm_gui.model.theme import Theme

TIP = (
    "How many observations have which residual, both on logarithmic scales. Drag the line:\n"
    "what lies to the right of it is listed. Dashed: the threshold that the residuals suggest."
)
EMPTY = (
    "Which tracks are wrong? Run the solver first: observations that the reconstruction does not fit have "
    "large residuals."
)
BINS = 48
DECADES_BELOW = 2.0  # of the threshold: smaller residuals are counted in the first bin
BASE = -0.35  # log10 of a count: the foot of a bar, so that a single observation is seen
TICK_WIDTH = 34.0  # pixels that a number of the axis needs
PADDING, HEADROOM = 0.03, 0.12  # of the range


class OutliersPlot(Themed, QWidget):
    """A histogram with a line that can be dragged, or a text where there is nothing to show."""

    GESTURES = (("Drag the line of the histogram", "choose the largest residual that is kept"),)
    threshold_moved = pyqtSignal(object)  # the line was dragged to this residual

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: tuple[int, float] | None = None  # the residuals that the bins are of, by identity
        self._edges: Floats = np.zeros(0)
        self.counts: Floats = np.zeros(0)  # (N,) observations in the bins
        self._limit = 0.0
        self._widget = explained(PlainPlot(), "Histogram of the residuals", TIP)
        self._widget.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._plot: pg.PlotItem = self._widget.getPlotItem()
        self._plot.setMouseEnabled(x=False, y=False)
        self._kept, self._beyond = (pg.BarGraphItem(x=[0], height=[0], width=0) for _ in range(2))
        self._suggested = pg.InfiniteLine(angle=90)
        self._line = pg.InfiniteLine(angle=90, movable=True)
        self._line.addMarker("v", 1.0, 8)
        for item in (self._kept, self._beyond, self._suggested, self._line):
            self._plot.addItem(item, ignoreBounds=True)
        self._line.sigPositionChanged.connect(self._on_line_moved)
        self._empty = EmptyLabel(EMPTY, self._widget, margin=16)
        filled(QVBoxLayout(self), self._widget)
        self._follow_theme()
        self.set_outliers(None, 0.0, "", "")

    def set_outliers(self, outliers: Outliers | None, suggested: float, unit: str, solution: str) -> None:
        """Show the residuals of a solution with their outliers, and both thresholds; or nothing."""
        there = outliers is not None and bool(np.isfinite(outliers.residuals).any())
        self._empty.setVisible(not there)
        for side in ("left", "bottom"):
            if self._plot.getAxis(side).isVisible() != there:
                self._plot.showAxis(side, there)
        for item in (self._kept, self._beyond, self._suggested, self._line):
            item.setVisible(there)
        if not there or outliers is None:
            self._shown = None
            return
        shown = id(outliers.residuals), suggested
        if shown != self._shown:
            self._shown = shown
            self._bin(outliers.residuals, suggested)
            words = [*solution.split()[1:2], "residual", f"({unit})"]  # the bilinear solution: "bilinear"
            self._plot.setLabel("bottom", html.escape(" ".join(words)))
        self._limit = outliers.threshold
        with QSignalBlocker(self._line):
            self._line.setValue(float(np.log10(self._limit)))
        self._draw_bars()

    def _bin(self, residuals: Floats, suggested: float) -> None:
        """Count the residuals on a logarithmic scale."""
        known = residuals[np.isfinite(residuals)]
        largest = max(float(known.max()), 1.2 * suggested)
        left = float(np.log10(suggested)) - DECADES_BELOW
        places = np.log10(np.maximum(known, 10.0**left))
        left = max(left, float(places.min()))
        right = float(np.log10(largest))
        self._edges = np.linspace(left, max(right, left + 0.1) + 1e-9, BINS + 1)
        self.counts = np.histogram(places, self._edges)[0].astype(float)
        self._suggested.setValue(float(np.log10(suggested)))
        self._line.setBounds((left, float(self._edges[-1])))
        top = max(float(np.log10(max(self.counts.max(), 1.0))), 0.5)
        width = float(self._edges[-1]) - left
        self._plot.setRange(
            xRange=(left - PADDING * width, float(self._edges[-1]) + PADDING * width),
            yRange=(BASE, top + HEADROOM * (top - BASE)),
            padding=0,
        )
        self._plot.setLabel("left", "observations")
        self._name_places()
        decades = range(int(np.ceil(top)) + 1)
        self._plot.getAxis("left").setTicks([[(float(k), f"{10**k}") for k in decades]])

    def _name_places(self) -> None:
        """Name as many round residuals as there is space for, the largest first."""
        if not len(self._edges):
            return
        left, right = float(self._edges[0]), float(self._edges[-1])
        apart = TICK_WIDTH * (right - left) / max(self._plot.getViewBox().width(), 1.0)
        named: list[tuple[float, str]] = []
        for place, name in reversed(log_ticks(left, right)):
            if not named or named[-1][0] - place >= apart:
                named.append((place, name))
        self._plot.getAxis("bottom").setTicks([named])

    def _draw_bars(self) -> None:
        """Draw the bars, those beyond the threshold in another color."""
        theme = self._theme
        middles = 0.5 * (self._edges[1:] + self._edges[:-1])
        heights = np.where(self.counts > 0, np.log10(np.maximum(self.counts, 1.0)) - BASE, 0.0)
        beyond = middles > np.log10(self._limit)
        width = 0.92 * float(self._edges[1] - self._edges[0])
        for item, which, color in (
            (self._kept, ~beyond, theme.accent),
            (self._beyond, beyond, theme.warning),
        ):
            item.setOpts(
                x=middles[which], y0=BASE, height=heights[which], width=width,
                pen=pg.mkPen(None), brush=pg.mkBrush(color),
            )  # fmt: skip

    def _on_line_moved(self) -> None:
        self.threshold_moved.emit(float(10.0 ** self._line.value()))

    def _apply_theme(self, theme: Theme) -> None:
        apply_plot_theme(self._widget, theme)
        self._line.setPen(pg.mkPen(theme.text, width=1))
        self._line.setHoverPen(pg.mkPen(theme.selection, width=2))
        self._suggested.setPen(pg.mkPen(theme.muted, width=1, style=Qt.PenStyle.DashLine))
        if self._shown is not None:
            self._draw_bars()

    def resizeEvent(self, event: object) -> None:
        """Keep the text of the empty state centered."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._empty.fill()
        self._name_places()
