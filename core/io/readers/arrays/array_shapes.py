"""The shapes of a single array of tracks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ....data.sequence import MIN_FRAMES, MIN_POINTS
from ....foundation.representation import one_line_repr
from ...files.variables import blocked, interleaved, is_array, without_batch

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from ....foundation.types import Floats


@dataclass(frozen=True)
class Shape:
    """A layout of one array, recognized by its shape; NaN marks a missing point."""

    summary: str
    dimensions: int
    frames_and_points: Callable[[tuple[int, ...]], tuple[int, int] | None]  # of a shape; None where it is not
    arrange: Callable[[npt.NDArray[Any], str], npt.NDArray[Any]]  # the array and its name, to (F, 2, P)
    points_first: bool = False  # whether the axis of the points comes before that of the frames

    __repr__ = one_line_repr

    def fits(self, value: Any) -> bool:
        """Return whether a value has this shape, for a sequence of at least the least size."""
        value = without_batch(value)
        if not is_array(value, self.dimensions):
            return False
        size = self.frames_and_points(value.shape)
        return size is not None and size[0] >= MIN_FRAMES and size[1] >= MIN_POINTS


SHAPES: dict[str, Shape] = {
    "interleaved": Shape(
        "2F x P, rows x, y of each frame",
        2,
        lambda s: (s[0] // 2, s[1]) if s[0] % 2 == 0 else None,
        lambda array, name: interleaved(array, name, 2),
    ),
    "blocked": Shape(
        "2F x P, x of all frames, then y",
        2,
        lambda s: (s[0] // 2, s[1]) if s[0] % 2 == 0 else None,
        lambda array, name: blocked(array, name, 2),
    ),
    "frames-points-xy": Shape(
        "F x P x 2",
        3,
        lambda s: (s[0], s[1]) if s[2] == 2 else None,
        lambda array, _: array.transpose(0, 2, 1),
    ),
    "points-frames-xy": Shape(
        "P x F x 2",
        3,
        lambda s: (s[1], s[0]) if s[2] == 2 else None,
        lambda array, _: array.transpose(1, 2, 0),
        points_first=True,
    ),
    "xy-points-frames": Shape(
        "2 x P x F",
        3,
        lambda s: (s[2], s[1]) if s[0] == 2 else None,
        lambda array, _: array.transpose(2, 0, 1),
        points_first=True,
    ),
    "frames-xy-points": Shape(
        "F x 2 x P", 3, lambda s: (s[0], s[2]) if s[1] == 2 else None, lambda array, _: array
    ),
    "points-xy-frames": Shape(
        "P x 2 x F",
        3,
        lambda s: (s[2], s[0]) if s[1] == 2 else None,
        lambda array, _: array.transpose(2, 1, 0),
        points_first=True,
    ),
    "points-interleaved": Shape(
        "2P x F, rows x, y of each point",
        2,
        lambda s: (s[1], s[0] // 2) if s[0] % 2 == 0 else None,
        lambda array, name: interleaved(array, name, 2).transpose(2, 1, 0),
        points_first=True,
    ),
    "points-blocked": Shape(
        "2P x F, x of all points, then y",
        2,
        lambda s: (s[1], s[0] // 2) if s[0] % 2 == 0 else None,
        lambda array, name: blocked(array, name, 2).transpose(2, 1, 0),
        points_first=True,
    ),
}
# Of two shapes that sizes do not tell apart, the one that is read unless the other order is asked for.
RARER = {
    "frames-points-xy": "points-frames-xy",
    "frames-xy-points": "points-xy-frames",
    "interleaved": "points-interleaved",
    "blocked": "points-blocked",
}


CLEARLY = 2.0  # times smoother


def axes_contradict(array: Floats, points_first: bool) -> bool:
    """Return whether tracks (F, P, 2), or (P, F, 2), are clearly smoother along the axis of the points."""
    return is_smooth(array, 1 - int(points_first), int(points_first))


def axes_agree(array: Floats, points_first: bool) -> bool:
    """Return whether tracks are clearly smoother along the axis of the frames."""
    return is_smooth(array, int(points_first), 1 - int(points_first))


def is_smooth(array: Floats, axis: int, other: int) -> bool:
    """Return whether neighbors along one axis are clearly closer, and spread less, than along the other.

    A point moves little from frame to frame, and its path is shorter than the object is wide. The order of
    points in a file may be one of neighbors too, so both are asked for.
    """
    if min(array.shape[:2]) < 2:
        return False
    steps = [_median(np.abs(np.diff(array, axis=each))) for each in (axis, other)]
    spreads = [_median(np.ptp(_filled(array, each), axis=each)) for each in (axis, other)]
    return CLEARLY * steps[0] < steps[1] and spreads[0] < spreads[1]


def _median(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else np.nan


def _filled(array: Floats, axis: int) -> Floats:
    """Return an array with the mean along an axis where it is NaN, 0 where all of it is."""
    known = np.isfinite(array)
    count = np.maximum(known.sum(axis=axis, keepdims=True), 1)
    mean = np.where(known, array, 0.0).sum(axis=axis, keepdims=True) / count
    return np.where(known, array, mean)
