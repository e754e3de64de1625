r"""The data term as one 3x3 quadratic form per observation, and the closed forms that rest on it.

    sum_fj (S_fj + s_f - y_fj)' H_fj (S_fj + s_f - y_fj),    S_f = sum_k B_fk C_k

`nonrigid` derives it, `observation_forms` where H and y come from: stored, or, where they would be large,
formed from the tracks a few columns at a time.  Every sum that a solver needs, over frames with coefficients
quadratic in B, or over points with coefficients quadratic in C, is one matrix product with the planes of H as
an F x 6p matrix, chunk by chunk.  Which of the two it is, is a matter of size alone.

Streamed problems keep M^-1 and H e, which curvature alone is made of, in float32; losses, gradients and C are
in float64 whatever the form.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundation.batched_linalg import batched_inverse, multiply, solved
from ..foundation.exceptions import InputError
from .camera_frame import Sights
from .observation_forms import (
    CHUNK,
    COLUMN,
    NARROWEST,
    PLANE,
    ROW,
    Chunk,
    Features,
    Source,
    pairs,
    plane_basis,
    point_blocks,
    quadratic_in,
    times_planes,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..foundation.types import Floats
    from .camera_frame import Sight
    from .factors import Factors
    from .observation_forms import Reals

__all__ = [
    "COLUMN",
    "PLANE",
    "ROW",
    "DataTerm",
    "PointSystem",
    "batched_inverse",
    "data_term",
    "multiply",
    "pairs",
    "point_blocks",
    "times_planes",
]

STORED = 32_000_000  # bytes of H up to which its planes are stored
LARGEST = 2_000_000_000  # bytes of H up to which they are assembled for a method that needs all of them


@dataclass(frozen=True, eq=False)
class PointSystem:
    """The normal equations of the basis shapes at fixed (B, s), and their solution."""

    inverses: tuple[Reals, ...]  # of each chunk of planes (3K, 3K, p)
    C: Floats  # (K, 3, P)
    rhs_C: float  # the right side times C


@dataclass(frozen=True, eq=False)
class DataTerm:
    """The data term, and the products with H that the solvers share. Immutable.

    F stands for its rows and P for its columns; the low-rank problem has them the other way round.
    """

    source: Source
    sights: Sights
    planes: Chunk | None  # None where they are formed chunk by chunk
    H_sum: Floats  # (3, 3, F): H summed over points
    Hy_sum: Floats  # (3, F): H y summed over points
    yHy: float  # sum of y' H y: the data term of S + s = 0
    offsets: bool  # whether the offsets s are unknowns; otherwise they are 0
    pin: Floats | None = None  # (3, 3, F): r3 r3' P at eta = 1, where the depth of t is free and pinned to 0

    @property
    def frames(self) -> int:
        """F, the number of rows."""
        return int(self.source.features.visible.shape[0])

    @property
    def points(self) -> int:
        """P, the number of columns."""
        return int(self.source.features.visible.shape[1])

    @property
    def free(self) -> int:
        """The number of unknowns of a frame besides its K coefficients: 3 for the offset, or 0."""
        return 3 if self.offsets else 0

    @property
    def streamed(self) -> bool:
        """Whether the planes are formed chunk by chunk."""
        return self.planes is None

    @property
    def working(self) -> type[np.floating[Any]]:
        """The type of what curvature is made of, M^-1 and H e."""
        return np.float32 if self.streamed else np.float64

    def chunks(self) -> Iterator[Chunk]:
        """Yield the planes chunk by chunk; stored planes are one chunk."""
        if self.planes is not None:
            yield self.planes
        else:
            yield from self.source.chunks(self.width)

    def sighted(self, dtype: type[np.floating[Any]] = np.float64) -> Iterable[Sight]:
        """Return the columns chunk by chunk as the cameras see them; kept where the planes are stored."""
        return self.sights.chunks(dtype, self.width) if self.streamed else self._kept_sights

    @cached_property
    def _kept_sights(self) -> tuple[Sight, ...]:
        return tuple(self.sights.chunks(np.float64, self.width))

    @property
    def width(self) -> int:
        """The number of columns of a chunk, of planes (where they are formed) and of `sighted` alike."""
        return max(NARROWEST, CHUNK // self.frames)

    @cached_property
    def H(self) -> Floats:
        """The planes of H, (F, 6P), for methods that need all of them.

        Raises
        ------
        InputError
            where they take more than 2 GB.
        """
        if self.planes is not None:
            return self.planes.H.reshape(self.frames, -1)
        size = 48 * self.frames * self.points
        if size > LARGEST:
            raise InputError(
                f"this method needs {size / 1e9:.1f} GB for the error of {self.frames} x {self.points} "
                f"observations; accepted are {LARGEST / 1e9:g} GB, and the method 'bilinear' needs far less"
            )
        H = np.empty((self.frames, 6, self.points))
        for chunk in self.chunks():
            H[:, :, chunk.part] = chunk.H
        return H.reshape(self.frames, -1)

    @cached_property
    def y(self) -> Floats:
        """The targets R' Y* of all observations, (F, 3, P)."""
        if self.planes is not None:
            return self.planes.y
        y = np.empty((self.frames, 3, self.points))
        for chunk in self.chunks():
            y[:, :, chunk.part] = chunk.y
        return y

    def times_H(self, vectors: Floats) -> Floats:
        """Return H_fj e_fj for e (F, 3, P)."""
        if self.planes is not None:
            return times_planes(self.H, vectors)
        out = np.empty_like(vectors)
        for chunk in self.chunks():
            part = chunk.part
            out[:, :, part] = times_planes(
                chunk.H.reshape(self.frames, -1), np.ascontiguousarray(vectors[:, :, part])
            )
        return out

    def residuals(self, factors: Factors) -> Iterator[tuple[slice, Floats, Floats, float]]:
        """Yield (columns, G e (3F, p), (C; 1) (3K+1, p), e' H e) chunk by chunk, for e = S + s - y.

        G e = R H e is in the frames of the cameras, axes first; without offsets there is no 1.
        """
        T = self.sights.turned(factors.B, factors.s if self.offsets else None)
        for sight in self.sighted():
            C = self.shapes_at(factors.C, sight.part)
            force, misfit = sight.misfit((T @ C).reshape(3, self.frames, -1))
            yield sight.part, force.reshape(3 * self.frames, -1), C, misfit

    def shapes_at(self, C: Floats, part: slice) -> Floats:
        """Return columns of C (K, 3, P) as (3K, p), with a row of ones where offsets are free."""
        flat = C[:, :, part].reshape(3 * len(C), -1)
        ones = np.ones((1 if self.offsets else 0, flat.shape[1]), dtype=C.dtype)
        return np.concatenate((flat, ones))

    def force_sums(self, factors: Factors) -> Floats:
        """Return half of the gradient of the data term in (B, s), (K+3, F)."""
        sums = np.zeros((3 * self.frames, 3 * factors.rank + self.offsets))
        for _, force, C, _ in self.residuals(factors):
            sums += force @ C.T
        return self.sights.turned_back(sums)

    def residual_force(self, factors: Factors) -> tuple[Floats, float]:
        """Return H e, (F, 3, P), and e' H e, for e = S + s - y."""
        out = np.empty((self.frames, 3, self.points))
        total = 0.0
        for part, force, _, misfit in self.residuals(factors):
            out[:, :, part] = self.in_object(force)
            total += misfit
        return out, total

    def in_object(self, force: Floats) -> Floats:
        """Turn forces (3F, p) of the cameras' frames back into the object's, (F, 3, p)."""
        turned: Floats = np.matmul(
            self.sights.rotations.transpose(0, 2, 1), force.reshape(3, self.frames, -1).transpose(1, 0, 2)
        )
        return turned

    def misfit(self, factors: Factors) -> float:
        """Return e' H e for e = S + s - y."""
        return sum(misfit for _, _, _, misfit in self.residuals(factors))

    def best_C(self, B: Floats, s: Floats, weights: Floats) -> PointSystem:
        """Minimize over C at fixed (B, s): P independent systems of 3K unknowns.

        The block of point j is sum_f B_fi B_fl H_fj + delta_il a_i / 2, the right side
        sum_f B_fk (H y - H s)_fj.
        """
        rank = B.shape[1]
        upper, lower, _ = pairs(rank)
        coefficients = B[:, upper] * B[:, lower]
        if self.offsets:
            moving = (B[:, :, None] * s[:, None, :]).reshape(len(B), -1)
            coefficients = np.concatenate((coefficients, moving), axis=1)
        C, inverses, rhs_C = np.empty((rank, 3, self.points)), [], 0.0
        for chunk in self.chunks():
            columns = chunk.Hy.shape[2]
            sums = (coefficients.T @ chunk.H.reshape(len(B), -1)).reshape(-1, 6, columns)
            rhs = (B.T @ chunk.Hy.reshape(len(B), -1)).reshape(rank, 3, columns)
            if self.offsets:
                moved = sums[len(upper) :].reshape(rank, 3, 6, columns)
                for c in range(3):
                    rhs -= moved[:, c, PLANE[c]]
            right = rhs.reshape(3 * rank, columns)
            blocks = point_blocks(sums[: len(upper)], weights)
            inverse, solution = solved(blocks, right, self.working)
            inverses.append(inverse)
            C[:, :, chunk.part] = solution.reshape(rank, 3, columns)
            rhs_C += float(np.vdot(right, solution))
        return PointSystem(tuple(inverses), C, rhs_C)

    def eliminated_loss(self, B: Floats, s: Floats, weights: Floats, system: PointSystem) -> float:
        """Return the objective at (B, s) with C at its best, from sums alone.

        C' M C = C' rhs turns the objective into yHy + s' H s - 2 s' H y - rhs' C + a' |B_k|^2 / 2, which
        costs O(F + P). It loses the digits by which yHy = eta sum |m|^2 exceeds the result: good to about
        1e-11.
        """
        offsets = float(np.einsum("fa,abf,fb->", s, self.H_sum, s)) - 2 * float(np.vdot(s.T, self.Hy_sum))
        return self.yHy + offsets - system.rhs_C + 0.5 * float(weights @ np.einsum("fk,fk->k", B, B))

    def frame_targets(self, C: Floats) -> Floats:
        """Return the right side of the best (B, s) at fixed C, sum_j C_kj' H y and sum_j H y, (K+3, F)."""
        rank = len(C)
        right = np.zeros((rank + self.free, self.frames))
        for chunk in self.chunks():
            flat = np.ascontiguousarray(C[:, :, chunk.part]).reshape(rank, -1)
            right[:rank] += flat @ chunk.Hy.reshape(self.frames, -1).T
        if self.offsets:
            right[rank:] = self.Hy_sum
        return right

    def frame_blocks(self, C: Floats, weights: Floats) -> Floats:
        """Return the Hessian blocks of (B_f, s_f) at fixed C, (K+3, K+3, F); without offsets (K, K, F)."""
        rank = len(C)
        _, _, table = pairs(rank)
        count = rank * (rank + 1) // 2
        sums = np.zeros((self.frames, count + rank * self.free))
        for chunk in self.chunks():
            right = quadratic_in(C[:, :, chunk.part], offsets=self.offsets)
            sums += chunk.H.reshape(self.frames, -1) @ right.T
        size = rank + self.free
        blocks = np.empty((size, size, self.frames))
        blocks[:rank, :rank] = sums.T[table]
        if self.offsets:
            blocks[:rank, rank:] = sums.T[count:].reshape(rank, 3, -1)
            blocks[rank:, :rank] = blocks[:rank, rank:].transpose(1, 0, 2)
            blocks[rank:, rank:] = self.H_sum if self.pin is None else self.H_sum + self.pin
        diagonal = np.arange(rank)
        blocks[diagonal, diagonal] += 0.5 * weights[:, None]
        return blocks


def data_term(features: Features, rotations: Floats, eta: float, *, offsets: bool = True) -> DataTerm:
    """Return the data term of tracks' features, for R (F, 3, 3), or (1, 3, 3) for all rows.

    Its planes are stored where they take at most `STORED` bytes.
    """
    source = Source(features, plane_basis(rotations, eta))
    tracks, visible = features.tracks, features.visible
    summed = np.matmul(source.basis, features.sums[:, :, None])[:, :, 0].T
    pin = None
    if offsets and eta == 1:
        R = rotations
        pin = np.ascontiguousarray(np.einsum("fa,fb->abf", R[:, 2], R[:, 2])) * tracks.shape[2]
    return DataTerm(
        source=source,
        sights=Sights(tracks, visible, rotations, eta),
        planes=source.stored() if 48 * visible.size <= STORED else None,
        H_sum=np.ascontiguousarray(summed[PLANE]),
        Hy_sum=np.ascontiguousarray(summed[9:]),
        yHy=eta * float(features.sums[:, 3].sum()),
        offsets=offsets,
        pin=pin,
    )
