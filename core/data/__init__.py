"""Sequences of tracks with their cameras and ground truth."""

from .masks import known_points
from .occlusion import occluded_blocks
from .sequence import GROUND_TRUTH, CameraModel, GroundTruth, Observations, Sequence

__all__ = [
    "GROUND_TRUTH",
    "CameraModel",
    "GroundTruth",
    "Observations",
    "Sequence",
    "known_points",
    "occluded_blocks",
]
