"""The focal length by the energy of refined depths is near the true one from any start, with an interval."""

from __future__ import annotations

import numpy as np
import pytest

import core
from core.cameras import calibrate
from core.depth import DepthOptions, DepthPoint, DepthProblem, FocalProfile, profile_focal
from core.depth.focal_profile import MODEL, PRIOR

FOCALS = np.geomspace(700.0, 1400.0, 5)


@pytest.fixture(scope="module")
def scene() -> core.Sequence:
    return core.simulate("paper", frames=24, points=40, noise=0.3, occlusion=0.1, seed=2)


def at_focal(scene: core.Sequence, ratio: float) -> tuple[DepthProblem, DepthPoint]:
    """The true depths and rotations of the scene, seen through another focal length."""
    K = scene.intrinsics @ np.diag([ratio, ratio, 1.0])
    m = calibrate(scene.observations, K, scene.camera)
    problem = DepthProblem(np.where(scene.visible[:, None], m, 0.0), scene.visible, affine=False)
    Y = scene.rotations @ scene.truth.points + scene.translations[:, :, None]
    mean = Y.mean(axis=2, keepdims=True)
    Y = np.concatenate((Y[:, :2] / ratio, mean[:, 2:] + (Y - mean)[:, 2:] / ratio), axis=1)
    return problem, DepthPoint.from_camera_points(problem, Y, scene.rotations)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [0.7, 1.0, 1.5])
def test_the_energy_is_least_near_the_true_focal_length(scene, ratio):
    true = scene.intrinsics[0, 0]
    problem, point = at_focal(scene, ratio)
    *_, profile = profile_focal(problem, point, ratio * true, DepthOptions())
    assert profile.determined
    assert abs(np.log(profile.focal / true)) < 2.5 * profile.deviation
    assert profile.deviation < 0.2


@pytest.mark.slow
def test_an_object_that_does_not_turn_far_from_the_camera_does_not_determine_it():
    rng = np.random.default_rng(3)
    shapes = rng.normal(size=(3, 30)) + 0.05 * rng.normal(size=(10, 3, 30))
    Y = shapes + np.array([[0.0], [0.0], [400.0]])
    tracks = Y[:, :2] / Y[:, 2:] + 1e-5 * rng.normal(size=(10, 2, 30))
    problem = DepthProblem(tracks, np.ones((10, 30), dtype=bool), affine=False)
    point = DepthPoint.from_camera_points(problem, Y, np.tile(np.eye(3), (10, 1, 1)))
    *_, profile = profile_focal(problem, point, 1.0, DepthOptions())
    assert not profile.determined
    assert profile.focal == 1.0
    assert profile.deviation == PRIOR


def test_a_profile_combines_its_minimum_with_the_assumed_focal_length():
    curvature = 0.5 * MODEL**2 / PRIOR**2 * 3.0  # three times as much as is known of cameras
    profile = FocalProfile(FOCALS, curvature * np.log(FOCALS / 900.0) ** 2, assumed=1200.0)
    at, variance = profile.vertex
    assert np.isclose(np.exp(at), 900.0)
    assert np.isclose(variance, PRIOR**2 / 3.0)
    assert np.isclose(np.log(profile.focal), 0.75 * np.log(900.0) + 0.25 * np.log(1200.0))
    assert np.isclose(profile.deviation, PRIOR / 2.0)


@pytest.mark.parametrize("power", (1.0, -1.0))
def test_without_a_minimum_in_range_nothing_is_determined(power):
    profile = FocalProfile(FOCALS, 1e3 * FOCALS**power, assumed=1000.0)
    assert not profile.determined
    assert profile.focal == 1000.0


def test_the_energies_are_of_exact_rays(scene):
    problem, point = at_focal(scene, 1.0)
    exact = next(profile_focal(problem, point, 1000.0, DepthOptions()))
    noisy = next(profile_focal(problem.with_noise(1e-3), point, 1000.0, DepthOptions()))
    assert np.array_equal(exact.energies, noisy.energies)
