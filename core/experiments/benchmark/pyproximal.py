r"""The default method and pyproximal on the problem of pyproximal's tutorial on structure from motion.

Known cameras R_f (2 x 3, estimated, hence not quite orthonormal), no offsets, points that are all seen:

    min over X of  mu |X#|_* + 1/2 |R X - M|^2,    M = R X_gt,  mu = 1,

half of this project's objective with all weights 2 mu and H_fj = R_f' R_f.  It is convex, so that how near an
end point is can be proved: for any Y with |(R'Y)#|_2 <= mu, -1/2 |Y|^2 - <Y, M> is a lower bound of the
optimum, and Y = R X - M, scaled down to be such a Y, makes it tight at the optimum.  The same matrix shows
whether the rank K of the bilinear form is enough: its singular vectors with singular values above mu are
directions in which another column lowers the objective.  So K begins at 1, and columns are added along all of
these at once, until the bound proves that the rank is sufficient; the time of all of this counts.

Of pyproximal there are the tutorial's ADMM, its step 0.9 from zero, its data step one 3 x 3 system after the
other in a loop over frames; the same with all frames in one call; and their accelerated proximal gradient
method (FISTA) with a step just below 1 / L, which the tutorial does not use.  Of their two copies of X the
better one counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...foundation.exceptions import InputError
from ...io.files.contents import load_arrays, read_bytes, refusing_damage
from ...io.files.variables import describe, real_numbers
from ...problem.data_term import DataTerm, data_term
from ...problem.factors import Factors
from ...problem.nonrigid import Problem
from ...problem.observation_forms import plane_basis
from ...solvers.solver import iterate, single_threaded
from ...solvers.variable_projection import VariableProjection
from ..report import Paragraph, table_of, write_csv_table
from .methods import UNLIMITED, MethodCurve, Stopwatch, TimeLimitReached
from .results import compared, known_text, power_of_ten, seconds_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pandas as pd

    from ...foundation.types import Bools, Floats
    from ...penalties import SpectralPenalty
    from ..report import ReportBlock

TUTORIAL_MU = 1.0
FIRST_RANK = 1
# Predicted decrease, relative, before and after the rank is sufficient by SUFFICIENT_SLOPE.
ROUGH_TOLERANCE, FINE_TOLERANCE = 1e-7, 1e-14
SUFFICIENT_SLOPE = 1.01  # |(R'Y)#|_2 / mu below which the rank may be sufficient
RELATIVE_GAP = 1e-7  # relative, between objective and lower bound, at which ours ends
BILINEAR_TITLE = "bilinear, variable projection"
ADMM_STEP = 0.9  # of their ADMM, the tutorial's
FISTA_STEP = 0.99  # of 1 / L
OPTIMUM_TOLERANCE = 1e-10  # above the optimum, where theirs end: they have no stopping rule
BILINEAR_REPEATS = 3  # of ours, which needs a fraction of a second; the fastest counts
TUTORIAL_ADMM = "pyproximal ADMM, as in its tutorial"
BATCHED_ADMM = "pyproximal ADMM, frames in one call"
FISTA = "pyproximal proximal gradient (FISTA)"
PYPROXIMAL_METHODS = (BILINEAR_TITLE, TUTORIAL_ADMM, BATCHED_ADMM, FISTA)
PYPROXIMAL_TOLERANCES = (1e-6, 1e-8)  # relative, above the optimum


@dataclass(frozen=True, eq=False)
class KnownCamerasScene:
    """Cameras and what they see of the truth."""

    cameras: Floats  # (F, 2, 3)
    tracks: Floats  # (F, 2, P)

    def objective(self, X: Floats) -> float:
        """Return mu |X#|_* + 1/2 |R X - M|^2 at X (F, 3, P)."""
        misfit = self.cameras @ X - self.tracks
        sigma = np.linalg.svd(X.reshape(len(X), -1), compute_uv=False)
        return TUTORIAL_MU * float(sigma.sum()) + 0.5 * float(np.vdot(misfit, misfit))

    def back_projected(self, Y: Floats) -> Floats:
        """Return (R'Y)#, shape (F, 3P), for Y (F, 2, P)."""
        return np.asarray(self.cameras.transpose(0, 2, 1) @ Y).reshape(len(Y), -1)

    def lower_bound(self, X: Floats) -> tuple[float, Floats, Floats]:
        """Return a lower bound of the optimum, and singular values and left vectors of R'(M - R X)."""
        Y = self.cameras @ X - self.tracks
        U, sigma, _ = np.linalg.svd(self.back_projected(-Y), full_matrices=False)
        Y *= min(1.0, TUTORIAL_MU / float(sigma[0])) if sigma[0] > 0 else 1.0
        return -0.5 * float(np.vdot(Y, Y)) - float(np.vdot(Y, self.tracks)), sigma, U


