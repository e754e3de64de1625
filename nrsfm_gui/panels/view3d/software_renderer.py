"""The software renderer of the 3-D view: QPainter, for machines without OpenGL."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QLineF, QPointF, Qt
from PyQt6.QtGui import QBrush, QColor, QImage, QPainter, QPen, QPixmap

from nrsfm_gui.panels.view3d.parts import (
    RIM,
    Drawn,
    LineSegments,
    PointCloud,
    RenderRequest,
    TriangleMesh,
)
from nrsfm_gui.widgets.plots.primitive_arrays import Primitives

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    from core.foundation import Bools, Floats
    from nrsfm_gui.panels.view3d.parts import Part
    from nrsfm_gui.scene.orbit_camera import Projection
    from nrsfm_gui.widgets.colors import Rgba

SMOOTH = 5000  # segments of a part up to which they are ever smoothed
MOST_TRIANGLES = 6000  # of a surface that are painted: more would be too slow
DEPTHS = 20_000  # levels of depth from the farthest dot to the nearest
LIMIT = 1e5  # pixels: QPainter cannot paint much farther out


# What is painted from, for all pictures: only the window's thread paints.
_lines = Primitives(QLineF, 4)
_fragments = Primitives(QPainter.PixmapFragment, 10)


class SoftwareRenderer:
    """Makes pictures of parts by QPainter: surfaces, then segments, then all dots from back to front."""

    def image(self, parts: dict[str, Drawn], request: RenderRequest) -> QImage:
        """Return a picture of parts."""
        image = QImage(*request.size, QImage.Format.Format_RGB32)
        image.fill(request.background)
        painter = QPainter(image)
        paint_parts(painter, parts, request)
        painter.end()
        image.setDevicePixelRatio(request.ratio)
        return image


def skips_surface(parts: Mapping[str, Part]) -> bool:
    """Return whether a surface has too many triangles to be painted."""
    return any(isinstance(part, TriangleMesh) and len(part.faces) > MOST_TRIANGLES for part in parts.values())


def paint_parts(painter: QPainter, parts: dict[str, Drawn], request: RenderRequest) -> None:
    """Paint parts on something of the size of the request."""
    for part in parts.values():
        if isinstance(part, TriangleMesh) and len(part.faces) <= MOST_TRIANGLES:
            _paint_triangles(painter, part, request.projection, request.ratio)
    for part in parts.values():
        if isinstance(part, LineSegments):
            _paint_segments(painter, part, request)
    points = [part for part in parts.values() if isinstance(part, PointCloud)]
    _paint_points(painter, points, request.projection, request.ratio)


def _paint_segments(painter: QPainter, part: LineSegments, request: RenderRequest) -> None:
    projection, ratio = request.projection, request.ratio
    lines = ratio * _in_front(part.pairs, projection).reshape(-1, 4)
    usable = np.isfinite(lines).all(axis=1) & (np.abs(lines) < LIMIT).all(axis=1)
    colors = part.colors[part.ends[:, 1]]
    if not usable.all():
        lines, colors = lines[usable], colors[usable]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, request.smooth and len(lines) <= SMOOTH)
    for color, same in _by_color(colors):
        painter.setPen(QPen(color, ratio if ratio > 1.0 else 0.0))
        chosen = _lines
        chosen.resize(int(same.sum()))
        chosen.ndarray()[:] = lines[same]
        painter.drawLines(*chosen.drawargs())


def _by_color(colors: Rgba) -> Iterator[tuple[QColor, Bools]]:
    """Yield every color of (N, 4), and which of the N have it."""
    words = np.ascontiguousarray(colors).view(np.uint32).ravel()
    for word in np.unique(words):
        yield QColor(*np.array([word]).view(np.uint8).tolist()), words == word


def _in_front(pairs: Floats, projection: Projection) -> Floats:
    """Return the pixels (M, 2, 2) of segments (M, 2, 3), cut at the near plane; NaN where wholly behind."""
    if not projection.parallel:
        near = max(projection.near, 1e-9)
        depth = projection.view(pairs)[..., 2]
        if (depth < near).any():
            pairs = pairs.copy()
            for end in (0, 1):
                behind = (depth[:, end] < near) & (depth[:, 1 - end] > near)
                share = (near - depth[behind, end]) / (depth[behind, 1 - end] - depth[behind, end])
                pairs[behind, end] += share[:, None] * (pairs[behind, 1 - end] - pairs[behind, end])
    pixels, _ = projection.pixels(pairs)
    return pixels


def _paint_triangles(painter: QPainter, part: TriangleMesh, projection: Projection, ratio: float) -> None:
    places, depths = projection.pixels(part.positions)
    pixels, depth = ratio * places[part.faces], depths[part.faces]
    inside: Bools = np.isfinite(pixels) & (np.abs(pixels) < LIMIT)
    usable: Bools = np.logical_and.reduce(inside, axis=(1, 2))
    order = np.argsort(-depth.mean(axis=1))
    order = order[usable[order]]
    # Plain numbers and one brush per shade: a mesh of thousands is repainted many times a second.
    shades = part.colors[part.faces[order]].astype(np.uint16).sum(axis=1) // 3
    brushes: dict[tuple[int, ...], QBrush] = {}
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(Qt.PenStyle.NoPen)
    corners = pixels[order].reshape(-1, 6).tolist()
    for shade, (ax, ay, bx, by, cx, cy) in zip(shades.tolist(), corners, strict=True):
        key = tuple(shade)
        if key not in brushes:
            brushes[key] = QBrush(QColor(*shade))
        painter.setBrush(brushes[key])
        painter.drawConvexPolygon(QPointF(ax, ay), QPointF(bx, by), QPointF(cx, cy))


def _paint_points(painter: QPainter, parts: list[PointCloud], projection: Projection, ratio: float) -> None:
    """Paint all dots from back to front, whichever part they belong to, as copies of small pictures."""
    if not sum(len(part.positions) for part in parts):
        return
    pixels, depth = projection.pixels(np.concatenate([part.positions for part in parts]))
    pixels = ratio * pixels
    seen = np.isfinite(pixels).all(axis=1) & (np.abs(pixels) < LIMIT).all(axis=1) & np.isfinite(depth)
    depth[~seen] = np.nan
    there = int(seen.sum())
    if not there:
        return
    # Dots in one place are painted in the order of the parts, whatever the rounding of their depths.
    nearest, farthest = np.nanmin(depth), np.nanmax(depth)
    span = max(farthest - nearest, 1e-9 * abs(farthest), 1e-300)  # all may lie at one depth
    layers = np.round((depth - nearest) * (DEPTHS / span))
    order = np.argsort(-layers, kind="stable")[:there]  # NaN is sorted to the end
    sizes = np.array([ratio * part.size for part in parts])
    colors = np.concatenate([part.colors for part in parts]).view(np.uint32).ravel().astype(np.int64)
    owner = np.repeat(np.arange(len(parts)), [len(part.positions) for part in parts])
    kinds, which = np.unique((colors * len(parts) + owner)[order], return_inverse=True)
    words, owners = np.divmod(kinds, len(parts))
    side = int(np.ceil(sizes[owners].max())) + 3
    atlas = _atlas(words.astype(np.uint32).tobytes(), tuple(sizes[owners].tolist()), side)
    fragments = _fragments
    fragments.resize(len(order))
    table = fragments.ndarray()
    table[:, 0:2] = pixels[order]
    table[:, 2], table[:, 3] = which * side, 0.0
    table[:, 4:6], table[:, 6:8] = side, 1.0
    table[:, 8], table[:, 9] = 0.0, 1.0
    painter.drawPixmapFragments(*fragments.drawargs(), atlas)  # type: ignore[call-arg]  # not in the stub


@lru_cache(maxsize=32)
def _atlas(colors: bytes, sizes: tuple[float, ...], side: int) -> QPixmap:
    """Return pictures of dots side by side, with the soft edge and the darker rim of the shader."""
    rgba = np.frombuffer(colors, dtype=np.uint8).reshape(-1, 1, 1, 4).astype(float)
    offset = np.arange(side) + 0.5 - side / 2
    inward = (np.array(sizes)[:, None, None] + 1.0) / 2 - np.hypot(offset[:, None], offset)  # (N, side, side)
    cover = np.clip(inward, 0.0, 1.0) * rgba[..., 3] / 255.0
    wide = np.array(sizes)[:, None, None] > 4.0
    fill = np.where(wide, np.clip(inward - 1.0, 0.0, 1.0), 1.0)
    bright = RIM + (1.0 - RIM) * fill
    pixels = np.empty((*cover.shape, 4), dtype=np.uint8)
    pixels[..., :3] = np.rint(rgba[..., 2::-1] * (bright * cover)[..., None])
    pixels[..., 3] = np.rint(255 * cover)
    strip: npt.NDArray[np.uint8] = np.ascontiguousarray(pixels.transpose(1, 0, 2, 3)).reshape(side, -1, 4)
    image = QImage(
        strip.tobytes(), strip.shape[1], side, 4 * strip.shape[1], QImage.Format.Format_ARGB32_Premultiplied
    )
    return QPixmap.fromImage(image.copy())  # the bytes are gone soon
