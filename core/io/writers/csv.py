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
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np

from ...foundation.atomic import replacing
from ...foundation.types import Bools, Floats
from ...reconstruction.result import Result
from .options import (
    ExportOptions,
    aligned_shapes,
    reprojection_errors,
    shapes,
    std_of,
    unit_of,
    with_progress,
)
from .scene import compare

COLUMNS = ("x", "y", "z", "visible", "u", "v", "u_fit", "v_fit")
STD_COLUMNS = ("std_x", "std_y", "std_z")


def write_shapes(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write the shapes of all frames, or of the one chosen."""
    measured = result.observations()
    fitted = result.reprojections()

    def columns(frame: int, points: Floats) -> list[Floats | Bools]:
        return [*points, result.visible[frame], *measured[frame], *fitted[frame]]

    return _write_table(result, path, COLUMNS, shapes(result, options, every=True), columns, options)


def _write_table(
    result: Result,
    path: Path,
    names: Collection[str],
    chosen: list[tuple[int, Floats]],
    columns: Callable[[int, Floats], list[Floats | Bools]],
    options: ExportOptions,
    ends: str = "",
) -> list[Path]:
    """Write a row per frame and point: their numbers from 0, then the `columns` (P,) of a frame.

    Standard deviations follow where the result has them; `ends`: what ends their names.
    """
    with_std = [f"{name}{ends}" for name in STD_COLUMNS] if result.std is not None else []
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(("frame", "point", *names, *with_std))
        for frame, points in with_progress(chosen, options):
            std = std_of(result, frame, points)
            known = columns(frame, points) + ([] if std is None else [*std])
            rows = zip(*(column.tolist() for column in known), strict=True)
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

    def columns(frame: int, shape: Floats) -> list[Floats | Bools]:
        return [*shape, result.visible[frame], distances[frame], errors[frame]]

    return _write_table(result, path, names, list(enumerate(points)), columns, options, ends)
