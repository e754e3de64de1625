"""The controller of the comparison with its panel, the two 3-D views and the table."""

from types import SimpleNamespace

import pytest
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from core import Settings
from nrsfm_gui.panels.comparison.compare_controller import CompareController
from nrsfm_gui.panels.comparison.compare_panel import ComparePanel, CompareSplitter
from nrsfm_gui.panels.view3d.scene_view import SceneView


@pytest.fixture
def parts(show, session, display, scene_view, messages, press_action, add_run, make_iterate, known):
    """Return the parts with three runs of different noise; the last one is shown."""
    panel, splitter, around = ComparePanel(), CompareSplitter(scene_view), QWidget()
    layout = QVBoxLayout(around)
    layout.addWidget(panel)
    layout.addWidget(splitter, 1)
    controller = CompareController(
        session, display, panel, splitter, scene_view, make_view=lambda: SceneView(software=True),
        select=session.set_shown, parent=around,
    )  # fmt: skip
    show(around, 900, 600)
    session.set_sequence(known.sequence)
    for number, noise in enumerate((0.0, 0.02, 0.05)):
        iterate = make_iterate(known, noise=noise, seed=number)
        add_run(session, iterate, Settings(rank=3 + number), noise=noise)
    display.refresh()
    return SimpleNamespace(
        session=session, display=display, scene_view=scene_view, compare_controller=controller,
        compare_panel=panel, compare_splitter=splitter, message_bar=messages, press_action=press_action,
        around=around,
    )  # fmt: skip
