"""Low-rank problems in the window: solved, shown in both views, described, exported, gone on from."""

from __future__ import annotations

import shlex
from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtGui import QGuiApplication

from core import (
    CameraModel,
    GroundTruth,
    NuclearNorm,
    Sequence,
    Settings,
    TruncatedNuclearNorm,
    iterate,
    load_result,
    simulate,
    write_npz,
)
from core.cli import main as command_line
from core.foundation import rotation_from_vector
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.session import Session
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.view3d.parts import scene_parts
from nrsfm_gui.scene.scene import MOST_CAMERAS, build_scene, build_shapes
from nrsfm_gui.scene.sequence_errors import SceneRequest, make_picture
from nrsfm_gui.scene.shapes import Alignment, project
from nrsfm_gui.scene.solver_geometry import solved
from nrsfm_gui.scene.summaries import headline, log_loss, measure, quality
from nrsfm_gui.text.run_numbers import numbers, starts_that_agree

FRAMES, POINTS, NOISE = 9, 40, 0.3
LOW_RANK = Settings(problem="lowrank", rank=4, penalty=TruncatedNuclearNorm(mu=1e-3, free=4), eta=1e-4)
K = np.array([[900.0, 0, 400], [0, 900.0, 300], [0, 0, 1]])


@pytest.fixture(scope="module")
def scene() -> Sequence:
    """A rigid scene, with a fifth of the observations missing."""
    rng = np.random.default_rng(7)
    S = rng.uniform(-1, 1, (3, POINTS)) * [[1.0], [1.0], [0.8]]
    turn = np.linspace(-0.6, 0.6, FRAMES)
    R = rotation_from_vector(np.stack([0.2 * np.sin(3 * turn), turn, 0.1 * turn], axis=1))
    t = np.stack([0.1 * turn, 0.2 * turn**2, 4.5 + turn], axis=1)
    Y = K @ (R @ S + t[:, :, None])
    tracks = Y[:, :2] / Y[:, 2:] + rng.normal(0, NOISE, (FRAMES, 2, POINTS))
    visible = rng.uniform(size=(FRAMES, POINTS)) > 0.2
    return Sequence(
        np.where(visible[:, None], tracks, np.nan),
        visible,
        CameraModel.PERSPECTIVE,
        "scene",
        intrinsics=K,
        truth=GroundTruth(np.arange(FRAMES), np.repeat(S[None], FRAMES, axis=0), 0),
    )


@pytest.fixture(scope="module")
def state(scene):
    *_, last = iterate(scene, LOW_RANK)
    return last


@pytest.fixture(scope="module")
def flat(scene):
    """A solution that cannot be upgraded."""
    *_, last = iterate(scene, LOW_RANK.with_changes(rank=3))
    return last


def value(rows, label: str) -> str:
    return next(row.value for row in rows if row.label == label)


def run(qtbot, window):
    window.parameters_controller.run()
    qtbot.waitUntil(lambda: window.run_control.current is None, timeout=60_000)
    window.display.refresh()
    return window.session.shown


def test_a_low_rank_run_is_solved_shown_and_exported(qtbot, make_window, scene, tmp_path, near):
    window = make_window(scene, settings=LOW_RANK)
    shown = run(qtbot, window)
    assert shown.state is RunState.FINISHED
    drawn = window.display.scene
    assert "metric upgrade" in drawn.caption
    apart = np.linalg.norm(drawn.reprojected - drawn.measured, axis=1)[drawn.visible]
    assert np.sqrt(np.mean(apart**2)) < 3 * NOISE
    assert np.isfinite(drawn.reprojected).all()  # hidden points are predicted
    assert np.linalg.norm(drawn.estimate - drawn.truth, axis=1).max() < 0.05
    assert near(window.tracks_view.grab_image(), DARK.reprojected).sum() > 100
    assert near(window.scene_view.grab_image(), DARK.estimate).sum() > 100
    assert window.run_list.tree.topLevelItem(0).text(1) == "bilinear, TNN, low rank"
    with qtbot.waitSignal(window.export_controller.saved):
        window.export_controller.save_reconstruction(tmp_path / "scene.npz")
    result = load_result(tmp_path / "scene.npz")
    assert result.low_rank
    assert result.loss == pytest.approx(shown.last.best.loss)
    for suffix in (".ply", ".obj", ".csv", ".mat"):
        with qtbot.waitSignal(window.export_controller.saved):
            window.export_controller.save_reconstruction(tmp_path / f"scene{suffix}")


