"""One selection in all views, what of it is not drawn or hidden from the solver, the loop range, the keys."""

import numpy as np
import pytest
from hands import drag, type_into
from PyQt6.QtCore import QPoint, QPointF, Qt
from PyQt6.QtWidgets import QApplication, QDialog

from core import Settings, simulate
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.points.selection_controller import SELECT_FIRST
from nrsfm_gui.widgets.dock_title import show_dock_of
from nrsfm_gui.widgets.fields import NumberField

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")
LEFT, CONTROL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def window(emptied, add_solved_run, sequence):
    """Return a window whose run has ended, with its errors on the timeline."""
    add_solved_run(emptied.session, sequence, QUICK)
    emptied.session.set_frame(0)
    emptied.display.refresh()
    return emptied


def trigger(window, *names):
    for name in names:
        action = window.toolbars.actions[name]
        assert action.isEnabled(), name
        action.trigger()


def status(window):
    return window.status_controller.line.full_text


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
    assert window.timeline.strip._selected.tolist() == [3, 4, 7]
    qtbot.waitUntil(lambda: window.tracks_view._scene.selection == (3, 4, 7))
    window.display.refresh()
    for view in (window.tracks_view, window.scene_view):
        assert near(view.grab_image(), DARK.selection, tolerance=60).sum() > 30
    window.scene_view.point_toggled.emit(4)
    assert session.selection == (3, 7)
    window.timeline.point_toggled.emit(9)
    assert session.selection == (3, 7, 9)
    assert session.point == 9
    window.scene_view.points_selected.emit(np.array([0, 1]), True)
    assert session.selection == (0, 1, 3, 7, 9)
    trigger(window, "deselect")
    assert session.selection == ()
    qtbot.waitUntil(lambda: rows(window) == [])


def test_the_point_under_the_mouse_is_circled_in_the_other_views(window):
    window.timeline.point_hovered.emit(7)
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
    qtbot.waitUntil(lambda: window.timeline.slider._range is None)


def test_the_menu_of_a_point_is_opened_from_the_views_and_the_table(qtbot, window):
    window.session.set_selection((7,))
    for view in (window.tracks_view, window.timeline, window.points_panel):
        view.menu_requested.emit(window.mapToGlobal(QPoint(50, 50)))
        menu = QApplication.activePopupWidget()
        assert menu.actions()[0] is window.toolbars.actions["hide_observation"]
        menu.close()
    qtbot.keyClick(window.scene_view, Qt.Key.Key_O)
    qtbot.waitUntil(window.outliers_panel.isVisible)
    found = window.outliers_panel.sentence.full_text
    assert "observations" in found or "exceed" in found


