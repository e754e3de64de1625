"""The recommendation of a curve of held-out errors: which value to use, and why. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core import NuclearNorm, WeightedNuclearNorm
from core.evaluation import OBJECTIVE, value_text
from core.foundation import parameters_of
from core.reconstruction import SETTINGS
from nrsfm_gui.model.numbers import format_number
from nrsfm_gui.scene.summaries import measure

if TYPE_CHECKING:
    from core.evaluation import HoldoutCurve, HoldoutPlan
    from core.foundation import Floats

TITLES = {
    "xi": parameters_of(WeightedNuclearNorm)["xi"].title,
    "mu": parameters_of(NuclearNorm)["mu"].title,
    "scale": "all weights ×",
    **{name: SETTINGS[name].title for name in ("rank", "eta")},
    OBJECTIVE: "objective",
    **{name: SETTINGS[name].title for name in ("isometry", "smallest_movement", "noise", "neighbors")},
}
STRENGTHS = ("xi", "mu", "scale")  # more of these is a stronger penalty


def value_label(parameter: str, value: float) -> str:
    """Return a value in words, or as the fields of the window have it."""
    return value_text(parameter, value) if parameter == OBJECTIVE else format_number(value)


def advised(line: HoldoutCurve, parameter: str) -> int:
    """Return the index of the value to use: of those that predict equally well, the strongest penalty."""
    if parameter not in STRENGTHS:  # the lowest rank is the best already; no eta is safer than another
        return line.best
    return int(np.flatnonzero(line.values == line.close[1])[0])


def recommendation(line: HoldoutCurve, plan: HoldoutPlan, unit: str, *, widened: bool = False) -> str:
    """Return the recommendation of a curve, its uncertainty, and the value of "Use it"."""
    name = plan.parameter
    title, best, held = TITLES[name], float(line.values[line.best]), float(line.held[line.best])
    words = f"{title} {value_label(name, best)} predicts best: {measure(held, unit)}"
    deviation = float(line.deviation[line.best])
    if np.isfinite(deviation):
        words += f" ± {deviation:.2g}"
    words += f" where hidden, {measure(float(line.kept[line.best]), unit)} where used."
    low, high = line.close
    if low < high:
        words += f" {value_label(name, low)} to {value_label(name, high)} predict equally well"
        strongest = name in STRENGTHS
        words += f": Use it sets {format_number(high)}, the strongest and safest." if strongest else "."
    if widened:
        words += " The range was widened once, as the best was at its end."
    at_end = name != OBJECTIVE and best in (line.values[0], line.values[-1])
    if at_end and len(line.values) >= len(plan.values) > 1:
        words += " It is still at the end." if widened else " It is at the end of the range: try a wider one."
    return f"{words} Tracks give little information on depth: compare the shapes, too."


def by_truth(line: HoldoutCurve, parameter: str, errors: Floats, unit: str) -> str:
    """Return the ground-truth error of the value to use, which was not used to choose it.

    `errors`: (N,) 3-D errors of its values in `unit`, NaN where they are not known.
    """
    here = float(errors[advised(line, parameter)])
    if not np.isfinite(here):
        return ""
    least = int(np.nanargmin(errors))
    there = f"{measure(float(errors[least]), unit)} at {value_label(parameter, float(line.values[least]))}"
    return f" By the truth, not used here: {measure(here, unit)} at the value to use, least {there}."
