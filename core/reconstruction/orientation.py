"""How a reconstruction stands: what is up, which side is its front, and how high the floor is.

Pictures are taken upright, mostly. With R_f the rotations of the cameras, Y = R_f S + t, y down in a picture,
the upward axis of picture f is -R_f' e_y in the coordinates of S, and

    up = the mean of -R_f' e_y over the frames, of length 1.

Where the pictures have no upward axis in common, it is that of the first. Coordinates of a ground truth were
chosen by somebody: their axis next to the mean is up, where one is within SNAP degrees. No coordinates in use
have -z upwards: tracks of motion capture whose y points up seem to show that, and z is up in them.

The front is the side that the first camera sees: it is towards -R_0' e_z, along the floor. Where that camera
looks straight down, the lower edge of its picture is in front, and the upper one where it looks up.

The floor is at the lowest point of all frames, but for strays. A reconstruction that stands on it has x to
the right, y up, z towards the front, and the origin on the floor below the middle of the object.

A rule in place of this, for the setting `upright`, has up to three parts:

    up=0,-0.8,0.6         what is up, in the axes of the first camera (x right, y down, z forward)
    front=0.5,0,-1        from where the front is seen, likewise
    floor=12:3-5-9        the floor is at the height of points 3, 5 and 9 of frame 12, counted from 1
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ..foundation.exceptions import InputError
from ..foundation.linalg import Similarity
from ..foundation.representation import OneLine
from ..foundation.types import Floats

ACCEPTED = (
    "up=X,Y,Z and front=X,Y,Z, directions in the axes of the first camera (x right, y down, z forward), "
    "and floor=12:3-5-9, points 3, 5 and 9 of frame 12, with spaces between them"
)
PART = re.compile(r"(up|front)=([^,\s]+),([^,\s]+),([^,\s]+)|(floor)=(\d{1,9}):(\d{1,9}(?:-\d{1,9})*)")
SNAP = 35.0  # degrees from an axis of a truth that passes for up
TOGETHER = 0.3  # length of a mean of unit vectors, or of a shadow of one, below which it has no direction
ROBUST = (1.0, 99.0)  # percentiles of the heights of points
STRAY = 0.35  # of their distance: farther outside, a point is a stray
SAMPLED = 100_000  # heights, about, that the percentiles are found from


@dataclass(frozen=True)
class UprightRule:
    """What was said about how a reconstruction stands; None where nothing was."""

    up: tuple[float, ...] | None = None  # unit vector in the axes of the first camera
    front: tuple[float, ...] | None = None  # likewise
    floor: tuple[int, tuple[int, ...]] | None = None  # a frame and points of it, from 0

    def __str__(self) -> str:
        parts = [
            f"{name}={','.join(f'{round(part, 6) + 0.0:g}' for part in axis)}"
            for name, axis in (("up", self.up), ("front", self.front))
            if axis is not None
        ]
        if self.floor is not None:
            frame, points = self.floor
            parts.append(f"floor={frame + 1}:{'-'.join(str(point + 1) for point in points)}")
        return " ".join(parts)

    def check(self, frame_count: int, point_count: int) -> None:
        """Raise InputError where a sequence of this size does not have what the floor is at."""
        if self.floor is not None and (self.floor[0] >= frame_count or max(self.floor[1]) >= point_count):
            raise InputError(
                f"upright is '{self}'; accepted are frames from 1 to {frame_count} and points from 1 to "
                f"{point_count}"
            )


def parse_upright(text: str) -> UprightRule:
    """Return the rule that a text is. Raises InputError where it is none."""
    found: dict[str, tuple[float, ...] | tuple[int, tuple[int, ...]]] = {}
    for part in text.split():
        match = PART.fullmatch(part)
        name = "" if match is None else match[1] or match[5]
        value = None if match is None else _floor(match) if match[5] else _axis(match)
        if value is None or name in found:
            raise InputError(f"upright is {text!r}; accepted are {ACCEPTED}")
        found[name] = value
    if not found:
        raise InputError(f"upright is {text!r}; accepted are {ACCEPTED}")
    return UprightRule(**found)  # type: ignore[arg-type]  # each by its name


def _axis(match: re.Match[str]) -> tuple[float, ...] | None:
    try:
        axis = np.array([float(match[group]) for group in (2, 3, 4)])
    except ValueError:
        return None
    length = float(np.linalg.norm(axis))
    return tuple((axis / length).tolist()) if 0 < length < np.inf else None


def _floor(match: re.Match[str]) -> tuple[int, tuple[int, ...]] | None:
    frame, points = int(match[6]) - 1, tuple(int(point) - 1 for point in match[7].split("-"))
    return (frame, points) if min(frame, *points) >= 0 else None


@dataclass(frozen=True, eq=False)
class Orientation(OneLine):
    """How shapes stand, in their own coordinates."""

    rotation: Floats  # (3, 3) rows: unit vectors to the right, up, and towards who sees the front
    floor: float  # x . up of the points x of the floor
    middle: Floats  # (3,) of the object
    first: Floats  # (3, 3) rotation of the first camera, in whose axes a rule is

    @property
    def up(self) -> Floats:
        """(3,) unit vector."""
        return np.asarray(self.rotation[1])

    @property
    def front(self) -> Floats:
        """(3,) unit vector along the floor, from the object towards who sees its front."""
        return np.asarray(self.rotation[2])

    @property
    def placement(self) -> Similarity:
        """What moves shapes to where they stand: y up from the floor, the front towards z."""
        origin = self.rotation @ self.middle
        origin[1] = self.floor
        return Similarity(np.array(1.0), self.rotation, -origin)


def orient(
    points: Floats, rotations: Floats | None, rule: UprightRule | None = None, *, axes: Floats | None = None
) -> Orientation:
    """Return how shapes (F, 3, P) stand, NaN where a point is unknown; see the module.

    `rotations`: (F, 3, 3) from the shapes to the cameras, or reflections; None is one that stands upright.
    `axes`: (3, 3) rows are the axes of the coordinates of a truth; None without a truth.
    """
    rotations = np.eye(3)[None] if rotations is None else rotations
    rule, first = rule or UprightRule(), rotations[0]
    up = _mean_up(rotations, axes) if rule.up is None else first.T @ np.array(rule.up)
    towards = -first[2] if rule.front is None else first.T @ np.array(rule.front)
    front = towards - (towards @ up) * up
    if np.linalg.norm(front) < TOGETHER:
        below = first[1] if towards @ up > 0 else -first[1]
        front = below - (below @ up) * up
    if np.linalg.norm(front) < TOGETHER:  # a rule may have both along the same axis
        front = first[0] - (first[0] @ up) * up
    front /= np.linalg.norm(front)
    heights = np.tensordot(up, points, axes=(0, 1))  # (F, P)
    known = heights[np.isfinite(heights)]
    if not known.size:
        return Orientation(np.stack([np.cross(up, front), up, front]), 0.0, np.zeros(3), first)
    low, high = np.percentile(known[:: max(1, known.size // SAMPLED)], ROBUST)
    floor = float(known[known >= low - STRAY * (high - low)].min())
    if rule.floor is not None:
        frame, chosen = rule.floor
        own = heights[frame : frame + 1, [point for point in chosen if point < heights.shape[1]]]
        floor = float(np.nanmean(own)) if np.isfinite(own).any() else floor
    some = points[:, :, :: max(1, points.size // SAMPLED)]
    middle = np.nanmedian(some.transpose(1, 0, 2).reshape(3, -1), axis=1)
    return Orientation(np.stack([np.cross(up, front), up, front]), floor, middle, first)


def _mean_up(rotations: Floats, axes: Floats | None) -> Floats:
    """Return the unit vector of what is up in the pictures of cameras (F, 3, 3)."""
    mean = -rotations[:, 1].mean(axis=0)
    if np.linalg.norm(mean) < TOGETHER:
        mean = -rotations[0, 1]
    mean = np.asarray(mean / np.linalg.norm(mean))
    if axes is None:
        return mean
    own = axes @ mean
    axis = int(np.abs(own).argmax())
    if abs(own[axis]) > np.cos(np.radians(SNAP)):
        sign = 1.0 if axis == 2 else np.sign(own[axis])
        mean = np.asarray(sign * axes[axis] + 0.0)  # no minus zero
    return mean
