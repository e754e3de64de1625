"""A number of the runs of a sweep over two of its settings, as colors."""

from __future__ import annotations

import html

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetricsF, QKeyEvent
from PyQt6.QtWidgets import QGraphicsItem, QVBoxLayout, QWidget
from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent

from core.foundation import Floats
from nrsfm_gui.model.appearance import COLOR_MAPS
from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.text.sweep_map import SweepMap
from nrsfm_gui.widgets.colors import LEVELS, color_table
from nrsfm_gui.widgets.fields import filled
from nrsfm_gui.widgets.labels import EmptyLabel, plain_tip
from nrsfm_gui.widgets.plots.plot_export import INTERACTIVE_ONLY, PlotFigure
from nrsfm_gui.widgets.plots.plot_style import PlainPlot, apply_plot_theme, log_ticks
from nrsfm_gui.widgets.style import Themed

LOGARITHMIC = 30.0  # ratio of the largest value to the least from which on the colors are logarithmic
SMALLEST, LARGEST = 1e-100, 1e100  # numbers that are drawn: the differences of others are not finite
MOST_TEXTS = 600  # cells with a value in them
DARK_TEXT, LIGHT_TEXT = "#101214", "#f4f6f8"
LIGHTNESS = 115  # of 255, from which on a color has dark text
OUTLINE = ((DARK_TEXT, 6), (LIGHT_TEXT, 2.5))  # color and width of the lines around the chosen cell
BAR_WIDTH = 14  # pixels
BESIDE = 170  # pixels of the axis, the color bar and its numbers, beside the map
TITLE_MARGIN = 8  # pixels above and below the title, together
# What the arrows add to row and column.
STEPS: dict[int, tuple[int, int]] = {
    Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0),
}  # fmt: skip


