"""A number as people read it, and a labeled one. No Qt."""

from __future__ import annotations

import math
from dataclasses import dataclass

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