@pytest.mark.slow
def test_a_run_follows_what_is_hidden_by_a_key_and_what_is_undone(qtbot, make_window, sequence, solve):
    solved = make_window(sequence, settings=QUICK.with_changes(rotations="truth", starts=1))
    solve(solved)
    session = solved.session

    def wait():
        qtbot.waitUntil(lambda: not session.shown.state.alive and solved.run_control.current is None)
        solved.display.refresh()

    wait()
    session.set_frame(4)
    session.set_selection((7,))
    qtbot.keyClick(solved.scene_view, Qt.Key.Key_X)
    assert session.settings.hide == "8:5"
    wait()
    assert session.shown.number == 2 and session.shown.settings.hide == "8:5"
    assert np.isnan(solved.display.scene.shapes.residuals[4, 7])
    assert solved.display.scene.excluded.tolist() == [point == 7 for point in range(30)]
    assert solved.tracks_view._dots.excluded.positions.shape == (1, 2)
    qtbot.keyClick(solved.scene_view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert session.settings.hide is None
    wait()
    assert np.isfinite(solved.display.scene.shapes.residuals[4, 7])


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


def test_points_are_hidden_isolated_and_shown_again(window):
    session = window.session
    trigger(window, "hide_points")
    assert "Select points first" in status(window)
    session.set_selection((2, 5, 6))
    trigger(window, "hide_points")
    assert (session.hidden, session.selection) == ({2, 5, 6}, ())
    window.display.refresh()
    assert window.tracks_view._dots.measured.positions.shape[0] <= 27
    trigger(window, "select_all")
    assert session.selection == tuple(p for p in range(30) if p not in (2, 5, 6))
    trigger(window, "show_points")
    session.set_selection((1, 8))
    trigger(window, "isolate_points")
    assert (session.hidden, session.selection) == (set(range(30)) - {1, 8}, (1, 8))
    trigger(window, "show_points", "invert_selection")
    assert set(session.selection) == set(range(30)) - {1, 8}
    trigger(window, "hide_points")
    window.display.refresh()
    drawn = window.display.scene.drawn
    assert np.flatnonzero(drawn).tolist() == [1, 8]
    assert window.scene_view.point_at(QPoint(-500, -500)) == -1


def test_a_lasso_in_the_3d_view_selects_what_is_drawn_inside(window):
    session, view = window.session, window.scene_view
    session.set_hidden((4, 5))
    window.display.refresh()
    pixels = view._projection().pixels(view._scene.estimate)[0]
    right = pixels[:, 0] > np.median(pixels[:, 0])
    left, edge, floor = int(np.median(pixels[:, 0])), view.width() - 2, view.height() - 2
    corners = (left, 2), (edge, 2), (edge, floor), (left, floor)
    before = view._projection().clip_matrix()
    drag(view, *(QPointF(*corner) for corner in corners), keys=CONTROL)
    chosen = set(session.selection)
    assert set(np.flatnonzero(right).tolist()) - {4, 5} <= chosen
    assert not chosen & {4, 5} and len(chosen) < 28
    np.testing.assert_array_equal(view._projection().clip_matrix(), before)  # the camera stays


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("hide_observation", "3:6;8:6"),
        ("hide_onwards", "3:6-;8:6-"),
        ("hide_range", "3:2-5;8:2-5"),
        ("hide_point", "3:*;8:*"),
    ],
)
def test_each_action_hides_the_selected_points_in_its_frames(window, name, entries):
    session = window.session
    session.set_frame(5)
    session.set_frame_range((1, 4))
    session.set_selection((2, 7))
    trigger(window, name)
    assert session.settings.hide == entries
    assert "hidden from the solver: press Run" in status(window)
    trigger(window, "show_again")
    assert session.settings.hide is None
    assert "used again" in status(window)


def test_hiding_adds_up_and_is_undone_step_by_step(window):
    session = window.session
    session.set_selection((2,))
    trigger(window, "hide_observation")
    session.undo_stack._at -= 10.0  # another gesture
    session.set_frame(3)
    session.set_selection((2, 5))
    trigger(window, "hide_observation")
    assert session.settings.hide == "3:1,4;6:4"
    session.undo()
    assert session.settings.hide == "3:1"
    session.redo()
    assert session.excluded.sum() == 3
    session.set_selection((2,))
    trigger(window, "show_again")
    assert session.settings.hide == "6:4"
    trigger(window, "show_all_again")
    assert session.settings.hide is None


def test_what_cannot_be_hidden_is_named(window):
    session = window.session
    trigger(window, "hide_observation")
    assert status(window) == SELECT_FIRST
    trigger(window, "show_all_again")
    assert "No observation is hidden" in status(window)
    session.set_selection((2,))
    trigger(window, "hide_range")
    assert "Choose frames first" in status(window)
    session.set_selection(range(30))
    trigger(window, "hide_point")
    assert session.settings.hide is None
    assert window.message_bar.text == "Nothing is hidden: frame 1 would be left without any point."


def test_hidden_observations_are_no_settings_of_another_sequence(window, sequence):
    session = window.session
    session.set_selection((2,))
    trigger(window, "hide_observation")
    assert session.transferable_settings.hide is None
    assert session.excluded.any()
    session.set_sequence(simulate("paper", frames=12, points=20))
    assert session.settings.hide is None and session.excluded is None
