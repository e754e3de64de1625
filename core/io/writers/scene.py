r"""What files for other 3-D programs share: units, axes, the cameras, the ground truth and the colors.

Axes.  Scenes have y up, and stand as `core.reconstruction.orientation` has it. In coordinates that are chosen
otherwise y points down and z into the picture, as cameras have it; scenes turn them, and the axes of cameras,
by half a turn about x, T = diag(1, -1, -1). Units of a ground truth (mm, cm, m) are lengths; any other unit
is one meter.

Cameras.  A frame is written as X' = s Q X + q, where X are the shapes S that Y = R S + t belongs to, or Y
themselves, with R = I and t = 0. So X = Q' (X' - q) / s, and

    s Y = R' X' + t',    R' = R Q',    t' = s t - R' q,

a camera whose picture of X' is that of S, because s Y has the images of Y. An orthogonal camera sees s Y
larger by s, so that its picture spans s times more. Where Q is a reflection, so is R'. Depth means nothing
to an orthogonal camera, so that diag(1, 1, -1) R' is a rotation with the same picture; a perspective one has
none.

The picture spans left <= Y_x / Y_z <= right and top <= Y_y / Y_z <= bottom, or Y_x and Y_y themselves. With
K = [[f_x, 0, c_x], [0, f_y, c_y], [0, 0, 1]] and pixels whose centers are whole numbers, these are
(-1/2 - c_x) / f_x, (W - 1/2 - c_x) / f_x and so on. A skew is left out: no scene format has one. Where the
size of the picture is unknown, it is symmetric about (c_x, c_y) and as large as the tracks need. An
orthogonal camera stands where its picture is symmetric, in front of all points.

The card is a rectangle that shows the video behind the camera. It belongs to the camera and moves with it,
behind all points. Its corners are those of the picture, so that a rendered shape lies over the video as the
tracks do. Pictures are JPEG, the frames of the tracks and no others, turned as players show them.

The ground truth is laid over the shapes by the inverse of the similarity that fits the shapes to it. Errors
are distances in its own unit.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ...data.masks import known_points
from ...data.sequence import CameraModel
from ...evaluation.alignment import MIN_ALIGNED, Alignment, Kind, Mirror, align_all, is_mirrored
from ...foundation.exceptions import InputError, needs
from ...foundation.linalg import Similarity
from ...foundation.representation import OneLine
from ...foundation.types import Floats, Ints
from ...reconstruction.result import Result
from ...tracking.video import Video
from .options import TURN, ExportOptions, alignment, alignment_of, placement, standing, unaligned_shapes

DEPTH_INVERTED = np.diag([1.0, 1.0, -1.0])
CLIPPING = 0.1  # the nearest clipping plane, in distances of the nearest point
MARGIN = 1.05  # of a picture of unknown size around the tracks
BEHIND = 1.2  # distances of the farthest point, of the card
QUALITY = 92  # of JPEG, of 100
COLOR = "#5aa9ff"  # of the shape, where its points have one color
# Of viridis at 0, 1/8 ... 1; sRGB.
VIRIDIS = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")


# -- Ground truth --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Comparison(OneLine):
    """The ground truth laid over the shapes that are written, and the distances to it."""

    points: Floats  # (F, 3, P) in the coordinates and the unit of the shapes; NaN where it is unknown
    errors: Floats  # (F, P) distances in the unit of the truth; NaN likewise
    alignment: str  # as a phrase
    unit: str  # of the errors
    name: str  # what the truth is


def compare(result: Result, options: ExportOptions) -> Comparison | None:
    """Lay the ground truth over the shapes that the options choose.

    With an alignment by similarities the truth stays where it is. Else every frame is fitted by itself.

    Returns None where no frame has three points with a truth.
    """
    truth = result.truth
    if truth is None or not (known_points(truth.points).sum(axis=1) >= MIN_ALIGNED).any():
        return None
    frames, points = truth.frames, unaligned_shapes(result, options)
    onto_truth = options.align in ("truth", "sequence")
    if onto_truth:
        kind = alignment_of(options)
    else:  # depth and its mirror image have the same orthogonal picture
        mirror = options.mirror or result.camera is CameraModel.ORTHOGONAL
        kind = Alignment(Kind.PER_FRAME, Mirror.AUTOMATIC if mirror else Mirror.OFF)
    fitted = align_all(points, truth, kind)
    fitted = Similarity(fitted.scale[frames], fitted.rotation[frames], fitted.translation[frames])
    errors = np.full((result.frame_count, result.point_count), np.nan)
    errors[frames] = np.linalg.norm(fitted.apply(points[frames]) - truth.points, axis=1)
    laid = truth.points
    if not onto_truth:
        factor = alignment(result, options).scale[frames]
        laid = factor[:, None, None] * fitted.inverse().apply(laid)
    over = np.full((result.frame_count, 3, result.point_count), np.nan)
    over[frames] = standing(result, options).apply(laid)
    return Comparison(
        over,
        errors,
        kind.label(is_mirrored(fitted)),
        str(result.meta.get("truth_units", "mm")),
        str(result.meta.get("truth_name") or "ground truth"),
    )


# -- Elements ------------------------------------------------------------------------------------------------


def elements_of(result: Result) -> tuple[str, Ints]:
    """Return what is drawn between the points, and their indices: "faces", else "edges", else "points"."""
    for name in ("faces", "edges"):
        items: Ints | None = getattr(result, name)
        if items is not None and len(items):
            return name, items
    return "points", np.arange(result.point_count)[:, None]


# -- Cameras -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SceneCameras(OneLine):
    """The camera of every frame, in the coordinates and the unit of the shapes that are written."""

    rotations: Floats  # (F, 3, 3) world to camera
    translations: Floats  # (F, 3)
    picture: Floats  # (F, 4) left, top, right, bottom; see the module
    perspective: bool
    depths: tuple[float, float]  # of the nearest and the farthest point in any frame

    def transforms(self, unit: float = 1.0) -> tuple[Floats, Floats]:
        """Return the rotations (F, 3, 3) and positions (F, 3) of cameras in a scene with y up.

        They move the axes of a camera, which looks along -z, y up, to those of the scene.

        `unit`: one unit of the shapes in those of the scene.
        """
        back = np.swapaxes(TURN[:, None] * self.rotations, 1, 2)
        return back, -unit * np.einsum("fab,fb->fa", back, TURN * self.translations)


def cameras_of(result: Result, options: ExportOptions) -> SceneCameras | None:
    """Return the cameras that see the shapes which the options choose as the tracks are.

    Returns None where the shapes are mirrored, and the camera is perspective.
    """
    placed, points = placement(result, options), unaligned_shapes(result, options)
    own = options.coordinates != "camera"
    R = result.rotations if own else np.tile(np.eye(3), (result.frame_count, 1, 1))
    t = result.translations if own else np.zeros((result.frame_count, 3))
    # As for reprojections: where the affine term is all that was solved, depth is not known.
    perspective = result.camera is CameraModel.PERSPECTIVE and result.eta != 1
    R = R @ np.swapaxes(placed.rotation, 1, 2)
    t = placed.scale[:, None] * t - np.einsum("fab,fb->fa", R, placed.translation)
    if is_mirrored(placed):
        if perspective:
            return None
        R, t = DEPTH_INVERTED @ R, t @ DEPTH_INVERTED
    depths = (R @ placed.apply(points) + t[:, :, None])[:, 2]
    picture = np.tile(_picture(result), (result.frame_count, 1))
    if not perspective:
        picture = placed.scale[:, None] * picture
        center = (picture[:, :2] + picture[:, 2:]) / 2
        picture = picture - np.tile(center, 2)
        away = np.ptp(depths) + np.abs(picture).max() - depths.min()
        t = t - np.column_stack((center, np.full(len(t), -away)))
        depths = depths + away
    return SceneCameras(R, t, picture, perspective, (float(depths.min()), float(depths.max())))


def _picture(result: Result) -> Floats:
    """Return left, top, right and bottom of the picture in calibrated units."""
    K = result.intrinsics
    focal, center = np.diag(K)[:2], K[:2, 2]
    return (np.array(picture_bounds(result)) - np.tile(center, 2)) / np.tile(focal, 2)


def picture_bounds(result: Result) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of the picture in the units of the tracks; see the module."""
    size = result.meta.get("image_size")
    if size is not None:
        return -0.5, -0.5, size[0] - 0.5, size[1] - 0.5
    center = result.intrinsics[:2, 2]
    away = np.nanmax(np.abs(result.observations() - center[:, None]), axis=(0, 2))
    half = np.where(center + 0.5 >= away, center + 0.5, MARGIN * away)
    (left, top), (right, bottom) = (center - half).tolist(), (center + half).tolist()
    return left, top, right, bottom


