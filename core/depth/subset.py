r"""A part of the points on which rotations and depths are searched, and the depths of the others given it.

A few dozen points determine rotations, reflections and the low-dimensional space that the deviations vary in.
Given these, the depths of another point follow from a linear system.  With W = (D D'/F + eps^2 I)^-1 of the
part, less its row and column means, the log det term charges the path x_f of the point to first order with

    1/2 sum_fg W_fg x_f . x_g,        x_f = a_f z_f - b_f,

a_f = R_f' (m_f, 1) / s and b_f = R_f' c_f / s, c_f the mean of the part; where the camera is orthogonal,
a_f = R_f' e_3 / s and b_f = R_f' (c_f - (m_f, 0)) / s.  Its minimum solves (A . W) z = r with (A . W)_fg =
a_f . a_g W_fg and r_f = a_f . sum_g W_fg b_g.  A small multiple of the identity pulls z to the mean depth of
the part where the paths that cost little say nothing.

That alone leaves errors in the directions in which the part deforms.  So after a search the depths also keep
the distances l_fe to the points of the part that are nearest in the mean shape near constant, as the energy
does.  With v_e the variance of the distance over the frames, log v is at most linear in v, and l linear in z
about the current depths, with the slopes c_fe:

    1/2 sum_e w_e sum_f (l_fe - mean_f l_fe)^2,      w_e = weight / (v_e + floor),

with l_fe = l0_fe + c_fe (z_f - z0_f).  The weight is that of an edge in the energy, 2 isometry / neighbors.
Both bounds are renewed `ROUNDS` times.  The system of a point grows by sum_e w_e C_e J C_e, where C_e =
diag(c_fe), and J takes the mean over the frames off.

A system costs F^3.  So many frames are divided into runs of every n-th frame, which have all views, and W and
lengths of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..foundation.representation import OneLine
from ..foundation.types import Floats, Ints
from .problem import DepthPoint, DepthProblem
from .schedule import DepthOptions

LEAST_SEEN_WEIGHT = 0.3  # of a point that is never seen, where points are chosen; 1 of one always seen
CARRIED_EPS = 0.05  # deviations well below it cost nothing, in units of s
EDGE_EPS = 0.08  # variations of a length well below it cost nothing, relative to the length
ROUNDS = 3  # of the lengths about the current depths
SHORTEST = 1e-4  # length of an edge, in units of s
PULL = 1e-3  # toward the mean depth, of the mean diagonal
NEAREST, FARTHEST = 0.2, 5.0  # of the mean depth of the part: the range of the carried depths
CARRYING = 4  # points of the part that another one moves with
LARGEST_SYSTEM = 50  # frames that one couples, whose cost is cubic in them
MOST_MEMORY = 100_000  # numbers in the systems that are solved at once: they stay in the cache


@dataclass(frozen=True, eq=False)
class DepthSubset(OneLine):
    """Some points of a problem, as a problem of their own."""

    problem: DepthProblem
    part: DepthProblem
    points: Ints  # (P',)

    @property
    def complete(self) -> bool:
        """Whether it has all points."""
        return self.part is self.problem

    def with_length_share(self, share: float) -> DepthSubset:
        """Return the same of the problem whose lengths have a share of the weight that is asked for."""
        if share == self.part.length_share:
            return self
        problem = replace(self.problem, length_share=share)
        part = problem if self.complete else replace(self.part, length_share=share)
        return replace(self, problem=problem, part=part)

    def restrict(self, point: DepthPoint) -> DepthPoint:
        """Return the value of the part's unknowns, of geometric mean depth 1 if perspective."""
        if self.complete:
            return point
        depths = point.depths[:, self.points]
        if not point.affine:
            depths = depths / np.exp(np.log(depths).mean())
        return DepthPoint(point.rotations, depths, point.rays[:, :, self.points], point.affine)

    def extend(self, point: DepthPoint, rays: Floats, options: DepthOptions | None = None) -> DepthPoint:
        """Return a value of all unknowns from one of the part: other depths are solved for.

        `rays`: (F, 2, P) of the complete problem; those of visible points are its tracks. `options`: of the
        lengths, None without.
        """
        if self.complete:
            return point
        frames, _, count = rays.shape
        weight = 0.0 if options is None else options.isometry * self.part.length_share
        others = np.setdiff1d(np.arange(count), self.points)
        Y = np.empty((frames, 3, count))
        Y[:, :, self.points] = point.camera_points()
        runs = -(-frames // LARGEST_SYSTEM)
        for index in range(runs):
            run = slice(index, None, runs)
            system = _PathSystem.about(self, point, run)
            step = max(1, MOST_MEMORY // len(system.W) ** 2)
            for first in range(0, len(others), step):
                chunk = others[first : first + step]
                paths = system.paths(rays[run][:, :, chunk])
                H, right = system.charges(paths)
                z = system.depths(H, right)
                if options is not None and weight > 0:
                    ends = system.nearest(paths, z, options.neighbors)
                    for _ in range(ROUNDS):
                        of_lengths = system.lengths(paths, z, ends, 2.0 * weight / options.neighbors)
                        z = system.depths(H + of_lengths[0], right + of_lengths[1])
                Y[run][:, :, chunk] = paths.fixed + paths.moving * z[:, None]
        return DepthPoint.from_camera_points(self.problem, Y, point.rotations)


@dataclass(frozen=True, eq=False)
class _Paths(OneLine):
    """The rays of some points, and their paths x = a z - b in the frame of the object."""

    fixed: Floats  # (F, 3, p) the point in the camera's frame is fixed + moving z
    moving: Floats
    a: Floats  # (F, 3, p)
    b: Floats


@dataclass(frozen=True, eq=False)
class _PathSystem(OneLine):
    """The linear systems that the depths of points follow from, given those of a part."""

    affine: bool
    back: Floats  # (F, 3, 3) R' / s
    mean: Floats  # (F, 3) of the part
    shapes: Floats  # (F, 3, P') of the part
    W: Floats  # (F, F)

    @classmethod
    def about(cls, subset: DepthSubset, point: DepthPoint, run: slice) -> _PathSystem:
        """Return the systems that a value of the part gives for some frames."""
        shapes = subset.part.shapes(point)[run]
        back = np.swapaxes(point.rotations[run], 1, 2) / subset.part.unit(point)
        mean = point.camera_points()[run].mean(axis=2)
        return cls(subset.problem.affine, back, mean, shapes, _coupling(shapes, CARRIED_EPS))

    def paths(self, m: Floats) -> _Paths:
        """Return the paths of rays (F, 2, p)."""
        frames, _, count = m.shape
        fixed = np.zeros((frames, 3, count if self.affine else 1))
        moving = np.zeros((frames, 3, count))
        moving[:, 2] = 1.0
        (fixed if self.affine else moving)[:, :2] = m
        return _Paths(fixed, moving, self.back @ moving, self.back @ (self.mean[:, :, None] - fixed))

    def charges(self, paths: _Paths) -> tuple[Floats, Floats]:
        """Return the systems of paths without lengths, (p, F, F) and (p, F)."""
        a = paths.a.transpose(2, 0, 1)
        H = (a @ a.transpose(0, 2, 1)) * self.W
        pulled = np.tensordot(self.W, np.broadcast_to(paths.b, paths.a.shape), axes=1).transpose(2, 0, 1)
        frames = np.arange(len(self.W))
        pull = PULL * H[:, frames, frames].mean(axis=1)[:, None]
        H[:, frames, frames] += pull
        return H, np.einsum("pfa,pfa->pf", a, pulled) + pull * self.mean[:, 2]

    def depths(self, H: Floats, right: Floats) -> Floats:
        """Return the depths (F, p) that systems (p, F, F) and (p, F) lead to."""
        z: Floats = np.asarray(np.linalg.solve(H, right[:, :, None]), dtype=np.float64)[:, :, 0].T
        if not self.affine:
            z = np.clip(z, NEAREST * self.mean[:, 2:], FARTHEST * self.mean[:, 2:])
        return z

    def nearest(self, paths: _Paths, z: Floats, count: int) -> Ints:
        """Return the points of the part that are nearest in the mean shape, (p, count)."""
        own, part = (paths.a * z[:, None] - paths.b).mean(axis=0), self.shapes.mean(axis=0)
        squares = np.square(own).sum(axis=0)[:, None] - 2.0 * own.T @ part + np.square(part).sum(axis=0)
        order: Ints = np.argsort(squares, axis=1, kind="stable")
        return order[:, :count]

    def lengths(self, paths: _Paths, z: Floats, ends: Ints, weight: float) -> tuple[Floats, Floats]:
        """Return what the distances to points of the part add to the systems, (p, F, F) and (p, F)."""
        frames = len(z)
        difference = (paths.a * z[:, None] - paths.b)[:, :, None] - self.shapes[:, :, ends.T]  # (F, 3, n, p)
        length = np.sqrt(np.einsum("fanp,fanp->fnp", difference, difference) + SHORTEST**2)
        slope = np.einsum("fanp,fap->fnp", difference, paths.a) / length
        mean = length.mean(axis=0)
        variance = np.einsum("fnp,fnp->np", length, length) / frames - np.square(mean)
        floor = EDGE_EPS**2 * (variance + np.square(mean))
        root = np.sqrt(weight / (variance + floor))  # (n, p)
        target = slope * z[:, None]
        target -= length
        target -= target.mean(axis=0)
        slope *= root
        target *= root
        right = np.einsum("fnp,fnp->pf", slope, target)
        diagonal = np.einsum("fnp,fnp->pf", slope, slope)
        C = np.ascontiguousarray(slope.transpose(2, 0, 1))
        H = C @ C.transpose(0, 2, 1)
        H /= -frames
        H[:, np.arange(frames), np.arange(frames)] += diagonal
        return H, right


def carried_along(
    subset: DepthSubset, shown: DepthPoint, before: DepthPoint, after: DepthPoint
) -> DepthPoint:
    """Return all points after the part has moved, each as the points of the part near it have.

    That costs a fraction of `extend`, and is for shapes that move under the hand. `shown`: all points, of
    which the part was at `before`.
    """
    if subset.complete:
        return after
    from scipy.spatial import cKDTree  # slow to load

    mean = subset.problem.shapes(shown).mean(axis=0).T  # (P, 3)
    count = min(CARRYING, len(subset.points))
    found = cKDTree(mean[subset.points]).query(mean, k=count)
    distance, near = (np.reshape(each, (len(mean), count)) for each in found)
    share = 1.0 / (distance + SHORTEST)
    share /= share.sum(axis=1, keepdims=True)
    moved = np.einsum("fpn,pn->fp", (after.relief - before.relief)[:, near], share)
    rays = np.array(shown.rays)
    rays[:, :, subset.points] = after.rays
    if shown.affine:
        depths = shown.depths + moved
        depths[:, subset.points] = after.depths
    else:  # the unit of the part is another one
        depths = shown.depths * np.exp(moved)
        ratio = np.median(shown.depths[:, subset.points] / before.depths)
        depths[:, subset.points] = ratio * after.depths
        depths /= np.exp(np.log(depths).mean())
    return DepthPoint(after.rotations, depths, rays, shown.affine)


def point_subset(problem: DepthProblem, shapes: Floats, most: int) -> DepthSubset:
    """Return at most so many points, far from each other in the mean shape and often seen.

    `shapes`: (F, 3, P) shapes of a start.
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
        if not distance.any():  # the others coincide with them
            break
    points = np.sort(np.array(chosen))
    part = DepthProblem(
        problem.tracks[:, :, points], problem.visible[:, points], problem.affine, problem.noise
    )
    return DepthSubset(problem, replace(part, length_share=problem.length_share), points)


def anchored_subset(problem: DepthProblem, anchor: DepthPoint, most: int) -> DepthSubset:
    """Return at most so many points, with the anchor of the problem."""
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