def test_all_cameras_stand_around_a_scene_that_is_still(scene, state, flat):
    shapes = build_shapes(scene, state, Alignment())
    drawn = build_scene(scene, shapes, frame=3)
    assert len(drawn.other_cameras) == FRAMES - 1
    true_R = rotation_from_vector(
        np.stack([0.2 * np.sin(3 * (turn := np.linspace(-0.6, 0.6, FRAMES))), turn, 0.1 * turn], axis=1)
    )
    np.testing.assert_allclose(shapes.cameras.R, true_R, atol=0.02)
    parts = scene_parts(drawn, DARK)
    assert len(parts["other cameras"].positions) == 16 * (FRAMES - 1)
    assert build_scene(scene, build_shapes(scene, flat), frame=3).other_cameras == ()


def test_the_view_that_a_run_ends_with_is_the_one_that_is_shown(scene, state):
    plain = replace(state, view=None)  # the same point, as it was shown before the end
    picture = make_picture(SceneRequest(scene, plain, Alignment()))
    assert state.view is not None
    assert picture.of.shapes_as(SceneRequest(scene, plain, Alignment()))
    assert not picture.of.shapes_as(SceneRequest(scene, state, Alignment()))
    adjusted = make_picture(SceneRequest(scene, state, Alignment()))
    assert adjusted.quality.error < picture.quality.error
    assert adjusted.quality.reprojection == picture.quality.reprojection  # that of what was solved for


def test_a_long_still_scene_draws_a_limited_number_of_cameras(scene, state):
    shapes = build_shapes(scene, state)
    count = 5 * MOST_CAMERAS
    cameras = replace(
        shapes.cameras,
        **{name: np.repeat(getattr(shapes.cameras, name)[:1], count, axis=0) for name in "RtK"},
    )
    drawn = build_scene(scene, replace(shapes, cameras=cameras), frame=0)
    assert len(drawn.other_cameras) == MOST_CAMERAS - 1


def test_without_a_metric_upgrade_the_matrix_is_shown_as_its_cameras_see_it(scene, flat):
    found = solved(scene, flat)
    assert not found.metric
    shapes = build_shapes(scene, flat, Alignment())
    assert shapes.truth is None  # coordinates of a camera are not those of the truth
    assert not shapes.alignment.compares
    drawn = build_scene(scene, shapes, frame=0)
    assert "no metric upgrade" in drawn.caption
    assert drawn.subject != build_scene(scene, build_shapes(scene, None), frame=0).subject  # the view fits it
    # The same pictures, by cameras with the K of the views and by the projective ones.
    np.testing.assert_allclose(project(shapes.cameras, shapes.points), shapes.reprojected, rtol=1e-9)
    np.testing.assert_allclose(shapes.cameras.K[0], K)
    unknown = replace(scene, intrinsics=None)
    shapes = build_shapes(unknown, replace(flat, calibration=None))
    np.testing.assert_allclose(project(shapes.cameras, shapes.points), shapes.reprojected, rtol=1e-9)


def test_the_numbers_show_the_result_of_the_metric_upgrade(qapp, scene, state, flat):
    session = Session()
    session.set_sequence(scene)
    for last in (state, flat):
        shown = session.add_run(last.settings)
        shown.last, shown.state = last, RunState.FINISHED
        known = quality(build_shapes(scene, last))
        rows = numbers(shown, known, scene)
        tip = next(row.tip for row in rows if row.label == "starts that agree").splitlines()
        assert len(tip) == 1 + len(last.starts)
        assert sorted(line.split(":")[0] for line in tip[1:]) == sorted(start.name for start in last.starts)
        gamma = np.sort(last.best.factors.gamma())[::-1]
        assert value(rows, "singular values") == ", ".join(f"{number:.3g}" for number in gamma)
        if last is state:
            assert value(rows, "metric upgrade") == "K as given"
            assert float(value(rows, "metric RMS").split()[0]) < 3 * NOISE
            assert known.error < 0.02
        else:
            assert value(rows, "metric upgrade") == f"none: {flat.geometry.figures['reason']}"
            assert value(rows, "mean 3-D error") == "needs a metric upgrade"
            reason = "K as given: no metric upgrade: no parallax; K unknown: no metric upgrade: no depth"
            told = replace(known, figures={**known.figures, "reason": reason})
            words = value(numbers(shown, told, scene), "metric upgrade")
            assert words == "none: K as given: no parallax; K unknown: no depth"
            shown.state = RunState.RUNNING
            assert value(numbers(shown, known, scene), "metric upgrade") == "none yet"


