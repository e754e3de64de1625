"""The list of runs: names, notes, pins, forgetting and taking back, losses that do not compare."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import QLabel, QLineEdit, QPushButton, QToolButton

from core import NuclearNorm, Settings
from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.run_names import run_title
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.runs.run_list import RunList
from nrsfm_gui.panels.runs.run_tree import COLUMNS, LOSS, NAME
from nrsfm_gui.text.run_rows import RunRow
from nrsfm_gui.widgets.style import faint_text, palette

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow

QUICK = Settings(rank=2, rotations="truth", starts=1, max_iterations=20)


@pytest.fixture
def window(make_window, make_update, known) -> MainWindow:
    """A window with three runs that are over, the last of another penalty; it is shown."""
    window = make_window(known.sequence, settings=QUICK)
    window.session.set_live(False)
    for settings in (QUICK, QUICK.with_changes(rank=3), QUICK.with_changes(penalty=NuclearNorm())):
        run = window.session.add_run(settings)
        run.last, run.state = make_update(known, noise=0.01 * run.number), RunState.FINISHED
        window.session.report_run(run)
    window.session.set_settings(settings)
    window.display.refresh()
    return window


def press(window, name):
    window.run_list.findChild(QToolButton, f"run {name}").click()


def offer(window, text):
    """Press a button of the line of messages."""
    next(button for button in window.messages.findChildren(QPushButton) if button.text() == text).click()


def line(window, number):
    tree = window.run_list.tree
    return next(item for item in map(tree.topLevelItem, range(len(tree.rows))) if item.text(0) == str(number))


def numbers(window):
    return [run.number for run in window.session.runs]


def write(qtbot, window, text):
    editor = window.run_list.tree.findChild(QLineEdit)
    editor.selectAll()
    qtbot.keyClicks(editor, text)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.run_list.tree.findChild(QLineEdit) is None)
    window.display.refresh()


def test_f4_renames_everywhere_and_an_empty_name_restores_the_default(qtbot, window, legend_of):
    window.loss_plot.setPalette(palette(DARK))
    tree = window.run_list.tree
    tree.setFocus()
    before = line(window, 3).text(NAME)
    qtbot.keyClick(tree, Qt.Key.Key_F4)
    write(qtbot, window, "soft corners")
    run = window.session.shown
    assert run.title == "soft corners" and line(window, 3).text(NAME) == "soft corners"
    assert legend_of(window.loss_plot)[-1] == "3 soft corners"
    qtbot.keyClick(tree, Qt.Key.Key_F4)
    write(qtbot, window, " ")
    assert run.title == "" and line(window, 3).text(NAME) == before


def test_numbers_that_come_in_leave_alone_what_is_being_written(qtbot, show):
    panel = RunList()
    show(panel)
    panel.set_rows([row(number) for number in range(20, 0, -1)], 20)
    written = []
    panel.title_changed.connect(lambda *given: written.append(given))
    panel.tree.rename(20)
    editor = panel.tree.findChild(QLineEdit)
    qtbot.keyClicks(editor, "half a ")
    panel.set_rows([replace(row(number, pinned=True), tip="more") for number in range(20, 0, -1)], 20)
    qtbot.keyClicks(editor, "name")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(written))
    assert written == [(20, "half a name")]


def test_what_the_parameters_call_a_run_is_no_title(qtbot, window):
    run = window.session.shown
    window.run_list.title_changed.emit(run.number, line(window, 3).text(NAME))
    assert run.title == ""


def test_a_note_is_kept_with_the_run_it_was_written_on(qtbot, window):
    field = window.run_list.findChild(QLineEdit)
    field.setFocus()
    qtbot.keyClicks(field, "corner flips at 5")
    window.run_list.run_requested.emit(1)  # another run is shown before Return was pressed
    window.display.refresh()
    window.display.refresh()  # now with the note
    first, last = window.session.runs[0], window.session.runs[2]
    assert (first.note, last.note) == ("", "corner flips at 5")
    assert "Note: corner flips at 5" in line(window, 3).toolTip(0)
    assert field.text() == ""


def test_a_note_that_is_shown_is_not_written_on_a_run_of_another_sequence(show):
    panel, noted = RunList(), []
    panel.note_changed.connect(lambda number, note: noted.append((number, note)))
    show(panel, 400, 300)
    first, second = row(1), row(2)
    panel.set_rows([replace(first, note="of the first sequence")], 1)
    panel.set_rows([first, second], 2)  # of another sequence
    panel.set_rows([first, second], 1)
    assert noted == [] and panel._note.text() == ""


def test_delete_forgets_without_a_question_and_undo_restores(qtbot, window):
    window.session.set_shown(window.session.runs[1])
    window.display.refresh()
    tree = window.run_list.tree
    tree.setFocus()
    qtbot.keyClick(tree, Qt.Key.Key_Delete)
    assert numbers(window) == [1, 3] and window.session.shown.number in (1, 3)
    assert window.messages.text == "Run 2 is forgotten. Ctrl+Z takes it back."
    offer(window, "Undo")
    assert numbers(window) == [1, 2, 3] and window.session.shown.number == 2


def test_a_pinned_run_stays_when_all_are_forgotten_and_undo_brings_back_the_others(qtbot, window):
    press(window, "pin")
    assert window.session.runs[2].pinned
    window.session.set_shown(window.session.runs[0])
    window.toolbars.actions["reset"].trigger()
    assert numbers(window) == [3] and window.session.shown is None
    assert window.messages.text == "2 runs are forgotten. 1 stays, pinned. Ctrl+Z takes them back."
    offer(window, "Undo")
    assert numbers(window) == [1, 2, 3] and window.session.shown.number == 1


def test_the_key_of_undo_brings_forgotten_runs_back_and_that_of_redo_forgets_them(window):
    settings, do = window.session.settings, window.toolbars.actions
    window.session.set_settings(settings.with_changes(eta=0.3))
    do["reset"].trigger()
    assert numbers(window) == []
    window.messages.hide()
    do["undo"].trigger()
    assert numbers(window) == [1, 2, 3] and window.session.shown.number == 3
    assert window.session.settings.eta == 0.3
    do["redo"].trigger()
    assert numbers(window) == []
    do["undo"].trigger()
    do["undo"].trigger()
    assert numbers(window) == [1, 2, 3] and window.session.settings == settings


def test_what_the_button_restored_the_key_does_not_restore_again(window):
    press(window, "delete")
    offer(window, "Undo")
    window.session.drop_run(window.session.runs[0])
    window.toolbars.actions["undo"].trigger()
    assert numbers(window) == [2, 3]


def test_a_pinned_run_is_forgotten_only_after_confirmation(qtbot, window):
    press(window, "pin")
    press(window, "delete")
    assert numbers(window) == [1, 2, 3] and "is pinned" in window.messages.text
    offer(window, "Forget it all the same")
    assert numbers(window) == [1, 2]


def test_reset_reports_that_every_run_is_pinned(window):
    for run in window.session.runs:
        window.session.pin_run(run, True)
    window.toolbars.actions["reset"].trigger()
    assert numbers(window) == [1, 2, 3] and "All runs are pinned" in window.messages.text


def test_undo_leaves_runs_where_another_sequence_was_opened(window, make_known):
    press(window, "delete")
    _text, undo = window.messages._messages[-1].actions[0]
    window.opening.open_sequence(make_known(frames=6).sequence)
    undo()
    assert window.session.runs == [] and "another sequence" in window.messages.text


def test_forgetting_the_run_under_way_stops_it(qtbot, window):
    run = window.control.start(warm=False, paused=True)
    window.display.refresh()
    press(window, "delete")
    assert run not in window.session.runs and window.control.current is None
    qtbot.waitUntil(lambda: run.state is RunState.STOPPED)


def test_the_parameters_of_a_run_are_used_again_and_undo_restores_the_previous_ones(window):
    before = window.session.settings
    window.session.set_shown(window.session.runs[1])
    window.display.refresh()
    press(window, "parameters")
    assert window.session.settings == window.parameters.settings == window.session.runs[1].settings
    assert "those of run 2" in window.messages.text
    offer(window, "Undo")
    assert window.session.settings == before


def test_losses_of_another_objective_are_faint_and_the_tip_shows_why(window):
    faint = QColor(faint_text(window.session.theme))
    assert [line(window, n).foreground(LOSS).color() == faint for n in (1, 2, 3)] == [True, True, False]
    assert "does not compare with that of run 3: another penalty" in line(window, 1).toolTip(LOSS)
    window.session.set_shown(window.session.runs[0])  # rank 2 and 3 under one penalty
    window.display.refresh()
    assert [line(window, n).foreground(LOSS).color() == faint for n in (1, 2, 3)] == [False, False, True]


def test_the_name_in_the_legend_follows_a_change_under_way(window, legend_of):
    window.loss_plot.setPalette(palette(DARK))
    run = window.session.shown
    run.settings = run.settings.with_changes(method="admm")
    window.session.report_run(run)
    window.display.refresh()
    assert "ADMM" in legend_of(window.loss_plot)[-1] and "ADMM" in line(window, 3).text(NAME)


def test_what_is_asked_of_a_run_that_has_gone_meanwhile_is_not_done(window):
    runs, panel = window.session.runs, window.run_list
    gone = 1 + max(run.number for run in runs)
    before = [(run.number, run.pinned, run.title, run.note) for run in runs], window.session.shown
    for signal, words in (
        (panel.run_requested, ()),
        (panel.pin_requested, (True,)),
        (panel.title_changed, ("a name",)),
        (panel.note_changed, ("a note",)),
        (panel.delete_requested, ()),
        (panel.parameters_requested, ()),
        (panel.compare_requested, ()),
        (window.compare_panel.run_chosen, ()),
        (window.parameters.run_parameters_requested, ()),
    ):
        signal.emit(gone, *words)
    now = [(run.number, run.pinned, run.title, run.note) for run in runs], window.session.shown
    assert now == before and window.session.compared is None


def row(number, **changes):
    texts = {"rank": "4", "loss": "−2.9", "reprojection": "0.3 px", "error": "6 mm", "tip": ""}
    return RunRow(number=number, name="bilinear, WNN", **texts, **changes)


def test_columns_make_room_for_the_names(qtbot):
    panel = RunList()
    qtbot.addWidget(panel)
    panel.set_rows([row(1)], 1)
    shown = {}
    for width in (200, 260, 400):
        panel.resize(width, 200)
        panel.show()
        qtbot.waitUntil(lambda width=width: panel.tree.width() == width)
        shown[width] = [not panel.tree.isColumnHidden(column) for column in range(6)]
    assert shown == {
        200: [True, True, False, False, False, True],
        260: [True, True, True, False, False, True],
        400: [True] * 6,
    }


def test_without_truth_a_narrow_list_has_the_reprojection_error(qtbot):
    panel = RunList()
    qtbot.addWidget(panel)
    panel.resize(260, 200)
    panel.show()
    panel.set_rows([replace(row(1), error=NONE)], 1)
    hidden = [name for column, name in enumerate(COLUMNS) if panel.tree.isColumnHidden(column)]
    assert hidden == ["log10", "error"]
    panel.set_rows([row(1)], 1)
    hidden = [name for column, name in enumerate(COLUMNS) if panel.tree.isColumnHidden(column)]
    assert hidden == ["log10", "px"]


def test_the_context_menu_requests_what_its_entries_name(qtbot):
    panel = RunList()
    qtbot.addWidget(panel)
    panel.set_rows([row(2), row(1, pinned=True)], 2)
    asked = []
    panel.pin_requested.connect(lambda *given: asked.append(("pin", *given)))
    panel.compare_requested.connect(lambda *given: asked.append(("compare", *given)))
    panel.delete_requested.connect(lambda *given: asked.append(("delete", *given)))
    for action in panel.menu_of(1).actions():
        if action.text().replace("&", "").split("\t")[0] in ("Unpin", "Compare with the shown run", "Delete"):
            action.trigger()
    assert asked == [("compare", 1), ("pin", 1, False), ("delete", 1)]
    shown = [action.text() for action in panel.menu_of(2).actions()]
    assert not any("ompare" in text or "Show" in text for text in shown)


def test_ctrl_and_a_click_compare_without_selecting(qtbot, show):
    panel = RunList()
    show(panel, 300, 200)
    panel.set_rows([row(2), row(1)], 2)
    asked = []
    panel.compare_requested.connect(asked.append)
    panel.run_requested.connect(lambda number: asked.append(("shown", number)))
    place = panel.tree.visualItemRect(panel.tree.topLevelItem(1)).center()
    qtbot.mouseClick(
        panel.tree.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, place
    )
    assert asked == [1] and panel.tree.currentItem() is panel.tree.topLevelItem(0)


def test_numbers_show_whether_the_run_was_made_with_the_parameters_of_the_panel(qtbot, window):
    def said():
        return next(text for text in labels(window) if "of the panel" in text)

    qtbot.waitUntil(lambda: said() == "those of the panel")
    window.session.set_settings(window.session.settings.with_changes(rank=4, eta=0.1))
    qtbot.waitUntil(lambda: said() == "not those of the panel: rank, eta")
    press(window, "parameters")
    qtbot.waitUntil(lambda: said() == "those of the panel")


def test_parameters_are_marked_where_the_run_shown_has_others_and_its_own_are_a_press_away(qtbot, window):
    line = window.parameters.differs
    assert line.isHidden()
    window.session.set_shown(window.session.runs[1])
    window.display.refresh()
    assert line.isVisibleTo(window.parameters)
    assert line.text.full_text == "Not those of run 2: rank, penalty"
    assert window.parameters.viewportMargins().bottom() == line.height() > 0
    line.use.click()
    assert window.session.settings == window.session.runs[1].settings
    qtbot.waitUntil(line.isHidden)
    assert window.parameters.viewportMargins().bottom() == 0


def test_errors_of_a_picture_are_of_the_run_that_it_shows_where_another_was_chosen_meanwhile(window):
    display, session = window.display, window.session
    session.set_shown(session.runs[0])
    errors = display.errors
    errors._published = None  # its picture is not made yet: that of run 3 is the newest
    errors.publish(display._picture, display._pictured, at_once=True)
    first, _, last = (errors._qualities.of(run, session.alignment, compute=False) for run in session.runs)
    assert last.reprojection > 0
    assert first is None or first.reprojection != last.reprojection


def test_errors_of_a_picture_are_not_those_of_a_run_that_was_started_meanwhile(
    qtbot, window, make_update, known
):
    display, run = window.display, window.session.shown
    run.last = make_update(known, noise=0.2)
    display._moved_at = display._next_picture_at = display.errors._published_at = 0.0  # nothing has to rest
    display._tick()
    assert display._jobs  # its picture is being made
    noted = []
    display.errors._qualities.set_known = lambda run, wanted, _quality: noted.append((run, wanted.update))
    update, run.last = run.last, make_update(known, noise=0.1)
    started = window.session.add_run(QUICK)
    started.state = RunState.RUNNING
    qtbot.waitUntil(lambda: (run, update) in noted)
    assert started not in {run for run, _ in noted}


def test_the_origin_of_a_run_and_that_it_was_stopped_follow_its_name(qtbot, window):
    session, tree = window.session, window.run_list.tree
    run = session.add_run(QUICK, warm_from=session.runs[0])
    run.state = RunState.STOPPED
    session.report_run(run)
    window.runs.flush()
    item = tree._item(run.number)
    assert item.text(NAME) == f"{run_title(run)} ← 1, stopped"
    tree.rename(run.number)
    editor = tree.findChild(QLineEdit)
    assert editor.text() == run_title(run)  # what is beside it is no part of the name
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: tree._item(run.number).text(NAME).endswith("← 1, stopped"))
    assert run.title == ""


def test_the_right_button_shows_no_other_run(qtbot, window):
    tree, shown = window.run_list.tree, window.session.shown
    other = next(run for run in window.session.runs if run is not shown)
    place = tree.visualItemRect(tree._item(other.number)).center()
    qtbot.mousePress(tree.viewport(), Qt.MouseButton.RightButton, pos=place)
    assert window.session.shown is shown
    titles = [action.text() for action in window.run_list.menu_of(other.number).actions()]
    assert "&Compare with the shown run" in titles


def test_a_picture_that_was_made_meanwhile_does_not_replace_a_newer_one(qtbot, window, make_update, known):
    display, run = window.display, window.session.shown
    run.last = make_update(known, noise=0.2)
    display._moved_at = display._next_picture_at = 0.0  # nothing has to rest
    display._tick()
    assert display._jobs  # the picture of this point is being made
    newest = run.last = make_update(known, noise=0.1)
    display.refresh()
    drawn = []
    display.scene_shown.connect(lambda _scene: drawn.append(display._picture.of.update))
    qtbot.waitUntil(lambda: not display._jobs)
    qtbot.wait(60)
    assert display._picture.of.update is newest
    assert all(update is newest for update in drawn)


def test_an_active_run_is_marked_unless_it_applies_the_parameters(window, monkeypatch):
    run = window.session.runs[1]
    window.session.set_shown(run)
    run.state = RunState.RUNNING
    window.parameters_controller.flush()
    assert window.parameters.differs.isVisibleTo(window.parameters)
    monkeypatch.setattr(window.session, "live", True)
    window.session.runs_changed.emit()
    window.display.refresh()
    assert window.parameters.differs.isHidden()


def labels(window):
    return [label.text() for label in window.numbers.findChildren(QLabel)]
