"""The 3-D panel: orbiting camera, mouse, picking and labels over an OpenGL or a software picture."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QImage, QPainter
from PyQt6.QtWidgets import QSizePolicy, QWidget

from nrsfm_gui.scene import NO_SEQUENCE
from nrsfm_gui.theme import DARK, Theme

from .colors import qcolor
from .opengl_probe import opengl_available
from .orbit import Orbit, Projection, locked_projection
from .overlay3d import paint_message, paint_overlay
from .pick import nearest_point
from .scene3d_parts import scene_parts
from .scene3d_software import SoftwareCanvas, software_picture
from .view_buttons import ViewButtons

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PyQt6.QtGui import QMouseEvent, QPaintEvent, QResizeEvent, QShowEvent, QWheelEvent

    from core.arrays import Floats
    from nrsfm_gui.scene import Scene

    from .scene3d_gl import OpenGLCanvas
    from .scene3d_parts import Part

CLICK_TRAVEL = 4.0  # pixels that a click may move before it is a drag
DEGREES_PER_PIXEL = 0.4
ZOOM_PER_NOTCH = 1.15


class _Overlay(QWidget):
    """A transparent sheet over the picture."""

    def __init__(self, view: SceneView) -> None:
        super().__init__(view)
        self._view = view
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        painter = QPainter(self)
        self._view.paint_labels(painter, covered=self._view.covered)
        painter.end()


class SceneView(QWidget):
    """Estimate, ground truth and residuals in 3-D.

    Left button turns, middle button (or shift and left) moves, the wheel zooms, a double click fits, a click
    selects the nearest point. While the camera is locked to the frame's, turning or zooming takes it back.

    Parameters
    ----------
    parent
        as of any widget.
    software
        paint without OpenGL even where it is available.
    """

    point_selected = pyqtSignal(int)  # index, or -1 for none
    point_hovered = pyqtSignal(int)  # index, or -1 for none
    orthographic_changed = pyqtSignal(bool)
    camera_locked_changed = pyqtSignal(bool)

    def __init__(self, parent: QWidget | None = None, *, software: bool = False) -> None:
        super().__init__(parent)
        self.setMinimumSize(200, 160)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self._scene: Scene | None = None
        self._parts: dict[str, Part] = {}
        self._theme = DARK
        self._orbit = Orbit()
        self._fitted = True  # until the camera is moved by hand: a resized view fits itself again
        self._locked = False
        self._hovered = -1
        self._pressed: QPointF | None = None
        self._last = QPointF()
        self._dragging = False
        self._canvas: SoftwareCanvas | OpenGLCanvas = self._make_canvas(software)
        self._overlay = _Overlay(self)
        self._buttons = ViewButtons(self)
        self._buttons.preset_requested.connect(self.set_axis_preset)
        self._buttons.orthographic_requested.connect(self.set_orthographic)
        self._buttons.lock_requested.connect(self.set_camera_locked)
        self._buttons.fit_requested.connect(self.fit)
        self._check = QTimer(self)
        self._check.setSingleShot(True)
        self._check.timeout.connect(self._replace_broken_canvas)
        self.set_theme(DARK)

    def sizeHint(self) -> QSize:
        """Return a size that leaves room for the other panels."""
        return QSize(640, 480)

    @property
    def uses_opengl(self) -> bool:
        """Whether the picture is drawn by OpenGL."""
        return not isinstance(self._canvas, SoftwareCanvas)

    @property
    def orthographic(self) -> bool:
        """Whether rays are parallel."""
        return self._orbit.orthographic

    @property
    def camera_locked(self) -> bool:
        """Whether the view is seen through the camera of the current frame."""
        return self._locked

    # What is shown

    def set_scene(self, scene: Scene) -> None:
        """Show a scene; the camera stays where it is unless the subject is another one."""
        old, self._scene = self._scene, scene
        if scene.extent is not None and (old is None or old.subject != scene.subject or old.extent is None):
            self._fit_orbit(scene.extent)
        self._parts = {} if scene.message else scene_parts(scene, self._theme)
        self._canvas.set_parts(self._parts)
        self._show_camera()

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self._theme = theme
        self._canvas.set_background(qcolor(theme.panel))
        self._buttons.set_theme(theme)
        if self._scene is not None:
            self.set_scene(self._scene)
        self._place()

    def set_hovered(self, index: int) -> None:
        """Circle a point that the mouse is on elsewhere, or none with -1. Emits nothing."""
        if index != self._hovered:
            self._hovered = index
            self._overlay.update()

    def grab_image(self) -> QImage:
        """Return the picture with its labels."""
        if isinstance(self._canvas, SoftwareCanvas) or not self._canvas.isValid():
            image = software_picture(
                self._parts,
                self._projection(),
                qcolor(self._theme.panel),
                ratio=self.devicePixelRatioF(),
            )
        else:
            image = self._canvas.grab_picture()
        painter = QPainter(image)
        self.paint_labels(painter)
        painter.end()
        return image

    @property
    def covered(self) -> list[QRectF]:
        """Where the buttons lie over the view."""
        return [QRectF(self._buttons.geometry())] if self._buttons.isVisible() else []

    def paint_labels(self, painter: QPainter, *, covered: Iterable[QRectF] = ()) -> None:
        """Paint what is flat: legend, caption, rings, and the labels of axes where nothing is `covered`."""
        painter.setFont(self.font())
        if self._scene is None:
            paint_message(painter, NO_SEQUENCE, self.width(), self.height(), self._theme)
            return
        note = ""
        if self._sees_through_frame:
            note = f"camera of frame {self._scene.frame + 1}"
        elif self._orbit.orthographic:
            note = "orthographic"
        paint_overlay(
            painter,
            self._scene,
            self._projection(),
            self._theme,
            hovered=self._hovered,
            note=note,
            covered=covered,
        )

    # Where it is seen from

    def fit(self) -> None:
        """Move the camera so that the whole sequence fills the view."""
        if self._scene is not None and self._scene.extent is not None:
            self._fit_orbit(self._scene.extent)
            self._show_camera()

    def set_axis_preset(self, name: str) -> None:
        """Look from the "front", "side", "top" or "iso"."""
        self.set_camera_locked(False)
        self._orbit = self._orbit.preset(name)
        self.fit()
        self._show_camera()

    def set_orthographic(self, on: bool) -> None:
        """Project along parallel rays, or towards a point; what is at the center keeps its size."""
        changed = on != self._orbit.orthographic
        self._orbit = replace(self._orbit, orthographic=on)
        self._show_camera()
        if changed:
            self.orthographic_changed.emit(on)

    def set_camera_locked(self, on: bool) -> None:
        """See through the camera of the current frame, or through the orbiting one."""
        changed, self._locked = on != self._locked, on
        self._show_camera()
        if changed:
            self.camera_locked_changed.emit(on)

    @property
    def _sees_through_frame(self) -> bool:
        scene = self._scene
        return self._locked and scene is not None and scene.camera is not None and scene.extent is not None

    def _fit_orbit(self, extent: Floats) -> None:
        # To the object: the floor and its labels may reach beyond the picture.
        self._orbit = self._orbit.fitted(extent, self.width(), self.height())
        self._fitted = True

    def _projection(self) -> Projection:
        scene = self._scene
        width, height = max(self.width(), 1), max(self.height(), 1)
        if self._locked and scene is not None and scene.camera is not None and scene.extent is not None:
            return locked_projection(scene.camera, scene.image_extent, scene.extent, width, height)
        return self._orbit.projection(width, height)

    def _show_camera(self) -> None:
        scene = self._scene
        self._canvas.set_projection(self._projection())
        self._buttons.set_state(
            orthographic=self._orbit.orthographic,
            locked=self._locked,
            lockable=scene is not None and scene.camera is not None,
        )
        self._buttons.setVisible(scene is not None and not scene.message)
        self._overlay.update()

    # The picture

    def _make_canvas(self, software: bool) -> SoftwareCanvas | OpenGLCanvas:
        if software or not opengl_available():
            return SoftwareCanvas(self)
        from .scene3d_gl import OpenGLCanvas

        return OpenGLCanvas(self)

    def _replace_broken_canvas(self) -> None:
        """Paint by software where the probe found a context but the widget could not make its own."""
        if isinstance(self._canvas, SoftwareCanvas) or self._canvas.isValid() or not self.isVisible():
            return
        self._canvas.hide()
        self._canvas.deleteLater()
        self._canvas = SoftwareCanvas(self)
        self._canvas.show()
        self._place()
        self.set_theme(self._theme)

    def _place(self) -> None:
        self._canvas.setGeometry(self.rect())
        self._overlay.setGeometry(self.rect())
        self._overlay.raise_()
        size = self._buttons.sizeHint()
        self._buttons.setGeometry(
            self.width() - size.width() - 10, self.height() - size.height() - 10, size.width(), size.height()
        )
        self._buttons.raise_()

    def showEvent(self, event: QShowEvent | None) -> None:
        """Look after the picture once it had the chance to start."""
        self._check.start(500)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Keep picture and labels as large as the view."""
        self._place()
        if self._fitted and self._scene is not None and self._scene.extent is not None:
            self._fit_orbit(self._scene.extent)
        self._show_camera()

    # Mouse

    def point_at(self, position: QPointF) -> int:
        """Return the index of the point nearest to a pixel, or -1 where none is near."""
        if self._scene is None or self._scene.message:
            return -1
        return nearest_point(self._scene, self._projection(), (position.x(), position.y()))

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Remember where a click or a drag begins."""
        assert event is not None
        self._pressed = self._last = event.position()
        self._dragging = False

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Turn, move, or say what is under the mouse."""
        assert event is not None
        if self._pressed is None:
            self._hover(self.point_at(event.position()))
            return
        if not self._dragging:
            travel = event.position() - self._pressed
            if travel.manhattanLength() < CLICK_TRAVEL:
                return
            self._dragging = True
            self._last = self._pressed
        delta = event.position() - self._last
        self._last = event.position()
        buttons, shift = event.buttons(), event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        self._take_camera()
        if buttons & Qt.MouseButton.MiddleButton or (buttons & Qt.MouseButton.LeftButton and shift):
            self._orbit = self._orbit.panned(delta.x(), delta.y(), self.height())
        elif buttons & Qt.MouseButton.LeftButton:
            self._orbit = self._orbit.turned(delta.x() * DEGREES_PER_PIXEL, delta.y() * DEGREES_PER_PIXEL)
        self._show_camera()

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:
        """Select, where the mouse did not move."""
        assert event is not None
        if self._pressed is not None and not self._dragging and event.button() == Qt.MouseButton.LeftButton:
            self.point_selected.emit(self.point_at(event.position()))
        self._pressed = None

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:
        """Fit the view."""
        self._pressed = None
        self.fit()

    def wheelEvent(self, event: QWheelEvent | None) -> None:
        """Zoom."""
        assert event is not None
        self._take_camera()
        self._orbit = self._orbit.zoomed(ZOOM_PER_NOTCH ** (event.angleDelta().y() / 120.0))
        self._show_camera()
        event.accept()

    def leaveEvent(self, event: QEvent | None) -> None:
        """Nothing is under the mouse any more."""
        self._hover(-1)

    def _take_camera(self) -> None:
        """Movement by hand ends the lock, and the fit that follows the size of the view."""
        self._fitted = False
        self.set_camera_locked(False)

    def _hover(self, index: int) -> None:
        if index != self._hovered:
            self.set_hovered(index)
            self.point_hovered.emit(index)
