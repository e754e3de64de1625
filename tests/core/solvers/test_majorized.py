from dataclasses import replace

import numpy as np
import pytest

import core
from core.penalties.concave import ConcavePenalty
from core.problem import pad_rank, random_start, rigid_start, with_rank
from core.solvers import Majorized

CONCAVE = {
    "schatten": core.SchattenNorm(mu=0.01, p=0.5, epsilon=0.01),
    "log": core.LogPenalty(mu=0.01, epsilon=0.05),
    "capped": core.CappedNorm(mu=0.02, theta=0.5),
    "mcp": core.MCP(mu=0.02, theta=2.0),
    "scad": core.SCAD(mu=0.02, theta=2.0),
    "rank": core.RankPenalty(mu=0.005),
}
SHORT_LM = core.LevenbergMarquardt(max_iterations=60)  # enough for what is asked of it here
inners = pytest.mark.parametrize("inner", [core.VariableProjection(), SHORT_LM], ids=["newton", "lm"])


def test_the_concave_penalties_tried_are_all_that_there_are():
    concave = {name for name, kind in core.PENALTIES.items() if issubclass(kind, ConcavePenalty)}
    assert CONCAVE.keys() == concave


@pytest.fixture
def posed_with(posed):
    """Make a problem of a kind with a penalty, at a rank that is above the truth's."""

    def make(kind, penalty, rank=3):
        if kind == "lowrank":  # normalized: all sizes are near 1
            rank, penalty = rank + 2, replace(penalty, mu=0.05 * penalty.mu)
        problem = posed(kind, weights=np.zeros(rank), missing=0.1)
        weights = penalty.weights(problem.rank, problem.closed_form().gamma())
        return problem.with_weights(weights, spectral=penalty)

    return make


def objective(problem, vector, shape):
    """data + f at a vector of unknowns, where a term of its own holds the singular values of BC'."""
    rows, rank, columns = shape
    B, C, s = np.split(vector, [rows * rank, rank * (rows + 3 * columns)])
    factors = core.Factors(B.reshape(rows, rank), C.reshape(rank, 3, columns), s.reshape(rows, 3))
    sigma = np.linalg.svd(factors.B @ C.reshape(rank, -1), compute_uv=False)[:rank]
    return problem.data.weighted_residuals(factors)[1] + problem.spectral.value(sigma)


OTHERS = [("log", "orthogonal"), ("mcp", "lowrank"), ("rank", "lowrank")]


@pytest.mark.parametrize(("name", "kind"), [*((name, "nonrigid") for name in CONCAVE), *OTHERS])
def test_the_end_is_stationary_and_nothing_near_it_is_lower(posed_with, name, kind):
    problem = posed_with(kind, CONCAVE[name])
    method = Majorized(core.VariableProjection(tolerance=1e-16))
    end = core.solve(problem, method, problem.closed_form())
    assert end.status is core.Status.CONVERGED
    factors = method.factors(problem, end.state)
    sigma = factors.gamma()
    alive = sigma > 1e-6 * sigma[0]
    factors = core.Factors(factors.B[:, alive], factors.C[alive], factors.s)
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
    problem, _ = simulated(frames=10, points=14, rank=3, weights=np.zeros(4), noise=3e-3, missing=0.1)
    costs = []
    start = rigid_start(problem)
    for rank in range(1, 5):
        start = with_rank(start, rank, np.random.default_rng(rank))
        end = core.solve(problem.with_weights(np.zeros(rank)), core.VariableProjection(), start)
        start = end.state.factors
        costs.append(end.progress.loss + mu * rank)
    posed = problem.with_weights(np.zeros(4), spectral=core.RankPenalty(mu))
    method = Majorized(core.VariableProjection())
    last = core.solve(posed, method, start)
    assert last.status.finished
    assert last.progress.loss <= min(costs) * (1 + 1e-9)
    factors = method.factors(posed, last.state)
    assert np.count_nonzero(factors.gamma()) == 1 + int(np.argmin(costs))
    assert posed.loss(factors) == pytest.approx(last.progress.loss, rel=1e-9)


def test_a_column_beyond_theta_is_dropped_where_that_pays(simulated):
    problem, _ = simulated(frames=14, points=20, rank=2, weights=np.zeros(3), noise=1e-2)
    free = core.solve(problem, core.VariableProjection(), problem.closed_form())
    weakest = free.state.factors.gamma()[-1]
    penalty = core.CappedNorm(mu=0.5 / weakest, theta=weakest / 2)  # 0.25 a column: no noise is worth it
    posed = problem.with_weights(np.zeros(3), spectral=penalty)
    method = Majorized(core.VariableProjection())
    start = free.state.factors
    assert not penalty.slopes(start.gamma()).any()  # majorization alone would stay
    end = core.solve(posed, method, start)
    assert end.progress.loss < posed.loss(start) - 0.2
    assert np.count_nonzero(method.factors(posed, end.state).gamma() > 1e-9) < 3


@inners
def test_linear_weights_give_what_the_inner_method_gives(simulated, inner):
    problem, true = simulated(missing=0.1)
    plain = core.solve(problem, inner, true)
    end = core.solve(problem, Majorized(inner), true)
    assert end.status is core.Status.CONVERGED
    assert end.progress.loss == pytest.approx(plain.progress.loss, rel=1e-10)


@inners
@pytest.mark.parametrize("name", ["log", "capped"])
def test_starts_without_shapes_and_starts_with_zero_columns_are_accepted(posed_with, name, inner):
    problem = posed_with("nonrigid", CONCAVE[name])
    method = Majorized(inner)
    random = random_start(problem, np.random.default_rng(3))
    assert not random.C.any()
    end = core.solve(problem, method, random)
    assert end.status.finished
    assert end.progress.loss < problem.loss(problem.closed_form())
    rigid = core.solve(problem.of_rank(1), method, rigid_start(problem))
    wider = pad_rank(method.factors(problem.of_rank(1), rigid.state), problem.rank)
    again = next(iter(core.iterate(problem, method, wider)))
    assert again.progress.loss <= rigid.progress.loss * (1 + 1e-9)
    assert not again.state.factors.gamma()[1:].any()


def test_a_run_that_continues_from_its_end_stays_there(posed_with):
    problem = posed_with("nonrigid", CONCAVE["scad"])
    method = Majorized(core.VariableProjection())
    end = core.solve(problem, method, problem.closed_form())
    warm = Majorized(core.VariableProjection(damping=1e-9))
    again = core.solve(problem, warm, method.factors(problem, end.state))
    assert again.progress.loss == pytest.approx(end.progress.loss, rel=1e-9)
    assert again.progress.iteration < end.progress.iteration
