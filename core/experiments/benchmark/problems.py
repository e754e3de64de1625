"""The problems that the methods are compared on, simulated at any size, and the starting points.

Non-rigid: an object of `core.synthetic` with noise of 0.3 px and self-occlusion, true rotations, eta 0.05 and
the weighted nuclear norm with xi 5e-3 (paper, Section 5.3).  Low rank: the object held still as in the middle
frame, projected into the same cameras; tracks divided by their norm, eta 0.05, nuclear norm with mu
1e-3 (Section 5.2).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...foundation.exceptions import InputError
from ...penalties import NuclearNorm, WeightedNuclearNorm
from ...problem import Factors, LowRankProblem, NonRigidProblem, Problem, rigid_start, with_rank
from ...reconstruction.low_rank_pipeline import measurement_norm
from ...reconstruction.pipeline import prepare
from ...reconstruction.settings import Settings
from ...solvers import Algorithm, Snapshot, VariableProjection, solve
from ...synthetic import simulate

BENCHMARK_ETA = 0.05
BENCHMARK_XI = 5e-3
BENCHMARK_MU = 1e-3
BENCHMARK_SEED = 1
RANDOM_TRIES = 10  # choices of the random columns, of which the one with the lowest loss begins
BENCHMARK_STARTS = {
    "closed": "the closed form, cut to rank K for the bilinear methods",
    "rigid": "a rigid shape and K - 1 small random columns, nothing solved before",
    "grown": "the solution of rank K - 1 and one small random column",
}
BENCHMARK_NOISE = 0.3 / 1400.0  # of calibrated tracks: 0.3 px
DEFAULT_RANKS = {"nonrigid": 2, "lowrank": 4}  # where none is given


@dataclass(frozen=True)
class BenchmarkCase:
    """A simulated problem: the same arguments give the same one."""

    frames: int
    points: int
    rank: int
    problem: str = "nonrigid"  # of core.solvers.methods.PROBLEMS
    kind: str = "paper"  # of core.synthetic.KINDS
    start: str = "closed"  # of BENCHMARK_STARTS, for the bilinear methods

    def __post_init__(self) -> None:
        if self.problem == "lowrank" and self.start != "closed":
            raise InputError(f"the start is {self.start!r}; of the low-rank problem it is 'closed'")
        rows, columns = self.frames, self.points
        if self.problem == "lowrank":
            rows, columns = columns, rows
        most = min(rows, 3 * columns)
        if not 1 <= self.rank <= most:
            raise InputError(f"the rank is {self.rank}; accepted is a whole number from 1 to {most}")

    @property
    def size(self) -> str:
        """F x P as text."""
        return f"{self.frames} x {self.points}"

    def pose(self) -> Problem:
        """Simulate the sequence and pose the problem, its data term included."""
        sequence = simulate(self.kind, frames=self.frames, points=self.points, seed=BENCHMARK_SEED)
        rotations, translations, truth = sequence.rotations, sequence.translations, sequence.truth
        assert rotations is not None and translations is not None and truth is not None  # it is simulated
        if self.problem == "nonrigid":
            penalty = WeightedNuclearNorm(BENCHMARK_XI)
            return prepare(sequence, Settings()).problem(rotations, penalty, self.rank, BENCHMARK_ETA)
        still = truth.at(truth.reference)
        assert still is not None
        seen = rotations @ still + translations[:, :, None]
        exact = seen[:, :2] / seen[:, 2:]
        tracks = exact + BENCHMARK_NOISE * np.random.default_rng(BENCHMARK_SEED).standard_normal(exact.shape)
        tracks /= measurement_norm(tracks, sequence.visible)
        problem = LowRankProblem(tracks, sequence.visible, BENCHMARK_ETA, np.zeros(1))
        return problem.with_penalty(NuclearNorm(BENCHMARK_MU), self.rank)


# What the growth of time is measured on: where iterations vary least, and every parameter by itself.
BASE_CASE = BenchmarkCase(frames=100, points=100, rank=2, start="grown")
GROWTH_SIZES: dict[str, tuple[int, ...]] = {
    "F": (50, 100, 200, 400, 800),
    "P": (50, 100, 200, 400, 800, 1600),
    "K": (1, 2, 3, 4, 6, 8, 10),
}
CASE_FIELDS = {"F": "frames", "P": "points", "K": "rank"}


def growth_cases() -> dict[str, list[BenchmarkCase]]:
    """Return the problems along every parameter, by parameter."""
    return {
        parameter: [BenchmarkCase(**asdict(BASE_CASE) | {CASE_FIELDS[parameter]: value}) for value in values]
        for parameter, values in GROWTH_SIZES.items()
    }


def solve_incrementally(problem: NonRigidProblem, method: Algorithm[Any]) -> tuple[Factors, Snapshot[Any]]:
    """Solve rank after rank, with one more small random column; return start and end of the last one."""
    factors = rigid_start(problem)
    for rank in range(1, problem.rank + 1):
        smaller = problem.of_rank(rank)
        start = with_rank(factors, rank, np.random.default_rng(rank))
        end = solve(smaller, method, start)
        factors = method.factors(smaller, end.state)
    return start, end


def bilinear_start(problem: Problem, start: str = "closed") -> Factors:
    """Return the one point where all bilinear methods start, with C at its best, then in exact gauge."""
    rank = problem.rank
    if not isinstance(problem, NonRigidProblem) or start == "closed":
        return _with_best_shapes(problem, problem.closed_form(rank))
    factors = rigid_start(problem)
    if start == "grown" and rank > 1:
        lower = problem.of_rank(rank - 1)
        method = VariableProjection()
        _, end = solve_incrementally(lower, method)
        factors = method.factors(lower, end.state)
    tries = [with_rank(factors, rank, np.random.default_rng(seed)) for seed in range(RANDOM_TRIES)]
    return min((_with_best_shapes(problem, one) for one in tries), key=problem.loss)


def _with_best_shapes(problem: Problem, factors: Factors) -> Factors:
    system = problem.data.best_C(factors.B, factors.s, problem.weights)
    return problem.gauge(Factors(factors.B, system.C, factors.s))
