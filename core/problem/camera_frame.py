r"""The data term in the frames of the cameras, for products that need no planes of H.

With v = R S + t the error of an observation is the four residuals of `nonrigid`, and half of its gradient

    G v = (v_12 - c m v_3,  c |m|^2 v_3 - c m' v_12),        c = 1 - eta,

needs the tracks alone: 9 operations on 3 numbers per observation, where H v needs 15 on 6.  The rotations go
into the coefficients: v = T C for all frames, points and axes is one matrix product with T = (R_f B_fk), a
(3F x 3K) matrix, and R' is applied to what has been summed over the points.  Axes come first, then frames, so
that each axis of a chunk of points is one contiguous run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..foundation.types import Bools, Floats
    from .observation_forms import Reals


@dataclass(frozen=True, eq=False)
class Sight:
    """Some columns, as every camera sees them."""

    part: slice
    m: Reals  # (2, rows, p) calibrated; 0 where hidden
    seen: Reals | None  # (rows, p) 0 or 1; None where all is seen
    eta: float

    @cached_property
    def scaled(self) -> Reals:
        """(1 - eta) m, (2, rows, p)."""
        scaled: Reals = self.m * self.m.dtype.type(1.0 - self.eta)
        return scaled

    @cached_property
    def squared(self) -> Reals:
        """(1 - eta) |m|^2, (rows, p)."""
        squared: Reals = np.einsum("arp,arp->rp", self.m, self.scaled)
        return squared

    def pulled(self, v: Reals) -> Reals:
        """Replace v by G v, both (3, rows, p)."""
        if self.seen is not None:
            v[:2] *= self.seen
        inner = self.scaled * v[:2]
        inner[0] += inner[1]
        v[:2] -= self.scaled * v[2]
        v[2] *= self.squared
        v[2] -= inner[0]
        return v

    def misfit(self, e: Reals) -> tuple[Reals, float]:
        """Return G e and e' G e for e = v - Y*, given v (3, rows, p), which is overwritten."""
        e[:2] -= self.m
        if self.eta < 1:
            e[2] -= 1.0 if self.seen is None else self.seen
        force = self.pulled(e.copy())
        return force, float(np.vdot(e, force))


@dataclass(frozen=True, eq=False)
class Sights:
    """What the cameras see, and how they are turned."""

    tracks: Floats  # (rows, 2, columns); 0 where hidden
    visible: Bools  # (rows, columns)
    rotations: Floats  # (rows, 3, 3), or (1, 3, 3) for all rows
    eta: float

    @cached_property
    def complete(self) -> bool:
        """Whether nothing is hidden."""
        return bool(self.visible.all())

    def chunks(self, dtype: type[np.floating[Any]], width: int) -> Iterator[Sight]:
        """Yield the columns, `width` at a time."""
        for first in range(0, self.visible.shape[1], width):
            part = slice(first, min(first + width, self.visible.shape[1]))
            m = self.tracks[:, :, part].transpose(1, 0, 2).astype(dtype, order="C")
            seen = None if self.complete else self.visible[:, part].astype(dtype)
            yield Sight(part, m, seen, self.eta)

    def turned(self, B: Floats, s: Floats | None = None) -> Floats:
        """Return T with T (C; 1) = R (B C + s), (3 rows, 3K + 1); without s (3 rows, 3K)."""
        R = self.rotations.transpose(1, 0, 2)
        T: Floats = (R[:, :, None] * B[:, :, None]).reshape(3 * len(B), -1)
        if s is None:
            return T
        t = np.einsum("rab,rb->ar", np.broadcast_to(self.rotations, (len(B), 3, 3)), s)
        return np.concatenate((T, t.reshape(-1, 1)), axis=1)

    def turned_back(self, sums: Floats) -> Floats:
        """Return (K + 3, rows) from sums (3 rows, 3K + 1) of forces times (C; 1); without the 1 (K, rows)."""
        rank = sums.shape[1] // 3
        rows = len(sums) // 3
        R = np.broadcast_to(self.rotations, (rows, 3, 3))
        of_B: Floats = np.einsum("rab,arkb->kr", R, sums[:, : 3 * rank].reshape(3, rows, rank, 3))
        if sums.shape[1] == 3 * rank:
            return of_B
        return np.concatenate((of_B, np.einsum("rab,ar->br", R, sums[:, -1].reshape(3, rows))))
