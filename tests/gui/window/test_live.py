"""Live mode in the window: the frame that is looked at follows at once, all else when the hand rests."""

import threading

import numpy as np
import pytest
from patience import PATIENCE
from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QComboBox

from core import Settings, iterate
from nrsfm_gui.model.names import sentence_name
from nrsfm_gui.model.run import RunState
from nrsfm_gui.panels.parameters import parameter_texts, parameters_panel
from nrsfm_gui.panels.parameters.spectrum_state import WORDS
from nrsfm_gui.scene import display
from nrsfm_gui.scene.comparison import relative_movement
from nrsfm_gui.scene.shapes import build_shapes
from nrsfm_gui.scene.summaries import measure
from nrsfm_gui.widgets.drag_number import DragSlider

QUICK = Settings(rank=2, starts=1, rotations="truth", objective="wnn")


@pytest.fixture
def window(qtbot, make_window, add_solved_run, known):
    window = make_window(known.sequence, settings=QUICK)
    run = add_solved_run(window.session, known.sequence, QUICK)
    qtbot.waitUntil(lambda: window.display._picture.of.iterate is run.last)
    return window


def drag(window, name, pixels):
    """Drag a slider with the mouse, a pixel at a time."""
    moved = window.parameters_panel.findChild(DragSlider, f"drag {name}")
    window.parameters_panel.ensureWidgetVisible(moved)
    start = moved.rect().center()
    QTest.mousePress(moved, Qt.MouseButton.LeftButton, pos=start)
    for pixel in range(1, pixels + 1):
        QTest.mouseMove(moved, QPointF(start.x() + pixel, start.y()).toPoint())
        QTest.qWait(5)
    QTest.mouseRelease(moved, Qt.MouseButton.LeftButton)


def test_a_dragged_slider_solves_on_in_one_further_run_with_one_tick(qtbot, window, one_gesture):
    done = window.session.shown
    count, last = len(done.history), done.last
    assert window.session.live and window.toolbars.actions["live"].isChecked()
    drag(window, "xi", 12)
    run = window.session.shown
    qtbot.waitUntil(lambda: run.state is RunState.FINISHED and run.settings == window.session.settings)
    assert window.session.runs == [done, run]
    assert (len(done.history), done.settings) == (count, QUICK) and done.last is last
    (tick,) = run.history.ticks
    assert tick.first == 0
    assert tick.text.startswith("from run 1: xi 0.5 → ")
    assert run.last.settings == window.session.settings != QUICK
    assert run.last.best.problem.eta == window.session.settings.eta
    new, old = (sentence_name(each) for each in (run, done))
    words = f"Run {new} follows your changes; run {old} stays as it was."
    qtbot.waitUntil(lambda: words in window.message_bar.text)


def test_a_preset_makes_a_run_of_its_own_and_undoing_it_solves_nothing(qtbot, window, monkeypatch):
    quick = {name: QUICK.with_changes(eta=eta) for name, eta in (("recommended", 0.1), ("bilinear", 0.2))}
    for module in (parameters_panel, parameter_texts):
        monkeypatch.setattr(module, "PRESETS", quick)
    done = window.session.shown
    kept = done.settings, len(done.history), done.last
    window.parameters_panel.findChild(QComboBox, "preset").chosen.emit("bilinear")
    run = window.session.shown
    assert window.session.runs == [done, run] and run is not done
    assert window.session.settings == run.settings == quick["bilinear"] and run.warm_from is None
    words = f"Run {sentence_name(run)} is of this preset; run {sentence_name(done)} stays as it was. Ctrl+Z"
    assert words in window.message_bar.text
    qtbot.waitUntil(lambda: run.state is RunState.FINISHED)
    assert (done.settings, len(done.history), done.last) == kept
    solved = len(run.history), run.last
    window.session.undo()
    assert window.session.shown is done and window.session.settings == QUICK
    assert window.parameters_panel.settings == QUICK
    qtbot.wait(100)
    assert window.run_control.current is None and window.session.runs == [done, run]
    window.session.redo()
    assert window.session.shown is run and window.session.settings == quick["bilinear"]
    qtbot.wait(100)
    assert window.run_control.current is None
    assert (len(run.history), run.last) == solved and (done.settings, len(done.history), done.last) == kept
    window.parameters_panel.findChild(QComboBox, "preset").chosen.emit("recommended")
    assert "preset recommended" not in window.message_bar.text  # reported once
    window.session.undo()  # while it is under way
    assert window.session.shown is run
    qtbot.waitUntil(lambda: window.run_control.current is None)
    assert window.session.runs[-1].state is RunState.STOPPED


@pytest.fixture
def refined(qtbot, make_window, add_solved_run, known):
    settings = QUICK.with_changes(objective="depths")
    window = make_window(known.sequence, settings=settings)
    run = add_solved_run(window.session, known.sequence, settings)
    qtbot.waitUntil(lambda: window.display._picture.of.iterate is run.last)
    window.parameters_controller.flush()
    return window


