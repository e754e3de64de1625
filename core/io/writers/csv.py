"""A table in long format, one row per frame and point, both counted from 0.

Columns: frame, point, x, y, z (the shape), visible (0 or 1), u, v (the measured track, empty where hidden),
u_fit, v_fit (the reprojection), the last four in the units of the tracks.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from ...foundation.atomic import replacing
from .options import shapes, watched

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from ...foundation.types import Bools, Floats
    from ...reconstruction.result import Result
    from .options import ExportOptions

COLUMNS = ("x", "y", "z", "visible", "u", "v", "u_fit", "v_fit")


def write(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write all frames, or the one chosen."""
    measured = result.observations()
    fitted = result.reprojections()

    def columns(frame: int, points: Floats) -> list[Floats | Bools]:
        return [*points, result.visible[frame], *measured[frame], *fitted[frame]]

    chosen = shapes(result, options, every=True)
    return write_table(path, COLUMNS, chosen, columns, options)


def write_table(
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
        for frame, points in watched(chosen, options):
            rows = zip(*(column.tolist() for column in columns(frame, points)), strict=True)
            table.writerows([frame, point, *map(_cell, row)] for point, row in enumerate(rows))
    return [path]


def _cell(value: float | bool) -> str:
    """Return a number with all its digits, 0 or 1, or nothing for NaN."""
    if isinstance(value, bool):
        return str(int(value))
    return "" if value != value else repr(value)
