"""The panel of the appearance with both views."""

from types import SimpleNamespace

import pytest

from nrsfm_gui.panels.appearance.appearance_panel import AppearancePanel
from nrsfm_gui.panels.view3d.scene_view_controller import SceneViewController


@pytest.fixture
def parts(session, display, scene_view, tracks_view, messages, press_action, known):
    """Return the parts with the ground truth of a sheet, before any run."""
    cameras = SceneViewController(session, display, scene_view, session)
    panel = AppearancePanel(
        session, display, scene_view, button=scene_view.buttons.look,
        drawn_by=lambda: scene_view.renderer.sentence, show_cameras=cameras.show_cameras,
    )  # fmt: skip
    made = SimpleNamespace(
        session=session, display=display, scene_view=scene_view, tracks_view=tracks_view,
        appearance_panel=panel, message_bar=messages,
    )  # fmt: skip

    def open_sequence(sequence):
        session.set_sequence(sequence)
        display.refresh()

    def press(name):
        action = press_action(made, name)
        display.refresh()
        return action

    made.open, made.press = open_sequence, press
    made.open(known.sequence)
    return made
