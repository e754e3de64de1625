r"""The data term as one 3x3 quadratic form per observation, and the closed forms that rest on it.

    sum_fj (S_fj + s_f - y_fj)' H_fj (S_fj + s_f - y_fj),    S_f = sum_k B_fk C_k

`nonrigid` derives it, `observation_forms` defines the planes of H, y and H y.  Every sum that a solver needs,
over frames with coefficients quadratic in B, or over points with coefficients quadratic in C, is one matrix
product with the planes of H as an F x 6p matrix, block of columns by block of columns.

`StoredDataTerm` stores the planes of all columns as one block.  `StreamedDataTerm` keeps the tracks only, and
forms the planes of one block at a time, which then stays in the second-level cache: that saves the memory and
its traffic.  Which of the two `data_term` returns depends on the size of the planes alone.  The streamed one
keeps M^-1 and H e, of which curvature is made, in float32; losses, gradients and C are float64 in both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..foundation.batched_linalg import solve_batched
from ..foundation.exceptions import InputError
from ..foundation.representation import OneLine
from ..foundation.types import Floats
from .factors import Factors
from .observation_forms import (
    PLANE,
    CameraFrameResiduals,
    CameraFrames,
    ObservationForms,
    Reals,
    TrackFeatures,
    pairs,
    plane_basis,
    point_blocks,
    shape_products,
    times_planes,
)

STORED_BYTES = 32_000_000  # of H, up to which its planes are stored
LARGEST_BYTES = 2_000_000_000  # of H, up to which they are assembled for a method that needs all of them
# Observations of a block of columns (1.2 MB of H in float64), and the fewest columns that it has.
BLOCK, NARROWEST = 25_600, 16


@dataclass(frozen=True, eq=False)
class PointSystem(OneLine):
    """The normal equations of the basis shapes at fixed (B, s), and their solution."""

    starts: tuple[int, ...]  # the first column of each block
    inverses: tuple[Reals, ...]  # M^-1 of each block of columns, (3K, 3K, p)
    C: Floats  # (K, 3, P)
    rhs_C: float  # the right side times C

    def inverse(self, columns: slice) -> Reals:
        """Return M^-1 of columns that lie in one block, (3K, 3K, p)."""
        index = bisect_right(self.starts, columns.start) - 1
        first = self.starts[index]
        return self.inverses[index][:, :, columns.start - first : columns.stop - first]


@dataclass(frozen=True, eq=False)
class DataTerm(ABC, OneLine):
    """The data term, and the products with H that the solvers share. Immutable.

    F is the number of rows and P of columns; in the low-rank problem rows are points and columns are frames.
    """

    features: TrackFeatures
    cameras: CameraFrames
    basis: Floats  # (F, 12, 4) or (1, 12, 4), see `plane_basis`
    H_sum: Floats  # (3, 3, F): H summed over points
    Hy_sum: Floats  # (3, F): H y summed over points
    yHy: float  # sum of y' H y: the data term of S + s = 0
    offsets: bool  # whether the offsets s are unknowns; otherwise they are 0
    pin: Floats | None = None  # (3, 3, F): r3 r3' P at eta = 1, where the depth of t is free and pinned to 0

    streamed: ClassVar[bool]  # whether the planes are formed block by block
    curvature_dtype: ClassVar[type[np.floating[Any]]]  # of M^-1 and H e

    @property
    def frames(self) -> int:
        """F, the number of rows."""
        return int(self.features.visible.shape[0])

    @property
    def points(self) -> int:
        """P, the number of columns."""
        return int(self.features.visible.shape[1])

    @property
    def weights(self) -> Floats | None:
        """(F, P) weights of the observations, factors of H; None where all are 1."""
        return self.cameras.weights

    @property
    def offset_size(self) -> int:
        """The number of unknowns of a frame besides its K coefficients: 3 for the offset, or 0."""
        return 3 if self.offsets else 0

    @property
    def column_blocks(self) -> list[slice]:
        """The columns in blocks that stay in the cache."""
        width = max(NARROWEST, BLOCK // self.frames)
        return [slice(first, min(first + width, self.points)) for first in range(0, self.points, width)]

    @abstractmethod
    def forms(self) -> Iterable[ObservationForms]:
        """Return the planes of all columns, block by block."""

    def all_forms(self) -> ObservationForms:
        """Return the planes of all columns as one block."""
        return ObservationForms(slice(0, self.points), self.features.all_columns, self.basis, self.weights)

    def camera_residuals(self) -> Iterable[CameraFrameResiduals]:
        """Return the residual terms of all columns in float64, block by block."""
        return self.cameras.residuals(self.column_blocks, np.float64)

    def curvature_residuals(self) -> Iterable[CameraFrameResiduals]:
        """Return the residual terms of all columns in `curvature_dtype`, block by block."""
        return self.cameras.residuals(self.column_blocks, self.curvature_dtype)

    @property
    @abstractmethod
    def H(self) -> Floats:
        """The planes of H, (F, 6P), for methods that need all of them.

        Raises InputError where they take more than 2 GB.
        """

    @property
    @abstractmethod
    def y(self) -> Floats:
        """The targets R' Y* of all observations, (F, 3, P)."""

    def times_H(self, vectors: Floats) -> Floats:
        """Return H_fj e_fj for e (F, 3, P)."""
        out = np.empty_like(vectors)
        for block in self.forms():
            times_planes(block.H, vectors[:, :, block.columns], out[:, :, block.columns])
        return out

    def residuals(self, factors: Factors) -> Iterator[tuple[slice, Floats, Floats, float]]:
        """Yield (columns, G e (3F, p), (C; 1) (3K+1, p), e' H e) block by block, for e = S + s - y.

        G e = R H e is in the frames of the cameras, axes first; without offsets there is no 1.
        """
        T = self.cameras.rotate(factors.B, factors.s if self.offsets else None)
        for block in self.camera_residuals():
            C = self.shape_columns(factors.C, block.columns)
            Ge, misfit = block.weigh((T @ C).reshape(3, self.frames, -1))
            yield block.columns, Ge.reshape(3 * self.frames, -1), C, misfit

    def shape_columns(self, C: Floats, columns: slice) -> Floats:
        """Return columns of C (K, 3, P) as (3K, p), with a row of ones where offsets are free."""
        flat = C[:, :, columns].reshape(3 * len(C), -1)
        ones = np.ones((1 if self.offsets else 0, flat.shape[1]), dtype=C.dtype)
        return np.concatenate((flat, ones))

    def half_gradient(self, factors: Factors) -> Floats:
        """Return half of the gradient of the data term in (B, s), (K+3, F)."""
        sums = np.zeros((3 * self.frames, 3 * factors.rank + self.offsets))
        for _, Ge, C, _ in self.residuals(factors):
            sums += Ge @ C.T
        return self.cameras.rotate_sums_back(sums)

    def weighted_residuals(self, factors: Factors) -> tuple[Floats, float]:
        """Return H e, (F, 3, P), and e' H e, for e = S + s - y."""
        He = np.empty((self.frames, 3, self.points))
        total = 0.0
        for columns, Ge, _, misfit in self.residuals(factors):
            He[:, :, columns] = self.cameras.rotate_back(Ge)
            total += misfit
        return He, total

    def squares(self, factors: Factors) -> Floats:
        """Return e' H e of every observation, (F, P), for e = S + s - y; 0 where hidden."""
        T = self.cameras.rotate(factors.B, factors.s if self.offsets else None)
        values = np.empty((self.frames, self.points))
        for block in self.camera_residuals():
            C = self.shape_columns(factors.C, block.columns)
            values[:, block.columns] = block.squares((T @ C).reshape(3, self.frames, -1))
        return np.maximum(values, 0.0)  # of an exact fit rounding leaves either sign

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
        C, inverses, starts, rhs_C = np.empty((rank, 3, self.points)), [], [], 0.0
        for block in self.forms():
            columns = block.Hy.shape[2]
            sums = (coefficients.T @ block.H.reshape(len(B), -1)).reshape(-1, 6, columns)
            rhs = (B.T @ block.Hy.reshape(len(B), -1)).reshape(rank, 3, columns)
            if self.offsets:
                moved = sums[len(upper) :].reshape(rank, 3, 6, columns)
                for c in range(3):
                    rhs -= moved[:, c, PLANE[c]]
            right = rhs.reshape(3 * rank, columns)
            blocks = point_blocks(sums[: len(upper)], weights)
            inverse, solution = solve_batched(blocks, right, self.curvature_dtype)
            inverses.append(inverse)
            starts.append(block.columns.start)
            C[:, :, block.columns] = solution.reshape(rank, 3, columns)
            rhs_C += float(np.vdot(right, solution))
        return PointSystem(tuple(starts), tuple(inverses), C, rhs_C)

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
        right = np.zeros((rank + self.offset_size, self.frames))
        for block in self.forms():
            flat = np.ascontiguousarray(C[:, :, block.columns]).reshape(rank, -1)
            right[:rank] += flat @ block.Hy.reshape(self.frames, -1).T
        if self.offsets:
            right[rank:] = self.Hy_sum
        return right

    def frame_blocks(self, C: Floats, weights: Floats) -> Floats:
        """Return the Hessian blocks of (B_f, s_f) at fixed C, (K+3, K+3, F); without offsets (K, K, F)."""
        rank = len(C)
        _, _, table = pairs(rank)
        count = rank * (rank + 1) // 2
        sums = np.zeros((self.frames, count + rank * self.offset_size))
        for block in self.forms():
            right = shape_products(C[:, :, block.columns], offsets=self.offsets)
            sums += block.H.reshape(self.frames, -1) @ right.T
        size = rank + self.offset_size
        blocks = np.empty((size, size, self.frames))
        blocks[:rank, :rank] = sums.T[table]
        if self.offsets:
            blocks[:rank, rank:] = sums.T[count:].reshape(rank, 3, -1)
            blocks[rank:, :rank] = blocks[:rank, rank:].transpose(1, 0, 2)
            blocks[rank:, rank:] = self.H_sum if self.pin is None else self.H_sum + self.pin
        diagonal = np.arange(rank)
        blocks[diagonal, diagonal] += 0.5 * weights[:, None]
        return blocks


