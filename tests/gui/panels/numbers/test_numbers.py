"""The numbers of the run that is shown."""

from __future__ import annotations

import pytest
from PyQt6.QtWidgets import QLabel

from nrsfm_gui.panels.numbers.numbers_controller import NumbersController
from nrsfm_gui.panels.numbers.numbers_panel import NumbersPanel


@pytest.fixture
def numbers(show, session, display, add_three_runs) -> NumbersPanel:
    """Return the panel of a session with three runs that are over."""
    panel = NumbersPanel()
    show(panel, 300, 400)
    controller = NumbersController(session, display, panel, panel)
    add_three_runs(session)
    controller.flush()
    return panel


def test_numbers_show_whether_the_run_was_made_with_the_parameters_of_the_panel(qtbot, session, numbers):
    def said():
        texts = [label.text() for label in numbers.findChildren(QLabel)]
        return next(text for text in texts if "of the panel" in text)

    qtbot.waitUntil(lambda: said() == "those of the panel")
    session.set_settings(session.settings.with_changes(rank=4, eta=0.1))
    qtbot.waitUntil(lambda: said() == "not those of the panel: rank, eta")
    session.set_settings(session.shown.settings)
    qtbot.waitUntil(lambda: said() == "those of the panel")
