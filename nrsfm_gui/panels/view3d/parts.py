"""A scene as spheres, segments and triangles, which both renderers draw alike.

A sphere is drawn as a circle around the projection of its center; its true outline, an ellipse, is longer by
less than 4 % in a picture of 30 degrees. The light is that of `core.io.writers.shading`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
from PyQt6.QtGui import QColor, QImage

from core.foundation import Bools, Floats, Ints, read_only
from core.io.writers import FLOOR, SHADING, sphere_diameter
from nrsfm_gui.model.mesh import face_normals, vertex_normals
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.scene.cameras import Cameras
from nrsfm_gui.scene.floor import Floor
from nrsfm_gui.scene.orbit_camera import Projection
from nrsfm_gui.scene.scene import Scene
from nrsfm_gui.widgets.colors import Rgba, filled, rgba_bytes, value_colors

MOST_PIXELS = 48.0  # diameter of a sphere; some graphics cards draw no larger points
RING_SHARE = 1.3  # diameter of a ring around a sphere, of that of the sphere
RING_WIDTH, LEAST_WIDTH = 0.07, 1.3  # of a ring's line: of its diameter, and least, pixels
LEAST_RING = 6.0  # diameter of a ring, pixels: a smaller one is a disk
SMALL_DISK = 0.6  # of the ring's diameter
FRUSTUM_DEPTH = 0.14  # of the extent's diagonal
OTHER_DEPTH = 0.06
MOST_HALOS = 500  # points whose uncertainties are all drawn; of more only those of the selected ones
MOST_CORNERS = 6000  # of all outlines, which the renderer without OpenGL paints one triangle each
CORNERS = (12, 48)  # of one outline, least and most
HALO_MIDDLE, HALO_RIM = 0.75, 0.4  # opacity
MOST_RINGS = 150  # selected points that are circled; more are marked by larger disks behind them
FINE_MESH = 2000  # triangles from which a surface is drawn without its points and edges
SOFT = 0.25  # how far the color of a surface is from that of its points, towards the background
MARK_MARGIN = 6.0  # pixels by which those are larger
FAINT = 0.12  # opacity of the surface of the truth behind the estimate

Shape: TypeAlias = Literal["sphere", "ring", "disk"]


@dataclass(frozen=True, eq=False)
class PointCloud:
    """Spheres, or flat marks that face the viewer, of a size in the scene."""

    positions: Floats  # (N, 3)
    colors: Rgba  # (N, 4) bytes
    diameter: float  # in the unit of the positions
    least: float  # diameter of those that are far away, pixels
    shape: Shape = "sphere"
    margin: float = 0.0  # that the diameter is larger by, pixels
    rows: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # (N,) which points of a scene

    def diameters(self, depth: Floats, projection: Projection) -> Floats:
        """Return the diameters (N,) that points at depths (N,) have in a picture, in its pixels."""
        distance = np.ones_like(depth) if projection.parallel else np.maximum(depth, projection.near)
        wanted: Floats = np.clip(self.diameter * projection.focal / distance, self.least, MOST_PIXELS)
        if self.shape == "ring":
            wanted = np.where(wanted < LEAST_RING, SMALL_DISK * wanted, wanted)
        return wanted + self.margin


@dataclass(frozen=True, eq=False)
class LineSegments:
    """Thin lines between pairs of points."""

    positions: Floats  # (N, 3), NaN where no line ends
    colors: Rgba  # (N, 4) bytes
    ends: Ints  # (M, 2) rows of `positions`

    @property
    def pairs(self) -> Floats:
        """(M, 2, 3) where the lines go from and to."""
        return self.positions[self.ends]

    @classmethod
    def between(cls, positions: Floats, colors: Rgba) -> LineSegments:
        """Return lines between consecutive pairs of points (2M, 3)."""
        return cls(positions, colors, np.arange(len(positions)).reshape(-1, 2))


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """A surface whose corners have colors; it is lit where it has normals."""

    positions: Floats  # (N, 3)
    colors: Rgba  # (N, 4) bytes
    faces: Ints  # (T, 3) rows of `positions`
    solid: bool  # whether it hides what is behind it, where the picture has depth
    normals: Floats | None = None  # (N, 3) of length 1

    def seen_colors(self, projection: Projection) -> Rgba:
        """Return one color (T, 4) of every triangle as it is seen from a projection."""
        a, b, c = self.faces.T  # numpy is slow for short rows
        colors = (self.colors.astype(np.uint16)[a] + self.colors[b] + self.colors[c]) / 3
        if self.normals is not None:
            ahead = projection.R[2]
            if not projection.parallel:
                ahead = self.positions[a] + projection.R.T @ projection.t
            facet = face_normals(self.positions, self.faces)
            normals = self.normals[a] + self.normals[b] + self.normals[c]
            normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(float).tiny)
            away = (facet * ahead).sum(axis=1) * (facet * normals).sum(axis=1) > 0
            bright = SHADING.brightness(np.where(away[:, None], -normals, normals) @ projection.R.T)
            colors[:, :3] = np.minimum(colors[:, :3] * bright[:, None], 255.0)
        seen: Rgba = np.rint(colors).astype(np.uint8)
        return seen


@dataclass(frozen=True, eq=False)
class Sheet:
    """A flat square of rows of places, which is drawn as an image: so many triangles would cost more."""

    positions: Floats  # (N, 3)
    colors: Rgba  # (N, 4) bytes

    @property
    def side(self) -> int:
        """The number of places along a side."""
        return math.isqrt(len(self.positions))

    @property
    def corners(self) -> Floats:
        """(4, 3) around the square: the ends of the first row, then those of the last one, backward."""
        side = self.side
        corners: Floats = self.positions[[0, side - 1, side * side - 1, side * (side - 1)]]
        return corners


@dataclass(frozen=True, eq=False)
class Ellipsoids:
    """Translucent ellipsoids, which are drawn by their outlines as seen from a projection."""

    positions: Floats  # (N, 3)
    axes: Floats  # (N, 3, 3) rows: the half-axes, at right angles
    colors: Rgba  # (N, 4) bytes

    def outlines(self, projection: Projection) -> TriangleMesh:
        """Return what an eye sees of them: a flat ellipse each, which is darkest in its middle.

        The half-axes a_k map the unit sphere to an ellipsoid. Its points that are seen edge-on from a
        direction d are the image of the great circle at right angles to the vector of d . a_k / |a_k|^2.
        """
        count = len(self.positions)
        corners = int(np.clip(MOST_CORNERS // max(count, 1), *CORNERS))
        eye = -projection.R.T @ projection.t
        ahead = np.broadcast_to(projection.R[2], (count, 3))
        d = ahead if projection.parallel else self.positions - eye
        squares = np.square(self.axes).sum(axis=2)
        e = np.einsum("nka,na->nk", self.axes, d) / np.maximum(squares, np.finfo(float).tiny)
        e /= np.maximum(np.linalg.norm(e, axis=1, keepdims=True), np.finfo(float).tiny)
        aside = np.eye(3)[np.abs(e).argmin(axis=1)]
        u = np.cross(e, aside)
        u /= np.maximum(np.linalg.norm(u, axis=1, keepdims=True), np.finfo(float).tiny)
        v = np.cross(e, u)
        turn = 2.0 * np.pi * np.arange(corners) / corners
        circle = np.cos(turn)[:, None, None] * u + np.sin(turn)[:, None, None] * v  # (corners, N, 3)
        rims = self.positions + np.einsum("cnk,nka->cna", circle, self.axes)
        positions = np.concatenate([self.positions, rims.reshape(-1, 3)])
        colors = np.tile(self.colors, (1 + corners, 1))
        colors[:count, 3] = np.rint(HALO_MIDDLE * self.colors[:, 3])
        colors[count:, 3] = np.rint(HALO_RIM * colors[count:, 3])
        rows = np.arange(count) + count * np.arange(1, corners + 1)[:, None]  # (corners, N)
        faces = np.stack(
            [np.broadcast_to(np.arange(count), rows.shape), rows, np.roll(rows, -1, axis=0)], axis=2
        )
        return TriangleMesh(positions, colors, faces.reshape(-1, 3), solid=False)


Drawn: TypeAlias = PointCloud | LineSegments | TriangleMesh | Sheet
Part: TypeAlias = Drawn | Ellipsoids


@dataclass(frozen=True, eq=False)
class RenderRequest:
    """How parts are rendered."""

    projection: Projection
    background: QColor
    size: tuple[int, int]  # width and height of the picture, pixels
    ratio: float = 1.0  # pixels of the picture to one of the projection
    smooth: bool = True  # whether lines get soft edges, which cost more than all else without a graphics card
    locked: bool = False  # whether it is seen through the camera of the frame, which is not drawn then

    @property
    def image_format(self) -> QImage.Format:
        """The format of the picture: it has an opacity only where its background is not opaque."""
        opaque = self.background.alpha() == 255
        return QImage.Format.Format_RGB32 if opaque else QImage.Format.Format_ARGB32_Premultiplied


def without_covered(parts: dict[str, Part]) -> dict[str, Part]:
    """Return parts without points and edges that very fine surfaces would cover."""
    kept = dict(parts)
    for name, part in parts.items():
        if not isinstance(part, TriangleMesh) or not part.solid or len(part.faces) <= FINE_MESH:
            continue
        of = name.removesuffix(" mesh")
        kept.pop(f"{of} edges", None)
        cloud = kept.get(of)
        if isinstance(cloud, PointCloud):
            on_surface = np.zeros(len(part.positions), dtype=bool)
            on_surface[part.faces] = True
            alone = ~on_surface[cloud.rows]
            kept[of] = replace(
                cloud, positions=cloud.positions[alone], colors=cloud.colors[alone], rows=cloud.rows[alone]
            )
    return kept


@lru_cache(maxsize=4)
def _steps(moments: int, points: int) -> Ints:
    """Return the rows ((moments - 1) * points, 2) of a trail (moments * points) from a moment to the next."""
    rows = np.arange(moments * points).reshape(moments, points)
    return read_only(np.stack([rows[:-1], rows[1:]], axis=2).reshape(-1, 2), np.int64)


@dataclass(frozen=True)
class Budget:
    """How much is drawn: of more segments some are left out, and meshes with more are not drawn."""

    segments: int
    edges: int
    faces: int


AT_REST = Budget(segments=100_000, edges=200_000, faces=200_000)
MOVING = Budget(segments=12_000, edges=10_000, faces=20_000)  # without a graphics card many times a second


def exceeds(scene: Scene, budget: Budget) -> bool:
    """Return whether a scene has more than a budget, so that something would be left out."""
    points = len(scene.drawn)
    steps = len(scene.trail) - 1 if scene.trail is not None and "trails" in scene.layers else 0
    return (
        max(points if "residuals" in scene.layers else 0, points * steps) > budget.segments
        or ("edges" in scene.layers and len(scene.edges) > budget.edges)
        or ("faces" in scene.layers and len(scene.faces) > budget.faces)
    )


def scene_parts(scene: Scene, theme: Theme, budget: Budget = AT_REST) -> dict[str, Part]:
    """Return what is drawn within a budget, by name, from back to front."""
    parts: dict[str, Part] = {}
    show, drawn = scene.layers, scene.drawn
    if "grid" in show and scene.floor is not None:
        parts["grid"] = _grid(scene.floor, theme.grid)
        caster = scene.estimate if hollow_truth(scene) else scene.truth
        if caster is not None and not drawn.all():
            caster = caster[drawn]
        if caster is not None and {"estimate", "truth"} & show and np.isfinite(caster).any():
            parts["floor"] = _floor(scene.floor, caster, theme)
    parts |= dict(_cameras(scene, theme))
    colors, truth_colors = filled(theme.estimate, len(drawn)), filled(theme.truth_shape, len(drawn))
    if scene.color_values is not None and scene.color_limits is not None:
        colors = value_colors(scene.color_values, scene.color_limits, scene.appearance.color_map, theme)
    compared = hollow_truth(scene)  # the truth steps back, then
    if scene.estimate is None and scene.colored:  # of the truth, then
        truth_colors = colors
    for name, points, vertex_colors, faint in (
        ("truth", scene.truth, truth_colors, compared),
        ("estimate", scene.estimate, colors, False),
    ):
        if points is None or name not in show:
            continue
        known = np.isfinite(points).all(axis=1) & drawn
        if name == "truth" and scene.outliers is not None:  # a mesh would reach far out to them
            known &= ~scene.outliers
        if "faces" in show and 0 < len(scene.faces) <= budget.faces:
            faces = _rows(scene.faces, known)
            own = vertex_colors if scene.colored else _softened(vertex_colors, theme)
            surface = _truth_surface if name == "truth" else _surface
            parts[f"{name} mesh"] = surface(points, faces, own, FAINT if faint else 1.0)
        if "edges" in show and 0 < len(scene.edges) <= budget.edges:
            parts[f"{name} edges"] = LineSegments(
                points, _faded(vertex_colors, 0.35 if faint else 0.6), _rows(scene.edges, known)
            )
    if "trails" in show and scene.trail is not None and len(scene.trail) > 1:
        trail = scene.trail if drawn.all() else scene.trail[:, drawn]
        trail = trail[:, :: _stride(trail.shape[1] * (len(trail) - 1), budget.segments)]
        parts["trails"] = _trails(trail, theme.estimate if scene.estimate is not None else theme.truth_shape)
    parts |= dict(_differences(scene, theme, budget))
    parts |= _halos(scene, colors)
    if len(scene.selection) > MOST_RINGS:
        parts |= dict(_marks(scene, theme))
    size = sphere_size(scene)
    around = RING_SHARE * size[0], RING_SHARE * size[1]
    if "truth" in show and scene.truth is not None and compared:
        parts["truth"] = _dots(scene.truth, drawn, truth_colors, around, "ring")
    elif "truth" in show and scene.truth is not None:
        parts["truth"] = _dots(scene.truth, drawn, truth_colors, size)
    if scene.other is not None and scene.appearance.color_by != "difference":
        parts["other"] = _dots(scene.other, drawn, filled(theme.other, len(drawn)), size)
    if "estimate" in show and scene.estimate is not None:
        parts["estimate"] = _dots(scene.estimate, drawn, colors, size)
    return parts


@lru_cache(maxsize=4)
def _grid(floor: Floor, color: str) -> LineSegments:
    lines, opacities = floor.segments
    faded = filled(color, len(lines))
    faded[:, 3] = np.rint(255 * opacities)
    return LineSegments.between(lines, faded)


def _floor(floor: Floor, points: Floats, theme: Theme) -> Sheet:
    """Return the floor, which fades out around its center, with the shadow of points (P, 3)."""
    places, dark = floor.shadow(points)
    away = np.linalg.norm(places - floor.center, axis=1) / floor.radius
    opacity, mixed = FLOOR.opacities(dark, away)
    colors = np.empty((len(places), 4), dtype=np.uint8)
    light, shadow = (rgba_bytes(color)[:3].astype(float) for color in (theme.floor, theme.shadow))
    colors[:, :3] = np.rint(light + mixed[:, None] * (shadow - light))
    colors[:, 3] = np.rint(255 * opacity)
    return Sheet(places, colors)


def hollow_truth(scene: Scene) -> bool:
    """Return whether the truth is drawn by rings: where the estimate is what is looked at."""
    return scene.estimate is not None and "estimate" in scene.layers


def sphere_pixels(scene: Scene, depth: Floats, projection: Projection) -> Floats:
    """Return the diameters (N,) of the spheres of points at depths (N,), in pixels of a projection."""
    cloud = PointCloud(np.empty((0, 3)), np.empty((0, 4), dtype=np.uint8), *sphere_size(scene))
    return cloud.diameters(depth, projection)


def sphere_size(scene: Scene) -> tuple[float, float]:
    """Return the diameter of a sphere, in the unit of the scene, and the least one in pixels."""
    count, factor = max(len(scene.drawn), 1), scene.appearance.point_size
    on_surface = "faces" in scene.layers and len(scene.faces) > 0
    diameter = sphere_diameter(count, scene.shapes.typical_radius, on_surface=on_surface)
    least = 6.0 if count <= 600 else 3.0 if count <= 4000 else 2.0
    return factor * diameter, max(factor * least, 1.0)


def _halos(scene: Scene, colors: Rgba) -> dict[str, Part]:
    """Return the standard deviations of the points of the estimate: of all, or of those that are selected."""
    if not {"halos", "estimate"} <= scene.layers or scene.std is None or scene.estimate is None:
        return {}
    chosen = np.full(len(scene.drawn), len(scene.drawn) <= MOST_HALOS)
    chosen[list(scene.selection[:MOST_HALOS])] = True
    known = np.isfinite(scene.estimate).all(axis=1) & np.isfinite(scene.std).all(axis=1)
    shown = chosen & scene.drawn & known
    if scene.camera is None or not shown.any():
        return {}
    axes = scene.std[shown][:, :, None] * scene.camera.R
    return {"halos": Ellipsoids(scene.estimate[shown], axes, colors[shown])}


def _dots(
    points: Floats,
    drawn: Bools,
    colors: Rgba,
    size: tuple[float, float],
    shape: Shape = "sphere",
    margin: float = 0.0,
) -> PointCloud:
    shown = np.isfinite(points).all(axis=1) & drawn
    if not shown.all():
        points, colors = points[shown], colors[shown]
    return PointCloud(points, colors, *size, shape, margin, np.flatnonzero(shown))


def _marks(scene: Scene, theme: Theme) -> Iterator[tuple[str, Part]]:
    """Yield larger disks behind the selected points: thousands of rings would be too slow."""
    chosen = np.zeros(len(scene.drawn), dtype=bool)
    chosen[list(scene.selection)] = True
    for name, points in (("truth", scene.truth), ("estimate", scene.estimate)):
        if points is not None and name in scene.layers:
            color, size = filled(theme.selection, len(points)), sphere_size(scene)
            yield f"selected {name}", _dots(points, scene.drawn & chosen, color, size, "disk", MARK_MARGIN)


def _stride(count: int, most: int) -> int:
    """Return the k of which every k-th of `count` are at most `most`."""
    return max(1, -(-count // most))


def _differences(scene: Scene, theme: Theme, budget: Budget) -> Iterator[tuple[str, Part]]:
    """Yield the segments from the estimate to the truth, and to the compared run."""
    for name, points, color, opacity in (
        ("residuals", scene.truth, theme.truth, 0.9),
        ("differences", scene.other, theme.other, 0.7),
    ):
        if points is None or scene.estimate is None or "residuals" not in scene.layers:
            continue
        every = slice(None, None, _stride(len(points), budget.segments))
        ends = points[every], scene.estimate[every]
        known = np.logical_and.reduce([np.isfinite(end).all(axis=1) for end in ends]) & scene.drawn[every]
        pairs = np.stack([end[known] for end in ends], axis=1).reshape(-1, 3)
        yield name, LineSegments.between(pairs, filled(color, len(pairs), opacity))


def _cameras(scene: Scene, theme: Theme) -> Iterator[tuple[str, Part]]:
    """Yield the camera of the frame, and those of other frames: parallel rays have no center to draw."""
    camera, others = scene.camera, scene.other_cameras
    if camera is None or camera.orthogonal or scene.extent is None:
        return
    if scene.path is not None and len(scene.path) > 1:
        steps = np.stack([scene.path[:-1], scene.path[1:]], axis=1).reshape(-1, 3)
        yield "path", LineSegments.between(steps, filled(theme.accent, len(steps), 0.7))
    if "camera" not in scene.layers and scene.path is None:
        return
    if others:
        lines = np.concatenate([_frustum(other, scene, OTHER_DEPTH) for other in others])
        yield "other cameras", LineSegments.between(lines, filled(theme.muted, len(lines), 0.45))
    lines = _frustum(camera, scene, FRUSTUM_DEPTH)
    color = theme.accent if others else theme.muted
    yield "camera", LineSegments.between(lines, filled(color, len(lines), 0.9))


def _frustum(camera: Cameras, scene: Scene, share: float) -> Floats:
    """Return the pyramid from the camera's center through the corners of the picture."""
    assert scene.extent is not None  # checked by the caller
    depth = share * float(np.linalg.norm(scene.extent[1] - scene.extent[0]))
    (x0, y0), (x1, y1) = scene.shapes.image_extent
    pixels = np.array([[x0, y0, 1], [x1, y0, 1], [x1, y1, 1], [x0, y1, 1]])
    corners = depth * np.linalg.solve(camera.K, pixels.T).T
    segments = [(corners[k], corners[(k + 1) % 4]) for k in range(4)]
    segments += [(np.zeros(3), corner) for corner in corners]
    return (np.array(segments).reshape(-1, 3) - camera.t) @ camera.R


