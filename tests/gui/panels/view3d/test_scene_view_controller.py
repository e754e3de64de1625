"""Gestures of the camera are undone, and "Reset view" is one step; neither touches the parameters."""

import numpy as np
import pytest
from hands import ask_for_menu, drag, turn_wheel
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtTest import QTest

from core import Alignment, Settings
from core.evaluation import Kind
from core.reconstruction import parse_upright
from nrsfm_gui.model.appearance import Appearance
from nrsfm_gui.panels.view3d.scene_view_controller import SceneViewController

FIRST = Appearance(color_map="magma")


@pytest.fixture
def controller(session, display, scene_view, known, add_run, make_iterate):
    made = SceneViewController(session, display, scene_view, session, first_appearance=lambda: FIRST)
    session.set_sequence(known.sequence)
    add_run(session, make_iterate(known, noise=0.01), Settings(rank=2))
    session.set_appearance(FIRST, undoable=False)
    display.refresh()
    return made


def test_changes_of_the_camera_and_of_the_layers_are_undone_in_their_order_and_solve_nothing(
    session, scene_view, controller, statuses
):
    settings, runs, before = session.settings, list(session.runs), scene_view.camera.viewpoint
    drag(scene_view, QPoint(200, 200), QPoint(320, 240))
    moved = scene_view.camera.viewpoint
    session.set_appearance(session.appearance.with_layer("trails", True))
    turn_wheel(scene_view, 240)  # which is undone although it might go on
    assert len({each.orbit for each in (before, moved, scene_view.camera.viewpoint)}) == 3
    session.undo()
    assert scene_view.camera.viewpoint == moved and "trails" in session.appearance.layers
    session.undo()
    assert "trails" not in session.appearance.layers and scene_view.camera.viewpoint == moved
    session.undo()
    assert scene_view.camera.viewpoint == before and statuses[-1].startswith("Undone: ")
    session.redo()
    assert scene_view.camera.viewpoint.orbit == moved.orbit
    assert (session.settings, session.runs) == (settings, runs)


def test_a_saved_view_is_shown_again_until_another_sequence_is_open(
    session, scene_view, controller, statuses, sequence
):
    controller.show_view("6")
    assert statuses[-1] == "There is no view 6 yet: Ctrl+6 saves this one"
    scene_view.set_axis_preset("top")
    saved = scene_view.camera.orbit
    controller.save_view("6")
    scene_view.set_axis_preset("side")
    controller.save_view("7")
    scene_view.set_camera_locked(True)
    controller.show_view("6")
    assert (scene_view.camera.orbit, scene_view.camera.locked) == (saved, False)
    session.undo()
    assert scene_view.camera.orbit != saved
    session.undo()
    assert set(scene_view.camera.saved_views) == {"6"}
    session.set_sequence(sequence)
    assert not scene_view.camera.saved_views


def test_reset_view_shows_all_as_at_first_and_is_undone_as_one_step(session, display, scene_view, controller):
    first = scene_view.camera.viewpoint
    drag(scene_view, QPoint(200, 200), QPoint(320, 240))
    scene_view.set_orthographic(True)
    session.change_appearance(color_by="error", point_size=2.0)
    session.set_appearance(session.appearance.with_layer("truth", False))
    session.set_alignment(Alignment(Kind.NONE))
    session.set_hidden((1, 2))
    settings = session.settings
    changed = session.appearance, session.alignment, session.hidden, scene_view.camera.viewpoint
    controller.reset()
    assert (session.appearance, session.alignment, session.hidden) == (FIRST, Alignment(), frozenset())
    display.refresh()
    assert not scene_view.camera.orbit.orthographic and scene_view.camera.fitted
    orbits = scene_view.camera.orbit, first.orbit
    np.testing.assert_allclose(*((orbit.azimuth, orbit.elevation) for orbit in orbits))
    session.undo()
    assert changed == (session.appearance, session.alignment, session.hidden, scene_view.camera.viewpoint)
    assert session.settings == settings


