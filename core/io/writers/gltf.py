r"""glTF 2.0: the shape of the first frame, and its deformation as morph targets whose weights move in time.

glTF is in meters, right-handed, y up: axes, units and cameras are those of `core.io.writers.scene`.

Frames need not be targets one by one.  The displacements D (F, 3P) from the first frame have a low rank r,
that of the reconstruction, so with the singular value decomposition D = U diag(s) V'

    D_f = sum over k < r of w_fk T_k,    w = U diag(1 / max |U_k|),    T_k = s_k max |U_k| V_k,

r targets with weights in [-1, 1] reproduce every frame to the precision of the file (float32), and straight
lines between weights are straight lines between shapes.  Some programs (Blender 5.0) clamp weights to [0, 1].
So a target whose weight falls below 0 is written twice, as T and -T with the weights max(w, 0) and
max(-w, 0); their difference is w, and a straight line where w is one.  Triangles where faces are known, else
lines and points where edges are, else points.  `.glb` is the same in one binary file.

Colors by a value of every point, its standard deviation |std_fj| or its error (root mean square over the
frames that are written), go along viridis from 0 to the largest; the file names the largest in its extras.

One camera moves. Its picture is symmetric about the principal point, which glTF cannot shift, and contains
that of the tracks; the picture of an orthogonal camera has its mean size. The picture of a video is a card
that belongs to the camera (`core.io.writers.scene`), as bright as it is.
"""

from __future__ import annotations

import base64
import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np

from ...foundation.atomic import replacing
from ...foundation.types import Floats
from ...foundation.version import PROGRAM, VERSION
from ...reconstruction.result import Result
from ...reconstruction.scale import METERS
from .options import ExportOptions, frame_rate, moving_shapes, unit_of, with_progress
from .scene import (
    CLIPPING,
    SceneCameras,
    cameras_of,
    card_corners,
    color_values,
    colors_of,
    elements_of,
    largest_of,
    plain_color,
    read_pictures,
    with_video_size,
)

NEGLIGIBLE = 1e-8  # times the size of the shape: below the precision of float32
FLOAT, UNSIGNED = 5126, 5125  # component types
VERTICES, INDICES = 34962, 34963  # uses of a buffer view
POINTS, LINES, TRIANGLES = 0, 1, 4