@dataclass(frozen=True, eq=False, repr=False)
class KnownCamerasProblem(Problem):
    """Twice the tutorial's objective, in the form that all methods minimize; eta is 1."""

    tracks: Floats  # (F, 2, P)
    visible: Bools  # (F, P)
    cameras: Floats  # (F, 2, 3) of rank 2, not necessarily with orthonormal rows
    weights: Floats  # (K,)
    eta: float = 1.0
    tail: Floats | None = None
    spectral: SpectralPenalty | None = None
    offsets: ClassVar[bool] = False

    def _check_eta(self) -> None:
        if self.eta != 1:
            raise InputError(f"eta is {self.eta:g}; with known cameras it is 1")

    def _data_term(self) -> DataTerm:
        full = np.concatenate((self.cameras, np.zeros_like(self.cameras[:, :1])), axis=1)
        basis = plane_basis(full, 1.0)
        basis[:, 6:9, 1:3] = np.linalg.pinv(self.cameras)  # the target y with R y = m
        return replace(data_term(self.features, full, 1.0, offsets=False), basis=basis)


@dataclass(frozen=True, eq=False)
class SolverCurve(MethodCurve):
    """The curve of one solver, whose losses are the tutorial's objective."""

    rank: int | None = None  # K at the end, of ours
    bound: float | None = None  # a proved lower bound of the optimum, of ours


def read_scene(path: Path) -> KnownCamerasScene:
    """Read R (F, 2, 3) and X_gt (3F, P) from the tutorial's .npz file."""
    with refusing_damage(path):
        data = load_arrays(read_bytes(path), path)  # without `markers`, which needs pickle
        if not {"R", "X_gt"} <= data.keys():
            raise InputError(f"holds {describe(data)}; accepted is pyproximal's mocap.npz, with R and X_gt")
        cameras, truth = (real_numbers(data[name], name) for name in ("R", "X_gt"))
        frames = len(cameras) if cameras.ndim else 0
        if not frames or cameras.shape != (frames, 2, 3) or truth.ndim != 2 or len(truth) != 3 * frames:
            raise InputError(
                f"R has shape {cameras.shape} and X_gt {truth.shape}; accepted are (F, 2, 3) and (3F, P)"
            )
        if not (np.isfinite(cameras).all() and np.isfinite(truth).all()):
            raise InputError("R or X_gt holds a value that is not finite")
        return KnownCamerasScene(cameras, cameras @ truth.reshape(frames, 3, -1))


def solve_bilinear(scene: KnownCamerasScene, seconds: float) -> SolverCurve:
    """Solve by variable projection, with columns added until the lower bound proves K enough."""
    watch = Stopwatch(seconds)
    bound, steps = -float("inf"), 0
    with single_threaded():
        with watch.running():
            frames, _, points = scene.tracks.shape
            most = min(frames, 3 * points)
            rank = min(FIRST_RANK, most)
            visible = np.ones((frames, points), dtype=bool)
            problem = KnownCamerasProblem(
                scene.tracks, visible, scene.cameras, np.full(rank, 2 * TUTORIAL_MU)
            )
            factors = problem.closed_form()
        while True:
            for tolerance in (ROUGH_TOLERANCE, FINE_TOLERANCE):
                start = factors
                for factors in _iterate(problem, VariableProjection(tolerance), start, watch):
                    value = scene.objective(factors.shapes())
                    watch.mark(steps, value, value)
                    steps += 1
                with watch.running():
                    lower, slopes, directions = scene.lower_bound(factors.shapes())
                bound = max(bound, lower)
                if watch.expired or (slopes[0] > SUFFICIENT_SLOPE * TUTORIAL_MU and rank < most):
                    break
            if watch.expired or rank == most or value - bound <= RELATIVE_GAP * value:
                return SolverCurve(BILINEAR_TITLE, tuple(watch.curve), rank, bound)
            with watch.running():
                more = min(max(int((slopes > SUFFICIENT_SLOPE * TUTORIAL_MU).sum()), 1), most - rank)
                rank += more
                factors = _with_columns(factors, slopes[:more] - TUTORIAL_MU, directions[:, :more])
                problem = problem.with_weights(np.full(rank, 2 * TUTORIAL_MU))


