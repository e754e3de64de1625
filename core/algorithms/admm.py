r"""ADMM on the structure matrix: the data term in X, the penalty in Z, X = Z.

The problem, in the unknown matrix X (rows x 3 columns) itself and offsets s where there are any,

    min  sum_ij (X_ij + s_i - y_ij)' H_ij (X_ij + s_i - y_ij) + f(sigma(Z))    subject to  X = Z,

is split with the scaled dual U and the quadratic (rho / 2) |X - Z + U|^2.  There is no 1/2 on the data term.

X, s (jointly): with V = Z - U, d = y - s - V and the response M = H (H + rho/2 I)^-1,

    X = V + M d,    and the value at that X is (rho / 2) sum_ij d' M d,

so that s_i = (sum_j M_ij)^-1 sum_j M_ij (y - V)_ij: one 3x3 system per row, then one product per observation.

Z: with N = X + U, min over Z of f(sigma(Z)) + (rho / 2) |Z - N|^2, the proximal step of
`core.algorithms.matrix_form`: exact for non-decreasing weights, where it is max(sigma_i(N) - a_i / rho, 0),
and for every concave penalty, although neither is convex.

rho: with equal weights the problem is convex; rho balances the two residuals at first and then stays.
Otherwise it is not: a small rho lowers the objective most but ends in a cycle, so rho starts small and
doubles whenever neither residuals nor objective make progress, up to the largest curvature of the data term;
there the run has stalled.  The end point depends on the start and need not have rank K: the paper cuts it to
rank K and goes on with the bilinear method "when only minor progress is being made", which is `progress`.

The residuals of Boyd et al. 2011 are r = X - Z and, as dU = rho (Z - Z_before) is what the last step of Z
leaves of the gradient in X, its size; both are kept relative, see `residuals`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import InputError
from ..problem import checked_weights
from ..quadratic import COLUMN, PLANE, ROW, batched_inverse, times_planes
from ..solver import Status
from .closed_form import UNMEASURED, best_offsets, leading_cut

if TYPE_CHECKING:
    from ..arrays import Floats
    from ..factors import Factors
    from ..problem import Problem

BALANCE_FACTOR = 2.0  # rho changes by this where one residual is BALANCE_RATIO times the other
BALANCE_RATIO = 5.0
SAFE_RHO = 2.0  # the Hessian of the data term is 2 H, whose largest eigenvalue is a little above 2
PROGRESS = 0.01  # the relative fall of the residuals or of the objective that counts


@dataclass(frozen=True, eq=False)
class Response:
    """What the X-step needs at one rho."""

    rho: float
    planes: Floats  # (F, 6P): M = H (H + rho/2 I)^-1, laid out like H
    inverse: Floats  # (F, 3, 3): (sum_j M_fj)^-1, without the directions that a frame does not measure


@dataclass(frozen=True, eq=False)
class ADMMState:
    """The two copies, the dual, the penalty parameter and the residuals."""

    X: Floats  # (F, 3P)
    Z: Floats  # (F, 3P)
    dual: Floats  # (F, 3P) scaled by 1 / rho
    s: Floats  # (F, 3) offsets that go with X
    response: Response
    weights: Floats  # (min(F, 3P),)
    singular_values: Floats  # (min(F, 3P),) of Z
    loss: float  # the objective of Z with its own best offsets
    primal: float  # |X - Z| / max(|X|, |Z|)
    change: float  # |Z - Z_before| / |dual|: the relative dual residual
    iteration: int
    lowest: tuple[float, float]  # of max(primal, change) and of the loss, so far
    waited: int  # iterations since either was reached


@dataclass(frozen=True)
class ADMM:
    """The first-order baseline of the paper on X#, with over-relaxation and residual balancing."""

    tolerance: float = 1e-6  # both relative residuals at or below this
    max_iterations: int = 3000
    rho: float = 0.01  # initial; H has eigenvalues of about 1 across the ray and eta |m|^2 along it
    relaxation: float = 1.6  # of X, where the problem is convex
    balanced_steps: int = 100  # where convex, rho balances the residuals during these, then stays
    patience: int = 100  # iterations without progress after which rho is raised, or the run has stalled
    full_weights: Floats | None = None  # (min(F, 3P),); None repeats the problem's last weight

    def init(self, problem: Problem, start: Factors) -> ADMMState:
        """Start both copies at the start's shapes (of any rank) and its offsets, with a zero dual.

        Raises
        ------
        InputError
            where `full_weights` decrease, have the wrong length, or disagree with the problem's weights.
        """
        with np.errstate(all="ignore"):
            X = start.shapes().reshape(len(start.B), -1)
        weights = self._weights(problem)
        zero = np.zeros_like(X)
        Z = X if np.isfinite(X).all() else zero
        sigma = np.asarray(np.linalg.svd(Z, compute_uv=False), dtype=np.float64)
        loss = _objective(problem, Z, weights, sigma) if Z is X else float("nan")
        response = _response(problem, self.rho)
        inf = float("inf")
        return ADMMState(X, Z, zero, start.s, response, weights, sigma, loss, inf, inf, 0, (inf, inf), 0)

    def step(self, problem: Problem, state: ADMMState) -> ADMMState:
        """Update X and s, then Z, then the dual, then (early on) rho."""
        frames, _, points = problem.data.y.shape
        response, before = state.response, state.Z
        V = (before - state.dual).reshape(frames, 3, points)
        d = problem.data.y - V
        s = np.einsum("fab,fb->fa", response.inverse, times_planes(response.planes, d).sum(axis=2))
        d -= s[:, :, None]
        X = (V + times_planes(response.planes, d)).reshape(frames, -1)
        relaxation = self.relaxation if _convex(state.weights) else 1.0
        relaxed = relaxation * X + (1.0 - relaxation) * before
        target = relaxed + state.dual
        if not np.isfinite(target).all():
            return replace(state, X=X, s=s, loss=float("nan"), iteration=state.iteration + 1)
        Z, sigma = shrink(target, state.weights / response.rho)
        dual = target - Z
        primal = _ratio(np.linalg.norm(X - Z), max(np.linalg.norm(X), np.linalg.norm(Z)))
        change = _ratio(np.linalg.norm(Z - before), np.linalg.norm(dual))
        iteration = state.iteration + 1
        loss = _objective(problem, Z, state.weights, sigma)
        lowest, waited = state.lowest, state.waited + 1
        if max(primal, change) < (1 - PROGRESS) * lowest[0] or loss < (1 - PROGRESS) * lowest[1]:
            lowest, waited = (min(max(primal, change), lowest[0]), min(loss, lowest[1])), 0
        factor = self._rho_factor(state, primal, change, waited)
        if factor != 1.0:
            response = _response(problem, factor * response.rho)
            dual /= factor
            waited = 0
        return ADMMState(
            X, Z, dual, s, response, state.weights, sigma, loss, primal, change, iteration, lowest, waited
        )

    def status(self, problem: Problem, state: ADMMState) -> Status:
        """Converged when both relative residuals are small; stalled when they no longer go down."""
        if not np.isfinite(state.loss):
            return Status.DIVERGED
        if max(state.primal, state.change) <= self.tolerance:
            return Status.CONVERGED
        return Status.STALLED if state.waited > self.patience else Status.RUNNING

    def loss(self, state: ADMMState) -> float:
        """Return the objective of Z, all its singular values counted, with its best offsets."""
        return state.loss

    def factors(self, problem: Problem, state: ADMMState) -> Factors:
        """Return the best cut of Z to the problem's rank, balanced and centered, with its best offsets.

        Its objective is `problem.loss(...)`, in general not `loss(state)`: Z may have a higher rank.
        """
        frames = len(state.Z)
        shapes = state.Z.reshape(frames, 3, -1)
        # Centering first makes the cut that of the centered shapes, which the offsets complete.
        cut = leading_cut((shapes - shapes.mean(axis=2, keepdims=True)).reshape(frames, -1), problem.rank)
        return replace(cut, s=best_offsets(problem, cut.shapes()))

    def _rho_factor(self, state: ADMMState, primal: float, change: float, waited: int) -> float:
        if _convex(state.weights):  # balance the residuals, then keep rho
            return _rebalancing(primal, change) if state.iteration < self.balanced_steps else 1.0
        if waited > self.patience and state.response.rho < SAFE_RHO:
            return BALANCE_FACTOR
        return 1.0

    def _weights(self, problem: Problem) -> Floats:
        frames, _, points = problem.data.y.shape
        count = min(frames, 3 * points)
        if self.full_weights is None:
            return np.pad(problem.weights, (0, count - problem.rank), mode="edge")
        weights = checked_weights(self.full_weights)
        if len(weights) != count:
            raise InputError(f"full_weights has {len(weights)} entries; accepted is min(F, 3P) = {count}")
        if not np.allclose(weights[: problem.rank], problem.weights):
            raise InputError("full_weights does not begin with the weights of the problem")
        return weights


