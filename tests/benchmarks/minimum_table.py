"""Print, for every sequence of a folder, whether the search finds what many random starts find, and its time.

    python tests/benchmarks/minimum_table.py [FOLDER] [--rank K] [--random N] [--seeds S ...] [--xi X] ...

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

import argparse
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core import (
    ADMM,
    CameraModel,
    ExplicitWeights,
    Settings,
    VariableProjection,
    WeightedNuclearNorm,
    iterate,
    list_sequences,
    read_sequence,
    solve,
)
from core.cameras.rotations import rotation_candidates
from core.problem import random_start, reference_singular_values
from core.problem.factors import center
from core.reconstruction.pipeline import prepare

if TYPE_CHECKING:
    from core import Factors, NonRigidProblem, Sequence

SAME = 1e-6  # relative difference of losses
RANDOM_TOLERANCE = 1e-10
SHORT_ADMM = 30  # iterations


def main() -> None:
    """Parse the arguments, run, print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    data = os.environ.get("NRSFM_DATA", "../shared/data")
    parser.add_argument("folder", nargs="?", default=f"{data}/challenge_like", type=Path)
    parser.add_argument("--rank", type=int, default=2)
    parser.add_argument("--random", type=int, default=20, help="random starts per sequence")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(5)), help="of the searches")
    parser.add_argument("--starts", type=int, default=Settings().starts, help="of a search, at most")
    parser.add_argument("--xi", type=float, default=5e-3)
    parser.add_argument("--eta", type=float, default=0.05)
    parser.add_argument("--rotations", choices=("truth", "companion", "tracks"), default="truth")
    parser.add_argument(
        "--intrinsics", default="auto", type=intrinsics, help="auto, gt, a file, or fx,fy,cx,cy"
    )
    parser.add_argument("--orthogonal", action="store_true", help="the orthogonal sequences, at eta 1")
    options = parser.parse_args()
    camera = CameraModel.ORTHOGONAL if options.orthogonal else CameraModel.PERSPECTIVE
    settings = Settings(
        rank=options.rank,
        eta=options.eta,
        rotations=options.rotations,
        intrinsics=options.intrinsics,
        starts=options.starts,
        objective="wnn",
    )
    if options.rotations != "truth":
        settings = replace(settings, rotation_rank=2)
    entries = [entry for entry in list_sequences(options.folder) if entry.camera is camera]
    print("| sequence | best | random | ADMM | single, ms | search, ms | times |")
    print("|---" * 7 + "|")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for entry in entries:
            sequence = read_sequence(entry.file)
            problem = posed(sequence, settings, options.xi)
            # All runs are of one problem: the rotations are read from a file, not chosen again.
            rotations = Path(folder) / "rotations.npz"
            np.savez(rotations, R=problem.rotations)
            weights = ExplicitWeights(tuple(problem.weights))
            fixed = replace(settings, rotations=rotations, rotation_rank=None, penalty=weights)
            found = Row(sequence, problem, fixed, options.random, options.seeds)
            rows.append(found)
            print(f"| {entry.object_name} {entry.path_name} | {found.text()} |", flush=True)
    print_sums(rows, options.random)


def intrinsics(text: str) -> str | tuple[float, float, float, float]:
    """Return what `Settings.intrinsics` takes."""
    if "," not in text:
        return text
    fx, fy, cx, cy = map(float, text.split(","))
    return fx, fy, cx, cy


