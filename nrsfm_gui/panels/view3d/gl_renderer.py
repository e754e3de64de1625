"""The OpenGL renderer of the 3-D view: off-screen, read back as an image.

A widget that OpenGL draws into makes Qt compose the window by OpenGL at every repaint of any panel. Without
a graphics card that costs more than the picture itself, and a lost context blackens the window. So the
picture is read back, which takes a fraction of a millisecond, and painted like any other image.

PyOpenGL calls keep Python's interpreter lock here. A call by `ctypes` releases the lock. A picture takes
dozens of calls of a few microseconds, and while a solver computes in another thread each call would wait for
the lock again: 20 ms instead of 3. PyOpenGL creates its functions when `OpenGL.GL` is first imported, so
this module is the only one that imports it.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from OpenGL.platform import PLATFORM
from PyQt6.QtGui import QImage, QOffscreenSurface, QOpenGLContext, QSurfaceFormat

from nrsfm_gui.panels.view3d.opengl_probe import LOWEST_OPENGL
from nrsfm_gui.panels.view3d.parts import (
    RIM,
    Drawn,
    LineSegments,
    PointCloud,
    RenderRequest,
    TriangleMesh,
)

if PLATFORM.DEFAULT_FUNCTION_TYPE is ctypes.CFUNCTYPE:  # not so on Windows
    type(PLATFORM).DEFAULT_FUNCTION_TYPE = staticmethod(ctypes.PYFUNCTYPE)

from OpenGL import GL
from OpenGL.error import Error as OpenGLError
from OpenGL.GL import shaders

if TYPE_CHECKING:
    import numpy.typing as npt

VERTEX = """#version 140
uniform mat4 u_clip;
uniform float u_size;
in vec3 a_position;
in vec4 a_color;
out vec4 v_color;
out float v_side;
void main() {
    gl_Position = u_clip * vec4(a_position, 1.0);
    v_color = a_color;
    v_side = u_size + 2.0;
    gl_PointSize = v_side;
}
"""
PLAIN_FRAGMENT = """#version 140
in vec4 v_color;
out vec4 fragment;
void main() {
    fragment = v_color;
}
"""
DOT_FRAGMENT = f"""#version 140
in vec4 v_color;
in float v_side;
out vec4 fragment;
void main() {{
    float inward = 0.5 * v_side - 0.5 - v_side * length(gl_PointCoord - 0.5);
    float cover = clamp(inward, 0.0, 1.0);
    if (cover <= 0.0) discard;
    float fill = v_side > 6.0 ? clamp(inward - 1.0, 0.0, 1.0) : 1.0;
    fragment = vec4(v_color.rgb * mix({RIM}, 1.0, fill), v_color.a * cover);
}}
"""
ATTRIBUTES = ("a_position", "a_color")
Array: TypeAlias = "npt.NDArray[Any]"


class ContextLost(RuntimeError):
    """OpenGL stopped working."""


class _Buffer:
    """A growing array on the graphics card."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._name = GL.glGenBuffers(1)
        self._capacity = 0

    def bind(self) -> None:
        GL.glBindBuffer(self._target, self._name)

    def write(self, values: Array) -> None:
        self.bind()
        if values.nbytes > self._capacity:
            capacity = values.nbytes + values.nbytes // 2
            GL.glBufferData(self._target, capacity, None, GL.GL_DYNAMIC_DRAW)
            self._capacity = capacity
        if values.nbytes:
            GL.glBufferSubData(self._target, 0, values.nbytes, values)


