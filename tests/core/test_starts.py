"""Starting points, and how many of them a search makes."""

from __future__ import annotations

import numpy as np
import pytest

from core import residuals
from core.starts import AGREEMENT, UNSEEN, random_start, resized, rigid_start, starts_wanted


def test_rigid_start_puts_every_frame_on_its_mean_viewing_ray_at_depth_one(simulated):
    problem, _ = simulated(missing=0.3)
    t = np.einsum("fab,fb->fa", problem.rotations, rigid_start(problem).s)
    for f in range(len(t)):
        seen = problem.tracks[f][:, problem.visible[f]]
        np.testing.assert_allclose(t[f], [*seen.mean(axis=1), 1.0], atol=1e-12)


def test_a_new_column_leaves_the_shapes_as_they_are(simulated, random_factors):
    problem, _ = simulated()
    factors = random_factors(problem)
    larger = resized(factors, 4, np.random.default_rng(0))
    assert larger.rank == 4
    np.testing.assert_array_equal(larger.shapes(), factors.shapes())
    same = problem.with_weights([*problem.weights, 1.0, 1.0])
    grown = residuals.loss(same, larger) - residuals.loss(problem, factors)
    assert grown == pytest.approx(0.5 * (larger.B[:, 2:] ** 2).sum(), rel=1e-6)


def test_a_smaller_rank_is_the_best_cut(simulated, random_factors):
    problem, _ = simulated(weights=(0.1, 0.2, 0.3))
    factors = random_factors(problem)
    cut = resized(factors, 2, np.random.default_rng(0)).shapes().reshape(10, -1)
    U, sigma, Vt = np.linalg.svd(factors.shapes().reshape(10, -1), full_matrices=False)
    np.testing.assert_allclose(cut, (U[:, :2] * sigma[:2]) @ Vt[:2], atol=1e-12)


def test_random_starts_repeat_for_a_seed_and_differ_between_seeds(simulated):
    problem, _ = simulated()
    a, b, c = (random_start(problem, np.random.default_rng(seed)).B for seed in (3, 3, 4))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_a_search_ends_when_little_can_be_unseen():
    assert starts_wanted([], 100) == starts_wanted([1.0] * 6, 100) == 7
    two = [1.0, 2.0, 2.0 * (1 + AGREEMENT / 2)]
    wanted = starts_wanted(two, 100)
    assert 2 * 3 / (wanted * (wanted - 1)) <= UNSEEN < 2 * 3 / ((wanted - 1) * (wanted - 2))
    assert starts_wanted(list(np.arange(1.0, 30.0)), 40) == 40
