r"""Gross outliers of tracks: single observations far from where the others place them; nothing is solved.

Three tests, which an observation must fail all.

**Low rank.**  The tracks (2F x P, each row less its mean) are of low rank but for perspective, noise and rare
motions.  A factorization A B' + t is fitted robustly: for ranks 1, 2, ... up to `MOST_RANK` by alternating
small linear systems with the weights 1 / (1 + (e / (3 s))^2) of Cauchy's loss, e being the length of the
residual of an observation, s a robust standard deviation.  The rank with the least s per degree of freedom
counts.  An outlier has a residual above `UNLIKELY` s.

**Time.**  A point that moves as no other does has large residuals, too, but its neighbors in time have them
as well.  So an outlier is alone: its residual differs from what the residuals of the same point in the
nearest frames predict (the median of the interpolations between one of the three frames before and one of the
three after) by about all of its length, and by more than `UNLIKELY` times what is usual in that frame, at
that point, and everywhere.  Where the tracks themselves are smooth in time the same must hold of them.

**Space.**  A part that moves far between two of few frames has large residuals, too, and so have the points
next to it.  There the median residual of an outlier's nearest points is below half of its own.

Of real shapes with 1 to 10 % of observations moved by 20 to 500 px, 92 to 100 % are found.  On 108 clean
sequences at most 0.5 % of the observations are, most of them of points that do jump; `SUSPICIOUS` is above,
as on 213 of 216 clean ones of 6 to 20 frames.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from ..data.masks import quantile_of_known
from ..foundation.types import Bools, Floats, Ints
from .factorization import best_columns, best_rows

MOST_RANK = 10
MOST_FREEDOM = 0.45  # degrees of freedom of the factorization over the number of coordinates, at most
STEPS, SWEEPS = 4, 2  # new weights for each rank, and alternations for each of these
RIDGE = 1e-4  # of the size of the tracks, which keeps points that are seen in few frames near 0
CAUCHY = 3.0  # scale of the weights, in standard deviations
RAYLEIGH = 1.1774  # the median length of a vector of two normal numbers of standard deviation 1
UNLIKELY = 12.0  # standard deviations
LEAST = 0.15  # of the size of the tracks: smaller errors are no gross ones
ALONE = 0.5  # largest difference of the residual and of its jump in time, over the smaller one
SMOOTH = 3.0  # standard deviations of jumps in time, below half of the residual where tracks are smooth
ROUNDS = 3  # of the test in time; outliers that were found predict nothing
NEIGHBORS, FEW_FRAMES = 5, 20  # points, and frames up to which they are looked at
REACH = (1, 2, 3)  # frames on either side
MOST_OF_ONE = 0.5  # of a frame's observations; more are no outliers
MOST_POINTS = 600  # of more, each part of about so many is examined by itself
SUSPICIOUS = 0.007  # share of all observations from which there is reason to look at them


def find_gross_outliers(tracks: Floats, visible: Bools) -> Bools:
    """Return which observations (F, P) of tracks in any unit are far from where the others place them.

    They are at most half of a frame's; none where there are too few to tell.
    """
    frames, points = visible.shape
    parts = max(1, round(points / MOST_POINTS))
    found = np.zeros((frames, points), dtype=bool)
    for first in range(parts):  # evenly spaced points, so that each part has all of the object
        some = slice(first, None, parts)
        found[:, some] = _outliers_of(tracks[:, :, some], visible[:, some])
    crowded = found.sum(axis=1) > MOST_OF_ONE * visible.sum(axis=1)
    found[crowded] = False
    return found


def _outliers_of(tracks: Floats, visible: Bools) -> Bools:
    frames, points = visible.shape
    none = np.zeros((frames, points), dtype=bool)
    if not visible.any(axis=1).all():
        return none
    seen = np.where(visible[:, None], tracks, np.nan)
    centered = seen - np.nanmedian(seen, axis=2, keepdims=True)
    size = float(np.sqrt(np.nanmean(np.square(centered))))
    if size == 0:  # all points of each frame coincide
        return none
    fitted = _robust_residuals(np.where(visible[:, None], centered, 0.0), visible, size)
    if fitted is None:
        return none
    residuals, deviation = fitted
    residuals = np.where(visible[:, None], residuals, np.nan)
    length = np.linalg.norm(residuals, axis=1)
    single = visible
    if frames <= FEW_FRAMES:
        beside = quantile_of_known(residuals[:, :, _neighbors(centered)].transpose(3, 0, 1, 2))
        single = ~(np.linalg.norm(beside, axis=1) > ALONE * length)
    found = none
    for _ in range(ROUNDS):
        kept = visible & ~found
        jump, usual = _jumps(residuals, kept)
        unknown = np.isnan(jump[:, 0])  # no other observation of the point is near in time
        jump = np.where(unknown[:, None], residuals, jump)
        alone = _alike(jump, residuals) & (np.linalg.norm(jump, axis=1) > UNLIKELY * usual)
        of_track, usual = _jumps(seen, kept)
        smooth = ~np.isnan(of_track[:, 0]) & (SMOOTH * usual < ALONE * length)
        leaves = ~smooth | _alike(of_track, residuals)
        large = (length > UNLIKELY * deviation) & (length > LEAST * size)
        found = visible & large & single & alone & leaves
    return found


def _neighbors(centered: Floats) -> Ints:
    """Return the points (P, n) that are nearest to each one in all frames; `centered` (F, 2, P), or NaN."""
    known = np.nan_to_num(centered.reshape(-1, centered.shape[2]))
    squares = np.square(known).sum(axis=0)
    distances = squares[:, None] - 2.0 * known.T @ known + squares
    np.fill_diagonal(distances, np.inf)
    nearest: Ints = np.argsort(distances, axis=1, kind="stable")[:, :NEIGHBORS]
    return nearest


def _alike(jump: Floats, residuals: Floats) -> Bools:
    """Return whether a jump in time explains a residual, (F, P), for both (F, 2, P)."""
    smaller = np.minimum(np.linalg.norm(jump, axis=1), np.linalg.norm(residuals, axis=1))
    return np.asarray(np.linalg.norm(jump - residuals, axis=1) < ALONE * smaller)


def _jumps(values: Floats, kept: Bools) -> tuple[Floats, Floats]:
    """Return how far values (F, 2, P) are from what those kept near in time predict, and what is usual.

    The first (F, 2, P) is NaN where nothing is predicted, the second (F, P) a standard deviation.
    """
    known = np.where(kept[:, None], values, np.nan)
    before = {step: _shifted(known, -step) for step in REACH}
    after = {step: _shifted(known, step) for step in REACH}
    inside = [(j * before[i] + i * after[j]) / (i + j) for i, j in product(REACH, REACH)]
    outside = [2 * side[1] - side[2] for side in (before, after)] + [before[1], after[1]]
    predicted = quantile_of_known(np.stack(inside))
    predicted = np.where(np.isnan(predicted), quantile_of_known(np.stack(outside)), predicted)
    jump = values - predicted
    length = np.where(kept, np.linalg.norm(jump, axis=1), np.nan)
    medians = (
        quantile_of_known(length.ravel()),
        quantile_of_known(length),
        quantile_of_known(length.T)[:, None],
    )
    usual = np.fmax(np.fmax(medians[0], medians[1]), medians[2]) / RAYLEIGH
    return jump, np.broadcast_to(usual, length.shape)


def _shifted(values: Floats, step: int) -> Floats:
    """Return the values so many frames later, NaN where there are none."""
    shifted = np.full_like(values, np.nan)
    if step > 0:
        shifted[:-step] = values[step:]
    else:
        shifted[-step:] = values[:step]
    return shifted


def _robust_residuals(W: Floats, visible: Bools, size: float) -> tuple[Floats, float] | None:
    """Return the residuals (F, 2, P) of a robust low rank of W, 0 where hidden, and their deviation."""
    frames, _, points = W.shape
    weights, observed = visible.astype(float), 2 * int(visible.sum())
    W = np.ascontiguousarray(W.transpose(1, 0, 2))  # (2, F, P), as A (2, F, rank), B (P, rank) and t (2, F)
    A, B, t = np.zeros((2, frames, 0)), np.zeros((points, 0)), np.zeros((2, frames))
    best: tuple[Floats, float] | None = None
    for rank in range(1, min(2 * frames, points, MOST_RANK + 1)):
        freedom = rank * (2 * frames + points - rank) + 2 * frames
        if freedom > MOST_FREEDOM * observed:
            break
        left = weights * (W - A @ B.T - t[:, :, None])
        U, sigma, Vt = np.linalg.svd(left.reshape(2 * frames, points), full_matrices=False)
        A = np.concatenate((A, np.sqrt(sigma[0]) * U[:, :1].reshape(2, frames, 1)), axis=2)
        B = np.concatenate((B, np.sqrt(sigma[0]) * Vt[:1].T), axis=1)
        for _ in range(STEPS):
            _, length, deviation = _residuals(W, A, B, t, visible)
            weights = visible / (1.0 + np.square(length / (CAUCHY * max(deviation, 1e-12 * size))))
            for _ in range(SWEEPS):
                A, t = best_rows(weights * W, weights, B, RIDGE * size)
                A, B = _balanced(A, best_columns(weights * W, weights, A, t, RIDGE * size))
        residuals, _, deviation = _residuals(W, A, B, t, visible)
        deviation /= float(np.sqrt(1.0 - freedom / observed))
        if best is None or deviation < best[1]:
            best = residuals, deviation
    return best


def _residuals(W: Floats, A: Floats, B: Floats, t: Floats, visible: Bools) -> tuple[Floats, Floats, float]:
    """Return the residuals (F, 2, P), their lengths (F, P) and a robust standard deviation."""
    residuals = (W - A @ B.T - t[:, :, None]).transpose(1, 0, 2)
    length = np.linalg.norm(residuals, axis=1)
    return residuals, length, float(np.median(length[visible])) / RAYLEIGH


def _balanced(A: Floats, B: Floats) -> tuple[Floats, Floats]:
    """Return factors of the same product whose columns have equal sizes."""
    Q, R = np.linalg.qr(B)
    U, sigma, Vt = np.linalg.svd((A @ R.T).reshape(-1, len(R)), full_matrices=False)
    return (U * np.sqrt(sigma)).reshape(A.shape), np.asarray((Q @ Vt.T) * np.sqrt(sigma))
