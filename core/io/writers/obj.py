"""Wavefront OBJ: points, triangles where known, else skeleton edges as lines. Indices count from 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...foundation.exceptions import InputError
from .options import write_each

if TYPE_CHECKING:
    from pathlib import Path

    from ...foundation.types import Floats
    from ...reconstruction.result import Result
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
    items = _items(result)

    def write_one(file: Path, frame: int, points: Floats) -> None:
        lines = [f"# frame {frame + 1} of {result.frame_count}", f"o frame_{frame + 1}"]
        lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in points.T.tolist()]
        file.write_text("\n".join([*lines, *items]) + "\n", encoding="ascii")

    return write_each(result, path, options, write_one)


def _items(result: Result) -> list[str]:
    """Return the lines that are the same in all frames."""
    if result.faces is not None and len(result.faces):
        return ["f " + " ".join(map(str, corners)) for corners in (result.faces + 1).tolist()]
    if result.edges is not None and len(result.edges):
        return [f"l {first} {second}" for first, second in (result.edges + 1).tolist()]
    return ["p " + " ".join(str(point + 1) for point in range(result.point_count))]