class _PartBuffers:
    """One part on the card."""

    def __init__(self) -> None:
        self.part: Drawn | None = None
        self._array = GL.glGenVertexArrays(1)
        GL.glBindVertexArray(self._array)
        self._positions, self._colors = _Buffer(GL.GL_ARRAY_BUFFER), _Buffer(GL.GL_ARRAY_BUFFER)
        self._rows = _Buffer(GL.GL_ELEMENT_ARRAY_BUFFER)
        for place, (buffer, size, kind, scaled) in enumerate(
            ((self._positions, 3, GL.GL_FLOAT, False), (self._colors, 4, GL.GL_UNSIGNED_BYTE, True))
        ):
            buffer.bind()
            GL.glEnableVertexAttribArray(place)
            GL.glVertexAttribPointer(place, size, kind, scaled, 0, None)
        self._rows.bind()

    def upload(self, part: Drawn) -> None:
        """Upload what differs from the previous part."""
        old, self.part = self.part, None  # where sending fails, nothing is known of what is there
        if part is old:
            self.part = part
            return
        GL.glBindVertexArray(self._array)
        if old is None or not _same(part.positions, old.positions):
            self._positions.write(np.ascontiguousarray(part.positions, dtype=np.float32))
        if old is None or not _same(part.colors, old.colors):
            self._colors.write(np.ascontiguousarray(part.colors))
        rows, before = _rows(part), None if old is None else _rows(old)
        if rows is not None and (before is None or not _same(rows, before)):
            self._rows.write(np.ascontiguousarray(rows, dtype=np.uint32))
        self.part = part

    def draw(self) -> None:
        GL.glBindVertexArray(self._array)
        part = self.part
        assert part is not None  # uploaded before
        if isinstance(part, PointCloud):
            GL.glDrawArrays(GL.GL_POINTS, 0, len(part.positions))
        elif isinstance(part, LineSegments):
            GL.glDrawElements(GL.GL_LINES, part.ends.size, GL.GL_UNSIGNED_INT, None)
        else:
            GL.glDrawElements(GL.GL_TRIANGLES, part.faces.size, GL.GL_UNSIGNED_INT, None)


def _rows(part: Drawn) -> Array | None:
    """Return which positions a part is made of, None where of all, in their order."""
    if isinstance(part, PointCloud):
        return None
    return part.ends if isinstance(part, LineSegments) else part.faces


def _same(one: Array, two: Array) -> bool:
    return one is two or np.array_equal(one, two)


@dataclass(frozen=True)
class _Program:
    name: int
    matrix: int  # where its uniforms are
    size: int


