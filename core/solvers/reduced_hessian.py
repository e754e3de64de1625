r"""Products with the reduced Hessian of the variable projection, A = D - W M^-1 W', block by block.

D holds one (K+3) x (K+3) block per frame, M one 3K x 3K block per point, and W couples them:

    (W' x)_jk = sum_f B_fk H_fj (x_B C_j + x_s)_f   + [sum_f x_B,fk (H e)_fj]
    (W z)_f   = (sum_j C_j' H_fj (B z_j)_f, sum_j H_fj (B z_j)_f)   + [(sum_j (H e)_fj z_j, 0)]

The terms in brackets are those of the exact Hessian that Gauss-Newton omits.  A point's part of the product
needs nothing of the other points: both directions are made while the planes of a block of points are formed.

For stored planes and K <= 4 each direction is one matrix product with the planes of H and no F x P temporary.
Otherwise it has three steps in camera frames (`observation_forms`): times (R B), times G, times (R B)'.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import InitVar, dataclass

import numpy as np

from ..foundation.batched_linalg import matmul_batched
from ..foundation.types import Floats
from ..problem.data_term import DataTerm, PointSystem
from ..problem.factors import Factors
from ..problem.observation_forms import COLUMN, OFF_DIAGONAL, PLANE, ROW, Reals

PRODUCT_RANK = 4  # up to here one product with the planes of H is the cheaper form (measured)


def reduced_hessian(
    data: DataTerm,
    factors: Factors,
    system: PointSystem,
    blocks: Floats,
    damping: float,
    He: tuple[Reals, ...] | None,
) -> ReducedHessian:
    """Return the operator A + lambda I at a point, in the cheaper form, with D as `blocks` (K+3, K+3, F).

    `He` is R H e of each block (3F, p) for the exact Hessian, None for that of Gauss-Newton.
    """
    by_planes = factors.rank <= PRODUCT_RANK and not data.streamed
    kind = PlaneHessian if by_planes else CameraFrameHessian
    return kind(data, factors, system, blocks, damping, He)


@dataclass(eq=False, repr=False)
class ReducedHessian(ABC):
    """Products with A + lambda I at one point."""

    data: DataTerm
    factors: Factors
    system: PointSystem
    blocks: Floats
    damping: float
    residuals: InitVar[tuple[Reals, ...] | None]  # He of `reduced_hessian`

    @abstractmethod
    def __post_init__(self, residuals: tuple[Reals, ...] | None) -> None:
        """Compute what all products share."""

    @abstractmethod
    def _couple(self, x: Floats) -> tuple[Floats, Reals]:
        """Return W M^-1 W' x and M^-1 W' x, (K+3, F) and (3K, P), for x (K+3, F)."""

    def times(self, x: Floats) -> tuple[Floats, Reals]:
        """Return (A + lambda I) x and M^-1 W' x, (K+3, F) and (3K, P), for x (K+3, F)."""
        image = matmul_batched(self.blocks, x)
        image += self.damping * x
        coupled, z = self._couple(x)
        image -= coupled
        return image, z


class CameraFrameHessian(ReducedHessian):
    """The three-step form, block by block, in the data term's `curvature_dtype`."""

    def __post_init__(self, residuals: tuple[Reals, ...] | None) -> None:
        """Rotate B into the frames of the cameras."""
        data, dtype = self.data, self.data.curvature_dtype
        self.He = residuals
        self.T: Reals = data.cameras.rotate(self.factors.B).astype(dtype, copy=False)
        self.C: Reals = self.factors.C.astype(dtype, copy=False)

    def _couple(self, x: Floats) -> tuple[Floats, Reals]:
        """Return W M^-1 W' x and M^-1 W' x."""
        data, dtype = self.data, self.data.curvature_dtype
        rank, frames = len(self.C), data.frames
        offsets = x[rank:].T if data.offsets else None
        T_x: Reals = data.cameras.rotate(x[:rank].T, offsets).astype(dtype, copy=False)
        T_xB = np.ascontiguousarray(T_x[:, : 3 * rank].T)
        shapes = np.empty((3 * rank, data.points), dtype)
        sums = np.zeros((3 * frames, 3 * rank + data.offsets))
        for index, block in enumerate(data.curvature_residuals()):
            C = data.shape_columns(self.C, block.columns)
            Gv = block.apply_G((T_x @ C).reshape(3, frames, -1))
            right = self.T.T @ Gv.reshape(3 * frames, -1)
            if self.He is not None:
                right += T_xB @ self.He[index]
            z = matmul_batched(self.system.inverse(block.columns), right)
            Gv = block.apply_G((self.T @ z).reshape(3, frames, -1))
            sums += Gv.reshape(3 * frames, -1) @ C.T
            if self.He is not None:
                sums[:, : 3 * rank] += self.He[index] @ z.T
            shapes[:, block.columns] = z
        return data.cameras.rotate_sums_back(sums), shapes


class PlaneHessian(ReducedHessian):
    """One matrix product with all planes of H each way."""

    def __post_init__(self, residuals: tuple[Reals, ...] | None) -> None:
        """Rotate H e into the frame of the object."""
        self.H, self.He = self.data.H, None
        if residuals is not None:
            blocks = [self.data.cameras.rotate_back(part) for part in residuals]
            self.He = np.concatenate(blocks, axis=2).reshape(self.data.frames, -1)

    def _couple(self, x: Floats) -> tuple[Floats, Reals]:
        """Return W M^-1 W' x and M^-1 W' x."""
        z = matmul_batched(self.system.inverses[0], self._to_points(x))
        return self._to_frames(z), z

    def _to_points(self, x: Floats) -> Floats:
        """Return W' x, (3K, P)."""
        B, C = self.factors.B, self.factors.C
        rank, _, points = C.shape
        coefficients = (B.T[:, None, :] * x[None]).reshape(-1, len(B))  # (K (K+3), F)
        sums = (coefficients @ self.H).reshape(rank, len(x), 6, points)
        out: Floats = np.einsum("klabp,lbp->kap", sums[:, :rank, PLANE], C)
        for c in range(self.data.offset_size):
            out += sums[:, rank + c, PLANE[c]]
        out = out.reshape(rank, -1)
        if self.He is not None:
            out += x[:rank] @ self.He
        return out.reshape(3 * rank, points)

    def _to_frames(self, z: Floats) -> Floats:
        """Return W z, (K+3, F), for z (3K, P)."""
        B, C = self.factors.B, self.factors.C
        rank, _, points = C.shape
        z = z.reshape(rank, 3, points)
        size = rank + self.data.offset_size
        right = np.zeros((rank, size, 6, points))  # z's shape, then C's shape or the coordinate of s
        pair = z[:, ROW][:, None] * C[:, COLUMN][None]
        pair += np.where(OFF_DIAGONAL, z[:, COLUMN][:, None] * C[:, ROW][None], 0.0)
        right[:, :rank] = pair
        for c in range(self.data.offset_size):
            right[:, rank + c, PLANE[c]] = z
        sums = (right.reshape(-1, 6 * points) @ self.H.T).reshape(rank, size, -1)
        out: Floats = np.einsum("fk,kqf->qf", B, sums)
        if self.He is not None:
            out[:rank] += z.reshape(rank, -1) @ self.He.T
        return out
