from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from core import ADMM, LogPenalty, RankPenalty, Status, VariableProjection, iterate, solve


@pytest.mark.parametrize("kind", ["nonrigid", "orthogonal", "lowrank"])
def test_the_X_step_minimizes_the_augmented_data_term(posed, random_factors, kind):
    problem = posed(kind, frames=3, points=5, weights=(1e-3, 4e-3), missing=0.2)
    method = ADMM(rho=0.3, relaxation=1.0)
    start = random_factors(problem)
    after = method.step(problem, method.init(problem, start))
    V = start.shapes()

    def augmented(X, s):
        e = X + s[:, :, None] - problem.data.y
        return np.vdot(e, problem.data.times_H(e)) + 0.5 * 0.3 * np.sum((X - V) ** 2)

    X, s = after.X.reshape(V.shape), after.s
    random = np.random.default_rng(5)
    step = 1e-5
    for _ in range(20):
        dX, ds = random.standard_normal(X.shape), random.standard_normal(s.shape) * problem.offsets
        slope = augmented(X + step * dX, s + step * ds) - augmented(X - step * dX, s - step * ds)
        assert abs(slope) / (2 * step) < 1e-8
    np.testing.assert_allclose(after.point.X + after.dual, after.X, atol=1e-12)
    assert after.s.any() == problem.offsets


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [LogPenalty(mu=0.1, epsilon=0.1), RankPenalty(mu=0.3)])
def test_a_feasible_end_of_a_concave_penalty_is_stationary(simulated, assert_stationary, penalty):
    problem, _ = simulated(frames=8, points=12, eta=1.0)
    problem = replace(problem, spectral=penalty)
    state = solve(problem, ADMM(rho=0.5, tolerance=1e-7), problem.closed_form(8)).state
    assert max(ADMM().residuals(state)) <= 1e-7
    assert_stationary(problem, state.point, 1e-6)
    assert state.point.loss < ADMM().init(problem, problem.closed_form(8)).point.loss


def test_residuals_are_those_of_the_last_step(simulated):
    problem, _ = simulated(weights=(2e-3, 2e-3))
    method = ADMM(relaxation=1.0)
    before, after = (each.state for each in islice(iterate(problem, method, problem.closed_form()), 2))
    assert method.residuals(before) == (np.inf, np.inf)
    primal, dual = method.residuals(after)
    norm = np.linalg.norm
    assert primal == pytest.approx(norm(after.X - after.point.X) / max(norm(after.X), norm(after.point.X)))
    unscaled = after.dual * after.response.rho / method.rho  # rho may have changed after the step
    assert dual == pytest.approx(norm(after.point.X - before.point.X) / norm(unscaled))


def test_it_stops_when_only_minor_progress_is_made(simulated):
    problem, _ = simulated(frames=8, points=12, missing=0.1)
    start = problem.closed_form(8)
    method = ADMM(progress=1e-2, patience=10)
    snapshots = list(iterate(problem, method, start))
    assert snapshots[-1].status is Status.STALLED
    lowest = np.minimum.accumulate([snapshot.progress.loss for snapshot in snapshots[1:]])
    falls = 1 - lowest[10:] / lowest[:-10]
    assert falls[-1] < 1e-2
    assert (falls[:-1] >= 1e-2).all()
    longer = solve(problem, replace(method, progress=1e-4), start)
    assert len(snapshots) - 1 < longer.progress.iteration
    cut = method.factors(problem, snapshots[-1].state)
    assert solve(problem, VariableProjection(), cut).progress.loss < problem.loss(cut)
