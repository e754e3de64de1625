"""The rows of runs: names, notes, pins, forgetting and taking back, losses that do not compare."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from hands import button_of, type_into
from PyQt6.QtCore import QRect, Qt
from PyQt6.QtWidgets import QLineEdit

from core import CameraModel, SequenceEntry, Settings, simulate
from nrsfm_gui.model.names import numbered_title, run_name, run_title, sentence_name
from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.theme import LIGHT
from nrsfm_gui.panels.sequences.row_delegate import LOSS_WIDTH, RUN, badge_color
from nrsfm_gui.panels.sequences.sequences_controller import RunsController
from nrsfm_gui.panels.sequences.sequences_panel import SequencesPanel
from nrsfm_gui.text.run_rows import RunRow, SequenceRow
from nrsfm_gui.widgets.style import palette

QUICK = Settings(rank=2, rotations="truth", starts=1, max_iterations=20, objective="wnn")


@pytest.fixture
def panel(show):
    return show(SequencesPanel(), 400, 300)


@pytest.fixture
def parts(session, control, undrawn_display, panel, messages, press_action, add_three_runs):
    """Return the parts with three runs that are over, the last of another penalty; it is shown."""
    controller = RunsController(session, control, undrawn_display, panel)
    add_three_runs(session)
    undrawn_display.refresh()
    return SimpleNamespace(
        session=session, run_control=control, display=undrawn_display, runs_controller=controller,
        sequences_panel=panel, message_bar=messages, press_action=press_action,
    )  # fmt: skip


def press(parts, name, *run):
    """Press an entry of the menu of a run, of that which is shown by default, by how it begins."""
    panel = parts.sequences_panel
    parts.display.refresh()
    menu = panel.menu_at(panel.tree.item(*run or (panel.tree.shown,)))
    next(each for each in menu.actions() if each.text().replace("&", "").startswith(name)).trigger()
    parts.display.refresh()


def line(parts, number):
    return parts.sequences_panel.tree.item(number)


def numbers(parts):
    return [run.number for run in parts.session.runs]


def write(qtbot, parts, text):
    editor = parts.sequences_panel.tree.findChild(QLineEdit)
    type_into(editor, text)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: parts.sequences_panel.tree.findChild(QLineEdit) is None)
    parts.display.refresh()


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
    panel.change_requested.connect(lambda *given: written.append(given))
    panel.tree.rename(panel.tree.item(20))
    editor = panel.tree.findChild(QLineEdit)
    qtbot.keyClicks(editor, "half a ")
    panel.set_rows(held(*(row(number, pinned=True, tip="more") for number in range(20, 0, -1))), 20)
    qtbot.keyClicks(editor, "name")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(written))
    assert written == [(sheet(), 20, {"title": "half a name"})]


def test_a_note_is_kept_with_the_run_it_was_written_on(qtbot, parts):
    field = parts.sequences_panel._note
    field.setFocus()
    qtbot.keyClicks(field, "corner flips at 5")
    parts.sequences_panel.run_requested.emit(1)  # another run is shown before Return was pressed
    parts.display.refresh()
    parts.display.refresh()  # now with the note
    first, last = parts.session.runs[0], parts.session.runs[2]
    assert (first.note, last.note) == ("", "corner flips at 5")
    assert "Note: corner flips at 5" in line(parts, 3).toolTip(0)
    assert field.text() == ""


def test_a_note_that_is_shown_is_not_written_on_a_run_of_another_sequence(panel):
    noted = []
    panel.change_requested.connect(lambda _of, number, changes: noted.append((number, changes["note"])))
    panel.set_rows(held(row(1, note="of the first sequence")), 1)
    for shown in (2, 1):
        panel.set_rows(held(row(1), row(2), sequence=sheet(5)), shown)
    assert noted == [] and panel._note.text() == ""


def test_delete_forgets_without_a_question_and_undo_restores(qtbot, parts):
    parts.session.set_shown(parts.session.runs[1])
    parts.display.refresh()
    tree = parts.sequences_panel.tree
    tree.setFocus()
    name = sentence_name(parts.session.shown)
    qtbot.keyClick(tree, Qt.Key.Key_Delete)
    assert numbers(parts) == [1, 3] and parts.session.shown.number in (1, 3)
    assert parts.message_bar.text == f"Run {name} is forgotten. Ctrl+Z restores it."
    button_of(parts.message_bar, "Undo").click()
    assert numbers(parts) == [1, 2, 3] and parts.session.shown.number == 2
    parts.session.drop_run(parts.session.runs[0])
    parts.press_action(parts, "undo")  # what the button restored is not restored again
    assert numbers(parts) == [2, 3]


def test_a_pinned_run_stays_when_all_are_forgotten_and_undo_brings_back_the_others(parts):
    press(parts, "Keep")
    assert parts.session.runs[2].pinned
    parts.session.set_shown(parts.session.runs[0])
    parts.press_action(parts, "reset")
    assert numbers(parts) == [3] and parts.session.shown is None
    assert parts.message_bar.text == "2 runs are forgotten. 1 stays, pinned. Ctrl+Z restores them."
    button_of(parts.message_bar, "Undo").click()
    assert numbers(parts) == [1, 2, 3] and parts.session.shown.number == 1


def test_the_key_of_undo_brings_forgotten_runs_back_and_that_of_redo_forgets_them(parts):
    settings = parts.session.settings
    parts.session.set_settings(settings.with_changes(eta=0.3))
    parts.press_action(parts, "reset")
    assert numbers(parts) == []
    parts.message_bar.hide()
    parts.press_action(parts, "undo")
    assert numbers(parts) == [1, 2, 3] and parts.session.shown.number == 3
    assert parts.session.settings.eta == 0.3
    parts.press_action(parts, "redo")
    assert numbers(parts) == []
    parts.press_action(parts, "undo")
    parts.press_action(parts, "undo")
    assert numbers(parts) == [1, 2, 3] and parts.session.settings == settings


def test_a_pinned_run_is_forgotten_only_after_confirmation(parts):
    press(parts, "Keep")
    press(parts, "Delete")
    assert numbers(parts) == [1, 2, 3] and "is pinned" in parts.message_bar.text
    button_of(parts.message_bar, "Forget it all the same").click()
    assert numbers(parts) == [1, 2]
    for run in parts.session.runs:
        parts.session.change_run(run, pinned=True)
    parts.press_action(parts, "reset")
    assert numbers(parts) == [1, 2] and "All runs are pinned" in parts.message_bar.text


def test_runs_of_a_sequence_that_was_left_are_renamed_pinned_forgotten_and_restored(qtbot, parts, make_known):
    session, panel = parts.session, parts.sequences_panel
    left, runs = session.sequence, list(session.runs)
    session.set_sequence(make_known(frames=6).sequence)
    other = session.add_run(QUICK)
    parts.runs_controller.updater.flush()

    panel.tree.setFocus()
    panel.tree.setCurrentItem(panel.tree.item(2, left))
    qtbot.keyClick(panel.tree, Qt.Key.Key_F4)
    with qtbot.assertNotEmitted(panel.tree.left_requested):  # Return ends the name alone
        write(qtbot, parts, "mine")
    assert runs[1].title == "mine" and panel.tree.item(2, left).text(0) == "mine"
    press(parts, "Keep", 1, left)
    assert runs[0].pinned
    panel.tree.setCurrentItem(panel.tree.item(3, left))
    qtbot.keyClick(panel.tree, Qt.Key.Key_Delete)
    assert session.runs_of(left) == runs[:2] and session.shown is other
    gone = f"{sentence_name(runs[2])} of {left.name}"
    assert parts.message_bar.text == f"Run {gone} is forgotten. Ctrl+Z restores it."
    button_of(parts.message_bar, "Undo").click()
    assert session.runs_of(left) == runs and session.shown is other
    press(parts, "Forget the runs", 2, left)
    assert session.runs_of(left) == runs[:1] and "1 stays, pinned" in parts.message_bar.text
    _text, undo = parts.message_bar.message.actions[0]
    session.set_sequence(left)
    undo()
    assert session.runs == runs and {run.sequence for run in runs} == {session.sequence}


def test_runs_whose_sequence_is_gone_are_not_restored(parts, make_known):
    press(parts, "Delete")
    _text, undo = parts.message_bar.message.actions[0]
    left = parts.session.sequence
    parts.session.set_sequence(make_known(frames=6).sequence)
    parts.session.remove_sequence(left)
    undo()
    assert parts.session.runs == parts.session.runs_of(left) == []


def test_forgetting_the_run_under_way_stops_it(qtbot, parts):
    run = parts.run_control.start(warm=False, paused=True)
    parts.display.refresh()
    press(parts, "Delete")
    assert run not in parts.session.runs and parts.run_control.current is None
    qtbot.waitUntil(lambda: run.state is RunState.STOPPED)


def test_a_run_that_is_selected_is_shown_with_its_parameters_and_undo_shows_the_one_before_with_its(parts):
    session = parts.session
    before = session.shown, session.settings
    other = session.runs[1]
    parts.sequences_panel.run_requested.emit(2)
    after = session.shown, session.settings
    assert after == (other, other.settings) and after[1] != before[1]
    parts.press_action(parts, "undo")
    assert (session.shown, session.settings) == before
    parts.press_action(parts, "redo")
    assert (session.shown, session.settings) == after
    assert len(session.runs) == 3 and parts.run_control.current is None


def test_losses_of_another_objective_are_marked_and_the_tip_shows_why(parts):
    def compare():
        parts.display.refresh()
        return [not line(parts, number).data(0, RUN).why_other_loss for number in (1, 2, 3)]

    assert compare() == [False, False, True]
    assert "does not compare with that of run 3: another penalty" in line(parts, 1).toolTip(0)
    parts.session.set_shown(parts.session.runs[0])  # rank 2 and 3 under one penalty
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
    for name in ("change", "compare", "delete"):
        signal = getattr(panel, f"{name}_requested")
        signal.connect(lambda *given, name=name: asked.append((name, *given)))
    for action in panel.menu_at(panel.tree.item(1)).actions():
        if action.text().replace("&", "").split("\t")[0] in ("Unpin", "Compare with the shown run", "Delete"):
            action.trigger()
    assert asked == [("compare", 1), ("change", sheet(), 1, {"pinned": False}), ("delete", sheet(), 1)]
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


def test_the_origin_of_a_run_and_that_it_was_stopped_follow_its_name(qtbot, parts):
    session, tree = parts.session, parts.sequences_panel.tree
    run = session.add_run(QUICK, warm_from=session.runs[0])
    run.state = RunState.STOPPED
    session.report_run(run)
    parts.runs_controller.updater.flush()
    item = tree.item(run.number)
    assert item.text(0) == f"{run_title(run)} ← 1, stopped"
    tree.rename(item)
    editor = tree.findChild(QLineEdit)
    assert editor.text() == run_title(run)  # what is beside it is no part of the name
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: tree.item(run.number).text(0).endswith("← 1, stopped"))
    assert run.title == ""


def test_the_name_of_a_run_is_the_same_whatever_other_runs_there_are_and_follows_its_parameters(parts):
    session, tree = parts.session, parts.sequences_panel.tree
    run = session.add_run(Settings(rank=3, eta=0.07))
    parts.runs_controller.updater.flush()
    assert tree.row(run.number).name == "bilinear, rank 3, eta 0.07"
    assert tree.row(run.number).tip.startswith(f"{run.number} bilinear, rank 3, eta 0.07")
    session.add_run(Settings(rank=3))
    session.drop_run(session.runs[0])
    parts.runs_controller.updater.flush()
    assert tree.row(run.number).name == "bilinear, rank 3, eta 0.07"
    assert tree.row(run.number + 1).name == "bilinear, rank 3"
    run.settings = run.settings.with_changes(starts=5)  # it is steered
    session.report_run(run)
    parts.runs_controller.updater.flush()
    assert tree.row(run.number).name == "bilinear, rank 3, eta 0.07, starts 5"
    session.change_run(run, title="mine")
    assert numbered_title(run) == f"{run.number} mine"
    parts.sequences_panel.change_requested.emit(run.sequence, run.number, {"title": run_name(run.settings)})
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
