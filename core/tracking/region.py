"""Where points may begin: a region that moves with the points in it, and masks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..foundation import Bools, Floats, InputError
from .registration import RADIUS, Singles
from .video import Video

OUTLINE = 64  # corners of the region as it moves
NEIGHBORS = 8  # points that move a corner of the region


def rectangle(x: float, y: float, width: float, height: float) -> Floats:
    """Return the corners (4, 2) of a rectangle.

    `x`, `y`: its upper left corner, in pixels; `width`, `height`: its size, in pixels.
    """
    right, down = x + width, y + height
    return np.array([[x, y], [right, y], [right, down], [x, down]], dtype=np.float64)


def checked_region(region: npt.ArrayLike, size: tuple[int, int], reduction: float = 1.0) -> Floats:
    """Return the corners (M, 2) of a region, moved into the picture.

    `size`: of the picture, in pixels; `reduction`: of its area, before patches are taken.
    """
    corners = np.asarray(region, dtype=np.float64)
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3 or not np.isfinite(corners).all():
        raise InputError(f"region has shape {corners.shape}; accepted are (corners, 2) numbers, 3 or more")
    inside = np.clip(corners, 0, np.array(size) - 1.0)
    least = (2 * RADIUS) ** 2 / reduction
    if area(inside) < least:
        raise InputError(
            f"region covers {area(inside):.0f} square pixels of a picture of {size[0]} x {size[1]}; at "
            f"least {least:.0f} are needed"
        )
    return inside


def outline(region: Floats) -> Floats:
    """Return corners (M, 2) that lie evenly on the border of a region."""
    closed = np.concatenate([region, region[:1]])
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    at = np.linspace(0, lengths[-1], OUTLINE, endpoint=False)
    return np.stack([np.interp(at, lengths, closed[:, axis]) for axis in range(2)], axis=1)


def moved_region(corners: Floats, before: Singles, after: Singles) -> Floats:
    """Return the corners of a region, each moved as the points near it are on average."""
    if not len(before):
        return corners
    apart = np.linalg.norm(corners[:, None] - before[None], axis=2)
    near = np.argpartition(apart, min(NEIGHBORS, len(before)) - 1, axis=1)[:, :NEIGHBORS]
    moved: Floats = corners + np.median((after - before)[near], axis=1)
    return moved


def area(corners: Floats) -> float:
    """Return the area of a polygon (M, 2)."""
    x, y = corners.T
    return 0.5 * abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))))


class Masks:
    """Where the object is in the frames of a video: one picture for all of them, or one for each.

    `path`: a picture, or a folder or a pattern of pictures, or a video; the object is where it is not black.
    """

    def __init__(self, path: Path, video: Video) -> None:
        self._masks = Video(path)
        count, size = self._masks.count, self._masks.size
        if size != video.size or count not in (1, video.count):
            self.close()
            raise InputError(
                f"{path} has {count} masks of {size[0]} x {size[1]} pixels; accepted are 1 or {video.count}, "
                f"of the size of the video, {video.size[0]} x {video.size[1]}"
            )
        self._one = self._inside(0) if count == 1 else None

    def read(self, picture: int) -> Bools:
        """Return where the object is in a frame, (H, W). Raises InputError where it cannot be read."""
        return self._inside(picture) if self._one is None else self._one

    def close(self) -> None:
        """Close the file."""
        self._masks.close()

    def _inside(self, index: int) -> Bools:
        inside: Bools = np.asarray(self._masks.read(index).any(axis=2))
        return inside
