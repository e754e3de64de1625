"""Figures for papers that no panel shows as they are printed.

The plots of the window are painted by their own widgets. In the window the error of every frame is a curve
without numbers on its axes and the error of every point is a strip: on paper both get axes, by plots that are
never shown. A row of shapes is the 3-D view at some frames, side by side.
"""

from __future__ import annotations

import html
from contextlib import closing

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QFontMetricsF, QPainter, QPixmap, QTransform
from PyQt6.QtWidgets import QGraphicsPixmapItem

from core import InputError
from core.foundation import Floats
from nrsfm_gui.export.export_request import FIGURES, SIDES, MovieOptions, parse_frames
from nrsfm_gui.export.movie import ScenePainter, TracksPainter, ViewSources
from nrsfm_gui.model.theme import PAPER
from nrsfm_gui.panels.timeline.heat_strip import heat_image, top_of
from nrsfm_gui.panels.view3d.parts import hollow_truth
from nrsfm_gui.scene.ranking import worst_first
from nrsfm_gui.scene.scene import ErrorSeries, Scene, error_series
from nrsfm_gui.widgets.color_bar import number, paint_upright_bar
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.picture_labels import LegendEntry, paint_legend
from nrsfm_gui.widgets.plots.plot_export import Figure, PlotFigure, screen_dpi
from nrsfm_gui.widgets.plots.plot_style import PlainPlot, apply_plot_theme

WORST = 5  # frames in the table of a report
AREA_ALPHA = 36  # of 255: of the area below the errors
HEADROOM = 1.12  # times the largest error: space for the name of the worst frame
BAR_WIDTH, BAR_ROOM = 10.0, 84.0  # pixels: of the scale of colors, and of the scale with its numbers
MOST_CELLS = (2000, 1200)  # columns and rows of the picture of all errors
MARGINS = (4, 8, 16, 4)  # pixels left, above, right and below a plot: half a number of an axis fits
LABEL_GAP = 6.0  # pixels between a shape and its name
PICTURE_DPI = 300  # of the pictures in a drawing


def worst_frames(per_frame: Floats, count: int = WORST) -> list[int]:
    """Return the 0-based frames with the largest errors, the worst first; those without are left out."""
    return [int(frame) for frame in worst_first(per_frame)[:count] if np.isfinite(per_frame[frame])]


def error_plot(series: ErrorSeries) -> pg.PlotWidget:
    """Return a plot of the mean error of every frame; frames without one leave gaps."""
    errors = series.per_frame
    frames = np.arange(1.0, len(errors) + 1)
    widget, plot = _plot_of(series, f"mean {series.name} of every frame")
    plot.setLabel("left", html.escape(f"{series.name} ({series.unit})" if series.unit else series.name))
    area = pg.mkColor(PAPER.accent)
    area.setAlpha(AREA_ALPHA)
    pen = pg.mkPen(PAPER.accent, width=1)
    plot.addItem(pg.PlotCurveItem(frames, errors, connect="finite", pen=pen, fillLevel=0, brush=area))
    alone = np.isfinite(np.pad(errors, 1, constant_values=np.nan))
    alone = alone[1:-1] & ~alone[:-2] & ~alone[2:]  # a curve of one point is not seen
    plot.addItem(pg.ScatterPlotItem(frames[alone], errors[alone], size=6, pen=None, brush=PAPER.accent))
    top = 0.0
    for worst in worst_frames(errors, 1):
        top, right = float(errors[worst]) * HEADROOM, 2 * worst > len(errors)
        line = pg.mkPen(PAPER.muted, width=1, style=Qt.PenStyle.DashLine)
        plot.addItem(pg.InfiniteLine(worst + 1, angle=90, pen=line), ignoreBounds=True)
        text = pg.TextItem(f"worst: {worst + 1}", color=PAPER.muted, anchor=(float(right), 0.0))
        text.setPos(worst + 1, top or 1.0)
        plot.addItem(text, ignoreBounds=True)
    plot.setXRange(0.5, len(errors) + 0.5, padding=0)
    plot.setYRange(0.0, top or 1.0, padding=0)
    return widget


def _plot_of(series: ErrorSeries, title: str) -> tuple[pg.PlotWidget, pg.PlotItem]:
    """Return an empty plot over the frames."""
    widget = PlainPlot()
    widget.setAccessibleName(title + (f", {series.alignment}" if series.alignment else ""))
    plot: pg.PlotItem = widget.getPlotItem()
    apply_plot_theme(widget, PAPER)
    plot.setLabel("bottom", "frame")
    plot.setContentsMargins(*MARGINS)
    return widget, plot


