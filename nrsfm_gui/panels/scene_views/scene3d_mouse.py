"""The mouse over the 3-D view: it moves the camera, or points at something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QObject, QPointF, Qt, pyqtSignal
from PyQt6.QtGui import QMouseEvent, QWheelEvent

from nrsfm_gui.widgets.lasso import CLICK_TRAVEL

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QWidget

    from nrsfm_gui.panels.scene_views.scene3d_camera import ViewCamera

ZOOM_PER_NOTCH = 1.15


class CameraMouse(QObject):
    """Turns with the left button, moves with the middle one (or Shift and left), zooms with the wheel.

    Signals
    -------
    clicked(QPointF)
        the left button was pressed and released in one place.
    pointed(QPointF)
        the mouse moved, no button held.
    left()
        it is not over the widget any more.
    double_clicked()
        as its name says.
    """

    clicked = pyqtSignal(QPointF)
    pointed = pyqtSignal(QPointF)
    left = pyqtSignal()
    double_clicked = pyqtSignal()

    def __init__(self, surface: QWidget, camera: ViewCamera) -> None:
        super().__init__(surface)
        self._surface, self._camera = surface, camera
        self._pressed: QPointF | None = None
        self._last = QPointF()
        self._dragging = False
        surface.installEventFilter(self)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Take what moves the camera or points at something."""
        if isinstance(event, QWheelEvent):
            self._camera.take()
            self._camera.zoom(ZOOM_PER_NOTCH ** (event.angleDelta().y() / 120.0))
            event.accept()
            return True
        if event is not None and event.type() == QEvent.Type.Leave:
            self.left.emit()
        if not isinstance(event, QMouseEvent):
            return False
        kind = event.type()
        if kind == QEvent.Type.MouseButtonPress:
            self._camera.set_turning(False)
            self._pressed = self._last = event.position()
            self._dragging = False
        elif kind == QEvent.Type.MouseButtonDblClick:
            self._pressed = None
            self.double_clicked.emit()
        elif kind == QEvent.Type.MouseMove and self._pressed is None:
            self.pointed.emit(event.position())
        elif kind == QEvent.Type.MouseMove:
            self._drag(event)
        elif kind == QEvent.Type.MouseButtonRelease:
            if (
                self._pressed is not None
                and not self._dragging
                and event.button() == Qt.MouseButton.LeftButton
            ):
                self.clicked.emit(event.position())
            self._pressed = None
        return False

    def _drag(self, event: QMouseEvent) -> None:
        assert self._pressed is not None  # the caller asks only while a button is held
        if not self._dragging:
            if (event.position() - self._pressed).manhattanLength() < CLICK_TRAVEL:
                return
            self._dragging = True
            self._last = self._pressed
        delta, self._last = event.position() - self._last, event.position()
        buttons, shift = event.buttons(), event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        self._camera.take()
        if buttons & Qt.MouseButton.MiddleButton or (buttons & Qt.MouseButton.LeftButton and shift):
            self._camera.pan(delta.x(), delta.y(), self._surface.height())
        elif buttons & Qt.MouseButton.LeftButton:
            self._camera.turn(delta.x(), delta.y())
