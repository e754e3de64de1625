"""The timeline: alignment to the pixel, requests, the range, the selection, the worst."""

from dataclasses import replace

import numpy as np
import pytest
from hands import ask_for_menu, drag, type_into
from PyQt6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, QRect, Qt
from PyQt6.QtGui import QHelpEvent
from PyQt6.QtWidgets import QApplication, QComboBox, QToolButton, QToolTip

from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.panels.timeline.error_curve import curve_top
from nrsfm_gui.panels.timeline.frame_picture import LEFT, RIGHT, FrameAxis, TimelineState
from nrsfm_gui.panels.timeline.heat_strip import heat_image
from nrsfm_gui.panels.timeline.playback import Loop
from nrsfm_gui.panels.timeline.timeline import Timeline, TimelineController
from nrsfm_gui.scene.ranking import known_means, next_worst, worst_first
from nrsfm_gui.scene.scene import ErrorSeries
from nrsfm_gui.widgets.colors import color_table
from nrsfm_gui.widgets.fields import NumberField
from nrsfm_gui.widgets.style import apply_theme

FRAMES, POINTS = 37, 12


@pytest.fixture
def errors():
    """Errors (F, P) that grow with the frame; two missing ones."""
    values = np.linspace(0.1, 4.0, FRAMES)[:, None] * np.linspace(0.5, 1.5, POINTS)
    values[3, 4] = values[20, 11] = np.nan
    return values


def series(values, unit="mm", name="3-D error"):
    return ErrorSeries(known_means(values, 1), values, unit, name)


@pytest.fixture
def timeline(show, errors):
    shown = Timeline()
    shown.set_state(TimelineState(count=FRAMES, kinds=(series(errors),)))
    return show(shown, 1000, 140)


def change(timeline, **changes):
    """Show another state."""
    timeline.set_state(replace(timeline.state, **changes))


def axis_of(widget):
    return FrameAxis(FRAMES, widget.width())


def at(widget, frame, y=None):
    return QPoint(round(axis_of(widget).center(frame)), widget.height() // 2 if y is None else y)


def test_curve_slider_and_strip_mark_the_same_column(timeline, near):
    axis, frame = axis_of(timeline.curve), 11
    assert [axis.frame_at(axis.center(k)) for k in range(FRAMES)] == list(range(FRAMES))
    assert (axis.frame_at(0), axis.frame_at(axis.width)) == (0, FRAMES - 1)
    change(timeline, frame=frame)
    expected = axis.center(frame)
    curve = timeline.curve.grab().toImage()
    for picture in (curve, timeline.strip.grab().toImage()):
        white = near(picture, DARK.text, tolerance=125)[3:-3, LEFT:-RIGHT]
        columns = LEFT + np.flatnonzero(white.mean(axis=0) > 0.6)
        assert columns.size and np.abs(columns + 0.5 - expected).max() <= 1.5
    inside = near(timeline.slider.grab().toImage(), DARK.raised, tolerance=5)[7:13]
    assert np.nonzero(inside)[1].mean() + 0.5 == pytest.approx(expected, abs=1.5)
    for part in (timeline.slider, timeline.strip):
        assert part.mapTo(timeline, QPoint()).x() == timeline.curve.mapTo(timeline, QPoint()).x()
        assert part.width() == timeline.curve.width()


def test_clicks_keys_and_buttons_request_frames(timeline, qtbot):
    asked = []
    timeline.frame_requested.connect(asked.append)
    for part in (timeline.curve, timeline.slider, timeline.strip):
        qtbot.mouseClick(part, Qt.MouseButton.LeftButton, pos=at(part, 23))
    change(timeline, frame=10)  # which requests nothing
    qtbot.keyClick(timeline.slider, Qt.Key.Key_Right)
    change(timeline, frame=10)
    for button in ("first", "previous", "next", "last"):
        qtbot.mouseClick(timeline.findChild(QToolButton, button), Qt.MouseButton.LeftButton)
    assert asked == [23, 23, 23, 11, 0, 9, 11, FRAMES - 1]


def test_playing_speed_and_loop_are_requested(timeline, qtbot):
    transport, asked = timeline.transport, []
    for signal in (transport.playing_requested, transport.speed_requested, transport.loop_requested):
        signal.connect(asked.append)
    for playing in (False, True):
        transport.set_playing(playing)
        qtbot.mouseClick(timeline.findChild(QToolButton, "play"), Qt.MouseButton.LeftButton)
    timeline.findChild(QComboBox).setCurrentText("4×")
    for _ in range(3):
        qtbot.mouseClick(timeline.findChild(QToolButton, "loop"), Qt.MouseButton.LeftButton)
    assert asked == [True, False, 4.0, Loop.BACK, Loop.ONCE, Loop.AGAIN]


def test_the_strip_shows_the_error_of_each_cell_and_names_it(timeline, errors, qtbot):
    strip, table = timeline.strip, color_table("viridis")[:, :3].astype(int)
    change(timeline, frame=0)
    picture = strip.grab().toImage()
    for frame, point in ((5, 2), (30, 9), (35, 0)):
        where = cell(strip, frame, point)
        assert strip.cell_at(QPointF(where)) == (frame, point)
        share = min(errors[frame, point] / np.nanpercentile(errors, 98), 1.0)
        assert np.abs(table[int(share * 255)] - picture.pixelColor(where).getRgb()[:3]).max() <= 6
        with qtbot.waitSignals([timeline.frame_requested, timeline.strip.point_selected]) as caught:
            qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=where)
        assert [signal.args for signal in caught.all_signals_and_args] == [(frame,), (point,)]
    blank = strip.grab().toImage().pixelColor(cell(strip, 20, 11))
    assert blank.lightness() < 60  # that of the panel, where nothing is known


