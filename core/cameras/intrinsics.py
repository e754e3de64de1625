"""Which K the tracks of a sequence are calibrated with, and what is known of it.

    given           by the settings, in a file, or with the sequence
    truth           estimated from the ground-truth frame (`calibration`), with its interval
    tracks          estimated from the tracks alone (`core.reconstruction.nonrigid_pipeline`), with it
    assumed         1.2 times the longer image side (`focal_length`), principal point in the middle
    calibrated      the identity
    normalized      of an orthogonal camera: not K, but the middle and the size of the tracks

What was assumed or is uncertain is described in a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..data.sequence import CameraModel, Sequence
from ..foundation.exceptions import InputError
from ..foundation.representation import OneLine
from ..foundation.types import Floats, read_only
from .calibration import estimate_intrinsics, load_intrinsics, orthogonal_intrinsics
from .focal_length import DEFAULT_RATIO, guess_image_size

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
    """Return K from the source that the settings name.

    `source`: "auto" (K of the sequence, else estimated from its ground-truth frame, else assumed), "estimate"
    (assumed, as the start of an estimate by the tracks, see `core.reconstruction`), "gt" (estimated from the
    ground-truth frame), "calibrated" (the identity), a file, or (fx, fy, cx, cy). Returns K (3, 3) and where
    it is from.
    """
    if (camera or sequence.camera) is CameraModel.ORTHOGONAL:
        return Calibration(orthogonal_intrinsics(sequence.observations), IntrinsicsOrigin("normalized"))
    if isinstance(source, tuple):
        fx, fy, cx, cy = source
        return Calibration(
            np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]]), IntrinsicsOrigin("given")
        )
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
    """Return the K that is assumed where nothing is known: f 1.2 times the longer image side.

    `sequence`: the sequence of the tracks, in pixels.
    """
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
    K = np.array([[focal, 0.0, cx], [0.0, focal, cy], [0.0, 0.0, 1.0]])
    return Calibration(K, IntrinsicsOrigin("assumed", remark))


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
