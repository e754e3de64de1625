r"""The 3x3 forms H of all observations as six planes, stored or formed for a few columns at a time.

`nonrigid` derives H = R' G R and y = R' Y*.  Written out with the rows r1, r2, r3 of a row's R and
c = 1 - eta, all that the data term is made of is linear in the four features (1, m_x, m_y, |m|^2):

    H   = r1 r1' + r2 r2' - c m_x (r1 r3' + r3 r1') - c m_y (r2 r3' + r3 r2') + c |m|^2 r3 r3'
    y   = r3 + m_x r1 + m_y r2        (without r3 at eta = 1)
    H y = eta (m_x r1 + m_y r2)

so that each of its planes is one small product per row, basis (6 x 4) times features (4 x columns).  A hidden
observation has features 0.

Small problems store the planes and the features, 16 numbers per observation.  Large ones keep the tracks
only, 2 numbers, and form what is asked for in chunks of columns that stay in the second-level cache: that
costs 48 flops per observation where the products that follow cost hundreds, and saves the memory and its
traffic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..foundation.types import Bools, Floats, Ints

Reals = npt.NDArray[Any]  # float64; float32 in products with the curvature of streamed problems

# PLANE[a, b] is the plane that holds H_ab.
PLANE = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])
ROW, COLUMN = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 1, 2, 2])  # of each plane
OFF_DIAGONAL = (ROW != COLUMN)[:, None]
# Observations whose planes, vectors and products fit the second-level cache together.
CACHED = 8192
# Observations of a chunk of formed planes (1.2 MB of H in float64), and the fewest columns that it has.
CHUNK, NARROWEST = 25_600, 16


@lru_cache(maxsize=32)
def pairs(count: int) -> tuple[Ints, Ints, Ints]:
    """Return the index pairs (i <= l) of `count` items, and the (count, count) table of their positions."""
    upper, lower = np.triu_indices(count)
    table = np.zeros((count, count), dtype=np.int64)
    table[upper, lower] = table[lower, upper] = np.arange(len(upper))
    return upper, lower, table


def times_planes(planes: Floats, vectors: Floats) -> Floats:
    """Return M_fj v_fj for symmetric 3x3 matrices stored as planes (F, 6P), and v (F, 3, P)."""
    frames, _, points = vectors.shape
    M = planes.reshape(frames, 6, points)
    out = np.empty_like(vectors)
    for part in cached_parts(frames, points):
        times_part(M[part], vectors[part], out[part])
    return out


def cached_parts(rows: int, columns: int) -> list[slice]:
    """Cut the rows into runs that stay in the cache while they are worked on."""
    run = max(1, CACHED // columns)
    return [slice(first, min(first + run, rows)) for first in range(0, rows, run)]


def times_part(M: Reals, v: Reals, out: Reals) -> None:
    """Put M v into `out`, for planes M (rows, 6, columns) and v (rows, 3, columns)."""
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


def quadratic_in(C: Floats, *, offsets: bool) -> Floats:
    """Return what H's planes are multiplied with for the frames' blocks: C_i C_l' (i <= l), then C_k."""
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
class Chunk:
    """The data term at some columns, or at all; each kind of plane is formed when it is first asked for."""

    part: slice
    features: Floats  # (rows, 4, p): 1, m_x, m_y, |m|^2; 0 where hidden
    basis: Floats  # (rows, 12, 4) of H, y and H y; or (1, 12, 4), the same for every row

    @cached_property
    def H(self) -> Floats:
        """The planes xx, xy, xz, yy, yz, zz of H, (rows, 6, p)."""
        planes: Floats = np.matmul(self.basis[:, :6], self.features)
        return planes

    @cached_property
    def y(self) -> Floats:
        """The target R' Y*, (rows, 3, p)."""
        planes: Floats = np.matmul(self.basis[:, 6:9], self.features)
        return planes

    @cached_property
    def Hy(self) -> Floats:
        """H y, (rows, 3, p)."""
        planes: Floats = np.matmul(self.basis[:, 9:], self.features)
        return planes


@dataclass(frozen=True, eq=False)
class Features:
    """What the planes are made of whatever the cameras and eta: the four features of all observations."""

    tracks: Floats  # (rows, 2, columns); 0 where hidden
    visible: Bools  # (rows, columns)

    @cached_property
    def stored(self) -> Floats:
        """The features of all columns, (rows, 4, columns), for problems small enough to keep them."""
        return self.of(slice(None))

    @cached_property
    def sums(self) -> Floats:
        """The sums of the features over the columns, (rows, 4)."""
        squared = np.einsum("rip,rip->r", self.tracks, self.tracks)
        seen = self.visible.sum(axis=1)
        return np.concatenate((seen[:, None], self.tracks.sum(axis=2), squared[:, None]), axis=1)

    def of(self, part: slice) -> Floats:
        """Return the features of some columns, (rows, 4, p)."""
        m = self.tracks[:, :, part]
        features = np.empty((len(m), 4, m.shape[2]))
        features[:, 0] = self.visible[:, part]
        features[:, 1:3] = m
        np.einsum("rip,rip->rp", m, m, out=features[:, 3])
        return features


@dataclass(frozen=True, eq=False)
class Source:
    """Where planes come from."""

    features: Features
    basis: Floats  # (rows, 12, 4) or (1, 12, 4), see `plane_basis`

    def chunks(self, width: int) -> Iterator[Chunk]:
        """Yield the columns, `width` at a time."""
        columns = self.features.visible.shape[1]
        for first in range(0, columns, width):
            part = slice(first, min(first + width, columns))
            yield Chunk(part, self.features.of(part), self.basis)

    def stored(self) -> Chunk:
        """Return all columns as one chunk, whose planes stay where they were formed."""
        return Chunk(slice(0, self.features.visible.shape[1]), self.features.stored, self.basis)


def plane_basis(rotations: Floats, eta: float) -> Floats:
    """Return what turns features into the planes of H, y and H y, (rows, 12, 4), for R (rows, 3, 3)."""
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
