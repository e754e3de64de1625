"""One selection in all views, the loop range, the worst frame, and the keys: in the whole window."""

import numpy as np
import pytest
from hands import type_into
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtWidgets import QApplication, QDialog

from core import Settings
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.widgets.dock_title import show_dock_of
from nrsfm_gui.widgets.fields import NumberField

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")
LEFT, CONTROL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier


@pytest.fixture(scope="module")
def shared(make_shared_window, add_solved_run, sequence):
    """A window whose run has ended, with its errors on the timeline."""
    window = make_shared_window()
    window.session.set_live(False)
    add_solved_run(window.session, sequence, QUICK)
    return window


@pytest.fixture
def window(qtbot, shared):
    session = shared.session
    session.set_selection(())
    session.set_frame_range(None)
    session.set_frame(0)
    qtbot.activate(shared)
    shared.display.refresh()
    return shared


def trigger(window, *names):
    for name in names:
        action = window.toolbars.actions[name]
        assert action.isEnabled(), name
        action.trigger()


def show_points(qtbot, window):
    show_dock_of(window.points_panel)
    qtbot.waitUntil(window.points_panel.isVisible)


def rows(window):
    table = window.points_panel.table
    model = table.selectionModel()
    return sorted(int(table.model().order[index.row()]) for index in model.selectedRows())


def test_what_is_selected_anywhere_is_selected_everywhere(qtbot, window, near):
    session = window.session
    show_points(qtbot, window)
    window.tracks_view.points_selected.emit(np.array([3, 4, 7]), False)
    assert session.selection == (3, 4, 7)
    qtbot.waitUntil(lambda: rows(window) == [3, 4, 7])
    assert window.timeline.state.selection == (3, 4, 7)
    qtbot.waitUntil(lambda: window.tracks_view._scene.selection == (3, 4, 7))
    window.display.refresh()
    for view in (window.tracks_view, window.scene_view):
        assert near(view.grab_image(), DARK.selection, tolerance=60).sum() > 30
    window.scene_view.point_toggled.emit(4)
    assert session.selection == (3, 7)
    window.timeline.strip.point_toggled.emit(9)
    assert session.selection == (3, 7, 9)
    assert session.point == 9
    window.scene_view.points_selected.emit(np.array([0, 1]), True)
    assert session.selection == (0, 1, 3, 7, 9)
    trigger(window, "deselect")
    assert session.selection == ()
    qtbot.waitUntil(lambda: rows(window) == [])


def test_the_point_under_the_mouse_is_circled_in_the_other_views(window):
    window.timeline.strip.point_hovered.emit(7)
    assert window.scene_view._hovered == window.tracks_view._hovered == 7
    assert window.status_controller.line.hover.startswith("point 8 · ")
    window.tracks_view.point_hovered.emit(-1)
    assert window.scene_view._hovered == -1 and window.status_controller.line.hover == ""


def test_labels_come_and_go_by_a_key(qtbot, window):
    before = window.session.appearance.labels
    qtbot.keyClick(window, Qt.Key.Key_N)
    assert window.session.appearance.labels != before
    qtbot.keyClick(window, Qt.Key.Key_N)
    assert window.session.appearance.labels == before


def test_brackets_set_the_range_that_is_played_and_escape_clears_it(qtbot, window):
    session = window.session
    session.set_frame(3)
    qtbot.keyClick(window, Qt.Key.Key_BracketLeft)
    assert session.frame_range == (3, 13)
    session.set_frame(6)
    qtbot.keyClick(window, Qt.Key.Key_BracketRight)
    assert session.frame_range == (3, 6)
    seen = []
    session.frame_changed.connect(seen.append)
    window.timeline_controller.playback.set_speed(4.0)
    qtbot.keyClick(window, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: len(seen) >= 9)
    qtbot.keyClick(window, Qt.Key.Key_Space)
    assert set(seen) <= {3, 4, 5, 6}  # some are left out where the processor is busy
    assert len(set(seen)) > 1
    session.set_frame(10)
    qtbot.keyClick(window, Qt.Key.Key_BracketLeft)  # behind the end, which gives way
    assert session.frame_range == (10, 10)
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert session.frame_range is None
    qtbot.waitUntil(lambda: window.timeline.state.played is None)


def test_the_menu_of_a_point_is_opened_from_the_views_and_the_table(qtbot, window):
    window.session.set_selection((7,))
    for view in (window.tracks_view, window.timeline.strip, window.points_panel):
        view.menu_requested.emit(window.mapToGlobal(QPoint(50, 50)))
        menu = QApplication.activePopupWidget()
        assert menu.actions()[0] is window.toolbars.actions["hide_observation"]
        menu.close()
    qtbot.keyClick(window.scene_view, Qt.Key.Key_O)
    qtbot.waitUntil(window.outliers_panel.isVisible)
    found = window.outliers_panel.sentence.full_text
    assert "observations" in found or "exceed" in found


def test_what_is_hidden_by_a_key_is_drawn_so_until_that_is_undone(qtbot, window):
    session = window.session
    session.set_frame(4)
    session.set_selection((7,))
    qtbot.keyClick(window.scene_view, Qt.Key.Key_X)
    assert session.settings.hide == "8:5"
    window.display.refresh()
    assert np.flatnonzero(window.display.scene.excluded).tolist() == [7]
    assert window.tracks_view._dots.excluded.positions.shape == (1, 2)
    qtbot.keyClick(window.scene_view, Qt.Key.Key_Z, CONTROL)
    window.display.refresh()
    assert session.settings.hide is None and not window.display.scene.excluded.any()


def test_the_arrows_stay_with_a_table_and_keys_act_after_a_dialog_and_once_a_field_is_left(qtbot, window):
    show_points(qtbot, window)
    table = window.points_panel.table
    qtbot.mouseClick(table.viewport(), LEFT, pos=QPoint(40, 30))
    assert table.hasFocus()
    window.session.set_frame(3)
    for key in (Qt.Key.Key_L, Qt.Key.Key_Left, Qt.Key.Key_End, Qt.Key.Key_Home, Qt.Key.Key_Space):
        qtbot.keyClick(table, key)
    assert window.session.frame == 4 and not window.timeline_controller.playback.playing
    dialog = QDialog(window)
    dialog.open()
    qtbot.waitUntil(dialog.isActiveWindow)
    dialog.reject()
    qtbot.activate(window)  # which a window manager would do
    window.session.set_frame(5)
    qtbot.keyClick(window.focusWidget() or window, Qt.Key.Key_L)
    assert window.session.frame == 6
    frame = window.timeline.findChild(NumberField, "frame")
    type_into(frame, "8")
    qtbot.keyClick(frame, Qt.Key.Key_Return)
    assert window.session.frame == 7
    qtbot.keyClick(window, Qt.Key.Key_L)
    assert window.session.frame == 8
