"""The 3-D view: a rendered picture with its overlay, buttons, color bar, mouse control and picking."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from itertools import chain

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import (
    QAction,
    QContextMenuEvent,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
    QWheelEvent,
)
from PyQt6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolButton, QWidget

from core.foundation import Floats
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.panels.view3d.overlay import paint_overlay
from nrsfm_gui.panels.view3d.parts import RenderRequest
from nrsfm_gui.panels.view3d.picture import SceneRenderer
from nrsfm_gui.scene.framing import Framing
from nrsfm_gui.scene.orbit_camera import Orbit, Projection, locked_projection
from nrsfm_gui.scene.scene import NO_SEQUENCE, Scene
from nrsfm_gui.scene.view_camera import ViewCamera, Viewpoint
from nrsfm_gui.widgets.color_bar import ColorBar
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.fields import filled, tool_button
from nrsfm_gui.widgets.lasso import CLICK_TRAVEL, Lasso
from nrsfm_gui.widgets.picture_labels import paint_message
from nrsfm_gui.widgets.point_view import PointView, nearest_of

BUTTONS = {  # by name: text, tip, and text in a menu, where no other buttons are beside it
    "front": ("Front", "Look from the front", "Front"),
    "side": ("Side", "Look from the side", "Side"),
    "top": ("Top", "Look from above", "Top"),
    "iso": ("Iso", "Look from the upper right", "Iso"),
    "orthographic": ("Ortho", "Orthographic: project along parallel rays", "Orthographic"),
    "lock": (
        "Camera", "See through the camera of the current frame, as in the 2-D panel", "Camera of the frame"
    ),
    "turntable": ("Turn", "Turn slowly around the object (R)", "Turn slowly"),
    "follow": ("Follow", "Move with the object; off: the camera stays", "Follow"),
    "look": ("Look…", "Colors, trails, mesh, sizes and layers (B)", ""),
    "fit": ("Fit", "Show the object large (double-click)", ""),
}  # fmt: skip
PRESETS = ("front", "side", "top", "iso")
SWITCHES = ("orthographic", "lock", "turntable", "follow")
EDGE = 10  # pixels between the border and the controls
ZOOM_PER_NOTCH = 1.15
LABELED_SIZE = (900, 560)  # of a picture whose labels are as large as on the screen, pixels


class ViewButtons(QWidget):
    """Axis presets, orthographic projection, the camera of the frame, turntable, appearance, and fit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # Opaque, so that the picture behind them can change without a need to paint them again.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        tip = "Directions, projection and motion of the view"
        self._menu_button = tool_button("View", tip, object_name="view_menu", keyboard=False)
        self._menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self._menu_button)
        self._menu_button.setMenu(self._menu)
        self._laid_out: tuple[Hashable, ...] = ()  # what the room was last divided for
        self.moves = False  # whether there is an object to follow
        self.acts: dict[str, QAction] = {}
        self._buttons: dict[str, QToolButton] = {}
        for name, (text, tip, title) in BUTTONS.items():
            act = self.acts[name] = QAction(title, self)
            act.setIconText(text)
            act.setToolTip(tip)
            act.setCheckable(name in SWITCHES)
            self._buttons[name] = tool_button(text, tip, object_name=name, keyboard=False)
            self._buttons[name].setDefaultAction(act)
        self.look = self._buttons["look"]
        self.row = filled(QHBoxLayout(self), self._menu_button, *self._buttons.values(), spacing=3)
        for place in (9, 5):  # before what is always shown, and before the switches
            self.row.insertSpacing(place, 6)

    def fit_width(self, width: int) -> None:
        """Move buttons into a menu until the others have room: first the presets."""
        key = (width, self.moves, self.fontMetrics().averageCharWidth())
        if key == self._laid_out:
            return
        self._laid_out = key
        groups = PRESETS, SWITCHES if self.moves else SWITCHES[:-1]
        self._buttons["follow"].hide()
        self._menu_button.hide()
        self._menu.clear()
        for name in chain(*groups):
            self._buttons[name].show()
        for group in groups:
            if self.sizeHint().width() <= width:
                break
            for name in group:
                self._buttons[name].hide()
                self._menu.addAction(self.acts[name])
            self._menu_button.show()


