"""TRC, the text table of markers that programs of biomechanics read: OpenSim, Mokka, Pose2Sim.

Five lines of head, then a row for every frame: its number from 1, its time in seconds, and x, y, z of every
marker, separated by tabs. Markers have the names of the points, or P1, P2 ... Lengths are in mm, cm or m;
other lengths become meters, and what has no unit of length is written as if it were in meters. y points up,
as OpenSim has it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...foundation.atomic import replacing
from ...foundation.exceptions import printable
from ...reconstruction.scale import METERS
from .options import aligned_shapes, frame_rate, unit_of, with_progress
from .scene import TURN, require_finite

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ...reconstruction.result import Result
    from .options import ExportOptions

UNITS = ("mm", "cm", "m")  # that those programs know
HEADINGS = (
    *("DataRate", "CameraRate", "NumFrames", "NumMarkers", "Units"),
    *("OrigDataRate", "OrigDataStartFrame", "OrigNumFrames"),
)


def write(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write all frames. Raises InputError where a coordinate is not finite."""
    unit, rate = unit_of(result, options), frame_rate(result, options)
    points = TURN[:, None] * aligned_shapes(result, options)
    if unit not in UNITS:
        unit, points = "m", METERS.get(unit, 1.0) * points
    require_finite(points, path, "TRC")
    frames, markers = result.frame_count, result.point_count
    speed = f"{rate:.10g}"
    values = (speed, speed, frames, markers, unit, speed, 1, frames)
    names = _marker_names(result.meta.get("point_names") or (), markers)
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{printable(path.name)}",
        "\t".join(HEADINGS),
        "\t".join(map(str, values)),
        "Frame#\tTime\t" + "\t\t\t".join(names) + "\t\t",
        "\t\t" + "\t".join(f"{axis}{number}" for number in range(1, markers + 1) for axis in "XYZ"),
        "",
    ]
    for frame, shape in with_progress(list(enumerate(points)), options):
        row = (f"{value:.6f}" for value in shape.T.ravel().tolist())
        lines.append(f"{frame + 1}\t{frame / rate:.6f}\t" + "\t".join(row))
    with replacing(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return [path]


def _marker_names(names: Iterable[str], count: int) -> list[str]:
    """Return names without spaces, no two of them the same."""
    found: list[str] = []
    for number, name in enumerate([*names] or [""] * count, start=1):
        plain = re.sub(r"\s+", "_", str(name).strip()) or f"P{number}"
        found.append(f"{plain}_{number}" if plain in found else plain)
    return found
