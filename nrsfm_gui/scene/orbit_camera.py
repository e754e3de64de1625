"""The virtual camera of the 3-D view: numbers only, shared by the OpenGL and the software renderer.

Conventions are those of computer vision: in the view frame x points to the right, y down, z into the
picture. So a camera of the sequence and the orbit camera are of the same kind, and y points down in the
world.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from core.foundation import Floats
from nrsfm_gui.scene.cameras import Cameras

FIELD_OF_VIEW = 30.0  # degrees, vertical
MARGINS = (20.0, 46.0, 20.0, 46.0)  # pixels left, above (labels), right, below (buttons) a fitted object
NARROW, MORE_LABELS = 400, (0.0, 32.0)  # width below which labels have more lines, and what these take
LEAST = 0.4  # of the picture's width and height that remains of it, however small it is
TURN_STEP = 5.0  # degrees between the directions that a turn is fitted in
NEAR, FAR = 1e-3, 1e3  # clipping planes, times the distance of what is looked at
MIN_DEPTH = 1e-9
MIN_DISTANCE = 1e-6  # of an orbit from its center
DEFAULT_UP = (0.0, -1.0, 0.0)
LEANING = 0.9  # cosine of the angle between x and the upward axis above which another axis points right
PRESETS = {  # azimuth, elevation in degrees
    "front": (0.0, 0.0),
    "side": (90.0, 0.0),
    "top": (0.0, 90.0),
    "iso": (35.0, 22.0),
}


@dataclass(frozen=True, eq=False)
class Projection:
    """World points to the pixels of a picture, and the same map as a matrix for OpenGL."""

    R: Floats  # (3, 3) world to view
    t: Floats  # (3,)
    K: Floats  # (3, 3) view frame to pixels
    parallel: bool  # no division by depth
    near: float
    far: float
    width: int
    height: int

    @property
    def focal(self) -> float:
        """Pixels to one unit of the world: at depth 1, or at any depth with parallel rays."""
        return float(np.sqrt(abs(np.linalg.det(self.K[:2, :2]))))

    def pixels(self, points: Floats) -> tuple[Floats, Floats]:
        """Return pixels (..., 2), y down, and depths (...,); NaN pixels for what is not in front."""
        points = np.asarray(points, dtype=float)
        shape = points.shape[:-1]
        Y = self.R @ points.reshape(-1, 3).T + self.t[:, None]  # numpy is slow for short rows
        depth = Y[2].copy()
        if self.parallel:
            Y[2] = 1.0
        else:
            Y[:, ~(depth > max(self.near * 1e-3, MIN_DEPTH))] = np.nan
            Y /= Y[2].copy()
        return (self.K[:2] @ Y).T.reshape(*shape, 2), depth.reshape(shape)

    def clip_matrix(self) -> Floats:
        """Return the (4, 4) matrix from the world to OpenGL's clip coordinates."""
        n, f = self.near, self.far
        scale = np.array([2.0 / self.width, -2.0 / self.height])
        M = np.zeros((4, 4))
        if self.parallel:
            M[:2, :2] = scale[:, None] * self.K[:2, :2]
            M[:2, 3] = scale * self.K[:2, 2] + (-1.0, 1.0)
            M[2, 2], M[2, 3] = 2.0 / (f - n), -(f + n) / (f - n)
            M[3, 3] = 1.0
        else:
            M[:2, :3] = scale[:, None] * self.K[:2]
            M[:2, 2] += (-1.0, 1.0)
            M[2, 2], M[2, 3] = (f + n) / (f - n), -2.0 * f * n / (f - n)
            M[3, 2] = 1.0
        world = np.eye(4)
        world[:3, :3], world[:3, 3] = self.R, self.t
        return np.asarray(M @ world)


