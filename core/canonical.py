"""Which part of a frame's pose is the camera's, and which the object's: the split is free, and it matters.

(R_f A_f', A_f S_f) explains the tracks as (R_f, S_f) does, for any rotations A_f.  A low-rank model of S is
the better the less its shapes turn, so that A_f should move every shape as near as it can to their mean: a
generalized Procrustes analysis (Gower 1975) of the reconstructed shapes.  Rotations that a factorization
found, which err by 5 to 10 degrees, come out of it within 1 to 5 of the best.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .factors import Factors
from .linalg import procrustes

if TYPE_CHECKING:
    from .arrays import Floats

ROUNDS = 20
SETTLED = 1e-10  # relative change of the mean shape's size at which the rounds end


def turns_to_mean(shapes: Floats) -> Floats:
    """Return the rotations A (F, 3, 3) that bring the centered shapes (F, 3, P) nearest to their mean."""
    centered = shapes - shapes.mean(axis=2, keepdims=True)
    turned = centered
    size = 0.0
    for _ in range(ROUNDS):
        mean = turned.mean(axis=0)
        before, size = size, float(np.linalg.norm(mean))
        A = procrustes(centered, np.broadcast_to(mean, centered.shape), scale=False).rotation
        turned = A @ centered
        if abs(size - before) <= SETTLED * size:
            break
    return A


def canonical(rotations: Floats, factors: Factors) -> tuple[Floats, Factors]:
    """Move what the shapes turn in common with no basis shape into the cameras.

    Parameters
    ----------
    rotations
        (F, 3, 3) of the problem that the factors belong to.
    factors
        a reconstruction, of rank K.

    Returns
    -------
    rotations
        (F, 3, 3) R_f A_f', for a new problem.
    factors
        a starting point for it: the best rank-K factorization of the turned shapes A_f S_f, which in general
        have a higher rank, and the turned offsets.
    """
    shapes = factors.shapes()
    A = turns_to_mean(shapes)
    turned = (A @ shapes).reshape(len(A), -1)
    U, sigma, Vt = np.linalg.svd(turned, full_matrices=False)
    rank = factors.rank
    root = np.sqrt(sigma[:rank])
    C = (root[:, None] * Vt[:rank]).reshape(rank, 3, -1)
    new: Floats = rotations @ A.transpose(0, 2, 1)
    return new, Factors(U[:, :rank] * root, C, np.einsum("fab,fb->fa", A, factors.s))
