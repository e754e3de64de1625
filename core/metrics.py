"""Errors of a reconstruction, each under its own name: they are not comparable with one another.

    procrustes_mm         one similarity per frame, distances in the units of the truth
    challenge_v02         the NRSfM Challenge's score of one frame: nearest neighbors, outliers clamped
    e3d_global            one orthogonal alignment of the whole sequence, relative to the spread of the truth
    frobenius_relative    no alignment but the mean and the sign of depth, relative to the size of the truth
    reprojection_px       distance of tracks and reprojections, in the units of the tracks

F frames, P points, G frames with truth. A point whose truth is NaN in a frame is left out there, and NaN in
what is returned per point.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from .arrays import Bools, Floats, InputError, frozen
from .challenge_score import challenge_v02
from .linalg import Similarity, procrustes

if TYPE_CHECKING:
    from .sequence import GroundTruth

__all__ = [
    "Alignment",
    "Errors",
    "align",
    "challenge_v02",
    "e3d_global",
    "frobenius_relative",
    "procrustes_mm",
    "reprojection_px",
]


@dataclass(frozen=True, eq=False)
class Errors:
    """An error of every point, and its means over the points that count."""

    per_point: Floats  # (G, P), NaN where there is no truth
    per_frame: Floats  # (G,), NaN for a frame without any
    mean: float  # over all points of all frames

    def __post_init__(self) -> None:
        object.__setattr__(self, "per_point", frozen(self.per_point))
        object.__setattr__(self, "per_frame", frozen(self.per_frame))


class Alignment(Enum):
    """How an estimate is moved onto the ground truth before it is measured or shown."""

    PER_FRAME = "per-frame similarity"
    PER_FRAME_MIRROR = "per-frame similarity, mirror allowed"
    SEQUENCE = "one similarity for the sequence"
    SEQUENCE_MIRROR = "one similarity for the sequence, mirror allowed"


def align(estimate: Floats, truth: GroundTruth, kind: Alignment = Alignment.PER_FRAME) -> Similarity:
    """Return the similarities that move the frames of an estimate that have truth onto it.

    Parameters
    ----------
    estimate
        (F, 3, P) all frames.
    truth
        of G of them.
    kind
        one similarity per frame, or the same for all.

    Returns
    -------
    Similarity
        with a leading axis of size G, in the order of `truth.frames`.

    Raises
    ------
    InputError
        where the estimate does not have the truth's frames or points.
    """
    source = _frames_of(estimate, truth)
    mirror = kind in (Alignment.PER_FRAME_MIRROR, Alignment.SEQUENCE_MIRROR)
    if kind in (Alignment.PER_FRAME, Alignment.PER_FRAME_MIRROR):
        return procrustes(source, truth.points, reflection=mirror)
    one = procrustes(_side_by_side(source), _side_by_side(truth.points), reflection=mirror)
    count = len(source)
    return Similarity(
        np.repeat(one.scale, count),
        np.repeat(one.rotation[None], count, 0),
        np.tile(one.translation, (count, 1)),
    )


def procrustes_mm(estimate: Floats, truth: GroundTruth, *, reflection: bool = False) -> Errors:
    """Return the distances after one similarity per frame, in the units of the truth.

    Parameters
    ----------
    estimate
        (F, 3, P) all frames, in any coordinates and any unit.
    truth
        of one, several or all frames.
    reflection
        whether a mirror image counts as right.

    Raises
    ------
    InputError
        where the estimate does not have the truth's frames or points.
    """
    kind = Alignment.PER_FRAME_MIRROR if reflection else Alignment.PER_FRAME
    moved = align(estimate, truth, kind).apply(_frames_of(estimate, truth))
    return _errors(np.linalg.norm(moved - truth.points, axis=1), truth.points)


def e3d_global(estimate: Floats, truth: GroundTruth) -> Errors:
    r"""Return the error of the PTA and BMM tables (Akhter et al. 2011; Dai et al. 2014).

    Every frame of both is centered; one orthogonal matrix, which may mirror, moves the whole estimate; no
    scale. Distances are divided by the mean over frames and axes of the truth's standard deviation. Both
    must be in the coordinates that the table uses, usually the camera's.

    Raises
    ------
    InputError
        where the estimate does not have the truth's frames or points, or the truth has no spread.
    """
    source, target = _centered(_frames_of(estimate, truth), truth.points)
    one = procrustes(_side_by_side(source), _side_by_side(target), scale=False, reflection=True)
    moved = one.rotation @ source  # centered by frame already: the common shift is 0
    known = _known(target).sum(axis=1)
    used = known > 0
    deviation = np.sqrt(np.nansum(target[used] ** 2, axis=2) / known[used, None])  # (G, 3)
    unit = float(deviation.mean()) if used.any() else 0.0
    if not unit > 0:
        raise InputError("the ground truth has no spread, so that no error is relative to it")
    return _errors(np.linalg.norm(moved - target, axis=1) / unit, truth.points)


def frobenius_relative(estimate: Floats, truth: GroundTruth) -> Errors:
    """Return the error of the PND tables (Lee et al. 2013): |X - X*| / |X*| of every frame.

    Both are in the camera frame and are centered; the sign of depth is the better one, frame by frame.
    `per_point` is the distance of a point over |X*|, so that `per_frame` is the root of its sum of squares,
    not its mean; `mean` is the mean of `per_frame`.

    Raises
    ------
    InputError
        where the estimate does not have the truth's frames or points.
    """
    source, target = _centered(_frames_of(estimate, truth), truth.points)
    size = np.sqrt(np.nansum(target**2, axis=(1, 2)))
    size = np.where(size > 0, size, np.nan)  # a frame without truth
    flipped = source * np.array([1.0, 1.0, -1.0])[:, None]
    per_point = np.linalg.norm(np.stack((source, flipped)) - target, axis=2) / size[:, None]
    per_frame = np.sqrt(np.where(_known(target), per_point**2, 0.0).sum(axis=2)) + 0.0 * size
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

    Raises
    ------
    InputError
        where the shapes disagree.
    """
    if reprojected.shape != tracks.shape or visible.shape != (len(tracks), tracks.shape[-1]):
        raise InputError(
            f"reprojections have shape {reprojected.shape}, tracks {tracks.shape}, visible {visible.shape}; "
            "accepted are (F, 2, P) twice, and (F, P)"
        )
    distance = np.where(visible, np.linalg.norm(reprojected - tracks, axis=1), np.nan)
    squares = [_mean(row[counts] ** 2) for row, counts in zip(distance, visible, strict=True)]
    return Errors(distance, np.sqrt(squares), float(np.sqrt(_mean(distance[visible] ** 2))))


