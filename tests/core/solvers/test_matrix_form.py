from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from core import MCP, LogPenalty
from core.problem import full_rank_start
from core.solvers.matrix_form import (
    best_cut,
    curvature,
    evaluate,
    is_convex,
    prox,
    starting_point,
    with_singular_values,
)


@pytest.fixture(params=["nonrigid", "orthogonal", "lowrank", "lowrank affine"])
def problem(request, posed):
    kind, _, affine = request.param.partition(" ")
    size = {"frames": 4, "points": 9} if kind == "lowrank" else {"frames": 6, "points": 7}
    return posed(kind, **size, **({"eta": 0.95} if affine else {}), missing=0.2, weights=(1e-3, 2e-3))


def blocks(problem):
    """H_ij as (rows, columns, 3, 3)."""
    rows, columns = problem.shape
    xx, xy, xz, yy, yz, zz = np.moveaxis(problem.data.H.reshape(rows, 6, columns), 1, 0)
    return np.stack([np.stack([xx, xy, xz], -1), np.stack([xy, yy, yz], -1), np.stack([xz, yz, zz], -1)], -2)


def data_value(problem, X, s):
    e = X.reshape(problem.data.y.shape) + s[:, :, None] - problem.data.y
    return np.einsum("iaj,ijab,ibj->", e, blocks(problem), e)


def random_matrix(problem, seed=3):
    rows, columns = problem.shape
    return np.random.default_rng(seed).standard_normal((rows, 3 * columns))


def singular_values(X):
    return np.linalg.svd(X, compute_uv=False)


def test_the_gradient_is_that_of_the_data_term_at_the_best_offsets(problem):
    X = random_matrix(problem)
    point = evaluate(problem, X, singular_values(X))
    random = np.random.default_rng(5)
    for _ in range(10):
        D = random.standard_normal(X.shape)
        moved = X + 1e-4 * D, X - 1e-4 * D
        ahead, back = (data_value(problem, Y, evaluate(problem, Y, singular_values(Y)).s) for Y in moved)
        assert np.vdot(point.gradient, D) == pytest.approx((ahead - back) / 2e-4, rel=1e-6)


def test_the_loss_counts_all_singular_values_at_the_best_offsets(problem):
    X = random_matrix(problem)
    sigma = singular_values(X)
    point = evaluate(problem, X, sigma)
    weights = np.concatenate((problem.weights, np.full(len(sigma) - 2, problem.weights[-1])))
    best = data_value(problem, X, point.s)
    assert point.loss == pytest.approx(best + weights @ sigma, rel=1e-12)
    random = np.random.default_rng(6)
    if not problem.offsets:
        assert not point.s.any()
        return
    for _ in range(20):
        assert data_value(problem, X, point.s + 0.1 * random.standard_normal(point.s.shape)) >= best


def test_the_curvature_is_the_largest_eigenvalue_of_all_blocks(problem):
    largest = np.linalg.eigvalsh(2.0 * blocks(problem))[..., -1].max()
    assert curvature(problem) == pytest.approx(largest, rel=1e-12)
    for seed in range(5):  # phi is a quadratic: its curvature along D follows from two gradients
        X, D = random_matrix(problem, seed), random_matrix(problem, seed + 100)
        zero = np.zeros(min(X.shape))
        bend = evaluate(problem, X + D, zero).gradient - evaluate(problem, X, zero).gradient
        assert np.vdot(bend, D) <= curvature(problem) * np.vdot(D, D)


@pytest.mark.parametrize("penalty", [None, MCP(0.9, 1.2)])  # of others: tests/core/penalties
def test_the_proximal_step_beats_every_matrix_that_a_numeric_search_finds(simulated, penalty):
    random = np.random.default_rng(0)
    problem, _ = simulated(frames=3, points=4, weights=np.sort(2 * random.random(3)))
    problem = replace(problem, spectral=penalty)
    rho, N = 1.7, random.standard_normal((3, 5))
    Z, sigma = with_singular_values(N, lambda values: prox(problem, values, rho))
    np.testing.assert_allclose(sigma, singular_values(Z), atol=1e-12)

    def value(matrix):
        return problem.penalty_value(singular_values(matrix)) + 0.5 * rho * np.sum((matrix - N) ** 2)

    U, S, Vt = np.linalg.svd(N, full_matrices=False)
    starts = [(U * (S * keep)) @ Vt for keep in np.ndindex(2, 2, 2)]  # the local minima drop some values
    starts += [N * random.random() + 0.2 * random.standard_normal(N.shape) for _ in range(3)]
    for start in starts:
        found = minimize(lambda z: value(z.reshape(N.shape)), start.ravel(), method="L-BFGS-B")
        assert min(found.fun, value(start)) >= value(Z) - 1e-8


@pytest.mark.parametrize("shape", [(8, 30), (30, 8)])
@pytest.mark.parametrize("smallest", [1e-1, 1e-9])
def test_singular_values_through_the_gram_matrix_agree_with_the_svd(shape, smallest):
    random = np.random.default_rng(3)
    U, _, Vt = np.linalg.svd(random.standard_normal(shape), full_matrices=False)
    sigma = np.geomspace(1.0, smallest, 8)
    lower = np.linspace(0.0, 0.3 * smallest, 8)
    Z, changed = with_singular_values((U * sigma) @ Vt, lambda values: np.maximum(values - lower, 0.0))
    np.testing.assert_allclose(changed, sigma - lower, rtol=0, atol=1e-11 if smallest > 1e-3 else 1e-15)
    np.testing.assert_allclose(Z, (U * (sigma - lower)) @ Vt, atol=1e-13)


def test_only_equal_weights_are_called_convex(simulated):
    problem, _ = simulated(weights=(2e-3, 2e-3))
    assert is_convex(problem)
    assert not is_convex(replace(problem, spectral=LogPenalty()))
    assert not is_convex(problem.with_weights((1e-3, 2e-3)))
    assert not is_convex(replace(problem, tail=np.full(8, 3e-3)))


def test_the_cut_is_the_best_of_its_rank_in_exact_gauge(problem):
    X = random_matrix(problem)
    factors = best_cut(problem, X)
    shapes = X.reshape(problem.data.y.shape)
    if problem.offsets:
        shapes = shapes - shapes.mean(axis=2, keepdims=True)
        np.testing.assert_allclose(factors.C.mean(axis=2), 0, atol=1e-12)
    rest = singular_values(shapes.reshape(X.shape))[problem.rank :]
    lost = np.linalg.norm(factors.shapes() - shapes)
    assert lost == pytest.approx(np.linalg.norm(rest), rel=1e-9)
    assert problem.loss(problem.gauge(factors)) == pytest.approx(problem.loss(factors), rel=1e-12)
    s = factors.s + 1e-3 * np.random.default_rng(1).standard_normal(factors.s.shape) * problem.offsets
    assert problem.loss(replace(factors, s=s)) >= problem.loss(factors)


def test_a_start_of_full_rank_costs_only_its_penalty_and_one_that_is_not_finite_is_nan(problem):
    start = full_rank_start(problem)
    point = starting_point(problem, start)
    assert point.loss == pytest.approx(problem.penalty_value(singular_values(point.X)), rel=1e-9)
    broken = starting_point(problem, replace(start, B=np.full_like(start.B, np.nan)))
    assert np.isnan(broken.loss)
    assert np.isfinite(broken.X).all()
