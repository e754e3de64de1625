"""Sequences of tracks with their cameras and ground truth."""

from .hidden import format_hidden, hide_observations, normalize_hidden, parse_hidden
from .masks import known_points
from .occlusion import occluded_blocks
from .sequence import (
    GROUND_TRUTH,
    VIDEO_SUFFIXES,
    CameraModel,
    GroundTruth,
    Observations,
    Sequence,
)
from .triangulation import delaunay, edges_of, reference_frame, triangulate_tracks

__all__ = [
    "GROUND_TRUTH",
    "VIDEO_SUFFIXES",
    "CameraModel",
    "GroundTruth",
    "Observations",
    "Sequence",
    "delaunay",
    "edges_of",
    "format_hidden",
    "hide_observations",
    "known_points",
    "normalize_hidden",
    "occluded_blocks",
    "parse_hidden",
    "reference_frame",
    "triangulate_tracks",
]
