"""The 3x3 form of the data term and its closed forms, against dense and brute-force computations."""

import numpy as np
import pytest

from core import Factors
from core.foundation.batched_linalg import ELIMINATION_LIMIT, invert_batched, matmul_batched
from core.problem import balance
from core.problem import printed_form as residuals


@pytest.mark.parametrize("size", [1, 3, 6, ELIMINATION_LIMIT, ELIMINATION_LIMIT + 3])
def test_batched_inverse_inverts_each_definite_block_and_of_a_singular_one_what_is_not(size):
    rng = np.random.default_rng(size)
    half = rng.normal(size=(7, size, 2 * size))
    stacked = half @ half.transpose(0, 2, 1)
    stacked[3] = 0.0
    blocks = np.ascontiguousarray(stacked.transpose(1, 2, 0))
    inverse = invert_batched(blocks)
    expected = np.linalg.pinv(stacked, hermitian=True)
    np.testing.assert_allclose(inverse.transpose(2, 0, 1), expected, rtol=1e-9, atol=1e-12)
    vectors = rng.normal(size=(size, 7)) * (np.arange(7) != 3)
    again = matmul_batched(blocks, matmul_batched(inverse, vectors))
    np.testing.assert_allclose(again, vectors, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("eta", [0.05, 0.6, 1.0])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_best_C_minimizes_the_four_row_form(simulated, random_factors, eta, missing):
    problem, _ = simulated(frames=9, points=7, weights=(0.1, 0.2, 0.4), eta=eta, missing=missing)
    start = random_factors(problem)
    system = problem.data.best_C(start.B, start.s, problem.weights)
    best = Factors(start.B, system.C, start.s)
    gradient = residuals.unpack(problem, residuals.gradient(problem, best))
    scale = np.abs(residuals.unpack(problem, residuals.gradient(problem, start)).C).max()
    assert np.abs(gradient.C).max() < 1e-12 * scale
    exact = residuals.loss(problem, best)
    assert problem.loss(best) == pytest.approx(exact, rel=1e-12)
    eliminated = problem.data.eliminated_loss(start.B, start.s, problem.weights, system)
    assert eliminated == pytest.approx(exact, rel=1e-9)


def test_frame_blocks_are_the_second_derivatives_at_fixed_C(simulated, random_factors):
    problem, _ = simulated(frames=4, points=6, missing=0.2)
    factors = random_factors(problem)
    blocks = problem.data.frame_blocks(factors.C, problem.weights)
    J = residuals.jacobian(problem, factors).toarray()
    frames, rank = factors.B.shape
    for f in range(frames):
        columns = [k * frames + f for k in range(rank)]
        translation = J[:, J.shape[1] - 3 * frames :][:, 3 * f : 3 * f + 3]
        own = np.column_stack((J[:, columns], translation @ problem.rotations[f]))
        np.testing.assert_allclose(blocks[:, :, f], own.T @ own, atol=1e-12)


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-7, 0.0])
def test_balance_keeps_the_product_whatever_the_size_of_a_column(random_factors, simulated, size):
    problem, _ = simulated(frames=8, points=7, weights=(0.1, 0.5, 2.0))
    factors = random_factors(problem)
    B = factors.B * np.array([1.0, size, 1.0])
    factors = Factors(B, factors.C, factors.s)
    fixed = balance(factors)
    np.testing.assert_allclose(fixed.shapes(), factors.shapes(), atol=1e-12)
    sigma = np.linalg.svd(factors.shapes().reshape(8, -1), compute_uv=False)[:3]
    np.testing.assert_allclose(fixed.gamma(), sigma, rtol=1e-9, atol=1e-12)
