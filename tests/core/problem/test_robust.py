import numpy as np
import pytest

import core
from core.problem import RobustLoss
from core.solvers import Majorized, Reweighted

KINDS = ("huber", "cauchy")


def problem_of(kind="nonrigid", *, penalty=None, eta=0.2, outliers=8):
    scene = core.simulate("balloon", frames=9, points=16, seed=2)
    tracks = np.array(core.calibrate(scene.observations, scene.intrinsics, scene.camera))
    rng = np.random.default_rng(4)
    frame, point = rng.integers(9, size=outliers), rng.integers(16, size=outliers)
    tracks[frame, :, point] += rng.uniform(-0.3, 0.3, size=(outliers, 2))
    penalty = penalty or core.NuclearNorm(0.02)
    if kind == "lowrank":
        return core.LowRankProblem(tracks, scene.visible, eta, penalty=penalty, rank=4)
    return core.NonRigidProblem(tracks, scene.visible, scene.rotations, eta, penalty=penalty, rank=2)


def random_point(problem, seed=0):
    rng = np.random.default_rng(seed)
    rows, columns = problem.shape
    s = rng.normal(size=(rows, 3)) if problem.offsets else np.zeros((rows, 3))
    return core.Factors(rng.normal(size=(rows, problem.rank)), rng.normal(size=(problem.rank, 3, columns)), s)


@pytest.mark.parametrize("kind", KINDS)
def test_a_weighted_problem_bounds_the_loss_and_touches_it(kind):
    loss = RobustLoss(kind, 0.7)
    p = np.linspace(0, 9, 40)[:, None]
    q = np.linspace(0, 9, 301)[None, :]
    g = np.vectorize(lambda value: loss.value(np.array([value])))
    bound = g(p) + loss.weights(p) * (q - p)
    assert (g(q) <= bound + 1e-12).all()
    assert loss.value(np.zeros(3)) == 0
    slopes = (g(p[1:] + 1e-6) - g(p[1:] - 1e-6)) / 2e-6
    np.testing.assert_allclose(slopes, loss.weights(p[1:]), rtol=1e-5)


