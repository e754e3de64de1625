"""The names of the keypoints of well-known body models, and which of them are connected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ....foundation.types import Ints

BODY_25 = (  # OpenPose
    "Nose Neck RShoulder RElbow RWrist LShoulder LElbow LWrist MidHip RHip RKnee RAnkle LHip LKnee LAnkle "
    "REye LEye REar LEar LBigToe LSmallToe LHeel RBigToe RSmallToe RHeel"
)
BODY_25_EDGES = (
    "Nose-Neck Neck-MidHip Neck-RShoulder RShoulder-RElbow RElbow-RWrist Neck-LShoulder LShoulder-LElbow "
    "LElbow-LWrist MidHip-RHip RHip-RKnee RKnee-RAnkle MidHip-LHip LHip-LKnee LKnee-LAnkle Nose-REye "
    "REye-REar Nose-LEye LEye-LEar LAnkle-LBigToe LBigToe-LSmallToe LAnkle-LHeel RAnkle-RBigToe "
    "RBigToe-RSmallToe RAnkle-RHeel"
)
COCO_18 = (  # OpenPose, older
    "Nose Neck RShoulder RElbow RWrist LShoulder LElbow LWrist RHip RKnee RAnkle LHip LKnee LAnkle REye "
    "LEye REar LEar"
)
COCO_18_EDGES = (
    "Nose-Neck Neck-RShoulder RShoulder-RElbow RElbow-RWrist Neck-LShoulder LShoulder-LElbow LElbow-LWrist "
    "Neck-RHip RHip-RKnee RKnee-RAnkle Neck-LHip LHip-LKnee LKnee-LAnkle Nose-REye REye-REar Nose-LEye "
    "LEye-LEar"
)
BLAZE_POSE = (  # MediaPipe
    "nose left_eye_inner left_eye left_eye_outer right_eye_inner right_eye right_eye_outer left_ear "
    "right_ear mouth_left mouth_right left_shoulder right_shoulder left_elbow right_elbow left_wrist "
    "right_wrist left_pinky right_pinky left_index right_index left_thumb right_thumb left_hip right_hip "
    "left_knee right_knee left_ankle right_ankle left_heel right_heel left_foot_index right_foot_index"
)
BLAZE_POSE_EDGES = (
    "nose-left_eye_inner left_eye_inner-left_eye left_eye-left_eye_outer left_eye_outer-left_ear "
    "nose-right_eye_inner right_eye_inner-right_eye right_eye-right_eye_outer right_eye_outer-right_ear "
    "mouth_left-mouth_right left_shoulder-right_shoulder left_shoulder-left_elbow left_elbow-left_wrist "
    "left_wrist-left_pinky left_wrist-left_index left_wrist-left_thumb left_pinky-left_index "
    "right_shoulder-right_elbow right_elbow-right_wrist right_wrist-right_pinky right_wrist-right_index "
    "right_wrist-right_thumb right_pinky-right_index left_shoulder-left_hip right_shoulder-right_hip "
    "left_hip-right_hip left_hip-left_knee left_knee-left_ankle left_ankle-left_heel "
    "left_heel-left_foot_index left_ankle-left_foot_index right_hip-right_knee right_knee-right_ankle "
    "right_ankle-right_heel right_heel-right_foot_index right_ankle-right_foot_index"
)


def skeleton(names: str, edges: str) -> tuple[tuple[str, ...], Ints]:
    """Return the names of a model's points, and its edges (E, 2) from 0."""
    points = tuple(names.split())
    index = {name: number for number, name in enumerate(points)}
    return points, np.array([[index[end] for end in edge.split("-")] for edge in edges.split()])


SKELETONS_OF_OPENPOSE = {25: skeleton(BODY_25, BODY_25_EDGES), 18: skeleton(COCO_18, COCO_18_EDGES)}
SKELETONS_OF_MEDIAPIPE = {33: skeleton(BLAZE_POSE, BLAZE_POSE_EDGES)}
