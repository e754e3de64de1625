"""What the formats of pose tools have in common: individuals, scores, relative positions, body models."""

from __future__ import annotations

import itertools
from collections.abc import Sequence as SequenceOf
from dataclasses import replace

import numpy as np

from ....data.sequence import CameraModel
from ....foundation.exceptions import InputError
from ....foundation.types import Bools, Floats, Ints
from ...files.reading_options import ReadingOptions
from ...files.variables import Parts, shortened, times_size

CUTOFF = 0.6  # of a likelihood, as in the projects of DeepLabCut
HALF = 0.5  # of any other score
_MOST_NAMED = 8
_LONGEST = 30  # characters of a name
_INSIDE = 0.95  # share of the positions from 0 to 1 by which all are relative to the picture


def chosen_individual(names: SequenceOf[str], shares: SequenceOf[float] | None, asked: str | None) -> int:
    """Return which of several individuals is read."""
    listed = [shortened(name) for name in names]
    if shares is not None:
        listed = [
            f"{name[:_LONGEST]} ({share:.0%} visible)" for name, share in zip(listed, shares, strict=True)
        ]
    if asked is not None and list(names) == [""]:
        raise InputError(f"individual is {asked!r}; the file holds only one")
    there = ", ".join(listed[:_MOST_NAMED]) + (", ..." if len(listed) > _MOST_NAMED else "")
    if asked is not None and asked not in names:
        raise InputError(f"there is no individual {asked!r}; there are {there}")
    if asked is None and len(names) > 1:
        raise InputError(
            f"holds {len(names)} individuals: {there}; choose one by --individual NAME (individual=)"
        )
    return 0 if asked is None else list(names).index(asked)


def read_individual(
    names: SequenceOf[str],
    poses: SequenceOf[tuple[Floats, Floats | None]],
    options: ReadingOptions,
    producer: str,
    score: str = "score",
    usual: float | None = None,
) -> tuple[int, Parts]:
    """Return which of several individuals is read, and its keypoints, visible from a score on.

    `poses`: of each the places (F, P, 2), NaN where one is missing, and the scores (F, P) or None.
    `usual`: the least score of a visible point where the options have none; None: any.
    """
    least = usual if options.threshold is None else options.threshold
    seen: list[Bools] = []
    for places, scores in poses:
        placed: Bools = np.asarray(np.isfinite(places).all(axis=2))
        seen.append(placed if scores is None or least is None else placed & (scores >= least))
    shares = [np.count_nonzero(each) / max(each.size, 1) for each in seen]
    index = chosen_individual(names, shares, options.individual)
    places, scores = poses[index]
    note, reading = "", {"individual": names[index]} if names[index] else {}
    if scores is not None and least is not None:
        note = f"a point is visible where its {score} is at least {least:g} (threshold)"
        reading["threshold"] = f"{least:g}"
    return index, Parts(
        places.transpose(0, 2, 1),
        CameraModel.PERSPECTIVE,
        camera_assumed=True,
        visible=seen[index],
        producer=producer,
        provenance=note,
        reading=reading,
    )


def gaps_in(frames: Ints, absent: str, effect: str = "") -> list[str]:
    """Return a sentence on the first frames that are missing between others, if there are any."""
    gaps = np.flatnonzero(np.diff(frames) > 1)
    if not gaps.size:
        return []
    before, after = frames[gaps[0]], frames[gaps[0] + 1]
    return [
        f"no {absent} is of the frames between {before} and {after}: {effect}the numbers of the frames after "
        "them no longer equal those of the video"
    ]


