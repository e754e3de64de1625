"""The closed-form minimizer X0# of the pOSE term without t, its singular values and its cuts.

Without t and without a penalty every observation has a shape of its own: all four residuals vanish at
S = R' (m, 1).  At eta = 1 depth is free, and the minimum-norm solution is R' (m, 0); where nothing is seen
it is 0.  The singular values of this F x 3P matrix X0# determine the weights of the weighted nuclear
norm (Section 5.3).
"""

from __future__ import annotations

import numpy as np

from ..foundation.types import Floats
from .data_term import DataTerm
from .factors import Factors, balance

# Relative size below which a direction of a frame's summed H counts as not measured.
UNMEASURED = 1e-12
TALL = 4  # rows per column from which a QR factorization before the SVD pays


def closed_form_structure(data: DataTerm) -> Floats:
    """Return X0#, (rows, 3 columns), the minimum-norm minimizer of the pOSE term without t: y, R' (m, 1)."""
    return data.y.reshape(data.frames, -1)


def reference_singular_values(data: DataTerm) -> Floats:
    """Return the singular values of X0#, descending, which determine the weights."""
    if _by_gram(data):
        squares = np.linalg.eigvalsh(_gram(data))[::-1]
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))
    X = closed_form_structure(data)
    # The triangular factor of a tall matrix has the same singular values, and is small.
    tall = X if X.shape[0] >= X.shape[1] else X.T
    core = np.linalg.qr(tall, mode="r") if len(tall) > TALL * tall.shape[1] else tall
    return np.asarray(np.linalg.svd(core, compute_uv=False))


def closed_form_cut(data: DataTerm, rank: int) -> Factors:
    """Return the best approximation of X0# by rank `rank`, with the best offsets."""
    if _by_gram(data):
        cut = _streamed_cut(data, rank)
    else:
        cut = leading_cut(closed_form_structure(data), rank)
    if not data.offsets:
        return cut
    return Factors(cut.B, cut.C, _offsets(data, -data.half_gradient(cut)[rank:].T))


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
    return balance(Factors(B, C, np.zeros((frames, 3))))


def best_offsets(data: DataTerm, shapes: Floats) -> Floats:
    """Return the offsets s (F, 3) that minimize the data term at fixed shapes (F, 3, P); 0 where not free.

    Directions that a frame does not measure (at eta = 1 the depth) get 0.
    """
    if not data.offsets:
        return np.zeros((len(shapes), 3))
    return _offsets(data, data.times_H(data.y - shapes).sum(axis=2))


def _offsets(data: DataTerm, moments: Floats) -> Floats:
    """Return (sum_j H)^-1 times the sums of H (y - S), (F, 3)."""
    inverse = np.linalg.pinv(np.moveaxis(data.H_sum, 2, 0), rcond=UNMEASURED, hermitian=True)
    s: Floats = np.einsum("fab,fb->fa", inverse, moments)
    return s


def _by_gram(data: DataTerm) -> bool:
    """Whether X0# is large and wide, so that only its Gram matrix of the rows is formed.

    That is exact to rounding for singular values above 1e-8 of the largest, which noise alone exceeds.
    """
    return data.streamed and data.frames <= 3 * data.points


def _gram(data: DataTerm) -> Floats:
    """Return X0# X0#', (rows, rows), formed block by block."""
    rows = data.frames
    gram = np.zeros((rows, rows))
    for block in data.forms():
        X = block.y.reshape(rows, -1)
        gram += X @ X.T
    return gram


def _streamed_cut(data: DataTerm, rank: int) -> Factors:
    """Return what `leading_cut` returns of X0#, formed block by block."""
    rows, columns = data.frames, data.points
    U = np.linalg.eigh(_gram(data)).eigenvectors[:, : -rank - 1 : -1]
    C = np.empty((rank, 3, columns))
    for block in data.forms():
        C[:, :, block.columns] = (U.T @ block.y.reshape(rows, -1)).reshape(rank, 3, -1)
    return balance(Factors(U, C, np.zeros((rows, 3))))
