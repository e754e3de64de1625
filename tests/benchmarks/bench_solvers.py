"""Print the CPU time and the memory of the solvers on simulated sequences, one BLAS thread.

    python tests/benchmarks/bench_solvers.py [--sizes 51x211 ...] [--rank K] [--object NAME] [--seconds S]

Columns, CPU ms unless said otherwise, the least of several runs:

    set-up  calibrated tracks -> planes of H, weights of the weighted nuclear norm (xi 5e-3)
    cold    a rigid solve, then one column added at a time up to K
    warm    on from there after all weights grew by 20 %
    steps   iterations of the cold run's last rank / of the warm run
    MB      peak of everything allocated by set-up, start and one step at rank K

Both methods stop at a predicted relative decrease below --tolerance.  Then Algorithm 1 and ADMM at the
smallest size.  Algorithm 1 starts where the default method's last rank starts, with C at its best; the times
are those to a loss within 1e-3 and 1e-6 of what the default reaches.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from core.algorithms.admm import ADMM
from core.algorithms.algorithm_one import AlgorithmOne
from core.algorithms.closed_form import reference_singular_values, svd_start
from core.algorithms.levenberg_marquardt import LevenbergMarquardt
from core.algorithms.variable_projection import VariableProjection
from core.factors import Factors
from core.penalties import WeightedNuclearNorm
from core.preparation import prepare
from core.settings import Settings
from core.solver import iterate, single_threaded, solve
from core.starts import resized, rigid_start
from core.synthetic import KINDS, simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.problem import NonRigidProblem
    from core.solver import Algorithm, Snapshot

PENALTY = WeightedNuclearNorm(xi=5e-3)
WARM_DAMPING = 1e-9


@dataclass(frozen=True)
class Cold:
    """A solve from nothing: the start and the end of its last rank."""

    start: Factors
    end: Snapshot[Any]


def main() -> None:
    """Parse the arguments, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", default=["51x211", "193x207", "432x405"], help="FxP")
    parser.add_argument("--rank", type=int, default=2)
    parser.add_argument("--object", choices=sorted(KINDS), default="paper")
    parser.add_argument("--tolerance", type=float, default=1e-10)
    parser.add_argument("--seconds", type=float, default=40.0, help="limit for Algorithm 1; 0 leaves it out")
    arguments = parser.parse_args()
    sizes = [tuple(int(number) for number in size.split("x")) for size in arguments.sizes]
    print("| F x P | method | set-up | cold | warm | steps | MB | log10 loss |")
    print("|---|---|---|---|---|---|---|---|")
    for frames, points in sizes:
        pose = posing(arguments.object, frames, points, arguments.rank)
        for kind in (VariableProjection, LevenbergMarquardt):
            print(row(f"{frames} x {points}", pose, kind(tolerance=arguments.tolerance)), flush=True)
    if arguments.seconds > 0:
        frames, points = min(sizes)
        print(f"\n{frames} x {points}, against the default method from the same start:")
        compare(posing(arguments.object, frames, points, arguments.rank)(), arguments.seconds)


def posing(kind: str, frames: int, points: int, rank: int) -> Callable[[], NonRigidProblem]:
    """Simulate, and return what poses the problem anew, planes of H included."""
    sequence = simulate(kind, frames=frames, points=points, seed=1)
    prepared = prepare(sequence, Settings())
    assert sequence.rotations is not None

    def pose() -> NonRigidProblem:
        problem = prepared.problem(sequence.rotations, PENALTY, rank, 0.05)
        _ = problem.data  # built at first use
        return problem

    return pose


def row(size: str, pose: Callable[[], NonRigidProblem], method: Algorithm[Any]) -> str:
    """Measure one method at one size."""
    set_up, problem = least(pose)
    cold, done = least(lambda: grown(problem, method))
    factors = method.factors(problem, done.end.state)
    heavier = problem.with_weights(1.2 * problem.weights)
    eager = replace(method, damping=WARM_DAMPING)
    warm, end = least(lambda: solve(heavier, eager, factors))
    tracemalloc.start()
    again = pose()
    method.step(again, method.init(again, done.start))
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    steps = f"{done.end.progress.iteration} / {end.progress.iteration}"
    times = f"{1e3 * set_up:.1f} | {1e3 * cold:.1f} | {1e3 * warm:.1f}"
    loss = np.log10(done.end.progress.loss)
    return f"| {size} | {type(method).__name__} | {times} | {steps} | {peak:.0f} | {loss:.6f} |"


