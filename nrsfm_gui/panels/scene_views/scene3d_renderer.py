"""What makes the 3-D picture: OpenGL where there is any, QPainter where there is none or it was lost."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from nrsfm_gui.panels.scene_views.opengl_probe import opengl_available
from nrsfm_gui.panels.scene_views.scene3d_software import SoftwareRenderer, left_out

if TYPE_CHECKING:
    from PyQt6.QtGui import QImage

    from nrsfm_gui.panels.scene_views.scene3d_gl import OpenGLRenderer
    from nrsfm_gui.panels.scene_views.scene3d_primitives import Part, Shot


class Renderer:
    """Makes pictures of parts, and goes on without OpenGL when that fails.

    Parameters
    ----------
    software
        do without OpenGL even where it is available.
    """

    def __init__(self, *, software: bool) -> None:
        self.sentence = "Drawn without OpenGL"
        self._painter: OpenGLRenderer | SoftwareRenderer = SoftwareRenderer()
        if software:
            return
        if not opengl_available():
            self.sentence = "Drawn without OpenGL: none works on this machine"
            return
        from nrsfm_gui.panels.scene_views.scene3d_gl import ContextLost, OpenGLRenderer

        try:
            self._painter = OpenGLRenderer()
        except ContextLost as error:
            self.sentence = f"Drawn without OpenGL: {error}"
            return
        self.sentence = f"Drawn by OpenGL ({self._painter.card})"

    @property
    def uses_opengl(self) -> bool:
        """Whether OpenGL makes the pictures."""
        return not isinstance(self._painter, SoftwareRenderer)

    def leaves_out(self, parts: dict[str, Part]) -> bool:
        """Return whether a surface is not drawn, because it would take too long without OpenGL."""
        return not self.uses_opengl and left_out(parts)

    def begin(self, parts: dict[str, Part], shot: Shot) -> None:
        """Begin a picture that is asked for soon, where that can be done beside other things."""
        if not isinstance(self._painter, SoftwareRenderer):
            from nrsfm_gui.panels.scene_views.scene3d_gl import ContextLost

            with suppress(ContextLost):  # `image` finds out, and goes on without
                self._painter.begin(parts, shot)

    def image(self, parts: dict[str, Part], shot: Shot) -> QImage:
        """Return a picture of parts."""
        if not isinstance(self._painter, SoftwareRenderer):
            from nrsfm_gui.panels.scene_views.scene3d_gl import ContextLost

            try:
                return self._painter.image(parts, shot)
            except ContextLost as error:
                self._painter = SoftwareRenderer()
                self.sentence = f"The 3-D view is drawn without OpenGL from now on: {error}"
        return self._painter.image(parts, shot)
