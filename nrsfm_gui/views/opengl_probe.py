"""Whether OpenGL works here."""

from __future__ import annotations

from PyQt6.QtGui import QOffscreenSurface, QOpenGLContext

LOWEST_OPENGL = (2, 1)


def opengl_available() -> bool:
    """Probe for a working context: a 3-D widget made without one would blacken the whole window."""
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