def write(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write all frames as an animation, or the chosen one without an animation."""
    if options.video:
        result = with_video_size(result, path)
    unit = unit_of(result, options)
    meters = METERS.get(unit, 1.0)
    points = meters * moving_shapes(result, options, path, "glTF holds all frames as an animation")[1]
    asset = _Asset()
    values = _value_by_point(result, path, options)
    fps = frame_rate(result, options)
    _build(asset, result, points, options, values)
    cameras = cameras_of(result, options)
    if cameras is not None:
        _add_camera(asset, cameras, meters, options, fps)
        if options.video:
            _add_video(asset, result, cameras, meters, options)
    asset.tree["asset"]["extras"] = {
        "frames": len(points),
        "framesPerSecond": fps,
        "coordinates": f"{options.coordinates}, y up",
        "alignment": options.alignment,
        "unit": f"meters, from {unit}" if unit in METERS else unit or "calibrated units",
    }
    if values is not None:
        largest = {"std": "largestStd", "error": "largestError"}[options.color]  # as `color_values` has them
        asset.tree["asset"]["extras"][largest] = largest_of(values)
    content = asset.binary() if path.suffix.lower() == ".glb" else asset.text()
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    return [path]


def _value_by_point(result: Result, path: Path, options: ExportOptions) -> Floats | None:
    """Return the root mean square (P,) of the values of the points in the frames that are written."""
    values = color_values(result, options, path)
    if values is None:
        return None
    chosen = values if options.frame is None else values[options.frame][None]
    known = np.isfinite(chosen)
    counts = known.sum(axis=0)
    squares = np.where(known, chosen, 0.0) ** 2
    rms: Floats = np.where(counts > 0, np.sqrt(squares.sum(axis=0) / np.maximum(counts, 1)), np.nan)
    return rms


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


def _split(weights: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Return weights in [0, 1], with an opposite target for those below 0; see the module."""
    both, opposite = np.concatenate((weights, -weights), axis=1), np.concatenate((targets, -targets))
    used = both.max(axis=0, initial=0.0) > NEGLIGIBLE
    return np.maximum(both[:, used], 0.0), opposite[used]


class _Asset:
    """A glTF tree, and the one buffer that its accessors point into."""

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.tree: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": f"{PROGRAM} {VERSION}"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0, "name": "shape"}],
            "materials": [
                {
                    "name": "estimate",
                    "doubleSided": True,
                    "pbrMetallicRoughness": {
                        "baseColorFactor": [*plain_color().tolist(), 1.0],
                        "metallicFactor": 0.0,
                        "roughnessFactor": 0.8,
                    },
                }
            ],
            "bufferViews": [],
            "accessors": [],
        }

    def add(self, values: np.ndarray, kind: str, *, use: int | None = None, bounds: bool = False) -> int:
        """Append an array (N,), (N, 2) or (N, 3) as an accessor and return its index."""
        component = UNSIGNED if values.dtype.kind in "iu" else FLOAT
        stored = np.ascontiguousarray(values, dtype="<u4" if component == UNSIGNED else "<f4")
        view = self.add_bytes(stored.tobytes())
        if use is not None:
            self.tree["bufferViews"][view]["target"] = use
        accessor: dict[str, Any] = {
            "bufferView": view,
            "componentType": component,
            "count": len(stored),
            "type": kind,
        }
        if bounds:
            rows = stored.reshape(len(stored), -1)
            accessor |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        self.tree["accessors"].append(accessor)
        return len(self.tree["accessors"]) - 1

    def add_bytes(self, content: bytes) -> int:
        """Append bytes as a buffer view, aligned to 4, and return its index."""
        view = {"buffer": 0, "byteOffset": len(self.buffer), "byteLength": len(content)}
        self.tree["bufferViews"].append(view)
        self.buffer += content + bytes(-len(content) % 4)
        return len(self.tree["bufferViews"]) - 1

    def text(self) -> bytes:
        """Return the `.gltf` file, its buffer inside as base64."""
        data = base64.b64encode(self.buffer).decode("ascii")
        uri = f"data:application/octet-stream;base64,{data}"
        return self._document(uri=uri)

    def binary(self) -> bytes:
        """Return the `.glb` file: a header, the tree padded by spaces, the buffer as it is (4-byte items)."""
        head = self._document()
        head += b" " * (-len(head) % 4)
        body = bytes(self.buffer)
        file = struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(head) + 8 + len(body))
        file += struct.pack("<I4s", len(head), b"JSON") + head
        return file + struct.pack("<I4s", len(body), b"BIN\0") + body

    def _document(self, **where: str) -> bytes:
        tree = self.tree | {"buffers": [{"byteLength": len(self.buffer), **where}]}
        return json.dumps(tree, allow_nan=False, separators=(",", ":")).encode("utf-8")


def _build(
    asset: _Asset, result: Result, points: Floats, options: ExportOptions, values: Floats | None
) -> None:
    base = asset.add(points[0].T, "VEC3", use=VERTICES, bounds=True)
    weights, displacements = _split(*morph_targets(points))
    targets = [
        {"POSITION": asset.add(target.T, "VEC3", use=VERTICES, bounds=True)}
        for target in with_progress(list(displacements), options)
    ]
    mesh: dict[str, Any] = {"name": "shape", "primitives": []}
    attributes = {"POSITION": base}
    if values is not None:
        attributes["COLOR_0"] = asset.add(colors_of(values, largest_of(values)), "VEC3", use=VERTICES)
        asset.tree["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"] = [1.0] * 4
    drawn, items = elements_of(result)
    for mode in {"faces": [TRIANGLES], "edges": [LINES, POINTS], "points": [POINTS]}[drawn]:
        primitive: dict[str, Any] = {"attributes": attributes, "mode": mode, "material": 0}
        if mode != POINTS:
            primitive["indices"] = asset.add(items.reshape(-1), "SCALAR", use=INDICES)
        if targets:
            primitive["targets"] = targets
        mesh["primitives"].append(primitive)
    asset.tree["meshes"] = [mesh]
    if targets:
        mesh["weights"] = [0.0] * len(targets)
        times = np.arange(len(points)) / frame_rate(result, options)
        sampler = {
            "input": asset.add(times, "SCALAR", bounds=True),
            "output": asset.add(weights.reshape(-1), "SCALAR"),
            "interpolation": options.interpolation.upper(),
        }
        channel = {"sampler": 0, "target": {"node": 0, "path": "weights"}}
        asset.tree["animations"] = [{"name": "deformation", "samplers": [sampler], "channels": [channel]}]


