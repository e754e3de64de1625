"""Coloring of points: the values of one frame, and a color scale for all frames of the sequence. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from core.foundation import Floats, read_only
from nrsfm_gui.scene.shapes import Frame, Shapes

TOP = 98.0  # percentile of a distance at which its scale ends: a few strays must not dim all others
ENDS = (1.0, 99.0)  # percentiles of a depth
MOST_VALUES = 60_000  # that the ends of a scale are found from
NO_OTHER = "No run to compare with: choose one in Sequences (Ctrl+D)"


@dataclass(frozen=True, eq=False)
class Coloring:
    """The values that colors encode in one frame."""

    values: Floats | None  # (P,) NaN where unknown; None where the color encodes the role
    limits: tuple[float, float] | None  # ends of the scale, from all frames
    label: str  # name and unit
    missing: str = ""  # what to do, where there is nothing to color by


def coloring(at: Frame, color_by: str, *, track_unit: str, other: Floats | None = None) -> Coloring:
    """Return the values that colors encode in a frame; `other`: (P, 3) the compared run's shape of it."""
    shapes, points = at.now[0], at.values("points")
    if color_by == "role":
        return Coloring(None, None, "")
    if color_by == "difference":
        label = f"run distance ({shapes.unit})"
        if points is None or other is None:
            return Coloring(None, None, label, NO_OTHER)
        distances = np.linalg.norm(points - other, axis=1)
        return Coloring(read_only(distances), _limits(distances, color_by), label)
    if color_by == "error" and shapes.errors is None:
        color_by = "reprojection"
    quantity = QUANTITIES[color_by]
    label = quantity.label.format(track_unit if color_by == "reprojection" else shapes.unit)
    values = quantity.values(at)
    if values is None:
        missing = f"No {quantity.what} to color by: run the solver (Ctrl+R)" if quantity.what else ""
        return Coloring(None, None, label, shapes.why_no_std if color_by == "uncertainty" else missing)
    if color_by == "reprojection" and at.of.fits_exactly:
        return Coloring(None, None, label, "No error to color by: the reprojection error is 0 in all frames")
    return Coloring(read_only(values), _scale(at.of, color_by), label)


def _depth(at: Frame) -> Floats | None:
    points, camera = at.points, at.camera
    if points is None or camera is None:
        return None
    depth: Floats = points @ camera.R[2] + camera.t[2]
    return depth


def _movement(at: Frame) -> Floats | None:
    points, everywhere = at.points, at.of.drawn
    if points is None or everywhere is None:
        return None
    before = everywhere[at.number - 1].T if at.number else np.full(points.shape, np.nan)
    distance: Floats = np.linalg.norm(points - before, axis=1)
    return distance


def _deviation(at: Frame) -> Floats | None:
    points, mean = at.points, at.of.mean_shape
    if points is None or mean is None:
        return None
    distance: Floats = np.linalg.norm(points - mean, axis=1)
    return distance


def _uncertainty(at: Frame) -> Floats | None:
    std = at.values("std")
    spread: Floats | None = None if std is None else np.linalg.norm(std, axis=1)
    return spread


def _index(at: Frame) -> Floats | None:
    points = at.points
    return None if points is None else np.arange(1.0, len(points) + 1)


class Quantity(NamedTuple):
    """What colors can encode."""

    label: str  # name and unit
    what: str  # that is missing before any run
    values: Callable[[Frame], Floats | None]  # (P,)


QUANTITIES = {
    "error": Quantity("3-D error ({})", "error", lambda at: at.values("errors")),
    "reprojection": Quantity("reprojection error ({})", "error", lambda at: at.values("residuals")),
    "depth": Quantity("depth from the camera ({})", "depth", _depth),
    "movement": Quantity("movement since the previous frame ({})", "movement", _movement),
    "deviation": Quantity("distance from the mean shape ({})", "mean shape", _deviation),
    "uncertainty": Quantity("uncertainty, 1 std ({})", "", _uncertainty),
    "index": Quantity("point number", "", _index),
}


def _scale(shapes: Shapes, color_by: str) -> tuple[float, float] | None:
    """Return the ends of the scale over all frames, so that a color means the same in each of them."""
    if color_by not in shapes.scales:
        assert shapes.drawn is not None  # there are values
        frames, count = len(shapes.drawn), shapes.drawn.shape[2]
        step = max(1, -(-frames * count // MOST_VALUES))
        looked_at = [*range(0, frames, step), *([frames - 1] if frames > 1 and step >= frames else [])]
        chosen = [QUANTITIES[color_by].values(Frame(shapes, frame)) for frame in looked_at]
        found = np.concatenate([values for values in chosen if values is not None])
        shapes.scales[color_by] = _limits(found, color_by)
    return shapes.scales[color_by]


def _limits(values: Floats, color_by: str) -> tuple[float, float] | None:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return None
    if color_by == "index":
        return 1.0, max(float(finite.max()), 2.0)
    if color_by == "depth":
        low, high = (float(end) for end in np.percentile(finite, ENDS))
        return (low, high) if high > low else (low - 0.5, low + 0.5)
    return 0.0, float(np.percentile(finite, TOP)) or 1.0
