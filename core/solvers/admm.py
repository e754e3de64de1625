r"""ADMM on the structure matrix: the data term in X, the penalty in Z, X = Z.

The problem, in the unknown matrix X (rows x 3 columns) itself and offsets s where there are any,

    min  sum_ij (X_ij + s_i - y_ij)' H_ij (X_ij + s_i - y_ij) + f(sigma(Z))    subject to  X = Z,

is split with the scaled dual U and the quadratic (rho / 2) |X - Z + U|^2.  There is no 1/2 on the data term.

X, s (jointly): with V = Z - U, d = y - s - V and the response M = H (H + rho/2 I)^-1,

    X = V + M d,    and the value at that X is (rho / 2) sum_ij d' M d,

so that s_i = (sum_j M_ij)^-1 sum_j M_ij (y - V)_ij: one 3x3 system per row, then one product per observation.

Z: with N = X + U, min over Z of f(sigma(Z)) + (rho / 2) |Z - N|^2, the proximal step of
`core.solvers.matrix_form`: exact for non-decreasing weights, where it is max(sigma_i(N) - a_i / rho, 0),
and for every concave penalty, although neither is convex.

rho: with equal weights the problem is convex; rho balances the two residuals at first and then stays.
Otherwise it is not: a small rho lowers the objective most but ends in a cycle, so rho starts small and
doubles whenever neither residuals nor objective make progress, up to the largest curvature of the data term,
where the run counts as stalled.  The end point depends on the start and need not have rank K: the paper cuts
it to rank K and continues with the bilinear method "when only minor progress is being made", which is
`progress`.

The residuals of Boyd et al. 2011 are r = X - Z and rho (Z - Z_before), the gradient in X that remains after
the last step of Z; both are relative here, see `ADMM.residuals`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..foundation.batched_linalg import invert_batched
from ..foundation.parameters import CheckedParameters, parameter
from ..foundation.representation import OneLine
from ..foundation.types import Floats
from ..problem.closed_form import UNMEASURED
from ..problem.factors import Factors
from ..problem.nonrigid import Problem
from ..problem.observation_forms import COLUMN, PLANE, ROW, times_planes
from .matrix_form import (
    MatrixMethod,
    MatrixPoint,
    evaluate,
    is_convex,
    prox,
    ratio,
    starting_point,
    with_singular_values,
)
from .solver import ITERATIONS, Status

BALANCE_FACTOR = 2.0  # rho changes by this where one residual is BALANCE_RATIO times the other
BALANCE_RATIO = 5.0
SAFE_RHO = 2.0  # the Hessian of the data term is 2 H, whose largest eigenvalue is a little above 2
NO_DUAL = 1e-6  # |U| / |Z| below which the dual counts as this: it vanishes where the penalty has no slope
WORTH_WAITING = 0.01  # the relative fall of the residuals or of the objective for which rho is left alone


@dataclass(frozen=True, eq=False)
class Response(OneLine):
    """The response of the data term at one rho, for the X-step."""

    rho: float
    planes: Floats  # (rows, 6 columns): M = H (H + rho/2 I)^-1, in the order of H
    inverse: Floats  # (rows, 3, 3): (sum_j M_ij)^-1 without directions not measured; 0 without offsets


@dataclass(frozen=True, eq=False)
class ADMMState(OneLine):
    """The two copies, the dual, the penalty parameter and the residuals."""

    X: Floats  # (rows, 3 columns)
    point: MatrixPoint  # Z with its own best offsets
    dual: Floats  # (rows, 3 columns) scaled by 1 / rho
    s: Floats  # (rows, 3) offsets that go with X
    response: Response
    primal: float  # |X - Z| / max(|X|, |Z|)
    change: float  # |Z - Z_before| / |dual|, the relative dual residual
    iteration: int
    lowest: tuple[float, float]  # of max(primal, change) and of the loss, so far
    waited: int  # iterations since either was reached
    losses: tuple[float, ...]  # the lowest loss so far, after each of the last `patience` + 1 iterations


@dataclass(frozen=True)
class ADMM(CheckedParameters, MatrixMethod[ADMMState]):
    """The first-order baseline of the paper on X, with over-relaxation and residual balancing.

    {parameters}

    Examples
    --------
    >>> import core
    >>> scene = core.simulate("paper", frames=8, points=15, camera=core.CameraModel.ORTHOGONAL)
    >>> problem = core.NonRigidProblem(scene.tracks / 100.0, scene.visible, scene.rotations, 1.0, [1.0, 1.0])
    >>> round(core.solve(problem, core.ADMM(), problem.closed_form(8)).progress.loss, 4)
    7.3618
    """

    tolerance: float = parameter(1e-6, "Largest primal and dual residual, relative, at the end.")
    max_iterations: int = parameter(3000, ITERATIONS, integer=True, least=1)
    rho: float = parameter(
        0.01, "ADMM's first penalty parameter, relative to curvatures of about 1.", open_below=True
    )
    relaxation: float = parameter(
        1.6, "Over-relaxation of X, where the problem is convex; 1 is none, 1.6 usual.", least=1.0, most=1.9
    )
    balanced_steps: int = parameter(
        100, "Iterations in which rho balances the residuals, where the problem is convex.", integer=True
    )
    patience: int = parameter(
        100,
        "Iterations over which progress is judged; rho is raised where there is none.",
        least=1,
        integer=True,
    )
    progress: float = parameter(
        0.0, "ADMM ends where the objective fell by less than this fraction over `patience` iterations."
    )

    def init(self, problem: Problem, start: Factors) -> ADMMState:
        """Start both copies at the start's matrix (of any rank) and its offsets, with a zero dual."""
        point, inf = starting_point(problem, start), float("inf")
        return ADMMState(
            X=point.X,
            point=point,
            dual=np.zeros_like(point.X),
            s=start.s,
            response=_response(problem, self.rho),
            primal=inf,
            change=inf,
            iteration=0,
            lowest=(inf, inf),
            waited=0,
            losses=(),
        )

    def step(self, problem: Problem, state: ADMMState) -> ADMMState:
        """Update X and s, then Z, then the dual, then (early on) rho."""
        response, before = state.response, state.point.X
        X, s = _data_step(problem, response, before - state.dual)
        relaxation = self.relaxation if is_convex(problem) else 1.0
        target = relaxation * X + (1.0 - relaxation) * before + state.dual
        if not np.isfinite(target).all():
            lost = replace(state.point, loss=float("nan"))
            return replace(state, X=X, s=s, point=lost, iteration=state.iteration + 1)
        Z, sigma = with_singular_values(target, partial(prox, problem, rho=response.rho))
        dual = target - Z
        primal = ratio(np.linalg.norm(X - Z), max(np.linalg.norm(X), np.linalg.norm(Z)))
        against = max(np.linalg.norm(dual), NO_DUAL * np.linalg.norm(Z))
        change = ratio(np.linalg.norm(Z - before), against)
        point = evaluate(problem, Z, sigma)
        lowest, waited, worst = state.lowest, state.waited + 1, max(primal, change)
        if worst < (1 - WORTH_WAITING) * lowest[0] or point.loss < (1 - WORTH_WAITING) * lowest[1]:
            lowest, waited = (min(worst, lowest[0]), min(point.loss, lowest[1])), 0
        losses = (*state.losses, min((point.loss, *state.losses[-1:])))[-self.patience - 1 :]
        after = ADMMState(
            X, point, dual, s, response, primal, change, state.iteration + 1, lowest, waited, losses
        )
        factor = self._rho_factor(problem, after)
        if factor == 1.0:
            return after
        return replace(
            after, response=_response(problem, factor * response.rho), dual=dual / factor, waited=0
        )

    def status(self, problem: Problem, state: ADMMState) -> Status:
        """Converged when both relative residuals are small; stalled when little or nothing goes down."""
        if not np.isfinite(state.point.loss):
            return Status.DIVERGED
        if max(state.primal, state.change) <= self.tolerance:
            return Status.CONVERGED
        first, last = (state.losses[0], state.losses[-1]) if state.losses else (np.inf, np.inf)
        minor = len(state.losses) > self.patience and first - last < self.progress * first
        return Status.STALLED if minor or state.waited > self.patience else Status.RUNNING

    def residuals(self, state: ADMMState) -> tuple[float, float]:
        """Return the relative residuals: primal |X - Z| / max(|X|, |Z|), dual |Z - Z_before| / |U|.

        |U| counts as at least 1e-6 |Z|. Both are infinite before the first step.
        """
        return state.primal, state.change

    def _rho_factor(self, problem: Problem, state: ADMMState) -> float:
        if is_convex(problem):  # balance the residuals, then keep rho
            early = state.iteration <= self.balanced_steps
            return _rebalancing(state.primal, state.change) if early else 1.0
        if state.waited > self.patience and state.response.rho < SAFE_RHO:
            return BALANCE_FACTOR
        return 1.0


