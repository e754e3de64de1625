"""The controller of the runs with the panel of the sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from nrsfm_gui.panels.sequences.runs_controller import RunsController
from nrsfm_gui.panels.sequences.sequences_panel import SequencesPanel

if TYPE_CHECKING:
    from collections.abc import Callable

    from PyQt6.QtGui import QAction

    from nrsfm_gui.engine.run_control import RunControl
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.scene.display import Display
    from nrsfm_gui.widgets.message_bar import MessageBar


@dataclass(frozen=True)
class Parts:
    """A session with runs, and the controller of their rows."""

    session: Session
    run_control: RunControl
    display: Display
    runs_controller: RunsController
    sequences_panel: SequencesPanel
    message_bar: MessageBar
    press_action: Callable[[object, str], QAction]


@pytest.fixture
def parts(qtbot, show, session, control, display, messages, press_action, add_three_runs) -> Parts:
    """Return the parts with three runs that are over, the last of another penalty; it is shown."""
    panel = SequencesPanel()
    show(panel, 400, 300)
    controller = RunsController(session, control, display, panel, session)
    add_three_runs(session)
    display.refresh()
    return Parts(session, control, display, controller, panel, messages, press_action)
