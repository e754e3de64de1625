r"""AGD: accelerated proximal gradient for nonconvex penalties (Li and Lin 2015).

With t_0 = 0, t_1 = 1, x_1 = z_1 = x_0, every iteration extrapolates and takes a proximal gradient step there,

    y = x_k + (t_k-1 / t_k) (z_k - x_k) + ((t_k-1 - 1) / t_k) (x_k - x_k-1)
    z_k+1 = prox(y - alpha grad phi(y), alpha),    t_k+1 = (1 + sqrt(1 + 4 t_k^2)) / 2,

and compares it with another step, because without convexity the loss at y may be high.

Monotone: v = prox(x_k - alpha grad phi(x_k), alpha) is computed too, and x_k+1 is the one of z_k+1 and v
that has the lower F.  F(v) <= F(x_k), so that F never rises.

Nonmonotone: z_k+1 is taken at once where F(z_k+1) <= c_k - delta |z_k+1 - y|^2, with c_k a decaying mean of
the F(x_i) so far: c_1 = F(x_1), q_1 = 1, q_k+1 = memory q_k + 1, c_k+1 = (memory q_k c_k + F(x_k+1)) / q_k+1.
Otherwise v decides as above.  F may rise, but F(x_k) <= c_k <= F(x_1) always, and c never rises: so nearly
every iteration costs one proximal step in place of two.

Restart (O'Donoghue and Candes 2015): where the momentum raises the objective, t is set to 1 again.  By the
gradient: <y - z_k+1, x_k+1 - x_k> > 0.  By the loss: F(x_k+1) > F(x_k), or v was chosen.

phi is a quadratic, so that two things need no product with H of their own: its gradient at y is the same
affine combination of the gradients at x_k, z_k and x_k-1 that y is of the points, and its curvature along a
step d = z - y is exactly <grad phi(z) - grad phi(y), d> / |d|^2.  With backtracking, alpha is halved until
that does not exceed 1 / alpha, the only property of L that the proof of descent uses, and grows a little
after every step; the fixed step is 1 / L.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..foundation.parameters import CheckedParameters, parameter
from ..foundation.representation import OneLine
from ..foundation.types import Floats
from ..problem.factors import Factors
from ..problem.nonrigid import Problem
from .matrix_form import (
    MatrixMethod,
    MatrixPoint,
    curvature,
    evaluate,
    prox,
    ratio,
    starting_point,
    with_singular_values,
)
from .solver import ITERATIONS

RESTARTS = ("gradient", "loss", "none")
STEPS = ("fixed", "backtracking")
GROWTH = 1.1  # of the step from one iteration to the next, with backtracking
SAFE = 1.0 - 1e-9  # of 1 / L: at that step the model bounds phi in spite of rounding


@dataclass(frozen=True, eq=False)
class AGDState(OneLine):
    """The last two accepted matrices, the last extrapolated step, and the acceptance's memory."""

    point: MatrixPoint  # x_k
    before: MatrixPoint
    z: MatrixPoint
    t: tuple[float, float]  # t_k-1, t_k
    alpha: float  # the last step size
    shortest: float  # 1 / L: a step size that never fails
    mean: float  # c_k
    count: float  # q_k
    change: float  # the length of the last step over |x_k|


