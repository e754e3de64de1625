"""The alignment with the ground truth: its menu, its key and its button."""

from dataclasses import replace

import pytest
from PyQt6.QtWidgets import QWidget

from core import Settings
from nrsfm_gui.panels.alignment.alignment_controller import AlignmentController


@pytest.fixture
def alignment(show, session, add_run, make_iterate, known):
    """Return a controller, with a run that is over."""
    place = QWidget()
    made = AlignmentController(session, place)
    show(place, 200, 40)
    session.set_sequence(known.sequence)
    add_run(session, make_iterate(known, noise=0.0), Settings())
    yield made


def test_the_menu_of_alignments_offers_what_is_possible_and_mirrors(session, alignment, messages, known):
    kinds = {action.text().replace("&", ""): action for action in alignment.menu.actions() if action.text()}
    kinds["Rigid motion per frame"].trigger()
    mirror = kinds["Mirror image"].menu()
    next(action for action in mirror.actions() if action.text().replace("&", "") == "On").trigger()
    assert session.alignment.label() == "rigid motion per frame, mirrored"
    assert alignment.possible
    bare = replace(known.sequence, rotations=None, translations=None, digest="bare")
    session.set_sequence(bare)
    assert not kinds["As is, by the cameras"].isEnabled()
    assert "true cameras" in kinds["As is, by the cameras"].toolTip()
    session.set_sequence(replace(bare, truth=None, digest="barer"))
    assert not any(action.isEnabled() for text, action in kinds.items() if text != "Mirror image")
    assert not alignment.possible
    alignment.cycle()
    assert "no ground truth" in messages.text