def follows(qtbot, window):
    """Wait until the shown run has come to the minimum of what the parameters say, and return its end."""
    session = window.session

    def over():
        run = session.shown
        return run.state is RunState.FINISHED and run.last.settings == session.settings

    qtbot.waitUntil(over)
    qtbot.waitUntil(lambda: window.display._picture.of.iterate is session.shown.last)
    return session.shown.last


@pytest.mark.slow
def test_weights_of_modes_are_followed_and_stay_and_the_window_says_how_far_the_shape_moved(qtbot, refined):
    session, plot = refined.session, refined.parameters_panel.spectrum_plot
    before = session.shown.last
    assert refined.parameters_panel.settings.objective == "depths" and set(plot.canvas.weights) == {1.0}
    assert plot.canvas.hint.full_text == WORDS["depths"].hint
    plot.canvas.rank_requested.emit(1)
    now = follows(qtbot, refined)
    assert now.settings.mode_weights == (1.0, 20.0)
    share = relative_movement(before.geometry.points, now.geometry.points)
    assert share > 1e-4
    size = refined.display.errors.of_run(session.shown).errors.size
    qtbot.waitUntil(
        lambda: plot.canvas.hint.full_text == f"Moved {measure(share * size, 'mm')} by this change."
    )
    assert now.spectrum.values[1] < before.spectrum.values[1]
    qtbot.waitUntil(
        lambda: plot.canvas.state.singular_values[1] == pytest.approx(100 * now.spectrum.values[1])
    )


@pytest.mark.slow
def test_a_movement_during_the_search_is_followed_from_its_end(qtbot, make_window, known, solve_once):
    settings, moved = QUICK.with_changes(objective="depths"), threading.Event()
    first, *_, last = solve_once(known.sequence, settings)

    def work(sequence, settings, start):
        if start is not None:
            yield from iterate(sequence, settings, start=start)
            return
        yield first
        moved.wait(PATIENCE)
        yield last

    window = make_window(known.sequence, settings=settings, work=work)
    session = window.session
    window.parameters_controller.run()
    searched = session.shown
    qtbot.waitUntil(lambda: searched.last is not None)
    session.set_settings(session.settings.with_changes(isometry=1.0))
    assert session.shown is searched and searched.settings.isometry == 0.3
    waits = window.parameters_panel.differs.text
    qtbot.waitUntil(lambda: waits.full_text == "Applied after the search: isometry")
    assert waits.isVisibleTo(window.parameters_panel)
    moved.set()
    qtbot.waitUntil(lambda: session.shown is not searched)
    qtbot.waitUntil(waits.isHidden)
    assert searched.last.settings.isometry == 0.3 and searched.state is RunState.FINISHED
    assert follows(qtbot, window).settings.isometry == 1.0
    assert session.runs == [searched, session.shown] and session.shown.warm_from == 1


@pytest.mark.slow
def test_the_frame_is_drawn_ahead_of_the_others_and_all_follow(qtbot, window, known, monkeypatch):
    window.session.set_frame(3)
    window.session.set_settings(QUICK.with_changes(eta=0.3))
    run = window.session.shown  # the one that follows
    qtbot.waitUntil(lambda: run.state is RunState.FINISHED and window.run_control.current is None)
    qtbot.waitUntil(lambda: window.display._picture.of.iterate is run.last)
    before, rests = window.display._picture, display.DRAG_RESTS
    monkeypatch.setattr(display, "DRAG_RESTS", 3600.0)  # seconds: the drag goes on
    window.session.set_settings(QUICK.with_changes(eta=0.4))
    qtbot.waitUntil(lambda: window.display.drawn.settings.eta == 0.4)
    assert window.display._picture is before  # nobody looks at the other frames
    drawn, scene = window.display.drawn, window.display.scene
    shapes = build_shapes(known.sequence, drawn, window.session.alignment)
    np.testing.assert_allclose(scene.estimate, shapes.points[3].T, atol=1e-9)
    np.testing.assert_allclose(scene.reprojected, shapes.reprojected[3].T, atol=1e-9)
    qtbot.waitUntil(lambda: run.state is RunState.FINISHED)
    assert window.display._picture is before
    monkeypatch.setattr(display, "DRAG_RESTS", rests)
    window.session.set_frame(4)
    qtbot.waitUntil(lambda: window.display._picture.of.iterate is run.last)
    assert window.display.drawn is run.last
    assert window.display.errors.of_run(run).value == run.last.best.loss
    shapes = build_shapes(known.sequence, run.last, window.session.alignment)
    np.testing.assert_allclose(window.display._picture.series[0].per_frame, shapes.errors.mean(axis=1))