@pytest.mark.parametrize("problem_kind", ["nonrigid", "lowrank"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_of_the_robust_objective_is_that_of_the_weighted_problem(kind, problem_kind):
    problem = problem_of(problem_kind).with_robust(RobustLoss(kind, 0.4))
    point = random_point(problem)
    weighted = problem.with_robust(None).with_observation_weights(problem.robust_weights(point))
    He, _ = weighted.data.weighted_residuals(point)
    flat = He.reshape(len(He), -1)
    of_C = 2 * (point.B.T @ flat) + problem.weights[:, None] * point.C.reshape(problem.rank, -1)
    half = weighted.data.half_gradient(point)
    of_B = 2 * half[: problem.rank].T + problem.weights * point.B
    rng, step = np.random.default_rng(1), 1e-6
    for _ in range(5):
        dB, dC = rng.normal(size=point.B.shape), rng.normal(size=point.C.shape)
        ds = rng.normal(size=point.s.shape) * problem.offsets
        moved = (core.Factors(point.B + t * dB, point.C + t * dC, point.s + t * ds) for t in (-step, step))
        ends = [problem.loss(each) for each in moved]
        expected = float(np.vdot(of_B, dB) + np.vdot(of_C, dC.reshape(problem.rank, -1)))
        if problem.offsets:
            expected += 2 * float(np.vdot(half[problem.rank :].T, ds))
        assert (ends[1] - ends[0]) / (2 * step) == pytest.approx(expected, rel=1e-6)


def test_weights_multiply_the_forms_but_not_the_targets():
    problem = problem_of(eta=0.3)
    weights = np.random.default_rng(0).uniform(0.1, 1.0, size=problem.shape)
    weighted, point = problem.with_observation_weights(weights), random_point(problem)
    expected = float((weights * problem.data.squares(point)).sum())
    assert weighted.data.misfit(point) == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(weighted.data.y, problem.data.y, rtol=0, atol=0)
    e = point.shapes() + point.s[:, :, None] - problem.data.y
    expected = weights[:, None] * problem.data.times_H(e)
    np.testing.assert_allclose(weighted.data.times_H(e), expected, rtol=1e-10, atol=1e-12)
    system = weighted.data.best_C(point.B, point.s, problem.weights)
    best = core.Factors(point.B, system.C, point.s)
    penalized = 0.5 * float(problem.weights @ np.einsum("kip,kip->k", system.C, system.C))
    total = weighted.data.eliminated_loss(point.B, point.s, problem.weights, system)
    own = 0.5 * float(problem.weights @ np.einsum("fk,fk->k", point.B, point.B))
    assert total == pytest.approx(weighted.data.misfit(best) + penalized + own, rel=1e-9)


@pytest.mark.parametrize("inner", [core.VariableProjection(), core.LevenbergMarquardt()])
@pytest.mark.parametrize("kind", KINDS)
def test_every_step_lowers_the_robust_objective_to_a_stationary_point(kind, inner):
    problem = problem_of().with_robust(RobustLoss(kind, 0.02))
    losses = []
    for snapshot in core.iterate(problem, Reweighted(inner, 1e-3), problem.closed_form()):
        losses.append(snapshot.progress.loss)
        point = snapshot.state.factors
        assert snapshot.progress.loss == pytest.approx(problem.loss(point), rel=1e-10)
    assert (np.diff(losses) <= 0).all()
    weighted = problem.with_robust(None).with_observation_weights(problem.robust_weights(point))
    half = weighted.data.half_gradient(point)
    half[: problem.rank] += 0.5 * problem.weights[:, None] * point.B.T
    start = weighted.data.half_gradient(problem.closed_form())
    assert np.linalg.norm(half) < 1e-3 * np.linalg.norm(start)


def test_outliers_have_small_weights_and_the_others_have_not():
    penalty = core.NuclearNorm(1e-3)
    clean, problem = (problem_of(outliers=count, penalty=penalty, eta=0.05) for count in (0, 6))
    moved = np.abs(problem.tracks - clean.tracks).max(axis=1) > 0.05
    *_, clean_end = core.iterate(clean, core.VariableProjection(), clean.closed_form())
    robust = problem.with_robust(RobustLoss("cauchy", 0.01))
    *_, end = core.iterate(robust, Reweighted(core.VariableProjection(), 1e-3), clean_end.state.factors)
    weights = robust.robust_weights(end.state.factors)
    assert weights[moved & problem.visible].max() < 0.1
    assert np.median(weights[~moved & problem.visible]) > 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_scale_is_least_squares(kind):
    problem = problem_of()
    robust = problem.with_robust(RobustLoss(kind, 1e5))
    point = random_point(problem)
    assert robust.loss(point) == pytest.approx(problem.loss(point), rel=1e-8)
    *_, plain = core.iterate(problem, core.VariableProjection(), problem.closed_form())
    *_, end = core.iterate(robust, Reweighted(core.VariableProjection(), 1e-3), problem.closed_form())
    assert end.progress.loss == pytest.approx(plain.progress.loss, rel=1e-6)


def test_penalties_that_are_not_linear_have_robust_losses_too():
    problem = problem_of(penalty=core.CappedNorm(0.02, 1.0)).with_robust(RobustLoss("cauchy", 0.02))
    method = Majorized(Reweighted(core.VariableProjection(), 1e-3))
    losses = [each.progress.loss for each in core.iterate(problem, method, problem.closed_form())]
    assert (np.diff(losses) <= 1e-12).all()
    assert losses[-1] < 0.9 * losses[0]


@pytest.mark.parametrize(("kind", "scale"), [("squared", 1.0), ("huber", 0.0), ("cauchy", float("inf"))])
def test_a_loss_that_is_none_is_refused(kind, scale):
    with pytest.raises(core.InputError, match="loss"):
        RobustLoss(kind, scale)
