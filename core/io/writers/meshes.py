"""Points with triangles where they are known, else with skeleton edges: Wavefront OBJ and PLY, y up.

OBJ counts indices from 1.  PLY is binary (little-endian) or text. Its points have `visible`, and where the
result has them `std_x`, `std_y`, `std_z`: standard deviations along the axes of the camera. Stacked PLY files
hold all frames, one after the other, and an integer property `frame`, counted from 0, for every point. The
last properties are `index`, counted from 0; `reprojection_error`, NaN where the point is hidden; and, where
there is a ground truth, `error`, the distance to it, NaN where it is unknown. Programs like CloudCompare and
MeshLab show them as scalar fields. Comments name the units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...foundation.atomic import replacing
from ...foundation.exceptions import InputError
from .options import COORDINATES, reprojection_errors, shapes, std_of, unit_of, with_progress, write_each
from .scene import compare, elements_of

if TYPE_CHECKING:
    from pathlib import Path

    from ...foundation.types import Floats
    from ...reconstruction.result import Result
    from .options import ExportOptions
    from .scene import Comparison

# -- OBJ -----------------------------------------------------------------------------------------------------


def write_obj(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write one frame, or a numbered file for every frame."""
    if options.frames == "stacked":
        raise InputError(f"{path}: OBJ cannot hold all frames in one file; write numbered files, or a .ply")
    elements = _obj_elements(result)

    def write_one(file: Path, frame: int, points: Floats) -> None:
        lines = [f"# frame {frame + 1} of {result.frame_count}", f"o frame_{frame + 1}"]
        lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in points.T.tolist()]
        file.write_text("\n".join([*lines, *elements]) + "\n", encoding="ascii")

    return write_each(result, path, options, write_one)


def _obj_elements(result: Result) -> list[str]:
    """Return the lines that are the same in all frames."""
    drawn, items = elements_of(result)
    if drawn == "points":
        items = items.T
    letter = {"faces": "f", "edges": "l", "points": "p"}[drawn]
    return [" ".join([letter, *map(str, row)]) for row in (items + 1).tolist()]


# -- PLY -----------------------------------------------------------------------------------------------------

TYPES = {"<f8": "double", "<f4": "float", "<i4": "int", "u1": "uchar"}


def write_ply(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write one frame, a numbered file for every frame, or all frames stacked in one file."""
    compared, distances = compare(result, options), reprojection_errors(result)

    def write_file(file: Path, chosen: list[tuple[int, Floats]]) -> None:
        _write_ply_file(result, file, chosen, options, compared, distances)

    if options.frames == "stacked":
        with replacing(path) as temporary:
            write_file(temporary, list(with_progress(shapes(result, options), options)))
        return [path]
    return write_each(result, path, options, lambda file, frame, points: write_file(file, [(frame, points)]))


def _write_ply_file(
    result: Result,
    path: Path,
    chosen: list[tuple[int, Floats]],
    options: ExportOptions,
    compared: Comparison | None,
    distances: Floats,
) -> None:
    stacked = options.frames == "stacked"
    elements = {"vertex": _vertices(result, chosen, compared, distances, stacked=stacked)}
    offsets = result.point_count * np.arange(len(chosen))
    drawn, items = elements_of(result)
    if drawn != "points":
        elements[drawn[:-1]] = _index_table(items, offsets, face=drawn == "faces")
    lines = ["ply", f"format {'ascii' if options.text else 'binary_little_endian'} 1.0"]
    first, last = chosen[0][0] + 1, chosen[-1][0] + 1  # as people count
    frames = f"frame {first}" if first == last else f"frames {first} to {last}"
    lines.append(f"comment {frames}, alignment: {options.alignment}")
    lines.append(f"comment coordinates: {COORDINATES[options.coordinates]}")
    lines.append(f"comment x, y, z in {unit_of(result, options) or 'calibrated units'}")
    lines.append(f"comment reprojection_error in {result.meta.get('units', 'px')}")
    if compared is not None:
        lines.append(f"comment error in {compared.unit}, {compared.alignment}")
    for name, table in elements.items():
        lines.append(f"element {name} {len(table)}")
        lines += _properties(table)
    header = "\n".join([*lines, "end_header"]) + "\n"
    with path.open("wb") as stream:
        stream.write(header.encode("ascii", "replace"))
        for table in elements.values():
            if options.text:
                rows = (" ".join(map(repr, row)) for row in table.tolist())
                stream.write(("\n".join(rows) + "\n").encode("ascii"))
            else:
                stream.write(table.tobytes())


def _properties(table: np.ndarray) -> list[str]:
    names = table.dtype.names or ()
    if "count" in names:
        return ["property list uchar int vertex_indices"]
    return [f"property {TYPES[table.dtype[name].str.lstrip('|')]} {name}" for name in names]


def _vertices(
    result: Result,
    chosen: list[tuple[int, Floats]],
    compared: Comparison | None,
    distances: Floats,
    *,
    stacked: bool,
) -> np.ndarray:
    columns = [("x", "<f8"), ("y", "<f8"), ("z", "<f8"), ("visible", "u1")]
    if result.std is not None:
        columns += [("std_x", "<f8"), ("std_y", "<f8"), ("std_z", "<f8")]
    if stacked:
        columns.append(("frame", "<i4"))
    columns += [("index", "<i4"), ("reprojection_error", "<f4")]
    if compared is not None:
        columns.append(("error", "<f4"))
    count = result.point_count
    table = np.zeros(count * len(chosen), dtype=columns)
    for index, (frame, points) in enumerate(chosen):
        rows = table[index * count : (index + 1) * count]
        for name, values in zip("xyz", points, strict=True):
            rows[name] = values
        rows["visible"] = result.visible[frame]
        std = std_of(result, frame, points)
        if std is not None:
            for name, values in zip(("std_x", "std_y", "std_z"), std, strict=True):
                rows[name] = values
        if stacked:
            rows["frame"] = frame
        rows["index"] = np.arange(count)
        rows["reprojection_error"] = distances[frame]
        if compared is not None:
            rows["error"] = compared.errors[frame]
    return table


def _index_table(items: np.ndarray, offsets: np.ndarray, *, face: bool) -> np.ndarray:
    """Return edges or faces, repeated for every frame with the offset of its points, as PLY records."""
    corners = [f"vertex{number + 1}" for number in range(items.shape[1])]
    columns = [(name, "<i4") for name in corners]
    table = np.zeros(len(items) * len(offsets), [("count", "u1"), *columns] if face else columns)
    if face:
        table["count"] = len(corners)
    for name, column in zip(corners, items.T, strict=True):
        table[name] = (column + offsets[:, None]).ravel()
    return table
