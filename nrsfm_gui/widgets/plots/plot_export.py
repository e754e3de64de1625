"""Export of figures for papers as PNG or PDF, and of images as PNG.

A figure is painted by the widget that shows it, in the colors of `PAPER` and at a size in centimeters, so
that text keeps the size in points that it has on the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyqtgraph as pg
from PyQt6.QtCore import (
    QBuffer,
    QCoreApplication,
    QIODevice,
    QMarginsF,
    QPointF,
    QRect,
    QRectF,
    QSize,
    QSizeF,
    Qt,
)
from PyQt6.QtGui import (
    QColor,
    QFontMetricsF,
    QGuiApplication,
    QImage,
    QPageSize,
    QPaintDevice,
    QPainter,
    QPalette,
    QPdfWriter,
    QPen,
    QResizeEvent,
)
from PyQt6.QtWidgets import QGraphicsItem, QWidget

from core import InputError
from core.foundation import replacing
from nrsfm_gui.model.theme import PAPER
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.style import Themed, palette

INTERACTIVE_ONLY = 1  # key of QGraphicsItem.data: whether an item serves the mouse and is left out of exports
INCH = 2.54  # centimeters
SIDES = (2.0, 100.0)  # centimeters: least and most of width and height
RESOLUTIONS = (50, 1200)  # dots per inch of a PNG, likewise
LEAST_MARGINS = (6, 0, 6, 0)  # pixels: pyqtgraph places the names of axes a little beyond their ends
KEY = 9.0  # side of the colored square next to a name, pixels


@dataclass(frozen=True)
class FigureSize:
    """The size of a figure on paper. Raises InputError where a value is not among those accepted."""

    width: float = 16.0  # centimeters
    height: float = 9.0
    dpi: int = 300  # dots per inch of a PNG; a PDF is a drawing

    def __post_init__(self) -> None:
        least, most = SIDES
        for name, side in (("width", self.width), ("height", self.height)):
            if not least <= side <= most:
                raise InputError(f"{name} is {side:g} cm; accepted are {least:g} to {most:g} cm")
        low, high = RESOLUTIONS
        if not low <= self.dpi <= high:
            raise InputError(f"dpi is {self.dpi}; accepted are {low} to {high} dots per inch")

    @property
    def pixels(self) -> QSize:
        """The size of the page on a screen, on which text has its size in points."""
        return QSize(round(self.width / INCH * screen_dpi()), round(self.height / INCH * screen_dpi()))


def screen_dpi() -> int:
    """Return the pixels of the screen to the inch, of which the sizes of text are points."""
    screen = QGuiApplication.primaryScreen()
    return 96 if screen is None else round(screen.logicalDotsPerInchX())


class Figure(Protocol):
    """Something that is painted onto a page."""

    @property
    def title(self) -> str:
        """What it shows."""

    @property
    def missing(self) -> str:
        """Why there is nothing to paint, "" where there is something."""

    def paint(self, painter: QPainter, size: QSize) -> None:
        """Paint it onto a page of a size in pixels of the screen."""


class PlotFigure:
    """A plot of pyqtgraph as it is shown, without what only serves the mouse.

    `paint_over` paints what is over it, or beside it.
    """

    def __init__(
        self,
        widget: pg.PlotWidget,
        themed: QWidget | None = None,
        find_missing: Callable[[], str] = str,
        paint_over: Callable[[QPainter], None] | None = None,
    ) -> None:
        self._widget, self._themed, self._find_missing = widget, themed or widget, find_missing
        self._paint_over = paint_over

    @property
    def title(self) -> str:
        """What it shows."""
        return str(self._widget.accessibleName())

    @property
    def missing(self) -> str:
        """Why there is nothing to paint, "" where there is something."""
        return self._find_missing()

    @contextmanager
    def layout(self, size: QSize) -> Iterator[None]:
        """Give the plot the colors of paper and a size, whatever those of its panel."""
        with _paper_colors(self._themed), _export_size(self._widget, size):
            yield

    def paint(self, painter: QPainter, size: QSize) -> None:
        """Paint the plot onto a page."""
        with self.layout(size):
            self._widget.render(painter, QRectF(QPointF(), QSizeF(size)), self._widget.viewport().rect())
            if self._paint_over is not None:
                self._paint_over(painter)


class StackedFigure:
    """Plots one below the other with one axis of frames, and the names of their curves above.

    `charts`: returns the plots from the top, and the pixels by which each is higher than an equal share.
    """

    def __init__(
        self,
        title: str,
        themed: QWidget,
        charts: Callable[[], Sequence[tuple[pg.PlotWidget, int]]],
        names: Callable[[], Sequence[tuple[str, str]]],
    ) -> None:
        self.title, self._themed, self._charts, self._names = title, themed, charts, names

    @property
    def missing(self) -> str:
        """Why there is nothing to paint, "" where there is something."""
        return "" if self._charts() else "select points first"

    @contextmanager
    def layout(self, size: QSize) -> Iterator[list[tuple[pg.PlotWidget, QRect]]]:
        """Give the plots the colors of paper, and their shares of the height; yield them and their places."""
        charts = self._charts()
        top = round(QFontMetricsF(self._themed.font()).height()) + 6
        room = size.height() - top - sum(more for _, more in charts)
        share = max(room // max(len(charts), 1), 1)
        places = []
        with ExitStack() as stack:
            stack.enter_context(_paper_colors(self._themed))
            for chart, more in charts:
                place = QRect(0, top, size.width(), share + more)
                stack.enter_context(_export_size(chart, place.size()))
                places.append((chart, place))
                top += place.height()
            yield places

    def paint(self, painter: QPainter, size: QSize) -> None:
        """Paint the names and the plots onto a page."""
        with self.layout(size) as places:
            self._paint_names(painter, size.width() - 8.0)
            for chart, place in places:
                chart.render(painter, QRectF(place), chart.viewport().rect())

    def _paint_names(self, painter: QPainter, width: float) -> None:
        painter.setFont(self._themed.font())
        metrics = QFontMetricsF(painter.font())
        x, baseline = 8.0, 3.0 + metrics.ascent()
        names, beside = self._names(), KEY + 16.0
        share = width / max(len(names), 1) - beside  # of each, where not all have room
        fit = sum(metrics.horizontalAdvance(name) + beside for name, _color in names) <= width
        for name, color in names:
            text = name if fit else metrics.elidedText(name, Qt.TextElideMode.ElideRight, share)
            painter.fillRect(QRectF(x, baseline - KEY, KEY, KEY), qcolor(color))
            painter.setPen(qcolor(PAPER.text))
            painter.drawText(QPointF(x + KEY + 4.0, baseline), text)
            x += beside + metrics.horizontalAdvance(text)


def save_figure(figure: Figure, path: Path, size: FigureSize) -> None:
    """Write a figure in the format that the suffix names. Raises InputError where that is not possible."""
    writer, known = FIGURE_FORMATS.get(path.suffix.lower()), ", ".join(FIGURE_FORMATS)
    if writer is None:
        raise InputError(f"{path} has {path.suffix or 'no suffix'}; accepted for figures are {known}")
    content = writer(figure, size)
    with replacing(path) as temporary:
        temporary.write_bytes(content)


class _FigurePainter(QPainter):
    """Draws lines whose width is in pixels as wide as in a PDF: Qt counts the pixels of the device."""

    def __init__(self, device: QPaintDevice, scale: float) -> None:
        super().__init__(device)
        self._scale = scale

    def setPen(self, pen: QPen | QColor | Qt.GlobalColor | int | Qt.PenStyle) -> None:
        """Use a pen; the items of pyqtgraph call this."""
        wide = QPen(pen)
        if wide.isCosmetic():
            wide.setWidthF(max(wide.widthF(), 1.0) * self._scale)
        super().setPen(wide)


def figure_image(figure: Figure, size: QSize, scale: float) -> QImage:
    """Return the picture of a figure in a size, with `scale` pixels to each pixel of the size."""
    image = QImage(size * scale, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(scale)  # symbols are as large as in a PDF
    _paint(figure, image, size)
    return image


def png_bytes(image: QImage) -> bytes:
    """Return the PNG file of a picture: Qt's writers report no full disk, so Python writes what they make."""
    content = QBuffer()
    content.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(content, "PNG")
    return bytes(content.data().data())


