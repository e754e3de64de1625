"""Asking for files: nothing stands still meanwhile, and nothing happens where none is chosen."""

import ast
from pathlib import Path

import pytest
from hands import button_of
from PyQt6.QtCore import QItemSelectionModel, Qt, QTimer
from PyQt6.QtGui import QFileSystemModel
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLineEdit, QListView, QMessageBox, QWidget

import nrsfm_gui.widgets.dialogs as module
from nrsfm_gui.widgets.dialogs import PathKind, ask_for_path, first_suffix

SOURCES = Path(module.__file__).parent.parent
PREFIX = "getOpen", "getSave", "getExisting", "getColor", "getText", "getItem", "getInt", "getDouble"
CHOSEN = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows


@pytest.fixture
def parent(qtbot):
    widget = qtbot.addWidget(QWidget())
    widget.show()
    return widget


def test_an_existing_file_is_returned(parent, tmp_path):
    (tmp_path / "a.txt").touch()
    taken = []
    dialog = ask_for_path(parent, "Open", taken.append, start=tmp_path, filters="Text (*.txt)")
    assert dialog.isVisible()
    assert taken == []
    dialog.selectFile(str(tmp_path / "a.txt"))
    dialog.accept()
    assert taken == [tmp_path / "a.txt"]


def test_a_new_file_gets_the_suffix_of_the_filter_where_it_has_none(parent, tmp_path):
    taken = []
    filters = "NumPy (*.npz);;MATLAB (*.mat)"
    for name, chosen in (("x", "MATLAB (*.mat)"), ("y.csv", "")):
        dialog = ask_for_path(
            parent, "Save", taken.append, kind=PathKind.NEW_FILE, start=tmp_path / name, filters=filters
        )
        if chosen:
            dialog.selectNameFilter(chosen)
            dialog.filterSelected.emit(chosen)  # as the dialog does where a person chooses
        dialog.accept()
    assert taken == [tmp_path / "x.mat", tmp_path / "y.csv"]
    assert [first_suffix(text) for text in ("All files (*)", "", "A (*.txt *.mat)")] == ["", "", ".txt"]


def test_a_file_that_is_there_is_not_replaced_by_a_name_without_its_suffix(parent, tmp_path):
    (tmp_path / "mine.npz").touch()
    taken, asked = [], []
    dialog = ask_for_path(
        parent, "Save", taken.append, kind=PathKind.NEW_FILE, start=tmp_path / "mine", filters="NumPy (*.npz)"
    )

    def refuse():
        box = dialog.findChild(QMessageBox)
        asked.append(box.text())
        box.button(QMessageBox.StandardButton.No).click()

    QTimer.singleShot(50, refuse)
    dialog.accept()
    assert "mine.npz" in asked[0]
    assert taken == []
    dialog.reject()


def test_one_dialog_returns_a_file_the_shown_folder_or_the_selected_one(qtbot, parent, tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "a.txt").touch()
    taken = []
    for name in ("a.txt", "", "inner"):
        dialog = ask_for_path(parent, "Open", taken.append, kind=PathKind.ANY, start=tmp_path)
        view, model = dialog.findChild(QListView, "listView"), dialog.findChild(QFileSystemModel)
        button = button_of(dialog, "Open folder")
        qtbot.waitUntil(lambda view=view, model=model: model.rowCount(view.rootIndex()) == 2)
        if name:
            index = model.index(str(tmp_path / name))
            view.selectionModel().select(index, CHOSEN)
        with qtbot.waitSignal(dialog.finished):
            dialog.accept() if name == "a.txt" else button.click()
    assert taken == [tmp_path / "a.txt", tmp_path, tmp_path / "inner"]


def test_return_opens_a_folder_that_was_typed(qtbot, parent, tmp_path):
    (tmp_path / "inner").mkdir()
    taken = []
    dialog = ask_for_path(parent, "Open", taken.append, kind=PathKind.ANY, start=tmp_path)
    line = dialog.findChild(QLineEdit)
    qtbot.waitUntil(line.hasFocus)
    line.setText(str(tmp_path / "inner"))
    with qtbot.waitSignal(dialog.finished):
        qtbot.keyClick(line, Qt.Key.Key_Return)
    assert taken == [tmp_path / "inner"]


def test_nothing_happens_where_none_is_chosen(parent):
    taken = []
    ask_for_path(parent, "Open", taken.append).reject()
    assert taken == []


def test_a_dialog_that_is_closed_under_its_own_message_outlives_it(qtbot, parent, tmp_path):
    dialog = ask_for_path(parent, "Open", lambda _path: None, start=tmp_path)
    dialog.findChild(QLineEdit).setText("missing.npz")
    closed = []

    def close():  # while Qt's "file not found" waits for an answer
        message = dialog.findChild(QMessageBox)
        dialog.reject()
        qtbot.wait(50)  # what is to be deleted in this event loop goes now
        closed.append(message.isVisible())
        message.close()

    QTimer.singleShot(50, close)
    with qtbot.waitSignal(dialog.destroyed):
        dialog.accept()
    assert closed == [True]


def test_no_dialog_waits_in_a_loop_of_its_own():
    waiting = []
    for source in SOURCES.rglob("*.py"):
        text = source.read_text(encoding="utf-8")
        if not any(f".{name}" in text for name in (*PREFIX, "exec")):
            continue  # parsing takes long
        for node in ast.walk(ast.parse(text)):
            is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            name = node.func.attr if is_method else ""
            if name.startswith(PREFIX) or name == "exec":
                waiting.append((source.name, name))
    assert waiting == [("app.py", "exec")]


def test_the_first_click_on_a_button_counts_while_the_completion_is_open(qtbot, parent, tmp_path):
    (tmp_path / "inner").mkdir()
    taken = []
    dialog = ask_for_path(parent, "Open", taken.append, kind=PathKind.ANY, start=tmp_path)
    qtbot.activate(dialog)
    line = dialog.findChild(QLineEdit)
    popup = line.completer().popup()

    def completed():
        if not popup.isVisible():
            line.clear()
            qtbot.keyClicks(line, "inn")
        return popup.isVisible() and popup.windowHandle().isExposed()

    qtbot.waitUntil(completed)
    button = button_of(dialog, "Open folder")
    where = button.mapTo(dialog, button.rect().center())
    # As the window system sends it: what is open gets the click, wherever it was.
    QTest.mouseClick(dialog.windowHandle(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, where)
    qtbot.waitUntil(lambda: bool(taken))
    assert taken == [tmp_path]
