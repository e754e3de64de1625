"""The worst frame and the worst point in it, one after the other."""

from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtWidgets import QToolTip

from core import Settings
from nrsfm_gui.panels.timeline.timeline import Timeline, TimelineController
from nrsfm_gui.panels.timeline.worst_frame import WorstFrame, frame_sentence, largest, ordinal
from nrsfm_gui.scene.ranking import known_means
from nrsfm_gui.scene.scene import ErrorSeries

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")


@pytest.fixture
def timeline(qtbot, show, session, display, add_solved_run, sequence):
    """Return the timeline of a sequence after a run, with its errors."""
    timeline = show(Timeline(), 900, 140)
    TimelineController(session, display, timeline)
    add_solved_run(session, sequence, QUICK)
    display.refresh()
    qtbot.waitUntil(lambda: timeline.state.series is not None)
    return timeline


@pytest.fixture
def worst_frame(session, timeline):
    return WorstFrame(session, timeline, findings=lambda: None)


def test_w_goes_to_the_worst_frame_and_on_and_shows_how_bad_it_is(session, timeline, worst_frame, statuses):
    order = np.argsort(-timeline.state.series.per_frame)
    session.set_frame(int(order[-1]))
    for place in range(3):
        worst_frame.go_to_frame()
        assert session.frame == order[place]
        assert ("Worst frame" if place == 0 else f"{place + 1}") in statuses[-1]
    session.set_frame(int(order[5]))
    worst_frame.go_to_frame()
    assert session.frame == order[0]  # begins again where the person went elsewhere
    reverse = replace(timeline.state.series, per_frame=-timeline.state.series.per_frame)
    timeline.set_state(replace(timeline.state, kinds=(reverse,)))  # as a run that goes on has other errors
    worst_frame.go_to_frame()
    assert session.frame == order[-1] and "Worst frame" in statuses[-1]


def test_shift_w_selects_the_worst_points_of_the_frame_one_by_one_and_begins_again_after_a_change(
    session, timeline, worst_frame, statuses
):
    session.set_frame(6)
    order = np.argsort(-timeline.state.series.per_point[6])
    worst_frame.go_to_point()
    assert session.selection == (order[0],)
    session.set_hidden((int(order[1]),))
    worst_frame.go_to_point()
    assert session.selection == (order[2],)
    for frame in (9, 10):  # the point that was found stays selected
        session.set_frame(frame)
        worst_frame.go_to_point()
        errors = timeline.state.series.per_point[frame].copy()
        errors[order[1]] = -1.0  # it is hidden
        assert session.selection == (int(errors.argmax()),)
        assert statuses[-1].startswith(f"Worst point of frame {frame + 1}")
    found = session.point
    session.set_point(found + 1 if found == 0 else found - 1)
    session.set_point(found)
    worst_frame.go_to_point()
    assert session.point == found


def test_the_sentence_on_a_frame_shows_what_its_error_comes_from():
    errors = np.ones((4, 10))
    errors[2] = [50.0] + [1.0] * 9
    series = ErrorSeries(known_means(errors, 1), errors, "mm", "3-D error")
    sentence = frame_sentence(series, 2)
    assert sentence.startswith("Worst frame: 3, mean 3-D error 5.90 mm (median frame 1.00 mm)")
    assert "half of it from 1 of 10 points" in sentence
    assert "half of it from 5 of 10 points" in frame_sentence(series, 0)
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 22)] == ["1st", "2nd", "3rd", "4th", "11th", "22nd"]


def test_the_worst_frame_is_reported_with_its_worst_point_of_those_that_are_drawn(
    session, timeline, worst_frame, statuses
):
    errors = timeline.state.series.per_point[int(np.argmax(timeline.state.series.per_frame))]
    first, second = np.argsort(-errors)[:2]
    worst_frame.go_to_frame()
    assert f"largest at point {first + 1}, " in statuses[-1]
    assert f"largest at point {first + 1}, " in QToolTip.text().replace("\n", " ")
    session.set_hidden((int(first),))
    session.set_frame(0 if session.frame else 1)
    worst_frame.go_to_frame()
    assert f"largest at point {second + 1}, " in statuses[-1]
    assert largest(np.full(3, np.nan), "mm", None) == ""
    assert largest(np.array([1.0, 2.0]), "mm", ("nose", "chin")) == "largest at point 2, chin, 2.00 mm"
