"""The base of the 2-D and the 3-D view: points under the mouse, clicks on points, selection by a lasso."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod

import numpy as np
from PyQt6.QtCore import QEvent, QObject, QPointF, pyqtSignal
from PyQt6.QtWidgets import QWidget

from core.foundation import Floats
from nrsfm_gui.widgets.lasso import inside
from nrsfm_gui.widgets.style import Themed

PICK_RADIUS = 12.0  # pixels


class AbstractQt(type(QObject), ABCMeta):  # type: ignore[misc]  # sip's metaclass is found at run time
    """The metaclass of an abstract Qt class: none of it can be made while a method is missing."""


def nearest_of(candidates: list[Floats], position: tuple[float, float]) -> int:
    """Return the row of the nearest of several (P, 2) pixels, -1 where none is within PICK_RADIUS."""
    best, found = PICK_RADIUS, -1
    for pixels in candidates:
        distance = np.hypot(*(pixels - position).T)
        distance = np.where(np.isfinite(distance), distance, np.inf)
        nearest = int(distance.argmin())
        if distance[nearest] < best:
            best, found = float(distance[nearest]), nearest
    return found


class PointSignals(QWidget):
    """A widget that shows points."""

    # A click on a point, and a click with Ctrl. `point_selected` emits -1 for a click on no point.
    point_selected = pyqtSignal(int)
    point_toggled = pyqtSignal(int)
    # Points inside a lasso; True if they are added to the selection.
    points_selected = pyqtSignal(object, bool)
    point_hovered = pyqtSignal(int)  # the point under the mouse, or -1
    menu_requested = pyqtSignal(object)  # a click with the right button on a point, at a place of the screen


class PointView(Themed, PointSignals, metaclass=AbstractQt):
    """A view whose points can be selected. A subclass draws the points and returns where they are drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumSize(200, 160)
        self._hovered = -1

    @abstractmethod
    def point_at(self, position: QPointF) -> int:
        """Return the index of the point nearest to a pixel, or -1 where none is near."""

    @abstractmethod
    def set_hovered(self, index: int) -> None:
        """Mark the point that the mouse is over in another view, or none with -1. Emits nothing."""

    @abstractmethod
    def _point_pixels(self) -> list[Floats]:
        """Return the pixels (P, 2) of each kind of points; NaN where a point is not drawn."""

    def leaveEvent(self, event: QEvent | None) -> None:
        """Mark no point."""
        self._hover(-1)

    def _hover(self, index: int) -> None:
        if index != self._hovered:
            self.set_hovered(index)
            self.point_hovered.emit(index)

    def _toggle(self, position: QPointF) -> None:
        point = self.point_at(position)
        if point >= 0:
            self.point_toggled.emit(point)

    def _select_inside(self, polygon: Floats, adding: bool) -> None:
        found = [inside(polygon, pixels) for pixels in self._point_pixels()]
        if found:
            self.points_selected.emit(np.flatnonzero(np.any(found, axis=0)), adding)
