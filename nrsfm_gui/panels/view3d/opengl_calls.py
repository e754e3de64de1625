"""PyOpenGL with calls that keep Python's interpreter lock.

A call by `ctypes` releases the lock. A picture takes dozens of calls of a few microseconds, and while a
solver computes in another thread each call would wait for the lock again: 20 ms instead of 3. PyOpenGL
creates its functions when `OpenGL.GL` is imported, so every module imports it from here.
"""

import ctypes

from OpenGL.platform import PLATFORM

if PLATFORM.DEFAULT_FUNCTION_TYPE is ctypes.CFUNCTYPE:  # not so on Windows
    type(PLATFORM).DEFAULT_FUNCTION_TYPE = staticmethod(ctypes.PYFUNCTYPE)

from OpenGL import GL
from OpenGL.error import Error as OpenGLError
from OpenGL.GL import shaders

__all__ = ["GL", "OpenGLError", "shaders"]
