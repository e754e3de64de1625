"""The files of point trackers, known by pairs of names: the tracks and what tells which points are seen.

A batch axis of length 1 may come first, an axis of length 1 last in a mask. TRACKER_LAYOUTS has the shapes.

    CoTracker        scores are of points that are seen above .5 (facebookresearch/co-tracker, predictor.py)
    TAPIR, BootsTAPIR  as logits o of occlusion and d of expected_dist, seen where (1 - sigmoid(o))
                     (1 - sigmoid(d)) > .5 (google-deepmind/tapnet, utils/model_utils.py)
    TAPNext          seen where the sigmoid, times certainty where it is saved, is above .5
    AllTracker       seen where the second channel of visconfs_e is above .1
    TAPIP3D, SpatialTrackerV2  points in the world, extrinsics from there to the camera: x ~ K (R X + t)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ....data.sequence import CameraModel
from ....foundation.exceptions import InputError
from ....foundation.types import Bools, Floats
from ...files.reading_options import ReadingOptions
from ...files.variables import (
    Layout,
    Parts,
    Variables,
    check_finite,
    intrinsics_of,
    is_array,
    numbers,
    pixels,
    real_numbers,
    size_of,
    times_size,
    without_batch,
)
from .array_shapes import SHAPES, read_array, smooth_axis
from .visibility import fits_as_mask, with_mask

MODEL_SIDE = 256  # pixels of the picture that TAPIR computes in
ORDERS = {False: "frames-points-xy", True: "points-frames-xy"}
METER = 1000.0  # in the units of the truth, millimeters
RELATIVE = 1.5  # coordinates up to it are relative to the picture


@dataclass(frozen=True)
class Tracker:
    """The pair of names by which a tracker's file is known."""

    producer: str
    tracks: tuple[str, ...]
    masks: tuple[str, ...]  # "~NAME" where 1 is hidden; the first that is there is used
    points_first: bool = False
    threshold: float = 0.5  # of masks that are scores
    scores: tuple[str, ...] = ()  # arrays that need not be read: the mask has been made of them
    needs: tuple[str, ...] = ()  # further names by which it is known
    # The score of being seen where the mask holds another number: logits, the probability of being hidden.
    logits: Callable[[Variables], Floats] | None = None

    def pair(self, variables: Variables) -> tuple[str, str] | None:
        """Return the tracks and the mask, None where the names or the axes are others."""
        tracks = [name for name in self.tracks if _has_coordinates(variables.get(name), 2)]
        masks = [mask for mask in self.masks if isinstance(variables.get(_plain(mask)), np.ndarray)]
        known = tracks and masks and all(name in variables for name in self.needs)
        return (tracks[0], masks[0]) if known else None


def _has_coordinates(value: Any, count: int) -> bool:
    """Return whether an array ends with so many coordinates of points in frames."""
    return is_array(value := without_batch(value), 3) and value.shape[2] == count


def _plain(mask: str) -> str:
    return mask.removeprefix("~")


def _sigmoid(variables: Variables, name: str) -> Floats:
    return 0.5 * (1.0 + np.tanh(0.5 * real_numbers(variables[name], name)))


def _tapir_score(variables: Variables) -> Floats:
    seen = 1.0 - _sigmoid(variables, "occlusion")
    return seen * (1.0 - _sigmoid(variables, "expected_dist")) if "expected_dist" in variables else seen


def _tapnext_score(variables: Variables) -> Floats:
    seen = _sigmoid(variables, "visible_logits")
    return seen * real_numbers(variables["certainty"], "certainty") if "certainty" in variables else seen


def _alltracker_score(variables: Variables) -> Floats:
    return read_array(variables, "visconfs_e", ORDERS[False], missing=True)[:, 1]


TRACKERS: dict[str, Tracker] = {
    "cotracker": Tracker(
        "CoTracker",
        ("pred_tracks", "tracks", "coords"),
        ("pred_visibility", "visibility", "vis"),
        scores=("pred_confidence",),
    ),
    "tapir": Tracker(
        "TAPIR", ("tracks",), ("visibles", "~occluded"), True, scores=("occlusion", "expected_dist")
    ),
    "tapir-logits": Tracker(
        "TAPIR", ("tracks",), ("occlusion",), True, scores=("expected_dist",), logits=_tapir_score
    ),
    "tapnext": Tracker(
        "TAPNext", ("tracks",), ("visible_logits",), True, scores=("certainty",), logits=_tapnext_score
    ),
    "tapvid": Tracker("TAP-Vid", ("points",), ("~occluded",), True),
    "delta": Tracker("DELTA", ("coords",), ("vis",), scores=("conf",), needs=("conf",)),
    "alltracker": Tracker(
        "AllTracker", ("trajs_e",), ("visconfs_e",), threshold=0.1, logits=_alltracker_score
    ),
}
MODEL_PIXELS = ("tapir", "tapir-logits", "tapnext")  # computed in MODEL_SIDE, scaled afterward


