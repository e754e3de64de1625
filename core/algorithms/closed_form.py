"""The closed-form minimizer of the pOSE term without t, and the start that the paper cuts from it.

Without t and without a penalty every observation has a shape of its own: all four residuals vanish at
S = R' (m, 1).  At eta = 1 depth is free, and the minimum-norm solution is R' (m, 0); where nothing is seen
it is 0.  The singular values of this F x 3P matrix X0# set the weights of the weighted nuclear norm
(Section 5.3).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..factors import Factors, balanced

if TYPE_CHECKING:
    from ..arrays import Floats
    from ..problem import NonRigidProblem

# Relative size below which a direction of a frame's summed H counts as not measured.
UNMEASURED = 1e-12


def closed_form_structure(problem: NonRigidProblem) -> Floats:
    """Return X0#, the minimum-norm minimizer of the pOSE term without t, shape (F, 3P)."""
    R = problem.rotations
    ray = np.empty((len(R), 3, problem.tracks.shape[2]))
    ray[:, :2] = problem.tracks
    ray[:, 2] = 0.0 if problem.affine else problem.visible
    X: Floats = R.transpose(0, 2, 1) @ ray
    return X.reshape(len(R), -1)


def reference_singular_values(problem: NonRigidProblem) -> Floats:
    """Return the singular values of X0#, descending, shape (min(F, 3P),): what the weights refer to."""
    return np.asarray(np.linalg.svd(closed_form_structure(problem), compute_uv=False))


def leading_cut(structure: Floats, rank: int) -> Factors:
    """Return the best approximation of an F x 3P matrix by rank `rank`, balanced, with zero offsets.

    The subspace is that of the leading eigenvectors of the smaller Gram matrix (4 times cheaper than the SVD
    of the matrix, and exact to rounding for singular values above 1e-8 of the largest).
    """
    frames, columns = structure.shape
    if frames <= columns:
        U = np.linalg.eigh(structure @ structure.T).eigenvectors[:, : -rank - 1 : -1]
        B, flat = U, U.T @ structure
    else:
        V = np.linalg.eigh(structure.T @ structure).eigenvectors[:, : -rank - 1 : -1]
        B, flat = structure @ V, V.T
    C = np.ascontiguousarray(flat).reshape(rank, 3, -1)
    return balanced(Factors(B, C, np.zeros((frames, 3))))


def best_offsets(problem: NonRigidProblem, shapes: Floats) -> Floats:
    """Return the offsets s (F, 3) that minimize the data term at fixed shapes (F, 3, P).

    Directions that a frame does not measure (at eta = 1 the depth) get 0.
    """
    data = problem.data
    moments = data.times_H(data.y - shapes).sum(axis=2)
    inverse = np.linalg.pinv(np.moveaxis(data.H_sum, 2, 0), rcond=UNMEASURED, hermitian=True)
    s: Floats = np.einsum("fab,fb->fa", inverse, moments)
    return s


def svd_start(problem: NonRigidProblem, rank: int | None = None) -> Factors:
    """Return the best cut of X0# to `rank` (default: the problem's), with the best offsets.

    At full rank, min(F, 3P), the shapes are X0# itself: the paper's start for the methods on X#.
    """
    cut = leading_cut(closed_form_structure(problem), problem.rank if rank is None else rank)
    return replace(cut, s=best_offsets(problem, cut.shapes()))
