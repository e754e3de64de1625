"""Test whether OpenGL works on this machine."""

from __future__ import annotations

from PyQt6.QtGui import QOffscreenSurface, QOpenGLContext

LOWEST_OPENGL = (3, 1)  # what the shaders need


class ContextLost(RuntimeError):
    """OpenGL stopped working."""


def opengl_available() -> bool:
    """Return whether a context works, without the slow import of the renderer."""
    context = QOpenGLContext()
    if not context.create():
        return False
    surface = QOffscreenSurface()
    surface.setFormat(context.format())
    surface.create()
    if not surface.isValid() or not context.makeCurrent(surface):
        return False
    version = context.format().version()
    context.doneCurrent()
    return tuple(version) >= LOWEST_OPENGL
