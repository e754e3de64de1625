"""What a view must show of a sequence: where the object is in every frame, its size, and what is up. No Qt.

Motion.  An object that moves through space is small in a picture of all places where it has been. Its center
c_f in frame f is a robust mean of its points. The path c_f is smoothed over the frames by a Gaussian, so that
a deformation is not canceled and the picture does not jitter. The displacement d_f of a frame is the smooth
center less the median of all of them. A view that follows the object shows x - d_f in place of x. Where that
makes the object less than GAIN times as large in its view, it stays: all d_f are zero.

Size.  h_f(u) = max_p u . (x_fp - d_f) is how far frame f reaches in a direction u. It leaves out the
outermost STRAYS of the points of a frame, which are errors in large clouds. The points that reach just so
far, one for each of many directions, are the outline of the frame.

Course.  A camera that looks in one direction has the outline of frame f just inside its picture from a
distance D_f. It stays at the distance D from which half of the frames fill the USUAL part of the picture or
more, and the first frame the FIRST part. Where the object grows, the camera goes back smoothly. With
s = D_f / D, the object fills l(s, 1) of the picture in place of s, where

    l(x, m) = x / (1 + |x / m|^p)^(1/p), p = SHARPNESS,

is nearly x where |x| is below m, and never more than m. To the sides, the object is inside the picture as
long as the camera is no farther than S_f from the place M_f in front of its middle. The camera stays at one
place C, and goes along only where the object would leave the picture: it is at M_f + l(C - M_f, S_f). So no
frame is cut, and what does not need the camera to move does not move it. Each frame counts as what the AHEAD
ones before and after it need as well, and the course is smoothed over them. A view that is not to follow
stays where nearly all frames are inside.

Direction.  What is up, and which side is the front, is known from `core.reconstruction.orientation`. The
default view is a three-quarter one from the front. It is another one where the object would be seen too
nearly edge-on: with C the mean covariance of the points of a frame and P the projection on the picture,
sqrt(det(P C P')) measures the area that is seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from core.foundation import Bools, Floats, Ints, read_only
from core.reconstruction import Orientation, orient
from nrsfm_gui.scene.orbit_camera import MIN_DISTANCE, Orbit, as_triple, upright

DIRECTIONS = 48  # in which the outermost point is kept
MOST_FRAMES, MOST_POINTS = 48, 300  # that are looked at
CENTER_POINTS = 100  # that a center is the mean of
REACHED = 0.95  # of the frames are inside the picture to all sides of a camera that stays
USUAL, FIRST = 0.88, 0.76  # of the free part of the picture that half of the frames and the first one fill
AHEAD = 3  # frames before and after one that the camera has to show as well
SHARPNESS = 6.0  # of the bend between a camera that stays and one that goes along
STRAYS = 0.005  # of the points of a frame may be outside
ROBUST = (1.0, 99.0)  # percentiles that bound the points
SLACK = 0.35  # of their distance: farther outside, a point is a stray
TAILS = 0.05  # of the points of a frame to each side do not move its center
SMOOTH = 5.0  # frames: standard deviation of the Gaussian that a path is smoothed by
GAIN = 1.2  # times that an object must be larger in its view for the view to follow it
ELEVATIONS = (18.0, 35.0, 55.0)  # degrees above the floor, the best first
TURNS = (30.0, -30.0, 15.0, -15.0, 45.0, -45.0, 0.0, 60.0, -60.0, 75.0, -75.0, 90.0)  # from the front
BROAD = 0.75  # of the largest area that is seen from any side; a view with less is too nearly edge-on
THICK = 0.1  # of the box's longest side: the least of the others


@dataclass(frozen=True, eq=False)
class Framing:
    """What a view must show of all frames. Arrays are read-only."""

    displacements: Floats  # (F, 3) of the object from its usual place
    outline: Floats  # (N, 3) outermost points of nearly all frames, without the displacements
    outlines: Floats  # (G, M, 3) the outermost points of frames by themselves, without the displacements
    outlined: Ints  # (G,) those frames, ascending
    outline_in_space: Floats  # (N, 3) of nearly all frames, with the displacements
    box: Floats  # (2, 3) lowest and highest corner of the outline
    spread: Floats  # (3, 3) covariance of the points of a frame
    orientation: Orientation
    azimuth: float = 0.0  # of the default view, degrees
    elevation: float = 0.0
    by_cameras: bool = False  # whether the direction follows from cameras, and is not a guess
    upright: str | None = None  # what was said about it, a setting

    @property
    def moves(self) -> bool:
        """Whether the object moves through space, so that a view has to follow it."""
        return bool(self.displacements.any())

    @property
    def up(self) -> Floats:
        """(3,) unit vector."""
        return self.orientation.up

    @property
    def front(self) -> float:
        """The azimuth of a view of the front, degrees."""
        aside, _, ahead = -upright(self.up) @ self.orientation.front
        return float(np.degrees(np.arctan2(-aside, ahead)))

    @property
    def aim(self) -> Orbit:
        """The default direction; center and distance are to be fitted."""
        return Orbit(azimuth=self.azimuth, elevation=self.elevation, up=as_triple(self.up))

    def aimed(
        self, orientation: Orientation, *, by_cameras: bool = True, upright: str | None = None
    ) -> Framing:
        """Return it with the default direction of an object that stands in some way."""
        stood = replace(self, orientation=orientation, by_cameras=by_cameras, upright=upright)
        azimuth, elevation = _default_view(self.spread, stood.up, stood.front)
        return replace(stood, azimuth=azimuth, elevation=elevation)

    def fit(self, orbit: Orbit, width: int, height: int, frame: int, *, follow: bool = True) -> Orbit:
        """Return the orbit of the course that shows a frame large, from the same direction."""
        if not follow:
            return orbit.fitted(self.outline_in_space, width, height)
        direction = replace(orbit, center=(0.0, 0.0, 0.0), distance=1.0)
        centers, distances = _course(self, direction, width, height)
        return replace(orbit, center=as_triple(centers[frame]), distance=float(distances[frame]))

    def outline_at(self, frame: int, *, follow: bool = True) -> Floats:
        """Return the outermost points (M, 3) of a frame, or of the nearest one that is looked at."""
        found: Floats = self.outlines[np.abs(self.outlined - frame).argmin()]
        return found if follow else found + self.displacements[frame]

    def fit_around(self, orbit: Orbit, width: int, height: int, *, follow: bool = True) -> Orbit:
        """Return the orbit that can turn about the upright axis with the object inside the picture."""
        outline = self.outline if follow else self.outline_in_space
        return orbit.around(outline, width, height)


def frame_points(points: Floats, orientation: Orientation | None = None) -> Framing | None:
    """Return what a view must show of points (F, 3, P), NaN for unknown ones; None where none is known."""
    chosen = evenly_spread(len(points), MOST_FRAMES)
    some = points[chosen][:, :, evenly_spread(points.shape[2], MOST_POINTS)]
    cloud = some.transpose(0, 2, 1)
    if not np.isfinite(cloud).any():
        return None
    path = _path(points[:, :, evenly_spread(points.shape[2], CENTER_POINTS)])
    moved = in_space = _reach_of(cloud)
    if np.linalg.norm(np.ptp(path, axis=0)) > (GAIN - 1.0) * in_space.size / GAIN:
        moved = _reach_of(cloud - path[chosen, None])
    if in_space.size < GAIN * moved.size:
        path, moved = np.zeros_like(path), in_space
    outline, stands = moved.outline, orientation or orient(points, None)
    return Framing(
        displacements=read_only(path),
        outline=read_only(outline),
        outlines=read_only(moved.outlines),
        outlined=read_only(chosen[moved.there], np.intp),
        outline_in_space=read_only(in_space.outline),
        box=read_only(thickened(np.stack([outline.min(axis=0), outline.max(axis=0)]))),
        spread=read_only(_mean_covariance(moved.cloud)),
        orientation=stands,
    ).aimed(stands, by_cameras=orientation is not None)


class _Reach(NamedTuple):
    """How far frames reach in all directions."""

    cloud: Floats  # (F, P, 3), NaN where unknown or a stray
    there: Ints  # (G,) the frames that have points
    outlines: Floats  # (G, M, 3) their outermost points, one a direction
    outline: Floats  # (N, 3) the points beyond which nearly all frames do not reach

    @property
    def size(self) -> float:
        """The diagonal of the box of the outline."""
        return float(np.linalg.norm(np.ptp(self.outline, axis=0)))


def _reach_of(cloud: Floats) -> _Reach:
    """Return how far points (F, P, 3) reach."""
    known = np.isfinite(cloud).all(axis=2)
    low, high = bounds_but_for_strays(cloud[known])
    with np.errstate(invalid="ignore"):
        near: Bools = np.asarray(known & ((cloud >= low) & (cloud <= high)).all(axis=2))
    reach, who = _outermost(cloud, near)
    cloud, there = np.where(near[:, :, None], cloud, np.nan), np.flatnonzero(np.isfinite(reach[:, 0]))
    order = np.argsort(reach, axis=0)  # frames without points come first
    frames = order[len(order) - len(there) + int(np.ceil(REACHED * len(there))) - 1]
    outline = cloud[frames, who[frames, np.arange(len(frames))]]
    return _Reach(cloud, there, cloud[there[:, None], who[there]], np.unique(outline, axis=0))


def bounds_but_for_strays(points: Floats) -> tuple[Floats, Floats]:
    """Return the coordinates (D,) below and above which points (N, D) are strays."""
    low, high = np.percentile(points, ROBUST, axis=0)
    slack = SLACK * (high - low).max()
    return low - slack, high + slack


def _outermost(cloud: Floats, known: Bools) -> tuple[Floats, Ints]:
    """Return how far frames (F, P, 3) but for STRAYS reach in every direction, (F, D), and by which point."""
    along = _directions() @ np.nan_to_num(cloud).transpose(0, 2, 1)  # (F, D, P)
    along[np.broadcast_to(~known[:, None], along.shape)] = -np.inf
    kept = -1 - int(STRAYS * cloud.shape[1])
    who = along.argmax(axis=2) if kept == -1 else np.argpartition(along, kept, axis=2)[:, :, kept]
    return np.take_along_axis(along, who[:, :, None], axis=2)[:, :, 0], who


def evenly_spread(count: int, most: int) -> Ints:
    """Return at most so many of `count` indices, evenly, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