def test_the_strip_has_the_chosen_color_map(timeline):
    strip, table = timeline.strip, color_table("magma")[:, :3].astype(int)
    timeline.grab()
    change(timeline, color_map="magma")
    picture = strip.grab().toImage()
    top, bar = picture.pixelColor(cell(strip, 36, 11)), picture.pixelColor(axis_of(strip).width - 60, 6)
    for color in (top, bar):
        assert np.abs(table - color.getRgb()[:3]).max(axis=1).min() <= 6
        assert np.abs(color_table("viridis")[:, :3].astype(int) - color.getRgb()[:3]).max(axis=1).min() > 6


def test_of_very_many_points_in_a_pixel_the_mean_shows():
    rng = np.random.default_rng(1)
    errors = rng.exponential(1.0, (FRAMES, 20_000))
    errors[:, 400:800] = np.nan  # a whole row of pixels
    errors[:, 800:1000] = np.nan  # half of one
    errors[:, 19_600:] *= 2
    picture = heat_image(errors.T, (800, 50), 4.0, hidden=np.zeros(20_000, dtype=bool), color_map="viridis")
    assert picture.pixelColor(5, 1).alpha() == 0
    for row, mean in ((0, 1.0), (2, 1.0), (30, 1.0), (49, 2.0)):
        level = round(mean / 4.0 * 255)
        near = color_table("viridis")[level - 12 : level + 13, :3].tolist()
        assert list(picture.pixelColor(5, row).getRgb()[:3]) in near


def test_the_curve_follows_the_errors_below_a_round_top_with_the_worst_frame_marked(timeline, errors, near):
    change(timeline, frame=0)
    picture = timeline.curve.grab().toImage()
    line = near(picture, DARK.accent, tolerance=125)
    means = np.nanmean(errors, axis=1)
    top, height = curve_top(means), picture.height() - 5
    for frame in (8, 20, 30):
        x = round(axis_of(timeline.curve).center(frame))
        rows = 4 + np.flatnonzero(line[4:-4, x - 1 : x + 2].any(axis=1))
        assert rows.mean() == pytest.approx(3 + height * (1 - means[frame] / top), abs=2)
    columns = np.flatnonzero(near(picture, DARK.warning)[2:6].any(axis=0))
    assert np.abs(columns + 0.5 - axis_of(timeline.curve).center(FRAMES - 1)).min() <= 2
    assert curve_top(np.array([0.3, 2.9, np.nan])) == pytest.approx(4.0)
    assert curve_top(np.array([0.0, 0.0])) == 1.0
    for largest in (0.013, 0.9, 7.0, 43.0, 99.0):
        assert largest <= curve_top(np.array([largest])) <= 2.1 * largest


