"""What the views draw of one frame: a frozen value, computed by a pure function. No Qt.

A view compares the new scene with the previous one and updates only what differs. Colors encode values of
the frame on a scale for all frames of the sequence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from core import Sequence
from core.data import GROUND_TRUTH
from core.foundation import Bools, Floats, Ints, read_only
from nrsfm_gui.model.appearance import Appearance
from nrsfm_gui.model.mesh import Triangulation, chosen_mesh
from nrsfm_gui.model.names import error_name
from nrsfm_gui.scene.cameras import Cameras
from nrsfm_gui.scene.floor import Floor
from nrsfm_gui.scene.framing import evenly_spread
from nrsfm_gui.scene.ranking import known_means
from nrsfm_gui.scene.shapes import UNKNOWN_UNIT, Frame, Shapes
from nrsfm_gui.scene.summaries import relative_measure

PLAIN = Appearance()
NOWHERE = read_only(np.zeros(3))  # no displacement
MOST_CAMERAS = 100  # of a still object that are drawn
REPROJECTION_ERROR = "reprojection error"
UNCERTAINTY = "uncertainty"  # the name of the series of standard deviations of the places of points
LOST_WEIGHT = "lost weight"  # the name of the series that is 1 less the weight under a robust loss
HIDDEN = "hidden"  # the name of the series that is 1 where the solver does not see a point, else 0
NO_RECONSTRUCTION = "No reconstruction yet: press Run (Ctrl+R)"
NO_SEQUENCE = "Open a sequence (Ctrl+O) or drop a file here"
TOP = 98.0  # percentile of a distance at which its scale ends: a few strays must not dim all others
ENDS = (1.0, 99.0)  # percentiles of a depth
MOST_VALUES = 60_000  # that the ends of a scale are found from
NO_OTHER = "No run to compare with: choose one in Sequences (Ctrl+D)"


@dataclass(frozen=True, eq=False)
class Scene:
    """One frame as it is drawn. Arrays are read-only; None means that there is none."""

    sequence: Sequence
    shapes: Shapes  # of all frames
    subject: tuple[str, str]  # which sequence, in which coordinates: views fit themselves when it changes
    frame: int  # 0-based
    estimate: Floats | None  # (P, 3) in the unit of the shapes, as `truth`, `errors`, `other` and `std`
    truth: Floats | None  # (P, 3) NaN rows where missing
    edges: Ints  # (E, 2) point indices, of the mesh that was chosen
    faces: Ints  # (T, 3) point indices
    measured: Floats  # (P, 2) in the units of the tracks, NaN where the file gives none
    visible: Bools  # (P,) which points the solver sees, or will see after the next run
    excluded: Bools  # (P,) which points are tracked, but hidden from the solver
    weights: Floats | None  # (P,) of the observations under a robust loss, None with least squares
    reprojected: Floats | None  # (P, 2) in the units of the tracks
    errors: Floats | None  # (P,) distance of estimate and truth, NaN where there is no truth
    residuals_px: Floats | None  # (P,) distance of reprojection and track, in their units, NaN where hidden
    selected: int | None  # point index
    camera: Cameras | None
    appearance: Appearance
    color_values: Floats | None  # (P,) what the color encodes, NaN where unknown; None: the role
    color_limits: tuple[float, float] | None  # ends of the color scale, of the data or chosen by the user
    color_label: str  # name and unit of `color_values`
    color_missing: str  # what to do, where there is nothing of what was chosen to color by
    trail: Floats | None  # (T, P, 3) the latest frames, oldest first
    extent: Floats | None  # (2, 3) lowest and highest corner of the object, where it is in this frame
    floor: Floor | None  # below the object; None where there is no point
    displacement: Floats  # (3,) of the object from its usual place, which the view follows
    caption: str  # "frame 51: 3.2 mm · per-frame similarity"
    message: str  # what to do next, where there is nothing to show; else ""
    other_cameras: tuple[Cameras, ...] = ()  # of other frames: of a path, or of a still object
    path: Floats | None = None  # (F, 3) centers of all cameras, where the layer is on
    selection: tuple[int, ...] = ()  # point indices, ascending; holds `selected`
    hidden: frozenset[int] = frozenset()  # point indices that are not drawn
    other: Floats | None = None  # (P, 3) the shape of a second run
    other_name: str = ""
    outliers: Bools | None = None  # (P,) points whose truth is far from its neighbors; None without any
    std: Floats | None = None  # (P, 3) standard deviations along the axes of `camera`
    ahead: bool = False  # whether this frame is of a newer point than all others, whose errors are not known

    @cached_property
    def drawn(self) -> Bools:
        """(P,) which points are drawn."""
        drawn = np.ones(len(self.visible), dtype=bool)
        drawn[[point for point in self.hidden if point < len(drawn)]] = False
        return drawn

    @property
    def layers(self) -> frozenset[str]:
        """Keys of LAYERS that are shown."""
        return self.appearance.layers

    @property
    def truth_label(self) -> str:
        """What `truth` is, and how many of its points nothing is fitted to."""
        count = 0 if self.outliers is None else int(self.outliers.sum())
        return self.sequence.truth_name + (
            f" ({count} outlier{'s' * (count > 1)} not fitted)" if count else ""
        )

    @property
    def color_title(self) -> str:
        """What the color scale shows: the colored points, the quantity, its unit."""
        colored = self.sequence.truth_name if self.estimate is None else "estimate"
        return f"{colored}: {self.color_label}"

    @property
    def colored(self) -> bool:
        """Whether the estimate and its reprojections are colored by `color_values`."""
        return self.color_values is not None and self.color_limits is not None


@dataclass(frozen=True, eq=False)
class ErrorSeries:
    """One kind of error that the timeline shows."""

    per_frame: Floats  # (F,) mean over points, NaN where there is none
    per_point: Floats  # (F, P), NaN where there is none
    unit: str
    name: str
    alignment: str = ""  # of 3-D distances, as text
    size: float | None = None  # of the object, to which 3-D distances are relative

    @property
    def zero(self) -> bool:
        """Whether it is 0 wherever it is known, so that no frame is the worst."""
        return not (self.per_point[np.isfinite(self.per_point)] > 0).any()


def build_scene(
    sequence: Sequence,
    shapes: Shapes,
    *,
    frame: int,
    selected: int | None = None,
    selection: tuple[int, ...] = (),
    hidden: frozenset[int] = frozenset(),
    other: Floats | None = None,
    other_name: str = "",
    appearance: Appearance = PLAIN,
    excluded: Bools | None = None,
    ahead: Shapes | None = None,
    found: Triangulation | None = None,
) -> Scene:
    """Return one frame as it is drawn; `ahead`: this frame alone, newer than in `shapes`.

    `selected`: index of the point that was selected last, or None; `other`, `other_name`: (P, 3) the shape of
    a second run in the coordinates of `shapes`, and what to call it; `excluded`: (F, P) the observations that
    are hidden from the solver, None where there are none.
    """
    f = min(max(frame, 0), sequence.frame_count - 1)
    framing, at = shapes.framing, Frame(shapes, f, ahead)
    now, camera = at.now[0], at.camera
    left_out = np.zeros(sequence.point_count, dtype=bool) if excluded is None else excluded[f]
    colors = coloring(at, appearance.color_by, track_unit=sequence.units, other=other)
    mesh = chosen_mesh(sequence, appearance.mesh_source, appearance.triangulation, found)
    # Coordinates may be others though their unit has the same name.
    coordinates = f"{shapes.unit}|{shapes.alignment.compares}|{shapes.figures.get('metric', True)}"
    return Scene(
        sequence=sequence,
        shapes=shapes,
        subject=(f"{sequence.name}|{sequence.camera.value}|{sequence.digest}", coordinates),
        frame=f,
        estimate=at.values("points"),
        truth=at.values("truth"),
        edges=mesh.edges,
        faces=mesh.faces,
        measured=sequence.tracks[f].T,
        visible=read_only(sequence.visible[f] & ~left_out, bool),
        excluded=read_only(sequence.visible[f] & left_out, bool),
        weights=at.values("weights"),
        reprojected=at.values("reprojected"),
        errors=at.values("errors"),
        residuals_px=at.values("residuals"),
        selected=selected if selected is not None and 0 <= selected < sequence.point_count else None,
        camera=camera,
        appearance=appearance,
        color_values=colors.values,
        color_limits=appearance.limits or colors.limits,
        color_label=colors.label,
        color_missing=colors.missing or (now.why_no_std if "halos" in appearance.layers else ""),
        trail=_trail(at, appearance.trail_frames) if "trails" in appearance.layers else None,
        extent=None if framing is None else read_only(framing.box + framing.displacements[f]),
        floor=None if framing is None else Floor.below(framing, f if framing.moves else 0),
        displacement=NOWHERE if framing is None or not appearance.follow else framing.displacements[f],
        caption=_caption(sequence, at, other if appearance.color_by == "difference" else None),
        message=_message(sequence, shapes, f),
        other_cameras=_other_cameras(shapes, f, appearance),
        path=_path(at, camera) if "path" in appearance.layers else None,
        selection=selection,
        hidden=hidden,
        other=other,
        other_name=other_name,
        outliers=None if shapes.outliers is None or not shapes.outliers[f].any() else shapes.outliers[f],
        std=at.values("std"),
        ahead=ahead is not None,
    )


def error_series(sequence: Sequence, shapes: Shapes) -> tuple[ErrorSeries, ...]:
    """Return the errors that the timeline shows, what says most first; none before any run."""
    if shapes.residuals is None:
        return ()
    kinds = [_series(shapes.residuals, sequence.units, REPROJECTION_ERROR)]
    if shapes.uncertainty is not None:
        kinds.insert(0, _series(shapes.uncertainty, shapes.unit, UNCERTAINTY, size=shapes.size))
    if shapes.errors is not None:
        name, laid = error_name(sequence.truth_name), shapes.alignment_name
        error = _series(shapes.errors, shapes.unit, name, alignment=laid, size=shapes.size)
        known = np.isfinite(error.per_frame)
        if 2 * known.sum() > known.size:
            kinds.insert(0, error)
        elif known.any():
            kinds.append(error)
    if shapes.weights is not None:
        lost = np.where(np.isfinite(shapes.residuals), 1.0 - shapes.weights, np.nan)
        kinds.append(_series(lost, "", LOST_WEIGHT))
    unseen = ~np.isfinite(shapes.residuals)
    if unseen.any():
        kinds.append(_series(unseen.astype(float), "", HIDDEN))
    return tuple(kinds)


def _series(
    values: Floats, unit: str, name: str, *, alignment: str = "", size: float | None = None
) -> ErrorSeries:
    return ErrorSeries(known_means(values, 1), values, unit, name, alignment=alignment, size=size)


def _other_cameras(shapes: Shapes, frame: int, appearance: Appearance) -> tuple[Cameras, ...]:
    if shapes.cameras is None or not (shapes.still or "path" in appearance.layers):
        return ()
    frames = evenly_spread(len(shapes.cameras.R), MOST_CAMERAS)
    return tuple(shapes.cameras.at(other) for other in frames if other != frame)


def _path(at: Frame, camera: Cameras | None) -> Floats | None:
    """Return the centers (F, 3) of all cameras; those of parallel rays have none."""
    cameras = at.of.cameras
    if cameras is None or camera is None or cameras.orthogonal:
        return None
    centers: Floats = -np.einsum("fji,fj->fi", cameras.R, cameras.t)
    centers[at.number] = -camera.t @ camera.R  # which may be ahead
    return centers


def _message(sequence: Sequence, shapes: Shapes, frame: int) -> str:
    if shapes.points is not None:
        return ""
    if shapes.truth is None or sequence.truth is None:
        return NO_RECONSTRUCTION
    if np.isfinite(shapes.truth[frame]).any():
        return ""
    name = sequence.truth_name[:1].upper() + sequence.truth_name[1:]
    return f"{NO_RECONSTRUCTION}\n{name} is in frame {sequence.truth.reference + 1}"


def _trail(at: Frame, length: int) -> Floats | None:
    points = at.of.drawn
    if points is None or at.number == 0:
        return None
    trail = points[max(at.number - length, 0) : at.number + 1]
    if at.ahead is not None and at.ahead.drawn is not None:
        trail = np.concatenate([trail[:-1], at.ahead.drawn])
    return trail.transpose(0, 2, 1)


def _caption(sequence: Sequence, at: Frame, other: Floats | None) -> str:
    """Return frame, alignment and error as text; a second run's shape `other` (P, 3) replaces the truth."""
    shapes, frame = at.of, at.number
    parts = [f"frame {frame + 1}"]
    if shapes.points is None:
        return f"{parts[0]} · {sequence.truth_name if shapes.truth is not None else 'tracks only'}"
    if other is not None and at.ahead is None:
        distances = np.linalg.norm(shapes.points[frame].T - other, axis=1)
        distance = relative_measure(float(distances.mean()), shapes.unit, shapes.size, short=True)
        return f"{parts[0]} · {distance} between the runs"
    if shapes.figures:
        metric = shapes.figures["metric"]
        parts.append("metric upgrade" if metric else "no metric upgrade: camera coordinates")
    if shapes.truth is None:
        sized = "unit size" if shapes.unit == UNKNOWN_UNIT else f"in {shapes.unit}"
        parts.append(shapes.obstacle or f"no alignment, {sized}")
    elif shapes.errors is not None and np.isfinite(shapes.errors[frame]).any():
        parts.append(shapes.alignment_name)
        apart = "" if sequence.truth_name == GROUND_TRUTH else f" from {sequence.truth_name}"
        if at.ahead is None:
            mean = float(np.nanmean(shapes.errors[frame]))
            parts[0] += f": {relative_measure(mean, shapes.unit, shapes.size)}{apart}"
    else:
        name = sequence.truth_name.removeprefix("ground ")
        parts.append(f"{shapes.alignment_name}, of the nearest frame with {name}")
    return " · ".join(parts)


