"""Cameras: intrinsics, calibration of tracks, and rotations estimated from tracks."""

from .calibration import calibrate, estimate_intrinsics, load_intrinsics, to_pixels
from .factorization import estimate_rotations
from .metric_upgrade import MetricUpgrade, metric_upgrade
from .rotations import load_rotations

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
