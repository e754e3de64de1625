r"""Rotations of a camera relative to a deforming object, from its 2-D tracks alone.

After Dai, Li, He: A simple prior-free method for non-rigid structure-from-motion factorization (IJCV 2014):
center and complete the tracks, factor them at rank 3K, find the corrective triplet, and take the nearest
rotation of every frame.  K here is a parameter of its own: the best for the rotations need not be the rank of
the shape.

**Completion.**  The tracks of an affine camera, minus each frame's translation, form a 2F x P matrix of rank
3K.  Where all entries are known it is only centered.  Where some are hidden, A (2F x r), B (P x r) and t (2F)
minimize

    sum over visible of |W - A B' - t|^2 + ridge (|A|^2 + |B|^2)

by alternation: each half is one small system per frame or per point.  The ridge keeps points that are seen in
few frames near 0 and falls from one step to the next, so that it leaves no bias where the data suffice.  It
does not begin far above its end: a ridge above the square of a singular value shrinks that column to nothing
within a few steps, and what grows again under a lower ridge has the direction that rounding left.

**Corrective triplet.**  The completed matrix factors as M B with M (2F x 3K), and some g (3K x 3) makes the
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
- every start that comes near the lowest is followed until rounding prevents a decrease, and costs closer than
  `SAME` are of one minimum;
- of equal costs the first start counts, so that a lower rank which explains the tracks is kept.

**Convention.**  The sign of a frame's first two rows is arbitrary where a basis shape's coefficient may
change its sign: the smaller rotation from the frame before decides.  The reflection in depth,
(R, S) -> (D R D, D S) with D = diag(1, 1, -1), does not change an affine camera's tracks: both are
candidates.  Nor does a rotation of the object, (R, S) -> (R Q', Q S).  Both are fixed by a convention
(`canonical`), and singular values of the size of rounding are dropped: the estimate is a function of the
tracks, whatever the order of summation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..foundation.exceptions import InputError
from ..foundation.linalg import Minimum, levenberg_marquardt
from ..foundation.types import Bools, Floats, read_only
from .calibration import spread

RANDOM_STARTS = 5
NEGLIGIBLE = 1e-10  # a singular value relative to the largest, below which it may be rounding
_LEAST_SQUARE = 1e-100  # of the length of a row, whose fourth power and its inverse are numbers
TILTED = 0.3  # of the largest tilt out of the image plane
RIGHTWARD = np.array([1.0, 0.2])
FLIP = np.diag([1.0, 1.0, -1.0])


@dataclass(frozen=True, eq=False)
class Rotations:
    """Estimated rotations, object to camera."""

    R: Floats  # (F, 3, 3)
    cost: float  # sum of squares of the triplet's residuals

    def __post_init__(self) -> None:
        object.__setattr__(self, "R", read_only(self.R))


def largest_rank(frames: int, points: int) -> int:
    """Return the largest K for which tracks of that size have a rank-3K factorization."""
    return min(2 * frames, points) // 3


def estimate_rotations(tracks: Floats, visible: Bools, *, rank: int, seed: int = 0) -> Rotations:
    """Estimate the rotation of every frame from the tracks (F, 2, P) of an affine camera, in any unit.

    They are in the canonical form, the first one I; their depth reflection explains the tracks as well.
    """
    frames, _, points = tracks.shape
    if not 1 <= rank <= largest_rank(frames, points):
        raise InputError(
            f"rotation rank is {rank}; {frames} frames of {points} points allow 1 to "
            f"{largest_rank(frames, points)}"
        )
    spread(tracks, visible)  # refuses tracks that coincide, whose centered matrix is 0
    W = centered_and_complete(tracks, visible, 3 * rank)
    U, sigma, _ = np.linalg.svd(W.reshape(2 * frames, points), full_matrices=False)
    size = np.where(sigma > NEGLIGIBLE * sigma[0], np.sqrt(sigma / sigma[0]), 0.0)
    columns = min(3 * rank, 3 * math.ceil(np.count_nonzero(size) / 3))  # the further ones are zero
    motion = (U[:, :columns] * size[:columns]).reshape(frames, 2, columns)
    g, cost = corrective_triplet(motion, np.random.default_rng(seed), RANDOM_STARTS)
    return Rotations(canonical(continuous(rotations_from_rows(motion @ g))), cost)


def rotations_from_rows(rows: Floats) -> Floats:
    """Return the rotations whose first two rows are nearest to the given ones up to a factor, (F, 2, 3)."""
    U, _, Vt = np.linalg.svd(rows, full_matrices=False)
    first_two = U @ Vt
    third = np.cross(first_two[:, 0], first_two[:, 1])
    return np.concatenate((first_two, third[:, None]), axis=1)


def fixed_rotation(tracks: Floats, shapes: Floats) -> tuple[Floats, float]:
    """Return the rotation whose first two rows turn shapes (F, 3, P) into tracks (F, 2, P) best.

    Both have the mean of every frame at 0. Return also the norm of the residual over that of the tracks.
    """
    wide, flat = (np.moveaxis(points, 1, 0).reshape(points.shape[1], -1) for points in (shapes, tracks))
    rows = np.asarray(np.linalg.lstsq(wide.T, flat.T)[0].T, dtype=np.float64)
    rotation = rotations_from_rows(rows[None])[0]
    return rotation, float(np.linalg.norm(rotation[:2] @ wide - flat) / np.linalg.norm(flat))


def continuous(R: Floats) -> Floats:
    """Negate the first two rows of a frame where that makes the turn from the frame before smaller."""
    first_two = np.einsum("fab,fab->f", R[1:, :2], R[:-1, :2])
    sign = np.concatenate(([1.0], np.cumprod(np.where(first_two < 0, -1.0, 1.0))))
    R = R.copy()
    R[:, :2] *= sign[:, None, None]
    return R


def canonical(R: Floats) -> Floats:
    """Return rotations that explain the same affine tracks, in one form: (F, 3, 3), the first one I.

    Of the two depth reflections that one is taken whose first considerable tilt (R_13, R_23), the shift of
    what is in front, goes to the right; it is a little inclined, so that vertical tilts count too.
    """
    R = R @ R[0].T
    tilt = R[:, :2, 2]
    size = np.linalg.norm(tilt, axis=1)
    first = tilt[np.argmax(size >= TILTED * size.max())]
    return R if first @ RIGHTWARD >= 0 else flip_depth(R)


def flip_depth(R: Floats) -> Floats:
    """Return the rotations of the depth reflection, D R D with D = diag(1, 1, -1)."""
    flipped: Floats = FLIP @ R @ FLIP
    return flipped


# -- completion of hidden entries ----------------------------------------------------------------------------

STEPS = 40  # of the alternation, at most
FIRST_RIDGE, LAST_RIDGE = 1e-4, 3e-6  # relative to the mean square of the entries, per entry of a system
SETTLED = 1e-6  # relative change of the filled entries at which the alternation ends


def centered_and_complete(tracks: Floats, visible: Bools, rank: int) -> Floats:
    """Return the tracks (F, 2, P) with hidden entries filled in and the mean of every row removed.

    `rank` is that of the fit (3K for K basis shapes); visible entries are kept as they are.
    """
    seen = visible[:, None, :]
    W = np.where(seen, tracks, 0.0)
    count = visible.sum(axis=1)[:, None, None]
    W = np.where(seen, W - W.sum(axis=2, keepdims=True) / count, 0.0)
    if not visible.all():
        W = np.where(seen, W, _fit(W, visible, min(rank, 2 * len(W), W.shape[2])))
    centered: Floats = W - W.mean(axis=2, keepdims=True)
    return centered


def _fit(W: Floats, visible: Bools, rank: int) -> Floats:
    """Return A B' + t as (F, 2, P)."""
    frames, _, points = W.shape
    mask = visible.astype(float)
    size = float(np.sqrt((W**2).sum() / (2.0 * mask.sum()))) or 1.0
    _, sigma, Vt = np.linalg.svd(W.reshape(2 * frames, points) / size, full_matrices=False)
    B = Vt[:rank].T * np.sqrt(sigma[:rank])
    rows = np.ascontiguousarray((W / size).transpose(1, 0, 2))  # (2, F, P)
    fit = np.zeros_like(W)
    ridge = FIRST_RIDGE
    factor = (LAST_RIDGE / FIRST_RIDGE) ** (1.0 / (STEPS - 1))
    for _ in range(STEPS):
        A, t = best_rows(rows, mask, B, ridge * frames)
        B = best_columns(rows, mask, A, t, ridge * frames)
        new = (A @ B.T + t[:, :, None]).transpose(1, 0, 2)
        moved = np.linalg.norm((new - fit)[np.repeat(~visible[:, None, :], 2, axis=1)])
        fit = new
        ridge *= factor
        if moved <= SETTLED * np.linalg.norm(fit):
            break
    return fit * size


