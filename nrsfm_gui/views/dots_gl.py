"""Round dots with soft edges and a darker rim, so that neighbors stay apart without multisampling."""

from __future__ import annotations

from typing import Any, ClassVar

import pyqtgraph.opengl as gl
from OpenGL import GL
from OpenGL.GL import shaders
from PyQt6.QtGui import QOpenGLContext

RIM = 0.6  # brightness of the rim relative to the dot
LOWEST_VERSION = (3, 1)  # of OpenGL, for version 140 of its shading language

VERTEX = """
#version 140
uniform mat4 u_mvp;
in vec4 a_position;
in vec4 a_color;
in float a_size;
out vec4 v_color;
out float v_side;
void main() {
    gl_Position = u_mvp * a_position;
    v_color = a_color;
    v_side = a_size + 2.0;
    gl_PointSize = v_side;
}
"""

FRAGMENT = f"""
#version 140
in vec4 v_color;
in float v_side;
out vec4 fragColor;
void main() {{
    float inward = 0.5 * v_side - 0.5 - v_side * length(gl_PointCoord - 0.5);
    float cover = clamp(inward, 0.0, 1.0);
    if (cover <= 0.0) discard;
    float fill = v_side > 6.0 ? clamp(inward - 1.0, 0.0, 1.0) : 1.0;
    fragColor = vec4(v_color.rgb * mix({RIM}, 1.0, fill), v_color.a * cover);
}}
"""


class Dots(gl.GLScatterPlotItem):
    """A scatter item with its own shader; the plain one where OpenGL is too old for it."""

    _dots_program: ClassVar[Any] = None

    @staticmethod
    def getShaderProgram() -> Any:
        """Compile once for all contexts, which share their objects."""
        context = QOpenGLContext.currentContext()
        assert context is not None  # items are painted only with one
        if context.isOpenGLES() or tuple(context.format().version()) < LOWEST_VERSION:
            return gl.GLScatterPlotItem.getShaderProgram()
        if Dots._dots_program is None:
            program = shaders.compileProgram(
                shaders.compileShader(VERTEX.strip(), GL.GL_VERTEX_SHADER),
                shaders.compileShader(FRAGMENT.strip(), GL.GL_FRAGMENT_SHADER),
            )
            for location, name in enumerate(("a_position", "a_color", "a_size")):
                GL.glBindAttribLocation(program, location, name)
            GL.glLinkProgram(program)
            Dots._dots_program = program
        return Dots._dots_program
