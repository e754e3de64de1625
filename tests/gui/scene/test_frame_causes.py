"""Why a frame is bad: the split of its error, and the cause that the numbers bear out."""

from dataclasses import replace

import numpy as np
import pytest
from reconstructions import build_shapes

from core import Alignment
from core.evaluation import Mirror
from nrsfm_gui.scene.frame_analysis import along_view, along_view_in, find, moved_error, turns
from nrsfm_gui.scene.frame_causes import cause_of, frame_numbers, known_of
from nrsfm_gui.scene.summaries import measure

BAD = 7  # the frame that is spoilt


@pytest.fixture(params=[False])
def case(request, make_known):
    """Return a case, orthogonal where a parameter says so."""
    return make_known(affine=request.param)


both_cameras = pytest.mark.parametrize("case", [False, True], indirect=True)


@pytest.fixture
def shapes(case):
    return build_shapes(case.sequence, case.result)


def cause_sentence(findings, frame):
    """Return the sentence on a frame, "" where no cause applies."""
    found = cause_of(findings, frame)
    return "" if found is None else found.sentence


def with_points(case, shapes, points):
    """Shapes whose estimate is another, with the errors that follow; the pictures stay as they were."""
    return replace(shapes, points=points, errors=np.linalg.norm(points - shapes.truth, axis=1))


def examined(case, shapes, points):
    """Return what is known of them where neither a mirror image nor the tracks explain an error."""
    findings = find(case.sequence, with_points(case, shapes, points))
    return replace(findings, mirrored=2 * findings.plain, tracks=np.ones(len(points)))


def moved_along_rays(shapes, far):
    """The truth of every frame, each point moved by `far` (F, P) along the ray of its camera."""
    cameras = shapes.cameras
    rays = shapes.truth + np.swapaxes(cameras.R, 1, 2) @ cameras.t[:, :, None]  # from the centers
    rays = cameras.R[:, 2][:, :, None] if cameras.orthogonal else rays
    return shapes.truth + far[:, None] * rays / np.linalg.norm(rays, axis=1, keepdims=True)


def spoilt(shapes):
    """Errors (F, P) of about 1 mm, and about 10 mm in one frame."""
    far = np.random.default_rng(1).normal(0, 1.0, shapes.errors.shape)
    far[BAD] *= 10.0
    return far


@both_cameras
def test_the_error_along_a_ray_is_the_way_that_a_point_was_moved_along_it_and_named_depth(case, shapes):
    far = spoilt(shapes)
    spoiled = with_points(case, shapes, moved_along_rays(shapes, far))
    assert np.allclose(along_view(spoiled.cameras, spoiled.points, spoiled.truth), far)
    assert np.allclose(along_view_in(spoiled, BAD), far[BAD])
    found = find(case.sequence, spoiled)
    assert np.allclose(found.depth_share, 1.0)
    assert np.allclose(found.depth, np.sqrt((far**2).mean(axis=1)))
    assert np.allclose(found.sideways, 0.0, atol=1e-5)
    cause = cause_of(found, BAD)
    assert cause.name.startswith("depth")
    assert "100\xa0% of the error is along the view" in cause.sentence
    assert "the tracks fit as elsewhere" in cause.sentence
    assert cause_sentence(found, int(np.argmin(found.error))) == ""


def test_a_camera_that_hardly_turns_is_named_with_depth(case, shapes):
    found = find(case.sequence, with_points(case, shapes, moved_along_rays(shapes, spoilt(shapes))))
    turn = np.full(len(found.turn), 9.0)
    turn[BAD] = 2.0
    cause = cause_of(replace(found, turn=turn), BAD)
    assert cause.name == "depth, camera nearly still"
    assert "(2°, median 9°)" in cause.sentence
    assert "turns little" not in cause_of(replace(found, turn=np.full(len(turn), 9.0)), BAD).sentence


def test_a_flipped_frame_is_named_with_the_error_of_its_mirror_image(case):
    truth = case.sequence.truth.points
    flat = np.array(truth)
    flat[BAD, 2] *= -1.0  # the sheet bends the other way in one frame
    S = case.A.transpose(0, 2, 1) @ (flat - case.offset[:, :, None]) / case.scale[:, None, None]
    U, sigma, Vt = np.linalg.svd(S.reshape(len(S), -1), full_matrices=False)
    result = replace(case.result, B=U * sigma, C=Vt.T)
    shapes = build_shapes(case.sequence, result)
    found = find(case.sequence, shapes)
    assert found.mirrored[BAD] < 1e-6 < found.plain[BAD]
    assert found.plain[BAD] == pytest.approx(shapes.errors[BAD].mean())
    calm = replace(found, tracks=np.ones(len(found.tracks)))
    cause = cause_of(calm, BAD)
    assert cause.name == "flipped in depth"
    assert "flipped in depth here (mirror image: " in cause.sentence
    assert f"the tracks fit as elsewhere (1.00 {case.sequence.units})" in cause.sentence


