"""Lasso selection: a closed curve drawn with the mouse, and the points inside it."""

from __future__ import annotations

import numpy as np
from PyQt6.QtCore import QEvent, QObject, QPointF, Qt, pyqtSignal
from PyQt6.QtGui import QMouseEvent, QPainter, QPen, QPolygonF
from PyQt6.QtWidgets import QWidget

from core.foundation import Bools, Floats
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.widgets.colors import qcolor

CLICK_TRAVEL = 4.0  # pixels that a click may move before it is a drag
STEP = 3.0  # pixels between two corners


def inside(polygon: Floats, points: Floats) -> Bools:
    """Return which points (N, 2) lie in a closed polygon (M, 2), by the even-odd rule; NaN does not."""
    within = np.zeros(len(points), dtype=bool)
    if len(polygon) < 3:
        return within
    low, high = polygon.min(axis=0), polygon.max(axis=0)
    near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
    x, y = points[near].T
    odd = np.zeros(len(near), dtype=bool)
    for (x0, y0), (x1, y1) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        if y0 != y1:
            odd ^= ((y0 > y) != (y1 > y)) & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    within[near] = odd
    return within


class Lasso(QObject):
    """Filters the left button of a widget: a click is emitted, a drag draws a closed curve."""

    clicked = pyqtSignal(QPointF)  # the button was pressed and released in one place
    # A curve was drawn, in pixels of the widget; True where Shift was held: add to what is selected.
    closed = pyqtSignal(object, bool)
    changed = pyqtSignal()  # what `paint` paints is another

    def __init__(
        self, surface: QWidget, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.ControlModifier
    ) -> None:
        super().__init__(surface)
        self._modifier = modifier
        self.rectangular = False
        self._corners: list[QPointF] = []
        self._adding = False
        self._drawing = False  # the mouse has moved enough
        surface.installEventFilter(self)

    @property
    def active(self) -> bool:
        """Whether the button is held."""
        return bool(self._corners)

    def paint(self, painter: QPainter, theme: Theme) -> None:
        """Paint the curve as far as it is drawn."""
        if self._drawing:
            painter.setPen(QPen(qcolor(theme.selection), 1.4, Qt.PenStyle.DashLine))
            painter.setBrush(qcolor(theme.selection, 0.12))
            painter.drawPolygon(QPolygonF(self._corners))

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Handle the events of the curve only."""
        if not isinstance(event, QMouseEvent):
            return False
        kind, held = event.type(), self._modifier in event.modifiers()
        left = event.button() == Qt.MouseButton.LeftButton
        if kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick) and left and held:
            self._corners, self._drawing = [event.position()], False
            self._adding = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            return True
        if not self.active:
            return False
        if kind == QEvent.Type.MouseMove:
            self._extend(event.position())
            return True
        if kind == QEvent.Type.MouseButtonRelease and left:
            self._end()
            return True
        return False

    def _extend(self, position: QPointF) -> None:
        last = self._corners[2 if self.rectangular and self._drawing else -1]
        travel = (position - last).manhattanLength()
        if travel >= (STEP if self._drawing else CLICK_TRAVEL):
            self._drawing = True
            if self.rectangular:
                first = self._corners[0]
                right, down = QPointF(position.x(), first.y()), QPointF(first.x(), position.y())
                self._corners = [first, right, position, down]
            else:
                self._corners.append(position)
            self.changed.emit()

    def _end(self) -> None:
        corners, drawn = self._corners, self._drawing
        self._corners, self._drawing = [], False
        if drawn:
            self.closed.emit(np.array([(corner.x(), corner.y()) for corner in corners]), self._adding)
        else:
            self.clicked.emit(corners[0])
        self.changed.emit()