def _add_camera(
    asset: _Asset, cameras: SceneCameras, unit: float, options: ExportOptions, fps: float
) -> None:
    """Add a camera, and its motion where all frames are written."""
    from scipy.spatial.transform import Rotation  # slow to load

    chosen = slice(None) if options.frame is None else slice(options.frame, options.frame + 1)
    back, positions = cameras.transforms(unit)
    turns = Rotation.from_matrix(back[chosen]).as_quat()
    for index in range(1, len(turns)):  # q and -q are one rotation; between neighbors the path is short
        turns[index] *= np.sign(turns[index] @ turns[index - 1]) or 1.0
    across, down = np.abs(cameras.picture[chosen].reshape(-1, 2, 2)).max(axis=1).mean(axis=0).tolist()
    near, far = (unit * depth for depth in cameras.depths)
    near, far = CLIPPING * max(near, 1e-3 * far), far / CLIPPING
    if cameras.perspective:
        lens = {"aspectRatio": across / down, "yfov": 2 * math.atan(down), "znear": near, "zfar": far}
        asset.tree["cameras"] = [{"type": "perspective", "perspective": lens}]
    else:
        lens = {"xmag": unit * across, "ymag": unit * down, "znear": near, "zfar": far}
        asset.tree["cameras"] = [{"type": "orthographic", "orthographic": lens}]
    node = len(asset.tree["nodes"])
    asset.tree["scenes"][0]["nodes"].append(node)
    placed = {"translation": positions[chosen][0].tolist(), "rotation": turns[0].tolist()}
    asset.tree["nodes"].append({"camera": 0, "name": "camera", **placed})
    if len(turns) == 1:
        return  # no motion
    times = asset.add(np.arange(len(turns)) / fps, "SCALAR", bounds=True)
    (animation,) = asset.tree.setdefault("animations", [{"name": "camera", "samplers": [], "channels": []}])
    for path, values, kind in (("translation", positions[chosen], "VEC3"), ("rotation", turns, "VEC4")):
        animation["channels"].append(
            {"sampler": len(animation["samplers"]), "target": {"node": node, "path": path}}
        )
        output, between = asset.add(values, kind), options.interpolation.upper()
        animation["samplers"].append({"input": times, "output": output, "interpolation": between})


def _add_video(
    asset: _Asset, result: Result, cameras: SceneCameras, unit: float, options: ExportOptions
) -> None:
    """Put the picture of the first frame that is written behind the camera, the last node so far."""
    frame = np.array([options.frame or 0])
    (picture,) = read_pictures(result, frame)
    tree, camera = asset.tree, len(asset.tree["nodes"]) - 1
    tree["extensionsUsed"] = ["KHR_materials_unlit"]
    tree["images"] = [{"bufferView": asset.add_bytes(picture), "mimeType": "image/jpeg", "name": "video"}]
    tree["textures"] = [{"source": 0}]
    tree["materials"].append(
        {
            "name": "video",
            "doubleSided": True,
            "extensions": {"KHR_materials_unlit": {}},
            "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicFactor": 0.0},
        }
    )
    corners = unit * card_corners(cameras, frame)[0]
    places = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])  # from the upper left of the picture
    attributes = {
        "POSITION": asset.add(corners, "VEC3", use=VERTICES, bounds=True),
        "TEXCOORD_0": asset.add(places, "VEC2", use=VERTICES),
    }
    indices = asset.add(np.array([0, 1, 2, 0, 2, 3]), "SCALAR", use=INDICES)
    tree["meshes"].append(
        {"name": "video", "primitives": [{"attributes": attributes, "indices": indices, "material": 1}]}
    )
    tree["nodes"].append({"mesh": 1, "name": "video"})
    tree["nodes"][camera]["children"] = [camera + 1]
