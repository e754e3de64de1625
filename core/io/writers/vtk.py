"""ParaView: a `.pvd` that names a `.vtp` file (VTK PolyData, XML) for every frame.

Time is the number of the frame, from 1. Every point has

    index                 from 0
    visible               0 or 1
    reprojection_error    in the unit of the tracks, NaN where the point is hidden
    error, to_truth       distance to the ground truth in its unit, and the vector to it in that of the points
    std                   standard deviation along x, y, z of the camera

the last three where the result has them, NaN where they are unknown. Cells are triangles where faces are
known, else lines and vertices, or vertices alone. y points up.

Arrays are binary, inside the XML: base64 of the number of bytes (UInt64) and the bytes, together.
"""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from ...foundation.atomic import replacing_many
from ...foundation.exceptions import InputError, printable
from ...foundation.types import Floats, Ints
from ...reconstruction.result import Result
from .options import ExportOptions, numbered, reprojection_errors, shapes, std_of, with_progress
from .scene import Comparison, compare, elements_of

HEAD = (
    '<?xml version="1.0"?>\n'
    '<VTKFile type="{}" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'
)
LONGEST_LIST = 100_000_000  # bytes
TYPES = {"f4": "Float32", "f8": "Float64", "i4": "Int32", "i8": "Int64", "u1": "UInt8"}


def write(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write the list and a file for every frame, or for the chosen one: all of them appear, or none.

    The files of an earlier list of this name that the new one does not name are removed.
    """
    if options.frames != "one":
        raise InputError(f"{path}: there is a numbered .vtp file of every frame anyway")
    if printable(path.name) != path.name:
        raise InputError(f"{path}: is no name that XML can hold, by which .pvd lists its files; name another")
    chosen = shapes(result, options, every=True)
    compared, distances = compare(result, options), reprojection_errors(result)
    files = []
    with replacing_many(path, removed=_files_named_by(path)) as folder:
        for frame, points in with_progress(chosen, options):
            files.append(numbered(path, frame).with_suffix(".vtp"))
            text = _poly_data(result, frame, points, distances[frame], compared)
            (folder / files[-1].name).write_text(text, encoding="ascii")
        rows = [
            f'<DataSet timestep="{frame + 1}" group="" part="0" file={quoteattr(file.name)}/>\n'
            for (frame, _points), file in zip(chosen, files, strict=True)
        ]
        text = f"{HEAD.format('Collection')}<Collection>\n{''.join(rows)}</Collection>\n</VTKFile>\n"
        (folder / path.name).write_text(text, encoding="utf-8")
    return [path, *files]


def _files_named_by(path: Path) -> list[str]:
    """Return the files for frames that an earlier list names; none where there is no list of this writer."""
    if not path.is_file() or path.stat().st_size > LONGEST_LIST:
        return []
    named = re.findall(r'file="([^"]*)"', path.read_text(encoding="utf-8", errors="replace"))
    own = re.compile(rf"{re.escape(path.stem)}_\d{{4,}}\.vtp")
    return [name for name in map(html.unescape, named) if own.fullmatch(name)]


def _poly_data(
    result: Result, frame: int, points: Floats, distances: Floats, compared: Comparison | None
) -> str:
    values = {
        "index": np.arange(result.point_count, dtype=np.int32),
        "visible": result.visible[frame].astype(np.uint8),
        "reprojection_error": distances.astype(np.float32),
    }
    if compared is not None:
        values["error"] = compared.errors[frame].astype(np.float32)
        values["to_truth"] = (compared.points[frame] - points).T.astype(np.float32)
    std = std_of(result, frame, points)
    if std is not None:
        values["std"] = std.T.astype(np.float32)
    drawn, items = elements_of(result)
    cells: dict[str, Ints] = {
        "Verts": np.arange(0 if drawn == "faces" else result.point_count)[:, None],
        "Lines": items if drawn == "edges" else np.zeros((0, 2), dtype=int),
        "Polys": items if drawn == "faces" else np.zeros((0, 3), dtype=int),
    }
    counts = "".join(f' NumberOf{name}="{len(corners)}"' for name, corners in cells.items())
    shown = "error" if "error" in values else "reprojection_error"
    parts = [
        HEAD.format("PolyData"),
        f'<PolyData>\n<Piece NumberOfPoints="{result.point_count}"{counts} NumberOfStrips="0">\n',
        f"<Points>\n{_array('Points', points.T)}</Points>\n",
        f'<PointData Scalars="{shown}">\n',
        *(_array(name, array) for name, array in values.items()),
        "</PointData>\n",
    ]
    for name, corners in cells.items():
        ends = np.arange(1, len(corners) + 1) * corners.shape[1]
        parts.append(
            f"<{name}>\n{_array('connectivity', corners.ravel())}{_array('offsets', ends)}</{name}>\n"
        )
    return "".join([*parts, "</Piece>\n</PolyData>\n</VTKFile>\n"])


def _array(name: str, values: np.ndarray) -> str:
    """Return an array (N,) or (N, components)."""
    kind = values.dtype.str.lstrip("<|=")
    data = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).tobytes()
    text = base64.b64encode(np.uint64(len(data)).tobytes() + data).decode("ascii")
    components = values.shape[1] if values.ndim == 2 else 1
    return (
        f'<DataArray type="{TYPES[kind]}" Name="{name}" NumberOfComponents="{components}" format="binary">'
        f"{text}</DataArray>\n"
    )
