"""Going on under changed parameters: what is shared, that nothing else changes, and that steps are short."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from core import (
    CameraModel,
    ExplicitWeights,
    InputError,
    LowRankProblem,
    Settings,
    Status,
    VariableProjection,
    WeightedNuclearNorm,
    iterate,
    simulate,
    solve,
)
from core.problem.initialization import random_start

SETTINGS = Settings(rank=3, starts=1, rotations="truth", objective="wnn")


@pytest.fixture(scope="module")
def sequence():
    return simulate("paper", frames=14, points=24, seed=1)


@pytest.fixture(scope="module")
def ended(sequence):
    *_, last = iterate(sequence, SETTINGS)
    return last


def posed_anew(problem, eta):
    """Return the problem with another eta, made from its tracks."""
    cameras = () if isinstance(problem, LowRankProblem) else (problem.rotations,)
    return type(problem)(problem.tracks, problem.visible, *cameras, eta, problem.weights)


@pytest.mark.parametrize("kind", ["nonrigid", "lowrank"])
def test_another_eta_gives_the_same_as_a_new_problem(ended, kind):
    problem, factors = ended.current.problem, ended.current.factors
    if kind == "lowrank":
        problem = LowRankProblem(problem.tracks, problem.visible, 0.3, problem.weights)
        factors = problem.closed_form()  # any point will do
    known, features = problem.reference, problem.data.features
    other, anew = problem.with_eta(0.2), posed_anew(problem, 0.2)
    assert other.loss(factors) == anew.loss(factors) != problem.loss(factors)
    assert other.reference is known  # not computed again
    assert other.data.features is features
    np.testing.assert_array_equal(anew.reference, known)
    assert problem.with_eta(problem.eta) is problem
    with pytest.raises(InputError, match="eta is"):
        problem.with_eta(1.5)


def test_other_weights_share_the_data_term_and_the_reference(sequence, ended):
    first, *_ = iterate(sequence, SETTINGS.with_changes(penalty=WeightedNuclearNorm(0.1)), start=ended)
    assert first.current.problem.data is ended.current.problem.data
    assert first.current.problem.reference is ended.current.problem.reference
    first, *_ = iterate(sequence, SETTINGS.with_changes(eta=0.1), start=ended)
    assert first.current.problem.data is not ended.current.problem.data
    assert first.current.problem.tracks is ended.current.problem.tracks


@pytest.mark.parametrize(
    "changes",
    [
        {"penalty": ExplicitWeights((0.0, 0.01, 0.02))},
        {"eta": 0.3},
        {"rank": 4},
        {"rank": 1},
        {"penalty": WeightedNuclearNorm(0.2)},
    ],
    ids=["weights", "eta", "higher rank", "lower rank", "xi"],
)
def test_a_continued_run_ends_in_a_minimum_of_the_new_problem(sequence, ended, changes):
    """Long steps from the same point lead to the same loss, and no step leads down from there."""
    settings = SETTINGS.with_changes(**changes)
    iterates = list(iterate(sequence, settings, start=ended))
    end = iterates[-1]
    assert end.status.finished and end.best.factors.rank == settings.rank
    problem = posed_anew(end.best.problem, settings.eta)
    assert problem.loss(end.best.factors) == pytest.approx(end.best.loss, rel=1e-12)
    again = solve(problem, VariableProjection(), end.best.factors)
    assert again.progress.loss == pytest.approx(end.best.loss, rel=1e-10)
    losses = [each.record.loss for each in iterates]
    assert all(after <= before * (1 + 1e-12) for before, after in itertools.pairwise(losses))


@pytest.mark.parametrize("problem", ["nonrigid", "lowrank"])
def test_a_run_that_was_left_in_its_search_continues_from_its_best_point(sequence, problem):
    settings = SETTINGS.with_changes(problem=problem, rank=4, starts=4)
    tried = [
        each
        for each in iterate(sequence, settings)
        if each.current.loss > 1.01 * each.best.loss and not each.status.finished
    ]
    for left in tried[0], tried[-1]:
        first, *_, end = iterate(sequence, settings, start=left)
        # A column that the penalty has shrunk to nothing is replaced by a small random one.
        assert end.best.loss <= first.best.loss <= 1.001 * left.best.loss


def test_a_start_that_no_step_lowers_ends_the_run(ended):
    """As where rounding has made the start's loss, a sum of large numbers, too low."""
    method = VariableProjection(complete_start=True)
    problem = ended.current.problem.with_weights(1.01 * ended.current.problem.weights)
    start = method.init(problem, ended.current.factors)
    assert method.status(problem, start) is Status.RUNNING
    after = method.step(problem, replace(start, loss=0.5 * start.loss))
    assert after.stuck
    assert method.status(problem, after) is Status.STALLED


