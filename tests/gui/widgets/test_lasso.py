"""Lasso and clicks with Ctrl: which points lie inside, and what the 2-D panel tells of them."""

from dataclasses import replace
from itertools import combinations
from unittest.mock import Mock

import numpy as np
import pytest
from hands import drag, send_mouse
from PyQt6.QtCore import QEvent, QPoint, QPointF, Qt
from PyQt6.QtGui import QFont, QImage, QPainter, QPainterPath, QPolygonF
from reconstructions import build_shapes

from nrsfm_gui.model.theme import DARK
from nrsfm_gui.scene.scene import build_scene
from nrsfm_gui.widgets.lasso import inside
from nrsfm_gui.widgets.picture_labels import MOST_LABELS, paint_point_numbers
from nrsfm_gui.widgets.plots.dots2d import INK, MOST_SEGMENTS, _longest_seen

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton


def test_inside_agrees_with_qt_on_a_curve_that_crosses_itself():
    rng = np.random.default_rng(0)
    polygon, points = rng.uniform(0, 100, (23, 2)), rng.uniform(-10, 110, (4000, 2))
    path = QPainterPath()
    path.addPolygon(QPolygonF([QPointF(*corner) for corner in polygon]))
    path.closeSubpath()
    expected = [path.contains(QPointF(*point)) for point in points]
    found = inside(polygon, points)
    assert (found == expected).mean() > 0.999  # Qt rounds at the edges
    assert 0.1 < found.mean() < 0.9


def test_nothing_lies_in_a_line_and_points_without_a_place_lie_nowhere():
    points = np.array([[1.0, 1.0], [np.nan, 1.0], [0.5, 0.2]])
    square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    assert inside(square, points).tolist() == [True, False, True]
    assert not inside(square[:2], points).any()
    assert not inside(np.array([[0.0, 1.0], [2.0, 1.0], [1.0, 1.0]]), points).any()


@pytest.fixture
def view(tracks_view, known):
    tracks_view.set_scene(build_scene(known.sequence, build_shapes(known.sequence, known.result), frame=4))
    return tracks_view


def around(view, points, margin=10.0):
    """Corners (pixels of the plot) of a box around points."""
    where = view._to_pixels(view._scene.measured[points])
    (left, top), (right, bottom) = where.min(axis=0) - margin, where.max(axis=0) + margin
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    return [QPoint(round(x), round(y)) for x, y in corners]


def test_a_lasso_selects_the_points_inside_and_moves_nothing(view, qtbot):
    before, chosen = view._box.viewRange(), [6, 7, 8]
    corners = around(view, chosen)
    for keys in (CONTROL, CONTROL | SHIFT):
        with qtbot.waitSignal(view.points_selected) as caught:
            drag(view.plot_widget.viewport(), *corners, keys=keys)
        points, added = caught.args
        assert added == (keys != CONTROL)
    pixels = view._to_pixels(view._scene.measured)
    low, high = corners[0], corners[2]
    expected = ((pixels > (low.x(), low.y())) & (pixels < (high.x(), high.y()))).all(axis=1)
    assert points.tolist() == np.flatnonzero(expected).tolist()
    assert set(chosen) <= set(points.tolist())
    assert view._box.viewRange() == before


def test_points_that_are_not_drawn_are_neither_caught_nor_picked(view, qtbot, near):
    scene = view._scene
    view.set_scene(replace(scene, hidden=frozenset({7})))
    with qtbot.waitSignal(view.points_selected) as caught:
        drag(view.plot_widget.viewport(), *around(view, [6, 7, 8]), keys=CONTROL)
    assert 7 not in caught.args[0].tolist()
    where = view._to_pixels(scene.measured[[7]])[0]
    assert view.point_at(view.plot_widget.mapToScene(QPoint(*np.round(where).astype(int)))) != 7
    x, y = np.round(where).astype(int)
    assert not near(view.grab_image(), DARK.measured, tolerance=30)[y - 2 : y + 3, x - 2 : x + 3].any()


def test_a_click_with_control_toggles_and_one_without_selects(view, qtbot):
    where = QPoint(*np.round(view._to_pixels(view._scene.measured[[9]])[0]).astype(int))
    with qtbot.waitSignal(view.point_toggled) as caught, qtbot.assertNotEmitted(view.point_selected):
        qtbot.mouseClick(view.plot_widget.viewport(), LEFT, CONTROL, where)
    assert caught.args == [9]
    with qtbot.waitSignal(view.point_selected), qtbot.assertNotEmitted(view.point_toggled):
        qtbot.mouseClick(view.plot_widget.viewport(), LEFT, pos=where)


