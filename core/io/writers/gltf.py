r"""glTF 2.0: the shape of the first frame, and its deformation as morph targets whose weights move in time.

glTF is in meters, right-handed, y up.  Here y points down and z into the picture, as cameras have it, so that

    (x, y, z)  ->  (x, -y, -z),

a half turn about x.  Units of a ground truth (mm, cm, m) become meters; any other unit becomes one meter.

Frames need not be targets one by one.  The displacements D (F, 3P) from the first frame have a low rank r,
that of the reconstruction, so with the singular value decomposition D = U diag(s) V'

    D_f = sum over k < r of w_fk T_k,    w = U diag(1 / max |U_k|),    T_k = s_k max |U_k| V_k,

r targets with weights in [-1, 1] reproduce every frame to the precision of the file (float32), and straight
lines between weights are straight lines between shapes.  Triangles where faces are known, else lines and
points where edges are, else points.  `.glb` is the same in one binary file.

Colors by the standard deviation s_j = |std_fj| of a point (root mean square over the frames that are written)
go along viridis from 0 to the largest, as vertex colors; the file names the largest in its extras.
"""

from __future__ import annotations

import base64
import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundation.atomic import replacing
from ...foundation.exceptions import InputError
from ...foundation.version import VERSION
from .options import aligned_shapes, shapes, unit_of, with_progress

if TYPE_CHECKING:
    from pathlib import Path

    from ...foundation.types import Floats
    from ...reconstruction.result import Result
    from .options import ExportOptions

TO_METERS = {"mm": 1e-3, "cm": 1e-2, "m": 1.0}
TURN = np.array([1.0, -1.0, -1.0])  # x right, y down, z forward -> x right, y up, z backward
NEGLIGIBLE = 1e-8  # times the size of the shape: below the precision of float32
FLOAT, UNSIGNED = 5126, 5125  # component types
VERTICES, INDICES = 34962, 34963  # uses of a buffer view
POINTS, LINES, TRIANGLES = 0, 1, 4
COLOR = (0.353, 0.663, 1.0, 1.0)
# Of viridis at 0, 1/8 ... 1; sRGB.
VIRIDIS = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")


