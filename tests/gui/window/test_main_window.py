"""The whole window, driven as a person would drive it, with the real solver."""

import gc
import random
import shutil
import weakref
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from hands import button_of, type_into
from PyQt6 import sip
from PyQt6.QtCore import QPoint, Qt, QThread
from PyQt6.QtGui import QAction, QDesktopServices, QStatusTipEvent
from PyQt6.QtWidgets import QApplication, QDockWidget, QFileDialog, QLabel, QPushButton, QWidget

import core
from core import (
    PRESETS,
    CameraModel,
    ExplicitWeights,
    NuclearNorm,
    Settings,
    WeightedNuclearNorm,
    load_result,
    simulate,
    write_challenge,
)
from core.evaluation import Kind, Mirror
from core.experiments.report import write_report
from core.foundation import Phase, PhaseKind
from nrsfm_gui.engine.solver_thread import real_work
from nrsfm_gui.export.tasks import Task, TaskRow
from nrsfm_gui.model.arguments import Arguments, parse
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.scene.shapes import Alignment
from nrsfm_gui.shell.actions import ACTIONS
from nrsfm_gui.shell.layout import docks
from nrsfm_gui.shell.shortcut_sheet import ShortcutSheet
from nrsfm_gui.widgets import banners
from nrsfm_gui.widgets.fields import NumberField
from nrsfm_gui.widgets.style import Themed

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    """The folder of a session that is saved once."""
    return tmp_path_factory.mktemp("sessions")


