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
from typing import Any, TypeAlias

import numpy as np
from OpenGL.platform import PLATFORM
from PyQt6.QtGui import QImage

from core.io.writers import SHADING
from nrsfm_gui.panels.view3d.opengl_context import ContextLost, OffscreenContext
from nrsfm_gui.panels.view3d.parts import (
    LEAST_RING,
    LEAST_WIDTH,
    MOST_PIXELS,
    RING_WIDTH,
    SMALL_DISK,
    Drawn,
    LineSegments,
    PointCloud,
    RenderRequest,
    Sheet,
    TriangleMesh,
)

if PLATFORM.DEFAULT_FUNCTION_TYPE is ctypes.CFUNCTYPE:  # not so on Windows
    type(PLATFORM).DEFAULT_FUNCTION_TYPE = staticmethod(ctypes.PYFUNCTYPE)

from collections.abc import Sequence

import numpy.typing as npt
from OpenGL import GL
from OpenGL.error import Error as OpenGLError
from OpenGL.GL import shaders

from nrsfm_gui.scene.orbit_camera import Projection

SHAPES = {"sphere": 0.0, "ring": 1.0, "disk": 2.0}  # what the shader calls them
EYE_DOME, MOST_DEEPER = 0.2, 1.0  # how much darker, per unit of depth of each of eight neighbors; at most
EYE_DOME_FROM = 1500  # points from which spheres are too small to be seen as such
EYE_DOME_REACH = 3.0  # pixels to the neighbors
EYE_DOME_UNIT = 6.0  # of depth, in diameters of the points
AMBIENT, REST, FACING = SHADING.ambient, 1.0 - SHADING.ambient, -SHADING.light[2]


def vector(values: Sequence[float]) -> str:
    """Return a vector as the language of shaders writes it."""
    return f"vec3({', '.join(map(str, values))})"


