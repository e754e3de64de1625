"""What is computed over all frames of the shown reconstruction, in a thread, and one frame ahead of it.

The shapes of all frames take ten times as long as those of one frame. While a parameter or the iteration
cursor is dragged, only the shown frame is recomputed at once; the other frames, the errors of all frames
and the color scale follow when the drag pauses. A frame that is aligned by itself is aligned again and
keeps its handedness; where all frames are aligned together the last alignment is kept meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core import Alignment, GroundTruth, Iterate, Sequence, align
from core.data import known_points
from core.evaluation import MIN_ALIGNED, Kind, Mirror
from core.foundation import Floats, Similarity
from nrsfm_gui.scene.comparison import RunComparison, compare_shapes
from nrsfm_gui.scene.incumbent import Quality, quality
from nrsfm_gui.scene.scene import ErrorSeries, error_series
from nrsfm_gui.scene.shapes import Shapes, build_shapes, moved_shapes, solved, why_no_std


@dataclass(frozen=True, eq=False)
class SceneRequest:
    """What is to be shown: an iterate, or with None the sequence alone, and that of a second run or None."""

    sequence: Sequence
    iterate: Iterate | None
    alignment: Alignment
    compared: Iterate | None = None
    scale: str | None = None  # a length that is known, see `core.reconstruction.scale`
    upright: str | None = None  # how it stands, see `core.reconstruction.orientation`

    def shapes_as(self, other: SceneRequest) -> bool:
        """Whether the same shapes show it, with any second run."""
        return self.measured_as(other) and self.upright == other.upright

    def measured_as(self, other: SceneRequest) -> bool:
        """Whether the same errors are of it, however it stands."""
        placed = (self.alignment, self.scale) == (other.alignment, other.scale)
        return placed and self.sequence is other.sequence and _point(self.iterate) == _point(other.iterate)

    def same_as(self, other: SceneRequest) -> bool:
        """Whether the same picture shows it."""
        return self.shapes_as(other) and _point(self.compared) == _point(other.compared)

    def follows(self, before: SceneRequest) -> bool:
        """Whether only the iterate is another one, so that a frame of it fits among those before."""
        if self.iterate is None or before.iterate is None or before.shapes_as(self):
            return False
        return replace(before, iterate=self.iterate).shapes_as(self)


def _point(iterate: Iterate | None) -> tuple[int, int]:
    # The same point may be seen in another way at the end of a run.
    if iterate is None:
        return 0, 0
    depth = iterate.depth
    return id(iterate.best), id(iterate.view or (depth and depth.best))


@dataclass(frozen=True, eq=False)
class Picture:
    """A reconstruction over all frames."""

    of: SceneRequest
    shapes: Shapes
    series: tuple[ErrorSeries, ...]
    quality: Quality
    compared: Picture | None = None  # of the second run by itself
    together: RunComparison | None = None  # the second run in the coordinates of `shapes`


@dataclass(frozen=True, eq=False)
class FrameAhead:
    """A frame that is ahead of a picture."""

    picture: Picture
    request: SceneRequest  # what the frame is of
    frame: int
    shapes: Shapes  # of this frame alone

    def serves(self, picture: Picture, request: SceneRequest, frame: int) -> bool:
        """Whether it is that of a picture, of what follows it and of a frame."""
        return self.picture is picture and self.frame == frame and self.request.shapes_as(request)


def make_picture(request: SceneRequest, before: Picture | None = None) -> Picture:
    """Compute what is drawn, reusing what an earlier picture has in common."""
    compared = None
    if request.compared is not None:
        other = replace(request, iterate=request.compared, compared=None)
        compared = make_picture(other, None if before is None else before.compared)
    if before is not None and before.of.shapes_as(request):
        shapes, series, found = before.shapes, before.series, before.quality
    else:
        shapes = _shapes_of(request)
        series, found = error_series(request.sequence, shapes), quality(shapes)
    together = None if compared is None else compare_shapes(shapes, compared.shapes)
    return Picture(request, shapes, series, found, compared, together)


def find_quality(request: SceneRequest) -> Quality:
    """Return the errors of what a picture would show, without making it."""
    return quality(_shapes_of(request))


def _shapes_of(request: SceneRequest) -> Shapes:
    return build_shapes(request.sequence, request.iterate, request.alignment, request.scale, request.upright)


def frame_ahead(whole: Shapes, sequence: Sequence, iterate: Iterate, frame: int) -> Shapes | None:
    """Return the shapes of one frame of another iterate, in the coordinates of those of all frames.

    Returns None where a single frame is not defined: before any reconstruction, and where the solution is not
    shown in coordinates of a scene. None, too, where cameras would have to be found for all frames first:
    whoever waits for one frame does not wait for that.
    """
    if iterate.settings.problem == "lowrank" and not iterate.geometry_known:
        return None
    found = iterate.geometry
    metric = found.figures.get("metric", True) and whole.figures.get("metric", True)
    if whole.points is None or whole.similarity is None or not metric or whole.still != bool(found.figures):
        return None
    one = slice(frame, frame + 1)
    found = replace(
        found,
        B=found.B[one],
        rotations=found.rotations[one],
        translations=found.translations[one],
        std=_one(found.std, one),
    )
    S, truth, weights = found.points, _one(whole.truth, one), _one(iterate.robust_weights, one)
    tracks, used = sequence.tracks[one], solved(sequence, iterate)[one]
    moved = moved_shapes(
        found, S, found.intrinsics, _aligned(whole, S, frame), truth=truth, tracks=tracks, used=used
    )
    return replace(whole, truth=truth, weights=weights, why_no_std=why_no_std(iterate), **moved)


def _one(values: Floats | None, one: slice) -> Floats | None:
    return None if values is None else values[one]


def _aligned(whole: Shapes, points: Floats, frame: int) -> Similarity:
    assert whole.similarity is not None  # the caller has looked
    before = whole.similarity
    kept = Similarity(
        *(part[frame : frame + 1] for part in (before.scale, before.rotation, before.translation))
    )
    if whole.truth is None or whole.alignment.kind is not Kind.PER_FRAME:
        return kept
    truth = whole.truth[frame : frame + 1]
    if whole.outliers is not None:  # of a single frame, none could be found
        truth = np.where(whole.outliers[frame], np.nan, truth)
    if known_points(truth).sum() < MIN_ALIGNED:
        return kept
    mirror = Mirror.ON if whole.mirrored else Mirror.OFF
    return align(points, GroundTruth(np.array([0]), truth, 0), Alignment(Kind.PER_FRAME, mirror))
