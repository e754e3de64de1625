"""What may be chosen about an export, and the shapes that follow from a choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import InputError
from ..linalg import procrustes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ..arrays import Bools, Floats
    from ..result import Result
    from ..sequence import GroundTruth

FRAMES = {
    "one": "one frame",
    "numbered": "all frames, a numbered file each",
    "stacked": "all frames in one file, with the frame as a property of every point",
}
COORDINATES = {
    "object": "the object's own coordinates, S",
    "camera": "the camera's coordinates, Y = R S + t",
}
ALIGNMENTS = {
    "none": "calibrated units, as the solver has them",
    "scale": "scaled by the one factor that fits the sizes of the ground truth",
    "truth": "every frame that has a ground truth moved onto it by a similarity",
}


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """The options of `core.exporters.export`, checked.

    Raises
    ------
    InputError
        where a value is not among those accepted.
    """

    frame: int | None = None  # 0-based
    frames: str = "one"  # a key of FRAMES
    coordinates: str = "object"  # a key of COORDINATES
    align: str = "none"  # a key of ALIGNMENTS
    mirror: bool = False
    text: bool = False

    def __post_init__(self) -> None:
        for name, table in (("frames", FRAMES), ("coordinates", COORDINATES), ("align", ALIGNMENTS)):
            value = getattr(self, name)
            if value not in table:
                raise InputError(f"{name} is {value!r}; accepted are {', '.join(table)}")
        if self.frame is not None and self.frames != "one":
            raise InputError(
                f"frame {self.frame} and all frames ({self.frames}) are both asked for; choose one"
            )


def shapes(result: Result, options: ExportOptions, *, every: bool = False) -> Iterator[tuple[int, Floats]]:
    """Yield (frame, points (3, P)) for the frames chosen; `every` makes all frames the default.

    Raises
    ------
    InputError
        where the frame does not exist, or has no ground truth to be aligned to.
    """
    points = result.points if options.coordinates == "object" else result.camera_points
    truth = None
    if options.align != "none":
        truth = result.truth
        if truth is None:
            raise InputError(f"align is {options.align!r}, but the result has no ground truth")
    factor = common_scale(points, truth) if truth is not None and options.align == "scale" else 1.0
    for frame in _chosen(result, options, every):
        target = truth.at(frame) if truth is not None and options.align == "truth" else None
        if target is not None:
            yield frame, moved_onto(points[frame], target, mirror=options.mirror)
        else:
            yield frame, factor * points[frame]


def _chosen(result: Result, options: ExportOptions, every: bool) -> list[int]:
    count = result.frame_count
    aligned = options.align == "truth" and result.truth is not None
    known = [int(frame) for frame in result.truth.frames] if aligned and result.truth else list(range(count))
    if options.frame is not None:
        if not 0 <= options.frame < count:
            raise InputError(f"frame is {options.frame}; the result has frames 0 to {count - 1}")
        if options.frame not in known:
            raise InputError(f"frame {options.frame} has no ground truth to be aligned to")
        return [options.frame]
    return known if every or options.frames != "one" else known[:1]


def moved_onto(points: Floats, target: Floats, *, mirror: bool) -> Floats:
    """Return the points (3, P) after the similarity that moves them onto the target best.

    Raises
    ------
    InputError
        where fewer than three points of the target are known.
    """
    known = int(np.isfinite(target).all(axis=0).sum())
    if known < 3:
        raise InputError(f"only {known} points of the frame have a ground truth; alignment needs 3")
    return procrustes(points, target, reflection=mirror).apply(points)


def common_scale(points: Floats, truth: GroundTruth) -> float:
    """Return the one factor that fits the sizes of all true frames best, whatever their orientation.

    The minimum over c, and over an orthogonal R_g and a t_g for every true frame g, of
    sum_g |c R_g X_g + t_g 1' - Z_g|^2: the R_g do not depend on c, so that c is a mean of the factors of
    single frames, weighted by the squared sizes of their X_g.

    Raises
    ------
    InputError
        where no frame has three points with a truth.
    """
    known: Bools = np.asarray(np.isfinite(truth.points).all(axis=1))
    usable = known.sum(axis=1) >= 3
    if not usable.any():
        raise InputError("no frame of the ground truth has three known points; alignment needs them")
    X = np.where(known[:, None], points[truth.frames], np.nan)[usable]
    factors = procrustes(X, truth.points[usable], reflection=True).scale
    sizes = np.nansum((X - np.nanmean(X, axis=2, keepdims=True)) ** 2, axis=(1, 2))
    return float(np.average(factors, weights=sizes))


def numbered(path: Path, frame: int) -> Path:
    """Return the path with the frame in its name: shape.ply, 7 -> shape_0007.ply."""
    return path.with_name(f"{path.stem}_{frame:04d}{path.suffix}")
