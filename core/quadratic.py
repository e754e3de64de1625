r"""The data term as one 3x3 quadratic form per observation, and the closed forms that rest on it.

`core.problem` derives H = R' G R and y = R' Y*.  Written out with the rows r1, r2, r3 of a frame's R and
c = 1 - eta, H is linear in (1, m_x, m_y, |m|^2):

    H = r1 r1' + r2 r2' - c m_x (r1 r3' + r3 r1') - c m_y (r2 r3' + r3 r2') + c |m|^2 r3 r3'

so the six distinct planes of H are one small product per frame, and H y = R' (eta m, 0) needs no H.

Layout: the planes are stored as an F x 6P matrix, because every sum that a solver needs, over frames with
coefficients quadratic in B, or over points with coefficients quadratic in C, is then one matrix product with
it.  Small symmetric systems (3K per point, K + 3 per frame) are kept with the batch index last, (n, n, P):
elimination without pivoting then runs over contiguous vectors, two to four times faster than LAPACK.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .arrays import Bools, Floats, Ints
    from .factors import Factors

# PLANE[a, b] is the plane that holds H_ab.
PLANE = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])
ROW, COLUMN = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 1, 2, 2])  # of each plane
OFF_DIAGONAL = (ROW != COLUMN)[:, None]
# Above this size halving is cheaper than eliminating column by column (measured at batches of 50 to 400).
ELIMINATION_LIMIT = 6
INACCURATE = 1e-6  # relative residual from which a solution of a point's system is not trusted
NEGLIGIBLE = 1e-10  # relative size of an eigenvalue that a pseudo-inverse leaves out
# Observations whose planes, vectors and products fit the second-level cache together.
CACHED = 8192


@lru_cache(maxsize=32)
def pairs(count: int) -> tuple[Ints, Ints, Ints]:
    """Return the index pairs (i <= l) of `count` items, and the (count, count) table of their positions."""
    upper, lower = np.triu_indices(count)
    table = np.zeros((count, count), dtype=np.int64)
    table[upper, lower] = table[lower, upper] = np.arange(len(upper))
    return upper, lower, table


def batched_inverse(blocks: Floats) -> Floats:
    """Invert symmetric positive definite blocks stored as (n, n, batch), or pseudo-invert them."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inverse = _inverse(blocks)
    singular = ~np.isfinite(inverse).all(axis=(0, 1))
    if singular.any():
        inverse[:, :, singular] = pseudo_inverse(blocks[:, :, singular])
    return inverse


def pseudo_inverse(blocks: Floats) -> Floats:
    """Pseudo-invert symmetric blocks stored as (n, n, batch), without directions of relative size 1e-10."""
    stacked = np.linalg.pinv(np.moveaxis(blocks, 2, 0), rcond=NEGLIGIBLE, hermitian=True)
    return np.ascontiguousarray(np.moveaxis(stacked, 0, 2))


def _inverse(blocks: Floats) -> Floats:
    """Invert by halves, through the Schur complement; small blocks by Gauss-Jordan without pivoting."""
    size = len(blocks)
    out = np.array(blocks)
    if size > ELIMINATION_LIMIT:
        half = size // 2
        first = _inverse(blocks[:half, :half])
        coupling = blocks[:half, half:]
        moved = np.einsum("ijp,jkp->ikp", first, coupling)
        second = _inverse(blocks[half:, half:] - np.einsum("jip,jkp->ikp", coupling, moved))
        corner = np.einsum("ijp,jkp->ikp", moved, second)
        out[:half, :half] = first + np.einsum("ijp,kjp->ikp", corner, moved)
        out[:half, half:] = -corner
        out[half:, :half] = -corner.transpose(1, 0, 2)
        out[half:, half:] = second
        return out
    for k in range(size):
        pivot = 1.0 / out[k, k]
        row = out[k] * pivot
        row[k] = pivot
        column = out[:, k].copy()
        column[k] = 0.0
        out[:, k] = 0.0
        out[k] = 0.0
        out -= column[:, None] * row
        out[k] = row
    return out


def multiply(blocks: Floats, vectors: Floats) -> Floats:
    """Return blocks @ vectors for blocks (n, n, batch) and vectors (n, batch)."""
    product: Floats = np.einsum("ijp,jp->ip", blocks, vectors)
    return product


def times_planes(planes: Floats, vectors: Floats) -> Floats:
    """Return M_fj v_fj for symmetric 3x3 matrices stored as planes (F, 6P), and v (F, 3, P)."""
    frames, _, points = vectors.shape
    M = planes.reshape(frames, 6, points)
    out = np.empty_like(vectors)
    for part in _cached_parts(frames, points):
        _times_part(M[part], vectors[part], out[part])
    return out


