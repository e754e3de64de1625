r"""The error of the observations: the 3x3 forms H as six planes, and residuals in the cameras' frames.

`nonrigid` derives H = R' G R and y = R' Y*.  Written out with the rows r1, r2, r3 of a row's R and
c = 1 - eta, all that the data term is made of is linear in the four features (1, m_x, m_y, |m|^2):

    H   = r1 r1' + r2 r2' - c m_x (r1 r3' + r3 r1') - c m_y (r2 r3' + r3 r2') + c |m|^2 r3 r3'
    y   = r3 + m_x r1 + m_y r2        (without r3 at eta = 1)
    H y = eta (m_x r1 + m_y r2)

so that each plane is one small product per row, basis (6 x 4) times features (4 x columns).  A hidden
observation has features 0.

Planes and features take 16 numbers per observation, tracks only 2.  To form the planes again costs 48 flops
per observation, where the products that follow cost hundreds.

Observations may have weights (`robust`), which multiply H and H y, but not y.

Residuals and gradients need no planes.  With v = R S + t the error of an observation is the four residuals of
`nonrigid`, and half of its gradient

    G v = (v_12 - c m v_3,  c |m|^2 v_3 - c m' v_12)

needs the tracks alone: 9 operations on 3 numbers per observation, where H v needs 15 on 6.  The rotations go
into the coefficients: v = T C for all frames, points and axes is one matrix product with T = (R_f B_fk), a
(3F x 3K) matrix, and R' is applied to what has been summed over the points.  Axes come first, then frames, so
that each axis of a block of columns is one contiguous run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..foundation.representation import OneLine
from ..foundation.types import Bools, Floats, Ints

Reals = npt.NDArray[Any]  # float64; float32 in products with the curvature of streamed problems

# PLANE[a, b] is the plane that holds H_ab.
PLANE = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])
ROW, COLUMN = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 1, 2, 2])  # of each plane
OFF_DIAGONAL = (ROW != COLUMN)[:, None]
# Observations whose planes, vectors and products fit the second-level cache together.
CACHED = 8192


@lru_cache(maxsize=32)
def pairs(count: int) -> tuple[Ints, Ints, Ints]:
    """Return the index pairs (i <= l) of `count` items, and the (count, count) table of their positions."""
    upper, lower = np.triu_indices(count)
    table = np.zeros((count, count), dtype=np.int64)
    table[upper, lower] = table[lower, upper] = np.arange(len(upper))
    return upper, lower, table


def times_planes(planes: Floats, vectors: Floats, out: Floats | None = None) -> Floats:
    """Return M_fj v_fj, in `out` if given, for symmetric 3x3 planes M (F, 6P), and v (F, 3, P)."""
    frames, _, points = vectors.shape
    M = planes.reshape(frames, 6, points)
    out = np.empty_like(vectors) if out is None else out
    rows = max(1, CACHED // points)
    for first in range(0, frames, rows):
        part = slice(first, min(first + rows, frames))
        product = np.empty_like(vectors[part, 0])
        for a in range(3):
            row = out[part, a]
            np.multiply(M[part, PLANE[a, 0]], vectors[part, 0], out=row)
            for b in (1, 2):
                np.multiply(M[part, PLANE[a, b]], vectors[part, b], out=product)
                row += product
    return out


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


def shape_products(C: Floats, *, offsets: bool) -> Floats:
    """Return C_i C_l' (i <= l), then C_k: the factors of H in the Hessian blocks of the frames, (n, 6P)."""
    rank, _, points = C.shape
    upper, lower, _ = pairs(rank)
    right = C[upper][:, ROW] * C[lower][:, COLUMN]  # (n, 6, P)
    right += np.where(OFF_DIAGONAL, C[upper][:, COLUMN] * C[lower][:, ROW], 0.0)
    if offsets:
        linear = np.zeros((rank, 3, 6, points))
        for a in range(3):
            linear[:, a, PLANE[a]] = C
        right = np.concatenate((right, linear.reshape(-1, 6, points)))
    flat: Floats = right.reshape(-1, 6 * points)
    return flat


