"""What lies over the 3-D picture to be pressed: the buttons in its corner, and the color bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QRectF
from PyQt6.QtGui import QRegion

from nrsfm_gui.panels.scene_views.colorbar import ColorBar
from nrsfm_gui.panels.scene_views.view_buttons import ViewButtons

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QWidget

    from nrsfm_gui.model.theme import Theme
    from nrsfm_gui.panels.scene_views.scene3d_camera import ViewCamera
    from nrsfm_gui.scene.scene import Scene

EDGE = 10  # pixels between the border and what lies over the picture


class SceneControls:
    """Makes the two, keeps them in their places, and shows them where there is a scene."""

    def __init__(self, view: QWidget) -> None:
        self._view = view
        self.buttons = ViewButtons(view)
        self.color_bar = ColorBar(view)

    @property
    def covered(self) -> list[QRectF]:
        """Where something lies over the view."""
        parts = (self.buttons, self.color_bar)
        return [QRectF(part.geometry()) for part in parts if part.isVisible()]

    @property
    def open(self) -> QRegion:
        """Where the picture can be seen: not behind the buttons, which would be painted with it."""
        everything = QRegion(self._view.rect())
        return everything - QRegion(self.buttons.geometry()) if self.buttons.isVisible() else everything

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self.buttons.set_theme(theme)
        self.color_bar.set_theme(theme)

    def show(self, scene: Scene | None, camera: ViewCamera) -> None:
        """Show what a scene has to be pressed, in the state of the camera."""
        self.buttons.set_state(
            orthographic=camera.orbit.orthographic,
            locked=camera.locked,
            lockable=scene is not None and scene.camera is not None,
            turning=camera.turning,
        )
        shown = scene is not None and not scene.message
        self.buttons.setVisible(shown)
        self.color_bar.setVisible(shown and scene is not None and scene.colored)

    def place(self) -> None:
        """Put the buttons into the lower right corner, and the color bar to the left of them or above."""
        width, height = self._view.width(), self._view.height()
        self.buttons.set_room(width - 2 * EDGE)
        size = self.buttons.sizeHint()
        left, top = width - size.width() - EDGE, height - size.height() - EDGE
        self.buttons.setGeometry(left, top, size.width(), size.height())
        bar = self.color_bar.sizeHint()
        beside = bar.width() + 3 * EDGE <= left
        bottom = height - EDGE if beside else top - EDGE
        self.color_bar.setGeometry(EDGE, bottom - bar.height(), bar.width(), bar.height())
