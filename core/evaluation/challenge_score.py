"""The score of one frame in the NRSfM Challenge 2017 (Jensen et al.), version 0.2 of its scorer."""

from __future__ import annotations

import numpy as np

from ..foundation.exceptions import InputError
from ..foundation.linalg import levenberg_marquardt, procrustes
from ..foundation.types import Floats

WHISKER = 1.5  # interquartile ranges above the upper quartile at which distances are clamped


def challenge_v02(estimate: Floats, truth: Floats) -> float:
    """Return the score of one frame in the NRSfM Challenge, version 0.2 of its scorer.

    The score of two point sets is the root mean square of the distances of every point of either to the
    nearest of the other, each direction clamped at its upper quartile plus 1.5 interquartile ranges. It is
    minimized over x -> A x + t by Levenberg-Marquardt, with all nine entries of A free, from the similarity
    (mirror allowed) that fits best point by point.

    The quantiles interpolate between the midpoints of the steps, as MATLAB's do.

    Parameters
    ----------
    estimate
        (3, P) one frame, any coordinates and unit.
    truth
        (3, P) the same points; those that are not finite are left out of both sets.

    Returns
    -------
    float
        the score, in the unit of the truth.

    Raises
    ------
    InputError
        where the shapes disagree or fewer than 4 points are known.

    Examples
    --------
    >>> import core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> shape = sequence.truth.at(0)
    >>> core.challenge_v02(2.0 * shape + 1.0, shape) < 1e-9
    True
    """
    estimate, truth = np.asarray(estimate, dtype=float), np.asarray(truth, dtype=float)
    if estimate.shape != truth.shape or estimate.ndim != 2 or len(estimate) != 3:
        raise InputError(
            f"estimate and truth have shapes {estimate.shape} and {truth.shape}; accepted are two of (3, P)"
        )
    known = np.isfinite(estimate).all(axis=0) & np.isfinite(truth).all(axis=0)
    if known.sum() < 4:
        raise InputError(f"{int(known.sum())} points of the frame are known; the score needs at least 4")
    X, Y = estimate[:, known].T, truth[:, known].T
    start = procrustes(X.T, Y.T, reflection=True)
    # Millimeters and calibrated units differ by orders of magnitude: refine in the truth's own.
    X = start.apply(X.T).T
    center = Y.mean(axis=0)
    X, Y = X - center, Y - center

    def residuals(z: Floats) -> tuple[Floats, Floats]:
        return _score_residuals(X, Y, z)

    best = levenberg_marquardt(residuals, np.concatenate((np.eye(3).ravel(), np.zeros(3))))
    return float(np.sqrt(best.cost))


def _score_residuals(X: Floats, Y: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Return residuals whose sum of squares is the squared score at x -> A x + t, and their Jacobian.

    Three per point, the difference to its nearest neighbor; where that is longer than the clamp, it is scaled
    back to the clamp's length. The clamp moves with the quantiles, and the Jacobian follows it.
    """
    from scipy.spatial import cKDTree  # slow to load

    moved = X @ z[:9].reshape(3, 3).T + z[9:]
    parts = []
    for source, target, from_estimate in ((moved, Y, True), (Y, moved, False)):
        nearest = cKDTree(target).query(source)[1]
        difference = source - target[nearest]
        origin = X if from_estimate else X[nearest]  # the point of the estimate that moves
        sign = 1.0 if from_estimate else -1.0
        J = np.zeros((len(source), 3, 12))
        for a in range(3):
            J[:, a, 3 * a : 3 * a + 3] = sign * origin
            J[:, a, 9 + a] = sign
        parts.append(_clamped(difference, J))
    r = np.concatenate([part[0] for part in parts])
    J = np.concatenate([part[1] for part in parts])
    root = 1.0 / np.sqrt(len(X) + len(Y))
    return root * r.ravel(), root * J.reshape(-1, 12)


def _clamped(difference: Floats, J: Floats) -> tuple[Floats, Floats]:
    """Clamp the lengths of differences (N, 3) with Jacobian (N, 3, 12) at the upper whisker."""
    distance = np.linalg.norm(difference, axis=1)
    unit = difference / np.where(distance > 0, distance, 1.0)[:, None]
    of_distance = np.einsum("na,nax->nx", unit, J)
    limit, of_limit = 0.0, np.zeros(J.shape[2])
    for quantile, factor in ((0.75, 1.0 + WHISKER), (0.25, -WHISKER)):
        value, slope = _quantile(distance, of_distance, quantile)
        limit += factor * value
        of_limit += factor * slope
    far = distance > limit
    r, out = difference.copy(), J.copy()
    r[far] = 0.0
    out[far] = 0.0
    # One residual of the clamp's length replaces the three: the direction has no effect.
    r[far, 0] = limit
    out[far, 0] = of_limit
    return r, out


def _quantile(values: Floats, slopes: Floats, quantile: float) -> tuple[float, Floats]:
    """Return a quantile of values (N,) and its derivative, for derivatives (N, n) of the values."""
    order = np.argsort(values)
    position = min(max(quantile * len(values) - 0.5, 0.0), len(values) - 1.0)
    low = int(position)
    high = min(low + 1, len(values) - 1)
    share = position - low
    value = (1.0 - share) * values[order[low]] + share * values[order[high]]
    slope: Floats = (1.0 - share) * slopes[order[low]] + share * slopes[order[high]]
    return float(value), slope
