"""What is selected and not drawn, and what is hidden from the solver, by the views and by the actions."""

from types import SimpleNamespace

import numpy as np
import pytest
from hands import drag
from PyQt6.QtCore import QPoint, QPointF, Qt

from core import Settings, simulate
from nrsfm_gui.panels.points.points_panel import PointsPanel
from nrsfm_gui.panels.points.selection_controller import SELECT_FIRST, SelectionController

CONTROL = Qt.KeyboardModifier.ControlModifier
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
def trigger(session, selection, press_action):
    """Return a function that triggers actions on points and on tracks."""
    session.set_live(False)

    def press(*names):
        for name in names:
            press_action(SimpleNamespace(selection_controller=selection), name)

    return press


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


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("hide_observation", "3:6;8:6"),
        ("hide_onwards", "3:6-;8:6-"),
        ("hide_range", "3:2-5;8:2-5"),
        ("hide_point", "3:*;8:*"),
    ],
)
def test_each_action_hides_the_selected_points_in_its_frames(session, trigger, statuses, name, entries):
    session.set_frame(5)
    session.set_frame_range((1, 4))
    session.set_selection((2, 7))
    trigger(name)
    assert session.settings.hide == entries
    assert "hidden from the solver: press Run" in statuses[-1]
    trigger("show_again")
    assert session.settings.hide is None
    assert statuses[-1].endswith("used again: press Run (Ctrl+R) to solve with them")


def test_hiding_adds_up_and_is_undone_step_by_step(session, trigger):
    session.set_selection((2,))
    trigger("hide_observation")
    session.undo_stack._at -= 10.0  # another gesture
    session.set_frame(3)
    session.set_selection((2, 5))
    trigger("hide_observation")
    assert session.settings.hide == "3:1,4;6:4"
    session.undo()
    assert session.settings.hide == "3:1"
    session.redo()
    assert session.excluded.sum() == 3
    session.set_selection((2,))
    trigger("show_again")
    assert session.settings.hide == "6:4"
    trigger("show_all_again")
    assert session.settings.hide is None


def test_what_cannot_be_hidden_is_named(session, trigger, statuses, messages):
    trigger("hide_observation")
    assert statuses[-1] == SELECT_FIRST
    trigger("show_all_again")
    assert "No observation is hidden" in statuses[-1]
    session.set_selection((2,))
    trigger("hide_range")
    assert "Choose frames first" in statuses[-1]
    session.set_selection(range(30))
    trigger("hide_point")
    assert session.settings.hide is None
    assert messages.text == "Nothing is hidden: frame 1 would be left without any point."


def test_hidden_observations_are_no_settings_of_another_sequence(session, trigger, sequence):
    session.set_selection((2,))
    trigger("hide_observation")
    assert session.transferable_settings.hide is None
    assert session.excluded.any()
    session.set_sequence(simulate("paper", frames=12, points=20))
    assert session.settings.hide is None and session.excluded is None