class SceneView(PointView):
    """Estimate, ground truth and residuals in 3-D."""

    GESTURES = (
        ("Left drag", "turn"),
        ("Middle drag, Shift+left drag", "move"),
        ("Wheel", "zoom"),
        ("Double click", "fit"),
        ("Click", "select the nearest point, or none"),
        ("Ctrl+click", "add a point to the selected ones, or remove it"),
        ("Ctrl+drag, Ctrl+Shift+drag", "select what a lasso encloses, or add it"),
        ("Right click", "menu of the point, or of the view"),
    )
    # A click with the right button where no point is, at a place of the screen.
    view_menu_requested = pyqtSignal(object)

    def __init__(self, *, software: bool = False) -> None:
        super().__init__()
        self._scene: Scene | None = None
        self._fitted_to: Framing | None = None  # not that of the scene where the two are nearly the same
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # the keys of the views act then
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("3-D view")
        self.renderer = SceneRenderer(self, software=software)
        self.renderer.refined.connect(self.update)
        self.camera = ViewCamera(self)
        self.camera.moved.connect(self._redraw)
        self.camera.turning_changed.connect(lambda _on: self._show_controls())
        self._pressed: QPointF | None = None  # where a button was pressed that is held
        self._dragged_to: QPointF | None = None  # None for a press that may be a click
        self._lasso = Lasso(self)  # filters the events of the mouse
        self._lasso.clicked.connect(self._toggle)
        self._lasso.closed.connect(self._select_inside)
        self._lasso.changed.connect(self.update)
        self.buttons, self.color_bar = ViewButtons(self), ColorBar(self)
        acts = self.buttons.acts
        for name in PRESETS:
            acts[name].triggered.connect(lambda _, name=name: self.set_axis_preset(name))
        acts["orthographic"].triggered.connect(self.set_orthographic)
        acts["lock"].triggered.connect(self.set_camera_locked)
        acts["turntable"].triggered.connect(self.set_turntable)
        acts["fit"].triggered.connect(lambda _checked: self.fit())
        self._follow_theme()

    def sizeHint(self) -> QSize:
        """Return a size that leaves space for the other panels."""
        return QSize(640, 480)

    # What is shown

    def set_scene(self, scene: Scene) -> None:
        """Show a scene; a camera that a person has moved stays unless the subject is another one."""
        old, self._scene = self._scene, scene
        self._frame(old, scene)
        self.renderer.set_scene(scene)
        self.color_bar.set_scale(scene.appearance, scene.color_limits, scene.color_title)
        framing = scene.shapes.framing
        self.buttons.moves = framing is not None and framing.moves
        self.buttons.acts["follow"].setChecked(scene.appearance.follow)
        self._place_controls()
        self._redraw()
        if self.isVisible():
            self.renderer.begin(self._request())

    def _apply_theme(self, theme: Theme) -> None:
        self.renderer.theme = theme
        if self._scene is not None:
            self.set_scene(self._scene)
        else:
            self._place_controls()
            self._redraw()

    def set_hovered(self, index: int) -> None:
        """Mark the point that the mouse is over in another view, or none with -1. Emits nothing."""
        if index != self._hovered:
            self._hovered = index
            self.update()

    def grab_image(self) -> QImage:
        """Return what is seen, without the buttons, at the resolution of the screen."""
        return self._image_of(self._request())

    def render_image(
        self,
        width: int,
        height: int,
        orbit: Orbit | None = None,
        *,
        labels: bool = True,
        transparent: bool = False,
    ) -> QImage:
        """Return a picture of any size with labels that grow with it. The view stays as it is."""
        ratio, size = labeled_size(width, height)
        projection = self._projection(*size, orbit or self.orbit_for(*size))
        ground, locked = qcolor(self._theme.panel, 0.0 if transparent else 1.0), self._sees_through_frame
        request = RenderRequest(projection, ground, (width, height), ratio, locked=locked)
        image = self._image_of(request, labels=labels)
        image.setDevicePixelRatio(1.0)
        return image

    def _image_of(self, request: RenderRequest, *, labels: bool = True) -> QImage:
        image = self.renderer.render(request)
        if labels:
            painter = QPainter(image)
            self._paint_labels(painter, request.projection)
            painter.end()
        return image

    def _paint_labels(
        self, painter: QPainter, projection: Projection, covered: list[QRectF] | None = None
    ) -> None:
        """Paint what is flat: legend, caption, rings, and texts where no controls cover it."""
        painter.setFont(self.font())
        if self._scene is None:
            paint_message(painter, NO_SEQUENCE, projection.width, projection.height, self._theme)
            return
        locked = self._sees_through_frame
        status = "orthographic" if self.camera.orbit.orthographic else ""
        if locked:
            status = f"camera of frame {self._scene.frame + 1}"
        status = " · ".join(filter(None, (status, self.renderer.omission)))
        paint_overlay(
            painter,
            self._scene,
            projection,
            self._theme,
            hovered=self._hovered,
            status=status,
            locked=locked,
            covered=covered,
        )

    # Where it is seen from

    def fit(self) -> None:
        """Show the object large, seen from the same direction."""
        with self.camera.gesture("Fit the view"):
            self._fit()

    def reset(self) -> None:
        """Show the object large, seen from the default direction."""
        with self.camera.gesture("Reset the view"):
            self.camera.stop()
            self._fit(aim=True)

    def fit_cameras(self) -> None:
        """Show the object and the centers of all cameras, seen from the same direction."""
        framing, scene = self.framing, self._scene
        if framing is not None and scene is not None and scene.path is not None:
            points = np.concatenate([framing.outline_in_space, scene.path])
            orbit = self.camera.orbit.fitted(points, self.width(), self.height())
            with self.camera.gesture("Show the cameras"):
                self.camera.move(orbit, fitted=False)
        else:
            self.fit()

    def set_axis_preset(self, name: str) -> None:
        """Look from the "front", "side", "top" or "iso"."""
        framing, camera = self.framing, self.camera
        with camera.gesture(f"Look from the {name}"):
            camera.stop()
            orbit = camera.orbit.preset(name, 0.0 if framing is None else framing.front)
            camera.move(orbit if framing is None else replace(orbit, up=framing.aim.up), aimed=False)
            self._fit()

    def show_saved(self, key: str) -> None:
        """Look from where a saved view was."""
        viewpoint = Viewpoint(self.camera.saved_views[key], locked=False, fitted=False, aimed=False)
        with self.camera.gesture(f"Show view {key}"):
            self.camera.set_viewpoint(viewpoint)

    def set_viewpoint(self, viewpoint: Viewpoint) -> None:
        """Look from a place where the view was before, as `viewpoint_changed` had it."""
        self.camera.set_viewpoint(viewpoint)
        if viewpoint.fitted:  # perhaps to another frame, or in a view of another size
            self._fit()

    def orbit_for(self, width: int, height: int) -> Orbit:
        """Return the orbit of a picture of another size: fitted to it where this view is fitted."""
        framing = self.framing
        if framing is None or not self.camera.fitted:
            return self.camera.orbit
        return self._orbit_filling(framing, width, height)

    def set_orthographic(self, on: bool) -> None:
        """Project along parallel rays, or towards a point; what is at the center keeps its size."""
        with self.camera.gesture("Orthographic view" if on else "Perspective view"):
            self.camera.move(replace(self.camera.orbit, orthographic=on))
            if self.camera.fitted:
                self._fit()

    def set_camera_locked(self, on: bool) -> None:
        """See through the camera of the current frame, or through the orbiting one."""
        with self.camera.gesture("Lock to the camera" if on else "Leave the camera"):
            self.camera.set_locked(on)

    def set_turntable(self, on: bool) -> None:
        """Rotate slowly around the object until the mouse moves the camera."""
        self.camera.set_turning(on)
        if on and self.camera.fitted:
            self._fit()

    def _orbit_filling(self, framing: Framing, width: int, height: int, *, aim: bool = False) -> Orbit:
        """Return the orbit that fills a picture with the frame, or with all that a turn needs."""
        orbit, scene = self.camera.orbit, self._scene
        assert scene is not None  # the framing is of one
        follow = scene.appearance.follow
        if aim:
            orbit = replace(framing.aim, orthographic=orbit.orthographic)
        if self.camera.turning:
            return framing.fit_around(orbit, width, height, follow=follow)
        return framing.fit(orbit, width, height, scene.frame, follow=follow)

    def _fit(self, *, aim: bool = False) -> None:
        self._fitted_to = framing = self.framing
        if framing is not None:
            orbit = self._orbit_filling(framing, self.width(), self.height(), aim=aim)
            self.camera.move(orbit, fitted=True, aimed=aim or self.camera.aimed)

    def _frame(self, old: Scene | None, scene: Scene) -> None:
        """Fit the view to a scene that is another one than before, unless a person has moved it."""
        framing, before = scene.shapes.framing, None if old is None else old.shapes.framing
        if framing is None:
            return
        camera, follow, aimed = self.camera, scene.appearance.follow, self.camera.aimed
        size = self.width(), self.height()

        def show(framing: Framing, *, aim: bool) -> None:
            camera.change(orbit=self._orbit_filling(framing, *size, aim=aim), fitted=True, aimed=aim or aimed)

        another = old is not None and old.subject != scene.subject and not aimed
        if before is not None and (another or framing.upright != before.upright):
            camera.change(orbit=camera.orbit.about(framing.up))
        if old is None or before is None or old.subject != scene.subject:
            new = old is None or before is None or old.subject[0] != scene.subject[0]
            self._fitted_to = framing
            show(framing, aim=new or aimed)
        elif camera.fitted:
            first = framing.by_cameras and not before.by_cameras
            fitted_to = self._fitted_to or framing
            # One that is nearly the same does not move the picture.
            misses = framing is not fitted_to and camera.misses(self._orbit_filling(framing, *size))
            if misses or (aimed and first):
                fitted_to = framing
            self._fitted_to = fitted_to
            moved = scene.frame != old.frame and not camera.turning
            if moved or follow != old.appearance.follow or fitted_to is framing is not before:
                show(fitted_to, aim=aimed and first)
        elif follow != old.appearance.follow:  # the picture stays, and moves from now on, or does not
            way = framing.displacements[scene.frame]
            orbit = camera.orbit.displaced(-way if follow else way)
            camera.set_viewpoint(replace(camera.viewpoint, orbit=orbit))

    @property
    def framing(self) -> Framing | None:
        """What is to be seen of the scene; None without one."""
        return None if self._scene is None else self._scene.shapes.framing

    def _outline(self) -> Floats | None:
        """Return the outermost points (N, 3) of the frame, where the orbit sees them."""
        scene, framing = self._scene, self.framing
        if framing is None or scene is None:
            return None
        return framing.outline_at(scene.frame, follow=scene.appearance.follow)

    @property
    def rotation(self) -> Floats:
        """(3, 3) from the scene to what is seen: x right, y down, z into the picture."""
        return self._projection().R

    @property
    def _sees_through_frame(self) -> bool:
        scene = self._scene
        return self.camera.locked and scene is not None and not (scene.camera is None or scene.extent is None)

    def _projection(
        self, width: int | None = None, height: int | None = None, orbit: Orbit | None = None
    ) -> Projection:
        size, scene = (max(width or self.width(), 1), max(height or self.height(), 1)), self._scene
        orbit = orbit or self.camera.orbit
        if scene is None:
            return orbit.projection(*size)
        if self.camera.locked and scene.camera is not None and scene.extent is not None:
            return locked_projection(scene.camera, scene.shapes.image_extent, scene.extent, *size)
        return orbit.displaced(scene.displacement).projection(*size)

    # The picture

    def _request(self) -> RenderRequest:
        """Return how the picture for the screen is rendered."""
        projection, ratio = self._projection(), self.devicePixelRatioF()
        size = max(round(projection.width * ratio), 1), max(round(projection.height * ratio), 1)
        ground, locked = qcolor(self._theme.panel), self._sees_through_frame
        return RenderRequest(projection, ground, size, ratio, locked=locked)

    def _redraw(self) -> None:
        """Make the picture anew when it is next painted."""
        self.renderer.invalidate()
        self._show_controls()
        self.update(self._uncovered)

    def repaint(self) -> None:  # type: ignore[override]
        """Paint the picture before returning, and not the buttons over it."""
        super().repaint(self._uncovered)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint the picture, made anew only where it changed, and the labels."""
        request = self._request()
        picture = self.renderer.image(request)
        painter = QPainter(self)
        painter.drawImage(0, 0, picture)
        covered = [QRectF(each.geometry()) for each in (self.buttons, self.color_bar) if each.isVisible()]
        self._paint_labels(painter, request.projection, covered)
        self._lasso.paint(painter, self._theme)

    @property
    def _uncovered(self) -> QRegion:
        """The visible part of the picture: without the buttons, which would be repainted with it."""
        everything = QRegion(self.rect())
        return everything - QRegion(self.buttons.geometry()) if self.buttons.isVisible() else everything

    def _show_controls(self) -> None:
        """Show the controls of the scene, in the state of the camera."""
        scene, camera, acts = self._scene, self.camera, self.buttons.acts
        acts["orthographic"].setChecked(camera.orbit.orthographic)
        acts["lock"].setChecked(camera.locked)
        acts["lock"].setEnabled(scene is not None and scene.camera is not None)
        acts["turntable"].setChecked(camera.turning)
        self.buttons.setVisible(scene is not None and not scene.message)
        self.color_bar.setVisible(scene is not None and not scene.message and scene.colored)

    def _place_controls(self) -> None:
        """Put the buttons into the lower right corner, and the color bar to the left of them or above."""
        self.buttons.fit_width(self.width() - 2 * EDGE)
        size = self.buttons.sizeHint()
        left, top = self.width() - size.width() - EDGE, self.height() - size.height() - EDGE
        self.buttons.setGeometry(left, top, size.width(), size.height())
        self.buttons.row.activate()  # a picture may be wanted before pending events are processed
        bar = self.color_bar.sizeHint()
        beside = bar.width() + 3 * EDGE <= left
        bottom = self.height() - EDGE if beside else top - EDGE
        self.color_bar.setGeometry(EDGE, bottom - bar.height(), bar.width(), bar.height())

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Keep what is fitted as large as the view."""
        self._place_controls()
        if self.camera.fitted:
            self._fit()
        self._redraw()

    # Mouse: the left button turns, the middle one (or Shift and left) moves, the wheel zooms

    def wheelEvent(self, event: QWheelEvent | None) -> None:
        """Zoom."""
        assert event is not None
        camera = self.camera
        camera.begin_gesture("Zoom the view", pause=True)
        camera.interrupt()
        camera.move(camera.orbit.zoomed(ZOOM_PER_NOTCH ** (event.angleDelta().y() / 120.0)))

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Begin a click or a drag; the right button opens a menu."""
        assert event is not None
        if event.button() != Qt.MouseButton.RightButton:
            self.camera.set_turning(False)
            self._pressed, self._dragged_to = event.position(), None

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:
        """Show the object large."""
        self._pressed = None
        self.fit()

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Drag the camera, or mark the point under the mouse."""
        assert event is not None
        if self._pressed is None:
            self._hover(self.point_at(event.position()))
            return
        if self._dragged_to is None:
            if (event.position() - self._pressed).manhattanLength() < CLICK_TRAVEL:
                return
            self._dragged_to = self._pressed
        self.camera.begin_gesture("Move the view")
        delta, self._dragged_to = event.position() - self._dragged_to, event.position()
        buttons, shift = event.buttons(), event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        self.camera.interrupt()
        if buttons & Qt.MouseButton.MiddleButton or (buttons & Qt.MouseButton.LeftButton and shift):
            self.camera.move(self.camera.orbit.panned(delta.x(), delta.y(), self.height()))
        elif buttons & Qt.MouseButton.LeftButton:
            self.camera.turn(delta.x(), delta.y(), self._outline(), self.width(), self.height())

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:
        """Select a point that was clicked, or end a drag."""
        assert event is not None
        clicked = self._pressed is not None and self._dragged_to is None
        if clicked and event.button() == Qt.MouseButton.LeftButton:
            self.point_selected.emit(self.point_at(event.position()))
        self._pressed = None
        self.camera.end_gesture()

    def point_at(self, position: QPointF) -> int:
        """Return the index of the point nearest to a pixel, or -1 where none is near."""
        return nearest_of(self._point_pixels(), (position.x(), position.y()))

    def contextMenuEvent(self, event: QContextMenuEvent | None) -> None:
        """Select the point under the mouse, unless it is, and ask for its menu, or for that of the view."""
        assert event is not None
        point = self.point_at(QPointF(event.pos()))
        if self._scene is None or point < 0:
            self.view_menu_requested.emit(event.globalPos())
            return
        if point not in self._scene.selection:
            self.point_selected.emit(point)
        self.menu_requested.emit(event.globalPos())

    def _point_pixels(self) -> list[Floats]:
        scene, projection, found = self._scene, self._projection(), []
        if scene is None or scene.message:
            return []
        for name, points in (("estimate", scene.estimate), ("truth", scene.truth)):
            if points is not None and name in scene.layers:
                pixels, _ = projection.pixels(points)
                found.append(pixels if scene.drawn.all() else np.where(scene.drawn[:, None], pixels, np.nan))
        return found


def labeled_size(width: int, height: int) -> tuple[float, tuple[int, int]]:
    """Return the magnification of the labels of a picture, and its size in pixels that are magnified so."""
    ratio = max(1.0, min(width / LABELED_SIZE[0], height / LABELED_SIZE[1]))
    return ratio, (max(round(width / ratio), 1), max(round(height / ratio), 1))