def test_a_reconstruction_that_is_mirrored_in_all_frames_is_not_blamed_on_one(make_known):
    case = make_known()
    shapes = build_shapes(case.sequence, case.result, Alignment(mirror=Mirror.ON))
    found = find(case.sequence, shapes)
    worst = int(np.argmax(found.error))
    cause = cause_of(found, worst)
    assert cause.name == "mirrored, as most frames are"
    assert f"of {len(found.error)} frames" in cause.sentence
    assert found.mirrored.max() < 1e-6  # the mirror image of a mirror image


def test_tracks_that_do_not_fit_are_named_and_nothing_of_the_kind_where_they_do(case, shapes):
    rng = np.random.default_rng(2)
    sideways = shapes.truth + rng.normal(0, 0.5, shapes.truth.shape)
    sideways[BAD] += rng.normal(0, 8.0, sideways[BAD].shape)
    residuals = np.ones_like(shapes.residuals)
    residuals[BAD] = 9.0
    found = find(case.sequence, replace(with_points(case, shapes, sideways), residuals=residuals))
    found = replace(found, mirrored=2 * found.plain)
    cause = cause_of(found, BAD)
    assert cause.name == "tracks do not fit"
    unit = case.sequence.units
    assert f"the tracks do not fit here (9.00 {unit}, median frame 1.00 {unit})" in cause.sentence
    fitting = cause_sentence(replace(found, tracks=np.ones(len(found.tracks))), BAD)
    assert "fit" not in fitting or "the tracks fit" in fitting
    unknown = replace(found, error=np.full(len(found.error), np.nan))  # no truth: the tracks still tell
    assert cause_of(unknown, BAD).name == "tracks do not fit"
    assert cause_of(unknown, 0) is None


def test_hidden_points_are_named_where_they_are_what_is_off(case, shapes):
    hidden = ~case.sequence.visible[BAD]
    points = shapes.truth + np.random.default_rng(5).normal(0, 0.3, shapes.truth.shape)
    points[BAD][:, hidden] += 40.0
    found = examined(case, shapes, points)
    assert found.hidden[BAD] == pytest.approx(hidden.mean())
    errors = np.linalg.norm(points[BAD] - shapes.truth[BAD], axis=0)
    assert found.hidden_error[BAD] == pytest.approx(errors[hidden].mean())
    assert found.seen_error[BAD] == pytest.approx(errors[~hidden].mean())
    cause = cause_of(found, BAD)
    assert cause.name == "hidden points"
    assert cause.sentence.startswith("10\xa0% of the points are hidden here, and off by")
    assert "hidden" not in cause_sentence(replace(found, hidden=np.full(len(found.hidden), 0.01)), BAD)


def test_an_error_to_all_sides_has_no_cause_that_is_made_up(case, shapes):
    rng = np.random.default_rng(6)
    points = shapes.truth + rng.normal(0, 0.5, shapes.truth.shape)
    points[BAD] = shapes.truth[BAD] + rng.normal(0, 4.0, shapes.truth[BAD].shape)
    found = examined(case, shapes, points)
    found = replace(found, hidden_error=found.seen_error)
    assert 0.1 < found.depth_share[BAD] < 0.6
    assert cause_of(found, BAD) is None
    rows = {row.label: row.value for row in frame_numbers(found, BAD)}
    assert rows["likely cause"] == "no single one"
    share = f"{100 * found.depth_share[BAD]:.0f}\xa0%"
    assert known_of(found, BAD) == f"no single cause: {share} of its square is in depth"
    assert known_of(found, int(np.argmin(found.error))) == ""
    assert known_of(replace(found, error=np.full_like(found.error, np.nan)), BAD) == ""
    assert rows["3-D error"].endswith(f"(median\xa0{np.median(found.error):.3f}\xa0mm)")
    good = {row.label: row.value for row in frame_numbers(found, int(np.argmin(found.error)))}
    assert good["likely cause"] == "no worse than most frames"


def test_one_point_that_is_far_off_in_depth_does_not_make_depth_the_cause(case, shapes):
    rng = np.random.default_rng(8)
    points = shapes.truth + rng.normal(0, 1.0, shapes.truth.shape)
    far = np.zeros(shapes.errors.shape)
    far[BAD, 4] = 60.0
    points += moved_along_rays(shapes, far) - shapes.truth
    found = find(case.sequence, with_points(case, shapes, points))
    assert found.depth_share[BAD] > 0.9  # of the sum of squares, which is that point
    assert found.typical_share[BAD] < 0.6
    assert cause_of(found, BAD) is None