def in_pixels(parts: Parts, options: ReadingOptions) -> Parts:
    """Return parts whose tracks are in pixels, where they are relative to the picture: x / width, y / height.

    Tracks are taken for relative ones where nearly all lie between 0 and 1 and none is far outside.
    """
    places = parts.tracks.transpose(0, 2, 1)[parts.seen]
    outside = not places.size or places.min() < -1 or places.max() > 2 or np.ptp(places) == 0
    if options.camera_model is CameraModel.ORTHOGONAL or outside:
        return parts
    if ((places >= 0) & (places <= 1)).all(axis=1).mean() < _INSIDE:
        return parts
    size = options.image_size
    if size is None:
        raise InputError(
            "x and y lie between 0 and 1, relative to the picture; accepted with the picture's size in "
            "pixels: --size WIDTHxHEIGHT (size=)"
        )
    reading = {**parts.reading, "size": f"{size[0]}x{size[1]}"}
    return replace(times_size(parts, size), camera=CameraModel.PERSPECTIVE, reading=reading)


# -- body models: the names of their keypoints, and which are connected in chains ----------------------------

BODY_25 = (  # OpenPose
    "Nose Neck RShoulder RElbow RWrist LShoulder LElbow LWrist MidHip RHip RKnee RAnkle LHip LKnee LAnkle "
    "REye LEye REar LEar LBigToe LSmallToe LHeel RBigToe RSmallToe RHeel"
)
BODY_25_EDGES = (
    "Nose-Neck-MidHip Neck-RShoulder-RElbow-RWrist Neck-LShoulder-LElbow-LWrist MidHip-RHip-RKnee-RAnkle "
    "MidHip-LHip-LKnee-LAnkle Nose-REye-REar Nose-LEye-LEar LAnkle-LBigToe-LSmallToe LAnkle-LHeel "
    "RAnkle-RBigToe-RSmallToe RAnkle-RHeel"
)
COCO_18 = (  # OpenPose, older
    "Nose Neck RShoulder RElbow RWrist LShoulder LElbow LWrist RHip RKnee RAnkle LHip LKnee LAnkle REye "
    "LEye REar LEar"
)
COCO_18_EDGES = (
    "Nose-Neck-RShoulder-RElbow-RWrist Neck-LShoulder-LElbow-LWrist Neck-RHip-RKnee-RAnkle "
    "Neck-LHip-LKnee-LAnkle Nose-REye-REar Nose-LEye-LEar"
)
BLAZE_POSE = (  # MediaPipe
    "nose left_eye_inner left_eye left_eye_outer right_eye_inner right_eye right_eye_outer left_ear "
    "right_ear mouth_left mouth_right left_shoulder right_shoulder left_elbow right_elbow left_wrist "
    "right_wrist left_pinky right_pinky left_index right_index left_thumb right_thumb left_hip right_hip "
    "left_knee right_knee left_ankle right_ankle left_heel right_heel left_foot_index right_foot_index"
)
BLAZE_POSE_EDGES = (
    "nose-left_eye_inner-left_eye-left_eye_outer-left_ear "
    "nose-right_eye_inner-right_eye-right_eye_outer-right_ear mouth_left-mouth_right "
    "left_shoulder-right_shoulder left_shoulder-left_elbow-left_wrist-left_pinky left_wrist-left_index "
    "left_wrist-left_thumb left_pinky-left_index right_shoulder-right_elbow-right_wrist-right_pinky "
    "right_wrist-right_index right_wrist-right_thumb right_pinky-right_index left_shoulder-left_hip "
    "right_shoulder-right_hip left_hip-right_hip left_hip-left_knee-left_ankle-left_heel-left_foot_index "
    "left_ankle-left_foot_index right_hip-right_knee-right_ankle-right_heel-right_foot_index "
    "right_ankle-right_foot_index"
)


def _skeleton(names: str, edges: str) -> tuple[tuple[str, ...], Ints]:
    """Return the names of a model's points, and its edges (E, 2) from 0."""
    points = tuple(names.split())
    chains = [[points.index(name) for name in chain.split("-")] for chain in edges.split()]
    return points, np.array([edge for chain in chains for edge in itertools.pairwise(chain)])


SKELETONS_OF_OPENPOSE = {25: _skeleton(BODY_25, BODY_25_EDGES), 18: _skeleton(COCO_18, COCO_18_EDGES)}
SKELETONS_OF_MEDIAPIPE = {33: _skeleton(BLAZE_POSE, BLAZE_POSE_EDGES)}
