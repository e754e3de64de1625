"""The tree of sequences: what it lists, and what a click opens."""

from dataclasses import replace
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QLineEdit

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
    return show(shown, 240, 400)


def rows(tree):
    """Text of all rows that are not filtered away, children indented."""
    found = []
    for top in children(tree.tree.invisibleRootItem()):
        for indent, row in (("", top), *(("  ", child) for child in children(top))):
            if not top.isHidden() and not row.isHidden():
                found.append(indent + " ".join(row.text(column) for column in range(3)).strip())
    return found


def children(item):
    return [item.child(k) for k in range(item.childCount())]


def item(tree, *names):
    """Return a row by its name, below that of its object; the object is unfolded."""
    found = tree.tree.invisibleRootItem()
    for name in names:
        found.setExpanded(True)
        found = next(child for child in children(found) if child.text(0) == name)
    return found


def click(tree, qtbot, row, column):
    qtbot.mouseClick(tree.tree.viewport(), Qt.MouseButton.LeftButton, pos=area(tree, row, column).center())


def area(tree, row, column):
    return tree.tree.visualRect(tree.tree.indexFromItem(row, column))


def test_objects_paths_and_cameras_are_listed(tree):
    assert rows(tree) == ["balloon", "  circle P O", "  flyby P O", "paper", "  line P !", "back P"]
    assert "51 frames × 211 points" in item(tree, "balloon", "circle").toolTip(1)
    assert "row 3 is ragged" in item(tree, "paper", "line").toolTip(2)


def test_a_click_on_a_camera_or_a_name_and_return_open_a_sequence_once_and_not_what_is_open(tree, qtbot):
    asked = []
    tree.sequence_requested.connect(asked.append)
    paper, flyby = item(tree, "paper"), item(tree, "balloon", "flyby")
    click(tree, qtbot, paper, 0)
    assert paper.isExpanded() and asked == []  # an object only unfolds
    click(tree, qtbot, flyby, 1)
    click(tree, qtbot, flyby, 2)
    tree.tree.setCurrentItem(item(tree, "balloon", "circle"), 0)
    qtbot.keyClick(tree.tree, Qt.Key.Key_Return)
    click(tree, qtbot, flyby, 0)
    opened = [("flyby", P), ("flyby", ORTHO), ("circle", P), ("flyby", P)]
    assert [(entry.path_name, entry.camera) for entry in asked] == opened
    tree.set_rows([held(asked[-1])], None)
    place = area(tree, flyby, 0).center()
    qtbot.mouseDClick(tree.tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert len(asked) == 4


def test_the_open_camera_alone_is_lit_in_a_row_that_is_selected(tree, near):
    tree.setPalette(palette(LIGHT))
    tree.set_rows([held(ENTRIES[1])], None)
    row = item(tree, "balloon", "circle")
    assert tree.tree.currentItem() is row and row.isSelected()
    cells = (tree.tree.viewport().grab(area(tree, row, column)).toImage() for column in (1, 2))
    opened, other = (near(cell, LIGHT.accent, tolerance=20).mean() for cell in cells)
    assert opened > 0.5 > 0.3 > other
    assert row.font(0).bold() and not item(tree, "balloon", "flyby").font(0).bold()


def test_a_broken_file_of_unknown_camera_is_listed_and_without_entries_there_is_a_hint(tmp_path, show):
    write_npz(simulate("paper", frames=8, points=16), tmp_path / "good.npz")
    (tmp_path / "bad.npz").write_bytes(b"PK")
    tree = SequencesPanel()
    tree.set_entries(list_sequences(tmp_path))
    show(tree, 240, 400)
    assert rows(tree) == ["bad !", "paper circle P"]
    tree.findChild(QLineEdit).setText("bad")
    assert rows(tree) == ["bad !"]
    tree.set_entries(())
    hint = next(label for label in tree.findChildren(QLabel) if "Open (Ctrl+O)" in label.text())
    assert hint.isVisible() and not tree.tree.isVisible()


def runs_below(item):
    return [child.text(0) for child in children(item)]


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


def test_the_filter_searches_object_path_camera_and_runs_by_name_and_note(tree):
    field = tree.findChild(QLineEdit)

    def found(words):
        field.setText(words)
        return rows(tree)

    assert found("fly") == ["balloon", "  flyby P O"]
    assert found("paper line") == ["paper", "  line P !"]
    assert found("nothing") == [] and len(found("")) == 6
    noted = RunRow(2, "bilinear, NN", "−2.9", "0.3 px", "6 mm", "", note="corner flips")
    tree.set_rows([held(ENTRIES[1], noted, row(1)), held(ENTRIES[-1], row(3), open=False)], 2)
    assert found("corner") == ["balloon", "  circle P O"]
    assert [run.isHidden() for run in children(item(tree, "balloon", "circle"))] == [False, True]
    assert found("back") == ["back P", "  bilinear, WNN"]


def test_a_run_that_is_added_or_dropped_leaves_the_chosen_row(tree):
    sequence = held(ENTRIES[1]).sequence
    tree.set_rows([SequenceRow(sequence, True, (row(2), row(1)))], 1)
    tree.set_rows([SequenceRow(sequence, True, (row(3), row(2), row(1)))], 1)
    assert tree.tree.number_of(tree.tree.currentItem()) == 1
    other = item(tree, "back")
    tree.tree.setCurrentItem(other)
    tree.set_rows([SequenceRow(sequence, True, (row(2), row(1)))], 1)
    assert tree.tree.currentItem() is other
