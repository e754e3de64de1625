"""ADMM: its proximal step, its X-step, its optimum where it is convex, and its place in the loop."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from scipy.optimize import minimize

from core import ADMM, Factors, LogPenalty, RankPenalty, Status, VariableProjection, iterate, solve
from core.solvers.matrix_form import evaluate


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
    np.testing.assert_allclose(after.point.X + after.dual, after.X, atol=1e-12)


def test_loss_counts_all_singular_values_and_factors_are_the_best_cut(simulated):
    problem, _ = simulated(frames=5, points=8, weights=(1e-3, 2e-3), missing=0.1)
    method = ADMM(max_iterations=40)
    state = solve(problem, method, problem.closed_form(5)).state
    sigma = np.linalg.svd(state.point.X, compute_uv=False)
    full = np.array([1e-3] + [2e-3] * 4)  # beyond K the last weight is repeated
    shapes = state.point.X.reshape(5, 3, 8)
    whole = problem.with_weights(full)
    U, S, Vt = np.linalg.svd(state.point.X, full_matrices=False)
    spread = Factors(U * np.sqrt(S), (np.sqrt(S)[:, None] * Vt).reshape(5, 3, 8), np.zeros((5, 3)))

    def of_offsets(s):
        return whole.loss(replace(spread, s=s.reshape(5, 3)))

    best = minimize(of_offsets, np.zeros(15), method="BFGS", options={"gtol": 1e-8})
    assert method.loss(state) == pytest.approx(best.fun, rel=1e-8)
    factors = method.factors(problem, state)
    centered = (shapes - shapes.mean(axis=2, keepdims=True)).reshape(5, -1)
    lost = np.linalg.norm(factors.shapes().reshape(5, -1) - centered)
    assert lost == pytest.approx(np.linalg.norm(np.linalg.svd(centered, compute_uv=False)[2:]), rel=1e-6)
    np.testing.assert_allclose(factors.C.mean(axis=2), 0, atol=1e-12)
    assert sigma[2] > 0  # so that the cut is not the identity


def test_without_offsets_the_X_step_minimizes_the_augmented_data_term(simulated_low_rank, random_factors):
    problem, _ = simulated_low_rank(frames=3, points=5, weights=(1e-3,) * 3, missing=0.2)
    method = ADMM(rho=0.3, relaxation=1.0)
    start = random_factors(problem)
    after = method.step(problem, method.init(problem, start))
    H = problem.data.H.reshape(5, 6, 3)
    for row in range(5):
        for column in range(3):
            xx, xy, xz, yy, yz, zz = H[row, :, column]
            block = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            right = block @ problem.data.y[row, :, column] + 0.15 * start.shapes()[row, :, column]
            expected = np.linalg.solve(block + 0.15 * np.eye(3), right)
            np.testing.assert_allclose(after.X.reshape(5, 3, 3)[row, :, column], expected, atol=1e-12)
    assert not after.s.any()


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [LogPenalty(mu=0.1, epsilon=0.1), RankPenalty(mu=0.3)])
def test_a_feasible_end_of_a_concave_penalty_is_stationary(simulated, penalty):
    problem, _ = simulated(frames=8, points=12, eta=1.0)
    problem = replace(problem, spectral=penalty)
    state = solve(problem, ADMM(rho=0.5, tolerance=1e-7), problem.closed_form(8)).state
    assert max(ADMM().residuals(state)) <= 1e-7
    point = evaluate(problem, state.point.X, state.point.sigma)
    kept = int(np.count_nonzero(state.point.sigma))
    U, sigma, Vt = np.linalg.svd(state.point.X, full_matrices=False)
    inside = -U[:, :kept].T @ point.gradient @ Vt[:kept].T
    np.testing.assert_allclose(inside, np.diag(penalty.slopes(sigma)[:kept]), atol=1e-6)
    assert point.loss < ADMM().init(problem, problem.closed_form(8)).point.loss


def test_residuals_are_those_of_the_last_step(simulated):
    problem, _ = simulated(weights=(2e-3, 2e-3))
    method = ADMM(relaxation=1.0)
    before, after = [
        snapshot.state for snapshot in islice(iterate(problem, method, problem.closed_form()), 2)
    ]
    assert method.residuals(before) == (np.inf, np.inf)
    primal, dual = method.residuals(after)
    norm = np.linalg.norm
    assert primal == pytest.approx(norm(after.X - after.point.X) / max(norm(after.X), norm(after.point.X)))
    unscaled = after.dual * after.response.rho / method.rho  # rho may have changed after the step
    assert dual == pytest.approx(norm(after.point.X - before.point.X) / norm(unscaled))


def test_it_stops_when_only_minor_progress_is_made(simulated):
    problem, _ = simulated(frames=12, points=20, missing=0.1)
    start = problem.closed_form(12)
    method = ADMM(progress=1e-2, patience=10)
    snapshots = list(iterate(problem, method, start))
    assert snapshots[-1].status is Status.STALLED
    lowest = np.minimum.accumulate([snapshot.progress.loss for snapshot in snapshots[1:]])
    falls = 1 - lowest[10:] / lowest[:-10]
    assert falls[-1] < 1e-2
    assert (falls[:-1] >= 1e-2).all()
    longer = solve(problem, replace(method, progress=1e-4), start)
    assert len(snapshots) - 1 < longer.progress.iteration
    refined = solve(problem, VariableProjection(), method.factors(problem, snapshots[-1].state))
    assert refined.progress.loss < problem.loss(method.factors(problem, snapshots[-1].state))