def best_rows(weighted: Floats, weights: Floats, B: Floats, ridge: float) -> tuple[Floats, Floats]:
    """Return the best A (2, F, r) and t (2, F): one system of r + 1 unknowns per frame, shared by x and y.

    `weights`: (F, P) of the observations, 0 where hidden; `weighted`: (2, F, P) their products with these.
    """
    points, rank = B.shape
    design = np.concatenate((B, np.ones((points, 1))), axis=1)
    size = rank + 1
    normal = (weights @ (design[:, :, None] * design[:, None, :]).reshape(points, -1)).reshape(-1, size, size)
    diagonal = np.arange(rank)
    normal[:, diagonal, diagonal] += ridge
    right = weighted @ design
    solution: Floats = np.asarray(np.linalg.solve(normal, right.transpose(1, 2, 0)))  # (F, r + 1, 2)
    return solution[:, :rank].transpose(2, 0, 1), solution[:, rank].T


def best_columns(weighted: Floats, weights: Floats, A: Floats, t: Floats, ridge: float) -> Floats:
    """Return the best B (P, r): one system per point, for the weights and products of `best_rows`."""
    _, frames, rank = A.shape
    square = np.einsum("cfi,cfj->fij", A, A).reshape(frames, -1)
    normal = (weights.T @ square).reshape(-1, rank, rank)
    diagonal = np.arange(rank)
    normal[:, diagonal, diagonal] += ridge
    right = weighted.reshape(2 * frames, -1).T @ A.reshape(2 * frames, rank)
    right -= weights.T @ np.einsum("cf,cfi->fi", t, A)
    solution: Floats = np.linalg.solve(normal, right[:, :, None])[:, :, 0]
    return solution


