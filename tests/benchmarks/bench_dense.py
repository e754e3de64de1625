"""Print seconds, iterations and peak memory of the default method on dense simulated sequences.

    python tests/benchmarks/bench_dense.py [--sizes 99x28880:4 ...] [--growth]

A smooth surface like a face deforms in K shapes and turns before a perspective camera: complete tracks with
noise.  Every case runs in a process of its own, on one thread, from the true rotations and the start that the
product makes: a reconstruction grown from rigid to K on about 12 000 of the observations, solved again on ten
times as many where there are more than fifty times as many, then lifted to all points.

    set-up   CPU s of posing the problem, weights (xi 5e-3) included
    start    CPU s of the grown and lifted start
    1e-6     CPU s from the start to a relative 1e-6 of the lowest loss found
    total    the sum of the three
    steps    iterations to 1e-6 / to the end at a predicted relative decrease of 1e-14
    ms/step  CPU ms of an iteration, on average to the end
    MB       the largest resident set of the process, interpreter and tracks included
"""

from __future__ import annotations

import re
import resource
import time

import numpy as np
from frame import Table, in_process, parser

from core import NonRigidProblem, VariableProjection, WeightedNuclearNorm, iterate, solve
from core.foundation import read_only, rotation_from_vector
from core.problem import reference_singular_values, rigid_start, with_rank
from core.problem.nonrigid import subset, subset_levels
from core.reconstruction.nonrigid_pipeline import COMPARED
from core.reconstruction.pipeline import SHORT_TOLERANCE
from core.solvers import single_threaded

PENALTY = WeightedNuclearNorm(xi=5e-3)
SIZES = ["60x1500:4", "60x1500:10", "99x28880:4", "99x28880:10"]
GROWTH = ["99x3610:4", "99x7220:4", "99x14440:4", "99x28880:4"]
NOISE = 5e-4  # half a pixel at a focal length of 1000 pixels
DISTANCE = 6.0  # of the camera, in half widths of the surface
ETA = 0.05


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--sizes", nargs="+", default=SIZES, help="FxP:K")
    arguments.add_argument("--growth", action="store_true", help="the growth in P at K = 4 instead")
    options = arguments.parse_args()
    times = (f"{name} :.2f" for name in ("set-up", "start", "1e-6", "total"))
    table = Table("F x P:K", *times, "steps", "ms/step :.0f", "MB :.0f", "log10 loss :.6f")
    for size in GROWTH if options.growth else options.sizes:
        table.row(size, *in_process(measured, *map(int, re.split("[x:]", size))))


def dense(frames: int, points: int, rank: int, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return calibrated tracks (F, 2, P) and rotations (F, 3, 3) of a face-like surface of `rank` shapes."""
    rng = np.random.default_rng(seed)
    rows = max(row for row in range(1, int(np.sqrt(points)) + 1) if points % row == 0)
    u, v = (a.ravel() for a in np.meshgrid(np.linspace(-1, 1, points // rows), np.linspace(-1.2, 1.2, rows)))

    def bump(width: float) -> np.ndarray:
        at = rng.uniform(-0.8, 0.8, size=2)
        return np.exp(-((u - at[0]) ** 2 + (v - at[1]) ** 2) / (2 * width**2))

    relief = -0.8 * np.sqrt(np.maximum(1.8 - u**2 - v**2 / 2, 0))
    relief -= 0.35 * np.exp(-(u**2 / 0.02 + v**2 / 0.08))
    shapes = [np.stack((u, v, relief + sum(0.05 * bump(0.15) for _ in range(6))))]
    for _ in range(1, rank):
        direction = rng.normal(size=(3, 2))
        fields = np.stack([bump(rng.uniform(0.2, 0.6)) for _ in range(2)])
        shapes.append(0.25 * (direction @ fields))
    angle = np.linspace(0, 2 * np.pi, frames)
    B = np.ones((frames, rank))
    for k in range(1, rank):
        phase = rng.uniform(0, 2 * np.pi, size=2)
        B[:, k] = np.sin(rng.integers(1, 4) * angle + phase[0])
        B[:, k] += 0.5 * np.sin(rng.integers(3, 7) * angle + phase[1])
    turn = np.stack((0.35 * np.sin(2 * angle), 0.8 * np.sin(angle), 0.1 * np.cos(3 * angle)), axis=1)
    rotations = rotation_from_vector(turn)
    depth = DISTANCE + 0.5 * np.sin(angle)
    offsets = np.stack((0.2 * np.cos(angle), 0.1 * np.sin(angle), depth), axis=1)
    tracks = np.empty((frames, 2, points))
    for f in range(frames):
        seen = rotations[f] @ np.tensordot(B[f], np.stack(shapes), 1) + offsets[f][:, None]
        tracks[f] = seen[:2] / seen[2] + NOISE * rng.normal(size=(2, points))
    return tracks, rotations


def measured(frames: int, points: int, rank: int) -> list[str | float]:
    """Solve tracks, and return the cells of the table."""
    tracks, rotations = dense(frames, points, rank)
    visible = np.ones((frames, points), dtype=bool)
    tracks = read_only(tracks)
    with single_threaded():
        began = time.process_time()
        unpenalized = NonRigidProblem(tracks, visible, rotations, ETA, np.zeros(1))
        problem = unpenalized.with_weights(PENALTY.weights(rank, reference_singular_values(unpenalized.data)))
        posed = time.process_time()
        some = subset(problem, COMPARED)
        factors = rigid_start(some.small)
        for k in range(1, rank + 1):
            smaller = some.small.with_weights(some.small.weights[:k])
            start = with_rank(factors, k, np.random.default_rng(k))
            factors = solve(smaller, VariableProjection(tolerance=SHORT_TOLERANCE), start).state.factors
        for rung in subset_levels(problem, COMPARED):
            start = some.to_subset(factors, rung)
            factors = solve(rung.small, VariableProjection(tolerance=SHORT_TOLERANCE), start).state.factors
            some = rung
        factors = some.to_full(factors)
        started = time.process_time()
        steps = []
        for snapshot in iterate(problem, VariableProjection(), factors):
            steps.append((time.process_time() - started, snapshot.progress.loss))
    times, losses = np.array(steps).T
    lowest = losses.min()
    first = int(np.flatnonzero(losses <= (1 + 1e-6) * lowest)[0])
    reached, steps = times[first], f"{first} / {len(losses) - 1}"
    each = 1e3 * (times[-1] - times[0]) / max(len(times) - 1, 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    total = started - began + reached
    return [posed - began, started - posed, reached, total, steps, each, peak, float(np.log10(lowest))]


if __name__ == "__main__":
    main()
