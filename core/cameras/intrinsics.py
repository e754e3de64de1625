"""Which K the tracks of a sequence are calibrated with, and what is known of it.

    given           by the settings, in a file, or with the sequence
    truth           estimated from the ground-truth frame (`calibration`), with its interval
    tracks          estimated from the tracks alone (`core.reconstruction.nonrigid_pipeline`), with it
    assumed         1.2 times the longer image side, principal point in the middle
    calibrated      the identity
    normalized      of an orthogonal camera: not K, but the middle and the size of the tracks

What was assumed or is uncertain is described in a sentence.

For a picture whose longer side has w pixels on a sensor whose longer side measures s millimeters, a lens of l
millimeters has the focal length and the field of view along that side

    f = w l / s,        angle = 2 atan(w / 2f).

Where nothing is known of the camera, f is assumed to be 1.2 w: 43 mm on a sensor of 36 mm, 45 degrees.  The
main cameras of phones have about 0.7 w to 0.8 w, cropped by video stabilization to about 0.9 w; what was
filmed from farther off, with a zoom lens, has more.  An error of 20 % in f costs 5 to 25 % in the 3-D error.

The size of a picture of which only tracks are known is guessed as the usual size that holds all of them and
in which they leave the most equal margins, because what is filmed is in the middle of the picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import atan, degrees, log, radians, tan
from pathlib import Path

import numpy as np

from ..data.sequence import CameraModel, Observations, Sequence
from ..foundation.exceptions import InputError
from ..foundation.representation import OneLine
from ..foundation.types import Floats, read_only
from .calibration import camera_matrix, estimate_intrinsics, load_intrinsics, orthogonal_intrinsics

ORIGINS = {
    "given": "given",
    "sequence": "the sequence's own",
    "truth": "estimated from the ground-truth frame",
    "tracks": "estimated from the tracks",
    "assumed": "assumed",
    "calibrated": "none: the tracks are calibrated",
    "normalized": "none: the camera is orthogonal",
}
UNCERTAIN = 0.03  # relative standard deviation of a focal length, above which its interval is described
CONFIDENCE = 1.96  # standard deviations of an interval of 95 %
LARGEST_CALIBRATED = 10.0  # median absolute coordinate; a view of 90 degrees has 1 at its edge
DEFAULT_RATIO = 1.2  # assumed focal length over the longer image side
SENSOR = 36.0  # millimeters of the longer side that "35 mm equivalent" focal lengths refer to
# Width and height of usual pictures; each may also stand upright.
USUAL_SIZES = (
    *((256, 256), (320, 240), (480, 270), (480, 360), (512, 384), (512, 512), (640, 360), (640, 480)),
    *((800, 600), (854, 480), (960, 540), (960, 720), (1024, 576), (1024, 768), (1024, 1024)),
    *((1280, 720), (1280, 960), (1440, 1080), (1600, 900), (1600, 1200)),
    *((1920, 1080), (1920, 1440), (2048, 1536), (2560, 1440), (2704, 1520), (3840, 2160), (4000, 3000)),
    *((4032, 3024), (5312, 2988), (7680, 4320)),
)
OUTSIDE = 0.02  # of the extent: how far tracks may lie outside of the picture that they are guessed to be of


@dataclass(frozen=True)
class IntrinsicsOrigin:
    """Where a K is from."""

    source: str  # a key of `ORIGINS`
    # What was assumed, or how uncertain it is, as a sentence without its period; "" where nothing was.
    remark: str = ""
    # Of the focal length, at 95 %, in the units of the tracks; None where it is not an estimate.
    interval: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.source not in ORIGINS:
            raise InputError(f"the intrinsics are from {self.source!r}; accepted are {', '.join(ORIGINS)}")


@dataclass(frozen=True, eq=False)
class Calibration(OneLine):
    """The K (3, 3) that tracks are calibrated with, and where it is from."""

    K: Floats
    origin: IntrinsicsOrigin

    def __post_init__(self) -> None:
        object.__setattr__(self, "K", read_only(self.K))


def resolve_intrinsics(
    sequence: Sequence,
    source: str | Path | tuple[float, float, float, float],
    camera: CameraModel | None = None,
) -> Calibration:
    """Return K from the source that the settings name, and where it is from.

    "auto" is K of the sequence, else estimated from its ground-truth frame, else assumed; "estimate" is
    assumed, as the start of an estimate by the tracks (`core.reconstruction`); "gt" is estimated from the
    ground-truth frame, "calibrated" the identity; others are a file, or (fx, fy, cx, cy).
    """
    if (camera or sequence.camera) is CameraModel.ORTHOGONAL:
        return Calibration(orthogonal_intrinsics(sequence.observations), IntrinsicsOrigin("normalized"))
    if isinstance(source, tuple):
        return Calibration(camera_matrix(*source), IntrinsicsOrigin("given"))
    if isinstance(source, Path):
        return Calibration(load_intrinsics(source), IntrinsicsOrigin("given"))
    if source == "calibrated":
        return Calibration(np.eye(3), IntrinsicsOrigin("calibrated"))
    if source == "estimate":
        return assumed_intrinsics(sequence)
    if source == "auto" and sequence.intrinsics is not None:
        return Calibration(sequence.intrinsics, IntrinsicsOrigin("sequence"))
    if sequence.truth is None:
        if source == "auto":
            return assumed_intrinsics(sequence)
        raise InputError(
            f"{sequence.name}: the intrinsics are unknown, and there is no ground-truth frame to estimate "
            "them from; give --intrinsics auto, estimate, fx,fy,cx,cy, a file, or 'calibrated'"
        )
    try:
        return _from_truth(sequence)
    except InputError as error:
        if source != "auto":
            raise
        return assumed_intrinsics(sequence, f" ({str(error).partition(';')[0].partition(':')[0]})")


def assumed_intrinsics(sequence: Sequence, why: str = "") -> Calibration:
    """Return the K that is assumed where nothing is known: f 1.2 times the longer image side."""
    seen = np.moveaxis(sequence.tracks, 1, 0)[:, sequence.visible]
    typical = float(np.median(np.abs(seen)))
    if not typical > LARGEST_CALIBRATED:
        raise InputError(
            f"{sequence.name}: the intrinsics are unknown, and the tracks are not in pixels (median absolute "
            f"coordinate {typical:.3g}); give --intrinsics fx,fy,cx,cy, a file, or 'calibrated'"
        )
    size, (cx, cy) = image_size_of(sequence)
    side = max(size)
    focal = DEFAULT_RATIO * side
    guessed = "" if sequence.image_size is not None else ", the image size guessed from the tracks"
    remark = (
        f"focal length unknown{why}: {focal:.0f} {sequence.units} assumed = {DEFAULT_RATIO:g} x {side:.0f} "
        f"{sequence.units}{guessed}"
    )
    return Calibration(camera_matrix(focal, focal, cx, cy), IntrinsicsOrigin("assumed", remark))


@lru_cache(maxsize=4)  # asked for at every change of a parameter; tracks of many points take 10 ms
def image_size_of(sequence: Sequence) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return width and height of the picture of a sequence, and its middle; guessed where it has none."""
    if sequence.image_size is None:
        return guess_image_size(sequence.observations)
    width, height = (float(number) for number in sequence.image_size)
    return (width, height), (0.5 * width, 0.5 * height)


