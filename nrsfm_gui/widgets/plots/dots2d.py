"""Plot items for many dots and segments, drawn by one call each.

The scatter plot of pyqtgraph builds a record for every dot whenever the data change, 47 ms for 28 880 dots.
Here the positions are passed to Qt in one array, and every style of a dot is a sprite of one pixmap.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PyQt6.QtCore import QLineF, QPointF, QRectF
from PyQt6.QtGui import QColor, QPaintDevice, QPainter, QPen, QPixmap
from PyQt6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from core.foundation import Floats
from nrsfm_gui.widgets.plots.primitive_arrays import Primitives
from nrsfm_gui.widgets.point_view import AbstractQt

FRAGMENT_FIELDS = 10  # of QPainter.PixmapFragment: x, y, source rectangle, scales, rotation, opacity
LINE_FIELDS = 4
FAR = 1e6  # pixels; Qt's rasterizer works with 32 bits
MOST_SEGMENTS, FEWEST_SEGMENTS = 1500, 20
INK = 0.2  # of the picture that more than the fewest segments may cover, or they would hide it
SHORTEST = 1.0  # pixels; a shorter segment is covered by its dots


class _PixelItem(pg.GraphicsObject, metaclass=AbstractQt):
    """A plot item that does not affect the range and is painted in pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.positions: Floats = np.zeros((0, 2))  # (N, 2) what is shown, in the coordinates of the plot

    def boundingRect(self) -> QRectF:
        """Return the visible rectangle: computing the extent of the dots would cost more than it saves."""
        return QRectF(self.viewRect())

    def viewTransformChanged(self) -> None:
        """Draw again where another part of the plot is visible."""
        super().viewTransformChanged()
        self.prepareGeometryChange()

    def paint(
        self, painter: QPainter | None, option: QStyleOptionGraphicsItem | None, widget: QWidget | None = None
    ) -> None:
        assert painter is not None
        device = painter.device()
        assert device is not None
        if len(self.positions):
            self._draw(painter, device)

    @abstractmethod
    def _draw(self, painter: QPainter, device: QPaintDevice) -> None:
        """Paint what is shown, of which there is some."""

    def _pixels(self, painter: QPainter) -> tuple[Floats, Floats]:
        """Return x and y in pixels of the painted device, which is painted in from now on."""
        transform = painter.worldTransform()  # a plot neither turns nor shears
        x = self.positions[..., 0] * transform.m11() + transform.dx()
        y = self.positions[..., 1] * transform.m22() + transform.dy()
        painter.resetTransform()
        return x, y


