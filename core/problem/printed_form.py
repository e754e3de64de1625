r"""The four-row residual form of the paper, as printed: an independent check of the 3x3 form.

Nothing here shares code with `data_term`: the residuals are written in the camera's own coordinates,
Y = R S + t, with the unknowns of Algorithm 1 in its order

    z = [vec(B); vec(C'); t],    vec stacks columns, B is F x K, C is 3P x K, t = [t_1; ...; t_F].

In the low-rank problem (supplement, A.II) R = I, there is no t, and B and C are those of `low_rank`, the
paper's C and B: with rows and columns for points and frames all that follows holds for both.

The residual (Section 5.1, supplement A.I and A.III) stacks, for N visible observations,

    sqrt(eta) (Y_12 - m)             2N rows, point by point, within a point frame by frame
    sqrt(1 - eta) (Y_12 - Y_3 m)     2N rows in the same order (zero at eta = 1, kept so that sizes agree)
    diag(sqrt(a / 2)) vec(B)         F K rows
    diag(sqrt(a / 2)) vec(C')        3 P K rows

and the objective is its squared norm, without a factor 1/2.  Sizes: 4N + (F + 3P) K rows, (F + 3P) K + 3F
columns; every row of the first two groups has 4K + 3 stored entries.  The penalty must be linear.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..foundation.types import Floats, Ints
from .factors import Factors
from .nonrigid import NonRigidProblem, Problem

if TYPE_CHECKING:
    from scipy import sparse


BLOCK = 10_000  # observations at a time, where sums over all of them are wanted


def _places(problem: Problem) -> tuple[Ints, Ints]:
    """Return row and column (N,) of every observation, column by column."""
    nonrigid = isinstance(problem, NonRigidProblem)
    column, row = np.nonzero(problem.visible.T if nonrigid else problem.visible)
    return row, column


def _blocks(problem: Problem) -> Iterator[tuple[Ints, Ints]]:
    """Yield row and column of the observations, some at a time."""
    row, column = _places(problem)
    for first in range(0, len(row), BLOCK):
        yield row[first : first + BLOCK], column[first : first + BLOCK]


def _observed(problem: Problem, row: Ints, column: Ints) -> tuple[Floats, Floats]:
    """Return m (N, 2) and R (N, 3, 3) of some observations."""
    if isinstance(problem, NonRigidProblem):
        return problem.tracks[row, :, column], problem.rotations[row]
    m = problem.tracks[column, :, row]
    return m, np.broadcast_to(np.eye(3), (len(m), 3, 3))


def _observation_residuals(
    problem: Problem, factors: Factors, frame: Ints, point: Ints
) -> tuple[Floats, Floats]:
    """Return the affine and the perspective residuals (N, 2) of some observations, by row and column."""
    m, R = _observed(problem, frame, point)
    shape = np.einsum("nk,kcn->nc", factors.B[frame], factors.C[:, :, point])
    Y = np.einsum("nab,nb->na", R, shape + factors.s[frame])
    affine = np.sqrt(problem.eta) * (Y[:, :2] - m)
    return affine, np.sqrt(1.0 - problem.eta) * (Y[:, :2] - Y[:, 2:] * m)


def _weighted_residuals(
    problem: Problem, factors: Factors, frame: Ints, point: Ints
) -> tuple[Floats, Floats]:
    """Return the same times the roots of the observations' weights."""
    affine, perspective = _observation_residuals(problem, factors, frame, point)
    if problem.observation_weights is None:
        return affine, perspective
    trust = np.sqrt(problem.observation_weights[frame, point])[:, None]
    return trust * affine, trust * perspective


def pack(problem: Problem, factors: Factors) -> Floats:
    """Return z = [vec(B); vec(C'); t], shape ((F + 3P) K + 3F,)."""
    C = factors.C.reshape(factors.rank, -1).T  # (3P, K), the paper's C
    unknowns = [factors.B.T.ravel(), C.ravel()]
    if isinstance(problem, NonRigidProblem):
        unknowns.append(np.einsum("fab,fb->fa", problem.rotations, factors.s).ravel())
    return np.concatenate(unknowns)


def unpack(problem: Problem, z: Floats) -> Factors:
    """Return the point whose vector of unknowns is z: the inverse of `pack` for the problem's rank."""
    frames, points = problem.shape
    rank = problem.rank
    B = z[: frames * rank].reshape(rank, frames).T
    C = z[frames * rank : (frames + 3 * points) * rank].reshape(3 * points, rank).T
    s = np.zeros((frames, 3))
    if isinstance(problem, NonRigidProblem):
        s = np.einsum("fab,fa->fb", problem.rotations, z[-3 * frames :].reshape(frames, 3))
    return Factors(np.ascontiguousarray(B), np.ascontiguousarray(C).reshape(rank, 3, points), s)


def residual_vector(problem: Problem, factors: Factors) -> Floats:
    """Return r_a of Algorithm 1, shape (4N + (F + 3P) K,)."""
    affine, perspective = _weighted_residuals(problem, factors, *_places(problem))
    return np.concatenate((affine.ravel(), perspective.ravel(), _penalty_residuals(problem, factors)))


def _penalty_residuals(problem: Problem, factors: Factors) -> Floats:
    """Return the last two groups of residuals, ((F + 3P) K,)."""
    penalized = factors.B.size + factors.C.size
    return _roots(problem) * pack(problem, factors)[:penalized]


