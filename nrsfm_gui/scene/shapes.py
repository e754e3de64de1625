"""All frames of a sequence in the coordinates that they are drawn in, built once per iterate. No Qt.

A reconstruction has its own object frame and calibrated units. Where ground truth is known, every frame S
is moved onto it by Q = s A S + b (see `alignment`), so that the truth does not move and is shown in its own
millimeters. The camera is moved as well, so that it sees the same picture:

    R' = R A',  t' = s t - R' b   give   R' Q + t' = s (R S + t).

Where there is no truth, the object is rotated so that its mean camera looks along z, centered, and scaled
to radius 1.

A low-rank solution has cameras in three dimensions where it could be upgraded to a metric one (`geometry`).
Where it could not, its matrix X is shown in the coordinates of each camera, with the K of the views where
that is known and else with a K as wide as the picture, so that depth and width compare.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from core import Alignment, CameraModel, InputError, Iterate, Sequence
from core.data import known_points
from core.evaluation import (
    MIN_ALIGNED,
    PER_FRAME,
    Kind,
    Views,
    align_all,
    camera_truth,
    e3d_global,
    find_truth_outliers,
    is_mirrored,
    truth_axes,
)
from core.foundation import WNN, Bools, Floats, Similarity, object_size, read_only
from core.io.writers import typical_radius
from core.reconstruction import Geometry, orient, parse_scale, parse_upright
from nrsfm_gui.model.excluded import excluded
from nrsfm_gui.scene.cameras import Cameras, project
from nrsfm_gui.scene.framing import Framing, bounds_but_for_strays, frame_points, thickened
from nrsfm_gui.scene.ranking import known_means

UNKNOWN_UNIT = "units"  # of shapes whose size is not known
NEGLIGIBLE = 1e-6  # in the units of the tracks: smaller reprojection errors are rounding
NEARLY_ALL = 99.0  # percentile of the distances from the center that is the radius of a shape
PAD = 0.06  # of the extent's size, on each side
LOW_RANK = "No uncertainty: the low-rank problem has no depth refinement"
NOT_REFINED = "No uncertainty: depths were not refined"
BILINEAR = "No uncertainty of the bilinear solution"
UNDER_WAY = "The uncertainty is known at the end of the run"
NO_STD = "No uncertainty: it was not computed for this run"
FURTHER_END = "No uncertainty: it is computed for the lowest end only"


@dataclass(frozen=True, eq=False)
class Shapes:
    """Every frame of a sequence and its reconstruction as it is drawn. Arrays are read-only."""

    unit: str  # of `points` and `truth`
    alignment: Alignment  # in use; none where the requested one is not possible
    framing: Framing | None  # what a view must show; None where there is no point
    image_extent: Floats  # (2, 2) lowest and highest corner of all visible tracks
    truth: Floats | None  # (F, 3, P) in `unit`, NaN where unknown; None where no frame has any
    cameras: Cameras | None
    points: Floats | None = None  # (F, 3, P) the estimate, in `unit`; None before any reconstruction
    reprojected: Floats | None = None  # (F, 2, P) in the units of the tracks
    errors: Floats | None = None  # (F, P) distance of estimate and truth, in `unit`; NaN without a truth
    residuals: Floats | None = None  # (F, P) from reprojection to track, in their units; NaN where not solved
    # of a low-rank solution, see `core.reconstruction.geometry`
    figures: Mapping[str, Any] = field(default_factory=dict)
    still: bool = False  # whether the object is the same in all frames, so that all cameras are around it
    mirrored: bool = False  # whether the estimate is shown by its mirror image
    similarity: Similarity | None = None  # of every frame: what moved the estimate to where it is drawn
    obstacle: str = ""  # why the requested alignment is not possible
    std: Floats | None = None  # (F, 3, P) standard deviations along the axes of the cameras, in `unit`
    why_no_std: str = "No uncertainty: run the solver (Ctrl+R)"  # where there is none
    weights: Floats | None = None  # (F, P) of the observations under a robust loss, 0 where not solved
    # Root mean square reprojection error of visible observations that it was not solved from, in the units of
    # the tracks; None where there are none.
    held_out: float | None = None
    outliers: Bools | None = None  # (F, P) those of the truth that is drawn; None where it has none
    truth_size: float | None = None  # see `core.foundation.object_size`, of `truth` without its outliers
    # The distance of a typical point from the middle of the object, in `unit`; outliers do not count.
    typical_radius: float = 1.0
    e3d: float | None = None  # normalized as published, see `core.evaluation.e3d_global`

    @cached_property
    def size(self) -> float | None:
        """The size of the object in `unit`: of the truth where there is one, else of the estimate."""
        if self.truth_size is None and self.points is not None:
            return object_size(self.points)
        return self.truth_size

    @property
    def alignment_name(self) -> str:
        """The alignment as text, with the result of an automatic choice of the mirror."""
        return self.alignment.label(self.mirrored)

    @cached_property
    def errors_without(self) -> Floats | None:
        """(F, P) the errors without outliers of the truth; None where it has none, or they are left out."""
        if self.errors is None or self.outliers is None:
            return None
        return read_only(np.where(self.outliers, np.nan, self.errors))

    @cached_property
    def kept_truth(self) -> Floats | None:
        """(F, 3, P) the truth with NaN in place of its outliers."""
        if self.truth is None or self.outliers is None:
            return self.truth
        return read_only(np.where(self.outliers[:, None], np.nan, self.truth))

    @property
    def drawn(self) -> Floats | None:
        """(F, 3, P) the estimate, or the truth before there is one."""
        return self.truth if self.points is None else self.points

    @cached_property
    def mean_shape(self) -> Floats | None:
        """(P, 3) the mean over the frames of what is drawn."""
        return None if self.drawn is None else known_means(self.drawn, 0).T

    @cached_property
    def fits_exactly(self) -> bool:
        """Whether no reprojection error is above 0."""
        return self.residuals is not None and not bool((self.residuals > 0).any())

    @cached_property
    def scales(self) -> dict[str, tuple[float, float] | None]:
        """The ends of the scales of colors that were asked for, by what is colored."""
        return {}

    @cached_property
    def uncertainty(self) -> Floats | None:
        """(F, P) the standard deviations of the places: lengths of the vectors along the three axes."""
        return None if self.std is None else np.linalg.norm(self.std, axis=1)

    def std_of_coordinates(self, points: int | slice = slice(None)) -> Floats | None:
        """Return those of x, y and z of the scene, (F, 3, P), or (F, 3) of one point."""
        if self.std is None or self.cameras is None:
            return None
        squares = np.square(np.swapaxes(self.cameras.R, 1, 2))  # those of unit vectors of the cameras
        return np.asarray(np.sqrt(np.einsum("fak,fk...->fa...", squares, np.square(self.std[:, :, points]))))


def build_shapes(
    sequence: Sequence,
    source: Iterate | None,
    alignment: Alignment = PER_FRAME,
    scale: str | None = None,
    upright: str | None = None,
) -> Shapes:
    """Return a sequence as it is drawn, with the best point of an iterate or alone, under some settings."""
    alone = _alone(sequence)
    truth = alone.truth
    if source is None:
        framing = _framing(sequence, None, alone.cameras, upright, aligned=True)
        return replace(alone, alignment=alignment, framing=framing)
    found = source.geometry
    S, R, K = found.points, found.rotations, found.intrinsics
    metric = found.figures.get("metric", True)  # else the coordinates are not those of a scene
    if not metric:
        K = _as_wide_as_the_picture(sequence) if source.calibration is None else source.calibration
        S = np.linalg.solve(K, found.intrinsics) @ S
    hindered = obstacle(sequence, alignment.kind) if truth is not None else ""
    if hindered or not alignment.compares or not metric:
        truth = None
    aligned, unit = truth is not None, sequence.truth_units
    if truth is not None and sequence.truth is not None:
        views = _views(sequence, source, S, scale)
        similarity = align_all(S, sequence.truth, alignment, views=views)
        truth = truth if alignment.outliers else alone.kept_truth
    else:
        similarity, unit = _own_size(S, R, scale if metric else None)
    used = solved(sequence, source)
    drawn = moved_shapes(found, S, K, similarity, truth=truth, tracks=sequence.tracks, used=used)
    Q, cameras = drawn["points"], drawn["cameras"]
    still = bool(found.figures) and metric and np.array_equal(*S[[0, -1]])
    f, p = np.nonzero(sequence.visible & ~used)
    held = residuals_of(drawn["reprojected"][f, :, p], sequence.tracks[f, :, p], axis=1)
    return Shapes(
        **drawn,
        truth=truth,
        unit=unit,
        alignment=alignment if aligned else replace(alignment, kind=Kind.NONE),
        framing=_framing(sequence, Q, cameras, upright, aligned=aligned),
        image_extent=alone.image_extent,
        figures=found.figures,
        still=still and np.array_equal(*similarity.rotation[[0, -1]]),
        mirrored=aligned and is_mirrored(similarity),
        similarity=similarity,
        obstacle=hindered,
        weights=source.robust_weights,
        held_out=float(np.sqrt(np.mean(held**2))) if held.size else None,
        outliers=alone.outliers if aligned and alignment.outliers else None,
        truth_size=alone.truth_size if aligned else None,
        typical_radius=typical_radius(Q if truth is None else truth),
        e3d=_normalized_error(sequence, found, S),
        why_no_std=why_no_std(source),
    )


def moved_shapes(
    found: Geometry,
    points: Floats,
    K: Floats,
    similarity: Similarity,
    *,
    truth: Floats | None,
    tracks: Floats,
    used: Bools,
) -> dict[str, Any]:
    """Return the fields of `Shapes` for points (F, 3, P) that a similarity of each frame has moved.

    `used`: (F, P) the observations that they were solved from.
    """
    every = np.repeat(K[None], len(found.rotations), axis=0)
    cameras = Cameras(found.rotations, found.translations, every, found.affine).moved(similarity)
    Q = similarity.apply(points)
    if found.projective is None or found.figures.get("metric", True):
        reprojected = project(cameras, Q)
    else:
        reprojected = found.projective.reprojections()
    return {
        "points": read_only(Q),
        "cameras": cameras,
        "reprojected": read_only(reprojected),
        "errors": None if truth is None else read_only(np.linalg.norm(Q - truth, axis=1)),
        "residuals": read_only(np.where(used, residuals_of(reprojected, tracks), np.nan)),
        "std": None if found.std is None else read_only(similarity.scale[:, None, None] * found.std),
    }


def why_no_std(iterate: Iterate) -> str:
    """Return why an iterate has no standard deviations, "" where it has some."""
    if iterate.geometry.std is not None:
        return ""
    if iterate.settings.problem == "lowrank":
        return LOW_RANK
    if not iterate.status.finished and iterate.settings.objective != WNN:
        return UNDER_WAY
    if iterate.record.energy is not None:
        return NO_STD if iterate.end_energy is None else FURTHER_END
    return NOT_REFINED if iterate.settings.objective == WNN else BILINEAR


def _as_wide_as_the_picture(sequence: Sequence) -> Floats:
    """Return a K (3, 3) whose focal length is the longer side of what the tracks cover."""
    seen = sequence.tracks.swapaxes(1, 2)[sequence.visible]
    low, high = seen.min(axis=0), seen.max(axis=0)
    f = float((high - low).max()) or 1.0
    (cx, cy) = (low + high) / 2
    return np.array([[f, 0.0, cx], [0.0, f, cy], [0.0, 0.0, 1.0]])


def _normalized_error(sequence: Sequence, found: Geometry, points: Floats) -> float | None:
    """Return the e3D of the tables of motion capture, None where it is not defined."""
    truth = _camera_truth(sequence)
    if truth is None or found.figures:  # figures: of the low-rank problem, whose views are perspective
        return None
    Y = found.rotations @ points + found.translations[:, :, None]
    return e3d_global(found.intrinsics[0, 0] * Y, truth).mean


_camera_truth = lru_cache(maxsize=4)(camera_truth)


def solved(sequence: Sequence, source: Iterate) -> Bools:
    """Return the observations (F, P) that a reconstruction was solved from."""
    hidden = excluded(sequence, source.settings)
    return sequence.visible if hidden is None else sequence.visible & ~hidden


def residuals_of(reprojected: Floats, tracks: Floats, axis: int = -2) -> Floats:
    """Return the distances (..., P) of reprojections and tracks (..., 2, P), 0 where they are rounding."""
    distances = np.linalg.norm(reprojected - tracks, axis=axis)
    return np.where(distances < NEGLIGIBLE, 0.0, distances)


def obstacle(sequence: Sequence, kind: Kind) -> str:
    """Return why estimates of a sequence cannot be aligned in a way, "" where they can."""
    if _alone(sequence).truth is None:
        return "this sequence has no ground truth"
    if kind is Kind.AS_IS and (sequence.rotations is None or sequence.translations is None):
        return "as is needs the true cameras, which this sequence does not come with"
    return ""


def _views(sequence: Sequence, source: Iterate, points: Floats, scale: str | None) -> Views:
    """Return the cameras as an alignment needs them, and one unit of the points where a length is known."""
    found, camera = source.geometry, source.settings.camera_of(sequence.camera)
    in_units_of_truth = camera is CameraModel.ORTHOGONAL and sequence.units == sequence.truth_units
    size = None
    with suppress(InputError):  # a point that this sequence does not have, or a shape that has shrunk to zero
        size = None if scale is None else parse_scale(scale).factor_in(sequence.truth_units, points)
    return Views(
        found.rotations,
        found.translations,
        found.intrinsics,
        in_units_of_truth and found.affine,
        sequence.rotations,
        sequence.translations,
        size=size,
    )


def _own_size(points: Floats, rotations: Floats, scale: str | None) -> tuple[Similarity, str]:
    """Return what turns the mean camera upright and gives a known length or radius 1, and the unit."""
    U, _, Vt = np.linalg.svd(rotations.sum(axis=0))
    A = U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))]) @ Vt
    center = np.median(points, axis=(0, 2))
    radius = np.percentile(np.linalg.norm(points - center[:, None], axis=1), NEARLY_ALL)
    factor, unit = 1.0 / radius if radius > 0 else 1.0, UNKNOWN_UNIT
    with suppress(InputError):  # as above
        if scale is not None:
            rule = parse_scale(scale)
            factor, unit = rule.factor(points), rule.unit
    frames = len(points)
    offset = np.repeat((-factor * A @ center)[None], frames, axis=0)
    return Similarity(np.full(frames, factor), np.repeat(A[None], frames, axis=0), offset), unit


def _true_cameras(sequence: Sequence) -> Cameras | None:
    orthogonal = sequence.camera is CameraModel.ORTHOGONAL
    R, t, K = sequence.rotations, sequence.translations, np.eye(3) if orthogonal else sequence.intrinsics
    if R is None or t is None or K is None:
        return None
    return Cameras(R, t, np.repeat(K[None], sequence.frame_count, axis=0), orthogonal)


class Frame(NamedTuple):
    """One frame: of the shapes of all frames, or newer than these and alone."""

    of: Shapes  # of all frames
    number: int
    ahead: Shapes | None = None  # of the newer frame

    @property
    def now(self) -> tuple[Shapes, int]:
        """The shapes that hold it, and its place among them."""
        return (self.of, self.number) if self.ahead is None else (self.ahead, 0)

    @property
    def camera(self) -> Cameras | None:
        """The camera of the frame."""
        shapes, place = self.now
        return None if shapes.cameras is None else shapes.cameras.at(place)

    @property
    def points(self) -> Floats | None:
        """(P, 3) the estimate, or the truth before there is one."""
        return self.values("truth" if self.of.points is None else "points")

    def values(self, name: str) -> Floats | None:
        """Return what a field of the shapes has of the points, (P,) or (P, N); None where there is none."""
        shapes, place = self.now
        found = getattr(shapes, name)
        return None if found is None else read_only(found[place]).T


@lru_cache(maxsize=4)
def _alone(sequence: Sequence) -> Shapes:
    """Return a sequence without an estimate; framed by its truth where every frame has one."""
    given, frames = sequence.truth, sequence.frame_count
    image_extent = read_only(_extent(sequence.tracks.swapaxes(1, 2)[sequence.visible]))
    alone = Shapes(sequence.truth_units, PER_FRAME, None, image_extent, truth=None, cameras=None)
    if given is None or known_points(given.points).sum(axis=1).max() < MIN_ALIGNED:
        return alone
    truth, outliers, framing = given.points, None, None
    if len(given.frames) < frames:
        spread = np.full((frames, *truth.shape[1:]), np.nan)
        spread[given.frames] = truth
        truth = read_only(spread)
    found = find_truth_outliers(given)
    if found.any():
        marked = np.zeros((frames, sequence.point_count), dtype=bool)
        marked[given.frames] = found
        outliers = read_only(marked, np.bool_)
    alone = replace(alone, truth=truth, outliers=outliers, cameras=_true_cameras(sequence))
    kept = alone.kept_truth
    assert kept is not None  # as the truth
    if known_points(truth).any(axis=1).all():
        framing = frame_points(kept)
        if framing is not None and sequence.rotations is not None:
            framing = framing.aimed(orient(kept, sequence.rotations, axes=np.eye(3)))
    size, radius = object_size(kept), typical_radius(truth)
    return replace(alone, framing=framing, truth_size=size, typical_radius=radius)


def _extent(points: Floats) -> Floats:
    """Return the corners (2, D) of a box with room around points (N, D), but for strays; no side is 0."""
    low, high = bounds_but_for_strays(points)
    box = np.stack([np.maximum(points.min(axis=0), low), np.minimum(points.max(axis=0), high)])
    room = PAD * max(float(np.ptp(box, axis=0).max()), 1e-12)
    low, high = thickened(box)
    return np.stack([low - room, high + room])


def _framing(
    sequence: Sequence, points: Floats | None, cameras: Cameras | None, upright: str | None, *, aligned: bool
) -> Framing | None:
    """Return what a view must show: the truth where every frame has one, else truth and estimate."""
    alone = _alone(sequence)
    framing, truth = (alone.framing, alone.kept_truth) if aligned else (None, None)
    if framing is not None and framing.by_cameras and upright is None:
        return framing
    shown = [each for each in (points if framing is None else None, truth) if each is not None]
    if not shown:
        return None
    drawn = np.concatenate(shown, axis=2) if len(shown) > 1 else shown[0]
    R = None if cameras is None else cameras.R
    if framing is not None and sequence.rotations is not None:
        R = sequence.rotations
    axes: Floats | None = np.eye(3)
    if truth is None and points is not None:
        axes = truth_axes(points, sequence.truth, mirror=cameras is not None and cameras.orthogonal)
    rule = None if upright is None else parse_upright(upright)
    stands = orient(drawn, R, rule, axes=axes)
    framing = framing or frame_points(drawn, stands)
    return None if framing is None else framing.aimed(stands, by_cameras=R is not None, upright=upright)