# -- corrective triplet --------------------------------------------------------------------------------------

COARSE_TOLERANCE, TOLERANCE = 1e-5, 1e-16  # of all starts, and of those that end near the lowest
NEAR = 1e-2  # relative difference of the costs of those
MAX_ITERATIONS = 500
SAME = 1e-9  # relative difference of two costs
EXACT = 1e-16  # mean square of the residuals that only rounding leaves
DEFINITE = 1e-9  # least ratio of the eigenvalues of a Q that counts as positive definite


def triplet_residuals(motion: Floats, g: Floats) -> tuple[Floats, Floats]:
    """Return the residuals (2F,) of rows (F, 2, 3K) of M, and their Jacobian (2F, 9K) in g, row by row.

    They do not change with the size of g (3K, 3), which steps may make very large.
    """
    size = float(np.abs(g).max()) or 1.0
    g = g / size
    a, b = motion[:, 0] @ g, motion[:, 1] @ g
    aa = np.einsum("fc,fc->f", a, a)
    aa = np.maximum(aa, _LEAST_SQUARE)
    bb, ab = np.einsum("fc,fc->f", b, b), np.einsum("fc,fc->f", a, b)
    r = np.stack((1.0 - bb / aa, 2.0 * ab / aa), axis=1)
    # d|a|^2 = 2 a' da with da = dg' m_1, and so on.
    of_first = 2.0 * np.stack((bb[:, None] * a, aa[:, None] * b - 2.0 * ab[:, None] * a), axis=1)
    of_second = 2.0 * np.stack((-b, a), axis=1)
    of_first /= (size * aa**2)[:, None, None]
    of_second /= (size * aa)[:, None, None]
    J = motion[:, None, 0, :, None] * of_first[:, :, None, :]
    J += motion[:, None, 1, :, None] * of_second[:, :, None, :]
    return r.ravel(), J.reshape(r.size, -1)


def corrective_triplet(motion: Floats, rng: np.random.Generator, starts: int) -> tuple[Floats, float]:
    """Return the g (3K, 3) of the lowest cost, and the cost, for rows (F, 2, 3K) of M, columns descending."""
    frames, _, size = motion.shape
    best = _follow(motion[:, :, :3], rigid_triplet(motion[:, :, :3]))
    for columns in range(6, size + 1, 3):
        part = motion[:, :, :columns]
        norms = np.linalg.norm(part, axis=(0, 1))
        unit = part / np.where(norms > 0, norms, 1.0)
        points = [np.concatenate((best.x.reshape(-1, 3), np.zeros((3, 3)))), rigid_triplet(part)]
        points += [np.einsum("fam,fac->mc", unit, rng.normal(size=(frames, 2, 3))) for _ in range(starts)]
        ends = _lowest([_follow(part, point, COARSE_TOLERANCE) for point in points], frames, NEAR)
        best = _lowest([_follow(part, end.x) for end in ends], frames, SAME)[0]
    return best.x.reshape(size, 3), best.cost


def _lowest(ends: list[Minimum], frames: int, share: float) -> list[Minimum]:
    """Return those whose cost is the lowest but for a share of it, in their order."""
    limit = (1 + share) * min(end.cost for end in ends) + EXACT * 2 * frames
    return [end for end in ends if end.cost <= limit]


def _follow(motion: Floats, start: Floats, tolerance: float = TOLERANCE) -> Minimum:

    def residuals(x: Floats) -> tuple[Floats, Floats]:
        return triplet_residuals(motion, x.reshape(-1, 3))

    return levenberg_marquardt(residuals, start.ravel(), tolerance=tolerance, max_iterations=MAX_ITERATIONS)


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
