"""The Levenberg-Marquardt of `core.foundation.linalg` against `scipy.optimize.least_squares`.

    python tests/benchmarks/bench_least_squares.py

Both minimize the same residuals from the same starts: those that arise where the intrinsics and rotations of
the bundled samples are estimated, low-rank solutions are upgraded to metric, and the Challenge's score is
computed. Printed are, for each method of scipy, its CPU time over that of the own function, and the shares of
the problems that end at the same cost within 1e-6, at a higher and at a lower one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from frame import Table
from scipy.optimize import least_squares

import core
from core.cameras import absolute_quadric, calibration, estimate_intrinsics, estimate_rotations, factorization
from core.evaluation import challenge_score
from core.foundation.linalg import levenberg_marquardt

USERS = {
    "intrinsics": calibration,
    "corrective triplet": factorization,
    "absolute quadric": absolute_quadric,
    "Challenge score": challenge_score,
}
SAME = 1e-6  # relative difference of two costs
MOST = 150  # problems of a kind that are solved


@dataclass(frozen=True)
class Minimization:
    """One call of `levenberg_marquardt`, and the cost that it ended with."""

    residuals: Callable[..., Any]
    start: np.ndarray
    limits: dict[str, Any]
    cost: float


def collect() -> dict[str, list[Minimization]]:
    """Return the problems that arise, by what they are for."""
    found: dict[str, list[Minimization]] = {name: [] for name in USERS}
    for name, module in USERS.items():

        def record(residuals: Any, start: Any, name: str = name, **limits: Any) -> Any:
            end = levenberg_marquardt(residuals, start, **limits)
            found[name].append(Minimization(residuals, np.array(start), limits, end.cost))
            return end

        module.levenberg_marquardt = record
    rng = np.random.default_rng(0)
    for entry in core.bundled_samples():
        sequence = core.read_sequence(entry.file)
        truth, companion = sequence.truth, sequence.companion
        if truth is None or companion is None:
            continue
        frame = truth.reference
        estimate_intrinsics(truth.at(frame), sequence.tracks[frame], sequence.visible[frame])
        for rank in (1, 2, 3):
            estimate_rotations(companion.tracks, companion.visible, rank=rank)
        shape = truth.at(frame)
        core.challenge_v02(shape + rng.normal(size=shape.shape) * 10.0, shape)
    for name in ("paper/circle", "balloon/circle"):
        core.reconstruct(core.read_sequence(f"sample:{name}"), "lowrank", rank=4)
    for module in USERS.values():
        module.levenberg_marquardt = levenberg_marquardt
    return found


def solve_with_scipy(problem: Minimization, method: str) -> float:
    """Return the cost that scipy ends with, at the least tolerances that it accepts."""

    def values(x: np.ndarray) -> np.ndarray:
        return np.nan_to_num(problem.residuals(x)[0], nan=1e30, posinf=1e30, neginf=-1e30)

    end = least_squares(
        values, problem.start, jac=lambda x: np.nan_to_num(problem.residuals(x)[1]), method=method,
        x_scale="jac", ftol=1e-15, xtol=1e-15, gtol=1e-15, max_nfev=problem.limits.get("max_iterations", 100),
    )  # fmt: skip
    return 2.0 * float(end.cost)


def main() -> None:
    rng = np.random.default_rng(1)
    table = Table("kind", "problems", "scipy's", "CPU ratio :.1f", "same :.0%", "higher :.0%", "lower :.0%")
    for name, all_problems in collect().items():
        count = min(MOST, len(all_problems))
        problems = [all_problems[i] for i in rng.choice(len(all_problems), count, replace=False)]
        began = time.process_time()
        for problem in problems:
            levenberg_marquardt(problem.residuals, problem.start, **problem.limits)
        own = time.process_time() - began
        for method in ("lm", "trf"):
            began = time.process_time()
            with np.errstate(all="ignore"):
                costs = np.array([solve_with_scipy(problem, method) for problem in problems])
            ratio = (time.process_time() - began) / own
            apart = costs / np.maximum([problem.cost for problem in problems], 1e-300) - 1
            shares = np.mean(np.abs(apart) < SAME), np.mean(apart >= SAME), np.mean(apart <= -SAME)
            table.row(name, count, method, ratio, *shares)


if __name__ == "__main__":
    main()
