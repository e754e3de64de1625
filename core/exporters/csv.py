"""A table in long format, one row per frame and point, both counted from 0.

Columns: frame, point, x, y, z (the shape), visible (0 or 1), u, v (the measured track, empty where hidden),
u_fit, v_fit (the reprojection), the last four in the units of the tracks.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

from ..atomic import replacing
from .options import shapes

if TYPE_CHECKING:
    from pathlib import Path

    from ..result import Result
    from .options import ExportOptions

COLUMNS = ("frame", "point", "x", "y", "z", "visible", "u", "v", "u_fit", "v_fit")


def write(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write all frames, or the one chosen."""
    measured = result.observations()
    fitted = result.reprojections()
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(COLUMNS)
        for frame, points in shapes(result, options, every=True):
            values = np.concatenate((points, measured[frame], fitted[frame])).T
            for point, (row, visible) in enumerate(
                zip(values.tolist(), result.visible[frame].tolist(), strict=True)
            ):
                cells = ["" if value != value else repr(value) for value in row]  # NaN is an empty cell
                table.writerow([frame, point, *cells[:3], int(visible), *cells[3:]])
    return [path]
