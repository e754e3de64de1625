"""A number as people read it, a labeled one, and round numbers along an axis. No Qt."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.foundation import Floats

NONE = "–"  # of a value that is not known
MINUS = "−"


@dataclass(frozen=True)
class LabeledValue:
    """A labeled value: what it is, its value as text, and a tip that defines it."""

    label: str
    value: str
    tip: str = ""


def format_number(value: float) -> str:
    """Return the shortest text with up to six digits: "0.5", "5e-03" becomes "0.005", "1e-14" stays."""
    if value == 0 or not math.isfinite(value) or 1e-3 <= abs(value) < 1e5:
        return f"{value:.6g}"
    mantissa, exponent = f"{value:.5e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


STEPS = 5  # about so many along an axis


def nice_step(size: float, steps: int = STEPS) -> float:
    """Return 1, 2 or 5 times a power of ten, so that `size` holds about `steps` of it."""
    raw = size / steps
    power = 10.0 ** np.floor(np.log10(raw))
    return float(power * next(factor for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999))


def ticks(low: float, high: float, step: float | None = None) -> Floats:
    """Return the multiples of `step` between two numbers; None is a step that suits them."""
    step = nice_step(high - low) if step is None else step
    return np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step
