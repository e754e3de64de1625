"""Print set-up, cold and warm CPU times of both bilinear methods on simulated sequences, one BLAS thread.

    python tests/benchmarks/bench_solvers.py [--sizes 51x211 ...] [--rank K] [--object NAME]

Columns, CPU ms unless said otherwise, the least of several runs:

    set-up  calibrated tracks -> planes of H, weights of the weighted nuclear norm (xi 5e-3)
    cold    a rigid solve, then one column added at a time up to K
    warm    on from there after all weights grew by 20 %
    steps   iterations of the cold run's last rank / of the warm run
    MB      peak of everything allocated by set-up, start and one step at rank K

Both methods stop at a predicted relative decrease below --tolerance. `nrsfm benchmark` compares all methods.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from frame import Table, parser

from core import LevenbergMarquardt, NonRigidProblem, VariableProjection, WeightedNuclearNorm, solve
from core.experiments.benchmark.problems import BENCHMARK_XI, BenchmarkCase, solve_incrementally
from core.solvers import Algorithm, single_threaded
from core.synthetic import KINDS

WARM_DAMPING = 1e-9


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--sizes", nargs="+", default=["51x211", "193x207", "432x405"], help="FxP")
    arguments.add_argument("--rank", type=int, default=2)
    arguments.add_argument("--object", choices=sorted(KINDS), default="paper")
    arguments.add_argument("--tolerance", type=float, default=1e-10)
    options = arguments.parse_args()
    times = (f"{name} :.1f" for name in ("set-up", "cold", "warm"))
    table = Table("F x P", "method", *times, "steps", "MB :.0f", "log10 loss :.6f")
    for size in options.sizes:
        case = BenchmarkCase(*map(int, size.split("x")), options.rank, kind=options.object)
        for kind in (VariableProjection, LevenbergMarquardt):
            table.row(case.size, kind.__name__, *measure(case, kind(tolerance=options.tolerance)))


def measure(case: BenchmarkCase, method: Algorithm[Any]) -> tuple[str | float, ...]:
    """Measure one method at one size."""
    posed = case.pose()

    def pose() -> NonRigidProblem:
        penalty = WeightedNuclearNorm(BENCHMARK_XI)
        return NonRigidProblem(
            posed.tracks, posed.visible, posed.rotations, posed.eta, penalty=penalty, rank=case.rank
        )

    set_up, problem = least(pose)
    cold, (first, done) = least(lambda: solve_incrementally(problem, method))
    factors = method.factors(problem, done.state)
    heavier = problem.with_weights(1.2 * problem.weights)
    eager = replace(method, damping=WARM_DAMPING)
    warm, end = least(lambda: solve(heavier, eager, factors))
    tracemalloc.start()
    again = pose()
    method.step(again, method.init(again, first))
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    steps = f"{done.progress.iteration} / {end.progress.iteration}"
    return 1e3 * set_up, 1e3 * cold, 1e3 * warm, steps, peak, np.log10(done.progress.loss)


def least(action: Callable[[], Any], *, budget: float = 1.0) -> tuple[float, Any]:
    """Return the least CPU seconds of up to ten runs within a budget, and the last result."""
    times = []
    with single_threaded():
        while len(times) < 10 and sum(times) < budget:
            began = time.process_time()
            result = action()
            times.append(time.process_time() - began)
    return min(times), result


if __name__ == "__main__":
    main()
