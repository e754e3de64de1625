"""The rows of the comparison table: the parameters that differ, and the numbers of both runs. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.foundation import WNN
from nrsfm_gui.model.changes import differences
from nrsfm_gui.model.names import error_name, truth_phrase
from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.scene.comparison import why_losses_differ
from nrsfm_gui.scene.summaries import (
    OBJECTIVE_NAMES,
    iterations,
    measure,
    objective_text,
    objective_value,
    percent_of,
    seconds,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from nrsfm_gui.model.run import Run
    from nrsfm_gui.scene.comparison import RunComparison
    from nrsfm_gui.scene.incumbent import Incumbent

SAME = 1e-3  # relative difference of errors below which neither is called the better one
SAME_LOSS = 1e-6
END_TIP = "Energy per point and frame, on the level where both ends were ranked."
OTHER_OBJECTIVE = "A loss of the WNN problem and an energy of the depths do not compare."


@dataclass(frozen=True)
class CompareRow:
    """A line: what it is, and its value of either run, as text."""

    name: str
    first: str
    second: str
    tip: str = ""
    number: bool = False  # a result, not a parameter
    better: int = 0  # 1 or 2 where that run has the lower error; 0 where unknown


def compare_rows(
    first: Run, second: Run, found: tuple[Incumbent | None, Incumbent | None]
) -> list[CompareRow]:
    """Return the lines of the table: parameters that differ, then loss, errors, and what they took."""
    rows = [
        CompareRow(each.name, each.before, each.after)
        for each in differences(first.settings, second.settings)
    ]
    if not rows:
        rows.append(CompareRow("parameters", "the same", "the same"))
    return [*rows, _loss(first, second, found), *_ends(found), *_errors(first, found), *_efforts(found)]


def _ends(found: tuple[Incumbent | None, Incumbent | None]) -> list[CompareRow]:
    """Return how far a further end of a search is above the lowest one, where one is compared."""
    above = [None if known is None else known.iterate.end_energy for known in found]
    one, two = (NONE if energy is None else f"{energy:.2g}" for energy in above)
    return [] if one == two == NONE else [CompareRow("above the lowest end", one, two, END_TIP, True)]


def _loss(first: Run, second: Run, found: tuple[Incumbent | None, Incumbent | None]) -> CompareRow:
    values = [None if known is None else known.value for known in found]
    kinds = {known.objective for known in found if known is not None}
    why = why_losses_differ(first.settings, second.settings, first.sequence.camera)
    if len(kinds) > 1:
        one, two = ("" if known is None else objective_text(known.value, known.objective) for known in found)
        return CompareRow("minimized value", one or NONE, two or NONE, OTHER_OBJECTIVE, True)
    kind = next(iter(kinds), WNN)
    one, two = (objective_value(value, kind) for value in values)
    if why:
        tip = f"These are values of different objectives: {why}."
        return CompareRow(OBJECTIVE_NAMES[kind], one, two, tip, True)
    tip = "Of the same objective: the lower one is the better minimum."
    return CompareRow(OBJECTIVE_NAMES[kind], one, two, tip, True, _better(values, SAME_LOSS))


def _errors(first: Run, found: tuple[Incumbent | None, Incumbent | None]) -> list[CompareRow]:
    units = first.sequence.units
    seen = [None if known is None else known.reprojection for known in found]
    one, two = (measure(value, units) for value in seen)
    tip = "Root mean square over visible points."
    rows = [CompareRow("reprojection", one, two, tip, True, _better(seen, SAME))]
    errors = [None if known is None else known.error for known in found]
    if any(error is not None for error in errors):
        one, two = (NONE if known is None else measure(known.error, known.unit) for known in found)
        names = dict.fromkeys(known.alignment for known in found if known is not None)
        truth = first.sequence.truth_name
        tip = f"Mean distance to {truth_phrase(truth)}, {'; '.join(names)}."
        rows.append(CompareRow(error_name(truth), one, two, tip, True, _better(errors, SAME)))
    return rows


def _efforts(found: tuple[Incumbent | None, Incumbent | None]) -> list[CompareRow]:
    tip, (first, second) = "Without those of the run that it went on from.", found
    return [
        CompareRow("iterations", iterations(first), iterations(second), tip, True),
        CompareRow("computing time", seconds(first), seconds(second), tip, True),
    ]


def _better(errors: Collection[float | None], same: float) -> int:
    """Return which of two errors is lower, 1 or 2; 0 where they are about the same, or one is not known."""
    one, other = errors
    if one is None or other is None or not np.isfinite([one, other]).all():
        return 0
    if abs(one - other) <= same * max(abs(one), abs(other)):
        return 0
    return 1 if one < other else 2


def describe_distance(together: RunComparison | None, frame: int) -> str:
    """Return how far apart two runs are in a frame and over all, with the alignment."""
    if together is None:
        return "Waiting for both reconstructions…"
    here = (
        float(np.nanmean(together.distances[frame])) if np.isfinite(together.distances[frame]).any() else None
    )
    mean, now = (measure(each, together.unit) for each in (together.mean, here))
    share = percent_of(together.apart, 1.0)
    apart = f"{share} of the object apart · " if share else ""
    return f"{apart}mean distance {mean}, in this frame {now} · {together.alignment}"