PLAIN_VERTEX = """#version 140
uniform mat4 u_clip;
in vec3 a_position;
in vec4 a_color;
out vec4 v_color;
void main() {
    gl_Position = u_clip * vec4(a_position, 1.0);
    v_color = a_color;
}
"""
# A surface is lit from both sides, at its vertices: that looks the same as at each pixel, and costs less.
LIT_VERTEX = f"""#version 140
uniform mat4 u_clip;
uniform vec4 u_eye;
uniform vec3 u_light;
in vec3 a_position;
in vec4 a_color;
in vec3 a_normal;
out vec4 v_color;
void main() {{
    gl_Position = u_clip * vec4(a_position, 1.0);
    float facing = dot(a_normal, u_eye.w * a_position + u_eye.xyz) > 0.0 ? -1.0 : 1.0;
    float reached = max(facing * dot(a_normal, u_light), 0.0) / {FACING};
    v_color = vec4(min(a_color.rgb * ({AMBIENT} + {REST} * reached), 1.0), a_color.a);
}}
"""
PLAIN_FRAGMENT = """#version 140
in vec4 v_color;
out vec4 fragment;
void main() {
    fragment = v_color;
}
"""
# The texture of a sheet; in the middles of its outermost texels are the corners of the sheet.
SHEET_FRAGMENT = """#version 140
uniform sampler2D u_texture;
in vec4 v_color;
out vec4 fragment;
void main() {
    vec2 side = vec2(textureSize(u_texture, 0));
    fragment = texture(u_texture, (v_color.xy * (side - 1.0) + 0.5) / side);
}
"""
# A sphere is cut by others where its surface is. Of very many small ones each has one depth, that of its
# front: a depth of every pixel costs a machine without a graphics card as much as all else.
ROUND, FLAT = "#version 140\n#define ROUND", "#version 140"
DOT_VERTEX = f"""
uniform vec2 u_towards;
uniform mat4 u_clip;
uniform vec4 u_ahead;
uniform vec4 u_size;
uniform float u_focal;
uniform float u_ratio;
uniform float u_shape;
in vec3 a_position;
in vec4 a_color;
out vec4 v_color;
out vec2 v_depth;
out float v_radius;
out float v_unit;
void main() {{
    gl_Position = u_clip * vec4(a_position, 1.0);
    v_color = a_color;
    v_depth = gl_Position.zw;
    v_unit = u_focal / (dot(u_ahead.xyz, a_position) + u_ahead.w);
    float diameter = clamp(u_size.x * v_unit, u_size.y, u_size.z);
    if (u_shape == {SHAPES["ring"]} && diameter < {LEAST_RING} * u_ratio) diameter *= {SMALL_DISK};
    v_radius = 0.5 * (diameter + u_size.w);
    gl_PointSize = 2.0 * v_radius + 2.0;
#ifndef ROUND
    if (u_shape == {SHAPES["sphere"]}) {{
        vec2 front = v_depth + v_radius / v_unit * u_towards;
        gl_Position.z = front.x / front.y * gl_Position.w;
    }}
#endif
}}
"""
DOT_FRAGMENT = f"""
uniform vec2 u_towards;
uniform float u_ratio;
uniform float u_shape;
in vec4 v_color;
in vec2 v_depth;
in float v_radius;
in float v_unit;
out vec4 fragment;
void main() {{
    vec2 place = (gl_PointCoord - 0.5) * vec2(1.0, -1.0) * (2.0 * v_radius + 2.0);
    float away = length(place);
    float cover = clamp(v_radius + 0.5 - away, 0.0, 1.0);
    float width = max({LEAST_WIDTH} * u_ratio, {2.0 * RING_WIDTH} * v_radius);
    if (u_shape == {SHAPES["ring"]} && 2.0 * v_radius >= {LEAST_RING} * u_ratio)
        cover *= clamp(away - v_radius + width + 0.5, 0.0, 1.0);
#ifndef ROUND
    cover = step(0.5, cover);  // a soft edge would cut holes into what is drawn behind it later
#endif
    if (cover <= 0.0) discard;
    vec3 color = v_color.rgb;
    float nearer = 0.0;
    if (u_shape == {SHAPES["sphere"]}) {{
        vec2 across = place / v_radius;
        nearer = sqrt(max(1.0 - dot(across, across), 0.0));
        vec3 normal = vec3(across, -nearer);
        float reached = max(dot(normal, {vector(SHADING.light)}), 0.0) / {FACING};
        float bright = min({AMBIENT} + {REST} * reached, 1.0) * mix({SHADING.rim}, 1.0, sqrt(nearer));
        color = color * bright;
        float glossy = max(dot(normal, {vector(SHADING.halfway)}), 0.0);
        color += {SHADING.gloss} * pow(glossy, {SHADING.sharpness});
    }}
#ifdef ROUND
    vec2 depth = v_depth + nearer * v_radius / v_unit * u_towards;
    gl_FragDepth = 0.5 * depth.x / depth.y + 0.5;
#endif
    fragment = vec4(color, v_color.a * cover);
}}
"""
# Eye-dome lighting, of a picture at rest: what lies deeper than its surroundings becomes darker, so that the
# outlines of dense clouds are seen. C. Boucheny, "Interactive scientific visualization of large datasets:
# towards a perceptive-based approach", thesis, Grenoble, 2009. The software renderer has no depth for it.
SCREEN_VERTEX = """#version 140
void main() {
    gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);
}
"""
EYE_DOME_FRAGMENT = f"""#version 140
uniform sampler2D u_color;
uniform sampler2D u_depth;
uniform vec4 u_view;
uniform float u_unit;
uniform float u_apart;
out vec4 fragment;
float distance_at(ivec2 place) {{
    float depth = 2.0 * texelFetch(u_depth, place, 0).x - 1.0;
    return (u_view.w * depth - u_view.y) / (u_view.x - u_view.z * depth);
}}
void main() {{
    ivec2 place = ivec2(gl_FragCoord.xy), last = textureSize(u_depth, 0) - 1;
    fragment = texelFetch(u_color, place, 0);
    if (texelFetch(u_depth, place, 0).x >= 1.0) return;
    float own = distance_at(place), deeper = 0.0;
    for (int k = 0; k < 8; k++) {{
        float turn = {np.pi / 4} * float(k);
        ivec2 other = clamp(place + ivec2(round(u_apart * vec2(cos(turn), sin(turn)))), ivec2(0), last);
        deeper += clamp((own - distance_at(other)) / u_unit, 0.0, {MOST_DEEPER});
    }}
    fragment.rgb *= exp(-{EYE_DOME} * deeper);
}}
"""
SETTERS = (GL.glUniform1fv, GL.glUniform2fv, GL.glUniform3fv, GL.glUniform4fv)
MANY = 4000  # points of a part above which they are drawn in less detail while the picture moves
ATTRIBUTES = {  # of a vertex: their numbers, and their types here and on the card
    "a_position": (3, np.float32, GL.GL_FLOAT),
    "a_color": (4, np.uint8, GL.GL_UNSIGNED_BYTE),
    "a_normal": (3, np.float32, GL.GL_FLOAT),
}
NORMALS = 2  # the place of the last one
# Of a square that a sheet is the texture of: the color of a corner is its place in the texture.
CORNERS = 255 * np.array([[0, 0, 0, 1], [1, 0, 0, 1], [1, 1, 0, 1], [0, 1, 0, 1]], dtype=np.uint8)
HALVES = np.array([[0, 1, 2], [0, 2, 3]])
# Formats of textures: as they are stored, and what is given.
COLORS = GL.GL_RGBA8, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE
DEPTHS = GL.GL_DEPTH_COMPONENT24, GL.GL_DEPTH_COMPONENT, GL.GL_UNSIGNED_INT
Array: TypeAlias = "npt.NDArray[Any]"