class StoredDataTerm(DataTerm):
    """A data term whose planes are formed once and stored as one block."""

    streamed = False
    curvature_dtype = np.float64

    @cached_property
    def _forms(self) -> ObservationForms:
        return super().all_forms()

    @cached_property
    def _residuals(self) -> tuple[CameraFrameResiduals, ...]:
        return tuple(super().camera_residuals())

    def forms(self) -> tuple[ObservationForms]:
        """Return the stored planes."""
        return (self._forms,)

    def all_forms(self) -> ObservationForms:
        """Return the stored planes."""
        return self._forms

    def camera_residuals(self) -> tuple[CameraFrameResiduals, ...]:
        """Return the stored residual terms, block by block."""
        return self._residuals

    def curvature_residuals(self) -> tuple[CameraFrameResiduals, ...]:
        """Return the stored residual terms, block by block."""
        return self._residuals

    @property
    def H(self) -> Floats:
        """The planes of H, (F, 6P)."""
        return self._forms.H.reshape(self.frames, -1)

    @property
    def y(self) -> Floats:
        """The targets R' Y* of all observations, (F, 3, P)."""
        return self._forms.y


class StreamedDataTerm(DataTerm):
    """A data term whose planes are formed anew for every product, block of columns by block of columns."""

    streamed = True
    curvature_dtype = np.float32

    def forms(self) -> Iterator[ObservationForms]:
        """Yield the planes block by block."""
        for columns in self.column_blocks:
            weights = None if self.weights is None else self.weights[:, columns]
            yield ObservationForms(columns, self.features.at(columns), self.basis, weights)

    @cached_property
    def H(self) -> Floats:
        """The planes of H, (F, 6P), for methods that need all of them."""
        size = 48 * self.frames * self.points
        if size > LARGEST_BYTES:
            raise InputError(
                f"this method needs {size / 1e9:.1f} GB for the error of {self.frames} x {self.points} "
                f"observations; accepted are {LARGEST_BYTES / 1e9:g} GB. The method 'bilinear' needs far less"
            )
        H = np.empty((self.frames, 6, self.points))
        for block in self.forms():
            H[:, :, block.columns] = block.H
        return H.reshape(self.frames, -1)

    @cached_property
    def y(self) -> Floats:
        """The targets R' Y* of all observations, (F, 3, P)."""
        y = np.empty((self.frames, 3, self.points))
        for block in self.forms():
            y[:, :, block.columns] = block.y
        return y


