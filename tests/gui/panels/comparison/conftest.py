"""The controller of the comparison with its panel, the two 3-D views and the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from core import Settings
from nrsfm_gui.panels.comparison.compare_controller import CompareController
from nrsfm_gui.panels.comparison.compare_panel import ComparePanel, CompareSplitter
from nrsfm_gui.panels.view3d.scene_view import SceneView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PyQt6.QtGui import QAction

    from nrsfm_gui.model.session import Session
    from nrsfm_gui.scene.display import Display
    from nrsfm_gui.widgets.message_bar import MessageBar


@dataclass(frozen=True)
class Parts:
    """A session with runs, what draws it, and the controller that compares two of them."""

    session: Session
    display: Display
    scene_view: SceneView
    compare_controller: CompareController
    compare_panel: ComparePanel
    compare_splitter: CompareSplitter
    message_bar: MessageBar
    press_action: Callable[[object, str], QAction]


@pytest.fixture
def parts(
    show, session, display, scene_view, messages, press_action, add_run, make_iterate, known
) -> Iterator[Parts]:
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
    yield Parts(session, display, scene_view, controller, panel, splitter, messages, press_action)
