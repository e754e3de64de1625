r"""L-BFGS with a block preconditioner, as a method for `core.solvers.solver.iterate`.

With s_i the last steps, y_i the changes of the gradient along them, rho_i = 1 / s_i'y_i and H0 the
preconditioner, the direction is -H g (Nocedal and Wright, algorithm 7.4), where H is the BFGS update of H0 by
the pairs (s_i, y_i).  The pairs outlive a new preconditioner: each update makes H y = s whatever H0 is.

With s_i and y_i as rows of S and Y, scaled so that rho_i = 1, and U_ij = s_i'y_j for i <= j, 0 below, the two
loops of that algorithm are two triangular systems and four products with a matrix,

    U a = S g,        r = H0 (g - Y'a),        U'b = a - Y r,        H g = r + S'b:

the first loop is a_i = s_i'g - sum_{j>i} a_j s_i'y_j, the second b_i = a_i - y_i'r - sum_{j<i} b_j s_j'y_i.

A step t d has to satisfy the weak Wolfe conditions

    E(x + t d) <= E(x) + 1e-4 t g'd,        grad E(x + t d)'d >= 0.9 g'd,

and is found from t = 1 by doubling, and by cubic interpolation in an interval that shrinks by 0.9 or less: it
ends for functions that are bounded below, also where they have kinks (as bisection does, Lewis and Overton
2013).  The second condition makes s'y positive.

All that a step needs is in the state, the preconditioner too: a run resumed from a snapshot equals an
uninterrupted one bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..foundation.representation import OneLine
from ..foundation.types import Floats
from ..solvers.solver import IterativeMethod, Status
from .energy import LevelEnergy, Preconditioner, Singles
from .problem import DepthPoint

DECREASE, CURVATURE = 1e-4, 0.9  # of the weak Wolfe conditions
MOST_TRIALS = 20  # of a line search
NEAREST, FARTHEST = 0.1, 0.5  # of the interval of a line search, between which its next trial lies
LEAST_CURVATURE = 1e-12  # of s'y over |s| |y|: a pair below it is left out


class Trial(NamedTuple):
    """A step length of a line search, with the value there and the slope along the direction."""

    t: float
    value: float
    slope: float


class _Rows:
    """Rows of pairs, which are only added at the end, so that the states of a run can share them."""

    def __init__(self, size: int, most: int) -> None:
        self.s, self.y = (np.empty((2 * most, size), dtype=np.float32) for _ in range(2))
        self.count = 0


@dataclass(frozen=True, eq=False)
class CurvaturePairs(OneLine):
    """The last m steps, the oldest first, and the changes of the gradient, scaled to s_i'y_i = 1."""

    rows: _Rows
    last: int  # row after the newest
    products: Floats  # (m, m) U, see above

    @classmethod
    def none(cls, size: int, most: int) -> CurvaturePairs:
        """Return no pair of n = `size` unknowns yet, of at most so many."""
        return cls(_Rows(size, most), 0, np.zeros((0, 0)))

    def __len__(self) -> int:
        """Return m."""
        return len(self.products)

    @property
    def s(self) -> Singles:
        """(m, n) the steps."""
        return self.rows.s[self.last - len(self) : self.last]

    @property
    def y(self) -> Singles:
        """(m, n) the changes of the gradient."""
        return self.rows.y[self.last - len(self) : self.last]

    def with_pair(self, s: Floats, y: Floats, product: float, most: int) -> CurvaturePairs:
        """Return the pairs with one more, without the oldest where there are `most`. `product`: s'y."""
        kept = min(len(self), most - 1)
        rows, last, dropped = self.rows, self.last, len(self) - kept
        if last != rows.count or last == len(rows.s):  # another state has added to them, or they are full
            rows, last = _Rows(len(s), most), kept
            rows.s[:kept], rows.y[:kept] = self.s[dropped:], self.y[dropped:]
        unit = 1.0 / np.sqrt(product)
        np.multiply(s, unit, out=rows.s[last], casting="same_kind")
        np.multiply(y, unit, out=rows.y[last], casting="same_kind")
        U = np.zeros((kept + 1, kept + 1))
        U[:kept, :kept] = self.products[dropped:, dropped:]
        U[:kept, kept] = rows.s[last - kept : last] @ rows.y[last]
        U[kept, kept] = 1.0
        last = rows.count = last + 1
        return CurvaturePairs(rows, last, U)

    def times_inverse_hessian(self, gradient: Floats, preconditioner: Preconditioner) -> Floats:
        """Return H g in single precision: a direction needs no more."""
        g = gradient.astype(np.float32)
        if not len(self):
            return preconditioner.apply(g).astype(float)
        from scipy.linalg.blas import dtrsv  # slow to load

        transposed = self.products.T  # in the memory layout of BLAS
        first = dtrsv(transposed, self.s @ g, lower=1, trans=1, diag=1)
        r = preconditioner.apply(g - first.astype(np.float32) @ self.y)
        second = dtrsv(transposed, first - self.y @ r, lower=1, diag=1)
        r += second.astype(np.float32) @ self.s
        return r.astype(float)


@dataclass(frozen=True, eq=False)
class LBFGSState(OneLine):
    """The unknowns, the energy and its gradient there, the last pairs and the preconditioner."""

    x: Floats  # (n,)
    value: float
    gradient: Floats  # (n,)
    pairs: CurvaturePairs
    preconditioner: Preconditioner | None  # None before the first step
    age: int  # iterations since the preconditioner was computed
    recent: tuple[float, ...]  # the last energies, this one last
    stalled: bool = False  # whether no step lowers the energy


