r"""A part of the points on which rotations and depths are searched, and the depths of the others given it.

A few dozen points determine rotations, reflections and the low-dimensional space that the deviations vary in.
Given these, the depths of another point follow from a linear system.  With W = (D D'/F + eps^2 I)^-1 of the
part, less its row and column means, the log det term charges the path x_f of the point to first order with

    1/2 sum_fg W_fg x_f . x_g,        x_f = a_f z_f - b_f,

a_f = R_f' (m_f, 1) / s and b_f = R_f' c_f / s, c_f the mean of the part; where the camera is orthogonal,
a_f = R_f' e_3 / s and b_f = R_f' (c_f - (m_f, 0)) / s.  Its minimum solves (A . W) z = r with (A . W)_fg =
a_f . a_g W_fg and r_f = a_f . sum_g W_fg b_g.  A small multiple of the identity pulls z to the mean depth of
the part where the paths that cost little say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..foundation.representation import one_line_repr
from .problem import DepthPoint, DepthProblem

if TYPE_CHECKING:
    from ..foundation.types import Floats, Ints

LEAST_SEEN_WEIGHT = 0.3  # of a point that is never seen, where points are chosen; 1 of one always seen
CARRIED_EPS = 0.05  # of `DepthSubset.extend`, after the coarse levels
PULL = 1e-3  # toward the mean depth, of the mean diagonal
NEAREST, FARTHEST = 0.2, 5.0  # of the mean depth of the part: the range of the carried depths
MOST_MEMORY = 4_000_000  # numbers in the systems that are solved at once


@dataclass(frozen=True, eq=False)
class DepthSubset:
    """Some points of a problem, as a problem of their own."""

    problem: DepthProblem
    part: DepthProblem
    points: Ints  # (P',)

    __repr__ = one_line_repr

    @property
    def complete(self) -> bool:
        """Whether it has all points."""
        return self.part is self.problem

    def restrict(self, point: DepthPoint) -> DepthPoint:
        """Return the value of the part's unknowns, of geometric mean depth 1 where cameras are perspective.

        Parameters
        ----------
        point
            of the complete problem.

        Returns
        -------
        DepthPoint
            of the part.
        """
        if self.complete:
            return point
        Y = point.camera_points()[:, :, self.points]
        return DepthPoint.from_camera_points(self.part, Y, point.rotations)

    def extend(self, point: DepthPoint, rays: Floats, eps: float = CARRIED_EPS) -> DepthPoint:
        """Return a value of all unknowns from one of the part: other depths are solved for.

        Parameters
        ----------
        point
            of the part.
        rays
            (F, 2, P) of the complete problem; those of visible points are its tracks.
        eps
            deviations well below it cost nothing, in units of s.

        Returns
        -------
        DepthPoint
            of the complete problem.
        """
        if self.complete:
            return point
        affine = self.problem.affine
        known = point.camera_points()
        frames, _, count = rays.shape
        others = np.setdiff1d(np.arange(count), self.points)
        Y = np.empty((frames, 3, count))
        Y[:, :, self.points] = known
        mean, s = known.mean(axis=2), self.part.unit(point)
        W = _coupling(self.part.shapes(point), eps)
        back = np.swapaxes(point.rotations, 1, 2) / s
        step = max(1, MOST_MEMORY // frames**2)
        for first in range(0, len(others), step):
            chunk = others[first : first + step]
            m = rays[:, :, chunk]
            fixed = (
                np.concatenate((m, np.zeros_like(m[:, :1])), axis=1) if affine else np.zeros((frames, 3, 1))
            )
            moving = np.zeros((frames, 3, len(chunk)))
            moving[:, 2] = 1.0
            if not affine:
                moving[:, :2] = m
            a, b = back @ moving, back @ (mean[:, :, None] - fixed)
            paths = a.transpose(2, 0, 1)
            H = (paths @ paths.transpose(0, 2, 1)) * W
            pulled = np.tensordot(W, np.broadcast_to(b, a.shape), axes=1).transpose(2, 0, 1)
            right = np.einsum("pfa,pfa->pf", paths, pulled)
            pull = PULL * np.trace(H, axis1=1, axis2=2)[:, None] / frames
            H[:, np.arange(frames), np.arange(frames)] += pull
            z = np.linalg.solve(H, (right + pull * mean[:, 2])[:, :, None])[:, :, 0].T
            if not affine:
                z = np.clip(z, NEAREST * mean[:, 2:], FARTHEST * mean[:, 2:])
            Y[:, :, chunk] = fixed + moving * z[:, None]
        return DepthPoint.from_camera_points(self.problem, Y, point.rotations)


def point_subset(problem: DepthProblem, shapes: Floats, most: int) -> DepthSubset:
    """Return at most so many points, far from each other in the mean shape and often seen.

    Parameters
    ----------
    problem
        the tracks; with an anchor or without.
    shapes
        (F, 3, P) shapes of a start.
    most
        the number of points, where there are more.

    Returns
    -------
    DepthSubset
        of the problem.
    """
    count = shapes.shape[2]
    if count <= most:
        return DepthSubset(problem, problem, np.arange(count))
    mean = shapes.mean(axis=0)
    weight = (LEAST_SEEN_WEIGHT + (1 - LEAST_SEEN_WEIGHT) * problem.visible.mean(axis=0)) ** 2
    distance = np.square(mean - mean.mean(axis=1, keepdims=True)).sum(axis=0)
    chosen: list[int] = []
    for _ in range(most):
        chosen.append(int(np.argmax(distance * weight)))
        to_new = np.square(mean - mean[:, chosen[-1:]]).sum(axis=0)
        distance = to_new if len(chosen) == 1 else np.minimum(distance, to_new)
    points = np.sort(np.array(chosen))
    part = DepthProblem(
        problem.tracks[:, :, points], problem.visible[:, points], problem.affine, problem.noise
    )
    return DepthSubset(problem, part, points)


def anchored_subset(problem: DepthProblem, anchor: DepthPoint, most: int) -> DepthSubset:
    """Return at most so many points, with the anchor of the problem.

    Parameters
    ----------
    problem
        the tracks; with the anchor.
    anchor
        that the problem has.
    most
        the number of points, where there are more.

    Returns
    -------
    DepthSubset
        of the problem.
    """
    subset = point_subset(problem, problem.shapes(anchor), most)
    if subset.complete:
        return subset
    return replace(subset, part=subset.part.anchored(subset.restrict(anchor)))


def _coupling(X: Floats, eps: float) -> Floats:
    """Return W (F, F) of the deviations of shapes (F, 3, P)."""
    frames = len(X)
    D = (X - X.mean(axis=0)).reshape(frames, -1)
    W: Floats = np.linalg.inv(D @ D.T / frames + eps**2 * np.eye(frames))
    W = W - W.mean(axis=0) - W.mean(axis=1)[:, None] + W.mean()
    return W