def _from_truth(sequence: Sequence) -> Calibration:
    """Return K by the ground-truth frame, with its interval."""
    truth = sequence.truth
    assert truth is not None  # the caller has checked it
    frame = truth.reference
    points = truth.at(frame)
    assert points is not None  # GroundTruth checks that its reference is one of its frames
    found = estimate_intrinsics(points, sequence.tracks[frame], sequence.visible[frame])
    focal = float(np.sqrt(found.K[0, 0] * found.K[1, 1]))
    spread = float(np.exp(CONFIDENCE * found.uncertainty))
    interval = focal / spread, focal * spread
    remark = ""
    if found.uncertainty > UNCERTAIN:
        remark = (
            f"focal length {focal:.0f} {sequence.units} estimated from the ground-truth frame, which is thin "
            f"in depth: between {interval[0]:.0f} and {interval[1]:.0f} {sequence.units} (95 %)"
        )
    return Calibration(found.K, IntrinsicsOrigin("truth", remark, interval))


# -- focal lengths -------------------------------------------------------------------------------------------


def focal_from_lens(millimeters: float, side: float, sensor: float = SENSOR) -> float:
    """Return the focal length in pixels of a lens, for a picture with a longer side of so many pixels."""
    for name, number in (("lens", millimeters), ("sensor", sensor), ("image side", side)):
        if not 0 < number < np.inf:
            raise InputError(f"{name} is {number:g}; accepted is a number above 0")
    return side * millimeters / sensor


def lens_of_focal(focal: float, side: float, sensor: float = SENSOR) -> float:
    """Return the millimeters of the lens that has a focal length in pixels; inverse of `focal_from_lens`."""
    return focal * sensor / side


def focal_from_view(angle: float, side: float) -> float:
    """Return the focal length in pixels of a camera with a field of view in degrees along the longer side."""
    if not 0 < angle < 180:
        raise InputError(f"field of view is {angle:g}; accepted are degrees between 0 and 180")
    return 0.5 * side / tan(radians(0.5 * angle))


def view_of_focal(focal: float, side: float) -> float:
    """Return the field of view in degrees of a focal length in pixels; inverse of `focal_from_view`."""
    return degrees(2.0 * atan(0.5 * side / focal))


def guess_image_size(observations: Observations) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return width and height of the picture that tracks in pixels are likely of, and its middle."""
    seen = np.moveaxis(observations.tracks, 1, 0)[:, observations.visible]
    low, high = seen.min(axis=1), seen.max(axis=1)
    slack = OUTSIDE * float((high - low).max())
    if low.min() >= -slack:
        margins = low + high  # the size in which the margins are equal
        usual = {size for width, height in USUAL_SIZES for size in ((width, height), (height, width))}
        fits = [(w, h) for w, h in usual if w >= high[0] - slack and h >= high[1] - slack]
        if fits:
            width, height = min(
                fits, key=lambda size: (sum(abs(log(size[a] / max(margins[a], 1.0))) for a in (0, 1)), size)
            )
            return (float(width), float(height)), (0.5 * width, 0.5 * height)
    extent, middle = high - low, 0.5 * (low + high)
    return (float(extent[0]), float(extent[1])), (float(middle[0]), float(middle[1]))
