"""Print, for every sequence of a folder, whether the search finds what many random starts find, and its time.

    python tests/benchmarks/minimum_table.py [FOLDER ...] [--only O/P ...] [--rank K] [--random N] ...

The weights are those of the weighted nuclear norm of the given xi, as explicit weights.  Columns:

    best       the lowest loss of all runs: N random starts (1e-10, the lowest of them refined), the paper's
               start (ADMM cut to rank K), the single start and the searches
    random     how many of the N random starts end there, within a relative 1e-6
    ADMM       relative excess of the one from ADMM, * where it ends there too
    single     the same for a search of one start (rigid, grown), and its CPU ms (mean of one for every seed)
    search     how many of the searches, one for every seed, end there (the excess of the worst), CPU ms, and
               how many times the single start's that is

CPU times are of whole runs, weights and set-up included, one BLAS thread.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from frame import Table, chosen_sequences, sequences_parser, timed

import core
from core.cameras.rotations import rotation_candidates
from core.problem import random_start, reference_singular_values
from core.problem.factors import center
from core.reconstruction.pipeline import prepare

SAME = 1e-6  # relative difference of losses
RANDOM_TOLERANCE = 1e-10
SHORT_ADMM = 30  # iterations


def main() -> None:
    arguments = sequences_parser(__doc__)
    arguments.add_argument("--rank", type=int, default=2)
    arguments.add_argument("--random", type=int, default=20, help="random starts per sequence")
    arguments.add_argument("--seeds", type=int, nargs="+", default=list(range(5)), help="of the searches")
    arguments.add_argument("--starts", type=int, default=core.Settings().starts, help="of a search, at most")
    arguments.add_argument("--xi", type=float, default=5e-3)
    arguments.add_argument("--eta", type=float, default=0.05)
    arguments.add_argument("--rotations", choices=("truth", "companion", "tracks"), default="truth")
    arguments.add_argument("--intrinsics", default="auto", help="auto, gt, or a file")
    arguments.add_argument("--orthogonal", action="store_true", help="the orthogonal sequences, at eta 1")
    options = arguments.parse_args()
    camera = core.CameraModel.ORTHOGONAL if options.orthogonal else core.CameraModel.PERSPECTIVE
    names = ("rank", "eta", "rotations", "intrinsics", "starts")
    settings = core.Settings(objective="wnn", **{name: getattr(options, name) for name in names})
    if options.rotations != "truth":
        settings = replace(settings, rotation_rank=2)
    table = Table("sequence", "best :.9g", "random", "ADMM", "single, ms", "search, ms", "times :.1f")
    times = []
    for name, sequence in chosen_sequences(options, camera):
        cells, single, search = compare(sequence, settings, options)
        times.append((single, search))
        table.row(name, *cells, search / single)
    singles, searches = np.array(times).T
    ratios = searches / singles
    print(
        f"\nAll searches take {searches.sum() / singles.sum():.2f} times the CPU of all single starts; those "
        f"of one sequence {ratios.mean():.2f} in the mean, {np.median(ratios):.2f} in the median, "
        f"{ratios.max():.2f} at most"
    )


def compare(sequence, settings, options):
    """Return the cells of a sequence, and the CPU milliseconds of a single start and of a search."""
    problem = posed(sequence, settings, options.xi)
    starts = [random_start(problem, np.random.default_rng([12345, i])) for i in range(options.random)]
    random = [minimum(problem, start) for start in starts]
    admm = minimum(problem, admm_cut(problem))
    singles, runs = [], []
    with tempfile.TemporaryDirectory() as folder:
        # All runs are of one problem: the rotations are read from a file, not chosen again.
        rotations = Path(folder) / "rotations.npz"
        np.savez(rotations, R=problem.rotations)
        weights = core.ExplicitWeights(tuple(problem.weights))
        fixed = replace(settings, rotations=rotations, rotation_rank=None, penalty=weights)
        for seed in options.seeds:  # in turn: both are under the same load
            singles.append(timed(core.iterate(sequence, replace(fixed, starts=1, seed=seed))))
            runs.append(timed(core.iterate(sequence, replace(fixed, seed=seed))))
    single_ends, ends = ([last.best.loss for last, _ in found] for found in (singles, runs))
    single_ms, ms = (1e3 * float(np.mean([seconds for _, seconds in found])) for found in (singles, runs))
    best = min([*random, admm, *single_ends, *ends])

    def hits(losses: list[float]) -> int:
        return sum(loss / best - 1 < SAME for loss in losses)

    def mark(loss: float) -> str:
        return "*" if hits([loss]) else f"{loss / best - 1:.1e}"

    found = f"{hits(ends)}/{len(ends)}"
    if hits(ends) < len(ends):
        found += f" ({mark(max(ends))})"
    single = f"{mark(max(single_ends))}, {single_ms:.0f}"
    cells = best, f"{hits(random)}/{len(random)}", mark(admm), single, f"{found}, {ms:.0f}"
    return cells, single_ms, ms


def posed(sequence: core.Sequence, settings: core.Settings, xi: float) -> core.NonRigidProblem:
    """Pose the problem with the weights of the weighted nuclear norm."""
    prepared = prepare(sequence, settings)
    source, rank = settings.rotations, settings.rotation_rank
    first, *_ = rotation_candidates(sequence, prepared.tracks, source=source, rank=rank)
    plain = prepared.problem(first.compute(), core.ExplicitWeights((0.0,)), 1, settings.eta)
    weights = core.WeightedNuclearNorm(xi).weights(settings.rank, reference_singular_values(plain.data))
    return plain.with_weights(weights)


def minimum(problem: core.NonRigidProblem, start: core.Factors) -> float:
    """Return the loss at the end of a run from one start."""
    return core.solve(problem, core.VariableProjection(tolerance=RANDOM_TOLERANCE), start).progress.loss


def admm_cut(problem: core.NonRigidProblem) -> core.Factors:
    """Return where a short ADMM from the closed form ends, cut to the rank."""
    frames, points = problem.shape
    method = core.ADMM(max_iterations=SHORT_ADMM)
    end = core.solve(problem, method, center(problem.closed_form(min(frames, 3 * points))))
    return method.factors(problem, end.state)


if __name__ == "__main__":
    main()
