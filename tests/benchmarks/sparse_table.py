"""Print how low-rank problems end whose points are seen in two to four neighboring views.

    python tests/benchmarks/sparse_table.py [--only NAME ...] [--views 36 48] [--starts 32]

The cases are made by hiding: of every point of house and Door one run of two to four of the views that see
it is kept. Of the dinosaur every such run becomes a point of its own, since its 319 points are too few; so do
a full turntable's own tracks lose points and find them again. The turntables are simulated: points on an
opaque ellipsoid, 0.5 px noise. Door has 12 and house 10 views: with two views per point they cannot have
fewer than 17 and 20 % of their entries.

Columns: share of the entries that are seen, views per point; loss of the run over that of the known minimum,
where the descent from the solution of the complete problem ends; projective and metric RMS (px), those of the
known minimum and those of the complete solution on the same observations; starts, and those that agree; CPU
seconds. One BLAS thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from frame import DATA, Table, parser, timed

from core import (
    CameraModel,
    Factors,
    LowRankProblem,
    Sequence,
    Settings,
    TruncatedNuclearNorm,
    VariableProjection,
    iterate,
    read_sequence,
    reconstruct,
    solve,
)
from core.cameras.metric_upgrade import reprojection_rms
from core.foundation import rotation_from_vector
from core.reconstruction.low_rank_pipeline import measurement_norm

LENGTHS, SHARES = (2, 3, 4), (0.4, 0.4, 0.2)  # of the runs of views that are kept
REAL = {"house": "rigid/house.mat", "dinosaur": "rigid/dinosaur_trimmed.mat", "door": "door/data.mat"}
KNOWN = VariableProjection(tolerance=1e-10, max_iterations=500, most_products=100)


@dataclass(frozen=True, eq=False)
class Case:
    """A sparse sequence, and the complete one that it was made of."""

    name: str
    complete: Sequence
    sparse: Sequence
    points: np.ndarray  # (P,) the point of the complete sequence that each one is


def hide(name: str, complete: Sequence, visible: np.ndarray, *, ring: bool, split: bool) -> Case:
    """Keep of every point one run of the views that see it, or with `split` make every run a point."""
    random = np.random.default_rng(0)
    kept: list[np.ndarray] = []
    points: list[int] = []
    for point in range(visible.shape[1]):
        runs = list(_runs(np.flatnonzero(visible[:, point]), len(visible), random, ring=ring))
        if runs and not split:
            runs = [runs[random.integers(len(runs))]]
        for run in runs:
            seen = np.zeros(len(visible), dtype=bool)
            seen[run] = True
            kept.append(seen)
            points.append(point)
    index, mask = np.array(points), np.array(kept).T
    tracks = np.where(mask[:, None], complete.tracks[:, :, index], np.nan)
    sparse = Sequence(tracks, mask, CameraModel.PERSPECTIVE, name, intrinsics=complete.intrinsics)
    return Case(name, complete, sparse, index)


def _runs(seen: np.ndarray, views: int, random: np.random.Generator, *, ring: bool) -> Iterator[np.ndarray]:
    """Yield runs of two to four (at the end five) of the views that see a point, in their order."""
    if len(seen) < LENGTHS[0]:
        return
    if ring and len(seen) < views:
        gaps = np.diff(np.append(seen, seen[0] + views))
        seen = np.roll(seen, -(int(np.argmax(gaps)) + 1))
    while len(seen) >= LENGTHS[0]:
        length = min(int(random.choice(LENGTHS, p=SHARES)), len(seen))
        if len(seen) - length == 1:
            length += 1
        yield seen[:length]
        seen = seen[length:]


def turntable(views: int) -> Case:
    """Return a simulated turntable; complete is that every point is seen in all views."""
    random = np.random.default_rng(0)
    points = 42 * views
    S = random.standard_normal((3, points))
    S *= (0.8 + 0.4 * random.random(points)) / np.linalg.norm(S, axis=0)
    S[1] *= 1.3
    turn = np.zeros((views, 3))
    turn[:, 1] = np.arange(views) * 2 * np.pi / views
    R = rotation_from_vector(np.array([[0.2, 0.0, 0.0]])) @ rotation_from_vector(turn)
    t = np.array([0.0, 0.0, 6.0]) + 0.05 * random.standard_normal((views, 3))
    Y = R @ S + t[:, :, None]
    K = np.array([[1400.0, 0.0, 640.0], [0.0, 1400.0, 480.0], [0.0, 0.0, 1.0]])
    images = K @ Y
    tracks = images[:, :2] / images[:, 2:] + 0.5 * random.standard_normal((views, 2, points))
    centers = -np.einsum("fab,fa->fb", R, t)
    rays = centers[:, :, None] - S
    facing = np.einsum("fap,ap->fp", rays / np.linalg.norm(rays, axis=1, keepdims=True), S)
    facing /= np.linalg.norm(S, axis=0)
    name = f"turntable {views}"
    seen = np.ones((views, points), dtype=bool)
    complete = Sequence(tracks, seen, CameraModel.PERSPECTIVE, name, intrinsics=K)
    return hide(name, complete, facing > 0.3, ring=True, split=False)


def cells(case: Case, settings: Settings) -> tuple[str | float, ...]:
    """Return the cells of a case."""
    sparse = case.sparse
    tracks = np.where(sparse.visible[:, None], sparse.tracks, 0.0)
    complete = reconstruct(case.complete, settings)
    norm = measurement_norm(tracks, sparse.visible)
    problem = LowRankProblem(tracks / norm, sparse.visible, settings.eta, np.zeros(4))
    points = np.ascontiguousarray(complete.homogeneous[:, case.points].T)
    views = len(sparse.visible)
    start = Factors(points, np.zeros((4, 3, views)), np.zeros((len(points), 3)))
    known = solve(problem, KNOWN, start)
    structure = problem.structure(known.state.factors)
    known_rms = norm * reprojection_rms(structure, problem.tracks, problem.visible)
    scale = np.array([complete.norm] * 2 + [1.0])[:, None]
    same = reprojection_rms(
        complete.cameras @ complete.homogeneous[:, case.points] * scale, tracks, sparse.visible
    )
    last, spent = timed(iterate(sparse, settings))
    result = last.result()
    figures, starts = result.meta["low_rank"], result.meta["starts"]
    seen = f"{sparse.visible.mean():.1%}, {sparse.visible.sum() / sparse.visible.shape[1]:.1f}"
    metric = figures["metric_rms"] if figures["metric"] else "none"
    errors = figures["projective_rms"], metric, known_rms, same
    agreeing = f"{len(starts)}, {sum(each['agrees'] for each in starts)}"
    ratio = result.loss / known.progress.loss
    return case.name, f"{views} x {len(case.points)}", seen, result.loss, ratio, *errors, agreeing, spent


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--only", nargs="+", choices=[*REAL, "turntable"], default=[*REAL, "turntable"])
    arguments.add_argument("--views", nargs="+", type=int, default=[36, 48], help="of the turntables")
    arguments.add_argument("--starts", type=int, default=Settings().starts)
    options = arguments.parse_args()
    penalty = TruncatedNuclearNorm(1.0, 4)
    settings = Settings(problem="lowrank", rank=4, penalty=penalty, starts=options.starts)
    errors = (f"{name} :.3f" for name in ("proj.", "metric", "known", "complete"))
    losses = "loss :.4g", "over known :.4f"
    table = Table("case", "F x P", "seen, views", *losses, *errors, "starts, agree", "CPU s :.1f")
    for name, path in REAL.items():
        if name in options.only:
            complete = read_sequence(DATA / "real" / path)
            case = hide(name, complete, complete.visible, ring=False, split=name == "dinosaur")
            table.row(*cells(case, settings))
    if "turntable" in options.only:
        for views in options.views:
            table.row(*cells(turntable(views), settings))


if __name__ == "__main__":
    main()