def _cached_parts(frames: int, points: int) -> list[slice]:
    """Cut the frames into runs that stay in the cache while they are worked on."""
    rows = max(1, CACHED // points)
    return [slice(first, min(first + rows, frames)) for first in range(0, frames, rows)]


def _times_part(M: Floats, v: Floats, out: Floats) -> None:
    product = np.empty_like(v[:, 0])
    for a in range(3):
        row = out[:, a]
        np.multiply(M[:, PLANE[a, 0]], v[:, 0], out=row)
        for b in (1, 2):
            np.multiply(M[:, PLANE[a, b]], v[:, b], out=product)
            row += product


def point_blocks(sums: Floats, weights: Floats) -> Floats:
    """Return the blocks sum_f B_fi B_fl H_fj + delta_il a_i / 2, shape (3K, 3K, P).

    `sums` holds sum_f B_fi B_fl H_fj for the pairs (i <= l), as planes (K (K + 1) / 2, 6, P).
    """
    rank, points = len(weights), sums.shape[2]
    table = pairs(rank)[2]
    blocks = sums[table[:, :, None, None], PLANE]  # (K, K, 3, 3, P)
    blocks = np.ascontiguousarray(blocks.transpose(0, 2, 1, 3, 4)).reshape(3 * rank, 3 * rank, points)
    diagonal = np.arange(3 * rank)
    blocks[diagonal, diagonal] += np.repeat(0.5 * weights, 3)[:, None]
    return blocks


@dataclass(frozen=True, eq=False)
class PointSystem:
    """The normal equations of the basis shapes at fixed (B, s), and their solution."""

    inverse: Floats  # (3K, 3K, P)
    C: Floats  # (K, 3, P)
    rhs_C: float  # the right side times C


@dataclass(frozen=True, eq=False)
class DataTerm:
    """Planes of H, and the products with them that the solvers share. Immutable."""

    H: Floats  # (F, 6P): planes xx, xy, xz, yy, yz, zz
    y: Floats  # (F, 3, P)
    Hy: Floats  # (F, 3, P)
    H_sum: Floats  # (3, 3, F): H summed over points
    Hy_sum: Floats  # (3, F): H y summed over points
    yHy: float  # sum of y' H y: the data term of S + s = 0
    offsets: bool  # whether the offsets s are unknowns; otherwise they are 0
    pin: Floats | None = None  # (3, 3, F): r3 r3' P at eta = 1, where the depth of t is free and pinned to 0

    @property
    def points(self) -> int:
        """P, the number of points."""
        return int(self.y.shape[2])

    @property
    def free(self) -> int:
        """The number of unknowns of a frame besides its K coefficients: 3 for the offset, or 0."""
        return 3 if self.offsets else 0

    def times_H(self, vectors: Floats) -> Floats:
        """Return H_fj e_fj for e (F, 3, P)."""
        return times_planes(self.H, vectors)

    def forces(
        self, B: Floats, flat: Floats, s: Floats, target: Floats | None = None
    ) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield (frames, v, H v) for v = B C + s - target, a few frames at a time, so that they stay cached.

        B is (F, K), `flat` C as (K, 3P), s (F, 3), v (frames, 3, P).
        """
        frames, _, points = self.y.shape
        H = self.H.reshape(frames, 6, points)
        for part in _cached_parts(frames, points):
            v = (B[part] @ flat).reshape(-1, 3, points)
            v += s[part, :, None]
            if target is not None:
                v -= target[part]
            force = np.empty_like(v)
            _times_part(H[part], v, force)
            yield part, v, force

    def residual_force(self, factors: Factors) -> tuple[Floats, float]:
        """Return H e, (F, 3, P), and e' H e, for e = S + s - y; e itself is never stored whole."""
        out = np.empty_like(self.y)
        total = 0.0
        flat = factors.C.reshape(factors.rank, -1)
        for part, e, force in self.forces(factors.B, flat, factors.s, self.y):
            out[part] = force
            total += float(np.vdot(e, force))
        return out, total

    def best_C(self, B: Floats, s: Floats, weights: Floats) -> PointSystem:
        """Minimize over C at fixed (B, s): P independent systems of 3K unknowns.

        The block of point j is sum_f B_fi B_fl H_fj + delta_il a_i / 2, the right side
        sum_f B_fk (H y - H s)_fj.
        """
        rank, points = B.shape[1], self.points
        upper, lower, _ = pairs(rank)
        coefficients = B[:, upper] * B[:, lower]
        if self.offsets:
            moving = (B[:, :, None] * s[:, None, :]).reshape(len(B), -1)
            coefficients = np.concatenate((coefficients, moving), axis=1)
        sums = (coefficients.T @ self.H).reshape(-1, 6, points)
        rhs = (B.T @ self.Hy.reshape(len(B), -1)).reshape(rank, 3, points)
        if self.offsets:
            moved = sums[len(upper) :].reshape(rank, 3, 6, points)
            for c in range(3):
                rhs -= moved[:, c, PLANE[c]]
        blocks = point_blocks(sums[: len(upper)], weights)
        inverse = batched_inverse(blocks)
        right = rhs.reshape(3 * rank, points)
        C = multiply(inverse, right)
        rest = right - multiply(blocks, C)
        wrong = ~(np.abs(rest).max(axis=0) <= INACCURATE * np.abs(right).max(axis=0))
        if wrong.any():  # nearly singular: a point seen too seldom, and no penalty
            inverse[:, :, wrong] = pseudo_inverse(blocks[:, :, wrong])
            C[:, wrong] = multiply(inverse[:, :, wrong], right[:, wrong])
            rest = right - multiply(blocks, C)
        C += multiply(inverse, rest)  # one step of refinement
        return PointSystem(inverse, C.reshape(rank, 3, points), float(np.vdot(right, C)))

    def eliminated_loss(self, B: Floats, s: Floats, weights: Floats, system: PointSystem) -> float:
        """Return the objective at (B, s) with C at its best, from sums alone.

        C' M C = C' rhs turns the objective into yHy + s' H s - 2 s' H y - rhs' C + a' |B_k|^2 / 2, which
        costs O(F + P). It loses the digits by which yHy = eta sum |m|^2 exceeds the result: good to about
        1e-11.
        """
        offsets = float(np.einsum("fa,abf,fb->", s, self.H_sum, s)) - 2 * float(np.vdot(s.T, self.Hy_sum))
        return self.yHy + offsets - system.rhs_C + 0.5 * float(weights @ np.einsum("fk,fk->k", B, B))

    def frame_blocks(self, C: Floats, weights: Floats) -> Floats:
        """Return the Hessian blocks of (B_f, s_f) at fixed C, (K+3, K+3, F); without offsets (K, K, F)."""
        rank, _, points = C.shape
        upper, lower, table = pairs(rank)
        symmetric = C[upper][:, ROW] * C[lower][:, COLUMN]  # (n, 6, P)
        symmetric += np.where(OFF_DIAGONAL, C[upper][:, COLUMN] * C[lower][:, ROW], 0.0)
        right = symmetric
        if self.offsets:
            linear = np.zeros((rank, 3, 6, points))
            for a in range(3):
                linear[:, a, PLANE[a]] = C
            right = np.concatenate((symmetric, linear.reshape(-1, 6, points)))
        sums = (self.H @ right.reshape(-1, 6 * points).T).T  # (n + 3K, F)
        size = rank + self.free
        blocks = np.empty((size, size, len(self.H)))
        blocks[:rank, :rank] = sums[table]
        if self.offsets:
            blocks[:rank, rank:] = sums[len(upper) :].reshape(rank, 3, -1)
            blocks[rank:, :rank] = blocks[:rank, rank:].transpose(1, 0, 2)
            blocks[rank:, rank:] = self.H_sum if self.pin is None else self.H_sum + self.pin
        diagonal = np.arange(rank)
        blocks[diagonal, diagonal] += 0.5 * weights[:, None]
        return blocks


def data_term(tracks: Floats, visible: Bools, rotations: Floats, eta: float) -> DataTerm:
    """Build the planes of H, y and H y of a non-rigid problem; hidden tracks (F, 2, P) are 0."""
    R, c = rotations, 1.0 - eta
    frames, _, points = tracks.shape
    seen = visible.astype(float)
    outer = R[:, :, ROW] * R[:, :, COLUMN]  # (F, 3, 6): r_i r_i'
    mixed = [R[:, i][:, ROW] * R[:, 2][:, COLUMN] + R[:, 2][:, ROW] * R[:, i][:, COLUMN] for i in (0, 1)]
    basis = np.stack((outer[:, 0] + outer[:, 1], -c * mixed[0], -c * mixed[1], c * outer[:, 2]), axis=2)
    features = np.empty((frames, 4, points))
    features[:, 0] = seen
    features[:, 1:3] = tracks
    np.einsum("fip,fip->fp", tracks, tracks, out=features[:, 3])
    H = basis @ features  # (F, 6, P)
    y = R[:, :2].transpose(0, 2, 1) @ tracks
    if eta < 1:
        y += R[:, 2, :, None] * seen[:, None, :]
    Hy = eta * (R[:, :2].transpose(0, 2, 1) @ tracks)
    pin = None
    if eta == 1:
        pin = np.ascontiguousarray(np.einsum("fa,fb->abf", R[:, 2], R[:, 2])) * points
    yHy = eta * float(features[:, 3].sum())
    return _summed(H, y, Hy, yHy, offsets=True, pin=pin)


def transposed(data: DataTerm) -> DataTerm:
    """Return the data term with a row for every point and a column for every frame, without offsets."""
    frames, _, points = data.y.shape
    planes = data.H.reshape(frames, 6, points)
    H, y, Hy = (np.ascontiguousarray(array.transpose(2, 1, 0)) for array in (planes, data.y, data.Hy))
    return _summed(H, y, Hy, data.yHy, offsets=False)


def _summed(
    H: Floats, y: Floats, Hy: Floats, yHy: float, *, offsets: bool, pin: Floats | None = None
) -> DataTerm:
    H_sum = np.ascontiguousarray(H.sum(axis=2).T[PLANE])
    Hy_sum = np.ascontiguousarray(Hy.sum(axis=2).T)
    return DataTerm(H.reshape(len(H), -1), y, Hy, H_sum, Hy_sum, yHy, offsets, pin)
