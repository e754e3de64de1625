r"""BMM (Dai, Li and He 2014) and R-BMM (Kumar 2020): the block matrix methods for orthogonal cameras.

At eta = 1 each H is a projector, H = R' diag(1, 1, 0) R where a point is seen and 0 elsewhere, with H^2 = H:
the data term is |W - R X - t|^2, and with complete tracks the best t leaves those of the centered tracks.
Both papers have the factor 1/2 before the data term, which is absent here: their mu and weights are half of
those here.

BMM minimizes mu |X|_* + 1/2 |W - RX|^2 for mu -> 0 by fixed-point continuation (Ma, Goldfarb and Chen 2011):

    Y = X_k - tau H (X_k + s - y),    X_k+1 = argmin tau mu |X|_* + 1/2 |X - Y|^2,

for mu = 4, 1, 1/4, ... down to 1e-10, each from where the last one ended, the next one as soon as the
relative step is at most 1e-6.  The map never raises its objective for tau <= 1 (the curvature of the data
term), nor does a smaller mu.  It converges to the structure of least nuclear norm among those that reproduce
the tracks, and the rank K is used only at the start and at the end: the start is the pseudo-inverse R^+ W cut
to rank K, and the result is cut again.

R-BMM minimizes sum_i a_i sigma_i(X) + |W - RX|^2 with a_i = xi / (sigma_i(X_0) + gamma), X_0 = R^+ W, once,
by ADMM on the split X = Z whose rho grows by a factor at every iteration until both agree.  With M the
response of the data term, M = H / (1 + rho / 2) because H is a projector, and V = Z - U,

    s = best offsets of V,    X = V + M (y - s - V),    Z = prox(X + U, rho),    U += X - Z.

As rho -> infinity the steps vanish for any weights, so that the end point depends on how fast rho grows. The
weights increase, the objective is not convex, and this is not a descent method.  Cut to rank K at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..foundation.exceptions import InputError
from ..foundation.parameters import CheckedParameters, parameter
from ..foundation.representation import OneLine
from ..foundation.types import Floats
from ..problem.closed_form import best_offsets
from ..problem.factors import Factors
from ..problem.initialization import best_cut
from ..problem.nonrigid import Problem
from .matrix_form import MatrixMethod, MatrixPoint, evaluate, prox, starting_point, with_singular_values
from .solver import ITERATIONS, Algorithm, Status


@dataclass(frozen=True, eq=False)
class BMMState(OneLine):
    """The structure at one mu of the continuation."""

    X: Floats  # (F, 3P)
    force: Floats  # (F, 3P): H (X + s - y) at the best s, the gradient of half the data term
    mu: float
    loss: float  # 2 mu |X|_* + |W - R X - t|^2
    change: float  # |X_k+1 - X_k| / max(1, |X_k|)


@dataclass(frozen=True)
class BMM(CheckedParameters, Algorithm[BMMState]):
    """The prior-free method of Dai et al. 2014: least nuclear norm, by fixed-point continuation.

    The weights of the problem are not used: mu goes to 0. `loss` is twice the method's own objective at the
    current mu, which never rises; the objective of the problem is that of `factors`.

    {parameters}

    Examples
    --------
    >>> import core
    >>> scene = core.simulate("paper", frames=8, points=15, camera=core.CameraModel.ORTHOGONAL)
    >>> problem = core.NonRigidProblem(scene.tracks / 100.0, scene.visible, scene.rotations, 1.0, [1.0, 1.0])
    >>> core.solve(problem, core.BMM(), problem.closed_form(8)).status
    <Status.CONVERGED: 'converged'>
    """

    on_matrix = True

    tolerance: float = parameter(1e-6, "Relative step at which the next, smaller mu begins.")
    max_iterations: int = parameter(5000, ITERATIONS, integer=True, least=1)
    tau: float = parameter(0.2, "Step of the fixed-point iteration.", most=1.0, open_below=True)
    mu: float = parameter(4.0, "The first one, in units of the tracks.")
    shrinkage: float = parameter(0.25, "Of mu, from one to the next.", most=0.9, open_below=True)
    last_mu: float = parameter(1e-10, "The last one.")

    def init(self, problem: Problem, start: Factors) -> BMMState:
        """Start at the start's matrix cut to rank K: the paper's start is the closed form, R^+ W."""
        _check_orthogonal(problem, "BMM")
        point = starting_point(problem, start)
        if not np.isfinite(point.loss):
            return BMMState(point.X, point.gradient, self.mu, point.loss, float("inf"))
        cut = best_cut(problem, point.X)
        return _bmm_state(problem, cut.shapes().reshape(point.X.shape), cut.gamma(), self.mu, float("inf"))

    def step(self, problem: Problem, state: BMMState) -> BMMState:
        """Make one fixed-point iteration, with the next mu where the last one was short."""
        mu = state.mu
        if state.change <= self.tolerance:
            mu = max(self.shrinkage * mu, self.last_mu)
        target = state.X - self.tau * state.force
        X, sigma = with_singular_values(target, lambda values: np.maximum(values - self.tau * mu, 0.0))
        change = float(np.linalg.norm(X - state.X)) / max(1.0, float(np.linalg.norm(state.X)))
        return _bmm_state(problem, X, sigma, mu, change)

    def status(self, problem: Problem, state: BMMState) -> Status:
        """Converged when the step is short at the last mu."""
        if not np.isfinite(state.loss):
            return Status.DIVERGED
        ended = state.mu <= self.last_mu and state.change <= self.tolerance
        return Status.CONVERGED if ended else Status.RUNNING

    def loss(self, state: BMMState) -> float:
        """Return 2 mu |X|_* + |W - RX|^2 at the current mu: not the objective of the problem."""
        return state.loss

    def factors(self, problem: Problem, state: BMMState) -> Factors:
        """Return the best cut of X to the problem's rank; its objective is `problem.loss(...)`."""
        return best_cut(problem, state.X)


