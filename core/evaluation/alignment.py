"""The alignment of an estimate with the ground truth: the allowed transformations, and mirroring.

    per-frame     every frame by a similarity of its own (rotation, translation, size)
    sequence      all frames by the same similarity
    rigid         every frame by a rotation and a translation of its own, without a change of size
    as-is         nothing is fitted: the estimate and the truth are compared in the camera's coordinates
    none          the truth is not used, and no error is measured

Sizes.  Tracks of an orthogonal camera are in the units of the truth, and so is an estimate of them: `rigid`
and `as-is` keep it as large as it is.  The images of a perspective camera do not determine the size of an
object, so that its calibrated units are not a length: there the sequence is multiplied by one factor that
fits the sizes of all true frames best (the minimum over c, and over a
rotation and a translation for every frame, of the squared distances).

Mirror images.  The depth of the estimate is inverted, z -> -z, before the alignment, in all frames or in
none: always, never, or where the sum of all distances to the truth is then smaller.  `as-is` inverts the
depth of every frame in its camera's coordinates, about the mean depth of its points with truth.

Without a fit the distance of an orthogonal camera is unknown: the mean depth of a frame is that of the truth.

Outliers of the truth (`core.evaluation.outliers`) move nothing: no transformation is fitted to them,
and no mirror image is chosen by them. They have an error like all points and count in all means, unless they
are left out. A truth of fewer than three frames, as the Challenge's, has none that could be found. The metric
`procrustes_mm` and the Challenge's score are those of the literature and are fitted to all points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from ..data.masks import common_size, frames_of, known_points, mean_of, side_by_side
from ..data.sequence import GroundTruth
from ..foundation.exceptions import InputError
from ..foundation.linalg import Similarity, procrustes
from ..foundation.parameters import chosen_of
from ..foundation.representation import OneLine
from ..foundation.types import Floats
from .outliers import without_outliers

MIN_ALIGNED = 3  # points that a similarity needs
DEPTH_INVERTED = np.diag([1.0, 1.0, -1.0])


class _Explained(Enum):
    @property
    def meaning(self) -> str:
        """A description in one sentence."""
        return MEANINGS[self]


class Kind(_Explained):
    """Which motions an estimate may make; the value is the name for commands and files."""

    PER_FRAME = "per-frame"
    SEQUENCE = "sequence"
    RIGID = "rigid"
    AS_IS = "as-is"
    NONE = "none"

    @property
    def label(self) -> str:
        """The name in sentences and labels."""
        return WORDS[self]


class Mirror(_Explained):
    """Whether the mirror image of an estimate is used in its place."""

    OFF = "off"
    ON = "on"
    AUTOMATIC = "auto"


WORDS = {
    Kind.PER_FRAME: "per-frame similarity",
    Kind.SEQUENCE: "one similarity for all frames",
    Kind.RIGID: "rigid motion per frame",
    Kind.AS_IS: "as is, by the cameras",
    Kind.NONE: "no alignment",
}
MEANINGS: dict[Enum, str] = {
    Kind.PER_FRAME: "every frame is rotated, translated and scaled to fit its ground truth best",
    Kind.SEQUENCE: "all frames are rotated, translated and scaled in the same way, so that their relative "
    "sizes and positions count",
    Kind.RIGID: "every frame is rotated and translated, and none is scaled; where the camera does not "
    "determine the unit (perspective), one factor for the sequence converts calibrated units to the truth's",
    Kind.AS_IS: "nothing is fitted but, where the camera does not determine the unit (perspective), one "
    "factor for the sequence: the estimate in the coordinates of its camera is placed at the true camera",
    Kind.NONE: "the estimate by itself, without the ground truth and without an error",
    Mirror.OFF: "the estimate as it was solved",
    Mirror.ON: "the estimate with its depth inverted",
    Mirror.AUTOMATIC: "whichever is nearer to the ground truth, the same for all frames",
}


@dataclass(frozen=True)
class Alignment:
    """The alignment of an estimate with the ground truth, before it is shown and measured.

    Parameters
    ----------
    kind
        which motions an estimate may make; also "per-frame", "sequence", "rigid", "as-is" or "none".
    mirror
        whether its mirror image is used; also "off", "on" or "auto".
    outliers
        whether outliers of the truth count in the means; nothing is fitted to them in any case.

    Raises
    ------
    InputError
        where there is no such kind or mirror.

    Examples
    --------
    >>> import core
    >>> core.Alignment("rigid", "auto").label()
    'rigid motion per frame, mirror automatic'
    """

    kind: Kind = Kind.PER_FRAME
    mirror: Mirror = Mirror.OFF
    outliers: bool = True

    def __post_init__(self) -> None:
        """Take the names for what they stand for."""
        object.__setattr__(self, "kind", chosen_of(Kind, "kind", self.kind))
        object.__setattr__(self, "mirror", chosen_of(Mirror, "mirror", self.mirror))

    @property
    def compares(self) -> bool:
        """Whether the truth is used."""
        return self.kind is not Kind.NONE

    def label(self, mirrored: bool | None = None) -> str:
        """Return the name for sentences and labels; `mirrored` is the result of an automatic choice."""
        if not self.compares:
            return self.kind.label
        automatic = {None: "mirror automatic", True: "found mirrored", False: "found unmirrored"}
        words = {Mirror.OFF: "", Mirror.ON: "mirrored", Mirror.AUTOMATIC: automatic[mirrored]}[self.mirror]
        parts = (self.kind.label, words, "" if self.outliers else "without outliers of the truth")
        return ", ".join(part for part in parts if part)

    def counted(self, truth: GroundTruth) -> GroundTruth:
        """Return the truth that is compared with: NaN where an outlier is left out."""
        return truth if self.outliers else without_outliers(truth)


PER_FRAME = Alignment()
NO_ALIGNMENT = Alignment(Kind.NONE)
ALIGNMENTS = tuple(
    Alignment(kind, mirror, outliers) for outliers in (True, False) for kind in Kind for mirror in Mirror
)


@dataclass(frozen=True, eq=False)
class Views(OneLine):
    """The cameras that an estimate and its truth are seen by, for `rigid` and `as-is`."""

    rotations: Floats  # (F, 3, 3) of the estimate, world to camera
    translations: Floats  # (F, 3) in the units of the estimate
    intrinsics: Floats  # (3, 3) from the estimate's camera frame to the units of the tracks
    orthogonal: bool  # whether the tracks are in the units of the truth, and depth is ignored
    true_rotations: Floats | None = None  # (F, 3, 3)
    true_translations: Floats | None = None  # (F, 3) in the units of the truth
    size: float | None = None  # one unit of the estimate in those of the truth, where a length is known

    @property
    def unit(self) -> float | None:
        """One unit of the estimate in those of the truth; None where it is unknown."""
        if self.size is not None:
            return self.size
        return float(self.intrinsics[0, 0]) if self.orthogonal else None


def align(
    estimate: Floats, truth: GroundTruth, alignment: Alignment = PER_FRAME, *, views: Views | None = None
) -> Similarity:
    """Return the similarities that move the frames of an estimate that have truth onto it.

    Parameters
    ----------
    estimate
        (F, 3, P) all frames.
    truth
        of G of them.
    alignment
        which similarities, and whether mirrored.
    views
        the cameras; without them, `rigid` fits the size of the sequence, and `as-is` is not possible.

    Returns
    -------
    Similarity
        with a leading axis of size G, in the order of `truth.frames`; all of its rotations are reflections
        where the estimate is mirrored, and none is otherwise.

    Raises
    ------
    InputError
        where the estimate does not have the truth's frames or points, or the alignment needs cameras.

    Examples
    --------
    >>> import core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> result = core.reconstruct(sequence, rank=2, starts=1, rotations="truth")
    >>> similarity = core.align(result.points, sequence.truth)
    >>> similarity.apply(result.points).shape
    (12, 3, 20)
    """
    return _aligned(frames_of(estimate, truth), without_outliers(truth), alignment, views)


def _aligned(source: Floats, truth: GroundTruth, alignment: Alignment, views: Views | None) -> Similarity:
    """Return what `align` does, of the frames (G, 3, P) of a truth without outliers."""
    target = truth.points
    if alignment.kind is Kind.NONE:
        raise InputError("no alignment: an error needs one; accepted are per-frame, sequence, rigid, as-is")
    if alignment.kind is Kind.AS_IS and (
        views is None or views.true_rotations is None or views.true_translations is None
    ):
        raise InputError("the alignment 'as-is' needs the true rotations and translations of the cameras")

    def found(mirrored: bool) -> Similarity:
        if alignment.kind is Kind.AS_IS and views is not None:
            factor = common_size(DEPTH_INVERTED @ source if mirrored else source, target)
            return _as_is(source, truth, views, factor=views.unit or factor, mirrored=mirrored)
        return _fitted(source, target, alignment.kind, views, mirrored=mirrored)

    if alignment.mirror is not Mirror.AUTOMATIC:
        return found(alignment.mirror is Mirror.ON)
    plain, mirrored = found(False), found(True)
    known = known_points(target)
    far = [np.linalg.norm(each.apply(source) - target, axis=1)[known].sum() for each in (plain, mirrored)]
    return mirrored if far[1] < far[0] else plain


def align_all(
    points: Floats, truth: GroundTruth, alignment: Alignment = PER_FRAME, *, views: Views | None = None
) -> Similarity:
    """Return the similarity of every frame of points (F, 3, P), with a leading axis of size F.

    Frames with fewer than three known points take the similarity of the nearest frame that has them. As is,
    they have cameras of their own, and only the depth under an orthogonal one is that of the nearest truth.
    """
    truth = without_outliers(truth)  # before frames are chosen: an outlier is one among all frames
    usable = np.flatnonzero(known_points(truth.points).sum(axis=1) >= MIN_ALIGNED)
    if not usable.size:
        raise InputError("no frame of the ground truth has three known points; alignment needs them")
    frames = truth.frames[usable]
    chosen = replace(truth, frames=frames, points=truth.points[usable], reference=int(frames[0]))
    known = _aligned(frames_of(points, chosen), chosen, alignment, views)
    nearest = np.abs(np.arange(len(points))[:, None] - frames).argmin(axis=1)
    if alignment.kind is Kind.AS_IS and views is not None:
        around = replace(truth, frames=np.arange(len(points)), points=truth.points[usable][nearest])
        return _as_is(points, around, views, factor=float(known.scale[0]), mirrored=is_mirrored(known))
    return Similarity(known.scale[nearest], known.rotation[nearest], known.translation[nearest])


def truth_axes(points: Floats, truth: GroundTruth | None, *, mirror: bool) -> Floats | None:
    """Return the axes (3, 3), rows, of the coordinates of a truth in those of points (F, 3, P).

    `mirror` is whether the points may be mirrored. None where no frame has three points with a truth.
    """
    if truth is None or not (known_points(truth.points).sum(axis=1) >= MIN_ALIGNED).any():
        return None
    alignment = Alignment(Kind.SEQUENCE, Mirror.AUTOMATIC if mirror else Mirror.OFF)
    axes: Floats = align_all(points, truth, alignment).rotation[0]
    return axes


def is_mirrored(similarity: Similarity) -> bool:
    """Return whether similarities that `align` gave mirror the estimate."""
    return bool(np.linalg.det(similarity.rotation.reshape(-1, 3, 3)[0]) < 0)


def _fitted(source: Floats, target: Floats, kind: Kind, views: Views | None, *, mirrored: bool) -> Similarity:
    if mirrored:
        source = DEPTH_INVERTED @ source
    count = len(source)
    if kind is Kind.SEQUENCE:
        one = procrustes(side_by_side(source), side_by_side(target))
        scale, rotation = np.repeat(one.scale, count), np.repeat(one.rotation[None], count, 0)
        translation = np.tile(one.translation, (count, 1))
    elif kind is Kind.RIGID:
        unit = None if views is None else views.unit
        factor = common_size(source, target) if unit is None else unit
        moved = procrustes(factor * source, target, scale=False)
        scale, rotation, translation = np.full(count, factor), moved.rotation, moved.translation
    else:
        own = procrustes(source, target)
        scale, rotation, translation = own.scale, own.rotation, own.translation
    return Similarity(scale, rotation @ DEPTH_INVERTED if mirrored else rotation, translation)


def _as_is(source: Floats, truth: GroundTruth, views: Views, *, factor: float, mirrored: bool) -> Similarity:
    """Place the estimate, as its camera has it, at the true camera: R*' (c D (R S + t) + o - t*)."""
    frames = truth.frames
    assert views.true_rotations is not None and views.true_translations is not None  # `align` has looked
    R, t = views.rotations[frames], views.translations[frames]
    true_R, true_t = views.true_rotations[frames], views.true_translations[frames]
    D = DEPTH_INVERTED if mirrored else np.eye(3)
    known = known_points(truth.points)
    depth = mean_of((R @ source + t[:, :, None])[:, 2], known)
    offset = np.zeros_like(t)
    if views.orthogonal:
        offset[:, :2] = views.intrinsics[:2, 2]
        true_depth = mean_of((true_R @ truth.points + true_t[:, :, None])[:, 2], known)
    else:
        true_depth = factor * depth
    offset[:, 2] = true_depth - factor * D[2, 2] * depth
    back = np.swapaxes(true_R, 1, 2)
    moved = factor * t @ D + offset - true_t
    return Similarity(np.full(len(source), factor), back @ D @ R, np.einsum("gab,gb->ga", back, moved))
