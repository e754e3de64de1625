r"""The problem in the matrix X itself, which the first-order methods work on.

    F(X) = phi(X) + f(sigma(X)),  phi(X) = min over s of sum_ij e_ij' H_ij e_ij,  e_ij = X_ij + s_i - y_ij,

with *all* singular values in f, and no offsets s where the problem has none.  At the best s the derivative in
s vanishes, so that the gradient of phi is that of its terms at fixed s,

    (grad phi)_ij = 2 H_ij (X_ij + s_i - y_ij),

and phi is a quadratic whose Hessian is a Schur complement of 2 H: it is at most 2 max lambda_max(H_ij).  The
three eigenvalues of G = R H R' (see `nonrigid`), with r = \|m\| and c = 1 - eta, are 1 and those of
[[1, -c r], [-c r, c r^2]], the larger of which grows with r: one evaluation at the largest r bounds them all.

Proximal step: min over Z of f(sigma(Z)) + (rho / 2) \|Z - N\|^2.  By von Neumann's trace inequality
\|Z - N\| >= \|sigma(Z) - sigma(N)\|, with equality where Z has the singular vectors of N, which leaves a
problem in the singular values alone.  For linear weights that do not decrease, it is solved by
max(sigma_i - a_i / rho, 0), which stays in decreasing order; other penalties have a `prox` of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from ..foundation.representation import OneLine
from ..foundation.types import Floats
from ..problem.closed_form import best_offsets
from ..problem.factors import Factors
from ..problem.initialization import best_cut
from ..problem.nonrigid import Problem
from .solver import Algorithm, Status

# Singular values from a Gram matrix have an absolute error of about 1e-16 sigma_1^2 / sigma.
GRAM_RANGE = 1e-6


def is_convex(problem: Problem) -> bool:
    """Whether f(sigma(X)) is known to be a convex function of X: it is the nuclear norm."""
    weights = problem.all_weights
    return problem.spectral is None and bool(weights[0] == weights[-1])


def slopes(problem: Problem, sigma: Floats) -> Floats:
    """Return a supergradient of f at all singular values, descending: non-negative and non-decreasing."""
    return problem.all_weights if problem.spectral is None else problem.spectral.slopes(sigma)


def prox(problem: Problem, sigma: Floats, rho: float) -> Floats:
    """Return argmin over z >= 0 of f(z) + rho/2 |z - sigma|^2, for all singular values, descending."""
    if problem.spectral is not None:
        return problem.spectral.prox(sigma, rho)
    return np.maximum(sigma - problem.all_weights / rho, 0.0)


@dataclass(frozen=True, eq=False)
class MatrixPoint(OneLine):
    """A matrix X with its best offsets, its objective, and the gradient of the data term."""

    X: Floats  # (rows, 3 columns)
    s: Floats  # (rows, 3) best offsets; 0 where the problem has none
    gradient: Floats  # (rows, 3 columns) of phi
    sigma: Floats  # (min(rows, 3 columns),) singular values of X, descending
    loss: float  # F(X)


def evaluate(problem: Problem, X: Floats, sigma: Floats) -> MatrixPoint:
    """Return the point at X (rows, 3 columns), given its singular values."""
    shapes = X.reshape(problem.data.y.shape)
    s = best_offsets(problem.data, shapes)
    e = shapes + s[:, :, None] - problem.data.y
    force = problem.data.times_H(e)
    loss = float(np.vdot(e, force)) + problem.penalty_value(sigma)
    return MatrixPoint(X, s, 2.0 * force.reshape(X.shape), sigma, loss)


def starting_point(problem: Problem, start: Factors) -> MatrixPoint:
    """Return the point at a start of any rank; its loss is NaN where the start is not finite."""
    with np.errstate(all="ignore"):
        X = start.shapes().reshape(len(start.B), -1)
    if np.isfinite(X).all():
        return evaluate(problem, X, np.asarray(np.linalg.svd(X, compute_uv=False), dtype=np.float64))
    zero = np.zeros_like(X)
    return MatrixPoint(zero, np.zeros((len(X), 3)), zero, np.zeros(min(X.shape)), float("nan"))


def with_singular_values(matrix: Floats, change: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
    """Replace the singular values of a matrix by a function of them, which keeps them descending.

    Return it with the new ones. Only the vectors of singular values that stay are needed; they come from the
    smaller Gram matrix, unless one is so small that its square is lost there.
    """
    wide = matrix.shape[0] <= matrix.shape[1]
    gram = matrix @ matrix.T if wide else matrix.T @ matrix
    squares, vectors = np.linalg.eigh(gram)
    sigma = np.sqrt(np.maximum(squares[::-1], 0.0))
    changed = change(sigma)
    kept = int(np.count_nonzero(changed))
    if kept and sigma[kept - 1] < GRAM_RANGE * sigma[0]:
        U, sigma, Vt = np.linalg.svd(matrix, full_matrices=False)
        changed = change(sigma)
        return (U * changed) @ Vt, changed
    basis = vectors[:, : -kept - 1 : -1]
    scaled = basis * (changed[:kept] / sigma[:kept])
    return (scaled @ (basis.T @ matrix) if wide else (matrix @ basis) @ scaled.T), changed


def ratio(part: float | np.floating, total: float | np.floating) -> float:
    """Return part / total; 0 where the part is 0, infinite where only the total is."""
    if part == 0:
        return 0.0
    return float(part / total) if total > 0 else float("inf")


def curvature(problem: Problem) -> float:
    """Return L = 2 max lambda_max(H_ij), which no curvature of phi exceeds."""
    c = 1.0 - problem.eta
    squared = float(np.where(problem.visible, np.square(problem.tracks).sum(axis=1), 0.0).max())
    trace = 1.0 + c * squared
    return trace + float(np.sqrt(trace**2 - 4.0 * c * problem.eta * squared))


class PointState(Protocol):
    """The state of a method on X."""

    @property
    def point(self) -> MatrixPoint:
        """The matrix that the method gives."""

    @property
    def change(self) -> float:
        """How far the last step went, relative."""


AnyState = TypeVar("AnyState", bound=PointState)


class MatrixMethod(Algorithm[AnyState]):
    """Base of the methods that work on X itself. They have converged where the last step was small."""

    on_matrix = True

    tolerance: float

    def status(self, problem: Problem, state: AnyState) -> Status:
        """Converged when the last step was small."""
        if not np.isfinite(state.point.loss):
            return Status.DIVERGED
        return Status.CONVERGED if state.change <= self.tolerance else Status.RUNNING

    def loss(self, state: AnyState) -> float:
        """Return the objective of the matrix, all its singular values counted, with its best offsets."""
        return state.point.loss

    def factors(self, problem: Problem, state: AnyState) -> Factors:
        """Return the best cut of the matrix to the problem's rank, in exact gauge, with its best offsets.

        Its objective is `problem.loss(...)`, in general not `loss(state)`: the matrix may have a higher rank.
        """
        return best_cut(problem, state.point.X)