def data_term(
    features: TrackFeatures,
    rotations: Floats,
    eta: float,
    *,
    offsets: bool = True,
    weights: Floats | None = None,
) -> DataTerm:
    """Return the data term of tracks' features, for R (F, 3, 3), or (1, 3, 3) for all rows.

    Its planes are stored where they take at most `STORED_BYTES`; `weights` (F, P) are of observations.
    """
    basis = plane_basis(rotations, eta)
    tracks, visible = features.tracks, features.visible
    of_features = features.sums if weights is None else features.weighted_sums(weights)
    sums = np.matmul(basis, of_features[:, :, None])[:, :, 0].T
    pin = None
    if offsets and eta == 1:
        R = rotations
        pin = np.ascontiguousarray(np.einsum("fa,fb->abf", R[:, 2], R[:, 2])) * tracks.shape[2]
    kind = StoredDataTerm if 48 * visible.size <= STORED_BYTES else StreamedDataTerm
    return kind(
        features=features,
        cameras=CameraFrames(tracks, visible, rotations, eta, weights),
        basis=basis,
        H_sum=np.ascontiguousarray(sums[PLANE]),
        Hy_sum=np.ascontiguousarray(sums[9:]),
        yHy=eta * float(of_features[:, 3].sum()),
        offsets=offsets,
        pin=pin,
    )
