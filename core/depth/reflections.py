r"""Reflections in depth of blocks of frames and of single frames, which no descent finds.

An image of a point set under an orthogonal camera is also that of its mirror image in depth, and under a
perspective camera nearly so.  A wrong start therefore often has a run of frames mirrored, and between the two
there is a barrier.  The mirrored depths of a frame are

    log z -> 2 mean_j log z - log z,    R -> diag(1, 1, -1) R diag(1, 1, -1),

with z in place of log z where the camera is orthogonal, after which the block is turned as a whole onto the
mean shape of the other frames.

Where a block may begin or end is a matter of the links between successive frames.  With d the squared
distance of two shapes after rotation, and ~ for mirrored, a link is suspicious where

    log(d(X_f, X_f+1) + 1e-4) - log(min(d(X_f, X~_f+1), d(X~_f, X_f+1)) + 1e-4)

is high relative to the others of the sequence.

Where frames are few, or far from each other, the wrong ones need not be neighbors.  With L_f the mean shape
of the other frames, frame f by itself is the more suspicious the higher

    log(d(X_f, L_f) + 1e-4) - log(d(X~_f, L_f) + 1e-4).

Wrong frames spoil the mean that the others are compared with, so that right ones may be as suspicious.

A limb by itself is also seen nearly as its mirror image about the depth where it is attached, in each frame
(the kinematic jumps of Sminchisescu and Triggs 2003).  Limbs that move together are one mode of the
deviations, so that one by itself comes back: the half or the fifth of the points that moves most is mirrored
at once, each connected part about its neighbors, in the frames on one side of the first mode of these points.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from ..foundation.linalg import nearest_rotation
from ..foundation.types import Bools, Floats, Ints
from .edges import rigid_edges
from .problem import DepthPoint, DepthProblem

MOST_CUTS = 6  # links at which a block may begin or end
LEAST_SUSPICION = -2.0  # of a link, below which it is not a cut
LARGEST_BLOCK = 0.6  # of the frames
FEW_FRAMES = 22  # of which all may be wrong one by one
MOST_FRAMES = 6  # of more: only so many, and of these those that fit the mean better when mirrored
MOVING = 0.5, 0.2  # of the points, those that move most, are mirrored as parts
ATTACHED = 0.5  # of the edges of a point, see `rigid_edges`: those that a part is connected by
FLOOR = 1e-4  # added to squared distances, in units of s
MIRROR = np.diag([1.0, 1.0, -1.0])


@dataclass(frozen=True, order=True)
class FrameBlock:
    """A run of frames, `first` to `last - 1`."""

    first: int
    last: int

    def __str__(self) -> str:
        """Return the frames, counted from 1."""
        if self.last - self.first == 1:
            return f"frame {self.last}"
        return f"frames {self.first + 1}-{self.last}"


def mirror_in_depth(point: DepthPoint) -> DepthPoint:
    """Return every frame mirrored in depth."""
    relief = point.relief
    mirrored = point.with_relief(2.0 * relief.mean(axis=1, keepdims=True) - relief)
    return replace(mirrored, rotations=MIRROR @ point.rotations @ MIRROR)


def shape_distances(X: Floats, other: Floats) -> Floats:
    """Return the squared distances of shapes after the rotation that makes them least."""
    turn = nearest_rotation(other @ np.swapaxes(X, -1, -2))
    distances: Floats = np.square(turn @ X - other).sum(axis=(-2, -1))
    return distances


def point_distance(problem: DepthProblem, one: DepthPoint, other: DepthPoint) -> float:
    """Return the root mean square distance of the shapes after rotations, relative to the size of the others.

    Before an orthogonal camera the mirror image is the same shape.
    """
    X, Z = problem.shapes(one), problem.shapes(other)
    least = min(shape_distances(each, Z).sum() for each in ((X, -X) if problem.affine else (X,)))
    return float(np.sqrt(least / np.square(Z).sum()))


def suspicions(problem: DepthProblem, point: DepthPoint, mirrored: DepthPoint) -> Floats:
    """Return how much better each frame fits the mirrored next one than the plain one, (F - 1,).

    `problem`: gives the unit of the shapes.
    """
    X, M = problem.shapes(point), problem.shapes(mirrored)
    plain = shape_distances(X[:-1], X[1:])
    crossed = np.minimum(shape_distances(X[:-1], M[1:]), shape_distances(M[:-1], X[1:]))
    scores: Floats = np.log(plain + FLOOR) - np.log(crossed + FLOOR)
    return scores


def frame_suspicions(problem: DepthProblem, point: DepthPoint, mirrored: DepthPoint) -> Floats:
    """Return how much better each frame fits the mean shape of the others when it is mirrored, (F,).

    `problem`: gives the unit of the shapes.
    """
    X, M = problem.shapes(point), problem.shapes(mirrored)
    others = (X.sum(axis=0) - X) / (len(X) - 1)
    scores: Floats = np.log(shape_distances(X, others) + FLOOR) - np.log(shape_distances(M, others) + FLOOR)
    return scores


def suspicious_frames(problem: DepthProblem, point: DepthPoint, mirrored: DepthPoint) -> list[FrameBlock]:
    """Return the frames that may be wrong one by one, the most suspicious first."""
    scores = frame_suspicions(problem, point, mirrored)
    frames = [int(frame) for frame in np.argsort(-scores, kind="stable")]
    if len(frames) > FEW_FRAMES:
        frames = [frame for frame in frames[:MOST_FRAMES] if scores[frame] > 0]
    return [FrameBlock(frame, frame + 1) for frame in frames]


def candidate_blocks(scores: Floats) -> list[FrameBlock]:
    """Return the blocks between suspicious links, the most suspicious first.

    `scores`: (F - 1,) of the links.
    """
    frames = len(scores) + 1
    most = LARGEST_BLOCK * frames
    order = np.argsort(-scores, kind="stable")[:MOST_CUTS]
    cuts = [0, *sorted(int(link) + 1 for link in order if scores[link] > LEAST_SUSPICION), frames]
    ends = np.concatenate(([0.0], scores, [0.0]))  # a block may begin with the sequence, and end with it
    blocks = [
        FrameBlock(first, last)
        for index, first in enumerate(cuts)
        for last in cuts[index + 1 :]
        if last - first <= most and (first, last) != (0, frames)
    ]
    return sorted(blocks, key=lambda block: (-ends[block.first] - ends[block.last], block))


def reflect_block(
    problem: DepthProblem, point: DepthPoint, mirrored: DepthPoint, block: FrameBlock
) -> DepthPoint:
    """Return the point with the frames of a block mirrored, and turned onto the mean shape of any others.

    `problem`: gives the unit of the shapes.
    """
    inside = np.zeros(len(point.depths), dtype=bool)
    inside[block.first : block.last] = True
    if inside.all():
        return mirrored
    X, M = problem.shapes(point), problem.shapes(mirrored)
    turn = nearest_rotation(X[~inside].mean(axis=0) @ M[inside].mean(axis=0).T)
    R = np.where(inside[:, None, None], mirrored.rotations @ turn.T, point.rotations)
    depths = np.where(inside[:, None], mirrored.depths, point.depths)
    return DepthPoint(R, depths, point.rays, point.affine)


def mirrored_parts(problem: DepthProblem, point: DepthPoint, neighbors: int) -> Iterator[DepthPoint]:
    """Yield the point with the parts that move most mirrored in some of the frames.

    `neighbors`: of each point, that it has edges to.
    """
    X = problem.shapes(point)
    D = X - X.mean(axis=0)
    order, relief = np.argsort(np.square(D).sum(axis=(0, 1)), kind="stable"), point.relief
    edges = rigid_edges(X, neighbors, ATTACHED)
    for share in MOVING:
        inside = np.zeros(len(order), dtype=bool)
        inside[order[-max(1, ceil(share * (len(order) - 1))) :]] = True
        along = np.linalg.svd(D[:, :, inside].reshape(len(D), -1), full_matrices=False)[0][:, :1]
        mirrored = _mirrored_where_attached(relief, inside, edges)
        for frames in (along > 0, along <= 0):
            yield point.with_relief(np.where(frames, mirrored, relief))


def _mirrored_where_attached(relief: Floats, inside: Bools, edges: Ints) -> Floats:
    """Return the relief (F, P) with each connected part mirrored about its neighbors, or its own mean."""
    from scipy.sparse import coo_array  # slow to load
    from scipy.sparse.csgraph import connected_components

    one, other = edges[:, inside[edges].all(axis=0)]
    links = coo_array((np.ones(len(one)), (one, other)), shape=(len(inside), len(inside)))
    labels = np.where(inside, connected_components(links, directed=False)[1], -1)
    mirrored = np.array(relief)
    for label in np.unique(labels[inside]):
        part = labels == label
        crossing = edges[:, part[edges].sum(axis=0) == 1]
        near = np.unique(crossing[~part[crossing]]) if crossing.size else part
        mirrored[:, part] = 2.0 * relief[:, near].mean(axis=1, keepdims=True) - relief[:, part]
    return mirrored
