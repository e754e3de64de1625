"""Edges between nearby points, and what their lengths state about the size of an object."""

from __future__ import annotations

import numpy as np

from ..foundation.types import Floats, Ints

NEIGHBORS = 8  # of each point, that it has edges to
CANDIDATES = 1.75  # neighbors over these, that the most rigid edges are chosen of
# Standard deviations of lengths over their means: the highest tenth over the median above which an object has
# parts. Of surfaces it is at most 2.7, of a sheet that stretches 3.4, of bodies at least 3.7.
APART = 3.5
VARYING = 0.008  # median of these: of paper it is at most .005, of what stretches or tears at least .012
SHORTEST_EDGE = 1e-6  # in units of s: keeps the direction of an edge of length 0 finite
MOST_AT_ONCE = 20_000  # distances
STILL = 0.03  # standard deviation of a log length below which it counts as constant


def neighbor_edges(shapes: Floats, count: int) -> Ints:
    """Return the pairs of each point with its nearest neighbors.

    `shapes`: (F, 3, P) the shapes. Returns (2, E) indices of points, each pair once, the smaller index first.
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
    return _nearest_pairs(distance, count)


def _nearest_pairs(distance: Floats, count: int) -> Ints:
    """Return the pairs (2, E) of each point with those of the least distances (P, P) that are finite."""
    points = len(distance)
    near = np.argsort(distance, axis=1, kind="stable")[:, :count]
    finite = np.isfinite(np.take_along_axis(distance, near, axis=1)).ravel()
    first, second = np.repeat(np.arange(points), near.shape[1])[finite], near.ravel()[finite]
    pairs = np.unique(np.minimum(first, second) * points + np.maximum(first, second))
    return np.stack((pairs // points, pairs % points)).astype(np.int64)


def rigid_edges(shapes: Floats, neighbors: int, share: float) -> Ints:
    """Return the edges of each point whose lengths vary the least.

    Where parts move against each other an edge between two of them states nothing, but its term pulls as
    strongly as that of one within a part. A sum over the least varying edges only does not depend on the
    others, as in least trimmed squares (Rousseeuw 1984). Strains along an edge are taken as independent, so
    that the variance of a length is compared to its mean.

    `shapes`: (F, 3, P) the shapes. Of the edges to the nearest points, CANDIDATES times `neighbors`, each
    point keeps `share` times `neighbors`. Returns (2, E) as `neighbor_edges`.
    """
    edges = neighbor_edges(shapes, round(CANDIDATES * neighbors))
    mean, deviation = _length_statistics(shapes, edges)
    points = shapes.shape[2]
    varying = np.full((points, points), np.inf)
    varying[edges[0], edges[1]] = varying[edges[1], edges[0]] = np.square(deviation) / mean
    return _nearest_pairs(varying, max(1, round(share * neighbors)))


def has_parts(shapes: Floats, neighbors: int) -> bool:
    """Return whether parts move against each other: the lengths of some edges vary, most nearly stay.

    `shapes`: (F, 3, P) the shapes; `neighbors`: of each point, that it has edges to.
    """
    median, high = _length_variation(shapes, neighbors)
    return high > APART * median


def may_vary(shapes: Floats, neighbors: int) -> bool:
    """Return whether most lengths vary, and about alike: else they nearly stay, or there are parts.

    `shapes` and `neighbors` as in `has_parts`.
    """
    median, high = _length_variation(shapes, neighbors)
    return VARYING < median and high <= APART * median


def _length_variation(shapes: Floats, neighbors: int) -> tuple[float, float]:
    """Return the median and the highest tenth of the standard deviations of lengths over their means."""
    mean, deviation = _length_statistics(shapes, neighbor_edges(shapes, neighbors))
    median, high = np.quantile(deviation / mean, (0.5, 0.9))
    return float(median), float(high)


def frame_sizes(shapes: Floats, edges: Ints) -> Floats:
    """Return the size of the object in each frame that its edges agree on.

    `shapes`: (F, 3, P) the shapes; `edges`: (2, E) indices of points. Returns (F,) of geometric mean 1: the
    median over the edges of the length over the edge's geometric mean.
    """
    sizes = np.median(log_lengths(shapes, edges), axis=1)
    scaled: Floats = np.exp(sizes - sizes.mean())
    return scaled


def inflation(shapes: Floats, edges: Ints) -> float:
    """Return how much less lengths vary once they are divided by the size of the object in each frame.

    `shapes`: (F, 3, P) the shapes; `edges`: (2, E) indices of points.
    """
    logs = log_lengths(shapes, edges)
    rest = logs - np.median(logs, axis=1)[:, None]
    before, after = (np.maximum(each.std(axis=0), STILL) for each in (logs, rest))
    return float(np.log(before / after).mean())


def _lengths(shapes: Floats, edges: Ints) -> Floats:
    """Return the lengths of edges, (F, E)."""
    length = np.linalg.norm(shapes[:, :, edges[0]] - shapes[:, :, edges[1]], axis=1)
    positive: Floats = np.maximum(length, SHORTEST_EDGE)
    return positive


def _length_statistics(shapes: Floats, edges: Ints) -> tuple[Floats, Floats]:
    """Return the means and standard deviations of the lengths of edges over the frames, (E,)."""
    length = _lengths(shapes, edges)
    return length.mean(axis=0), length.std(axis=0)


def log_lengths(shapes: Floats, edges: Ints) -> Floats:
    """Return the logs of lengths less their means over the frames, (F, E)."""
    logs = np.log(_lengths(shapes, edges))
    logs -= logs.mean(axis=0)
    return logs
