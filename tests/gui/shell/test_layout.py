"""Docks share the window: at first, while it grows and shrinks, and as a person made them."""

from pathlib import Path

import pytest
from hands import docks_rest
from PyQt6.QtCore import QPoint, QPointF, QSize, Qt
from PyQt6.QtGui import QEnterEvent, QScreen
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QTabBar, QToolButton

from nrsfm_gui.main_window import MainWindow
from nrsfm_gui.model.background import Background
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.sessions.session_saver import layout_of, show_layout
from nrsfm_gui.shell.layout import docks, is_in_front
from nrsfm_gui.widgets.dock_title import DockTitle

VIDEO = Background(Path("clip.mp4"))


@pytest.fixture
def window(shared, qtbot):
    """Return a window without a video, as large as at first, with the first layout."""
    shared.dock_layout.place_tracks(None)
    shared.resize(1280, 800)
    shared.dock_layout.reset()
    qtbot.activate(shared)
    settle(shared, qtbot)
    return shared


def settle(window, qtbot):
    """Wait until the docks have the room that suits the window, and are laid out in it."""
    before = []

    def rests():
        now = [dock.geometry() for dock in docks(window)] if docks_rest(window) else []
        same, before[:] = now == before, now
        return bool(now) and same

    qtbot.waitUntil(rests)


def sizes(window, qtbot, *size):
    """Return what docks have in a window of a size: widths at the sides, and the height below."""
    if size:
        window.resize(*size)
        settle(window, qtbot)
    found = {dock.windowTitle(): dock for dock in docks(window)}
    widths = [found[title].width() for title in ("Sequences", "Parameters")]
    return (*widths, found["2-D"].height())


def test_docks_grow_with_the_window_and_come_back(window, qtbot):
    first = sizes(window, qtbot)
    assert first[0] >= 240  # names of runs are read
    assert first[2] >= 180
    large = sizes(window, qtbot, 2560, 1440)
    assert all(more > less for more, less in zip(large, first, strict=True))
    assert large[2] > 0.24 * 1440
    assert window.scene_view.height() > large[2]
    again = sizes(window, qtbot, 1280, 800)
    assert all(abs(one - two) <= 20 for one, two in zip(again, first, strict=True))


def drag_edge(window, start, step):
    """Move a splitter from a place by a number of pixels, as a mouse does."""
    QTest.mousePress(window, Qt.MouseButton.LeftButton, pos=start)
    for part in (1, 2, 3):
        QTest.mouseMove(window, start + step * part / 3)
        QTest.qWait(10)  # a splitter follows the mouse by a timer
    QTest.mouseRelease(window, Qt.MouseButton.LeftButton, pos=start + step)


def test_splitters_stay_where_a_person_put_them(qtbot, make_window):
    window = make_window()
    found = {dock.windowTitle(): dock for dock in docks(window)}
    before = sizes(window, qtbot, 1280, 800)
    below, left = found["2-D"].geometry(), found["Sequences"].geometry()
    drag_edge(window, QPoint(below.center().x(), below.top() - 2), QPoint(0, -80))
    drag_edge(window, QPoint(left.right() + 3, left.center().y()), QPoint(40, 0))
    own = sizes(window, qtbot)
    assert own == pytest.approx((before[0] + 40, before[1], before[2] + 80), abs=6)
    assert sizes(window, qtbot, 1800, 1200)[::2] == pytest.approx(own[::2], abs=2)
    window.resize(820, 600)  # where docks join others
    settle(window, qtbot)
    assert sizes(window, qtbot, 1280, 800) == pytest.approx(own, abs=2)
    window.close()
    again = make_window()
    settle(again, qtbot)
    assert sizes(again, qtbot) == pytest.approx(own, abs=2)
    assert sizes(again, qtbot, 1440, 1000)[::2] == pytest.approx(own[::2], abs=2)


