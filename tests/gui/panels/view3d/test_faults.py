"""The 3-D view where things go wrong or are unusual: no OpenGL, a lost context, NaN, one point, very many."""

from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, QSize, Qt
from PyQt6.QtGui import QOpenGLContext
from PyQt6.QtWidgets import QDockWidget, QMainWindow
from reconstructions import build_shapes

from core import CameraModel, Sequence
from nrsfm_gui.model.appearance import LAYERS, Appearance
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.view3d import picture as renderer3d
from nrsfm_gui.panels.view3d import scene_view as scene3d
from nrsfm_gui.panels.view3d import software_renderer
from nrsfm_gui.panels.view3d.parts import Budget, TriangleMesh, scene_parts
from nrsfm_gui.panels.view3d.scene_view import SceneView
from nrsfm_gui.panels.view3d.scene_view_controller import SceneViewController
from nrsfm_gui.scene.orbit_camera import Orbit, image_window
from nrsfm_gui.scene.scene import build_scene

SIZE = (640, 480)
EVERYTHING = frozenset(LAYERS)


# The camera of the frame


def test_the_border_is_painted_while_locked_and_the_frustum_while_not(view, scene_of, near):
    scene = scene_of(3, layers={"camera"})
    view.set_scene(scene)
    center = -scene.camera.R.T @ scene.camera.t
    view.camera.set_orbit(Orbit(tuple(center), 300.0, 140.0, 20.0))
    free = near(view.grab_image(), DARK.muted, tolerance=70)
    x, y = np.round(view._projection().pixels(center)[0]).astype(int)
    assert free[y - 4 : y + 5, x - 4 : x + 5].any()
    view.set_camera_locked(True)
    locked = near(view.grab_image(), DARK.muted, tolerance=90)
    window = image_window(scene.shapes.image_extent, *SIZE)
    (x0, y0), (x1, y1) = np.round(np.array(scene.shapes.image_extent) * window[0, 0] + window[:2, 2]).astype(
        int
    )
    assert locked[y0 - 1 : y0 + 2, x0:x1].any(axis=0).mean() > 0.4  # dashes
    assert locked[y0:y1, x1 - 1 : x1 + 2].any(axis=1).mean() > 0.4


@pytest.mark.parametrize("size", [(960, 540), (501, 333)])
def test_pictures_of_any_size_leave_the_view_as_it_is(drawn, scene_of, size):
    scene = scene_of(3)
    drawn.set_scene(scene)
    before, orbit = drawn.grab().toImage(), drawn.camera.orbit
    drawn.set_scene(scene_of(9))
    assert drawn.grab().toImage() != before
    drawn.set_scene(scene)
    picture = drawn.render_image(*size)  # before the view is painted
    assert (picture.size(), picture.devicePixelRatio()) == (QSize(*size), 1.0)
    other = drawn.render_image(*size, Orbit(orbit.center, orbit.distance, orbit.azimuth + 90, 10.0))
    assert other != picture
    assert (drawn.camera.orbit, drawn.grab().toImage()) == (orbit, before)


def test_a_large_picture_is_the_small_one_enlarged(drawn, scene_of, near):
    drawn.set_scene(scene_of(3, layers={"estimate"}))
    small, large = drawn.render_image(900, 560), drawn.render_image(1800, 1120)
    where, _ = drawn._projection(900, 560, drawn.orbit_for(900, 560)).pixels(drawn._scene.estimate)
    areas = []
    for picture, scale in ((small, 1), (large, 2)):
        blue = near(picture, DARK.estimate, tolerance=30)
        assert all(blue[y, x] for x, y in np.round(scale * where).astype(int))
        areas.append(blue.sum())
    assert 3 < areas[1] / areas[0] < 7  # dots grow, too; their rims stay thin


# OpenGL that is not there, or goes


def test_without_opengl_a_person_can_find_out_why(monkeypatch, session, display, messages, qtbot):
    monkeypatch.setattr(QOpenGLContext, "create", lambda _context: False)
    view = qtbot.addWidget(SceneView())
    assert not view.renderer.uses_opengl
    assert view.renderer.sentence == "Drawn without OpenGL: none works on this machine"
    SceneViewController(session, display, view, session)
    view.renderer.degraded.emit("The 3-D view is drawn without OpenGL from now on: it was lost")
    assert "without OpenGL from now on: it was lost" in messages.text
    assert display.without_opengl


