"""A reconstruction in the coordinates of the solver: shapes, cameras, and their properties. No Qt.

A low-rank solution has cameras in three dimensions where it could be upgraded to a metric one (`geometry`).
Where it could not, its matrix X is shown in the coordinates of each camera, with the K of the views where
that is known and else with a K as wide as the picture, so that depth and width compare.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from core import Result
from core.foundation import WNN

if TYPE_CHECKING:
    from core import Iterate, Sequence
    from core.foundation import Floats


LOW_RANK = "No uncertainty: the low-rank problem has no depth refinement"
NOT_REFINED = "No uncertainty: depths were not refined"
BILINEAR = "No uncertainty of the bilinear solution"
UNDER_WAY = "The uncertainty is known at the end of the run"
NO_STD = "No uncertainty: it was not computed for this run"
FURTHER_END = "No uncertainty: it is computed for the lowest end only"


@dataclass(frozen=True, eq=False)
class SolverGeometry:
    """Shapes and cameras in the coordinates of the solver."""

    points: Floats  # (F, 3, P)
    rotations: Floats  # (F, 3, 3)
    translations: Floats  # (F, 3)
    intrinsics: Floats  # (3, 3) camera frame to the units of the tracks
    affine: bool  # whether depth is ignored instead of divided by
    reprojected: Floats | None = None  # (F, 2, P) by projective cameras, where the view is not metric
    # of a low-rank solution, see `core.reconstruction.geometry`
    figures: dict[str, Any] = field(default_factory=dict)
    std: Floats | None = None  # (F, 3, P) standard deviations of the points along the axes of the cameras
    why_no_std: str = ""  # what to do about it, where there is none

    @property
    def metric(self) -> bool:
        """Whether the coordinates are those of a scene, so that they can be aligned with a truth."""
        return bool(self.figures.get("metric", True))

    @property
    def still(self) -> bool:
        """Whether it is one rigid scene with all cameras around it."""
        return bool(self.figures) and self.metric and bool(np.array_equal(*self.points[[0, -1]]))


def solver_geometry(sequence: Sequence, source: Iterate | Result) -> SolverGeometry:
    """Return what is drawn of an iterate (of its best point) or of a result."""
    if isinstance(source, Result):
        figures = dict(source.meta.get("low_rank") or {})
        own = source.reprojections() if source.low_rank and not figures.get("metric", True) else None
        found = SolverGeometry(
            source.points,
            source.rotations,
            source.translations,
            source.intrinsics,
            source.eta == 1.0,
            own,
            figures,
            source.std,
            "" if source.std is not None else NO_STD if source.refined else NOT_REFINED,
        )
        calibration = None
    else:
        seen, calibration = source.geometry, source.calibration
        flat = seen.projective is not None and not seen.figures.get("metric", True)
        own = seen.projective.reprojections() if seen.projective is not None and flat else None
        found = SolverGeometry(
            seen.points,
            seen.rotations,
            seen.translations,
            seen.intrinsics,
            seen.affine,
            own,
            dict(seen.figures),
            seen.std,
            "" if seen.std is not None else why_no_std(source),
        )
    return found if found.metric else _in_camera_coordinates(found, sequence, calibration)


def why_no_std(iterate: Iterate) -> str:
    """Return why an iterate has no standard deviations."""
    if iterate.settings.problem == "lowrank":
        return LOW_RANK
    if not iterate.status.finished and iterate.settings.objective != WNN:
        return UNDER_WAY
    if iterate.record.energy is not None:
        return NO_STD if iterate.end_energy is None else FURTHER_END
    return NOT_REFINED if iterate.settings.objective == WNN else BILINEAR


def _in_camera_coordinates(
    found: SolverGeometry, sequence: Sequence, calibration: Floats | None
) -> SolverGeometry:
    K = _as_wide_as_the_picture(sequence) if calibration is None else calibration
    points = np.linalg.solve(K, found.intrinsics) @ found.points
    return SolverGeometry(
        points, found.rotations, found.translations, K, False, found.reprojected, found.figures
    )


def _as_wide_as_the_picture(sequence: Sequence) -> Floats:
    """Return a K (3, 3) whose focal length is the longer side of what the tracks cover."""
    seen = np.moveaxis(sequence.tracks, 1, 0)[:, sequence.visible]
    low, high = seen.min(axis=1), seen.max(axis=1)
    f = float((high - low).max()) or 1.0
    (cx, cy) = (low + high) / 2
    return np.array([[f, 0.0, cx], [0.0, f, cy], [0.0, 0.0, 1.0]])
