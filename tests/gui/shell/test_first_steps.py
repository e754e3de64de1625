"""The first steps of a new user: shown once, done in any order, each with its place in the window."""

from dataclasses import replace

import pytest
from hands import text_of
from PyQt6.QtCore import QPoint
from PyQt6.QtWidgets import QApplication, QMainWindow, QPushButton, QVBoxLayout, QWhatsThis, QWidget

from core import Settings
from nrsfm_gui.model.run import RunState
from nrsfm_gui.panels.timeline.heat_strip import HeatStrip
from nrsfm_gui.panels.timeline.timeline import Timeline
from nrsfm_gui.shell.first_steps import KEYS, RUNNING, FirstSteps

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")


@pytest.fixture
def timeline(show):
    return show(Timeline(), 600, 100)


@pytest.fixture
def window(show):
    """Return a window with a place for the bar, and a button that a step is about."""
    window, center = QMainWindow(), QWidget()
    layout = QVBoxLayout(center)
    layout.addStretch(1)
    window.run_button = QPushButton("Run")
    layout.addWidget(window.run_button)
    window.setCentralWidget(center)
    return show(window, 640, 400)


@pytest.fixture
def make_steps(session, store, control, timeline, window):
    """Make what shows the steps that are left according to the stored settings."""

    def make():
        places = dict.fromkeys(KEYS, lambda: window.run_button)
        steps = FirstSteps(session, store, control, timeline, places=places)
        window.centralWidget().layout().insertWidget(0, steps)
        return steps

    return make


@pytest.fixture
def steps(session, make_steps, sequence):
    """Return the steps of a sequence before any run."""
    steps = make_steps()
    session.set_settings(QUICK)
    steps.begin()
    assert steps.isHidden()  # until there is a sequence
    session.set_sequence(sequence)
    return steps


def test_a_new_user_is_shown_three_steps_once(qtbot, session, control, steps, timeline, store, sequence):
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
    timeline.findChild(HeatStrip).frame_requested.emit(3)
    assert "Ctrl+K" in text_of(steps)
    assert store.steps_done == KEYS


def test_steps_count_in_any_order(qtbot, session, control, steps, timeline):
    session.set_live(False)
    control.start(warm=False)
    qtbot.waitUntil(lambda: session.shown.state is RunState.FINISHED)
    timeline.findChild(HeatStrip).frame_requested.emit(3)
    qtbot.waitUntil(lambda: "Live" in text_of(steps))  # the thread ends after its last word
    assert all(done in text_of(steps) for done in ("✓&nbsp;Run", "2&nbsp;Steer", "✓&nbsp;Worst frame"))


def test_what_is_done_with_a_run_is_not_asked_for_before_there_is_one(
    qtbot, session, control, steps, sequence
):
    control.start(warm=False)
    qtbot.waitUntil(lambda: "Live" in text_of(steps))
    session.set_sequence(replace(sequence, name="another", source=None, tracks=1.01 * sequence.tracks))
    assert steps.isHidden()
    control.start(warm=False)
    assert not steps.isHidden() and "Live" in text_of(steps)


def test_who_has_done_them_or_put_them_away_is_not_asked_again(steps, make_steps):
    steps.dismiss()
    again = make_steps()
    again.begin()
    assert steps.isHidden() and again.isHidden()
    again.restart()
    assert not again.isHidden()


def test_the_place_of_a_step_is_pointed_out_where_it_is(steps, window):
    steps.show_where()
    (shown,) = (each for each in QApplication.topLevelWidgets() if each.inherits("QWhatsThat"))
    button = window.run_button
    around = button.rect().translated(button.mapToGlobal(QPoint(0, 0))).adjusted(-200, -200, 200, 200)
    assert shown.isVisible() and shown.geometry().intersects(around)
    QWhatsThis.hideText()
