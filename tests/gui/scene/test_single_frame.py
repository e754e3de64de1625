"""One frame of a newer iterate among older shapes: the same as if all were computed again."""

from dataclasses import replace

import numpy as np
import pytest

from core import Alignment, CameraModel, Settings, iterate, simulate
from core.evaluation import Kind, Mirror
from nrsfm_gui.scene.coloring import coloring
from nrsfm_gui.scene.scene import build_scene
from nrsfm_gui.scene.sequence_errors import with_frame
from nrsfm_gui.scene.shapes import build_shapes

FRAME = 5
ARRAYS = ("points", "reprojected", "errors", "residuals")


@pytest.fixture(scope="module", params=[CameraModel.PERSPECTIVE, CameraModel.ORTHOGONAL])
def case(request):
    """Return a sequence with an early iterate and the last one."""
    sequence = simulate("paper", frames=12, points=20, seed=2, camera=request.param)
    settings = Settings(rank=2, starts=1, rotations="truth", eta=0.1, objective="wnn")
    *_, early = iterate(sequence, settings)
    *_, late = iterate(sequence, settings.with_changes(eta=0.4, rank=1), start=early)
    return sequence, early, late


def same(one, other):
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mirror", [Mirror.OFF, Mirror.ON, Mirror.AUTOMATIC])
def test_the_frame_is_what_building_all_of_them_gives(case, mirror):
    sequence, early, late = case
    alignment = Alignment(Kind.PER_FRAME, mirror)
    whole, anew = build_shapes(sequence, early, alignment), build_shapes(sequence, late, alignment)
    mixed = with_frame(whole, sequence, late, FRAME)
    for name in ARRAYS:
        same(getattr(mixed, name)[FRAME], getattr(anew, name)[FRAME])
        others = np.arange(12) != FRAME
        np.testing.assert_array_equal(getattr(mixed, name)[others], getattr(whole, name)[others])
        assert not getattr(mixed, name).flags.writeable
    for part in ("R", "t", "K"):
        same(getattr(mixed.cameras, part)[FRAME], getattr(anew.cameras, part)[FRAME])
    assert not np.allclose(mixed.points[FRAME], whole.points[FRAME])
    scene = build_scene(sequence, mixed, frame=FRAME)
    same(scene.estimate, anew.points[FRAME].T)


def test_shapes_that_are_not_used_any_more_are_written_over_and_their_scene_stays(case):
    sequence, early, late = case
    whole = build_shapes(sequence, early)
    before = {name: getattr(whole, name).copy() for name in ARRAYS}
    first = with_frame(whole, sequence, late, FRAME)
    scene = build_scene(sequence, first, frame=FRAME)
    seen = ("estimate", "reprojected", "errors", "residuals_px")
    drawn = {name: getattr(scene, name).copy() for name in seen}
    second = with_frame(whole, sequence, early, FRAME, spent=first)
    for name in ARRAYS:
        assert np.shares_memory(getattr(first, name), getattr(second, name))
        same(getattr(second, name), before[name])
        np.testing.assert_array_equal(getattr(whole, name), before[name])
        assert not getattr(second, name).flags.writeable
    for name in seen:
        np.testing.assert_array_equal(getattr(scene, name), drawn[name])


@pytest.mark.parametrize("kind", [Kind.SEQUENCE, Kind.NONE])
def test_where_all_frames_are_aligned_together_the_alignment_is_kept_meanwhile(case, kind):
    sequence, early, late = case
    whole = build_shapes(sequence, early, Alignment(kind))
    mixed = with_frame(whole, sequence, late, FRAME)
    moved = whole.similarity.apply(late.geometry.points)
    same(mixed.points[FRAME], moved[FRAME])
    same(mixed.reprojected[FRAME], build_shapes(sequence, late, Alignment(kind)).reprojected[FRAME])


def test_a_frame_without_truth_is_moved_as_its_neighbor_was():
    sequence = simulate("paper", frames=12, points=20, seed=2)
    some = replace(sequence.truth, frames=np.arange(4), points=sequence.truth.points[:4], reference=0)
    sequence = replace(sequence, truth=some)
    *_, early = iterate(sequence, Settings(rank=2, starts=1, rotations="truth", objective="wnn"))
    *_, late = iterate(
        sequence, Settings(rank=2, starts=1, rotations="truth", eta=0.4, objective="wnn"), start=early
    )
    whole = build_shapes(sequence, early)
    mixed = with_frame(whole, sequence, late, 9)
    same(mixed.points[9], whole.similarity.apply(late.geometry.points)[9])
    assert np.isnan(mixed.errors[9]).all()


def test_the_scale_of_the_colors_is_kept(case):
    sequence, early, late = case
    whole = build_shapes(sequence, early)
    limits = coloring(whole, 0, "error", track_unit="px").limits
    mixed = with_frame(whole, sequence, late, FRAME)
    assert coloring(mixed, FRAME, "error", track_unit="px").limits is limits


def test_nothing_is_mixed_where_there_is_nothing_to_mix_with(case):
    sequence, _early, late = case
    assert with_frame(build_shapes(sequence, None), sequence, late, FRAME) is None


def test_a_low_rank_solution_is_mixed_where_it_is_shown_as_a_scene():
    sequence = simulate("paper", frames=12, points=20, seed=2)
    settings = Settings(problem="lowrank", rank=4, starts=1)
    *_, early = iterate(sequence, settings)
    moving, *_, late = iterate(sequence, settings.with_changes(eta=0.1), start=early)
    whole = build_shapes(sequence, early)
    assert with_frame(whole, sequence, moving, FRAME) is None  # it would find the cameras of all frames
    assert not moving.geometry_known
    assert late.geometry_known
    mixed = with_frame(whole, sequence, late, FRAME)
    if not whole.figures["metric"]:
        assert mixed is None
    else:
        anew = build_shapes(sequence, late)
        for name in ARRAYS:
            same(getattr(mixed, name)[FRAME], getattr(anew, name)[FRAME])
