"""The scene: alignment, cameras that follow it, and what each state of knowledge shows."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from reconstructions import build_shapes

from core import Alignment, CameraModel, GroundTruth, Settings, iterate, simulate
from core.evaluation import ALIGNMENTS, Kind, Mirror, camera_truth, e3d_global
from core.foundation import object_size
from nrsfm_gui.model.appearance import LAYERS, Appearance
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.points.points_table import PointsModel
from nrsfm_gui.panels.view2d.tracks_dots import described
from nrsfm_gui.panels.view3d.parts import scene_parts
from nrsfm_gui.scene.frame_analysis import find
from nrsfm_gui.scene.frame_causes import frame_numbers
from nrsfm_gui.scene.incumbent import incumbent_of, quality
from nrsfm_gui.scene.scene import build_scene, error_series
from nrsfm_gui.scene.summaries import measure, percent_of
from nrsfm_gui.text.run_numbers import numbers, point_numbers, selection_numbers, selection_title
from nrsfm_gui.text.status_text import hover


def truth_only_at(sequence, frame):
    points = sequence.truth.points[frame : frame + 1]
    return replace(sequence, truth=GroundTruth(np.array([frame]), points, frame))


def test_estimate_lands_on_the_truth_by_the_known_similarity(known):
    shapes = build_shapes(known.sequence, known.result)
    np.testing.assert_allclose(shapes.points, known.sequence.truth.points, atol=1e-8)
    assert np.nanmax(shapes.errors) < 1e-8
    assert shapes.unit == "mm"
    assert shapes.truth is known.sequence.truth.points  # red stays where it is


@pytest.mark.parametrize("affine", [False, True])
def test_cameras_follow_every_alignment(make_known, affine):
    known = make_known(affine=affine)
    result, K = known.result, known.result.intrinsics
    Y = np.einsum("fij,fjp->fip", result.rotations, result.points) + result.translations[:, :, None]
    expected = Y[:, :2] if affine else Y[:, :2] / Y[:, 2:]
    expected = expected * np.diag(K)[:2, None] + K[:2, 2:]
    for alignment in ALIGNMENTS[::4]:
        shapes = build_shapes(known.sequence, result, alignment)
        np.testing.assert_allclose(shapes.reprojected, expected, atol=1e-7)


def test_mirrored_estimate_is_right_only_where_a_mirror_is_allowed(known):
    flip, result = np.diag([1.0, 1.0, -1.0]), known.result
    C = result.C.T.reshape(result.B.shape[1], 3, -1)
    mirrored = replace(result, C=(flip @ C).reshape(len(C), -1).T, rotations=result.rotations @ flip)
    allowed = build_shapes(known.sequence, mirrored, Alignment(mirror=Mirror.AUTOMATIC))
    assert np.nanmax(allowed.errors) < 1e-8
    assert np.nanmean(build_shapes(known.sequence, mirrored, Alignment()).errors) > 1.0
    np.testing.assert_allclose(np.linalg.det(allowed.cameras.R), -np.linalg.det(mirrored.rotations))


def test_one_similarity_for_the_sequence_is_the_same_in_all_frames(known):
    shapes = build_shapes(known.sequence, known.result, Alignment(Kind.SEQUENCE))
    S, Q = known.result.points, shapes.points
    sizes = np.linalg.norm(Q[:, :, 1] - Q[:, :, 0], axis=1) / np.linalg.norm(S[:, :, 1] - S[:, :, 0], axis=1)
    np.testing.assert_allclose(sizes, sizes[0])
    assert np.nanmean(shapes.errors) > 1.0  # every frame has its own in this case


def test_frames_without_truth_use_the_similarity_of_the_nearest_that_has_it(known):
    sequence = truth_only_at(known.sequence, 6)
    shapes = build_shapes(sequence, known.result)
    expected = known.scale[6] * known.A[6] @ known.result.points[2] + known.offset[6][:, None]
    np.testing.assert_allclose(shapes.points[2], expected, atol=1e-7)
    assert np.isnan(shapes.errors[2]).all()
    assert np.nanmax(shapes.errors[6]) < 1e-7
    assert "nearest frame with truth" in build_scene(sequence, shapes, frame=2).caption


def test_without_truth_the_object_is_centered_and_of_unit_size(known):
    shapes = build_shapes(replace(known.sequence, truth=None), known.result, Alignment())
    assert shapes.errors is shapes.truth is None and shapes.unit != "mm"
    radius = np.linalg.norm(shapes.points, axis=1)
    assert 0.8 < np.percentile(radius, 99) < 1.2
    assert np.abs(np.median(shapes.points, axis=(0, 2))).max() < 0.1
    mean = shapes.cameras.R.sum(axis=0)
    np.testing.assert_allclose(mean, mean.T, atol=1e-9)  # the nearest rotation to the mean camera is I


def test_before_a_run_the_truth_is_shown_alone_with_the_true_cameras(known):
    scene = build_scene(known.sequence, build_shapes(known.sequence, None), frame=4)
    assert scene.message == "" and scene.estimate is scene.reprojected is None
    np.testing.assert_array_equal(scene.truth, known.sequence.truth.points[4].T)
    np.testing.assert_array_equal(scene.camera.R, known.sequence.rotations[4])
    Y = scene.camera.R @ scene.truth.T + scene.camera.t[:, None]
    pixels = (scene.camera.K @ (Y / Y[2]))[:2].T
    assert np.nanmean(np.linalg.norm(pixels - scene.measured, axis=1)) < 1.0
    outside = build_scene(known.sequence, build_shapes(known.sequence, None), frame=99, selected=99)
    assert outside.frame == known.sequence.frame_count - 1 and outside.selected is None


def test_before_a_run_without_truth_the_scene_shows_what_to_do(known):
    sequence = replace(known.sequence, truth=None)
    scene = build_scene(sequence, build_shapes(sequence, None), frame=0)
    assert scene.message == "No reconstruction yet: press Run (Ctrl+R)"
    sequence = truth_only_at(known.sequence, 6)
    shapes = build_shapes(sequence, None)
    assert "Ground truth is in frame 7" in build_scene(sequence, shapes, frame=0).message
    assert build_scene(sequence, shapes, frame=6).message == ""


def test_missing_truth_is_nan_and_does_not_disturb_the_others_and_too_little_counts_as_none(known):
    points = np.array(known.sequence.truth.points)
    points[5, :, 7] = np.nan
    sequence = replace(known.sequence, truth=replace(known.sequence.truth, points=points))
    scene = build_scene(sequence, build_shapes(sequence, known.result), frame=5)
    assert np.isnan(scene.truth[7]).all() and np.isnan(scene.errors[7])
    assert np.nanmax(scene.errors) < 1e-8 and np.isfinite(scene.extent).all()
    points = np.where(np.arange(points.shape[2]) < 2, points, np.nan)
    sequence = replace(known.sequence, truth=replace(known.sequence.truth, points=points))
    assert build_shapes(sequence, known.result).truth is None


def test_extents_are_those_of_all_frames(known):
    shapes = build_shapes(known.sequence, known.result)
    box = shapes.framing.box
    slack = 0.05 * np.ptp(box, axis=0).max()
    for frame in range(known.sequence.frame_count):
        scene = build_scene(known.sequence, shapes, frame=frame)
        np.testing.assert_array_equal(scene.extent, box)
        seen, (low, high) = scene.measured[scene.visible], scene.shapes.image_extent
        assert (low <= seen).all() and (seen <= high).all()
        assert (box[0] <= scene.truth + slack).all() and (scene.truth - slack <= box[1]).all()


def test_arrays_of_a_scene_are_read_only(known):
    shapes, look = build_shapes(known.sequence, known.result), Appearance(frozenset(LAYERS))
    scene = build_scene(known.sequence, shapes, frame=3, appearance=look)
    for name in "estimate truth measured visible reprojected errors residuals_px trail".split():
        with pytest.raises(ValueError, match="read-only"):
            getattr(scene, name)[...] = 0


def test_residuals_are_distances_in_pixels_of_visible_points(known):
    scene = build_scene(known.sequence, build_shapes(known.sequence, known.result), frame=4)
    by_hand = np.hypot(*(scene.reprojected - scene.measured).T)
    np.testing.assert_allclose(scene.residuals_px[scene.visible], by_hand[scene.visible])
    assert np.isnan(scene.residuals_px[~scene.visible]).all()
    assert 0.05 < np.nanmean(scene.residuals_px) < 0.6  # the noise is 0.2 px


def test_timeline_shows_3d_errors_only_where_most_frames_have_truth(known):
    full, *_ = error_series(known.sequence, build_shapes(known.sequence, known.result))
    assert (full.name, full.unit) == ("3-D error", "mm")
    assert full.per_point.shape == known.sequence.visible.shape
    sparse = truth_only_at(known.sequence, 6)
    series, *_ = error_series(sparse, build_shapes(sparse, known.result))
    assert (series.name, series.unit) == ("reprojection error", "px")
    np.testing.assert_allclose(series.per_frame, np.nanmean(series.per_point, axis=1))
    assert error_series(known.sequence, build_shapes(known.sequence, None)) == ()


def test_caption_names_frame_alignment_and_error(known):
    noisy = replace(known.result, B=known.result.B * (1 + 0.05 * np.sin(np.arange(12))[None]))
    shapes = build_shapes(known.sequence, noisy, Alignment(mirror=Mirror.AUTOMATIC))
    caption = build_scene(known.sequence, shapes, frame=4).caption
    error, size = np.nanmean(shapes.errors[4]), object_size(known.sequence.truth.points)
    expected = f"{measure(error, 'mm')}, {percent_of(error, size)} of the object"
    assert caption == f"frame 5: {expected} · per-frame similarity, found unmirrored"


@pytest.mark.parametrize(("alignment", "affine"), list(zip(ALIGNMENTS, itertools.cycle([False, True]))))
def test_residual_segments_go_from_the_truth_to_where_the_estimate_is_drawn(make_known, alignment, affine):
    """Under every alignment: as long as the errors said, and from the very points that the dots are at."""
    known = make_known(affine=affine)
    shapes = build_shapes(known.sequence, spoiled(known, seed=8), alignment)
    if not alignment.compares:
        assert shapes.truth is None and shapes.errors is None
        return
    scene = build_scene(known.sequence, shapes, frame=3)
    segments = scene_parts(scene, DARK)["residuals"].pairs
    np.testing.assert_allclose(segments[:, 0], known.sequence.truth.points[3].T, atol=1e-4)
    np.testing.assert_allclose(segments[:, 1], scene.estimate, atol=1e-4)
    lengths = np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1)
    np.testing.assert_allclose(lengths, scene.errors, atol=1e-4)
    assert shapes.mirrored == (np.linalg.det(shapes.cameras.R[3]) < 0)
    assert shapes.alignment_name in scene.caption
    if alignment.mirror is Mirror.AUTOMATIC:
        fixed = [replace(alignment, mirror=mirror) for mirror in (Mirror.OFF, Mirror.ON)]
        errors = [build_shapes(known.sequence, spoiled(known, seed=8), each).errors for each in fixed]
        assert np.nanmean(shapes.errors) == min(map(np.nanmean, errors))


def spoiled(known, *, seed):
    """Return the reconstruction of a case with noise on its shapes."""
    C = known.result.C
    return replace(known.result, C=C * (1.0 + 0.05 * np.random.default_rng(seed).normal(size=C.shape)))


def test_the_alignment_is_named_with_every_error(known):
    alignment = Alignment(Kind.RIGID, Mirror.ON)
    shapes = build_shapes(known.sequence, spoiled(known, seed=9), alignment)
    scene = build_scene(known.sequence, shapes, frame=2, selected=3, selection=(3, 5))
    name = "rigid motion per frame, mirrored"
    assert name in scene.caption
    assert error_series(known.sequence, shapes)[0].alignment == name
    table = PointsModel()
    table.set_shapes(known.sequence, shapes)
    assert name in table.headerData(2, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    rows = [row for row in (*point_numbers(scene, 3), *selection_numbers(scene)) if "3-D error" in row.label]
    assert len(rows) == 3 and all(name in row.tip.lower() for row in rows)


def test_what_an_alignment_lacks_is_shown_in_its_place(known):
    sequence = replace(known.sequence, rotations=None, translations=None)
    shapes = build_shapes(sequence, known.result, Alignment(Kind.AS_IS))
    assert shapes.truth is None and shapes.errors is None and not shapes.alignment.compares
    assert "as is needs the true cameras" in build_scene(sequence, shapes, frame=0).caption


def test_without_truth_a_known_length_gives_the_object_its_size_and_unit(known):
    bare = replace(known.sequence, truth=None)
    shapes = build_shapes(bare, known.result, scale="1-4=30mm")
    assert shapes.unit == "mm"
    apart = np.linalg.norm(shapes.points[:, :, 0] - shapes.points[:, :, 3], axis=1)
    assert np.isclose(apart.mean(), 30.0)
    np.testing.assert_allclose(shapes.reprojected, build_shapes(bare, known.result).reprojected, atol=1e-6)
    aligned = build_shapes(known.sequence, known.result, scale="1-4=30mm")
    np.testing.assert_array_equal(aligned.points, build_shapes(known.sequence, known.result).points)
    assert build_shapes(bare, known.result, scale="1-4000=30mm").unit == "units"


def test_e3d_is_in_the_coordinates_of_the_camera_whatever_the_alignment():
    settings = Settings(rank=2, starts=1, rotations="truth", objective="wnn")
    sequence = simulate("paper", camera=CameraModel.ORTHOGONAL, frames=8, points=15, occlusion=0.0)
    *_, last = iterate(sequence, settings)
    result = last.result()
    sized = result.intrinsics[0, 0] * result.camera_points
    expected = e3d_global(sized, camera_truth(sequence)).mean
    run = Run(1, sequence, settings, state=RunState.FINISHED, last=last)
    errors = set()
    for kind in (Kind.PER_FRAME, Kind.SEQUENCE):
        known = quality(build_shapes(sequence, last, Alignment(kind)))
        errors.add(known.error)
        assert known.e3d == pytest.approx(expected, rel=1e-9)
        rows = {row.label: row for row in numbers(run, incumbent_of(run, last, known), sequence)}
        row = rows["e3D"]
        assert row.value == f"{expected:.4f}, in the camera's coordinates, measured as published"
        assert "does not follow the alignment" in row.tip
    assert len(errors) == 2
    assert "starts that agree" in rows
    depths = replace(last, settings=Settings())  # which start from the candidates for the rotations
    rows = {row.label: row for row in numbers(run, incumbent_of(run, depths, known), sequence)}
    assert "starts that agree" not in rows


# Names


@pytest.fixture
def named(known):
    """Return a sequence whose truth is another program's and whose points have names, with its shapes."""
    names = tuple(f"joint {letter}" for letter in "abcdefghijklmnopqrst")
    sequence = replace(known.sequence, truth_name="TAPIP3D", point_names=names)
    return sequence, build_shapes(sequence, known.result)