class Row:
    """All runs of one sequence."""

    def __init__(
        self, sequence: Sequence, problem: NonRigidProblem, settings: Settings, count: int, seeds: list[int]
    ) -> None:
        starts = [random_start(problem, np.random.default_rng([12345, i])) for i in range(count)]
        self.random = [minimum(problem, start) for start in starts]
        self.admm = minimum(problem, admm_cut(problem))
        singles, runs = [], []
        for seed in seeds:  # in turn: both are under the same load
            singles.append(searched(sequence, replace(settings, starts=1, seed=seed)))
            runs.append(searched(sequence, replace(settings, seed=seed)))
        self.single = max(loss for loss, _ in singles)
        self.single_ms = float(np.mean([ms for _, ms in singles]))
        self.losses = [loss for loss, _ in runs]
        self.ms = float(np.mean([ms for _, ms in runs]))
        ends = [loss for loss, _ in (*singles, *runs)]
        self.best = min([*self.random, self.admm, *ends])

    def excess(self, loss: float) -> float:
        """Return by how much a loss is above the best, relatively."""
        return loss / self.best - 1.0

    def hits(self, losses: list[float]) -> int:
        """Return how many losses are the best."""
        return sum(self.excess(loss) < SAME for loss in losses)

    def text(self) -> str:
        """Return the cells of the table."""

        def mark(loss: float) -> str:
            return "*" if self.excess(loss) < SAME else f"{self.excess(loss):.1e}"

        found = f"{self.hits(self.losses)}/{len(self.losses)}"
        if self.hits(self.losses) < len(self.losses):
            found += f" ({self.excess(max(self.losses)):.1e})"
        cells = (
            f"{self.best:.9g}",
            f"{self.hits(self.random)}/{len(self.random)}",
            mark(self.admm),
            f"{mark(self.single)}, {self.single_ms:.0f}",
            f"{found}, {self.ms:.0f}",
            f"{self.ms / self.single_ms:.1f}",
        )
        return " | ".join(cells)


def posed(sequence: Sequence, settings: Settings, xi: float) -> NonRigidProblem:
    """Pose the problem with the weights of the weighted nuclear norm."""
    prepared = prepare(sequence, settings)
    candidates = rotation_candidates(
        sequence, prepared.tracks, source=settings.rotations, rank=settings.rotation_rank
    )
    plain = prepared.problem(candidates[0].compute(), ExplicitWeights((0.0,)), 1, settings.eta)
    weights = WeightedNuclearNorm(xi).weights(settings.rank, reference_singular_values(plain.data))
    return plain.with_weights(weights)


def minimum(problem: NonRigidProblem, start: Factors) -> float:
    """Return the loss at the end of a run from one start."""
    return solve(problem, VariableProjection(tolerance=RANDOM_TOLERANCE), start).progress.loss


def admm_cut(problem: NonRigidProblem) -> Factors:
    """Return where a short ADMM from the closed form ends, cut to the rank."""
    frames, points = problem.shape
    method = ADMM(max_iterations=SHORT_ADMM)
    end = solve(problem, method, center(problem.closed_form(min(frames, 3 * points))))
    return method.factors(problem, end.state)


def searched(sequence: Sequence, settings: Settings) -> tuple[float, float]:
    """Return the loss that a run ends with, and its CPU milliseconds."""
    began = time.process_time()
    for update in iterate(sequence, settings):
        best = update.best
    spent = 1e3 * (time.process_time() - began)
    return best.loss, spent


def print_sums(rows: list[Row], count: int) -> None:
    """Print the last row of the table, and what it comes to."""
    searches = len(rows[0].losses)
    hits = [sum(row.excess(row.losses[i]) < SAME for row in rows) for i in range(searches)]
    single = np.mean([row.single_ms for row in rows])
    spent = np.mean([row.ms for row in rows])
    ratios = [row.ms / row.single_ms for row in rows]
    random = np.mean([row.hits(row.random) for row in rows]) / max(count, 1)
    print(
        f"| of {len(rows)} | | {random:.0%} of all | {sum(row.excess(row.admm) < SAME for row in rows)} "
        f"| {sum(row.excess(row.single) < SAME for row in rows)}, {single:.0f} "
        f"| {' '.join(map(str, hits))}, {spent:.0f} | {spent / single:.2f} |"
    )
    print(
        f"\nAll searches take {spent / single:.2f} times the CPU of all single starts; those of one sequence "
        f"{np.mean(ratios):.2f} in the mean, {np.median(ratios):.2f} in the median, {max(ratios):.2f} at most"
    )


if __name__ == "__main__":
    main()
