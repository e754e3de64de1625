r"""IRNN: iteratively reweighted nuclear norms (Lu et al. 2014), one proximal step after the other.

The penalty is concave in every singular value, so that its tangent at sigma(X_k), with slopes w_i, lies above
it; the data term phi lies below its quadratic model of curvature beta wherever beta is at least its curvature
L (`core.solvers.matrix_form`).  The sum of both bounds touches F at X_k, and its minimizer

    X_k+1 = argmin  sum_i w_i sigma_i(X) + (beta / 2) |X - N|^2,    N = X_k - grad phi(X_k) / beta,

therefore never raises F: F(X_k+1) <= F(X_k) - (beta - L) / 2 |X_k+1 - X_k|^2.  The weights w_i do not
decrease with i, since sigma_i does not increase, so that the minimizer is max(sigma_i(N) - w_i / beta, 0).

For penalties that are linear in the sorted singular values (nuclear norm, truncated and weighted nuclear
norms) the weights never change: there IRNN is the proximal gradient method.
With beta just above L its rate is that of the worst-conditioned direction of the data term, the viewing ray
(curvature 2 eta |m|^2), which is why the paper omits its nuclear-norm curves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..foundation.parameters import CheckedParameters, parameter
from ..foundation.representation import OneLine
from ..problem.factors import Factors
from ..problem.nonrigid import Problem
from .matrix_form import (
    MatrixMethod,
    MatrixPoint,
    curvature,
    evaluate,
    ratio,
    slopes,
    starting_point,
    with_singular_values,
)
from .solver import ITERATIONS


@dataclass(frozen=True, eq=False)
class IRNNState(OneLine):
    """The current matrix, and how far the last step went."""

    point: MatrixPoint
    beta: float  # of the quadratic model
    change: float  # |X_k+1 - X_k| / |X_k|


@dataclass(frozen=True)
class IRNN(CheckedParameters, MatrixMethod[IRNNState]):
    """Proximal gradient on X with the penalty's slopes as weights, renewed at every step.

    {parameters}

    Examples
    --------
    >>> import core
    >>> scene = core.simulate("paper", frames=8, points=15, camera=core.CameraModel.ORTHOGONAL)
    >>> problem = core.NonRigidProblem(scene.tracks / 100.0, scene.visible, scene.rotations, 1.0, [1.0, 1.0])
    >>> round(core.solve(problem, core.IRNN(), problem.closed_form(8)).progress.loss, 4)
    7.3618
    """

    tolerance: float = parameter(1e-8, "Relative step |X_k+1 - X_k| / |X_k| at which it has converged.")
    max_iterations: int = parameter(10_000, ITERATIONS, integer=True, least=1)
    margin: float = parameter(1.01, "Curvature of the model over that of the data term.", least=1.0)

    def init(self, problem: Problem, start: Factors) -> IRNNState:
        """Start at the start's shapes, of any rank."""
        return IRNNState(starting_point(problem, start), self.margin * curvature(problem), float("inf"))

    def step(self, problem: Problem, state: IRNNState) -> IRNNState:
        """Make one proximal gradient step under the slopes of the penalty at the current singular values."""
        before = state.point
        target = before.X - before.gradient / state.beta
        if not np.isfinite(target).all():
            return replace(state, point=replace(before, loss=float("nan")))
        thresholds = slopes(problem, before.sigma) / state.beta
        X, sigma = with_singular_values(target, lambda values: np.maximum(values - thresholds, 0.0))
        change = ratio(np.linalg.norm(X - before.X), np.linalg.norm(before.X))
        return replace(state, point=evaluate(problem, X, sigma), change=change)
