"""Starting points, and how many of them a search makes."""

from dataclasses import replace

import numpy as np
import pytest

from core.problem import closed_form_start, closed_form_structure, random_starts, rigid_start, with_rank
from core.problem import printed_form as residuals
from core.problem.initialization import SLOW, slow_coefficients


@pytest.mark.parametrize(("eta", "depth"), [(0.05, 1.0), (1.0, 0.0)])  # of an orthogonal camera: not measured
def test_rigid_start_puts_every_frame_on_its_mean_viewing_ray(simulated, eta, depth):
    problem, _ = simulated(eta=eta, missing=0.3)
    t = np.einsum("fab,fb->fa", problem.rotations, rigid_start(problem).s)
    for f in range(len(t)):
        seen = problem.tracks[f][:, problem.visible[f]]
        np.testing.assert_allclose(t[f], [*seen.mean(axis=1), depth], atol=1e-12)


def test_a_new_column_leaves_the_shapes_as_they_are(simulated, random_factors):
    problem, _ = simulated()
    factors = random_factors(problem)
    larger = with_rank(factors, 4, np.random.default_rng(0))
    assert larger.rank == 4
    np.testing.assert_array_equal(larger.shapes(), factors.shapes())
    same = problem.with_weights([*problem.weights, 1.0, 1.0])
    grown = residuals.loss(same, larger) - residuals.loss(problem, factors)
    assert grown == pytest.approx(0.5 * (larger.B[:, 2:] ** 2).sum(), rel=1e-6)


def test_a_smaller_rank_is_the_best_cut(simulated, random_factors):
    problem, _ = simulated(weights=(0.1, 0.2, 0.3))
    factors = random_factors(problem)
    cut = with_rank(factors, 2, np.random.default_rng(0)).shapes().reshape(10, -1)
    U, sigma, Vt = np.linalg.svd(factors.shapes().reshape(10, -1), full_matrices=False)
    np.testing.assert_allclose(cut, (U[:, :2] * sigma[:2]) @ Vt[:2], atol=1e-12)


def test_random_starts_are_of_three_kinds_and_repeat_for_a_seed(simulated):
    problem, _ = simulated(frames=20, weights=(1e-3, 2e-3, 3e-3))
    starts = random_starts(problem, 8, np.random.default_rng(5))
    names = ["rigid and slow 1", "slow 1", "random 1", "rigid and slow 2"]
    assert list(starts)[:4] == names and len(starts) == 8
    assert all(point.rank == 3 and point.B.shape == (20, 3) for point in starts.values())
    np.testing.assert_array_equal(starts["rigid and slow 2"].B[:, 0], 1.0)
    again = random_starts(problem, 8, np.random.default_rng(5))
    np.testing.assert_array_equal(starts["random 2"].B, again["random 2"].B)


def test_the_cut_is_the_best_one_of_the_centered_closed_form(simulated):
    problem, _ = simulated(frames=20, missing=0.2)
    cut = closed_form_start(problem)
    X = closed_form_structure(problem.data).reshape(20, 3, -1)
    centered = (X - X.mean(axis=2, keepdims=True)).reshape(20, -1)
    U, sigma, Vt = np.linalg.svd(centered, full_matrices=False)
    np.testing.assert_allclose(cut.shapes().reshape(20, -1), (U[:, :2] * sigma[:2]) @ Vt[:2], atol=1e-10)
    nudged = residuals.loss(problem, replace(cut, s=cut.s + 1e-3))
    assert residuals.loss(problem, cut) < nudged


def test_slow_coefficients_have_no_fast_part():
    B = slow_coefficients(64, 2, np.random.default_rng(1))
    spectrum = np.cos(np.outer(np.arange(64), np.arange(64) + 0.5) * np.pi / 64) @ B
    np.testing.assert_allclose(spectrum[SLOW + 1 :], 0.0, atol=1e-10)
    assert (np.abs(spectrum[: SLOW + 1]) > 1e-6).all()
    assert slow_coefficients(4, 2, np.random.default_rng(1)).shape == (4, 2)