def test_the_curve_is_painted_while_it_is_drawn(view, qtbot, near):
    def yellow():
        return near(view.grab_image(), DARK.selection, tolerance=100).sum()

    surface, corners, before = view.plot_widget.viewport(), around(view, [6, 7, 8]), yellow()
    qtbot.mousePress(surface, LEFT, CONTROL, corners[0])
    for corner in corners[1:]:
        send_mouse(surface, QEvent.Type.MouseMove, corner, keys=CONTROL)
    assert yellow() > before + 40
    qtbot.mouseRelease(surface, LEFT, CONTROL, corners[-1])
    assert yellow() == before


def test_all_selected_points_are_ringed_and_numbered(view, near):
    scene = view._scene
    chosen = (2, 9, 14)
    bare = replace(scene.appearance, labels="none")
    rings = replace(scene, selection=chosen, selected=9, appearance=bare)
    view.set_scene(rings)
    yellow = near(view.grab_image(), DARK.selection, tolerance=50)
    pixels = np.round(view._to_pixels(scene.measured[list(chosen)])).astype(int)
    for x, y in pixels:
        assert yellow[y - 11 : y + 12, x - 11 : x + 12].sum() > 12
    beside = [yellow[y - 16 : y - 2, x + 9 : x + 24].sum() for x, y in pixels]
    view.set_scene(replace(rings, appearance=replace(bare, labels="selected")))
    yellow = near(view.grab_image(), DARK.selection, tolerance=50)
    for (x, y), bare in zip(pixels, beside, strict=True):
        assert yellow[y - 16 : y - 2, x + 9 : x + 24].sum() > bare + 5


def test_of_very_many_residuals_the_longest_that_are_seen_are_drawn():
    rng = np.random.default_rng(2)
    start = rng.uniform(-50, 450, (9000, 2))
    ends = np.stack([start, start + rng.normal(0, 8, (9000, 2))], axis=1)
    ends[:50, 1] = ends[:50, 0] + 0.3  # within a pixel
    drawn, reduced = _longest_seen(ends[..., 0], ends[..., 1], 400, 300)
    drawn = drawn.reshape(-1, 2, 2)
    assert reduced
    touching = (ends.max(axis=1) > 0).all(axis=1) & (ends.min(axis=1) < (400, 300)).all(axis=1)
    lengths = np.sort(np.linalg.norm(ends[touching, 1] - ends[touching, 0], axis=1))
    found = np.linalg.norm(drawn[:, 1] - drawn[:, 0], axis=1)
    assert found.sum() <= INK * 400 * 300 < found.sum() + lengths[-1]
    assert found.min() == pytest.approx(lengths[-len(found)])
    assert _longest_seen(ends[:50, :, 0], ends[:50, :, 1], 400, 300)[0].size == 0
    few, reduced = _longest_seen(ends[50:80, :, 0], ends[50:80, :, 1], 400, 300)
    assert not reduced
    assert len(few) == touching[50:80].sum()
    far = np.stack([start, start + 1e5], axis=1)
    drawn, _ = _longest_seen(far[..., 0], far[..., 1], 400, 300)
    assert len(drawn) == pytest.approx(INK * 400 * 300 / 500, abs=1)
    short = np.tile([[5.0, 5.0], [7.0, 5.0]], (9000, 1, 1))
    short, _ = _longest_seen(short[..., 0], short[..., 1], 400, 300)
    assert len(short) == MOST_SEGMENTS


def test_numbers_of_points_never_overlap_and_are_of_the_first_ones(view, near):
    rng = np.random.default_rng(4)
    noting = Mock(font=QFont)  # in place of a painter
    paint_point_numbers(noting, range(900), rng.uniform(0, 300, (900, 2)), DARK)
    places = [call.args[0] for call in noting.fillRect.call_args_list]
    assert len(places) == MOST_LABELS
    assert not any(one.intersects(two) for one, two in combinations(places, 2))
    image = QImage(400, 100, QImage.Format.Format_RGB32)
    image.fill(0)
    painter = QPainter(image)
    points = range(3)
    paint_point_numbers(painter, points, np.array([[50.0, 50], [np.nan, 50], [250, 50]]), DARK)
    painter.end()
    yellow = near(image, DARK.selection, tolerance=80)
    assert yellow[:, 50:100].any()
    assert yellow[:, 250:300].any()
    assert not yellow[:, 100:250].any()


def test_the_number_of_hidden_points_is_shown(view, near):
    scene, rows = view._scene, slice(380, 440)
    before = near(view.grab_image(), DARK.muted, tolerance=60)[rows, 70:400].sum()
    view.set_scene(replace(scene, hidden=frozenset({7})))
    assert near(view.grab_image(), DARK.muted, tolerance=60)[rows, 70:400].sum() > before + 100
    view.set_scene(replace(scene, hidden=frozenset(range(len(scene.drawn)))))
    assert near(view.grab_image(), DARK.muted, tolerance=60)[225:255, 150:500].sum() > 100