def test_a_low_rank_run_continues_with_the_same_tracks_and_is_back_at_once(sequence):
    settings = Settings(problem="lowrank", rank=4, starts=1)
    *_, found = iterate(sequence, settings)
    away = list(iterate(sequence, settings.with_changes(eta=0.1), start=found))
    assert away[0].current.problem.tracks is found.current.problem.tracks
    np.testing.assert_array_equal(away[-1].intrinsics, found.intrinsics)
    *_, cold = iterate(sequence, settings.with_changes(eta=0.1))
    assert away[-1].best.loss == pytest.approx(cold.best.loss, rel=1e-6)
    back = list(iterate(sequence, settings, start=away[-1]))
    assert len(away) > 3 > len(back)
    assert back[-1].loss == pytest.approx(found.loss, rel=1e-10)


def test_orthogonal_tracks_stay_at_eta_one_for_any_eta():
    sequence = simulate("paper", camera=CameraModel.ORTHOGONAL, frames=14, points=24, seed=1)
    *_, last = iterate(sequence, SETTINGS)
    first, *_ = iterate(sequence, SETTINGS.with_changes(eta=0.1), start=last)
    assert first.current.problem.eta == last.current.problem.eta == 1.0


def test_a_complete_start_gives_the_same_end(ended):
    problem = ended.current.problem.with_weights(1.3 * ended.current.problem.weights)
    one, other = (
        solve(problem, VariableProjection(complete_start=whole), ended.current.factors)
        for whole in (False, True)
    )
    assert other.progress.loss == pytest.approx(one.progress.loss, rel=1e-11)
    first = VariableProjection(complete_start=True).init(problem, ended.current.factors)
    assert first.loss == pytest.approx(problem.loss(first.factors), rel=1e-9)
    assert first.loss < problem.loss(ended.current.factors)


@pytest.mark.slow
def test_parameters_that_are_put_back_lead_to_the_end_of_the_search_unless_another_is_lower(sequence):
    settings = SETTINGS.with_changes(rank=6, penalty=WeightedNuclearNorm(0.02))
    *_, found = iterate(sequence, settings)
    *_, moved = iterate(sequence, settings.with_changes(eta=0.5), start=found)
    problem, rng = found.best.problem, np.random.default_rng(0)
    ends = (solve(problem, VariableProjection(), random_start(problem, rng)) for _ in range(50))
    higher = next(end.state.factors for end in ends if end.progress.loss > 1.01 * found.loss)
    elsewhere = replace(moved, best=replace(moved.best, factors=higher))
    *_, back = iterate(sequence, settings, start=elsewhere)
    assert back.loss == pytest.approx(found.loss, rel=1e-10)
    *_, led = iterate(sequence, settings, start=replace(elsewhere, found=None, status=Status.RUNNING))
    assert led.loss > 1.01 * found.loss  # of a search that has not ended there is no way back
    above = replace(found.best, factors=higher, loss=problem.loss(higher))
    *_, lower = iterate(sequence, settings, start=replace(moved, best=found.best, found=above))
    assert lower.loss <= found.loss * (1 + 1e-12)
