"""An OpenGL context without a window; making one shows whether it works, without importing PyOpenGL."""

from __future__ import annotations

from PyQt6.QtGui import QOffscreenSurface, QOpenGLContext, QSurfaceFormat

LOWEST_OPENGL = (3, 1)  # what the shaders need


class ContextLost(RuntimeError):
    """OpenGL stopped working."""


class OffscreenContext:
    """A context that is current once it is made. Raises ContextLost where none works."""

    def __init__(self) -> None:
        self._context, self.surface = QOpenGLContext(), QOffscreenSurface()
        self._context.setFormat(QSurfaceFormat.defaultFormat())
        if not self._context.create():
            raise ContextLost("none works on this machine")
        self.surface.setFormat(self._context.format())
        self.surface.create()
        self.make_current("none works on this machine")
        if self._context.isOpenGLES() or tuple(self._context.format().version()) < LOWEST_OPENGL:
            raise ContextLost("this OpenGL is too old")

    def make_current(self, otherwise: str = "the OpenGL context is lost") -> None:
        """Let OpenGL draw by it from now on."""
        if not self.surface.isValid() or not self._context.makeCurrent(self.surface):
            raise ContextLost(otherwise)