def _iterate(
    problem: Problem, method: VariableProjection, start: Factors, watch: Stopwatch
) -> Iterator[Factors]:
    """Yield the points of a run, until its end or that of the time; only the steps count."""
    snapshots = iterate(problem, method, start)
    while True:
        with watch.running():
            snapshot = next(snapshots, None)
        if snapshot is None:
            return
        yield snapshot.state.factors
        if watch.expired:
            return


def _with_columns(factors: Factors, gains: Floats, directions: Floats) -> Factors:
    """Add columns to B along directions (F, n), as long as the gains suggest; C is eliminated anyway."""
    least = 1e-3 * float(np.abs(gains).max())
    new = directions * np.sqrt(np.maximum(gains, least))
    C = np.concatenate((factors.C, np.zeros((len(gains), *factors.C.shape[1:]))))
    return Factors(np.concatenate((factors.B, new), axis=1), C, factors.s)


def solve_pyproximal(scene: KnownCamerasScene, method: str, optimum: float, seconds: float) -> SolverCurve:
    """Run pyproximal until the objective is within 1e-10 of the optimum, or to the limit."""
    pyproximal_version()
    primal = import_module("pyproximal.optimization.primal")
    data, nuclear = _operators(scene, by_frame=method == TUTORIAL_ADMM)
    start = np.zeros(nuclear.dim).ravel()
    watch = Stopwatch(seconds)
    count = 0

    def after(*copies: Floats) -> None:
        nonlocal count
        count += 1
        expired = watch.expired
        with watch.paused():
            if expired or watch.due(count):
                shaped = [copy.reshape(len(scene.tracks), 3, -1) for copy in copies]
                value = min(scene.objective(X) for X in shaped)
                watch.mark(count, value, value)
        if expired or (watch.curve and watch.curve[-1].loss <= (1 + OPTIMUM_TOLERANCE) * optimum):
            raise TimeLimitReached

    lipschitz = float(np.linalg.norm(scene.cameras, 2, axis=(1, 2)).max()) ** 2
    try:
        with single_threaded(), watch.running():
            if method != FISTA:
                primal.ADMM(
                    data, nuclear, tau=ADMM_STEP, x0=start, niter=UNLIMITED, callback=after, callbackz=True
                )
            else:
                primal.ProximalGradient(
                    data,
                    nuclear,
                    x0=start,
                    tau=FISTA_STEP / lipschitz,
                    niter=UNLIMITED,
                    acceleration="fista",
                    callback=after,
                )
    except TimeLimitReached:
        pass
    return SolverCurve(method, tuple(watch.curve))


def pyproximal_version() -> str:
    """Return pyproximal's version. Raises InputError where it is not installed."""
    try:
        return str(import_module("pyproximal").__version__)
    except ImportError as error:
        raise InputError(
            "pyproximal is not installed, so that there is nothing to compare with; install it with: "
            "pip install pyproximal==0.12"
        ) from error