@dataclass(frozen=True, eq=False)
class Coloring:
    """The values that colors encode in one frame."""

    values: Floats | None  # (P,) NaN where unknown; None where the color encodes the role
    limits: tuple[float, float] | None  # ends of the scale, from all frames
    label: str  # name and unit
    missing: str = ""  # what to do, where there is nothing to color by


def coloring(at: Frame, color_by: str, *, track_unit: str, other: Floats | None = None) -> Coloring:
    """Return the values that colors encode in a frame; `other`: (P, 3) the compared run's shape of it."""
    shapes = at.now[0]
    if color_by == "role":
        return Coloring(None, None, "")
    if color_by == "difference":
        label = f"run distance ({shapes.unit})"
        distances = _distances(at.values("points"), other)
        if distances is None:
            return Coloring(None, None, label, NO_OTHER)
        return Coloring(read_only(distances), _limits(distances, color_by), label)
    if color_by == "error" and shapes.errors is None:
        color_by = "reprojection"
    quantity = QUANTITIES[color_by]
    label = quantity.label.format(track_unit if color_by == "reprojection" else shapes.unit)
    values = quantity.values(at)
    if values is None:
        missing = f"No {quantity.what} to color by: run the solver (Ctrl+R)" if quantity.what else ""
        return Coloring(None, None, label, shapes.why_no_std if color_by == "uncertainty" else missing)
    if color_by == "reprojection" and at.of.fits_exactly:
        return Coloring(None, None, label, "No error to color by: the reprojection error is 0 in all frames")
    return Coloring(read_only(values), _scale(at.of, color_by), label)


