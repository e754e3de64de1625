"""Wavefront OBJ: points, triangles where known, else skeleton edges as lines. Indices count from 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..arrays import InputError
from ..atomic import replacing
from .options import numbered, shapes

if TYPE_CHECKING:
    from pathlib import Path

    from ..arrays import Floats
    from ..result import Result
    from .options import ExportOptions


def write(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write one frame, or a numbered file for every frame.

    Raises
    ------
    InputError
        where all frames are asked for in one file: OBJ cannot tell which frame a point belongs to.
    """
    if options.frames == "stacked":
        raise InputError(f"{path}: OBJ cannot hold all frames in one file; write numbered files, or a .ply")
    paths = []
    for frame, points in shapes(result, options):
        paths.append(numbered(path, frame) if options.frames == "numbered" else path)
        _write(result, paths[-1], frame, points)
    return paths


def _write(result: Result, path: Path, frame: int, points: Floats) -> None:
    lines = [f"# frame {frame}", f"o frame_{frame}"]
    lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in points.T.tolist()]
    if result.faces is not None and len(result.faces):
        lines += ["f " + " ".join(map(str, corners)) for corners in (result.faces + 1).tolist()]
    elif result.edges is not None and len(result.edges):
        lines += [f"l {first} {second}" for first, second in (result.edges + 1).tolist()]
    else:
        lines += ["p " + " ".join(str(point + 1) for point in range(result.point_count))]
    with replacing(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="ascii")
