"""Docks share the window: at first, while it grows and shrinks, and as a person made them."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QTabBar

from nrsfm_gui.engine.throttle import TYPING_MILLISECONDS
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.shell.layout import docks


@pytest.fixture
def window(make_window, qtbot):
    window = make_window()
    qtbot.wait(2 * TYPING_MILLISECONDS)
    return window


def sizes(window, qtbot, *size):
    """Return what docks have in a window of a size: widths at the sides, and the height below."""
    if size:
        window.resize(*size)
        qtbot.wait(4 * TYPING_MILLISECONDS)
    found = {dock.windowTitle(): dock for dock in docks(window)}
    widths = [found[title].width() for title in ("Sequences", "Parameters")]
    return (*widths, found["2-D"].height())


def test_docks_grow_with_the_window_and_come_back(window, qtbot):
    first = sizes(window, qtbot)
    assert first[0] >= 240  # names of runs are read
    assert first[2] >= 180
    large = sizes(window, qtbot, 2560, 1440)
    assert all(more > less for more, less in zip(large, first, strict=True))
    assert large[2] > 0.3 * 1440
    assert window.scene_view.height() > large[2]
    again = sizes(window, qtbot, 1280, 800)
    assert all(abs(one - two) <= 20 for one, two in zip(again, first, strict=True))


def test_a_dock_made_larger_by_the_user_stays_larger(window, qtbot):
    dock = next(dock for dock in docks(window) if dock.windowTitle() == "2-D")
    before = sizes(window, qtbot)[2]
    window.resizeDocks([dock], [before + 80], Qt.Orientation.Vertical)
    qtbot.wait(TYPING_MILLISECONDS)
    by_hand = sizes(window, qtbot)[2]
    assert by_hand > before + 40
    assert sizes(window, qtbot, 1280, 840)[2] >= by_hand


def test_the_layout_is_reset_for_the_window_as_it_is(window, qtbot):
    large = sizes(window, qtbot, 2560, 1440)
    dock = next(dock for dock in docks(window) if dock.windowTitle() == "2-D")
    window.resizeDocks([dock], [200], Qt.Orientation.Vertical)
    qtbot.wait(TYPING_MILLISECONDS)
    window.layout_memory.reset()
    qtbot.wait(2 * TYPING_MILLISECONDS)
    assert abs(sizes(window, qtbot)[2] - large[2]) <= 20


def test_no_tab_of_a_dock_can_be_moved_among_the_others(window, qtbot):
    window.session.set_theme(DARK)
    found = {dock.windowTitle(): dock for dock in docks(window)}
    window.tabifyDockWidget(found["Sequences"], found["Numbers"])  # a tab bar of its own, made now
    qtbot.waitUntil(lambda: len([bar for bar in window.findChildren(QTabBar) if bar.isVisible()]) >= 2)
    bars = [bar for bar in window.findChildren(QTabBar) if bar.isVisible()]
    assert not any(bar.isMovable() for bar in bars)
