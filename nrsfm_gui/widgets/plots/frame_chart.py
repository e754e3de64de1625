"""A plot of curves over the frames, with a cursor at the current frame and the played range."""

from __future__ import annotations

import html
from collections.abc import Collection, Sized
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import QGraphicsItem
from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent

from core.foundation import Floats
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.plots.plot_export import INTERACTIVE_ONLY
from nrsfm_gui.widgets.plots.plot_style import PlainPlot, apply_plot_theme
from nrsfm_gui.widgets.style import Themed

AXIS_HEIGHT, NO_AXIS_HEIGHT = 34, 5  # pixels below a plot that names its frames, and one that does not
AXIS_WIDTH = 52  # pixels, so that stacked plots are aligned
TITLE_ROOM = 0.25  # of the range of values, above them
LONE = 5  # diameter of a value whose neighbors are missing
BAND_OPACITIES = {2.0: 0.10, 1.0: 0.20}  # by standard deviations; the wider one is behind
TIP = "Click: go to the frame. Wheel: zoom; drag: move; double click: fit"


@dataclass(frozen=True, eq=False)
class Plot:
    """What a chart shows: a curve (F,) for every point; the second ones are dashed.

    Bands of one and of two standard deviations `stds` (F,) are around the first curves.
    """

    title: str
    unit: str
    curves: tuple[Floats, ...]
    dashed: tuple[Floats, ...] = ()
    stds: tuple[Floats, ...] = ()


