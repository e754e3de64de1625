"""Numbers that change faster than they can be read."""

from __future__ import annotations

from PyQt6.QtCore import QObject

from nrsfm_gui.engine.throttle import MILLISECONDS, Pace


def test_the_first_wish_is_met_at_once_and_of_many_the_last(qtbot):
    owner, now = QObject(), []
    value = 0
    pace = Pace(lambda: now.append(value), owner)
    pace.soon()
    assert now == [0]
    for value in range(1, 50):  # noqa: B007
        pace.soon()
    assert now == [0]
    qtbot.waitUntil(lambda: len(now) == 2)
    assert now == [0, 49]
    qtbot.wait(3 * MILLISECONDS)
    assert now == [0, 49]  # nothing was wished since
    pace.soon()
    assert now == [0, 49, 49]


def test_what_is_shown_now_need_not_be_shown_again(qtbot):
    owner, now = QObject(), []
    pace = Pace(lambda: now.append(1), owner)
    pace.soon()
    pace.soon()
    pace.now()
    assert now == [1, 1]
    qtbot.wait(3 * MILLISECONDS)
    assert now == [1, 1]
