"""One frame of a newer reconstruction inserted into the shapes of an older one.

The shapes of all frames take ten times as long as those of one frame. While a parameter or the iteration
cursor is dragged, only the shown frame is recomputed at once; the other frames, the errors of all frames
and the color scale follow when the drag pauses. A frame that is aligned by itself is aligned again and
keeps its handedness; where all frames are aligned together the last alignment is kept meanwhile.

Copying the other frames would take longer than all other work. So the arrays of earlier shapes are reused
once no view shows them: two sets alternate.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from core import Alignment, GroundTruth, align
from core.data import known_points
from core.evaluation import MIN_ALIGNED, Kind, Mirror
from core.foundation import Similarity
from nrsfm_gui.scene.cameras import Cameras, moved_cameras, project
from nrsfm_gui.scene.coloring import share_scales
from nrsfm_gui.scene.shapes import residuals_of, solved
from nrsfm_gui.scene.solver_geometry import SolverGeometry, why_no_std

if TYPE_CHECKING:
    from core import Iterate, Sequence
    from core.foundation import Floats
    from nrsfm_gui.scene.shapes import Shapes


def with_frame(
    whole: Shapes, sequence: Sequence, iterate: Iterate, frame: int, spent: Shapes | None = None
) -> Shapes | None:
    """Return shapes in which one frame is of another iterate.

    Returns None where a single frame is not defined: before any reconstruction, and where the solution is not
    shown in coordinates of a scene. None, too, where cameras would have to be found for all frames first:
    whoever waits for one frame does not wait for that.
    """
    if iterate.settings.problem == "lowrank" and not iterate.geometry_known:
        return None
    found = _solved_frame(iterate, frame)
    if whole.points is None or whole.similarity is None or found is None:
        return None
    if not whole.figures.get("metric", True) or whole.still != bool(found.figures):
        return None
    similarity = _aligned(whole, found.points, frame)
    Q = similarity.apply(found.points)
    cameras = moved_cameras(found, similarity)
    reprojected = project(cameras, Q) if found.reprojected is None else found.reprojected
    residuals = residuals_of(reprojected, sequence.tracks[frame])
    residuals = np.where(solved(sequence, iterate)[frame], residuals, np.nan)
    errors = None
    if whole.errors is not None and whole.truth is not None:
        errors = np.linalg.norm(Q - whole.truth[frame], axis=1)
    std = None if found.std is None else similarity.scale[:, None, None] * found.std
    shapes = replace(
        whole,
        weights=iterate.robust_weights,
        cameras=_with_camera(whole.cameras, frame, cameras),
        points=_placed(whole.points, frame, Q, None if spent is None else spent.points),
        reprojected=_placed(
            whole.reprojected, frame, reprojected, None if spent is None else spent.reprojected
        ),
        errors=_placed(whole.errors, frame, errors, None if spent is None else spent.errors),
        residuals=_placed(whole.residuals, frame, residuals, None if spent is None else spent.residuals),
        std=_placed(whole.std, frame, std, None if spent is None else spent.std),
        why_no_std=found.why_no_std,
    )
    share_scales(whole, shapes)
    return shapes


def _solved_frame(iterate: Iterate, frame: int) -> SolverGeometry | None:
    """Return one frame before it is moved to where it is drawn, with a leading axis of size 1."""
    seen, one = iterate.geometry, slice(frame, frame + 1)
    if not seen.figures.get("metric", True):
        return None
    points = (seen.B[one] @ seen.C.T).reshape(1, 3, -1)
    R, t = seen.rotations[one], seen.translations[one]
    std = None if seen.std is None else seen.std[one]
    why_not = "" if seen.std is not None else why_no_std(iterate)
    return SolverGeometry(points, R, t, seen.intrinsics, seen.affine, None, dict(seen.figures), std, why_not)


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


def _placed(
    values: Floats | None, frame: int, new: Floats | None, spent: Floats | None = None
) -> Floats | None:
    """Return values with those of one frame in their place: a copy, or what was such a copy before."""
    if values is None or new is None:
        return None
    placed = values.copy() if spent is None else spent
    placed.setflags(write=True)
    placed[frame] = new[0]
    placed.setflags(write=False)  # `frozen` would copy it once more
    return placed


def _with_camera(whole: Cameras | None, frame: int, one: Cameras) -> Cameras | None:
    if whole is None:
        return None
    R, t, K = (_placed(getattr(whole, name), frame, getattr(one, name)) for name in ("R", "t", "K"))
    assert R is not None and t is not None and K is not None  # as they were given
    return Cameras(R, t, K, one.orthogonal)