@pytest.fixture
def session_file(qtbot, make_window, sequence, sessions):
    """The file of a session with two runs and live changes, in the light theme."""
    path = sessions / "two.nrsfm"
    if path.exists():
        return path
    window = make_window()
    window.session.set_settings(QUICK)
    window.sequence_opening.open_sequence(sequence)
    for rank in (2, 3):
        window.session.set_settings(QUICK.with_changes(rank=rank))
        run = window.run_control.start(warm=False)
        qtbot.waitUntil(lambda run=run: run.state is RunState.FINISHED)
    window.session.set_live(True)
    window.session.set_theme(LIGHT)
    window.session_saver.save_to(path)
    qtbot.waitUntil(lambda: not window.session_saver.busy and path.exists())
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A Challenge folder of two objects."""
    where = tmp_path_factory.mktemp("challenge")
    for kind in ("paper", "stretch"):
        write_challenge(where, kind, paths=["circle"], frames=10, points=24, seed=1)
    return where


@pytest.fixture
def window(make_window, sequence):
    return make_window(sequence, settings=QUICK)


def finished(qtbot, window, state=RunState.FINISHED):
    qtbot.waitUntil(lambda: window.session.shown is not None and window.session.shown.state is state)
    return window.session.shown


def shown_text(window):
    return " ".join(
        label.text() for label in window.numbers_panel.findChildren(QLabel) if label.isVisibleTo(window)
    )


def test_a_run_ends_with_the_numbers_of_the_core_and_is_in_the_picture(qtbot, window, sequence, near):
    def blue():
        return near(window.scene_view.grab_image(), window.session.theme.estimate).sum()

    window.display.refresh()
    before = blue()
    window.toolbars.actions["run"].trigger()
    run = finished(qtbot, window)
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
    window.appearance_controller.set_layer("grid", False)
    window.appearance_controller.set_trails(True)
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


def test_actions_are_enabled_only_where_they_make_sense(qtbot, make_window, sequence):
    window = make_window()
    actions = window.toolbars.actions
    qtbot.waitUntil(lambda: not actions["run"].isEnabled())
    qtbot.waitUntil(lambda: not actions["export"].isEnabled())
    window.sequence_opening.open_sequence(sequence)
    qtbot.waitUntil(lambda: actions["run"].isEnabled())
    qtbot.waitUntil(lambda: not actions["stop"].isEnabled())
    window.run_control.start(warm=False, paused=True)
    qtbot.waitUntil(lambda: actions["stop"].isEnabled())
    assert actions["pause"].isChecked()
    actions["stop"].trigger()
    qtbot.waitUntil(lambda: not actions["stop"].isEnabled())


def test_an_invalid_field_shows_why_nothing_is_run(window):
    field = window.parameters_panel.findChild(NumberField, "eta")
    type_into(field, "7")
    for name in ("run", "run_cold", "step"):
        window.message_bar.hide()
        window.toolbars.actions[name].trigger()
        assert window.message_bar.text.startswith("Nothing is run: eta is 7; accepted is ")
    assert window.session.runs == []


@pytest.mark.slow
@pytest.mark.parametrize(("xi", "words", "warns"), [(2.0, "of 4 basis shapes", False), (1e4, "zero", True)])
def test_what_a_penalty_has_removed_is_reported_when_the_run_ends(
    qtbot, make_window, sequence, xi, words, warns, solve
):
    strong = QUICK.with_changes(rank=4, penalty=WeightedNuclearNorm(xi=xi), starts=2)
    window = make_window(sequence, settings=strong)
    solve(window)

    def said():
        return [label.text() for label in window.numbers_panel.findChildren(QLabel)]

    qtbot.waitUntil(lambda: any(words in text and "lower xi" in text for text in said()))
    qtbot.waitUntil(lambda: not window.run_control._threads)
    assert (words in window.message_bar.text) == warns


def test_a_run_continues_the_shown_one_and_from_scratch_it_does_not(qtbot, window, solve):
    first = solve(window)
    second = solve(window)
    assert second.warm_from == first.number
    assert {record.phase for record in second.history.records} == {Phase(PhaseKind.REFINE)}
    window.parameters_controller.run_from_scratch()
    third = finished(qtbot, window)
    assert third.warm_from is None
    assert third.history.records[-1].loss == first.history.records[-1].loss


def test_opening_a_sequence_leaves_nothing_to_undo(window):
    window.session.undo()
    assert window.status_controller.line.full_text == "Nothing is left to undo"


def test_the_sheet_of_shortcuts_shows_what_is_searched_for(window):
    sheet = ShortcutSheet(window)
    sheet.show()
    sheet.field.setText("worst")
    shown = {label.text() for label in sheet.findChildren(QLabel) if label.isVisible()}
    assert "<b>W</b>" in shown
    assert "<b>Ctrl+O</b>" not in shown
    sheet.field.setText("qqqq")
    assert any("Ctrl+K" in label.text() for label in sheet.findChildren(QLabel) if label.isVisible())
    sheet.deleteLater()


def test_f2_opens_the_newest_report_of_the_experiments(window, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda link: opened.append(link.toLocalFile()) or True)
    monkeypatch.chdir(tmp_path)
    window.toolbars.actions["reports"].trigger()
    assert "nrsfm reproduce" in window.message_bar.text and not opened
    (tmp_path / "report").mkdir()
    page = write_report([], "Table 1, run again", tmp_path / "report")
    window.toolbars.actions["reports"].trigger()
    assert opened == [str(page)]


def test_a_dropped_folder_is_listed_and_its_first_sequence_shown(qtbot, make_window, folder, store, drop):
    window = make_window()
    with qtbot.waitSignal(window.sequence_opening.opened):
        drop(window, folder)
    assert window.session.sequence.name.startswith("paper")
    assert len(window.sequences_panel.tree._entries) == 4
    assert store.recent() == [folder]
    entry = next(entry for entry in window.sequences_panel.tree._entries if entry.object_name == "stretch")
    with qtbot.waitSignal(window.sequence_opening.opened):
        window.sequences_panel.sequence_requested.emit(entry)
    assert window.session.sequence.name.startswith("stretch")


def test_a_file_that_cannot_be_read_leaves_the_window_as_it_was(qtbot, window, tmp_path, sequence):
    broken = tmp_path / "broken.txt"
    broken.write_text("1 2 3\n4 5\n")
    with qtbot.waitSignal(window.session.notifier.failed) as reported:
        window.sequence_opening.open(broken)
    assert "broken.txt" in reported.args[0]
    assert window.message_bar.text == reported.args[0]
    assert window.session.sequence is sequence
    assert window.status_controller.line.full_text == "Ready"


def test_the_status_bar_shows_the_run_again_after_a_file_that_cannot_be_read(qtbot, window, tmp_path, solve):
    run = solve(window)
    with qtbot.waitSignal(window.sequence_opening.started):
        window.sequence_opening.open(tmp_path / "absent.txt")
    assert window.status_controller.line.full_text.startswith("Reading")
    qtbot.waitUntil(lambda: "absent.txt" in window.message_bar.text)
    assert window.status_controller.line.full_text.startswith(f"Done: run {run.number}")


def test_a_warning_gives_way_to_what_comes_later(qtbot, window, tmp_path, folder, monkeypatch):
    monkeypatch.setattr(banners, "READ_MILLISECONDS", 300)

    def fail():
        window.export_controller.save_figure("loss", tmp_path / "plot.gif")
        assert "plot.gif" in window.message_bar.text

    fail()
    window.export_controller.save_figure("loss", tmp_path / "plot.png")
    saved = f"Saved {tmp_path / 'plot.png'}"
    qtbot.waitUntil(lambda: window.message_bar.text == saved)  # once the warning could be read
    fail()
    window.export_controller.save_view(tmp_path / "absent" / "view.png")
    assert "view.png" in window.message_bar.text
    window.parameters_controller.run()
    assert window.message_bar.text == ""
    run = finished(qtbot, window)
    for act in (
        window.parameters_controller.step,
        lambda: window.sequences_panel.run_requested.emit(run.number),
        lambda: window.parameters_panel.settings_changed.emit(window.session.settings),
        lambda: window.sequence_opening.open(folder / "paper"),
    ):
        fail()
        act()
        assert window.message_bar.text == ""


def test_opening_another_sequence_stops_the_run(qtbot, window, folder):
    window.run_control.set_slow(True)
    window.parameters_controller.run()
    run = window.session.shown
    qtbot.waitUntil(lambda: len(run.history) > 2)
    with qtbot.waitSignal(window.sequence_opening.opened):
        window.sequence_opening.open(folder / "stretch")
    qtbot.waitUntil(lambda: run.state is RunState.STOPPED)
    assert window.session.runs == []
    assert window.session.shown is None


def test_the_alignment_is_named_and_changes_the_error(qtbot, window, solve):
    run = solve(window)
    errors = window.display.errors

    def known():
        found = errors.of_run(run)
        return None if found is None or found.error is None else found  # computed in the background

    qtbot.waitUntil(lambda: known() is not None)
    per_frame = known()
    window.session.set_alignment(Alignment(Kind.SEQUENCE))
    qtbot.waitUntil(lambda: known() is not None and known().alignment != per_frame.alignment)
    assert known().error > per_frame.error
    qtbot.waitUntil(lambda: "one similarity for all frames" in shown_text(window))


def test_the_selected_point_has_its_numbers_and_the_one_under_the_mouse_its_line(qtbot, window, solve):
    solve(window)
    window.scene_view.point_selected.emit(3)
    qtbot.waitUntil(lambda: "reprojected" in shown_text(window))
    text = shown_text(window)
    assert "Point 4, frame 1" in text
    for label in ("measured", "reprojected", "estimate", "ground truth", "3-D error"):
        assert label in text
    window.tracks_view.point_hovered.emit(7)
    assert window.status_controller.line.hover.startswith("point 8 · ")
    window.toolbars.actions["deselect"].trigger()
    qtbot.waitUntil(lambda: "Point 4" not in shown_text(window))
    window.tracks_view.point_hovered.emit(-1)
    assert window.status_controller.line.hover == ""


def test_layout_parameters_and_theme_persist(qtbot, make_window, sequence, store):
    first = make_window(sequence, settings=QUICK)
    first.preferences_controller.set_light(True)
    changed = Settings(rank=3, penalty=NuclearNorm(mu=0.02))
    first.parameters_panel.set_settings(changed)
    first.session.set_settings(changed)
    panel = next(dock for dock in docks(first) if dock.windowTitle() == "Numbers")
    panel.hide()
    first.close()
    second = make_window()
    second.begin(Arguments(path="sample:stretch/circle"))
    assert second.session.theme.name == "light"
    qtbot.waitUntil(lambda: second.session.sequence is not None)
    assert second.session.settings == Settings()  # other data
    second.sequence_opening.open_sequence(sequence)
    assert second.session.settings == changed
    assert second.parameters_panel.settings == changed
    hidden = {dock.windowTitle() for dock in docks(second) if dock.isHidden()}
    assert "Numbers" in hidden
    second.dock_layout.reset()
    assert not next(dock for dock in docks(second) if dock.windowTitle() == "Numbers").isHidden()
    assert store.layout() is None


def test_a_script_changes_nothing_that_is_remembered(make_window, store, sequence):
    window = make_window()
    window.begin(Arguments(path="sample:stretch/circle", exit=True, settings=PRESETS["paper"], theme="light"))
    assert window.session.settings == PRESETS["paper"]
    window.sequence_opening.open_sequence(sequence)
    window.session.set_settings(Settings(rank=3))
    window.close()
    assert store.parameters(sequence.content) is None
    assert store.layout() is None


def running_threads():
    """Return every thread object of this process that still runs."""
    found = [item for item in gc.get_objects() if isinstance(item, QThread)]
    return [thread for thread in found if not sip.isdeleted(thread) and thread.isRunning()]


@pytest.mark.slow
def test_fifty_random_interruptions_lose_nothing(qtbot, window, tmp_path):
    """Cancel, pause, resume, re-weight and export at random moments while the real solver runs."""
    errors = []
    window.session.notifier.failed.connect(errors.append)
    chance = random.Random(7)
    runs = []
    exported = []

    def cancel():
        window.run_control.cancel()

    def pause():
        window.run_control.set_paused(True)

    def resume():
        window.run_control.set_paused(False)

    def step():
        window.run_control.step()

    def reweight():
        base = sorted(10 ** chance.uniform(-4, 0) for _ in range(chance.choice((1, 2, 3))))
        window.session.set_settings(Settings(
            rank=len(base), penalty=ExplicitWeights(tuple(base)), rotations="companion", rotation_rank=2,
            objective="wnn",
        ))  # fmt: skip

    def export():
        if window.session.shown is not None and window.session.shown.last is not None:
            path = tmp_path / f"{len(exported)}.npz"
            exported.append(path)
            window.export_controller.save_reconstruction(path)

    def start():
        runs.append(window.run_control.start(warm=chance.random() < 0.5))

    start()
    actions = [cancel, pause, resume, reweight, reweight, export, step, start]
    lengths: dict[object, int] = {}
    for _ in range(50):
        qtbot.wait(chance.randrange(0, 30))
        if window.run_control.current is None:
            start()
        chance.choice(actions)()
        for run in runs:
            assert len(run.history) >= lengths.get(run, 0)
            lengths[run] = len(run.history)
    if window.run_control.current is None:
        start()
    resume()
    qtbot.waitUntil(lambda: window.session.shown.last is not None)
    export()
    cancel()
    qtbot.waitUntil(lambda: not window.run_control._threads and not window.export_controller.busy)
    assert errors == []
    qtbot.waitUntil(lambda: running_threads() == [])
    for run in runs:
        assert not run.state.alive
        iterations = [record.iteration for record in run.history.records]
        assert iterations == sorted(iterations)
        assert np.diff([0, *iterations]).max(initial=0) <= 1  # none is missing
        if run.history.records and run.last is not None:
            assert run.last.record == run.history.records[-1]
    for path in exported:
        assert load_result(path).loss > 0


def test_closing_while_a_run_is_paused_waits_for_its_thread(window):
    window.run_control.start(warm=False, paused=True)
    run = window.session.shown
    window.close()
    assert run.state is RunState.STOPPED
    assert window.run_control.current is None


def test_orthogonal_tracks_are_compared_with_the_mirror_allowed_at_first(session):
    session.set_sequence(simulate("paper", camera=CameraModel.ORTHOGONAL, frames=6, points=20))
    assert session.alignment == Alignment(mirror=Mirror.AUTOMATIC)
    session.set_sequence(simulate("paper", frames=6, points=20))
    assert session.alignment == Alignment()


def test_a_run_comes_to_its_end_behind_a_dialog(qtbot, window):
    window.parameters_controller.run()
    window.toolbars.actions["open"].trigger()
    dialog = window.findChild(QFileDialog)
    finished(qtbot, window)
    qtbot.waitUntil(lambda: "converged" in window.status_controller.line.full_text)
    assert dialog.isVisible()
    dialog.reject()


def test_everything_in_a_window_follows_the_theme(window):
    for theme in (LIGHT, DARK, LIGHT):
        window.session.set_theme(theme)
        themed = [widget for widget in window.findChildren(QWidget) if isinstance(widget, Themed)]
        assert len(themed) > 15
        for widget in themed:
            assert widget._theme is theme, widget
            assert widget._applied in (theme, None), widget


@pytest.mark.slow
def test_runs_that_are_forgotten_leave_the_memory(qtbot, make_window):
    window = make_window(
        simulate("paper", frames=8, points=20), settings=Settings(rank=1, starts=1, objective="wnn")
    )
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


def test_a_session_that_was_not_saved_can_be_opened_as_the_last_one(
    qtbot, make_window, add_solved_run, sequence
):
    before = make_window()
    run = add_solved_run(before.session, sequence, QUICK)
    before.close()
    window = make_window()
    menu = window.toolbars._recent
    menu.aboutToShow.emit()
    action = menu.actions()[0]
    assert action.text() == "Last session, not saved"
    assert action.toolTip().startswith("1 run of paper circle: ")
    with qtbot.waitSignal(window.sequence_opening.opened):
        action.trigger()
    assert window.session.shown.last.best.loss == run.last.best.loss
    assert window.isWindowModified() and window.session_saver.file is None
    assert window.store.recent() == []


def defect_dialog(qtbot, window):
    reporter = window.defect_reporter
    qtbot.waitUntil(lambda: reporter.dialog is not None and reporter.dialog.isVisible())
    return reporter.dialog


def button_texts(dialog):
    return {button.text() for button in dialog.findChildren(QPushButton)}


def test_a_solver_that_raises_keeps_its_results_and_another_run_works(qtbot, make_window, sequence):
    broken = [True]

    def work(tracks, settings, start):
        for number, iterate in enumerate(real_work(tracks, settings, start)):
            if broken[0] and number == 3:
                raise np.linalg.LinAlgError("SVD did not converge")
            yield iterate

    window = make_window(sequence, settings=QUICK, work=work)
    window.parameters_controller.run()
    dialog = defect_dialog(qtbot, window)
    run = window.session.shown
    assert run.state is RunState.FAILED
    assert run.last is not None
    assert "LinAlgError" in run.message
    assert {"Save the reconstruction…", "Copy the details"} <= button_texts(dialog)
    dialog.close()
    broken[0] = False
    window.parameters_controller.run_from_scratch()
    finished(qtbot, window)


def test_nothing_is_offered_to_save_where_there_is_nothing(qtbot, make_window):
    window = make_window()
    window.session.notifier.fail("ValueError: early", "Traceback")
    dialog = defect_dialog(qtbot, window)
    assert not [title for title in button_texts(dialog) if title.startswith("Save")]
    dialog.close()


def test_neither_tips_nor_messages_nor_a_run_move_their_neighbors(qtbot, window):
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
    seen = [
        banner.isVisible()
        for banner in (
            window.message_bar, strip, window.session_saver.recovery.bar
        )
    ]  # fmt: skip
    assert seen == [True, False, False]
    top, view_top = (part.mapTo(window, QPoint(0, 0)).y() for part in (banners, view))
    assert top >= view_top
    window.message_bar.hide()
    strip.remove(row)
    window.session_saver.recovery.bar.hide()
    assert places() == before and banners.isHidden()
    window.parameters_controller.run()
    assert places() == before
    finished(qtbot, window)
    assert places() == before


def test_a_script_shows_the_first_steps_only_on_request(window):
    window.offer_help(parse(["--exit"]))
    assert window.first_steps.bar.isHidden()
    window.offer_help(parse(["--exit", "--first-steps"]))
    assert not window.first_steps.bar.isHidden()


def test_the_first_steps_wait_until_nothing_else_is_to_be_read(window):
    window.offer_help(Arguments())
    assert window.first_steps.bar.isVisible()
    window.message_bar.warn("the disk is full")
    assert not window.first_steps.bar.isVisible() and window.first_steps.bar.sentence
    window.message_bar.dismiss()
    assert window.first_steps.bar.isVisible()


def test_a_script_gets_no_results(qtbot, window, solve):
    window.offer_help(Arguments(exit=True))
    solve(window)
    qtbot.wait(100)
    assert window.message_bar.text == ""


def test_every_panel_shows_something_before_there_is_anything(qtbot, make_window):
    window = make_window()
    for title in ("Sequences", "Loss", "Parameters", "Numbers"):
        dock = window.findChild(QDockWidget, f"dock {title}")
        dock.show()
        dock.raise_()
        qtbot.wait(5)
        words = [label.text() for label in dock.widget().findChildren(QLabel) if label.isVisible()]
        assert any(len(text) > 10 for text in words), title


def test_the_log_is_shown_from_the_message_on_a_file_that_cannot_be_opened(qtbot, window, tmp_path):
    window.sequence_opening.open(tmp_path / "absent.txt")
    qtbot.waitUntil(lambda: "absent.txt" in window.message_bar.text)
    button_of(window.message_bar, "Show the log").click()
    assert window.log_panel.isVisible()
    assert "absent.txt" in window.log_panel.shown_text


def test_every_row_of_the_table_names_a_method(window):
    for spec in ACTIONS:
        assert callable(attrgetter(spec.target)(window)), spec.name


@pytest.mark.slow
def test_opening_a_session_is_no_change_of_it(qtbot, make_window, store, tmp_path, monkeypatch, session_file):
    path = Path(shutil.copy(session_file, tmp_path))
    window = make_window()
    window.first_steps.begin()
    changes = []
    monkeypatch.setattr(window.session_saver.autosave, "schedule_save", lambda: changes.append(1))
    with qtbot.waitSignal(window.session_saver.session_shown):
        window.sequence_opening.open(path)
    qtbot.wait(100)
    assert len(window.session.runs) > 1 and window.session.live
    assert not window.isWindowModified()
    assert not any("Started" in line.text for line in window.logbook.lines)
    assert store.steps_done() == frozenset()
    assert not changes  # nothing is saved that would be offered at the next start


@pytest.mark.parametrize(
    ("words", "shown"), [pytest.param([], "light", marks=pytest.mark.slow), (["--theme", "dark"], "dark")]
)
def test_a_theme_of_the_command_line_goes_before_that_of_a_session(
    qtbot, make_window, words, shown, session_file
):
    window = make_window()
    with qtbot.waitSignal(window.session_saver.session_shown):
        window.begin(parse([str(session_file), *words]))
    assert window.session.theme.name == shown
