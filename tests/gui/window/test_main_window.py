"""The whole window, driven as a person would drive it."""

import gc
import threading
import weakref
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from patience import PATIENCE
from PyQt6.QtCore import QEvent, QObject, QPoint, Qt
from PyQt6.QtGui import QAction, QStatusTipEvent
from PyQt6.QtWidgets import QApplication, QDockWidget, QLabel, QPushButton, QWidget

import core
from core import PRESETS, Settings, simulate
from nrsfm_gui.engine.jobs import Job
from nrsfm_gui.export.tasks import Task, TaskRow
from nrsfm_gui.model.appearance import Appearance
from nrsfm_gui.model.arguments import Arguments, parse
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.shell.actions import ACTIONS
from nrsfm_gui.widgets.style import Themed

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")


@pytest.fixture(scope="module")
def shared(make_shared_window, sequence):
    return make_shared_window(sequence, settings=QUICK)


@pytest.fixture
def window(shared):
    """Return the window of this file, without runs and messages, as it looks at first."""
    shared.session.set_live(False)
    shared.session.set_appearance(Appearance())
    shared.runs_controller.forget_all()
    shared.message_bar.dismiss()
    return shared


def shown_text(window):
    labels = window.numbers_panel.findChildren(QLabel)
    return " ".join(label.text() for label in labels if label.isVisibleTo(window))


def test_a_run_ends_with_the_numbers_of_the_core_and_is_in_the_picture(qtbot, window, sequence, near):
    def blue():
        return near(window.scene_view.grab_image(), window.session.theme.estimate).sum()

    window.display.refresh()
    before = blue()
    window.toolbars.actions["run"].trigger()
    run = window.session.shown
    qtbot.waitUntil(lambda: run.state is RunState.FINISHED)
    expected = core.reconstruct(sequence, QUICK)
    assert run.last.best.loss == expected.loss
    qtbot.waitUntil(lambda: f"{expected.loss:.4g}" in shown_text(window))
    qtbot.waitUntil(lambda: "per-frame similarity" in shown_text(window))
    qtbot.waitUntil(lambda: blue() > before + 100)
    assert len(window.sequences_panel.tree.open.runs) == 1
    assert not window.windowIcon().isNull()


def test_actions_are_checked_where_the_views_and_the_appearance_are_so(qtbot, window):
    actions, view = window.toolbars.actions, window.scene_view
    assert not actions["color_by_error"].isChecked()
    window.appearance_panel.set_layer("grid", False)
    window.appearance_panel.set_layer("trails", True)
    window.toolbars.show_situation()
    assert window.findChild(QAction, "layer grid").isChecked() is False
    assert window.findChild(QAction, "layer trails").isChecked() is True
    actions["color_by_error"].trigger()
    assert window.session.appearance.color_by == "error"
    actions["turntable"].trigger()
    assert view.camera.turning
    qtbot.mousePress(view, Qt.MouseButton.LeftButton)
    assert actions["turntable"].isChecked() is False
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton)


def test_with_nothing_open_panels_show_something_and_actions_wait(qtbot, make_window, make_stream, sequence):
    window = make_window(work=make_stream(pause=0.01))
    actions = window.toolbars.actions
    for title in ("Sequences", "Loss", "Parameters", "Numbers"):
        dock = window.findChild(QDockWidget, f"dock {title}")
        dock.show()
        dock.raise_()
        qtbot.wait(5)
        words = [label.text() for label in dock.widget().findChildren(QLabel) if label.isVisible()]
        assert any(len(text) > 10 for text in words), title
    qtbot.waitUntil(lambda: not (actions["run"].isEnabled() or actions["export"].isEnabled()))
    window.sequence_opening.open_sequence(sequence)
    qtbot.waitUntil(lambda: actions["run"].isEnabled() and not actions["stop"].isEnabled())
    window.session.undo()
    assert window.status_controller.line.full_text == "Nothing is left to undo"
    window.run_control.start(warm=False, paused=True)
    qtbot.waitUntil(actions["stop"].isEnabled)
    assert actions["pause"].isChecked()
    actions["stop"].trigger()
    qtbot.waitUntil(lambda: not actions["stop"].isEnabled())
    window.run_control.start(warm=False, paused=True)
    run = window.session.shown
    window.close()  # waits for its thread
    assert run.state is RunState.STOPPED and window.run_control.current is None


