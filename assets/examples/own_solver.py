"""Write a solver: alternating least squares in B and C, compared with variable projection.

At fixed (B, s) the objective is quadratic in C, a system of 3K unknowns for every point; at fixed C it is
quadratic in (B, s), a system of K + 3 unknowns for every frame. Solving both in turn never raises it.
"""

from dataclasses import dataclass

import numpy as np

import core as nrsfm
from core.solvers import Algorithm, Status, iterate


@dataclass(frozen=True)
class AlternatingState:
    """A point, its objective, and by which fraction the last step lowered it."""

    factors: nrsfm.Factors
    loss: float
    decrease: float


@dataclass(frozen=True)
class Alternating(Algorithm[AlternatingState]):
    """Least squares in C, then in (B, s), then the gauge."""

    tolerance: float = 1e-10  # relative decrease of the objective at which it ends
    max_iterations: int = 2000

    def init(self, problem, start):
        """Start at the start."""
        return AlternatingState(start, problem.loss(start), np.inf)

    def step(self, problem, state):
        """Solve for C, then for B and s."""
        found = state.factors
        C = problem.data.best_C(found.B, found.s, problem.weights).C
        blocks = np.moveaxis(problem.data.frame_blocks(C, problem.weights), 2, 0)
        target = problem.data.frame_targets(C).T[:, :, None]
        coefficients = np.linalg.solve(blocks, target)[:, :, 0]
        B, s = coefficients[:, : problem.rank], coefficients[:, problem.rank :]
        found = problem.gauge(nrsfm.Factors(B, C, s))
        loss = problem.loss(found)
        return AlternatingState(found, loss, (state.loss - loss) / state.loss)

    def status(self, problem, state):
        """Judge the state: it has converged where the objective hardly falls any more."""
        return Status.CONVERGED if state.decrease <= self.tolerance else Status.RUNNING

    def loss(self, state):
        """Return the objective."""
        return state.loss

    def factors(self, problem, state):
        """Return the point."""
        return state.factors


scene = nrsfm.simulate("paper", frames=25, points=40, seed=3)
m = nrsfm.calibrate(scene.observations, scene.intrinsics, scene.camera)
penalty = nrsfm.WeightedNuclearNorm(5e-3)
problem = nrsfm.NonRigidProblem(m, scene.visible, scene.rotations, eta=0.05, penalty=penalty, rank=2)

losses = {}
for solver in (Alternating(), nrsfm.VariableProjection()):
    name, snapshots = type(solver).__name__, list(iterate(problem, solver, problem.closed_form()))
    losses[name] = [snapshot.progress.loss for snapshot in snapshots]
    last = snapshots[-1].status.value
    print(f"{name:>18}: loss {losses[name][-1]:.10f} after {len(snapshots) - 1} iterations, {last}")
