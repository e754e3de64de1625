r"""Levenberg-Marquardt on all unknowns (B, C, s) at once, through the Schur complement of the cheaper side.

With e = S + s - y and the three Jacobian blocks of e_fj, J_u = [C_1j ... C_Kj, I] for u_f = (B_f, s_f) and
J_c = [B_f1 I ... B_fK I] for c_j = (C_1j, ..., C_Kj), half of the gradient and of the Gauss-Newton matrix are

    g_u(f) = (sum_j C_j' H e + (a / 2) B_f, sum_j H e)      A_f = sum_j J_u' H J_u + diag(a / 2, 0)
    g_c(j) = sum_f B_f H e + (a / 2) C_j                    M_j = sum_f J_c' H J_c + diag(a / 2)
                                                            W_fj = J_u' H J_c = (J_u' H_fj) B_f

A step solves ([[A, W], [W', M]] + lambda I) d = -g and predicts a decrease of lambda |d|^2 - g'd.  One side
is eliminated block by block through its Cholesky factors, E = L L', T = L^-1 W, so that the Schur complement
is one product T' T; the remaining system has (K + 3) F or 3 K P unknowns, whichever is fewer.

Gauss-Newton omits (H e)_fj at the places (B_fk, C_kj) of W, the only other terms of the exact Hessian.  They
are added once decreases are small; then convergence is quadratic.

Every trial is put into its exact gauge (centered, balanced: `factors`) before it is judged, so that the
objective of an accepted point never rises.  At eta = 1 the depth of t, which nothing measures, stays 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..foundation.parameters import CheckedParameters, parameter
from ..foundation.representation import OneLine
from ..foundation.types import Floats
from ..problem.factors import Factors
from ..problem.nonrigid import Problem
from ..problem.observation_forms import PLANE, pairs, point_blocks
from .solver import FIRST_DAMPING, ITERATIONS, PREDICTED, ROUNDING, Algorithm, Status

LEAST_DAMPING = 1e-12
MOST_DAMPING = 1e12
NEGLIGIBLE_DAMPING = 1e-6  # above it, a small predicted decrease is due to a short step
NEWTON_BELOW = 1e-3  # relative decrease of a step from which the exact Hessian is tried
GOOD_GAIN, POOR_GAIN = 0.75, 0.25  # actual over predicted decrease


@dataclass(frozen=True, eq=False)
class LevenbergMarquardtState(OneLine):
    """A point in its exact gauge, and the damping of the next trial."""

    factors: Factors
    loss: float
    damping: float  # lambda
    newton: bool = False  # whether the last decrease was so small that the exact Hessian is tried
    converged: bool = False  # the last predicted decrease was below the tolerance, at a negligible damping
    stuck: bool = False  # no damping gave a trial that lowers the objective


@dataclass(frozen=True, eq=False)
class NormalEquations(OneLine):
    """Half of the gradient and of the Gauss-Newton matrix at a point."""

    B: Floats  # (F, K)
    frame_blocks: Floats  # (F, K+3, K+3): A
    point_blocks: Floats  # (P, 3K, 3K): M
    half: Floats  # (F, K+3, 3, P): J_u' H, so that W_fj = half_fj B_f
    He: Floats  # (F, 3, P): the other terms of the exact Hessian
    frame_gradient: Floats  # (F, K+3)
    point_gradient: Floats  # (P, 3K), within a point k first, then x, y, z


@dataclass(frozen=True, eq=False)
class TrialStep(OneLine):
    """A step in all unknowns, and the decrease of the quadratic model over it."""

    of_frames: Floats  # (F, K+3)
    of_points: Floats  # (P, 3K)
    predicted: float

    def from_point(self, factors: Factors) -> Factors:
        """Return the point at the end of the step."""
        rank, _, points = factors.C.shape
        of_C = self.of_points.T.reshape(rank, 3, points)
        of_B, of_s = self.of_frames[:, :rank], self.of_frames[:, rank:]
        return Factors(factors.B + of_B, factors.C + of_C, factors.s + of_s if of_s.size else factors.s)


@dataclass(frozen=True)
class LevenbergMarquardt(CheckedParameters, Algorithm[LevenbergMarquardtState]):
    """Joint damped Gauss-Newton on (B, C, s). Its arrays take about 16 (K + 3) F 3 K P bytes.

    {parameters}

    Examples
    --------
    >>> import core
    >>> scene = core.simulate("paper", frames=8, points=15, camera=core.CameraModel.ORTHOGONAL)
    >>> problem = core.NonRigidProblem(scene.tracks / 100.0, scene.visible, scene.rotations, 1.0, [1.0, 1.0])
    >>> round(core.solve(problem, core.LevenbergMarquardt(), problem.closed_form()).progress.loss, 4)
    7.3618
    """

    linear_only = True

    tolerance: float = parameter(1e-14, PREDICTED)
    max_iterations: int = parameter(500, ITERATIONS, integer=True, least=1)
    damping: float = parameter(1e-3, FIRST_DAMPING, open_below=True)

    def init(self, problem: Problem, start: Factors) -> LevenbergMarquardtState:
        """Minimize over C at the start's (B, s), and fix the gauge.

        Balancing alone would remove a column of B whose shape is still zero, and no step restores it.
        """
        with np.errstate(all="ignore"):
            loss = problem.loss(start)
        if not np.isfinite(loss):
            return LevenbergMarquardtState(start, loss, self.damping)
        system = problem.data.best_C(start.B, start.s, problem.weights)
        factors = exact_gauge(problem, replace(start, C=system.C))
        return LevenbergMarquardtState(factors, problem.loss(factors), self.damping)

    def step(self, problem: Problem, state: LevenbergMarquardtState) -> LevenbergMarquardtState:
        """Take one accepted step, raising the damping until the objective falls."""
        normal = normal_equations(problem, state.factors)
        negligible = self.tolerance * state.loss
        damping, growth, exact = state.damping, 2.0, state.newton
        while damping <= MOST_DAMPING:
            step = damped_step(normal, damping, exact=exact)
            if exact and (step is None or not step.predicted > 0):  # the exact Hessian is indefinite here
                exact = False
                continue
            trial, loss = _evaluate_trial(problem, state.factors, step)
            converged = step is not None and step.predicted <= negligible and damping <= NEGLIGIBLE_DAMPING
            if step is not None and loss < state.loss:
                gain = (state.loss - loss) / step.predicted
                newton = loss > (1 - NEWTON_BELOW) * state.loss
                return LevenbergMarquardtState(trial, loss, _next_damping(damping, gain), newton, converged)
            if step is not None and step.predicted <= ROUNDING * state.loss and damping <= NEGLIGIBLE_DAMPING:
                return replace(state, converged=True)
            if step is not None and step.predicted <= negligible:
                # The predicted decrease is within rounding: more damping only shortens the step.
                if converged or damping > state.damping:
                    return replace(state, converged=converged, stuck=not converged)
                return replace(state, damping=_next_damping(damping, 1.0))
            if exact:
                exact = False
                continue
            damping, growth = damping * growth, growth * 2.0
        return replace(state, stuck=True)

    def status(self, problem: Problem, state: LevenbergMarquardtState) -> Status:
        """Converged on the predicted decrease; stalled when no damping gave a decrease."""
        if not np.isfinite(state.loss):
            return Status.DIVERGED
        if state.converged:
            return Status.CONVERGED
        return Status.STALLED if state.stuck else Status.RUNNING

    def loss(self, state: LevenbergMarquardtState) -> float:
        """Return the objective."""
        return state.loss

    def factors(self, problem: Problem, state: LevenbergMarquardtState) -> Factors:
        """Return the point, in its exact gauge."""
        return state.factors


def exact_gauge(problem: Problem, factors: Factors) -> Factors:
    """Return the same structure in its exact gauge; at eta = 1 the depth of t is set to 0."""
    fixed = problem.gauge(factors)
    if problem.data.pin is None:
        return fixed
    # The pin of a frame is r3 r3' times the number of points.
    depth = np.einsum("abf,fb->fa", problem.data.pin, fixed.s) / problem.data.points
    return replace(fixed, s=fixed.s - depth)


def normal_equations(problem: Problem, factors: Factors) -> NormalEquations:
    """Return half of the gradient and of the Gauss-Newton matrix of the objective at a point."""
    data, weights = problem.data, problem.weights
    B, C = factors.B, factors.C
    rank, _, points = C.shape
    frames = len(B)
    H = data.H.reshape(frames, 6, points)[:, PLANE]  # (F, 3, 3, P)
    half = np.empty((frames, rank + data.offset_size, 3, points))
    if data.offsets:
        half[:, rank:] = H
    np.einsum("kdp,fdcp->fkcp", C, H, out=half[:, :rank])
    upper, lower, _ = pairs(rank)
    sums = ((B[:, upper] * B[:, lower]).T @ data.H).reshape(-1, 6, points)
    He, _ = data.weighted_residuals(factors)
    flat = He.reshape(frames, -1)
    of_B = flat @ C.reshape(rank, -1).T + 0.5 * weights * B
    of_C = (B.T @ flat).reshape(rank, 3, points) + 0.5 * weights[:, None, None] * C
    return NormalEquations(
        B,
        np.ascontiguousarray(np.moveaxis(data.frame_blocks(C, weights), 2, 0)),
        np.ascontiguousarray(np.moveaxis(point_blocks(sums, weights), 2, 0)),
        half,
        He,
        np.concatenate((of_B, He.sum(axis=2)), axis=1) if data.offsets else of_B,
        np.ascontiguousarray(of_C.reshape(3 * rank, points).T),
    )


def damped_step(normal: NormalEquations, damping: float, *, exact: bool = False) -> TrialStep | None:
    """Solve for the step at a damping, with the exact Hessian or that of Gauss-Newton.

    None where the matrix is not positive definite, as the exact one need not be, and the other in rounding.
    """
    B, half = normal.B, normal.half
    frames, size, _, points = half.shape
    rank = B.shape[1]
    A, M = _add_damping(normal.frame_blocks, damping), _add_damping(normal.point_blocks, damping)
    g_u, g_c = normal.frame_gradient, normal.point_gradient
    try:
        if frames * size <= 3 * rank * points:
            coupling = B.T[:, None, :, None] * half.transpose(3, 2, 0, 1)[:, None]  # (P, K, 3, F, K+3)
            if exact:
                for k in range(rank):
                    coupling[:, k, :, :, k] += normal.He.transpose(2, 1, 0)
            c, u = _schur(M, A, coupling.reshape(points, 3 * rank, -1), g_c, g_u)
        else:
            coupling = half.transpose(0, 1, 3, 2)[:, :, :, None] * B[:, None, None, :, None]
            if exact:
                for k in range(rank):
                    coupling[:, k, :, k] += normal.He.transpose(0, 2, 1)
            u, c = _schur(A, M, coupling.reshape(frames, size, -1), g_u, g_c)
    except np.linalg.LinAlgError:
        return None
    squared = float(np.vdot(u, u) + np.vdot(c, c))
    return TrialStep(u, c, damping * squared - float(np.vdot(g_u, u) + np.vdot(g_c, c)))


def _add_damping(blocks: Floats, damping: float) -> Floats:
    damped = blocks.copy()
    diagonal = np.arange(blocks.shape[1])
    damped[:, diagonal, diagonal] += damping
    return damped


def _schur(
    eliminated: Floats, kept: Floats, coupling: Floats, g_eliminated: Floats, g_kept: Floats
) -> tuple[Floats, Floats]:
    """Solve [[E, V], [V', D]] (x, z) = -(g, h) for block-diagonal E (n, e, e), D (m, d, d), V (n, e, m d)."""
    count, size, _ = kept.shape
    inverse = np.linalg.inv(np.linalg.cholesky(eliminated))
    T = inverse @ coupling
    right = np.einsum("nij,nj->ni", inverse, g_eliminated)
    flat = T.reshape(-1, count * size)
    reduced = flat.T @ flat
    np.negative(reduced, out=reduced)
    index = np.arange(count)
    reduced.reshape(count, size, count, size)[index, :, index] += kept
    z = np.linalg.solve(reduced, flat.T @ right.ravel() - g_kept.ravel())
    x = -np.einsum("nji,nj->ni", inverse, right + (flat @ z).reshape(right.shape))
    return x, z.reshape(count, size)


def _evaluate_trial(problem: Problem, factors: Factors, step: TrialStep | None) -> tuple[Factors, float]:
    """Return the trial in its exact gauge and its loss; an infinite loss where there is none."""
    if step is None:
        return factors, float("inf")
    with np.errstate(all="ignore"):
        trial = step.from_point(factors)
        loss = problem.loss(trial)
    if not np.isfinite(loss):
        return factors, float("inf")
    trial = exact_gauge(problem, trial)
    return trial, problem.loss(trial)


def _next_damping(damping: float, gain: float) -> float:
    if gain > GOOD_GAIN:
        return max(damping / 10.0, LEAST_DAMPING)
    return damping if gain > POOR_GAIN else 4.0 * damping
