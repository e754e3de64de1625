"""Whether OpenGL works here, and whether a graphics card does it."""

from __future__ import annotations

from PyQt6.QtGui import QOffscreenSurface, QOpenGLContext

LOWEST_OPENGL = (2, 1)
SOFTWARE_RENDERERS = ("llvmpipe", "softpipe", "swrast", "software", "gdi generic")


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


def opengl_in_software() -> bool:
    """Return whether OpenGL is computed by the processor.

    A window with an OpenGL panel is then composed in software as a whole at every repaint of any panel, 20 ms
    and more for each: painting the 3-D view without OpenGL is faster.
    """
    context = QOpenGLContext()
    surface = QOffscreenSurface()
    if not context.create():
        return True
    surface.setFormat(context.format())
    surface.create()
    if not surface.isValid() or not context.makeCurrent(surface):
        return True
    from OpenGL import GL

    name = GL.glGetString(GL.GL_RENDERER) or b""
    context.doneCurrent()
    return any(renderer in name.decode(errors="replace").lower() for renderer in SOFTWARE_RENDERERS)
