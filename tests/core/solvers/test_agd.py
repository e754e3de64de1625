from dataclasses import replace

import numpy as np
import pytest

from core import AGD, IRNN, LogPenalty, RankPenalty, Status, VariableProjection, iterate, solve
from core.problem import full_rank_start
from core.solvers.agd import RESTARTS, STEPS, _proximal_step
from core.solvers.matrix_form import curvature, evaluate, prox

ROUNDING = 1e-12
PENALTIES = [None, LogPenalty(0.02, 0.1), RankPenalty(0.02)]  # others: test_combinations


@pytest.fixture
def convex(simulated):
    return simulated(frames=6, points=8, weights=np.full(6, 0.05), missing=0.2, eta=0.5)[0]


def states_of(problem, method):
    return [snapshot.state for snapshot in iterate(problem, method, full_rank_start(problem))]


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda penalty: type(penalty).__name__)
def test_monotone_acceptance_never_raises_the_objective(problem, penalty):
    problem = replace(problem, spectral=penalty)
    states = states_of(problem, AGD(step_size="backtracking", max_iterations=40))
    losses = np.array([state.point.loss for state in states])
    assert (np.diff(losses) <= ROUNDING * losses[:-1]).all()
    for state in states[1::20]:  # the losses are of the matrices that they come with
        sigma = np.linalg.svd(state.point.X, compute_uv=False)
        assert evaluate(problem, state.point.X, sigma).loss == pytest.approx(state.point.loss, rel=1e-8)


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda penalty: type(penalty).__name__)
def test_nonmonotone_acceptance_stays_below_a_mean_that_never_rises(problem, penalty):
    problem = replace(problem, spectral=penalty)
    states = states_of(problem, AGD(acceptance="nonmonotone", max_iterations=60))
    means = np.array([state.mean for state in states])
    losses = np.array([state.point.loss for state in states])
    assert (losses <= means * (1 + ROUNDING)).all()
    assert (np.diff(means) <= ROUNDING * means[:-1]).all()
    count, mean = 1.0, losses[0]
    for state, loss in zip(states[1:], losses[1:], strict=True):  # the mean is the one that is defined
        count, mean = 0.8 * count + 1.0, (0.8 * count * mean + loss) / (0.8 * count + 1.0)
        assert state.mean == pytest.approx(mean, rel=1e-12)


def test_nonmonotone_acceptance_lets_the_objective_rise_and_is_cheaper(convex, monkeypatch):
    calls = []
    monkeypatch.setattr("core.solvers.agd.evaluate", lambda *of: calls.append(of) or evaluate(*of))
    losses, spent = {}, {}
    for name, changes in {
        "monotone": {"acceptance": "monotone"},
        "nonmonotone": {"acceptance": "nonmonotone"},
        "strict": {"acceptance": "nonmonotone", "delta": 1e9},  # no decrease is enough
    }.items():
        calls.clear()
        states = states_of(convex, AGD(restart="none", max_iterations=120, **changes))
        losses[name] = [state.point.loss for state in states]
        spent[name] = len(calls) / (len(states) - 1)
    assert (np.diff(losses["nonmonotone"]) > 1e-9).any()
    assert losses["strict"] == losses["monotone"]
    assert spent["monotone"] == 2.0 and spent["nonmonotone"] < 1.5


@pytest.mark.slow
@pytest.mark.parametrize("restart", RESTARTS)
@pytest.mark.parametrize("step_size", STEPS)
def test_its_options_lead_to_the_optimum_of_the_bilinear_form(convex, restart, step_size):
    bilinear = solve(convex, VariableProjection(), convex.closed_form())
    method = AGD(acceptance="nonmonotone", restart=restart, step_size=step_size)
    end = solve(convex, method, full_rank_start(convex))
    assert end.status is Status.CONVERGED
    assert end.progress.loss == pytest.approx(bilinear.progress.loss, rel=1e-8)


@pytest.mark.slow
def test_acceleration_and_restarts_save_iterations(convex):
    methods = {"plain": IRNN()} | {restart: AGD(restart=restart) for restart in RESTARTS}
    ends = {name: solve(convex, method, full_rank_start(convex)) for name, method in methods.items()}
    counts = {name: end.progress.iteration for name, end in ends.items()}
    assert counts["none"] < counts["plain"]
    assert max(counts["gradient"], counts["loss"]) < 0.5 * counts["none"]


def test_two_iterations_are_those_of_the_paper(problem):
    """Algorithm 1 of Li and Lin 2015, written out with dense decompositions."""
    L = curvature(problem) / (1 - 1e-9)
    start = full_rank_start(problem)

    def proximal(X):
        N = X - evaluate(problem, X, np.zeros(min(X.shape))).gradient / L
        U, sigma, Vt = np.linalg.svd(N, full_matrices=False)
        return (U * prox(problem, sigma, L)) @ Vt

    def value(X):
        return evaluate(problem, X, np.linalg.svd(X, compute_uv=False)).loss

    x = before = z = start.shapes().reshape(len(start.B), -1)
    last, t = 0.0, 1.0
    method = AGD(restart="none")
    state = method.init(problem, start)
    for _ in range(4):
        y = x + last / t * (z - x) + (last - 1) / t * (x - before)
        z, v = proximal(y), proximal(x)
        before, x = x, z if value(z) <= value(v) else v
        last, t = t, (np.sqrt(4 * t**2 + 1) + 1) / 2
        state = method.step(problem, state)
        np.testing.assert_allclose(state.point.X, x, atol=1e-9)


def test_backtracking_takes_the_first_step_whose_model_bounds_the_data_term(problem):
    start = full_rank_start(problem)
    Y = start.shapes().reshape(len(start.B), -1)
    Y += 0.1 * np.random.default_rng(2).standard_normal(Y.shape)
    zero = np.zeros(min(Y.shape))
    origin, shortest = evaluate(problem, Y, zero), 1 / curvature(problem)

    def excess(alpha):
        """How far the data term lies above its model at the proximal step."""
        U, sigma, Vt = np.linalg.svd(Y - alpha * origin.gradient, full_matrices=False)
        Z = (U * prox(problem, sigma, 1 / alpha)) @ Vt
        model = origin.loss + np.vdot(origin.gradient, Z - Y) + np.sum((Z - Y) ** 2) / (2 * alpha)
        return evaluate(problem, Z, zero).loss - model

    longest = 64 * shortest
    _, alpha = _proximal_step(problem, Y, origin.gradient, longest, shortest)
    halvings = [longest * 0.5**n for n in range(7)]
    assert alpha == next(a for a in halvings if a <= shortest or excess(a) <= 0)
    assert shortest <= alpha < longest


@pytest.mark.parametrize("method", [AGD(), IRNN()], ids=lambda method: type(method).__name__)
def test_a_penalty_stronger_than_the_data_ends_at_zero(problem, method):
    heavy = problem.with_weights((1e3,))
    end = solve(heavy, method, full_rank_start(problem))
    assert end.status is Status.CONVERGED
    cut = method.factors(heavy, end.state)
    assert not cut.shapes().any()  # of the leading singular value: there are no others
    assert np.isfinite(heavy.loss(cut))