class _Buffer:
    """A growing array on the graphics card, of the vertices of a part or of the rows of its faces."""

    def __init__(self, kind: type, *, rows: bool = False) -> None:
        self._kind = kind
        self._target = GL.GL_ELEMENT_ARRAY_BUFFER if rows else GL.GL_ARRAY_BUFFER
        self._name = GL.glGenBuffers(1)
        self._capacity = 0
        GL.glBindBuffer(self._target, self._name)

    def write(self, given: Array) -> None:
        values: Array = np.ascontiguousarray(given, dtype=self._kind)
        GL.glBindBuffer(self._target, self._name)
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
        self._buffers = []
        for place, (size, kind, stored) in enumerate(ATTRIBUTES.values()):
            self._buffers.append(_Buffer(kind))
            GL.glVertexAttribPointer(place, size, stored, kind is np.uint8, 0, None)
            if place != NORMALS:  # only what is lit has any; the others have zeros
                GL.glEnableVertexAttribArray(place)
        self._buffers.append(_Buffer(np.uint32, rows=True))

    def upload(self, part: Drawn) -> None:
        """Upload the arrays that are others than those of the previous part."""
        old, self.part = self.part, None  # where sending fails, nothing is known of what is there
        if part is not old:
            GL.glBindVertexArray(self._array)
            arrays, former = _arrays(part), (None,) * len(self._buffers) if old is None else _arrays(old)
            for buffer, values, before in zip(self._buffers, arrays, former, strict=True):
                if values is None or values is before:
                    continue
                if before is None or not np.array_equal(values, before):
                    buffer.write(values)
            lit = arrays[NORMALS] is not None
            (GL.glEnableVertexAttribArray if lit else GL.glDisableVertexAttribArray)(NORMALS)
        self.part = part

    def draw(self) -> None:
        GL.glBindVertexArray(self._array)
        part = self.part
        if isinstance(part, PointCloud):
            GL.glDrawArrays(GL.GL_POINTS, 0, len(part.positions))
        elif isinstance(part, LineSegments):
            GL.glDrawElements(GL.GL_LINES, part.ends.size, GL.GL_UNSIGNED_INT, None)
        elif isinstance(part, TriangleMesh):
            GL.glDrawElements(GL.GL_TRIANGLES, part.faces.size, GL.GL_UNSIGNED_INT, None)


class _SheetBuffers(_PartBuffers):
    """A sheet on the card: a square, and the colors of the sheet as its texture."""

    def __init__(self) -> None:
        super().__init__()
        self._sheet: Sheet | None = None
        self._texture = GL.glGenTextures(1)

    def upload(self, part: Drawn) -> None:
        """Upload what differs from the previous sheet."""
        assert isinstance(part, Sheet)
        if part is self._sheet:
            return
        self._sheet = None  # where sending fails, nothing is known of what is there
        _make_texture(
            self._texture, (part.side, part.side), COLORS, GL.GL_LINEAR, np.ascontiguousarray(part.colors)
        )
        super().upload(TriangleMesh(part.corners, CORNERS, HALVES, solid=False))
        self._sheet = part

    def draw(self) -> None:
        GL.glBindTexture(GL.GL_TEXTURE_2D, self._texture)
        super().draw()


