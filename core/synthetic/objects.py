"""Five deforming objects with known shape, about 100 mm in radius around the origin.

They resemble the five of the NRSfM Challenge. All are functions of time s in [0, 1] alone, so that every
camera path sees the same truth. World axes are those of a camera at rest in front: x right, y down, z away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..data import edges_of
from ..foundation import Floats, Ints

X, Y, Z = range(3)
GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


@dataclass(frozen=True, eq=False)
class Body:
    """The shapes of an object over time and how its points are connected."""

    shapes: Floats  # (F, 3, P) mm
    edges: Ints  # (E, 2): a skeleton, or the edges of the faces
    faces: Ints | None  # (T, 3); None for an object that is drawn as a skeleton
    occluders: Ints  # (T, 3) triangles that hide what is behind them

    @classmethod
    def of_surface(cls, shapes: Floats, faces: Ints) -> Body:
        """Return an object whose faces are what hides."""
        return cls(shapes, edges_of(faces), faces, faces)


def articulated(frames: int, points: int) -> Body:
    """Return an arm of three rigid links that turn at the shoulder, the elbow and the wrist.

    A link's points lie on a tapering helix, four to a turn, which its edges join along and around.
    """
    s = np.linspace(0, 1, frames)
    shoulder, elbow = 0.7 * np.sin(2 * np.pi * s), 0.9 + 0.6 * np.sin(2 * np.pi * s + 1.0)
    swing = shoulder, elbow, 0.5 * np.sin(4 * np.pi * s + 0.5)
    twist = 0.8 * np.sin(2 * np.pi * s + 2.0)
    lengths, radii = (66.0, 54.0, 38.0), (13.0, 10.0, 7.0)
    counts = [points - 2 * (points // 3), points // 3, points // 3]
    joint, turn = np.tile([0.0, 70.0, 0.0], (frames, 1)), _turn(twist, Z, X)
    shapes, edges, occluders, first = [], [], [], 0
    for bend, length, radius, count in zip(swing, lengths, radii, counts, strict=True):
        turn = turn @ _turn(bend, X, Y)
        along = np.arange(count) / max(count - 1, 1)
        around = np.pi / 2 * np.arange(count)
        width = radius * (1 - 0.3 * along)
        link = np.stack([width * np.cos(around), -length * along, width * np.sin(around)])
        shapes.append(turn @ link + joint[:, :, None])
        joint = joint + turn @ np.array([0.0, -length, 0.0])
        steps = [(i, i + step) for step in (1, 4) for i in range(count - step)]
        edges.append(np.array(steps) + first)
        occluders.append(_hull(link.T) + first)
        first += count
    joined = np.concatenate(shapes, axis=2)
    return Body(joined, np.concatenate(edges), None, np.concatenate(occluders))


def balloon(frames: int, points: int) -> Body:
    """Return a closed surface that inflates, its top first, and wobbles while it does."""
    s = np.linspace(0, 1, frames)[:, None]
    height = 1 - 2 * (np.arange(points) + 0.5) / points  # of points spread evenly on a sphere; 1 is the top
    around = GOLDEN_ANGLE * np.arange(points)
    ring = np.sqrt(1 - height**2)
    # The lower half follows later: early on the balloon is a pear, at the end nearly a sphere.
    air = 0.5 * (1 - np.cos(np.pi * np.clip(1.35 * s - 0.35 * (1 - height) / 2, 0, 1)))
    radius = 45 + 50 * air
    wobble = 1 + 0.06 * np.sin(4 * np.pi * s) * np.cos(2 * around)
    x, z = radius * wobble * ring * np.cos(around), radius / wobble * ring * np.sin(around)
    shape = np.stack([x, -1.1 * radius * height, z], axis=1)
    faces = _hull(np.stack([ring * np.cos(around), -height, ring * np.sin(around)], axis=1))
    return Body.of_surface(shape, faces)


def paper(frames: int, points: int) -> Body:
    """Return a sheet that bends without stretching, as a cylinder whose axis and curvature change."""
    s = np.linspace(0, 1, frames)[:, None]
    u, v = sheet(points, 150.0, 110.0)
    angle = 0.9 * np.sin(2 * np.pi * s)
    curvature = 0.016 * np.sin(2 * np.pi * s + 0.6) + 0.004 * np.sin(6 * np.pi * s)
    curvature = np.where(np.abs(curvature) < 1e-9, 1e-9, curvature)
    across, along = np.cos(angle) * u + np.sin(angle) * v, np.cos(angle) * v - np.sin(angle) * u
    bent = np.sin(curvature * across) / curvature
    depth = 2 * np.sin(curvature * across / 2) ** 2 / curvature
    shape = np.stack(
        [np.cos(angle) * bent - np.sin(angle) * along, np.sin(angle) * bent + np.cos(angle) * along, depth],
        axis=1,
    )
    return Body.of_surface(shape, _triangles(u, v))


def stretch(frames: int, points: int) -> Body:
    """Return a rubber sheet that is pulled lengthwise, narrows in its middle, and bulges."""
    s = np.linspace(0, 1, frames)[:, None]
    u, v = sheet(points, 110.0, 110.0)
    pull = 0.5 * (1 - np.cos(2 * np.pi * s)) + 0.25 * np.sin(4 * np.pi * s) ** 2
    middle = np.cos(np.pi * u / 110.0)
    bulge = 22 * np.sin(2 * np.pi * s + 0.4) * middle * np.cos(np.pi * v / 110.0)
    sag = 10 * np.sin(4 * np.pi * s) * np.sin(2 * np.pi * u / 110.0)
    shape = np.stack([u * (1 + 0.5 * pull), v * (1 - 0.35 * pull * middle), bulge + sag], axis=1)
    return Body.of_surface(shape, _triangles(u, v))


def tearing(frames: int, points: int) -> Body:
    """Return a sheet that tears from the middle of its top edge downward; the halves swing apart."""
    s = np.linspace(0, 1, frames)[:, None]
    u, v = sheet(points, 130.0, 130.0)
    side = np.where(u < 0, -1.0, 1.0)
    deepest = 35.0
    tip = -65 + (65 + deepest) * 0.5 * (1 - np.cos(np.pi * s))  # where the tear ends; the top edge is at -65
    above = np.maximum(tip - v, 0)
    # A half turns about the tip, in the sheet and out of it; far from the tear it follows less.
    follow = np.exp(-np.abs(u) / 90)
    opening = 0.35 * s * above * follow
    shape = np.stack(
        [u + side * opening, v + 0.1 * s * above, 0.75 * side * opening - 12 * s * (u / 65) ** 2], axis=1
    )
    shape[:, 2] += 10 * np.sin(2 * np.pi * s) * np.cos(np.pi * v / 130)
    faces = _triangles(u, v)
    left = side[faces] < 0
    torn = left.any(axis=1) & ~left.all(axis=1) & (v[faces].min(axis=1) < deepest)
    return Body.of_surface(shape, faces[~torn])


KINDS: dict[str, Callable[[int, int], Body]] = {
    "articulated": articulated,
    "balloon": balloon,
    "paper": paper,
    "stretch": stretch,
    "tearing": tearing,
}


def sheet(points: int, width: float, height: float) -> tuple[Floats, Floats]:
    """Return u and v (P,) of points in rows on a sheet around the origin, exactly as many as asked for."""
    rows = max(2, round(np.sqrt(points * height / width)))
    u, v = [], []
    for row, members in enumerate(np.array_split(np.arange(points), rows)):
        u.append(np.linspace(-width / 2, width / 2, len(members)))
        v.append(np.full(len(members), height * (row / (rows - 1) - 0.5)))
    return np.concatenate(u), np.concatenate(v)


def _triangles(u: Floats, v: Floats) -> Ints:
    # Imported late: only the simulation needs computational geometry.
    from scipy.spatial import Delaunay

    return np.asarray(Delaunay(np.stack([u, v], axis=1)).simplices, dtype=np.int64)


def _hull(points: Floats) -> Ints:
    from scipy.spatial import ConvexHull

    return np.asarray(ConvexHull(points).simplices, dtype=np.int64)


def _turn(angle: Floats, first: int, second: int) -> Floats:
    """Return (F, 3, 3) rotations from one axis towards another."""
    turn = np.tile(np.eye(3), (len(angle), 1, 1))
    turn[:, first, first] = turn[:, second, second] = np.cos(angle)
    turn[:, second, first], turn[:, first, second] = np.sin(angle), -np.sin(angle)
    return turn
