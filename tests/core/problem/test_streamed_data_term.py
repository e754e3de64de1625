"""Planes of H formed chunk by chunk: the same numbers, minima and closed forms as from stored planes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core import InputError, LowRankProblem, Status, VariableProjection, solve
from core.foundation.batched_linalg import invert_batched, matmul_batched, solve_batched
from core.problem import closed_form_structure, reference_singular_values, rigid_start, with_rank
from core.problem import data_term as quadratic
from core.problem import printed_form as residuals
from core.problem.nonrigid import subset, subset_levels
from core.solvers.reduced_hessian import reduced_hessian

CASES = ["hidden", "orthogonal", "low rank, hidden"]


@pytest.fixture
def both(monkeypatch, simulated, simulated_low_rank):
    """Make a problem twice: with stored planes, and with planes formed in several uneven chunks."""

    def make(case: str, points: int = 43):
        size = {"points": points, "missing": 0.2 if "hidden" in case else 0.0}
        if "low rank" in case:
            problem, _ = simulated_low_rank(frames=37, weights=(0.0, 1e-4, 1e-3, 2e-3), **size)
        else:
            size["eta"] = 1.0 if case == "orthogonal" else 0.05
            problem, _ = simulated(frames=17, weights=(0.05, 0.1, 0.3), rank=3, **size)
        again = replace(problem)
        assert not problem.data.streamed
        monkeypatch.setattr(quadratic, "STORED_BYTES", 0)
        monkeypatch.setattr(quadratic, "NARROWEST", 1)
        monkeypatch.setattr(quadratic, "BLOCK", 16 * again.shape[0])
        assert again.data.streamed
        assert len(list(again.data.forms())) > 2
        return problem, again

    return make


def start_of(problem):
    if isinstance(problem, LowRankProblem):
        return problem.closed_form()
    return with_rank(rigid_start(problem), problem.rank, np.random.default_rng(0))


@pytest.mark.parametrize("case", CASES)
def test_all_sums_equal_those_of_stored_planes(both, random_factors, case):
    stored, streamed = both(case)
    factors = random_factors(stored)
    B, s, weights = factors.B, factors.s, stored.weights
    one, other = stored.data.best_C(B, s, weights), streamed.data.best_C(B, s, weights)
    np.testing.assert_allclose(other.C, one.C, rtol=1e-9, atol=1e-9)
    assert other.rhs_C == pytest.approx(one.rhs_C, rel=1e-12)
    np.testing.assert_allclose(np.concatenate(other.inverses, axis=2), one.inverses[0], rtol=1e-4, atol=1e-4)
    blocks, targets = stored.data.frame_blocks(factors.C, weights), stored.data.frame_targets(factors.C)
    np.testing.assert_allclose(streamed.data.frame_blocks(factors.C, weights), blocks, atol=1e-10)
    np.testing.assert_allclose(streamed.data.frame_targets(factors.C), targets, atol=1e-11)
    assert streamed.loss(factors) == pytest.approx(stored.loss(factors), rel=1e-13)
    assert streamed.loss(factors) == pytest.approx(residuals.loss(stored, factors), rel=1e-12)
    both_residuals = (each.data.weighted_residuals(factors) for each in (streamed, stored))
    for mine, theirs in zip(*both_residuals, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-10)
    np.testing.assert_array_equal(streamed.data.H, stored.data.H)
    np.testing.assert_array_equal(streamed.data.y, stored.data.y)
    y = stored.data.y
    np.testing.assert_allclose(streamed.data.times_H(y), stored.data.times_H(y), atol=1e-13)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("newton", [False, True])
def test_curvature_equals_that_of_stored_planes_to_single_precision(both, random_factors, case, newton):
    stored, streamed = both(case)
    factors = random_factors(stored)
    x = np.random.default_rng(2).normal(size=(stored.rank + stored.data.offset_size, stored.shape[0]))
    images = []
    for problem in (stored, streamed):
        data = problem.data
        system = data.best_C(factors.B, factors.s, problem.weights)
        forces = tuple(Ge.astype(data.curvature_dtype) for _, Ge, _, _ in data.residuals(factors))
        blocks = data.frame_blocks(factors.C, problem.weights)
        hessian = reduced_hessian(data, factors, system, blocks, 0.1, forces if newton else None)
        images.append(hessian.times(x))
    for mine, theirs in zip(*images, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=3e-5 * np.abs(theirs).max())


@pytest.mark.parametrize("case", CASES)
def test_both_forms_end_in_the_same_minimum(both, case):
    stored, streamed = both(case)
    ends = []
    for problem in (stored, streamed):
        last = solve(problem, VariableProjection(), start_of(stored))
        assert last.status is Status.CONVERGED
        ends.append(last.state.factors)
    assert residuals.loss(stored, ends[1]) == pytest.approx(residuals.loss(stored, ends[0]), rel=1e-9)
    assert residuals.relative_gradient(stored, ends[1]) < 1e-6


@pytest.mark.parametrize("case", CASES)
def test_the_closed_form_is_the_same(both, case):
    stored, streamed = both(case, points=60)
    np.testing.assert_array_equal(closed_form_structure(streamed.data), closed_form_structure(stored.data))
    sigma = reference_singular_values(stored.data)
    np.testing.assert_allclose(reference_singular_values(streamed.data), sigma, atol=1e-7 * sigma[0])
    one, other = stored.closed_form(), streamed.closed_form()
    np.testing.assert_allclose(other.shapes(), one.shapes(), atol=1e-8)
    np.testing.assert_allclose(other.s, one.s, atol=1e-8)


def test_planes_that_would_not_fit_are_refused_in_a_sentence(both, monkeypatch):
    _, streamed = both("non-rigid")
    monkeypatch.setattr(quadratic, "LARGEST_BYTES", 1000)
    with pytest.raises(InputError, match="for the error of 17 x 43 observations"):
        _ = streamed.data.H


def test_size_alone_decides(simulated, monkeypatch):
    problem, _ = simulated(frames=10, points=14)
    monkeypatch.setattr(quadratic, "STORED_BYTES", 48 * 10 * 14)
    assert not problem.data.streamed
    monkeypatch.setattr(quadratic, "STORED_BYTES", 48 * 10 * 14 - 1)
    assert replace(problem).data.streamed
    assert quadratic.BLOCK > 10


@pytest.mark.parametrize("condition", [1e1, 1e4, 1e9])
def test_solutions_from_an_inverse_in_single_precision_are_those_of_double(condition):
    rng = np.random.default_rng(0)
    half = rng.normal(size=(9, 12, 24)) * np.geomspace(1, condition**-0.5, 12)[:, None]
    blocks = np.ascontiguousarray((half @ half.transpose(0, 2, 1)).transpose(1, 2, 0))
    truth = rng.normal(size=(12, 9))
    right = matmul_batched(blocks, truth)
    inverse, solution = solve_batched(blocks, right, np.float32)
    assert inverse.dtype == np.float32
    np.testing.assert_allclose(solution, truth, atol=1e-13 * 1e2 * condition)
    scale = np.abs(invert_batched(blocks)).max()
    np.testing.assert_allclose(inverse, invert_batched(blocks), atol=1e-6 * condition * scale)


def test_a_subset_has_points_that_every_frame_sees(simulated):
    problem, _ = simulated(frames=40, points=60)
    visible = np.arange(40)[:, None] // 4 == np.arange(60) // 6  # six points, seen in four frames each
    gappy = problem.with_observations(np.where(visible[:, None], problem.tracks, 0.0), visible)
    found = subset(gappy, 100)
    assert (visible[:, found.points].sum(axis=1) >= 4).all() and len(found.points) < 60
    assert found.small.visible.any(axis=1).all()


def test_a_point_is_refined_on_subsets_of_increasing_size(simulated):
    problem, _ = simulated(frames=30, points=400, weights=(0.05, 0.2))
    small = subset(problem, 200)
    between = subset_levels(problem, 200)
    assert [rung.small.visible.size for rung in between] == pytest.approx([2000], rel=0.1)
    start = with_rank(rigid_start(small.small), 2, np.random.default_rng(0))
    factors = solve(small.small, VariableProjection(tolerance=1e-8), start).state.factors
    without = problem.loss(small.to_full(factors))
    some = np.arange(0, problem.shape[1], 3)
    expected = small.to_full(factors).C[:, :, some]
    np.testing.assert_allclose(small.at_points(factors, some).C, expected, rtol=1e-9, atol=1e-12)
    rung = between[0]
    start = small.to_subset(factors, rung)
    better = solve(rung.small, VariableProjection(tolerance=1e-8), start).state.factors
    best = solve(problem, VariableProjection(), rung.to_full(better)).progress.loss
    with_rung = problem.loss(rung.to_full(better))
    assert best <= with_rung < without
    assert with_rung - best < 0.5 * (without - best)
    assert subset_levels(problem, 3000) == []
