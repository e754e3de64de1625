"""Values of every point over all frames: errors, worst frame, share of frames with a track. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from core import Sequence
from core.data import GROUND_TRUTH
from core.foundation import Floats
from nrsfm_gui.scene.ranking import known_means
from nrsfm_gui.scene.shapes import Shapes


@dataclass(frozen=True, eq=False)
class PointTable:
    """A row per point; NaN where there is none."""

    reprojection: Floats  # (P,) mean over frames, in `track_unit`
    error: Floats  # (P,) mean 3-D error over frames, in `unit`
    worst_frame: Floats  # (P,) 0-based, by the 3-D error where the point has one, else by reprojection
    seen: Floats  # (P,) share of the frames in which the point was measured
    track_unit: str
    unit: str
    alignment: str = ""  # of the 3-D errors, in words
    truth: str = GROUND_TRUTH  # what they are the distance to
    names: tuple[str, ...] | None = None  # of the points
    weight: Floats | None = None  # (P,) mean weight under a robust loss over the frames that were solved
    uncertainty: Floats | None = None  # (P,) mean standard deviation over frames, in `unit`
    size: float | None = None  # of the object, in `unit`


@dataclass(frozen=True, eq=False)
class PointCourse:
    """One point over all frames; NaN, or None, where there is none."""

    point: int
    reprojection: Floats | None  # (F,) in the tracks' units
    error: Floats | None  # (F,) in the unit of the shapes
    path: Floats | None  # (F, 3) of the estimate
    truth: Floats | None  # (F, 3)
    std: Floats | None = None  # (F, 3) standard deviations of the path


def point_table(sequence: Sequence, shapes: Shapes) -> PointTable:
    """Return the table of the points of a sequence and its reconstruction."""
    none = np.full(sequence.point_count, np.nan)
    residuals, errors, uncertainty = shapes.residuals, shapes.errors, shapes.uncertainty
    worst = none if residuals is None else _worst_frames(residuals)
    if errors is not None:
        by_error = _worst_frames(errors)
        worst = np.where(np.isfinite(by_error), by_error, worst)
    return PointTable(
        reprojection=none if residuals is None else known_means(residuals, 0),
        error=none if errors is None else known_means(errors, 0),
        worst_frame=worst,
        seen=sequence.visible.mean(axis=0),
        track_unit=sequence.units,
        unit=shapes.unit,
        alignment=shapes.alignment_name if errors is not None else "",
        truth=sequence.truth_name,
        names=sequence.point_names,
        weight=_mean_weights(shapes),
        uncertainty=None if uncertainty is None else known_means(uncertainty, 0),
        size=shapes.size,
    )


def point_courses(shapes: Shapes, points: Iterable[int]) -> list[PointCourse]:
    """Return some points over all frames."""
    known = shapes.residuals, shapes.errors, shapes.points, shapes.truth
    courses = []
    for point in points:
        values = [None if each is None else each[..., point] for each in known]
        courses.append(PointCourse(point, *[*values, shapes.std_of_coordinates(point)]))
    return courses


def _mean_weights(shapes: Shapes) -> Floats | None:
    """Return (P,) the mean weights of the observations that were solved, None with least squares."""
    if shapes.weights is None or shapes.residuals is None:
        return None
    return known_means(np.where(np.isfinite(shapes.residuals), shapes.weights, np.nan), 0)


def _worst_frames(values: Floats) -> Floats:
    """Return (P,) the frames with the largest of (F, P) values."""
    known = np.isfinite(values)
    frames = np.where(known, values, -np.inf).argmax(axis=0)
    return np.where(known.any(axis=0), frames, np.nan)
