"""What is understood of a file with tracks and known of its camera, in words. No Qt."""

from __future__ import annotations

import math
import re
from collections.abc import Collection

from core import CameraModel, Sequence
from core.cameras import ORIGINS, Calibration, image_size_of, view_of_focal
from nrsfm_gui.model.numbers import format_number

# What sentences on files say about options of the command line, for which the dialog has fields.
OPTION = re.compile(r" \((--[^)]*|\w+=)\)|[:,] --[\w-]+ \S+|[:;,] (name|choose|decide|give) [^;]*?--.*")
CHOICES = {"give --order": ": choose the order of axes", "name them by --columns": ": choose them"}
WITHOUT_FOCAL = ("normalized", "calibrated")  # origins that have no focal length


def without_options(text: str, names: Collection[str] = ()) -> str:
    """Return a sentence of a reader for the window, which has fields and not options of the command line.

    A sentence that begins with one of some `names` of the file keeps it as the file writes it.

    >>> without_options("tracks of 9 x 9: give --order ntxy (order=), or --order tnxy where frames are first")
    'Tracks of 9 x 9: choose the order of axes'
    """
    plain = OPTION.sub("", re.sub("^columns names no ([^;]*);.*", r"no column is chosen for \1", text))
    plain += "".join(choice for asked, choice in CHOICES.items() if asked in text)
    return plain if plain.split(" ")[0] in names else f"{plain[:1].upper()}{plain[1:]}"


def describe_tracks(sequence: Sequence) -> str:
    """Return frames, points, the share that is seen, and where the tracks lie, in two lines."""
    seen = sequence.tracks.swapaxes(1, 2)[sequence.visible]
    spans = [
        f"{axis} from {_place(values.min())} to {_place(values.max())}"
        for axis, values in zip("xy", seen.T, strict=True)
    ]
    percent = 100.0 * float(sequence.visible.mean())
    share = f"{min(percent, 99.9):.1f}" if 99.5 <= percent < 100 else f"{percent:.0f}"  # 100 only for all
    size = f"{sequence.frame_count} frames of {sequence.point_count} points, {share} % seen"
    return f"{size}\n{' and '.join(spans)} {sequence.units}{_extras(sequence)}"


def describe_camera(sequence: Sequence) -> str:
    """Return what the file itself gives of the camera, "" where that is to be asked for."""
    if sequence.camera is CameraModel.ORTHOGONAL:
        return "Orthogonal: no perspective at all."
    if sequence.intrinsics is None:
        return ""
    fx, fy, cx, cy = (float(sequence.intrinsics[place]) for place in ((0, 0), (1, 1), (0, 2), (1, 2)))
    focal = format_number(fx) + ("" if abs(fx - fy) < 1e-6 * abs(fx) else f", {format_number(fy)}")
    return (
        f"The file gives it: perspective, focal length {focal} {sequence.units}, "
        f"principal point ({format_number(cx)}, {format_number(cy)})."
    )


def asks_for_camera(sequence: Sequence) -> bool:
    """Return whether only the user knows the camera: tracks in pixels without K and without ground truth."""
    perspective = sequence.camera is CameraModel.PERSPECTIVE
    return perspective and sequence.units == "px" and sequence.intrinsics is None and sequence.truth is None


def _extras(sequence: Sequence) -> str:
    """Return what there is besides the tracks."""
    parts = []
    if sequence.truth is not None:
        parts.append(f"{sequence.truth_name} in {len(sequence.truth.frames)} frames")
    if sequence.point_names is not None:
        parts.append("named points")
    if sequence.edges is not None:
        parts.append(f"{len(sequence.edges)} edges")
    if sequence.video is not None:
        parts.append(f"video {sequence.video.name}")
    return f"; {', '.join(parts)}" if parts else ""


def _place(value: float) -> str:
    digits = 1 if abs(value) >= 10 else 3
    return format_number(round(value, digits)).replace("-", "−")


def calibration_text(calibration: Calibration, sequence: Sequence) -> str:
    """Return focal length, field of view, principal point and where they are from; "" if unknown."""
    origin, K = calibration.origin, calibration.K
    if origin.source in WITHOUT_FOCAL:
        return ""
    focal = math.sqrt(K[0, 0]) * math.sqrt(K[1, 1])
    (width, height), _ = image_size_of(sequence)
    angle, unit = view_of_focal(focal, max(width, height)), sequence.units
    place = f"{angle:.0f}° wide, center {K[0, 2]:.0f}, {K[1, 2]:.0f} {unit}"
    if origin.remark:
        return f"{origin.remark[0].upper()}{origin.remark[1:]} ({place}).".replace(" x ", " × ")
    return f"f {focal:.4g} {unit} ({place}), {ORIGINS[origin.source]}."
