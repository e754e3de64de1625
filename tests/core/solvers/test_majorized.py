"""Concave penalties in the bilinear form: descent, stationarity, and the descent over ranks."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from core import (
    MCP,
    SCAD,
    CappedNorm,
    Factors,
    LevenbergMarquardt,
    LogPenalty,
    RankPenalty,
    SchattenNorm,
    Status,
    VariableProjection,
    iterate,
    solve,
)
from core.problem import pad_rank, random_start, rigid_start, with_rank
from core.solvers import Majorized

PENALTIES = {
    "schatten": SchattenNorm(mu=0.01, p=0.5, epsilon=0.01),
    "log": LogPenalty(mu=0.01, epsilon=0.05),
    "capped": CappedNorm(mu=0.02, theta=0.5),
    "mcp": MCP(mu=0.02, theta=2.0),
    "scad": SCAD(mu=0.02, theta=2.0),
    "rank": RankPenalty(mu=0.005),
}
penalties = pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)
SHORT_LM = LevenbergMarquardt(max_iterations=60)  # enough for what is asked of it here
inners = pytest.mark.parametrize("inner", [VariableProjection(), SHORT_LM], ids=["newton", "lm"])
problems = pytest.mark.parametrize("kind", ["nonrigid", "orthogonal", "lowrank"])


@pytest.fixture
def posed(simulated, simulated_low_rank):
    """Make a problem of a kind with a penalty, at a rank that is above the truth's."""

    def make(kind, penalty, *, rank=3, missing=0.1, scale=1.0):
        if kind == "lowrank":
            problem, _ = simulated_low_rank(weights=np.zeros(rank + 2), missing=missing)
            penalty = replace(penalty, mu=0.05 * penalty.mu)  # normalized tracks: all sizes are near 1
        else:
            problem, _ = simulated(
                weights=np.zeros(rank), missing=missing, eta=0.05 if kind == "nonrigid" else 1
            )
        sigma = problem.closed_form().gamma()
        return problem.with_weights(penalty.weights(problem.rank, sigma), spectral=penalty)

    return make


def objective(problem, vector, shape):
    """data + f at a vector of unknowns, where a term of its own holds the singular values of BC'."""
    B, C, s = unpacked(vector, shape)
    sigma = np.linalg.svd(B @ C.reshape(len(C), -1), compute_uv=False)[: len(C)]
    _, misfit = problem.data.weighted_residuals(Factors(B, C, s))
    return misfit + problem.spectral.value(sigma)


def unpacked(vector, shape):
    rows, rank, columns = shape
    B, C, s = np.split(vector, [rows * rank, rank * (rows + 3 * columns)])
    return B.reshape(rows, rank), C.reshape(rank, 3, columns), s.reshape(rows, 3)


