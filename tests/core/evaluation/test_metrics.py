from dataclasses import replace

import numpy as np
import pytest

import core
from core.evaluation import Kind, Mirror, camera_truth, e3d_global
from core.evaluation.challenge_score import _score_residuals
from core.evaluation.metrics import frobenius_relative
from core.foundation import object_size, relative_distance, rotation_from_vector

FRAMES, POINTS = 6, 12


@pytest.fixture
def shapes() -> np.ndarray:
    return 50.0 * np.random.default_rng(0).normal(size=(FRAMES, 3, POINTS))


def truth_of(points: np.ndarray, frames=None) -> core.GroundTruth:
    frames = np.arange(len(points)) if frames is None else np.array(frames)
    return core.GroundTruth(frames, points, int(frames[0]))


def moved(points: np.ndarray, seed: int) -> np.ndarray:
    """Return every frame under a similarity of its own."""
    rng = np.random.default_rng(seed)
    R = rotation_from_vector(rng.normal(size=(len(points), 3)))
    scale = np.exp(rng.normal(size=(len(points), 1, 1)))
    return scale * R @ points + rng.normal(size=(len(points), 3, 1))


def test_the_procrustes_error_of_a_square_with_raised_corners():
    # Corners of a square, and the same with two opposite corners lifted by h: the best similarity keeps the
    # axes, moves to the mean height h/2 and scales by 4/(4 + h^2) < 1 of the lifted shape.
    h = 0.5
    square = np.array([[1.0, -1.0, -1.0, 1.0], [1.0, 1.0, -1.0, -1.0], [0.0, 0.0, 0.0, 0.0]])
    lifted = square + np.array([[0.0], [0.0], [1.0]]) * np.array([h, 0.0, h, 0.0])
    scale = 8.0 / (8.0 + h * h)
    expected = np.sqrt(2.0 * (1.0 - scale) ** 2 + (scale * h / 2.0) ** 2)
    errors = core.procrustes_mm(np.stack((lifted, lifted)), truth_of(square[None], [1]))
    np.testing.assert_allclose(errors.per_point, expected, rtol=1e-12)
    assert errors.mean == pytest.approx(expected)


def test_unknown_truth_is_left_out_and_an_infinite_estimate_is_not(shapes):
    truth = shapes.copy()
    truth[2, 1, 4] = truth[0, :, :] = np.nan
    estimate = moved(shapes, 2)
    errors = core.procrustes_mm(estimate, truth_of(truth))
    assert np.isnan(errors.per_point[2, 4]) and np.isnan(errors.per_frame[0])
    assert np.isfinite(errors.per_point).sum() == (FRAMES - 1) * POINTS - 1
    assert errors.mean < 1e-11
    estimate[3, 0, 0] = np.nan
    broken = core.procrustes_mm(estimate, truth_of(truth))
    assert np.isnan(broken.mean) and np.isnan(broken.per_frame[3]) and np.isfinite(broken.per_frame[4])


def test_a_mirror_image_is_wrong_unless_reflections_are_allowed(shapes):
    mirrored = moved(shapes * np.array([1.0, 1.0, -1.0])[:, None], 3)
    assert core.procrustes_mm(mirrored, truth_of(shapes), reflection=True).mean < 1e-11
    assert core.procrustes_mm(mirrored, truth_of(shapes)).mean > 5.0


def test_only_the_frames_with_truth_are_measured(shapes):
    estimate = moved(shapes, 4)
    estimate[[0, 2, 3, 5]] += np.random.default_rng(5).normal(size=(4, 3, POINTS))
    errors = core.procrustes_mm(estimate, truth_of(shapes[[1, 4]], [1, 4]))
    assert errors.per_point.shape == (2, POINTS) and errors.mean < 1e-11
    with pytest.raises(core.InputError, match=r"\(6, 3, 12\).*\(F, 3, 12\) with F above 9"):
        core.procrustes_mm(shapes, truth_of(shapes[:1], [9]))
    with pytest.raises(core.InputError, match=r"\(6, 3, 11\)"):
        core.procrustes_mm(shapes[:, :, 1:], truth_of(shapes))