def _make_texture(
    texture: int, size: tuple[int, int], stored: tuple[int, int, int], between: int, pixels: Array | None
) -> None:
    """Give a texture its size, format and pixels; it is what is bound then."""
    GL.glBindTexture(GL.GL_TEXTURE_2D, texture)
    GL.glTexImage2D(GL.GL_TEXTURE_2D, 0, stored[0], *size, 0, *stored[1:], pixels)
    for what in (GL.GL_TEXTURE_MIN_FILTER, GL.GL_TEXTURE_MAG_FILTER):
        GL.glTexParameteri(GL.GL_TEXTURE_2D, what, between)


def _arrays(part: Drawn) -> tuple[Array | None, ...]:
    """Return positions, colors and normals of a part, and which positions it is made of; None for none."""
    if isinstance(part, PointCloud):
        return part.positions, part.colors, None, None
    if isinstance(part, LineSegments):
        return part.positions, part.colors, None, part.ends
    assert isinstance(part, TriangleMesh)  # a sheet is a square of two triangles here
    return part.positions, part.colors, part.normals, part.faces


class _Program:
    """A shader program and the places of its uniforms."""

    def __init__(self, vertex: str, fragment: str) -> None:
        self.name = shaders.compileProgram(
            shaders.compileShader(vertex, GL.GL_VERTEX_SHADER),
            shaders.compileShader(fragment, GL.GL_FRAGMENT_SHADER),
            validate=False,
        )
        for place, attribute in enumerate(ATTRIBUTES):
            GL.glBindAttribLocation(self.name, place, attribute)
        GL.glLinkProgram(self.name)
        self._places: dict[str, int] = {}

    def use(self) -> None:
        """Draw by it from now on."""
        GL.glUseProgram(self.name)

    def set(self, **values: float | Sequence[float] | Array) -> None:
        """Set uniforms that are numbers or vectors; it must be in use."""
        for name, value in values.items():
            numbers = np.atleast_1d(np.asarray(value, dtype=np.float32))
            SETTERS[len(numbers) - 1](self._place(name), 1, numbers)

    def set_matrix(self, **matrices: Array) -> None:
        """Set uniforms that are matrices (4, 4); it must be in use."""
        for name, matrix in matrices.items():
            GL.glUniformMatrix4fv(self._place(name), 1, True, matrix.astype(np.float32))

    def set_textures(self, *names: str) -> None:
        """Set uniforms that are the textures 0, 1 and so on; it must be in use."""
        for number, name in enumerate(names):
            GL.glUniform1i(self._place(name), number)

    def _place(self, name: str) -> int:
        if name not in self._places:
            self._places[name] = GL.glGetUniformLocation(self.name, name)
        return self._places[name]


