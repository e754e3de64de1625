"""3-D points that move: the truth, and views of it that are the tracks. C3D files of motion capture.

The camera is orthogonal and turns once about the z axis, which points up in most laboratories. In frame f of
F, with a = 2 pi f / F, its rows are right, down and forward:

    R = [cos a, sin a, 0;  0, 0, -1;  -sin a, cos a, 0],    x = (R S)_12.

R is a rotation: its rows are orthonormal, and the third is the cross product of the others.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...data.sequence import CameraModel
from ...foundation.exceptions import InputError
from .variables import LoadedFile, Parts

if TYPE_CHECKING:
    from pathlib import Path

    from ...foundation.types import Floats
    from .reading_options import ReadingOptions

_BLOCK = 512  # bytes
_KEY = 0x50  # second byte of each C3D


def turning_views(shapes: Floats, units: str) -> Parts:
    """Return the views of 3-D points (F, 3, P), NaN where one is missing, with the points as their truth.

    Parameters
    ----------
    shapes
        (F, 3, P), z up.
    units
        of the shapes.

    Returns
    -------
    Parts
        orthogonal.
    """
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
    """Return whether bytes begin as a C3D does: the block of its parameters, a key, numbers of points."""
    return len(content) >= 2 * _BLOCK and content[1] == _KEY and 2 <= content[0] * _BLOCK <= len(content)


def load_c3d(path: Path, content: bytes) -> LoadedFile:
    """Return the markers of a C3D: POINTS (F, P, 3), NaN where one is missing, LABELS and UNITS.

    Raises
    ------
    InputError
        where ezc3d is not installed, or the file cannot be read or holds no points.
    """
    try:
        import ezc3d
    except ImportError:
        raise InputError(
            "is a C3D file of motion capture, which needs ezc3d: pip install 'nrsfm-gui[c3d]'"
        ) from None
    points, first, last = (struct.unpack_from("<H", content, place)[0] for place in (2, 6, 8))
    try:
        read = ezc3d.c3d(str(path))
        values = np.asarray(read["data"]["points"], dtype=np.float64)
        about = read["parameters"]["POINT"]
        residuals = np.asarray(read["data"]["meta_points"]["residuals"])
        labels, units = about["LABELS"]["value"], about["UNITS"]["value"]
    except Exception as error:  # what its C++ raises has no class of its own
        raise InputError(f"is no C3D file that can be read ({error})") from error
    if not values.size:
        raise InputError(
            f"holds no markers by its parameters, while its header has {points} in the frames {first} to "
            f"{last}; accepted is a C3D with its parameters, POINT:USED and POINT:FRAMES"
        )
    shapes = values[:3].transpose(2, 0, 1)  # from (4, P, F)
    if residuals.size == values[0].size:  # below 0 marks a missing marker
        shapes = np.where((residuals.reshape(values[0].shape) < 0).T[:, None], np.nan, shapes)
    variables = {"POINTS": shapes.transpose(0, 2, 1), "UNITS": np.array([*units, "mm"][:1])}
    if len(labels) >= shapes.shape[2]:
        variables["LABELS"] = np.array([label.strip() for label in labels[: shapes.shape[2]]])
    return LoadedFile(path, content, variables)


def interpret_c3d(file: LoadedFile, options: ReadingOptions) -> Parts:
    """Return views of the markers, and the markers as their truth."""
    names = file.variables.get("LABELS")
    return replace(
        turning_views(file.variables["POINTS"].transpose(0, 2, 1), str(file.variables["UNITS"][0]) or "mm"),
        point_names=None if names is None else tuple(names.tolist()),
        producer="C3D",
        roles={"POINTS": "truth"} | ({} if names is None else {"LABELS": "names"}),
    )