class FrameChart(Themed, PlainPlot):
    """A plot that reuses its curves: making new ones is ten times as slow."""

    frame_requested = pyqtSignal(int)  # 0-based

    GESTURES = (("Click into a plot over the frames", "go to the frame"),)

    def __init__(self) -> None:
        super().__init__()
        self._curves: list[pg.PlotCurveItem] = []
        self._bands: list[pg.PlotCurveItem] = []
        self._text: tuple[str, bool, str] = ("", False, "")
        self._plot.getAxis("left").setWidth(AXIS_WIDTH)
        self._plot.getViewBox().setDefaultPadding(0.04)
        self._plot.getViewBox().disableAutoRange()  # which would be sought again for every curve
        self._lone = pg.ScatterPlotItem(size=LONE)
        self._cursor = pg.InfiniteLine(pos=1, angle=90)
        self._cursor.setZValue(10)
        self._band = pg.LinearRegionItem(movable=False)
        self._band.setZValue(-10)
        self._band.hide()
        self._title = pg.LabelItem(justify="left")  # lying: upright, it is longer than a low plot is high
        self._title.setParentItem(self._plot.getViewBox())
        self._title.setZValue(20)
        for item in (self._cursor, self._band, self._lone):
            self._plot.addItem(item, ignoreBounds=True)
        for item in (self._cursor, self._band):
            QGraphicsItem.setData(item, INTERACTIVE_ONLY, True)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setMinimumHeight(40)
        self.setToolTip(TIP)
        self.scene().sigMouseClicked.connect(self._on_mouse_clicked)
        self._follow_theme()

    def show_plot(self, plot: Plot, colors: Collection[QColor], *, names_frames: bool, color: str) -> None:
        """Show curves in colors, one for each point; labels have a "#rrggbb" color."""
        self._name_axes(f"{plot.title} ({plot.unit})" if plot.unit else plot.title, names_frames, color)
        styles = (plot.dashed, Qt.PenStyle.DashLine), (plot.curves, Qt.PenStyle.SolidLine)
        lines = [(*line, style) for curves, style in styles for line in zip(curves, colors, strict=False)]
        spots = []
        for curve, (values, pen, style) in zip(self._shown(self._curves, lines), lines, strict=True):
            curve.setData(np.arange(1, len(values) + 1), values, pen=pg.mkPen(pen, width=1, style=style))
            spots += _lone_values(values, pen, filled=style == Qt.PenStyle.SolidLine)
        self._lone.setData(spots=spots)
        self._show_bands(plot, colors)
        self._show_all([values for values, _, _ in lines])

    def _show_bands(self, plot: Plot, colors: Collection[QColor]) -> None:
        """Fill what is within one and two standard deviations of the curves."""
        bands = [
            (values, width * std, qcolor(color.name(), opacity))
            for values, std, color in zip(plot.curves, plot.stds, colors, strict=False)
            for width, opacity in BAND_OPACITIES.items()
        ]
        for item, (values, half, color) in zip(self._shown(self._bands, bands), bands, strict=True):
            known = np.flatnonzero(np.isfinite(values) & np.isfinite(half))
            there = np.concatenate([known, known[::-1]])
            edge = np.concatenate([(values + half)[known], (values - half)[known[::-1]]])
            item.setData(there + 1.0, edge, pen=None, brush=pg.mkBrush(color), fillLevel="enclosed")
            item.setZValue(-5)

    def _shown(self, items: list[pg.PlotCurveItem], wanted: Sized) -> list[pg.PlotCurveItem]:
        """Return as many items as are wanted; there are as many as were ever needed, the others hidden."""
        while len(items) < len(wanted):
            items.append(pg.PlotCurveItem(connect="finite"))
            self._plot.addItem(items[-1], ignoreBounds=items is self._bands)
        for k, item in enumerate(items):
            item.setVisible(k < len(wanted))
        return items[: len(wanted)]

    def set_frame(self, frame: int) -> None:
        """Mark a frame, 0-based."""
        self._cursor.setValue(frame + 1)

    def set_range(self, frames: tuple[int, int] | None) -> None:
        """Show which frames are played, None for all."""
        self._band.setVisible(frames is not None)
        if frames is not None:
            self._band.setRegion((frames[0] + 0.5, frames[1] + 1.5))

    def _apply_theme(self, theme: Theme) -> None:
        apply_plot_theme(self, theme)
        self._cursor.setPen(pg.mkPen(qcolor(theme.text)))
        self._band.setBrush(pg.mkBrush(qcolor(theme.accent, 0.14)))
        for line in self._band.lines:
            line.setPen(pg.mkPen(qcolor(theme.accent, 0.6)))

    def _name_axes(self, title: str, names_frames: bool, color: str) -> None:
        if (title, names_frames, color) == self._text:
            return
        self._text = title, names_frames, color
        self.setAccessibleName(f"{title} over the frames")
        style = {"color": color, "font-size": "8pt"}  # a plot may be low
        self._title.setText(html.escape(title), color=color, size="8pt")
        self._title.anchor(itemPos=(0, 0), parentPos=(0, 0), offset=(4, -3))
        bottom = self._plot.getAxis("bottom")
        bottom.setStyle(showValues=names_frames)
        self._plot.setLabel("bottom", "frame" if names_frames else None, **style)
        bottom.setHeight(AXIS_HEIGHT if names_frames else NO_AXIS_HEIGHT)

    def _show_all(self, lines: list[Floats]) -> None:
        known = np.concatenate([values[np.isfinite(values)] for values in lines]) if lines else np.zeros(0)
        if known.size:
            low, high = float(known.min()), float(known.max())
            margin = 0.0 if high > low else 0.5 * abs(high) or 0.5
            frames = 1, max(2, *(len(values) for values in lines))
            room = TITLE_ROOM * (high - low)
            self._plot.getViewBox().setRange(xRange=frames, yRange=(low - margin, high + margin + room))

    def _on_mouse_clicked(self, event: MouseClickEvent) -> None:
        box, place = self._plot.getViewBox(), event.scenePos()
        if event.button() != Qt.MouseButton.LeftButton or not box.sceneBoundingRect().contains(place):
            return
        if event.double():
            self._show_all([curve.getData()[1] for curve in self._curves if curve.isVisible()])
        else:
            self.frame_requested.emit(round(box.mapSceneToView(place).x()) - 1)


def _lone_values(values: Floats, color: QColor, *, filled: bool) -> list[dict[str, object]]:
    """Return spots for the values without neighbors, where no line would show."""
    finite = np.isfinite(values)
    padded = np.concatenate([[False], finite, [False]])
    lone = np.flatnonzero(finite & ~padded[:-2] & ~padded[2:])
    look = {"pen": pg.mkPen(color), "brush": pg.mkBrush(color if filled else None)}
    return [{"pos": (frame + 1, values[frame]), **look} for frame in lone.tolist()]
