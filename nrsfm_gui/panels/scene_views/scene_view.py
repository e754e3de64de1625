"""The 3-D panel: mouse, picking and labels over an OpenGL or a software picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QImage, QPainter
from PyQt6.QtWidgets import QSizePolicy, QWidget

from nrsfm_gui.model.theme import DARK, Theme
from nrsfm_gui.panels.scene_views.picking import nearest_point, shown_pixels
from nrsfm_gui.panels.scene_views.point_view import PointView
from nrsfm_gui.panels.scene_views.scene3d_camera import ViewCamera
from nrsfm_gui.panels.scene_views.scene3d_image import ScenePicture
from nrsfm_gui.panels.scene_views.scene3d_mouse import CameraMouse
from nrsfm_gui.panels.scene_views.scene3d_overlay import paint_message, paint_overlay
from nrsfm_gui.panels.scene_views.scene_controls import SceneControls
from nrsfm_gui.scene.scene import NO_SEQUENCE
from nrsfm_gui.widgets.lasso import Lasso

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PyQt6.QtGui import QPaintEvent, QResizeEvent

    from core.foundation import Floats
    from nrsfm_gui.panels.scene_views.orbit_camera import Orbit, Projection
    from nrsfm_gui.scene.scene import Scene

LABELED_SIZE = (900, 560)  # of a picture whose labels are as large as on the screen, pixels


class SceneView(PointView):
    """Estimate, ground truth and residuals in 3-D.

    Left button turns, middle button (or shift and left) moves, the wheel zooms, a double click fits, a click
    selects the nearest point; with Ctrl, a click adds or removes a point and a drag draws a lasso. While the
    camera is locked to the frame's, turning or zooming takes it back.

    Parameters
    ----------
    parent
        as of any widget.
    software
        paint without OpenGL even where it is available.

    Signals
    -------
    orthographic_changed(bool), camera_locked_changed(bool), turntable_changed(bool)
        as their names say.
    camera_changed(Orbit)
        the camera was moved here, and not by `set_orbit`.
    limits_requested((float, float) or None), color_map_requested(str), coloring_requested(str)
        what was chosen on the color bar.
    degraded(str)
        why OpenGL draws no longer, in a sentence.
    """

    orthographic_changed = pyqtSignal(bool)
    camera_locked_changed = pyqtSignal(bool)
    turntable_changed = pyqtSignal(bool)
    camera_changed = pyqtSignal(object)
    limits_requested = pyqtSignal(object)
    color_map_requested = pyqtSignal(str)
    coloring_requested = pyqtSignal(str)
    degraded = pyqtSignal(str)

    def __init__(self, parent: QWidget | None = None, *, software: bool = False) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("3-D view")
        self._picture = ScenePicture(self, software=software)
        self._picture.refined.connect(self.update)
        self._picture.degraded.connect(self.degraded)
        self._camera = ViewCamera(self)
        self._camera.moved.connect(self._redraw)
        self._camera.orbit_changed.connect(self.camera_changed)
        self._camera.orthographic_changed.connect(self.orthographic_changed)
        self._camera.locked_changed.connect(self.camera_locked_changed)
        self._camera.turning_changed.connect(self.turntable_changed)
        self._camera.turning_changed.connect(lambda _on: self._show_controls())
        self._mouse = CameraMouse(self, self._camera)
        self._mouse.clicked.connect(lambda position: self.point_selected.emit(self.point_at(position)))
        self._mouse.pointed.connect(lambda position: self._hover(self.point_at(position)))
        self._mouse.left.connect(lambda: self._hover(-1))
        self._mouse.double_clicked.connect(self.fit)
        self._lasso = Lasso(self)  # before the camera's mouse: the last filter is asked first
        self._lasso.clicked.connect(self._toggle)
        self._lasso.closed.connect(self._select_inside)
        self._lasso.changed.connect(self.update)
        self._controls = SceneControls(self)
        self.buttons, self.color_bar = self._controls.buttons, self._controls.color_bar
        self.buttons.preset_requested.connect(self.set_axis_preset)
        self.buttons.orthographic_requested.connect(self.set_orthographic)
        self.buttons.lock_requested.connect(self.set_camera_locked)
        self.buttons.turntable_requested.connect(self.set_turntable)
        self.buttons.fit_requested.connect(self.fit)
        self.color_bar.limits_requested.connect(self.limits_requested)
        self.color_bar.color_map_requested.connect(self.color_map_requested)
        self.color_bar.coloring_requested.connect(self.coloring_requested)
        self.set_theme(DARK)
        self._redraw()

    def sizeHint(self) -> QSize:
        """Return a size that leaves room for the other panels."""
        return QSize(640, 480)

    @property
    def uses_opengl(self) -> bool:
        """Whether the picture is drawn by OpenGL."""
        return self._picture.renderer.uses_opengl

    @property
    def drawn_by(self) -> str:
        """What draws the picture, in a sentence."""
        return self._picture.renderer.sentence

    @property
    def orbit(self) -> Orbit:
        """Where it is seen from while the camera is not locked to the frame's."""
        return self._camera.orbit

    @property
    def fitted(self) -> bool:
        """Whether the view holds the whole sequence, as nobody has moved the camera since."""
        return self._camera.fitted

    @property
    def orthographic(self) -> bool:
        """Whether rays are parallel."""
        return self._camera.orbit.orthographic

    @property
    def camera_locked(self) -> bool:
        """Whether the view is seen through the camera of the current frame."""
        return self._camera.locked

    @property
    def turntable(self) -> bool:
        """Whether the view turns by itself."""
        return self._camera.turning

    # What is shown

    def set_scene(self, scene: Scene) -> None:
        """Show a scene; the camera stays where it is unless the subject is another one."""
        old, self._scene = self._scene, scene
        if scene.extent is not None and (old is None or old.subject != scene.subject or old.extent is None):
            self._fit()
        self._picture.set_scene(scene, self._theme)
        self.color_bar.set_scene(scene)
        self._controls.place()
        self._redraw()
        if self.isVisible():
            self._picture.begin(
                self._theme, self._projection(), self.devicePixelRatioF(), locked=self._sees_through_frame
            )

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self._theme = theme
        self._controls.set_theme(theme)
        if self._scene is not None:
            self.set_scene(self._scene)
        else:
            self._controls.place()
            self._redraw()

    def set_hovered(self, index: int) -> None:
        """Circle a point that the mouse is on elsewhere, or none with -1. Emits nothing."""
        if index != self._hovered:
            self._hovered = index
            self.update()

    def grab_image(self) -> QImage:
        """Return what is seen, without the buttons, at the resolution of the screen."""
        return self._image_of(self._projection(), self.devicePixelRatioF())

    def render_image(self, width: int, height: int, orbit: Orbit | None = None) -> QImage:
        """Return a picture of any size with its labels, which grow with the picture. The view stays as it is.

        Parameters
        ----------
        width, height
            pixels.
        orbit
            where it is seen from; None as the view sees it.
        """
        ratio = max(1.0, min(width / LABELED_SIZE[0], height / LABELED_SIZE[1]))
        size = max(round(width / ratio), 1), max(round(height / ratio), 1)
        projection = self._projection(*size) if orbit is None else orbit.projection(*size)
        image = self._image_of(projection, ratio, (width, height))
        image.setDevicePixelRatio(1.0)
        return image

    def _image_of(self, projection: Projection, ratio: float, size: tuple[int, int] | None = None) -> QImage:
        image = self._picture.taken(self._theme, projection, ratio, size, locked=self._sees_through_frame)
        painter = QPainter(image)
        self.paint_labels(painter, projection, color_bar=True)
        painter.end()
        return image

    def paint_labels(
        self,
        painter: QPainter,
        projection: Projection,
        *,
        covered: Iterable[QRectF] = (),
        color_bar: bool = False,
    ) -> None:
        """Paint what is flat: legend, caption, rings, and the labels of axes where nothing is `covered`."""
        painter.setFont(self.font())
        if self._scene is None:
            paint_message(painter, NO_SEQUENCE, projection.width, projection.height, self._theme)
            return
        locked = self._sees_through_frame
        note = f"camera of frame {self._scene.frame + 1}" if locked else ""
        if self.orthographic and not locked:
            note = "orthographic"
        paint_overlay(
            painter,
            self._scene,
            projection,
            self._theme,
            hovered=self._hovered,
            note=" · ".join(each for each in (note, self._picture.note) if each),
            locked=locked,
            covered=covered,
            color_bar=color_bar,
        )

    # Where it is seen from

    def fit(self) -> None:
        """Move the camera so that the whole sequence fills the view."""
        self._fit()

    def set_axis_preset(self, name: str) -> None:
        """Look from the "front", "side", "top" or "iso"."""
        self._camera.preset(name)
        self._fit()

    def set_orbit(self, orbit: Orbit) -> None:
        """Look from there, as another view does; `camera_changed` is not emitted."""
        self._camera.set_orbit(orbit)

    def set_orthographic(self, on: bool) -> None:
        """Project along parallel rays, or towards a point; what is at the center keeps its size."""
        self._camera.set_orthographic(on)
        if self._camera.fitted:
            self._fit()

    def set_camera_locked(self, on: bool) -> None:
        """See through the camera of the current frame, or through the orbiting one."""
        self._camera.set_locked(on)

    def set_turntable(self, on: bool) -> None:
        """Turn slowly around the object until the mouse takes the camera."""
        self._camera.set_turning(on)
        if on and self._camera.fitted:
            self._fit()

    def _fit(self) -> None:
        scene = self._scene
        if scene is None or scene.bounds is None:
            return
        points = scene.bounds if scene.path is None else np.concatenate([scene.bounds, scene.path])
        self._camera.fit(points, self.width(), self.height())

    @property
    def _sees_through_frame(self) -> bool:
        return self._camera.sees_through_frame(self._scene)

    def _projection(self, width: int | None = None, height: int | None = None) -> Projection:
        size = max(width or self.width(), 1), max(height or self.height(), 1)
        return self._camera.projection(self._scene, *size)

    # The picture

    def _redraw(self) -> None:
        """Make the picture anew when it is next painted."""
        self._picture.invalidate()
        self._show_controls()
        self.update(self._controls.open)

    def repaint(self) -> None:  # type: ignore[override]
        """Paint the picture before returning, and not the buttons over it."""
        super().repaint(self._controls.open)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint the picture, made anew only where it changed, and the labels."""
        projection = self._projection()
        picture = self._picture.image(
            self._theme, projection, self.devicePixelRatioF(), locked=self._sees_through_frame
        )
        painter = QPainter(self)
        painter.drawImage(0, 0, picture)
        self.paint_labels(painter, projection, covered=self._controls.covered)
        self._lasso.paint(painter, self._theme)
        painter.end()

    def _show_controls(self) -> None:
        self._controls.show(self._scene, self._camera)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Keep what is fitted as large as the view."""
        self._controls.place()
        if self._camera.fitted:
            self._fit()
        self._redraw()

    # Mouse

    def point_at(self, position: QPointF) -> int:
        """Return the index of the point nearest to a pixel, or -1 where none is near."""
        if self._scene is None or self._scene.message:
            return -1
        return nearest_point(self._scene, self._projection(), (position.x(), position.y()))

    def _seen(self) -> list[Floats]:
        """Return where points are seen, none where there is only a message."""
        if self._scene is None or self._scene.message:
            return []
        return shown_pixels(self._scene, self._projection())