def test_the_right_button_asks_for_the_menu_of_a_point_or_of_the_view(session, scene_view, controller):
    points, views = [], []
    scene_view.menu_requested.connect(points.append)
    scene_view.view_menu_requested.connect(views.append)
    scene_view.point_selected.connect(session.set_point)
    fitted = scene_view.camera.viewpoint
    pixel = scene_view._point_pixels()[0][4]
    for place in (QPoint(*map(int, pixel)), QPoint(5, 5)):
        QTest.mousePress(scene_view, Qt.MouseButton.RightButton, pos=place)
        ask_for_menu(scene_view, place)
    assert len(points) == len(views) == 1
    assert session.point >= 0
    QTest.mouseMove(scene_view, QPoint(60, 60))
    assert scene_view.camera.viewpoint == fitted


def test_what_the_view_shows_upwards_becomes_up_without_a_jump_and_is_undone(session, scene_view, controller):
    scene_view.set_axis_preset("top")
    drag(scene_view, QPoint(200, 200), QPoint(330, 200))
    before = scene_view.rotation
    controller.set_up()
    scene_view.repaint()
    session.changed.emit()
    controller._display.refresh()
    rule = parse_upright(session.settings.upright)
    up = session.sequence.rotations[0].T @ rule.up  # which is in the axes of the first camera
    np.testing.assert_allclose(up, -before[1], atol=1e-5)
    np.testing.assert_allclose(scene_view.framing.up, -before[1], atol=1e-5)
    np.testing.assert_allclose(scene_view.rotation, before, atol=1e-4)  # the picture is the same
    scene_view.set_axis_preset("top")
    np.testing.assert_allclose(scene_view.rotation[2], before[1], atol=1e-4)  # looks down on it
    while session.settings.upright is not None:
        session.undo()
    controller._display.refresh()
    assert scene_view.framing.up @ -before[1] < 0.5


def test_the_side_that_is_seen_becomes_the_front(session, scene_view, controller):
    scene_view.set_axis_preset("side")
    seen = scene_view.rotation
    controller.set_front()
    controller._display.refresh()
    scene_view.set_axis_preset("iso")
    scene_view.set_axis_preset("front")
    np.testing.assert_allclose(scene_view.rotation, seen, atol=1e-4)
    controller.stand_as_pictures()
    assert session.settings.upright is None


def test_the_floor_is_put_through_points_and_two_of_them_are_upright(
    session, controller, scene_view, statuses
):
    shape = controller._display.scene.estimate
    controller.stand_on_points()
    assert session.settings.upright is None and "Select two points" in statuses[-1]
    session.set_selection((0, 4, 9))
    controller.stand_on_points()
    controller._display.refresh()
    stands = scene_view.framing.orientation
    normal = np.cross(shape[4] - shape[0], shape[9] - shape[0])
    assert abs(normal @ stands.up) / np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-3)
    assert session.settings.upright.endswith("floor=1:1-5-10")
    truth = session.sequence.truth.points[0]
    assert stands.floor == pytest.approx(np.mean(stands.up @ truth[:, [0, 4, 9]]))
    session.set_selection((0, 15))
    controller.stand_on_points()
    controller._display.refresh()
    along = (shape[15] - shape[0]) / np.linalg.norm(shape[15] - shape[0])
    assert abs(scene_view.framing.up @ along) == pytest.approx(1.0, abs=1e-5)


def test_an_orbit_that_turns_keeps_a_long_object_in_the_picture(session, scene_view, controller):
    scene_view.resize(300, 600)
    scene_view.set_axis_preset("side")  # the sheet is seen edge-on
    held = scene_view.framing.outline_at(0)
    for _ in range(8):
        drag(scene_view, QPoint(150, 200), QPoint(210, 200))
        pixels, _depths = scene_view._projection().pixels(held)
        assert (pixels > 0).all() and (pixels < [scene_view.width(), scene_view.height()]).all()
