"""The size of a reconstruction in units of length, from one length that is known.

Images do not show the size of what they show. A rule gives it: the distance of two points, or the size of the
object.

    3-17=85mm       points 3 and 17, counted from 1, are 85 mm apart, on average over the frames
    size=200mm      the two points of a frame that are farthest apart are 200 mm apart, in the median frame
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ..foundation.exceptions import InputError
from ..foundation.types import Floats

METERS = {  # of one unit
    **{"um": 1e-6, "mm": 1e-3, "cm": 1e-2, "dm": 0.1, "m": 1.0, "km": 1e3},
    **{"in": 0.0254, "ft": 0.3048},
}
UNITS = tuple(METERS)
ACCEPTED = "3-17=85mm, the distance of two points counted from 1, or size=200mm"
DIRECTIONS = 300  # in which the outermost points of many are found
RULE = re.compile(r"\s*(?:(\d+)\s*-\s*(\d+)|size)\s*=\s*([0-9.]+(?:[eE][+-]?\d+)?)\s*([a-zA-Zµ]+)\s*")
MOST_PAIRED = 400  # points, of which all distances are computed


@dataclass(frozen=True)
class ScaleRule:
    """A length that is known."""

    # The two points whose distance it is, from 0; None for the size of the object.
    points: tuple[int, int] | None
    length: float  # above 0
    unit: str  # one of `UNITS`

    def __str__(self) -> str:
        what = "size" if self.points is None else f"{self.points[0] + 1}-{self.points[1] + 1}"
        return f"{what}={self.length:.12g}{self.unit}"

    def check(self, point_count: int) -> None:
        """Raise InputError where a sequence of so many points does not have the two."""
        if self.points is not None and max(self.points) >= point_count:
            raise InputError(f"scale is '{self}'; accepted are points from 1 to {point_count}")

    def factor_in(self, unit: str, shapes: Floats) -> float | None:
        """Return one unit of shapes in another unit of length; None where that is none of `UNITS`."""
        return self.factor(shapes) * METERS[self.unit] / METERS[unit] if unit in METERS else None

    def factor(self, shapes: Floats) -> float:
        """Return the units of length per unit of shapes (F, 3, P)."""
        self.check(shapes.shape[2])
        measured = _size_of(shapes) if self.points is None else _distance(shapes, *self.points)
        if not (np.isfinite(measured) and measured > 0):
            raise InputError(f"scale is '{self}', but that length is {measured:g} in the reconstruction")
        return self.length / measured


def parse_scale(text: str) -> ScaleRule:
    """Return the rule that a text is."""
    found = RULE.fullmatch(text)
    if found is None:
        raise InputError(f"scale is {text!r}; accepted are {ACCEPTED}")
    first, second, number, unit = found.groups()
    unit = unit.replace("µ", "u")
    if unit not in UNITS:
        raise InputError(f"scale is {text!r}, with the unit {unit}; accepted are {', '.join(UNITS)}")
    try:
        length = float(number)
    except ValueError:
        length = 0.0
    points = None if first is None else (int(first) - 1, int(second) - 1)
    if not 0 < length < np.inf or (points is not None and (min(points) < 0 or points[0] == points[1])):
        raise InputError(f"scale is {text!r}; accepted are {ACCEPTED}")
    return ScaleRule(points, length, unit)


def _distance(shapes: Floats, first: int, second: int) -> float:
    return float(np.linalg.norm(shapes[:, :, first] - shapes[:, :, second], axis=1).mean())


def _size_of(shapes: Floats) -> float:
    """Return the median over the frames of the largest distance of two points."""
    from scipy.spatial.distance import pdist  # slow to load

    if shapes.shape[2] <= MOST_PAIRED:
        return float(np.median([pdist(S.T).max() for S in shapes]))
    # The two points that are farthest apart are nearly the outermost ones in some direction.
    along = np.random.default_rng(0).normal(size=(DIRECTIONS, 3)) @ shapes
    outer = np.concatenate((along.argmax(axis=2), along.argmin(axis=2)), axis=1)  # (F, 2 DIRECTIONS)
    chosen = (S[:, np.unique(some)] for S, some in zip(shapes, outer, strict=True))
    return float(np.median([pdist(some.T).max() for some in chosen]))
