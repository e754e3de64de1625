"""The 3-D picture by OpenGL: one item per part, of which only the changed ones are sent again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyqtgraph.opengl as gl
from OpenGL import GL
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QMatrix4x4
from PyQt6.QtWidgets import QSizePolicy
from pyqtgraph.opengl.GLGraphicsItem import GLOptions

from .dots_gl import Dots
from .scene3d_parts import Part, Points, Segments, Triangles

if TYPE_CHECKING:
    from PyQt6.QtGui import QColor, QImage
    from PyQt6.QtWidgets import QWidget
    from pyqtgraph.opengl.GLGraphicsItem import GLGraphicsItem

    from .orbit import Projection

ORDER = {Triangles: 0, Segments: 1, Points: 2}  # as the software picture has it: dots over all else
SMOOTH_LINES = 8000  # ends of lines above which smoothing costs too much without a graphics card
# Only dots hide what is behind them: the soft edge of a line would cut holes into the dots at its ends.
SOLID = {**GLOptions["translucent"], "glDepthMask": (True,)}
SHEER = {**GLOptions["translucent"], "glDepthMask": (False,)}


class OpenGLCanvas(gl.GLViewWidget):
    """Draws parts through a projection. Mouse events pass through to the view behind it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumSize(160, 120)  # it has no size hint, and would get none
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._drawn: dict[str, tuple[GLGraphicsItem, Part]] = {}
        self._clip = QMatrix4x4()

    def set_parts(self, parts: dict[str, Part]) -> None:
        """Show these instead: items are made, changed and removed only where a part differs."""
        for name in [name for name in self._drawn if name not in parts]:
            self.removeItem(self._drawn.pop(name)[0])
        for name, part in parts.items():
            item, old = self._drawn.get(name, (None, None))
            if item is not None and type(old) is not type(part):
                self.removeItem(item)
                item = None
            if item is None:
                item = _new_item(part, self.devicePixelRatioF())
                item.setDepthValue(ORDER[type(part)])
                self.addItem(item)
            elif not part.same(old):
                _change_item(item, part, self.devicePixelRatioF())
            self._drawn[name] = (item, part)

    def set_projection(self, projection: Projection) -> None:
        """Look from there."""
        self._clip = QMatrix4x4(*projection.clip_matrix().ravel().tolist())
        self.update()

    def set_background(self, color: QColor) -> None:
        """Fill with this color before drawing."""
        self.setBackgroundColor(color)

    def grab_picture(self) -> QImage:
        """Return what is shown, at the resolution of the screen."""
        image = self.grabFramebuffer().copy()
        image.setDevicePixelRatio(self.devicePixelRatioF())
        return image

    def paint(self, **options: Any) -> None:
        """Draw; the depth of the last picture could not be cleared where the last item left it locked."""
        GL.glDepthMask(True)
        super().paint(**options)

    def projectionMatrix(self, region: object, viewport: object) -> QMatrix4x4:
        """Return the whole map: the view's own camera is the only one."""
        return self._clip

    def viewMatrix(self) -> QMatrix4x4:
        """Return the identity: `projectionMatrix` has it all."""
        return QMatrix4x4()


def _new_item(part: Part, ratio: float) -> GLGraphicsItem:
    if isinstance(part, Points):
        return Dots(pos=part.positions, color=part.colors, size=part.size * ratio, glOptions=SOLID)
    if isinstance(part, Segments):
        return gl.GLLinePlotItem(mode="lines", glOptions=SHEER, **_lines(part))
    return gl.GLMeshItem(glOptions=SHEER, **_mesh(part))


def _change_item(item: GLGraphicsItem, part: Part, ratio: float) -> None:
    if isinstance(part, Points):
        item.setData(pos=part.positions, color=part.colors, size=part.size * ratio)
    elif isinstance(part, Segments):
        item.setData(**_lines(part))
    else:
        item.setMeshData(**_mesh(part))


def _lines(part: Segments) -> dict[str, Any]:
    smooth = len(part.positions) <= SMOOTH_LINES
    return {"pos": part.positions, "color": part.colors, "antialias": smooth}


def _mesh(part: Triangles) -> dict[str, Any]:
    """Arguments of a mesh item without shared corners, which wants the color of every corner."""
    colors = part.colors[:, None, :].repeat(3, axis=1)
    return {"vertexes": part.corners, "faceColors": colors, "smooth": False, "computeNormals": False}
