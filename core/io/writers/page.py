"""One HTML page that shows the moving shape: no other file, no network, no library.

The page is the file `page.html` with the data of the result inside as JSON. A browser draws it on a canvas,
so that it needs no graphics card, and many of them fit in a notebook.

Numbers have 16 bits. A position is corner + step n, n = 0 ... 65534, with one step for all three axes, and a
value is n / 65534 of the largest; 65535 is an unknown one. Of consecutive frames the differences modulo 65536
are kept, all low bytes before all high ones, compressed by zlib, as base64. The depth of a point, from the
mean of its frame along the axis of the camera, is computed by the page.

The axes are those of `core.reconstruction.orientation`, so that the page opens upright, seen from the front.
"""

from __future__ import annotations

import base64
import html
import json
import zlib
from dataclasses import asdict
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from ...foundation.atomic import replacing
from ...foundation.types import Floats, Ints
from ...foundation.version import PROGRAM, VERSION
from ...reconstruction.result import Result
from .options import (
    TURN,
    ExportOptions,
    frame_rate,
    moving_shapes,
    reprojection_errors,
    std_of,
    unit_of,
    with_progress,
)
from .scene import VIRIDIS, Comparison, cameras_of, compare
from .shading import FLOOR, ON_SURFACE, SHADING, sphere_diameter, typical_radius

TEMPLATE = Path(__file__).with_name("page.html")
UNKNOWN = 65535  # of a number of 16 bits
OFTEN = 0.4  # share of frames with a ground truth from which on a page opens with the 3-D error
COMMON = 0.99  # share of the values that the colors cover: few outliers leave them as they are