def write(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write all frames as an animation, or the chosen one without an animation."""
    if options.frames != "one":
        raise InputError(
            f"{path}: glTF holds all frames as an animation; numbered files are for .ply and .obj"
        )
    if options.frame is None:
        points = aligned_shapes(result, options)
    else:
        points = np.stack([chosen for _frame, chosen in shapes(result, options)])
    unit = unit_of(result, options)
    points = TO_METERS.get(unit, 1.0) * TURN[:, None] * points
    if not np.isfinite(points).all():
        raise InputError(f"{path}: the shape holds a value that is not finite; glTF accepts finite numbers")
    asset = _Asset()
    std = None if options.color == "plain" else _std_by_point(result, path, options)
    _build(asset, result, points, options, std)
    asset.tree["asset"]["extras"] = {
        "frames": len(points),
        "framesPerSecond": options.fps,
        "coordinates": f"{options.coordinates}, turned about x by 180 degrees: y up",
        "alignment": options.alignment,
        "unit": f"meters, from {unit}" if unit in TO_METERS else unit or "calibrated units",
    }
    if std is not None:
        asset.tree["asset"]["extras"]["largestStd"] = float(std.max())  # calibrated units
    content = asset.binary() if path.suffix.lower() == ".glb" else asset.text()
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    return [path]


def _std_by_point(result: Result, path: Path, options: ExportOptions) -> Floats:
    """Return the standard deviation (P,) of the points in the frames that are written, calibrated units.

    Raises
    ------
    InputError
        where the result has none, or one that is not finite.
    """
    if result.std is None:
        raise InputError(
            f"{path}: color is 'std', but the result has no standard deviations; accepted is plain"
        )
    chosen = result.std if options.frame is None else result.std[options.frame][None]
    std: Floats = np.sqrt((chosen**2).sum(axis=1).mean(axis=0))
    if not np.isfinite(std).all():
        raise InputError(f"{path}: std holds a value that is not finite; glTF accepts finite numbers")
    return std


def vertex_colors(values: Floats) -> Floats:
    """Return linear RGB (P, 3) of values (P,) along viridis, from 0 to the largest."""
    anchors = np.array([[int(color[at : at + 2], 16) for at in (1, 3, 5)] for color in VIRIDIS]) / 255
    shares = values / (values.max() or 1.0)
    at = np.linspace(0, 1, len(anchors))
    srgb = np.stack([np.interp(shares, at, channel) for channel in anchors.T], axis=1)
    linear: Floats = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return linear


def morph_targets(points: Floats) -> tuple[Floats, Floats]:
    """Return weights (F, r) and targets (r, 3, P) with points_f = points_0 + sum_k w_fk T_k; w_0 is 0."""
    frames, _, count = points.shape
    displacements = (points - points[0]).reshape(frames, -1)
    size = float(np.ptp(points[0], axis=1).max()) or 1.0
    # Frames are few: the factor of their Gram matrix is small, and the targets follow by projection.
    U, s, _ = np.linalg.svd(np.linalg.qr(displacements.T)[1].T)
    rank = int((s > NEGLIGIBLE * size).sum())
    U = U[:, :rank]
    tops = np.abs(U).max(axis=0) if rank else np.zeros(0)
    targets = (U.T @ displacements) * tops[:, None]
    return U / tops, targets.reshape(rank, 3, count)


class _Asset:
    """A glTF tree, and the one buffer that its accessors point into."""

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.tree: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": f"NRSfM Studio {VERSION}"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0, "name": "shape"}],
            "materials": [
                {
                    "name": "estimate",
                    "doubleSided": True,
                    "pbrMetallicRoughness": {
                        "baseColorFactor": COLOR,
                        "metallicFactor": 0.0,
                        "roughnessFactor": 0.8,
                    },
                }
            ],
            "bufferViews": [],
            "accessors": [],
        }

    def add(self, values: np.ndarray, kind: str, *, use: int | None = None, bounds: bool = False) -> int:
        """Append an array (N,) or (N, 3) as an accessor and return its index."""
        component = UNSIGNED if values.dtype.kind in "iu" else FLOAT
        stored = np.ascontiguousarray(values, dtype="<u4" if component == UNSIGNED else "<f4")
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self.buffer), "byteLength": stored.nbytes}
        if use is not None:
            view["target"] = use
        self.buffer += stored.tobytes()  # every item is 4 bytes wide, so that all views are aligned
        self.tree["bufferViews"].append(view)
        accessor: dict[str, Any] = {
            "bufferView": len(self.tree["bufferViews"]) - 1,
            "componentType": component,
            "count": len(stored),
            "type": kind,
        }
        if bounds:
            rows = stored.reshape(len(stored), -1)
            accessor |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        self.tree["accessors"].append(accessor)
        return len(self.tree["accessors"]) - 1

    def text(self) -> bytes:
        """Return the `.gltf` file, its buffer inside as base64."""
        data = base64.b64encode(self.buffer).decode("ascii")
        uri = f"data:application/octet-stream;base64,{data}"
        tree = self.tree | {"buffers": [{"byteLength": len(self.buffer), "uri": uri}]}
        return json.dumps(tree, allow_nan=False, separators=(",", ":")).encode("utf-8")

    def binary(self) -> bytes:
        """Return the `.glb` file: a header, the tree padded by spaces, the buffer as it is (4-byte items)."""
        tree = self.tree | {"buffers": [{"byteLength": len(self.buffer)}]}
        head = json.dumps(tree, allow_nan=False, separators=(",", ":")).encode("utf-8")
        head += b" " * (-len(head) % 4)
        body = bytes(self.buffer)
        total = 12 + 8 + len(head) + 8 + len(body)
        return b"".join(
            (
                struct.pack("<4sII", b"glTF", 2, total),
                struct.pack("<I4s", len(head), b"JSON"),
                head,
                struct.pack("<I4s", len(body), b"BIN\0"),
                body,
            )
        )


def _build(asset: _Asset, result: Result, points: Floats, options: ExportOptions, std: Floats | None) -> None:
    base = asset.add(points[0].T, "VEC3", use=VERTICES, bounds=True)
    weights, displacements = morph_targets(points)
    targets = [
        {"POSITION": asset.add(target.T, "VEC3", use=VERTICES, bounds=True)}
        for _index, target in with_progress(list(enumerate(displacements)), options)
    ]
    mesh: dict[str, Any] = {"name": "shape", "primitives": []}
    attributes = {"POSITION": base}
    if std is not None:
        attributes["COLOR_0"] = asset.add(vertex_colors(std), "VEC3", use=VERTICES)
        asset.tree["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"] = [1.0] * 4
    for mode, items in _primitives(result):
        primitive: dict[str, Any] = {"attributes": attributes, "mode": mode, "material": 0}
        if items is not None:
            primitive["indices"] = asset.add(items.reshape(-1), "SCALAR", use=INDICES)
        if targets:
            primitive["targets"] = targets
        mesh["primitives"].append(primitive)
    asset.tree["meshes"] = [mesh]
    if targets:
        mesh["weights"] = [0.0] * len(targets)
        times = np.arange(len(points)) / options.fps
        sampler = {
            "input": asset.add(times, "SCALAR", bounds=True),
            "output": asset.add(weights.reshape(-1), "SCALAR"),
            "interpolation": options.interpolation.upper(),
        }
        channel = {"sampler": 0, "target": {"node": 0, "path": "weights"}}
        asset.tree["animations"] = [{"name": "deformation", "samplers": [sampler], "channels": [channel]}]


def _primitives(result: Result) -> list[tuple[int, np.ndarray | None]]:
    if result.faces is not None and len(result.faces):
        return [(TRIANGLES, result.faces)]
    if result.edges is not None and len(result.edges):
        return [(LINES, result.edges), (POINTS, None)]
    return [(POINTS, None)]
