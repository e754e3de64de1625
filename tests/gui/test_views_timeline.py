"""The timeline: alignment to the pixel, requests, and playing."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, QPointF, Qt
from PyQt6.QtWidgets import QComboBox, QLabel, QToolButton

from nrsfm_gui.playback import Playback
from nrsfm_gui.theme import DARK, LIGHT
from nrsfm_gui.views.colors import error_table
from nrsfm_gui.views.frame_axis import LEFT, RIGHT, FrameAxis
from nrsfm_gui.views.frame_slider import curve_top
from nrsfm_gui.views.timeline import Timeline

FRAMES, POINTS = 37, 12


@pytest.fixture
def errors():
    """Errors (F, P) that grow with the frame; two missing ones."""
    values = np.linspace(0.1, 4.0, FRAMES)[:, None] * np.linspace(0.5, 1.5, POINTS)
    values[3, 4] = values[20, 11] = np.nan
    return values


@pytest.fixture
def timeline(qtbot, errors):
    shown = Timeline()
    qtbot.addWidget(shown)
    shown.resize(1000, 140)
    shown.set_frame_count(FRAMES)
    shown.set_errors(np.nanmean(errors, axis=1), errors, "mm", "3-D error")
    with qtbot.waitExposed(shown):
        shown.show()
    return shown


def axis_of(widget):
    return FrameAxis(FRAMES, widget.width())


def at(widget, frame, y=None):
    return QPoint(round(axis_of(widget).center(frame)), widget.height() // 2 if y is None else y)


def test_every_pixel_belongs_to_the_frame_whose_center_is_nearest():
    axis = FrameAxis(FRAMES, 1000)
    assert [axis.frame_at(axis.center(f)) for f in range(FRAMES)] == list(range(FRAMES))
    assert axis.frame_at(0) == 0
    assert axis.frame_at(1000) == FRAMES - 1


@pytest.mark.parametrize("frame", [0, 11, FRAMES - 1])
def test_curve_slider_and_strip_mark_the_same_column(timeline, near, frame):
    timeline.set_frame(frame)
    expected = axis_of(timeline.curve).center(frame)
    curve = timeline.curve.grab().toImage()
    for picture in (curve, timeline.strip.grab().toImage()):
        white = near(picture, DARK.text, tolerance=125)[3:-3, LEFT:-RIGHT]
        columns = LEFT + np.flatnonzero(white.mean(axis=0) > 0.6)
        assert columns.size
        assert np.abs(columns + 0.5 - expected).max() <= 1.5
    inside = near(timeline.slider.grab().toImage(), DARK.raised, tolerance=5)[7:13]
    assert np.nonzero(inside)[1].mean() + 0.5 == pytest.approx(expected, abs=1.5)
    for part in (timeline.slider, timeline.strip):
        assert part.mapTo(timeline, QPoint()).x() == timeline.curve.mapTo(timeline, QPoint()).x()
        assert part.width() == timeline.curve.width()


@pytest.mark.parametrize("name", ["curve", "slider", "strip"])
def test_a_click_asks_for_the_frame_under_the_mouse(timeline, qtbot, name):
    part = getattr(timeline, name)
    with qtbot.waitSignal(timeline.frame_requested) as caught:
        qtbot.mouseClick(part, Qt.MouseButton.LeftButton, pos=at(part, 23))
    assert caught.args == [23]


def test_setters_ask_for_nothing(timeline, qtbot):
    asked = []
    for signal in (timeline.frame_requested, timeline.playing_requested, timeline.speed_requested):
        signal.connect(asked.append)
    timeline.set_frame(5)
    timeline.set_playing(True)
    timeline.set_speed(2.0)
    timeline.set_frame_count(10)
    assert asked == []
    assert timeline.findChild(QLabel, "frame").text() == "frame 6 / 10"


@pytest.mark.parametrize(
    ("button", "frame"), [("first", 0), ("previous", 9), ("next", 11), ("last", FRAMES - 1)]
)
def test_buttons_ask_for_frames(timeline, qtbot, button, frame):
    timeline.set_frame(10)
    with qtbot.waitSignal(timeline.frame_requested) as caught:
        qtbot.mouseClick(timeline.findChild(QToolButton, button), Qt.MouseButton.LeftButton)
    assert caught.args == [frame]


def test_play_asks_for_the_opposite_of_what_is_shown(timeline, qtbot):
    for playing in (False, True):
        timeline.set_playing(playing)
        with qtbot.waitSignal(timeline.playing_requested) as caught:
            qtbot.mouseClick(timeline.findChild(QToolButton, "play"), Qt.MouseButton.LeftButton)
        assert caught.args == [not playing]


def test_speed_and_loop_are_requested(timeline, qtbot):
    with qtbot.waitSignal(timeline.speed_requested) as caught:
        timeline.findChild(QComboBox).setCurrentText("4×")
    assert caught.args == [4.0]
    with qtbot.waitSignal(timeline.loop_requested) as caught:
        qtbot.mouseClick(timeline.findChild(QToolButton, "loop"), Qt.MouseButton.LeftButton)
    assert caught.args == [False]


def test_keys_of_the_slider_ask_for_frames(timeline, qtbot):
    timeline.set_frame(10)
    with qtbot.waitSignal(timeline.frame_requested) as caught:
        qtbot.keyClick(timeline.slider, Qt.Key.Key_Right)
    assert caught.args == [11]


def test_the_strip_shows_the_error_of_each_cell_and_names_it(timeline, errors, qtbot):
    strip = timeline.strip
    timeline.set_frame(0)
    picture = strip.grab().toImage()
    table = error_table(DARK.name)[:, :3].astype(int)
    for frame, point in ((5, 2), (30, 9), (35, 0)):
        y = 2 + (point + 0.5) * (strip.height() - 4) / POINTS
        where = QPoint(at(strip, frame).x(), round(y))
        assert strip.cell_at(QPointF(where)) == (frame, point)
        color = picture.pixelColor(where)
        top = np.nanpercentile(errors, 98)
        expected = table[int(min(errors[frame, point] / top, 1.0) * 255)]
        assert np.abs(expected - (color.red(), color.green(), color.blue())).max() <= 6
        with qtbot.waitSignals([timeline.frame_requested, timeline.point_selected]) as caught:
            qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=where)
        assert [signal.args for signal in caught.all_signals_and_args] == [(frame,), (point,)]


def test_missing_errors_are_blank(timeline, near):
    strip = timeline.strip
    picture = strip.grab().toImage()
    where = QPoint(at(strip, 20).x(), round(2 + 11.5 * (strip.height() - 4) / POINTS))
    assert near(picture, DARK.panel, tolerance=3)[where.y(), where.x()]


def test_more_points_than_pixels_show_the_largest_error(timeline):
    errors = np.zeros((FRAMES, 3000))
    errors[10, 1234] = 5.0
    errors[:, 0] = 5.0  # so that the scale ends there
    timeline.set_errors(errors.mean(axis=1), errors, "px", "reprojection error")
    timeline.strip._top = 5.0
    timeline.strip._image = None
    picture = timeline.strip._picture(50)
    row = int(1234 * 50 / 3000)
    color = picture.pixelColor(10, row)
    assert (color.red(), color.green(), color.blue()) == tuple(error_table(DARK.name)[255, :3].tolist())


def test_of_very_many_points_in_a_pixel_the_mean_shows(timeline):
    rng = np.random.default_rng(1)
    errors = rng.exponential(1.0, (FRAMES, 20_000))
    errors[:, 400:800] = np.nan  # a whole row of pixels
    errors[:, 800:1000] = np.nan  # half of one
    errors[:, 19_600:] *= 2
    timeline.set_errors(np.nanmean(errors, axis=1), errors, "px", "reprojection error")
    picture = timeline.strip._picture(50)
    colors = [picture.pixelColor(5, row) for row in range(50)]
    assert colors[1].alpha() == 0
    for row, mean in ((0, 1.0), (2, 1.0), (30, 1.0), (49, 2.0)):
        level = round(mean / timeline.strip._top * 255)
        near = error_table(DARK.name)[level - 12 : level + 13, :3].tolist()
        found = [colors[row].red(), colors[row].green(), colors[row].blue()]
        assert found in near


def test_the_curve_follows_the_errors(timeline, errors, near):
    timeline.set_frame(0)
    picture = timeline.curve.grab().toImage()
    line = near(picture, DARK.accent, tolerance=125)
    means = np.nanmean(errors, axis=1)
    top, height = curve_top(means), picture.height() - 5
    for frame in (8, 20, 30):
        x = round(axis_of(timeline.curve).center(frame))
        rows = 4 + np.flatnonzero(line[4:-4, x - 1 : x + 2].any(axis=1))
        assert rows.mean() == pytest.approx(3 + height * (1 - means[frame] / top), abs=2)


def test_curve_tops_are_round_and_above_all():
    assert curve_top(np.array([0.3, 2.9, np.nan])) == pytest.approx(4.0)
    assert curve_top(np.array([0.0, 0.0])) == 1.0
    for largest in (0.013, 0.9, 7.0, 43.0, 99.0):
        assert largest <= curve_top(np.array([largest])) <= 2.1 * largest


def test_ground_truth_frames_are_marked(timeline, near):
    red = near(timeline.slider.grab().toImage(), DARK.truth, tolerance=40)
    assert not red.any()
    timeline.set_truth_frames((4, 20), 20)
    red = near(timeline.slider.grab().toImage(), DARK.truth, tolerance=60)
    columns = np.unique(np.nonzero(red)[1])
    for frame in (4, 20):
        assert np.abs(columns + 0.5 - axis_of(timeline.slider).center(frame)).min() <= 1.5


def test_without_errors_the_timeline_says_when_they_come(timeline, near):
    timeline.set_errors(None, None)
    assert near(timeline.strip.grab().toImage(), DARK.muted, tolerance=60).any()
    assert timeline.strip.cell_at(QPointF(500, 20)) is None


def test_only_the_frames_with_truth_have_an_error_and_show_as_dots(timeline, near):
    values = np.full(FRAMES, np.nan)
    values[18] = 2.0
    timeline.set_errors(values, None, "mm", "3-D error")
    found = np.nonzero(near(timeline.curve.grab().toImage(), DARK.accent, tolerance=60))[1]
    assert found.mean() + 0.5 == pytest.approx(axis_of(timeline.curve).center(18), abs=1.5)


def test_light_theme(timeline, near):
    timeline.set_theme(LIGHT)
    assert near(timeline.curve.grab().toImage(), LIGHT.panel, tolerance=2).mean() > 0.6


def played(playback, qtbot, count):
    """Frames asked for while playing, each shown at once."""
    asked = []
    playback.frame_requested.connect(playback.set_frame)
    playback.frame_requested.connect(asked.append)
    playback.set_speed(4.0)
    playback.set_playing(True)
    qtbot.waitUntil(lambda: len(asked) >= count or not playback.playing, timeout=5000)
    return asked


def test_playing_with_loop_begins_again(qtbot):
    playback = Playback()
    playback.set_frame_count(4)
    playback.set_frame(2)
    assert played(playback, qtbot, 4)[:4] == [3, 0, 1, 2]
    playback.set_playing(False)


def test_playing_without_loop_stops_at_the_end(qtbot):
    playback = Playback()
    playback.set_frame_count(4)
    playback.set_loop(False)
    playback.set_frame(3)
    told = []
    playback.playing_changed.connect(told.append)
    assert played(playback, qtbot, 99) == [0, 1, 2, 3]
    assert told == [True, False]


def test_another_sequence_stops_playing(qtbot):
    playback = Playback()
    playback.set_frame_count(40)
    playback.set_playing(True)
    playback.set_frame_count(10)
    assert not playback.playing
    playback.set_frame_count(1)
    playback.set_playing(True)
    assert not playback.playing


def test_speed_changes_the_rate(qtbot):
    playback = Playback()
    playback.set_speed(0.25)
    slow = playback._timer.interval()
    playback.set_speed(4.0)
    assert slow == pytest.approx(16 * playback._timer.interval(), rel=0.05)
