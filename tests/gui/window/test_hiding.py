"""Hiding observations from the solver by keys and by the menu of a point, in the window."""

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtWidgets import QApplication, QMenu

from core import Settings
from nrsfm_gui.model.run import RunState

QUICK = Settings(rank=2, rotations="truth", starts=1, objective="wnn")


@pytest.fixture
def solved(qtbot, make_window, sequence):
    """A window whose run has ended."""
    window = make_window(sequence, settings=QUICK)
    window.parameters_controller.run()
    wait_for_end(qtbot, window)
    return window


def wait_for_end(qtbot, window):
    def ended():
        shown = window.session.shown
        return shown is not None and shown.state is RunState.FINISHED and not window.run_control.current

    qtbot.waitUntil(ended)
    window.display.refresh()


@pytest.mark.slow
def test_a_run_follows_what_is_hidden_by_a_key_and_what_is_undone(qtbot, solved):
    session = solved.session
    session.set_frame(4)
    session.set_selection((7,))
    qtbot.keyClick(solved.scene_view, Qt.Key.Key_X)
    assert session.settings.hide == "8:5"
    wait_for_end(qtbot, solved)
    assert session.shown.number == 2 and session.shown.settings.hide == "8:5"
    assert np.isnan(solved.display.scene.shapes.residuals[4, 7])
    assert solved.display.scene.excluded.tolist() == [point == 7 for point in range(30)]
    assert solved.tracks_view._dots.excluded.positions.shape == (1, 2)
    qtbot.keyClick(solved.scene_view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert session.settings.hide is None
    wait_for_end(qtbot, solved)
    assert np.isfinite(solved.display.scene.shapes.residuals[4, 7])


def test_the_menu_of_a_point_is_opened_from_the_views_and_the_table(qtbot, solved):
    session = solved.session
    session.set_live(False)
    session.set_selection((7,))
    for view in (solved.tracks_view, solved.timeline, solved.points_panel):
        view.menu_requested.emit(solved.mapToGlobal(QPoint(50, 50)))
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        assert menu.actions()[0] is solved.toolbars.actions["hide_observation"]
        menu.close()
    qtbot.keyClick(solved.scene_view, Qt.Key.Key_O)
    qtbot.waitUntil(solved.outliers_panel.isVisible)
    assert "observations" in solved.outliers_panel.sentence or "exceed" in solved.outliers_panel.sentence
