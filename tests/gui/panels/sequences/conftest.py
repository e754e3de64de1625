"""The controller of the runs with the panel of the sequences."""

from types import SimpleNamespace

import pytest

from nrsfm_gui.panels.sequences.runs_controller import RunsController
from nrsfm_gui.panels.sequences.sequences_panel import SequencesPanel
from nrsfm_gui.scene.display import Display


@pytest.fixture
def display(session):
    """Return what draws the session in no view: the rows need what it knows of errors."""
    made = Display(session, (SimpleNamespace(set_scene=lambda _scene: None, repaint=lambda: None),))
    yield made
    made.shut_down()


@pytest.fixture
def parts(qtbot, show, session, control, display, messages, press_action, add_three_runs):
    """Return the parts with three runs that are over, the last of another penalty; it is shown."""
    panel = SequencesPanel()
    show(panel, 400, 300)
    controller = RunsController(session, control, display, panel, session)
    add_three_runs(session)
    display.refresh()
    return SimpleNamespace(
        session=session, run_control=control, display=display, runs_controller=controller,
        sequences_panel=panel, message_bar=messages, press_action=press_action,
    )  # fmt: skip