def tracker_of(variables: Variables) -> str | None:
    """Return the key of the tracker that the names are of, None where they are of none or several."""
    found = [key for key, tracker in TRACKERS.items() if tracker.pair(variables)]
    if "delta" in found:
        found = ["delta"]  # its names are CoTracker's, and one more
    if "tapir" in found:
        found = [key for key in found if key != "tapir-logits"]  # the mask has been made of the logits
    return found[0] if len(found) == 1 else None


def read_tracker(variables: Variables, options: ReadingOptions, key: str) -> Parts:
    """Return the tracks of a tracker's file with their visibility."""
    tracker = TRACKERS[key]
    pair = tracker.pair(variables)
    assert pair is not None  # it was recognized by the pair
    name, mask = pair
    points_first = tracker.points_first if options.order is None else options.order == "ntxy"
    shape = SHAPES[ORDERS[points_first]]
    array = numbers(variables, name, dimensions=3, missing=True)
    if options.order is None and smooth_axis(array) == 1 - int(points_first):
        first, order = ("points", "tnxy") if points_first else ("frames", "ntxy")
        raise InputError(
            f"{name} ({size_of(array)}) would have the {first} first, as {tracker.producer} writes it, but "
            f"its numbers are smooth along that axis; decide it by --order {order}, or by --order "
            f"{'ntxy' if points_first else 'tnxy'} if it is right"
        )
    parts = Parts(
        shape.arrange(array, name),
        CameraModel.PERSPECTIVE,
        camera_assumed=True,
        intrinsics=intrinsics_of(variables),
        provenance=f"tracks are {name} of the file, {shape.summary}, as {tracker.producer} writes them",
        shape=ORDERS[points_first],
        producer=tracker.producer,
        roles={name: "tracks"} | {each: "scores" for each in tracker.scores if each in variables},
    )
    if options.visible in (None, mask):
        parts = _with_mask(variables, parts, tracker, mask, options.threshold)
    seen = parts.seen
    largest = parts.tracks.max(axis=1, where=seen[:, None], initial=-np.inf).max() if seen.any() else 0.0
    if key == "tapvid":
        return _scaled(variables, parts, options, float(largest))
    if key in MODEL_PIXELS and largest < MODEL_SIDE and options.size is None:
        warning = (
            f"all coordinates are below {MODEL_SIDE}: {tracker.producer} computes in {MODEL_SIDE} x "
            f"{MODEL_SIDE} pixels; if the video is larger, scale them to its pixels "
            "(convert_grid_coordinates) and write them again"
        )
        return replace(parts, guesses=(warning,))
    return parts


def _with_mask(
    variables: Variables, parts: Parts, tracker: Tracker, mask: str, threshold: float | None
) -> Parts:
    """Return parts with the visibility by the mask of the tracker."""
    name = _plain(mask)
    value = variables[name] if tracker.logits is None else tracker.logits(variables)
    if tracker.logits is None and not fits_as_mask(value, parts):
        return parts  # an array of this name and another size: `with_visibility` refuses it
    if threshold is None and not np.isin(value, (0, 1)).all():
        known = value[np.isfinite(value)]
        if known.size == 0 or known.min() < 0 or known.max() > 1:
            return parts  # neither a mask nor scores: likewise
        threshold = tracker.threshold
    note = "" if threshold is None else f", seen from {threshold:g} on"
    return with_mask(parts, value, mask, threshold, note)


def _scaled(variables: Variables, parts: Parts, options: ReadingOptions, largest: float) -> Parts:
    """Return tracks of TAP-Vid in pixels: the file has them relative to the picture."""
    if largest > RELATIVE:
        guess = f"{parts.tracks_name} are taken for pixels; TAP-Vid writes shares of the picture, 0 to 1"
        return replace(parts, guesses=(guess,))
    size = options.image_size or picture_size(variables)
    if size is None:
        raise InputError(
            f"{parts.tracks_name} are relative to the picture, from 0 to 1, and its size is not in the file; "
            "give it by --size WIDTHxHEIGHT (size=)"
        )
    return times_size(parts, size, " (video)" if options.size is None else " (--size)")


def picture_size(variables: Variables) -> tuple[int, int] | None:
    """Return width and height of the video that a file holds next to its tracks, None where it holds none."""
    for name in ("video", "images"):
        value = variables.get(name)
        if isinstance(value, np.ndarray) and value.ndim == 4 and value.dtype.kind in "uf":
            if value.shape[3] in (1, 3, 4):
                return int(value.shape[2]), int(value.shape[1])
            if value.shape[1] in (1, 3, 4):
                return int(value.shape[3]), int(value.shape[2])
    return None


# -- trackers that give points in space ----------------------------------------------------------------------


def _is_world(variables: Variables) -> bool:
    """Return whether a file has the points of TAPIP3D or SpatialTrackerV2 with their cameras."""
    named = {"visibs", "intrinsics", "extrinsics"} <= variables.keys()
    return named and _has_coordinates(variables.get("coords"), 3)