@dataclass(frozen=True)
class Orbit:
    """A camera that turns around a center, upright. Immutable: every movement returns another one."""

    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    distance: float = 4.0
    azimuth: float = PRESETS["iso"][0]  # degrees around the vertical
    elevation: float = PRESETS["iso"][1]  # degrees above the horizon
    orthographic: bool = False
    up: tuple[float, float, float] = DEFAULT_UP  # unit vector that the camera turns about

    @property
    def rotation(self) -> Floats:
        """(3, 3) world to view."""
        a, e = np.radians([self.azimuth, self.elevation])
        yaw = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
        pitch = np.array([[1, 0, 0], [0, np.cos(e), -np.sin(e)], [0, np.sin(e), np.cos(e)]])
        return np.asarray(pitch @ yaw @ upright(np.array(self.up)))

    def displaced(self, by: Floats) -> Orbit:
        """Follow an object that has moved by a vector (3,)."""
        return replace(self, center=as_triple(np.array(self.center) + by)) if by.any() else self

    def turned(self, right: float, down: float) -> Orbit:
        """Follow a drag, in degrees: the object turns with the mouse; the elevation ends at the poles."""
        return replace(
            self,
            azimuth=(self.azimuth - right + 180.0) % 360.0 - 180.0,
            elevation=float(np.clip(self.elevation + down, -90.0, 90.0)),
        )

    def panned(self, right: float, down: float, height: int) -> Orbit:
        """Follow a drag in pixels of a picture of that height: the center stays under the mouse."""
        per_pixel = self.distance / _focal(height)
        shift = self.rotation.T @ np.array([right, down, 0.0]) * per_pixel
        return replace(self, center=as_triple(np.array(self.center) - shift))

    def zoomed(self, factor: float) -> Orbit:
        """Enlarge by a factor."""
        return replace(self, distance=float(np.clip(self.distance / factor, MIN_DISTANCE, 1e9)))

    def preset(self, name: str, front: float = 0.0) -> Orbit:
        """Look along an axis; `name` is a key of PRESETS, `front` the azimuth of the front."""
        azimuth, elevation = PRESETS[name]
        return replace(self, azimuth=(azimuth + front + 180.0) % 360.0 - 180.0, elevation=elevation)

    def about(self, up: Floats) -> Orbit:
        """Look in the same direction, and turn about another axis."""
        level = upright(up)
        _, down, sight = (level @ axis for axis in self.rotation)
        elevation = float(np.degrees(np.arcsin(np.clip(sight[1], -1.0, 1.0))))
        across = sight if np.hypot(sight[0], sight[2]) > 1e-6 else -np.sign(sight[1]) * down
        azimuth = float(np.degrees(np.arctan2(-across[0], across[2])))
        return replace(self, azimuth=azimuth, elevation=elevation, up=as_triple(up))

    def holding(self, points: Floats, width: int, height: int) -> Orbit:
        """Go back as far as it takes for points (N, 3) to be inside the free part of a picture."""
        low, high = free_area(width, height)
        half = np.array([width, height]) / 2
        view = (points - np.array(self.center)) @ self.rotation.T
        room = np.where(view[:, :2] > 0, high - half, half - low) / _focal(height)
        needed = np.abs(view[:, :2]) / room - (0.0 if self.orthographic else view[:, 2:])
        return replace(self, distance=max(self.distance, float(needed.max())))

    def fitted(self, points: Floats, width: int, height: int) -> Orbit:
        """Move so that points (N, 3) fill the free part of a picture: see `ViewBounds`."""
        middle = (points.min(axis=0) + points.max(axis=0)) / 2
        bounds = self.bounds(points - middle, width, height)
        low, high = bounds.interval(bounds.distance)
        center = as_triple(middle + self.rotation.T @ np.append((low + high) / 2, 0.0))
        return replace(self, center=center, distance=max(float(bounds.distance), MIN_DISTANCE))

    def bounds(self, points: Floats, width: int, height: int) -> ViewBounds:
        """Return where the camera has to be for points (..., N, 3) to be inside a picture of a size."""
        view = points @ self.rotation.T
        side, depth = view[..., :2], view[..., 2:]
        if self.orthographic:
            depth = np.zeros_like(depth)
        low, high = free_area(width, height)
        half = np.array([width, height]) / 2
        forward, backward = (high - half) / _focal(height), (half - low) / _focal(height)
        ahead, behind = (side - forward * depth).max(axis=-2), (side + backward * depth).min(axis=-2)
        return ViewBounds(ahead, behind, forward, backward)

    def around(self, points: Floats, width: int, height: int) -> Orbit:
        """Move so that points (N, 3) stay in the free part while it turns around their middle."""
        middle = (points.min(axis=0) + points.max(axis=0)) / 2
        room = np.array([width, height]) / 2 - np.maximum(*_margins(width))
        slope = np.maximum(room, LEAST * np.array([width, height]) / 2) / _focal(height)
        distance = 0.0
        for turn in np.arange(0.0, 360.0, TURN_STEP):
            view = (points - middle) @ self.turned(turn, 0.0).rotation.T
            near = np.abs(view[:, :2]) / slope
            distance = max(distance, float((near if self.orthographic else near - view[:, 2:]).max()))
        return replace(self, center=as_triple(middle), distance=max(distance, MIN_DISTANCE))

    def projection(self, width: int, height: int) -> Projection:
        """Return the map to a picture of that size."""
        return _projection(self, width, height)