@lru_cache(maxsize=1)
def _directions() -> Floats:
    """Return unit vectors (DIRECTIONS + 6, 3) evenly over the sphere, by a spiral, and the axes."""
    k = np.arange(DIRECTIONS) + 0.5
    height, turn = 1 - 2 * k / DIRECTIONS, np.pi * (1 + 5**0.5) * k
    radius = np.sqrt(1 - height**2)
    spiral = np.stack([radius * np.cos(turn), height, radius * np.sin(turn)], axis=1)
    return np.concatenate([spiral, np.eye(3), -np.eye(3)])


def _path(points: Floats) -> Floats:
    """Return the displacements (F, 3) of points (F, 3, P) from their usual place, smooth over the frames."""
    centers = _centers(points)
    found = np.flatnonzero(np.isfinite(centers[:, 0]))
    smooth = _smooth(_interpolated(found, centers[found], len(points)), SMOOTH)
    return np.asarray(smooth - np.median(smooth, axis=0))


@lru_cache(maxsize=8)
def _course(framing: Framing, direction: Orbit, width: int, height: int) -> tuple[Floats, Floats]:
    """Return the centers (F, 3) and the distances (F,) of the orbits that show the frames."""
    from scipy.ndimage import maximum_filter1d  # slow to load

    middle = framing.box.mean(axis=0)
    bounds = direction.bounds(framing.outlines - middle, width, height)
    first = float(bounds.distance[0]) / FIRST
    frames = len(framing.displacements)
    around = [
        maximum_filter1d(_interpolated(framing.outlined, each, frames), 2 * AHEAD + 1, axis=0, mode="nearest")
        for each in (bounds.ahead, -bounds.behind)
    ]
    bounds = replace(bounds, ahead=around[0], behind=-around[1])
    least = np.maximum(bounds.distance, MIN_DISTANCE)
    still = max(min(float(np.median(least)) / USUAL, first), MIN_DISTANCE)
    distances = least / _limited(least / still, np.ones(1))
    low, high = bounds.interval(distances)
    place = (np.quantile(low, REACHED, axis=0) + np.quantile(high, 1.0 - REACHED, axis=0)) / 2
    aside = (low + high) / 2
    aside = aside + _limited(place - aside, (high - low) / 2)
    smooth = _smooth(np.column_stack([aside, np.log(distances)]), AHEAD / 2)
    return middle + smooth[:, :2] @ direction.rotation[:2], np.exp(smooth[:, 2])


