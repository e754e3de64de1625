"""The selected points over the frames: their errors, or their paths, one color for each point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from nrsfm_gui.theme import DARK, Theme

from .colors import qcolor
from .plots import dress

if TYPE_CHECKING:
    from collections.abc import Sequence as Items

    from PyQt6.QtGui import QColor, QResizeEvent
    from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent

    from core.arrays import Floats

MOST_POINTS = 8  # that are drawn; more could not be told apart
AXIS_HEIGHT, NO_AXIS_HEIGHT = 34, 5  # pixels below the last plot, and below the others
AXIS_WIDTH = 52  # pixels, so that the plots stand below each other
LONE = 5  # diameter of a value whose neighbors are missing
EMPTY = "Select points to see them over the frames: click, Ctrl+drag, or choose rows of the table."


@dataclass(frozen=True, eq=False)
class Plot:
    """One of the plots, and a curve (F,) in it for every point; the second ones are dashed."""

    title: str
    unit: str
    curves: tuple[Floats, ...]
    dashed: tuple[Floats, ...] = ()


class PointsCurves(QWidget):
    """Plots below each other on one axis of frames. A click asks for the frame."""

    frame_requested = pyqtSignal(int)  # 0-based

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._plots: list[pg.PlotWidget] = []
        self._cursors: list[pg.InfiniteLine] = []
        self._bands: list[pg.LinearRegionItem] = []
        self._frame = 0
        self._range: tuple[int, int] | None = None
        self._theme = DARK
        self._content: tuple[tuple[Plot, ...], tuple[int, ...], str] = ((), (), "")
        self._names = QLabel()
        self._names.setTextFormat(Qt.TextFormat.RichText)
        self._names.setWordWrap(True)
        self._names.setContentsMargins(8, 3, 8, 0)
        self._names.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._empty = QLabel(EMPTY)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._empty.setProperty("role", "muted")
        self._empty.setMargin(16)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self._names)
        self._column.addWidget(self._empty, 1)
        self.show_plots((), ())

    def show_plots(self, plots: Items[Plot], points: Items[int], *, note: str = "") -> None:
        """Show plots with a curve for each of up to MOST_POINTS points, and a note beside their names."""
        self._content = tuple(plots), tuple(points), note
        while len(self._plots) < len(plots):
            self._add_plot()
        for place, widget in enumerate(self._plots):
            widget.setVisible(place < len(plots))
            if place < len(plots):
                self._fill(widget, plots[place], last=place == len(plots) - 1)
        self._share_height()
        self._empty.setVisible(not plots)
        self._empty.setText(note if note and not plots else EMPTY)
        self._names.setVisible(bool(plots))
        names = " ".join(
            f'<span style="color:{self._color(k).name()}">■</span>&nbsp;{point + 1}&ensp;'
            for k, point in enumerate(points)
        )
        self._names.setText(f"point {names}{note}")

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Keep the plots equally high."""
        self._share_height()

    def _share_height(self) -> None:
        """Give the last plot the room of the axis that it has for all."""
        shown = [widget for widget in self._plots if not widget.isHidden()]
        more = AXIS_HEIGHT - NO_AXIS_HEIGHT
        each = max((self.height() - self._names.sizeHint().height() - more) // max(len(shown), 1), 1)
        for widget in shown:
            self._column.setStretchFactor(widget, each + (more if widget is shown[-1] else 0))

    def set_frame(self, frame: int) -> None:
        """Mark a frame."""
        self._frame = frame
        for cursor in self._cursors:
            cursor.setValue(frame + 1)

    def set_range(self, frames: tuple[int, int] | None) -> None:
        """Show which frames are played, None for all."""
        self._range = frames
        for band in self._bands:
            band.setVisible(frames is not None)
            if frames is not None:
                band.setRegion((frames[0] + 0.5, frames[1] + 1.5))

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self._theme = theme
        for widget, cursor, band in zip(self._plots, self._cursors, self._bands, strict=True):
            self._dress(widget, cursor, band)
        plots, points, note = self._content
        self.show_plots(plots, points, note=note)

    def _color(self, place: int) -> QColor:
        colors = (self._theme.accent, *self._theme.runs, self._theme.text)
        return qcolor(colors[place % len(colors)])

    def _add_plot(self) -> None:
        widget = pg.PlotWidget()
        widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        widget.setMinimumHeight(40)
        widget.setToolTip("Click: go to the frame. Wheel: zoom; drag: move; double click: fit")
        plot = widget.getPlotItem()
        plot.hideButtons()
        plot.setMenuEnabled(False)
        for side in ("left", "bottom"):
            plot.getAxis(side).enableAutoSIPrefix(False)
        plot.getAxis("left").setWidth(AXIS_WIDTH)
        plot.getViewBox().setDefaultPadding(0.04)
        cursor = pg.InfiniteLine(pos=self._frame + 1, angle=90)
        cursor.setZValue(10)
        band = pg.LinearRegionItem(movable=False)
        band.setZValue(-10)
        for item in (cursor, band):
            plot.addItem(item, ignoreBounds=True)
        if self._plots:
            plot.setXLink(self._plots[0].getPlotItem())
        widget.scene().sigMouseClicked.connect(lambda event, widget=widget: self._clicked(event, widget))
        self._plots.append(widget)
        self._cursors.append(cursor)
        self._bands.append(band)
        self._dress(widget, cursor, band)
        self._column.addWidget(widget, 1)
        self.set_range(self._range)

    def _dress(self, widget: pg.PlotWidget, cursor: pg.InfiniteLine, band: pg.LinearRegionItem) -> None:
        dress(widget, self._theme)
        cursor.setPen(pg.mkPen(qcolor(self._theme.text)))
        band.setBrush(pg.mkBrush(qcolor(self._theme.accent, 0.14)))
        for line in band.lines:
            line.setPen(pg.mkPen(qcolor(self._theme.accent, 0.6)))

    def _fill(self, widget: pg.PlotWidget, plot: Plot, *, last: bool) -> None:
        item = widget.getPlotItem()
        for curve in item.listDataItems():
            item.removeItem(curve)
        style = {"color": self._theme.muted, "font-size": "8pt"}  # a plot may be low
        item.setLabel("left", f"{plot.title} ({plot.unit})" if plot.unit else plot.title, **style)
        item.getAxis("bottom").setStyle(showValues=last)
        item.setLabel("bottom", "frame" if last else None, **style)
        item.getAxis("bottom").setHeight(AXIS_HEIGHT if last else NO_AXIS_HEIGHT)
        for curves, line in ((plot.dashed, Qt.PenStyle.DashLine), (plot.curves, Qt.PenStyle.SolidLine)):
            for place, values in enumerate(curves):
                self._add_curve(item, values, self._color(place), line)
        item.getViewBox().autoRange()

    def _add_curve(self, item: pg.PlotItem, values: Floats, color: QColor, line: Qt.PenStyle) -> None:
        """Add a curve with gaps where values are missing; values without neighbors become dots."""
        finite = np.isfinite(values)
        if not finite.any():
            return
        frames = np.arange(1, len(values) + 1)
        item.addItem(
            pg.PlotDataItem(frames, values, connect="finite", pen=pg.mkPen(color, width=1, style=line))
        )
        padded = np.concatenate([[False], finite, [False]])
        lone = finite & ~padded[:-2] & ~padded[2:]
        if lone.any():
            brush = pg.mkBrush(color if line == Qt.PenStyle.SolidLine else None)
            dots = pg.ScatterPlotItem(frames[lone], values[lone], size=LONE, pen=pg.mkPen(color), brush=brush)
            item.addItem(dots)

    def _clicked(self, event: MouseClickEvent, widget: pg.PlotWidget) -> None:
        box = widget.getPlotItem().getViewBox()
        if event.button() != Qt.MouseButton.LeftButton or not box.sceneBoundingRect().contains(
            event.scenePos()
        ):
            return
        if event.double():
            box.autoRange()
        else:
            self.frame_requested.emit(round(box.mapSceneToView(event.scenePos()).x()) - 1)