class HeatFigure(PlotFigure):
    """The error of every point in every frame, with axes and the scale of its colors."""

    def __init__(self, series: ErrorSeries, color_map: str) -> None:
        widget, plot = _plot_of(series, f"{series.name} by frame and point")
        super().__init__(widget, paint_over=self._paint_scale)
        values = series.per_point
        frames, points = values.shape
        self._top, self._label, self._color_map = top_of(values), f"{series.name} ({series.unit})", color_map
        shown = np.zeros(points, dtype=bool)
        image = heat_image(values.T, MOST_CELLS, self._top, hidden=shown, color_map=color_map)
        item = QGraphicsPixmapItem(QPixmap.fromImage(image))
        cell = frames / image.width(), points / image.height()
        item.setTransform(QTransform().translate(0.5, 0.5).scale(*cell))
        plot.addItem(item, ignoreBounds=True)
        plot.setLabel("left", "point")
        plot.getViewBox().invertY(True)
        plot.setXRange(0.5, frames + 0.5, padding=0)
        plot.setYRange(0.5, points + 0.5, padding=0)
        left, top, _right, bottom = MARGINS
        plot.setContentsMargins(left, top, BAR_ROOM, bottom)

    def _paint_scale(self, painter: QPainter) -> None:
        """Paint the scale of the colors to the right of the plot."""
        inside = self._widget.getPlotItem().getViewBox().sceneBoundingRect()
        bar = QRectF(inside.right() + 12.0, inside.top(), BAR_WIDTH, inside.height())
        paint_upright_bar(painter, bar, PAPER, self._color_map)
        painter.setFont(self._widget.font())
        metrics = QFontMetricsF(painter.font())
        painter.setPen(qcolor(PAPER.text))
        x = bar.right() + 4.0
        top = f"≥{number(float(f'{self._top:.2g}'), self._top)}"
        painter.drawText(QPointF(x, bar.top() + metrics.ascent() - 2.0), top)
        painter.drawText(QPointF(x, bar.bottom()), "0")
        painter.save()
        painter.translate(x + metrics.height(), bar.center().y())
        painter.rotate(-90.0)
        width = metrics.horizontalAdvance(self._label)
        painter.drawText(QPointF(-width / 2, 0.0), self._label)
        painter.restore()


class TracksFigure:
    """The 2-D view at the frame that is shown, with the picture behind it, without selection and buttons."""

    title, missing = "tracks and reprojections", ""

    def __init__(self, views: ViewSources) -> None:
        self._views = views

    def paint(self, painter: QPainter, size: QSize) -> None:
        """Paint the plot, then the legend."""
        options = MovieOptions(view="2d", width=size.width(), height=size.height())
        with closing(TracksPainter(self._views, options, theme=PAPER, marks=False)) as made:
            made.show_frame(self._views.session.frame)
            PlotFigure(made.view.plot_widget, paint_over=made.view.paint_labels).paint(painter, size)


class ShapesFigure:
    """The 3-D view at several frames side by side, as large as each other."""

    def __init__(self, views: ViewSources, frames: tuple[int, ...]) -> None:
        self._views, self._frames = views, frames
        self.title, self.missing = "shapes at frames " + ", ".join(str(frame + 1) for frame in frames), ""

    def paint(self, painter: QPainter, size: QSize) -> None:
        """Paint the legend, the shapes and the numbers of their frames."""
        painter.setFont(self._views.window.font())
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        line = QFontMetricsF(painter.font()).height() + LABEL_GAP
        width, height = float(size.width()), size.height() - line
        columns = _columns(len(self._frames), width, height, line)
        side, upright = width / columns, height / -(-len(self._frames) // columns) - line
        scale = PICTURE_DPI / screen_dpi()
        pixels = [min(max(round(scale * length), SIDES[0]), SIDES[1]) for length in (side, upright)]
        options = MovieOptions(width=pixels[0], height=pixels[1])
        with closing(ScenePainter(self._views, options, theme=PAPER, marks=False)) as made:
            made.fit(*self._frames)
            legend = _entries(made.scene(self._frames[0]))
            paint_legend(painter, legend, PAPER, LABEL_GAP, 0.0, horizontal_to=width)
            for place, frame in enumerate(self._frames):
                row, column = divmod(place, columns)
                area = QRectF(column * side, line + row * (upright + line), side, upright)
                painter.drawImage(area, made.picture(frame, 0.0))
                painter.setPen(qcolor(PAPER.text))
                below = QRectF(area.left(), area.bottom(), side, line)
                painter.drawText(below, Qt.AlignmentFlag.AlignCenter, f"frame {frame + 1}")


def _entries(scene: Scene) -> list[LegendEntry]:
    """Return what the colors mean, of those that are seen."""
    entries = []
    if scene.estimate is not None and "estimate" in scene.layers and not scene.colored:
        entries.append(LegendEntry("estimate", PAPER.estimate))
    if scene.truth is not None and "truth" in scene.layers:
        entries.append(LegendEntry(scene.sequence.truth_name, PAPER.truth_shape, hollow=hollow_truth(scene)))
    return entries


def _columns(count: int, width: float, height: float, below: float) -> int:
    """Return in how many columns pictures with a line of text below are largest; a row is preferred."""

    def shorter_side(columns: int) -> float:
        return min(width / columns, height / -(-count // columns) - below)

    return max(range(1, count + 1), key=lambda columns: (round(shorter_side(columns), 6), columns))


def make_figure(views: ViewSources, panels: dict[str, Figure], name: str, frames: str = "") -> Figure:
    """Return a figure of what the window shows. Raises InputError where there is nothing to show yet."""
    sequence = views.session.sequence
    if sequence is None:
        raise InputError("There is no figure: open a sequence")
    if name == "shapes":
        return ShapesFigure(views, parse_frames(frames, sequence.frame_count))
    if name == "tracks":
        return TracksFigure(views)
    views.display.refresh()
    if name in panels:
        if panels[name].missing:
            raise InputError(f"There is no figure of the {FIGURES[name].title}: {panels[name].missing}")
        return panels[name]
    scene = views.display.scene
    kinds = () if scene is None else error_series(sequence, scene.shapes)
    if not kinds:
        raise InputError(f"There is no figure of the {FIGURES[name].title}: there is no reconstruction yet")
    if name == "heat":
        return HeatFigure(kinds[0], views.session.appearance.color_map)
    return PlotFigure(error_plot(kinds[0]))