def save_image(image: QImage, path: Path) -> None:
    """Write an image as PNG. Raises InputError for another suffix, or where it cannot be written."""
    if path.suffix.lower() != ".png":
        raise InputError(f"{path} has {path.suffix or 'no suffix'}; accepted for pictures is .png")
    if image.isNull():
        raise InputError(f"{path}: there is no picture to save")
    with replacing(path) as temporary:
        temporary.write_bytes(png_bytes(image))


def _png(figure: Figure, size: FigureSize) -> bytes:
    image = figure_image(figure, size.pixels, size.dpi / screen_dpi())
    image.setDotsPerMeterX(round(100 * size.dpi / INCH))
    image.setDotsPerMeterY(round(100 * size.dpi / INCH))
    return png_bytes(image)


def _pdf(figure: Figure, size: FigureSize) -> bytes:
    content = QBuffer()
    content.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(content)
    writer.setTitle(figure.title)
    points = QSizeF(size.width, size.height) * 72.0 / INCH
    writer.setPageSize(QPageSize(points, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    writer.setResolution(screen_dpi())
    _paint(figure, writer, size.pixels)
    return bytes(content.data().data())


def _paint(figure: Figure, device: QPaintDevice, size: QSize) -> None:
    """Paint a figure onto a page.

    pyqtgraph records an axis once and plays it back, and Qt scales what it plays back by the ratio of the
    devices' resolutions: a page must have the resolution of the screen, or the axes part from the curves.
    """
    painter = _FigurePainter(device, device.devicePixelRatioF())
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setRenderHint(QPainter.RenderHint.LosslessImageRendering)  # pictures in a PDF are JPEG otherwise
    # Beyond the page: its centimeters are no whole units, and a line at the edge would stay transparent.
    painter.fillRect(QRectF(-1.0, -1.0, size.width() + 2.0, size.height() + 2.0), qcolor(PAPER.panel))
    try:
        figure.paint(painter, size)
    finally:
        painter.end()


@contextmanager
def _paper_colors(widget: QWidget) -> Iterator[None]:
    """Give a widget, and those inside that inherit no palette from it, the colors of paper for an export."""
    inside = [child for child in widget.findChildren(QWidget) if isinstance(child, Themed)]
    for each in (widget, *inside):
        each.setPalette(palette(PAPER))
    try:
        yield
    finally:
        for each in (widget, *inside):
            each.setPalette(QPalette())  # that of its parent or of the application again


def _resize(widget: pg.PlotWidget, size: QSize) -> None:
    """Resize a plot at once: Qt resizes hidden widgets only when they are shown."""
    before, viewport = widget.size(), widget.viewport()
    widget.resize(size)
    if not widget.isVisible():
        QCoreApplication.sendEvent(widget, QResizeEvent(size, before))
        QCoreApplication.sendEvent(viewport, QResizeEvent(viewport.size(), before))
    widget.getPlotItem().layout.activate()


@contextmanager
def _export_size(widget: pg.PlotWidget, size: QSize) -> Iterator[None]:
    """Give a plot a size for an export, whatever the size of its panel, even while its tab is hidden.

    Meanwhile symbols are drawings, not pictures of symbols, and what only serves the mouse is hidden.
    """
    before, plot = widget.size(), widget.getPlotItem()
    margins = plot.getContentsMargins()
    plot.setContentsMargins(*map(max, margins, LEAST_MARGINS))
    _resize(widget, size)
    everything = widget.scene().items()
    items = [item for item in everything if isinstance(item, pg.GraphicsItem)]
    # Scatter plots of pyqtgraph have something else by the name of `data`.
    marked = [item for item in everything if QGraphicsItem.data(item, INTERACTIVE_ONLY)]
    for item in items:
        item.setExportMode(True)
    for item in marked:
        item.setOpacity(0.0)  # a new size may show what is hidden
    try:
        unseen = QImage(size, QImage.Format.Format_RGB32)
        painter = QPainter(unseen)
        widget.render(painter)
        painter.end()
        plot.layout.activate()  # the axes know how wide their labels are only once they have painted them
        yield
    finally:
        for item in items:
            item.setExportMode(False)
        for item in marked:
            item.setOpacity(1.0)
        plot.setContentsMargins(*margins)
        _resize(widget, before)


FIGURE_FORMATS: dict[str, Callable[[Figure, FigureSize], bytes]] = {".png": _png, ".pdf": _pdf}
