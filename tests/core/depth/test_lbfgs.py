"""L-BFGS of the depth refinement: descent, resuming, and what it reaches."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest

from core import CameraModel, simulate
from core.cameras import calibrate
from core.depth import LBFGS, DepthLevel, DepthPoint, DepthProblem, LevelEnergy
from core.foundation import rotation_from_vector
from core.solvers import Status, iterate, solve


def simulated(*, affine=False, noise=0.3, occlusion=0.5, seed=0):
    """Return the problem of a simulated sequence, its true point, and a start with wrong depths."""
    camera = CameraModel.ORTHOGONAL if affine else CameraModel.PERSPECTIVE
    scene = simulate("paper", camera=camera, frames=24, points=30, noise=noise, occlusion=occlusion)
    Y = scene.rotations @ scene.truth.points + scene.translations[:, :, None]
    tracks = scene.tracks if affine else calibrate(scene.observations, scene.intrinsics, scene.camera)
    problem = DepthProblem(tracks, scene.visible, affine)
    truth = DepthPoint.from_camera_points(problem, Y, scene.rotations)
    rng = np.random.default_rng(seed)
    spread = Y[:, 2].std(axis=1).mean()
    disturbed = Y.copy()
    disturbed[:, 2] += 0.15 * spread * rng.normal(size=problem.shape)
    R = scene.rotations @ rotation_from_vector(0.05 * rng.normal(size=(len(Y), 3)))
    start = DepthPoint.from_camera_points(problem, disturbed, R)
    return problem.anchored(start), truth, start


@pytest.mark.parametrize("affine", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_disturbed_truth_is_repaired_as_well_as_the_truth_is_kept(affine, error):
    problem, truth, start = simulated(affine=affine)
    before = error(problem, start, truth)
    ends = []
    for point in (start, truth):
        for level in (
            DepthLevel(0.1, 0.15),
            DepthLevel(0.05, 0.07),
            DepthLevel(0.02, 0.03),
            DepthLevel(0.01, 0.015, relative=True),
        ):
            energy = LevelEnergy.about(problem, level, point)
            point = energy.point(solve(energy, LBFGS(200, 1e-8), point).state.x)
        ends.append(error(problem, point, truth))
    assert max(ends) < 0.4 * before
    assert ends[0] == pytest.approx(ends[1], rel=0.02)


@pytest.mark.parametrize(("affine", "cut"), [(False, 7), (True, 33)])
def test_a_run_resumed_from_a_snapshot_equals_an_uninterrupted_one_bit_for_bit(affine, cut):
    problem, _, point = simulated(affine=affine)
    energy = LevelEnergy.about(problem, DepthLevel(0.05, 0.07), point)
    method = LBFGS(max_iterations=45, memory=6, refresh=15)
    full = list(iterate(energy, method, point))
    half = list(islice(iterate(energy, method, point), cut))[-1]
    rest = list(iterate(energy, method, half))
    assert [each.progress.loss for each in rest] == [each.progress.loss for each in full[cut:]]
    assert np.array_equal(rest[-1].state.x, full[-1].state.x)
    assert len(rest) == len(full) - cut > 0


def test_the_energy_decreases_in_every_iteration_until_it_hardly_does():
    problem, _, point = simulated()
    energy = LevelEnergy.about(problem, DepthLevel(0.1, 0.15), point)
    snapshots = list(iterate(energy, LBFGS(500, 1e-7), point))
    losses = [each.progress.loss for each in snapshots]
    assert all(after < before for before, after in pairwise(losses))
    assert snapshots[-1].status is Status.CONVERGED
    assert losses[-4] - losses[-1] <= 3e-7 * abs(losses[-1])
    gradient = [np.linalg.norm(each.state.gradient) for each in (snapshots[0], snapshots[-1])]
    assert gradient[1] < 0.05 * gradient[0]


def test_a_minimum_stalls_instead_of_rising():
    problem, _, point = simulated()
    energy = LevelEnergy.about(problem, DepthLevel(0.1, 0.15), point)
    end = solve(energy, LBFGS(1000, 0.0), point)
    assert end.status in (Status.STALLED, Status.CONVERGED)
    assert np.abs(end.state.gradient).max() < 1e-2


def test_a_start_without_an_energy_is_reported_as_diverged():
    problem, _, point = simulated()
    energy = LevelEnergy.about(problem, DepthLevel(0.1, 0.15), point)
    depths = point.depths.copy()
    depths[0, 0] = 1e300
    far = DepthPoint(point.rotations, depths, point.rays, affine=False)
    assert solve(energy, LBFGS(), far).status is Status.DIVERGED


@pytest.mark.slow
def test_tracks_of_two_modes_with_noise_are_refined_better_where_they_may_leave_their_rays(error):
    frames, points, noise = 60, 30, 2e-3
    rng = np.random.default_rng(0)
    modes = rng.normal(size=(3, 3, points)) * np.array([1.0, 0.2, 0.1])[:, None, None]
    weights = np.concatenate((np.ones((frames, 1)), rng.normal(size=(frames, 2))), axis=1)
    R = rotation_from_vector(np.linspace(0.0, 1.0, frames)[:, None] * [0.4, 2.0, 0.2])
    Y = R @ np.einsum("fk,kap->fap", weights, modes) + np.array([0.0, 0.0, 8.0])[:, None]
    tracks = Y[:, :2] / Y[:, 2:] + noise * rng.normal(size=(frames, 2, points))
    problem = DepthProblem(tracks, np.ones((frames, points), dtype=bool), affine=False)
    start = truth = DepthPoint.from_camera_points(problem, Y, R)
    problem = problem.anchored(start)
    exact = DepthPoint(R, truth.depths, Y[:, :2] / Y[:, 2:], affine=False)
    errors = []
    for noisy in (problem, problem.with_noise(noise)):
        point = start
        for level in (DepthLevel(0.02, 0.03), DepthLevel(0.005, 0.0075), DepthLevel(0.0025, 0.004)):
            energy = LevelEnergy.about(noisy, level, point)
            point = energy.point(solve(energy, LBFGS(200, 1e-8), point).state.x)
        errors.append(error(problem, point, exact))
    assert 0.6 * noise < (point.rays - tracks).std() < 1.1 * noise
    assert errors[1] < 0.8 * errors[0]
