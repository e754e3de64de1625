r"""Second-order methods for least squares, extended to robust losses by reweighting (`core.problem.robust`).

At a point with squared residuals p the weighted problem with w = g'(p) bounds the robust objective from
above, up to a constant, and touches it there.  One step of the inner method on the weighted problem, which
lowers it, then new weights: the robust objective falls in every step.  The gauge changes no residual, and
never raises the penalty.

Weights are computed anew after every step, not only where the inner method has converged: that needs no more
steps.  The inner method alone converges quadratically, reweighting linearly, so that a run ends where a step
lowers the objective by less than `SETTLED` of it.  A loss that is not convex (cauchy) has several minima; the
start decides which one is reached, and should be of a solution without gross outliers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..foundation.representation import OneLine
from ..problem.factors import Factors
from ..problem.nonrigid import Problem
from .solver import Algorithm, Status

SETTLED = 1e-8  # relative decrease in a step; reweighting gains about half of what is left in each


@dataclass(frozen=True, eq=False)
class ReweightedState(OneLine):
    """A point, the weighted problem that touches there, and the inner method's state on that."""

    factors: Factors
    loss: float  # robust data term and penalty
    weighted: Problem
    inner: Any  # state of the inner method
    status: Status

    @property
    def damping(self) -> float:
        """The inner method's damping of the next step."""
        return float(self.inner.damping)


@dataclass(frozen=True)
class Reweighted(Algorithm[ReweightedState]):
    """Minimizes the objective of a problem with a robust loss by steps of a method for least squares."""

    linear_only = True

    inner: Any  # a method whose parameters and states have a `damping`
    damping: float  # of the first step

    @property
    def max_iterations(self) -> int:
        """The inner method's limit."""
        return int(self.inner.max_iterations)

    def init(self, problem: Problem, start: Factors) -> ReweightedState:
        """Minimize over C under the weights at the start; where it has no shape yet, without weights."""
        inner: Algorithm[Any] = self.inner
        plain = problem.with_robust(None)
        if start.C.any():
            weights = problem.robust_weights(start)
            plain = plain if weights is None else plain.with_observation_weights(weights)
        point = inner.factors(plain, inner.init(plain, start))
        return self._reweigh(problem, point, self.damping)

    def step(self, problem: Problem, state: ReweightedState) -> ReweightedState:
        """Take one inner step and compute the weights anew."""
        inner: Algorithm[Any] = self.inner
        moved = inner.step(state.weighted, state.inner)
        status = inner.status(state.weighted, moved)
        if status is Status.DIVERGED:
            return replace(state, status=status)
        new = self._reweigh(problem, inner.factors(state.weighted, moved), moved.damping)
        if not new.loss <= state.loss:  # by rounding: the bound cannot rise
            return replace(state, status=Status.CONVERGED)
        if state.loss - new.loss <= SETTLED * state.loss:
            return replace(new, status=Status.CONVERGED)
        return new

    def status(self, problem: Problem, state: ReweightedState) -> Status:
        """Converged where a step lowers the objective by less than `SETTLED` of it."""
        return state.status

    def loss(self, state: ReweightedState) -> float:
        """Return the robust objective."""
        return state.loss

    def factors(self, problem: Problem, state: ReweightedState) -> Factors:
        """Return the point."""
        return state.factors

    def _reweigh(self, problem: Problem, point: Factors, damping: float) -> ReweightedState:
        """Return the state at a point, with the weights there."""
        loss = problem.loss(point)
        weights = problem.robust_weights(point)
        plain = problem.with_robust(None)
        weighted = plain if weights is None else plain.with_observation_weights(weights)
        algorithm: Algorithm[Any] = replace(self.inner, damping=damping)
        inner = algorithm.init(weighted, point)
        status = Status.RUNNING if np.isfinite(loss) else Status.DIVERGED
        return ReweightedState(point, loss, weighted, inner, status)
