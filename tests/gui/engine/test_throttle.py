"""Numbers that change faster than they can be read."""

import itertools
import time

from PyQt6.QtCore import QCoreApplication, QEvent, QObject, QTimer

from nrsfm_gui.engine.throttle import (
    DRAG_RESTS,
    PANEL_TURNS,
    SERIES_MILLISECONDS,
    TURN_MILLISECONDS,
    Debounce,
    PanelUpdater,
    Throttle,
)


def test_the_first_request_is_served_at_once_and_of_many_the_last(qtbot):
    owner, now = QObject(), []
    value = 0
    throttle = Throttle(lambda: now.append(value), owner, milliseconds=30)
    throttle.request()
    assert now == [0]
    for value in range(1, 50):  # noqa: B007
        throttle.request()
    assert now == [0]
    qtbot.waitUntil(lambda: len(now) == 2)
    assert now == [0, 49]
    qtbot.wait(60)
    assert now == [0, 49]  # nothing was requested since
    throttle.request()
    throttle.request()
    throttle.run()  # what is shown now need not be shown again
    assert now == [0, 49, 49, 49]
    qtbot.wait(60)
    assert now == [0, 49, 49, 49]


def test_a_panel_is_updated_once_for_many_changes_and_not_where_it_shows_what_there_is(qtbot):
    owner, shown = QObject(), []
    value = 0
    updater = PanelUpdater(lambda: value, shown.append, owner)
    updater.flush()
    for value in range(1, 50):  # noqa: B007
        updater.request()
    assert shown == []  # never within the request
    qtbot.waitUntil(lambda: shown == [49])
    updater.request()
    updater.flush()
    assert shown == [49]
    updater.forget()
    updater.request()
    updater.flush()
    assert shown == [49, 49]


def test_of_a_panel_the_parts_that_differ_are_drawn_in_order():
    owner, shown = QObject(), []
    state = [1 + 2j]
    updater = PanelUpdater(lambda: state[0].imag, lambda value: shown.append(("imag", value)), owner)
    updater.add(lambda: state[0].real, lambda value: shown.append(("real", value)))
    updater.run()
    assert shown == [("imag", 2.0), ("real", 1.0)]
    state[0] = 3 + 2j
    updater.run()
    assert shown[2:] == [("real", 3.0)]
    updater.forget()
    updater.run()
    assert shown[3:] == [("imag", 2.0), ("real", 3.0)]


def test_updates_of_a_panel_are_an_interval_apart(qtbot):
    owner, at = QObject(), []
    state = [0]
    updater = PanelUpdater(lambda: state[0], lambda _: at.append(time.perf_counter()), owner, milliseconds=80)
    for state[0] in range(1, 20):
        updater.request()
        qtbot.wait(10)
    assert len(at) >= 2
    assert min(late - early for early, late in itertools.pairwise(at)) > 0.07


def test_a_call_waits_until_requests_rest(qtbot):
    owner, rests, last = QObject(), [], 0.0
    debounce = Debounce(lambda: rests.append(time.perf_counter() - last), 80, owner)
    for _ in range(10):
        last = time.perf_counter()
        debounce.request()
        qtbot.wait(10)
    qtbot.waitUntil(lambda: not debounce.isActive())
    assert min(rests) > 0.05
    assert len(rests) < 10


def test_panels_follow_a_drag_one_by_one(qtbot):
    owner, at, value = QObject(), [], 0
    updaters = [
        PanelUpdater(lambda: value, lambda _: at.append(time.perf_counter()), owner) for _ in range(5)
    ]
    PANEL_TURNS.notice_drag()
    began = time.perf_counter()
    for updater in updaters:
        updater.request()
    qtbot.waitUntil(lambda: len(at) == 5)
    turns = [SERIES_MILLISECONDS + turn * TURN_MILLISECONDS for turn in range(5)]
    assert all(when - began > 0.94e-3 * turn for when, turn in zip(at, turns, strict=True))  # 5 % early: Qt
    at.clear()
    qtbot.wait(round(1200 * DRAG_RESTS))
    value = 1
    for updater in updaters:
        updater.request()
    assert PANEL_TURNS.next(30.0) == 30.0
    qtbot.waitUntil(lambda: len(at) == 5)


def test_a_debounce_of_no_time_follows_the_events_that_wait_and_leaves_timers_their_turn(qtbot):
    order = []

    class Mouse(QObject):
        """Its events come as fast as they are answered."""

        left = 20

        def event(self, event):
            if event.type() == QEvent.Type.User:
                order.append("event")
                debounce.request()
            return super().event(event)

        def answer(self):
            order.append("called")
            self.left -= 1
            if self.left > 0:
                QCoreApplication.postEvent(self, QEvent(QEvent.Type.User))

    mouse, timer = Mouse(), QTimer()
    debounce = Debounce(mouse.answer, 0, mouse)
    timer.timeout.connect(lambda: order.append("tick"))
    timer.start(0)
    for _ in range(3):
        QCoreApplication.postEvent(mouse, QEvent(QEvent.Type.User))
    qtbot.waitUntil(lambda: mouse.left == 0)
    timer.stop()
    assert [each for each in order if each != "tick"][:4] == ["event"] * 3 + ["called"]
    assert order.count("called") == 20
    last = len(order) - 1 - order[::-1].index("called")
    assert order[:last].count("tick") >= 5
    debounce.request()
    debounce.cancel()
    qtbot.wait(10)
    assert order.count("called") == 20
    debounce.request()
    debounce.flush()
    debounce.flush()
    assert order.count("called") == 21
