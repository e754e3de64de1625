r"""The residuals of the data term in the frames of the cameras, for products that need no planes of H.

With v = R S + t the error of an observation is the four residuals of `nonrigid`, and half of its gradient

    G v = (v_12 - c m v_3,  c |m|^2 v_3 - c m' v_12),        c = 1 - eta,

needs the tracks alone: 9 operations on 3 numbers per observation, where H v needs 15 on 6.  The rotations go
into the coefficients: v = T C for all frames, points and axes is one matrix product with T = (R_f B_fk), a
(3F x 3K) matrix, and R' is applied to what has been summed over the points.  Axes come first, then frames, so
that each axis of a block of columns is one contiguous run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..foundation.types import Bools, Floats
    from .observation_forms import Reals


@dataclass(frozen=True, eq=False)
class CameraFrameResiduals:
    """The residual terms of a block of columns in the frames of the cameras."""

    columns: slice
    m: Reals  # (2, rows, p) calibrated; 0 where hidden
    seen: Reals | None  # (rows, p) 0 or 1; None where all is seen
    eta: float

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
        return v

    def weigh(self, e: Reals) -> tuple[Reals, float]:
        """Return G e and e' G e for e = v - Y*, given v (3, rows, p), which is overwritten."""
        e[:2] -= self.m
        if self.eta < 1:
            e[2] -= 1.0 if self.seen is None else self.seen
        Ge = self.apply_G(e.copy())
        return Ge, float(np.vdot(e, Ge))


@dataclass(frozen=True, eq=False)
class CameraFrames:
    """The tracks in the cameras' frames, and the rotations to and from the object's frame."""

    tracks: Floats  # (rows, 2, columns); 0 where hidden
    visible: Bools  # (rows, columns)
    rotations: Floats  # (rows, 3, 3), or (1, 3, 3) for all rows
    eta: float

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
            yield CameraFrameResiduals(columns, m, seen, self.eta)

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
            self.rotations.transpose(0, 2, 1),
            vectors.reshape(3, len(self.tracks), -1).transpose(1, 0, 2),
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
