"""The controller of the appearance with its panel and both views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from nrsfm_gui.panels.appearance.appearance_controller import AppearanceController
from nrsfm_gui.panels.appearance.appearance_panel import AppearancePanel
from nrsfm_gui.panels.view3d.scene_view_controller import SceneViewController

if TYPE_CHECKING:
    from collections.abc import Callable

    from PyQt6.QtGui import QAction

    from core import Sequence
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.view2d.tracks_view import TracksView
    from nrsfm_gui.panels.view3d.scene_view import SceneView
    from nrsfm_gui.scene.display import Display
    from nrsfm_gui.widgets.message_bar import MessageBar


@dataclass(frozen=True)
class Parts:
    """A session, what draws it, and the controller of how it is drawn."""

    session: Session
    display: Display
    scene_view: SceneView
    tracks_view: TracksView
    appearance_controller: AppearanceController
    appearance_panel: AppearancePanel
    message_bar: MessageBar
    press_action: Callable[[object, str], QAction]

    def open(self, sequence: Sequence) -> None:
        self.session.set_sequence(sequence)
        self.display.refresh()

    def press(self, name: str) -> QAction:
        action = self.press_action(self, name)
        self.display.refresh()
        return action


@pytest.fixture
def parts(session, display, scene_view, tracks_view, messages, press_action, known) -> Parts:
    """Return the parts with the ground truth of a sheet, before any run."""
    panel = AppearancePanel(scene_view)
    cameras = SceneViewController(session, display, scene_view, session)
    controller = AppearanceController(
        session, display, panel, button=scene_view.buttons.look, drawn_by=lambda: scene_view.drawn_by,
        show_cameras=cameras.show_cameras, parent=session,
    )  # fmt: skip
    made = Parts(session, display, scene_view, tracks_view, controller, panel, messages, press_action)
    made.open(known.sequence)
    return made
