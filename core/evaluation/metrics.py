"""Errors of a reconstruction by name. Different errors are not comparable with one another.

    procrustes_mm         one similarity per frame, fitted to all points, distances in the units of the truth
    aligned_mm            the same after any alignment of `core.evaluation.alignment`, which is not fitted to
                          outliers of the truth
    challenge_v02         the NRSfM Challenge's score of one frame: nearest neighbors, outliers clamped
    e3d_global            one orthogonal alignment of all frames, relative to the spread of the truth
    frobenius_relative    no alignment but the mean and the sign of depth, relative to the size of the truth
    reprojection_px       distance of tracks and reprojections, in the units of the tracks

F frames, P points, G frames with truth. A point whose truth is NaN in a frame is left out there, and NaN in
what is returned per point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..cameras.factorization import fixed_rotation
from ..data.masks import frames_of, known_points, side_by_side
from ..data.sequence import CameraModel, GroundTruth, Sequence
from ..foundation.exceptions import InputError
from ..foundation.linalg import procrustes
from ..foundation.representation import OneLine
from ..foundation.types import Bools, Floats, read_only
from ..reconstruction.result import Result
from .alignment import Alignment, Views, align, is_mirrored
from .challenge_score import challenge_v02
from .outliers import find_truth_outliers, without_outliers

FIXED_CAMERA_TOLERANCE = 1e-6  # of the residual of one fixed camera, relative to the tracks
SCORED_POINTS = 2000  # above which the score of the Challenge, which takes seconds here, is left out
# Of each error by name: the title, the unit ("mm" stands for that of the truth, "px" for that of the tracks),
# and what it is.
ERROR_NAMES = {
    "procrustes_mm": ("3-D error", "mm", "mean 3-D error, per-frame similarity"),
    "procrustes_mm_reference": ("3-D error, reference", "mm", "3-D error at the reference frame"),
    "procrustes_mm_reference_mirror": (
        "3-D error, reference, mirror", "mm", "3-D error at the reference frame, mirror allowed",
    ),
    "procrustes_mm_mirror": (
        "3-D error, mirror", "mm", "mean 3-D error, per-frame similarity, mirror allowed",
    ),
    "procrustes_mm_inliers": (
        "3-D error, inliers", "mm", "mean 3-D error without the outliers of the truth",
    ),
    "challenge_v02": ("Challenge", "mm", "NRSfM Challenge score 0.2 of the reference frame"),
    "e3d_global": (
        "e3D, global", "",
        "normalized as published: camera frame, one orthogonal alignment, over the truth's spread",
    ),
    "frobenius_relative": ("relative", "", "camera frame, relative to the size of the truth"),
    "reprojection_px": ("reprojection", "px", "root mean square reprojection error"),
    "reprojection_px_projective": (
        "reprojection, projective", "px",
        "reprojection error of the projective cameras before the metric upgrade",
    ),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Errors(OneLine):
    """An error of every point, and its means over the points that count."""

    per_point: Floats  # (G, P), NaN where there is no truth
    per_frame: Floats  # (G,), NaN for a frame without any
    mean: float  # over all points of all frames

    def __post_init__(self) -> None:
        object.__setattr__(self, "per_point", read_only(self.per_point))
        object.__setattr__(self, "per_frame", read_only(self.per_frame))


def procrustes_mm(estimate: Floats, truth: GroundTruth, *, reflection: bool = False) -> Errors:
    """Return the distances after one similarity per frame, in the units of the truth.

    Parameters
    ----------
    estimate
        (F, 3, P) all frames, in any coordinates and any unit.
    truth
        of one, several or all frames.
    reflection
        whether a mirror image counts as right, frame by frame; `aligned_mm` chooses once for all.

    Returns
    -------
    Errors
        (G, P) distances and their means; NaN where the truth is not known.

    Raises
    ------
    InputError
        where the estimate does not have the truth's frames or points.

    Examples
    --------
    >>> import core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> result = core.reconstruct(sequence, rank=2, starts=1, rotations="truth")
    >>> errors = core.procrustes_mm(result.points, sequence.truth)
    >>> errors.mean == result.errors()["procrustes_mm"]
    True
    """
    source = frames_of(estimate, truth)
    moved = procrustes(source, truth.points, reflection=reflection).apply(source)
    return _errors(np.linalg.norm(moved - truth.points, axis=1), truth.points)


def aligned_mm(
    estimate: Floats, truth: GroundTruth, alignment: Alignment, *, views: Views | None = None
) -> tuple[Errors, bool]:
    """Return the distances (G, P) after an alignment, in the units of the truth, and whether it mirrors."""
    similarity = align(estimate, truth, alignment, views=views)
    moved, truth = similarity.apply(frames_of(estimate, truth)), alignment.counted(truth)
    return _errors(np.linalg.norm(moved - truth.points, axis=1), truth.points), is_mirrored(similarity)


def e3d_global(estimate: Floats, truth: GroundTruth) -> Errors:
    """Return the error of the PTA and BMM tables (Akhter et al. 2011; Dai et al. 2014).

    Every frame of both is centered; one orthogonal matrix, which may mirror, moves all of the estimate (F, 3,
    P); no scale. Distances are divided by the mean over frames and axes of the truth's standard deviation.
    Both must be in the coordinates that the table uses, usually the camera's.
    """
    source, target = _centered(frames_of(estimate, truth), truth.points)
    one = procrustes(side_by_side(source), side_by_side(target), scale=False, reflection=True)
    moved = one.rotation @ source  # centered by frame already: the common shift is 0
    known = known_points(target).sum(axis=1)
    used = known > 0
    deviation = np.sqrt(np.nansum(target[used] ** 2, axis=2) / known[used, None])  # (G, 3)
    unit = float(deviation.mean()) if used.any() else 0.0
    if not unit > 0:
        raise InputError("the ground truth has no spread, so that no error is relative to it")
    return _errors(np.linalg.norm(moved - target, axis=1) / unit, truth.points)


def camera_truth(sequence: Sequence) -> GroundTruth | None:
    """Return the ground truth in the coordinates of orthogonal cameras, in which `e3d_global` is published.

    They are the cameras of the sequence; where it has none, the one fixed camera that makes its tracks. It is
    None for perspective cameras, for a truth of one frame or in other units, and where no camera is known.
    """
    truth = sequence.truth
    if sequence.camera is not CameraModel.ORTHOGONAL or sequence.units != sequence.truth_units:
        return None
    if truth is None or len(truth.frames) < 2:
        return None
    if sequence.rotations is not None:
        return replace(truth, points=sequence.rotations[truth.frames] @ truth.points)
    seen = known_points(truth.points) & sequence.visible[truth.frames]
    if not seen.all():  # a fixed camera is not found without some
        return None
    tracks = sequence.tracks[truth.frames]
    shapes, tracks = (each - each.mean(axis=2, keepdims=True) for each in (truth.points, tracks))
    rotation, left = fixed_rotation(tracks, shapes)
    return replace(truth, points=rotation @ truth.points) if left <= FIXED_CAMERA_TOLERANCE else None


def frobenius_relative(estimate: Floats, truth: GroundTruth) -> Errors:
    """Return the error of the PND tables (Lee et al. 2013): |X - X*| / |X*| of every frame (F, 3, P).

    Both are in the camera frame and are centered; the sign of depth is the better one, frame by frame.
    `per_point` is the distance of a point over |X*|, so that `per_frame` is the root of its sum of squares,
    not its mean; `mean` is the mean of `per_frame`.
    """
    source, target = _centered(frames_of(estimate, truth), truth.points)
    size = np.sqrt(np.nansum(target**2, axis=(1, 2)))
    size = np.where(size > 0, size, np.nan)  # a frame without truth
    flipped = source * np.array([1.0, 1.0, -1.0])[:, None]
    per_point = np.linalg.norm(np.stack((source, flipped)) - target, axis=2) / size[:, None]
    per_frame = np.sqrt(np.where(known_points(target), per_point**2, 0.0).sum(axis=2)) + 0.0 * size
    better = per_frame.argmin(axis=0)
    frames = np.arange(len(source))
    relative = per_frame[better, frames]
    return Errors(per_point[better, frames], relative, _mean(relative[np.isfinite(size)]))


def reprojection_px(reprojected: Floats, tracks: Floats, visible: Bools) -> Errors:
    """Return the distances of reprojections and visible tracks, with root mean squares as means.

    Parameters
    ----------
    reprojected, tracks
        (F, 2, P) in the same units (pixels; millimeters for an orthogonal camera).
    visible
        (F, P) which observations count.

    Returns
    -------
    Errors
        (F, P) distances, NaN where hidden; means are root mean squares.

    Raises
    ------
    InputError
        where the shapes disagree.

    Examples
    --------
    >>> import core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> result = core.reconstruct(sequence, rank=2, starts=1, rotations="truth")
    >>> errors = core.reprojection_px(result.reprojections(), sequence.tracks, sequence.visible)
    >>> errors.per_point.shape
    (12, 20)
    """
    if reprojected.shape != tracks.shape or visible.shape != (len(tracks), tracks.shape[-1]):
        raise InputError(
            f"reprojections have shape {reprojected.shape}, tracks {tracks.shape}, visible {visible.shape}; "
            "accepted are (F, 2, P) twice, and (F, P)"
        )
    distance = np.where(visible, np.linalg.norm(reprojected - tracks, axis=1), np.nan)
    squares = [_mean(row[counts] ** 2) for row, counts in zip(distance, visible, strict=True)]
    return Errors(distance, np.sqrt(squares), float(np.sqrt(_mean(distance[visible] ** 2))))


def _centered(source: Floats, target: Floats) -> tuple[Floats, Floats]:
    """Subtract from every frame the mean of the points known in the target; others become NaN."""
    known = known_points(target)[:, None, :]
    count = np.maximum(known.sum(axis=2, keepdims=True), 1)
    both = []
    for points in (source, target):
        mean = np.where(known, points, 0.0).sum(axis=2, keepdims=True) / count
        both.append(np.where(known, points - mean, np.nan))
    return both[0], both[1]


def _errors(distance: Floats, truth: Floats) -> Errors:
    """Return the means of distances (G, P) over the points whose truth (G, 3, P) is known.

    An estimate that is not finite there makes them NaN: it is not left out.
    """
    known = known_points(truth)
    distance = np.where(known, distance, np.nan)
    per_frame = [_mean(row[counts]) for row, counts in zip(distance, known, strict=True)]
    return Errors(distance, np.array(per_frame), _mean(distance[known]))


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else float("nan")


def _procrustes(result: Result, *, reflection: bool = False) -> float | None:
    return (
        None
        if result.truth is None
        else procrustes_mm(result.points, result.truth, reflection=reflection).mean
    )


def procrustes_at_reference(result: Result, *, reflection: bool = False) -> float | None:
    """Return the error at the reference frame of the truth; as `procrustes_mm` it may allow mirror images."""
    if result.truth is None:
        return None
    every = procrustes_mm(result.points, result.truth, reflection=reflection)
    return float(every.per_frame[result.truth.frames == result.truth.reference][0])


def _procrustes_inliers(result: Result) -> float | None:
    truth = result.truth
    if truth is None or not find_truth_outliers(truth).any():
        return None
    return procrustes_mm(result.points, without_outliers(truth)).mean


def _projective_reprojection(result: Result) -> float | None:
    """Return the root mean square reprojection error of the projective cameras that a metric view is of."""
    figures = result.meta.get("low_rank") or {}
    return figures.get("projective_rms") if figures.get("metric") else None


def _reprojection(result: Result) -> float:
    return reprojection_px(result.reprojections(), result.observations(), result.visible).mean


# The errors of a result that take no time, by name: functions that return None where the result does not have
# what they compare with. A new one is a function and a line; the command line explains it by the first line
# of its docstring.
METRICS: dict[str, Callable[[Result], float | None]] = {
    "procrustes_mm": _procrustes,  # mean over all frames with truth
    "procrustes_mm_reference": procrustes_at_reference,
    "procrustes_mm_mirror": partial(_procrustes, reflection=True),  # of the shape or its mirror image
    "procrustes_mm_inliers": _procrustes_inliers,  # where the truth has outliers: without them
    "reprojection_px": _reprojection,
    "reprojection_px_projective": _projective_reprojection,  # of a low-rank result with a metric view
}


def errors_of(result: Result) -> dict[str, float]:
    """Return the errors of a result by the names in `METRICS`, those that it can be measured by.

    Parameters
    ----------
    result
        a reconstruction.

    Returns
    -------
    dict[str, float]
        errors by name; one that needs a ground truth is absent where the result has none.

    Examples
    --------
    >>> import core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> result = core.reconstruct(sequence, rank=2, starts=1, rotations="truth")
    >>> sorted(core.errors_of(result))
    ['procrustes_mm', 'procrustes_mm_mirror', 'procrustes_mm_reference', 'reprojection_px']
    """
    errors = {name: metric(result) for name, metric in METRICS.items()}
    return {name: value for name, value in errors.items() if value is not None}


def published_errors(result: Result, camera_truth: GroundTruth | None) -> dict[str, float]:
    """Return the errors of published tables, where the truth allows them.

    The Challenge's score is that of the reference frame, up to 2000 points. The others compare without
    scaling, so that only an orthogonal camera has them, and in the camera's coordinates.
    """
    errors: dict[str, float] = {}
    truth = result.truth
    if truth is not None and result.point_count <= SCORED_POINTS:
        target = truth.at(truth.reference)
        assert target is not None  # GroundTruth checks that its reference is one of its frames
        errors["challenge_v02"] = challenge_v02(result.points[truth.reference], target)
    return errors | unscaled_errors(result, camera_truth)


def unscaled_errors(result: Result, camera_truth: GroundTruth | None) -> dict[str, float]:
    """Return those of the published errors that compare without scaling, in the camera's coordinates."""
    if camera_truth is None or result.camera is not CameraModel.ORTHOGONAL:
        return {}
    sized = result.camera_points * result.intrinsics[0, 0]  # in the units of the tracks
    return {
        "e3d_global": e3d_global(sized, camera_truth).mean,
        "frobenius_relative": frobenius_relative(sized, camera_truth).mean,
    }
