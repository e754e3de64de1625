"""Tables in long format, one row per frame and point, both counted from 0.

Shapes: frame, point, x, y, z (the shape, y up from the floor unless other coordinates are chosen), visible
(0 or 1), u, v (the measured track, empty where hidden), u_fit, v_fit (the reprojection), the last four in the
units of the tracks; where the result has them std_x, std_y, std_z, the standard deviations along the axes of
the camera in the unit of x, y, z.

Trajectories: frame, point; x, y, z; visible (0 or 1); reprojection_error, the distance of the reprojection
and the track, empty where hidden; error_3d, the distance to the ground truth after the alignment, empty where
there is none; where the result has them std_x, std_y, std_z as above. Units are part of the names, as in
`x_mm` and `reprojection_error_px`; x, y, z without one are in calibrated units. Frames without
ground truth take the alignment of the nearest frame that has one.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

from ...foundation.atomic import replacing
from .options import aligned_shapes, reprojection_errors, shapes, std_of, unit_of, with_progress
from .scene import compare

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from ...foundation.types import Bools, Floats
    from ...reconstruction.result import Result
    from .options import ExportOptions

COLUMNS = ("x", "y", "z", "visible", "u", "v", "u_fit", "v_fit")
STD_COLUMNS = ("std_x", "std_y", "std_z")


def write_shapes(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write the shapes of all frames, or of the one chosen."""
    measured = result.observations()
    fitted = result.reprojections()

    def columns(frame: int, points: Floats) -> list[Floats | Bools]:
        known = [*points, result.visible[frame], *measured[frame], *fitted[frame]]
        return known + _std_columns(result, frame, points)

    chosen = shapes(result, options, every=True)
    names = COLUMNS if result.std is None else COLUMNS + STD_COLUMNS
    return _write_table(path, names, chosen, columns, options)


def _std_columns(result: Result, frame: int, points: Floats) -> list[Floats | Bools]:
    """Return the columns of the standard deviations, none where the result has none."""
    std = std_of(result, frame, points)
    return [] if std is None else [*std]


def _write_table(
    path: Path,
    names: Collection[str],
    chosen: list[tuple[int, Floats]],
    columns: Callable[[int, Floats], list[Floats | Bools]],
    options: ExportOptions,
) -> list[Path]:
    """Write a row per frame and point: their numbers from 0, then the `columns` (P,) of a frame."""
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(("frame", "point", *names))
        for frame, points in with_progress(chosen, options):
            rows = zip(*(column.tolist() for column in columns(frame, points)), strict=True)
            table.writerows([frame, point, *map(_cell, row)] for point, row in enumerate(rows))
    return [path]


def _cell(value: float | bool) -> str:
    """Return a number with all its digits, 0 or 1, or nothing for NaN."""
    if isinstance(value, bool):
        return str(int(value))
    return "" if value != value else repr(value)


def write_trajectories(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write the paths of all points through the frames."""
    points = aligned_shapes(result, options)
    distances = reprojection_errors(result)
    compared = compare(result, options) if options.align in ("truth", "sequence") else None
    errors = np.full(distances.shape, np.nan) if compared is None else compared.errors
    unit = unit_of(result, options)
    ends = f"_{unit}" if unit else ""
    pixels = result.meta.get("units", "px")
    names = [f"{axis}{ends}" for axis in "xyz"]
    names += ["visible", f"reprojection_error_{pixels}", f"error_3d{ends}"]
    if result.std is not None:
        names += [f"{name}{ends}" for name in STD_COLUMNS]

    def columns(frame: int, shape: Floats) -> list[Floats | Bools]:
        known = [*shape, result.visible[frame], distances[frame], errors[frame]]
        return known + _std_columns(result, frame, shape)

    return _write_table(path, names, list(enumerate(points)), columns, options)
