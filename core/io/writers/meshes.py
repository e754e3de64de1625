"""Points with triangles where they are known, else with skeleton edges: Wavefront OBJ and PLY, y up.

OBJ counts indices from 1.  PLY is binary (little-endian) or text. Its points have `visible`, and where the
result has them `std_x`, `std_y`, `std_z`: standard deviations along the axes of the camera. Stacked PLY files
hold all frames, one after the other, and an integer property `frame`, counted from 0, for every point. The
last properties are `index`, counted from 0; `reprojection_error`, NaN where the point is hidden; and, where
there is a ground truth, `error`, the distance to it, NaN where it is unknown. Programs like CloudCompare and
MeshLab show them as scalar fields. Comments name the units.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...foundation.atomic import replacing
from ...foundation.exceptions import InputError
from ...foundation.types import Floats
from ...reconstruction.result import Result
from .options import (
    COORDINATES,
    ExportOptions,
    reprojection_errors,
    shapes,
    std_of,
    unit_of,
    with_progress,
    write_each,
)
from .scene import Comparison, compare, elements_of

# -- OBJ -----------------------------------------------------------------------------------------------------


def write_obj(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write one frame, or a numbered file for every frame."""
    if options.frames == "stacked":
        raise InputError(f"{path}: OBJ cannot hold all frames in one file; write numbered files, or a .ply")
    drawn, items = elements_of(result)
    letter = {"faces": "f", "edges": "l", "points": "p"}[drawn]
    rows = items.T if drawn == "points" else items
    elements = [" ".join([letter, *map(str, row)]) for row in (rows + 1).tolist()]  # the same in all frames

    def write_one(file: Path, frame: int, points: Floats) -> None:
        lines = [f"# frame {frame + 1} of {result.frame_count}", f"o frame_{frame + 1}"]
        lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in points.T.tolist()]
        file.write_text("\n".join([*lines, *elements]) + "\n", encoding="ascii")

    return write_each(result, path, options, write_one)


# -- PLY -----------------------------------------------------------------------------------------------------

TYPES = {"<f8": "double", "<f4": "float", "<i4": "int", "u1": "uchar"}


def write_ply(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write one frame, a numbered file for every frame, or all frames stacked in one file."""
    compared, distances = compare(result, options), reprojection_errors(result)
    drawn, items = elements_of(result)

    def write_file(file: Path, chosen: list[tuple[int, Floats]]) -> None:
        vertices = [_vertices(result, *each, compared, distances, options) for each in chosen]
        elements = {"vertex": np.concatenate(vertices)}
        if drawn != "points":
            offsets = result.point_count * np.arange(len(chosen))
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
            lines += [f"element {name} {len(table)}", *_properties(table)]
        with file.open("wb") as stream:
            stream.write(("\n".join([*lines, "end_header"]) + "\n").encode("ascii", "replace"))
            for table in elements.values():
                stream.write(_as_text(table) if options.text else table.tobytes())

    if options.frames == "stacked":
        with replacing(path) as temporary:
            write_file(temporary, list(with_progress(shapes(result, options), options)))
        return [path]
    return write_each(result, path, options, lambda file, frame, points: write_file(file, [(frame, points)]))


def _as_text(table: np.ndarray) -> bytes:
    return ("\n".join(" ".join(map(repr, row)) for row in table.tolist()) + "\n").encode("ascii")


def _properties(table: np.ndarray) -> list[str]:
    names = table.dtype.names or ()
    if "count" in names:
        return ["property list uchar int vertex_indices"]
    return [f"property {TYPES[table.dtype[name].str.lstrip('|')]} {name}" for name in names]


def _vertices(
    result: Result,
    frame: int,
    points: Floats,
    compared: Comparison | None,
    distances: Floats,
    options: ExportOptions,
) -> np.ndarray:
    """Return the points of one frame as PLY records."""
    count, std = result.point_count, std_of(result, frame, points)
    columns = dict(zip("xyz", points, strict=True)) | {"visible": result.visible[frame].astype(np.uint8)}
    if std is not None:
        columns |= zip(("std_x", "std_y", "std_z"), std, strict=True)
    if options.frames == "stacked":
        columns["frame"] = np.full(count, frame, np.int32)
    columns["index"] = np.arange(count, dtype=np.int32)
    columns["reprojection_error"] = distances[frame].astype(np.float32)
    if compared is not None:
        columns["error"] = compared.errors[frame].astype(np.float32)
    kinds = [(name, values.dtype.newbyteorder("<")) for name, values in columns.items()]
    table = np.empty(count, dtype=kinds)
    for name, values in columns.items():
        table[name] = values
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
