"""Docks that are taken out of the window, closed and put back while it is used."""

import pytest

from core import Settings, simulate
from nrsfm_gui.model.run import RunState
from nrsfm_gui.sessions.session_saver import layout_of, show_layout
from nrsfm_gui.shell.layout import docks
from nrsfm_gui.widgets.dock_title import DockTitle

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")


@pytest.fixture
def window(make_window):
    return make_window(simulate("paper", frames=10, points=24, noise=0.3, seed=2), settings=QUICK)


def test_docks_are_floated_closed_and_put_back(qtbot, window):
    window.parameters_controller.run()
    for dock in docks(window):
        dock.setFloating(True)
        qtbot.wait(5)
        dock.setFloating(False)
        dock.close()
        assert not dock.isVisible()
    window.timeline_controller.go_to(-1)
    window.session.set_point(3)
    qtbot.waitUntil(lambda: window.session.shown.state is RunState.FINISHED)
    window.dock_layout.reset()
    assert {dock.windowTitle() for dock in docks(window) if not dock.isHidden()} == {
        "Sequences", "Parameters", "Numbers", "2-D", "Loss"
    }  # fmt: skip
    assert not any(dock.isFloating() for dock in docks(window))


def test_a_floating_dock_is_remembered_and_put_back(window, make_window, store):
    dock = docks(window)[0]
    dock.setFloating(True)
    window.close()
    again = make_window()
    assert docks(again)[0].isFloating()
    again.dock_layout.reset()
    assert not docks(again)[0].isFloating()


def test_the_name_of_a_panel_with_a_tab_is_not_written_twice_when_a_layout_is_restored(qtbot, window):
    layout, titles = layout_of(window), window.findChildren(DockTitle)

    def named():
        return {title.accessibleName() for title in titles if title._name.isVisible()}

    qtbot.waitUntil(lambda: window.dock_layout.settled)
    before = named()
    assert "Header of Sequences" in before and "Header of Parameters" not in before
    show_layout(window, layout)
    window.dock_layout.adopt()
    qtbot.waitUntil(lambda: window.dock_layout.settled)
    qtbot.wait(20)
    assert named() == before
