"""3-D points that move: the truth, and views of it that are the tracks. C3D of motion capture.

The camera is orthogonal and turns once about the z axis, which points up in most laboratories. In frame f of
F, with a = 2 pi f / F, its rows are right, down and forward:

    R = [cos a, sin a, 0;  0, 0, -1;  -sin a, cos a, 0],    x = (R S)_12.

R is a rotation: its rows are orthonormal, and the third is the cross product of the others.
"""

from __future__ import annotations

import math
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ....data.sequence import CameraModel
from ....foundation.exceptions import InputError
from ....foundation.types import Floats
from ...files.reading_options import ReadingOptions
from ...files.variables import LoadedFile, Parts

_BLOCK = 512  # bytes
_KEY = 0x50  # second byte of each C3D
_INTEL = 84


def turning_views(shapes: Floats, units: str) -> Parts:
    """Return the views of 3-D points (F, 3, P), NaN where one is missing, with the points as their truth."""
    angle = np.linspace(0, 2 * np.pi, len(shapes), endpoint=False)
    rotations = np.zeros((len(shapes), 3, 3))
    rotations[:, 0, 0] = rotations[:, 2, 1] = np.cos(angle)
    rotations[:, 0, 1] = np.sin(angle)
    rotations[:, 2, 0] = -np.sin(angle)
    rotations[:, 1, 2] = -1
    return Parts(
        (rotations @ shapes)[:, :2],
        CameraModel.ORTHOGONAL,
        shapes=shapes,
        rotations=rotations,
        translations=np.zeros((len(shapes), 3)),
        units=units,
        truth_units=units,
        provenance="tracks are views of the 3-D points of the file, by an orthogonal camera that turns "
        "once about their z axis, without noise",
    )


# -- C3D -----------------------------------------------------------------------------------------------------


def is_c3d(content: bytes) -> bool:
    """Return whether bytes begin as a C3D does: the block of its parameters, a key."""
    return len(content) >= 2 * _BLOCK and content[1] == _KEY and 1 <= content[0] * _BLOCK <= len(content)


def load_c3d(path: Path, content: bytes) -> LoadedFile:
    """Return the markers of a C3D: POINTS (F, P, 3), NaN where one is missing, LABELS and UNITS.

    The header has the numbers of points, of the analog values in a frame, of the first and last frame, the
    scale (below 0: the numbers are floats) and the first block of the data. A point is x, y, z and its
    residual, below 0 where it is missing.
    """
    if not is_c3d(content):
        raise InputError("is no C3D file: its second byte is not 80")
    points, analog, first, last = struct.unpack_from("<4H", content, 2)
    scale, start = struct.unpack_from("<fH", content, 12)
    parameters = _parameters(content, (content[0] - 1) * _BLOCK)
    frames = last - first + 1
    kind = np.dtype("<f4" if scale < 0 else "<i2")
    width = 4 * points + analog
    begin, size = (start - 1) * _BLOCK, frames * width * kind.itemsize
    if points < 1 or frames < 1 or begin < _BLOCK or begin + size > len(content):
        raise InputError(
            f"is {len(content)} bytes; its header has {points} markers in the frames {first} to {last}, "
            f"which need {begin + size}"
        )
    values = np.frombuffer(content, kind, frames * width, begin).reshape(frames, width)[:, : 4 * points]
    values = values.reshape(frames, points, 4).astype(np.float64)
    places = values[..., :3] * (1.0 if scale < 0 else scale)
    variables: dict[str, Any] = {"POINTS": np.where(values[..., 3:] < 0, np.nan, places)}
    labels = parameters.get(("POINT", "LABELS"), [])
    if len(labels) >= points:
        variables["LABELS"] = np.array(labels[:points])
    variables["UNITS"] = np.array([*parameters.get(("POINT", "UNITS"), []), "mm"][:1])
    return LoadedFile(path, content, variables)


def _parameters(content: bytes, place: int) -> dict[tuple[str, str], list[str]]:
    """Return the texts among the parameters by group and name.

    An entry is the length of its name, a number (below 0: that of a group, else that of its group), the name,
    the distance to the next entry; a parameter goes on with its type (-1: text), dimensions and values.
    """
    if content[place + 3] not in (0, _INTEL):
        raise ValueError(f"processor {content[place + 3]}; accepted is {_INTEL}, Intel")
    groups: dict[int, str] = {}
    texts: list[tuple[int, str, list[str]]] = []
    place += 4
    while place + 2 <= len(content) and content[place]:
        length, number = struct.unpack_from("<bb", content, place)
        length = abs(length)  # below 0 where it is locked
        name = content[place + 2 : place + 2 + length].decode("latin-1").upper()
        place += 2 + length
        (distance,) = struct.unpack_from("<h", content, place)
        if number < 0:
            groups[-number] = name
        elif struct.unpack_from("<b", content, place + 2)[0] == -1:
            texts.append((number, name, _texts(content, place + 3)))
        if distance <= 0:
            break
        place += distance
    return {(groups.get(number, ""), name): lines for number, name, lines in texts}


def _texts(content: bytes, place: int) -> list[str]:
    """Return the lines of a parameter that is text: characters, then lines, vary fastest."""
    begin = place + 1 + content[place]
    dimensions = list(content[place + 1 : begin]) or [1]
    width, count = dimensions[0], math.prod(dimensions[1:])
    if begin + max(width, 1) * count > len(content):
        raise ValueError("a text that ends after the file")
    lines = [content[begin + width * line : begin + width * (line + 1)] for line in range(count)]
    return [line.decode("latin-1").strip() for line in lines]


def interpret_markers(file: LoadedFile, options: ReadingOptions) -> Parts:
    """Return views of the markers, and the markers as their truth."""
    names = file.variables.get("LABELS")
    return replace(
        turning_views(file.variables["POINTS"].transpose(0, 2, 1), str(file.variables["UNITS"][0]) or "mm"),
        point_names=None if names is None else tuple(names.tolist()),
        producer="C3D",
        roles={"POINTS": "truth", "LABELS": "names", "UNITS": "unit"},
    )
