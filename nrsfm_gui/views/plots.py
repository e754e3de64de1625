"""What all plots share: their dress in a theme, and their export as PNG, SVG or PDF.

pyqtgraph's own SVG exporter fails with this Qt, so the scene is rendered by Qt's generators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyqtgraph as pg
from PyQt6.QtCore import QMarginsF, QRectF, QSize, QSizeF, Qt
from PyQt6.QtGui import QImage, QPageSize, QPainter, QPdfWriter

from core.arrays import InputError
from core.atomic import replacing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nrsfm_gui.theme import Theme

PIXELS_PER_INCH = 96
PICTURE_SCALE = 2  # a PNG for print or for a slide


def dress(widget: pg.PlotWidget, theme: Theme) -> None:
    """Give a plot the colors of a theme."""
    widget.setBackground(theme.panel)
    plot = widget.getPlotItem()
    for name in ("left", "bottom", "right", "top"):
        axis = plot.getAxis(name)
        axis.setPen(pg.mkPen(theme.border))
        axis.setTextPen(pg.mkPen(theme.muted))
    plot.getViewBox().setBorder(None)


def save_plot(widget: pg.PlotWidget, path: Path) -> None:
    """Write a plot as it is shown, in the format that the suffix names.

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
    with replacing(path) as temporary:
        writer(widget, temporary)


def save_image(image: QImage, path: Path) -> None:
    """Write an image; PNG by its suffix.

    Raises
    ------
    InputError
        where the suffix is not `.png`, or the file cannot be written.
    """
    if path.suffix.lower() != ".png":
        raise InputError(f"{path} has {path.suffix or 'no suffix'}; accepted for pictures is .png")
    with replacing(path) as temporary:
        if image.isNull() or not image.save(str(temporary), "PNG"):
            raise InputError(f"{path}: there is no picture to save")


def _png(widget: pg.PlotWidget, path: Path) -> None:
    size = widget.size() * PICTURE_SCALE
    image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(widget.backgroundBrush().color())
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    widget.render(painter, QRectF(image.rect()), widget.viewport().rect())
    painter.end()
    image.save(str(path), "PNG")


def _svg(widget: pg.PlotWidget, path: Path) -> None:
    from PyQt6.QtSvg import QSvgGenerator

    size: QSize = widget.size()
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(size)
    generator.setViewBox(QRectF(0, 0, size.width(), size.height()))
    generator.setTitle(widget.windowTitle() or "plot")
    painter = QPainter(generator)
    widget.render(painter, QRectF(0, 0, size.width(), size.height()), widget.viewport().rect())
    painter.end()


def _pdf(widget: pg.PlotWidget, path: Path) -> None:
    size = widget.size()
    points = QSizeF(size.width(), size.height()) * 72.0 / PIXELS_PER_INCH
    writer = QPdfWriter(str(path))
    writer.setPageSize(QPageSize(points, QPageSize.Unit.Point))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    writer.setResolution(PIXELS_PER_INCH * 6)
    painter = QPainter(writer)
    page = QRectF(0, 0, writer.width(), writer.height())
    widget.render(painter, page, widget.viewport().rect(), Qt.AspectRatioMode.KeepAspectRatio)
    painter.end()


PLOT_FORMATS: dict[str, Callable[[pg.PlotWidget, Path], None]] = {".png": _png, ".svg": _svg, ".pdf": _pdf}