def read_world(variables: Variables, path: Path, options: ReadingOptions) -> Parts:
    """Return the projections of points in the world, which are another reconstruction to compare with."""
    v2 = "unc_metric" in variables or "confs" in variables
    producer = "SpatialTrackerV2" if v2 else "TAPIP3D"
    shapes = read_array(variables, "coords", ORDERS[False], 3, missing=True)
    cameras = _per_frame(variables, "extrinsics", len(shapes), ((4, 4), (3, 4)))
    intrinsics = _per_frame(variables, "intrinsics", len(shapes), ((3, 3),))
    same = bool(np.abs(intrinsics - intrinsics[0]).max() <= 1e-3 * intrinsics[0, 0, 0])
    varying = "" if same else "; the intrinsics differ between the frames, so K is left unknown"
    return _projected(
        variables,
        cameras[:, :3, :3] @ shapes + cameras[:, :3, 3:],
        intrinsics,
        "visibs",
        options,
        intrinsics=intrinsics[0] if same else None,
        shapes=shapes,
        truth_units="units",
        truth_name=producer,
        producer=producer,
        image_size=picture_size(variables),
        provenance=f"tracks are projected from the 3-D points coords of {producer} with its cameras, and the "
        f"points are kept to compare with{varying}",
        roles={"coords": "tracks", "intrinsics": "intrinsics", "extrinsics": "cameras"}
        | {name: "scores" for name in ("unc_metric", "confs") if name in variables},
    )


def _truth_name(variables: Variables) -> str | None:
    """Return the name of the true points in a file of TAPVid-3D."""
    known = {"visibility", "fx_fy_cx_cy"} <= variables.keys()
    return next((name for name in ("tracks_XYZ", "tracks_xyz") if known and name in variables), None)


def read_camera_frame(variables: Variables, path: Path, options: ReadingOptions) -> Parts:
    """Return the projections of TAPVid-3D's true points, which are in meters in the frame of the camera."""
    name = _truth_name(variables) or ""
    shapes = METER * read_array(variables, name, ORDERS[False], 3, missing=True)
    four = numbers(variables, "fx_fy_cx_cy", dimensions=1)
    if four.shape != (4,) or four[:2].min() <= 0:
        raise InputError(f"fx_fy_cx_cy is {four.tolist()}; accepted are four numbers, fx and fy positive")
    matrix = np.array([[four[0], 0.0, four[2]], [0.0, four[1], four[3]], [0.0, 0.0, 1.0]])
    return _projected(
        variables,
        shapes,
        np.broadcast_to(matrix, (len(shapes), 3, 3)),
        "visibility",
        options,
        intrinsics=matrix,
        shapes=shapes,
        producer="TAPVid-3D",
        provenance=f"tracks are projected from the true 3-D points {name}, without noise",
        roles={name: "tracks", "fx_fy_cx_cy": "intrinsics"},
    )


def _per_frame(variables: Variables, name: str, frames: int, accepted: tuple[tuple[int, int], ...]) -> Floats:
    """Return a matrix for each frame, of a file that has one for each or one for all."""
    value = without_batch(variables[name])
    sizes = " or ".join(f"{rows} x {columns}" for rows, columns in accepted)
    numeric = isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.shape[-2:] in accepted
    if not numeric or value.shape[:-2] not in ((), (1,), (frames,)):
        raise InputError(f"{name} is {size_of(value)}; accepted is {frames} x {sizes}, or {sizes}")
    array: Floats = np.broadcast_to(np.asarray(value, dtype=np.float64), (frames, *value.shape[-2:]))
    check_finite(array, name)
    return array


def _projected(
    variables: Variables, placed: Floats, matrices: Floats, mask: str, options: ReadingOptions, **known: Any
) -> Parts:
    """Return the projections of points (F, 3, N) in the frame of the camera by K (F, 3, 3) of each frame."""
    places = np.where(np.isfinite(placed[:, :2]), 0.0, np.nan)
    parts = Parts(places, CameraModel.PERSPECTIVE, shape="frames-points-xy", **known)
    tracker = Tracker(parts.producer, (parts.tracks_name,), (mask,))
    if options.visible in (None, mask):
        parts = _with_mask(variables, parts, tracker, mask, options.threshold)
    behind: Bools = np.asarray(~(placed[:, 2] > 0))
    seen = np.isfinite(placed).all(axis=1) if parts.visible is None else parts.visible
    front = np.where((behind & ~seen)[:, None], np.nan, placed)
    return replace(parts, tracks=pixels(front, matrices, parts.tracks_name))


# -- as layouts ----------------------------------------------------------------------------------------------


def _layout(key: str, tracker: Tracker) -> Layout:
    order = SHAPES[ORDERS[tracker.points_first]].summary
    masks = " or ".join(_plain(mask) for mask in tracker.masks)
    return Layout(
        f"{' or '.join(tracker.tracks)} {order} with {masks}",
        lambda variables: tracker_of(variables) == key,
        lambda variables, path, options: read_tracker(variables, options, key),
    )


TRACKER_LAYOUTS: dict[str, Layout] = {key: _layout(key, tracker) for key, tracker in TRACKERS.items()} | {
    "tapip3d": Layout("coords F x P x 3 with visibs, intrinsics, extrinsics", _is_world, read_world),
    "tapvid3d": Layout("tracks_XYZ F x P x 3 with visibility, fx_fy_cx_cy", _truth_name, read_camera_frame),
}
