"""The 3-D panel, painted by software always and by OpenGL where there is a context: pixels and signals."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hands import drag, send_mouse, turn_wheel
from PyQt6.QtCore import QEvent, QPoint, Qt
from PyQt6.QtGui import QFontMetricsF, QImage, QPainter
from PyQt6.QtWidgets import QToolButton
from reconstructions import build_shapes

from nrsfm_gui.model.appearance import LAYERS, Appearance
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.view3d.overlay import paint_overlay
from nrsfm_gui.panels.view3d.parts import LineSegments, PointCloud, TriangleMesh, scene_parts
from nrsfm_gui.panels.view3d.scene_view import SceneView
from nrsfm_gui.scene.framing import frame_points
from nrsfm_gui.scene.orbit_camera import free_area
from nrsfm_gui.scene.scene import build_scene
from nrsfm_gui.widgets.colors import color_table
from nrsfm_gui.widgets.picture_labels import fitting_lines

SIZE = (640, 480)


def pixel(view, point):
    """Return where a view draws a point (3,)."""
    return QPoint(*np.round(view._projection().pixels(point)[0]).astype(int))


def picture_of(view, scene):
    view.set_scene(scene)
    return view.grab_image()


def test_estimate_truth_and_residuals_have_their_colors(drawn, scene_of, near):
    scene = scene_of()
    picture = picture_of(drawn, scene)
    blue, gray = near(picture, DARK.estimate, tolerance=60), near(picture, DARK.truth_shape, tolerance=30)
    assert blue.sum() > 20 * 15
    assert gray[60:430].sum() > 150
    where, _ = drawn._projection().pixels(scene.estimate)
    for x, y in np.round(where).astype(int):  # one may cover most of the other
        assert (blue | gray)[y - 3 : y + 4, x - 3 : x + 4].sum() > 15
    columns = np.nonzero(blue[60:430])[1]
    assert columns.min() > where[:, 0].min() - 12
    assert columns.max() < where[:, 0].max() + 12
    assert near(picture, DARK.truth, tolerance=60)[60:430].any()


def test_hidden_layers_are_not_drawn(view, scene_of, near):
    picture = picture_of(view, scene_of(layers={"estimate"}))
    assert not near(picture, DARK.truth, tolerance=25).any()  # of the residuals
    assert not near(picture, DARK.truth_shape, tolerance=25)[60:].any()
    assert near(picture, DARK.estimate, tolerance=12).any()


def test_mesh_tints_what_it_covers(drawn, scene_of, known):
    plain, meshed = (scene_of(layers={"estimate", *more}) for more in ((), ("faces",)))
    before, after = (picture_of(drawn, scene) for scene in (plain, meshed))
    middle = pixel(drawn, plain.estimate[known.sequence.faces[0]].mean(axis=0))
    assert after.pixelColor(middle).blue() > before.pixelColor(middle).blue() + 15


def test_a_standard_deviation_tints_what_is_within_it(drawn, scene_of, known):
    std = np.full((known.sequence.frame_count, 3, known.sequence.point_count), 0.05)  # 15 to 25 mm
    shapes = build_shapes(known.sequence, replace(known.result, std=std))
    plain, tinted = (
        build_scene(known.sequence, shapes, frame=2, appearance=Appearance(frozenset(layers)))
        for layers in ({"estimate"}, {"estimate", "halos"})
    )
    drawn.set_scene(plain)
    drawn.set_axis_preset("front")  # where no point is beside a corner
    before, after = drawn.grab_image(), picture_of(drawn, tinted)
    radius = 0.05 * shapes.similarity.scale[2]
    aside = drawn._projection().R[0]  # to the right in the picture
    for p in (0, 4, 15, 19):  # the corners of the sheet
        out = plain.estimate[p] - plain.estimate.mean(axis=0)
        way = aside * np.sign(out @ aside)
        for share, brighter in ((0.8, True), (1.3, False)):
            place = pixel(drawn, plain.estimate[p] + share * radius * way)
            gained = after.pixelColor(place).blue() - before.pixelColor(place).blue()
            assert (gained > 8) is brighter or (not brighter and gained == 0), (p, share, gained)


def test_color_by_error_gives_every_point_the_color_of_its_error(drawn, scene_of):
    scene = scene_of(appearance=Appearance(frozenset({"estimate"}), "error"))
    picture, table = picture_of(drawn, scene), color_table("viridis")[:, :3].astype(int)
    for index in (scene.errors.argmin(), scene.errors.argmax()):
        color = picture.pixelColor(pixel(drawn, scene.estimate[index])).getRgb()[:3]
        expected = table[int(min(scene.errors[index] / scene.color_limits[1], 1.0) * 255)]
        assert np.abs(expected - color).max() < 18  # of a sphere: a little darker beside its middle


def test_the_point_under_the_mouse_is_emitted_and_a_click_selects_it_or_none(view, scene_of, qtbot):
    scene, hovered = scene_of(), []
    view.set_scene(scene)
    view.point_hovered.connect(hovered.append)
    for place, point in ((pixel(view, scene.estimate[9]), 9), (QPoint(630, 200), -1)):
        send_mouse(view, QEvent.Type.MouseMove, place, held=Qt.MouseButton.NoButton)
        with qtbot.waitSignal(view.point_selected) as selected:
            qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=place)
        assert hovered[-1] == point and selected.args == [point]


def test_a_drag_turns_without_selecting_and_a_double_click_fits(view, scene_of, qtbot):
    scene = scene_of()
    view.set_scene(scene)
    selected = []
    view.point_selected.connect(selected.append)
    fitted = view._projection()
    drag(view, QPoint(300, 200), QPoint(400, 200))
    turned = view._projection()
    assert selected == []
    assert not np.allclose(turned.R, fitted.R)
    drag(view, QPoint(300, 200), QPoint(350, 260), button=Qt.MouseButton.MiddleButton)
    middle = np.array(view.camera.orbit.center)
    moved, _ = view._projection().pixels(np.array([scene.extent.mean(axis=0)]))
    old, _ = turned.pixels(np.array([scene.extent.mean(axis=0)]))
    np.testing.assert_allclose(moved - old, [[50, 60]], atol=6)
    drag(view, QPoint(300, 200), QPoint(350, 260), keys=Qt.KeyboardModifier.ShiftModifier)  # does the same
    np.testing.assert_array_equal(view._projection().R, turned.R)
    assert view.camera.orbit.center != tuple(middle)
    qtbot.mouseDClick(view, Qt.MouseButton.LeftButton, pos=QPoint(20, 200))
    assert not np.allclose(view.camera.orbit.center, middle)
    np.testing.assert_allclose(view._projection().R, turned.R)


def test_locked_camera_shows_the_reprojections_and_turning_releases_it(view, scene_of, qtbot, near):
    scene = scene_of(layers={"estimate"})
    view.set_scene(scene)
    with qtbot.waitSignal(view.camera.locked_changed) as caught:
        view.set_camera_locked(True)
    assert caught.args == [True]
    blue = near(view.grab_image(), DARK.estimate, tolerance=12)
    where, _ = view._projection().pixels(scene.estimate)
    seen = [blue[y - 1 : y + 2, x - 1 : x + 2].any() for x, y in np.round(where).astype(int)]
    assert np.mean(seen) > 0.95
    with qtbot.waitSignal(view.camera.locked_changed) as caught:
        drag(view, QPoint(300, 200), QPoint(340, 200))
    assert caught.args == [False]


def test_another_frame_keeps_the_camera_and_another_subject_fits(view, scene_of, make_known, shapes):
    view.set_scene(scene_of())
    drag(view, QPoint(300, 200), QPoint(400, 220))
    before = view.camera.orbit
    view.set_scene(scene_of(8))
    assert view.camera.orbit == before
    other = make_known(affine=True)
    scene = build_scene(other.sequence, build_shapes(other.sequence, other.result), frame=0)
    view.set_scene(scene)
    assert view.camera.fitted
    assert view.camera.orbit.azimuth == scene.shapes.framing.azimuth != before.azimuth


def test_every_gesture_emits_one_change_of_the_viewpoint_and_can_be_undone(view, scene_of, qtbot):
    seen = []
    view.camera.viewpoint_changed.connect(lambda *change: seen.append(change))
    view.set_scene(scene_of())
    view.resize(600, 470)
    view.set_scene(scene_of(3))
    view.camera.set_orbit(view.camera.orbit.turned(5.0, 0.0))
    assert seen == []  # none of these is a gesture
    start = view.camera.orbit
    drag(view, QPoint(300, 200), QPoint(400, 220))
    assert len(seen) == 1
    assert seen[0][0].orbit == start and seen[0][1].orbit == view.camera.orbit
    for _ in range(3):
        turn_wheel(view)
    view.set_axis_preset("top")  # which ends the turns of the wheel
    view.fit()  # which changes nothing
    turn_wheel(view)
    qtbot.waitUntil(lambda: len(seen) == 4)
    view.reset()
    view.set_camera_locked(True)
    assert [text for *_, text in seen] == [
        "Move the view", "Zoom the view", "Look from the top", "Zoom the view", "Reset the view",
        "Lock to the camera",
    ]  # fmt: skip
    for before, after, _ in reversed(seen):
        assert view.camera.viewpoint == after
        view.set_viewpoint(before)
    assert view.camera.orbit == start
    assert len(seen) == 6  # going back is no gesture


def test_a_reconstruction_that_is_much_larger_is_fitted_unless_a_person_has_moved_the_view(
    view, scene_of, known, shapes
):
    before = scene_of()
    large = replace(shapes, framing=frame_points(2.0 * known.sequence.truth.points))
    little = replace(shapes, framing=frame_points(1.05 * known.sequence.truth.points))
    for moved in (False, True):
        view.set_scene(before)
        view.reset()
        start = view.camera.orbit
        if moved:
            turn_wheel(view)
            start = view.camera.orbit
        view.set_scene(build_scene(known.sequence, little, frame=2))
        assert view.camera.orbit == start
        view.set_scene(build_scene(known.sequence, large, frame=2))
        assert view.camera.orbit.distance == pytest.approx(
            start.distance if moved else 2.0 * start.distance, rel=0.1
        )


def test_the_view_moves_with_the_object_and_stays_when_it_is_not_to_follow(
    view, scene_of, known, shapes, qtbot
):
    way = np.linspace(0, 2000, known.sequence.frame_count)[:, None] * np.array([1.0, 0.0, 0.0])
    walk = replace(
        shapes,
        points=shapes.points + way[:, :, None],
        framing=frame_points(known.sequence.truth.points + way[:, :, None]),
    )

    def middle(frame, *, follow):
        appearance = Appearance(follow=follow)
        scene = build_scene(known.sequence, walk, frame=frame, appearance=appearance)
        view.set_scene(scene)
        return np.median(view._projection().pixels(scene.estimate)[0], axis=0)

    at = [middle(frame, follow=True) for frame in (0, 5, 11)]
    assert np.ptp(at, axis=0).max() < 0.15 * SIZE[0]
    button = view.findChild(QToolButton, "follow")
    assert button.isVisible() and button.isChecked()
    turn_wheel(view)  # from now on nothing fits itself
    before = middle(11, follow=True)
    np.testing.assert_allclose(middle(11, follow=False), before, atol=1e-6)
    assert abs(middle(6, follow=False) - before).max() > 0.5 * SIZE[0]
    np.testing.assert_allclose(middle(11, follow=True), before, atol=1e-6)
    with qtbot.waitSignal(view.buttons.acts["follow"].triggered) as caught:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert caught.args == [False]
    view.set_scene(scene_of(0))
    assert not button.isVisible()


def test_a_fitted_view_stays_fitted_when_resized(view, scene_of):
    scene = scene_of()
    view.set_scene(scene)
    view.resize(500, 420)
    where, _ = view._projection().pixels(scene.truth)
    assert ((where > 0) & (where < (500, 420))).all()
    assert view.grab_image().width() == 500


def test_only_what_changed_is_sent_to_opengl(opengl_view, scene_of, monkeypatch):
    from nrsfm_gui.panels.view3d import gl_renderer

    written, original = [], gl_renderer._Buffer.write
    monkeypatch.setattr(
        gl_renderer._Buffer,
        "write",
        lambda buffer, values: (written.append(values), original(buffer, values)),
    )
    first = picture_of(opengl_view, scene_of())
    assert written
    written.clear()
    assert picture_of(opengl_view, scene_of(selected=4, selection=(4,))) != first  # the ring
    assert written == []
    scene = scene_of(3)
    picture_of(opengl_view, scene)
    assert (len(scene.estimate), 3) in {values.shape for values in written}
    parts = scene_parts(scene, DARK)
    for same in (parts["grid"].positions.astype(np.float32), parts["estimate"].colors):
        assert not any(np.array_equal(values, same) for values in written)


def test_what_could_not_be_sent_to_opengl_is_sent_again(opengl_view, scene_of, monkeypatch):
    from OpenGL import GL
    from OpenGL.error import GLError

    scene = scene_of(9)
    opengl_view.set_scene(scene)
    expected = opengl_view.grab().toImage()
    opengl_view.set_scene(scene_of())
    opengl_view.grab()
    send, failed = GL.glBufferSubData, []

    def out_of_memory(*arguments):
        if not failed and len(arguments[-1]) == len(scene.estimate):
            failed.append(arguments)
            raise GLError(GL.GL_OUT_OF_MEMORY)
        send(*arguments)

    monkeypatch.setattr(GL, "glBufferSubData", out_of_memory)
    opengl_view.set_scene(scene)  # fails
    assert failed
    assert opengl_view.grab().toImage() == expected
    assert opengl_view.renderer.uses_opengl


def test_two_views_both_draw(opengl_view, scene_of, show, near):
    second = show(SceneView(software=not opengl_view.renderer.uses_opengl), *SIZE)
    for each in (opengl_view, second):
        assert near(picture_of(each, scene_of()), DARK.estimate, tolerance=12).sum() > 200


def test_the_surface_of_the_truth_is_found_again_only_where_it_is_another_one(scene_of):
    scene = scene_of(layers=LAYERS)
    surface = scene_parts(scene, DARK)["truth mesh"]
    moved = replace(scene, truth=np.array(scene.truth), estimate=scene.estimate + 1.0)
    assert scene_parts(moved, DARK)["truth mesh"] is surface
    larger = scene_parts(replace(scene, truth=2.0 * scene.truth), DARK)["truth mesh"]
    np.testing.assert_array_equal(larger.positions, 2.0 * surface.positions)


def test_parts_leave_out_what_is_missing(scene_of):
    scene = scene_of(layers=LAYERS)
    truth = np.array(scene.truth)
    truth[5] = np.nan
    parts = scene_parts(replace(scene, truth=truth), DARK)
    assert len(parts["truth"].positions) == len(truth) - 1
    assert len(parts["residuals"].pairs) == len(truth) - 1
    for part in parts.values():
        values = part.positions[part.faces] if isinstance(part, TriangleMesh) else part.positions
        assert np.isfinite(part.pairs if isinstance(part, LineSegments) else values).all()
    assert isinstance(parts["estimate"], PointCloud)
    assert len(parts["estimate mesh"].faces) == 2


@pytest.mark.parametrize("size", [SIZE, (330, 315)])
def test_the_caption_and_the_legend_are_above_what_is_fitted(view, scene_of, size):
    scene = scene_of()
    view.resize(*size)
    picture = QImage(*size, QImage.Format.Format_ARGB32_Premultiplied)
    picture.fill(0)
    painter = QPainter(picture)
    painter.setFont(view.font())
    paint_overlay(painter, scene, view._projection(), DARK)
    painter.end()
    bits = picture.constBits().asstring(picture.sizeInBytes())
    rows = np.flatnonzero(np.frombuffer(bits, dtype=np.uint32).reshape(size[::-1]).any(axis=1))
    assert 20 < rows[-1] < free_area(*size)[0][1]


@pytest.mark.parametrize("width", [345, 520, 900])
def test_every_button_is_in_the_row_or_in_its_menu_at_any_width(view, scene_of, qtbot, width):
    view.set_scene(scene_of())
    view.resize(width, 365)
    buttons = view.buttons
    menu = view.findChild(QToolButton, "view_menu")
    entries = {action.text(): action for action in menu.menu().actions()}
    row = [each for each in buttons.findChildren(QToolButton) if each.isVisible()]
    assert all(buttons.rect().contains(each.geometry()) for each in row)
    assert buttons.geometry().left() >= 0 and buttons.geometry().right() < width
    assert menu.isVisible() is bool(entries)
    shown = {each.objectName() for each in row} - {"view_menu"}
    wanted = {"front", "side", "top", "iso", "orthographic", "lock", "turntable", "look", "fit"}
    assert shown <= wanted
    assert len(entries) == len(wanted - shown)
    if "Top" in entries:
        entries["Top"].trigger()
    else:
        qtbot.mouseClick(view.findChild(QToolButton, "top"), Qt.MouseButton.LeftButton)
    assert view.camera.orbit.elevation == 90
    view.buttons.acts["orthographic"].trigger()
    view.buttons.acts["lock"].trigger()
    assert view.camera.orbit.orthographic and view.camera.locked


def test_a_caption_is_in_few_lines_and_loses_its_last_clauses(qapp):
    text = "frame 51: 3.21 mm, 4.8 % of the object · per-frame similarity, of the nearest frame with truth"
    metrics = QFontMetricsF(qapp.font())
    for width, most in itertools.product((180, 345, 690), (1, 2)):
        lines = fitting_lines(text, metrics, width, most)
        assert 1 <= len(lines) <= most
        assert all(metrics.horizontalAdvance(line) <= width for line in lines)
        assert text.replace(" ·", "").startswith(" ".join(lines).replace(" ·", ""))
        assert lines[0].startswith("frame 51: 3.21 mm")
        assert not lines[-1].endswith((",", "·"))
    assert fitting_lines("a long word without an end", metrics, 40, 2)[0].endswith("…")


def test_a_fitted_view_goes_back_from_an_object_that_grows_until_a_person_moves_it(view, known, shapes):
    size = np.linspace(1.0, 3.0, known.sequence.frame_count)[:, None, None]
    points = size * shapes.points
    grown = replace(shapes, points=points, framing=frame_points(points))

    def distance(frame, *, follow=True):
        appearance = Appearance(follow=follow)
        view.set_scene(build_scene(known.sequence, grown, frame=frame, appearance=appearance))
        return view.camera.orbit.distance

    first = distance(0)
    at_first = view.camera.viewpoint
    assert distance(known.sequence.frame_count - 1) > 1.2 * first
    last = view.camera.orbit
    turn_wheel(view)
    moved = distance(5)
    assert distance(0) == distance(11) == moved
    view.set_viewpoint(at_first)  # which was of another frame
    assert view.camera.orbit == last
    assert distance(0, follow=False) == distance(11, follow=False)
