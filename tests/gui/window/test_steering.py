"""Undoing parameters, going back to a change, and looking at a run as it was."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, Qt

from core import Settings, WeightedNuclearNorm
from nrsfm_gui.model.changes import GESTURE
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.undo import MOST_ENTRIES, UndoStack
from nrsfm_gui.panels.loss.loss_controller import NOT_KEPT

QUICK = Settings(rank=2, starts=1, rotations="truth")


def changed(**changes):
    return QUICK.with_changes(**changes)


def test_a_movement_is_undone_as_one_step_and_done_again():
    stack = UndoStack()
    etas = [changed(eta=eta) for eta in (0.05, 0.06, 0.07, 0.08)]
    for k in range(3):
        stack.add(etas[k], etas[k + 1], 0.1 * k)
    stack.add(etas[3], changed(eta=0.08, rank=3), 0.35)  # another parameter
    stack.add(changed(eta=0.08, rank=3), changed(eta=0.09, rank=3), 5.0)
    assert [(stack.undo().description) for _ in range(3)] == [
        "eta 0.08 → 0.09",
        "rank 2 → 3",
        "eta 0.05 → 0.08",
    ]
    assert stack.undo() is None
    assert stack.redo().after == etas[3]
    stack.add(etas[3], changed(eta=0.2), 9.0)  # a new change: what was undone is gone
    assert stack.redo() is None


def test_a_movement_that_ends_where_it_began_is_no_step():
    stack = UndoStack()
    stack.add(changed(eta=0.1), changed(eta=0.2), 0.0)
    stack.add(changed(eta=0.2), changed(eta=0.1), 0.2)
    assert stack.undo() is None


def test_the_stack_is_bounded():
    stack = UndoStack()
    for k in range(MOST_ENTRIES + 50):
        stack.add(changed(max_iterations=k + 1), changed(max_iterations=k + 2), 10.0 * k)
    count = 0
    while stack.undo() is not None:
        count += 1
    assert count == MOST_ENTRIES


@pytest.fixture
def window(qtbot, make_window, known):
    window = make_window(known.sequence, settings=QUICK)
    window.parameters_controller.run()
    wait(qtbot, window)
    return window


def wait(qtbot, window):
    qtbot.waitUntil(
        lambda: window.run_control.current is None and not window.run_control._threads, timeout=30_000
    )


def dragged(window, **changes):
    """Change parameters as the panel does."""
    window.parameters_panel.set_settings(window.session.settings.with_changes(**changes))
    window.session.set_settings(window.parameters_panel.settings)


def test_undo_restores_the_panel_and_the_reconstruction(qtbot, window):
    loss = window.session.shown.last.best.loss
    dragged(window, eta=0.3)
    run = window.session.shown
    wait(qtbot, window)
    assert run.last.settings.eta == 0.3
    window.toolbars.actions["undo"].trigger()
    assert window.parameters_panel.settings == QUICK
    assert "Undone: back to eta 0.05" in said(window)
    wait(qtbot, window)
    assert run.last.settings == QUICK
    assert run.last.best.loss == pytest.approx(loss, rel=1e-6)
    window.toolbars.actions["redo"].trigger()
    assert window.parameters_panel.settings.eta == 0.3
    window.toolbars.actions["redo"].trigger()
    assert said(window) == "Nothing was undone"
    assert window.session.shown is run and len(window.session.runs) == 2


def said(window):
    return window.status_controller.activity.full_text


def test_a_text_field_keeps_its_own_undo(qtbot, window):
    dragged(window, eta=0.3)
    field = window.parameters_panel._fields["rank"]
    field.setFocus()
    qtbot.keyClicks(field, "5")
    before = window.session.settings
    qtbot.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert field.text() != "25"
    assert window.session.settings.eta == before.eta == 0.3


def test_going_back_to_a_change_shows_the_run_and_the_parameters_before_it(qtbot, window):
    dragged(window, rank=3)
    run = window.session.shown
    wait(qtbot, window)
    first, before = run.last.best.loss, window.session.settings
    dragged(window, eta=0.3)
    wait(qtbot, window)
    count = len(run.history)
    tick = run.history.ticks[1]
    window.loss_plot.change_chosen.emit(1)
    assert window.parameters_panel.settings == window.session.settings == before
    assert window.session.moment == tick.first - 1
    assert window.session.seen.displayed.loss == pytest.approx(first)
    qtbot.wait(50)
    assert len(run.history) == count  # it is only looked at
    qtbot.waitUntil(lambda: window.display.drawn is window.session.seen)
    assert "eta 0.05 → 0.3" in said(window)
    assert window.loss_plot.header._newest.isVisibleTo(window.loss_plot.header)
    window.loss_plot.header._newest.click()
    assert window.session.moment is None
    assert window.parameters_panel.settings.eta == 0.3
    qtbot.wait(50)
    assert len(run.history) == count


def test_going_back_to_the_first_change_shows_the_run_before_it(qtbot, window):
    run = window.session.shown
    dragged(window, eta=0.3)
    live = window.session.shown
    wait(qtbot, window)
    count = len(live.history)
    window.loss_controller.show_before_change(0)
    assert (
        window.session.shown is run and window.session.settings == window.parameters_panel.settings == QUICK
    )
    assert said(window) == "Run 1, which run 2 went on from"
    qtbot.wait(50)
    assert window.session.runs == [run, live] and len(live.history) == count
    window.session.set_shown(live)
    window.session.drop_run(run)
    window.loss_controller.show_before_change(0)
    assert said(window) == "Run 1, which run 2 went on from, is forgotten"


def test_after_going_back_a_change_goes_on_from_there(qtbot, window):
    dragged(window, rank=3)
    run = window.session.shown
    wait(qtbot, window)
    dragged(window, eta=0.3)
    wait(qtbot, window)
    count = len(run.history)
    window.loss_controller.show_before_change(1)
    iteration = window.session.seen.record.iteration
    dragged(window, penalty=WeightedNuclearNorm(0.4))
    wait(qtbot, window)
    assert window.session.moment is None
    iterations = [record.iteration for record in run.history.records]
    assert iterations == sorted(iterations)  # a phase begins with the number that the one before ended with
    assert len(iterations) > count
    assert run.history.ticks[2].text == f"from iteration {iteration}: xi 0.5 → 0.4"
    assert run.settings == QUICK.with_changes(rank=3, penalty=WeightedNuclearNorm(0.4))


def test_run_goes_on_from_the_moment_that_is_looked_at(qtbot, window):
    run = window.session.shown
    window.loss_controller.step_iteration(-1)
    kept = run.snapshots.indices
    assert window.session.moment == kept[-2]
    moment = window.session.seen
    window.loss_controller.step_iteration(-100)
    assert window.session.moment == kept[0] == 0
    window.loss_controller.step_iteration(1)
    window.loss_controller.show_record(kept[-2])
    window.parameters_controller.run()
    second = window.session.shown
    assert second is not run
    assert window.session.moment is None
    wait(qtbot, window)
    assert second.warm_from == run.number
    # A column that the penalty has left nothing of begins anew, small.
    assert second.history.records[0].loss == pytest.approx(moment.record.loss, rel=1e-3)


def test_all_views_show_the_moment(qtbot, window):
    run = window.session.shown
    window.loss_controller.show_record(0)
    qtbot.waitUntil(lambda: window.display.drawn is run.snapshots.at(0)[1])
    qtbot.waitUntil(lambda: window.display.seen_quality.loss == run.snapshots.at(0)[1].displayed.loss)
    estimate = window.display.scene.estimate
    window.loss_controller.show_record(None)
    qtbot.waitUntil(lambda: window.display.drawn is run.last)
    assert not np.allclose(window.display.scene.estimate, estimate)


def test_the_cursor_is_dragged_through_the_iterations(qtbot, window):
    run, plot = window.session.shown, window.loss_plot
    line = plot._cursor.line
    qtbot.waitUntil(lambda: line.value() == run.history.iterations[-1] > 0)
    line.moving = True  # as while the mouse holds it
    line.setPos(QPointF(float(run.history.iterations[0]) + 0.2, 0))
    line.sigDragged.emit(line)
    assert window.session.moment == 0
    assert plot.header.reading.full_text == f"0 of {run.history.records[-1].iteration}"
    line.setPos(QPointF(1e6, 0))
    line.sigDragged.emit(line)
    assert window.session.moment is None
    line.moving = False
    line.sigPositionChangeFinished.emit(line)
    assert line.value() == run.history.iterations[-1]
    assert plot.header.reading.full_text.endswith(": newest")


def test_a_run_from_a_file_has_no_iterations_to_look_at(qtbot, window):
    run = window.session.shown
    run.snapshots = type(run.snapshots)()
    window.loss_controller.show_record(0)
    assert window.session.moment is None
    assert said(window) == NOT_KEPT
    window.loss_controller.step_iteration(-1)
    assert window.session.seen is run.last


def test_a_change_of_a_run_from_a_file_cannot_be_gone_back_to(qtbot, window, tmp_path):
    session, path = window.session, tmp_path / "my.nrsfm"
    for eta in (0.1, 0.3):
        session.set_settings(session.settings.with_changes(eta=eta))
        qtbot.waitUntil(
            lambda eta=eta: window.run_control.current is None and session.shown.settings.eta == eta
        )
        qtbot.wait(round(1000 * GESTURE))  # or both were one movement of the hand
    window.session_saver.save_to(path)
    qtbot.waitUntil(lambda: not window.session_saver.busy)
    with qtbot.waitSignal(window.sequence_opening.shown):
        window.sequence_opening.open(path)
    (change,) = (k for k, tick in enumerate(session.shown.history.ticks) if tick.first > 0)
    for ask in (
        lambda: window.loss_controller.show_before_change(change),
        lambda: window.loss_controller.show_record(0),
        lambda: window.loss_controller.step_iteration(-1),
    ):
        window.session.notifier.show_status("")
        ask()
        assert said(window) == NOT_KEPT
        assert session.moment is None and session.settings.eta == 0.3


def test_going_back_stops_a_run_that_goes_on(qtbot, make_window, known, make_stream):
    window = make_window(known.sequence, settings=QUICK)
    window.run_control._work = make_stream(pause=0.002)
    run = window.run_control.start(warm=False)
    qtbot.waitUntil(lambda: len(run.history) > 20)
    window.session.set_settings(changed(eta=0.3))
    qtbot.waitUntil(lambda: bool(run.history.ticks) and len(run.history) > run.history.ticks[0].first + 5)
    window.display.shut_down()  # this stream's points are not of the sequence
    window.loss_controller.show_before_change(0)
    assert run.state is RunState.STOPPED
    assert window.session.settings == QUICK


def test_minus_signs_are_those_of_all_numbers(window):
    axis = window.loss_plot.plot_widget.getPlotItem().getAxis("left")
    assert axis.tickStrings([-0.5, 0.5], 1, 0.5) == ["−0.5", "0.5"]


def test_a_tick_shows_what_changed(qtbot, window):
    dragged(window, eta=0.3)
    wait(qtbot, window)
    qtbot.waitUntil(lambda: window.loss_plot._ticks.texts == ["from run 1: eta 0.05 → 0.3"])
    chosen = []
    window.loss_plot.change_chosen.connect(chosen.append)
    item = window.loss_plot._ticks._item
    item.sigClicked.emit(item, item.points(), None)
    assert chosen == [0]
