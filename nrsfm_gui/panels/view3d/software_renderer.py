"""The software renderer of the 3-D view: QPainter, for machines without OpenGL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
from PyQt6.QtCore import QLineF, QPoint, QPointF, QRect, Qt
from PyQt6.QtGui import QBrush, QColor, QImage, QPainter, QPen, QPixmap, QPolygonF, QTransform

from core.foundation import Bools, Floats, Ints
from core.io.writers import SHADING
from nrsfm_gui.panels.view3d.parts import (
    LEAST_RING,
    LEAST_WIDTH,
    RING_WIDTH,
    Drawn,
    LineSegments,
    Part,
    PointCloud,
    RenderRequest,
    Sheet,
    TriangleMesh,
)
from nrsfm_gui.scene.orbit_camera import Projection
from nrsfm_gui.widgets.colors import Rgba
from nrsfm_gui.widgets.labels import known
from nrsfm_gui.widgets.plots.primitive_arrays import Primitives

SMOOTH = 5000  # segments of a part up to which they are ever smoothed
PIECES = 40  # of a long segment, of which a surface may hide some,
LONG = 20.0  # pixels
OPAQUE = np.uint32(0xFF000000)  # of a color as a number, blue is its lowest byte
MOST_TRIANGLES = 6000  # of a surface that are painted: more would be too slow
DEPTHS = 20_000  # levels of depth from the farthest dot to the nearest, which 16 bits hold
SHAPES = ("sphere", "ring", "disk")
STEPS_PER_DOUBLING = 8  # sizes of pictures of points; there are fewer than STEPS
STEPS = 128
WIDEST = 2048  # pixels of a row of such pictures
LIMIT = 1e5  # pixels: QPainter cannot paint much farther out

# What is painted from, for all pictures: only the window's thread paints.
_lines = Primitives(QLineF, 4)
_corners = Primitives(QPointF, 2)
_fragments = Primitives(QPainter.PixmapFragment, 10)


class SoftwareRenderer:
    """Makes pictures of parts by QPainter: surfaces, then segments, then all dots from back to front."""

    def image(self, parts: dict[str, Drawn], request: RenderRequest) -> QImage:
        """Return a picture of parts."""
        image = QImage(*request.size, request.image_format)
        image.fill(request.background)
        painter = QPainter(image)
        for part in parts.values():
            if isinstance(part, Sheet):
                _paint_sheet(painter, part, request)
        meshes = [part for part in parts.values() if isinstance(part, TriangleMesh)]
        surfaces = [_Surface(part, request) for part in meshes if len(part.faces) <= MOST_TRIANGLES]
        for surface in surfaces:
            surface.paint(painter)
        solid = [surface for surface in surfaces if surface.part.solid]
        for part in parts.values():
            if isinstance(part, LineSegments):
                _paint_segments(painter, part, request, solid)
        points = [part for part in parts.values() if isinstance(part, PointCloud)]
        _paint_points(painter, points, request, solid)
        painter.end()
        image.setDevicePixelRatio(request.ratio)
        return image


def skips_surface(parts: Mapping[str, Part]) -> bool:
    """Return whether a surface has too many triangles to be painted."""
    return any(isinstance(part, TriangleMesh) and len(part.faces) > MOST_TRIANGLES for part in parts.values())


def _paint_sheet(painter: QPainter, part: Sheet, request: RenderRequest) -> None:
    """Paint a sheet as an image in perspective; not where a corner of it is behind the viewer."""
    side = part.side
    corners, _ = request.projection.pixels(part.corners)
    if not (np.isfinite(corners) & (np.abs(corners) < LIMIT)).all():
        return
    middles = [(0.5, 0.5), (side - 0.5, 0.5), (side - 0.5, side - 0.5), (0.5, side - 0.5)]
    source = QPolygonF([QPointF(*corner) for corner in middles])
    target = QPolygonF([QPointF(*corner) for corner in (request.ratio * corners).tolist()])
    transform = QTransform()
    if not QTransform.quadToQuad(source, target, transform):
        return  # it is seen edge-on
    opacity = part.colors[:, 3:] / 255.0
    pixels = np.rint(np.concatenate([part.colors[:, 2::-1] * opacity, part.colors[:, 3:]], axis=1))
    image = QImage(
        pixels.astype(np.uint8).tobytes(), side, side, 4 * side, QImage.Format.Format_ARGB32_Premultiplied
    )
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.setTransform(transform, combine=True)
    painter.drawImage(0, 0, image)
    painter.restore()


def _paint_segments(
    painter: QPainter, part: LineSegments, request: RenderRequest, solid: list[_Surface]
) -> None:
    ratio, colors = request.ratio, part.colors[part.ends[:, 1]]
    lines, depths = _in_front(part, request.projection)
    lines *= ratio
    usable = _paintable(lines)
    if not usable.all():
        lines, depths, colors = lines[usable], depths[usable], colors[usable]
    if solid:
        lines, depths, colors = _in_pieces(lines, depths, colors)
        middles = (lines[:, 0] + lines[:, 1]) / 2, (depths[:, 0] + depths[:, 1]) / 2
        seen = ~np.logical_or.reduce([surface.hides(*middles) for surface in solid])
        lines, colors = lines[seen], colors[seen]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, request.smooth and len(lines) <= SMOOTH)
    for color, same in _by_color(lines, colors):
        painter.setPen(QPen(color, ratio if ratio > 1.0 else 0.0))
        _lines.resize(len(same))
        _lines.ndarray()[:] = same.reshape(-1, 4)
        painter.drawLines(*_lines.drawargs())


def _paintable(pixels: Floats) -> Bools:
    """Return which of N lines or triangles (N, corners, 2) lie where QPainter can paint."""
    inside: Bools = np.abs(pixels.reshape(-1, 2 * pixels.shape[1]).T) < LIMIT
    whole: Bools = np.logical_and.reduce(np.ascontiguousarray(inside))  # numpy is slow for short rows
    return whole


def _in_pieces(lines: Floats, depths: Floats, colors: Rgba) -> tuple[Floats, Floats, Rgba]:
    """Cut long segments (M, 2, 2), of which a surface may hide a part, into PIECES of known depths (M, 2)."""
    across, down = np.abs(lines[:, 1] - lines[:, 0]).T
    long = np.maximum(across, down) > LONG
    if not long.any():
        return lines, depths, colors
    shares = np.linspace(0.0, 1.0, PIECES + 1)

    def cut(ends: Floats) -> Floats:
        along = ends[long, :1] + shares.reshape(1, -1, *(1,) * (ends.ndim - 2)) * np.diff(ends[long], axis=1)
        pieces = np.stack([along[:, :-1], along[:, 1:]], axis=2).reshape(-1, *ends.shape[1:])
        return np.concatenate([ends[~long], pieces])

    return cut(lines), cut(depths), np.concatenate([colors[~long], np.repeat(colors[long], PIECES, axis=0)])


def _by_color(lines: Floats, colors: Rgba) -> Iterator[tuple[QColor, Floats]]:
    """Yield every color of lines (M, 2, 2), and the lines that have it."""
    words = np.ascontiguousarray(colors).view(np.uint32).ravel()
    order = np.argsort(words, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(words[order])) + 1):
        if len(rows):
            yield QColor(*colors[rows[0]].tolist()), lines[rows]


def _in_front(part: LineSegments, projection: Projection) -> tuple[Floats, Floats]:
    """Return pixels (M, 2, 2), NaN behind the near plane, and depths (M, 2) of segments cut there."""
    pixels, depth = (of[part.ends] for of in projection.pixels(part.positions))
    near = max(projection.near, 1e-9)
    if projection.parallel or not (depth < near).any():
        return pixels, depth
    pairs = part.pairs
    for end in (0, 1):
        behind = (depth[:, end] < near) & (depth[:, 1 - end] > near)
        share = (near - depth[behind, end]) / (depth[behind, 1 - end] - depth[behind, end])
        pairs[behind, end] += share[:, None] * (pairs[behind, 1 - end] - pairs[behind, end])
    return projection.pixels(pairs)


class _Surface:
    """The triangles of a mesh in a picture, from back to front, and what they hide."""

    def __init__(self, part: TriangleMesh, request: RenderRequest) -> None:
        self.part, self._request = part, request
        places, depths = request.projection.pixels(part.positions)
        pixels, depth = request.ratio * places[part.faces], depths[part.faces]
        usable = _paintable(pixels)
        order = np.argsort(-depth.mean(axis=1))
        self._order = order[usable[order]]
        self._farthest = np.append(np.inf, depth[self._order].max(axis=1))
        self._corners = pixels[self._order].reshape(-1, 2)  # three for each triangle
        size = np.array(request.size)
        low, high = np.floor(self._corners.min(axis=0, initial=LIMIT)), self._corners.max(axis=0, initial=0.0)
        first = np.clip(low, 0, size - 1).astype(int)
        last = np.clip(np.ceil(high), first, size - 1).astype(int)
        self._covered = QRect(QPoint(*first.tolist()), QPoint(*last.tolist()))  # of the picture

    def paint(self, painter: QPainter) -> None:
        """Paint the triangles in their colors."""
        colors = self.part.seen_colors(self._request.projection)[self._order]
        shades = np.ascontiguousarray(colors[:, [2, 1, 0, 3]]).view(np.uint32).ravel()
        if not self.part.solid:
            self._paint(painter, shades)
            return
        pixels = np.append(np.uint32(0), shades)[self._numbers]
        height, width = pixels.shape
        image = QImage(pixels.tobytes(), width, height, QImage.Format.Format_ARGB32_Premultiplied)
        painter.drawImage(self._covered.topLeft(), image)

    def hides(self, pixels: Floats, depth: Floats) -> Bools:
        """Return which places (N, 2) of the picture, at some depths (N,), are hidden by the surface.

        What is no farther than the farthest corner of the triangle that is seen there may lie on it.
        """
        height, width = self._numbers.shape
        x, y = pixels[:, 0] - self._covered.left(), pixels[:, 1] - self._covered.top()
        there = np.flatnonzero((x >= 0) & (x < width) & (y >= 0) & (y < height))  # not where it is NaN
        hidden = np.zeros(len(pixels), dtype=bool)
        seen = self._numbers[y[there].astype(int), x[there].astype(int)]
        hidden[there] = depth[there] > self._farthest[seen]
        return hidden

    @cached_property
    def _numbers(self) -> npt.NDArray[np.uint32]:
        """The number (H, W) of the triangle that is seen, from 1 in the order of painting, 0 for none."""
        image = QImage(self._covered.size(), QImage.Format.Format_RGB32)
        image.fill(0)
        painter = QPainter(image)
        painter.translate(-self._covered.topLeft())
        self._paint(painter, np.arange(1, len(self._order) + 1, dtype=np.uint32) | OPAQUE)
        painter.end()
        drawn = np.frombuffer(known(image.constBits()).asstring(image.sizeInBytes()), dtype=np.uint32)
        return (drawn & ~OPAQUE).reshape(image.height(), image.width())

    def _paint(self, painter: QPainter, shades: npt.NDArray[np.uint32]) -> None:
        # Nothing is made for each triangle: a mesh of thousands is repainted many times a second.
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        _corners.resize(len(self._corners))
        _corners.ndarray()[:] = self._corners
        for shade, triangle in zip(shades.tolist(), _corners.triples(), strict=True):
            painter.setBrush(_brush(shade))
            painter.drawConvexPolygon(triangle)


@lru_cache(maxsize=1 << 14)
def _brush(shade: int) -> QBrush:
    return QBrush(QColor.fromRgba(shade))


def _paint_points(
    painter: QPainter, parts: list[PointCloud], request: RenderRequest, solid: list[_Surface]
) -> None:
    """Paint all points from back to front, whichever part they belong to, as copies of small pictures."""
    if not sum(len(part.positions) for part in parts):
        return
    projection, ratio = request.projection, request.ratio
    positions = np.concatenate([part.positions for part in parts])
    pixels, depth = projection.pixels(positions)
    pixels *= ratio
    x, y = pixels.T  # numpy is slow for short rows
    seen = (np.abs(x) < LIMIT) & (np.abs(y) < LIMIT) & np.isfinite(depth)
    counts = [len(part.positions) for part in parts]
    owner = np.repeat(np.arange(len(parts)), counts)
    radii = np.array([part.diameter / 2 for part in parts])[owner]
    for surface in solid:
        seen &= ~surface.hides(pixels, depth - radii)
    there = np.flatnonzero(seen)
    if not len(there):
        return
    # Points in one place are painted in the order of the parts, whatever the rounding of their depths.
    nearest, farthest = depth[there].min(), depth[there].max()
    span = max(farthest - nearest, 1e-9 * abs(farthest), 1e-300)  # all may lie at one depth
    layers = np.round((depth[there] - nearest) * (DEPTHS / span)).astype(np.uint16)  # sorted by radix
    order = there[np.argsort(DEPTHS - layers, kind="stable")]
    depths = np.split(depth, np.cumsum(counts)[:-1])
    sizes = np.concatenate([part.diameters(own, projection) for part, own in zip(parts, depths, strict=True)])
    # Diameters are rounded to the steps of a scale, so that few pictures serve all.
    steps = np.rint(STEPS_PER_DOUBLING * np.log2(np.maximum(ratio * sizes[order], 1.0))).astype(np.int64)
    colors = np.concatenate([part.colors for part in parts]).view(np.uint32).ravel()[order].astype(np.int64)
    shapes = np.array([SHAPES.index(part.shape) for part in parts])[owner[order]]
    kinds, which = np.unique((colors * len(SHAPES) + shapes) * STEPS + steps, return_inverse=True)
    rest, kind_steps = np.divmod(kinds, STEPS)
    words, shapes = np.divmod(rest, len(SHAPES))
    diameters = _diameter_of(kind_steps)
    side = int(np.ceil(diameters.max())) + 3
    columns = max(WIDEST // side, 1)
    atlas = _atlas(
        words.astype(np.uint32).tobytes(), shapes.tobytes(), kind_steps.tobytes(), side, columns, ratio
    )
    row, column = np.divmod(which, columns)
    _fragments.resize(len(order))
    table = _fragments.ndarray()
    table[:, 0], table[:, 1] = x[order], y[order]
    table[:, 2], table[:, 3] = column * side, row * side
    table[:, 4:] = (side, side, 1.0, 1.0, 0.0, 1.0)
    painter.drawPixmapFragments(*_fragments.drawargs(), atlas)  # type: ignore[call-arg]  # not in the stub


def _diameter_of(steps: Ints) -> Floats:
    return np.exp2(steps / STEPS_PER_DOUBLING)


@lru_cache(maxsize=32)
def _atlas(colors: bytes, shapes: bytes, steps: bytes, side: int, columns: int, ratio: float) -> QPixmap:
    """Return pictures of points in rows, as the shader of OpenGL draws them."""
    rgba = np.frombuffer(colors, dtype=np.uint8).reshape(-1, 1, 1, 4) / 255.0
    shape = np.frombuffer(shapes, dtype=np.int64)[:, None, None]
    radius = _diameter_of(np.frombuffer(steps, dtype=np.int64))[:, None, None] / 2
    offset = np.arange(side) + 0.5 - side / 2
    away = np.hypot(offset[:, None], offset)  # (side, side)
    cover = np.clip(radius + 0.5 - away, 0.0, 1.0)
    width = np.maximum(LEAST_WIDTH * ratio, 2.0 * RING_WIDTH * radius)
    hollow = (shape == SHAPES.index("ring")) & (2.0 * radius >= LEAST_RING * ratio)
    cover = np.where(hollow, cover * np.clip(away - radius + width + 0.5, 0.0, 1.0), cover) * rgba[..., 3]
    factor, added = SHADING.on_sphere(offset / radius, (offset[:, None] / radius))
    flat = shape != SHAPES.index("sphere")
    factor, added = np.where(flat, 1.0, factor)[..., None], np.where(flat, 0.0, added)[..., None]
    pixels = np.empty((*cover.shape, 4), dtype=np.uint8)
    pixels[..., :3] = np.rint(255 * np.minimum(rgba[..., 2::-1] * factor + added, 1.0) * cover[..., None])
    pixels[..., 3] = np.rint(255 * cover)
    rows = -(-len(pixels) // columns)
    sheet = np.zeros((rows * columns, side, side, 4), dtype=np.uint8)
    sheet[: len(pixels)] = pixels
    content = sheet.reshape(rows, columns, side, side, 4).swapaxes(1, 2).tobytes()
    across, form = columns * side, QImage.Format.Format_ARGB32_Premultiplied
    return QPixmap.fromImage(QImage(content, across, rows * side, 4 * across, form).copy())
