"""What may be chosen about an export, and the shapes that follow from a choice.

Frames are counted from 0 where programs index them (Python, columns of tables) and from 1 where
people read them: in the names of numbered files, in comments, and in the window.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from ...data.masks import common_size, known_points
from ...data.sequence import CameraModel, GroundTruth, check_frame_rate
from ...evaluation.alignment import MIN_ALIGNED, Alignment, Kind, Mirror, align_all, truth_axes
from ...foundation.atomic import replacing, replacing_many
from ...foundation.exceptions import InputError
from ...foundation.linalg import Similarity
from ...foundation.outputs import check_writable
from ...foundation.parameters import Parameter
from ...foundation.types import Floats, Ints
from ...reconstruction.orientation import orient
from ...reconstruction.result import Result

Item = TypeVar("Item")

FRAMES = {
    "one": "one frame",
    "numbered": "all frames, a numbered file each",
    "stacked": "all frames in one file, with the frame as a property of every point",
}
COORDINATES = {
    "upright": "standing on a floor at y = 0: y up, z towards the side that the first camera sees",
    "object": "the coordinates of the solver, S, or those of the ground truth that it is aligned with",
    "camera": "the camera's coordinates, Y = R S + t",
}
ALIGNMENTS = {
    "none": "calibrated units, as the solver has them, or those of a known length",
    "scale": "scaled by the one factor that fits the sizes of the ground truth",
    "truth": "every frame that has a ground truth moved onto it by a similarity",
    "sequence": "all frames moved by the one similarity that fits the ground truth best",
}
INTERPOLATIONS = {
    "linear": "points move along straight lines from frame to frame",
    "step": "every frame is shown until the next one",
}
COLORS = {
    "plain": "one color",
    "std": "by the standard deviation of every point; glTF shows its root mean square over all frames",
    "error": "by the distance of every point to the ground truth; glTF shows the root mean square",
}
TURN = np.array([1.0, -1.0, -1.0])  # x right, y down, z forward -> x right, y up, z backward
DEFAULT_FPS = 15.0  # of a sequence whose frame rate is unknown


def ignore_progress(done: int, total: int) -> None:
    """Do not report the progress."""


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """The options of `core.io.writers.export`, checked.

    Parameters
    ----------
    frame, frames, coordinates, align, mirror, text, fps, interpolation, color, video, progress
        as in `core.export`.
    y_up
        whether y is up in all coordinates, as the axes of the format have it; `export` sets it.

    Raises
    ------
    InputError
        where a value is not among those accepted.

    Examples
    --------
    >>> import core
    >>> core.ExportOptions(frame=3, coordinates="camera").frames
    'one'
    """

    frame: int | None = None
    frames: str = "one"
    coordinates: str = "upright"
    align: str = "none"
    mirror: bool = False
    text: bool = False
    fps: float | None = None
    interpolation: str = "linear"
    color: str = "plain"
    video: bool = False
    progress: Callable[[int, int], None] = field(default=ignore_progress, compare=False, repr=False)
    y_up: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        for name, table in (
            ("frames", FRAMES),
            ("coordinates", COORDINATES),
            ("align", ALIGNMENTS),
            ("interpolation", INTERPOLATIONS),
            ("color", COLORS),
        ):
            value = getattr(self, name)
            if value not in table:
                raise InputError(f"{name} is {value!r}; accepted are {', '.join(table)}")
        if self.frame is not None:
            Parameter("frame", "", integer=True).checked(self.frame)
            if self.frames != "one":
                raise InputError(
                    f"frame {self.frame} and all frames ({self.frames}) are both asked for; choose one"
                )
        if self.fps is not None:
            check_frame_rate(self.fps, "fps")

    @property
    def alignment(self) -> str:
        """The alignment with the truth, as a phrase."""
        if self.align in ("truth", "sequence"):
            return alignment_of(self).label()
        return {"none": "none", "scale": "one size for all frames"}[self.align]


def shapes(result: Result, options: ExportOptions, *, every: bool = False) -> list[tuple[int, Floats]]:
    """Return (frame, points (3, P)) for the frames chosen; `every` makes all frames the default."""
    chosen = _chosen(result, options, every)
    truth = _needed_truth(result, options)
    if truth is not None and options.align == "truth":
        known = known_points(truth.points).sum(axis=1)[np.isin(truth.frames, chosen)]
        few = known[known < MIN_ALIGNED]
        if few.size:
            raise InputError(
                f"only {few[0]} points of the frame have a ground truth; alignment needs {MIN_ALIGNED}"
            )
    points = aligned_shapes(result, options)
    return [(frame, points[frame]) for frame in chosen]


def moving_shapes(result: Result, options: ExportOptions, path: object, holds: str) -> tuple[Ints, Floats]:
    """Return the frames (N,) of a format that `holds` all, or the chosen one, and points (N, 3, P)."""
    if options.frames != "one":
        raise InputError(f"{path}: {holds}; numbered files are for .ply and .obj")
    chosen = shapes(result, options, every=True) if options.frame is not None else None
    points = aligned_shapes(result, options) if chosen is None else np.stack([each for _, each in chosen])
    if not np.isfinite(points).all():
        raise InputError(f"{path}: the shape holds a value that is not finite; accepted are finite numbers")
    return np.arange(result.frame_count) if chosen is None else np.array([options.frame]), points


def aligned_shapes(result: Result, options: ExportOptions) -> Floats:
    """Return all frames (F, 3, P) in the coordinates and under the alignment chosen.

    Where every frame is aligned by itself, those without enough truth take the similarity of the nearest
    frame that has it.
    """
    return placement(result, options).apply(unaligned_shapes(result, options))


def unaligned_shapes(result: Result, options: ExportOptions) -> Floats:
    """Return all frames (F, 3, P) of the solver, or of the cameras, in calibrated units."""
    return result.camera_points if options.coordinates == "camera" else result.points


def placement(result: Result, options: ExportOptions) -> Similarity:
    """Return the similarities, with a leading axis of size F, that move frames to where they are written."""
    return standing(result, options).after(alignment(result, options))


def standing(result: Result, options: ExportOptions) -> Similarity:
    """Return the one motion that gives aligned shapes the axes that are chosen."""
    if options.coordinates != "upright":
        return Similarity(np.array(1.0), np.diag(TURN) if options.y_up else np.eye(3), np.zeros(3))
    aligned, points = alignment(result, options), result.points
    placed = aligned.apply(points)
    if options.align in ("truth", "sequence"):
        axes: Floats | None = np.eye(3)
    else:  # depth and its mirror image have the same orthogonal picture
        axes = truth_axes(points, result.truth, mirror=result.camera is CameraModel.ORTHOGONAL)
    rotations = result.rotations @ np.swapaxes(aligned.rotation, 1, 2)
    return orient(placed, rotations, result.upright, axes=axes).placement


def alignment(result: Result, options: ExportOptions) -> Similarity:
    """Return the similarities, with a leading axis of size F, that the alignment chosen moves frames by."""
    frames = result.frame_count
    truth = _needed_truth(result, options)
    if truth is None or options.align == "scale":
        points = unaligned_shapes(result, options)
        factor = result.scale[0] if truth is None else common_scale(points, truth)
        if not factor > 0:
            raise InputError("the shapes have no size in units of the ground truth, which may be one point")
        return Similarity(np.full(frames, factor), np.tile(np.eye(3), (frames, 1, 1)), np.zeros((frames, 3)))
    return align_all(unaligned_shapes(result, options), truth, alignment_of(options))


def reprojection_errors(result: Result) -> Floats:
    """Return the distances (F, P) of the reprojections and the tracks, NaN where a point is hidden."""
    distances: Floats = np.linalg.norm(result.observations() - result.reprojections(), axis=1)
    return distances


def frame_rate(result: Result, options: ExportOptions) -> float:
    """Return the frames per second of an animation: those chosen, else those of the sequence, else 15."""
    return float(options.fps or result.meta.get("frame_rate") or DEFAULT_FPS)


def std_of(result: Result, frame: int, points: Floats) -> Floats | None:
    """Return the standard deviations (3, P) of a frame in the unit of its aligned points (3, P).

    They are along the axes of the camera, whatever the alignment. None where the result has none.
    """
    if result.std is None:
        return None
    size, aligned = (
        np.linalg.norm(each - each.mean(axis=1)[:, None]) for each in (result.points[frame], points)
    )
    scaled: Floats = result.std[frame] * (aligned / size if size else 1.0)
    return scaled


def alignment_of(options: ExportOptions) -> Alignment:
    """Return the alignment with the truth that an option of "truth" or "sequence" means."""
    kind = Kind.SEQUENCE if options.align == "sequence" else Kind.PER_FRAME
    return Alignment(kind, Mirror.AUTOMATIC if options.mirror else Mirror.OFF)


def unit_of(result: Result, options: ExportOptions) -> str:
    """Return the unit of `aligned_shapes`: that of the ground truth or of a known length, "" without."""
    return result.scale[1] if options.align == "none" else str(result.meta.get("truth_units", "mm"))


def _needed_truth(result: Result, options: ExportOptions) -> GroundTruth | None:
    if options.align == "none":
        return None
    if result.truth is None:
        raise InputError(f"align is {options.align!r}, but the result has no ground truth")
    return result.truth


def _chosen(result: Result, options: ExportOptions, every: bool) -> list[int]:
    count = result.frame_count
    truth = _needed_truth(result, options)
    known = truth.frames.tolist() if truth is not None and options.align == "truth" else list(range(count))
    if options.frame is not None:
        if not 0 <= options.frame < count:
            raise InputError(f"frame is {options.frame}; the result has frames 0 to {count - 1}")
        if options.frame not in known:
            raise InputError(f"frame {options.frame + 1} has no ground truth to be aligned to")
        return [options.frame]
    return known if every or options.frames != "one" else known[:1]


def common_scale(points: Floats, truth: GroundTruth) -> float:
    """Return the one factor that fits the sizes of all true frames best, whatever their orientation.

    See `core.data.masks.common_size`; mirror images have the same size.
    """
    usable = known_points(truth.points).sum(axis=1) >= MIN_ALIGNED
    if not usable.any():
        raise InputError("no frame of the ground truth has three known points; alignment needs them")
    return common_size(points[truth.frames][usable], truth.points[usable], reflection=True)


def numbered(path: Path, frame: int) -> Path:
    """Return the path with a 0-based frame in its name, counted from 1: shape.ply, 7 -> shape_0008.ply."""
    return path.with_name(f"{path.stem}_{frame + 1:04d}{path.suffix}")


def check_numbered(path: Path, count: int) -> None:
    """Refuse numbered files among which some of an earlier export of more frames would stay.

    Programs that read numbered files would read both as one animation.
    """
    check_writable(path)
    numbered_file = re.compile(rf"{re.escape(path.stem)}_(\d{{4,}}){re.escape(path.suffix)}")
    matches = map(numbered_file.fullmatch, os.listdir(path.parent))
    found = {int(match[1]): match[0] for match in matches if match is not None}
    left = [name for number, name in sorted(found.items()) if number > count]
    if left:
        which = left[0] if len(left) == 1 else f"{left[0]} to {left[-1]}"
        raise InputError(
            f"{path.parent} holds {which}, which would follow the {count} files that are written; "
            "remove them, or name another file"
        )


def write_each(
    result: Result, path: Path, options: ExportOptions, write: Callable[[Path, int, Floats], None]
) -> list[Path]:
    """Write the chosen frame, or a numbered file for every frame: all of them appear, or none."""
    chosen = shapes(result, options)
    if options.frames != "numbered":
        ((frame, points),) = chosen
        with replacing(path) as temporary:
            write(temporary, frame, points)
        return [path]
    check_numbered(path, len(chosen))
    with replacing_many(path) as folder:
        for frame, points in with_progress(chosen, options):
            write(folder / numbered(path, frame).name, frame, points)
    return [numbered(path, frame) for frame, _points in chosen]


def with_progress(chosen: list[Item], options: ExportOptions) -> Iterator[Item]:
    """Yield what is given, and report the progress before and after each."""
    options.progress(0, len(chosen))
    for done, item in enumerate(chosen, start=1):
        yield item
        options.progress(done, len(chosen))
