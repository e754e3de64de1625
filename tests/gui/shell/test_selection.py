"""What is selected and hidden, by the views and by the actions."""

from types import SimpleNamespace

import numpy as np
import pytest
from hands import drag
from PyQt6.QtCore import QPoint, QPointF, Qt

from core import Settings
from nrsfm_gui.panels.points.points_panel import PointsPanel
from nrsfm_gui.panels.points.selection_controller import SelectionController

LEFT, CONTROL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier
QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")


@pytest.fixture
def selection(show, session, display, scene_view, tracks_view, add_solved_run, sequence):
    """Return the controller of both views of a sequence after a run."""
    panel = show(PointsPanel(), 400, 300)
    controller = SelectionController(session, panel)
    for view in (scene_view, tracks_view):
        controller.add_view(view)
    add_solved_run(session, sequence, QUICK)
    display.refresh()
    return controller


@pytest.fixture
def trigger(selection, press_action):
    """Return a function that triggers actions on points."""

    def trigger(*names):
        for name in names:
            press_action(SimpleNamespace(selection_controller=selection), name)

    return trigger


def test_points_are_hidden_isolated_and_shown_again(
    session, display, scene_view, tracks_view, trigger, statuses
):
    trigger("hide_points")
    assert "Select points first" in statuses[-1]
    session.set_selection((2, 5, 6))
    trigger("hide_points")
    assert (session.hidden, session.selection) == ({2, 5, 6}, ())
    display.refresh()
    assert tracks_view._dots.measured.positions.shape[0] <= 27
    trigger("select_all")
    assert session.selection == tuple(p for p in range(30) if p not in (2, 5, 6))
    trigger("show_points")
    session.set_selection((1, 8))
    trigger("isolate_points")
    assert (session.hidden, session.selection) == (set(range(30)) - {1, 8}, (1, 8))
    trigger("show_points", "invert_selection")
    assert set(session.selection) == set(range(30)) - {1, 8}
    trigger("hide_points")
    display.refresh()
    drawn = display.scene.drawn
    assert np.flatnonzero(drawn).tolist() == [1, 8]
    assert scene_view.point_at(QPoint(-500, -500)) == -1


def test_a_lasso_in_the_3d_view_selects_what_is_drawn_inside(session, display, scene_view, selection):
    view = scene_view
    session.set_hidden((4, 5))
    display.refresh()
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
