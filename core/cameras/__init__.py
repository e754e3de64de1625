"""Cameras: intrinsics, calibration of tracks, and rotations estimated from tracks."""

from .calibration import calibrate, to_pixels
from .intrinsics import estimate_intrinsics, load_intrinsics
from .metric_upgrade import MetricUpgrade, metric_upgrade
from .rotations import estimate_rotations, load_rotations

__all__ = [
    "MetricUpgrade",
    "calibrate",
    "estimate_intrinsics",
    "estimate_rotations",
    "load_intrinsics",
    "load_rotations",
    "metric_upgrade",
    "to_pixels",
]
