from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from core import AlgorithmOne, Factors, LevenbergMarquardt, iterate, solve
from core.problem import printed_form as residuals
from core.solvers.levenberg_marquardt import exact_gauge


def near_the_optimum(problem, true, *, balanced):
    """Disturb the optimum by 5 %; where it is not balanced, scale a basis shape against its coefficients."""
    optimum = solve(problem, LevenbergMarquardt(), true)
    random = np.random.default_rng(0)
    B, C = optimum.state.factors.B, optimum.state.factors.C
    start = Factors(
        B * (1 + 0.05 * random.standard_normal(B.shape)),
        C * (1 + 0.05 * random.standard_normal(C.shape)),
        optimum.state.factors.s,
    )
    start = exact_gauge(problem, start)
    if not balanced:
        start = replace(start, B=1.2 * start.B, C=start.C / 1.2)
    return start, optimum.progress.loss


@pytest.mark.parametrize(("eta", "missing"), [(0.05, 0.2), (1.0, 0.0)])
def test_it_reaches_the_loss_of_levenberg_marquardt_from_the_same_balanced_start(simulated, eta, missing):
    problem, true = simulated(weights=(0.02, 0.05), eta=eta, missing=missing)
    start, lowest = near_the_optimum(problem, true, balanced=True)
    method = AlgorithmOne(max_iterations=200)
    end = solve(problem, method, start)
    assert problem.loss(start) > 1.01 * lowest
    assert end.progress.loss == pytest.approx(lowest, rel=1e-10)
    assert problem.loss(method.factors(problem, end.state)) == pytest.approx(end.progress.loss, rel=1e-11)


def test_an_unbalanced_start_converges_slowly_where_the_exact_gauge_does_not(simulated):
    problem, true = simulated(weights=(0.02, 0.05))
    start, lowest = near_the_optimum(problem, true, balanced=False)
    creeping = solve(problem, AlgorithmOne(damping=1e-6, alpha=10.0, max_iterations=100), start)
    gauged = solve(problem, LevenbergMarquardt(damping=1e-6), start)
    assert gauged.progress.loss == pytest.approx(lowest, rel=1e-12)
    assert creeping.progress.loss > (1 + 1e-4) * lowest
    # Half of the step is better than the whole: J'J has half of the curvature.
    z = creeping.state.z
    point = residuals.unpack(problem, z)
    J = residuals.jacobian(problem, point).toarray()
    step = -np.linalg.solve(J.T @ J, J.T @ residuals.residual_vector(problem, point))
    half = residuals.loss(problem, residuals.unpack(problem, z + 0.5 * step))
    whole = residuals.loss(problem, residuals.unpack(problem, z + step))
    gain = creeping.progress.loss - half
    assert gain > 0
    assert abs(creeping.progress.loss - whole) < 1e-3 * gain


def test_each_trial_follows_the_printed_rule(simulated):
    problem, _ = simulated(frames=6, points=8, missing=0.1)
    method = AlgorithmOne(damping=1e-4, alpha=7.0, max_iterations=20)
    snapshots = list(iterate(problem, method, problem.closed_form()))
    seen = set()
    for before, after in pairwise(snapshot.state for snapshot in snapshots):
        point = residuals.unpack(problem, before.z)
        J = residuals.jacobian(problem, point).toarray()
        r = residuals.residual_vector(problem, point)
        trial = before.z - np.linalg.solve(J.T @ J + before.damping * np.eye(len(before.z)), J.T @ r)
        error = residuals.loss(problem, residuals.unpack(problem, trial))
        assert after.accepted == (error < before.error)
        if after.accepted:
            np.testing.assert_allclose(after.z, trial, rtol=1e-6, atol=1e-8)
            assert after.damping == before.damping / 7
            assert after.error < before.error
        else:
            assert after.z is before.z
            assert after.damping == before.damping * 7
            assert after.error == before.error
        seen.add(after.accepted)
    assert seen == {True, False}