def test_e3d_equals_its_definition_written_out(shapes):
    rng = np.random.default_rng(8)
    estimate = shapes + rng.normal(size=shapes.shape) + 30.0
    a, b = (each - each.mean(axis=2, keepdims=True) for each in (estimate, shapes))
    U, _, Vt = np.linalg.svd(sum(b[f] @ a[f].T for f in range(FRAMES)))
    unit = np.mean([b[f, c].std() for f in range(FRAMES) for c in range(3)])
    expected = np.linalg.norm(U @ Vt @ a - b, axis=1).mean() / unit
    assert e3d_global(estimate, truth_of(shapes)).mean == pytest.approx(expected, rel=1e-12)
    mirror = np.diag([1.0, 1.0, -1.0]) @ rotation_from_vector(np.array([1.0, 0.2, -0.4]))
    assert e3d_global(mirror @ shapes + 5.0, truth_of(shapes)).mean < 1e-13
    doubled = e3d_global(2.0 * shapes, truth_of(shapes))  # there is no scale
    assert doubled.mean == pytest.approx(np.linalg.norm(b, axis=1).mean() / unit)


def test_frobenius_relative_flips_the_depth_of_single_frames_and_leaves_out_what_is_unknown(shapes):
    estimate = shapes + np.array([10.0, -3.0, 500.0])[:, None]
    estimate[[1, 4], 2] *= -1.0
    assert frobenius_relative(estimate, truth_of(shapes)).mean < 1e-12
    centered = shapes - shapes.mean(axis=2, keepdims=True)
    grown = frobenius_relative(1.1 * shapes, truth_of(shapes))
    np.testing.assert_allclose(grown.per_frame, 0.1, rtol=1e-10)
    expected = 0.1 * np.linalg.norm(centered, axis=1) / np.linalg.norm(centered, axis=(1, 2))[:, None]
    np.testing.assert_allclose(grown.per_point, expected, rtol=1e-10)
    truth = shapes.copy()
    truth[0] = truth[3, 2, 7] = np.nan
    found = frobenius_relative(shapes, truth_of(truth))
    assert np.isnan(found.per_frame[0]) and np.isnan(found.per_point[3, 7])
    assert found.mean < 1e-12


def test_reprojection_error_counts_visible_points_only():
    tracks = np.zeros((2, 2, 4))
    tracks[:, :, 3] = np.nan
    reprojected = np.zeros((2, 2, 4))
    reprojected[0, :, 0] = [3.0, 4.0]  # 5 px
    reprojected[1, :, 1] = [900.0, 0.0]
    visible = np.array([[True, True, False, False], [True, False, True, False]])
    found = core.reprojection_px(reprojected, tracks, visible)
    assert found.per_point[0, 0] == 5.0 and np.isnan(found.per_point[1, 1])
    np.testing.assert_allclose(found.per_frame, [5.0 / np.sqrt(2.0), 0.0])
    assert found.mean == 2.5
    with pytest.raises(core.InputError, match="accepted"):
        core.reprojection_px(reprojected[:1], tracks, visible)


def brute_score(X: np.ndarray, Y: np.ndarray) -> float:
    """Return the Challenge's score of two point sets (N, 3), (M, 3) as they lie."""
    distances = np.linalg.norm(X[:, None] - Y[None], axis=2)
    total = []
    for one_way in (distances.min(axis=1), distances.min(axis=0)):
        low, high = np.quantile(one_way, [0.25, 0.75], method="hazen")
        total.append(np.minimum(one_way, high + 1.5 * (high - low)))
    return float(np.sqrt(np.mean(np.concatenate(total) ** 2)))


@pytest.mark.parametrize("seed", range(4))
def test_the_residuals_of_the_challenge_score_are_the_score(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(31, 3))
    Y = X + 0.2 * rng.normal(size=(31, 3))
    Y[3] += 5.0  # an outlier, which the clamp holds
    z = np.concatenate((np.eye(3).ravel(), np.zeros(3))) + 0.05 * rng.normal(size=12)
    r, J = _score_residuals(X, Y, z)
    score = brute_score(X @ z[:9].reshape(3, 3).T + z[9:], Y)
    assert r @ r == pytest.approx(score**2, rel=1e-12)
    for n, step in enumerate(1e-7 * np.eye(12)):
        numeric = (_score_residuals(X, Y, z + step)[0] - _score_residuals(X, Y, z - step)[0]) / 2e-7
        np.testing.assert_allclose(J[:, n], numeric, atol=1e-7)


