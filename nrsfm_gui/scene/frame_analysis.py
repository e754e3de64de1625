"""The components of the error of every frame: depth, mirror images, tracks, hidden points, camera. No Qt.

The ray from the aligned camera through an estimated point separates depth from the directions across it: an
error e = Q - Z of an estimate Q from its truth Z has the component (e . d) d along the ray d, and the rest
across. Shares are of squared lengths, which add up: |e|^2 = |along|^2 + |across|^2.

Outliers of the truth are errors of the truth: they have no part in these. A single point that is far off has
most of a sum of squares, so that causes are looked for in shares in which no error counts for more than
`CLIPPED` times the median one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core import Sequence
from core.data import known_points, quantile_of_known
from core.evaluation import DEPTH_INVERTED, MIN_ALIGNED, Kind, find_outliers, median_shape
from core.foundation import Bools, Floats, Ints, procrustes
from nrsfm_gui.scene.cameras import Cameras
from nrsfm_gui.scene.ranking import known_means
from nrsfm_gui.scene.shapes import Shapes

CLIPPED = 3.0  # times the median error of a frame: a larger one counts as much as this in its depth share
AROUND = 5  # frames before and after, in which a camera may show a shape from other sides


@dataclass(frozen=True, eq=False)
class Findings:
    """Of every frame; NaN where it is not known."""

    error: Floats  # (F,) mean 3-D error, in `unit`
    depth: Floats  # (F,) root mean square of its part along the view
    sideways: Floats  # (F,) of its part across
    plain: Floats  # (F,) mean 3-D error of the frame moved onto its truth by itself
    mirrored: Floats  # (F,) of its mirror image, moved likewise
    deformation: Floats  # (F,) mean distance of the points from their median shape, moved onto the truth
    truth_deformation: Floats  # (F,) of the truth from the same
    hidden_error: Floats  # (F,) mean 3-D error of the hidden points
    seen_error: Floats  # (F,) of the others
    without: Floats  # (F,) mean 3-D error where outliers of the truth are left out
    outliers: Bools  # (F, P) which points these are
    known: Ints  # (F,) points that have an error
    typical_share: Floats  # (F,) the share of depth in the squared error, whatever single points have
    tracks: Floats  # (F,) mean reprojection error, in `track_unit`
    fitting: Floats  # (F,) of the points whose tracks are no outliers
    wrong: Bools  # (F, P) which points these are not
    hidden: Floats  # (F,) share of the points that are hidden
    turn: Floats  # (F,) largest angle to the views of the frames around, in degrees
    unit: str
    track_unit: str
    truth: str  # what the errors are the distance to

    @property
    def depth_share(self) -> Floats:
        """(F,) of the squared 3-D error, how much is along the view."""
        whole = self.depth**2 + self.sideways**2
        share = np.divide(self.depth**2, whole, out=np.full(len(whole), np.nan), where=whole > 0)
        return np.asarray(share)


def find(sequence: Sequence, shapes: Shapes) -> Findings | None:
    """Return what is known of every frame of a reconstruction; None where there is none."""
    points, cameras, residuals = shapes.points, shapes.cameras, shapes.residuals
    if points is None or cameras is None or residuals is None:
        return None
    errors, truth = shapes.errors, shapes.truth
    if errors is None or truth is None:
        errors, truth = np.full_like(residuals, np.nan), np.full_like(points, np.nan)
    kept = errors if shapes.errors_without is None else shapes.errors_without
    outliers = np.isfinite(errors) & ~np.isfinite(kept)
    truth = np.where(outliers[:, None], np.nan, truth)
    along = along_view(cameras, points, truth) ** 2
    across = np.where(outliers, np.nan, np.maximum(errors**2 - along, 0.0))
    resized = shapes.alignment.kind is Kind.PER_FRAME
    deformation, truth_deformation = _deformations(points, truth, resized=resized)
    seen, wrong = sequence.visible, find_outliers(residuals).mask
    return Findings(
        error=known_means(errors, 1),
        depth=np.sqrt(known_means(along, 1)),
        sideways=np.sqrt(known_means(across, 1)),
        plain=moved_error(points, truth, resized=resized),
        mirrored=moved_error(DEPTH_INVERTED @ points, truth, resized=resized),
        deformation=deformation,
        truth_deformation=truth_deformation,
        hidden_error=known_means(np.where(seen, np.nan, kept), 1),
        seen_error=known_means(np.where(seen, kept, np.nan), 1),
        without=known_means(kept, 1),
        outliers=outliers,
        known=np.isfinite(errors).sum(axis=1),
        typical_share=_typical_share(along, across),
        tracks=known_means(residuals, 1),
        fitting=known_means(np.where(wrong, np.nan, residuals), 1),
        wrong=wrong,
        hidden=1.0 - seen.mean(axis=1),
        turn=turns(_view_directions(shapes)),
        unit=shapes.unit,
        track_unit=sequence.units,
        truth=sequence.truth_name,
    )


def _typical_share(along: Floats, across: Floats) -> Floats:
    """Return the share (F,) of squared parts (F, P) along the view; large errors are clipped."""
    whole = along + across
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.minimum(1.0, CLIPPED**2 * quantile_of_known(whole.T)[:, None] / whole)
        return np.asarray(np.nansum(weight * along, axis=1) / np.nansum(weight * whole, axis=1))


def _rays(cameras: Cameras, points: Floats) -> Floats:
    """Return the unit vectors (F, 3, P) along which cameras see points, in the axes of the cameras."""
    Y = cameras.R @ points + cameras.t[:, :, None]
    if cameras.orthogonal:
        return np.broadcast_to(np.eye(3)[:, 2:], Y.shape)
    return np.asarray(Y / np.maximum(np.linalg.norm(Y, axis=1, keepdims=True), np.finfo(float).tiny))


def along_view(cameras: Cameras, points: Floats, truth: Floats) -> Floats:
    """Return how much farther than its truth each point (F, 3, P) is along its ray, (F, P)."""
    return np.asarray(np.einsum("fdp,fdp->fp", _rays(cameras, points), cameras.R @ (points - truth)))


def along_view_in(shapes: Shapes, frame: int) -> Floats | None:
    """Return how much too far from the camera the points of one frame are, (P,); None without a truth."""
    if shapes.points is None or shapes.cameras is None or shapes.truth is None:
        return None
    one = slice(frame, frame + 1)
    return np.asarray(along_view(shapes.cameras.at(one), shapes.points[one], shapes.truth[one])[0])


def moved_error(points: Floats, truth: Floats, *, resized: bool) -> Floats:
    """Return the mean distance (F,) of frames (F, 3, P) from the truth, each moved onto it by itself."""
    moved = procrustes(points, truth, scale=resized).apply(points)
    known: Bools = known_points(truth)
    far = known_means(np.where(known, np.linalg.norm(moved - truth, axis=1), np.nan), 1)
    return np.where(known.sum(axis=1) >= MIN_ALIGNED, far, np.nan)


def _deformations(points: Floats, truth: Floats, *, resized: bool) -> tuple[Floats, Floats]:
    """Return how far frames (F, 3, P) and truth are from the median shape, moved onto the truth."""
    usual = np.broadcast_to(median_shape(points), points.shape)
    usual = procrustes(usual, truth, scale=resized).apply(usual)
    known = known_points(truth)
    far = [np.where(known, np.linalg.norm(shape - usual, axis=1), np.nan) for shape in (points, truth)]
    return known_means(far[0], 1), known_means(far[1], 1)


def turns(directions: Floats, around: int = AROUND) -> Floats:
    """Return the largest angle (F,), in degrees, from directions (F, 3) to those of the frames around."""
    count = len(directions)
    least = np.ones(count)
    for step in range(1, min(around, count - 1) + 1):
        cosines = np.einsum("fd,fd->f", directions[step:], directions[:-step])
        least[step:] = np.minimum(least[step:], cosines)
        least[:-step] = np.minimum(least[:-step], cosines)
    return np.degrees(np.arccos(np.clip(least, -1.0, 1.0)))


def _view_directions(shapes: Shapes) -> Floats:
    """Return where the camera of every frame looks, (F, 3), in coordinates that turn with the object."""
    cameras, similarity = shapes.cameras, shapes.similarity
    assert cameras is not None and shapes.points is not None  # the caller has looked
    own = cameras.R if similarity is None else cameras.R @ similarity.rotation
    look = _rays(cameras, shapes.points.mean(axis=2, keepdims=True))
    return np.asarray(np.einsum("fji,fjp->fi", own, look))
