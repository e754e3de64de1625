r"""The corrective triplet of a non-rigid factorization (Dai et al. 2014), by Levenberg-Marquardt.

The centered 2F x P tracks of K basis shapes factor as M B with M (2F x 3K), and some g (3K x 3) makes the
two rows m_1, m_2 of every frame parallel to the first two rows of its rotation: with a = g' m_1, b = g' m_2,

    1 - |b|^2 / |a|^2 = 0    and    2 a' b / |a|^2 = 0.

Ratios leave each frame its own scale, as a weak-perspective camera has.  g is defined up to an orthogonal
matrix on its right and a factor: the damping of Levenberg-Marquardt makes the step unique.

The sum of squares has local minima, and no semidefinite program is needed where several starts are tried.
Each rank from 1 to K starts from the end of the rank below with three rows of zeros, so that the cost does
not rise with K; from the rigid solution; and from random g.  Which end is returned must not depend on
rounding:

- random starts are unit' Z with the columns of M normalized and Z (2F x 3) random, so that a singular vector
  of the other sign leads to the same point;
- every start is followed until rounding prevents a decrease, and costs closer than `SAME` are of one minimum;
- of equal costs the first start counts, so that a lower rank which explains the tracks is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..foundation.least_squares import Minimum, levenberg_marquardt

if TYPE_CHECKING:
    from ..foundation.types import Floats

TOLERANCE = 1e-16
MAX_ITERATIONS = 500
SAME = 1e-9  # relative difference of two costs
EXACT = 1e-16  # mean square of the residuals that only rounding leaves
DEFINITE = 1e-9  # least ratio of the eigenvalues of a Q that counts as positive definite


def triplet_residuals(motion: Floats, g: Floats) -> tuple[Floats, Floats]:
    """Return the residuals (2F,) and their Jacobian (2F, 9K) in the entries of g, row by row.

    Parameters
    ----------
    motion
        (F, 2, 3K) rows of M.
    g
        (3K, 3).
    """
    a, b = motion[:, 0] @ g, motion[:, 1] @ g
    aa = np.einsum("fc,fc->f", a, a)
    aa = np.where(aa > 0, aa, np.finfo(float).tiny)
    bb, ab = np.einsum("fc,fc->f", b, b), np.einsum("fc,fc->f", a, b)
    r = np.stack((1.0 - bb / aa, 2.0 * ab / aa), axis=1)
    # d|a|^2 = 2 a' da with da = dg' m_1, and so on.
    of_first = 2.0 * np.stack((bb[:, None] * a, aa[:, None] * b - 2.0 * ab[:, None] * a), axis=1)
    of_second = 2.0 * np.stack((-b, a), axis=1)
    of_first /= (aa**2)[:, None, None]
    of_second /= aa[:, None, None]
    J = motion[:, None, 0, :, None] * of_first[:, :, None, :]
    J += motion[:, None, 1, :, None] * of_second[:, :, None, :]
    return r.ravel(), J.reshape(r.size, -1)


def corrective_triplet(motion: Floats, rng: np.random.Generator, starts: int) -> tuple[Floats, float]:
    """Return the g (3K, 3) of the lowest cost, and the cost.

    Parameters
    ----------
    motion
        (F, 2, 3K) rows of M, its columns in the order of their singular values.
    rng
        makes the random starts.
    starts
        number of random starts of each rank above 1.
    """
    frames, _, size = motion.shape
    best = _follow(motion[:, :, :3], rigid_triplet(motion[:, :, :3]))
    for columns in range(6, size + 1, 3):
        part = motion[:, :, :columns]
        norms = np.linalg.norm(part, axis=(0, 1))
        unit = part / np.where(norms > 0, norms, 1.0)
        points = [np.concatenate((best.x.reshape(-1, 3), np.zeros((3, 3)))), rigid_triplet(part)]
        points += [np.einsum("fam,fac->mc", unit, rng.normal(size=(frames, 2, 3))) for _ in range(starts)]
        ends = [_follow(part, point) for point in points]
        limit = (1 + SAME) * min(end.cost for end in ends) + EXACT * 2 * frames
        best = next(end for end in ends if end.cost <= limit)
    return best.x.reshape(size, 3), best.cost


def _follow(motion: Floats, start: Floats) -> Minimum:
    """Return the minimum that is reached from a start."""

    def residuals(x: Floats) -> tuple[Floats, Floats]:
        return triplet_residuals(motion, x.reshape(-1, 3))

    return levenberg_marquardt(residuals, start.ravel(), tolerance=TOLERANCE, max_iterations=MAX_ITERATIONS)


def rigid_triplet(motion: Floats) -> Floats:
    """Return g (3K, 3) that uses the first three columns of M alone.

    With Q = g g' the conditions m_1' Q m_1 = m_2' Q m_2 and m_1' Q m_2 = 0 are linear in the six entries of
    Q; where noise makes the least-squares Q indefinite, the identity is as good a start.
    """
    m, n = motion[:, 0, :3], motion[:, 1, :3]
    row, column = np.triu_indices(3)
    twice = np.where(row == column, 1.0, 2.0)

    def product(u: Floats, v: Floats) -> Floats:
        symmetric: Floats = 0.5 * twice * (u[:, row] * v[:, column] + u[:, column] * v[:, row])
        return symmetric

    equations = np.concatenate((product(m, m) - product(n, n), 2.0 * product(m, n)))
    _, vectors = np.linalg.eigh(equations.T @ equations)
    Q = np.zeros((3, 3))
    Q[row, column] = Q[column, row] = vectors[:, 0]
    values, axes = np.linalg.eigh(Q * np.sign(np.trace(Q)))
    g = np.zeros((motion.shape[2], 3))
    g[:3] = axes * np.sqrt(values) if values[0] > DEFINITE * values[2] else np.eye(3)
    return g
