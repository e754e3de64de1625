r"""Matrix-free variable projection: the shapes C are eliminated, Newton steps are taken in (B, s).

With C at its best for (B, s) (P systems of 3K unknowns), phi(B, s) = min over C of the objective has

    gradient / 2   g_B = (H e) C' + (a / 2) B,    g_s = sum_j H e,    e = S + s - y
    Hessian / 2    A = D - W M^-1 W'

where D holds one (K+3) x (K+3) block per frame, M one 3K x 3K block per point, and W couples them; see
`core.solvers.reduced_hessian`.  A is nearly D, so that conjugate gradients preconditioned with D + lambda
I need 1 to 4 products.  Where the data term is streamed every pass forms its blocks anew, and curvature is in
float32.

After a step the gauge is fixed exactly (`factors`), and then C is eliminated.  Balancing the new (B, s)
with the old C would remove the gauge part of a Newton step, and the quadratic convergence with it; the change
of C that goes with the step, -M^-1 W' x, falls out of the products, so it is balanced with that one.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..foundation.batched_linalg import invert_batched, matmul_batched
from ..foundation.parameters import CheckedParameters, parameter
from ..foundation.representation import OneLine
from ..foundation.types import Floats
from ..problem.data_term import PointSystem
from ..problem.factors import Factors, penalty
from ..problem.nonrigid import Problem
from ..problem.observation_forms import Reals
from .reduced_hessian import reduced_hessian
from .solver import FIRST_DAMPING, ITERATIONS, PREDICTED, ROUNDING, Algorithm, Status

MOST_PRODUCTS = 25  # of conjugate gradients in one step
CHAIN_PRODUCTS = 100  # in a step where views share few points
CONTINUED_PRODUCTS = 6  # in a step of a run that continues under changed settings
NEAR_DAMPING = 1e-9  # of the first step from a start near a minimum
NEWTON_BELOW = 1e-3  # relative decrease from which the exact Hessian is used
NEWTON_DAMPING = 1e-6  # initial damping below which the first step already uses it
EXACT_BELOW = 1e-6  # of the loss without a shape; the sum that gives the loss in O(F + P) is too coarse there
# The forcing term of the first step is 0.3, and 0.03 where the planes are streamed: there eliminating C costs
# as much as five products, and starts come from a subset, so that solving the first system better pays.
FIRST_OF_STREAMED = 30.0
LEAST_DAMPING = 1e-12
MOST_TRIALS = 12


@dataclass(frozen=True, eq=False)
class VariableProjectionState(OneLine):
    """A point with C eliminated, and the quantities of the next step, computed at first use.

    While a user changes a setting continuously, most points are replaced before a step is taken from them.
    """

    problem: Problem
    factors: Factors
    system: PointSystem
    He: tuple[Reals, ...] | None  # R H e of each block (3F, p); only where the next step is a Newton step
    loss: float
    exact_gradient: Floats | None  # (K+3, F) as `gradient`, where the residuals were computed
    damping: float
    before: float | None  # `predicted` of the state before; None at a start
    close: bool = False  # whether it is a start that is near the minimum according to the caller
    stuck: bool = False  # no trial of the last step lowered the objective

    @cached_property
    def blocks(self) -> Floats:
        """(K+3, K+3, F) half of the Hessian in (B_f, s_f) at fixed C."""
        return self.problem.data.frame_blocks(self.factors.C, self.problem.weights)

    @cached_property
    def gradient(self) -> Floats:
        """(K+3, F) half of the gradient in (B, s)."""
        if self.exact_gradient is not None:
            return self.exact_gradient
        # The same from sums that are known, to fewer digits.
        data, B, s = self.problem.data, self.factors.B, self.factors.s
        gradient = matmul_batched(self.blocks, np.concatenate((B, s[:, : data.offset_size]), axis=1).T)
        gradient -= data.frame_targets(self.factors.C)
        return gradient

    @cached_property
    def preconditioner(self) -> Floats:
        """(K+3, K+3, F) inverse of the blocks with the damping."""
        return _damped_inverse(self.blocks, self.damping)

    @cached_property
    def predicted(self) -> float:
        """The predicted decrease of a preconditioned gradient step g, g' (D + lambda)^-1 g."""
        return float(np.vdot(self.gradient, matmul_batched(self.preconditioner, self.gradient)))

    @property
    def previous_predicted(self) -> float:
        """`predicted` of the state before, for the forcing term."""
        if self.before is not None:
            return self.before
        if self.close:
            return np.inf
        return self.predicted * (FIRST_OF_STREAMED if self.problem.data.streamed else 1.0)


