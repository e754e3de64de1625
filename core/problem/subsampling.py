"""Subsets of the frames and points of a problem, and the mapping of their points to the full problem.

To compare rotations or starts, the losses of a part of the observations suffice.  A subset of evenly spaced
frames and points keeps the problem's form; with a fraction q of the observations the data term is about q
times as large and the singular values sqrt(q) times, so weights times sqrt(q) keep the balance between the
two.

The mapping to the full problem has a closed form: with the shapes C of the subset's points, every frame's B_f
and s_f solve one (K+3) x (K+3) system; C of all points follows from them when a solver starts.  Where the
full problem is very much larger, subsets of increasing size are solved in between, because their steps cost a
fraction of those that they save.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..foundation.batched_linalg import invert_batched, matmul_batched
from ..foundation.representation import one_line_repr
from .factors import Factors
from .nonrigid import NonRigidProblem

if TYPE_CHECKING:
    from ..foundation.types import Floats, Ints

LEVEL_RATIO = 10  # ratio of the observations of successive subsets
LEAST_GAIN = 5  # a subset has at most 1 / LEAST_GAIN of all observations, or it costs too much


@dataclass(frozen=True, eq=False)
class Subset:
    """A problem, and the small problem of some of its frames and points."""

    problem: NonRigidProblem
    small: NonRigidProblem
    frames: Ints  # (F',)
    points: Ints  # (P',)

    __repr__ = one_line_repr

    @property
    def share(self) -> float:
        """The ratio of the observations of the small problem to all, about that of the losses, too."""
        return float(self.small.visible.sum() / self.problem.visible.sum())

    @cached_property
    def all_frames(self) -> NonRigidProblem:
        """The problem of every frame, but of the small problem's points only."""
        return _part(self.problem, np.arange(len(self.problem.tracks)), self.points)

    def restrict(self, factors: Factors) -> Factors:
        """Return a point of the small problem from one of the full problem."""
        return Factors(factors.B[self.frames], factors.C[:, :, self.points], factors.s[self.frames])

    def to_full(self, factors: Factors) -> Factors:
        """Return a point of the full problem: the best B and s for the small problem's C, then C."""
        if self.small is self.problem:
            return factors
        B, s = self._frames_of(factors)
        weights = self.problem.weights[: factors.rank]
        return Factors(B, self.problem.data.best_C(B, s, weights).C, s)

    def to_subset(self, factors: Factors, other: Subset) -> Factors:
        """Return a point of another subset's small problem from one of this one's, its C left to solvers."""
        B, s = self._frames_of(factors)
        shapes = np.zeros((factors.rank, 3, len(other.points)))
        return Factors(B[other.frames], shapes, s[other.frames])

    def _frames_of(self, factors: Factors) -> tuple[Floats, Floats]:
        """Return the best B and s of every frame for the small problem's C."""
        some = self.all_frames.with_weights(self.small.weights[: factors.rank])
        blocks = some.data.frame_blocks(factors.C, some.weights)
        u = matmul_batched(invert_batched(blocks), some.data.frame_targets(factors.C))
        return np.ascontiguousarray(u[: factors.rank].T), np.ascontiguousarray(u[factors.rank :].T)


def subset_levels(problem: NonRigidProblem, most: int) -> list[Subset]:
    """Return the subsets between one of `most` observations and the full problem, the smallest first.

    Each has `LEVEL_RATIO` times the observations of the one before. The last has at most 1 / `LEAST_GAIN` of
    all.
    """
    found, size = [], LEVEL_RATIO * most
    while LEAST_GAIN * size <= problem.visible.size:
        found.append(subset(problem, size))
        size *= LEVEL_RATIO
    return found


def subset(problem: NonRigidProblem, most: int) -> Subset:
    """Return a subset of about `most` observations, or all where there are no more than that."""
    frames, _, points = problem.tracks.shape
    if frames * points <= most:
        return Subset(problem, problem, np.arange(frames), np.arange(points))
    # As square as the problem allows: both the cameras and the shape need variety.
    wanted = int(np.sqrt(most))
    some_frames = _spaced(frames, max(wanted, most // points))
    some_points = _spaced(points, max(wanted, most // len(some_frames)))
    found = Subset(problem, _part(problem, some_frames, some_points), some_frames, some_points)
    return replace(found, small=found.small.with_weights(np.sqrt(found.share) * problem.weights))


def _spaced(count: int, wanted: int) -> Ints:
    return np.linspace(0, count - 1, min(wanted, count)).round().astype(np.int64)


def _part(problem: NonRigidProblem, frames: Ints, points: Ints) -> NonRigidProblem:
    def of(array: Floats) -> Floats:
        return array[frames][..., points]

    seen = problem.visible[frames][:, points]
    return NonRigidProblem(of(problem.tracks), seen, problem.rotations[frames], problem.eta, problem.weights)
