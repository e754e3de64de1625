"""Outliers of tracks, which a reconstruction does not fit, those of a truth, and the hiding of the former.

Tracks.  With r the distances of observations and reprojections, m their median and
s = 1.4826 median |r - m| their spread, an observation is an outlier where

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

Ground truth.  A measured truth has points that are wrong by the size of the object, where a sensor or a
triangulation failed. One of them spoils the alignment of its frame and the mean error of all its points.

They are found without an estimate. Every frame is moved onto one of them by a similarity. The median over
the frames is a mean shape that single outliers do not move, and it gives every point its nearest neighbors
q. With d_fpq the distance of p and q in frame f, u_pq its median over the frames, and s the root mean
square radius of the mean shape, a point is an outlier in a frame where

    median_q d_fpq / u_pq > TIMES   and   median_q (d_fpq - u_pq) > NEAR s,   or   median_q (...) > FAR s.

A neighbor that is an outlier itself changes neither median. On true shapes that deform (people, faces,
cloth, paper) the first median stays below 2.2 and the second one below 0.5 s; on the outliers of measured
ones they are above 5 and 1.

Hiding.  Outliers of tracks are hidden in rounds of solving, until nothing new is found.  The first one leaves
out the gross outliers (`core.cameras.gross_outliers`), because a solution of all tracks bends to them.  After
each round observations with a residual above `UNFIT` times the median are hidden, too, where they are at
least `LEAST` of all.  That is above the threshold SINGLE, which a person judges: after the first round of a
sheet with 5 % of outliers, that one is exceeded by 43 of 6300 observations that are right and by 9 of 11 that
are wrong, this one by 5 and by 6.  Each round is a run of its own, so that the settings of the last one give
its result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ..cameras.calibration import to_pixels
from ..cameras.gross_outliers import find_gross_outliers
from ..data.hidden import format_hidden, parse_hidden
from ..data.masks import known_points, quantile_of_known
from ..data.sequence import GroundTruth, Sequence
from ..foundation.exceptions import InputError
from ..foundation.linalg import procrustes
from ..foundation.representation import OneLine
from ..foundation.types import Bools, Floats, Ints, read_only
from ..reconstruction.progress import Iterate, count_on
from ..reconstruction.reconstruct import iterate_sequence, with_history
from ..reconstruction.settings import Settings
from .cross_validation import reproject

SINGLE, DRIFTING = 6.0, 3.0  # times the spread
CONSISTENT = 1.4826  # the standard deviation of normal numbers over their median absolute deviation
MOST = 0.75  # of the observations of a point that drifts, from its frame on
LEAST_DRIFT, LEAST_SHARE = 6, 0.1  # observations of a drift, and their share of the frames

TIMES, NEAR, FAR = 3.0, 0.15, 0.8  # of the truth
NEIGHBORS = 8
LEAST_FRAMES, LEAST_POINTS = 3, 6  # below, no median tells an outlier from the others
BLOCK = 2_000_000  # distances that are held at once
LEAST_FALL = 0.1  # of a mean, below which outliers are not worth a sentence
ROUNDS = 3  # at most
UNFIT, LEAST = 8.0, 0.001  # times the median residual; share of all observations
FEWEST = 2  # observations of a frame that are not hidden


@dataclass(frozen=True)
class DriftingPoint:
    """A point whose track is of another place from a frame on."""

    point: int  # its index
    frame: int  # the first frame that is wrong, from 0


@dataclass(frozen=True, eq=False)
class Outliers(OneLine):
    """The observations that do not fit a reconstruction."""

    mask: Bools  # (F, P) outliers, and all observations of drifting points from their frame on
    residuals: Floats  # (F, P) that they were found by, NaN where there is no observation
    threshold: float  # in the units of the residuals
    drifting: tuple[DriftingPoint, ...]  # by point

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

    `residuals` (F, P) are distances of observations and reprojections, NaN where there is no observation.
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


@lru_cache(maxsize=4)
def find_truth_outliers(truth: GroundTruth) -> Bools:
    """Return which points (G, P) of a ground truth are far from their neighbors, in which frames."""
    points = truth.points
    found = np.zeros(known_points(points).shape, dtype=bool)
    if len(points) >= LEAST_FRAMES:
        mean = median_shape(points)
        there = np.flatnonzero(np.isfinite(mean).all(axis=0))
        if len(there) >= LEAST_POINTS:
            found[:, there] = _far_from_neighbors(points[:, :, there], mean[:, there])
    return read_only(found, np.bool_)


def without_outliers(truth: GroundTruth) -> GroundTruth:
    """Return a ground truth in which its outliers are not known; the same one where it has none."""
    outliers = find_truth_outliers(truth)
    if not outliers.any():
        return truth
    return replace(truth, points=np.where(outliers[:, None], np.nan, truth.points))


def fall_sentence(error: float, without: float, outliers: int, points: int) -> str:
    """Return "without 1 of 236 points this error falls by 58 %", "" where it falls by little."""
    if not (outliers and error > 0 and 1 - without / error >= LEAST_FALL):
        return ""
    fall = 100 * (1 - without / error)
    return f"without {outliers} of {points} points this error falls by {fall:.0f} %"


def median_shape(points: Floats) -> Floats:
    """Return the median (3, P) of shapes (F, 3, P), NaN where unknown, moved onto the most complete one."""
    first = points[known_points(points).sum(axis=1).argmax()]
    return quantile_of_known(procrustes(points, np.broadcast_to(first, points.shape)).apply(points))


def _far_from_neighbors(points: Floats, mean: Floats) -> Bools:
    """Return (G, P) which of points (G, 3, P) are far from those that are next to them in the mean shape."""
    from scipy.spatial import cKDTree  # slow to load

    count = mean.shape[1]
    size = float(np.sqrt(np.square(mean - mean.mean(axis=1, keepdims=True)).sum(axis=0).mean()))
    near = min(NEIGHBORS, count - 1)
    neighbors = cKDTree(mean.T).query(mean.T, k=near + 1)[1]
    neighbors = np.asarray(neighbors)[:, 1:]  # the first one is the point itself
    found = np.zeros((len(points), count), dtype=bool)
    step = max(1, BLOCK // (len(points) * near))
    for start in range(0, count, step):
        some = slice(start, start + step)
        distances = np.linalg.norm(points[:, :, some, None] - points[:, :, neighbors[some]], axis=1)
        usual = quantile_of_known(distances)
        with np.errstate(divide="ignore", invalid="ignore"):  # points that coincide
            times = quantile_of_known(np.moveaxis(distances / usual, 2, 0))
        farther = quantile_of_known(np.moveaxis(distances - usual, 2, 0))
        found[:, some] = ((times > TIMES) & (farther > NEAR * size)) | (farther > FAR * size)
    return found


def bilinear_residuals(sequence: Sequence, iterate: Iterate) -> Floats:
    """Return the distances (F, P) of observations and of the bilinear solution, NaN where not solved for.

    Refined depths lie on the observed rays, on wrong ones too.
    """
    solved = iterate.best
    camera = iterate.settings.camera_of(sequence.camera)
    away = reproject(solved, iterate.intrinsics, camera) - to_pixels(
        solved.problem.tracks, iterate.intrinsics
    )
    return np.where(solved.problem.visible, np.linalg.norm(away, axis=1), np.nan)


def solve_hiding_outliers(
    sequence: Sequence, settings: Settings, *, rounds: int = ROUNDS
) -> Iterator[Iterate]:
    """Yield the iterates of all rounds; the settings of the last one name what is hidden."""
    return with_history(sequence, _rounds(sequence, settings, rounds))


def _rounds(sequence: Sequence, settings: Settings, rounds: int) -> Iterator[Iterate]:
    frames, points = sequence.visible.shape
    hidden = np.zeros((frames, points), dtype=bool)
    if settings.hide is not None:
        hidden = parse_hidden(settings.hide, frames, points)
    found = find_gross_outliers(sequence.tracks, sequence.visible & ~hidden)
    last: Iterate | None = None
    for number in range(1, rounds + 1):
        left = (sequence.visible & ~hidden & ~found).sum(axis=1)
        hidden = hidden | (found & (left >= FEWEST)[:, None])
        run = settings.with_changes(hide=format_hidden(hidden) or None)
        for each in count_on(iterate_sequence(sequence, run), last):
            last = each
            yield each
        if number < rounds:
            assert last is not None  # a run has iterates
            residuals = np.nan_to_num(bilinear_residuals(sequence, last))  # 0 where not solved for
            found = residuals > UNFIT * np.median(residuals[residuals > 0])
            if found.sum() < LEAST * sequence.visible.sum():
                return