class HeatMap(Themed, QWidget):
    """The colors, the values in them where there is room, and a scale."""

    GESTURES = (
        ("Click a cell of the heat map, Enter", "show the run with the least number of that cell"),
        ("Arrows", "choose a cell"),
    )

    cell_requested = pyqtSignal(int, int)  # row and column of a cell that was clicked, or chosen by Enter
    cell_chosen = pyqtSignal(int, int)  # row and column of a cell that was chosen by an arrow

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.state: SweepMap | None = None  # what is drawn
        self._cell: tuple[int, int] | None = None  # that is chosen
        self._texts: list[pg.TextItem] = []
        self._widget = PlainPlot()
        self._widget.setAccessibleName("Heat map of the sweep")
        self._widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Heat map")
        self._plot: pg.PlotItem = self._widget.getPlotItem()
        self._plot.setMouseEnabled(x=False, y=False)
        self._plot.getViewBox().invertY(True)  # the first value is on top, as in a table
        for side in ("left", "bottom"):
            self._plot.getAxis(side).setStyle(tickLength=0)  # a mark would run into the cells
        self._image = pg.ImageItem(axisOrder="row-major")
        self._plot.addItem(self._image)
        colors = pg.ColorMap(np.linspace(0, 1, LEVELS), color_table(COLOR_MAPS[0]))
        self._bar = pg.ColorBarItem(interactive=False, width=BAR_WIDTH, colorMap=colors)
        self._bar.setImageItem(self._image, insert_in=self._plot)
        self._best = pg.PlotCurveItem()  # around the cell of the best run
        # A light line on a dark one is seen on every color.
        self._frames = tuple(pg.PlotCurveItem(pen=pg.mkPen(color, width=width)) for color, width in OUTLINE)
        for level, curve in enumerate((self._best, *self._frames)):
            QGraphicsItem.setData(curve, INTERACTIVE_ONLY, True)  # pyqtgraph has another `setData`
            curve.setZValue(9 + level)
            self._plot.addItem(curve, ignoreBounds=True)
        self.empty = EmptyLabel("", self._widget, margin=16)
        filled(QVBoxLayout(self), self._widget)
        self._widget.scene().setMoveDistance(np.inf)  # nothing is dragged: a release ends a click
        self._widget.scene().minDragTime = np.inf
        self._widget.scene().sigMouseClicked.connect(self._on_clicked)
        self._widget.scene().sigMouseMoved.connect(self._on_moved)
        self._follow_theme()

    @property
    def figure(self) -> PlotFigure:
        """The plot, for export."""
        missing = "the sweep has no number over two settings"
        return PlotFigure(self._widget, self, lambda: "" if self.state is not None else missing)

    def set_state(self, state: SweepMap | None) -> None:
        """Draw a map, or none."""
        before, self.state = self.state, state
        if state is None or before is None or (before.rows, before.columns) != (state.rows, state.columns):
            self._cell = None
        self._draw()

    def set_cell(self, cell: tuple[int, int] | None) -> None:
        """Mark the cell of the chosen run."""
        self._cell = cell
        self._draw_frame()

    # -- mouse and keys -------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Arrows choose a cell, Enter shows its run."""
        assert event is not None
        step = STEPS.get(event.key())
        if self.state is not None and step is not None:
            cell = self._next_cell(step)
            if cell is not None:
                self.set_cell(cell)
                self.cell_chosen.emit(*cell)
        elif self._cell is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.cell_requested.emit(*self._cell)
        else:
            super().keyPressEvent(event)

    def _next_cell(self, step: tuple[int, int]) -> tuple[int, int] | None:
        """Return the cell with runs that is next in a direction, the first one where none is chosen."""
        assert self.state is not None
        cells = np.argwhere(self.state.cells)
        if self._cell is not None:
            offsets = cells - self._cell
            along, beside = offsets @ step, np.abs(offsets @ step[::-1])
            cells = cells[along > 0][np.lexsort((along[along > 0], beside[along > 0]))]
        return (int(cells[0][0]), int(cells[0][1])) if len(cells) else None

    def _on_clicked(self, event: MouseClickEvent) -> None:
        """Choose the cell that is clicked."""
        cell = self._cell_at(event.scenePos())
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self.set_cell(cell)
            self.cell_requested.emit(*cell)

    def _on_moved(self, place: QPointF) -> None:
        """Name the cell below the pointer."""
        cell = self._cell_at(place)
        tip = "" if cell is None or self.state is None else self.state.tip(*cell)
        self._widget.setToolTip(plain_tip(tip))

    def _cell_at(self, place: QPointF) -> tuple[int, int] | None:
        """Return the cell at a place of the scene, None outside and where there is no run."""
        if self.state is None:
            return None
        point = self._plot.getViewBox().mapSceneToView(place)
        column, row = int(np.floor(point.x())), int(np.floor(point.y()))
        rows, columns = self.state.values.shape
        inside = 0 <= row < rows and 0 <= column < columns
        return (row, column) if inside and self.state.cells[row, column] else None

    def resizeEvent(self, event: object) -> None:
        """Fit ticks and values into the new size."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._draw_labels()

    # -- drawing --------------------------------------------------------------------------------------------

    def _apply_theme(self, theme: Theme) -> None:
        apply_plot_theme(self._widget, theme)
        self._bar.axis.setPen(pg.mkPen(theme.border))
        self._bar.axis.setTextPen(pg.mkPen(theme.muted))
        self._draw()

    def _draw(self) -> None:
        state = self.state
        drawn = state is not None and bool(np.isfinite(state.values).any())
        self.empty.setVisible(not drawn)
        for part in (self._image, self._bar, *self._frames, self._best):
            part.setVisible(drawn)
        for side in ("left", "bottom"):
            self._plot.showAxis(side, drawn)
        self._plot.setTitle(None)
        if state is None or not drawn:
            self._clear_texts()
            return
        theme = self._theme
        values, (low, high), ticks = _scaled(state.values)
        self._image.setImage(values, levels=(low, high))
        self._image.setRect(QRectF(0, 0, values.shape[1], values.shape[0]))
        self._bar.setLevels((low, high))
        self._bar.axis.setTicks(None if ticks is None else [ticks])
        self._bar.setLabel("right", html.escape(state.heading), color=theme.muted)
        self._plot.setLabel("bottom", html.escape(state.across))
        self._plot.setLabel("left", html.escape(state.down))
        self._plot.setRange(xRange=(0, values.shape[1]), yRange=(0, values.shape[0]), padding=0)
        self._draw_labels()
        self._draw_frame()

    def _draw_title(self, state: SweepMap) -> None:
        """Write title and note in two lines, elided: pyqtgraph would widen the plot beyond the widget."""
        theme, metrics = self._theme, QFontMetricsF(self.font())
        room = max(self.width() - BESIDE, 0)
        title, note = (
            html.escape(metrics.elidedText(text, Qt.TextElideMode.ElideRight, room))
            for text in (state.title, state.note)
        )
        second = f"<br><span style='color: {theme.muted}'>{note}</span>" if note else ""
        self._plot.setTitle(title + second, color=theme.text, size=f"{self.font().pointSizeF():g}pt")
        height = round(metrics.height() * (2 if note else 1)) + TITLE_MARGIN
        self._plot.titleLabel.setMaximumHeight(height)
        self._plot.layout.setRowFixedHeight(0, height)

    def _draw_frame(self) -> None:
        state = self.state
        best = None if state is None or state.best < 0 else state.cell_of(state.best)
        chosen = None if state is None else self._cell
        for curve, cell in ((self._best, best), *((frame, chosen) for frame in self._frames)):
            x, y = [], []
            if cell is not None:
                row, column = cell
                x, y = [column, column + 1, column + 1, column, column], [row, row, row + 1, row + 1, row]
            curve.setData(x, y)

    def _draw_labels(self) -> None:
        """Name rows and columns, and write values into their cells, as there is room."""
        state = self.state
        self._clear_texts()
        if state is None or not self._image.isVisible():
            return
        self._draw_title(state)
        self._plot.layout.activate()
        self._fit_bar(state)
        self._plot.layout.activate()
        area = self._plot.getViewBox().rect()
        rows, columns = state.values.shape
        metrics = QFontMetricsF(self.font())
        width, height = area.width() / max(columns, 1), area.height() / max(rows, 1)
        widest = max(metrics.horizontalAdvance(text) for text in state.columns) + 8
        self._plot.getAxis("bottom").setTicks([_ticks(state.columns, widest / max(width, 1e-9))])
        self._plot.getAxis("left").setTicks([_ticks(state.rows, metrics.height() / max(height, 1e-9))])
        texts, best = state.texts, state.cell_of(state.best)
        colors = _text_colors(_scaled(state.values)[0])
        if best is not None:
            self._best.setPen(pg.mkPen(colors[best[0]][best[1]], width=2, style=Qt.PenStyle.DashLine))
        longest = max(metrics.horizontalAdvance(text) for line in texts for text in line)
        if rows * columns > MOST_TEXTS or longest + 6 > width or metrics.height() > height:
            return
        for row, column in np.argwhere(state.cells):
            known = np.isfinite(state.values[row, column])
            color = colors[row][column] if known else self._theme.muted
            item = pg.TextItem(texts[row][column] if known else NONE, color=color, anchor=(0.5, 0.5))
            font = self.font()
            font.setBold((row, column) == best)
            item.setFont(font)
            item.setPos(column + 0.5, row + 0.5)
            self._plot.addItem(item, ignoreBounds=True)
            self._texts.append(item)

    def _fit_bar(self, state: SweepMap) -> None:
        """Give the axis of the color bar room for its numbers beside its label."""
        axis, metrics = self._bar.axis, QFontMetricsF(self.font())
        _, limits, ticks = _scaled(state.values)
        if ticks is None:
            levels = axis.tickValues(*limits, max(axis.size().height(), 1.0))
            texts = [text for step, values in levels[:2] for text in axis.tickStrings(values, 1.0, step)]
        else:
            texts = [text for _, text in ticks]
        widest = max((metrics.horizontalAdvance(text) for text in texts), default=0.0)
        axis.setWidth(axis.style["tickTextOffset"][0] + widest + axis.label.boundingRect().height())

    def _clear_texts(self) -> None:
        for item in self._texts:
            self._plot.removeItem(item)
        self._texts = []


def _scaled(values: Floats) -> tuple[Floats, tuple[float, float], list[tuple[float, str]] | None]:
    """Return what the colors are of, their limits, and the ticks where they are logarithmic."""
    values = np.clip(np.where(np.abs(values) < SMALLEST, 0.0, values), -LARGEST, LARGEST)
    known = values[np.isfinite(values)]
    low, high = float(known.min()), float(known.max())
    if low > 0 and high / low >= LOGARITHMIC:
        with np.errstate(invalid="ignore", divide="ignore"):
            logs = np.log10(values)
        return logs, (np.log10(low), np.log10(high)), log_ticks(np.log10(low), np.log10(high))
    if high <= low:
        pad = 0.05 * abs(low) or 0.5
        low, high = low - pad, high + pad
    return values, (low, high), None


def _text_colors(values: Floats) -> list[list[str]]:
    """Return the color of the text in every cell: dark on light, light on dark."""
    low, high = np.nanmin(values), np.nanmax(values)
    share = np.nan_to_num((values - low) / (high - low if high > low else 1.0), nan=0.0)
    table = color_table(COLOR_MAPS[0])[np.round(share * (LEVELS - 1)).astype(int), :3]
    light = table @ np.array([0.299, 0.587, 0.114]) >= LIGHTNESS
    return [[DARK_TEXT if each else LIGHT_TEXT for each in line] for line in light]


def _ticks(texts: tuple[str, ...], cells: float) -> list[tuple[float, str]]:
    """Return the places and names of rows or columns, so many cells apart at least."""
    every = max(int(np.ceil(cells)), 1)
    return [(k + 0.5, html.escape(text)) for k, text in enumerate(texts) if k % every == 0]