class OpenGLRenderer:
    """Renders parts by OpenGL. Raises ContextLost where it does not work."""

    def __init__(self, context: OffscreenContext) -> None:
        self._items: dict[str, _PartBuffers] = {}
        self._side = (0, 0)
        # What the graphics card draws and is not read back yet.
        self._begun: tuple[dict[str, Drawn], RenderRequest] | None = None
        self._projected: tuple[Projection, float] | None = None  # what the shaders know, of which ratio
        self._context = context
        try:
            self.card = (GL.glGetString(GL.GL_RENDERER) or b"").decode(errors="replace")
            self._dots, self._flat_dots = (
                _Program(version + DOT_VERTEX, version + DOT_FRAGMENT) for version in (ROUND, FLAT)
            )
            self._plain = _Program(PLAIN_VERTEX, PLAIN_FRAGMENT)
            self._lit = _Program(LIT_VERTEX, PLAIN_FRAGMENT)
            self._sheet = _Program(PLAIN_VERTEX, SHEET_FRAGMENT)
            self._eye_dome = _Program(SCREEN_VERTEX, EYE_DOME_FRAGMENT)
            self._target, self._lit_target = GL.glGenFramebuffers(1), GL.glGenFramebuffers(1)
            self._color, self._depth, self._lit_color = GL.glGenTextures(3)
            self._screen = GL.glGenVertexArrays(1)
            for what in (GL.GL_PROGRAM_POINT_SIZE, GL.GL_DEPTH_TEST, GL.GL_BLEND):
                GL.glEnable(what)
            # The colors of the picture are multiplied by its opacity, as those of the background are.
            GL.glBlendFuncSeparate(
                GL.GL_SRC_ALPHA, GL.GL_ONE_MINUS_SRC_ALPHA, GL.GL_ONE, GL.GL_ONE_MINUS_SRC_ALPHA
            )
            GL.glDepthFunc(GL.GL_LEQUAL)
            GL.glPolygonOffset(1.0, 1.0)  # lines and dots of a surface lie on it, not in it
        except (OpenGLError, RuntimeError) as error:
            raise ContextLost(f"OpenGL does not work: {error}") from error

    def begin(self, parts: dict[str, Drawn], request: RenderRequest) -> None:
        """Start a picture that `image` reads back later. Raises ContextLost where OpenGL fails."""
        self._begun = None
        self._context.make_current()
        try:
            self._resize(request.size)
            self._upload(parts)
            self._draw(list(parts), request)
            if request.smooth:
                self._light_by_depth(parts, request)
            GL.glFlush()
        except (OpenGLError, RuntimeError) as error:
            raise ContextLost(f"OpenGL does not work any more: {error}") from error
        self._begun = parts, request

    def image(self, parts: dict[str, Drawn], request: RenderRequest) -> QImage:
        """Return a picture of parts. Raises ContextLost where OpenGL does not work any more."""
        if self._begun is None or self._begun[0] is not parts or self._begun[1] is not request:
            self.begin(parts, request)
        self._begun = None
        self._context.make_current()
        try:
            image = self._read(request)
        except (OpenGLError, RuntimeError) as error:
            raise ContextLost(f"OpenGL does not work any more: {error}") from error
        image.setDevicePixelRatio(request.ratio)
        return image

    def _resize(self, size: tuple[int, int]) -> None:
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self._target)
        if size == self._side:
            return
        for target, texture, stored, attachment in (
            (self._lit_target, self._lit_color, COLORS, GL.GL_COLOR_ATTACHMENT0),
            (self._target, self._color, COLORS, GL.GL_COLOR_ATTACHMENT0),
            (self._target, self._depth, DEPTHS, GL.GL_DEPTH_ATTACHMENT),
        ):
            _make_texture(texture, size, stored, GL.GL_NEAREST, None)
            GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, target)
            GL.glFramebufferTexture2D(GL.GL_FRAMEBUFFER, attachment, GL.GL_TEXTURE_2D, texture, 0)
        for target in (self._lit_target, self._target):
            GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, target)
            if GL.glCheckFramebufferStatus(GL.GL_FRAMEBUFFER) != GL.GL_FRAMEBUFFER_COMPLETE:
                raise ContextLost(f"OpenGL has no memory for a picture of {size[0]} x {size[1]}")
        self._side = size

    def _upload(self, parts: dict[str, Drawn]) -> None:
        for name, part in parts.items():
            if name not in self._items:
                self._items[name] = _SheetBuffers() if isinstance(part, Sheet) else _PartBuffers()
            self._items[name].upload(part)

    def _draw(self, names: list[str], request: RenderRequest) -> None:
        GL.glViewport(0, 0, *self._side)
        GL.glDepthMask(True)
        red, green, blue, opacity = request.background.getRgbF()
        GL.glClearColor(red * opacity, green * opacity, blue * opacity, opacity)
        GL.glClear(GL.GL_COLOR_BUFFER_BIT | GL.GL_DEPTH_BUFFER_BIT)
        # Only surfaces and dots hide what is behind them: the soft edge of a line would cut holes into dots.
        (GL.glEnable if request.smooth else GL.glDisable)(GL.GL_LINE_SMOOTH)
        self._set_projection(request)
        for kind in (TriangleMesh, LineSegments, PointCloud):
            for name in names:
                item = self._items[name]
                part = item.part
                if not isinstance(part, kind):
                    continue
                GL.glDepthMask(not isinstance(part, LineSegments) and getattr(part, "solid", True))
                surface = isinstance(part, TriangleMesh)
                (GL.glEnable if surface else GL.glDisable)(GL.GL_POLYGON_OFFSET_FILL)
                if isinstance(part, PointCloud):
                    limits = request.ratio * np.array([part.least, MOST_PIXELS, part.margin])
                    many = len(part.positions) > MANY and not request.smooth
                    dots = self._flat_dots if many else self._dots
                    dots.use()
                    dots.set(u_size=(part.diameter, *limits), u_shape=SHAPES[part.shape])
                elif isinstance(item, _SheetBuffers):
                    self._sheet.use()
                else:
                    (self._plain if _arrays(part)[NORMALS] is None else self._lit).use()
                item.draw()

    def _set_projection(self, request: RenderRequest) -> None:
        """Give the shaders what they know of the projection, where it is another one."""
        projection, ratio = request.projection, request.ratio
        if self._projected == (projection, ratio):
            return
        self._projected = None
        R, t = projection.R, projection.t
        # Upside down, because rows are read from the lowest to the highest.
        matrix = np.diag([1.0, -1.0, 1.0, 1.0]) @ projection.clip_matrix()
        for program in (self._plain, self._lit, self._sheet, self._dots, self._flat_dots):
            program.use()
            program.set_matrix(u_clip=matrix)
        self._lit.use()
        self._lit.set(
            u_eye=(*R[2], 0.0) if projection.parallel else (*(R.T @ t), 1.0), u_light=R.T @ SHADING.light
        )
        for dots in (self._dots, self._flat_dots):
            dots.use()
            dots.set(
                u_ahead=(0.0, 0.0, 0.0, 1.0) if projection.parallel else (*R[2], t[2]),
                u_focal=ratio * projection.focal,
                u_towards=-matrix[2:, :3] @ R[2],
                u_ratio=ratio,
            )
        self._projected = projection, ratio

    def _light_by_depth(self, parts: dict[str, Drawn], request: RenderRequest) -> None:
        """Darken what lies deeper than its surroundings, where points are very many."""
        dense = [
            part
            for part in parts.values()
            if isinstance(part, PointCloud) and len(part.positions) > EYE_DOME_FROM
        ]
        if not dense:
            return
        clip, R, t = request.projection.clip_matrix(), request.projection.R, request.projection.t
        along = clip[2:, :3] @ R[2]  # depths z have the clip coordinates along z + beyond
        beyond = clip[2:, 3] - along * t[2]
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self._lit_target)
        GL.glDisable(GL.GL_DEPTH_TEST)
        GL.glDisable(GL.GL_BLEND)
        for place, texture in enumerate((self._color, self._depth)):
            GL.glActiveTexture(GL.GL_TEXTURE0 + place)
            GL.glBindTexture(GL.GL_TEXTURE_2D, texture)
        GL.glActiveTexture(GL.GL_TEXTURE0)
        self._eye_dome.use()
        self._eye_dome.set_textures("u_color", "u_depth")
        self._eye_dome.set(
            u_view=(along[0], beyond[0], along[1], beyond[1]),
            u_unit=EYE_DOME_UNIT * max(part.diameter for part in dense),
            u_apart=EYE_DOME_REACH * request.ratio,
        )
        GL.glBindVertexArray(self._screen)
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
        GL.glEnable(GL.GL_DEPTH_TEST)
        GL.glEnable(GL.GL_BLEND)

    def _read(self, request: RenderRequest) -> QImage:
        size = request.size
        image = QImage(*size, request.image_format)
        bits = image.bits()
        if bits is None:
            raise ContextLost("there is no memory for the picture")
        bits.setsize(image.sizeInBytes())  # `asarray` loses 72 bytes at each picture
        pixels = np.frombuffer(bits, dtype=np.uint8)  # type: ignore[call-overload]  # it is a buffer
        GL.glReadPixels(0, 0, *size, GL.GL_BGRA, GL.GL_UNSIGNED_BYTE, array=pixels)
        return image