def test_a_first_window_has_room_for_its_frame_and_numbers_get_their_share_until_a_person_moves_their_edge(
    qtbot, store, work, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(QScreen, "availableSize", lambda _screen: QSize(1280, 800))
        window = MainWindow(store=store, software=True, work=work)
    try:
        assert window.width() < 1280 and 720 < window.height() <= 760
        window.resize(1440, 950)
        window.show()
        settle(window, qtbot)
        found = {dock.windowTitle(): dock for dock in docks(window)}
        parameters, numbers = found["Parameters"], found["Numbers"]
        assert parameters.height() >= 520 > numbers.height() > 100
        sizes(window, qtbot, 1900, 1440)
        assert abs(parameters.height() - numbers.height()) < 20
        area = parameters.geometry()
        drag_edge(window, QPoint(area.center().x(), area.bottom() + 3), QPoint(0, 120))
        own = parameters.height()
        assert own > numbers.height() + 200
        sizes(window, qtbot, 1900, 1400)
        assert parameters.height() == pytest.approx(own, abs=2)
    finally:
        window.close()
        window.deleteLater()
        qtbot.wait(1)


def test_docks_of_a_narrow_window_are_tabs_and_come_back_when_it_widens(window, qtbot):
    found = {dock.windowTitle(): dock for dock in docks(window)}
    together = window.tabifiedDockWidgets
    usual = sizes(window, qtbot)
    window.resize(1090, 900)
    qtbot.waitUntil(lambda: found["Sequences"] in together(found["Parameters"]))
    assert found["2-D"] not in together(found["Parameters"]) and found["Loss"] in together(found["2-D"])
    qtbot.waitUntil(lambda: is_in_front(found["Parameters"]))  # it is in front
    window.resize(1000, 640)
    qtbot.waitUntil(lambda: found["2-D"] in together(found["Parameters"]))
    found["Log"].show()
    found["Numbers"].hide()
    assert sizes(window, qtbot, 1280, 800)[:2] == pytest.approx(usual[:2], abs=2)
    assert window.dockWidgetArea(found["Sequences"]) is Qt.DockWidgetArea.LeftDockWidgetArea
    assert not together(found["Sequences"])
    assert not found["Log"].isHidden() and found["Numbers"].isHidden()


def test_docks_below_have_their_shares_of_the_width_again_after_the_window_was_narrow(window, qtbot):
    found = {dock.windowTitle(): dock for dock in docks(window)}
    loss, tracks = found["Loss"], found["2-D"]

    def widths():
        sizes(window, qtbot, 1280, 800)
        return loss.width(), tracks.width()

    usual = widths()
    for size in ((800, 600), (1000, 900), (1090, 640)):
        sizes(window, qtbot, *size)
        assert widths() == pytest.approx(usual, abs=2)
    edge = loss.geometry()
    drag_edge(window, QPoint(edge.right() + 3, edge.center().y()), QPoint(-60, 0))
    own = widths()
    assert own == pytest.approx((usual[0] - 60, usual[1] + 60), abs=6)
    sizes(window, qtbot, 800, 600)
    assert widths() == pytest.approx(own, abs=2)
    found["Points"].show()
    found["Points"].raise_()  # in the place of the loss
    sizes(window, qtbot, 800, 600)
    sizes(window, qtbot, 1280, 800)
    assert tracks.width() == pytest.approx(own[1], abs=2)


@pytest.mark.parametrize("size", [(800, 600), (1000, 900)])
def test_docks_below_have_their_shares_again_where_the_window_was_closed_while_it_was_narrow(
    size, qtbot, make_window
):
    def widths(window):
        sizes(window, qtbot, 1280, 800)
        found = {dock.windowTitle(): dock for dock in docks(window)}
        return found["Loss"].width(), found["2-D"].width()

    window = make_window()
    usual = widths(window)
    edge = next(dock for dock in docks(window) if dock.windowTitle() == "Loss").geometry()
    drag_edge(window, QPoint(edge.right() + 3, edge.center().y()), QPoint(-60, 0))
    own = widths(window)
    assert own != pytest.approx(usual, abs=20)
    for _ in range(2):
        sizes(window, qtbot, *size)
        window.close()
        window = make_window()
        settle(window, qtbot)
    assert widths(window) == pytest.approx(own, abs=2)


def test_the_2d_view_stands_beside_the_3d_view_and_as_wide_where_there_is_a_video(window, qtbot):
    found = {dock.windowTitle(): dock for dock in docks(window)}
    area, tracks = Qt.DockWidgetArea, found["2-D"]
    usual = sizes(window, qtbot)
    for size in ((1280, 800), (1920, 1080), (1000, 640), (1280, 800)):
        window.dock_layout.place_tracks(VIDEO)
        sizes(window, qtbot, *size)
        assert window.dockWidgetArea(tracks) is not area.BottomDockWidgetArea
        if size[0] >= 1100:
            assert tracks.width() == pytest.approx(window.compare_splitter.width(), abs=20)
            assert tracks.height() > 500
    window.dock_layout.place_tracks(None)
    assert sizes(window, qtbot, 1280, 800) == pytest.approx(usual, abs=2)
    assert window.dockWidgetArea(tracks) is area.BottomDockWidgetArea
    window.addDockWidget(area.RightDockWidgetArea, tracks)  # as a person may
    window.dock_layout.place_tracks(VIDEO)
    assert window.dockWidgetArea(tracks) is area.RightDockWidgetArea


def test_a_layout_of_a_session_suits_windows_of_other_widths(window, qtbot):
    found = {dock.windowTitle(): dock for dock in docks(window)}
    usual, wide = sizes(window, qtbot), layout_of(window)
    window.resize(900, 640)
    qtbot.waitUntil(lambda: found["Sequences"] in window.tabifiedDockWidgets(found["Parameters"]))
    narrow = layout_of(window)
    show_layout(window, wide)
    window.dock_layout.adopt()
    qtbot.waitUntil(lambda: found["Sequences"] in window.tabifiedDockWidgets(found["Parameters"]))
    assert sizes(window, qtbot, 1280, 800) == pytest.approx(usual, abs=2)
    show_layout(window, narrow)
    window.dock_layout.adopt()
    settle(window, qtbot)
    assert sizes(window, qtbot) == pytest.approx(usual, abs=2)


def test_the_buttons_of_a_header_are_seen_while_the_mouse_or_the_keyboard_is_there(window):
    dock = next(dock for dock in docks(window) if dock.windowTitle() == "Sequences")
    title = dock.titleBarWidget()
    window.scene_view.setFocus()
    height, buttons = title.height(), title.findChildren(QToolButton)
    assert len(buttons) == 3 and not any(button.isVisible() for button in buttons)
    title.setFocus(Qt.FocusReason.TabFocusReason)
    assert all(button.isVisible() for button in buttons) and title.height() == height
    buttons[0].setFocus(Qt.FocusReason.TabFocusReason)
    assert all(button.isVisible() for button in buttons)
    window.scene_view.setFocus()
    assert not any(button.isVisible() for button in buttons)
    QApplication.sendEvent(title, QEnterEvent(QPointF(5, 5), QPointF(5, 5), QPointF(5, 5)))
    assert all(button.isVisible() for button in buttons)
    texts = [action.text() for action in title.menu().actions()]
    assert texts == ["What is this panel for?", "Take out of the window", "Close"]
    title.menu().actions()[2].trigger()
    assert dock.isHidden()


def test_the_layout_is_reset_for_the_window_as_it_is(window, qtbot):
    found = {dock.windowTitle(): dock for dock in docks(window)}
    assert found["Numbers"] in window.tabifiedDockWidgets(found["Parameters"])
    large = sizes(window, qtbot, 2560, 1440)
    window.resizeDocks([found["2-D"]], [200], Qt.Orientation.Vertical)
    settle(window, qtbot)
    window.dock_layout.reset()
    settle(window, qtbot)
    assert abs(sizes(window, qtbot)[2] - large[2]) <= 20
    assert found["Numbers"] not in window.tabifiedDockWidgets(found["Parameters"])  # below them


def test_docks_that_were_floated_and_closed_are_put_back_and_remembered(make_window):
    window = make_window()
    for dock in docks(window):
        dock.setFloating(True)
        dock.setFloating(False)
        dock.close()
        assert not dock.isVisible()
    docks(window)[0].setFloating(True)
    window.close()
    again = make_window()
    assert docks(again)[0].isFloating() and all(dock.isHidden() for dock in docks(again)[1:])
    again.dock_layout.reset()
    assert {dock.windowTitle() for dock in docks(again) if not dock.isHidden()} == {
        "Sequences", "Parameters", "Numbers", "2-D", "Loss"
    }  # fmt: skip
    assert not any(dock.isFloating() for dock in docks(again))


def test_the_name_of_a_panel_with_a_tab_is_not_written_twice_when_a_layout_is_restored(qtbot, window):
    layout, titles = layout_of(window), window.findChildren(DockTitle)

    def named():
        return {title.accessibleName() for title in titles if title._name.isVisible()}

    before = named()
    assert "Header of Sequences" in before and "Header of Parameters" not in before
    show_layout(window, layout)
    window.dock_layout.adopt()
    settle(window, qtbot)
    qtbot.waitUntil(lambda: named() == before)


def test_no_tab_of_a_dock_can_be_moved_among_the_others(window, qtbot):
    window.session.set_theme(DARK)
    found = {dock.windowTitle(): dock for dock in docks(window)}
    window.tabifyDockWidget(found["Sequences"], found["Numbers"])  # a tab bar of its own, made now
    qtbot.waitUntil(lambda: len([bar for bar in window.findChildren(QTabBar) if bar.isVisible()]) >= 2)
    bars = [bar for bar in window.findChildren(QTabBar) if bar.isVisible()]
    assert not any(bar.isMovable() for bar in bars)
