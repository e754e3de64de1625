r"""The problem of pyproximal's tutorial on non-rigid structure from motion, and the default method on it.

Known cameras R_f (2 x 3, estimated, hence not quite orthonormal), no offsets, points that are all seen:

    min over X of  mu |X#|_* + 1/2 |R X - M|^2,    M = R X_gt,  mu = 1,

half of this project's objective with all weights 2 mu and H_fj = R_f' R_f.  It is convex, so that how near an
end point is can be proved: for any Y with |(R'Y)#|_2 <= mu, -1/2 |Y|^2 - <Y, M> is a lower bound of the
optimum, and Y = R X - M, scaled down to be such a Y, makes it tight at the optimum.  The same matrix shows
whether the rank K of the bilinear form is enough: its singular vectors with singular values above mu are
directions in which another column lowers the objective.  So K begins at 1, and columns are added along all of
these at once, until the bound proves that the rank is sufficient; the time of all of this counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from .measurement import MethodCurve, Stopwatch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy.typing as npt

    from ...foundation.types import Bools, Floats
    from ...penalties import SpectralPenalty

TUTORIAL_MU = 1.0
FIRST_RANK = 1
# Predicted decrease, relative, before and after the rank is sufficient by SUFFICIENT_SLOPE.
ROUGH_TOLERANCE, FINE_TOLERANCE = 1e-7, 1e-14
SUFFICIENT_SLOPE = 1.01  # |(R'Y)#|_2 / mu below which the rank may be sufficient
RELATIVE_GAP = 1e-7  # relative, between objective and lower bound, at which ours ends
BILINEAR_TITLE = "bilinear, variable projection"


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
    """The curve of one solver on the scene, whose losses are the tutorial's objective."""

    rank: int | None = None  # K at the end, of ours
    bound: float | None = None  # a proved lower bound of the optimum, of ours


def read_scene(path: Path) -> KnownCamerasScene:
    """Read R (F, 2, 3) and X_gt (3F, P) from the tutorial's .npz file.

    Raises InputError where the file cannot be read or holds something else.
    """
    with refusing_damage(path):
        return _scene_of(load_arrays(read_bytes(path), path))  # without `markers`, which needs pickle


def _scene_of(data: dict[str, npt.NDArray[Any]]) -> KnownCamerasScene:
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
