"""Runs under robust losses: against outliers, continued, saved, and refused."""

from dataclasses import replace

import numpy as np
import pytest

import core
from core.evaluation import optimality
from core.foundation import PhaseKind
from core.reconstruction import LIVE

QUICK = core.Settings(rank=3, starts=1, rotations="tracks", rotation_rank=1, objective="wnn")
LOW_RANK = core.Settings(
    problem="lowrank", rank=4, penalty=core.TruncatedNuclearNorm(mu=1.0, free=4), starts=1
)


@pytest.fixture(scope="module")
def clean():
    return core.simulate("paper", frames=24, points=30, noise=0.3, seed=1)


@pytest.fixture(scope="module")
def outliers(clean):
    return np.random.default_rng(5).uniform(size=clean.visible.shape) < 0.06


@pytest.fixture(scope="module")
def sequence(clean, outliers):
    tracks, rng = np.array(clean.tracks), np.random.default_rng(6)
    frame, point = np.nonzero(outliers)
    angle = rng.uniform(0, 2 * np.pi, len(frame))
    tracks[frame, :, point] += (rng.uniform(40, 200, len(frame)) * [np.cos(angle), np.sin(angle)]).T
    return replace(clean, tracks=tracks, companion=None)


@pytest.fixture(scope="module")
def cauchy(sequence):
    *_, last = core.iterate(sequence, QUICK, loss="cauchy")
    return last


def error_of(result, clean):
    return core.procrustes_mm(result.points, clean.truth).mean


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["huber", "cauchy"])
def test_outliers_hardly_change_the_shapes_under_a_robust_loss(clean, sequence, outliers, loss):
    best = error_of(core.reconstruct(replace(clean, companion=None), QUICK), clean)
    squared = error_of(core.reconstruct(sequence, QUICK), clean)
    robust = core.reconstruct(sequence, QUICK, loss=loss)
    assert squared > 1.5 * best
    assert error_of(robust, clean) < 1.3 * best
    weights, seen = robust.robust_weights, sequence.visible
    assert np.median(weights[seen & outliers]) < 0.6
    assert np.median(weights[seen & ~outliers]) > 0.8
    assert (weights[~seen] == 0).all()
    assert np.array_equal(robust.visible, seen)  # nothing is hidden


def test_the_last_phase_lowers_the_robust_objective_and_reports_it(sequence):
    records = list(core.iterate(sequence, QUICK, loss="huber", loss_scale=3.0))
    losses = [each.record.loss for each in records if each.phase.kind is PhaseKind.REFINE]
    assert (np.diff(losses) <= 1e-12 * losses[0]).all()
    last = records[-1]
    assert last.best.loss == pytest.approx(last.best.problem.loss(last.best.factors), rel=1e-12)
    assert last.best.problem.robust.scale == pytest.approx(3.0 / sequence.intrinsics[0, 0])


@pytest.mark.slow
def test_a_refinement_of_depths_does_not_follow_rejected_observations():
    scene = core.simulate("paper", frames=12, points=18, noise=0.0, seed=1)
    tracks = np.array(scene.tracks)
    tracks[5, :, 7] += 300.0
    settings = QUICK.with_changes(rank=4, objective="depths", noise=0.0, rotations="truth")
    settings = settings.with_changes(loss="cauchy", loss_scale=10.0, penalty=core.WeightedNuclearNorm(0.05))
    result = core.reconstruct(replace(scene, tracks=tracks), settings)
    away = np.linalg.norm(result.reprojections() - tracks, axis=1)
    assert away[5, 7] > 200  # pixels; on its ray it would be 0
    assert (away[scene.visible] < 1e-6).mean() > 0.9  # nearly all others are on their rays


def test_a_run_continues_under_another_loss(sequence, cauchy):
    assert all({"loss", "loss_scale"} <= set(names) for names in LIVE.values())
    settings = cauchy.settings
    *_, same = core.iterate(sequence, settings.with_changes(rank=4), start=cauchy)
    assert same.best.problem.robust == cauchy.best.problem.robust  # the scale is kept
    *_, scaled = core.iterate(sequence, settings.with_changes(loss_scale=5.0), start=cauchy)
    assert scaled.best.problem.robust.scale == pytest.approx(5.0 / sequence.intrinsics[0, 0])
    *_, squared = core.iterate(sequence, settings.with_changes(loss="squared"), start=scaled)
    assert squared.best.problem.robust is None
    assert squared.robust_weights is None
    result = squared.result()
    assert result.robust_weights is None and result.robust_loss is None and "robust" not in result.meta


def test_results_keep_the_loss_and_the_weights(sequence, cauchy, tmp_path):
    result = cauchy.result()
    path = core.save_result(result, tmp_path / "result.npz")
    loaded = core.load_result(path)
    assert np.array_equal(loaded.robust_weights, cauchy.robust_weights)
    assert loaded.robust_loss == cauchy.best.problem.robust
    start = core.load_start(path, sequence)
    assert start.best.problem.loss(start.best.factors) == pytest.approx(result.loss, rel=1e-12)
    # The paper's four-row form of the weighted problem has the same objective, and hardly a gradient.
    figures = optimality(loaded)
    assert figures["loss_difference"] < 1e-10
    assert figures["relative_gradient"] < 1e-3


def test_a_low_rank_problem_has_robust_losses(sequence, outliers):
    result = core.reconstruct(sequence, LOW_RANK, loss="cauchy")
    weights, seen = result.robust_weights, sequence.visible
    assert np.median(weights[seen & outliers]) < 0.1
    assert np.median(weights[seen & ~outliers]) > 0.7
    assert optimality(result)["loss_difference"] < 1e-10


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"method": "admm", "loss": "huber"}, "a robust loss needs the method bilinear or lm"),
        ({"loss": "l1"}, "loss is 'l1'; accepted are squared, huber, cauchy"),
        ({"loss_scale": 0}, "above 0"),
    ],
)
def test_losses_and_scales_that_are_none_are_refused(sequence, changes, sentence):
    with pytest.raises(core.InputError, match=sentence):
        core.reconstruct(sequence, **changes)


def test_least_squares_with_many_gross_outliers_say_so(clean, sequence, cauchy):
    *_, spoiled = core.iterate(sequence, QUICK)
    assert spoiled.verdicts[0].kind == "outliers"
    assert "% of the observations are far from where the other tracks" in spoiled.verdicts[0].sentence
    *_, fine = core.iterate(replace(clean, companion=None), QUICK)
    assert not fine.verdicts
    assert not cauchy.verdicts  # a robust loss needs no such advice
