from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from core.cameras.bundle_adjustment import Bundle, _derivatives, _System, adjust_bundle
from core.foundation import procrustes, rotation_from_vector

K = np.array([[800.0, 3.0, 320.0], [0.0, 790.0, 240.0], [0.0, 0.0, 1.0]])


def scene(views: int = 6, points: int = 25, seed: int = 0) -> Bundle:
    random = np.random.default_rng(seed)
    R = rotation_from_vector(random.standard_normal((views, 3)) * [0.2, 0.6, 0.2])
    t = np.column_stack((0.3 * random.standard_normal((views, 2)), 6 + random.random(views)))
    return Bundle(R, t, random.standard_normal((3, points)), K)


def pictured(bundle: Bundle) -> np.ndarray:
    image = bundle.intrinsics @ bundle.camera_points()
    return image[:, :2] / image[:, 2:]


def disturbed(bundle: Bundle, size: float, seed: int = 1) -> Bundle:
    random = np.random.default_rng(seed)
    cameras = random.standard_normal(6 * len(bundle.rotations))
    return bundle.apply_step(size * cameras, size * random.standard_normal(bundle.points.shape))


def seen(views: int = 6, points: int = 25, share: float = 0.8) -> np.ndarray:
    return np.random.default_rng(2).random((views, points)) < share


def test_derivatives_are_those_of_finite_differences():
    bundle, used = scene(), seen()
    of_camera, of_point, of_focal = _derivatives(bundle, used)

    def slope(cameras=0.0, points=0.0):
        """The derivative of the residuals (6, 2, 25) along a step."""
        step = 1e-6 * (np.zeros(37) + cameras), 1e-6 * (np.zeros((3, 25)) + points)
        ends = (bundle.apply_step(*(sign * part for part in step)) for sign in (1, -1))
        plus, minus = (end.residuals(np.zeros((6, 2, 25)), used) for end in ends)
        return pytest.approx((plus - minus) / 2e-6, rel=1e-5, abs=1e-4)

    found = np.zeros((37, 6, 2, 25))
    found[36] = of_focal
    for index in range(36):
        found[index, index // 6] = of_camera[index // 6, :, index % 6]
    for index in (*range(6), *range(24, 30), 36):
        assert found[index] == slope(cameras=np.eye(37)[index])
    for c in range(3):
        assert of_point[:, :, c] == slope(points=np.eye(3)[:, [c]])


@pytest.mark.parametrize("focal_free", [False, True])
def test_a_step_solves_the_damped_normal_equations_of_the_dense_jacobian(focal_free):
    bundle, used = disturbed(scene(), 0.02), seen()
    tracks = np.where(used[:, None], pictured(scene()), 0.0)
    of_camera, of_point, of_focal = _derivatives(bundle, used)
    J = np.zeros((6, 2, 25, 36 + focal_free + 75))
    for f in range(6):
        J[f, :, :, 6 * f : 6 * f + 6] = of_camera[f].transpose(0, 2, 1)
    for n in range(25):
        for c in range(3):
            J[:, :, n, 36 + focal_free + 25 * c + n] = of_point[:, :, c, n]
    if focal_free:
        J[..., 36] = of_focal
    J = J.reshape(300, -1)
    r = bundle.residuals(tracks, used).ravel()
    normal, damping = J.T @ J, 0.01
    expected = -np.linalg.solve(normal + damping * np.diag(np.diag(normal)), J.T @ r)
    cameras, points, predicted = _System(bundle, tracks, used, focal_free=focal_free).step(damping)
    assert np.concatenate((cameras, points.ravel())) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    scaled = damping * float(np.diag(normal) @ expected**2)
    assert predicted == pytest.approx(scaled - float(expected @ J.T @ r))


@pytest.mark.parametrize("focal_free", [False, True])
def test_the_truth_is_recovered_from_a_perturbed_start(focal_free):
    true, used = scene(views=10), seen(views=10)
    K_start = K * [[1.15 if focal_free else 1.0], [1.15 if focal_free else 1.0], [1.0]]
    K_start[:, 2] = K[:, 2]
    start = replace(disturbed(true, 0.01), intrinsics=K_start)
    end = adjust_bundle(start, pictured(true), used, focal_free=focal_free, tolerance=1e-14)
    assert end.intrinsics == pytest.approx(K, rel=1e-5)
    moved = procrustes(end.points, true.points).apply(end.points)
    assert moved == pytest.approx(true.points, abs=1e-4 if focal_free else 1e-6)


def test_the_error_falls_to_that_of_the_noise_and_never_rises():
    true, used = scene(points=60), seen(points=60)
    random = np.random.default_rng(5)
    tracks = pictured(true) + 0.5 * random.standard_normal((6, 2, 60))
    start = disturbed(true, 0.02)
    ends = (adjust_bundle(start, tracks, used, max_iterations=n) for n in range(8))
    costs = [np.sum(end.residuals(tracks, used) ** 2) for end in ends]
    assert all(after <= before for before, after in itertools.pairwise(costs))
    assert costs[-1] < np.sum(true.residuals(tracks, used) ** 2)


def test_points_seen_once_stay_and_hidden_tracks_do_not_matter():
    true, used = scene(), seen()
    used[:, 3] = False
    used[2, 3] = True
    start = disturbed(true, 0.02)
    tracks = np.where(used[:, None], pictured(true), np.nan)
    end = adjust_bundle(start, tracks, used)
    assert np.array_equal(end.points[:, 3], start.points[:, 3])
    assert np.isfinite(end.points).all()
    assert not np.allclose(end.points[:, 4], start.points[:, 4])