def _limited(values: Floats, most: Floats) -> Floats:
    """Return values that bend so as to stay below `most` > 0: l(x, m) of the module."""
    scale = np.maximum(np.maximum(np.abs(values), most), MIN_DISTANCE)
    powers = np.abs(values / scale) ** SHARPNESS + (most / scale) ** SHARPNESS
    return np.asarray(values * (most / scale) / powers ** (1.0 / SHARPNESS))


def _interpolated(found: Ints, values: Floats, count: int) -> Floats:
    """Return values (G, D) of ascending frames (G,) at all of `count` frames."""
    return np.stack([np.interp(np.arange(count), found, axis) for axis in values.T], axis=1)


def _smooth(filled: Floats, deviation: float) -> Floats:
    """Return values (F, D) smoothed over the frames by a Gaussian."""
    reach = min(int(3 * deviation), len(filled) - 1)
    if reach:
        # Mirrored about the first and the last frame, so that a straight path stays one.
        longer = np.pad(filled, ((reach, reach), (0, 0)), "reflect", reflect_type="odd")
        kernel = np.exp(-0.5 * np.square(np.arange(-reach, reach + 1) / deviation))
        kernel /= kernel.sum()
        filled = np.stack([np.convolve(axis, kernel, mode="valid") for axis in longer.T], axis=1)
    return filled


