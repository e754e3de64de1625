"""What the 2-D and the 3-D view share: points that the mouse hovers, clicks and draws lassos around."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from nrsfm_gui.model.theme import DARK
from nrsfm_gui.widgets.abstract import AbstractQt
from nrsfm_gui.widgets.lasso import inside
from nrsfm_gui.widgets.point_signals import PointSignals

if TYPE_CHECKING:
    from PyQt6.QtCore import QPointF
    from PyQt6.QtWidgets import QWidget

    from core.foundation import Floats
    from nrsfm_gui.model.theme import Theme
    from nrsfm_gui.scene.scene import Scene


class PointView(PointSignals, metaclass=AbstractQt):
    """A view of a scene whose points can be selected; what it shows, and where, is up to each view."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumSize(200, 160)
        self._scene: Scene | None = None
        self._theme: Theme = DARK
        self._hovered = -1

    @abstractmethod
    def point_at(self, position: QPointF) -> int:
        """Return the index of the point nearest to a pixel, or -1 where none is near."""

    @abstractmethod
    def set_hovered(self, index: int) -> None:
        """Circle a point that the mouse is on elsewhere, or none with -1. Emits nothing."""

    @abstractmethod
    def _seen(self) -> list[Floats]:
        """Return where points are seen in this widget, (P, 2) for each kind of them; NaN if not drawn."""

    def _hover(self, index: int) -> None:
        if index != self._hovered:
            self.set_hovered(index)
            self.point_hovered.emit(index)

    def _toggle(self, position: QPointF) -> None:
        point = self.point_at(position)
        if point >= 0:
            self.point_toggled.emit(point)

    def _select_inside(self, polygon: Floats, adding: bool) -> None:
        found = [inside(polygon, pixels) for pixels in self._seen()]
        if found:
            self.points_selected.emit(np.flatnonzero(np.any(found, axis=0)), adding)