def _response(problem: Problem, rho: float) -> Response:
    data = problem.data
    frames, _, points = data.y.shape
    blocks = data.H.reshape(frames, 6, points)[:, PLANE].transpose(1, 2, 0, 3).reshape(3, 3, -1)
    diagonal = np.arange(3)
    blocks[diagonal, diagonal] += 0.5 * rho
    # H (H + rho/2)^-1 = I - rho/2 (H + rho/2)^-1
    M = -0.5 * rho * batched_inverse(blocks)
    M[diagonal, diagonal] += 1.0
    total = M.reshape(3, 3, frames, points).sum(axis=3)
    planes = np.ascontiguousarray(M[ROW, COLUMN].reshape(6, frames, points).transpose(1, 0, 2))
    inverse = np.linalg.pinv(np.moveaxis(total, 2, 0), rcond=UNMEASURED, hermitian=True)
    return Response(rho, planes.reshape(frames, -1), np.asarray(inverse, dtype=np.float64))


def _objective(problem: Problem, Z: Floats, weights: Floats, sigma: Floats) -> float:
    data = problem.data
    shapes = Z.reshape(data.y.shape)
    e = shapes + best_offsets(problem, shapes)[:, :, None] - data.y
    return float(np.vdot(e, data.times_H(e)) + weights @ sigma)


def _convex(weights: Floats) -> bool:
    return bool(weights[0] == weights[-1])


def _ratio(part: float | np.floating, whole: float | np.floating) -> float:
    """Return part / whole; 0 where the part is 0, infinite where only the whole is."""
    if part == 0:
        return 0.0
    return float(part / whole) if whole > 0 else float("inf")


def _rebalancing(primal: float, change: float) -> float:
    if primal > BALANCE_RATIO * change:
        return BALANCE_FACTOR
    return 1.0 / BALANCE_FACTOR if change > BALANCE_RATIO * primal else 1.0
