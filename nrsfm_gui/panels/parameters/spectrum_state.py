"""What the plot of the weights shows: singular values or modes, their weights, the scales and the words."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core import Settings
from core.foundation import DEPTHS, WNN, Floats
from core.penalties import extend_last
from nrsfm_gui.panels.parameters.weights_list import MODE_WEIGHTS, WEIGHTS
from nrsfm_gui.widgets.drag_number import Scale
from nrsfm_gui.widgets.plots.plot_style import log_ticks

FEWEST_MODES, MOST_MODES = 3, 10  # that are shown: those above the smallest movement
DEEPEST = 6.0  # decades below the largest value of smaller values: zero has no logarithm
ZERO_SHARE = 0.12  # share of a scale with a zero that lies below its lowest number
ZERO = 0.03  # height of the zero in it
CLEAR = 0.14  # above the zero begin the ticks, so that their texts do not touch
DRAGGED = "Drag a diamond up or down; {order},\nCtrl is fine, the bottom is 0; a double click {reset}.\n"
KEYS = (
    "Keys: left and right choose a weight, up and down change it by 1 %, with Shift by 10 %,\n"
    "with Ctrl the others come along; Esc gives the arrow keys back. {exact}"
)
STOPS = "it stops where weights would decrease. Shift brings the others along"


@dataclass(frozen=True)
class SpectrumWords:
    """What the plot says of the singular values and weights of one objective."""

    empty: str  # before there are any
    letter: str  # of a weight
    hint: str
    handle: str  # the hint at a handle
    tip: str
    scale: Scale  # of the weights
    labels: dict[str, tuple[str, str]]  # of the axes, short and in full


WORDS = {
    WNN: SpectrumWords(
        "Singular values and weights appear here with the first run",
        "a",
        "Drag weights. Click a bar for the rank.",
        "Drag up, down. Shift: all, Ctrl: fine.",
        "Bars: singular values of X#, left axis. Diamonds: their weights, right axis; both logarithmic.\n"
        f"{DRAGGED.format(order=STOPS, reset='gives the weight back to the penalty')}"
        "Click low in a bar to keep so many basis shapes, + to add one.\n"
        f"{KEYS.format(exact='Exact numbers are in the section Options.')}",
        WEIGHTS,
        {"left": ("σ", "singular value σ"), "right": ("weight a", "weight a"), "bottom": ("", "component k")},
    ),
    DEPTHS: SpectrumWords(
        "The modes of the shape and their weights appear here when its depths are refined",
        "w",
        "Drag weights. Click the last to keep.",
        "Drag up or down; others come along.",
        "Bars: the modes in which the shape deviates from its mean, in % of the object's size, left axis.\n"
        "Diamonds: their weights, right axis; both logarithmic. A heavier mode occurs less.\n"
        f"{DRAGGED.format(order='the others come along, since weights never decrease', reset='sets 1')}"
        "The last one is of all smaller modes, too. Click low in a bar to suppress the modes behind it;\n"
        "a second click gives them back. Below the dotted line movements cost nothing.\n"
        f"{KEYS.format(exact='Exact numbers are in the row below.')}",
        MODE_WEIGHTS,
        {
            "left": ("deviation (%)", "deviation (% of size)"),
            "right": ("weight w", "weight w"),
            "bottom": ("", "mode k"),
        },
    ),
}


@dataclass(frozen=True)
class LogScale:
    """A logarithmic scale from one power of ten to another."""

    low: float  # exponents
    high: float
    zero: bool = False  # whether there is space for 0 at the bottom

    def holds(self, other: LogScale, decades: float = 2.0) -> bool:
        """Whether it covers another scale, and is at most so many decades longer."""
        inside = self.low <= other.low and other.high <= self.high
        return inside and (self.high - self.low) <= (other.high - other.low) + decades

    def shares(self, values: Floats) -> Floats:
        """Return the heights of values, 0 to 1; values outside are at an end."""
        bottom = ZERO_SHARE * self.zero
        values = np.nan_to_num(values, nan=0.0, posinf=10.0**self.high)
        exponents = np.log10(np.maximum(values, 10.0 ** (self.low - 1)))
        fraction = np.clip((exponents - self.low) / (self.high - self.low), 0.0, 1.0)
        places = bottom + (1 - bottom) * fraction
        return np.where(values > 0, places, ZERO) if self.zero else np.asarray(places)

    def value(self, share: float) -> float:
        """Return the value at a height, to four digits; nearer to the zero than to the lowest it is 0."""
        bottom = ZERO_SHARE * self.zero
        if self.zero and share < (ZERO + ZERO_SHARE) / 2:
            return 0.0
        fraction = min(max((share - bottom) / (1 - bottom), 0.0), 1.0)
        return float(f"{10.0 ** (self.low + fraction * (self.high - self.low)):.4g}")

    def ticks(self) -> list[tuple[float, str]]:
        """Return places and texts of round numbers."""
        bottom = ZERO_SHARE * self.zero
        found = [
            (bottom + (1 - bottom) * (place - self.low) / (self.high - self.low), text)
            for place, text in log_ticks(self.low, self.high)
            if float(text) == 10.0 ** round(place)
        ]
        return [(ZERO, "0"), *(tick for tick in found if tick[0] > CLEAR)] if self.zero else found


def decades_of(values: Floats, *, zero: bool, margin: float, least: float) -> LogScale:
    """Return a scale for values with some decades of margin around them, in half decades."""
    positive = values[np.isfinite(values) & (values > 0)]
    if not positive.size:
        return LogScale(-3.0 - margin, -3.0 - margin + max(least, 1.0), zero)
    top = math.log10(positive.max())
    bottom = max(math.log10(positive.min()), top - DEEPEST)
    low, high = math.floor(2 * (bottom - margin)) / 2, math.ceil(2 * (top + margin)) / 2
    missing = max(least - (high - low), 0.0)
    return LogScale(low - math.ceil(missing) / 2, high + math.ceil(missing) / 2, zero)


@dataclass(frozen=True)
class SpectrumState:
    """What the plot shows."""

    weights: tuple[float, ...] = ()  # (K,) that the parameters have; empty where they are not known yet
    singular_values: tuple[float, ...] | None = None  # (N,) of the reconstruction that is looked at
    explicit: bool = False  # whether the weights follow no penalty
    rule: str = "wnn"  # a key of PENALTIES: the last one that they followed
    objective: str = WNN  # of the depths the values are in %, and the last weight is of all smaller ones, too
    smallest: float | None = None  # deviation well below which movements cost nothing, in %


def mode_count(values: Floats | None, settings: Settings) -> int:
    """Return how many modes are shown: those above the smallest movement, and those that have own weights.

    `values`: (N,) sqrt(lambda_k) over the size of the object, the largest first; None where not known.
    """
    there = 0 if values is None else int(np.count_nonzero(values > settings.smallest_movement))
    return max(min(max(there, FEWEST_MODES), MOST_MODES), len(settings.mode_weights))


def modes_state(values: Floats | None, settings: Settings, count: int) -> SpectrumState:
    """Return the first modes of a refined shape and their weights; `values` as of `mode_count`."""
    weights = tuple(extend_last(np.array(settings.mode_weights), count).tolist())
    alike = settings.mode_weights == Settings().mode_weights
    if values is None and alike:
        weights = ()  # nothing is known, and nothing asked for
    return SpectrumState(
        weights=weights,
        singular_values=None if values is None else tuple((100.0 * values[:count]).tolist()),
        explicit=not alike,
        objective=DEPTHS,
        smallest=100.0 * settings.smallest_movement,
    )
