"""Two logarithmic scales on one picture: where values stand on them, from 0 at the bottom to 1 at the top."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nrsfm_gui.widgets.plots.plots import log_ticks

if TYPE_CHECKING:
    from core.foundation import Floats

DEEPEST = 6.0  # decades below the largest value at which smaller ones stand: zero has no logarithm
ZERO_ROOM = 0.12  # share of a scale with a zero that lies below its lowest number
ZERO = 0.03  # where in it the zero stands
CLEAR = 0.14  # above the zero begin the ticks, so that their texts do not touch


@dataclass(frozen=True)
class Decades:
    """A logarithmic scale from one power of ten to another."""

    low: float  # exponents
    high: float
    zero: bool = False  # whether there is room for 0 at the bottom

    def holds(self, other: Decades) -> bool:
        """Whether it reaches as far as another scale, and not by more than two decades too far."""
        inside = self.low <= other.low and other.high <= self.high
        return inside and (self.high - self.low) <= (other.high - other.low) + 2

    def shares(self, values: Floats) -> Floats:
        """Return where values stand, 0 to 1; what is outside stands at an end."""
        bottom = ZERO_ROOM * self.zero
        values = np.nan_to_num(values, nan=0.0, posinf=10.0**self.high)
        exponents = np.log10(np.maximum(values, 10.0 ** (self.low - 1)))
        along = np.clip((exponents - self.low) / (self.high - self.low), 0.0, 1.0)
        places = bottom + (1 - bottom) * along
        return np.where(values > 0, places, ZERO) if self.zero else np.asarray(places)

    def value(self, share: float) -> float:
        """Return what stands at a place, to four digits; nearer to the zero than to the lowest it is 0."""
        bottom = ZERO_ROOM * self.zero
        if self.zero and share < (ZERO + ZERO_ROOM) / 2:
            return 0.0
        along = min(max((share - bottom) / (1 - bottom), 0.0), 1.0)
        return float(f"{10.0 ** (self.low + along * (self.high - self.low)):.4g}")

    def ticks(self) -> list[tuple[float, str]]:
        """Return places and texts of round numbers."""
        bottom = ZERO_ROOM * self.zero
        found = [
            (bottom + (1 - bottom) * (place - self.low) / (self.high - self.low), text)
            for place, text in log_ticks(self.low, self.high)
            if float(text) == 10.0 ** round(place)
        ]
        return [(ZERO, "0"), *(tick for tick in found if tick[0] > CLEAR)] if self.zero else found


def decades_of(values: Floats, *, zero: bool, margin: float, least: float) -> Decades:
    """Return a scale for values with some decades of room around them, in half decades.

    Parameters
    ----------
    values
        of which those that are not positive, or not finite, do not count.
    zero
        whether there is room for 0.
    margin
        decades of room below the lowest and above the highest value.
    least
        decades that it spans at least.
    """
    positive = values[np.isfinite(values) & (values > 0)]
    if not positive.size:
        return Decades(-3.0 - margin, -3.0 - margin + max(least, 1.0), zero)
    top = math.log10(positive.max())
    bottom = max(math.log10(positive.min()), top - DEEPEST)
    low, high = math.floor(2 * (bottom - margin)) / 2, math.ceil(2 * (top + margin)) / 2
    missing = max(least - (high - low), 0.0)
    return Decades(low - math.ceil(missing) / 2, high + math.ceil(missing) / 2, zero)
