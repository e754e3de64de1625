"""PyOpenGL, whose calls keep the interpreter.

A call by `ctypes` hands Python's lock to whichever thread wants it. A picture takes dozens of calls of a few
microseconds, and where a solver computes beside the window each would have to wait for the lock to come back:
20 ms instead of 3. Functions are made when `OpenGL.GL` is imported, so that everybody imports it from here.
"""

import ctypes

from OpenGL.platform import PLATFORM

if PLATFORM.DEFAULT_FUNCTION_TYPE is ctypes.CFUNCTYPE:  # not so on Windows
    type(PLATFORM).DEFAULT_FUNCTION_TYPE = staticmethod(ctypes.PYFUNCTYPE)

from OpenGL import GL
from OpenGL.error import Error as OpenGLError
from OpenGL.GL import shaders

__all__ = ["GL", "OpenGLError", "shaders"]
