"""Standard deviations follow what the tracks determine: rays, hidden points, few frames, other ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from core.depth import (
    DepthEnd,
    DepthLevel,
    DepthOptions,
    DepthPoint,
    DepthProblem,
    LevelEnergy,
    mirror_in_depth,
    standard_deviations,
)
from core.depth.uncertainty import INFLATION, MODEL, TILT

OPTIONS = DepthOptions()


def object_in_view(frames=12, points=18, *, affine=False, hidden=0.0, seed=0):
    """Return a problem and its point: a bending object that turns in front of a camera."""
    rng = np.random.default_rng(seed)
    mean, bend = rng.normal(size=(2, 3, points))
    shapes = mean + 0.3 * np.sin(np.arange(frames) / 2.0)[:, None, None] * bend
    turns = Rotation.from_rotvec(np.linspace([0.0, -1.0, 0.0], [0.3, 1.0, 0.0], frames)).as_matrix()
    Y = turns @ shapes + [[0.0], [0.0], [8.0]]
    visible = rng.random((frames, points)) >= hidden
    problem = DepthProblem(Y[:, :2] if affine else Y[:, :2] / Y[:, 2:], visible, affine)
    point = DepthPoint.from_camera_points(problem, Y, turns)
    return problem.anchored(point), point


@pytest.mark.parametrize("affine", [False, True])
def test_a_depth_varies_as_the_inverse_of_its_gauss_newton_block_says(affine):
    problem, point = object_in_view(affine=affine)
    level = DepthLevel(*MODEL, OPTIONS.isometry, relative=True)
    energy = LevelEnergy.about(problem, level, point)
    x = energy.start(point)
    along, across = energy.conditional_variances(x)
    assert not across.any()  # all points are visible, and rays are exact
    frames, points = problem.shape
    unit = problem.size if affine else 1.0
    for j in (0, points - 1):
        blocks = energy.preconditioner(x)
        step = np.zeros_like(x)
        for f in range(frames):
            step[:] = 0.0
            step[j * frames + f] = 1.0
            assert along[f, j] == pytest.approx(unit**2 * blocks.apply(step)[j * frames + f], rel=1e-5)
    std = standard_deviations(problem, point, OPTIONS)
    size = 1.0 if affine else point.depths
    np.testing.assert_allclose(std[:, 2], INFLATION * size * np.sqrt(along), rtol=1e-12)
    tilted = TILT**2 * (std[:, 2] ** 2).mean(axis=1)[:, None, None]
    moved = (0.0 if affine else point.rays) * np.ones((2, 1)) * std[:, 2:]
    np.testing.assert_allclose(std[:, :2] ** 2, tilted + moved**2, rtol=1e-12, atol=1e-15)


def test_hidden_points_vary_more_and_across_their_rays():
    problem, point = object_in_view(hidden=0.2)
    std = standard_deviations(problem, point, OPTIONS)
    hidden = ~problem.visible
    norm = np.linalg.norm(std, axis=1)
    assert np.median(norm[hidden]) > np.median(norm[~hidden])
    assert np.median(std[:, 0][hidden]) > np.median(std[:, 0][~hidden])


def test_noise_lets_points_vary_across_their_rays():
    problem, point = object_in_view()
    exact, noisy = (standard_deviations(each, point, OPTIONS) for each in (problem, problem.with_noise(0.01)))
    assert (noisy[:, :2] > exact[:, :2]).all()


def test_few_frames_determine_less_than_many():
    problem, point = object_in_view(frames=24)
    few = replace(
        problem, tracks=problem.tracks[::6], visible=problem.visible[::6], lateral=problem.lateral[::6]
    )
    part = DepthPoint(point.rotations[::6], point.depths[::6], point.rays[::6], affine=False)
    ratio = np.median(standard_deviations(few, part, OPTIONS)[:, 2]) / np.median(
        standard_deviations(problem, point, OPTIONS)[:, 2]
    )
    assert ratio > 1.2


def test_another_end_of_the_same_energy_adds_its_distance():
    problem, point = object_in_view()
    own = DepthEnd("a", point, -2.0)
    other = mirror_in_depth(point)
    alone, tied, higher = (
        standard_deviations(problem, point, OPTIONS, (own, *more))
        for more in ((), (DepthEnd("b", other, -2.0),), (DepthEnd("b", other, -1.9),))
    )
    assert (tied >= alone).all() and np.median(tied[:, 2] / alone[:, 2]) > 2
    np.testing.assert_allclose(higher, alone, rtol=1e-3)
    same = DepthEnd("b", replace(point, depths=1.5 * point.depths), -2.0)  # another size is the same shape
    np.testing.assert_allclose(standard_deviations(problem, point, OPTIONS, (own, same)), alone, rtol=1e-9)
