"""Print how low-rank problems end whose points are seen in two to four neighboring views.

    python tests/benchmarks/sparse_table.py [--only NAME ...] [--starts 32]

The cases are made by hiding: of every point of house and Door one run of two to four of the views that see
it is kept. Of the dinosaur every such run becomes a point of its own, since its 319 points are too few; so do
a full turntable's own tracks lose points and find them again. Door has 12 and house 10 views: with two views
per point they cannot have fewer than 17 and 20 % of their entries. A simulated turntable is checked by
`tests/core/reconstruction/test_view_growth.py`.

Columns: share of the entries that are seen, views per point; loss of the run over that of the known minimum,
where the descent from the solution of the complete problem ends; projective and metric RMS (px), those of the
known minimum and those of the complete solution on the same observations; starts, and those that agree; CPU
seconds. One BLAS thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from frame import DATA, Table, parser, timed

import core
from core.cameras.metric_upgrade import reprojection_rms
from core.reconstruction.low_rank_pipeline import measurement_norm

LENGTHS, SHARES = (2, 3, 4), (0.4, 0.4, 0.2)  # of the runs of views that are kept
REAL = {"house": "rigid/house.mat", "dinosaur": "rigid/dinosaur_trimmed.mat", "door": "door/data.mat"}
KNOWN = core.VariableProjection(tolerance=1e-10, max_iterations=500, most_products=100)


def hide(name: str, complete: core.Sequence, *, split: bool) -> tuple[core.Sequence, np.ndarray]:
    """Keep of every point one run of the views that see it, or with `split` make every run a point.

    Returned are the sequence and, of each of its points, the index in the complete one.
    """
    visible, random = complete.visible, np.random.default_rng(0)
    kept: list[np.ndarray] = []
    points: list[int] = []
    for point in range(visible.shape[1]):
        runs = list(_runs(np.flatnonzero(visible[:, point]), random))
        if runs and not split:
            runs = [runs[random.integers(len(runs))]]
        for run in runs:
            seen = np.zeros(len(visible), dtype=bool)
            seen[run] = True
            kept.append(seen)
            points.append(point)
    index, mask = np.array(points), np.array(kept).T
    tracks = np.where(mask[:, None], complete.tracks[:, :, index], np.nan)
    return core.Sequence(tracks, mask, complete.camera, name, intrinsics=complete.intrinsics), index


def _runs(seen: np.ndarray, random: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield runs of two to four (at the end five) of the views that see a point, in their order."""
    while len(seen) >= LENGTHS[0]:
        length = min(int(random.choice(LENGTHS, p=SHARES)), len(seen))
        if len(seen) - length == 1:
            length += 1
        yield seen[:length]
        seen = seen[length:]


def cells(whole: core.Sequence, sparse: core.Sequence, index: Any, settings: core.Settings) -> list[Any]:
    """Return the cells of a sparse sequence, whose points have these indices in the complete one."""
    tracks = np.where(sparse.visible[:, None], sparse.tracks, 0.0)
    complete = core.reconstruct(whole, settings)
    norm = measurement_norm(tracks, sparse.visible)
    problem = core.LowRankProblem(tracks / norm, sparse.visible, settings.eta, np.zeros(4))
    points = np.ascontiguousarray(complete.homogeneous[:, index].T)
    views = len(sparse.visible)
    start = core.Factors(points, np.zeros((4, 3, views)), np.zeros((len(points), 3)))
    known = core.solve(problem, KNOWN, start)
    structure = problem.structure(known.state.factors)
    known_rms = norm * reprojection_rms(structure, problem.tracks, problem.visible)
    scale = np.array([complete.norm] * 2 + [1.0])[:, None]
    same = reprojection_rms(complete.cameras @ complete.homogeneous[:, index] * scale, tracks, sparse.visible)
    last, spent = timed(core.iterate(sparse, settings))
    result = last.result()
    figures, starts = result.meta["low_rank"], result.meta["starts"]
    seen = f"{sparse.visible.mean():.1%}, {sparse.visible.sum() / len(index):.1f}"
    metric = figures["metric_rms"] if figures["metric"] else "none"
    errors = figures["projective_rms"], metric, known_rms, same
    agreeing = f"{len(starts)}, {sum(each['agrees'] for each in starts)}"
    ratio = result.loss / known.progress.loss
    return [sparse.name, f"{views} x {len(index)}", seen, result.loss, ratio, *errors, agreeing, spent]


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--only", nargs="+", choices=REAL, default=list(REAL))
    arguments.add_argument("--starts", type=int, default=core.Settings().starts)
    options = arguments.parse_args()
    penalty = core.TruncatedNuclearNorm(1.0, 4)
    settings = core.Settings(problem="lowrank", rank=4, penalty=penalty, starts=options.starts)
    errors = (f"{name} :.3f" for name in ("proj.", "metric", "known", "complete"))
    losses = "loss :.4g", "over known :.4f"
    table = Table("case", "F x P", "seen, views", *losses, *errors, "starts, agree", "CPU s :.1f")
    for name in options.only:
        complete = core.read_sequence(DATA / "real" / REAL[name])
        table.row(*cells(complete, *hide(name, complete, split=name == "dinosaur"), settings))


if __name__ == "__main__":
    main()