class OpenGLRenderer:
    """Renders parts by OpenGL.

    Raises
    ------
    ContextLost
        where there is no OpenGL that could do it.
    """

    def __init__(self) -> None:
        self._items: dict[str, _PartBuffers] = {}
        self._side = (0, 0)
        # What the graphics card draws and is not read back yet.
        self._begun: tuple[dict[str, Drawn], RenderRequest] | None = None
        self._context = QOpenGLContext()
        self._context.setFormat(QSurfaceFormat.defaultFormat())
        if not self._context.create():
            raise ContextLost("no OpenGL context could be made")
        self._surface = QOffscreenSurface()
        self._surface.setFormat(self._context.format())
        self._surface.create()
        self._make_current()
        if self._context.isOpenGLES() or tuple(self._context.format().version()) < LOWEST_OPENGL:
            raise ContextLost("this OpenGL is too old")
        try:
            self.card = (GL.glGetString(GL.GL_RENDERER) or b"").decode(errors="replace")
            self._dots = _compiled(DOT_FRAGMENT)
            self._plain = _compiled(PLAIN_FRAGMENT)
            self._target, self._color, self._depth = (
                GL.glGenFramebuffers(1),
                GL.glGenRenderbuffers(1),
                GL.glGenRenderbuffers(1),
            )
            for what in (GL.GL_PROGRAM_POINT_SIZE, GL.GL_DEPTH_TEST, GL.GL_BLEND):
                GL.glEnable(what)
            # The picture is opaque: translucent parts are blended with the background.
            GL.glBlendFuncSeparate(GL.GL_SRC_ALPHA, GL.GL_ONE_MINUS_SRC_ALPHA, GL.GL_ONE, GL.GL_ONE)
            GL.glDepthFunc(GL.GL_LEQUAL)
            GL.glPolygonOffset(1.0, 1.0)  # lines and dots of a surface lie on it, not in it
        except (OpenGLError, RuntimeError) as error:
            raise ContextLost(f"OpenGL does not work: {error}") from error

    def begin(self, parts: dict[str, Drawn], request: RenderRequest) -> None:
        """Start to draw a picture that `image` reads back later, while other panels are painted.

        Only what differs from the last time is sent to it.

        Raises
        ------
        ContextLost
            where OpenGL does not work any more.
        """
        self._begun = None
        self._make_current()
        try:
            self._resize(request.size)
            self._upload(parts)
            self._draw(list(parts), request)
            GL.glFlush()
        except (OpenGLError, RuntimeError) as error:
            raise ContextLost(f"OpenGL does not work any more: {error}") from error
        self._begun = parts, request

    def image(self, parts: dict[str, Drawn], request: RenderRequest) -> QImage:
        """Return a picture of parts.

        Raises
        ------
        ContextLost
            where OpenGL does not work any more.
        """
        if self._begun is None or self._begun[0] is not parts or self._begun[1] is not request:
            self.begin(parts, request)
        self._begun = None
        self._make_current()
        try:
            image = self._read(request.size)
        except (OpenGLError, RuntimeError) as error:
            raise ContextLost(f"OpenGL does not work any more: {error}") from error
        image.setDevicePixelRatio(request.ratio)
        return image

    def _make_current(self) -> None:
        if not self._surface.isValid() or not self._context.makeCurrent(self._surface):
            raise ContextLost("the OpenGL context is lost")

    def _resize(self, size: tuple[int, int]) -> None:
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self._target)
        if size == self._side:
            return
        for buffer, kind, attachment in (
            (self._color, GL.GL_RGBA8, GL.GL_COLOR_ATTACHMENT0),
            (self._depth, GL.GL_DEPTH_COMPONENT24, GL.GL_DEPTH_ATTACHMENT),
        ):
            GL.glBindRenderbuffer(GL.GL_RENDERBUFFER, buffer)
            GL.glRenderbufferStorage(GL.GL_RENDERBUFFER, kind, *size)
            GL.glFramebufferRenderbuffer(GL.GL_FRAMEBUFFER, attachment, GL.GL_RENDERBUFFER, buffer)
        if GL.glCheckFramebufferStatus(GL.GL_FRAMEBUFFER) != GL.GL_FRAMEBUFFER_COMPLETE:
            raise ContextLost(f"OpenGL has no memory for a picture of {size[0]} x {size[1]}")
        self._side = size

    def _upload(self, parts: dict[str, Drawn]) -> None:
        for name, part in parts.items():
            if name not in self._items:
                self._items[name] = _PartBuffers()
            self._items[name].upload(part)

    def _draw(self, names: list[str], request: RenderRequest) -> None:
        GL.glViewport(0, 0, *self._side)
        GL.glDepthMask(True)
        red, green, blue, _ = request.background.getRgbF()
        GL.glClearColor(red, green, blue, 1.0)
        GL.glClear(GL.GL_COLOR_BUFFER_BIT | GL.GL_DEPTH_BUFFER_BIT)
        # Upside down, because rows are read from the lowest to the highest.
        matrix = np.diag([1.0, -1.0, 1.0, 1.0]) @ request.projection.clip_matrix()
        # Only surfaces and dots hide what is behind them: the soft edge of a line would cut holes into dots.
        (GL.glEnable if request.smooth else GL.glDisable)(GL.GL_LINE_SMOOTH)
        for kind, program in (
            (TriangleMesh, self._plain),
            (LineSegments, self._plain),
            (PointCloud, self._dots),
        ):
            GL.glUseProgram(program.name)
            GL.glUniformMatrix4fv(program.matrix, 1, True, matrix.astype(np.float32))
            for name in names:
                item = self._items[name]
                part = item.part
                if not isinstance(part, kind):
                    continue
                GL.glDepthMask(not isinstance(part, LineSegments) and getattr(part, "solid", True))
                surface = isinstance(part, TriangleMesh)
                (GL.glEnable if surface else GL.glDisable)(GL.GL_POLYGON_OFFSET_FILL)
                if isinstance(part, PointCloud):
                    GL.glUniform1f(program.size, part.size * request.ratio)
                item.draw()

    def _read(self, size: tuple[int, int]) -> QImage:
        image = QImage(*size, QImage.Format.Format_RGB32)
        bits = image.bits()
        if bits is None:
            raise ContextLost("there is no memory for the picture")
        bits.setsize(image.sizeInBytes())  # `asarray` loses 72 bytes at each picture
        pixels = np.frombuffer(bits, dtype=np.uint8)  # type: ignore[call-overload]  # it is a buffer
        GL.glReadPixels(0, 0, *size, GL.GL_BGRA, GL.GL_UNSIGNED_BYTE, array=pixels)
        return image


def _compiled(fragment: str) -> _Program:
    name = shaders.compileProgram(
        shaders.compileShader(VERTEX, GL.GL_VERTEX_SHADER),
        shaders.compileShader(fragment, GL.GL_FRAGMENT_SHADER),
        validate=False,
    )
    for place, attribute in enumerate(ATTRIBUTES):
        GL.glBindAttribLocation(name, place, attribute)
    GL.glLinkProgram(name)
    return _Program(name, GL.glGetUniformLocation(name, "u_clip"), GL.glGetUniformLocation(name, "u_size"))
