"""What every method promises: to go on where it was left, to say that it diverged, and the convex optimum."""

import inspect
from dataclasses import replace

import numpy as np
import pytest

import core
from core.foundation import parameters_of
from core.problem import full_rank_start
from core.solvers import Majorized

LOG = core.LogPenalty(0.02, 0.1)
# A method, the penalty of its problem beside the weights, and where it is left.
METHODS = {
    "admm": (core.ADMM(rho=1e-3, patience=2), None, 30),
    "agd": (core.AGD(acceptance="nonmonotone", step_size="backtracking"), LOG, 17),
    "algorithm one": (core.AlgorithmOne(), None, 11),
    "bmm": (core.BMM(), None, 21),
    "r-bmm": (core.RBMM(), None, 21),
    "irnn": (core.IRNN(), LOG, 12),
    "lm": (core.LevenbergMarquardt(), None, 3),
    "majorized": (Majorized(core.VariableProjection()), LOG, 2),
    "newton": (core.VariableProjection(), None, 3),
}
every = pytest.mark.parametrize("name", METHODS)


@pytest.fixture
def posed_for(posed):
    """Make the problem of a method and a start of it."""

    def make(name):
        method, penalty, _ = METHODS[name]
        problem = posed("orthogonal" if "bmm" in name else "nonrigid", missing=0.1)
        problem = replace(problem, spectral=penalty)
        return problem, full_rank_start(problem) if method.on_matrix else problem.closed_form()

    return make


@every
def test_a_method_takes_at_least_one_step(name):
    method = METHODS[name][0]
    with pytest.raises(core.InputError, match="max_iterations is 0; accepted is a whole number of at least"):
        replace(getattr(method, "inner", method), max_iterations=0)


WRONG = ("ADMM", "relaxation", 3.0), ("AGD", "restart", "never"), ("BMM", "tau", 0), ("IRNN", "tolerance", -1)


@pytest.mark.parametrize(("kind", "parameter", "value"), WRONG)
def test_a_parameter_is_refused_where_it_is_described_as_another(kind, parameter, value):
    method = getattr(core, kind)
    with pytest.raises(core.InputError, match=f"{parameter} is .*; accepted "):
        method(**{parameter: value})
    assert f"\n{parameter}\n    {parameters_of(method)[parameter].tip[:40]}" in inspect.getdoc(method)


@every
def test_a_resumed_run_equals_an_uninterrupted_one(posed_for, name):
    method, _, cut = METHODS[name]
    problem, start = posed_for(name)
    if name != "majorized":  # whose limit is that of its inner method
        method = replace(method, max_iterations=cut + 12)
    whole = list(core.iterate(problem, method, start))
    rest = list(core.iterate(problem, method, whole[cut]))
    assert [each.progress.loss for each in rest] == [each.progress.loss for each in whole[cut + 1 :]]
    assert rest[-1].progress.iteration == whole[-1].progress.iteration
    assert rest[-1].status is whole[-1].status
    one, other = (method.factors(problem, each[-1].state) for each in (rest, whole))
    for part in ("B", "C", "s"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part))


@pytest.mark.parametrize("name", [name for name in METHODS if name != "newton"])
def test_a_start_that_is_not_finite_is_reported_as_diverged(posed_for, name):
    problem, start = posed_for(name)
    part = "s" if name in ("algorithm one", "lm") else "B"
    broken = replace(start, **{part: np.full_like(getattr(start, part), np.inf)})
    end = core.solve(problem, METHODS[name][0], broken)
    assert (end.status, end.progress.iteration) == (core.Status.DIVERGED, 0)


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        (core.ADMM(tolerance=1e-8), "nonrigid"),
        (core.ADMM(tolerance=1e-8), "orthogonal"),
        (core.AGD(), "nonrigid"),
        pytest.param(core.IRNN(), "nonrigid", marks=pytest.mark.slow),
        pytest.param(core.ADMM(tolerance=1e-8), "lowrank", marks=pytest.mark.slow),
        pytest.param(core.AGD(), "lowrank", marks=pytest.mark.slow),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_with_a_nuclear_norm_it_reaches_the_optimum_of_the_bilinear_form(posed, method, kind):
    size = {"frames": 5, "points": 12, "weights": np.full(12, 2e-3)}
    if kind != "lowrank":
        size = {"frames": 6, "points": 8, "weights": np.full(6, 0.05), "eta": 0.5}
    problem = posed(kind, **size, missing=0.2)
    bilinear = core.solve(problem, core.VariableProjection(), problem.closed_form())
    end = core.solve(problem, method, full_rank_start(problem))
    assert end.status is core.Status.CONVERGED
    assert end.progress.loss == pytest.approx(bilinear.progress.loss, rel=1e-7)
    # At full rank the cut loses nothing, and the factors cost as much as the matrix.
    cut = problem.loss(method.factors(problem, end.state))
    assert cut == pytest.approx(end.progress.loss, rel=1e-7)
