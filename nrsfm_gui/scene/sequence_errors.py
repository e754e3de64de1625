"""Everything that is computed over all frames of the shown reconstruction, in a thread."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nrsfm_gui.scene.comparison import RunComparison, compare_shapes
from nrsfm_gui.scene.quality import Quality, quality
from nrsfm_gui.scene.scene import ErrorSeries, error_series
from nrsfm_gui.scene.shapes import build_shapes
from nrsfm_gui.scene.single_frame import with_frame

if TYPE_CHECKING:
    from core import Alignment, Iterate, Sequence
    from nrsfm_gui.scene.shapes import Shapes


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
        same = _point(self.iterate) == _point(other.iterate)
        return self.sequence is other.sequence and same and self._placed_as(other)

    def same_as(self, other: SceneRequest) -> bool:
        """Whether the same picture shows it."""
        return self.shapes_as(other) and _point(self.compared) == _point(other.compared)

    def follows(self, before: SceneRequest) -> bool:
        """Whether only the iterate is another one, so that a frame of it fits among those before."""
        if self.iterate is None or before.iterate is None or before.shapes_as(self):
            return False
        return before.sequence is self.sequence and self._placed_as(before)

    def _placed_as(self, other: SceneRequest) -> bool:
        own = self.alignment, self.scale, self.upright
        return own == (other.alignment, other.scale, other.upright)


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
    series: ErrorSeries | None
    quality: Quality
    compared: Picture | None = None  # of the second run by itself
    together: RunComparison | None = None  # the second run in the coordinates of `shapes`


@dataclass(frozen=True, eq=False)
class FrameAhead:
    """A picture in which one frame is ahead of all others."""

    picture: Picture
    request: SceneRequest  # what the frame is of
    frame: int
    shapes: Shapes  # of the picture, but for the frame

    def serves(self, picture: Picture, request: SceneRequest, frame: int) -> bool:
        """Whether `ahead_of` would give the same."""
        return self.picture is picture and self.frame == frame and self.request.shapes_as(request)


def ahead_of(
    picture: Picture, request: SceneRequest, frame: int, spent: FrameAhead | None = None
) -> FrameAhead | None:
    """Return a picture with one frame of what `follows` it; None where a single frame has no meaning.

    Where `spent`, which is not used any more, is of the same picture and frame, its arrays are written over.
    """
    assert request.iterate is not None  # what follows has one
    same = spent is not None and spent.picture is picture and spent.frame == frame
    over = spent.shapes if spent is not None and same else None
    shapes = with_frame(picture.shapes, request.sequence, request.iterate, frame, over)
    return None if shapes is None else FrameAhead(picture, request, frame, shapes)


def make_picture(request: SceneRequest, before: Picture | None = None) -> Picture:
    """Compute what is drawn, reusing what an earlier picture has in common."""
    compared = None
    if request.compared is not None:
        other = replace(request, iterate=request.compared, compared=None)
        known = None if before is None else before.compared
        compared = known if known is not None and known.of.same_as(other) else _picture_of(other)
    if before is not None and before.of.shapes_as(request):
        alone = before
    else:
        alone = _picture_of(request)
    together = None if compared is None else compare_shapes(alone.shapes, compared.shapes)
    return Picture(request, alone.shapes, alone.series, alone.quality, compared, together)


def _picture_of(request: SceneRequest) -> Picture:
    shapes = _shapes_of(request)
    return Picture(request, shapes, error_series(request.sequence, shapes), quality(shapes))


def find_quality(request: SceneRequest) -> Quality:
    """Return the errors of what a picture would show, without making it."""
    return quality(_shapes_of(request))


def _shapes_of(request: SceneRequest) -> Shapes:
    return build_shapes(request.sequence, request.iterate, request.alignment, request.scale, request.upright)