# -- The video behind the camera -----------------------------------------------------------------------------


def with_video_size(result: Result, path: Path) -> Result:
    """Return a result whose picture is that of its video, where it does not know the size of its pictures."""
    if not result.meta.get("video"):
        raise InputError(f"{path}: the result names no video to put behind the camera")
    if find_spec("PIL") is None:
        raise InputError(needs("A video behind the camera", "Pillow", "video"))
    if result.meta.get("image_size") is not None:
        return result
    with _opened(result) as video:
        return replace(result, meta=result.meta | {"image_size": list(video.size)})


def read_pictures(result: Result, frames: Ints) -> Iterator[bytes]:
    """Yield the pictures of frames as JPEG. Raises InputError where one cannot be read."""
    from PIL import Image

    numbers = result.meta.get("video_frames")
    with _opened(result) as video:
        for frame in frames.tolist():
            stream = io.BytesIO()
            pixels = video.read(frame if numbers is None else numbers[frame])
            Image.fromarray(pixels).save(stream, "JPEG", quality=QUALITY)
            yield stream.getvalue()


def card_corners(cameras: SceneCameras, frames: Ints) -> Floats:
    """Return the corners (N, 4, 3) of the card in the axes of the camera, y up, which looks along -z.

    They begin at the lower left one and go around to the right.
    """
    left, top, right, bottom = cameras.picture[frames].T
    away = BEHIND * cameras.depths[1]
    corners = np.stack([[left, -bottom], [right, -bottom], [right, -top], [left, -top]])  # (4, 2, N)
    corners = corners.transpose(2, 0, 1) * (away if cameras.perspective else 1.0)
    return np.concatenate((corners, np.full((len(frames), 4, 1), -away)), axis=2)


