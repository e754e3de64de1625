"""Export of plots as PNG, SVG or PDF, and of images as PNG.

The plot widget itself paints all formats; `svg_generator` states why SVG has its own generator.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyqtgraph as pg
from PyQt6.QtCore import QBuffer, QCoreApplication, QIODevice, QMarginsF, QPointF, QRectF, QSize, QSizeF
from PyQt6.QtGui import QImage, QPageSize, QPainter, QPdfWriter, QResizeEvent
from PyQt6.QtWidgets import QGraphicsItem

from core import InputError
from core.foundation import replacing
from nrsfm_gui.widgets.plots.svg_generator import SvgGenerator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from PyQt6.QtGui import QPaintDevice


EXPORT_SIZE = QSize(1000, 600)
INTERACTIVE_ONLY = 1  # key of QGraphicsItem.data: whether an item serves the mouse and is left out of exports
PICTURE_SCALE = 2  # a PNG for print or for a slide


def save_plot(widget: pg.PlotWidget, path: Path) -> None:
    """Write what a plot shows, EXPORT_SIZE large, in the format that the suffix names.

    Raises
    ------
    InputError
        where the suffix is none of PLOT_FORMATS, or the file cannot be written.
    """
    writer = PLOT_FORMATS.get(path.suffix.lower())
    if writer is None:
        raise InputError(
            f"{path} has {path.suffix or 'no suffix'}; accepted for plots are {', '.join(PLOT_FORMATS)}"
        )
    with _export_size(widget, EXPORT_SIZE):
        content = writer(widget)
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def plot_svg(widget: pg.PlotWidget, size: QSize, *, name: str) -> str:
    """Return what a plot shows as an `svg` element of a page; no two elements of a page share a `name`."""
    with _export_size(widget, size):
        return _svg_element(widget, size, name)


def save_image(image: QImage, path: Path) -> None:
    """Write an image; PNG by its suffix.

    Raises
    ------
    InputError
        where the suffix is not `.png`, or the file cannot be written.
    """
    if path.suffix.lower() != ".png":
        raise InputError(f"{path} has {path.suffix or 'no suffix'}; accepted for pictures is .png")
    if image.isNull():
        raise InputError(f"{path}: there is no picture to save")
    with replacing(path) as temporary:
        temporary.write_bytes(png_bytes(image))


def png_bytes(image: QImage) -> bytes:
    """Return the PNG file of an image.

    Qt's writers do not report a full disk, so Python writes the bytes that they make.
    """
    content = QBuffer()
    content.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(content, "PNG")
    return bytes(content.data().data())


def _png(widget: pg.PlotWidget) -> bytes:
    image = QImage(EXPORT_SIZE * PICTURE_SCALE, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(PICTURE_SCALE)  # symbols are as large as in the other formats
    image.fill(widget.backgroundBrush().color())
    _paint(widget, image, QRectF(QPointF(0, 0), QSizeF(EXPORT_SIZE)))
    return png_bytes(image)


def _svg(widget: pg.PlotWidget) -> bytes:
    element = _svg_element(widget, EXPORT_SIZE, "plot")
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + element.encode("utf-8")


def _svg_element(widget: pg.PlotWidget, size: QSize, name: str) -> str:
    title = widget.accessibleName()
    page = SvgGenerator(size, resolution=widget.logicalDpiX(), title=title, name=name)
    _paint(widget, page, QRectF(QPointF(0, 0), QSizeF(size)))
    return page.svg


def _pdf(widget: pg.PlotWidget) -> bytes:
    resolution = widget.logicalDpiX()
    content = QBuffer()
    content.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(content)
    writer.setPageSize(QPageSize(QSizeF(EXPORT_SIZE) * 72.0 / resolution, QPageSize.Unit.Point))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    writer.setResolution(resolution)
    _paint(widget, writer, QRectF(0, 0, writer.width(), writer.height()))
    return bytes(content.data().data())


def _paint(widget: pg.PlotWidget, device: QPaintDevice, page: QRectF) -> None:
    """Paint a plot of the size for exports onto a page.

    pyqtgraph records an axis once and plays it back, and Qt scales what it plays back by the ratio of the
    devices' resolutions: a page must have the resolution of the screen, or the axes part from the curves.
    """
    painter = QPainter(device)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    widget.render(painter, page, widget.viewport().rect())
    painter.end()


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
    before = widget.size()
    _resize(widget, size)
    everything = widget.scene().items()
    items = [item for item in everything if isinstance(item, pg.GraphicsItem)]
    # Scatter plots of pyqtgraph have something else by the name of `data`.
    marked = [item for item in everything if QGraphicsItem.data(item, INTERACTIVE_ONLY)]
    hidden = [item for item in marked if item.isVisible()]
    for item in items:
        item.setExportMode(True)
    for item in hidden:
        item.hide()
    try:
        _paint(widget, QImage(size, QImage.Format.Format_RGB32), QRectF(widget.rect()))
        # The axes know how wide their labels are only once they have painted them.
        widget.getPlotItem().layout.activate()
        yield
    finally:
        for item in items:
            item.setExportMode(False)
        for item in hidden:
            item.show()
        _resize(widget, before)


PLOT_FORMATS: dict[str, Callable[[pg.PlotWidget], bytes]] = {".png": _png, ".svg": _svg, ".pdf": _pdf}
