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
    truth_axes,
)
from .challenge_score import challenge_v02
from .cross_validation import (
    HIDING,
    HoldoutCurve,
    HoldoutPlan,
    HoldoutTrial,
    choose_hidden,
    cross_validate,
    gather_curve,
    sweep,
)
from .metrics import METRICS, aligned_mm, camera_truth, e3d_global, errors_of, procrustes_mm, reprojection_px
from .optimality import optimality
from .outliers import (
    Outliers,
    bilinear_residuals,
    fall_sentence,
    find_outliers,
    find_truth_outliers,
    median_shape,
    solve_hiding_outliers,
)
from .parameter_grid import (
    OBJECTIVE,
    SCALE,
    parameter_value,
    parameters_of,
    present_noise,
    suggest_range,
    value_text,
    values_in_range,
    values_outside,
    with_parameter,
)
