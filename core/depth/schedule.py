"""The scales that a depth refinement passes, and what it is asked for.

Where the deviations are of a handful of modes, log det alone determines the depths, and the last levels leave
the edges loose: an object that inflates or stretches has a few modes, but no lengths that stay.  So they do
where it is seen to inflate.  Where there are many modes the edges are needed.  Where the lengths of some vary
far more than those of most, parts move against each other.

The lowest end goes on to the closing levels, unless it is loose.  Where parts move, from level to level each
point keeps fewer of its edges, those that vary least, and at the last one they count twice.  Elsewhere
lengths nearly stay, as those of paper, or all vary a little, as those of skin, and they count half.  The
search needs the weight that is asked for.  Half was chosen on paper, where errors fall by 4 %; those of a mat
fall by 3 %, of a back by 17 %.  Twice was chosen on two motions of persons, where errors fall by 2 %; those
of two others fall by 8 and 4 %.

Where lengths do not stay at all (`alternatives.is_stretching`), as those of a balloon, they have a sixth of
the weight at all levels.

Energies of the levels where starts compete hardly tell a shape from one with a frame mirrored, those of finer
ones do.  So what may be mirrored is judged there, in fewer iterations (`DepthOptions.judging`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..foundation.representation import OneLine
from ..foundation.types import Floats
from .edges import NEIGHBORS, has_parts
from .energy import DepthLevel, LevelEnergy
from .problem import DepthPoint, DepthProblem

FIRST = DepthLevel(0.1, 0.15, iterations=30, tolerance=1e-6)
COMPARED = DepthLevel(0.05, 0.07, iterations=30, tolerance=1e-6)  # where starts and reflections compete
SETTLED = replace(COMPARED, iterations=40)  # of a block that was accepted
SETTLED_FRAME = replace(COMPARED, iterations=20)
TRIAL = (replace(FIRST, iterations=8, tolerance=1e-5), replace(COMPARED, iterations=10, tolerance=1e-5))
EXTENDED = (replace(FIRST, iterations=6), replace(COMPARED, iterations=10))
RANKED = DepthLevel(0.02, 0.03, iterations=80, tolerance=1e-6)  # where ends that are nearly equal compete
FINE = (
    DepthLevel(0.02, 0.08, relative=True, iterations=50, tolerance=1e-6),
    DepthLevel(0.02, 0.03, relative=True, iterations=100, tolerance=5e-7),
)
JUDGED = (replace(FINE[-1], iterations=30, tolerance=1e-6),)  # where shapes that compete at the end begin
FINEST_EPS = 0.0025
NOISY = (  # where an observation may leave its ray: above, deviations of the size of the noise cost little
    DepthLevel(0.01, 0.015, relative=True, iterations=80, tolerance=5e-7),
    DepthLevel(0.005, 0.0075, relative=True, iterations=80, tolerance=5e-7),
    DepthLevel(FINEST_EPS, 0.00375, relative=True, iterations=150, tolerance=3e-7),
)
STAYING = (replace(NOISY[-1], share=0.5),)  # where no parts move against each other
# Where parts move against each other. The last keep about three edges a point: shapes of fewer bend without a
# change of lengths.
RIGID = (
    *(replace(NOISY[-1], rigid=kept, iterations=50) for kept in (1.5, 1.25, 1.0, 0.75)),
    *(replace(NOISY[-1], rigid=0.625, share=share, iterations=100) for share in (1.0, 2.0)),
)
# Nats per frame of log det at the scale of `RANKED`: below, the deviations are of a handful of modes.
FEW_MODES = 10.2
LIGHTER = 1 / 6  # share of the weight of lengths that do not stay
LOOSE_EDGES = 0.06  # edge_eps of the last levels there
# Where the last one ends there: the energy is flat along shapes whose errors differ by a quarter, so that one
# which ended as the others do would be decided by the last digits of sums.
LOOSE_TOLERANCE, LOOSE_ITERATIONS = 1e-11, 1500
OVERHEAD = 8_000  # observations that cost as much as what an iteration costs besides its own
PAUSED = 60_000  # work between two pauses of trials, about 10 ms: a pause costs a tenth of a short iteration


def iteration_work(shape: tuple[int, int]) -> int:
    """Return the work of an iteration. `shape`: (F, P) of the problem."""
    return shape[0] * shape[1] + OVERHEAD


def iterations_per_pause(shape: tuple[int, int]) -> int:
    """Return after how many iterations trials pause. `shape`: (F, P) of the problem."""
    return max(1, PAUSED // iteration_work(shape))


@dataclass(frozen=True)
class DepthOptions(OneLine):
    """What a depth refinement is asked for."""

    isometry: float = 0.3  # weight of the lengths of edges
    neighbors: int = NEIGHBORS  # of each point, that it has edges to
    # Whether all starts pass the coarse levels and blocks are mirrored. Else only the first start passes
    # them, and the lowest of its end and of the starts is followed.
    thorough: bool = True
    # Whether a start passes the coarse levels. These would lose what is right of one that is refined.
    coarse: bool = True
    weights: tuple[float, ...] = (1.0,)  # of the modes, at the finest levels
    eps: float = FINEST_EPS  # of the finest level: movements well below it cost nothing, in units of s

    def energy(self, problem: DepthProblem, level: DepthLevel, point: DepthPoint) -> LevelEnergy:
        """Return the energy of a level about a point, with the isometry and the neighbors asked for."""
        level = replace(level, isometry=self._weight(problem, level))
        return LevelEnergy.about(problem, level, point, self.neighbors)

    def _weight(self, problem: DepthProblem, level: DepthLevel) -> float:
        """Return the weight of the lengths at a level."""
        return self.isometry * level.share * problem.length_share

    def finest(self, *, loose: bool) -> tuple[DepthLevel, ...]:
        """Return the levels that a refinement ends with; `loose` is whether lengths may vary."""
        *coarser, last = NOISY
        if loose:
            coarser = [replace(level, edge_eps=LOOSE_EDGES) for level in coarser]
            last = replace(last, edge_eps=LOOSE_EDGES, iterations=LOOSE_ITERATIONS, tolerance=LOOSE_TOLERANCE)
        levels = (
            *(replace(level, eps=max(level.eps, self.eps)) for level in coarser),
            replace(last, eps=self.eps),
        )
        return tuple(replace(level, weights=self.weights) for level in levels)

    def closing(self, problem: DepthProblem, point: DepthPoint) -> tuple[DepthLevel, ...]:
        """Return the levels that an end whose lengths are not loose goes on to; none where they stretch."""
        if problem.length_share < 1.0:
            return ()
        levels = RIGID if has_parts(problem.shapes(point), self.neighbors) else STAYING
        return tuple(replace(level, eps=self.eps, weights=self.weights) for level in levels)

    def judging(self, *, loose: bool) -> tuple[tuple[DepthLevel, ...], tuple[DepthLevel, ...]]:
        """Return the levels on which shapes are judged: with exact rays, and the finest ones."""
        finest = self.finest(loose=loose)
        return JUDGED, tuple(replace(level, iterations=40, tolerance=1e-6) for level in finest)

    def objective(self, before: LevelEnergy, noise: float, point: DepthPoint) -> LevelEnergy:
        """Return the energy of the finest level that shapes are moved under, from that of the search.

        Its edges are the same, unless the number of neighbors is another one: then they are of a point, which
        is the end of the search. `noise`: of a coordinate of the tracks in calibrated units.
        """
        isometry = self._weight(before.problem, before.level)
        level = replace(before.level, weights=self.weights, eps=self.eps, isometry=isometry)
        problem = before.problem if noise == before.problem.noise else before.problem.with_noise(noise)
        if self.neighbors != before.neighbors:
            return LevelEnergy.about(problem, level, point, self.neighbors)
        return replace(before, problem=problem, level=level, rotations=point.rotations)


def is_loose(problem: DepthProblem, point: DepthPoint, count: int | None = None) -> bool:
    """Return whether the finest levels leave lengths loose.

    `count`: of the points that those of the problem stand for, where they are a part.
    """
    X = problem.shapes(point)
    stand_for = 1.0 if count is None else count / X.shape[2]
    return problem.inflates or mode_nats(np.sqrt(stand_for) * (X - X.mean(axis=0)), RANKED.eps) < FEW_MODES


def mode_nats(D: Floats, eps: float) -> float:
    """Return half of log det(D D' / (F eps^2) + I) of deviations (F, ...), in nats per frame."""
    sigma = np.linalg.svd(D.reshape(len(D), -1), compute_uv=False)
    return float(0.5 * np.log1p(np.square(sigma / eps) / len(D)).sum())
