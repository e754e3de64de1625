"""The quality of a reconstruction: its errors over all frames and points. A value and a pure function."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.foundation import Floats
    from nrsfm_gui.scene.shapes import Shapes

MOST_NAMED = 3  # outliers that are named one by one


@dataclass(frozen=True)
class Quality:
    """The errors of a reconstruction over all frames and points; None where unknown."""

    reprojection: float | None  # RMS, in the units of the tracks
    error: float | None  # mean 3-D distance, in `unit`
    unit: str
    alignment: str
    # of a low-rank solution, see `core.reconstruction.geometry`
    figures: Mapping[str, Any] = field(default_factory=dict)
    without: float | None = None  # mean 3-D distance without outliers of the truth, where it has some
    outliers: int = 0  # how many these are
    worst_outliers: tuple[tuple[int, int], ...] = ()  # frame and point of those with the largest errors
    known: int = 0  # points of all frames that have a 3-D distance
    uncertainty: float | None = None  # mean standard deviation of the places of the points, in `unit`
    size: float | None = None  # of the object, in `unit`: lengths are relative to it
    held_out: float | None = None  # as `reprojection`, of the observations that are hidden from the solver
    e3d: float | None = None  # normalized as published, for orthogonal cameras


def quality(shapes: Shapes) -> Quality:
    """Return the errors of the drawn shapes."""
    reprojection = error = without = None
    outliers, count = 0, 0
    worst: tuple[tuple[int, int], ...] = ()
    if shapes.residuals is not None:
        seen = shapes.residuals[np.isfinite(shapes.residuals)]
        reprojection = float(np.sqrt(np.mean(seen**2))) if seen.size else None
    if shapes.errors is not None:
        known = shapes.errors[np.isfinite(shapes.errors)]
        error, count = (float(known.mean()) if known.size else None), known.size
        if shapes.errors_without is not None:
            kept = shapes.errors_without[np.isfinite(shapes.errors_without)]
            without, outliers = float(kept.mean()), count - kept.size
            worst = _largest(np.where(np.isnan(shapes.errors_without), shapes.errors, np.nan))
    spread = shapes.uncertainty()
    uncertainty = None if spread is None or not np.isfinite(spread).any() else float(np.nanmean(spread))
    return Quality(
        reprojection=reprojection,
        error=error,
        unit=shapes.unit,
        alignment=shapes.alignment_name,
        figures=shapes.figures,
        without=without,
        outliers=outliers,
        worst_outliers=worst,
        known=count,
        uncertainty=uncertainty,
        size=shapes.size,
        held_out=shapes.held_out,
        e3d=shapes.e3d,
    )


def _largest(errors: Floats) -> tuple[tuple[int, int], ...]:
    """Return frame and point of the largest ones of errors (F, P), NaN for none."""
    known = np.argwhere(np.isfinite(errors))
    order = np.argsort(-errors[tuple(known.T)])[:MOST_NAMED]
    return tuple((frame, point) for frame, point in known[order].tolist())