@dataclass(frozen=True)
class VariableProjection(CheckedParameters, Algorithm[VariableProjectionState]):
    """The default method. Each step: one damped (Gauss-)Newton system, solved by conjugate gradients.

    {parameters}

    Examples
    --------
    >>> import core
    >>> scene = core.simulate("paper", frames=8, points=15, camera=core.CameraModel.ORTHOGONAL)
    >>> problem = core.NonRigidProblem(scene.tracks / 100.0, scene.visible, scene.rotations, 1.0, [1.0, 1.0])
    >>> round(core.solve(problem, core.VariableProjection(), problem.closed_form()).progress.loss, 4)
    7.3618
    """

    linear_only = True

    tolerance: float = parameter(1e-14, PREDICTED)
    max_iterations: int = parameter(500, ITERATIONS, integer=True, least=1)
    damping: float = parameter(1e-3, FIRST_DAMPING, open_below=True)
    most_products: int = parameter(
        MOST_PRODUCTS,
        "Products with the Hessian in one step; fewer make more and shorter steps.",
        integer=True,
        least=1,
    )
    complete_start: bool = field(
        default=False, metadata={"tip": "Whether the start's C belongs to its B and s, as after a step."}
    )

    def init(self, problem: Problem, start: Factors) -> VariableProjectionState:
        """Eliminate C at the start's (B, s); where the start is not complete, only its B and s matter."""
        if not self.complete_start:
            system = problem.data.best_C(start.B, start.s, problem.weights)
            start = Factors(start.B, system.C, start.s)
        factors = problem.gauge(start)
        return _eliminate_C(problem, factors, self.damping, None)

    def step(self, problem: Problem, state: VariableProjectionState) -> VariableProjectionState:
        """Take one accepted step, raising the damping until the objective falls."""
        if state.before is None and state.predicted <= self.tolerance * state.loss:
            return replace(state, before=state.predicted)  # at the minimum already
        newton = state.He is not None
        damping, growth = state.damping, 2.0
        for _ in range(MOST_TRIALS):
            found = _solve_step(problem, state, damping, exact=newton, most=self.most_products)
            if found is None:  # negative curvature at once: the Gauss-Newton matrix has none but by rounding
                if not newton:
                    damping = max(growth * damping, ROUNDING)
                    growth *= 2.0
                newton = False
                continue
            step, shapes = found
            trial = _apply_step(state.factors, step, shapes)
            new = _eliminate_C(problem, problem.gauge(trial), max(damping / 10, LEAST_DAMPING), state)
            if new.loss < state.loss or (newton and _is_closer(state, new)):
                return new
            del new  # its arrays are the largest there are
            if newton:
                newton = False
                continue
            slope = -float(np.vdot(state.gradient, step)) / max(float(np.vdot(step, step)), 1e-300)
            damping = max(growth * damping, 0.3 * slope)
            growth *= 2.0
        return replace(state, stuck=True)

    def status(self, problem: Problem, state: VariableProjectionState) -> Status:
        """Converged on a predicted decrease below the tolerance; stalled when no trial helped."""
        if not np.isfinite(state.loss):
            return Status.DIVERGED
        if self.complete_start and state.before is None and not state.stuck:
            return Status.RUNNING  # under changed settings the start is shown before it is judged
        if state.predicted <= self.tolerance * state.loss:
            return Status.CONVERGED
        if state.stuck:
            return Status.CONVERGED if state.predicted <= ROUNDING * state.loss else Status.STALLED
        return Status.RUNNING

    def loss(self, state: VariableProjectionState) -> float:
        """Return the objective."""
        return state.loss

    def factors(self, problem: Problem, state: VariableProjectionState) -> Factors:
        """Return the point."""
        return state.factors

    def for_near_start(self, chosen: Container[str]) -> VariableProjection:
        """Return the method with a small first damping, unless the damping was chosen."""
        return self if "damping" in chosen else replace(self, damping=NEAR_DAMPING)

    def for_sparse_tracks(self, chosen: Container[str]) -> VariableProjection:
        """Return the method with more products in a step, unless their number was chosen.

        The preconditioner does not see along a chain: a change at one end reaches the other after as many
        products as there are views in between.
        """
        return self if "most_products" in chosen else replace(self, most_products=CHAIN_PRODUCTS)

    def for_changed_settings(self, *, complete: bool) -> VariableProjection:
        """Return the method with short steps, because changed settings take effect after a step."""
        return replace(self, most_products=CONTINUED_PRODUCTS, complete_start=complete)


