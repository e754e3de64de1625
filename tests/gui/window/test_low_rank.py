"""Low-rank problems in the window: solved, shown in both views, described, exported."""

import numpy as np
import pytest

from core import Settings, TruncatedNuclearNorm, load_result
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.theme import DARK

NOISE = 0.3
LOW_RANK = Settings(problem="lowrank", rank=4, penalty=TruncatedNuclearNorm(mu=1e-3, free=4), eta=1e-4)


def run(qtbot, window):
    window.parameters_controller.run()
    qtbot.waitUntil(lambda: window.run_control.current is None)
    window.display.refresh()
    return window.session.shown


@pytest.mark.slow
def test_a_low_rank_run_is_solved_shown_and_exported(qtbot, make_window, rigid_scene, tmp_path, near):
    window = make_window(rigid_scene, settings=LOW_RANK)
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
    assert window.sequences_panel.tree.item(1).text(0) == "lowrank, eta 1e-4, mu 0.001"
    with qtbot.waitSignal(window.export_controller.saved):
        window.export_controller.save_reconstruction(tmp_path / "scene.npz")
    result = load_result(tmp_path / "scene.npz")
    assert result.low_rank
    assert result.loss == pytest.approx(shown.last.best.loss)
    for suffix in (".ply", ".obj", ".csv", ".mat"):
        with qtbot.waitSignal(window.export_controller.saved):
            window.export_controller.save_reconstruction(tmp_path / f"scene{suffix}")


@pytest.mark.slow
def test_changing_problem_while_a_run_is_held_starts_the_other_one(qtbot, make_window, rigid_scene):
    window = make_window(rigid_scene, settings=LOW_RANK)
    window.run_control.start(warm=False, paused=True)
    window.run_control.step()
    qtbot.waitUntil(lambda: len(window.session.shown.history) > 0)
    other = Settings(rank=2, rotations="tracks", rotation_rank=2, starts=1, objective="wnn")
    window.parameters_panel.set_settings(other)
    window.session.set_settings(other)
    window.run_control.set_paused(False)
    qtbot.waitUntil(lambda: window.run_control.current is None)
    shown = window.session.shown
    assert shown.state is RunState.FINISHED
    assert shown.settings == other
    assert shown.last.settings.problem == "nonrigid"
    assert "problem lowrank → nonrigid" in shown.history.ticks[0].text
