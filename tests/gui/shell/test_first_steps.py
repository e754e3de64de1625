"""The first steps of a new user: shown once, done in any order, each with its place in the window."""

import pytest
from hands import text_of
from PyQt6.QtCore import QPoint
from PyQt6.QtWidgets import QApplication, QWhatsThis

from core import Settings
from nrsfm_gui.model.run import RunState
from nrsfm_gui.shell.first_steps import KEYS, RUNNING

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")


@pytest.fixture
def steps(window, sequence):
    """Return the steps of a sequence before any run."""
    window.first_steps.begin()
    assert window.first_steps.isHidden()  # until there is a sequence
    window.sequence_opening.open_sequence(sequence)
    window.session.set_settings(QUICK)
    return window.first_steps


def test_a_new_user_is_shown_three_steps_once(qtbot, window, steps, store, sequence):
    session, control = window.session, window.run_control
    assert "Press Run" in text_of(steps)
    assert f"{sequence.point_count} points" in text_of(steps)
    assert f"{sequence.frame_count} pictures" in text_of(steps)
    control.start(warm=False)
    assert RUNNING in text_of(steps)
    qtbot.waitUntil(lambda: "Live" in text_of(steps))
    session.set_live(True)
    session.set_settings(QUICK.with_changes(method="irnn"))
    qtbot.waitUntil(lambda: control.current is None)
    assert "Live" in text_of(steps)  # no run has followed
    session.set_settings(QUICK.with_changes(eta=0.06))
    qtbot.waitUntil(lambda: "the answer is worst" in text_of(steps))
    window.timeline.strip.frame_requested.emit(3)
    assert "Ctrl+K" in text_of(steps)
    assert store.steps_done() == KEYS


def test_steps_count_in_any_order(qtbot, window, steps):
    window.session.set_live(False)
    window.run_control.start(warm=False)
    qtbot.waitUntil(lambda: window.session.shown.state is RunState.FINISHED)
    window.timeline.strip.frame_requested.emit(3)
    qtbot.waitUntil(lambda: "Live" in text_of(steps))  # the thread ends after its last word
    assert all(done in text_of(steps) for done in ("✓&nbsp;Run", "2&nbsp;Steer", "✓&nbsp;Worst frame"))


def test_who_has_done_them_or_put_them_away_is_not_asked_again(steps, make_window, sequence):
    steps.dismiss()
    again = make_window(sequence).first_steps
    again.begin()
    assert steps.isHidden() and again.isHidden()
    again.restart()
    assert not again.isHidden()


def test_the_place_of_a_step_is_pointed_out_where_it_is(steps, window):
    steps.show_where()
    (shown,) = (each for each in QApplication.topLevelWidgets() if each.inherits("QWhatsThat"))
    button = window.toolbars.button_of("run")
    around = button.rect().translated(button.mapToGlobal(QPoint(0, 0))).adjusted(-200, -200, 200, 200)
    assert shown.isVisible() and shown.geometry().intersects(around)
    QWhatsThis.hideText()