def _apply_step(factors: Factors, step: Floats, shapes: Floats) -> Factors:
    rank = factors.rank
    s = factors.s + step[rank:].T if len(step) > rank else factors.s
    return Factors(factors.B + step[:rank].T, factors.C + shapes, s)


def _eliminate_C(
    problem: Problem, start: Factors, damping: float, before: VariableProjectionState | None
) -> VariableProjectionState:
    """Eliminate C at (B, s) and evaluate the objective, exactly where steps have become small."""
    data, weights = problem.data, problem.weights
    B, s = start.B, start.s
    system = data.best_C(B, s, weights)
    factors = Factors(B, system.C, s)
    loss = data.eliminated_loss(B, s, weights, system)
    close = before is None and damping < NEWTON_DAMPING  # a small damping declares the start near
    decrease = _relative_decrease(before.loss, loss) if before is not None else 0.0 if close else 1.0
    rank, frames = factors.rank, len(B)
    He = gradient = None
    if decrease < NEWTON_BELOW or not loss > EXACT_BELOW * data.yHy:
        loss, kept = penalty(weights, factors), []
        sums = np.zeros((3 * frames, 3 * rank + data.offsets))
        for _, Ge, shapes, misfit in data.residuals(factors):
            loss += misfit
            sums += Ge @ shapes.T
            kept.append(Ge.astype(data.curvature_dtype, copy=False))
        gradient = data.cameras.rotate_sums_back(sums)
        gradient[:rank] += 0.5 * weights[:, None] * B.T
        He = tuple(kept)
    return VariableProjectionState(
        problem=problem,
        factors=factors,
        system=system,
        He=He,
        loss=loss,
        exact_gradient=gradient,
        damping=damping,
        before=before.predicted if before is not None else None,
        close=close,
    )


def _is_closer(state: VariableProjectionState, new: VariableProjectionState) -> bool:
    """Whether a step near the minimum helps, though the losses differ by rounding only."""
    rounding = state.predicted <= ROUNDING * state.loss and new.loss <= (1 + ROUNDING) * state.loss
    return rounding and new.predicted < 0.25 * state.predicted


def _relative_decrease(before: float, after: float) -> float:
    return (before - after) / before if before else 0.0


def _damped_inverse(blocks: Floats, damping: float) -> Floats:
    damped = blocks.copy()
    diagonal = np.arange(len(blocks))
    damped[diagonal, diagonal] += damping
    return invert_batched(damped)


def _solve_step(
    problem: Problem, state: VariableProjectionState, damping: float, *, exact: bool, most: int
) -> tuple[Floats, Floats] | None:
    """Return the step (K+3, F) and the change of C (K, 3, P) that goes with it.

    None where the first direction has negative curvature.
    """
    hessian = reduced_hessian(
        problem.data, state.factors, state.system, state.blocks, damping, state.He if exact else None
    )
    preconditioner = state.preconditioner
    if damping != state.damping:  # raised by a rejected step
        preconditioner = _damped_inverse(state.blocks, damping)
    residual = -state.gradient
    scaled = matmul_batched(preconditioner, residual)
    size = first = float(np.vdot(residual, scaled))
    forcing = float(np.clip(0.9 * size / max(state.previous_predicted, 1e-300), 0.01, 0.3))
    step = np.zeros_like(residual)
    data = problem.data
    shape_step = np.zeros((3 * state.factors.rank, data.points), data.curvature_dtype)  # M^-1 W' step
    direction = scaled
    for product in range(most):
        image, shapes = hessian.times(direction)
        curvature = float(np.vdot(direction, image))
        if not curvature > 0:
            if product < 2:
                return None
            break
        length = size / curvature
        step += length * direction
        shapes *= length
        shape_step += shapes
        residual -= length * image
        scaled = matmul_batched(preconditioner, residual)
        new = float(np.vdot(residual, scaled))
        if new <= forcing**2 * first:
            break
        direction = scaled + (new / size) * direction
        size = new
    return step, -shape_step.reshape(state.factors.C.shape)