def test_a_distance_to_another_program_is_not_called_an_error(named):
    sequence, shapes = named
    scene = build_scene(sequence, shapes, frame=4, selected=5, selection=(5,))
    assert error_series(sequence, shapes)[0].name == "distance to TAPIP3D"
    rows = [*point_numbers(scene, 5), *frame_numbers(find(sequence, shapes), 4)]
    labels = [row.label for row in rows]
    assert {"TAPIP3D", "distance to TAPIP3D"} <= set(labels)
    assert "distance to TAPIP3D" in described(scene, 5)
    assert "from TAPIP3D" in scene.caption
    texts = [*labels, *(row.tip for row in rows), described(scene, 5), scene.caption]
    assert not any("ground truth" in text or "3-D error" in text for text in texts)


def test_names_of_points_are_in_the_tips_the_title_and_the_table(named):
    sequence, shapes = named
    scene = build_scene(sequence, shapes, frame=4, selected=5, selection=(5,))
    assert described(scene, 5).startswith("point 6, joint f · ")
    assert hover(scene, 5).startswith("point 6, joint f · frame 5")
    assert selection_title(scene) == "Point 6, joint f, frame 5"
    model = PointsModel()
    model.set_shapes(sequence, shapes)
    assert model.data(model.index(5, 0)) == "6 joint f"
    tip = model.headerData(2, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert "estimate and TAPIP3D" in tip and "{" not in tip
