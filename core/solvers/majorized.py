r"""Second-order methods for linear penalties, extended to other penalties by majorization (paper, Section 3).

f is concave in the descending singular values, so that with a = the slopes of f at the sigma of a point

    f(z) <= f(sigma) + a'(z - sigma)    for all z >= 0,

with equality at sigma.  The problem with the linear weights a, which are non-decreasing, is an upper bound
that touches: a step that lowers it lowers data + f by at least as much.  One step of the inner method, then
the gauge (f(gamma) is least, and equal to f(sigma), at the balanced factorization), then new weights.  The
inner method starts on them by minimizing over C, which lowers the bound, and steps from there.  At the points
where a bound touches, data + f never rises from one to the next.

Weights are computed anew after every step, not only where the inner method has converged.  That needs no more
steps, and where the ends differ it ends lower: the weights of an early point are zero for too many columns,
and a column that has grown beyond theta of a capped norm never shrinks again.

The bound does not include the cost of a column at which f has slope 0 (every column of the rank penalty;
above theta with capped, MCP and SCAD), and never removes such a column.  So where the weakest remaining
column is one of them, it is cut once the run has converged, and the others are solved from there.  The cut is
kept where data + f is lower in the end, and then the next column is tried.  It is a descent over ranks, one
at a time: a lower rank that can only be reached through a higher objective is not found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..foundation.representation import OneLine
from ..foundation.types import Floats
from ..penalties import LinearPenalty, SpectralPenalty
from ..problem.factors import Factors
from ..problem.initialization import NEGLIGIBLE, pad_rank, with_rank
from ..problem.nonrigid import Problem
from .solver import ROUNDING, Algorithm, Status


@dataclass(frozen=True, eq=False)
class MajorizedState(OneLine):
    """A balanced point, the linear problem that touches there, and the inner method's state on that."""

    factors: Factors  # of at most the problem's rank
    loss: float  # data + f
    linear: Problem
    inner: Any  # state of the inner method
    status: Status
    kept: MajorizedState | None = None  # the state before the cut of rank that is being tried

    @property
    def best(self) -> MajorizedState:
        """The state itself, or the one before the cut while that is lower."""
        return self if self.kept is None or self.loss < self.kept.loss else self.kept


@dataclass(frozen=True)
class Majorized(Algorithm[MajorizedState]):
    """Minimizes data + f(gamma) for the problem's `spectral` by steps of a method for linear weights."""

    inner: Any  # a method for linear penalties whose parameters and states have a `damping`

    @property
    def max_iterations(self) -> int:
        """The inner method's limit."""
        return int(self.inner.max_iterations)

    def init(self, problem: Problem, start: Factors) -> MajorizedState:
        """Minimize over C under the slopes at the start; where a column has no C yet, under the weights."""
        if not all(np.isfinite(part).all() for part in (start.B, start.C, start.s)):
            return MajorizedState(start, float("nan"), problem, None, Status.DIVERGED)
        unborn = start.B.any(axis=0) & ~start.C.any(axis=(1, 2))
        weights = problem.all_weights[: start.rank]
        if not unborn.any():
            start = problem.gauge(start)
            weights = _slopes(problem, start)
        inner: Algorithm[Any] = self.inner
        linear = problem.with_weights(weights)
        point = problem.gauge(inner.factors(linear, inner.init(linear, start)))
        state = self._linearize(problem, point, problem.loss(point), self.inner.damping)
        return self._finish_or_cut(problem, state)

    def step(self, problem: Problem, state: MajorizedState) -> MajorizedState:
        """Take one inner step and linearize anew; where the point no longer changes, try to cut a column."""
        inner: Algorithm[Any] = self.inner
        moved = inner.step(state.linear, state.inner)
        status = inner.status(state.linear, moved)
        if status is Status.DIVERGED:
            return replace(state, status=status)
        found = inner.factors(state.linear, moved)
        point = problem.gauge(found)
        # The data term is the loss of the linear problem without its penalty.
        data = inner.loss(moved) - state.linear.penalty_value(found.gamma())
        loss = data + _spectral(problem).value(_descending(point))
        if np.array_equal(_slopes(problem, point), state.linear.weights):
            new = MajorizedState(point, loss, state.linear, moved, status)  # it touches here, too
        else:
            new = self._linearize(problem, point, loss, moved.damping)
            if new.status is Status.RUNNING and status.finished and new.loss >= (1 - ROUNDING) * state.loss:
                new = replace(new, status=status)
        return self._finish_or_cut(problem, replace(new, kept=state.kept))

    def status(self, problem: Problem, state: MajorizedState) -> Status:
        """Judge by the inner method, after linearizing anew and where that no longer changes the loss."""
        return state.status

    def loss(self, state: MajorizedState) -> float:
        """Return data + f."""
        return state.best.loss

    def factors(self, problem: Problem, state: MajorizedState) -> Factors:
        """Return the point, balanced; columns that were cut are zero."""
        return pad_rank(state.best.factors, problem.rank)

    def _linearize(self, problem: Problem, point: Factors, loss: float, damping: float) -> MajorizedState:
        """Linearize at a balanced point and start the inner method there."""
        linear = problem.with_weights(_slopes(problem, point))
        algorithm: Algorithm[Any] = replace(self.inner, damping=damping)
        inner = algorithm.init(linear, point)
        return MajorizedState(point, loss, linear, inner, algorithm.status(linear, inner))

    def _finish_or_cut(self, problem: Problem, state: MajorizedState) -> MajorizedState:
        """Return a state that runs as it is; else the next cut to try, or the lowest point."""
        if not state.status.finished:
            return state
        if state.best is not state:
            return state.best
        here = replace(state, kept=None)
        sigma = _descending(state.factors)
        alive = sigma[sigma > NEGLIGIBLE * sigma[0]]
        if len(alive) < 2 or not _has_free_cost(_spectral(problem), alive):
            return here
        cut = with_rank(state.factors, len(alive) - 1, np.random.default_rng(0))
        trial = self._linearize(problem, cut, problem.loss(cut), self.inner.damping)
        return replace(trial, status=Status.RUNNING, kept=here)


def _spectral(problem: Problem) -> SpectralPenalty:
    return problem.spectral or LinearPenalty(problem.all_weights)


def _slopes(problem: Problem, factors: Factors) -> Floats:
    return _spectral(problem).slopes(_descending(factors))


def _has_free_cost(spectral: SpectralPenalty, alive: Floats) -> bool:
    """Whether the last of these singular values costs something, but no less if it gets smaller."""
    return bool(spectral.slopes(alive)[-1] == 0) and spectral.value(alive[-1:]) > 0


def _descending(factors: Factors) -> Floats:
    """Return the singular values of a balanced point."""
    return np.sort(factors.gamma())[::-1]