def write(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write the page of all frames, or of the chosen one."""
    text = _page(result, options, path, play=True)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    return [path]


def shape_page(result: Result, *, play: bool = False) -> str:
    """Return a page that shows a result, as HTML text.

    Parameters
    ----------
    result
        a reconstruction.
    play
        whether the page begins to play by itself.

    Returns
    -------
    str
        a complete document, which loads nothing.

    Raises
    ------
    InputError
        where a coordinate is not finite.

    Examples
    --------
    >>> import core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> result = core.reconstruct(sequence, rank=2, starts=1, rotations="truth")
    >>> core.shape_page(result).startswith("<!DOCTYPE html>")
    True
    """
    return _page(result.with_mesh(), ExportOptions(y_up=True), "the page", play=play)


def _page(result: Result, options: ExportOptions, path: object, *, play: bool) -> str:
    head, rest = TEMPLATE.read_text(encoding="utf-8").split("{{title}}")
    middle, tail = rest.split("{{data}}")
    data = _data(result, options, path) | {"play": play}
    # A script of data ends at the first "</", whatever it is inside of.
    text = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return "".join((head, html.escape(data["name"]), middle, text, tail))


def _data(result: Result, options: ExportOptions, path: object) -> dict[str, Any]:
    """Return what the script of the page reads."""
    frames, points = moving_shapes(result, options, path, "a page shows all frames")
    compared, cameras = compare(result, options), cameras_of(result, options)
    turns = None if cameras is None else np.round(TURN[:, None] * cameras.rotations[frames], 4)
    over = None if compared is None else compared.points[frames]
    layers = _layers(result, options, frames, points, compared)
    corner, step = _grid(points, over)
    blocks = {"shape": _steps(points, corner, step), "visible": result.visible[frames].astype(np.int64)}
    if over is not None:
        blocks["truth"] = _steps(over, corner, step)
    blocks |= {layer["title"]: _shares(layer["values"], layer["largest"]) for layer in layers}
    packed = {name: _pack(numbers) for name, numbers in with_progress(list(blocks.items()), options)}
    center = (points.min(axis=(0, 2)) + points.max(axis=(0, 2))) / 2
    radius = float(np.linalg.norm(points - center[:, None], axis=1).max())
    hidden = int((~result.visible[frames]).sum())
    names = result.meta.get("point_names")
    return {
        "name": str(result.meta.get("name") or "sequence"),
        "facts": _facts(result, options, frames, hidden),
        "made": f"Made by {PROGRAM} {VERSION}.",
        "frames": len(frames),
        "points": result.point_count,
        "rate": frame_rate(result, options),
        "hidden": hidden,
        "unit": unit_of(result, options),
        "corner": corner.tolist(),
        "step": step,
        "center": center.tolist(),
        "radius": radius or 1.0,
        "ball": sphere_diameter(result.point_count, typical_radius(points)) / 2,
        "onSurface": ON_SURFACE,
        "shading": asdict(SHADING) | {"halfway": SHADING.halfway},
        "floor": asdict(FLOOR) | _floor(points, options),
        "shape": packed["shape"],
        "truth": packed.get("truth"),
        "truthName": "ground truth" if compared is None else compared.name,
        "visible": packed["visible"],
        "layers": [layer | {"values": packed[layer["title"]]} for layer in layers],
        "cameras": None if turns is None else turns.reshape(-1, 9).tolist(),
        "faces": [] if result.faces is None else result.faces.tolist(),
        "edges": [] if result.edges is None else result.edges.tolist(),
        "names": None if names is None else [str(name) for name in names],
        "colors": list(VIRIDIS),
        "often": compared is not None and bool(np.isfinite(compared.errors).any(axis=1).mean() >= OFTEN),
    }


def _floor(points: Floats, options: ExportOptions) -> dict[str, float]:
    """Return the level and the radius of the floor below shapes (F, 3, P), y up."""
    size = float(np.linalg.norm(np.ptp(points, axis=(0, 2))))
    lowest = 0.0 if options.coordinates == "upright" else float(points[:, 1].min())
    return {"level": lowest - FLOOR.below * size, "radius": FLOOR.reach * size or 1.0}


def _facts(result: Result, options: ExportOptions, frames: Ints, hidden: int) -> list[str]:
    """Return what the page shows, in a few words each."""
    count, points = len(frames), result.point_count
    facts = [f"{count} frames" if count > 1 else f"frame {frames[0] + 1}", f"{points} points"]
    if hidden:
        facts.append(f"{100 * hidden / (count * points):.3g} % not seen")
    facts.append(f"{result.camera.value} camera")
    if options.align == "scale":  # the others are named with the errors
        facts.append(f"alignment: {options.alignment}")
    if count > 1:
        facts.append(f"{frame_rate(result, options):.4g} frames per second")
    return facts


def _layers(
    result: Result, options: ExportOptions, frames: Ints, points: Floats, compared: Comparison | None
) -> list[dict[str, Any]]:
    """Return the errors (F, P) that points can be colored by."""
    distances = reprojection_errors(result)[frames]
    found = [("reprojection error", distances, str(result.meta.get("units", "px")), "")]
    if compared is not None:
        found.insert(0, ("3-D error", compared.errors[frames], compared.unit, compared.alignment))
    if result.std is not None:
        known_std = map(std_of, repeat(result), frames.tolist(), points)
        spread = np.stack([np.linalg.norm(std, axis=0) for std in known_std if std is not None])
        found.append(("standard deviation", spread, unit_of(result, options), ""))
    return [
        {"title": title, "unit": unit, "detail": detail, "values": values}
        | {"top": float(np.quantile(known, COMMON)), "largest": float(known.max())}
        for title, values, unit, detail in found
        if (known := values[np.isfinite(values)]).size
    ]


def _grid(points: Floats, over: Floats | None) -> tuple[Floats, float]:
    """Return the corner (3,) and the step of the numbers that positions are written as."""
    both = points if over is None else np.concatenate((points, over))
    corner = np.nanmin(both, axis=(0, 2))
    return corner, float((np.nanmax(both, axis=(0, 2)) - corner).max()) / (UNKNOWN - 1) or 1.0


def _steps(points: Floats, corner: Floats, step: float) -> Ints:
    """Return points (F, 3, P) as numbers (F, 3P), those of a point side by side."""
    return _whole((points - corner[:, None]) / step).swapaxes(1, 2).reshape(len(points), -1)


def _shares(values: Floats, largest: float) -> Ints:
    return _whole(values / (largest or 1.0) * (UNKNOWN - 1))


def _whole(values: Floats) -> Ints:
    known = np.isfinite(values)
    return np.where(known, np.rint(np.where(known, values, 0.0)), UNKNOWN).astype(np.int64)


def _pack(numbers: Ints) -> str:
    """Return numbers (F, N) as text; see the module."""
    differences = np.diff(numbers, axis=0, prepend=0).astype(np.uint16).ravel()
    planes = np.concatenate(((differences & 255).astype(np.uint8), (differences >> 8).astype(np.uint8)))
    return base64.b64encode(zlib.compress(planes.tobytes(), 9)).decode("ascii")
