r"""The default method and pyproximal on the problem of pyproximal's tutorial on structure from motion.

    python tests/benchmarks/bench_pyproximal.py mocap.npz [--seconds S]

FILE is the tutorial's mocap.npz; theirs needs `pip install pyproximal==0.12`, without it ours runs alone.
Known cameras R_f (2 x 3, estimated, hence not quite orthonormal), no offsets, points that are all seen:

    min over X of  mu |X#|_* + 1/2 |R X - M|^2,    M = R X_gt,  mu = 1,

half of this project's objective with all weights 2 mu and H_fj = R_f' R_f.  It is convex, so that how near an
end point is can be proved: for any Y with |(R'Y)#|_2 <= mu, -1/2 |Y|^2 - <Y, M> is a lower bound of the
optimum, and Y = R X - M, scaled down to be such a Y, makes it tight at the optimum.  The same matrix shows
whether the rank K of the bilinear form is enough: its singular vectors with singular values above mu are
directions in which another column lowers the objective.  So K begins at 1, and columns are added along all of
these at once, until the bound proves that the rank is sufficient; the time of all of this counts.

Of pyproximal there are the tutorial's ADMM, its step 0.9 from zero, with the 3 x 3 systems of all frames in
one call, which the tutorial solves in a loop; and their accelerated proximal gradient method (FISTA) with a
step just below 1 / L, which the tutorial does not use.  Of their two copies of X the better one counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from frame import Table, parser

from core import Factors, VariableProjection, iterate
from core.experiments.benchmark.methods import UNLIMITED, MethodCurve, Stopwatch, TimeLimitReached
from core.foundation import Bools, Floats
from core.penalties import SpectralPenalty
from core.problem import Problem
from core.problem.data_term import DataTerm, data_term
from core.problem.observation_forms import plane_basis
from core.solvers import single_threaded

MU = 1.0  # the tutorial's
# Predicted decrease, relative, before and after the rank is sufficient by SUFFICIENT_SLOPE.
ROUGH_TOLERANCE, FINE_TOLERANCE = 1e-7, 1e-14
SUFFICIENT_SLOPE = 1.01  # |(R'Y)#|_2 / mu below which the rank may be sufficient
RELATIVE_GAP = 1e-7  # relative, between objective and lower bound, at which ours ends
ADMM_STEP = 0.9  # of their ADMM, the tutorial's
FISTA_STEP = 0.99  # of 1 / L
OPTIMUM_TOLERANCE = 1e-10  # above the optimum, where theirs end: they have no stopping rule
REPEATS = 3  # of ours, which needs a fraction of a second; the fastest counts
THEIRS = ADMM, FISTA = "pyproximal ADMM", "pyproximal proximal gradient (FISTA)"
TOLERANCES = (1e-6, 1e-8)  # relative, above the optimum


@dataclass(frozen=True, eq=False)
class Scene:
    """Cameras and what they see of the truth."""

    cameras: Floats  # (F, 2, 3)
    tracks: Floats  # (F, 2, P)

    def objective(self, X: Floats) -> float:
        """Return mu |X#|_* + 1/2 |R X - M|^2 at X (F, 3, P)."""
        misfit = self.cameras @ X - self.tracks
        sigma = np.linalg.svd(X.reshape(len(X), -1), compute_uv=False)
        return MU * float(sigma.sum()) + 0.5 * float(np.vdot(misfit, misfit))

    def lower_bound(self, X: Floats) -> tuple[float, Floats, Floats]:
        """Return a lower bound of the optimum, and singular values and left vectors of R'(M - R X)."""
        Y = self.cameras @ X - self.tracks
        back_projected = (self.cameras.transpose(0, 2, 1) @ -Y).reshape(len(Y), -1)
        U, sigma, _ = np.linalg.svd(back_projected, full_matrices=False)
        Y *= min(1.0, MU / float(sigma[0])) if sigma[0] > 0 else 1.0
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
        assert self.eta == 1

    def _data_term(self) -> DataTerm:
        full = np.concatenate((self.cameras, np.zeros_like(self.cameras[:, :1])), axis=1)
        basis = plane_basis(full, 1.0)
        basis[:, 6:9, 1:3] = np.linalg.pinv(self.cameras)  # the target y with R y = m
        return replace(data_term(self.features, full, 1.0, offsets=False), basis=basis)


def solve_bilinear(scene: Scene, seconds: float) -> tuple[MethodCurve, int, float]:
    """Solve with columns added until the lower bound proves K enough; return the curve, K and the bound."""
    watch, bound, steps = Stopwatch(seconds), -float("inf"), 0
    with watch.running():
        frames, _, points = scene.tracks.shape
        rank, most = 1, min(frames, 3 * points)
        visible = np.ones((frames, points), dtype=bool)
        problem = KnownCamerasProblem(scene.tracks, visible, scene.cameras, np.full(rank, 2 * MU))
        factors = problem.closed_form()
    while True:
        for tolerance in (ROUGH_TOLERANCE, FINE_TOLERANCE):
            start = factors
            for factors in run(problem, VariableProjection(tolerance), start, watch):
                value = scene.objective(factors.shapes())
                watch.mark(steps, value, value)
                steps += 1
            with watch.running():
                lower, slopes, directions = scene.lower_bound(factors.shapes())
            bound = max(bound, lower)
            if watch.expired or (slopes[0] > SUFFICIENT_SLOPE * MU and rank < most):
                break
        if watch.expired or rank == most or value - bound <= RELATIVE_GAP * value:
            return MethodCurve("bilinear, variable projection", tuple(watch.curve)), rank, bound
        with watch.running():
            more = min(max(int((slopes > SUFFICIENT_SLOPE * MU).sum()), 1), most - rank)
            rank += more
            factors = with_columns(factors, slopes[:more] - MU, directions[:, :more])
            problem = problem.with_weights(np.full(rank, 2 * MU))


