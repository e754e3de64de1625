"""Errors against a ground truth, alignment, the Challenge score, and cross-validation."""

from .alignment import (
    ALIGNMENTS,
    DEPTH_INVERTED,
    MIN_ALIGNED,
    NO_ALIGNMENT,
    PER_FRAME,
    Alignment,
    Kind,
    Mirror,
    Views,
    align,
    align_all,
    is_mirrored,
)
from .cross_validation import Trial, sweep
from .cross_validation_curve import Curve, curve
from .holdout_plan import FOLDS, HIDING, Plan
from .metrics import aligned_mm, challenge_v02, e3d_global, frobenius_relative, procrustes_mm, reprojection_px
from .parameter_grid import SCALE, changed, parameters_of, present, suggested, values_between, values_beyond
from .result_errors import errors_of

__all__ = [
    "ALIGNMENTS",
    "DEPTH_INVERTED",
    "FOLDS",
    "HIDING",
    "MIN_ALIGNED",
    "NO_ALIGNMENT",
    "PER_FRAME",
    "SCALE",
    "Alignment",
    "Curve",
    "Kind",
    "Mirror",
    "Plan",
    "Trial",
    "Views",
    "align",
    "align_all",
    "aligned_mm",
    "challenge_v02",
    "changed",
    "curve",
    "e3d_global",
    "errors_of",
    "frobenius_relative",
    "is_mirrored",
    "parameters_of",
    "present",
    "procrustes_mm",
    "reprojection_px",
    "suggested",
    "sweep",
    "values_between",
    "values_beyond",
]
