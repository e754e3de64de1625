"""Which points of a surface another part of it hides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..arrays import Bools, Floats, Ints

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
    a, b, c = (image[:, triangles[:, corner], None] for corner in range(3))  # (2, T, 1) each
    area = _cross(b - a, c - a)
    area[np.abs(area) < 1e-12] = np.inf  # seen edge-on: covers nothing
    point = image[:, None, :]
    weight_b = _cross(point - a, c - a) / area
    weight_c = _cross(b - a, point - a) / area
    weight_a = 1 - weight_b - weight_c
    # A point's own triangles have it in a corner, where two weights are 0: they do not cover it.
    covers = np.minimum(np.minimum(weight_a, weight_b), weight_c) > 1e-9
    key = nearness[triangles][:, :, None]
    before = weight_a * key[:, 0] + weight_b * key[:, 1] + weight_c * key[:, 2] > limit
    found: Bools = np.any(covers & before, axis=0)
    return found


def _cross(first: Floats, second: Floats) -> Floats:
    """Return the z component of the cross product of vectors in the plane, (2, ...)."""
    product: Floats = first[0] * second[1] - first[1] * second[0]
    return product