def test_an_estimate_that_stays_at_its_median_shape_where_the_truth_does_not_deforms_too_little(case, shapes):
    rng = np.random.default_rng(3)
    bent = np.array(shapes.truth)
    bent[BAD] += 2.0 * np.std(bent[BAD]) * rng.normal(0, 1.0, bent[BAD].shape)
    points = shapes.truth + rng.normal(0, 0.05, bent.shape)
    errors = np.linalg.norm(points - bent, axis=1)
    found = find(case.sequence, replace(shapes, points=points, truth=bent, errors=errors))
    assert (found.without >= found.truth_deformation - found.deformation - 1e-9).all()
    others = np.delete(np.arange(len(points)), BAD)
    np.testing.assert_allclose(found.truth_deformation[others], found.deformation[others], atol=0.2)
    calm = replace(found, mirrored=2 * found.plain, tracks=np.ones(len(points)))
    cause = cause_of(calm, BAD)
    assert cause.name == "deforms too little"
    assert f"too little: {measure(found.deformation[BAD], 'mm')} from" in cause.sentence
    assert cause_of(replace(calm, truth_deformation=calm.deformation), BAD) is None


def test_hidden_points_that_are_off_in_all_frames_are_not_the_cause_in_one(case, shapes):
    hidden = ~case.sequence.visible
    rng = np.random.default_rng(9)
    points = shapes.truth + rng.normal(0, 0.3, shapes.truth.shape)
    points += np.where(hidden, 10.0, 0.0)[:, None]
    points[BAD] += rng.normal(0, 4.0, points[BAD].shape)
    found = examined(case, shapes, points)
    same = {name: np.full(len(points), getattr(found, name)[BAD]) for name in ("hidden", "hidden_error")}
    found = replace(found, **same)
    assert found.hidden_error[BAD] > 1.5 * found.seen_error[BAD]
    assert cause_of(found, BAD) is None


def test_an_outlier_of_the_truth_is_not_blamed_for_an_error_that_stays_without_it(case, shapes):
    errors, outliers = np.ones(shapes.errors.shape), np.zeros(shapes.errors.shape, dtype=bool)
    errors[BAD], errors[BAD, 2], outliers[BAD, 2] = 10.0, 60.0, True
    found = find(case.sequence, replace(shapes, errors=errors, outliers=outliers))
    found = replace(found, mirrored=2 * found.plain)
    assert found.error[BAD] > 1.15 * found.without[BAD]
    cause = cause_of(found, BAD)
    assert cause is None or cause.name != "outliers of the truth"


@both_cameras
def test_noise_in_all_frames_has_no_cause(case, shapes):
    points = shapes.truth + np.random.default_rng(0).normal(0, 1.0, shapes.truth.shape)
    found = find(case.sequence, with_points(case, shapes, points))
    assert all(cause_of(found, frame) is None for frame in range(len(points)))


def test_moving_frames_by_themselves_leaves_the_error_of_noise_only():
    rng = np.random.default_rng(0)
    truth = rng.normal(0, 10, (3, 3, 9))
    assert np.allclose(moved_error(3.0 * truth + 5.0, truth, resized=True), 0.0)
    assert (moved_error(3.0 * truth, truth, resized=False) > 1.0).all()
    truth[1, :, 2:] = np.nan
    assert np.isnan(moved_error(truth, truth, resized=True)).tolist() == [False, True, False]


def test_turns_are_the_largest_angles_to_the_frames_around():
    degrees = np.radians([0.0, 10.0, 30.0, 30.0, 31.0])
    directions = np.stack([np.cos(degrees), np.sin(degrees), 0 * degrees], axis=1)
    assert np.allclose(turns(directions, around=1), [10.0, 20.0, 20.0, 1.0, 1.0])
    assert np.allclose(turns(directions, around=9), [31.0, 21.0, 30.0, 30.0, 31.0])
    assert turns(directions[:1]).tolist() == [0.0]


def test_the_turn_does_not_depend_on_where_the_object_is_drawn(make_known):
    case = make_known()
    found = find(case.sequence, build_shapes(case.sequence, case.result))
    bare = replace(case.sequence, truth=None, rotations=None, translations=None)
    alone = find(bare, build_shapes(bare, case.result))
    assert np.allclose(found.turn, alone.turn)
    assert np.isnan(alone.error).all()
    assert [row.label for row in frame_numbers(alone, 0)] == ["reprojection", "hidden points", "camera turns"]
    assert find(case.sequence, build_shapes(case.sequence, None)) is None and frame_numbers(None, 0) == []
