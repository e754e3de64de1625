"""L-BFGS of the depth refinement: descent, resuming, and what it reaches."""

from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest

from core.depth import LBFGS, DepthLevel, DepthPoint, LevelEnergy
from core.foundation import rotation_from_vector
from core.solvers import Status, iterate, solve


@pytest.fixture
def disturbed(simulated):
    """Make the problem of a simulated sequence, its true point, and a start with wrong depths."""

    def make(*, affine=False):
        problem, truth = simulated(affine=affine, points=30, noise=0.3, occlusion=0.5)
        rng = np.random.default_rng(0)
        Y = truth.camera_points()
        Y[:, 2] += 0.15 * Y[:, 2].std(axis=1).mean() * rng.normal(size=problem.shape)
        R = truth.rotations @ rotation_from_vector(0.05 * rng.normal(size=(len(Y), 3)))
        start = DepthPoint.from_camera_points(problem, Y, R)
        return problem.anchored(start), truth, start

    return make


@pytest.mark.parametrize("affine", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_disturbed_truth_is_repaired_as_well_as_the_truth_is_kept(disturbed, affine, error):
    problem, truth, start = disturbed(affine=affine)
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


@pytest.mark.parametrize(("affine", "cut"), [(False, 7), (True, 17)])
def test_a_run_resumed_from_a_snapshot_equals_an_uninterrupted_one_bit_for_bit(disturbed, affine, cut):
    problem, _, point = disturbed(affine=affine)
    energy = LevelEnergy.about(problem, DepthLevel(0.05, 0.07), point)
    method = LBFGS(max_iterations=45, memory=6, refresh=15)
    full = list(iterate(energy, method, point))
    half = list(islice(iterate(energy, method, point), cut))[-1]
    rest = list(iterate(energy, method, half))
    assert [each.progress.loss for each in rest] == [each.progress.loss for each in full[cut:]]
    assert np.array_equal(rest[-1].state.x, full[-1].state.x)
    assert len(rest) == len(full) - cut > 0


def test_the_energy_decreases_in_every_iteration_until_it_hardly_does(disturbed):
    problem, _, point = disturbed()
    energy = LevelEnergy.about(problem, DepthLevel(0.1, 0.15), point)
    snapshots = list(iterate(energy, LBFGS(500, 1e-7), point))
    losses = [each.progress.loss for each in snapshots]
    assert all(after < before for before, after in pairwise(losses))
    assert snapshots[-1].status is Status.CONVERGED
    assert losses[-4] - losses[-1] <= 3e-7 * abs(losses[-1])
    gradient = [np.linalg.norm(each.state.gradient) for each in (snapshots[0], snapshots[-1])]
    assert gradient[1] < 0.05 * gradient[0]


def test_a_minimum_stalls_instead_of_rising_and_a_start_without_an_energy_has_diverged(disturbed):
    problem, _, point = disturbed()
    energy = LevelEnergy.about(problem, DepthLevel(0.1, 0.15), point)
    end = solve(energy, LBFGS(1000, 0.0), point)
    assert end.status in (Status.STALLED, Status.CONVERGED)
    assert np.abs(end.state.gradient).max() < 1e-2
    depths = point.depths.copy()
    depths[0, 0] = 1e300
    assert solve(energy, LBFGS(), replace(point, depths=depths)).status is Status.DIVERGED