def _rows(indices: Ints, known: Bools) -> Ints:
    """Return the rows of point indices whose points are all known."""
    return indices if known.all() else indices[known[indices].all(axis=1)]


def _softened(colors: Rgba, theme: Theme) -> Rgba:
    """Return colors (N, 4) of a surface from which points of these colors stand out."""
    softened, ground = colors.copy(), rgba_bytes(theme.panel)[:3].astype(float)
    softened[:, :3] = np.rint(colors[:, :3] + SOFT * (ground - colors[:, :3]))
    return softened


def _faded(colors: Rgba, opacity: float) -> Rgba:
    faded = colors.copy()
    faded[:, 3] = round(255 * opacity)
    return faded


def _trails(trail: Floats, color: str) -> LineSegments:
    """One segment per point and step of a trail (T, P, 3), fading into the past."""
    colors = np.empty((*trail.shape[:2], 4), dtype=np.uint8)
    colors[...] = rgba_bytes(color)
    colors[..., 3] = np.rint(255 * np.linspace(0.08, 0.7, len(trail)))[:, None]
    known = np.isfinite(trail).all(axis=2).ravel()
    steps = _rows(_steps(*trail.shape[:2]), known)
    return LineSegments(trail.reshape(-1, 3), colors.reshape(-1, 4), steps)


def _surface(points: Floats, faces: Ints, colors: Rgba, opacity: float) -> TriangleMesh:
    points = np.nan_to_num(points)  # of unknown points, which have no triangle
    normals = vertex_normals(points, faces)
    return TriangleMesh(points, _faded(colors, opacity), faces, solid=opacity > 0.5, normals=normals)


_former_truth: list[tuple[tuple[float | Floats | Ints | Rgba, ...], TriangleMesh]] = []


def _truth_surface(points: Floats, faces: Ints, colors: Rgba, opacity: float) -> TriangleMesh:
    """Return the surface of the truth, which stays the same while only the estimate changes."""
    given: tuple[float | Floats | Ints | Rgba, ...] = opacity, points, faces, colors
    for former, surface in _former_truth:
        if all(np.array_equal(a, b) for a, b in zip(former, given, strict=True)):
            return surface
    surface = _surface(points, faces, colors, opacity)
    _former_truth[:] = [(given, surface)]
    return surface
