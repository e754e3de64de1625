"""Playing by the clock: rate, frames left out, the range, the end."""

from types import SimpleNamespace

import pytest

from nrsfm_gui.panels.timeline.playback import Loop, Playback, frame_in_round


def playing(count, *, speed=4.0, loop=Loop.AGAIN, frame=0, frames=None):
    """Return a playback, a clock that passes when it is told to, and the frames that are asked for."""
    clock, asked = SimpleNamespace(now=100.0), []
    playback = Playback(clock=lambda: clock.now)
    playback.set_frame_count(count)
    playback.set_speed(speed)
    playback.set_loop(loop)
    playback.set_range(frames)
    playback.set_frame(frame)
    playback.frame_requested.connect(asked.append)
    playback.frame_requested.connect(playback.set_frame)
    playback.set_playing(True)
    return playback, clock, asked


def passed(playback, clock, seconds):
    clock.now += seconds
    playback._on_timeout()


def test_sixty_frames_a_second_are_asked_for_in_time():
    playback, clock, asked = playing(1000)
    for _ in range(600):
        passed(playback, clock, 1 / 120)
    assert asked == list(range(1, 301))  # 5 s


def test_frames_are_skipped_where_drawing_is_too_slow():
    playback, clock, asked = playing(1000)
    for _ in range(20):
        passed(playback, clock, 0.1)  # six frames
    assert asked == list(range(6, 126, 6))
    passed(playback, clock, 30.0)  # the window stood still: what it missed is not made up
    assert asked[-1] == 121


def test_only_the_range_is_played():
    playback, clock, asked = playing(100, frames=(10, 13), frame=50)
    assert asked == [10]  # it was outside
    for _ in range(6):
        passed(playback, clock, 1 / 60)
    assert asked == [10, 11, 12, 13, 10, 11, 12]
    playback.set_range((20, 30))
    passed(playback, clock, 1 / 60)
    assert 20 <= asked[-1] <= 21
    playback.set_playing(False)


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        (Loop.AGAIN, [0, 1, 2, 3, 0, 1, 2, 3, 0]),
        (Loop.BACK, [0, 1, 2, 3, 2, 1, 0, 1, 2]),
        (Loop.ONCE, [0, 1, 2, 3, 3, 3, 3, 3, 3]),
    ],
)
def test_what_comes_after_the_last_frame(loop, expected):
    assert [frame_in_round(step, 4, loop) for step in range(9)] == expected
    assert frame_in_round(5, 1, loop) == 0


def test_playing_once_stops_at_the_end_and_begins_anew():
    playback, clock, asked = playing(4, loop=Loop.ONCE, frame=3)
    received = []
    playback.playing_changed.connect(received.append)
    for _ in range(6):
        if playback.playing:
            passed(playback, clock, 1 / 60)
    assert asked == [0, 1, 2, 3]
    assert received == [False]


def test_playback_continues_from_a_frame_chosen_meanwhile_and_another_sequence_stops_it():
    playback, clock, asked = playing(100)
    passed(playback, clock, 1 / 60)
    playback.set_frame(70)
    passed(playback, clock, 1 / 60)
    assert asked == [1, 71]
    for count in (10, 1):  # a single frame cannot be played
        playback.set_frame_count(count)
        assert not playback.playing
        playback.set_playing(True)
        assert playback.playing is (count > 1)


def test_the_rate_is_that_of_the_drawn_frames():
    playback, clock, _ = playing(100)
    rates = []
    playback.rate_measured.connect(rates.append)
    for _ in range(60):
        passed(playback, clock, 1 / 30)  # every other frame
        playback.count_drawn()
    assert rates[0] == pytest.approx(30, rel=0.1)