def _operators(scene: KnownCamerasScene, *, by_frame: bool) -> tuple[Any, Any]:
    """Return the data term and the nuclear norm as operators of pyproximal, on X# as one vector."""
    theirs = import_module("pyproximal")
    R, M = scene.cameras, scene.tracks
    frames, _, points = M.shape
    gram, back_projected = R.transpose(0, 2, 1) @ R, R.transpose(0, 2, 1) @ M

    class DataMisfit(theirs.ProxOperator):  # type: ignore[name-defined, misc]
        """1/2 |R X - M|^2."""

        def __init__(self) -> None:
            super().__init__(None, True)

        def __call__(self, x: Floats) -> float:
            misfit = R @ x.reshape(frames, 3, points) - M
            return 0.5 * float(np.vdot(misfit, misfit))

        def prox(self, x: Floats, tau: float, **_: object) -> Floats:
            X = x.reshape(frames, 3, points)
            if not by_frame:
                return np.asarray(np.linalg.solve(tau * gram + np.eye(3), tau * back_projected + X).ravel())
            out = np.empty_like(X)
            for f, camera in enumerate(R):
                right = tau * camera.T @ M[f] + X[f]
                out[f] = np.linalg.solve(tau * camera.T @ camera + np.eye(3), right)
            return np.asarray(out.ravel())

        def grad(self, x: Floats) -> Floats:
            return np.asarray((gram @ x.reshape(frames, 3, points) - back_projected).ravel())

    return DataMisfit(), theirs.Nuclear((frames, 3 * points), TUTORIAL_MU)


def compare_with_pyproximal(
    scene: KnownCamerasScene, seconds: float, progress: Callable[[str], None] | None = None
) -> Iterator[SolverCurve]:
    """Yield ours, then theirs. Raises InputError after ours where pyproximal is not installed."""
    for method in PYPROXIMAL_METHODS:
        if progress is not None:
            progress(method)
        if method == BILINEAR_TITLE:
            curves = [solve_bilinear(scene, seconds) for _ in range(BILINEAR_REPEATS)]
            best = min(curves, key=lambda solver: solver.curve[-1].seconds)
            yield best
        else:
            yield solve_pyproximal(scene, method, best.loss, seconds)


def pyproximal_table(curves: list[SolverCurve]) -> pd.DataFrame:
    """Compare the solvers with the best of them and with ours, which is the first; a row each."""
    table = compared(curves, PYPROXIMAL_TOLERANCES).rename(columns={"loss": "objective"})
    for tolerance in PYPROXIMAL_TOLERANCES:
        there = table[seconds_column(tolerance)]
        table[f"times_ours_to_{power_of_ten(tolerance)}"] = there / there.iat[0]
    table["rank"] = [solver.rank for solver in curves]
    table["lower_bound"] = [solver.bound for solver in curves]
    return table


def pyproximal_blocks(curves: list[SolverCurve], caption: str) -> list[ReportBlock]:
    """Return the table, and what was proved about the optimum."""
    table = pyproximal_table(curves)
    titles = {"method": "method", "iterations": "iterations", "seconds": "CPU s"}
    for kind, title in (("seconds_to", "s to"), ("times_ours_to", "times ours to")):
        powers = map(power_of_ten, PYPROXIMAL_TOLERANCES)
        titles |= {f"{kind}_{power}": f"{title} {power}" for power in powers}
    texts = table[[*titles]].astype(object)
    texts[[*titles][2:]] = texts[[*titles][2:]].map(known_text)
    texts["objective"] = table["objective"].map("{:.6f}".format)
    texts["excess"] = table["excess"].map("{:.1e}".format)
    lines = texts.rename(columns=titles).astype(str).to_dict("records")
    blocks: list[ReportBlock] = [table_of(caption, lines)]
    for solver in curves:
        if solver.bound is not None:
            gap = max(1 - solver.bound / solver.loss, 0.0)
            proof = f"optimum {solver.loss:.6f}, proved to a relative {gap:.1e}; K = {solver.rank}"
            blocks.append(Paragraph(proof))
    return blocks


def write_pyproximal_curves(path: Path, curves: list[SolverCurve]) -> None:
    """Write one line per point of every curve."""
    lines = [
        [solver.method, point.iteration, point.seconds, point.loss]
        for solver in curves
        for point in solver.curve
    ]
    write_csv_table(path, ["method", "iteration", "seconds", "objective"], lines)
