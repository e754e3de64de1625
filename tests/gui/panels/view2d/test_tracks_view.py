"""The 2-D panel: pixels of its picture, and what the mouse does."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, QPointF, QRectF, Qt
from PyQt6.QtGui import QImage
from reconstructions import build_shapes

from nrsfm_gui.model.appearance import Appearance
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.panels.view2d.tracks_dots import described
from nrsfm_gui.panels.view2d.tracks_view import TracksView
from nrsfm_gui.scene.scene import build_scene
from nrsfm_gui.widgets.style import mixed, palette

SIZE = (640, 480)


@pytest.fixture
def view(show):
    return show(TracksView(), *SIZE)


@pytest.fixture
def shapes(known):
    """Shapes whose reprojections are some pixels off."""
    moved = replace(known.result, translations=known.result.translations + np.array([0.03, 0.02, 0.0]))
    return build_shapes(known.sequence, moved)


@pytest.fixture
def show_frame(view, known, shapes):
    """Show a frame of the known sequence, and return its scene."""

    def shown(frame=4, **options):
        view.set_scene(build_scene(known.sequence, shapes, frame=frame, **options))
        return view._scene

    return shown


@pytest.fixture
def many(view, make_known):
    """Build frames of so many points that rings would cover each other; one is shown."""
    made = make_known(rows=40, columns=30, frames=3)
    moved = replace(made.result, translations=made.result.translations + np.array([0.02, 0.01, 0.0]))
    shapes = build_shapes(made.sequence, moved)
    view.set_scene(build_scene(made.sequence, shapes, frame=0))
    view.fit()
    return lambda frame: build_scene(made.sequence, shapes, frame=frame)


def test_numbers_below_zero_have_a_minus_sign_on_both_axes(view):
    for side in ("left", "bottom"):
        assert view.plot_widget.getAxis(side).tickStrings([-100.0, 50.0], 1.0, 50.0) == ["−100", "50"]


def pixels(view, points):
    """(P, 2) where points of the image are, in the coordinates of the widget."""
    found = [view.plot_widget.mapFromScene(view._box.mapViewToScene(QPointF(x, y))) for x, y in points]
    return np.array([(point.x(), point.y()) for point in found])


def patch(mask, where, radius=2):
    x, y = np.round(where).astype(int)
    return mask[y - radius : y + radius + 1, x - radius : x + radius + 1]


def test_measured_hidden_and_reprojected_points_are_drawn_where_they_are(view, show_frame, near):
    scene = show_frame()
    picture = view.grab_image()
    blue = near(picture, DARK.measured, tolerance=30)
    green = near(picture, DARK.reprojected, tolerance=30)
    measured, reprojected = pixels(view, scene.measured), pixels(view, scene.reprojected)
    for p in range(len(measured)):
        assert patch(green, reprojected[p]).any()
        assert not patch(blue, measured[p], 1).any()  # a ring
        assert patch(blue, measured[p], 6).any() == scene.visible[p]  # which is faint where it is hidden
    middle = (measured[0] + reprojected[0]) / 2
    assert patch(near(picture, DARK.residual, tolerance=70), middle).any()


def test_the_border_of_the_picture_is_drawn_where_its_size_is_known(view, known, near):
    assert known.sequence.image_size is None
    sequence = replace(known.sequence, image_size=(1280, 960))
    for each, seen in ((known.sequence, False), (sequence, True)):
        view.set_scene(build_scene(each, build_shapes(each, None), frame=4))
        view.show_range(QRectF(-100, -100, 1480, 1160))
        mask = near(view.grab_image(), DARK.muted, tolerance=40)
        (left, top), (right, bottom) = np.round(pixels(view, [(-0.5, -0.5), (1279.5, 959.5)])).astype(int)
        for line in (mask[top - 1 : top + 2, left:right], mask[bottom - 1 : bottom + 2, left:right]):
            assert (line.any(axis=0).mean() > 0.4) == seen  # dashes
        for line in (mask[top:bottom, left - 1 : left + 2], mask[top:bottom, right - 1 : right + 2]):
            assert (line.any(axis=1).mean() > 0.4) == seen


def test_points_that_are_hidden_or_have_no_position_have_marks_of_their_own(view, known, show_frame):
    scene, dots = show_frame(0), view._dots
    assert np.isnan(scene.measured[3]).all() and "hidden" in described(scene, 3)
    for item, points, hollow in (
        (dots.measured, scene.measured[scene.visible], True),
        (dots.hidden, np.delete(scene.measured, 3, 0)[~np.delete(scene.visible, 3)], True),
        (dots.reprojected, scene.reprojected[scene.visible], False),
        (dots.predicted, scene.reprojected[~scene.visible], True),
    ):
        np.testing.assert_allclose(item.positions, points)
        assert item.hollow is hollow
    view.set_scene(build_scene(known.sequence, build_shapes(known.sequence, None), frame=0))
    assert len(dots.predicted.positions) == 0


def test_dots_are_as_large_as_there_is_room_for_and_predicted_ones_faint_where_there_is_none(view, many):
    dots, fitted = view._dots, view._dots.measured.diameter
    view.show_range(QRectF(-10_000, -10_000, 20_000, 20_000))
    assert dots.measured.diameter == 3 < fitted and not dots.measured.hollow and not dots.predicted.hollow
    assert dots.predicted.colors[0].name() == mixed(DARK.reprojected, DARK.panel, 0.6)
    assert dots.reprojected.colors[0].name() == DARK.reprojected
    view.show_range(QRectF(600, 400, 50, 50))
    assert dots.measured.diameter == 8 > fitted and dots.measured.hollow
    assert not dots.set_scale(view._scene, (0.0, 0.0))  # as where the axes leave no room


def test_axes_name_their_unit_and_leave_their_place_to_pictures(view, show_frame, make_known):
    left, bottom = map(view.plot_widget.getAxis, ("left", "bottom"))
    show_frame()
    view.show_axes(False)
    show_frame(5)
    assert not left.isVisible() and not bottom.isVisible()
    view.show_axes(True)
    assert left.isVisible() and left.labelText == "y (px)"
    other = replace(make_known(affine=True).sequence, units="mm")
    view.set_scene(build_scene(other, build_shapes(other, None), frame=0))
    assert left.labelText == "y (mm)"


def test_the_range_stays_from_frame_to_frame_and_holds_every_frame(view, known, show_frame):
    show_frame(0)
    before = view._box.viewRange()
    for frame in range(known.sequence.frame_count):
        scene = show_frame(frame)
        assert view._box.viewRange() == before
        where = pixels(view, scene.measured[scene.visible])
        assert ((where > 0) & (where < SIZE)).all()


@pytest.mark.parametrize(("theme", "width"), [(DARK, 260), (LIGHT, 640)])
def test_the_legend_is_above_the_plot_however_it_is_zoomed(view, show_frame, near, qtbot, theme, width):
    view.resize(width, 300)
    view.setPalette(palette(theme))
    show_frame()
    view._box.scaleBy((0.1, 0.1))
    qtbot.wait(20)
    top = round(view._box.sceneBoundingRect().top())
    words = near(view.grab_image(), theme.muted, tolerance=60)[:, width // 4 :]  # beside the axis
    assert words[:top].any() and not words[top : top + 60].any()


def test_zooming_is_undone_by_fit_and_by_a_double_click(view, show_frame, qtbot):
    show_frame(0)
    before, surface = view._box.viewRange(), view.plot_widget.viewport()
    double_click = partial(qtbot.mouseDClick, surface, Qt.MouseButton.LeftButton, pos=QPoint(300, 200))
    for fit in (view.fit, double_click):
        view._box.scaleBy((0.3, 0.3))
        assert view._box.viewRange() != before
        fit()
        np.testing.assert_allclose(view._box.viewRange(), before)


def test_the_point_under_the_mouse_is_described_and_a_click_selects_it_or_none(view, show_frame, qtbot):
    scene, hovered = show_frame(), []
    view.point_hovered.connect(hovered.append)
    for place, point in ((QPoint(*pixels(view, scene.measured)[9]), 9), (QPoint(620, 60), -1)):
        view._on_mouse_moved(QPointF(place))
        with qtbot.waitSignal(view.point_selected) as selected:
            qtbot.mouseClick(view.plot_widget.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert hovered[-1] == point and selected.args == [point]
    assert described(scene, 9).startswith("point 10 ·") and "3-D error" in described(scene, 9)
    assert f"residual {scene.residuals_px[9]:.3g} px" in described(scene, 9)


def test_color_by_error_gives_reprojections_the_color_of_their_error(view, known, show_frame, near):
    show_frame(appearance=Appearance(color_by="error"))
    assert not near(view.grab_image(), DARK.reprojected, tolerance=6)[60:400, 100:].any()
    view.set_scene(build_scene(known.sequence, build_shapes(known.sequence, None), frame=4))
    picture = view.grab_image()  # before a run only tracks are shown
    assert near(picture, DARK.measured, tolerance=20).sum() > 100
    assert not near(picture, DARK.reprojected, tolerance=20).any()


def test_without_a_sequence_the_panel_shows_what_to_do(view, near):
    assert near(view.grab_image(), DARK.muted, tolerance=60)[200:280, 150:500].any()
    assert view.point_at(QPointF(300, 200)) == -1


def test_a_new_frame_is_painted_once_and_by_the_same_few_items(view, many, qtbot, paints_of):
    qtbot.wait(20)
    items, painted = view.plot_widget.scene().items(), paints_of(view.plot_widget.viewport())
    for turn in range(1, 4):
        view.set_scene(many(turn % 3))
        qtbot.waitUntil(lambda turn=turn: painted.count >= turn)
        qtbot.wait(5)
        assert painted.count == turn
    assert len(items) < 100 and set(view.plot_widget.scene().items()) == set(items)


def test_the_right_button_selects_a_point_and_asks_for_its_menu(view, show_frame, qtbot):
    scene = show_frame(selection=(2, 5), selected=2)
    asked, selected = [], []
    view.menu_requested.connect(asked.append)
    view.point_selected.connect(selected.append)
    where = pixels(view, scene.measured)
    for point, chosen in ((7, [7]), (5, [7])):  # a selected one stays selected with the others
        place = QPoint(*np.round(where[point]).astype(int).tolist())
        qtbot.mouseClick(view.plot_widget.viewport(), Qt.MouseButton.RightButton, pos=place)
        assert selected == chosen
    assert len(asked) == 2
    qtbot.mouseClick(view.plot_widget.viewport(), Qt.MouseButton.RightButton, pos=QPoint(70, 5))
    assert len(asked) == 2


def test_a_picture_behind_the_points_is_seen_whole(view, show_frame):
    show_frame()
    view.fit()
    alone = view.range_shown
    picture = QImage(4000, 3000, QImage.Format.Format_RGB32)
    picture.fill(0)
    view.set_background(picture, 1.0)
    place = QRectF(-0.5, -0.5, 4000, 3000)
    assert view.range_shown.contains(place) and not alone.contains(place)
    view.show_range(QRectF(10, 10, 50, 50))
    moved = view.range_shown
    view.set_background(None, 1.0)
    assert view.range_shown == moved  # it was moved by hand
    view.fit()
    assert view.range_shown == alone