@lru_cache(maxsize=16)  # the same for many pictures, and asked for several times for each
def _projection(orbit: Orbit, width: int, height: int) -> Projection:
    R = orbit.rotation
    t = -R @ np.array(orbit.center) + np.array([0.0, 0.0, orbit.distance])
    f = _focal(height) / (orbit.distance if orbit.orthographic else 1.0)
    K = np.array([[f, 0, width / 2], [0, f, height / 2], [0, 0, 1]])
    far = FAR * orbit.distance
    near = -far if orbit.orthographic else NEAR * orbit.distance
    return Projection(R, t, K, orbit.orthographic, near, far, width, height)


@dataclass(frozen=True, eq=False)
class ViewBounds:
    """Where a camera has to be for points to be inside the free part of its picture.

    A point at (x, z) right of and behind the origin is inside where, of a camera at (c, -d),

        x - c <= r (z + d)  and  c - x <= l (z + d),

    r and l being the tangents of the angles that the free part reaches to the right and to the left. So c is
    between max(x - r z) - r d and min(x + l z) + l d, and the least d is where the two meet; the same holds
    downwards. Parallel rays have all z = 0, and d is then what the height of the picture is proportional to.
    """

    ahead: Floats  # (..., 2) max(x - r z), max(y - r z)
    behind: Floats  # (..., 2) min(x + l z), min(y + l z)
    forward: Floats  # (2,) tangents r, to the right and down
    backward: Floats  # (2,) l, to the left and up

    @property
    def distance(self) -> Floats:
        """(...) the least distance."""
        return np.asarray(((self.ahead - self.behind) / (self.forward + self.backward)).max(axis=-1))

    def interval(self, distance: Floats) -> tuple[Floats, Floats]:
        """Return the lowest and the highest places (..., 2) of the camera at distances (...)."""
        away = np.asarray(distance)[..., None]
        return self.ahead - self.forward * away, self.behind + self.backward * away


def locked_projection(
    camera: Cameras, image_extent: Floats, extent: Floats, width: int, height: int
) -> Projection:
    """Return the picture that a camera of the sequence took, fitted to a widget of that size."""
    window = image_window(image_extent, width, height)
    K = window @ camera.K
    depth = ((extent.mean(axis=0) @ camera.R.T) + camera.t)[2]
    size = float(np.linalg.norm(extent[1] - extent[0]))
    if camera.orthogonal:
        return Projection(camera.R, camera.t, K, True, depth - 20 * size, depth + 20 * size, width, height)
    near = max(NEAR * abs(depth), MIN_DEPTH)
    return Projection(camera.R, camera.t, K, False, near, FAR * max(abs(depth), size), width, height)


def image_window(image_extent: Floats, width: int, height: int) -> Floats:
    """Return the (3, 3) map from track units to the pixels of a widget: aspect kept, everything inside."""
    low, high = image_extent
    size, (before, after) = np.array([width, height]), _margins(width)
    scale = (np.maximum(size - before - after, LEAST * size) / (high - low)).min()
    x, y = (size + before - after) / 2 - scale * (low + high) / 2
    return np.array([[scale, 0.0, x], [0.0, scale, y], [0.0, 0.0, 1.0]])


def _margins(width: int) -> tuple[Floats, Floats]:
    """Return the pixels left and above, and right and below, of a fitted object in a picture of a width."""
    return np.add(MARGINS[:2], MORE_LABELS if width < NARROW else 0.0), np.array(MARGINS[2:])


def free_area(width: int, height: int) -> tuple[Floats, Floats]:
    """Return the upper left and the lower right pixel of what the margins leave of a picture."""
    half = np.array([width, height]) / 2
    upper, lower = (np.maximum(half - margins, LEAST * half) for margins in _margins(width))
    return half - upper, half + lower


def upright(up: Floats) -> Floats:
    """Return the rotation (3, 3) to axes of which y points against `up` (3,), and x nearly as before."""
    aside = np.eye(3)[0 if abs(up[0]) < LEANING else 1]
    x = aside - (aside @ up) * up
    x /= np.linalg.norm(x)
    return np.stack([x, -up, np.cross(x, -up)])


def as_triple(vector: Floats) -> tuple[float, float, float]:
    """Return a vector (3,) as plain numbers, which compare by value."""
    x, y, z = vector.tolist()
    return x, y, z


def _focal(height: int) -> float:
    return 0.5 * max(height, 1) / float(np.tan(np.radians(FIELD_OF_VIEW) / 2))