def test_the_challenge_score_is_least_over_affine_maps(shapes):
    A = np.diag([1.0, 1.1, -0.9])
    assert core.challenge_v02(A @ shapes[0] / 300.0 + 7.0, shapes[0]) < 1e-6
    estimate = shapes[0] + 8.0 * np.random.default_rng(9).normal(size=(3, POINTS))
    free = core.Alignment(Kind.PER_FRAME, Mirror.AUTOMATIC)
    moved = core.align(estimate[None], truth_of(shapes[:1]), free).apply(estimate[None])[0]
    assert 0.0 < core.challenge_v02(estimate, shapes[0]) < brute_score(moved.T, shapes[0].T)


def test_the_challenge_score_leaves_out_unknown_points_and_refuses_too_few(shapes):
    truth = shapes[0].copy()
    truth[:, 5] = np.nan
    kept = np.arange(POINTS) != 5
    estimate = shapes[0] + np.random.default_rng(10).normal(size=(3, POINTS))
    assert core.challenge_v02(estimate, truth) == core.challenge_v02(estimate[:, kept], truth[:, kept])
    truth[:, 3:] = np.nan
    with pytest.raises(core.InputError, match="3 points"):
        core.challenge_v02(estimate, truth)


def test_the_size_of_an_object_is_that_of_its_points_whatever_moves_them(shapes):
    centered = shapes - shapes.mean(axis=2, keepdims=True)
    expected = np.mean([np.sqrt((frame**2).sum() / POINTS) for frame in centered])
    assert object_size(shapes) == pytest.approx(expected)
    R = rotation_from_vector(np.array([[0.3, -0.2, 0.9]]))
    assert object_size(3.0 * R @ shapes + 70.0) == pytest.approx(3.0 * expected)
    unknown, far = shapes.copy(), shapes.copy()
    unknown[:, :, 0] = np.nan
    far[:, :, 0] += 1e5
    assert object_size(unknown) == object_size(far) == object_size(shapes[:, :, 1:])
    assert np.isnan(object_size(np.full((2, 3, 4), np.nan)))


def test_the_distance_of_shapes_is_relative_to_their_size_after_a_similarity_per_frame():
    rng = np.random.default_rng(3)
    shapes = rng.normal(size=(4, 3, 30))
    R = rotation_from_vector(rng.normal(size=(4, 3)))
    assert relative_distance(2.0 * R @ shapes + 9.0, shapes) == pytest.approx(0.0, abs=1e-12)
    moved = shapes + rng.normal(size=shapes.shape) * 0.01
    expected = core.procrustes_mm(moved, core.GroundTruth(np.arange(4), shapes, 0)).mean / object_size(shapes)
    assert relative_distance(moved, shapes) == pytest.approx(expected)


@pytest.mark.parametrize("fixed", [False, True])
def test_the_truth_of_an_orthogonal_camera_is_found_in_its_coordinates(shapes, fixed):
    turns = rotation_from_vector(np.random.default_rng(4).normal(size=(FRAMES, 3)))
    turns = np.repeat(turns[:1], FRAMES, axis=0) if fixed else turns
    seen = turns @ (shapes - shapes.mean(axis=2, keepdims=True))
    sequence = core.Sequence(
        seen[:, :2],
        np.ones((FRAMES, POINTS), dtype=bool),
        core.CameraModel.ORTHOGONAL,
        truth=truth_of(shapes),
        units="mm",
        truth_units="mm",
        rotations=None if fixed else turns,
    )
    found = camera_truth(sequence)
    np.testing.assert_allclose(found.points - found.points.mean(axis=2, keepdims=True), seen, atol=1e-9)
    assert e3d_global(seen, found).mean < 1e-12
    assert camera_truth(replace(sequence, units="px")) is None
    if fixed:  # a camera that moves is not found
        onward = rotation_from_vector(0.1 * np.arange(FRAMES)[:, None] * np.ones(3))
        moving = replace(sequence, tracks=(onward @ seen)[:, :2])
        assert camera_truth(moving) is None
