"""Undoing parameters, going back to a change, and looking at a run as it was."""

import pytest
from PyQt6.QtCore import Qt

from core import Settings

QUICK = Settings(rank=2, starts=1, rotations="truth", objective="wnn")


@pytest.fixture
def window(make_window, add_solved_run, known):
    window = make_window(known.sequence, settings=QUICK)
    add_solved_run(window.session, known.sequence, QUICK)
    window.display.refresh()
    return window


def wait(qtbot, window):
    qtbot.waitUntil(lambda: window.run_control.current is None and not window.run_control._threads)


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
    assert "Undone: back to eta 0.05" in reported(window)
    assert "loss curve" in reported(window)
    wait(qtbot, window)
    assert run.last.settings == QUICK
    assert run.last.best.loss == pytest.approx(loss, rel=1e-6)
    window.toolbars.actions["redo"].trigger()
    assert window.parameters_panel.settings.eta == 0.3
    window.toolbars.actions["redo"].trigger()
    assert reported(window) == "Nothing was undone"
    assert window.session.shown is run and len(window.session.runs) == 2


def test_the_ways_back_in_time_show_the_loss_curve_and_move_its_line(qtbot, window):
    dragged(window, eta=0.3)
    wait(qtbot, window)
    actions, dock = window.toolbars.actions, window.loss_plot.parentWidget()
    run = window.session.shown
    for name in ("earlier", "before_change", "newest", "earlier", "later"):
        dock.hide()
        window.session.set_shown(run)
        actions[name].trigger()
        assert dock.isVisible() and "loss curve" in actions[name].whatsThis(), name
        assert (window.session.moment is None) == (name != "earlier"), name
    assert window.session.settings.eta == 0.05


def test_escape_leaves_a_moment_then_the_selection_then_the_range_then_the_comparison(qtbot, window):
    dragged(window, eta=0.3)
    wait(qtbot, window)
    session, controller = window.session, window.compare_controller
    controller.toggle()
    session.set_frame_range((3, 6))
    session.set_point(2)
    window.toolbars.actions["earlier"].trigger()
    left = [
        lambda: session.moment is None,
        lambda: session.point == -1,
        lambda: session.frame_range is None,
        lambda: not controller.on,
    ]
    assert not any(each() for each in left)
    for pressed in range(1, 5):
        window.toolbars.actions["deselect"].trigger()
        assert [each() for each in left] == [True] * pressed + [False] * (4 - pressed)


def reported(window):
    return window.status_controller.line.full_text


@pytest.mark.slow
def test_a_text_field_keeps_its_own_undo(qtbot, window):
    dragged(window, eta=0.3)
    field = window.parameters_panel._rows.editors["rank"]
    field.setFocus()
    qtbot.keyClicks(field, "5")
    before = window.session.settings
    qtbot.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert field.text() != "25"
    assert window.session.settings.eta == before.eta == 0.3
