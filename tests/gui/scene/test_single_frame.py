"""One frame of a newer iterate ahead of older shapes: the same as if all were computed again."""

from dataclasses import replace

import numpy as np
import pytest

from core import Alignment, CameraModel, Settings, TruncatedNuclearNorm, iterate, simulate
from core.evaluation import Kind, Mirror
from nrsfm_gui.model.appearance import COLORINGS, Appearance
from nrsfm_gui.scene.scene import build_scene
from nrsfm_gui.scene.sequence_errors import frame_ahead
from nrsfm_gui.scene.shapes import build_shapes

FRAME = 5
SEEN = ("estimate", "reprojected", "errors", "residuals_px")
QUICK = Settings(rank=2, starts=1, rotations="truth", eta=0.1, objective="wnn")


def both(sequence, settings, **changes):
    """Return an early iterate and one that goes on from it."""
    *_, early = iterate(sequence, settings)
    *_, late = iterate(sequence, settings.with_changes(**changes), start=early)
    return sequence, early, late


@pytest.fixture(scope="module", params=[CameraModel.PERSPECTIVE, CameraModel.ORTHOGONAL])
def case(request):
    sequence = simulate("paper", frames=12, points=20, seed=2, camera=request.param)
    return both(sequence, QUICK, eta=0.4, rank=1)


def same(one, other):
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mirror", [Mirror.OFF, Mirror.ON, Mirror.AUTOMATIC])
def test_the_frame_is_what_building_all_of_them_gives(case, mirror):
    sequence, early, late = case
    alignment = Alignment(Kind.PER_FRAME, mirror)
    whole, anew = build_shapes(sequence, early, alignment), build_shapes(sequence, late, alignment)
    look = Appearance(layers=frozenset({"trails", "path"}), trail_frames=2)
    ahead = frame_ahead(whole, sequence, late, FRAME)
    scene, wanted = (
        build_scene(sequence, shapes, frame=FRAME, ahead=newer, appearance=look)
        for shapes, newer in ((whole, ahead), (anew, None))
    )
    for name in SEEN:
        same(getattr(scene, name), getattr(wanted, name))
    for part in ("R", "t", "K"):
        same(getattr(scene.camera, part), getattr(wanted.camera, part))
    assert scene.ahead and not np.allclose(scene.estimate, whole.points[FRAME].T)
    same(scene.trail[-1], wanted.estimate)
    same(scene.trail[:-1], whole.points[FRAME - 2 : FRAME].swapaxes(1, 2))
    if scene.path is not None:
        same(scene.path[FRAME], wanted.path[FRAME])


@pytest.mark.parametrize("key", sorted(COLORINGS.keys() - {"role", "uncertainty", "difference"}))
def test_its_colors_are_those_of_the_newer_frame_on_the_scale_of_all(case, key):
    sequence, early, late = case
    whole, look = build_shapes(sequence, early), Appearance(color_by=key)
    before = build_scene(sequence, whole, frame=FRAME, appearance=look)
    ahead = frame_ahead(whole, sequence, late, FRAME)
    scene = build_scene(sequence, whole, frame=FRAME, ahead=ahead, appearance=look)
    mixed, cameras = np.array(whole.points), whole.cameras
    mixed[FRAME] = ahead.points[0]
    newer = replace(
        whole, points=mixed, errors=whole.errors + ahead.errors - whole.errors[FRAME],
        residuals=whole.residuals + ahead.residuals - whole.residuals[FRAME],
        cameras=replace(cameras, R=ahead.cameras.R.repeat(12, 0), t=ahead.cameras.t.repeat(12, 0)),
    )  # fmt: skip
    expected = build_scene(sequence, newer, frame=FRAME, appearance=look).color_values
    np.testing.assert_allclose(scene.color_values, expected, rtol=0.2 if key == "deviation" else 1e-9)
    assert scene.color_limits == before.color_limits


@pytest.mark.parametrize("kind", [Kind.SEQUENCE, Kind.NONE])
def test_where_all_frames_are_aligned_together_the_alignment_is_kept_meanwhile(case, kind):
    sequence, early, late = case
    whole = build_shapes(sequence, early, Alignment(kind))
    ahead = frame_ahead(whole, sequence, late, FRAME)
    same(ahead.points[0], whole.similarity.apply(late.geometry.points)[FRAME])
    same(ahead.reprojected[0], build_shapes(sequence, late, Alignment(kind)).reprojected[FRAME])


def test_a_frame_without_truth_is_moved_as_its_neighbor_was(case):
    sequence, early, late = case
    some = replace(sequence.truth, frames=np.arange(4), points=sequence.truth.points[:4], reference=0)
    sequence = replace(sequence, truth=some)
    whole = build_shapes(sequence, early)
    ahead = frame_ahead(whole, sequence, late, 9)
    same(ahead.points[0], whole.similarity.apply(late.geometry.points)[9])
    assert np.isnan(ahead.errors).all()
    assert frame_ahead(build_shapes(sequence, None), sequence, late, FRAME) is None


def test_a_low_rank_solution_is_ahead_where_it_is_shown_as_a_scene(rigid_scene):
    penalty = TruncatedNuclearNorm(mu=1e-3, free=4)
    settings = Settings(problem="lowrank", rank=4, starts=1, penalty=penalty, eta=1e-4)
    *_, early = iterate(rigid_scene, settings)
    moving, *_, late = iterate(rigid_scene, settings.with_changes(eta=1e-3), start=early)
    whole = build_shapes(rigid_scene, early)
    assert whole.figures["metric"] and not moving.geometry_known
    assert frame_ahead(whole, rigid_scene, moving, FRAME) is None  # it would find the cameras of all frames
    ahead, anew = frame_ahead(whole, rigid_scene, late, FRAME), build_shapes(rigid_scene, late)
    same(ahead.points[0], anew.points[FRAME])
    same(ahead.residuals[0], anew.residuals[FRAME])
