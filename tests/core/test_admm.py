"""ADMM: its proximal step, its X-step, its optimum where it is convex, and its place in the loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from core.algorithms.admm import ADMM, shrink
from core.algorithms.closed_form import reference_singular_values, svd_start
from core.algorithms.variable_projection import VariableProjection
from core.arrays import InputError
from core.factors import Factors
from core.solver import Status, iterate, solve


def proximal_value(Z, N, weights, rho):
    sigma = np.linalg.svd(Z, compute_uv=False)
    return weights @ sigma + 0.5 * rho * np.sum((Z - N) ** 2)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(3, 4), (4, 3)])
def test_shrinkage_beats_every_point_that_a_numeric_search_finds(seed, shape):
    random = np.random.default_rng(seed)
    N = random.standard_normal(shape)
    weights = np.sort(random.random(3)) * np.linalg.norm(N, 2)
    rho = 1.7
    Z, sigma = shrink(N, weights / rho)
    value = proximal_value(Z, N, weights, rho)
    np.testing.assert_allclose(sigma, np.linalg.svd(Z, compute_uv=False), atol=1e-12)
    for _ in range(4):
        found = minimize(
            lambda z: proximal_value(z.reshape(shape), N, weights, rho),
            (N * random.random() + 0.3 * random.standard_normal(shape)).ravel(),
            method="Powell",
            options={"xtol": 1e-9, "ftol": 1e-12},
        )
        assert found.fun >= value - 1e-8
    # In one dimension the minimizer is known: a z + rho/2 (z - n)^2 over a fine grid.
    n, a = 1.3, weights[-1]
    grid = np.linspace(0, 2, 2_000_001)
    lowest = grid[np.argmin(a * grid + 0.5 * rho * (grid - n) ** 2)]
    one, _ = shrink(np.array([[n]]), np.array([a / rho]))
    assert abs(one.item() - lowest) < 2e-6


@pytest.mark.parametrize("shape", [(8, 30), (30, 8)])
@pytest.mark.parametrize("smallest", [1e-1, 1e-9])
def test_shrinkage_through_the_gram_matrix_agrees_with_the_svd(shape, smallest):
    random = np.random.default_rng(3)
    N = random.standard_normal(shape)
    U, _, Vt = np.linalg.svd(N, full_matrices=False)
    sigma = np.geomspace(1.0, smallest, 8)
    thresholds = np.linspace(0.0, 0.3 * smallest, 8)
    Z, shrunk = shrink((U * sigma) @ Vt, thresholds)
    np.testing.assert_allclose(shrunk, sigma - thresholds, rtol=0, atol=1e-11 if smallest > 1e-3 else 1e-15)
    np.testing.assert_allclose(Z, (U * (sigma - thresholds)) @ Vt, atol=1e-13)


@pytest.mark.parametrize("eta", [0.05, 1.0])
def test_the_X_step_minimizes_the_augmented_data_term(simulated, random_factors, eta):
    problem, _ = simulated(frames=3, points=4, eta=eta, missing=0.2)
    method = ADMM(rho=0.3, relaxation=1.0)
    start = random_factors(problem)
    state = method.init(problem, start)
    after = method.step(problem, state)
    V = start.shapes()

    def augmented(X, s):
        e = X + s[:, :, None] - problem.data.y
        return np.vdot(e, problem.data.times_H(e)) + 0.5 * 0.3 * np.sum((X - V) ** 2)

    X, s = after.X.reshape(V.shape), after.s
    random = np.random.default_rng(5)
    step = 1e-5
    for _ in range(20):
        dX, ds = random.standard_normal(X.shape), random.standard_normal(s.shape)
        slope = augmented(X + step * dX, s + step * ds) - augmented(X - step * dX, s - step * ds)
        assert abs(slope) / (2 * step) < 1e-8
    np.testing.assert_allclose(after.Z + after.dual, after.X, atol=1e-12)


@pytest.mark.parametrize("eta", [0.05, 1.0])
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_with_a_nuclear_norm_it_reaches_the_optimum_of_the_bilinear_form(simulated, eta, missing):
    problem, _ = simulated(frames=8, points=10, weights=np.full(8, 0.02), eta=eta, missing=missing)
    bilinear = solve(problem, VariableProjection(), svd_start(problem))
    method = ADMM(tolerance=1e-8, max_iterations=5000)
    convex = solve(problem, method, svd_start(problem))
    assert convex.status is Status.CONVERGED
    assert convex.progress.loss == pytest.approx(bilinear.progress.loss, rel=1e-7)
    # At full rank the cut loses nothing, and the factors cost as much as the matrix.
    assert problem.loss(method.factors(problem, convex.state)) == pytest.approx(
        convex.progress.loss, rel=1e-9
    )


def test_loss_counts_all_singular_values_and_factors_are_the_best_cut(simulated):
    problem, _ = simulated(weights=(1e-3, 2e-3), missing=0.1)
    method = ADMM(max_iterations=40)
    state = solve(problem, method, svd_start(problem, 10)).state
    sigma = np.linalg.svd(state.Z, compute_uv=False)
    full = np.array([1e-3] + [2e-3] * 9)  # beyond K the last weight goes on
    shapes = state.Z.reshape(10, 3, 14)
    whole = problem.with_weights(full)
    U, S, Vt = np.linalg.svd(state.Z, full_matrices=False)
    spread = Factors(U * np.sqrt(S), (np.sqrt(S)[:, None] * Vt).reshape(10, 3, 14), np.zeros((10, 3)))

    def of_offsets(s):
        return whole.loss(replace(spread, s=s.reshape(10, 3)))

    best = minimize(of_offsets, np.zeros(30), method="BFGS", options={"gtol": 1e-8})
    assert method.loss(state) == pytest.approx(best.fun, rel=1e-8)
    factors = method.factors(problem, state)
    centered = (shapes - shapes.mean(axis=2, keepdims=True)).reshape(10, -1)
    lost = np.linalg.norm(factors.shapes().reshape(10, -1) - centered)
    assert lost == pytest.approx(np.linalg.norm(np.linalg.svd(centered, compute_uv=False)[2:]), rel=1e-6)
    np.testing.assert_allclose(factors.C.mean(axis=2), 0, atol=1e-12)
    assert sigma[2] > 0  # so that the cut is not the identity


def test_increasing_weights_end_feasible_and_below_the_start(simulated):
    problem, _ = simulated(frames=12, points=20, missing=0.1)
    sigma = reference_singular_values(problem)
    full = 5e-3 / (sigma + 1e-6)
    problem = problem.with_weights(full[:2])
    method = ADMM(full_weights=full, max_iterations=1000)
    start = svd_start(problem, 12)
    end = solve(problem, method, start)
    assert end.state.primal < 1e-6
    assert end.state.change < 1e-2
    assert end.progress.loss < method.loss(method.init(problem, start))
    refined = solve(problem, VariableProjection(), method.factors(problem, end.state))
    assert refined.progress.loss <= problem.loss(method.factors(problem, end.state))


@pytest.mark.parametrize("weights", [(2e-3, 2e-3), (1e-3, 4e-3)])
def test_a_resumed_run_equals_an_uninterrupted_one(simulated, weights):
    problem, _ = simulated(weights=weights, missing=0.1)
    method = ADMM(max_iterations=60, rho=1e-3, patience=2)
    snapshots = list(iterate(problem, method, svd_start(problem)))
    assert snapshots[30].state.response.rho != method.rho  # so that a state without rho would differ
    again = solve(problem, method, snapshots[30])
    np.testing.assert_array_equal(again.state.Z, snapshots[-1].state.Z)
    np.testing.assert_array_equal(again.state.dual, snapshots[-1].state.dual)
    assert again.progress.loss == snapshots[-1].progress.loss
    assert again.progress.iteration == snapshots[-1].progress.iteration


def test_a_start_that_is_not_finite_is_reported_as_diverged(simulated):
    problem, _ = simulated()
    start = svd_start(problem)
    end = solve(problem, ADMM(), replace(start, B=np.full_like(start.B, np.inf)))
    assert end.status is Status.DIVERGED


@pytest.mark.parametrize(
    ("full", "sentence"),
    [
        (np.full(4, 1e-3), "4 entries; accepted is min"),
        (np.linspace(1e-2, 1e-3, 10), "decrease"),
        (np.full(10, 5e-3), "does not begin with"),
    ],
)
def test_full_weights_that_do_not_fit_are_refused(simulated, full, sentence):
    problem, _ = simulated()
    with pytest.raises(InputError, match=sentence):
        ADMM(full_weights=full).init(problem, svd_start(problem))
