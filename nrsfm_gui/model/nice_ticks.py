"""Round numbers along an axis, in the scene as in charts. Pure, no Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from core.foundation import Floats

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
