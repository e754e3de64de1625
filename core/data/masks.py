"""The known points of a ground truth, and measures of them alone."""

from __future__ import annotations

import numpy as np

from ..foundation.exceptions import InputError
from ..foundation.linalg import procrustes
from ..foundation.types import Bools, Floats
from .sequence import GroundTruth


def known_points(points: Floats) -> Bools:
    """Return which points of (G, 3, P) are known, that is finite, (G, P)."""
    finite: Bools = np.all(np.isfinite(points), axis=1)
    return finite


def frames_of(estimate: Floats, truth: GroundTruth) -> Floats:
    """Return the frames of an estimate (F, 3, P) that have truth, (G, 3, P)."""
    if not isinstance(truth, GroundTruth):
        raise InputError(f"the ground truth is of type {type(truth).__name__}; accepted is a GroundTruth")
    estimate = np.asarray(estimate, dtype=float)
    points = truth.points.shape[2]
    if estimate.ndim != 3 or estimate.shape[1:] != (3, points) or len(estimate) <= truth.frames.max():
        raise InputError(
            f"the estimate has shape {estimate.shape}; accepted is (F, 3, {points}) with F above "
            f"{truth.frames.max()}, as the ground truth has"
        )
    chosen: Floats = estimate[truth.frames]
    return chosen


def mean_of(values: Floats, known: Bools) -> Floats:
    """Return the means (G,) of the known ones of values (G, P); 0 where there are none."""
    mean: Floats = np.where(known, values, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return mean


def side_by_side(points: Floats) -> Floats:
    """Return the points of all frames as one set, (3, G P)."""
    return np.moveaxis(points, 0, 1).reshape(3, -1)


def common_size(source: Floats, target: Floats, *, reflection: bool = False) -> float:
    """Return the one factor that fits the sizes of all frames (G, 3, P) to those of the target best.

    The minimum over c, and over a rotation R_g and a t_g for every frame g, of
    sum_g |c R_g X_g + t_g 1' - Z_g|^2: the R_g do not depend on c, so that c is the mean of the factors of
    single frames, weighted by the squared sizes of their X_g. 1 where no frame has a size. Points that are
    not finite in either are left out, as `procrustes` does.
    """
    known = (known_points(source) & known_points(target))[:, None]
    count = np.maximum(known.sum(axis=2, keepdims=True), 1)
    shown = np.where(known, source, 0.0)
    centered = np.where(known, shown - shown.sum(axis=2, keepdims=True) / count, 0.0)
    sizes = (centered**2).sum(axis=(1, 2))
    total = float(sizes.sum())
    factors = procrustes(source, target, reflection=reflection).scale
    return float((factors * sizes).sum()) / total if total > 0 else 1.0


def quantile_of_known(values: Floats, share: float = 0.5) -> Floats:
    """Return a quantile over the first axis of what is a number, NaN where nothing is, without warnings."""
    values = np.sort(values, axis=0)  # NaN comes last; `np.nanquantile` is slow
    known = (~np.isnan(values)).sum(axis=0, keepdims=True)
    place = share * np.maximum(known - 1, 0)
    low = np.floor(place).astype(np.int64)
    high = np.ceil(place).astype(np.int64)
    below, above = np.take_along_axis(values, low, 0), np.take_along_axis(values, high, 0)
    found: Floats = (below + (place - low) * (above - below))[0]
    return found
