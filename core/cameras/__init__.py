"""Cameras: intrinsics, calibration of tracks, and rotations estimated from tracks."""

from .calibration import calibrate, estimate_intrinsics, load_intrinsics, to_pixels
from .factorization import estimate_rotations
from .gross_outliers import SUSPICIOUS, find_gross_outliers
from .intrinsics import (
    DEFAULT_RATIO,
    ORIGINS,
    SENSOR,
    Calibration,
    IntrinsicsOrigin,
    focal_from_lens,
    focal_from_view,
    image_size_of,
    lens_of_focal,
    resolve_intrinsics,
    view_of_focal,
)
from .metric_upgrade import MetricUpgrade, metric_upgrade
from .rotations import load_rotations
