"""Algorithm 1 of the paper as printed: Levenberg-Marquardt on the sparse Jacobian of the four-row form.

    z <- z - (J'J + lambda I)^-1 J'r,    lambda <- lambda / alpha where the error fell, alpha lambda where not

with z = [vec(B); vec(C'); t] (`printed_form`), one trial per iteration, Jacobian and residual formed anew in
each, and neither balancing nor elimination.  It serves for comparison: the default method reaches the same
minima hundreds of times faster.

Along the gauge, (B_k, C_k) -> (e^u B_k, e^-u C_k), the penalty is a_k / 2 (e^2u |B_k|^2 + e^-2u |C_k|^2),
whose curvature near balance is twice that of J'J.  So once lambda is small the step overshoots by a factor of
2: it exchanges the sizes of B and C and does not change the error.  Factors that are unbalanced by then stay
so, and the run converges very slowly, above the minimum.  A start in exact gauge, a large initial lambda and
a small alpha avoid most of that.  The paper leaves lambda, alpha and "not converged" open; here a trial at a
small lambda ends the run where its predicted decrease is below `tolerance` of the error, or where it is
accepted and its decrease is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..foundation.parameters import CheckedParameters, parameter
from ..foundation.representation import OneLine
from ..foundation.types import Floats
from ..problem.factors import Factors
from ..problem.nonrigid import Problem
from ..problem.printed_form import jacobian, pack, residual_vector, unpack
from .solver import FIRST_DAMPING, ITERATIONS, PREDICTED, Algorithm, Status

NEGLIGIBLE_DAMPING = 1e-6  # above it, a small predicted decrease is due to a short step
LEAST_DAMPING = 1e-15
MOST_DAMPING = 1e12


@dataclass(frozen=True, eq=False)
class AlgorithmOneState(OneLine):
    """The vector of unknowns, its error, and the damping of the next trial."""

    z: Floats  # ((F + 3P) K + 3F,)
    error: float
    damping: float  # lambda
    accepted: bool = True  # whether the last trial was
    converged: bool = False  # whether its predicted decrease was below the tolerance at a small damping
    creeping: bool = False  # whether it gained less than the tolerance at a small damping


@dataclass(frozen=True)
class AlgorithmOne(CheckedParameters, Algorithm[AlgorithmOneState]):
    """The paper's own method on the sparse normal equations; the unit of an iteration is a trial.

    {parameters}

    Examples
    --------
    >>> import core
    >>> scene = core.simulate("paper", frames=8, points=15, camera=core.CameraModel.ORTHOGONAL)
    >>> problem = core.NonRigidProblem(scene.tracks / 100.0, scene.visible, scene.rotations, 1.0, [1.0, 1.0])
    >>> round(core.solve(problem, core.AlgorithmOne(), problem.closed_form()).progress.loss, 4)
    7.3618
    """

    tolerance: float = parameter(1e-14, PREDICTED)
    max_iterations: int = parameter(500, ITERATIONS, integer=True, least=1)
    damping: float = parameter(1.0, FIRST_DAMPING, open_below=True)
    alpha: float = parameter(
        2.0, "What lambda is divided or multiplied by after a step.", least=1.0, open_below=True
    )

    def init(self, problem: Problem, start: Factors) -> AlgorithmOneState:
        """Stack the start into z."""
        with np.errstate(all="ignore"):
            z = pack(problem, start)
            return AlgorithmOneState(z, _error(problem, z), self.damping)

    def step(self, problem: Problem, state: AlgorithmOneState) -> AlgorithmOneState:
        """Make one trial, accept or reject it."""
        from scipy.sparse import eye_array  # here, because they take long to import
        from scipy.sparse.linalg import splu

        factors = unpack(problem, state.z)
        J = jacobian(problem, factors)
        slope = J.T @ residual_vector(problem, factors)
        normal = (J.T @ J + state.damping * eye_array(J.shape[1])).tocsc()
        try:
            step = -splu(normal).solve(slope)
        except RuntimeError:  # SuperLU's word for an exactly singular matrix
            return AlgorithmOneState(state.z, state.error, self.alpha * state.damping, False)
        predicted = float(state.damping * (step @ step) - slope @ step)
        small = state.damping <= NEGLIGIBLE_DAMPING
        converged = small and predicted <= self.tolerance * state.error
        with np.errstate(all="ignore"):
            z = state.z + step
            error = _error(problem, z)
        if error < state.error:
            damping = max(state.damping / self.alpha, LEAST_DAMPING)
            creeping = small and state.error - error <= self.tolerance * state.error
            return AlgorithmOneState(z, error, damping, True, converged, creeping)
        return AlgorithmOneState(state.z, state.error, self.alpha * state.damping, False, converged)

    def status(self, problem: Problem, state: AlgorithmOneState) -> Status:
        """Converged on the predicted decrease; stalled by tiny decreases or the limit of the damping."""
        if not np.isfinite(state.error):
            return Status.DIVERGED
        if state.converged:
            return Status.CONVERGED
        stalled = state.creeping or state.damping > MOST_DAMPING
        return Status.STALLED if stalled else Status.RUNNING

    def loss(self, state: AlgorithmOneState) -> float:
        """Return the error, which is the objective."""
        return state.error

    def factors(self, problem: Problem, state: AlgorithmOneState) -> Factors:
        """Return the point as it is, neither balanced nor centered."""
        return unpack(problem, state.z)


def _error(problem: Problem, z: Floats) -> float:
    r = residual_vector(problem, unpack(problem, z))
    return float(r @ r)
