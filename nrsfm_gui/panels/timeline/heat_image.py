"""The picture of the heat-strip: values of points by frame, pooled where points outnumber pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtGui import QImage

from nrsfm_gui.widgets.colors import error_levels, error_table

if TYPE_CHECKING:
    from core.foundation import Bools, Floats, Ints

TOP_PERCENTILE = 98.0
MANY_IN_A_PIXEL = 100
HIDDEN_OPACITY = 90  # of 255
LUMINANCE = (0.30, 0.59, 0.11)


def heat_image(values: Floats, size: tuple[int, int], top: float, *, hidden: Bools) -> QImage:
    """Return a picture with one column per frame, or fewer where frames outnumber pixels.

    Parameters
    ----------
    values
        (P, F), in the order of the rows; NaN is left transparent.
    size
        columns and rows of the picture at most. Where frames or points outnumber them, the largest value of a
        group shows; of many points it would always be a large one: then the mean of the points shows.
    top
        the value at which the color scale ends.
    hidden
        (P,) points that count only where all of a group are hidden; they are gray.
    """
    columns, rows = min(size[0], values.shape[1]), min(size[1], len(values))
    if columns < values.shape[1]:
        values = np.fmax.reduceat(values, np.arange(columns) * values.shape[1] // columns, axis=1)
    starts = np.arange(rows) * len(values) // rows
    by_mean = len(values) > MANY_IN_A_PIXEL * rows
    gray = np.logical_and.reduceat(hidden, starts)
    counted = ~hidden | np.repeat(gray, np.diff([*starts, len(values)]))
    pooled = values
    if rows < len(values):
        pooled = _pooled(np.where(counted[:, None], values, np.nan), starts, by_mean=by_mean)
    pixels = error_table()[error_levels(pooled, top)]
    if gray.any():
        pixels[gray, :, :3] = (pixels[gray, :, :3] @ LUMINANCE)[:, :, None]
        pixels[gray, :, 3] = HIDDEN_OPACITY
    pixels[~np.isfinite(pooled)] = 0
    pixels = np.ascontiguousarray(pixels)
    return QImage(pixels.tobytes(), columns, rows, 4 * columns, QImage.Format.Format_RGBA8888).copy()


def top_of(values: Floats) -> float:
    """Return the value at which the color scale ends, so that few are beyond it; 1 where all are 0."""
    return float(np.percentile(values[np.isfinite(values)], TOP_PERCENTILE)) or 1.0


def _pooled(values: Floats, starts: Ints, *, by_mean: bool) -> Floats:
    """Return the largest or the mean value of every group of rows, NaN where there is none."""
    known = np.isfinite(values)
    if by_mean:
        counts = np.add.reduceat(known, starts, axis=0, dtype=float)
        totals = np.add.reduceat(np.where(known, values, 0.0), starts, axis=0)
        return np.where(counts > 0, totals / np.maximum(counts, 1.0), np.nan)
    largest = np.maximum.reduceat(np.where(known, values, -1.0), starts, axis=0)
    return np.where(largest < 0, np.nan, largest)