def _bmm_state(problem: Problem, X: Floats, sigma: Floats, mu: float, change: float) -> BMMState:
    shapes = X.reshape(problem.data.y.shape)
    e = shapes + best_offsets(problem.data, shapes)[:, :, None] - problem.data.y
    force = problem.data.times_H(e)
    loss = float(np.vdot(e, force)) + 2.0 * mu * float(sigma.sum())
    return BMMState(X, force.reshape(X.shape), mu, loss, change)


@dataclass(frozen=True, eq=False)
class RBMMState(OneLine):
    """The two copies of the structure, the dual, and the penalty parameter."""

    X: Floats  # (F, 3P)
    point: MatrixPoint  # Z
    dual: Floats  # (F, 3P) scaled by 1 / rho
    rho: float
    change: float  # |X - Z| / |X|


@dataclass(frozen=True)
class RBMM(CheckedParameters, MatrixMethod[RBMMState]):
    """The reconsidered method of Kumar 2020: weighted nuclear norm, by ADMM with a growing rho.

    {parameters}

    Examples
    --------
    >>> import core
    >>> scene = core.simulate("paper", frames=8, points=15, camera=core.CameraModel.ORTHOGONAL)
    >>> tracks, penalty = scene.tracks / 100.0, core.WeightedNuclearNorm()
    >>> problem = core.NonRigidProblem(tracks, scene.visible, scene.rotations, 1.0, penalty=penalty, rank=2)
    >>> core.solve(problem, core.RBMM(), problem.closed_form(8)).status
    <Status.CONVERGED: 'converged'>
    """

    tolerance: float = parameter(1e-8, "|X - Z| / |X| at which both copies are one.")
    max_iterations: int = parameter(1000, ITERATIONS, integer=True, least=1)
    rho: float = parameter(1e-5, "Small against the weights over the singular values.", open_below=True)
    growth: float = parameter(1.1, "Of rho, at every iteration.", least=1.0, most=10.0, open_below=True)

    def init(self, problem: Problem, start: Factors) -> RBMMState:
        """Start both copies at the start's matrix, of any rank."""
        _check_orthogonal(problem, "R-BMM")
        point = starting_point(problem, start)
        return RBMMState(point.X, point, np.zeros_like(point.X), self.rho, float("inf"))

    def step(self, problem: Problem, state: RBMMState) -> RBMMState:
        """Update X and s, then Z, then the dual, then rho."""
        V = (state.point.X - state.dual).reshape(problem.data.y.shape)
        e = problem.data.y - V - best_offsets(problem.data, V)[:, :, None]
        X = (V + problem.data.times_H(e) / (1.0 + 0.5 * state.rho)).reshape(state.X.shape)
        target = X + state.dual
        if not np.isfinite(target).all():
            return replace(state, point=replace(state.point, loss=float("nan")))
        Z, sigma = with_singular_values(target, partial(prox, problem, rho=state.rho))
        size = float(np.linalg.norm(X))
        change = float(np.linalg.norm(X - Z)) / size if size > 0 else 0.0
        dual = (target - Z) / self.growth
        return RBMMState(X, evaluate(problem, Z, sigma), dual, self.growth * state.rho, change)


def _check_orthogonal(problem: Problem, name: str) -> None:
    if not (problem.affine and problem.offsets):
        raise InputError(
            f"{name} is for orthogonal cameras with known rotations (the non-rigid problem at eta = 1); "
            f"eta is {problem.eta:g}" + ("" if problem.offsets else ", and the problem is the low-rank one")
        )
