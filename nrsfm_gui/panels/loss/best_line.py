"""The line of the lowest loss so far, and the range that shows it. No Qt.

Every record has the lowest loss of the final objective so far. A line joins the records of one objective: it
ends where the parameters were changed, and where there is no loss of the final objective yet. Between two
records the lowest loss stays what it was, so the line has steps. It never rises: where the result of a method
on the matrix is worse than its iterates, another line begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.foundation import DEPTHS

if TYPE_CHECKING:
    from core.foundation import Bools, Floats, Ints
    from nrsfm_gui.model.history import History

MOST_VERTICES = 2000  # steps of a line: more than a plot has pixels
ROUNDING = 1e-9  # decades that the lowest loss may rise by, where the end of a phase is preferred
SEEN = 0.9  # share of the time in which a line is inside the range: the first steps lie far above the others


def line_starts(history: History) -> Bools:
    """Return at which records (N,) a line begins: after none, after a change, or above the one before."""
    values = history.log_best_losses
    known = np.isfinite(values)
    begins = known.copy()
    if len(values):
        with np.errstate(invalid="ignore"):
            begins[1:] &= ~known[:-1] | (np.diff(values) > ROUNDING)
        begins[history.changes] = known[history.changes]
    return begins


def objectives(history: History, records: Ints) -> Ints:
    """Return by how many changes of the parameters each record (M,) comes after: others do not compare."""
    found: Ints = np.searchsorted(history.changes, records, side="right")
    return found


def steps(begin: Floats, end: Floats, values: Floats, starts: Bools) -> tuple[Floats, Floats, Bools]:
    """Return lines of values that last for some time.

    `begin`, `end`: (N,) where each value begins and ends; `values`: (N,) the values; `starts`: (N,) whether a
    line starts with a value, which is then not joined to the one before.
    """
    joined = np.ones(2 * len(values), dtype=bool)
    joined[1::2] = ~np.append(starts[1:], True)
    return np.column_stack((begin, end)).ravel(), np.repeat(values, 2), joined


def best_line(history: History, x: Floats, until: int | None = None) -> tuple[Floats, Floats, Bools]:
    """Return the line of the lowest loss so far.

    `x`: (N,) where its records are. Returns x and base-10 logarithm (M,) of its vertices, and whether each is
    joined to the next.
    """
    values, begins = history.log_best_losses, line_starts(history)
    count = len(values) if until is None else min(until + 1, len(values))
    values, begins, x = values[:count], begins[:count], x[:count]
    known = np.isfinite(values)
    if not known.any():
        return np.zeros(0), np.zeros(0), np.zeros(0, dtype=bool)
    falls = known.copy()
    falls[1:] &= values[1:] != values[:-1]
    kept = np.flatnonzero(_thinned(falls) | begins | (known & np.append(begins[1:] | ~known[1:], True)))
    following = np.append(kept[1:], kept[-1])
    after = np.where(np.append(begins[kept[1:]], True), np.minimum(kept + 1, count - 1), following)
    return steps(x[kept], x[after], values[kept], begins[kept])


def _thinned(chosen: Bools) -> Bools:
    """Return about `MOST_VERTICES` of the records that are chosen, evenly."""
    every = -(-int(chosen.sum()) // MOST_VERTICES)
    if every <= 1:
        return chosen
    kept = np.zeros_like(chosen)
    kept[np.flatnonzero(chosen)[every - 1 :: every]] = True
    return kept


def best_range(history: History) -> tuple[float, float] | None:
    """Return the least and the largest value that the lowest loss has nearly all of the time of each line.

    The time of a refinement, which leaves it as it is, does not count. None where it is not known.
    """
    values = history.log_best_losses
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        return None
    lasting = np.diff(history.seconds, append=history.seconds[-1])
    for phase, first, last in history.phase_spans:
        if phase.objective == DEPTHS:
            lasting[first : last + 1] = 0.0
    begins = np.searchsorted(known, np.flatnonzero(line_starts(history)))
    spent = np.concatenate(([0.0], np.cumsum(lasting[known])))
    ends = np.append(begins[1:], len(known))
    # A line falls, so that its values are above all later ones: the first of its time is left out.
    since = spent[begins] + (1 - SEEN) * (spent[ends] - spent[begins])
    places = np.clip(np.searchsorted(spent, since, side="right") - 1, begins, ends - 1)
    places = np.where(spent[ends] > spent[begins], places, begins)
    return float(values[known].min()), float(values[known][places].max())
