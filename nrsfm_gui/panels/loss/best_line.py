"""The line of the lowest value so far of a stage, and the range that shows it. No Qt.

Every record has the lowest value of its stage so far. A line joins the records of one stage: it ends where
there is no lowest value. Between two records the lowest value stays what it was, so the line has steps. It
never rises: where the result of a method on the matrix is worse than its iterates, another line begins.
"""

from __future__ import annotations

import numpy as np

from core.foundation import Bools, Floats, Ints
from nrsfm_gui.model.history import History

MOST_VERTICES = 2000  # steps of a line: more than a plot has pixels
ROUNDING = 1e-9  # relative, that the lowest value may rise by, where the end of a phase is preferred
SEEN = 0.9  # share of the time in which a line is inside the range: the first steps lie far above the others
FLAT, FLAT_SHARE = 0.02, 0.01  # the least span of an axis: of a logarithm or an energy, and of any value
BELOW = 0.25  # share of what it is widened by that lies below the values, which fall


def line_starts(values: Floats) -> Bools:
    """Return where lines of the lowest values (N,), NaN if unknown, begin: after none, or above the last."""
    known = np.isfinite(values)
    begins = known.copy()
    if len(values):
        with np.errstate(invalid="ignore"):
            begins[1:] &= ~known[:-1] | (np.diff(values) > ROUNDING * np.abs(values[:-1]))
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


def best_line(x: Floats, values: Floats, begins: Bools) -> tuple[Floats, Floats, Bools]:
    """Return the line of the lowest value so far.

    `x`: (N,) where the records are; `values` and `begins`: see `line_starts`. Returns x and value (M,) of its
    vertices, and whether each is joined to the next.
    """
    known, count = np.isfinite(values), len(values)
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


def best_range(seconds: Floats, values: Floats, begins: Bools) -> tuple[float, float] | None:
    """Return the least and the largest value that the lowest one has nearly all of the time of each line.

    `seconds`: (N,) of the records; `values` and `begins`: see `line_starts`. None where none is known.
    """
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        return None
    lasting = np.diff(seconds, append=seconds[-1])
    highest = -np.inf
    for line in np.split(known, np.searchsorted(known, np.flatnonzero(begins)[1:])):
        # It falls, so that its values are above all later ones: the first of its time is left out.
        spent = np.cumsum(lasting[line])
        since = int(np.searchsorted(spent, (1 - SEEN) * spent[-1], side="right")) if spent[-1] > 0 else 0
        highest = max(highest, float(values[line[since]]))
    return float(values[known].min()), highest


def widened(low: float, high: float, least: float = 0.0) -> tuple[float, float]:
    """Return a range, of `least` at least, that has room for two numbers of few digits; more above."""
    more = max(least, FLAT_SHARE * max(abs(low), abs(high))) - (high - low)
    return (low - BELOW * more, high + (1 - BELOW) * more) if more > 0 else (low, high)
