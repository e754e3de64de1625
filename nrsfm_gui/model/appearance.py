"""The appearance of the scene, as the user chose it: a frozen value, no Qt."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from typing import Any

from core import InputError
from nrsfm_gui.model.mesh import Triangulation

# What can be shown or hidden, with the names that people read.
LAYERS = {
    "estimate": "Estimate",
    "truth": "Ground truth",
    "residuals": "Residuals",
    "edges": "Edges",
    "faces": "Mesh",
    "trails": "Trails",
    "grid": "Floor grid",
    "camera": "Camera",
    "path": "Camera path",
    "halos": "Uncertainty",
}
DEFAULT_LAYERS = frozenset(LAYERS) - {"trails", "path", "halos"}
COLORINGS = {
    "role": "Role",
    "error": "3-D error",
    "reprojection": "Reprojection error",
    "depth": "Depth from the camera",
    "movement": "Movement since the previous frame",
    "deviation": "Distance from the mean shape",
    "uncertainty": "Uncertainty",
    "index": "Point number",
    "difference": "Distance to the compared run",
}
COLOR_MAPS = ("viridis", "cividis", "magma", "inferno", "plasma")  # perceptually uniform, all of them
MESH_MODES = {  # which of the layers "edges" and "faces" are on
    "off": frozenset[str](),
    "wire": frozenset({"edges"}),
    "shaded": frozenset({"faces"}),
    "both": frozenset({"edges", "faces"}),
}
MESH_SOURCES = {
    "automatic": "The file's, else found in the shapes",
    "tracks": "Triangles between the tracks",
    "loaded": "A loaded triangulation",
}
LABELS = {"none": "None", "selected": "Selected points", "all": "All points"}
TRAIL_FRAMES = 16
MOST_TRAIL_FRAMES = 500
POINT_SIZES = (0.25, 4.0)  # least and most
PARTS = {  # names of fields, where they are others
    "limits": "limits of the colors",
    "trail_frames": "length of the trails",
    "mesh_source": "kind of mesh",
    "point_size": "size of the points",
    "labels": "numbers of points",
    "log_loss": "scale of the loss",
    "triangulation": "loaded triangulation",
}


@dataclass(frozen=True)
class Appearance:
    """Layers, colors, trails, mesh, sizes and the scale of the loss."""

    layers: frozenset[str] = DEFAULT_LAYERS  # keys of LAYERS
    color_by: str = "role"  # a key of COLORINGS
    color_map: str = COLOR_MAPS[0]
    limits: tuple[float, float] | None = None  # ends of the color scale, in its unit; None: from the data
    trail_frames: int = TRAIL_FRAMES
    mesh_source: str = "automatic"  # a key of MESH_SOURCES
    point_size: float = 1.0  # times the size that suits the number of points
    labels: str = "selected"  # a key of LABELS
    follow: bool = True  # whether the view goes along with an object that moves or grows
    log_loss: bool = True  # whether losses are drawn by their logarithm
    triangulation: Triangulation | None = None  # that was loaded; compared by identity

    def __post_init__(self) -> None:
        unknown = sorted(self.layers - set(LAYERS))
        if unknown:
            raise InputError(f"layer {unknown[0]!r} is not known; accepted are {', '.join(LAYERS)}")
        check_accepted(
            self, color_by=COLORINGS, color_map=COLOR_MAPS, mesh_source=MESH_SOURCES, labels=LABELS
        )
        # Written so that NaN is refused, too.
        if self.limits is not None and not -float("inf") < self.limits[0] < self.limits[1] < float("inf"):
            raise InputError(f"limits are {self.limits}; the low end must be finite and below the high one")
        frames, most = self.trail_frames, MOST_TRAIL_FRAMES
        if not 1 <= frames <= most:
            raise InputError(f"trail_frames is {frames}; accepted are 1 to {most} frames")
        low, high = POINT_SIZES
        if not low <= self.point_size <= high:
            raise InputError(f"point_size is {self.point_size}; accepted are {low} to {high}")

    def changed(self, **changes: Any) -> Appearance:
        """Return a copy with some fields changed; limits belong to what is colored and go with it."""
        if changes.get("color_by", self.color_by) != self.color_by:
            changes.setdefault("limits", None)
        return replace(self, **changes)

    def with_layer(self, layer: str, on: bool) -> Appearance:
        """Return a copy with a layer shown or not."""
        return replace(self, layers=self.layers | {layer} if on else self.layers - {layer})

    @property
    def mesh_mode(self) -> str:
        """The key of MESH_MODES that the layers mean."""
        shown = self.layers & MESH_MODES["both"]
        return next(mode for mode, layers in MESH_MODES.items() if layers == shown)

    def with_mesh_mode(self, mode: str) -> Appearance:
        """Return a copy with a key of MESH_MODES."""
        return replace(self, layers=(self.layers - MESH_MODES["both"]) | MESH_MODES[mode])


def check_accepted(value: object, **accepted: Collection[object]) -> None:
    """Raise InputError where a field of a value is none of those that are accepted."""
    for name, known in accepted.items():
        found = getattr(value, name)
        if found not in known:
            raise InputError(f"{name} is {found!r}; accepted are {', '.join(map(str, known))}")


def appearance_change(before: Appearance, after: Appearance) -> tuple[str, str]:
    """Return which part of an appearance two of them differ in, and how it is written: "trails shown"."""
    layers = [layer for layer in LAYERS if layer in before.layers ^ after.layers]
    words = {True: "shown", False: "left out"}
    sentences = [f"{LAYERS[layer].lower()} {words[layer in after.layers]}" for layer in layers]
    names = [entry.name for entry in fields(after) if entry.name != "layers"]
    changed = [name for name in names if getattr(before, name) != getattr(after, name)]
    parts = PARTS | {"color_by": f"colored by {COLORINGS[after.color_by]}"}
    sentences += [parts.get(name, name.replace("_", " ")) for name in changed]
    return " ".join(layers + changed), ", ".join(sentences)
