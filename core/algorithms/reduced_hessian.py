r"""Products with the reduced Hessian of the variable projection, A = D - W M^-1 W', chunk by chunk.

D holds one (K+3) x (K+3) block per frame, M one 3K x 3K block per point, and W couples them:

    (W' x)_jk = sum_f B_fk H_fj (x_B C_j + x_s)_f   + [sum_f x_B,fk (H e)_fj]
    (W z)_f   = (sum_j C_j' H_fj (B z_j)_f, sum_j H_fj (B z_j)_f)   + [(sum_j (H e)_fj z_j, 0)]

The terms in brackets are what the exact Hessian has beyond Gauss-Newton.  A point's part of the product needs
nothing of the other points: both directions are made while the planes of a chunk of points are at hand.

Up to `PRODUCT_RANK` each direction is one matrix product with the planes of H and no F x P temporary; above,
the three-step form (B C, times H, times B') has fewer flops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..planes import COLUMN, OFF_DIAGONAL, PLANE, ROW
from ..quadratic import forces
from ..small_blocks import multiply

if TYPE_CHECKING:
    from ..arrays import Floats
    from ..factors import Factors
    from ..planes import Reals
    from ..quadratic import DataTerm, PointSystem

PRODUCT_RANK = 8  # up to here one product with the planes of H is the cheaper form (measured)


class ReducedHessian:
    """Products with A + lambda I at one point; with He with the exact Hessian, else with Gauss-Newton's."""

    def __init__(
        self,
        data: DataTerm,
        factors: Factors,
        system: PointSystem,
        blocks: Floats,  # (K+3, K+3, F): D
        damping: float,
        He: tuple[Reals, ...] | None,
    ) -> None:
        self.data, self.blocks, self.damping, self.He = data, blocks, damping, He
        self.inverse = system.inverse
        self.B: Any = factors.B.astype(data.working, copy=False)
        self.C: Any = factors.C.astype(data.working, copy=False)

    def times(self, x: Floats) -> tuple[Floats, Any]:
        """Return (A + lambda I) x and M^-1 W' x, (K+3, F) and (3K, P), for x (K+3, F)."""
        data = self.data
        image = multiply(self.blocks, x)
        image += self.damping * x
        shapes = np.empty((3 * len(self.C), data.points), data.working)
        moving = x.astype(data.working, copy=False)
        for index, chunk in enumerate(data.chunks(data.working)):
            C = np.ascontiguousarray(self.C[:, :, chunk.part])
            He = self.He[index].reshape(data.frames, -1) if self.He is not None else None
            z = multiply(self.inverse[index], self._to_points(moving, chunk.H, C, He))
            shapes[:, chunk.part] = z
            image -= self._to_frames(z, chunk.H, C, He)
        return image, shapes

    def _to_points(self, x: Any, H: Reals, C: Any, He: Any) -> Any:
        """Return W' x at a chunk, (3K, p), for x (K+3, F)."""
        B = self.B
        rank, _, points = C.shape
        free = self.data.free
        if rank <= PRODUCT_RANK:
            coefficients = (B.T[:, None, :] * x[None]).reshape(-1, len(B))  # (K (K+3), F)
            sums = (coefficients @ H.reshape(len(B), -1)).reshape(rank, len(x), 6, points)
            out = np.einsum("klabp,lbp->kap", sums[:, :rank, PLANE], C)
            for c in range(free):
                out += sums[:, rank + c, PLANE[c]]
        else:
            out = np.zeros((rank, 3 * points), B.dtype)
            offsets = x[rank:].T if free else np.zeros((len(B), 3), B.dtype)
            for part, _, force in forces(H, x[:rank].T, C.reshape(rank, -1), offsets):
                out += B[part].T @ force.reshape(len(force), -1)
        out = out.reshape(rank, -1)
        if He is not None:
            out += x[:rank] @ He
        return out.reshape(3 * rank, points)

    def _to_frames(self, z: Any, H: Reals, C: Any, He: Any) -> Any:
        """Return a chunk's part of W z, (K+3, F), for z (3K, p)."""
        B = self.B
        rank, _, points = C.shape
        z = z.reshape(rank, 3, points)
        free = self.data.free
        out = np.empty((rank + free, len(B)), B.dtype)
        if rank <= PRODUCT_RANK:
            right = np.zeros(
                (rank, rank + free, 6, points), B.dtype
            )  # z's shape, then C's or the coordinate of s
            pair = z[:, ROW][:, None] * C[:, COLUMN][None]
            pair += np.where(OFF_DIAGONAL, z[:, COLUMN][:, None] * C[:, ROW][None], 0)
            right[:, :rank] = pair
            for c in range(free):
                right[:, rank + c, PLANE[c]] = z
            sums = (right.reshape(-1, 6 * points) @ H.reshape(len(B), -1).T).reshape(rank, -1, len(B))
            np.einsum("fk,kqf->qf", B, sums, out=out)
        else:
            flat = C.reshape(rank, -1)
            for part, _, force in forces(H, B, z.reshape(rank, -1), np.zeros((len(B), 3), B.dtype)):
                out[:rank, part] = flat @ force.reshape(len(force), -1).T
                if free:
                    out[rank:, part] = force.sum(axis=2).T
        if He is not None:
            out[:rank] += z.reshape(rank, -1) @ He.T
        return out
