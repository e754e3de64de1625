from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from core import IRNN, MCP, SCAD, CappedNorm, LogPenalty, SchattenNorm, Status, iterate, solve
from core.problem import full_rank_start
from core.solvers.matrix_form import curvature, evaluate

ROUNDING = 1e-12
PENALTIES = [None, LogPenalty(0.02, 0.1), MCP(0.02, 3.0)]  # others: test_combinations
STRONG = [SchattenNorm(0.5, 0.5, 0.1), LogPenalty(0.5, 0.3), CappedNorm(0.5, 3.0), SCAD(0.5, 3.0)]


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda penalty: type(penalty).__name__)
def test_the_objective_never_rises_and_falls_as_predicted(problem, penalty):
    problem = replace(problem, spectral=penalty)
    method = IRNN(max_iterations=60, margin=1.05)
    states = [snapshot.state for snapshot in iterate(problem, method, full_rank_start(problem))]
    beta = 1.05 * curvature(problem)
    for before, after in pairwise(states):
        moved = np.sum((after.point.X - before.point.X) ** 2)
        least = 0.5 * (beta - curvature(problem)) * moved
        assert before.point.loss - after.point.loss >= least - ROUNDING * before.point.loss
        sigma = np.linalg.svd(after.point.X, compute_uv=False)
        recomputed = evaluate(problem, after.point.X, sigma)
        assert after.point.loss == pytest.approx(recomputed.loss, rel=1e-9)
    assert states[-1].point.loss < states[1].point.loss


def test_with_linear_weights_a_step_is_one_of_plain_proximal_gradient(problem):
    method = IRNN()
    state = method.init(problem, full_rank_start(problem))
    X = state.point.X
    for _ in range(3):
        state = method.step(problem, state)
        beta = 1.01 * curvature(problem)
        gradient = evaluate(problem, X, np.zeros(min(X.shape))).gradient
        U, sigma, Vt = np.linalg.svd(X - gradient / beta, full_matrices=False)
        X = (U * np.maximum(sigma - problem.all_weights / beta, 0.0)) @ Vt
        np.testing.assert_allclose(state.point.X, X, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", STRONG, ids=lambda penalty: type(penalty).__name__)
def test_the_end_is_stationary_for_the_penalty_itself(simulated, assert_stationary, penalty):
    problem, _ = simulated(frames=6, points=8, eta=1.0)
    problem = replace(problem, spectral=penalty)
    end = solve(problem, IRNN(tolerance=1e-9), full_rank_start(problem))
    assert end.status is Status.CONVERGED
    assert_stationary(problem, end.state.point, 1e-7)