def test_warnings_give_way_to_what_follows(qtbot, make_window, make_iterate, known, tmp_path):
    end = make_iterate(known, noise=0.1)
    window = make_window(known.sequence, settings=QUICK, work=lambda *_: iter([end]))

    def fail():
        window.export_controller.save_figure("loss", tmp_path / "plot.gif")
        assert "plot.gif" in window.message_bar.text

    fail()
    window.parameters_controller.run()
    assert window.message_bar.text == ""
    run = window.session.shown
    qtbot.waitUntil(lambda: run.state is RunState.FINISHED)
    for act in (
        window.parameters_controller.step,
        lambda: window.sequences_panel.run_requested.emit(run.number),
        lambda: window.parameters_panel.settings_changed.emit(window.session.settings),
        lambda: window.sequence_opening.open("sample:balloon/circle"),
    ):
        fail()
        act()
        assert window.message_bar.text == ""


def test_a_script_changes_nothing_that_is_remembered(make_window, store, sequence):
    window = make_window()
    window.begin(Arguments(path="sample:stretch/circle", exit=True, settings=PRESETS["paper"], theme="light"))
    assert window.session.settings == PRESETS["paper"]
    window.sequence_opening.open_sequence(sequence)
    window.session.set_settings(Settings(rank=3))
    window.close()
    assert store.parameters(sequence.content) is None
    assert store.layout() is None


def test_everything_in_a_window_follows_the_theme_and_every_action_names_a_method(window):
    for theme in (LIGHT, DARK):
        window.session.set_theme(theme)
        themed = [widget for widget in window.findChildren(QWidget) if isinstance(widget, Themed)]
        assert len(themed) > 15
        for widget in themed:
            assert widget._theme is theme, widget
            assert widget._applied in (theme, None), widget
    for spec in ACTIONS:
        assert callable(attrgetter(spec.target)(window)), spec.name


@pytest.mark.slow
def test_runs_that_are_forgotten_leave_the_memory(qtbot, make_window):
    settings = Settings(rank=1, starts=1, objective="wnn")
    window = make_window(simulate("paper", frames=8, points=20), settings=settings)
    gone = []
    for _ in range(3):
        window.parameters_controller.run_from_scratch()
        run = window.session.shown
        qtbot.waitUntil(lambda run=run: not run.state.alive and window.run_control.current is None)
        gone.append(weakref.ref(run))
        window.session.drop_run(run)
        window.display.refresh()
    del run
    # What is shown last may be kept for as long as nothing else is shown.
    qtbot.waitUntil(lambda: gc.collect() >= 0 and gone[0]() is None and gone[1]() is None)


def test_sessions_that_were_closed_without_saving_can_all_be_opened(
    qtbot, make_window, add_solved_run, sequence
):
    for title in ("first", "second"):
        before = make_window()
        run = add_solved_run(before.session, sequence, QUICK)
        run.title = title
        before.close()
    window = make_window()
    menu = window.toolbars._recent
    menu.aboutToShow.emit()
    newer, action, line = menu.actions()[:3]
    assert line.isSeparator()
    for each in (newer, action):
        assert each.text().startswith("1 run of paper circle, not saved, closed at ")
        assert each.toolTip().startswith("1 run of paper circle: ")
    with qtbot.waitSignal(window.sequence_opening.opened):
        action.trigger()
    assert window.session.shown.title == "first"
    assert window.session.shown.last.best.loss == run.last.best.loss
    assert window.isWindowModified() and window.session_saver.file is None
    assert window.store.recent() == []


def test_a_solver_that_raises_keeps_its_results_and_the_next_works(qtbot, make_window, make_iterate, known):
    broken = [True]

    def work(_sequence, _settings, _start):
        yield make_iterate(known, noise=0.1)
        if broken:
            raise np.linalg.LinAlgError("SVD did not converge")

    window = make_window(known.sequence, settings=QUICK, work=work)
    reporter = window.defect_reporter
    window.parameters_controller.run()
    qtbot.waitUntil(lambda: reporter.dialog is not None and reporter.dialog.isVisible())
    run = window.session.shown
    assert run.state is RunState.FAILED and run.last is not None
    assert "LinAlgError" in run.message
    texts = {button.text() for button in reporter.dialog.findChildren(QPushButton)}
    assert {"Save the session…", "Save the reconstruction…", "Copy the details"} <= texts
    reporter.dialog.close()
    broken.clear()
    window.parameters_controller.run_from_scratch()
    run = window.session.shown
    qtbot.waitUntil(lambda: run.state is RunState.FINISHED)


