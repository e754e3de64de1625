"""Comparison of two runs of one sequence: their distance, and whether their losses compare. No Qt.

Where every frame has ground truth, both runs are aligned to it in the chosen way, and their distance is
computed between the results. Where it does not, the second run is aligned to the first, frame by frame: two
reconstructions of images share neither their coordinates nor, frame by frame, their scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from core import Alignment, CameraModel, ExplicitWeights, GroundTruth, Iterate, Settings
from core.data import known_points
from core.evaluation import MIN_ALIGNED, NO_ALIGNMENT, Kind, Mirror, align_all, is_mirrored
from core.foundation import DEPTHS, Floats, nearest_rotation, read_only, relative_distance
from core.reconstruction import OBJECTIVE_OF
from nrsfm_gui.model.run import Run
from nrsfm_gui.scene.scene import ErrorSeries
from nrsfm_gui.scene.shapes import Shapes

SERIES_NAME = "run distance"


@dataclass(frozen=True, eq=False)
class RunComparison:
    """A second run in the coordinates of the first. Arrays are read-only."""

    first: Floats  # (F, 3, P) of the first run, in `unit`
    shapes: Shapes  # of the second run, in `unit`
    distances: Floats  # (F, P) from the first, in `unit`
    unit: str
    alignment: str  # as text
    mirrors: bool  # whether a mirror image is the same shape

    @property
    def points(self) -> Floats:
        """(F, 3, P) of the second run, in `unit`."""
        assert self.shapes.points is not None  # `compare_shapes` has looked
        return self.shapes.points

    @cached_property
    def apart(self) -> float:
        """Mean distance of the shapes, laid over each other, relative to the size of the first one."""
        return relative_distance(self.points, self.first, mirrors=self.mirrors)

    @property
    def mean(self) -> float:
        """Mean distance over all frames and points, in `unit`."""
        return float(np.nanmean(self.distances)) if np.isfinite(self.distances).any() else float("nan")

    @cached_property
    def series(self) -> tuple[ErrorSeries]:
        """The distances as the timeline shows them."""
        means = self.distances.mean(axis=1)
        return (ErrorSeries(means, self.distances, self.unit, SERIES_NAME, alignment=self.alignment),)


def compare_shapes(first: Shapes, second: Shapes) -> RunComparison | None:
    """Return a second run in the coordinates of the first; None where either has no points."""
    if first.points is None or second.points is None or first.points.shape != second.points.shape:
        return None
    truth = first.truth
    covered = truth is not None and bool((known_points(truth).sum(axis=1) >= MIN_ALIGNED).all())
    if covered and first.alignment == second.alignment and first.alignment.compares:
        names = {first.alignment_name, second.alignment_name}
        words = (
            names.pop() if len(names) == 1 else f"{first.alignment_name}; the other: {second.alignment_name}"
        )
        laid = second
    else:
        target = GroundTruth(np.arange(len(first.points)), first.points, 0)
        mirror = Mirror.OFF if first.alignment.mirror is Mirror.OFF else Mirror.AUTOMATIC
        alignment = Alignment(Kind.PER_FRAME, mirror)
        similarity = align_all(second.points, target, alignment)
        laid = replace(
            second,
            points=read_only(similarity.apply(second.points)),
            cameras=None if second.cameras is None else second.cameras.moved(similarity),
            truth=first.truth,
            errors=None,
            unit=first.unit,
            alignment=NO_ALIGNMENT,
        )
        words = f"aligned to each other: {alignment.label(is_mirrored(similarity))}"
    assert laid.points is not None  # as above
    distances = np.linalg.norm(laid.points - first.points, axis=1)
    shapes, mirrors = replace(laid, framing=first.framing), first.alignment.mirror is not Mirror.OFF
    return RunComparison(first.points, shapes, read_only(distances), first.unit, words, mirrors)


def relative_movement(before: Floats, now: Floats) -> float | None:
    """Return how far shapes (F, 3, P) have moved over their size, rotated; None where they do not compare."""
    if before.shape != now.shape:
        return None
    one, other = (points - points.mean(axis=2, keepdims=True) for points in (before, now))
    size = math.sqrt(np.vdot(one, one) * np.vdot(other, other))
    if not (np.isfinite(size) and size > 0):
        return None
    # |R X / a - Z / b|^2 = 2 - 2 <R, Z X^T> / (a b): no shape has to be rotated.
    products = other @ one.swapaxes(1, 2)
    return math.sqrt(max(0.0, 2.0 - 2.0 * float(np.vdot(nearest_rotation(products), products)) / size))


def why_losses_differ(first: Run, second: Run) -> str:
    """Return why the losses of two runs of a sequence cannot be compared, "" where they can."""
    one, other, camera = first.settings, second.settings, first.sequence.camera
    other_problem, depths = one.problem != other.problem, one.objective == other.objective == DEPTHS
    cameras = one.camera_of(camera), other.camera_of(camera)
    orthogonal = CameraModel.ORTHOGONAL in cameras and "nonrigid" in (one.problem, other.problem)
    penalty = "other weights" if isinstance(one.penalty, type(other.penalty)) else "another penalty"
    names = [name for name, objective in OBJECTIVE_OF.items() if objective == DEPTHS and name != "mirror"]
    differ = {
        "another problem": other_problem,
        "another objective": not other_problem and one.objective != other.objective,
        # The energy knows neither the penalty nor eta; orthogonal tracks are always solved at eta = 1.
        penalty: not depths and not _same_penalty(one, other),
        "another camera model": cameras[0] is not cameras[1],
        "another eta": not depths and not orthogonal and one.eta != other.eta,
    }
    for name in names:
        differ[f"other {name.replace('_', ' ')}"] = depths and getattr(one, name) != getattr(other, name)
    differ["other weight of lengths"] = depths and length_share(first.last) != length_share(second.last)
    differ["another robust loss"] = (one.loss, one.loss_scale) != (other.loss, other.loss_scale)
    differ["other held-out observations"] = one.hide != other.hide
    differ["other intrinsics"] = one.intrinsics != other.intrinsics
    return ", ".join(reason for reason, holds in differ.items() if holds)


def length_share(end: Iterate | None) -> float:
    """Return the share of the weight of lengths: below 1 where they do not stay, 1 where it is not known."""
    figures = end.geometry.refinement if end is not None and end.geometry_known else None
    return float((figures or {}).get("length_share", 1.0))


def _same_penalty(one: Settings, other: Settings) -> bool:
    """Return whether two penalties cost the same of the singular values that both can have."""
    a, b = one.penalty, other.penalty
    if isinstance(a, ExplicitWeights) and isinstance(b, ExplicitWeights):
        common = min(len(a.a), len(b.a))
        return a.a[:common] == b.a[:common]
    return a == b