def test_the_loss_shown_with_the_errors_is_that_of_the_same_point(scene, state, flat):
    session = Session()
    session.set_sequence(scene)
    shown = session.add_run(state.settings)
    shown.last, shown.state = state, RunState.RUNNING  # the solver is ahead of what is drawn
    known = make_picture(SceneRequest(scene, flat, Alignment())).quality
    loss = flat.displayed.loss
    assert loss != state.displayed.loss
    assert value(numbers(shown, known, scene), "loss") == f"{loss:.4g} (log10 {log_loss(loss)})"
    told = headline(state, known, scene)  # has the newest loss, and says that the errors follow
    assert told.startswith(f"log10 loss {log_loss(state.displayed.loss)} ")
    assert f"{measure(known.reprojection, scene.units)} …" in told
    assert "…" not in headline(flat, known, scene)
    assert headline(flat, None, scene) == f"log10 loss {log_loss(loss)}"


def test_a_low_rank_run_goes_on_from_another_and_starts_anew_from_a_non_rigid_one(qtbot, make_window, scene):
    quick = Settings(rank=2, rotations="tracks", rotation_rank=2, starts=1)
    window = make_window(scene, settings=quick)
    first = run(qtbot, window)
    assert first.state is RunState.FINISHED
    for settings in (LOW_RANK, LOW_RANK.with_changes(rank=6, penalty=NuclearNorm(mu=1e-4)), quick):
        window.parameters_panel.set_settings(settings)
        window.session.set_settings(settings)
        shown = run(qtbot, window)
        assert shown.state is RunState.FINISHED
        assert shown.message == "refine"
        assert shown.last.best.factors.rank == settings.rank
        assert np.isfinite(window.display.scene.estimate).all()
    assert [each.settings.problem for each in window.session.runs] == [
        "nonrigid",
        "lowrank",
        "lowrank",
        "nonrigid",
    ]
    assert first.last.best.loss == pytest.approx(shown.last.best.loss, rel=1e-6)
    qtbot.waitUntil(lambda: window.spectrum_plot.canvas.parts.heights.size == 2)


def test_changing_problem_while_a_run_is_held_starts_the_other_one(qtbot, make_window, scene):
    window = make_window(scene, settings=LOW_RANK)
    window.run_control.start(warm=False, paused=True)
    window.run_control.step()
    qtbot.waitUntil(lambda: len(window.session.shown.history) > 0)
    other = Settings(rank=2, rotations="tracks", rotation_rank=2, starts=1)
    window.parameters_panel.set_settings(other)
    window.session.set_settings(other)
    window.run_control.set_paused(False)
    qtbot.waitUntil(lambda: window.run_control.current is None, timeout=60_000)
    shown = window.session.shown
    assert shown.state is RunState.FINISHED
    assert shown.settings == other
    assert shown.last.settings.problem == "nonrigid"
    assert "problem lowrank → nonrigid" in shown.history.ticks[0].text


@pytest.mark.parametrize("method", ["admm", "irnn", "agd", "paper", "lm"])
def test_every_method_of_the_low_rank_problem_runs_in_the_window(qtbot, make_window, scene, method):
    settings = LOW_RANK.with_changes(method=method, max_iterations=40)
    window = make_window(scene, settings=settings)
    shown = run(qtbot, window)
    assert shown.state is RunState.FINISHED
    assert np.isfinite(shown.last.best.loss)
    assert window.display.scene.reprojected is not None


def test_the_copied_command_solves_the_same_problem(qtbot, make_window, scene, tmp_path, monkeypatch):
    write_npz(scene, tmp_path / "scene.npz")
    window = make_window(settings=LOW_RANK)
    with qtbot.waitSignal(window.sequence_opening.opened):
        window.sequence_opening.open(tmp_path / "scene.npz")
    shown = run(qtbot, window)
    window.export_controller.copy_command()
    words = shlex.split(QGuiApplication.clipboard().text())
    assert words[words.index("--problem") + 1] == "lowrank"
    monkeypatch.chdir(tmp_path)
    assert command_line([*words[1:], "--quiet"]) == 0
    assert load_result(tmp_path / "result.npz").loss == pytest.approx(shown.last.best.loss, rel=1e-9)


@pytest.mark.parametrize(
    ("settings", "changes"),
    [
        (Settings(rank=2, rotations="truth", starts=3), {"eta": 0.4}),
        (Settings(problem="lowrank", rank=4, starts=2), {"eta": 0.1}),
    ],
)
def test_a_run_that_goes_on_has_no_starts_that_could_agree(settings, changes):
    sequence = simulate("paper", frames=12, points=20, seed=2)
    *_, last = iterate(sequence, settings)
    assert starts_that_agree(last).split()[1] == "of"
    *_, last = iterate(sequence, settings.with_changes(**changes), start=last)
    assert starts_that_agree(last) == "none: it went on"
