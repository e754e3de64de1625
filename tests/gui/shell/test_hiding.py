"""Observations that the user hides from the solver, by the actions and the menu of a point."""

from types import SimpleNamespace

import pytest

from core import simulate
from nrsfm_gui.panels.points.selection_controller import SELECT_FIRST, HideController


@pytest.fixture
def trigger(session, press_action, sequence):
    """Return a function that triggers actions on tracks."""
    session.set_live(False)
    session.set_sequence(sequence)
    controller = HideController(session)

    def trigger(*names):
        for name in names:
            press_action(SimpleNamespace(hide_controller=controller), name)

    return trigger


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("hide_observation", "3:6;8:6"),
        ("hide_onwards", "3:6-;8:6-"),
        ("hide_range", "3:2-5;8:2-5"),
        ("hide_point", "3:*;8:*"),
    ],
)
def test_each_action_hides_the_selected_points_in_its_frames(session, trigger, statuses, name, entries):
    session.set_frame(5)
    session.set_frame_range((1, 4))
    session.set_selection((2, 7))
    trigger(name)
    assert session.settings.hide == entries
    assert "hidden from the solver: press Run" in statuses[-1]
    trigger("show_again")
    assert session.settings.hide is None
    assert "used again" in statuses[-1]


def test_hiding_adds_up_and_is_undone_step_by_step(session, trigger):
    session.set_selection((2,))
    trigger("hide_observation")
    session.undo_stack._at -= 10.0  # another gesture
    session.set_frame(3)
    session.set_selection((2, 5))
    trigger("hide_observation")
    assert session.settings.hide == "3:1,4;6:4"
    session.undo()
    assert session.settings.hide == "3:1"
    session.redo()
    assert session.excluded.sum() == 3
    session.set_selection((2,))
    trigger("show_again")
    assert session.settings.hide == "6:4"
    trigger("show_all_again")
    assert session.settings.hide is None


def test_what_cannot_be_hidden_is_named(session, trigger, statuses, messages):
    trigger("hide_observation")
    assert statuses[-1] == SELECT_FIRST
    trigger("show_all_again")
    assert "No observation is hidden" in statuses[-1]
    session.set_selection((2,))
    trigger("hide_range")
    assert "Choose frames first" in statuses[-1]
    session.set_selection(range(30))
    trigger("hide_point")
    assert session.settings.hide is None
    assert messages.text == "Nothing is hidden: frame 1 would be left without any point."


def test_hidden_observations_are_no_settings_of_another_sequence(session, trigger, sequence):
    session.set_selection((2,))
    trigger("hide_observation")
    assert session.transferable_settings.hide is None
    assert session.excluded.any()
    session.set_sequence(simulate("paper", frames=12, points=20))
    assert session.settings.hide is None and session.excluded is None