def _centers(points: Floats) -> Floats:
    """Return winsorized means (F, 3) of points (F, 3, P), NaN where none is known."""
    known = np.isfinite(points).all(axis=1, keepdims=True)
    values = np.sort(np.where(known, points, np.nan), axis=2)  # NaN comes last
    count = known.sum(axis=2, keepdims=True)
    tail = (TAILS * count).astype(int)
    low = np.take_along_axis(values, tail, axis=2)
    high = np.take_along_axis(values, np.maximum(count - 1 - tail, 0), axis=2)
    inside = np.where(np.isfinite(values), np.clip(values, low, high), 0.0)
    sums = inside.sum(axis=2)
    return np.where(count[:, :, 0] > 0, sums / np.maximum(count[:, :, 0], 1), np.nan)


def thickened(box: Floats) -> Floats:
    """Return a box (2, D) no side of which is degenerate."""
    sides = box[1] - box[0]
    longest = max(float(sides.max()), 1e-12)
    thin = np.maximum(THICK * longest - sides, 0.0)
    return np.stack([box[0] - thin / 2, box[1] + thin / 2])


def _default_view(spread: Floats, up: Floats, front: float) -> tuple[float, float]:
    """Return azimuth and elevation in degrees of the default view of points with a covariance (3, 3)."""
    seen = {}  # areas up to a factor
    for elevation, turn in product(ELEVATIONS, TURNS):
        across = Orbit(azimuth=front + turn, elevation=elevation, up=as_triple(up)).rotation[:2]
        seen[elevation, turn] = np.sqrt(max(np.linalg.det(across @ spread @ across.T), 0.0))
    enough = BROAD * max(seen.values())
    elevation, turn = next(view for view, area in seen.items() if area >= enough)
    return (front + turn + 180.0) % 360.0 - 180.0, elevation


def _mean_covariance(cloud: Floats) -> Floats:
    """Return the covariance (3, 3) of the points (F, P, 3) of a frame, mean over the frames."""
    known = np.isfinite(cloud).all(axis=2, keepdims=True)
    filled = np.where(known, cloud, 0.0)
    count = np.maximum(known.sum(axis=1, keepdims=True), 1)
    centered = np.where(known, filled - filled.sum(axis=1, keepdims=True) / count, 0.0)
    return np.asarray(np.einsum("fpa,fpb->ab", centered, centered) / max(int(known.sum()), 1))
