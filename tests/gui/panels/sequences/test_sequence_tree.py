"""The tree of sequences: what it lists, and what a click opens."""

from dataclasses import replace
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QLineEdit, QTreeWidget

from core import CameraModel, SequenceEntry, list_sequences, simulate, write_npz
from nrsfm_gui.model.theme import LIGHT
from nrsfm_gui.panels.sequences.row_delegate import COUNT
from nrsfm_gui.panels.sequences.sequences_panel import SequencesPanel
from nrsfm_gui.text.run_rows import RunRow, SequenceRow
from nrsfm_gui.widgets.style import palette

P, ORTHO = CameraModel.PERSPECTIVE, CameraModel.ORTHOGONAL


def entry(name, path, camera, **facts):
    file = Path(name) / "sequence" / camera.value / f"{path}.txt"
    return SequenceEntry(name, camera, path, file, **{"frames": 51, "points": 211, **facts})


ENTRIES = (
    *(entry("balloon", path, camera) for path in ("circle", "flyby") for camera in (ORTHO, P)),
    entry("paper", "line", P),
    entry("paper", "line", ORTHO, frames=0, points=0, problem="line.txt: row 3 is ragged"),
    SequenceEntry("back", P, "", Path("back.mat"), 150, 245),
)

NEW = SequenceEntry("new", P, "", Path("new.mat"), 10, 20)


def row(number, **changes):
    texts = {"loss": "−2.9", "reprojection": "0.3 px", "error": "6 mm", "tip": ""}
    return RunRow(number=number, **{"name": "bilinear, WNN", **changes}, **texts)


def held(entry, *runs, open=True):
    """Return the row of a sequence that was read from the file of an entry, or from none."""
    source = None if entry is None else entry.file
    camera = P if entry is None else entry.camera
    sequence = replace(simulate("paper", frames=4, points=16), name="video", source=source)
    return SequenceRow(replace(sequence, camera=camera), open, runs)


@pytest.fixture
def tree(show):
    shown = SequencesPanel()
    shown.set_entries(ENTRIES)
    show(shown, 240, 400)
    return shown


def rows(tree):
    """Text of all rows that are not filtered away, children indented."""
    widget = tree.findChild(QTreeWidget)
    listed = []
    for k in range(widget.topLevelItemCount()):
        top = widget.topLevelItem(k)
        if top.isHidden():
            continue
        listed.append(" ".join(top.text(c) for c in range(3)).strip())
        for j in range(top.childCount()):
            if not top.child(j).isHidden():
                listed.append("  " + " ".join(top.child(j).text(c) for c in range(3)).strip())
    return listed


def item(tree, *names):
    widget = tree.findChild(QTreeWidget)
    found = next(
        widget.topLevelItem(k)
        for k in range(widget.topLevelItemCount())
        if widget.topLevelItem(k).text(0) == names[0]
    )
    if len(names) > 1:
        found.setExpanded(True)
        found = next(found.child(j) for j in range(found.childCount()) if found.child(j).text(0) == names[1])
    return found


def click(tree, qtbot, row, column):
    widget = tree.findChild(QTreeWidget)
    rect = widget.visualRect(widget.indexFromItem(row, column))
    qtbot.mouseClick(widget.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())


def test_objects_paths_and_cameras_are_listed(tree):
    assert rows(tree) == ["balloon", "  circle P O", "  flyby P O", "paper", "  line P !", "back P"]
    assert "51 frames × 211 points" in item(tree, "balloon", "circle").toolTip(1)
    assert "row 3 is ragged" in item(tree, "paper", "line").toolTip(2)


def test_a_click_on_a_camera_requests_its_sequence_and_return_the_perspective_one(tree, qtbot):
    for column, camera in ((1, P), (2, ORTHO)):
        with qtbot.waitSignal(tree.sequence_requested) as caught:
            click(tree, qtbot, item(tree, "balloon", "flyby"), column)
        assert caught.args[0].camera is camera
        assert caught.args[0].path_name == "flyby"
    widget = tree.findChild(QTreeWidget)
    widget.setCurrentItem(item(tree, "balloon", "circle"), 0)
    with qtbot.waitSignal(tree.sequence_requested) as caught:
        qtbot.keyClick(widget, Qt.Key.Key_Return)
    assert caught.args[0].camera is P