def _opened(result: Result) -> closing[Video]:
    return closing(Video(Path(str(result.meta["video"]))))


# -- Colors --------------------------------------------------------------------------------------------------


def color_values(result: Result, options: ExportOptions, path: object) -> Floats | None:
    """Return the values (F, P) that points are colored by, None for one color.

    Standard deviations are in calibrated units, errors in the unit of the truth, NaN where it is unknown.
    """
    if options.color == "plain":
        return None
    if options.color == "error":
        compared = compare(result, options)
        if compared is None:
            raise InputError(f"{path}: color is 'error', but the result has no ground truth to measure it by")
        return compared.errors
    if result.std is None:
        raise InputError(
            f"{path}: color is 'std', but the result has no standard deviations; accepted is plain"
        )
    if not np.isfinite(result.std).all():
        raise InputError(f"{path}: std holds a value that is not finite; a color needs finite numbers")
    std: Floats = np.linalg.norm(result.std, axis=1)
    return std


def largest_of(values: Floats) -> float:
    """Return the largest of the values that are known, 0 where none is."""
    return float(np.nanmax(values, initial=0.0))


def colors_of(values: Floats, largest: float) -> Floats:
    """Return linear RGB (..., 3) of values along viridis, from 0 to the largest; gray where they are NaN."""
    anchors = np.array([_srgb(color) for color in VIRIDIS])
    known = np.isfinite(values)
    shares = np.where(known, values, 0.0) / (largest or 1.0)
    at = np.linspace(0, 1, len(anchors))
    srgb = np.stack([np.interp(shares, at, channel) for channel in anchors.T], axis=-1)
    return _linear(np.where(known[..., None], srgb, 0.5))


def plain_color() -> Floats:
    """Return linear RGB (3,) of a shape with one color."""
    return _linear(_srgb(COLOR))


def _srgb(color: str) -> Floats:
    return np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255


def _linear(srgb: Floats) -> Floats:
    linear: Floats = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return linear
