"""Sparse low-rank problems: what is seen in two or three views of a turntable is grown view by view."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import core
from core.foundation import phase_text, rotation_from_vector
from core.reconstruction.low_rank_pipeline import measurement_norm
from core.reconstruction.view_growth import INTERVAL, ViewGrowth, first_views, shared_points

LOWRANK = core.Settings(problem="lowrank", rank=4, penalty=core.TruncatedNuclearNorm(1.0, 4))
VIEWS, POINTS = 24, 500


@pytest.fixture(scope="module")
def turntable() -> tuple[core.Sequence, np.ndarray]:
    """24 views around a scene, each point in two or three of them, 0.5 px noise; and the true points."""
    random = np.random.default_rng(1)
    S = random.standard_normal((3, POINTS))
    S /= np.linalg.norm(S, axis=0)
    turn = np.zeros((VIEWS, 3))
    turn[:, 1] = np.arange(VIEWS) * 2 * np.pi / VIEWS
    R = rotation_from_vector(np.array([[0.2, 0.0, 0.0]])) @ rotation_from_vector(turn)
    Y = R @ S + np.array([0.0, 0.0, 6.0])[:, None]
    tracks = 1400.0 * Y[:, :2] / Y[:, 2:] + np.array([640.0, 480.0])[:, None]
    tracks += 0.5 * random.standard_normal(tracks.shape)
    facing = np.argmin(Y[:, 2], axis=0)  # the view that a point is nearest to
    length = random.integers(2, 4, POINTS)
    after = (np.arange(VIEWS)[:, None] - facing) % VIEWS
    visible = after < length
    K = np.array([[1400.0, 0.0, 640.0], [0.0, 1400.0, 480.0], [0.0, 0.0, 1.0]])
    hidden = np.where(visible[:, None], tracks, np.nan)
    return core.Sequence(hidden, visible, core.CameraModel.PERSPECTIVE, "turntable", intrinsics=K), S


def posed(sequence: core.Sequence, eta: float = 0.05) -> core.LowRankProblem:
    norm = measurement_norm(sequence.tracks, sequence.visible)
    return core.LowRankProblem(sequence.tracks / norm, sequence.visible, eta, np.zeros(4))


@pytest.mark.slow
def test_a_turntable_ends_in_the_minimum_that_a_start_from_the_truth_reaches(turntable):
    sequence, S = turntable
    assert sequence.visible.mean() < 0.11
    problem = posed(sequence)
    true = core.Factors(
        np.vstack((S, np.ones(S.shape[1]))).T, np.zeros((4, 3, VIEWS)), np.zeros((S.shape[1], 3))
    )
    known = core.solve(problem, core.VariableProjection(tolerance=1e-10), true).progress.loss
    result = core.reconstruct(sequence, LOWRANK.with_changes(starts=3))
    assert result.loss == pytest.approx(known, rel=1e-5)
    assert result.meta["low_rank"]["metric_rms"] < 0.6
    starts = {start["name"]: start for start in result.meta["starts"]}
    assert starts["views added 1"]["agrees"]
    others = [starts[name]["loss"] for name in ("closed form, cut", "grown")]
    assert min(others) > 1.5 * known  # which is why views are added


def test_views_and_points_only_become_more_until_all_are_in(turntable):
    growth = ViewGrowth(posed(turntable[0]), 3)
    sizes, rounds = [], 1
    while True:
        part, start = growth.part()
        sizes.append(part.visible.shape)
        assert (part.visible.sum(axis=0) >= 2).all()
        assert part.eta == 1e-3
        growth.update(core.solve(part, core.VariableProjection(max_iterations=3), start).state.factors)
        if growth.complete:
            break
        growth.add_views()
        rounds += 1
    assert sizes[0][0] == 2
    assert sizes[-1] == turntable[0].visible.shape
    for (views, points), (more, of_points) in pairwise(sizes):
        assert 1 <= more - views <= max(1, INTERVAL * views)
        assert of_points >= points
    assert rounds == ViewGrowth(posed(turntable[0]), 3).count_rounds()


def test_without_noise_the_camera_and_the_points_that_a_view_adds_are_exact(turntable):
    """From two true cameras and their points, views that are added fit before anything is adjusted."""
    sequence, S = turntable
    turn = np.zeros((VIEWS, 3))
    turn[:, 1] = np.arange(VIEWS) * 2 * np.pi / VIEWS
    t = np.tile([[0.0], [0.0], [6.0]], (VIEWS, 1, 1))
    P = np.concatenate((rotation_from_vector(turn), t), axis=2) / 6.0
    U = np.vstack((S, np.ones(POINTS)))
    X = P @ U
    exact = core.LowRankProblem(X[:, :2] / X[:, 2:], sequence.visible, 1e-9, np.zeros(4))
    growth = ViewGrowth(exact, 0)
    shared = shared_points(exact.visible)[0]
    views = [0, int(np.argmax(shared))]
    points = exact.visible[views].all(axis=0)
    start = core.Factors(
        U[:, points].T, np.ascontiguousarray(P[views].transpose(2, 1, 0)), np.zeros((points.sum(), 3))
    )
    assert growth.part()[0].visible.shape == (2, shared.max())
    growth.update(start)
    growth.add_views()
    part, grown = growth.part()
    assert part.visible.shape[0] == 3
    residual = np.abs(part.structure(grown)[:, :2] / part.structure(grown)[:, 2:] - part.tracks)
    assert residual[np.broadcast_to(part.visible[:, None], residual.shape)].max() < 1e-3


def test_a_view_that_shares_nothing_gets_the_camera_of_another(turntable):
    visible = turntable[0].visible.copy()
    visible[7] = False
    growth = ViewGrowth(core.LowRankProblem(posed(turntable[0]).tracks, visible, 0.05, np.zeros(4)), 3)
    while not growth.complete:
        part, start = growth.part()
        growth.update(core.solve(part, core.VariableProjection(max_iterations=2), start).state.factors)
        growth.add_views()
    assert np.isfinite(growth.factors().B).all()
    assert growth.factors().C[:, :, 7].any()


def test_dense_problems_grow_no_views(turntable):
    sequence, _ = turntable
    dense = np.random.default_rng(0).random((10, 40)) < 0.6
    random = np.random.default_rng(0)
    assert not len(first_views(core.LowRankProblem(np.ones((10, 2, 40)), dense, 0.05, np.zeros(4)), random))
    chosen = first_views(posed(sequence), random)
    most = shared_points(sequence.visible).max(axis=1)
    assert len(chosen) >= VIEWS // 2
    assert most[chosen].min() >= np.median(most)


@pytest.mark.slow
def test_a_growth_streams_its_views(turntable):
    iterates = list(core.iterate(turntable[0], LOWRANK.with_changes(starts=3, max_iterations=2)))
    assert all(0.0 <= each.fraction <= 1.0 for each in iterates)
    assert any("views added 1, 12 of 24 views" in phase_text(each.phase) for each in iterates)