@penalties
@inners
@problems
def test_data_and_penalty_never_rise_and_the_end_is_balanced_and_consistent(posed, penalty, inner, kind):
    problem = posed(kind, penalty)
    method = Majorized(inner)
    snapshots = list(iterate(problem, method, problem.closed_form()))
    losses = [snapshot.progress.loss for snapshot in snapshots]
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(losses))
    assert losses[-1] < losses[0]
    for snapshot in snapshots[:: max(len(snapshots) // 5, 1)] + snapshots[-1:]:
        factors = method.factors(problem, snapshot.state)
        assert factors.rank == problem.rank
        assert problem.loss(factors) == pytest.approx(method.loss(snapshot.state), rel=1e-9)
        sigma = np.linalg.svd(factors.shapes().reshape(problem.shape[0], -1), compute_uv=False)
        np.testing.assert_allclose(factors.gamma(), sigma[: problem.rank], atol=1e-9 * sigma[0])


@pytest.mark.slow
@penalties
@problems
@pytest.mark.parametrize("mu", [1e-9, 1.0, 1e3])
def test_data_and_penalty_never_rise_however_weak_or_strong_the_penalty_is(posed, penalty, kind, mu):
    problem = posed(kind, replace(penalty, mu=mu))
    snapshots = list(iterate(problem, Majorized(VariableProjection()), problem.closed_form()))
    losses = [snapshot.progress.loss for snapshot in snapshots]
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(losses))
    assert snapshots[-1].status is Status.CONVERGED


@penalties
@problems
def test_the_end_is_stationary_and_nothing_near_it_is_lower(posed, penalty, kind):
    problem = posed(kind, penalty)
    method = Majorized(VariableProjection(tolerance=1e-16))
    end = solve(problem, method, problem.closed_form())
    assert end.status is Status.CONVERGED
    factors = method.factors(problem, end.state)
    sigma = factors.gamma()
    alive = sigma > 1e-6 * sigma[0]
    factors = Factors(factors.B[:, alive], factors.C[alive], factors.s)
    shape = (problem.shape[0], factors.rank, problem.shape[1])
    z = np.concatenate((factors.B.ravel(), factors.C.ravel(), factors.s.ravel()))
    least = objective(problem, z, shape)
    assert least == pytest.approx(end.progress.loss, rel=1e-8)
    random = np.random.default_rng(1)
    for _ in range(30):
        direction = random.standard_normal(len(z))
        if not problem.offsets:
            direction[-3 * problem.shape[0] :] = 0
        direction *= np.linalg.norm(z) / np.linalg.norm(direction)
        slopes = []
        for step in (1e-4, 1e-5):
            plus, minus = (objective(problem, z + sign * step * direction, shape) for sign in (1, -1))
            assert min(plus, minus) > least * (1 - 1e-10)
            slopes.append((plus - minus) / (2 * step * (plus + minus - 2 * least) / step**2))
        # Where the minimum along the line is, in units of |z|: a Newton step from both differences.
        assert abs(slopes[1]) < 2e-6


@pytest.mark.parametrize("mu", [1e-6, 1e-2, 0.5])
def test_the_rank_penalty_ends_at_the_rank_of_least_cost(simulated, mu):
    problem, _ = simulated(frames=14, points=20, rank=3, weights=np.zeros(5), noise=3e-3, missing=0.1)
    costs = []
    start = rigid_start(problem)
    for rank in range(1, 6):
        start = with_rank(start, rank, np.random.default_rng(rank))
        end = solve(problem.with_weights(np.zeros(rank)), VariableProjection(), start)
        start = end.state.factors
        costs.append(end.progress.loss + mu * rank)
    posed = problem.with_weights(np.zeros(5), spectral=RankPenalty(mu))
    method = Majorized(VariableProjection())
    last = solve(posed, method, start)
    assert last.status.finished
    assert last.progress.loss <= min(costs) * (1 + 1e-9)
    rank = 1 + int(np.argmin(costs))
    gamma = method.factors(posed, last.state).gamma()
    assert np.count_nonzero(gamma) == rank
    assert posed.loss(method.factors(posed, last.state)) == pytest.approx(last.progress.loss, rel=1e-9)


def test_a_column_beyond_theta_is_dropped_where_that_pays(simulated):
    problem, _ = simulated(frames=14, points=20, rank=2, weights=np.zeros(3), noise=1e-2)
    free = solve(problem, VariableProjection(), problem.closed_form())
    weakest = free.state.factors.gamma()[-1]
    penalty = CappedNorm(mu=0.5 / weakest, theta=weakest / 2)  # a column costs 0.25: no noise is worth it
    posed = problem.with_weights(np.zeros(3), spectral=penalty)
    method = Majorized(VariableProjection())
    start = free.state.factors
    assert not penalty.slopes(start.gamma()).any()  # majorization alone would stay
    end = solve(posed, method, start)
    assert end.progress.loss < posed.loss(start) - 0.2
    assert np.count_nonzero(method.factors(posed, end.state).gamma() > 1e-9) < 3


@inners
def test_linear_weights_give_what_the_inner_method_gives(simulated, inner):
    problem, true = simulated(missing=0.1)
    plain = solve(problem, inner, true)
    end = solve(problem, Majorized(inner), true)
    assert end.status is Status.CONVERGED
    assert end.progress.loss == pytest.approx(plain.progress.loss, rel=1e-10)


@penalties
@inners
def test_starts_without_shapes_and_starts_with_zero_columns_are_accepted(posed, penalty, inner):
    problem = posed("nonrigid", penalty)
    method = Majorized(inner)
    random = random_start(problem, np.random.default_rng(3))
    assert not random.C.any()
    end = solve(problem, method, random)
    assert end.status.finished
    assert end.progress.loss < problem.loss(problem.closed_form())
    rigid = solve(problem.of_rank(1), method, rigid_start(problem))
    wider = pad_rank(method.factors(problem.of_rank(1), rigid.state), problem.rank)
    again = next(iter(iterate(problem, method, wider)))
    assert again.progress.loss <= rigid.progress.loss * (1 + 1e-9)
    assert not again.state.factors.gamma()[1:].any()


@penalties
def test_a_run_that_continues_from_its_end_stays_there(posed, penalty):
    problem = posed("nonrigid", penalty)
    method = Majorized(VariableProjection())
    end = solve(problem, method, problem.closed_form())
    warm = Majorized(VariableProjection(damping=1e-9))
    again = solve(problem, warm, method.factors(problem, end.state))
    assert again.progress.loss == pytest.approx(end.progress.loss, rel=1e-9)
    assert again.progress.iteration < end.progress.iteration


@penalties
def test_a_resumed_run_equals_an_uninterrupted_one(posed, penalty):
    problem = posed("nonrigid", penalty)
    method = Majorized(VariableProjection())
    snapshots = list(iterate(problem, method, problem.closed_form()))
    again = list(iterate(problem, method, snapshots[2]))
    assert len(again) == len(snapshots) - 3
    assert again[-1].progress.loss == snapshots[-1].progress.loss
    np.testing.assert_array_equal(again[-1].state.factors.C, snapshots[-1].state.factors.C)


@inners
def test_a_start_that_is_not_finite_is_reported_as_diverged(posed, inner):
    problem = posed("nonrigid", PENALTIES["log"])
    start = problem.closed_form()
    broken = replace(start, B=np.where(np.arange(3) == 1, np.nan, start.B))
    assert solve(problem, Majorized(inner), broken).status is Status.DIVERGED
