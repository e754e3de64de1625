"""Cameras: intrinsics, calibration of tracks, and rotations estimated from tracks."""

from .calibration import calibrate, estimate_intrinsics, load_intrinsics, to_pixels
from .factorization import estimate_rotations
from .focal_length import (
    DEFAULT_RATIO,
    SENSOR,
    focal_from_lens,
    focal_from_view,
    lens_of_focal,
    view_of_focal,
)
from .gross_outliers import SUSPICIOUS, find_gross_outliers
from .intrinsics import ORIGINS, Calibration, IntrinsicsOrigin, image_size_of, resolve_intrinsics
from .metric_upgrade import MetricUpgrade, metric_upgrade
from .rotations import load_rotations
