"""The shapes of a single array: of tracks with two coordinates, of points in space with three."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ....data.sequence import MIN_FRAMES, MIN_POINTS
from ....foundation.exceptions import InputError
from ....foundation.representation import OneLine
from ....foundation.types import Floats
from ...files.variables import Variables, is_array, numbers, size_of, without_batch


@dataclass(frozen=True)
class Shape(OneLine):
    """A layout of one array, recognized by its shape; NaN marks a missing point."""

    summary: str
    axes: str  # F frames, P points, 2 coordinates; without 2 the first axis has x and y of each
    blocked: bool = False  # whether all x come before all y there, and not the y of each after its x

    @property
    def dimensions(self) -> int:
        """The number of axes."""
        return len(self.axes)

    @property
    def points_first(self) -> bool:
        """Whether the axis of the points comes before that of the frames."""
        return self.axes.index("P") < self.axes.index("F")

    def frames_and_points(self, shape: tuple[int, ...]) -> tuple[int, int] | None:
        """Return the sizes F and P of an array of tracks; None where it is not of this shape."""
        if len(shape) != self.dimensions:
            return None
        sizes = dict(zip(self.axes, shape, strict=True))
        if self.dimensions == 2:
            sizes[self.axes[0]], odd = divmod(shape[0], 2)
            sizes["2"] = 2 - odd
        return (sizes["F"], sizes["P"]) if sizes["2"] == 2 else None

    def arrange(self, array: npt.NDArray[Any], name: str, count: int = 2) -> npt.NDArray[Any]:
        """Return an array of points with so many coordinates as (F, count, P)."""
        if self.dimensions == 3:
            if array.shape[self.axes.index("2")] != count:
                words = {"F": "frames", "P": "points", "2": str(count)}
                accepted = " x ".join(words[axis] for axis in self.axes)
                raise InputError(f"{name} is {size_of(array)}; accepted is {accepted}")
            return array.transpose([self.axes.index(axis) for axis in "F2P"])
        if not array.size:
            raise InputError(
                f"{name} is {size_of(array)} and empty; accepted is at least one frame of one point"
            )
        rows, columns = array.shape
        if rows % count:
            raise InputError(
                f"{name} is {size_of(array)}; accepted is {count} rows per frame, and {rows} does not "
                f"divide by {count}"
            )
        if self.blocked:
            arranged = array.reshape(count, -1, columns).transpose(1, 0, 2)
        else:
            arranged = array.reshape(-1, count, columns)
        return arranged.transpose(2, 1, 0) if self.points_first else arranged

    def fits(self, value: Any) -> bool:
        """Return whether a value has this shape, for a sequence of at least the least size."""
        value = without_batch(value)
        size = self.frames_and_points(value.shape) if is_array(value) else None
        return size is not None and size[0] >= MIN_FRAMES and size[1] >= MIN_POINTS


SHAPES: dict[str, Shape] = {
    "interleaved": Shape("2F x P, rows x, y of each frame", "FP"),
    "blocked": Shape("2F x P, x of all frames, then y", "FP", blocked=True),
    "frames-points-xy": Shape("F x P x 2", "FP2"),
    "points-frames-xy": Shape("P x F x 2", "PF2"),
    "xy-points-frames": Shape("2 x P x F", "2PF"),
    "frames-xy-points": Shape("F x 2 x P", "F2P"),
    "points-xy-frames": Shape("P x 2 x F", "P2F"),
    "points-interleaved": Shape("2P x F, rows x, y of each point", "PF"),
    "points-blocked": Shape("2P x F, x of all points, then y", "PF", blocked=True),
}
# Of two shapes that sizes do not tell apart, the one that is read unless the other order is asked for.
RARER = {
    "frames-points-xy": "points-frames-xy",
    "frames-xy-points": "points-xy-frames",
    "interleaved": "points-interleaved",
    "blocked": "points-blocked",
}


def read_array(
    variables: Variables, name: str, shape: str = "interleaved", count: int = 2, *, missing: bool = False
) -> Floats:
    """Return an array of a file, of points with so many coordinates, as (F, count, P).

    `shape`: a key of `SHAPES`; `missing`: whether NaN is a missing value.
    """
    form = SHAPES[shape]
    return form.arrange(numbers(variables, name, dimensions=form.dimensions, missing=missing), name, count)


CLEARLY = 2.0  # times smoother


def smooth_axis(array: Floats) -> int | None:
    """Return the axis 0 or 1 along which tracks are clearly closer, and spread less, than along the other.

    A point moves little from frame to frame, and its path is shorter than the object is wide. The order of
    points in a file may be one of neighbors too, so both are asked for. None where no axis is such a one.
    """
    if min(array.shape[:2]) < 2:
        return None
    steps = [_median(np.abs(np.diff(array, axis=axis))) for axis in (0, 1)]
    # fmax and fmin leave NaN out; where there is nothing else the spread is 0.
    spreads = [
        _median(np.nan_to_num(np.fmax.reduce(array, axis) - np.fmin.reduce(array, axis))) for axis in (0, 1)
    ]
    for axis, other in ((0, 1), (1, 0)):
        if CLEARLY * steps[axis] < steps[other] and spreads[axis] < spreads[other]:
            return axis
    return None


def _median(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else np.nan