def fail(*_arguments):
    raise RuntimeError("reset status")


@pytest.mark.parametrize("destroyed", [True, False])
def test_a_lost_context_is_replaced_at_once_with_a_sentence(
    opengl_view, scene_of, near, monkeypatch, destroyed
):
    view, opengl, received = opengl_view, opengl_view.renderer._opengl, []
    view.renderer.degraded.connect(received.append)
    for frame in (2, 3):
        view.set_scene(scene_of(frame))
        assert near(view.grab().toImage(), DARK.estimate, tolerance=12).sum() > 100
        assert view.renderer.uses_opengl == (frame == 2)
        opengl._context.surface.destroy() if destroyed else monkeypatch.setattr(opengl, "_read", fail)
    assert len(received) == 1
    assert received[0].startswith("The 3-D view is drawn without OpenGL from now on")


def test_a_context_that_cannot_be_initialized_leaves_the_software_picture(
    opengl, show, scene_of, monkeypatch, near
):
    from nrsfm_gui.panels.view3d import gl_renderer

    monkeypatch.setattr(gl_renderer, "DOT_VERTEX", "this is no shader")
    view = show(SceneView(), *SIZE)
    assert not view.renderer.uses_opengl
    assert "OpenGL does not work" in view.renderer.sentence
    view.set_scene(scene_of(2))
    assert near(view.grab_image(), DARK.estimate, tolerance=12).sum() > 100


def test_a_view_that_is_docked_floated_and_docked_again_still_draws(qtbot, scene_of, show, near):
    window, view, dock = QMainWindow(), SceneView(), QDockWidget("3-D")
    dock.setWidget(view)
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
    show(window, 900, 700)
    view.set_scene(scene_of(2))
    for floating in (True, False):
        dock.setFloating(floating)
        qtbot.wait(5)
        assert near(view.grab().toImage(), DARK.estimate, tolerance=12).sum() > 60
    another = QMainWindow()
    another.setCentralWidget(view)
    show(another, 500, 400)
    assert near(view.grab().toImage(), DARK.estimate, tolerance=12).sum() > 60


# Unusual sequences


@pytest.mark.parametrize("distance", [1e-6, 1e9])
def test_points_at_one_depth_are_painted(drawn, scene_of, near, distance):
    """As where one point is left, or a sheet is seen from the front."""
    scene = scene_of(3, layers={"estimate"})
    flat = np.array(scene.estimate)
    flat[:, 2] = 0.0
    flat *= distance / 300.0
    drawn.set_scene(replace(scene, estimate=flat, truth=None))
    center = tuple(flat.mean(axis=0).tolist())
    drawn.camera.set_orbit(Orbit(center, distance, azimuth=0.0, elevation=0.0, orthographic=True))
    depths = drawn._projection().pixels(flat)[1]
    assert np.ptp(depths) <= 1e-9 * np.abs(depths).max()
    assert near(drawn.grab_image(), DARK.estimate, tolerance=12).sum() > 60


@pytest.mark.parametrize("color_by", ["role", "error", "depth"])
def test_nan_everywhere_is_drawn_without_warnings(drawn, scene_of, color_by):
    scene = scene_of(3, appearance=Appearance(EVERYTHING, color_by))
    nothing = np.full_like(np.array(scene.estimate), np.nan)
    broken = replace(
        scene, estimate=nothing, truth=nothing, trail=np.full((4, *nothing.shape), np.nan), other=nothing,
        color_values=None if scene.color_values is None else np.full(len(nothing), np.nan),
    )  # fmt: skip
    drawn.set_scene(broken)
    drawn.fit()
    drawn.grab_image()
    assert drawn.point_at(drawn.rect().center().toPointF()) == -1
    parts = scene_parts(broken, DARK)
    assert not any(len(part.faces) for part in parts.values() if isinstance(part, TriangleMesh))
    assert not len(parts["estimate"].positions) and not len(parts["truth"].positions)
    assert not any(len(part.pairs) for name, part in parts.items() if name in ("residuals", "trails"))


