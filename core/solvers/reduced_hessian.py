r"""Products with the reduced Hessian of the variable projection, A = D - W M^-1 W', chunk by chunk.

D holds one (K+3) x (K+3) block per frame, M one 3K x 3K block per point, and W couples them:

    (W' x)_jk = sum_f B_fk H_fj (x_B C_j + x_s)_f   + [sum_f x_B,fk (H e)_fj]
    (W z)_f   = (sum_j C_j' H_fj (B z_j)_f, sum_j H_fj (B z_j)_f)   + [(sum_j (H e)_fj z_j, 0)]

The terms in brackets are what the exact Hessian has beyond Gauss-Newton.  A point's part of the product needs
nothing of the other points: both directions are made while the planes of a chunk of points are at hand.

For stored planes and K <= 4 each direction is one matrix product with the planes of H and no F x P temporary.
Otherwise it has three steps in camera frames (`camera_frame`): times (R B), times G, times (R B)'.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from ..foundation.batched_linalg import multiply
from ..problem.observation_forms import COLUMN, OFF_DIAGONAL, PLANE, ROW

if TYPE_CHECKING:
    from ..foundation.types import Floats
    from ..problem.data_term import DataTerm, PointSystem
    from ..problem.factors import Factors
    from ..problem.observation_forms import Reals

PRODUCT_RANK = 4  # up to here one product with the planes of H is the cheaper form (measured)


def reduced_hessian(
    data: DataTerm,
    factors: Factors,
    system: PointSystem,
    blocks: Floats,
    damping: float,
    He: tuple[Reals, ...] | None,
) -> ReducedHessian:
    """Return what multiplies with A + lambda I at a point, in the cheaper form.

    Parameters
    ----------
    blocks
        (K+3, K+3, F): D.
    He
        R H e of each chunk, (3F, p), for the exact Hessian; None for that of Gauss-Newton.
    """
    planes = factors.rank <= PRODUCT_RANK and not data.streamed
    return (ByPlanes if planes else BySights)(data, factors, system, blocks, damping, He)


class ReducedHessian(ABC):
    """Products with A + lambda I at one point."""

    def __init__(
        self,
        data: DataTerm,
        factors: Factors,
        system: PointSystem,
        blocks: Floats,
        damping: float,
        He: tuple[Reals, ...] | None,
    ) -> None:
        self.data, self.blocks, self.damping = data, blocks, damping
        self.inverses, self.factors = system.inverses, factors
        self.prepare(He)

    @abstractmethod
    def prepare(self, He: tuple[Reals, ...] | None) -> None:
        """Make what all products share."""

    @abstractmethod
    def eliminated(self, x: Floats) -> tuple[Floats, Reals]:
        """Return W M^-1 W' x and M^-1 W' x, (K+3, F) and (3K, P), for x (K+3, F)."""

    def times(self, x: Floats) -> tuple[Floats, Reals]:
        """Return (A + lambda I) x and M^-1 W' x, (K+3, F) and (3K, P), for x (K+3, F)."""
        image = multiply(self.blocks, x)
        image += self.damping * x
        coupled, z = self.eliminated(x)
        image -= coupled
        return image, z


class BySights(ReducedHessian):
    """The three-step form, chunk by chunk, in the data term's working precision."""

    def prepare(self, He: tuple[Reals, ...] | None) -> None:
        """Turn B by the rotations."""
        data, dtype = self.data, self.data.working
        self.He = He
        self.T: Reals = data.sights.turned(self.factors.B).astype(dtype, copy=False)
        self.C: Reals = self.factors.C.astype(dtype, copy=False)

    def eliminated(self, x: Floats) -> tuple[Floats, Reals]:
        """Return W M^-1 W' x and M^-1 W' x."""
        data, dtype = self.data, self.data.working
        rank, frames = len(self.C), data.frames
        offsets = x[rank:].T if data.offsets else None
        T_x: Reals = data.sights.turned(x[:rank].T, offsets).astype(dtype, copy=False)
        T_xB = np.ascontiguousarray(T_x[:, : 3 * rank].T)
        shapes = np.empty((3 * rank, data.points), dtype)
        sums = np.zeros((3 * frames, 3 * rank + data.offsets))
        for index, sight in enumerate(data.sighted(dtype)):
            C = data.shapes_at(self.C, sight.part)
            pulled = sight.pulled((T_x @ C).reshape(3, frames, -1))
            right = self.T.T @ pulled.reshape(3 * frames, -1)
            if self.He is not None:
                right += T_xB @ self.He[index]
            # Stored planes are one chunk, sights are not.
            inverse = self.inverses[index] if data.streamed else self.inverses[0][:, :, sight.part]
            z = multiply(inverse, right)
            pulled = sight.pulled((self.T @ z).reshape(3, frames, -1))
            sums += pulled.reshape(3 * frames, -1) @ C.T
            if self.He is not None:
                sums[:, : 3 * rank] += self.He[index] @ z.T
            shapes[:, sight.part] = z
        return data.sights.turned_back(sums), shapes


class ByPlanes(ReducedHessian):
    """One matrix product with all planes of H each way."""

    def prepare(self, He: tuple[Reals, ...] | None) -> None:
        """Turn the forces into the object's frame."""
        self.H, self.He = self.data.H, None
        if He is not None:
            whole = [self.data.in_object(force) for force in He]
            self.He = np.concatenate(whole, axis=2).reshape(self.data.frames, -1)

    def eliminated(self, x: Floats) -> tuple[Floats, Reals]:
        """Return W M^-1 W' x and M^-1 W' x."""
        z = multiply(self.inverses[0], self._to_points(x))
        return self._to_frames(z), z

    def _to_points(self, x: Floats) -> Floats:
        """Return W' x, (3K, P)."""
        B, C = self.factors.B, self.factors.C
        rank, _, points = C.shape
        coefficients = (B.T[:, None, :] * x[None]).reshape(-1, len(B))  # (K (K+3), F)
        sums = (coefficients @ self.H).reshape(rank, len(x), 6, points)
        out: Floats = np.einsum("klabp,lbp->kap", sums[:, :rank, PLANE], C)
        for c in range(self.data.free):
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
        size = rank + self.data.free
        right = np.zeros((rank, size, 6, points))  # z's shape, then C's shape or the coordinate of s
        pair = z[:, ROW][:, None] * C[:, COLUMN][None]
        pair += np.where(OFF_DIAGONAL, z[:, COLUMN][:, None] * C[:, ROW][None], 0.0)
        right[:, :rank] = pair
        for c in range(self.data.free):
            right[:, rank + c, PLANE[c]] = z
        sums = (right.reshape(-1, 6 * points) @ self.H.T).reshape(rank, size, -1)
        out: Floats = np.einsum("fk,kqf->qf", B, sums)
        if self.He is not None:
            out[:rank] += z.reshape(rank, -1) @ self.He.T
        return out
