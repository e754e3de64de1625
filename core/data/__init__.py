"""Sequences of tracks with their cameras and ground truth."""

from .connectivity import Connectivity, connect
from .hidden import format_hidden, hide_observations, normalize_hidden, occluded_blocks, parse_hidden
from .masks import known_points, quantile_of_known
from .sequence import (
    GROUND_TRUTH,
    VIDEO_SUFFIXES,
    CameraModel,
    GroundTruth,
    Observations,
    Sequence,
    check_rotations,
    checked_intrinsics,
)
from .triangulation import delaunay, edges_of, oriented, reference_frame, triangulate_tracks
