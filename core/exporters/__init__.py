"""Exporters: a table of file formats by suffix, each a pure function of a result and a few options.

A new format is a file here and a line in `EXPORTERS`; the command line and the viewer's dialog read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..arrays import InputError
from ..atomic import check_writable
from . import csv, mat, npz, obj, ply
from .options import ALIGNMENTS, COORDINATES, FRAMES, ExportOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..result import Result

__all__ = [
    "ALIGNMENTS",
    "COORDINATES",
    "EXPORTERS",
    "FRAMES",
    "ExportOptions",
    "Exporter",
    "export",
    "exporter_for",
]


@dataclass(frozen=True)
class Exporter:
    """One file format: `write` returns the files that it wrote."""

    suffix: str
    label: str  # for a file dialog
    write: Callable[[Result, Path, ExportOptions], list[Path]]


EXPORTERS: dict[str, Exporter] = {
    exporter.suffix: exporter
    for exporter in (
        Exporter(".npz", "Result of this program, NumPy arrays", npz.write),
        Exporter(".mat", "Result as MATLAB variables", mat.write),
        Exporter(".csv", "Table: one row per frame and point", csv.write),
        Exporter(".ply", "PLY points with edges or faces", ply.write),
        Exporter(".obj", "Wavefront OBJ points with edges or faces", obj.write),
    )
}


def exporter_for(path: str | Path) -> Exporter:
    """Return the exporter that the suffix of a path chooses.

    Raises
    ------
    InputError
        where the suffix belongs to no format.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in EXPORTERS:
        found = f"the suffix {suffix!r}" if suffix else "no suffix"
        raise InputError(f"{path} has {found}; accepted are {', '.join(EXPORTERS)}")
    return EXPORTERS[suffix]


def export(
    result: Result,
    path: str | Path,
    *,
    frame: int | None = None,
    frames: str = "one",
    coordinates: str = "object",
    align: str = "none",
    mirror: bool = False,
    text: bool = False,
) -> list[Path]:
    """Write a result in the format that the suffix of `path` names, and return the files written.

    The options are for the formats that hold shapes (csv, ply, obj); npz and mat hold the whole result.

    Parameters
    ----------
    result, path
        what is written, and where; each file appears whole or not at all.
    frame
        0-based frame to write; None is all frames for csv and the first one for ply and obj.
    frames
        "one"; "numbered", a file for every frame (`name_0000.ply`); or "stacked", all frames in one ply file
        with a property `frame`.
    coordinates
        "object", the S of every frame; or "camera", Y = R S + t.
    align
        "none", calibrated units; "scale", multiplied by the one factor that fits the sizes of the ground
        truth; or "truth", every frame that has a ground truth moved onto it by a similarity.
    mirror
        whether that similarity may mirror.
    text
        whether a ply file is text and not binary.

    Raises
    ------
    InputError
        where an option is out of range, the ground truth that it needs is absent, or the file cannot be
        written.
    """
    path = Path(path)
    exporter = exporter_for(path)
    check_writable(path)
    options = ExportOptions(
        frame=frame, frames=frames, coordinates=coordinates, align=align, mirror=mirror, text=text
    )
    return exporter.write(result, path, options)
