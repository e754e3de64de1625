"""Outliers of tracks: observations that a reconstruction does not fit, and points that drift away.

With r the distances of observations and reprojections, m their median and s = 1.4826 median |r - m| their
spread, an observation is an outlier where

    r > m + SINGLE s.

Half of the observations may be outliers before m and s are theirs; for coordinates with normal noise the
limit is 5.2 standard deviations, which one observation of 700 000 exceeds. A tracker that slips to another
place of the picture follows it from then on: a point drifts from frame f on where most of its observations
from f to the last frame, at least LEAST_DRIFT of them, exceed

    m + DRIFTING s,

and less than half of those before.

A least-squares solution bends to its outliers, so that small ones show only after large ones are hidden and
the tracks are solved again: a few rounds find more than the first. The residuals should be those of the
bilinear solution: a depth refinement moves points along the observed rays, wrong ones as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..foundation.exceptions import InputError
from ..foundation.representation import one_line_repr
from ..foundation.types import read_only

if TYPE_CHECKING:
    from ..foundation.types import Bools, Floats, Ints

SINGLE, DRIFTING = 6.0, 3.0  # times the spread
CONSISTENT = 1.4826  # the standard deviation of normal numbers over their median absolute deviation
MOST = 0.75  # of the observations of a point that drifts, from its frame on
LEAST_DRIFT, LEAST_SHARE = 6, 0.1  # observations of a drift, and their share of the frames


@dataclass(frozen=True)
class DriftingPoint:
    """A point whose track is of another place from a frame on."""

    point: int  # its index
    frame: int  # the first frame that is wrong, from 0


@dataclass(frozen=True, eq=False)
class Outliers:
    """The observations that do not fit a reconstruction."""

    mask: Bools  # (F, P) outliers, and all observations of drifting points from their frame on
    residuals: Floats  # (F, P) that they were found by, NaN where there is no observation
    threshold: float  # in the units of the residuals
    drifting: tuple[DriftingPoint, ...]  # by point

    __repr__ = one_line_repr

    @property
    def count(self) -> int:
        """How many observations are outliers."""
        return int(self.mask.sum())

    @property
    def share(self) -> float:
        """Their share of all observations."""
        observed = int(np.isfinite(self.residuals).sum())
        return self.count / observed if observed else 0.0


def find_outliers(residuals: Floats, *, threshold: float | None = None) -> Outliers:
    """Return the observations that do not fit a reconstruction, and the points that drift.

    `residuals`: (F, P) distances of observations and reprojections, NaN where there is no observation. Raises
    InputError where the residuals are not of this shape, or the threshold is not above 0.

    >>> import numpy as np
    >>> residuals = np.random.default_rng(0).rayleigh(size=(20, 30))
    >>> residuals[4, 7] = 50.0
    >>> np.argwhere(find_outliers(residuals).mask).tolist()
    [[4, 7]]
    """
    residuals = read_only(residuals)
    if residuals.ndim != 2:
        raise InputError(f"residuals have shape {residuals.shape}; accepted is (frames, points)")
    if threshold is not None and not threshold > 0:
        raise InputError(f"threshold is {threshold:g}; accepted is a number above 0")
    observed = np.isfinite(residuals)
    known = residuals[observed]
    middle = float(np.median(known)) if known.size else 0.0
    spread = CONSISTENT * float(np.median(np.abs(known - middle))) if known.size else 0.0
    limit = middle + SINGLE * spread if threshold is None else float(threshold)
    shown = np.where(observed, residuals, 0.0)
    mask = shown > limit
    drifting = _drifting(shown > min(middle + DRIFTING * spread, limit), observed) if known.size else ()
    for each in drifting:
        mask[each.frame :, each.point] = observed[each.frame :, each.point]
    return Outliers(read_only(mask, np.bool_), residuals, limit, drifting)


def _drifting(exceeding: Bools, observed: Bools) -> tuple[DriftingPoint, ...]:
    """Return the points most of whose observations exceed a limit from some frame on, but not before."""
    seen: Ints = np.cumsum(observed, axis=0)
    wrong: Ints = np.cumsum(exceeding, axis=0)
    before, wrong_before = seen - observed, wrong - exceeding
    left, wrong_left = seen[-1:] - before, wrong[-1:] - wrong_before
    least = max(LEAST_DRIFT, LEAST_SHARE * len(observed))
    begins = (
        exceeding & (wrong_left >= MOST * left) & (left >= least) & (2 * wrong_before < np.maximum(before, 1))
    )
    points = np.flatnonzero(begins.any(axis=0))
    return tuple(DriftingPoint(int(point), int(begins[:, point].argmax())) for point in points)
