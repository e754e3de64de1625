"""Means of errors of which some are missing, and the order from the largest to the smallest. No Qt."""

from __future__ import annotations

import numpy as np

from core.foundation import Floats, Ints


def known_means(values: Floats, axis: int) -> Floats:
    """Return means of (F, P) values along an axis, NaN where there is none."""
    known = np.isfinite(values)
    counts, totals = known.sum(axis=axis), np.where(known, values, 0.0).sum(axis=axis)
    return np.where(counts > 0, totals / np.maximum(counts, 1), np.nan)


def worst_first(values: Floats) -> Ints:
    """Return the order of (N,) values from the largest to the least; NaN last; the sort is stable."""
    return np.argsort(-np.nan_to_num(values, nan=-np.inf, posinf=np.inf), kind="stable")


def next_worst(values: Floats, present: int | None) -> int | None:
    """Return which of (N,) values follows `present` from the largest down; at last the largest."""
    order = [int(place) for place in worst_first(values) if np.isfinite(values[place])]
    if not order:
        return None
    return order[(order.index(present) + 1) % len(order)] if present in order else order[0]
