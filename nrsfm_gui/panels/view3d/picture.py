"""The picture of the 3-D view without its overlay: redrawn only on change, in full detail only at rest."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QSize, pyqtSignal
from PyQt6.QtGui import QImage

from nrsfm_gui.engine.throttle import TYPING_MILLISECONDS, Debounce
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.view3d.opengl_context import ContextLost, OffscreenContext
from nrsfm_gui.panels.view3d.parts import (
    MOVING,
    Drawn,
    Ellipsoids,
    LineSegments,
    Part,
    RenderRequest,
    exceeds,
    scene_parts,
    without_covered,
)
from nrsfm_gui.panels.view3d.software_renderer import SoftwareRenderer, skips_surface
from nrsfm_gui.scene.scene import Scene

if TYPE_CHECKING:
    from nrsfm_gui.panels.view3d.gl_renderer import OpenGLRenderer

FEW_LINES = 2500  # ends of lines that are smoothed even while the picture moves


class SceneRenderer(QObject):
    """The parts of a scene, and their last picture: by OpenGL, by software where that is missing or fails."""

    refined = pyqtSignal()  # the picture is at rest: it is to be painted again in full detail
    degraded = pyqtSignal(str)  # why OpenGL is not used any more, in a sentence

    def __init__(self, parent: QObject, *, software: bool) -> None:
        super().__init__(parent)
        self.sentence = "Drawn without OpenGL"  # what draws
        self._software = SoftwareRenderer()
        self._opengl: OpenGLRenderer | None = None
        if not software:
            try:
                context = OffscreenContext()
                from nrsfm_gui.panels.view3d.gl_renderer import OpenGLRenderer  # which is slow

                self._opengl = OpenGLRenderer(context)
                self.sentence = f"Drawn by OpenGL ({self._opengl.card})"
            except ContextLost as error:
                self.sentence = f"Drawn without OpenGL: {error}"
        self.theme = DARK
        self.parts: dict[str, Part] = {}  # what is drawn while the picture moves
        self._all_parts: dict[str, Part] | None = {}  # what is drawn at rest; None where it is not known yet
        self._heavy = False  # the two differ
        self._scene: Scene | None = None
        self._last: QImage | None = None  # None where it is outdated
        self._begun: tuple[dict[str, Drawn], RenderRequest] | None = None  # the next one, which is under way
        self._resting = False
        self._rest = Debounce(self._on_rest, TYPING_MILLISECONDS, self)

    @property
    def uses_opengl(self) -> bool:
        """Whether OpenGL makes the pictures."""
        return self._opengl is not None

    def set_scene(self, scene: Scene) -> None:
        """Draw a scene from now on."""
        self._scene = scene
        self._heavy = not scene.message and exceeds(scene, MOVING)
        self.parts = {} if scene.message else scene_parts(scene, self.theme, MOVING)
        self._all_parts = None if self._heavy else self.parts
        self.invalidate()

    def invalidate(self) -> None:
        """Discard the last picture."""
        self._last, self._resting, self._begun = None, False, None

    @property
    def omission(self) -> str:
        """What is omitted because of its size, "" for nothing."""
        return "no mesh: too large without OpenGL" if self._skips_surface(self.parts) else ""

    def image(self, request: RenderRequest) -> QImage:
        """Return the picture for the screen."""
        if self._last is None or self._last.size() != QSize(*request.size):
            begun, self._begun = self._begun, None
            if begun is None or (begun[1].size, begun[1].ratio) != (request.size, request.ratio):
                begun = self._prepare(request, full=self._full)
            self._last = self._render(*begun)
            if not begun[1].smooth:
                self._rest.request()
        return self._last

    def begin(self, request: RenderRequest) -> None:
        """Start the next picture for the screen."""
        self._begun = self._prepare(request, full=self._full)
        if self._opengl is not None:
            with suppress(ContextLost):  # `image` falls back to the software renderer
                self._opengl.begin(*self._begun)

    @property
    def _full(self) -> bool:
        """Whether the picture for the screen is drawn in full."""
        ends = sum(part.ends.size for part in self.parts.values() if isinstance(part, LineSegments))
        return self._resting or (not self._heavy and ends <= FEW_LINES)

    def render(self, request: RenderRequest) -> QImage:
        """Return a picture of its own in full detail."""
        return self._render(*self._prepare(request, full=True))

    def _prepare(self, request: RenderRequest, *, full: bool) -> tuple[dict[str, Drawn], RenderRequest]:
        parts = self._complete_parts() if full else self.parts
        if not self._skips_surface(parts):
            parts = without_covered(parts)
        if request.locked:
            parts = {name: part for name, part in parts.items() if name != "camera"}
        drawn: dict[str, Drawn] = {
            name: part.outlines(request.projection) if isinstance(part, Ellipsoids) else part
            for name, part in parts.items()
        }
        return drawn, replace(request, smooth=full)

    def _render(self, parts: dict[str, Drawn], request: RenderRequest) -> QImage:
        if self._opengl is not None:
            try:
                return self._opengl.image(parts, request)
            except ContextLost as error:
                self._opengl = None
                self.sentence = f"The 3-D view is drawn without OpenGL from now on: {error}"
                self.degraded.emit(self.sentence)
        return self._software.image(parts, request)

    def _skips_surface(self, parts: dict[str, Part]) -> bool:
        """Return whether a surface is skipped, because it would be too slow without OpenGL."""
        return self._opengl is None and skips_surface(parts)

    def _complete_parts(self) -> dict[str, Part]:
        """Return all parts, where some are left out while the picture moves."""
        if self._all_parts is None:
            assert self._scene is not None  # it is what has too many parts
            self._all_parts = scene_parts(self._scene, self.theme)
        return self._all_parts

    def _on_rest(self) -> None:
        self.invalidate()
        self._resting = True
        self.refined.emit()
