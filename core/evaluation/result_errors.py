"""The errors of a result, each under the name that `core.evaluation.metrics` gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..data.sequence import CameraModel
from .metrics import challenge_v02, e3d_global, frobenius_relative, procrustes_mm, reprojection_px

if TYPE_CHECKING:
    from ..data.sequence import GroundTruth
    from ..reconstruction.result import Result

SCORED_POINTS = 2000  # the Challenge's score compares all pairs of points: above this it takes minutes


def errors_of(result: Result) -> dict[str, float]:
    """Return the errors that take no time, named as in `core.evaluation.metrics`.

    `procrustes_mm` is the mean over all frames with truth, `procrustes_mm_reference` that of the reference
    frame, `procrustes_mm_mirror` the first with mirror images allowed.
    """
    errors: dict[str, float] = {}
    truth = result.truth
    if truth is not None:
        every = procrustes_mm(result.points, truth)
        errors["procrustes_mm"] = every.mean
        errors["procrustes_mm_reference"] = float(every.per_frame[truth.frames == truth.reference][0])
        errors["procrustes_mm_mirror"] = procrustes_mm(result.points, truth, reflection=True).mean
    errors["reprojection_px"] = reprojection_px(
        result.reprojections(), result.observations(), result.visible
    ).mean
    return errors


def published_errors(result: Result, camera_truth: GroundTruth | None) -> dict[str, float]:
    """Return the errors of published tables, as far as the truth allows them.

    The Challenge's score is that of the reference frame, up to 2000 points. The others compare without
    scaling, so that only an orthogonal camera has them, and in the camera's coordinates.

    Parameters
    ----------
    result
        the reconstruction.
    camera_truth
        the true shapes in the camera's coordinates, where they are known.
    """
    errors: dict[str, float] = {}
    truth = result.truth
    if truth is not None and result.point_count <= SCORED_POINTS:
        target = truth.at(truth.reference)
        assert target is not None  # GroundTruth checks that its reference is one of its frames
        errors["challenge_v02"] = challenge_v02(result.points[truth.reference], target)
    if camera_truth is not None and result.camera is CameraModel.ORTHOGONAL:
        sized = result.camera_points * result.intrinsics[0, 0]  # in the units of the tracks
        errors["e3d_global"] = e3d_global(sized, camera_truth).mean
        errors["frobenius_relative"] = frobenius_relative(sized, camera_truth).mean
    return errors
