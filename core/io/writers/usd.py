"""Universal Scene Description as text (`.usda`): points, surface, ground truth and camera, moving in time.

Below one root there are

    estimate        Points, of every frame: ids 0 ... P-1, the primvars visible, error and std where known
    surface         Mesh, where faces are known; else edges, BasisCurves, where edges are
    ground_truth    Points that are known, laid over the shape; invisible in frames without a truth
    true_surface    Mesh, where faces are known and all points of the truth are
    camera          Camera with the intrinsics K and the pose of every frame; below it, where asked for,
                    video, a card that fills its picture, with a file of every frame as texture

Time codes are the frame numbers of the sequence, from 1, and one unit of length is metersPerUnit. Axes and
cameras are those of `core.io.writers.scene`. The focal length F and the apertures of USD are in tenths of the
unit, and only their ratios matter; the horizontal aperture is 36 mm, as that of a film. `picture` is left,
top, right and bottom of the picture in the units of the tracks, y down. In perspective

    horizontalAperture = F (right - left),    horizontalApertureOffset = F (left + right) / 2,
    verticalAperture = F (bottom - top),      verticalApertureOffset = -F (top + bottom) / 2,

because y is up there; of an orthogonal camera the apertures are ten times the extent of the picture.
A transform is a matrix M that row vectors are multiplied by: p' = p M.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from string import Template

import numpy as np

from ...data.masks import known_points
from ...foundation.atomic import replacing_many
from ...foundation.types import Floats, Ints
from ...foundation.version import PROGRAM, VERSION
from ...reconstruction.result import Result
from ...reconstruction.scale import METERS
from .options import ExportOptions, frame_rate, moving_shapes, numbered, unit_of, with_progress
from .scene import (
    CLIPPING,
    Comparison,
    SceneCameras,
    cameras_of,
    card_corners,
    color_values,
    colors_of,
    compare,
    elements_of,
    largest_of,
    picture_bounds,
    plain_color,
    read_pictures,
    with_video_size,
)

FILM = 0.036  # meters, the width of the film in a camera
POINT_SIZE = 0.4  # width of a point in mean distances of points, were they spread over a square
MOST_POINT_SIZE = 0.02  # of the extent of the shape
TRUTH_COLOR = (0.9, 0.55, 0.15)  # linear RGB
CONSTANT, VERTEX = (f'(\n    interpolation = "{kind}"\n)' for kind in ("constant", "vertex"))
# Of the card: the pictures as they are, whatever the light.
MATERIAL = Template("""\
def Material "video"
{
    token outputs:surface.connect = <$root/video/surface.outputs:surface>
    def Shader "surface"
    {
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor = (0, 0, 0)
        color3f inputs:emissiveColor.connect = <$root/video/pictures.outputs:rgb>
        token outputs:surface
    }
    def Shader "pictures"
    {
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = $first
        $files
        float2 inputs:st.connect = <$root/video/places.outputs:result>
        float3 outputs:rgb
    }
    def Shader "places"
    {
        uniform token info:id = "UsdPrimvarReader_float2"
        string inputs:varname = "st"
        float2 outputs:result
    }
}""")


def write(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write all frames, or the chosen one, and the pictures of the video where they are asked for."""
    if options.video:
        result = with_video_size(result, path)
    frames, points = moving_shapes(result, options, path, "USD holds all frames in one file")
    pictures = [numbered(path, frame).with_suffix(".jpg") for frame in frames.tolist() if options.video]
    text = _Stage(result, options, frames, points, path, [each.name for each in pictures]).text()
    with replacing_many(path) as folder:
        if pictures:
            for picture, content in zip(pictures, read_pictures(result, frames), strict=True):
                (folder / picture.name).write_bytes(content)
        (folder / path.name).write_text(text, encoding="utf-8", newline="\n")
    return [path, *pictures]