def test_neither_tips_nor_messages_nor_a_run_move_their_neighbors(qtbot, make_window, sequence):
    window = make_window(sequence, settings=QUICK)
    window.session.set_live(False)
    window.session.set_theme(DARK)
    parts = (window.scene_view, window.statusBar(), window.loss_plot, window.timeline)
    qtbot.wait(20)

    def places():
        qtbot.wait(10)
        return [(part.mapTo(window, part.rect().topLeft()), part.size()) for part in parts]

    before = places()
    for action in window.toolbars.actions.values():
        action.hover()
        QApplication.sendEvent(window, QStatusTipEvent(action.statusTip()))
    assert window.status_controller.line.isVisible() and window.statusBar().currentMessage() == ""
    assert places() == before
    window.message_bar.warn("something went wrong")
    strip = window.export_controller.strip
    row = TaskRow(Task("movie", Path("movie.gif"), str), strip)
    strip.add(row)
    window.session_saver.recovery.bar.offer("A session was not closed properly.")
    assert places() == before
    banners, view = window.banners, window.scene_view
    bars = window.message_bar, strip, window.session_saver.recovery.bar
    assert [bar.isVisible() for bar in bars] == [True, False, False]
    top, view_top = (part.mapTo(window, QPoint(0, 0)).y() for part in (banners, view))
    assert top >= view_top
    window.message_bar.hide()
    strip.remove(row)
    window.session_saver.recovery.bar.hide()
    assert places() == before and banners.isHidden()
    window.parameters_controller.run()
    assert places() == before
    run = window.session.shown
    qtbot.waitUntil(lambda: run.state is RunState.FINISHED)
    assert places() == before


def test_first_steps_and_results_are_for_a_person_and_wait_for_messages(window):
    window.offer_help(parse(["--exit"]))
    assert window.first_steps.isHidden() and not window.state_cards.announces
    window.offer_help(parse(["--exit", "--first-steps"]))
    assert window.first_steps.isVisible()
    window.message_bar.warn("the disk is full")
    assert not window.first_steps.isVisible() and not window.first_steps.isHidden()
    window.message_bar.dismiss()
    assert window.first_steps.isVisible()
    window.offer_help(Arguments())
    assert window.state_cards.announces


@pytest.mark.slow
def test_opening_a_session_is_no_change_of_it(
    qtbot, make_window, store, tmp_path, monkeypatch, add_solved_run, sequence, saved_to
):
    saved = make_window()
    for rank in (2, 3):
        add_solved_run(saved.session, sequence, QUICK.with_changes(rank=rank))
    saved.session.set_live(True)
    path = saved_to(saved, tmp_path / "saved.nrsfm")
    window = make_window()
    window.first_steps.begin()
    changes = []
    monkeypatch.setattr(window.session_saver.autosave, "schedule_save", lambda *_: changes.append(1))
    with qtbot.waitSignal(window.session_saver.session_shown):
        window.sequence_opening.open(path)
    qtbot.wait(100)
    assert len(window.session.runs) > 1 and window.session.live
    assert not window.isWindowModified()
    assert not any("Started" in line.text for line in window.logbook.lines)
    assert store.steps_done == frozenset()
    assert not changes  # nothing is saved that would be offered at the next start


def test_a_window_that_is_closed_disappears_before_the_end_of_what_is_read(qtbot, make_window):
    window, gone, read = make_window(), threading.Event(), []

    class Watcher(QObject):
        def eventFilter(self, _watched, event):
            if event.type() == QEvent.Type.Hide:
                gone.set()
            return False

    watcher = Watcher()
    window.installEventFilter(watcher)
    window.sequence_opening._jobs.start(Job(lambda _job: read.append(gone.wait(PATIENCE))))
    window.close()
    assert read == [True]


def test_a_theme_is_remembered_and_that_of_the_command_line_goes_before_that_of_a_session(
    qtbot, window, make_window, tmp_path, saved_to
):
    window.session.set_theme(DARK)
    path = saved_to(window, tmp_path / "dark.nrsfm")
    other = make_window()
    other.store.theme = LIGHT.name
    for words, shown in (([], DARK), (["--theme", "light"], LIGHT)):
        with qtbot.waitSignal(other.session_saver.session_shown):
            other.begin(parse([str(path), *words]))
            assert other.session.theme is LIGHT
        assert other.session.theme is shown