@dataclass(frozen=True)
class AGD(CheckedParameters, MatrixMethod[AGDState]):
    """Accelerated proximal gradient on X, with monotone or nonmonotone acceptance, and restart.

    {parameters}

    Examples
    --------
    >>> import core
    >>> scene = core.simulate("paper", frames=8, points=15, camera=core.CameraModel.ORTHOGONAL)
    >>> problem = core.NonRigidProblem(scene.tracks / 100.0, scene.visible, scene.rotations, 1.0, [1.0, 1.0])
    >>> round(core.solve(problem, core.AGD(), problem.closed_form(8)).progress.loss, 4)
    7.3618
    """

    tolerance: float = parameter(1e-8, "Length of a step over |x| at or below which it has converged.")
    max_iterations: int = parameter(10_000, ITERATIONS, integer=True, least=1)
    acceptance: str = parameter(
        "monotone", "Whether the objective may rise for a while.", choices=("monotone", "nonmonotone")
    )
    restart: str = parameter("gradient", "When the momentum begins again.", choices=RESTARTS)
    step_size: str = parameter("fixed", "1 / L, or found by backtracking.", choices=STEPS)
    memory: float = parameter(
        0.8, "Of the mean that nonmonotone acceptance compares with; 0 is the last loss alone."
    )
    delta: float = parameter(1e-4, "Decrease that is required, over the squared step.")

    def init(self, problem: Problem, start: Factors) -> AGDState:
        """Start at the start's shapes, of any rank, without momentum."""
        x, shortest = starting_point(problem, start), SAFE / curvature(problem)
        return AGDState(x, x, x, (0.0, 1.0), shortest, shortest, x.loss, 1.0, float("inf"))

    def step(self, problem: Problem, state: AGDState) -> AGDState:
        """Make one extrapolated step, guard it, and restart the momentum where it leads uphill."""
        x, before, (last, t) = state.point, state.before, state.t
        z_share, momentum = last / t, (last - 1.0) / t
        y = _combine(x, state.z, before, z_share, momentum)
        gradient = _combine(x, state.z, before, z_share, momentum, of="gradient")
        if not (np.isfinite(y).all() and np.isfinite(gradient).all()):
            return replace(state, point=replace(x, loss=float("nan")))
        longest = state.alpha * (GROWTH if self.step_size == "backtracking" else 1.0)
        z, alpha = _proximal_step(problem, y, gradient, longest, state.shortest)
        chosen, guarded = z, False
        if not self._accepts(state, z, y):
            v, alpha = _proximal_step(problem, x.X, x.gradient, alpha, state.shortest)
            guarded = not z.loss <= v.loss
            chosen = v if guarded else z
        count = self.memory * state.count + 1.0
        mean = (self.memory * state.count * state.mean + chosen.loss) / count
        # From x itself the step is known to lead down; elsewhere it may be short without being at its end.
        moved = float(np.linalg.norm(chosen.X - x.X))
        reached = max(moved, 0.0 if guarded else float(np.linalg.norm(z.X - y)))
        change = ratio(reached, np.linalg.norm(x.X))
        after = AGDState(chosen, x, z, (t, _next(t)), alpha, state.shortest, mean, count, change)
        if self._restarts(x, y, z, chosen, guarded=guarded):
            return replace(after, before=chosen, z=chosen, t=(0.0, 1.0))
        return after

    def _accepts(self, state: AGDState, z: MatrixPoint, y: Floats) -> bool:
        """Whether z needs no comparison with the step from x itself."""
        if self.acceptance == "monotone":
            return False
        return z.loss <= state.mean - self.delta * float(np.square(z.X - y).sum())

    def _restarts(
        self, x: MatrixPoint, y: Floats, z: MatrixPoint, chosen: MatrixPoint, *, guarded: bool
    ) -> bool:
        if self.restart == "none":
            return False
        if self.restart == "loss":
            return guarded or chosen.loss > x.loss
        return bool(np.vdot(y - z.X, chosen.X - x.X) > 0)


def _next(t: float) -> float:
    return 0.5 * (1.0 + float(np.sqrt(1.0 + 4.0 * t * t)))


def _proximal_step(
    problem: Problem, origin: Floats, gradient: Floats, alpha: float, shortest: float
) -> tuple[MatrixPoint, float]:
    """Return the proximal gradient step from a matrix, and its step size, `alpha` or less."""
    while True:
        rho = 1.0 / alpha
        X, sigma = with_singular_values(origin - alpha * gradient, partial(prox, problem, rho=rho))
        point = evaluate(problem, X, sigma)
        d = X - origin
        if alpha <= shortest or np.vdot(point.gradient - gradient, d) <= rho * np.vdot(d, d):
            return point, alpha
        alpha = max(0.5 * alpha, shortest)


def _combine(
    x: MatrixPoint, z: MatrixPoint, before: MatrixPoint, z_share: float, momentum: float, *, of: str = "X"
) -> Floats:
    """Return x + z_share (z - x) + momentum (x - before), of the matrices or of the gradients there."""
    here, there, past = (getattr(point, of) for point in (x, z, before))
    combined: Floats = here + z_share * (there - here) + momentum * (here - past)
    return combined