class _Stage:
    """The text of a stage, prim by prim."""

    def __init__(
        self,
        result: Result,
        options: ExportOptions,
        frames: Ints,
        points: Floats,
        path: Path,
        pictures: list[str],
    ) -> None:
        self.result, self.options = result, options
        self.pictures = pictures  # names of files, of every frame, or none
        self.name = str(result.meta.get("name") or "sequence")
        self.frames = frames
        self.points = points  # (N, 3, P)
        self.values = color_values(result, options, path)
        self.unit = METERS.get(unit_of(result, options), 1.0)  # meters per unit
        extent = float(np.ptp(points, axis=2).max())
        self.width = extent * min(MOST_POINT_SIZE, POINT_SIZE / np.sqrt(points.shape[2]))

    def text(self) -> str:
        """Return the file."""
        name = self.name
        compared, cameras = compare(self.result, self.options), cameras_of(self.result, self.options)
        body = [*self._estimate(compared), *self._surface("surface", self.points, self.frames)]
        if compared is not None:
            body += self._truth(compared)
        if cameras is not None:
            body += self._camera(cameras)
            body += self._video_material() if self.pictures else []
        rate = f"{frame_rate(self.result, self.options):.10g}"
        described = {
            "displayName": name,
            "alignment": self.options.alignment,
            "coordinates": f"{self.options.coordinates}, y up",
            "unit": unit_of(self.result, self.options) or "calibrated units",
        }
        if compared is not None:
            described["error"] = f"3-D error in {compared.unit}, {compared.alignment}"
        if cameras is None:
            described["camera"] = "none: the shape is a mirror image, which no perspective camera sees"
        head = [
            "#usda 1.0",
            "(",
            "    customLayerData = {",
            *(f"        string {key} = {_quoted(value)}" for key, value in described.items()),
            "    }",
            f"    defaultPrim = {_quoted(_identifier(name))}",
            f"    doc = {_quoted(f'{PROGRAM} {VERSION}')}",
            f"    startTimeCode = {self.frames[0] + 1}",
            f"    endTimeCode = {self.frames[-1] + 1}",
            f"    framesPerSecond = {rate}",
            f"    timeCodesPerSecond = {rate}",
            f"    metersPerUnit = {self.unit:.10g}",
            '    upAxis = "Y"',
            ")",
            "",
            f'def Xform "{_identifier(name)}" (',
            f"    displayName = {_quoted(name)}",
            '    kind = "component"',
            ")",
            "{",
        ]
        return "\n".join([*head, *(f"    {line}" for line in body), "}"]) + "\n"

    # -- Prims ----------------------------------------------------------------------------------------------

    def _estimate(self, compared: Comparison | None) -> list[str]:
        visible, count = self.result.visible[self.frames].astype(int), self.result.point_count
        lines = [
            *self._moving(with_progress(list(self.points), self.options), self.frames),
            f"int64[] ids = [{', '.join(map(str, range(count)))}]",
            self._widths(),
            *self._colors(),
            *self._primvar("bool", "visible", map(_numbers, visible)),
        ]
        if compared is not None:
            lines += self._primvar("float", "error", map(_numbers, compared.errors[self.frames]))
        if self.result.std is not None:
            std = np.linalg.norm(self.result.std[self.frames], axis=1)
            lines += self._primvar("float", "std", map(_numbers, std))
        return _prim("Points", "estimate", lines)

    def _surface(self, name: str, points: Floats, frames: Ints) -> list[str]:
        """Return the mesh, or the curves, of points (N, 3, P)."""
        drawn, items = elements_of(self.result)
        if drawn == "faces":
            colors = self._colors() if name == "surface" else [_displayed(TRUTH_COLOR)]
            return _prim("Mesh", name, [*self._moving(points, frames), *_polygons(items), *colors])
        if drawn == "points" or name != "surface":
            return []
        lines = [
            *self._moving(points[:, :, items.ravel()], frames),
            f"int[] curveVertexCounts = [{', '.join(['2'] * len(items))}]",
            'uniform token type = "linear"',
            'uniform token wrap = "nonperiodic"',
            self._widths(0.5),
            _displayed(plain_color()),
        ]
        return _prim("BasisCurves", "edges", lines)

    def _truth(self, compared: Comparison) -> list[str]:
        over = compared.points[self.frames]
        known = known_points(over)
        seen = known.sum(axis=1) > 0
        there = np.flatnonzero(seen)
        if not there.size:
            return []
        frames = self.frames[there]
        tokens = ['"inherited"' if each else '"invisible"' for each in seen]
        visibility = [] if seen.all() else [_samples("token visibility", tokens, self.frames)]
        ids = (f"[{', '.join(map(str, np.flatnonzero(known[index])))}]" for index in there)
        lines = [
            _samples("point3f[] points", (_vectors(over[index][:, known[index]]) for index in there), frames),
            _samples("int64[] ids", ids, frames),
            self._widths(),
            _displayed(TRUTH_COLOR),
            *visibility,
        ]
        prims = _prim("Points", "ground_truth", lines, f"displayName = {_quoted(compared.name)}")
        mesh = self._surface("true_surface", over[there], frames) if known[there].all() else []
        if mesh:
            prims += [*mesh[:-1], *(f"    {line}" for line in visibility), mesh[-1]]
        return prims

    def _camera(self, cameras: SceneCameras) -> list[str]:
        back, positions = cameras.transforms()
        left, top, right, bottom = cameras.picture[self.frames].T
        across, down = right - left, bottom - top
        width = FILM / (self.unit / 10)  # tenths of the unit
        focal = width / across if cameras.perspective else np.full(len(across), width)
        size = focal if cameras.perspective else np.full(len(across), 10.0)
        matrices = np.zeros((len(self.frames), 4, 4))
        matrices[:, :3, :3] = np.swapaxes(back[self.frames], 1, 2)
        matrices[:, 3, :3], matrices[:, 3, 3] = positions[self.frames], 1.0
        rows = (f"( {', '.join(_tuple(row) for row in matrix)} )" for matrix in matrices)
        lines = [_samples("matrix4d xformOp:transform", rows, self.frames)]
        lines += ['uniform token[] xformOpOrder = ["xformOp:transform"]']
        for name, values in (
            ("focalLength", focal),
            ("horizontalAperture", size * across),
            ("verticalAperture", size * down),
            ("horizontalApertureOffset", size * (left + right) / 2),
            ("verticalApertureOffset", -size * (top + bottom) / 2),
        ):
            if np.ptp(values) == 0:
                lines.append(f"float {name} = {values[0]:.9g}")
            else:
                texts = (f"{value:.9g}" for value in values)
                lines.append(_samples(f"float {name}", texts, self.frames))
        near, far = cameras.depths
        near = CLIPPING * max(near, 1e-3 * far)
        lines += [
            f'token projection = "{"perspective" if cameras.perspective else "orthographic"}"',
            f"float2 clippingRange = {_tuple((near, far / CLIPPING))}",
            f"custom float4 picture = {_tuple(picture_bounds(self.result))}",
        ]
        return _prim("Camera", "camera", [*lines, *(self._card(cameras) if self.pictures else [])])

    def _card(self, cameras: SceneCameras) -> list[str]:
        corners = np.swapaxes(card_corners(cameras, self.frames), 1, 2)
        lines = [
            _samples("point3f[] points", map(_vectors, corners), self.frames),
            *_polygons(np.arange(4)[None]),
            f"texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] {VERTEX}",
            f"rel material:binding = </{_identifier(self.name)}/video>",
        ]
        return _prim("Mesh", "video", lines, 'prepend apiSchemas = ["MaterialBindingAPI"]')

    def _video_material(self) -> list[str]:
        files = [f"@./{name}@" for name in self.pictures]
        moving = _samples("asset inputs:file", files, self.frames).replace("\n", "\n        ")
        root = f"/{_identifier(self.name)}"
        return MATERIAL.substitute(root=root, first=files[0], files=moving).split("\n")

    # -- Attributes -----------------------------------------------------------------------------------------

    def _moving(self, points: Iterable[Floats], frames: Ints) -> list[str]:
        """Return the points of every frame, (3, P), and the box around those that are drawn."""
        half, boxes, places = self.width / 2, [], []
        for each in points:
            places.append(_vectors(each))
            boxes.append(_vectors(np.stack((each.min(axis=1) - half, each.max(axis=1) + half), 1)))
        return [_samples("point3f[] points", places, frames), _samples("float3[] extent", boxes, frames)]

    def _primvar(self, kind: str, name: str, values: Iterable[str]) -> list[str]:
        attribute = f"{kind}[] primvars:{name}"
        return [f"{attribute} {VERTEX}", _samples(attribute, values, self.frames)]

    def _widths(self, factor: float = 1.0) -> str:
        return f"float[] widths = [{factor * self.width:.6g}] {CONSTANT}"

    def _colors(self) -> list[str]:
        """Return the colors of the points: one, or those of every frame."""
        if self.values is None:
            return [_displayed(plain_color())]
        values = self.values[self.frames]
        largest = largest_of(self.values)
        colors = (_vectors(colors_of(row, largest).T, digits=4) for row in values)
        return self._primvar("color3f", "displayColor", colors)


