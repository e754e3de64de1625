"""States of docks from a file: what Qt would not survive is refused."""

import base64
from itertools import pairwise
from struct import pack

import pytest
from PyQt6.QtCore import QByteArray, Qt
from PyQt6.QtWidgets import QDockWidget, QMainWindow, QToolBar

from nrsfm_gui.sessions.session_saver import show_layout
from nrsfm_gui.widgets.dock_state import MOST_BYTES, is_state, restore_docks

HEAD = pack(">ii", 0xFF, 0) + b"\xfd"
ITEMS = b"\xfc\x01" + pack(">i", 1)
CENTER = pack(">6i", 1, 1, 1, 2, 1, 2)
AREA = HEAD + pack(">4i", 1, 0, 10, 10)
NO_ITEMS = b"\xfc\x01" + bytes(4) + CENTER + b"\xfc" + bytes(4)
BARS = HEAD + bytes(4) + CENTER + b"\xfc"
HOSTILE = {
    "empty": b"",
    "nested": AREA + ITEMS + (b"\xfc" + bytes(16) + ITEMS) * 100_000,
    "area that is none": HEAD + pack(">4i", 1, 10**8, 10, 10) + NO_ITEMS,
    "negative area": HEAD + pack(">4i", 1, -1, 10, 10) + NO_ITEMS,
    "lines without end": BARS + pack(">i", 2**31 - 1),
    "bar far away": BARS + pack(">3i", 1, 0, 1) + bytes(5) + pack(">4i", -(2**31), 9, 0, 0),
    "bars without end": BARS + pack(">3i", 1, 0, 2**31 - 1),
    "text without end": AREA + ITEMS + b"\xfb" + pack(">I", 2**32 - 2) + bytes(50),
}


@pytest.fixture
def window(qtbot):
    made = qtbot.addWidget(QMainWindow())
    made.setDockNestingEnabled(True)
    made.setCentralWidget(QToolBar())
    for k in range(9):
        dock = QDockWidget(str(k), made)
        dock.setObjectName(f"dock of a name of a usual length {k}")
        made.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
    for k in range(3):
        bar = made.addToolBar(str(k))
        bar.setObjectName(f"bar {k}")
    made.show()
    return made


def test_a_hostile_state_is_refused_and_changes_nothing(window):
    before = window.saveState()
    for kind, state in HOSTILE.items():
        assert not restore_docks(window, QByteArray(state)), kind
        show_layout(window, {"docks": base64.b64encode(state).decode()})
        assert window.saveState() == before, kind


def test_what_a_window_saves_is_restored_wherever_its_docks_are(window):
    docks = window.findChildren(QDockWidget)
    states = [window.saveState()]
    for dock in docks:
        dock.setFloating(True)
    states.append(window.saveState())
    for dock in docks:
        dock.setFloating(False)
    for k, (one, two) in enumerate(pairwise(docks)):  # each in the one before
        window.splitDockWidget(one, two, Qt.Orientation.Horizontal if k % 2 else Qt.Orientation.Vertical)
    states.append(window.saveState())
    for one, two in pairwise(docks):
        window.tabifyDockWidget(one, two)
    docks[3].hide()
    window.removeDockWidget(docks[4])
    states.append(window.saveState())
    assert all(is_state(state.data()) and len(state) < MOST_BYTES / 2 for state in states)
    assert all(restore_docks(window, state) for state in states)
    whole = states[2].data()
    assert not any(is_state(whole[:length]) for length in range(len(whole)))
    assert not is_state(whole + b"\0")


def test_the_deepest_state_that_is_accepted_is_survived(window):
    levels = (MOST_BYTES - 100) // 23
    inside = ITEMS + (b"\xfc" + bytes(16) + ITEMS) * levels + b"\xfb" + bytes(4) + b"\1" + bytes(16)
    state = HEAD + pack(">4i", 1, 0, 10, 10) + inside + CENTER + b"\xfc" + bytes(4)
    assert is_state(state)
    restore_docks(window, QByteArray(state))
    window.saveState()
