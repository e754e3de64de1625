"""The floor grid and the axis labels of the 3-D view. Numbers only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from nrsfm_gui.model.nice_ticks import nice_step, ticks
from nrsfm_gui.model.numbers import MINUS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.foundation import Floats
    from nrsfm_gui.scene.orbit_camera import Projection

MIN_LABEL_GAP = 26.0  # pixels between ticks below which an axis is not labeled
LABEL_OFFSET = 13.0  # pixels from a tick to its label
STRAIGHT = 0.02  # slope of a ruler that passes for level or upright
ROOM = ((72.0, 72.0), (72.0, 88.0))  # pixels from such a one to the left, right; upper, lower border
AXES = "xyz"
Rectangle = tuple[float, float, float, float]  # left, top, right, bottom, pixels


@dataclass(frozen=True)
class AxisLabel:
    """A text at a pixel."""

    x: float
    y: float
    text: str
    title: bool  # the name of an axis, not a number


@dataclass(frozen=True, eq=False)
class Ruler:
    """One labeled edge: its line and what is written along it."""

    start: Floats  # (2,) pixels
    end: Floats  # (2,) pixels
    labels: tuple[AxisLabel, ...]


def floor_box(extent: Floats) -> tuple[Floats, float]:
    """Return the box (2, 3) of the axes, x and z widened to multiples of the step, and the step."""
    step = nice_step(float((extent[1] - extent[0]).max()))
    box = np.array(extent)
    for axis in (0, 2):
        box[0, axis] = np.floor(extent[0, axis] / step) * step
        box[1, axis] = np.ceil(extent[1, axis] / step) * step
    return box, step


def floor_segments(extent: Floats) -> Floats:
    """Return the grid under an extent (2, 3), as pairs of points (2M, 3). Down is +y."""
    box, step = floor_box(extent)
    level = box[1, 1]
    lines = []
    for x in ticks(box[0, 0], box[1, 0], step):
        lines += [(x, level, box[0, 2]), (x, level, box[1, 2])]
    for z in ticks(box[0, 2], box[1, 2], step):
        lines += [(box[0, 0], level, z), (box[1, 0], level, z)]
    return np.array(lines)


def rulers(extent: Floats, projection: Projection, unit: str) -> list[Ruler]:
    """Return the labeled edges of the floor that face the viewer, and an upright one at its left corner."""
    box, step = floor_box(extent)
    level = box[1, 1]
    corners = np.array([[x, level, z] for x in box[:, 0] for z in box[:, 2]])
    pixels, depth = projection.pixels(corners)
    if not np.isfinite(pixels).all():
        return []
    middle = pixels.mean(axis=0)
    edges = {"x": [(0, 2), (1, 3)], "z": [(0, 1), (2, 3)]}  # indices of corners
    found = []
    for axis, candidates in edges.items():
        nearest = min(candidates, key=lambda pair: depth[list(pair)].sum())
        found.append(_ruler(corners[list(nearest)], AXES.index(axis), step, unit, projection, middle))
    left = corners[int(np.argmin(pixels[:, 0]))]
    upright = np.array([left, [left[0], box[0, 1], left[2]]])
    found.append(_ruler(upright, 1, step, unit, projection, middle))
    return [_moved_inside(ruler, projection) for ruler in found if ruler is not None]


def _moved_inside(ruler: Ruler, projection: Projection) -> Ruler:
    """Move a level or upright ruler of parallel rays into the picture: its numbers hold there as well."""
    if not projection.parallel:
        return ruler
    along = np.abs(ruler.end - ruler.start)
    across = int(np.argmin(along))  # the coordinate that it has all along, if it is level or upright
    if along[across] > STRAIGHT * along.max():
        return ruler
    size = (projection.width, projection.height)[across]
    place = float(ruler.start[across])
    shift = min(max(place, ROOM[across][0]), size - ROOM[across][1]) - place
    move = np.array([shift, 0.0]) if across == 0 else np.array([0.0, shift])
    labels = tuple(replace(each, x=each.x + move[0], y=each.y + move[1]) for each in ruler.labels)
    return Ruler(ruler.start + move, ruler.end + move, labels)


def _ruler(
    line: Floats, axis: int, step: float, unit: str, projection: Projection, middle: Floats
) -> Ruler | None:
    """Label a line (2, 3), away from `middle`; None where its ticks are too close to read."""
    ends, _ = projection.pixels(line)
    if not np.isfinite(ends).all():
        return None
    low, high = sorted(line[:, axis])
    values = ticks(low, high, step)
    along = ends[1] - ends[0]
    length = float(np.hypot(*along))
    count = max((high - low) / step, 1.0)
    if len(values) < 2 or length / count < MIN_LABEL_GAP:
        return None
    outward = np.array([-along[1], along[0]]) / length
    if outward @ (ends.mean(axis=0) - middle) < 0 or (axis == 1 and outward[0] > 0):
        outward = -outward
    where = np.repeat(line[:1], len(values), axis=0)
    where[:, axis] = values
    marks, _ = projection.pixels(where)
    labels = [
        AxisLabel(float(x), float(y), number(value, step), False)
        for (x, y), value in zip(marks + LABEL_OFFSET * outward, values, strict=True)
    ]
    if axis == 1:  # above the upper end, where there is space at any position of the ruler
        title = ends[int(np.argmin(ends[:, 1]))] - (0.0, 1.2 * LABEL_OFFSET)
    else:
        title = ends.mean(axis=0) + 2.7 * LABEL_OFFSET * outward
    labels.append(AxisLabel(float(title[0]), float(title[1]), f"{AXES[axis]} ({unit})", True))
    return Ruler(ends[0], ends[1], tuple(labels))


def without_overlaps(
    found: list[Ruler], character: float, height: float, *, covered: Sequence[Rectangle] = ()
) -> list[Ruler]:
    """Drop the labels that would be written over earlier ones or where something else is.

    Names of axes go before numbers.

    Parameters
    ----------
    found
        rulers with all their labels.
    character, height
        size of a character, pixels.
    covered
        left, top, right and bottom of what is already painted.
    """
    taken: list[AxisLabel] = []
    order = sorted(
        (not label.title, k, m) for k, ruler in enumerate(found) for m, label in enumerate(ruler.labels)
    )
    kept: list[list[AxisLabel]] = [[] for _ in found]
    for _, k, m in order:
        label = found[k].labels[m]
        across, up = character * (len(label.text) + 1) / 2, height / 2
        clear = not any(
            left - across < label.x < right + across and top - up < label.y < bottom + up
            for left, top, right, bottom in covered
        ) and all(
            abs(label.x - other.x) > character * (len(label.text) + len(other.text) + 1) / 2
            or abs(label.y - other.y) > height
            for other in taken
        )
        if clear:
            taken.append(label)
            kept[k].append(label)
    return [replace(ruler, labels=tuple(labels)) for ruler, labels in zip(found, kept, strict=True)]


def number(value: float, step: float) -> str:
    """Return a tick's number with as many decimals as its step needs, and a true minus sign."""
    decimals = max(0, -int(np.floor(np.log10(step) + 1e-9)))
    return f"{value + 0.0:.{decimals}f}".replace("-", MINUS)
