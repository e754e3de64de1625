"""Runs of the low-rank problem: from uncalibrated tracks to cameras, points, a metric view and its files."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from dataclasses import fields, replace
from itertools import islice, pairwise

import numpy as np
import pytest
import scipy.io

import core
from core.cameras.metric_upgrade import reprojection_rms
from core.cli import main
from core.evaluation import optimality
from core.foundation import procrustes, rotation_from_vector
from core.reconstruction.low_rank_pipeline import measurement_norm, point_subset

FREE = core.TruncatedNuclearNorm(1.0, 4)
K = np.array([[900.0, 0.0, 320.0], [0.0, 900.0, 240.0], [0.0, 0.0, 1.0]])


def rigid_scene(
    views: int = 9, points: int = 30, *, noise: float = 0.0, missing: float = 0.0, moving: float = 0.0
) -> core.Sequence:
    """Views of a scene from a wide arc; `moving` adds one mode of deformation of that size."""
    random = np.random.default_rng(3)
    S = np.repeat(random.standard_normal((3, points))[None], views, axis=0)
    S = S + moving * np.sin(np.arange(views))[:, None, None] * random.standard_normal((3, points))
    R = rotation_from_vector(
        np.column_stack((np.zeros(views), np.linspace(-0.7, 0.7, views), np.zeros(views)))
    )
    R = rotation_from_vector(0.15 * random.standard_normal((views, 3))) @ R
    t = np.column_stack((0.2 * random.standard_normal((views, 2)), 7 + random.random(views)))
    Y = K @ (R @ S + t[:, :, None])
    tracks = Y[:, :2] / Y[:, 2:] + noise * random.standard_normal((views, 2, points))
    visible = random.random((views, points)) >= missing
    return core.Sequence(
        np.where(visible[:, None], tracks, np.nan),
        visible,
        core.CameraModel.PERSPECTIVE,
        "scene",
        intrinsics=K,
        truth=core.GroundTruth(np.arange(views), S, 0),
    )


def settings(**changes) -> core.Settings:
    return core.Settings(problem="lowrank", rank=4, penalty=FREE).with_changes(**changes)


@pytest.fixture(scope="module")
def scene() -> core.Sequence:
    return rigid_scene(noise=0.3, missing=0.25)


@pytest.fixture(scope="module")
def solved(scene):
    return core.reconstruct(scene, settings(eta=5e-4))


def test_a_rigid_scene_is_recovered_up_to_a_similarity(scene, solved):
    assert solved.meta["status"] == "converged"
    assert solved.meta["low_rank"]["metric"]
    assert solved.intrinsics == pytest.approx(K)
    assert solved.rank == 4
    assert solved.B.shape == (9, 1)
    true = scene.truth.points[0]
    moved = procrustes(solved.points[0], true).apply(solved.points[0])
    assert np.sqrt(np.mean(np.sum((moved - true) ** 2, axis=0))) < 0.01
    assert np.array_equal(solved.points[0], solved.points[-1])
    there = np.broadcast_to(scene.visible[:, None], scene.tracks.shape)
    assert solved.observations()[there] == pytest.approx(scene.tracks[there], rel=1e-12)
    X = (solved.cameras @ solved.homogeneous).reshape(-1, solved.point_count)
    assert solved.singular_values == pytest.approx(np.linalg.svd(X, compute_uv=False)[:4])
    numbers = optimality(solved)  # by the four residuals
    assert numbers["loss_difference"] < 1e-9
    assert numbers["relative_gradient"] < 1e-6


def test_a_rank_that_is_not_used_up_hides_no_rigid_scene(scene, solved):
    result = core.reconstruct(scene, settings(eta=5e-4, rank=6, starts=1))
    assert result.meta["remarks"][0].startswith("only 4 of 6 singular values are used")
    assert result.B.shape == (9, 1)
    assert result.meta["low_rank"]["metric_rms"] == pytest.approx(solved.meta["low_rank"]["metric_rms"])


def test_reprojections_are_those_of_the_metric_view_and_the_projective_cameras_have_an_error_of_their_own(
    scene, solved
):
    figures, errors = solved.meta["low_rank"], core.errors_of(solved)
    seen = np.where(scene.visible[:, None], scene.tracks, 0.0)
    X = np.diag([solved.norm, solved.norm, 1]) @ (solved.cameras @ solved.homogeneous)
    Y = solved.intrinsics @ solved.camera_points
    for name, shown, error in (
        ("projective_rms", X, "reprojection_px_projective"),
        ("metric_rms", Y, "reprojection_px"),
    ):
        assert figures[name] == pytest.approx(reprojection_rms(shown, seen, scene.visible))
        assert errors[error] == pytest.approx(figures[name]) and figures[name] < 0.5
    assert solved.reprojections() == pytest.approx(Y[:, :2] / Y[:, 2:])
    assert figures["upgraded_rms"] > figures["metric_rms"]


def test_missing_data_end_in_the_minimum_that_a_start_from_the_truth_reaches(scene, solved):
    norm = measurement_norm(scene.tracks, scene.visible)
    problem = core.LowRankProblem(
        np.where(scene.visible[:, None], scene.tracks, 0.0) / norm, scene.visible, 5e-4, np.zeros(4)
    )
    true = np.vstack((scene.truth.points[0], np.ones(scene.point_count)))
    start = core.Factors(true.T, np.zeros((4, 3, 9)), np.zeros((scene.point_count, 3)))
    end = core.solve(problem, core.VariableProjection(), start)
    assert solved.loss == pytest.approx(end.progress.loss, rel=1e-9)


@pytest.mark.parametrize(
    ("known", "changes", "assumed", "focal"),
    [
        (False, {}, "found from the views", pytest.approx(900, rel=0.05)),
        (True, {}, "K as given", pytest.approx(900, rel=0.02)),
        (False, {"intrinsics": (905.0, 905.0, 320.0, 240.0)}, "K as given", 905.0),
    ],
    ids=["nothing", "the ground-truth frame", "settings"],
)
def test_k_is_found_read_off_the_ground_truth_or_given(scene, known, changes, assumed, focal):
    unknown = replace(scene, intrinsics=None, truth=scene.truth if known else None)
    result = core.reconstruct(unknown, settings(eta=5e-4, starts=1, **changes))
    assert assumed in result.meta["low_rank"]["assumed"]
    assert result.intrinsics[0, 0] == focal
    if not (known or changes):
        with pytest.raises(core.InputError, match="intrinsics are unknown"):
            next(core.iterate(unknown, settings(intrinsics="gt")))


def test_where_no_upgrade_exists_x_itself_is_shown(scene):
    result = core.reconstruct(scene, settings(rank=3, penalty=core.ExplicitWeights((0.0, 0.0, 0.0))))
    figures = result.meta["low_rank"]
    assert not figures["metric"]
    assert "rank is 3" in figures["reason"]
    assert result.points == pytest.approx(result.cameras @ result.homogeneous)
    assert result.B.shape[1] == 9
    assert result.intrinsics == pytest.approx(np.diag([result.norm, result.norm, 1.0]))
    X = result.camera_points
    assert result.norm * X[:, :2] / X[:, 2:] == pytest.approx(result.reprojections())


def test_a_deforming_scene_moves_in_the_metric_view():
    scene = rigid_scene(moving=0.02)
    result = core.reconstruct(scene, settings(rank=7, penalty=core.RampWeights(1e-5, 4), eta=5e-4, starts=1))
    figures = result.meta["low_rank"]
    assert figures["metric"] and result.B.shape == (9, 10)
    assert np.ptp(result.points, axis=0).max() > 1e-3
    rms = reprojection_rms(result.intrinsics @ result.camera_points, scene.tracks, scene.visible)
    assert figures["metric_rms"] == pytest.approx(rms) and rms < 10.0


def test_methods_on_the_matrix_run_and_are_refined(scene, solved):
    result = core.reconstruct(scene, settings(eta=5e-4, method="admm+bilinear", max_iterations=60))
    assert result.loss == pytest.approx(solved.loss, rel=1e-6)
    assert [start["name"] for start in result.meta["starts"]]


def test_every_start_is_followed_by_the_method_that_was_chosen_and_to_its_limit(scene):
    def second_loss(method, *options):
        iterates = core.iterate(scene, settings(method=method, options=options))
        return [each.record.loss for each in islice(iterates, 3)][1]

    for method in ("lm", "bilinear"):
        assert second_loss(method, ("damping", 10.0)) > second_loss(method)  # a shorter first step
    assert second_loss("lm") != second_loss("bilinear")
    limited = list(core.iterate(scene, settings(max_iterations=2, starts=2)))
    assert max(Counter(each.phase for each in limited).values()) == 3  # and where it begins
    losses = [each.best.loss for each in limited]
    assert all(after <= before * (1 + 1e-9) for before, after in pairwise(losses))
    assert all(np.isfinite(each.geometry.points).all() for each in (limited[0], limited[-1]))


def test_a_run_that_is_changed_to_another_problem_is_of_that_one(scene):
    before = next(core.iterate(scene, settings(starts=1)))
    other = core.Settings(rank=2, rotations="tracks", rotation_rank=2, starts=1, objective="wnn")
    *_, end = core.iterate(scene, other, start=before)
    assert end.status.finished and end.settings == other
    assert end.best.loss == pytest.approx(core.reconstruct(scene, other).loss)


def test_large_problems_are_searched_on_some_of_their_points(monkeypatch):
    scene = rigid_scene(points=1200, noise=0.3, missing=0.2)
    result = core.reconstruct(scene, settings(starts=1))
    assert all("subset" in start["name"] for start in result.meta["starts"])
    assert result.meta["status"] == "converged"
    assert optimality(result)["relative_gradient"] < 1e-6


def test_points_extended_from_a_subset_are_the_best_for_its_cameras():
    scene = rigid_scene(points=60, noise=0.5)
    norm = measurement_norm(scene.tracks, scene.visible)
    problem = core.LowRankProblem(scene.tracks / norm, scene.visible, 0.05, np.array([0, 0, 0, 1e-6]))
    some = point_subset(problem, 9 * 20)
    assert some.small.shape == (20, 9) and some.share == pytest.approx(1 / 3)
    assert some.small.weights == pytest.approx(np.sqrt(1 / 3) * problem.weights)
    random = np.random.default_rng(0)
    lifted = some.to_full(
        core.Factors(np.zeros((20, 4)), random.standard_normal((4, 3, 9)), np.zeros((20, 3)))
    )
    for _ in range(5):
        nudge = 1e-4 * random.standard_normal(lifted.B.shape)
        assert problem.loss(replace(lifted, B=lifted.B + nudge)) > problem.loss(lifted)


def test_the_norm_is_the_spectral_one_of_the_visible_measurements(scene):
    matrix = np.where(scene.visible[:, None], scene.tracks, 0.0).reshape(18, -1)
    assert measurement_norm(scene.tracks, scene.visible) == pytest.approx(np.linalg.norm(matrix, 2))
    with pytest.raises(core.InputError, match="all visible tracks are 0"):
        measurement_norm(np.zeros((3, 2, 5)), np.ones((3, 5), dtype=bool))


def test_a_low_rank_result_survives_its_file(solved, tmp_path):
    read = core.load_result(core.save_result(solved, tmp_path / "low.npz"))
    for entry in fields(solved):
        before, after = getattr(solved, entry.name), getattr(read, entry.name)
        if isinstance(before, np.ndarray):
            assert np.array_equal(before, after, equal_nan=entry.name == "best_losses"), entry.name
    assert read.norm == solved.norm
    assert read.meta["low_rank"] == json.loads(json.dumps(solved.meta["low_rank"]))


def test_other_formats_hold_a_low_rank_result(solved, tmp_path):
    mat, csv, ply = (core.export(solved, tmp_path / f"low{suffix}")[0] for suffix in (".mat", ".csv", ".ply"))
    content = scipy.io.loadmat(mat)
    assert content["cameras"] == pytest.approx(solved.cameras)
    assert content["homogeneous"] == pytest.approx(solved.homogeneous)
    first = csv.read_text().splitlines()[1].split(",")
    assert float(first[-2]) == pytest.approx(solved.reprojections()[0, 0, 0])
    assert ply.stat().st_size > 100


def test_the_command_line_prints_how_the_cameras_fit(scene, tmp_path, capsys):
    source, out, again = (tmp_path / name for name in ("scene.npz", "low.npz", "again.npz"))
    core.write_npz(scene, source)
    words = ["--problem", "lowrank", "--rank", "4", "--penalty", "tnn", "--mu", "1", "--free", "4"]
    assert main(["solve", str(source), *words, "--starts", "1", "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "projective cameras: reprojection" in said
    assert "metric view, bundle adjusted: reprojection" in said
    command = shlex.split(core.load_result(out).meta["command"])
    assert main([*command[1:-1], str(again), "--quiet"]) == 0
    assert np.array_equal(core.load_result(again).cameras, core.load_result(out).cameras)


@pytest.mark.slow
def test_the_door_is_solved_with_missing_data_and_becomes_metric(data):
    sequence = core.read_sequence(data / "real" / "door" / "data.mat")
    result = core.reconstruct(sequence, settings())
    figures = result.meta["low_rank"]
    assert result.meta["starts"] and all(start["agrees"] for start in result.meta["starts"])
    assert figures["projective_rms"] == pytest.approx(2.75, abs=0.01)
    assert figures["metric"] and figures["in_front"] == 1.0
    assert figures["metric_rms"] == pytest.approx(0.41, abs=0.01)
    true = sequence.truth.points[0]
    moved = procrustes(result.points[0], true).apply(result.points[0])
    away = np.linalg.norm(moved - true, axis=0)
    assert np.median(away) < 1e-3 * np.ptp(true, axis=1).max()
