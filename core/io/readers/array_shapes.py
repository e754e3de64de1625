"""The shapes of a single array of tracks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...data.sequence import MIN_FRAMES, MIN_POINTS
from .variables import blocked, interleaved, is_array

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt


@dataclass(frozen=True)
class Shape:
    """A layout of one array, recognized by its shape; NaN marks a missing point."""

    summary: str
    dimensions: int
    frames_and_points: Callable[[tuple[int, ...]], tuple[int, int] | None]  # of a shape; None where it is not
    arrange: Callable[[npt.NDArray[Any], str], npt.NDArray[Any]]  # the array and its name, to (F, 2, P)
    points_first: bool = False  # whether the axis of the points comes before that of the frames

    def fits(self, value: Any) -> bool:
        """Return whether a value has this shape, for a sequence of at least the least size."""
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
}