def test_two_frames_of_four_points_one_of_them_seen(drawn, near):
    tracks = np.random.default_rng(0).uniform(0, 100, (2, 2, 4))
    visible = np.zeros((2, 4), dtype=bool)
    visible[:, 0] = True
    sequence = Sequence(tracks, visible, CameraModel.PERSPECTIVE, "one point")
    for color_by in ("role", "deviation"):
        appearance = Appearance(EVERYTHING, color_by, mesh_source="tracks")
        scene = build_scene(sequence, build_shapes(sequence, None), frame=1, appearance=appearance)
        drawn.set_scene(scene)
        assert "press Run" in scene.message
        drawn.fit()
        assert near(drawn.grab_image(), DARK.muted, tolerance=60)[200:280].any()  # it is painted


def test_hidden_points_are_not_drawn_nor_found(view, known, shapes, near):
    hidden = frozenset(range(2, known.sequence.point_count))
    scene = build_scene(
        known.sequence, shapes, frame=3, hidden=hidden, selection=(1, 5), selected=5,
        appearance=Appearance(EVERYTHING - {"grid", "camera", "path"}, mesh_source="tracks"),
    )  # fmt: skip
    view.set_scene(scene)
    parts = scene_parts(scene, DARK)
    assert len(parts["estimate"].positions) == len(parts["truth"].positions) == 2
    assert len(parts["residuals"].pairs) == 2
    assert len(parts["trails"].pairs) == 2 * 3
    kept = {tuple(point) for point in scene.estimate[:2].tolist()}
    assert {tuple(point) for point in parts["estimate edges"].pairs.reshape(-1, 3).tolist()} <= kept
    assert not len(parts["estimate mesh"].faces)
    where, _ = view._projection().pixels(scene.estimate)
    assert view.point_at(QPointF(*where[1])) == 1
    far = int(np.argmax(np.linalg.norm(where - where[:2].mean(axis=0), axis=1)))
    assert view.point_at(QPointF(*where[far])) == -1
    rings = near(view.grab_image(), DARK.selection, tolerance=25)
    of_one, of_five = (rings[y - 10 : y + 11, x - 10 : x + 11] for x, y in where[[1, 5]].round().astype(int))
    assert of_one.sum() > 15 and not of_five.any()


def test_every_selected_point_has_a_ring_and_very_many_have_marks(view, make_known, near):
    known = make_known(frames=3, rows=20, columns=25)
    shapes = build_shapes(known.sequence, known.result)
    plain = Appearance(frozenset({"estimate"}), labels="none")
    for selection in ((3, 40, 77), tuple(range(300))):
        scene = build_scene(known.sequence, shapes, frame=1, selection=selection, appearance=plain)
        view.set_scene(scene)
        rings = near(view.grab_image(), DARK.selection, tolerance=45)
        where, _ = view._projection().pixels(scene.estimate)
        for index in selection[:: max(1, len(selection) // 9)]:
            x, y = np.round(where[index]).astype(int)
            assert rings[y - 9 : y + 10, x - 9 : x + 10].any()


def test_the_compared_run_has_its_own_color_and_name(drawn, scene_of, near):
    scene = scene_of(3, layers={"estimate", "residuals"})
    beside = scene.estimate + np.array([0.0, 8.0, 0.0])
    drawn.set_scene(replace(scene, other=beside, other_name="run 2"))
    picture = drawn.grab_image()
    where, _ = drawn._projection().pixels(beside)
    purple = near(picture, DARK.other, tolerance=30)
    assert np.mean([purple[y - 3 : y + 4, x - 3 : x + 4].any() for x, y in np.round(where).astype(int)]) > 0.9
    assert len(drawn.renderer.parts["differences"].pairs) == len(beside)


def test_what_is_left_out_while_the_picture_moves_is_drawn_at_rest(view, scene_of, qtbot, monkeypatch):
    monkeypatch.setattr(renderer3d, "MOVING", Budget(segments=10, edges=10, faces=10))
    view.set_scene(scene_of(layers={"estimate", "edges"}))
    moving = view.grab().toImage()
    assert "estimate edges" not in view.renderer.parts
    qtbot.waitUntil(lambda: view.grab().toImage() != moving)


def test_a_mesh_that_is_too_large_without_opengl_is_omitted_with_a_message(view, scene_of, monkeypatch):
    statuses = []
    monkeypatch.setattr(software_renderer, "MOST_TRIANGLES", 1)
    monkeypatch.setattr(scene3d, "paint_overlay", lambda *_, status, **__: statuses.append(status))
    view.set_scene(scene_of(layers={"estimate", "faces"}))
    view.grab_image()
    assert statuses[-1] == "no mesh: too large without OpenGL"
