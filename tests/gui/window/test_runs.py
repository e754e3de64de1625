"""The rows of runs: names, notes, pins, forgetting and taking back, losses that do not compare.

Also what other panels show of runs.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hands import button_of, type_into
from PyQt6.QtCore import QRect, Qt
from PyQt6.QtWidgets import QLineEdit

from core import CameraModel, SequenceEntry, Settings, simulate
from nrsfm_gui.model.names import numbered_title, run_name, run_title, sentence_name
from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.panels.sequences.row_delegate import LOSS_WIDTH, RUN, badge_color
from nrsfm_gui.panels.sequences.sequences_panel import SequencesPanel
from nrsfm_gui.text.run_rows import RunRow, SequenceRow
from nrsfm_gui.widgets.style import palette

QUICK = Settings(rank=2, rotations="truth", starts=1, max_iterations=20, objective="wnn")


@pytest.fixture
def panel(show):
    return show(SequencesPanel(), 400, 300)


@pytest.fixture
def window(emptied, add_three_runs):
    """Return a window with three runs that are over, the last of another penalty; it is shown."""
    add_three_runs(emptied.session)
    emptied.display.refresh()
    return emptied


def press(window, name, *run):
    """Press an entry of the menu of a run, of that which is shown by default, by how it begins."""
    panel = window.sequences_panel
    window.display.refresh()
    menu = panel.menu_at(panel.tree.item(*run or (panel.tree.shown,)))
    next(each for each in menu.actions() if each.text().replace("&", "").startswith(name)).trigger()
    window.display.refresh()


def line(window, number):
    return window.sequences_panel.tree.item(number)


def numbers(window):
    return [run.number for run in window.session.runs]


def write(qtbot, window, text):
    editor = window.sequences_panel.tree.findChild(QLineEdit)
    type_into(editor, text)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.sequences_panel.tree.findChild(QLineEdit) is None)
    window.display.refresh()


def row(number, **changes):
    texts = {"loss": "−2.9", "reprojection": "0.3 px", "error": "6 mm", "tip": ""}
    return RunRow(number=number, name="bilinear, WNN", **texts | changes)


@cache
def sheet(frames=4):
    return simulate("paper", frames=frames, points=16)


def held(*runs, sequence=None):
    """Return the rows of a session that holds one sequence."""
    return [SequenceRow(sequence or sheet(), True, runs)]


def test_numbers_that_come_in_leave_alone_what_is_being_written(qtbot, panel):
    panel.set_rows(held(*(row(number) for number in range(20, 0, -1))), 20)
    written = []
    panel.title_changed.connect(lambda *given: written.append(given))
    panel.tree.rename(panel.tree.item(20))
    editor = panel.tree.findChild(QLineEdit)
    qtbot.keyClicks(editor, "half a ")
    panel.set_rows(held(*(row(number, pinned=True, tip="more") for number in range(20, 0, -1))), 20)
    qtbot.keyClicks(editor, "name")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(written))
    assert written == [(sheet(), 20, "half a name")]


def test_a_note_is_kept_with_the_run_it_was_written_on(qtbot, window):
    field = window.sequences_panel._note
    field.setFocus()
    qtbot.keyClicks(field, "corner flips at 5")
    window.sequences_panel.run_requested.emit(1)  # another run is shown before Return was pressed
    window.display.refresh()
    window.display.refresh()  # now with the note
    first, last = window.session.runs[0], window.session.runs[2]
    assert (first.note, last.note) == ("", "corner flips at 5")
    assert "Note: corner flips at 5" in line(window, 3).toolTip(0)
    assert field.text() == ""


def test_a_note_that_is_shown_is_not_written_on_a_run_of_another_sequence(panel):
    noted = []
    panel.note_changed.connect(lambda number, note: noted.append((number, note)))
    panel.set_rows(held(row(1, note="of the first sequence")), 1)
    for shown in (2, 1):
        panel.set_rows(held(row(1), row(2), sequence=sheet(5)), shown)
    assert noted == [] and panel._note.text() == ""


def test_delete_forgets_without_a_question_and_undo_restores(qtbot, window):
    window.session.set_shown(window.session.runs[1])
    window.display.refresh()
    tree = window.sequences_panel.tree
    tree.setFocus()
    name = sentence_name(window.session.shown)
    qtbot.keyClick(tree, Qt.Key.Key_Delete)
    assert numbers(window) == [1, 3] and window.session.shown.number in (1, 3)
    assert window.message_bar.text == f"Run {name} is forgotten. Ctrl+Z restores it."
    button_of(window.message_bar, "Undo").click()
    assert numbers(window) == [1, 2, 3] and window.session.shown.number == 2
    window.session.drop_run(window.session.runs[0])
    window.toolbars.actions["undo"].trigger()  # what the button restored is not restored again
    assert numbers(window) == [2, 3]


def test_a_pinned_run_stays_when_all_are_forgotten_and_undo_brings_back_the_others(window):
    press(window, "Keep")
    assert window.session.runs[2].pinned
    window.session.set_shown(window.session.runs[0])
    window.toolbars.actions["reset"].trigger()
    assert numbers(window) == [3] and window.session.shown is None
    assert window.message_bar.text == "2 runs are forgotten. 1 stays, pinned. Ctrl+Z restores them."
    button_of(window.message_bar, "Undo").click()
    assert numbers(window) == [1, 2, 3] and window.session.shown.number == 1


def test_the_key_of_undo_brings_forgotten_runs_back_and_that_of_redo_forgets_them(window):
    settings = window.session.settings
    window.session.set_settings(settings.with_changes(eta=0.3))
    window.toolbars.actions["reset"].trigger()
    assert numbers(window) == []
    window.message_bar.hide()
    window.toolbars.actions["undo"].trigger()
    assert numbers(window) == [1, 2, 3] and window.session.shown.number == 3
    assert window.session.settings.eta == 0.3
    window.toolbars.actions["redo"].trigger()
    assert numbers(window) == []
    window.toolbars.actions["undo"].trigger()
    window.toolbars.actions["undo"].trigger()
    assert numbers(window) == [1, 2, 3] and window.session.settings == settings


def test_a_pinned_run_is_forgotten_only_after_confirmation(window):
    press(window, "Keep")
    press(window, "Delete")
    assert numbers(window) == [1, 2, 3] and "is pinned" in window.message_bar.text
    button_of(window.message_bar, "Forget it all the same").click()
    assert numbers(window) == [1, 2]
    for run in window.session.runs:
        window.session.change_run(run, pinned=True)
    window.toolbars.actions["reset"].trigger()
    assert numbers(window) == [1, 2] and "All runs are pinned" in window.message_bar.text


def test_runs_of_a_sequence_that_was_left_are_renamed_pinned_forgotten_and_restored(
    qtbot, window, make_known
):
    session, panel = window.session, window.sequences_panel
    left, runs = session.sequence, list(session.runs)
    session.set_sequence(make_known(frames=6).sequence)
    other = session.add_run(QUICK)
    window.runs_controller.updater.flush()

    panel.tree.setFocus()
    panel.tree.setCurrentItem(panel.tree.item(2, left))
    qtbot.keyClick(panel.tree, Qt.Key.Key_F4)
    write(qtbot, window, "mine")
    assert runs[1].title == "mine" and panel.tree.item(2, left).text(0) == "mine"
    press(window, "Keep", 1, left)
    assert runs[0].pinned
    panel.tree.setCurrentItem(panel.tree.item(3, left))
    qtbot.keyClick(panel.tree, Qt.Key.Key_Delete)
    assert session.runs_of(left) == runs[:2] and session.shown is other
    gone = f"{sentence_name(runs[2])} of {left.name}"
    assert window.message_bar.text == f"Run {gone} is forgotten. Ctrl+Z restores it."
    button_of(window.message_bar, "Undo").click()
    assert session.runs_of(left) == runs and session.shown is other
    press(window, "Forget the runs", 2, left)
    assert session.runs_of(left) == runs[:1] and "1 stays, pinned" in window.message_bar.text
    _text, undo = window.message_bar.message.actions[0]
    session.set_sequence(left)
    undo()
    assert session.runs == runs and {run.sequence for run in runs} == {session.sequence}


def test_runs_whose_sequence_is_gone_are_not_restored(window, make_known):
    press(window, "Delete")
    _text, undo = window.message_bar.message.actions[0]
    left = window.session.sequence
    window.session.set_sequence(make_known(frames=6).sequence)
    window.session.remove_sequence(left)
    undo()
    assert window.session.runs == window.session.runs_of(left) == []


def test_forgetting_the_run_under_way_stops_it(qtbot, window):
    run = window.run_control.start(warm=False, paused=True)
    window.display.refresh()
    press(window, "Delete")
    assert run not in window.session.runs and window.run_control.current is None
    qtbot.waitUntil(lambda: run.state is RunState.STOPPED)


def test_a_run_that_is_selected_is_shown_with_its_parameters_and_undo_shows_the_one_before_with_its(window):
    session = window.session
    before = session.shown, session.settings
    other = session.runs[1]
    window.sequences_panel.run_requested.emit(2)
    after = session.shown, session.settings
    assert after == (other, other.settings) and after[1] != before[1]
    window.toolbars.actions["undo"].trigger()
    assert (session.shown, session.settings) == before
    window.toolbars.actions["redo"].trigger()
    assert (session.shown, session.settings) == after
    assert len(session.runs) == 3 and window.run_control.current is None


def test_losses_of_another_objective_are_marked_and_the_tip_shows_why(window):
    def compare():
        window.display.refresh()
        return [not line(window, number).data(0, RUN).why_other_loss for number in (1, 2, 3)]

    assert compare() == [False, False, True]
    assert "does not compare with that of run 3: another penalty" in line(window, 1).toolTip(0)
    window.session.set_shown(window.session.runs[0])  # rank 2 and 3 under one penalty
    assert compare() == [True, True, False]


def test_a_row_shows_badge_and_error_and_in_a_wide_panel_the_loss(panel, near):
    panel.setPalette(palette(LIGHT))
    tree, shown = panel.tree, {}
    for loss in (row(1).loss, NONE):
        panel.set_rows(held(row(1, loss=loss)), None)
        for width in (narrow := LOSS_WIDTH - 20, wide := LOSS_WIDTH + 160):
            panel.resize(width, 200)
            shown[loss, width] = tree.viewport().grab(tree.visualItemRect(tree.item(1))).toImage()
    pictures = []
    for error in (NONE, row(1).reprojection, row(1).error):
        panel.set_rows(held(row(1, error=error)), 1)
        pictures.append(tree.grab().toImage())
    assert pictures[0] == pictures[1] != pictures[2]  # without truth the reprojection error
    assert shown[row(1).loss, narrow] == shown[NONE, narrow]
    assert shown[row(1).loss, wide] != shown[NONE, wide]
    badge = badge_color(row(1), LIGHT, shown=False)
    assert near(shown[NONE, narrow], badge, tolerance=20).sum() > 80


def test_the_context_menu_requests_what_its_entries_name(panel):
    panel.set_rows(held(row(2), row(1, pinned=True)), 2)
    asked = []
    for name in ("pin", "compare", "delete"):
        signal = getattr(panel, f"{name}_requested")
        signal.connect(lambda *given, name=name: asked.append((name, *given)))
    for action in panel.menu_at(panel.tree.item(1)).actions():
        if action.text().replace("&", "").split("\t")[0] in ("Unpin", "Compare with the shown run", "Delete"):
            action.trigger()
    assert asked == [("compare", 1), ("pin", sheet(), 1, False), ("delete", sheet(), 1)]
    shown = [action.text() for action in panel.menu_at(panel.tree.item(2)).actions()]
    assert not any("shown run" in text or "Show" in text for text in shown)


def test_ctrl_and_a_click_compare_and_the_right_button_shows_no_other_run(qtbot, panel):
    panel.set_rows(held(row(2), row(1)), 2)
    tree, asked = panel.tree, []
    panel.compare_requested.connect(asked.append)
    panel.run_requested.connect(lambda number: asked.append(("shown", number)))
    place = tree.visualItemRect(tree.item(1)).center()
    qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, place)
    qtbot.mousePress(tree.viewport(), Qt.MouseButton.RightButton, pos=place)
    assert asked == [1] and tree.currentItem() is tree.item(2)


def test_the_origin_of_a_run_and_that_it_was_stopped_follow_its_name(qtbot, window):
    session, tree = window.session, window.sequences_panel.tree
    run = session.add_run(QUICK, warm_from=session.runs[0])
    run.state = RunState.STOPPED
    session.report_run(run)
    window.runs_controller.updater.flush()
    item = tree.item(run.number)
    assert item.text(0) == f"{run_title(run)} ← 1, stopped"
    tree.rename(item)
    editor = tree.findChild(QLineEdit)
    assert editor.text() == run_title(run)  # what is beside it is no part of the name
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: tree.item(run.number).text(0).endswith("← 1, stopped"))
    assert run.title == ""


def test_the_name_of_a_run_is_the_same_whatever_other_runs_there_are_and_follows_its_parameters(window):
    session, tree = window.session, window.sequences_panel.tree
    run = session.add_run(Settings(rank=3, eta=0.07))
    window.runs_controller.updater.flush()
    assert tree.row(run.number).name == "bilinear, rank 3, eta 0.07"
    assert tree.row(run.number).tip.startswith(f"{run.number} bilinear, rank 3, eta 0.07")
    session.add_run(Settings(rank=3))
    session.drop_run(session.runs[0])
    window.runs_controller.updater.flush()
    assert tree.row(run.number).name == "bilinear, rank 3, eta 0.07"
    assert tree.row(run.number + 1).name == "bilinear, rank 3"
    run.settings = run.settings.with_changes(starts=5)  # it is steered
    session.report_run(run)
    window.runs_controller.updater.flush()
    assert tree.row(run.number).name == "bilinear, rank 3, eta 0.07, starts 5"
    session.change_run(run, title="mine")
    assert numbered_title(run) == f"{run.number} mine"
    window.sequences_panel.title_changed.emit(run.sequence, run.number, run_name(run.settings))
    assert run.title == ""  # what the parameters call a run is no title


@pytest.mark.parametrize(("name", "fits"), [("recommended", True), ("rank 12, xi 0.25 and more", False)])
def test_the_name_of_a_run_is_not_cut_in_a_panel_of_the_usual_width(panel, name, fits):
    """At 1280 x 800 it stands below an object and a path, beside an error of three digits."""
    pictures = []
    file = Path("face/sequence/perspective/circle.txt")
    panel.set_entries([SequenceEntry("face", CameraModel.PERSPECTIVE, "circle", file)])
    run = replace(row(1), name=name, error="0.337 mm")
    panel.set_rows(held(run, sequence=replace(sheet(), source=file)), 1)
    for width in (240, 250):
        panel.resize(width, 400)
        tree = panel.tree
        place = tree.visualItemRect(tree.item(1))
        pictures.append(tree.viewport().grab(QRect(0, place.top(), 158, place.height())).toImage())
    assert (pictures[0] == pictures[1]) == fits


def test_what_is_asked_of_a_run_that_has_gone_meanwhile_is_not_done(window):
    runs, panel = window.session.runs, window.sequences_panel
    gone = 1 + max(run.number for run in runs)
    before = [(run.number, run.pinned, run.title, run.note) for run in runs], window.session.shown
    for signal, words in (
        (panel.run_requested, (gone,)),
        (panel.pin_requested, (window.session.sequence, gone, True)),
        (panel.title_changed, (window.session.sequence, gone, "a name")),
        (panel.note_changed, (gone, "a note")),
        (panel.delete_requested, (window.session.sequence, gone)),
        (panel.compare_requested, (gone,)),
        (window.parameters_panel.run_parameters_requested, (gone,)),
    ):
        signal.emit(*words)
    window.compare_panel.run_chosen.emit(f"{gone}|refined")
    now = [(run.number, run.pinned, run.title, run.note) for run in runs], window.session.shown
    assert now == before and window.session.compared is None


def test_parameters_are_marked_where_the_run_shown_has_others_and_its_own_are_a_press_away(qtbot, window):
    line = window.parameters_panel.differs
    assert line.use.isHidden()
    window.session.set_shown(window.session.runs[1])
    window.display.refresh()
    assert line.use.isVisibleTo(window.parameters_panel)
    assert line.text.full_text == "Not those of run 2: rank, penalty"
    assert window.parameters_panel.viewportMargins().bottom() == line.height() > 0
    line.use.click()
    assert window.session.settings == window.session.runs[1].settings
    qtbot.waitUntil(line.use.isHidden)


def test_the_name_in_legend_and_list_follows_a_new_title_and_a_change_under_way(window, legend_of):
    window.loss_plot.setPalette(palette(DARK))
    run, panel, line = window.session.shown, window.sequences_panel, window.sequences_panel.tree.item(3)

    def names():
        window.display.refresh()
        return legend_of(window.loss_plot)[0], line.text(0)

    default = names()
    panel.title_changed.emit(window.session.sequence, 3, "soft corners")
    assert run.title == "soft corners" and names() == ("3 soft corners", "soft corners")
    panel.title_changed.emit(window.session.sequence, 3, "")
    assert run.title == "" and names() == default
    before = run.settings
    run.settings = before.with_changes(method="admm")
    window.session.report_run(run)
    assert all("ADMM" in name for name in names())
    run.settings = before
    window.session.report_run(run)
