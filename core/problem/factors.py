"""The bilinear parameterization X# = BC' with offsets, and its exact gauge.

X# (F x 3P, columns: x of all points, then y, then z) is invariant under (B, C) -> (BQ, CQ^-T) for any
invertible K x K matrix Q, and S + s under a common shift of a basis shape.  Both freedoms are fixed exactly:
`balance` picks the factorization that minimizes a'gamma for every non-decreasing a (paper, Sections 2 to 4),
`center` the offsets.  Neither changes the data term, and neither ever raises the objective.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..foundation.representation import OneLine
from ..foundation.types import Floats

NEGLIGIBLE = 1e-5  # relative size of a singular value below which Gram matrices are too coarse


@dataclass(frozen=True, eq=False)
class Factors(OneLine):
    """A point of the bilinear parameterization: shapes S_f = sum_k B_fk C_k, offsets s_f = R_f' t_f.

    C is kept as (K, 3, P); its K x 3P rearrangement `C.reshape(K, -1)` is the paper's C' (columns: x of all
    points, then y, then z).

    Parameters
    ----------
    B
        (F, K) coefficients.
    C
        (K, 3, P) basis shapes.
    s
        (F, 3) offsets in the object frame.

    Examples
    --------
    >>> import numpy as np
    >>> import core
    >>> core.Factors(np.ones((5, 2)), np.ones((2, 3, 7)), np.zeros((5, 3))).shapes().shape
    (5, 3, 7)
    """

    B: Floats  # (F, K)
    C: Floats  # (K, 3, P)
    s: Floats  # (F, 3) translations in the object frame

    @property
    def rank(self) -> int:
        """K, the number of basis shapes."""
        return int(self.B.shape[1])

    def shapes(self) -> Floats:
        """Return the shape of every frame in the object frame, (F, 3, P), without the translation."""
        count, _, points = self.C.shape
        product: Floats = self.B @ self.C.reshape(count, -1)
        return product.reshape(-1, 3, points)

    def gamma(self) -> Floats:
        """Return gamma_k = (|B_k|^2 + |C_k|^2) / 2, shape (K,)."""
        value: Floats = 0.5 * (
            np.einsum("fk,fk->k", self.B, self.B) + np.einsum("kip,kip->k", self.C, self.C)
        )
        return value


def penalty(weights: Floats, factors: Factors) -> float:
    """Return a'gamma."""
    return float(weights @ factors.gamma())


def center(factors: Factors) -> Factors:
    """Move the mean of every basis shape into the offsets: S + s is unchanged, a'gamma never rises."""
    mean = factors.C.mean(axis=2)  # (K, 3)
    return Factors(factors.B, factors.C - mean[:, :, None], factors.s + factors.B @ mean)


def balance(factors: Factors) -> Factors:
    """Replace (B, C) by U sqrt(Sigma), V sqrt(Sigma) of the SVD of BC'.

    By the paper's theorem this is the minimum of a'gamma over all factorizations of BC', for every
    non-decreasing a. Columns are ordered by decreasing singular value; signs follow the columns of B.
    """
    rank, _, points = factors.C.shape
    B, C = _svd_factors(factors.B, factors.C.reshape(rank, -1))
    sign = np.where(np.einsum("fk,fk->k", B, factors.B) < 0, -1.0, 1.0)
    return Factors(B * sign, (C * sign[:, None]).reshape(rank, 3, points), factors.s)


def _svd_factors(B: Floats, C: Floats) -> tuple[Floats, Floats]:
    """Return U sqrt(Sigma) (F, K) and sqrt(Sigma) V' (K, 3P) of BC, for C (K, 3P).

    With B = Q_B R_B and C' = Q_C R_C, R_B R_C' = U Sigma V' gives B R_C' V Sigma^-1/2 and, alike, the other:
    a change of basis and its inverse whatever the accuracy of R_B and R_C, so that Cholesky factors of the
    Gram matrices serve, at a fraction of the cost of QR, as long as no column is negligible.
    """
    try:
        R_B, R_C = np.linalg.cholesky(B.T @ B).T, np.linalg.cholesky(C @ C.T).T
        U, sigma, Vt = np.linalg.svd(R_B @ R_C.T)
        if sigma[-1] > NEGLIGIBLE * sigma[0]:
            root = np.sqrt(sigma)
            return B @ ((R_C.T @ Vt.T) / root), ((U.T @ R_B) / root[:, None]) @ C
    except np.linalg.LinAlgError:
        pass  # a column of B or C is zero: QR accepts it
    Q_B, R_B = np.linalg.qr(B)
    Q_C, R_C = np.linalg.qr(C.T)
    U, sigma, Vt = np.linalg.svd(R_B @ R_C.T)
    root = np.sqrt(sigma)
    # Contiguous, as a file gives it back: sums over another layout differ in the last bit.
    return (Q_B @ U) * root, np.ascontiguousarray(((Q_C @ Vt.T) * root).T)
