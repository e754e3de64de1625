"""Edges between nearby points, and what their lengths state about the size of an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..foundation.types import Floats, Ints

NEIGHBORS = 8  # of each point, that it has edges to
SHORTEST_EDGE = 1e-6  # in units of s: keeps the direction of an edge of length 0 finite
MOST_AT_ONCE = 20_000  # distances
STILL = 0.03  # standard deviation of a log length below which it counts as constant


def neighbor_edges(shapes: Floats, count: int) -> Ints:
    """Return the pairs of each point with its nearest neighbors.

    `shapes`: (F, 3, P) the shapes. Returns (2, E) indices of points, each pair once, the smaller index first.

    >>> import numpy as np
    >>> line = np.zeros((1, 3, 4))
    >>> line[0, 0] = [0.0, 1.0, 2.5, 4.5]
    >>> neighbor_edges(line, 1).tolist()
    [[0, 1, 2], [1, 2, 3]]
    """
    points = shapes.shape[2]
    one, other = np.triu_indices(points, 1)
    if count >= points - 1:
        return np.stack((one, other)).astype(np.int64)
    total = np.zeros(len(one))
    step = max(1, MOST_AT_ONCE // len(one))
    for start in range(0, len(shapes), step):
        some = shapes[start : start + step]
        difference = some[:, :, one] - some[:, :, other]
        total += np.sqrt(np.einsum("fap,fap->fp", difference, difference)).sum(axis=0)
    distance = np.full((points, points), np.inf)
    distance[one, other] = distance[other, one] = total
    near = np.argsort(distance, axis=1, kind="stable")[:, :count]
    first, second = np.repeat(np.arange(points), count), near.ravel()
    pairs = np.unique(np.minimum(first, second) * points + np.maximum(first, second))
    return np.stack((pairs // points, pairs % points)).astype(np.int64)


def frame_sizes(shapes: Floats, edges: Ints) -> Floats:
    """Return the size of the object in each frame that its edges agree on.

    `shapes`: (F, 3, P) the shapes; `edges`: (2, E) indices of points. Returns (F,) of geometric mean 1: the
    median over the edges of the length over the edge's geometric mean.

    >>> import numpy as np
    >>> shape = np.random.default_rng(0).normal(size=(3, 10))
    >>> shapes = np.stack((shape, 4 * shape))
    >>> frame_sizes(shapes, neighbor_edges(shapes, 3)).round(6).tolist()
    [0.5, 2.0]
    """
    sizes = np.median(_log_lengths(shapes, edges), axis=1)
    scaled: Floats = np.exp(sizes - sizes.mean())
    return scaled


def inflation(shapes: Floats, edges: Ints) -> float:
    """Return how much less lengths vary once they are divided by the size of the object in each frame.

    `shapes`: (F, 3, P) the shapes; `edges`: (2, E) indices of points.

    >>> import numpy as np
    >>> shapes = np.random.default_rng(0).normal(size=(3, 10)) * np.linspace(1, 2, 5)[:, None, None]
    >>> round(inflation(shapes, neighbor_edges(shapes, 3)), 1)
    2.1
    """
    logs = _log_lengths(shapes, edges)
    rest = logs - np.median(logs, axis=1)[:, None]
    before, after = (np.maximum(each.std(axis=0), STILL) for each in (logs, rest))
    return float(np.log(before / after).mean())


def _log_lengths(shapes: Floats, edges: Ints) -> Floats:
    """Return the logs of lengths less their means over the frames, (F, E)."""
    length = np.linalg.norm(shapes[:, :, edges[0]] - shapes[:, :, edges[1]], axis=1)
    logs: Floats = np.log(np.maximum(length, SHORTEST_EDGE))
    logs -= logs.mean(axis=0)
    return logs