def test_frames_with_ground_truth_are_marked_and_that_of_the_intrinsics_otherwise(qapp, timeline, near):
    theme, slider = LIGHT, timeline.slider
    apply_theme(theme)
    before = slider.grab().toImage()
    assert not near(before, theme.truth).any()
    change(timeline, truth=(4, 20), reference=20)
    columns = np.unique(np.nonzero(near(slider.grab().toImage(), theme.truth, tolerance=60))[1])
    for frame in (4, 20):
        assert np.abs(columns + 0.5 - axis_of(slider).center(frame)).min() <= 1.5
    change(timeline, truth=tuple(range(FRAMES)))
    picture = slider.grab().toImage()
    assert not near(picture, theme.truth).any()  # marking all would mark none
    assert not near(picture, theme.warning).any()  # that of the worst frame
    place = round(axis_of(slider).center(20))
    badge = QRect(place - 7, 3, 14, 14)
    assert picture.copy(badge) != before.copy(badge)
    assert near(picture.copy(badge), theme.text, tolerance=60).sum() > 4
    change(timeline, count=10 * FRAMES, truth=(150,), reference=150)  # the badge is wider than a frame
    place = round(FrameAxis(10 * FRAMES, slider.width()).center(150))
    for aside, explained in ((-5, True), (0, True), (5, True), (15, False)):
        where = QPoint(place + aside, 10)
        QApplication.sendEvent(slider, QHelpEvent(QEvent.Type.ToolTip, where, slider.mapToGlobal(where)))
        assert ("frame 151: K, the intrinsics" in QToolTip.text()) is explained


