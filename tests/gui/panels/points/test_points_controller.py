"""The panel of points follows the session while it is visible, once for many changes."""

import pytest

from core import Settings
from nrsfm_gui.panels.points.points_panel import PointsController, PointsPanel


@pytest.fixture
def panel(qtbot, session, display, add_run, make_iterate, known):
    """The panel, not shown yet, of a session with a run that is over."""
    made = PointsPanel()
    qtbot.addWidget(made)
    made.controller = PointsController(session, display, made)
    session.set_sequence(known.sequence)
    add_run(session, make_iterate(known, noise=0.0), Settings())
    display.refresh()
    return made


def test_many_changes_are_one_update_of_what_differs(qtbot, session, display, panel, monkeypatch):
    panel.resize(900, 200)
    panel.show()
    qtbot.waitUntil(lambda: panel.table.model().rowCount() == 20)
    called = []

    def count(name, method):
        monkeypatch.setattr(panel, name, lambda *given: called.append(name) or method(*given))

    for name in ("set_table", "set_selection", "set_courses", "set_frame"):
        count(name, getattr(panel, name))
    for point in (3, 5, 7):
        session.set_selection((point, 9))
    assert called == []
    qtbot.waitUntil(lambda: panel._selected == 2)
    display.refresh()
    assert called == ["set_selection", "set_courses"]
    assert {course.point for course in panel._courses} == {7, 9}


def test_what_is_not_seen_is_not_computed_until_it_is(qtbot, session, display, panel):
    session.set_selection((2, 4))
    display.refresh()
    assert panel.table.model().rowCount() == 0 and panel._selected == 0
    panel.show()
    qtbot.waitUntil(lambda: panel._selected == 2)
    assert panel.table.model().rowCount() == 20
