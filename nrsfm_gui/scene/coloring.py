"""Coloring of points: the values of one frame, and a color scale for all frames of the sequence. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from core.foundation import read_only
from nrsfm_gui.scene.ranking import known_means
from nrsfm_gui.scene.shapes import Shapes

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.foundation import Floats

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


def coloring(
    shapes: Shapes, frame: int, color_by: str, *, track_unit: str, other: Floats | None = None
) -> Coloring:
    """Return the values that colors encode in a frame.

    `other`: (P, 3) the compared run's shape of this frame.
    """
    if color_by == "role":
        return Coloring(None, None, "")
    if color_by == "difference":
        label = f"run distance ({shapes.unit})"
        if shapes.points is None or other is None:
            return Coloring(None, None, label, NO_OTHER)
        distances = np.linalg.norm(shapes.points[frame].T - other, axis=1)
        return Coloring(read_only(distances), _limits(distances, color_by), label)
    if color_by == "error" and shapes.errors is None:
        color_by = "reprojection"
    quantity, residuals = QUANTITIES[color_by], None
    label = quantity.label.format(shapes.unit)
    if color_by == "reprojection":
        label, residuals = quantity.label.format(track_unit), shapes.residuals
    values = quantity.values(shapes, frame)
    if values is None:
        missing = f"No {quantity.what} to color by: run the solver (Ctrl+R)" if quantity.what else ""
        return Coloring(None, None, label, shapes.why_no_std if color_by == "uncertainty" else missing)
    if residuals is not None and _kept(shapes, "exact", lambda: not bool((residuals > 0).any())):
        return Coloring(None, None, label, "No error to color by: the reprojection error is 0 in all frames")
    return Coloring(read_only(values), _scale(shapes, color_by), label)


def _drawn(shapes: Shapes) -> Floats | None:
    """Return the colored points (F, 3, P): the estimate, or the truth before there is one."""
    return shapes.truth if shapes.points is None else shapes.points


def _error(shapes: Shapes, frame: int) -> Floats | None:
    return None if shapes.errors is None else shapes.errors[frame]


def _reprojection(shapes: Shapes, frame: int) -> Floats | None:
    return None if shapes.residuals is None else shapes.residuals[frame]


def _depth(shapes: Shapes, frame: int) -> Floats | None:
    points = _drawn(shapes)
    if points is None or shapes.cameras is None:
        return None
    depth: Floats = shapes.cameras.R[frame, 2] @ points[frame] + shapes.cameras.t[frame, 2]
    return depth


def _movement(shapes: Shapes, frame: int) -> Floats | None:
    points = _drawn(shapes)
    if points is None:
        return None
    if frame == 0:
        return np.full(points.shape[2], np.nan)
    distance: Floats = np.linalg.norm(points[frame] - points[frame - 1], axis=0)
    return distance


def _deviation(shapes: Shapes, frame: int) -> Floats | None:
    points = _drawn(shapes)
    if points is None:
        return None
    distance: Floats = np.linalg.norm(
        points[frame] - _kept(shapes, "mean", lambda: known_means(points, 0)), axis=0
    )
    return distance


def _index(shapes: Shapes, frame: int) -> Floats | None:
    points = _drawn(shapes)
    return None if points is None else np.arange(1.0, points.shape[2] + 1)


class Quantity(NamedTuple):
    """What colors can encode."""

    label: str  # name and unit
    what: str  # that is missing before any run
    values: Callable[[Shapes, int], Floats | None]  # (P,) of a frame


QUANTITIES = {
    "error": Quantity("3-D error ({})", "error", _error),
    "reprojection": Quantity("reprojection error ({})", "error", _reprojection),
    "depth": Quantity("depth from the camera ({})", "depth", _depth),
    "movement": Quantity("movement since the previous frame ({})", "movement", _movement),
    "deviation": Quantity("distance from the mean shape ({})", "mean shape", _deviation),
    "uncertainty": Quantity("uncertainty, 1 std ({})", "", Shapes.uncertainty),
    "index": Quantity("point number", "", _index),
}
_memory: WeakKeyDictionary[Shapes, dict[str, object]] = WeakKeyDictionary()


def _kept(shapes: Shapes, key: str, compute: Callable[[], object]) -> object:
    """Return what is computed once for shapes, and forgotten with them."""
    known = _memory.setdefault(shapes, {})
    if key not in known:
        known[key] = compute()
    return known[key]


def share_scales(old: Shapes, new: Shapes) -> None:
    """Use the scales of shapes for others that differ from them in a single frame."""
    _memory[new] = _memory.setdefault(old, {})


def _scale(shapes: Shapes, color_by: str) -> tuple[float, float] | None:
    """Return the ends of the scale over all frames, so that a color means the same in each of them."""

    def compute() -> tuple[float, float] | None:
        points = _drawn(shapes)
        assert points is not None  # there are values
        frames, count = len(points), points.shape[2]
        step = max(1, -(-frames * count // MOST_VALUES))
        chosen = [QUANTITIES[color_by].values(shapes, frame) for frame in range(0, frames, step)]
        if frames > 1 and step >= frames:
            chosen.append(QUANTITIES[color_by].values(shapes, frames - 1))
        return _limits(np.concatenate([values for values in chosen if values is not None]), color_by)

    limits = _kept(shapes, f"scale of {color_by}", compute)
    assert limits is None or isinstance(limits, tuple)
    return limits


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
