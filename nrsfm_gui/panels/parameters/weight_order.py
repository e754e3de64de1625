"""Weights that must not decrease: what becomes of the others, or of the hand, when one is moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence as Items


def ordered(weights: Items[float], moved: int) -> tuple[float, ...]:
    """Return the weights with the others brought along so that none decreases; `moved` keeps its value."""
    pivot = weights[moved]
    return tuple(min(weight, pivot) if k < moved else max(weight, pivot) for k, weight in enumerate(weights))


def held(weights: Items[float], moved: int, wanted: float) -> tuple[float, int | None]:
    """Return how far one weight can go towards a value while the others stay, and the one in its way."""
    if moved > 0 and wanted < weights[moved - 1]:
        return weights[moved - 1], moved - 1
    if moved + 1 < len(weights) and wanted > weights[moved + 1]:
        return weights[moved + 1], moved + 1
    return wanted, None


def reason(weights: Items[float], moved: int, barrier: int) -> str:
    """Say why a weight stops at another one."""
    verb = "fall below" if barrier < moved else "rise above"
    return (
        f"a{moved + 1} cannot {verb} a{barrier + 1} = {weights[barrier]:.3g}: weights must not decrease. "
        "Shift brings the others along."
    )
