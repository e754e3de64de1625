"""A refined shape that follows weights and scales at the finest level."""

from collections import deque
from dataclasses import replace

import numpy as np
import pytest

from core.depth import DepthOptions, LevelEnergy, follow_depths, point_distance, refine_depths


def last_of(steps):
    (step,) = deque(steps, maxlen=1)
    return step


@pytest.fixture(scope="module")
def refined(simulated):
    """The last step of a search, and its problem."""
    problem, truth = simulated(frames=14, points=30)
    point = replace(truth, depths=truth.depths * np.exp(0.02 * np.sin(np.arange(30))))
    problem = problem.anchored(point)
    return problem, last_of(refine_depths(problem, {"start": point}, DepthOptions(thorough=False)))


def test_the_last_step_has_the_objective_that_it_is_a_minimum_of(refined):
    problem, step = refined
    objective = step.objective
    assert objective.level.eps == DepthOptions().eps
    assert objective.level.isometry == 0.5 * DepthOptions().isometry  # no parts move against each other
    assert DepthOptions(isometry=1.0).objective(objective, 0.0, step.best).level.isometry == 0.5
    value, _ = objective.value_and_gradient(objective.start(step.best))
    assert value / problem.visible.size == pytest.approx(step.best_energy, rel=1e-12)


def test_options_that_did_not_change_hardly_move_a_shape(refined):
    problem, step = refined
    objective = DepthOptions().objective(step.objective, problem.noise, step.best)
    assert objective.problem is step.objective.problem and objective.edges is step.objective.edges
    last = last_of(follow_depths(objective, step.best))
    assert last.finished
    assert last.energy <= step.energy
    assert point_distance(problem, last.best, step.best) < 2e-3


def test_each_option_of_the_finest_level_moves_the_shape(refined):
    problem, step = refined
    for options in (DepthOptions(isometry=5.0), DepthOptions(eps=0.03), DepthOptions(neighbors=3)):
        objective = options.objective(step.objective, problem.noise, step.best)
        last = last_of(follow_depths(objective, step.best))
        assert point_distance(problem, last.best, step.best) > 1e-4
    noisy = DepthOptions().objective(step.objective, 0.01 * problem.size, step.best)
    assert noisy.problem.noise == 0.01 * problem.size
    moved = next(follow_depths(noisy, step.best)).best
    assert np.abs(moved.rays - step.best.rays).max() > 1e-6


def test_a_movement_begins_with_the_preconditioner_of_the_one_before(refined, monkeypatch):
    problem, step = refined
    made, compute = [], LevelEnergy.preconditioner
    monkeypatch.setattr(LevelEnergy, "preconditioner", lambda *of: made.append(of) or compute(*of))
    steps = []
    for isometry in (0.31, 0.32, 0.33):
        objective = DepthOptions(isometry=isometry).objective(step.objective, problem.noise, step.best)
        known = steps[-1].known if steps else None
        steps.append(next(follow_depths(objective, step.best, known=known)))
        start = objective.value_and_gradient(objective.start(step.best))[0] / problem.visible.size
        assert steps[-1].best_energy < start
    assert len(made) == 1 and len({each.known[0] for each in steps}) == 1
    ages = [each.known[1] for each in steps]
    assert ages == sorted(set(ages))  # until it is too old
    noisy = DepthOptions().objective(step.objective, 0.01 * problem.size, step.best)
    moved = next(follow_depths(noisy, step.best, known=steps[-1].known))  # it has more unknowns
    assert len(made) == 2 and moved.known[0] is not steps[-1].known[0]
    end = last_of(follow_depths(step.objective, step.best, known=steps[-1].known))
    assert end.known is None


@pytest.mark.slow
def test_of_two_minima_the_lower_one_is_kept(refined):
    step = refined[1]
    depths = step.best.depths * np.exp(0.3 * np.random.default_rng(0).normal(size=step.best.depths.shape))
    far = replace(step.best, depths=depths)
    alone = last_of(follow_depths(step.objective, far))
    both = list(follow_depths(step.objective, far, end=step.best))
    assert both[-1].energy <= min(alone.energy, step.energy)
    energies = [each.best_energy for each in both]
    assert energies == sorted(energies, reverse=True)


def test_levels_of_a_refinement_have_no_finer_scale_than_the_last_and_its_weights():
    options = DepthOptions(weights=(1.0, 2.0), eps=0.007)
    for loose in (False, True):
        levels = options.finest(loose=loose)
        assert [level.eps for level in levels] == [0.01, 0.007, 0.007]
        assert {level.weights for level in levels} == {(1.0, 2.0)}
    assert [level.eps for level in DepthOptions().finest(loose=False)] == [0.01, 0.005, 0.0025]