def _frames_of(estimate: Floats, truth: GroundTruth) -> Floats:
    """Return the frames of an estimate that have truth, (G, 3, P)."""
    estimate = np.asarray(estimate, dtype=float)
    points = truth.points.shape[2]
    if estimate.ndim != 3 or estimate.shape[1:] != (3, points) or len(estimate) <= truth.frames.max():
        raise InputError(
            f"the estimate has shape {estimate.shape}; accepted is (F, 3, {points}) with F above "
            f"{truth.frames.max()}, as the ground truth has"
        )
    chosen: Floats = estimate[truth.frames]
    return chosen


def _side_by_side(points: Floats) -> Floats:
    """Return the points of all frames as one set, (3, G P)."""
    return np.moveaxis(points, 0, 1).reshape(3, -1)


def _centered(source: Floats, target: Floats) -> tuple[Floats, Floats]:
    """Subtract from every frame the mean of the points known in the target; others become NaN."""
    known = _known(target)[:, None, :]
    count = np.maximum(known.sum(axis=2, keepdims=True), 1)
    both = []
    for points in (source, target):
        mean = np.where(known, points, 0.0).sum(axis=2, keepdims=True) / count
        both.append(np.where(known, points - mean, np.nan))
    return both[0], both[1]


def _known(truth: Floats) -> Bools:
    """Return which points of (G, 3, P) have a truth, (G, P)."""
    finite: Bools = np.all(np.isfinite(truth), axis=1)
    return finite


def _errors(distance: Floats, truth: Floats) -> Errors:
    """Return the means of distances (G, P) over the points whose truth (G, 3, P) is known.

    An estimate that is not finite there makes them NaN: it is not left out.
    """
    known = _known(truth)
    distance = np.where(known, distance, np.nan)
    per_frame = [_mean(row[counts]) for row, counts in zip(distance, known, strict=True)]
    return Errors(distance, np.array(per_frame), _mean(distance[known]))


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else float("nan")