def run(problem: Problem, method: VariableProjection, start: Factors, watch: Stopwatch) -> Iterator[Factors]:
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


def with_columns(factors: Factors, gains: Floats, directions: Floats) -> Factors:
    """Add columns to B along directions (F, n), as long as the gains suggest; C is eliminated anyway."""
    new = directions * np.sqrt(np.maximum(gains, 1e-3 * np.abs(gains).max()))
    C = np.concatenate((factors.C, np.zeros((len(gains), *factors.C.shape[1:]))))
    return Factors(np.concatenate((factors.B, new), axis=1), C, factors.s)


def solve_pyproximal(scene: Scene, method: str, optimum: float, seconds: float) -> MethodCurve:
    """Run pyproximal until the objective is within 1e-10 of the optimum, or to the limit."""
    from pyproximal.optimization import primal

    data, nuclear = operators(scene)
    watch, count = Stopwatch(seconds), 0

    def after(*copies: Floats) -> None:
        nonlocal count
        count += 1
        expired = watch.expired
        with watch.paused():
            if expired or watch.due(count):
                value = min(scene.objective(copy.reshape(len(scene.tracks), 3, -1)) for copy in copies)
                watch.mark(count, value, value)
        if expired or (watch.curve and watch.curve[-1].loss <= (1 + OPTIMUM_TOLERANCE) * optimum):
            raise TimeLimitReached

    step = FISTA_STEP / float(np.linalg.norm(scene.cameras, 2, axis=(1, 2)).max()) ** 2
    common = {"x0": np.zeros(nuclear.dim).ravel(), "niter": UNLIMITED, "callback": after}
    try:
        with watch.running():
            if method == FISTA:
                primal.ProximalGradient(data, nuclear, tau=step, acceleration="fista", **common)
            else:
                primal.ADMM(data, nuclear, tau=ADMM_STEP, callbackz=True, **common)
    except TimeLimitReached:
        pass
    return MethodCurve(method, tuple(watch.curve))


def operators(scene: Scene) -> tuple[Any, Any]:
    """Return the data term and the nuclear norm as operators of pyproximal, on X# as one vector."""
    import pyproximal

    R, M = scene.cameras, scene.tracks
    frames, _, points = M.shape
    gram, back_projected = R.transpose(0, 2, 1) @ R, R.transpose(0, 2, 1) @ M

    class DataMisfit(pyproximal.ProxOperator):
        """1/2 |R X - M|^2."""

        def __init__(self) -> None:
            super().__init__(None, True)

        def __call__(self, x: Floats) -> float:
            misfit = R @ x.reshape(frames, 3, points) - M
            return 0.5 * float(np.vdot(misfit, misfit))

        def prox(self, x: Floats, tau: float, **_: object) -> Floats:
            right = tau * back_projected + x.reshape(frames, 3, points)
            return np.linalg.solve(tau * gram + np.eye(3), right).ravel()

        def grad(self, x: Floats) -> Floats:
            return (gram @ x.reshape(frames, 3, points) - back_projected).ravel()

    return DataMisfit(), pyproximal.Nuclear((frames, 3 * points), MU)


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("file")
    arguments.add_argument("--seconds", type=float, default=60.0, help="CPU seconds for each method")
    options = arguments.parse_args()
    with np.load(options.file) as arrays:
        cameras, truth = arrays["R"], arrays["X_gt"]
    scene = Scene(cameras, cameras @ truth.reshape(len(cameras), 3, -1))
    with single_threaded():
        ours = [solve_bilinear(scene, options.seconds) for _ in range(REPEATS)]
        best, rank, bound = min(ours, key=lambda found: found[0].seconds)
        curves = [best]
        try:
            curves += [solve_pyproximal(scene, method, best.loss, options.seconds) for method in THEIRS]
        except ImportError as error:
            print(error)
    lowest = min(curve.loss for curve in curves)
    to = [f"{kind} to {tolerance:g} :.3g" for kind in ("s", "times ours") for tolerance in TOLERANCES]
    table = Table("method", "iterations", "CPU s :.3g", *to, "objective :.6f")
    limits = [(1 + tolerance) * lowest for tolerance in TOLERANCES]
    for curve in curves:
        reached = [curve.seconds_to(limit) or np.nan for limit in limits]
        times = [each / best.seconds_to(limit) for each, limit in zip(reached, limits, strict=True)]
        table.row(curve.method, curve.iterations, curve.seconds, *reached, *times, curve.loss)
    gap = max(1 - bound / best.loss, 0.0)
    print(f"\noptimum {best.loss:.6f}, proved to a relative {gap:.1e}; K = {rank}")


if __name__ == "__main__":
    main()
