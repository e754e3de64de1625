"""Every point's path through the frames, with its errors: a row per frame and point, both counted from 0.

Columns: frame, point; x, y, z; visible (0 or 1); reprojection_error, the distance of the reprojection and the
track, empty where hidden; error_3d, the distance to the ground truth after the alignment, empty where there
is none. Units are part of the names, as in `x_mm` and `reprojection_error_px`; x, y, z without one are in
calibrated units. Frames without ground truth take the alignment of the nearest frame that has one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .csv import write_table
from .options import laid, unit_of

if TYPE_CHECKING:
    from pathlib import Path

    from ...foundation.types import Bools, Floats
    from ...reconstruction.result import Result
    from .options import ExportOptions


def write(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write all frames."""
    points = laid(result, options)
    distances = np.linalg.norm(result.observations() - result.reprojections(), axis=1)  # (F, P)
    errors = _errors(result, points, options)
    unit = unit_of(result, options)
    ends = f"_{unit}" if unit else ""
    pixels = result.meta.get("units", "px")
    names = [f"{axis}{ends}" for axis in "xyz"]
    names += ["visible", f"reprojection_error_{pixels}", f"error_3d{ends}"]

    def columns(frame: int, shape: Floats) -> list[Floats | Bools]:
        return [*shape, result.visible[frame], distances[frame], errors[frame]]

    return write_table(path, names, list(enumerate(points)), columns, options)


def _errors(result: Result, points: Floats, options: ExportOptions) -> Floats:
    """Return (F, P) distances to the truth, NaN where there is none or nothing was laid over it."""
    errors = np.full((result.frame_count, result.point_count), np.nan)
    if options.align in ("truth", "sequence") and result.truth is not None:
        frames = result.truth.frames
        errors[frames] = np.linalg.norm(points[frames] - result.truth.points, axis=1)
    return errors
