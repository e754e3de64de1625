"""Everything that is computed over all frames of the shown reconstruction, in a thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nrsfm_gui.scene.comparison import RunComparison, compare_shapes
from nrsfm_gui.scene.scene import ErrorSeries, build_shapes, error_series
from nrsfm_gui.scene.single_frame import with_frame
from nrsfm_gui.scene.summaries import Quality, quality

if TYPE_CHECKING:
    from core import Alignment, Iterate, Sequence
    from nrsfm_gui.scene.shapes import Shapes


@dataclass(frozen=True, eq=False)
class SceneRequest:
    """What is to be shown: an update, or with None the sequence alone, and that of a second run or None."""

    sequence: Sequence
    update: Iterate | None
    alignment: Alignment
    compared: Iterate | None = None

    def shapes_as(self, other: SceneRequest) -> bool:
        """Whether the same shapes show it, with any second run."""
        same = _point(self.update) == _point(other.update)
        return self.sequence is other.sequence and same and self.alignment == other.alignment

    def same_as(self, other: SceneRequest) -> bool:
        """Whether the same picture shows it."""
        return self.shapes_as(other) and _point(self.compared) == _point(other.compared)

    def follows(self, before: SceneRequest) -> bool:
        """Whether only the update is another one, so that a frame of it fits among those before."""
        if self.update is None or before.update is None or before.shapes_as(self):
            return False
        return before.sequence is self.sequence and before.alignment == self.alignment


def _point(update: Iterate | None) -> tuple[int, int]:
    # The same point may be seen in another way at the end of a run.
    return (0, 0) if update is None else (id(update.displayed), id(update.view))


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
class Ahead:
    """A picture in which one frame is ahead of all others."""

    picture: Picture
    wanted: SceneRequest  # what the frame is of
    frame: int
    shapes: Shapes  # of the picture, but for the frame

    def serves(self, picture: Picture, wanted: SceneRequest, frame: int) -> bool:
        """Whether `ahead_of` would give the same."""
        return self.picture is picture and self.frame == frame and self.wanted.shapes_as(wanted)


def ahead_of(picture: Picture, wanted: SceneRequest, frame: int, spent: Ahead | None = None) -> Ahead | None:
    """Return a picture with one frame of what `follows` it; None where a single frame has no meaning.

    Where `spent`, which is not used any more, is of the same picture and frame, its arrays are written over.
    """
    assert wanted.update is not None  # what follows has one
    same = spent is not None and spent.picture is picture and spent.frame == frame
    over = spent.shapes if spent is not None and same else None
    shapes = with_frame(picture.shapes, wanted.sequence, wanted.update, frame, over)
    return None if shapes is None else Ahead(picture, wanted, frame, shapes)


def make_picture(wanted: SceneRequest, before: Picture | None = None) -> Picture:
    """Compute what is drawn, reusing what an earlier picture has in common."""
    compared = None
    if wanted.compared is not None:
        other = SceneRequest(wanted.sequence, wanted.compared, wanted.alignment)
        known = None if before is None else before.compared
        compared = known if known is not None and known.of.same_as(other) else _alone(other)
    if before is not None and before.of.shapes_as(wanted):
        alone = before
    else:
        alone = _alone(wanted)
    together = None if compared is None else compare_shapes(alone.shapes, compared.shapes)
    return Picture(wanted, alone.shapes, alone.series, alone.quality, compared, together)


def _alone(wanted: SceneRequest) -> Picture:
    shapes = build_shapes(wanted.sequence, wanted.update, wanted.alignment)
    return Picture(wanted, shapes, error_series(wanted.sequence, shapes), _quality(wanted, shapes))


def find_quality(wanted: SceneRequest) -> Quality:
    """Return the errors of what a picture would show, without making it."""
    return _quality(wanted, build_shapes(wanted.sequence, wanted.update, wanted.alignment))


def _quality(wanted: SceneRequest, shapes: Shapes) -> Quality:
    return quality(shapes, None if wanted.update is None else wanted.update.displayed.loss)