@dataclass(frozen=True, eq=False)
class ObservationForms(OneLine):
    """The data term of a block of columns; each kind of plane is formed when it is first used."""

    columns: slice
    features: Floats  # (rows, 4, p): 1, m_x, m_y, |m|^2; 0 where hidden
    basis: Floats  # (rows, 12, 4) of H, y and H y; or (1, 12, 4), the same for every row
    weights: Floats | None = None  # (rows, p) of the observations, factors of H; None where all are 1

    @cached_property
    def H(self) -> Floats:
        """The planes xx, xy, xz, yy, yz, zz of H, (rows, 6, p)."""
        return self._weigh(np.matmul(self.basis[:, :6], self.features))

    @cached_property
    def y(self) -> Floats:
        """The target R' Y*, (rows, 3, p)."""
        planes: Floats = np.matmul(self.basis[:, 6:9], self.features)
        return planes

    @cached_property
    def Hy(self) -> Floats:
        """H y, (rows, 3, p)."""
        return self._weigh(np.matmul(self.basis[:, 9:], self.features))

    def _weigh(self, planes: Floats) -> Floats:
        if self.weights is not None:
            planes *= self.weights[:, None]
        return planes


@dataclass(frozen=True, eq=False)
class TrackFeatures(OneLine):
    """The four features of all observations. They depend on neither the cameras nor eta."""

    tracks: Floats  # (rows, 2, columns); 0 where hidden
    visible: Bools  # (rows, columns)

    @cached_property
    def all_columns(self) -> Floats:
        """The features of all columns, (rows, 4, columns), for problems small enough to store them."""
        return self.at(slice(None))

    @cached_property
    def sums(self) -> Floats:
        """The sums of the features over the columns, (rows, 4)."""
        squared = np.einsum("rip,rip->r", self.tracks, self.tracks)
        seen = self.visible.sum(axis=1)
        return np.concatenate((seen[:, None], self.tracks.sum(axis=2), squared[:, None]), axis=1)

    def weighted_sums(self, weights: Floats) -> Floats:
        """Return the sums of the features times weights (rows, columns) over the columns, (rows, 4)."""
        squared = np.einsum("rip,rip,rp->r", self.tracks, self.tracks, weights)
        seen = (self.visible * weights).sum(axis=1)
        moments = np.einsum("rip,rp->ri", self.tracks, weights)
        return np.concatenate((seen[:, None], moments, squared[:, None]), axis=1)

    def at(self, columns: slice) -> Floats:
        """Return the features of some columns, (rows, 4, p)."""
        m = self.tracks[:, :, columns]
        features = np.empty((len(m), 4, m.shape[2]))
        features[:, 0] = self.visible[:, columns]
        features[:, 1:3] = m
        np.einsum("rip,rip->rp", m, m, out=features[:, 3])
        return features


def plane_basis(rotations: Floats, eta: float) -> Floats:
    """Return the matrices from features to the planes of H, y and H y, (rows, 12, 4), for R (rows, 3, 3)."""
    R, c = rotations, 1.0 - eta
    basis = np.zeros((len(R), 12, 4))
    outer = R[:, :, ROW] * R[:, :, COLUMN]  # (F, 3, 6): r_i r_i'
    basis[:, :6, 0] = outer[:, 0] + outer[:, 1]
    for i in (0, 1):
        mixed = R[:, i][:, ROW] * R[:, 2][:, COLUMN] + R[:, 2][:, ROW] * R[:, i][:, COLUMN]
        basis[:, :6, 1 + i] = -c * mixed
    basis[:, :6, 3] = c * outer[:, 2]
    basis[:, 6:9, 1:3] = R[:, :2].transpose(0, 2, 1)
    if eta < 1:
        basis[:, 6:9, 0] = R[:, 2]
    basis[:, 9:, 1:3] = eta * basis[:, 6:9, 1:3]
    return basis


