"""The low-rank problem: the paper's formulas as printed against the exchanged form that is solved."""

from __future__ import annotations

import numpy as np
import pytest

from core import InputError, LevenbergMarquardt, LowRankProblem, VariableProjection, iterate, solve
from core.problem import closed_form_structure, reference_singular_values
from core.problem import printed_form as residuals

WEIGHTS = (0.0, 1e-4, 1e-3, 2e-3)


def paper_loss(problem: LowRankProblem, B: np.ndarray, C: np.ndarray) -> float:
    """Equation 5.2 entry by entry, for the paper's B (3F, K) and C (P, K)."""
    X = (B @ C.T).reshape(len(problem.tracks), 3, -1)
    total = 0.0
    for f, p in zip(*np.nonzero(problem.visible), strict=True):
        m, x = problem.tracks[f, :, p], X[f, :, p]
        total += problem.eta * np.sum((x[:2] - m) ** 2) + (1 - problem.eta) * np.sum((x[:2] - x[2] * m) ** 2)
    return total + float(problem.weights @ (np.sum(B**2, axis=0) + np.sum(C**2, axis=0))) / 2


@pytest.mark.parametrize("eta", [0.05, 0.95])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_loss_is_the_papers_in_its_own_factors(simulated_low_rank, random_factors, eta, missing):
    problem, _ = simulated_low_rank(weights=WEIGHTS, eta=eta, missing=missing)
    factors = random_factors(problem)
    B = problem.cameras(factors).reshape(-1, problem.rank)
    C = problem.homogeneous(factors).T
    for loss in (problem.loss(factors), residuals.loss(problem, factors)):
        assert loss == pytest.approx(paper_loss(problem, B, C), rel=1e-12)
    np.testing.assert_allclose(problem.structure(factors).reshape(-1, problem.shape[0]), B @ C.T, atol=1e-12)


@pytest.mark.parametrize(
    ("eta", "weights", "missing"),
    [(0.05, WEIGHTS, 0.25), (0.95, (0.0, 0.0, 0.0, 0.0), 0.25), (0.05, (1e-4,) * 5, 0.0)],
)
def test_second_order_methods_agree_on_a_stationary_point(simulated_low_rank, eta, weights, missing):
    problem, _ = simulated_low_rank(weights=weights, eta=eta, missing=missing, points=30)
    start = problem.closed_form()
    ends = []
    for method in (VariableProjection(tolerance=1e-16), LevenbergMarquardt(damping=1e-6)):
        losses = [snapshot.progress.loss for snapshot in iterate(problem, method, start)]
        assert (np.diff(losses) <= 1e-12 * np.abs(losses[:-1])).all()
        ends.append(method.factors(problem, solve(problem, method, start).state))
    assert problem.loss(ends[0]) == pytest.approx(problem.loss(ends[1]), rel=1e-7)
    assert residuals.relative_gradient(problem, ends[0]) < 1e-6


def test_hidden_observations_are_recovered_from_the_rest(simulated_low_rank):
    problem, X = simulated_low_rank(noise=0.0, eta=1e-3, missing=0.2, points=40)
    solved = solve(problem, VariableProjection(tolerance=1e-20), problem.closed_form())
    estimate = problem.structure(VariableProjection().factors(problem, solved.state))
    truth = X[:, :2] / X[:, 2:]
    seen = np.broadcast_to(problem.visible[:, None], truth.shape)
    truth *= np.linalg.norm(problem.tracks) / np.linalg.norm(truth[seen])  # divided by the same norm
    error = (estimate[:, :2] / estimate[:, 2:] - truth)[~seen]
    assert np.sqrt((error**2).mean()) < 0.01 * np.sqrt((truth**2).mean())


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_closed_form_has_no_residual_and_is_zero_where_points_are_hidden(simulated_low_rank, missing):
    problem, _ = simulated_low_rank(missing=missing)
    points, frames = problem.shape
    X = closed_form_structure(problem.data).reshape(points, 3, frames)
    seen = problem.visible.T
    np.testing.assert_allclose(X[:, :2], problem.tracks.transpose(2, 1, 0))
    np.testing.assert_array_equal(X[:, 2], seen)
    full = min(points, 3 * frames)
    free = LowRankProblem(problem.tracks, problem.visible, problem.eta, np.zeros(full))
    assert free.loss(free.closed_form()) < 1e-24
    sigma = np.linalg.svd(X.reshape(points, -1), compute_uv=False)
    np.testing.assert_allclose(reference_singular_values(problem.data), sigma, rtol=1e-9, atol=1e-15)


def test_weights_of_all_singular_values_follow_the_tail(simulated_low_rank):
    problem, _ = simulated_low_rank(weights=(0.0, 1.0))
    assert problem.all_weights.shape == (20,)
    assert (problem.all_weights[1:] == 1.0).all()
    tailed = LowRankProblem(problem.tracks, problem.visible, 0.05, (0.0, 1.0), tail=np.arange(2.0, 20.0))
    np.testing.assert_array_equal(tailed.all_weights, np.arange(20.0))
    assert tailed.penalty_value(np.ones(3)) == 3.0
    with pytest.raises(InputError, match="3 weights are given in all; there are 20 singular values"):
        LowRankProblem(problem.tracks, problem.visible, 0.05, (0.0, 1.0), tail=np.array([2.0]))


@pytest.mark.parametrize("eta", [0.0, 1.0])
def test_eta_without_perspective_or_without_affine_term_is_refused(simulated_low_rank, eta):
    problem, _ = simulated_low_rank()
    with pytest.raises(InputError, match="the low-rank problem accepts 0 < eta < 1"):
        LowRankProblem(problem.tracks, problem.visible, eta, problem.weights)
