"""Which points of a surface another part of it hides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..foundation.types import Bools, Floats, Ints

MARGIN = 1.0  # mm that a triangle must be nearer than a point to hide it


def hidden(image: Floats, depths: Floats, triangles: Ints, *, perspective: bool) -> Bools:
    """Return (F, P) whether a triangle lies between a point and the camera.

    Parameters
    ----------
    image
        (F, 2, P) positions in the image.
    depths
        (F, P) mm, positive in front of the camera.
    triangles
        (T, 3) point indices.
    perspective
        whether 1 / depth, not the depth itself, is linear over the image of a triangle.
    """
    nearness = 1 / depths if perspective else -depths
    limit = 1 / (depths - MARGIN) if perspective else MARGIN - depths
    return np.stack(
        [_hidden_in_frame(*values, triangles) for values in zip(image, nearness, limit, strict=True)]
    )


def _hidden_in_frame(image: Floats, nearness: Floats, limit: Floats, triangles: Ints) -> Bools:
    """Return (P,) whether a triangle covers a point with a nearness above the point's limit."""
    triangle, point = _overlapping(image, triangles)
    corners = triangles[triangle]  # (N, 3), one row per pair
    a, b, c = (image[:, corners[:, corner]] for corner in range(3))  # (2, N) each
    area = _cross(b - a, c - a)
    area[np.abs(area) < 1e-12] = np.inf  # seen edge-on: covers nothing
    place = image[:, point]
    weight_b = _cross(place - a, c - a) / area
    weight_c = _cross(b - a, place - a) / area
    weight_a = 1 - weight_b - weight_c
    # A point's own triangles have it in a corner, where two weights are 0: they do not cover it.
    covers = np.minimum(np.minimum(weight_a, weight_b), weight_c) > 1e-9
    key = nearness[corners]
    before = weight_a * key[:, 0] + weight_b * key[:, 1] + weight_c * key[:, 2] > limit[point]
    found = np.zeros(len(nearness), dtype=bool)
    found[point[covers & before]] = True
    return found


def _overlapping(image: Floats, triangles: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of a triangle and a point that lies in its bounding box: two index arrays (N,)."""
    order = np.argsort(image[0])
    low, high = image[:, triangles].min(axis=2), image[:, triangles].max(axis=2)
    first = np.searchsorted(image[0], low[0], side="left", sorter=order)
    counts = np.searchsorted(image[0], high[0], side="right", sorter=order) - first
    triangle = np.repeat(np.arange(len(triangles)), counts)
    # Within each triangle's run of pairs, count on from its first point in the order of x.
    start = np.repeat(first - np.cumsum(counts) + counts, counts)
    point = order[start + np.arange(len(triangle))]
    inside = (image[1, point] >= low[1, triangle]) & (image[1, point] <= high[1, triangle])
    return triangle[inside], point[inside]


def _cross(first: Floats, second: Floats) -> Floats:
    """Return the z component of the cross product of vectors in the plane, (2, N)."""
    product: Floats = first[0] * second[1] - first[1] * second[0]
    return product
