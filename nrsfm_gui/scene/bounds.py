"""The points that bound all frames of a sequence, for fitting a camera to it. No Qt."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from core.foundation import Floats
    from nrsfm_gui.scene.shapes import Shapes

DIRECTIONS = 100  # in which the outermost point is kept
MOST_POINTS = 12_000  # of all frames that are looked at


def bounding_points(shapes: Shapes) -> Floats | None:
    """Return points (N, 3) that fit a picture exactly if all frames of estimate and truth do.

    The outermost point in each of many directions; strays outside the extent do not count.
    """
    if shapes.extent is None:
        return None
    low, high = shapes.extent
    found = [_thinned(points) for points in (shapes.points, shapes.truth) if points is not None]
    cloud = np.concatenate(found)
    inside = (cloud >= low).all(axis=1) & (cloud <= high).all(axis=1)  # False for NaN
    cloud = cloud[inside]
    if not len(cloud):
        return np.array([low, high])
    outermost = np.unique((_directions() @ cloud.T).argmax(axis=1))
    bounding: Floats = cloud[outermost]
    return bounding


def _thinned(points: Floats) -> Floats:
    """Return about MOST_POINTS of points (F, 3, P) as rows (N, 3), the first and last frame among them."""
    frames, _, count = points.shape
    step = max(1, -(-frames * count // MOST_POINTS))
    chosen = np.unique(np.append(np.arange(0, frames, step), frames - 1))
    rows: Floats = points[chosen].transpose(0, 2, 1).reshape(-1, 3)
    return rows


@lru_cache(maxsize=1)
def _directions() -> Floats:
    """Return unit vectors (DIRECTIONS, 3) evenly over the sphere, by a spiral."""
    k = np.arange(DIRECTIONS) + 0.5
    height, turn = 1 - 2 * k / DIRECTIONS, np.pi * (1 + 5**0.5) * k
    radius = np.sqrt(1 - height**2)
    return np.stack([radius * np.cos(turn), height, radius * np.sin(turn)], axis=1)