@pytest.mark.parametrize("frame", [0, FRAMES // 2, FRAMES - 1])
def test_a_sentence_on_a_frame_covers_neither_its_mark_nor_what_is_above_the_timeline(qtbot, timeline, frame):
    timeline.show_message(frame, "Worst frame: 28, mean 3-D error 9.79 mm; " * 4)
    (tip,) = (widget for widget in QApplication.topLevelWidgets() if widget.inherits("QTipLabel"))
    qtbot.waitUntil(tip.isVisible)
    area, strip = tip.geometry(), timeline.strip
    assert tip.text() == QToolTip.text() and not tip.wordWrap()  # its lines are not wrapped once more
    corner = strip.mapToGlobal(QPoint(0, 0))
    assert area.top() >= timeline.curve.mapToGlobal(QPoint(0, timeline.curve.height())).y()
    center = corner.x() + axis_of(timeline.slider).center(frame)
    assert area.left() > center or area.right() < center
    assert corner.x() <= area.left() and area.right() <= corner.x() + strip.width()
    change(timeline, frame=frame)
    assert timeline._message_frame == frame
    change(timeline, frame=(frame + 1) % FRAMES)  # it goes with its frame
    assert timeline._message_frame == -1


def test_only_the_frames_with_truth_have_an_error_and_show_as_dots(timeline, near):
    values = np.full((FRAMES, POINTS), np.nan)
    values[18] = 2.0
    change(timeline, kinds=(series(values),))
    found = np.nonzero(near(timeline.curve.grab().toImage(), DARK.accent, tolerance=60))[1]
    assert found.mean() + 0.5 == pytest.approx(axis_of(timeline.curve).center(18), abs=1.5)
    change(timeline, kinds=(series(np.zeros((FRAMES, POINTS)), unit="px", name="reprojection error"),))
    assert series(np.zeros((6, 4))).zero and not series(np.eye(6, 4)).zero
    assert timeline.strip._why_empty == "The reprojection error is 0 in all frames"
    change(timeline, kinds=())
    assert near(timeline.strip.grab().toImage(), DARK.muted, tolerance=60).any()  # how to get errors
    assert timeline.strip.cell_at(QPointF(500, 20)) is None


# The range, the selection and the order of the points


def cell(strip, frame, row):
    """The middle of a cell; rows are counted from the top."""
    return at(strip, frame, round(2 + (row + 0.5) * (strip.height() - 4) / POINTS))


def test_a_drag_on_the_strip_sets_the_range_not_the_frame_and_with_shift_selects_the_points(timeline, qtbot):
    strip, asked, chosen = timeline.strip, [], []
    timeline.range_requested.connect(asked.append)
    timeline.strip.points_selected.connect(lambda points, _adding: chosen.append(points.tolist()))
    with qtbot.assertNotEmitted(timeline.frame_requested):
        drag(strip, cell(strip, 20, 3), cell(strip, 8, 3))
    assert asked[-1] == (8, 20) and chosen == []
    drag(strip, cell(strip, 5, 2), cell(strip, 9, 6), keys=Qt.KeyboardModifier.ShiftModifier)
    assert asked[-1] == (5, 9) and chosen[-1] == [2, 3, 4, 5, 6]
    change(timeline, played=(8, 20))
    qtbot.mouseDClick(strip, Qt.MouseButton.LeftButton, pos=cell(strip, 12, 5))
    assert asked[-1] is None


@pytest.mark.parametrize("name", ["slider", "strip"])
def test_the_ends_of_the_range_can_be_dragged_even_past_each_other(timeline, name):
    part, asked = getattr(timeline, name), []
    change(timeline, played=(10, 20))
    part.range_requested.connect(asked.append)
    part.range_requested.connect(lambda played: change(timeline, played=played))
    half = axis_of(part).span / FRAMES / 2
    y = part.height() // 2
    for end, beside, target, expected in ((20, half + 2, 30, (10, 30)), (10, -half - 2, 34, (30, 34))):
        drag(part, QPoint(round(axis_of(part).center(end) + beside), y), at(part, target, y))
        assert asked[-1] == expected


def test_the_frames_that_are_not_played_are_shaded_on_strip_and_curve(timeline):
    change(timeline, frame=0)
    before, curve = timeline.strip.grab().toImage(), timeline.curve.grab().toImage()
    change(timeline, played=(12, 24))
    after = timeline.strip.grab().toImage()
    inside, outside = cell(timeline.strip, 18, 4), cell(timeline.strip, 30, 4)
    assert after.pixelColor(inside) == before.pixelColor(inside)
    assert after.pixelColor(outside).lightness() < before.pixelColor(outside).lightness()
    assert timeline.curve.grab().toImage() != curve


def test_sorting_puts_the_worst_point_on_top_and_clicks_still_find_it(timeline, errors, qtbot, near):
    button = timeline.findChild(QToolButton, "sort")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert button.text().startswith("by error")
    order = np.argsort(-np.nanmean(errors, axis=0))
    strip = timeline.strip
    for row in (0, 4, POINTS - 1):
        assert strip.cell_at(QPointF(cell(strip, 9, row))) == (9, order[row])
    change(timeline, selection=tuple(order[[2, 5, 10]].tolist()), point=int(order[5]))
    marked = np.flatnonzero(near(strip.grab().toImage(), DARK.selection, tolerance=40)[:, LEFT - 4])
    for row in (2, 5, 10):
        assert np.abs(marked - cell(strip, 0, row).y()).min() <= 1.5
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert strip.cell_at(QPointF(cell(strip, 9, 7))) == (9, 7)


def test_hidden_points_are_gray_and_do_not_color_the_pixels_of_the_others(timeline):
    strip = timeline.strip
    colored = strip.grab().toImage().pixelColor(cell(strip, 33, 10))
    change(timeline, hidden=frozenset({10}))
    gray, other = (strip.grab().toImage().pixelColor(cell(strip, 33, row)) for row in (10, 8))
    assert gray.saturation() < 60 < 100 < min(colored.saturation(), other.saturation())
    values = np.ones((40, 3))
    values[7] = 100.0
    hidden = np.arange(40) == 7
    for which, level in ((hidden * False, 255), (hidden, 2)):
        color = heat_image(values, (3, 4), 100.0, hidden=which, color_map="viridis").pixelColor(1, 0)
        assert [color.red(), color.green()] == color_table("viridis")[level, :2].tolist()


def test_either_kind_of_error_can_be_shown_and_is_kept(timeline, errors, qtbot):
    kind = timeline.findChild(QToolButton, "kind")
    assert not kind.isEnabled()
    both = series(errors), series(3 * errors, "px", "reprojection error")
    change(timeline, kinds=both)
    assert kind.isEnabled()
    assert kind.text().startswith("3-D")
    qtbot.mouseClick(kind, Qt.MouseButton.LeftButton)
    assert timeline.state.series is both[1]
    assert kind.text().startswith("reprojection")
    change(timeline, kinds=both)  # the next update of a run
    assert timeline.state.series is both[1]
    change(timeline, kinds=(series(errors),))
    assert timeline.state.series.name == "3-D error"


def test_the_worst_come_one_after_the_other():
    values = np.array([1.0, np.nan, 7.0, 3.0, 7.0])
    assert worst_first(values).tolist() == [2, 4, 3, 0, 1]
    found, seen = None, []
    for _ in range(5):
        found = next_worst(values, found)
        seen.append(found)
    assert seen == [2, 4, 3, 0, 2]
    assert next_worst(values, 1) == 2  # it has no error
    assert next_worst(np.full(3, np.nan), None) is None
    np.testing.assert_array_equal(known_means(np.array([[1.0, np.nan], [3.0, np.nan]]), 0), [2.0, np.nan])


def test_a_frame_can_be_typed(timeline, qtbot):
    field, asked = timeline.findChild(NumberField, "frame"), []
    timeline.frame_requested.connect(asked.append)
    timeline.frame_requested.connect(lambda frame: change(timeline, frame=frame))
    type_into(field, "24")
    assert asked[-1] == 23
    qtbot.keyClick(field, Qt.Key.Key_Up)
    assert asked[-1] == 24
    type_into(field, "99")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert field.text() == str(FRAMES) and asked[-1] == FRAMES - 1  # the last one there is
    type_into(field, "none")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert field.text() == str(FRAMES)  # what is no number is taken back
    assert all(0 <= frame < FRAMES for frame in asked)


def test_the_axes_do_not_move_with_the_text_of_the_buttons(timeline, errors, qtbot):
    places = []
    both = series(errors), series(errors, "px", "reprojection error")
    for given in (both[:1], both, ()):
        change(timeline, kinds=given)
        for _ in range(2):
            qtbot.mouseClick(timeline.findChild(QToolButton, "kind"), Qt.MouseButton.LeftButton)
            qtbot.mouseClick(timeline.findChild(QToolButton, "sort"), Qt.MouseButton.LeftButton)
            QCoreApplication.processEvents()
            places.append(timeline.strip.geometry().x())
    assert len(set(places)) == 1


def test_more_frames_than_pixels_show_the_largest_error():
    values = np.zeros((2, 5000))
    values[1, 3777] = 5.0
    values[0, 10:20] = np.nan
    picture = heat_image(values, (100, 50), 5.0, hidden=np.zeros(2, dtype=bool), color_map="viridis")
    assert (picture.width(), picture.height()) == (100, 2)
    assert np.argmax([picture.pixelColor(k, 1).red() for k in range(100)]) == 3777 * 100 // 5000
    assert picture.pixelColor(0, 0).alpha() == 255  # others of its frames are known


def test_the_timeline_follows_the_session_and_shows_all_of_another_sequence_anew(
    qtbot, show, session, display, known
):
    timeline = show(Timeline(), 1000, 140)
    controller = TimelineController(session, display, timeline)
    session.set_sequence(known.sequence)
    session.set_frame_range((2, 9))
    display.refresh()
    assert timeline.slider.maximum() == known.sequence.frame_count - 1
    timeline.grab()
    kept = timeline.curve._background
    for frame in (3, 5, 7):
        session.set_frame(frame)
    qtbot.waitUntil(lambda: timeline.slider.value() == 7)
    assert timeline.curve._background is kept is not None
    session.set_sequence(known.sequence)  # the range is that of the session, not of the view
    session.set_frame_range((1, 4))
    display.refresh()
    assert timeline.state.played == (1, 4) and timeline.slider.value() == 0
    session.change_appearance(color_map="magma")
    display.refresh()
    assert timeline.state.color_map == "magma"
    controller.shut_down()


@pytest.mark.parametrize("size", [(1000, 140), (1000, 600)])
def test_excluded_observations_are_crossed_out_in_the_strip(timeline, near, size):
    """Filled where a cell is small, crossed where it is large."""

    def marks(excluded):
        change(timeline, excluded=excluded)
        return near(timeline.strip.grab().toImage(), DARK.warning, tolerance=60)

    timeline.resize(*size)
    QCoreApplication.processEvents()
    excluded = np.zeros((FRAMES, POINTS), dtype=bool)
    excluded[9, 4] = True
    before, crossed = marks(None), marks(excluded)
    y, x = np.nonzero(crossed & ~before)
    middle = cell(timeline.strip, 9, 4)
    assert len(x) > 5 and abs(x.mean() - middle.x()) < 3 and abs(y.mean() - middle.y()) < 3
    assert not (marks(None) & ~before).any()


def test_control_toggles_a_point_and_the_right_button_selects_it_and_asks_for_its_menu(timeline, qtbot):
    place, asked = cell(timeline.strip, 9, 4), []
    for name in ("menu_requested", "point_selected", "point_toggled", "frame_requested"):
        getattr(timeline.strip, name).connect(lambda value, name=name: asked.append((name, value)))
    qtbot.mouseClick(timeline.strip, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, place)
    assert asked == [("point_toggled", 4)]
    ask_for_menu(timeline.strip, place)
    menu = ("menu_requested", timeline.strip.mapToGlobal(place))
    assert asked[1:] == [("frame_requested", 9), ("point_selected", 4), menu]
    change(timeline, selection=(4, 5), point=5)
    ask_for_menu(timeline.strip, place)
    assert asked[4:] == [("frame_requested", 9), menu]  # several stay selected