def _depth(at: Frame) -> Floats | None:
    points, camera = at.points, at.camera
    return None if points is None or camera is None else points @ camera.R[2] + camera.t[2]


def _movement(at: Frame) -> Floats | None:
    before = None if at.of.drawn is None else at.of.drawn[at.number - 1].T
    return _distances(at.points, before if at.number else np.full(3, np.nan))


def _distances(points: Floats | None, others: Floats | None) -> Floats | None:
    return None if points is None or others is None else np.linalg.norm(points - others, axis=1)


def _index(at: Frame) -> Floats | None:
    points = at.points
    return None if points is None else np.arange(1.0, len(points) + 1)


class Quantity(NamedTuple):
    """What colors can encode."""

    label: str  # name and unit
    what: str  # that is missing before any run
    values: Callable[[Frame], Floats | None]  # (P,)


QUANTITIES = {
    "error": Quantity("3-D error ({})", "error", lambda at: at.values("errors")),
    "reprojection": Quantity("reprojection error ({})", "error", lambda at: at.values("residuals")),
    "depth": Quantity("depth from the camera ({})", "depth", _depth),
    "movement": Quantity("movement since the previous frame ({})", "movement", _movement),
    "deviation": Quantity(
        "distance from the mean shape ({})", "mean shape", lambda at: _distances(at.points, at.of.mean_shape)
    ),
    "uncertainty": Quantity("uncertainty, 1 std ({})", "", lambda at: at.values("uncertainty")),
    "index": Quantity("point number", "", _index),
}


def _scale(shapes: Shapes, color_by: str) -> tuple[float, float] | None:
    """Return the ends of the scale over all frames, so that a color means the same in each of them."""
    if color_by not in shapes.scales:
        assert shapes.drawn is not None  # there are values
        frames, count = len(shapes.drawn), shapes.drawn.shape[2]
        step = max(1, -(-frames * count // MOST_VALUES))
        looked_at = [*range(0, frames, step), *([frames - 1] if frames > 1 and step >= frames else [])]
        chosen = [QUANTITIES[color_by].values(Frame(shapes, frame)) for frame in looked_at]
        found = np.concatenate([values for values in chosen if values is not None])
        shapes.scales[color_by] = _limits(found, color_by)
    return shapes.scales[color_by]


def _limits(values: Floats, color_by: str) -> tuple[float, float] | None:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return None
    if color_by == "index":
        return 1.0, max(float(finite.max()), 2.0)
    if color_by == "depth":
        low, high = (float(end) for end in np.percentile(finite, ENDS))
        return (low, high) if high > low else (low - 0.5, low + 0.5)
    return 0.0, float(np.percentile(finite, TOP)) or 1.0
