"""The 3-D picture painted by QPainter, for machines without OpenGL: the same parts, the same projection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QLineF, QPointF, QSize, Qt
from PyQt6.QtGui import QBrush, QColor, QImage, QPainter, QPen, QPolygonF
from PyQt6.QtWidgets import QWidget

from .scene3d_parts import Part, Points, Segments, Triangles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PyQt6.QtGui import QPaintEvent

    from core.arrays import Bools, Floats

    from .orbit import Projection

RIM = 165  # percent by which the rim of a dot is darker, so that neighbors stay apart
MANY = 4000  # dots above which they are painted color by color instead of by depth
SMOOTH = 300  # segments of a part up to which they are antialiased, which costs several times as much
LIMIT = 1e5  # pixels: what lies farther out is not painted, QPainter would choke on it


class SoftwareCanvas(QWidget):
    """Paints parts through a projection. Mouse events pass through to the view behind it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._parts: dict[str, Part] = {}
        self._projection: Projection | None = None
        self._background = QColor("black")

    def set_parts(self, parts: dict[str, Part]) -> None:
        """Show these instead."""
        self._parts = parts
        self.update()

    def set_projection(self, projection: Projection) -> None:
        """Look from there."""
        self._projection = projection
        self.update()

    def set_background(self, color: QColor) -> None:
        """Fill with this color before painting."""
        self._background = color
        self.update()

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint everything."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._background)
        if self._projection is not None:
            paint_parts(painter, self._parts, self._projection)
        painter.end()


def software_picture(
    parts: dict[str, Part], projection: Projection, background: QColor, *, ratio: float
) -> QImage:
    """Return a picture of parts, with `ratio` pixels of the image to one of the projection."""
    size = QSize(projection.width, projection.height) * ratio
    image = QImage(size, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(background)
    painter = QPainter(image)
    paint_parts(painter, parts, projection)
    painter.end()
    return image


def paint_parts(painter: QPainter, parts: dict[str, Part], projection: Projection) -> None:
    """Paint triangles, then segments, then all dots from back to front."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for part in parts.values():
        if isinstance(part, Triangles):
            _paint_triangles(painter, part, projection)
    for part in parts.values():
        if isinstance(part, Segments):
            _paint_segments(painter, part, projection)
    _paint_points(painter, [part for part in parts.values() if isinstance(part, Points)], projection)


def _paint_segments(painter: QPainter, part: Segments, projection: Projection) -> None:
    pixels = _in_front(part.positions.reshape(-1, 2, 3), projection)
    lines = pixels.reshape(-1, 4)
    usable = np.isfinite(lines).all(axis=1) & (np.abs(lines) < LIMIT).all(axis=1)
    lines, colors = lines[usable], part.colors[1::2][usable]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, len(lines) <= SMOOTH)
    for color, same in _by_color(colors):
        painter.setPen(QPen(color, 1.0))
        painter.drawLines([QLineF(*line) for line in lines[same].tolist()])


def _by_color(colors: Floats) -> Iterator[tuple[QColor, Bools]]:
    """Yield every color of (N, 4), and which of the N have it."""
    if not len(colors):
        return
    every = (colors == colors[0]).all(axis=1)
    if every.all():  # by far the most common, and sorting is not free
        yield QColor.fromRgbF(*colors[0]), every
        return
    for color in np.unique(colors, axis=0):
        yield QColor.fromRgbF(*color), (colors == color).all(axis=1)


def _in_front(pairs: Floats, projection: Projection) -> Floats:
    """Return the pixels (M, 2, 2) of segments (M, 2, 3), cut at the near plane; NaN where wholly behind."""
    if not projection.parallel:
        near = max(projection.near, 1e-9)
        depth = projection.view(pairs)[..., 2]
        for end in (0, 1):
            behind = (depth[:, end] < near) & (depth[:, 1 - end] > near)
            share = (near - depth[behind, end]) / (depth[behind, 1 - end] - depth[behind, end])
            pairs = pairs.copy()
            pairs[behind, end] += share[:, None] * (pairs[behind, 1 - end] - pairs[behind, end])
    pixels, _ = projection.pixels(pairs)
    return pixels


def _paint_triangles(painter: QPainter, part: Triangles, projection: Projection) -> None:
    pixels, depth = projection.pixels(part.corners)
    usable = np.isfinite(pixels).all(axis=(1, 2)) & (np.abs(pixels) < LIMIT).all(axis=(1, 2))
    order = np.argsort(-depth.mean(axis=1))
    order = order[usable[order]]
    # Plain numbers and one brush per shade: a mesh of thousands is repainted many times a second.
    shades = np.rint(255 * part.colors[order]).astype(int).tolist()
    brushes: dict[tuple[int, ...], QBrush] = {}
    painter.setPen(Qt.PenStyle.NoPen)
    for shade, (ax, ay, bx, by, cx, cy) in zip(shades, pixels[order].reshape(-1, 6).tolist(), strict=True):
        key = tuple(shade)
        if key not in brushes:
            brushes[key] = QBrush(QColor(*shade))
        painter.setBrush(brushes[key])
        painter.drawConvexPolygon(QPointF(ax, ay), QPointF(bx, by), QPointF(cx, cy))


def _paint_points(painter: QPainter, parts: list[Points], projection: Projection) -> None:
    """Paint all dots from back to front, whichever part they belong to."""
    if sum(len(part.positions) for part in parts) > MANY:
        for part in parts:
            _paint_many_points(painter, part, projection)
        return
    if not parts:
        return
    pixels, depth = projection.pixels(np.concatenate([part.positions for part in parts]))
    colors = np.concatenate([part.colors for part in parts])
    radius = np.concatenate([np.full(len(part.positions), part.size / 2) for part in parts])
    usable = np.isfinite(pixels).all(axis=1) & (np.abs(pixels) < LIMIT).all(axis=1)
    order = np.argsort(-depth)
    order = order[usable[order]]
    device = painter.device()
    ratio = 1.0 if device is None else device.devicePixelRatioF()
    # Every dot of one color is the same small picture: copying it is much cheaper than painting a circle.
    dots: dict[tuple[bytes, float], QImage] = {}
    for index, (x, y), r in zip(order, pixels[order].tolist(), radius[order].tolist(), strict=True):
        key = colors[index].tobytes(), r
        if key not in dots:
            dots[key] = _dot(QColor.fromRgbF(*colors[index]), r, ratio)
        painter.drawImage(QPointF(x - r - 1, y - r - 1), dots[key])


def _dot(color: QColor, radius: float, ratio: float) -> QImage:
    """Return a picture of a dot with a darker rim, and one pixel of room around it."""
    side = 2 * (radius + 1)
    image = QImage(QSize(round(side * ratio), round(side * ratio)), QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color.darker(RIM), 1.0))
    painter.setBrush(color)
    painter.drawEllipse(QPointF(side / 2, side / 2), radius, radius)
    painter.end()
    return image


def _paint_many_points(painter: QPainter, part: Points, projection: Projection) -> None:
    """Paint dots color by color, without rims: one call for thousands."""
    pixels, _ = projection.pixels(part.positions)
    usable = np.isfinite(pixels).all(axis=1) & (np.abs(pixels) < LIMIT).all(axis=1)
    pixels, colors = pixels[usable], part.colors[usable]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for color, same in _by_color(colors):
        pen = QPen(color, part.size)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawPoints(QPolygonF([QPointF(x, y) for x, y in pixels[same].tolist()]))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