def _prim(kind: str, name: str, lines: Iterable[str], described: str = "") -> list[str]:
    """Return the definition of a prim, line by line."""
    inside = [f"    {part}" for line in lines for part in line.split("\n")]
    head = [f'def {kind} "{name}" (', f"    {described}", ")"] if described else [f'def {kind} "{name}"']
    return [*head, "{", *inside, "}"]


def _samples(name: str, values: Iterable[str], frames: Ints) -> str:
    """Return an attribute with a value for every frame."""
    lines = [f"    {frame + 1}: {value}," for frame, value in zip(frames.tolist(), values, strict=True)]
    return "\n".join([f"{name}.timeSamples = {{", *lines, "}"])


def _polygons(corners: Ints) -> list[str]:
    """Return the attributes of a mesh besides its points: the corners (T, N) of its faces."""
    return [
        f"int[] faceVertexCounts = [{', '.join([str(corners.shape[1])] * len(corners))}]",
        f"int[] faceVertexIndices = [{', '.join(map(str, corners.ravel().tolist()))}]",
        'uniform token subdivisionScheme = "none"',
        "uniform bool doubleSided = 1",
    ]


def _displayed(color: Iterable[float]) -> str:
    shown = ", ".join(f"{channel:.4g}" for channel in color)
    return f"color3f[] primvars:displayColor = [({shown})] {CONSTANT}"


def _vectors(points: Floats, digits: int = 8) -> str:
    """Return points (3, P) as an array of triples."""
    count = points.shape[1]
    triple = f"(%.{digits}g, %.{digits}g, %.{digits}g)"
    return "[" + ", ".join([triple] * count) % tuple(points.T.ravel().tolist()) + "]"


def _numbers(values: Floats | Ints) -> str:
    return "[" + ", ".join(f"{value:.6g}" for value in values.tolist()) + "]"


def _tuple(values: Iterable[float]) -> str:
    return "(" + ", ".join(f"{value:.12g}" for value in values) + ")"


def _quoted(text: str) -> str:
    """Return a string of USD; characters that do not print are left out."""
    printed = "".join(character for character in text if character.isprintable())
    return '"' + printed.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _identifier(name: str) -> str:
    """Return the name of a prim: letters, digits and underscores, no digit first."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") or "sequence"
    return f"_{plain}" if plain[0].isdigit() else plain
