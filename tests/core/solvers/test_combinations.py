"""Every method with every problem and penalty: it lowers what it claims to lower, or says why it does not."""

from __future__ import annotations

from itertools import islice, product

import numpy as np
import pytest

import core
from core.problem import Problem
from core.problem.factors import center
from core.solvers import PROBLEMS, Majorized
from core.solvers.methods import refusal

RANK = 3
ITERATIONS = 15
FIRST_PENALTIES = [  # strong enough that singular values of these problems feel them
    core.NuclearNorm(0.02),
    core.TruncatedNuclearNorm(0.05, 1),
    core.WeightedNuclearNorm(0.05),
    core.RampWeights(0.02, 1),
    core.ExplicitWeights((0.0, 0.01, 0.05)),
    core.SchattenNorm(0.02),
    core.LogPenalty(0.02),
    core.CappedNorm(0.05),
    core.MCP(0.05),
    core.SCAD(0.05),
    core.RankPenalty(0.01),
]
# What moves without a promise: the objective may rise on the way, and does.
NO_DESCENT = (core.ADMM, core.RBMM)
BILINEAR = (core.VariableProjection, core.LevenbergMarquardt)
CASES = [
    case
    for case in product(core.METHODS, PROBLEMS, FIRST_PENALTIES, (False, True))
    if case[1] == "nonrigid" or not case[-1]  # a low-rank problem has no other camera
]


def name_of(value: object) -> str:
    if isinstance(value, bool):
        return "affine" if value else "perspective"
    return value if isinstance(value, str) else type(value).__name__


def test_the_penalties_tried_are_all_that_there_are():
    assert {type(penalty) for penalty in FIRST_PENALTIES} == {*core.PENALTIES.values(), core.ExplicitWeights}


@pytest.fixture
def posed_with(posed):
    def make(problem: str, penalty: object, affine: bool) -> Problem:
        if problem == "nonrigid":
            kind = "orthogonal" if affine else problem
            free = posed(kind, frames=9, points=12, weights=(0.0,), missing=0.15)
        else:
            unit = posed(problem, frames=6, points=15, weights=(0.0,), missing=0.15)
            # Not of norm 1 but larger, so that these penalties leave something of it.
            free = core.LowRankProblem(20 * unit.tracks, unit.visible, unit.eta, unit.weights)
        return free.with_penalty(penalty, RANK)

    return make


@pytest.mark.parametrize(("method", "problem", "penalty", "affine"), CASES, ids=name_of)
def test_it_never_raises_the_objective_that_it_claims_to_lower(posed_with, method, problem, penalty, affine):
    reason = refusal(method, problem, penalty, affine=affine)
    if reason is not None:
        assert len(reason.split()) > 8 and ("choose" in reason or "needs eta" in reason)
        return
    posed_problem = posed_with(problem, penalty, affine)
    rows, columns = posed_problem.shape
    point = posed_problem.closed_form(min(rows, 3 * columns) if core.METHODS[method].on_matrix else RANK)
    if posed_problem.offsets:
        point = center(point)
    steps = [core.METHODS[method].first({})]
    if core.METHODS[method].refined:
        steps.append(core.METHODS[method].second({}))
    if posed_problem.spectral is not None:
        steps = [Majorized(step) if isinstance(step, BILINEAR) else step for step in steps]
    for algorithm in steps:
        snapshots = list(islice(core.iterate(posed_problem, algorithm, point), ITERATIONS))
        losses = np.array([snapshot.progress.loss for snapshot in snapshots])
        assert np.isfinite(losses).all()
        if not isinstance(algorithm, NO_DESCENT):
            assert (np.diff(losses) <= 1e-10 * np.abs(losses[:-1])).all()
        point = algorithm.factors(posed_problem, snapshots[-1].state)
        assert point.rank == RANK
        if not core.METHODS[method].on_matrix or algorithm is not steps[0]:
            # A bilinear method's own loss is the problem's, penalty included, at the point that it gives.
            assert losses[-1] == pytest.approx(posed_problem.loss(point), rel=1e-9)
