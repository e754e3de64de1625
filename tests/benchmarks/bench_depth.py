"""The engine of the depth refinement: the time of an evaluation, of an iteration and of a preconditioner.

    python tests/benchmarks/bench_depth.py

Simulated sequences of the sizes that the acceptance of the refinement names, with exact and with noisy rays.
Printed are milliseconds of CPU time with one BLAS thread: of the energy with its gradient, of a new
preconditioner, and of an iteration of L-BFGS with all that belongs to it, at each level.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from functools import partial
from timeit import timeit

import numpy as np
from frame import Table

import core
from core.cameras import calibrate
from core.depth import LBFGS, DepthLevel, DepthPoint, DepthProblem, LevelEnergy
from core.solvers import single_threaded, solve

SIZES = ((100, 41), (23, 301), (88, 75), (100, 126))  # F x P
LEVELS = (DepthLevel(0.1, 0.15), DepthLevel(0.02, 0.03, relative=True))
NOISE = 0.3  # px
ITERATIONS = 100


def milliseconds(work: Callable[[], object], count: int) -> float:
    """Return the CPU time of one call, after a first one."""
    return 1e3 * timeit(work, work, time.process_time, count) / count


def start(frames: int, points: int, noise: float) -> tuple[DepthProblem, DepthPoint]:
    """Return a simulated sequence, and its truth with disturbed depths."""
    scene = core.simulate("paper", frames=frames, points=points, noise=NOISE)
    tracks = calibrate(scene.observations, scene.intrinsics, scene.camera)
    problem = DepthProblem(tracks, scene.visible, affine=False, noise=noise / scene.intrinsics[0, 0])
    Y = scene.rotations @ scene.truth.points + scene.translations[:, :, None]
    Y[:, 2] += 0.1 * Y[:, 2].std(axis=1).mean() * np.random.default_rng(0).standard_normal((frames, points))
    point = DepthPoint.from_camera_points(problem, Y, scene.rotations)
    return problem.anchored(point), point


def main() -> None:
    milliseconds_of = ("evaluation :.2f", "preconditioner :.1f", "iteration :.2f")
    table = Table("F x P", "noise", "eps :.2f", *milliseconds_of)
    for (frames, points), noise in itertools.product(SIZES, (0.0, NOISE)):
        problem, point = start(frames, points, noise)
        for level in LEVELS:
            energy = LevelEnergy.about(problem, level, point)
            x = energy.start(point)
            with single_threaded():
                evaluation = milliseconds(partial(energy.value_and_gradient, x), 50)
                preconditioner = milliseconds(partial(energy.preconditioner, x), 5)
            began = time.process_time()
            end = solve(energy, LBFGS(ITERATIONS, 0.0), point)
            iteration = (time.process_time() - began) / end.progress.iteration * 1e3
            point = energy.point(end.state.x)
            table.row(f"{frames} x {points}", noise, level.eps, evaluation, preconditioner, iteration)


if __name__ == "__main__":
    main()
