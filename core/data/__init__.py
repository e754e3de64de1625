"""Sequences of tracks and what is known about them."""

from .masks import known_points
from .sequence import CameraModel, GroundTruth, Observations, Sequence

__all__ = [
    "CameraModel",
    "GroundTruth",
    "Observations",
    "Sequence",
    "known_points",
]