def _roots(problem: Problem) -> Floats:
    """Return sqrt(a / 2) of each entry of B and C in the order of z, ((F + 3P) K,)."""
    frames, points = problem.shape
    root = np.sqrt(0.5 * problem.weights)
    return np.concatenate((np.repeat(root, frames), np.tile(root, 3 * points)))


def _data_rows(problem: Problem, factors: Factors, frame: Ints, point: Ints) -> tuple[Floats, Ints]:
    """Return the stored entries of the rows of some observations, and their columns.

    Both are (affine or perspective, N, two rows, 4K + 3), or 4K where there is no t.
    """
    frames, points = problem.shape
    rank, offsets = problem.rank, 3 * problem.offsets
    m, R = _observed(problem, frame, point)
    observations = len(point)
    # A: the rows of A_X that belong to one observation, (affine or perspective, N, two rows, xyz).
    A = np.zeros((2, observations, 2, 3))
    A[0, :, [0, 1], [0, 1]] = np.sqrt(problem.eta)
    A[1, :, [0, 1], [0, 1]] = np.sqrt(1.0 - problem.eta)
    A[1, :, :, 2] = -np.sqrt(1.0 - problem.eta) * m
    if problem.observation_weights is not None:
        A *= np.sqrt(problem.observation_weights[frame, point])[None, :, None, None]
    AR = A @ R
    values = np.empty((2, observations, 2, 4 * rank + offsets))
    values[..., :rank] = AR @ factors.C[:, :, point].transpose(2, 1, 0)
    of_C = AR[..., None] * factors.B[frame][:, None, None, :]  # (2, N, 2, 3, K)
    values[..., rank : 4 * rank] = of_C.reshape(2, observations, 2, 3 * rank)
    if offsets:
        values[..., 4 * rank :] = A
    # Columns ascend within a row: B_fk, then C_(c, p)k with k fastest, then t_f.
    basis = np.arange(rank)
    coordinate = np.arange(3)
    of_B = frame[:, None] + frames * basis
    of_C_columns = frames * rank + rank * (points * coordinate[:, None] + point[:, None, None]) + basis
    of_t = (frames + 3 * points) * rank + 3 * frame[:, None] + coordinate
    parts = [of_B, of_C_columns.reshape(observations, -1), of_t]
    columns = np.concatenate(parts if offsets else parts[:2], axis=1)
    return values, np.broadcast_to(columns[None, :, None, :], values.shape)


def jacobian(problem: Problem, factors: Factors) -> sparse.csr_array:
    """Return the derivative of `residual_vector` in the order of z (supplement, A.III), in CSR form."""
    values, columns = _data_rows(problem, factors, *_places(problem))
    penalty = _roots(problem)
    penalized, observations, width = len(penalty), values.shape[1], values.shape[3]
    data = np.concatenate((values.ravel(), penalty))
    indices = np.concatenate((columns.ravel(), np.arange(penalized)))
    starts = np.concatenate(
        (np.arange(4 * observations) * width, 4 * observations * width + np.arange(penalized + 1))
    )
    from scipy import sparse  # here, because it takes longer to import than the rest of the package

    return sparse.csr_array(
        (data, indices, starts), shape=(4 * observations + penalized, len(pack(problem, factors)))
    )


def squares(problem: Problem, factors: Factors) -> Floats:
    """Return the sums of the squares of the residuals of every observation, (rows, columns); 0 where hidden.

    Those of the problem without weights of observations.
    """
    values = np.zeros(problem.shape)
    for frame, point in _blocks(problem):
        parts = _observation_residuals(problem, factors, frame, point)
        values[frame, point] = sum(np.square(part).sum(axis=1) for part in parts)
    return values


def loss(problem: Problem, factors: Factors) -> float:
    """Return the objective (paper, equation 5.3) as the squared norm of the residual vector."""
    total = float(np.square(_penalty_residuals(problem, factors)).sum())
    for block in _blocks(problem):
        total += sum(float(np.vdot(r, r)) for r in _weighted_residuals(problem, factors, *block))
    return total


def gradient(problem: Problem, factors: Factors) -> Floats:
    """Return the derivative of `loss` with respect to z, 2 J'r, shape ((F + 3P) K + 3F,)."""
    value: Floats = 2.0 * (jacobian(problem, factors).T @ residual_vector(problem, factors))
    return value


def relative_gradient(problem: Problem, factors: Factors) -> float:
    """Return the largest cosine between the residual vector and a column of the Jacobian.

    It has no units and is 0 at a stationary point (the `gtol` measure of MINPACK).  Columns that are zero,
    such as the depth of t at eta = 1, do not count.
    """
    unknowns = len(pack(problem, factors))
    root, r = _roots(problem), _penalty_residuals(problem, factors)
    slope, squares = (np.concatenate((part, np.zeros(unknowns - len(r)))) for part in (root * r, root * root))
    norm = float(r @ r)
    for block in _blocks(problem):
        values, columns = _data_rows(problem, factors, *block)
        residuals = np.stack(_weighted_residuals(problem, factors, *block))[..., None]
        norm += float(np.vdot(residuals, residuals))
        squares += np.bincount(columns.ravel(), np.square(values).ravel(), unknowns)
        values *= residuals
        slope += np.bincount(columns.ravel(), values.ravel(), unknowns)
    scale = np.sqrt(squares * norm)
    slope = np.abs(slope)
    return float(np.max(np.divide(slope, scale, out=np.zeros_like(slope), where=scale > 0), initial=0.0))
