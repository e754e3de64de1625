"""Read the triangles of a mesh from .npz, .obj, .ply or .txt; the files are not trusted.

trimesh is not used: it reads the valid face `f 1/1/1 2//1 3 4` of an .obj as other corners without an
error, refuses a .ply without a coordinate z, and answers damaged files with a KeyError or an
UnboundLocalError.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from core import InputError
from core.foundation import Ints
from core.io.readers import check_file, describe, load_arrays, parse_matrix, read_bytes
from nrsfm_gui.model.mesh import Triangulation, triangulation_of

MOST_BYTES = 50_000_000  # whose polygons, as lists, need 2 GB at most
LARGEST_INDEX = 2**53  # of a point, up to which whole numbers are exact as floats
MOST_CORNERS = 64  # of one polygon
PLY_TYPES = {
    "char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "float": "f",
    "double": "d", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "float32": "f", "float64": "d",
}  # fmt: skip


def read_triangulation(path: Path, points: int) -> Triangulation:
    """Return the triangles of a file, for sequences of that many points; raises InputError without any.

    An .npz has them as `faces` (T, 3), 0-based. An .obj and a .ply may hold polygons, which are split; their
    vertices must be as many as the points. A .txt has three whole numbers in a row, 0-based, or 1-based where
    the lowest is 1 and the highest the number of points.
    """
    read = READERS.get(path.suffix.lower())
    if read is None:
        wrong = path.suffix or "suffix"
        raise InputError(f"{path}: is no {wrong} that is read; accepted are {', '.join(READERS)}")
    if check_file(path) > MOST_BYTES:
        raise InputError(f"{path}: has more than {MOST_BYTES // 1_000_000} MB, too much for a triangulation")
    faces = read(read_bytes(path), path, points)
    if not len(faces):
        raise InputError(f"{path}: holds no triangle")
    if faces.min() < 0 or faces.max() >= points:
        worst = faces.min() if faces.min() < 0 else faces.max()
        raise InputError(
            f"{path}: names point {worst} (0-based), but the sequence has points 0 to {points - 1}"
        )
    return triangulation_of(faces, points, path.name)


def _read_npz(content: bytes, path: Path, _points: int) -> Ints:
    arrays = load_arrays(content, path)
    name = "faces" if "faces" in arrays else next(iter(arrays)) if len(arrays) == 1 else ""
    if not name:
        raise InputError(f"{path}: has no variable `faces`; it has {describe(arrays)}")
    faces = arrays[name]
    if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu":
        raise InputError(
            f"{path}: {name} is {faces.dtype} of shape {faces.shape}; accepted are whole numbers (T, 3)"
        )
    return faces.astype(np.int64)


def _read_txt(content: bytes, path: Path, points: int) -> Ints:
    table = parse_matrix(content, path)
    whole = np.array_equal(table, np.rint(table)) and np.abs(table).max() <= LARGEST_INDEX
    if table.shape[1] != 3 or not whole:
        raise InputError(
            f"{path}: has {table.shape[1]} numbers in a row; accepted are three whole ones, a triangle"
        )
    faces = table.astype(np.int64)
    one_based = faces.min() == 1 and faces.max() == points
    return faces - 1 if one_based else faces


def _read_obj(content: bytes, path: Path, points: int) -> Ints:
    vertices, polygons = 0, []
    for number, line in enumerate(content.decode("utf-8", errors="replace").splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if words[0] == "v":
            vertices += 1
        elif words[0] == "f":
            try:
                corners = [int(word.split("/", 1)[0]) for word in words[1:]]
            except ValueError:
                raise InputError(f"{path}: line {number} is no face: {line.strip()[:60]!r}") from None
            if 0 in corners:
                raise InputError(f"{path}: line {number} has vertex 0; an .obj counts from 1")
            polygons.append([vertices + corner if corner < 0 else corner - 1 for corner in corners])
    _check_count(vertices, points, path)
    return _split(polygons, path)


def _read_ply(content: bytes, path: Path, points: int) -> Ints:
    head, mark, body = content.partition(b"end_header")
    if not content.startswith(b"ply") or not mark:
        raise InputError(f"{path}: is no .ply file: its header has no beginning or no end")
    body = body[body.find(b"\n") + 1 :]
    form, elements = _ply_header(head.decode("ascii", errors="replace"), path)
    _check_count(next((count for name, count, _ in elements if name == "vertex"), 0), points, path)
    take = _taker(body, form)
    try:
        for name, count, properties in elements:
            if name != "face" and not any(many for _, many, _ in properties):
                take("".join(kind for _, _, kind in properties), count)
                continue
            polygons = []
            for _ in range(count if properties else 0):
                for label, many, kind in properties:
                    corners = take(kind, int(take(many, 1)[0]) if many else 1)
                    if name == "face" and label in ("vertex_indices", "vertex_index"):
                        polygons.append([int(corner) for corner in corners])
            if name == "face":
                return _split(polygons, path)
    except (ValueError, IndexError, StopIteration, struct.error, OverflowError):
        raise InputError(f"{path}: ends before its last face, or holds something that is no number") from None
    return np.zeros((0, 3), dtype=np.int64)


Property = tuple[str, str, str]  # name, type of the number of entries ("" for one), type of an entry


def _ply_header(head: str, path: Path) -> tuple[str, list[tuple[str, int, list[Property]]]]:
    form = ""
    elements: list[tuple[str, int, list[Property]]] = []
    for line in head.splitlines():
        words = line.split()
        try:
            if words[:1] == ["format"]:
                form = words[1]
            elif words[:1] == ["element"]:
                elements.append((words[1], int(words[2]), []))
            elif words[:2] == ["property", "list"]:
                elements[-1][2].append((words[4], PLY_TYPES[words[2]], PLY_TYPES[words[3]]))
            elif words[:1] == ["property"]:
                elements[-1][2].append((words[2], "", PLY_TYPES[words[1]]))
        except (IndexError, KeyError, ValueError):
            raise InputError(f"{path}: its header has a line that is not understood: {line[:60]!r}") from None
    if form not in ("ascii", "binary_little_endian", "binary_big_endian"):
        raise InputError(f"{path}: its format is {form[:30]!r}; accepted are ascii and binary")
    if any(count < 0 for _, count, _ in elements):
        raise InputError(f"{path}: its header has a negative number of elements")
    return form, elements


def _taker(body: bytes, form: str) -> Callable[[str, int], Sequence[Any]]:
    """Return what takes the next numbers, so many of each of some types; those of several are not given."""
    words, stream, order = re.finditer(rb"\S+", body), BytesIO(body), "<" if "little" in form else ">"

    def take_words(kinds: str, length: int) -> list[bytes]:
        if length < 0:
            raise ValueError("a list has fewer than no entries")
        return [next(words)[0] for _ in range(length * len(kinds))]

    def take_bytes(kinds: str, length: int) -> tuple[Any, ...]:
        content = stream.read(length * struct.calcsize(order + kinds))
        return struct.unpack(f"{order}{length}{kinds}", content) if len(kinds) == 1 else ()

    return take_words if form == "ascii" else take_bytes


def _check_count(vertices: int, points: int, path: Path) -> None:
    if vertices != points:
        raise InputError(f"{path}: has {vertices} vertices, but the sequence has {points} points")


def _split(polygons: list[list[int]], path: Path) -> Ints:
    """Return the triangles of polygons, each split into a fan from its first corner."""
    faces = []
    for corners in polygons:
        if not 3 <= len(corners) <= MOST_CORNERS:
            raise InputError(
                f"{path}: has a face of {len(corners)} corners; accepted are 3 to {MOST_CORNERS}"
            )
        faces += [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
    try:
        return np.array(faces, dtype=np.int64).reshape(-1, 3)
    except OverflowError:
        raise InputError(f"{path}: names a point with a number that is far too large") from None


READERS = {".npz": _read_npz, ".obj": _read_obj, ".ply": _read_ply, ".txt": _read_txt}
