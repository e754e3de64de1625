"""A scene as points, segments and triangles: pure, drawn alike by the OpenGL and the software picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .axes3d import floor_segments
from .colors import error_colors, rgba

if TYPE_CHECKING:
    from core.arrays import Floats, Ints
    from nrsfm_gui.scene import Camera, Scene
    from nrsfm_gui.theme import Theme

LIGHT = np.array([-0.35, -0.8, -0.5])  # towards the light: from above, in front
FRUSTUM_DEPTH = 0.14  # of the extent's diagonal
OTHER_DEPTH = 0.09


@dataclass(frozen=True, eq=False)
class Points:
    """Round dots of a size in pixels."""

    positions: Floats  # (N, 3)
    colors: Floats  # (N, 4)
    size: float

    def same(self, other: object) -> bool:
        """Whether drawing the other would give the same picture."""
        return (
            isinstance(other, Points)
            and self.size == other.size
            and np.array_equal(self.positions, other.positions)
            and np.array_equal(self.colors, other.colors)
        )


@dataclass(frozen=True, eq=False)
class Segments:
    """Thin lines between consecutive pairs of points."""

    positions: Floats  # (2M, 3)
    colors: Floats  # (2M, 4)

    def same(self, other: object) -> bool:
        """Whether drawing the other would give the same picture."""
        return (
            isinstance(other, Segments)
            and np.array_equal(self.positions, other.positions)
            and np.array_equal(self.colors, other.colors)
        )


@dataclass(frozen=True, eq=False)
class Triangles:
    """Flat translucent triangles, shaded."""

    corners: Floats  # (T, 3, 3) triangle, corner, coordinate
    colors: Floats  # (T, 4)

    def same(self, other: object) -> bool:
        """Whether drawing the other would give the same picture."""
        return (
            isinstance(other, Triangles)
            and np.array_equal(self.corners, other.corners)
            and np.array_equal(self.colors, other.colors)
        )


Part: TypeAlias = Points | Segments | Triangles


def scene_parts(scene: Scene, theme: Theme) -> dict[str, Part]:
    """Return what is drawn, by name, from back to front."""
    parts: dict[str, Part] = {}
    show = scene.layers
    if "grid" in show and scene.extent is not None:
        lines = floor_segments(scene.extent)
        parts["grid"] = Segments(lines, _filled(rgba(theme.grid), len(lines)))
    perspective = scene.camera is not None and not scene.camera.orthogonal  # the other has no center
    if "camera" in show and perspective and scene.extent is not None:
        if scene.other_cameras:
            lines = np.concatenate([_frustum(other, scene, OTHER_DEPTH) for other in scene.other_cameras])
            parts["other cameras"] = Segments(lines, _filled(rgba(theme.muted, 0.45), len(lines)))
        lines = _frustum(scene.camera, scene, FRUSTUM_DEPTH)
        strong = theme.accent if scene.other_cameras else theme.muted
        parts["camera"] = Segments(lines, _filled(rgba(strong, 0.8), len(lines)))
    for name, points, color in (
        ("truth", scene.truth, theme.truth),
        ("estimate", scene.estimate, theme.estimate),
    ):
        if points is None or name not in show:
            continue
        if "faces" in show and scene.faces is not None:
            parts[f"{name} mesh"] = _triangles(points, scene.faces, color)
        if "edges" in show and scene.edges is not None:
            parts[f"{name} edges"] = _edges(points, scene.edges, rgba(color, 0.55))
    if "trails" in show and scene.trail is not None and len(scene.trail) > 1:
        parts["trails"] = _trails(scene.trail, theme.estimate if scene.estimate is not None else theme.truth)
    if "residuals" in show and scene.estimate is not None and scene.truth is not None:
        pairs = np.stack([scene.truth, scene.estimate], axis=1)
        pairs = pairs[np.isfinite(pairs).all(axis=(1, 2))]
        parts["residuals"] = Segments(
            pairs.reshape(-1, 3), _filled(rgba(theme.residual, 0.9), 2 * len(pairs))
        )
    if "truth" in show and scene.truth is not None:
        known = np.isfinite(scene.truth).all(axis=1)
        parts["truth"] = Points(
            scene.truth[known], _filled(rgba(theme.truth, 0.9), int(known.sum())), _dot_size(len(known))
        )
    if "estimate" in show and scene.estimate is not None:
        parts["estimate"] = _estimate(scene, theme)
    return parts


def _estimate(scene: Scene, theme: Theme) -> Points:
    points = scene.estimate
    assert points is not None  # the caller asks only where there is one
    values = scene.color_values
    if scene.colored and values is not None and scene.color_top is not None:
        colors = error_colors(values, scene.color_top, theme)
    else:
        colors = _filled(rgba(theme.estimate), len(points))
    finite = np.isfinite(points).all(axis=1)
    return Points(points[finite], colors[finite], _dot_size(len(points)) + 1.0)


def _dot_size(count: int) -> float:
    """Diameter in pixels: smaller where points are many, so that they stay apart."""
    return 8.0 if count <= 120 else 6.0 if count <= 600 else 4.0 if count <= 4000 else 2.5


def _filled(color: tuple[float, float, float, float], count: int) -> Floats:
    return np.tile(np.array(color), (count, 1))


def _edges(points: Floats, edges: Ints, color: tuple[float, float, float, float]) -> Segments:
    pairs = points[edges]
    pairs = pairs[np.isfinite(pairs).all(axis=(1, 2))]
    return Segments(pairs.reshape(-1, 3), _filled(color, 2 * len(pairs)))


def _trails(trail: Floats, color: str) -> Segments:
    """One segment per point and step, fading into the past."""
    steps = np.stack([trail[:-1], trail[1:]], axis=2)  # (T - 1, P, 2, 3)
    opacity = np.linspace(0.08, 0.7, len(trail))
    fade = np.stack([opacity[:-1], opacity[1:]], axis=1)[:, None, :].repeat(trail.shape[1], axis=1)
    finite = np.isfinite(steps).all(axis=(2, 3))
    positions = steps[finite].reshape(-1, 3)
    colors = _filled(rgba(color), len(positions))
    colors[:, 3] = fade[finite].ravel()
    return Segments(positions, colors)


def _triangles(points: Floats, faces: Ints, color: str) -> Triangles:
    corners = points[faces]
    corners = corners[np.isfinite(corners).all(axis=(1, 2))]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = normal / np.where(length > 0, length, 1.0)
    light = 0.45 + 0.55 * np.abs(normal @ (LIGHT / np.linalg.norm(LIGHT)))
    colors = _filled(rgba(color, 0.32), len(corners))
    colors[:, :3] *= light[:, None]
    return Triangles(corners, colors)


def _frustum(camera: Camera, scene: Scene, share: float) -> Floats:
    """Return the pyramid from the camera's center through the corners of the picture."""
    assert scene.extent is not None  # the caller asks only where there is one
    depth = share * float(np.linalg.norm(scene.extent[1] - scene.extent[0]))
    (x0, y0), (x1, y1) = scene.image_extent
    pixels = np.array([[x0, y0, 1], [x1, y0, 1], [x1, y1, 1], [x0, y1, 1]])
    corners = depth * np.linalg.solve(camera.K, pixels.T).T
    segments = [(corners[k], corners[(k + 1) % 4]) for k in range(4)]
    segments += [(np.zeros(3), corner) for corner in corners]
    return (np.array(segments).reshape(-1, 3) - camera.t) @ camera.R