def least(action: Callable[[], Any], *, budget: float = 1.0) -> tuple[float, Any]:
    """Return the least CPU seconds of up to ten runs within a budget, and the last result."""
    times = []
    with single_threaded():
        while len(times) < 10 and sum(times) < budget:
            began = time.process_time()
            result = action()
            times.append(time.process_time() - began)
    return min(times), result


def grown(problem: NonRigidProblem, method: Algorithm[Any]) -> Cold:
    """Solve at rank 1, then with one column more at a time."""
    factors = rigid_start(problem)
    for rank in range(1, problem.rank + 1):
        smaller = problem.with_weights(problem.weights[:rank])
        start = resized(factors, rank, np.random.default_rng(rank))
        end = solve(smaller, method, start)
        factors = method.factors(smaller, end.state)
    return Cold(start, end)


def compare(problem: NonRigidProblem, seconds: float) -> None:
    """Print the times to 1e-3 and 1e-6 of Algorithm 1 (several lambda, alpha) and ADMM's end."""
    cold = grown(problem, VariableProjection())
    lowest = cold.end.progress.loss
    reference = reached(problem, VariableProjection(), cold.start, lowest, 10.0)
    print("  VariableProjection:", told(reference))
    system = problem.data.best_C(cold.start.B, cold.start.s, problem.weights)
    start = Factors(cold.start.B, system.C, cold.start.s)
    for damping, alpha in ((1.0, 2.0), (1e-3, 10.0)):
        method = AlgorithmOne(damping=damping, alpha=alpha, max_iterations=100_000)
        times = reached(problem, method, start, lowest, seconds)
        ratio = times[1e-6] / reference[1e-6] if 1e-6 in times else times["spent"] / reference[1e-6]
        bound = "" if 1e-6 in times else "more than "
        print(f"  Algorithm 1, lambda {damping:g}, alpha {alpha:g}: {told(times)}; {bound}{ratio:.0f} times")
    sigma = reference_singular_values(problem)
    whole = replace(problem, tail=PENALTY.weights(len(sigma), sigma)[problem.rank :])
    admm = ADMM()
    began = time.process_time()
    end = solve(whole, admm, svd_start(problem, len(sigma)))
    spent = time.process_time() - began
    cut = problem.loss(admm.factors(problem, end.state))
    print(
        f"  ADMM: {end.status.value} after {end.progress.iteration} iterations, {spent:.2f} s; "
        f"its cut to rank {problem.rank} costs {cut / lowest:.4g} times the default's loss"
    )


def reached(
    problem: NonRigidProblem, method: Algorithm[Any], start: Factors, lowest: float, seconds: float
) -> dict[float | str, float]:
    """Return the CPU seconds to each relative excess, the seconds spent, and the excess at the end."""
    times: dict[float | str, float] = {}
    began = time.process_time()
    for snapshot in iterate(problem, method, start):
        spent = time.process_time() - began
        excess = snapshot.progress.loss / lowest - 1
        for wanted in (1e-3, 1e-6):
            if excess <= wanted:
                times.setdefault(wanted, spent)
        if spent > seconds or (1e-6 in times and snapshot.progress.iteration):
            break
    times |= {"spent": spent, "excess": excess, "iterations": snapshot.progress.iteration}
    return times


def told(times: dict[float | str, float]) -> str:
    """Put the result of `reached` into words."""
    parts = [f"to {wanted:g} {times[wanted]:.4f} s" for wanted in (1e-3, 1e-6) if wanted in times]
    parts.append(f"{times['iterations']} iterations, {times['spent']:.2f} s, excess {times['excess']:.1e}")
    return ", ".join(parts)


if __name__ == "__main__":
    main()