def test_a_click_on_a_name_opens_it_once_and_not_what_is_open(tree, qtbot):
    asked = []
    tree.sequence_requested.connect(asked.append)
    row = item(tree, "paper")
    click(tree, qtbot, row, 0)
    assert row.isExpanded() and asked == []  # an object only unfolds
    row = item(tree, "balloon", "flyby")
    click(tree, qtbot, row, 0)
    assert [(entry.path_name, entry.camera) for entry in asked] == [("flyby", P)]
    tree.set_rows([held(asked[0])], None)
    widget = tree.findChild(QTreeWidget)
    place = widget.visualRect(widget.indexFromItem(row, 0)).center()
    qtbot.mouseDClick(widget.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert len(asked) == 1


def test_the_open_camera_alone_is_lit_in_a_row_that_is_selected(tree, near):
    tree.setPalette(palette(LIGHT))
    tree.set_rows([held(ENTRIES[1])], None)
    widget, row = tree.findChild(QTreeWidget), item(tree, "balloon", "circle")
    assert widget.currentItem() is row and row.isSelected()
    opened = 1 if ENTRIES[1].camera is P else 2
    lit = []
    for column in (opened, 3 - opened):
        rect = widget.visualRect(widget.indexFromItem(row, column))
        picture = widget.viewport().grab(rect).toImage()
        lit.append(near(picture, LIGHT.accent, tolerance=20).mean())
    assert lit[0] > 0.5 > 0.3 > lit[1]
    assert row.font(0).bold() and not item(tree, "balloon", "flyby").font(0).bold()


def test_the_filter_searches_object_path_and_camera(tree):
    field = tree.findChild(QLineEdit)
    field.setText("fly")
    assert rows(tree) == ["balloon", "  flyby P O"]
    field.setText("paper line")
    assert rows(tree) == ["paper", "  line P !"]
    field.setText("nothing")
    assert rows(tree) == []
    field.setText("")
    assert len(rows(tree)) == 6


def test_without_entries_there_is_a_hint(tree):
    tree.set_entries(())
    assert not tree.findChild(QTreeWidget).isVisible()
    hint = next(label for label in tree.findChildren(QLabel) if "Open (Ctrl+O)" in label.text())
    assert hint.isVisible()


def test_a_broken_file_of_unknown_camera_is_listed_too(tmp_path, show):
    write_npz(simulate("paper", frames=8, points=16), tmp_path / "good.npz")
    (tmp_path / "bad.npz").write_bytes(b"PK")
    tree = SequencesPanel()
    tree.set_entries(list_sequences(tmp_path))
    show(tree, 240, 400)
    assert rows(tree) == ["bad !", "paper circle P"]
    tree.findChild(QLineEdit).setText("bad")
    assert rows(tree) == ["bad !"]


def runs_below(item):
    return [item.child(k).text(0) for k in range(item.childCount())]


def test_runs_stand_below_their_sequence_also_those_of_one_that_was_left(tree):
    tree.set_rows([held(ENTRIES[1], row(2), row(1)), held(ENTRIES[-1], row(7, name="kept"), open=False)], 2)
    circle, back = item(tree, "balloon", "circle"), item(tree, "back")
    assert [circle.data(0, COUNT), back.data(0, COUNT)] == [2, 1]
    assert circle.isExpanded() and circle.parent().isExpanded() and back.isExpanded()
    assert runs_below(back) == ["kept"] and len(runs_below(circle)) == 2
    assert tree.tree.currentItem() is circle.child(0)
    tree.set_rows([held(ENTRIES[1])], None)
    assert not runs_below(circle) and not runs_below(back) and not back.data(0, COUNT)


def test_runs_of_both_cameras_of_a_path_are_told_apart(tree):
    rows = [held(ENTRIES[1], row(1)), held(ENTRIES[0], row(1), open=False)]
    tree.set_rows(rows, 1)
    circle = item(tree, "balloon", "circle")
    assert runs_below(circle) == ["P bilinear, WNN", "O bilinear, WNN"]
    tree.set_rows([replace(rows[1], open=True), replace(rows[0], open=False)], 1)
    assert runs_below(circle) == ["P bilinear, WNN", "O bilinear, WNN"]  # whichever is open
    tree.set_rows(rows[:1], 1)
    assert runs_below(circle) == ["bilinear, WNN"]


def test_a_click_on_a_run_that_was_left_requests_its_sequence_with_it(tree, qtbot):
    left = held(ENTRIES[-1], row(7), open=False)
    tree.set_rows([held(ENTRIES[1], row(1)), left], 1)
    asked = []
    tree.run_requested.connect(asked.append)
    run = item(tree, "back").child(0)
    with qtbot.waitSignal(tree.left_requested) as caught:
        click(tree, qtbot, run, 0)
    assert caught.args[0] is left.sequence and caught.args[1] == 7
    tree.menu_at(run).actions()[0].trigger()
    with qtbot.waitSignal(tree.left_requested):
        qtbot.keyClick(tree.tree, Qt.Key.Key_Return)
    assert asked == []


def test_a_sequence_that_is_in_no_list_has_a_row_while_the_session_holds_it(tree, qtbot):
    own = held(None, row(1))
    tree.set_rows([own], 1)
    assert rows(tree)[-2:] == ["video P", "  bilinear, WNN"] and item(tree, "video").font(0).bold()
    tree.set_rows([held(ENTRIES[1]), replace(own, open=False)], None)
    assert not item(tree, "video").font(0).bold()
    with qtbot.waitSignal(tree.left_requested) as caught:
        click(tree, qtbot, item(tree, "video"), 0)
    assert caught.args == [own.sequence, -1]
    tree.set_entries((*ENTRIES, NEW))
    assert rows(tree)[-3:] == ["video P", "  bilinear, WNN", "new P"]  # as they came
    tree.set_rows([held(ENTRIES[1])], None)
    assert rows(tree)[-2:] == ["back P", "new P"]


def test_rows_stay_in_their_places_and_unfolded_while_others_come_and_go(tree):
    tree.set_rows([held(ENTRIES[1], row(1))], 1)
    paper = item(tree, "paper")
    paper.setExpanded(True)
    circle = item(tree, "balloon", "circle")
    tree.set_entries((*ENTRIES, NEW))
    assert rows(tree)[-2:] == ["back P", "new P"] and item(tree, "paper") is paper and paper.isExpanded()
    assert item(tree, "balloon", "circle") is circle and runs_below(circle)
    tree.set_entries((*ENTRIES[:4], ENTRIES[-1], NEW))
    assert rows(tree) == ["balloon", "  circle P O", "  flyby P O", "back P", "new P"]
    tree.set_entries((*ENTRIES, NEW))
    assert rows(tree) == ["balloon", "  circle P O", "  flyby P O", "paper", "  line P !", "back P", "new P"]
    tree.set_rows([held(ENTRIES[2])], None)
    tree.set_entries([replace(each) for each in (*ENTRIES, NEW)])  # found once more
    assert item(tree, "balloon", "flyby").font(0).bold()
    tree.set_rows([held(ENTRIES[1], row(1))], 1)
    tree.set_entries((*ENTRIES[1:], NEW))  # one camera of a path
    assert rows(tree)[:3] == ["balloon", "  circle P", "  flyby P O"]
    assert runs_below(item(tree, "balloon", "circle"))


def test_sequences_of_one_name_in_different_places_are_told_apart(tree):
    place = Path("elsewhere") / "balloon"
    other = replace(ENTRIES[1], file=place / "sequence" / "perspective" / "circle.txt")
    tree.set_entries(
        (*ENTRIES, other, replace(NEW, file=Path("b/new.mat")), replace(NEW, file=Path("c/new.mat")))
    )
    tops = [text for text in rows(tree) if not text.startswith(" ")]
    assert tops == ["balloon ()", "paper", "back P", "balloon (elsewhere)", "new (b) P", "new (c) P"]


def test_delete_and_the_menu_request_that_a_row_is_removed_with_what_the_session_holds_of_it(tree, qtbot):
    left, own = held(ENTRIES[-1], row(7), open=False), held(None, open=False)
    tree.set_rows([held(ENTRIES[1]), left, own], None)
    asked = []
    tree.remove_requested.connect(lambda *given: asked.append(given))
    tree.tree.setCurrentItem(item(tree, "back"))
    qtbot.keyClick(tree.tree, Qt.Key.Key_Delete)
    for name in ("video", "paper"):
        actions = tree.menu_at(item(tree, name)).actions()
        next(each for each in actions if "Remove" in each.text()).trigger()
    assert asked == [((ENTRIES[-1],), (left.sequence,)), ((), (own.sequence,)), (ENTRIES[4:6], ())]


def test_the_filter_finds_runs_by_name_and_note_and_their_sequences(tree):
    noted = RunRow(2, "bilinear, NN", "−2.9", "0.3 px", "6 mm", "", note="corner flips")
    tree.set_rows([held(ENTRIES[1], noted, row(1)), held(ENTRIES[-1], row(3), open=False)], 2)
    field = tree.findChild(QLineEdit)
    field.setText("corner")
    assert rows(tree) == ["balloon", "  circle P O"]
    circle = item(tree, "balloon", "circle")
    assert [circle.child(k).isHidden() for k in range(2)] == [False, True]
    field.setText("back")
    assert rows(tree) == ["back P", "  bilinear, WNN"]


def test_a_run_that_is_added_or_dropped_leaves_the_chosen_row(tree):
    sequence = held(ENTRIES[1]).sequence
    tree.set_rows([SequenceRow(sequence, True, (row(2), row(1)))], 1)
    tree.set_rows([SequenceRow(sequence, True, (row(3), row(2), row(1)))], 1)
    assert tree.tree.number_of(tree.tree.currentItem()) == 1
    other = item(tree, "back")
    tree.tree.setCurrentItem(other)
    tree.set_rows([SequenceRow(sequence, True, (row(2), row(1)))], 1)
    assert tree.tree.currentItem() is other