def _data_step(problem: Problem, response: Response, target: Floats) -> tuple[Floats, Floats]:
    """Return X and s that minimize the data term + rho/2 |X - target|^2."""
    V = target.reshape(problem.data.y.shape)
    d = problem.data.y - V
    s = np.einsum("fab,fb->fa", response.inverse, times_planes(response.planes, d).sum(axis=2))
    d -= s[:, :, None]
    return (V + times_planes(response.planes, d)).reshape(target.shape), s


def _response(problem: Problem, rho: float) -> Response:
    data = problem.data
    rows, _, columns = data.y.shape
    blocks = data.H.reshape(rows, 6, columns)[:, PLANE].transpose(1, 2, 0, 3).reshape(3, 3, -1)
    diagonal = np.arange(3)
    blocks[diagonal, diagonal] += 0.5 * rho
    # H (H + rho/2)^-1 = I - rho/2 (H + rho/2)^-1
    M = -0.5 * rho * invert_batched(blocks)
    M[diagonal, diagonal] += 1.0
    planes = np.ascontiguousarray(M[ROW, COLUMN].reshape(6, rows, columns).transpose(1, 0, 2))
    inverse = np.zeros((rows, 3, 3))
    if data.offsets:
        total = np.moveaxis(M.reshape(3, 3, rows, columns).sum(axis=3), 2, 0)
        inverse = np.asarray(np.linalg.pinv(total, rcond=UNMEASURED, hermitian=True), dtype=np.float64)
    return Response(rho, planes.reshape(rows, -1), inverse)


def _rebalancing(primal: float, change: float) -> float:
    if primal > BALANCE_RATIO * change:
        return BALANCE_FACTOR
    return 1.0 / BALANCE_FACTOR if change > BALANCE_RATIO * primal else 1.0