# -- residuals in the frames of the cameras ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CameraFrameResiduals(OneLine):
    """The residual terms of a block of columns in the frames of the cameras."""

    columns: slice
    m: Reals  # (2, rows, p) calibrated; 0 where hidden
    seen: Reals | None  # (rows, p) 0 or 1; None where all is seen
    eta: float
    weights: Reals | None = None  # (rows, p), factors of G; None where all are 1

    @cached_property
    def scaled_m(self) -> Reals:
        """(1 - eta) m, (2, rows, p)."""
        scaled: Reals = self.m * self.m.dtype.type(1.0 - self.eta)
        return scaled

    @cached_property
    def scaled_norm(self) -> Reals:
        """(1 - eta) |m|^2, (rows, p)."""
        squared: Reals = np.einsum("arp,arp->rp", self.m, self.scaled_m)
        return squared

    def apply_G(self, v: Reals) -> Reals:
        """Replace v by G v, both (3, rows, p)."""
        if self.seen is not None:
            v[:2] *= self.seen
        inner = self.scaled_m * v[:2]
        inner[0] += inner[1]
        v[:2] -= self.scaled_m * v[2]
        v[2] *= self.scaled_norm
        v[2] -= inner[0]
        if self.weights is not None:
            v *= self.weights
        return v

    def weigh(self, e: Reals) -> tuple[Reals, float]:
        """Return G e and e' G e for e = v - Y*, given v (3, rows, p), which is overwritten."""
        Ge = self._error_and_G(e)
        return Ge, float(np.vdot(e, Ge))

    def squares(self, e: Reals) -> Reals:
        """Return e' G e of every observation, (rows, p), given v (3, rows, p), which is overwritten."""
        Ge = self._error_and_G(e)
        return np.asarray(np.einsum("arp,arp->rp", e, Ge))

    def _error_and_G(self, e: Reals) -> Reals:
        """Replace v by e = v - Y* and return G e."""
        e[:2] -= self.m
        if self.eta < 1:
            e[2] -= 1.0 if self.seen is None else self.seen
        return self.apply_G(e.copy())


@dataclass(frozen=True, eq=False)
class CameraFrames(OneLine):
    """The tracks in the cameras' frames, and the rotations to and from the object's frame."""

    tracks: Floats  # (rows, 2, columns); 0 where hidden
    visible: Bools  # (rows, columns)
    rotations: Floats  # (rows, 3, 3), or (1, 3, 3) for all rows
    eta: float
    weights: Floats | None = None  # (rows, columns) of the observations; None where all are 1

    @cached_property
    def complete(self) -> bool:
        """Whether nothing is hidden."""
        return bool(self.visible.all())

    def residuals(
        self, blocks: Iterable[slice], dtype: type[np.floating[Any]]
    ) -> Iterator[CameraFrameResiduals]:
        """Yield the residual terms block by block."""
        for columns in blocks:
            m = self.tracks[:, :, columns].transpose(1, 0, 2).astype(dtype, order="C")
            seen = None if self.complete else self.visible[:, columns].astype(dtype)
            weights = None if self.weights is None else self.weights[:, columns].astype(dtype)
            yield CameraFrameResiduals(columns, m, seen, self.eta, weights)

    def rotate(self, B: Floats, s: Floats | None = None) -> Floats:
        """Return T with T (C; 1) = R (B C + s), (3 rows, 3K + 1); without s (3 rows, 3K)."""
        R = self.rotations.transpose(1, 0, 2)
        T: Floats = (R[:, :, None] * B[:, :, None]).reshape(3 * len(B), -1)
        if s is None:
            return T
        t = np.einsum("rab,rb->ar", np.broadcast_to(self.rotations, (len(B), 3, 3)), s)
        return np.concatenate((T, t.reshape(-1, 1)), axis=1)

    def rotate_back(self, vectors: Floats) -> Floats:
        """Return R' v, (rows, 3, p), for v (3 rows, p) in the frames of the cameras, axes first."""
        rotated: Floats = np.matmul(
            self.rotations.transpose(0, 2, 1), vectors.reshape(3, len(self.tracks), -1).transpose(1, 0, 2)
        )
        return rotated

    def rotate_sums_back(self, sums: Floats) -> Floats:
        """Return (K + 3, rows) from sums (3 rows, 3K + 1) of G e times (C; 1); without the 1 (K, rows)."""
        rank = sums.shape[1] // 3
        rows = len(sums) // 3
        R = np.broadcast_to(self.rotations, (rows, 3, 3))
        of_B: Floats = np.einsum("rab,arkb->kr", R, sums[:, : 3 * rank].reshape(3, rows, rank, 3))
        if sums.shape[1] == 3 * rank:
            return of_B
        return np.concatenate((of_B, np.einsum("rab,ar->br", R, sums[:, -1].reshape(3, rows))))
