"""One selection in all views, the loop range, the worst frame, and the keys: in the whole window."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QCoreApplication, QEvent, QItemSelectionModel, QPoint, QPointF, Qt
from PyQt6.QtGui import QMouseEvent
from PyQt6.QtWidgets import QComboBox, QDialog, QLabel, QSpinBox

from core import Settings, simulate
from nrsfm_gui.engine.solver_thread import real_work
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.timeline.worst_frame import frame_sentence, ordinal
from nrsfm_gui.scene.ranking import known_means
from nrsfm_gui.scene.scene import ErrorSeries
from nrsfm_gui.widgets.fields import NumberField

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2)
LEFT, CONTROL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier


@pytest.fixture(scope="module")
def sequence():
    return simulate("paper", frames=14, points=30, noise=0.3, seed=2)


@pytest.fixture(scope="module")
def end(sequence):
    """The last iterate of a real run."""
    return list(real_work(sequence, QUICK, None))[-1]


@pytest.fixture
def window(make_window, sequence, end):
    return make_window(sequence, settings=QUICK, work=lambda *_: iter([end]))


@pytest.fixture
def solved(qtbot, window):
    """A window whose run has ended, with its errors on the timeline."""
    window.parameters_controller.run()
    qtbot.waitUntil(
        lambda: window.session.shown is not None and window.session.shown.state is RunState.FINISHED,
        timeout=30_000,
    )
    window.display.refresh()
    return window


def trigger(window, *names):
    for name in names:
        action = window.toolbars.actions[name]
        assert action.isEnabled(), name
        action.trigger()


def show_points(qtbot, window):
    """Bring the panel of points to the front."""
    dock = window.points_panel.parentWidget()
    dock.raise_()
    qtbot.waitUntil(window.points_panel.isVisible)


def rows(window):
    """The points of the selected rows of the table."""
    table = window.points_panel.table
    model = table.selectionModel()
    return sorted(int(table.model().order[index.row()]) for index in model.selectedRows())


def test_what_is_selected_anywhere_is_selected_everywhere(qtbot, solved, near):
    window, session = solved, solved.session
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


def test_rows_of_the_table_are_the_selection_in_whatever_order_they_stand(qtbot, solved):
    window, table = solved, solved.points_panel.table
    show_points(qtbot, window)
    table.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    means = known_means(window.display.scene.shapes.errors, 0)
    worst = np.argsort(-means)
    flags = QItemSelectionModel.SelectionFlag
    for row in (0, 3):
        table.selectionModel().select(table.model().index(row, 0), flags.Select | flags.Rows)
    assert window.session.selection == tuple(sorted(int(worst[row]) for row in (0, 3)))
    before = window.session.selection
    table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert tuple(rows(window)) == before == window.session.selection
    assert table.model().data(table.model().index(0, 0)) == "1"
    shown = float(table.model().data(table.model().index(5, 2)))
    assert shown == pytest.approx(means[5], rel=5e-3)


def test_points_are_hidden_isolated_and_shown_again(qtbot, solved):
    window, session = solved, solved.session
    trigger(window, "hide_points")
    assert "Select points first" in window.status_controller.activity.full_text
    session.set_selection((2, 5, 6))
    trigger(window, "hide_points")
    assert session.hidden == {2, 5, 6}
    assert session.selection == ()
    window.display.refresh()
    assert window.tracks_view._dots.measured.positions.shape[0] <= 27
    trigger(window, "select_all")
    assert session.selection == tuple(p for p in range(30) if p not in (2, 5, 6))
    trigger(window, "show_points")
    session.set_selection((1, 8))
    trigger(window, "isolate_points")
    assert session.hidden == set(range(30)) - {1, 8}
    assert session.selection == (1, 8)
    trigger(window, "show_points", "invert_selection")
    assert set(session.selection) == set(range(30)) - {1, 8}
    trigger(window, "hide_points")
    window.display.refresh()
    drawn = window.display.scene.drawn
    assert np.flatnonzero(drawn).tolist() == [1, 8]
    assert window.scene_view.point_at(QPoint(-500, -500)) == -1


def test_a_lasso_in_the_3d_view_selects_what_is_drawn_inside(qtbot, solved):
    window, view = solved, solved.scene_view
    window.session.set_hidden((4, 5))
    window.display.refresh()
    pixels = view._projection().pixels(view._scene.estimate)[0]
    right = pixels[:, 0] > np.median(pixels[:, 0])
    middle, top = int(np.median(pixels[:, 0])), 2
    corners = [
        (middle, top),
        (view.width() - 2, top),
        (view.width() - 2, view.height() - 2),
        (middle, view.height() - 2),
    ]
    kind = QEvent.Type
    before = view._projection().clip_matrix()
    for place, corner in enumerate([corners[0], *corners, corners[-1]]):
        what = (
            kind.MouseButtonPress if place == 0 else kind.MouseButtonRelease if place == 5 else kind.MouseMove
        )
        button = Qt.MouseButton.NoButton if what is kind.MouseMove else LEFT
        where = QPointF(*corner)
        event = QMouseEvent(what, where, view.mapToGlobal(where), button, LEFT, CONTROL)
        QCoreApplication.sendEvent(view, event)
    chosen = set(window.session.selection)
    assert {int(point) for point in np.flatnonzero(right)} - {4, 5} <= chosen
    assert not chosen & {4, 5}
    assert len(chosen) < 28
    np.testing.assert_array_equal(view._projection().clip_matrix(), before)  # the camera stays


def test_the_point_under_the_mouse_is_circled_in_the_other_views(window):
    window.timeline.point_hovered.emit(7)
    assert window.scene_view._hovered == window.tracks_view._hovered == 7
    window.tracks_view.point_hovered.emit(-1)
    assert window.scene_view._hovered == -1


def test_labels_come_and_go_by_a_key(qtbot, window):
    with qtbot.waitActive(window):
        window.activateWindow()
    before = window.session.appearance.labels
    qtbot.keyClick(window, Qt.Key.Key_N)
    assert window.session.appearance.labels != before
    qtbot.keyClick(window, Qt.Key.Key_N)
    assert window.session.appearance.labels == before


def test_brackets_set_the_range_that_is_played_and_escape_clears_it(qtbot, window):
    session = window.session
    with qtbot.waitActive(window):
        window.activateWindow()
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
    session.set_point(4)
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert (session.point, session.frame_range) == (-1, (10, 10))
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert session.frame_range is None
    qtbot.waitUntil(lambda: window.timeline.slider._range.frames is None)


def test_w_goes_to_the_worst_frame_and_on_and_shows_how_bad_it_is(qtbot, solved):
    window, session = solved, solved.session
    order = np.argsort(-window.timeline.series.per_frame)
    session.set_frame(int(order[-1]))
    for place in range(3):
        trigger(window, "worst_frame")
        assert session.frame == order[place]
        words = "Worst frame" if place == 0 else f"{place + 1}"
        assert words in window.status_controller.activity.full_text
    session.set_frame(int(order[5]))
    trigger(window, "worst_frame")
    assert session.frame == order[0]  # begins again where the person went elsewhere


def test_shift_w_selects_the_worst_points_of_the_frame_one_by_one(qtbot, solved):
    window, session = solved, solved.session
    session.set_frame(6)
    order = np.argsort(-window.timeline.series.per_point[6])
    trigger(window, "worst_point")
    assert session.selection == (order[0],)
    session.set_hidden((int(order[1]),))
    trigger(window, "worst_point")
    assert session.selection == (order[2],)
    session.set_frame(9)
    session.set_point(-1)
    trigger(window, "worst_point")
    errors = window.timeline.series.per_point[9].copy()
    errors[order[1]] = -1.0  # it is hidden
    assert session.selection == (int(errors.argmax()),)


def test_the_sentence_on_a_frame_shows_what_its_error_comes_from():
    errors = np.ones((4, 10))
    errors[2] = [50.0] + [1.0] * 9
    series = ErrorSeries(known_means(errors, 1), errors, "mm", "3-D error")
    sentence = frame_sentence(series, 2)
    assert sentence.startswith("Worst frame: 3, mean 3-D error 5.90 mm (median frame 1.00 mm)")
    assert "half of it from 1 of 10 points" in sentence
    assert "half of it from 5 of 10 points" in frame_sentence(series, 0)
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 22)] == ["1st", "2nd", "3rd", "4th", "11th", "22nd"]


def test_the_numbers_of_several_points_are_their_mean_and_their_worst(qtbot, solved):
    window, session = solved, solved.session
    session.set_frame(5)
    session.set_selection((2, 9, 14))
    window.display.refresh()
    scene = window.display.scene

    def texts():
        return [label.text() for label in window.numbers_panel.findChildren(QLabel)]

    qtbot.waitUntil(lambda: "3 points, frame 6" in texts())
    errors = scene.errors[[2, 9, 14]]
    assert f"{errors.mean():.2f} mm" in texts() or f"{errors.mean():.3f} mm" in texts()
    assert any(text.endswith(f"(point {(2, 9, 14)[int(errors.argmax())] + 1})") for text in texts())
    session.set_point(2)
    window.display.refresh()
    qtbot.waitUntil(lambda: "Point 3, frame 6" in texts())


# Keys


def press_everything(qtbot, window, widget):
    """Press keys of the timeline in a widget; return whether each of them did what it is for."""
    session = window.session
    session.set_frame(5)
    qtbot.keyClick(widget, Qt.Key.Key_L)
    went = [session.frame == 6]
    qtbot.keyClick(widget, Qt.Key.Key_Left)
    went.append(session.frame == 5)
    qtbot.keyClick(widget, Qt.Key.Key_End)
    went.append(session.frame == 13)
    qtbot.keyClick(widget, Qt.Key.Key_Home)
    went.append(session.frame == 0)
    qtbot.keyClick(widget, Qt.Key.Key_BracketRight)
    went.append(session.frame_range == (0, 0))
    session.set_frame_range(None)
    qtbot.keyClick(widget, Qt.Key.Key_Space)
    went.append(window.timeline_controller.playback.playing)
    window.timeline_controller.playback.set_playing(False)
    return went


def test_keys_work_from_a_table_a_combo_a_plot_and_after_a_dialog(qtbot, solved):
    window = solved
    with qtbot.waitActive(window):
        window.activateWindow()
    show_points(qtbot, window)
    table = window.points_panel.table
    qtbot.mouseClick(table.viewport(), LEFT, pos=QPoint(40, 30))
    assert table.hasFocus()
    assert all(press_everything(qtbot, window, table))
    combo = next(
        combo
        for combo in window.parameters_panel.findChildren(QComboBox)
        if combo.isVisible() and combo.isEnabled()
    )
    combo.setFocus()
    text = combo.currentText()
    assert all(press_everything(qtbot, window, combo))
    assert combo.currentText() == text
    for view in (window.tracks_view._plot.viewport(), window.timeline.strip, window.loss_plot):
        qtbot.mouseClick(view, LEFT, pos=QPoint(120, 40))
        assert all(press_everything(qtbot, window, window.focusWidget() or window))
    dialog = QDialog(window)
    dialog.open()
    qtbot.waitUntil(dialog.isActiveWindow)
    dialog.reject()
    with qtbot.waitActive(window):
        window.activateWindow()  # which a window manager would do
    assert all(press_everything(qtbot, window, window.focusWidget() or window))


def test_keys_stay_with_text_fields(qtbot, window):
    with qtbot.waitActive(window):
        window.activateWindow()
    spin = QSpinBox(window)
    spin.show()
    for field in (window.parameters_panel.findChild(NumberField, "eta"), spin):
        field.setFocus()
        assert field.hasFocus()
        went = press_everything(qtbot, window, field)
        assert went == [False, True, False, False, False, False]  # the frame was 5, and stays 5
        assert window.session.frame == 5
    spin.deleteLater()
    frame = window.timeline.findChild(NumberField, "frame")
    frame.setFocus()
    frame.selectAll()
    qtbot.keyClicks(frame, "8")
    qtbot.keyClick(frame, Qt.Key.Key_Return)
    assert window.session.frame == 7
    qtbot.keyClick(window, Qt.Key.Key_L)  # the field was left
    assert window.session.frame == 8


# The panel


def test_the_curves_are_the_errors_and_paths_of_the_selected_points(qtbot, solved):
    window, panel = solved, solved.points_panel
    show_points(qtbot, window)
    shapes = window.display.scene.shapes
    window.session.set_selection((4, 11))
    window.display.refresh()
    panel.header.findChild(type(panel._buttons["errors"]), "errors").click()
    plots = panel.curves.plots
    assert [plot.unit for plot in plots] == ["px", shapes.unit]
    np.testing.assert_array_equal(plots[0].curves[0], shapes.residuals[:, 4])
    np.testing.assert_array_equal(plots[1].curves[1], shapes.errors[:, 11])
    panel._buttons["paths"].click()
    plots = panel.curves.plots
    assert [plot.title for plot in plots] == ["x", "y", "z"]
    np.testing.assert_array_equal(plots[2].curves[1], shapes.points[:, 2, 11])
    np.testing.assert_array_equal(plots[2].dashed[0], shapes.truth[:, 2, 4])
    assert [widget.isVisibleTo(panel) for widget in panel.curves._charts] == [True] * 3
    window.session.set_frame(8)
    window.display.refresh()
    assert {cursor.value() for cursor in [chart._cursor for chart in panel.curves._charts]} == {9}
    window.session.set_selection(range(20))
    window.display.refresh()
    assert len(panel.curves.plots[0].curves) == 8
    assert "(8 of 20)" in panel.curves._names.text()
    trigger(window, "deselect")
    window.display.refresh()
    assert panel.curves._empty.isVisibleTo(panel)


def test_a_click_into_the_curves_goes_to_the_frame(qtbot, solved):
    window, panel = solved, solved.points_panel
    show_points(qtbot, window)
    window.session.set_point(4)
    window.display.refresh()
    panel._buttons["errors"].click()
    plot = panel.curves._charts[0]
    qtbot.waitUntil(plot.isVisible)
    box = plot.getPlotItem().getViewBox()
    middle = np.mean(box.viewRange()[1])
    where = plot.mapFromScene(box.mapViewToScene(QPointF(9.0, middle)))
    qtbot.mouseClick(plot.viewport(), LEFT, pos=where)
    qtbot.waitUntil(lambda: window.session.frame == 8)


def test_a_double_click_on_a_row_goes_to_the_worst_frame_of_the_point(qtbot, solved):
    window, table = solved, solved.points_panel.table
    show_points(qtbot, window)
    worst = int(np.argmax(window.display.scene.shapes.errors[:, 6]))
    table.doubleClicked.emit(table.model().index(6, 0))
    assert window.session.frame == worst


def test_the_panel_shows_what_to_do_while_there_is_nothing(qtbot, window):
    show_points(qtbot, window)
    panel = window.points_panel
    assert panel.table.model().rowCount() == 30
    assert panel.table.model().data(panel.table.model().index(0, 1)) == "–"
    panel._buttons["errors"].click()
    assert "Select points" in panel.curves._empty.text()
    window.session.set_point(3)
    window.display.refresh()
    assert "press Run" in panel.curves._empty.text()


def test_the_table_selects_and_sorts_very_many_points(qtbot, show):
    from nrsfm_gui.panels.points.points_table import PointsTable
    from nrsfm_gui.text.point_table import PointTable

    count = 28_880
    rng = np.random.default_rng(0)
    values = rng.exponential(1.0, (3, count))
    table = PointsTable()
    show(table, 300, 250)
    content = PointTable(values[0], values[1], np.floor(values[2]), rng.uniform(0, 1, count), "px", "mm")
    table.set_table(content)
    table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    table.set_selection(range(0, count, 40), 40)
    table.grab()
    table.set_selection(range(count), -1)
    table.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    table.grab()
    assert len(table._selected()) == count
    table.set_selection(range(0, count, 2), 0)  # every other one, all over the table
    with qtbot.waitSignal(table.points_selected) as caught:
        qtbot.mouseClick(table.viewport(), LEFT, pos=QPoint(60, 40))
    assert len(caught.args[0]) == 1
    table.set_selection(range(0, count, 2), 0)
    table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    assert table._selected().tolist() == list(range(0, count, 2))
    table.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    assert table.model().data(table.model().index(0, 2)) == f"{values[1].max():.3g}"
