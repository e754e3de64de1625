"""The dialog of the scale: two selected points and their distance, or the size, become a parameter."""

import pytest
from hands import choose, type_into
from PyQt6.QtWidgets import QDialogButtonBox, QWidget

from core import Settings
from nrsfm_gui.model.changes import unapplied, waiting_sentence
from nrsfm_gui.shell.scale import ScaleDialog


@pytest.fixture
def dialog(show, session, known):
    session.set_sequence(known.sequence)
    session.set_selection((16, 2), 2)
    made = ScaleDialog(session, show(QWidget()))
    made.show_scale()
    return made


def ok_of(dialog):
    return dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)


def test_the_distance_of_two_selected_points_becomes_the_scale(dialog, session):
    assert [field.text() for field in dialog.points] == ["3", "17"]
    assert not ok_of(dialog).isEnabled()
    type_into(dialog.length, "85")
    choose(dialog.unit, "cm")
    ok_of(dialog).click()
    assert session.settings.scale == "3-17=85cm"
    session.undo()
    assert session.settings.scale is None


def test_points_can_be_selected_while_the_dialog_is_open(dialog, session):
    for selection in ((4, 9), (4,)):
        session.set_selection(selection, 4)
        assert [field.text() for field in dialog.points] == ["5", "10"]


def test_the_size_of_the_object_becomes_the_scale_and_can_be_removed(dialog, session):
    choose(dialog.kind, "size")
    assert dialog.points[0].isHidden() or not dialog.points[0].isVisible()
    type_into(dialog.length, "200")
    ok_of(dialog).click()
    assert session.settings.scale == "size=200mm"
    dialog.show_scale()
    assert dialog.kind.key == "size"
    choose(dialog.kind, "nothing")
    ok_of(dialog).click()
    assert session.settings.scale is None


def test_a_point_that_is_not_there_is_refused_in_a_sentence(dialog, session):
    type_into(dialog.length, "85")
    type_into(dialog.points[1], "4000")
    assert not ok_of(dialog).isEnabled()
    assert f"points from 1 to {session.sequence.point_count}" in dialog.note.text()


def test_the_scale_of_a_run_asks_for_no_new_run():
    run = Settings()
    requested = run.with_changes(scale="size=2m")
    assert unapplied(run, requested) == ()
    assert waiting_sentence(run, requested) == ""