@dataclass(frozen=True)
class LBFGS(IterativeMethod["LevelEnergy", "DepthPoint", LBFGSState]):
    """Preconditioned L-BFGS."""

    max_iterations: int = 200  # iterations after which it ends with `Status.LIMIT`
    # Relative decrease of the energy in an iteration, averaged over `window`, at or below which it has
    # converged.
    tolerance: float = 1e-9
    memory: int = 20  # the number of pairs
    refresh: int = 40  # iterations after which the preconditioner is computed again
    window: int = 3  # iterations over which the decrease is averaged
    # The preconditioner of an energy that is nearly the same, and its age: to compute one takes as long as
    # several iterations. It is left out where it is of another number of unknowns.
    known: tuple[Preconditioner, int] | None = field(default=None, repr=False)

    def init(self, problem: LevelEnergy, start: DepthPoint) -> LBFGSState:
        """Return the state at a point, without pairs."""
        x = problem.start(start)
        value, gradient = problem.value_and_gradient(x)
        known = self.known if self.known is not None and self.known[0].size == len(x) else None
        preconditioner, age = known or (None, 0)
        pairs = CurvaturePairs.none(len(x), self.memory)
        return LBFGSState(x, value, gradient, pairs, preconditioner, age, (value,))

    def step(self, problem: LevelEnergy, state: LBFGSState) -> LBFGSState:
        """Move to a point that satisfies the weak Wolfe conditions; without pairs where they lead nowhere."""
        preconditioner = state.preconditioner
        if preconditioner is None or state.age >= self.refresh:
            preconditioner = problem.preconditioner(state.x)
            state = replace(state, preconditioner=preconditioner, age=0)
        moved = self._move(problem, state, preconditioner)
        if moved is None and (len(state.pairs) or state.age):
            preconditioner = problem.preconditioner(state.x)
            pairs = CurvaturePairs.none(len(state.x), self.memory)
            state = replace(state, preconditioner=preconditioner, age=0, pairs=pairs)
            moved = self._move(problem, state, preconditioner)
        return replace(state, stalled=True) if moved is None else moved

    def status(self, problem: LevelEnergy, state: LBFGSState) -> Status:
        """Converged when the energy has hardly decreased in the last iterations."""
        if not np.isfinite(state.value):
            return Status.DIVERGED
        if state.stalled:
            return Status.STALLED
        return Status.CONVERGED if self.decrease(state) <= self.tolerance else Status.RUNNING

    def decrease(self, state: LBFGSState) -> float:
        """Return the relative decrease of the last iterations, of which it is the mean; at first infinite."""
        if len(state.recent) <= self.window:
            return float("inf")
        fallen = state.recent[0] - state.recent[-1]
        return fallen / (self.window * max(abs(state.value), 1.0))

    def loss(self, state: LBFGSState) -> float:
        """Return the energy."""
        return state.value

    def point(self, problem: LevelEnergy, state: LBFGSState) -> DepthPoint:
        """Return the point of the state."""
        return problem.point(state.x)

    def _move(
        self, problem: LevelEnergy, state: LBFGSState, preconditioner: Preconditioner
    ) -> LBFGSState | None:
        """Return the state after a step along the direction; None where no step lowers the energy."""
        with np.errstate(over="ignore", invalid="ignore"):  # single precision may not hold the direction
            direction = -state.pairs.times_inverse_hessian(state.gradient, preconditioner)
            slope = float(state.gradient @ direction)
        if not -np.inf < slope < 0:
            return None
        t, low, high = 1.0, Trial(0.0, state.value, slope), None
        best: tuple[float, float, Floats] | None = None  # t, value and gradient of sufficient decrease
        for _ in range(MOST_TRIALS):
            value, gradient = problem.value_and_gradient(state.x + t * direction)
            trial = Trial(t, value, float(gradient @ direction))
            if value <= state.value + DECREASE * t * slope:
                low, best = trial, (t, value, gradient)
                if trial.slope >= CURVATURE * slope:
                    break
            else:
                high = trial
            t = 2.0 * t if high is None else _between(low, high)
        if best is None or not best[1] < state.value:
            return None
        t, value, gradient = best
        s, y = t * direction, gradient - state.gradient
        pairs, product = state.pairs, float(s @ y)
        if product > LEAST_CURVATURE * float(np.linalg.norm(s) * np.linalg.norm(y)):
            pairs = pairs.with_pair(s, y, product, self.memory)
        recent = (*state.recent, value)[-self.window - 1 :]
        return LBFGSState(state.x + s, value, gradient, pairs, preconditioner, state.age + 1, recent)


def _between(low: Trial, high: Trial) -> float:
    """Return the minimum of the cubic through two trials, within part of their interval.

    Nocedal and Wright, equation 3.59. The part is nearer to the lower end, which has the lower value.
    """
    width = high.t - low.t
    least, most = low.t + NEAREST * width, low.t + FARTHEST * width
    if not np.isfinite(high.value):
        return least
    d1 = low.slope + high.slope - 3.0 * (high.value - low.value) / width
    square = d1 * d1 - low.slope * high.slope
    if not square >= 0:
        return most
    d2 = float(np.sqrt(square))
    t = high.t - width * (high.slope + d2 - d1) / (high.slope - low.slope + 2.0 * d2)
    return min(max(t, least), most)