class DotsItem(_PixelItem):
    """Dots of one size, each of one of several colors."""

    def __init__(self) -> None:
        super().__init__()
        self._levels: npt.NDArray[np.uint8] | None = None
        self.colors: tuple[QColor, ...] = ()  # that dots can have
        self.diameter, self._pen_width = 1.0, 0.0  # pixels
        self.hollow = self.crossed = False  # rings or crosses instead of disks; crosses instead of rings
        self._sprites: tuple[float, QPixmap] | None = None  # for a device pixel ratio
        self._fragments = Primitives(QPainter.PixmapFragment, FRAGMENT_FIELDS)

    def set_style(
        self, colors: Collection[QColor], diameter: float, *, pen_width: float = 0.0, crossed: bool = False
    ) -> None:
        """Choose the colors that dots can have, and the diameter and width of rings or crosses in pixels."""
        style = tuple(colors), diameter, pen_width, crossed
        if style != (self.colors, self.diameter, self._pen_width, self.crossed):
            self.colors, self.diameter, self._pen_width, self.crossed = style
            self.hollow = pen_width > 0
            self._sprites = None
            self.update()

    def set_dots(self, xy: Floats, levels: npt.NDArray[np.uint8] | None = None) -> None:
        """Show dots at (N, 2) positions, no NaN among them, with the (N,) indices of their colors."""
        self.positions, self._levels = xy, levels
        self.update()

    def _draw(self, painter: QPainter, device: QPaintDevice) -> None:
        ratio = device.devicePixelRatioF()
        side, sprites = self._sprite_row(ratio)
        x, y = self._pixels(painter)
        # Column by column: numpy is ten times as slow for short rows.
        seen = (x > -side) & (x < device.width() + side) & (y > -side) & (y < device.height() + side)
        self._fragments.resize(int(np.count_nonzero(seen)))
        fragments = self._fragments.ndarray()
        fragments[:, 0], fragments[:, 1] = x[seen], y[seen]
        fragments[:, 2] = 0.0 if self._levels is None else self._levels[seen] * float(side)
        fragments[:, 3:] = (0.0, side, side, 1.0 / ratio, 1.0 / ratio, 0.0, 1.0)
        painter.drawPixmapFragments(*self._fragments.drawargs(), sprites)  # type: ignore[call-arg]  # not in the stub

    def _sprite_row(self, ratio: float) -> tuple[int, QPixmap]:
        """Return the side of a sprite in pixels of the device, and a row of sprites."""
        colors, diameter, width = self.colors, self.diameter, self._pen_width
        side = int(np.ceil((diameter + width + 2.0) * ratio))
        if self._sprites is None or self._sprites[0] != ratio:
            row = QPixmap(side * max(len(colors), 1), side)
            row.fill(pg.mkColor((0, 0, 0, 0)))
            painter = QPainter(row)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            radius = diameter * ratio / 2
            for place, color in enumerate(colors):
                painter.setPen(QPen(color, width * ratio) if width else pg.mkPen(None))
                painter.setBrush(pg.mkBrush(None) if width else pg.mkBrush(color))
                center = QPointF((place + 0.5) * side, 0.5 * side)
                if self.crossed:
                    across, along = QPointF(radius, radius), QPointF(radius, -radius)
                    painter.drawLine(center - across, center + across)
                    painter.drawLine(center - along, center + along)
                else:
                    painter.drawEllipse(center, radius, radius)
            painter.end()
            self._sprites = ratio, row
        return side, self._sprites[1]


class SegmentsItem(_PixelItem):
    """Straight segments, one pixel wide; where there are very many, the longest of those that are seen."""

    def __init__(self) -> None:
        super().__init__()
        self._pen = QPen()
        self.reduced = False  # whether the shorter ones of those that are seen were left out the last time
        self._lines = Primitives(QLineF, LINE_FIELDS)

    def set_pen(self, color: QColor) -> None:
        """Choose the color."""
        self._pen = QPen(color, 0)
        self.update()

    def set_segments(self, ends: Floats) -> None:
        """Show segments (N, 2, 2), from and to, no NaN among them."""
        self.positions = ends
        self.update()

    def _draw(self, painter: QPainter, device: QPaintDevice) -> None:
        chosen, self.reduced = _longest_seen(*self._pixels(painter), device.width(), device.height())
        self._lines.resize(len(chosen))
        self._lines.ndarray()[:] = chosen
        painter.setPen(self._pen)
        painter.drawLines(*self._lines.drawargs())


def _longest_seen(x: Floats, y: Floats, width: float, height: float) -> tuple[Floats, bool]:
    """Return the longest segments that touch a picture, no more than flood it, and whether there are more.

    `x` and `y` are (N, 2), from and to, in pixels; (M, 4) x, y, x, y are returned.
    """
    x0, x1, y0, y1 = x[:, 0], x[:, 1], y[:, 0], y[:, 1]
    seen = (np.maximum(x0, x1) > 0) & (np.minimum(x0, x1) < width)
    seen &= (np.maximum(y0, y1) > 0) & (np.minimum(y0, y1) < height)
    for values in (x0, x1, y0, y1):
        seen &= np.abs(values) < FAR
    length = np.minimum(np.hypot(x1 - x0, y1 - y0), np.hypot(width, height))
    found = np.flatnonzero(seen & (length >= SHORTEST))
    chosen = found
    if len(found) > MOST_SEGMENTS:
        chosen = found[np.argpartition(length[found], -MOST_SEGMENTS)[-MOST_SEGMENTS:]]
    chosen = chosen[np.argsort(-length[chosen])]
    affordable = int(np.searchsorted(np.cumsum(length[chosen]), INK * width * height))
    chosen = chosen[: max(affordable, FEWEST_SEGMENTS)]
    return np.stack([x0[chosen], y0[chosen], x1[chosen], y1[chosen]], axis=1), len(chosen) < len(found)
