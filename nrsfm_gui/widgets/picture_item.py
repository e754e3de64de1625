"""A picture in the coordinates of its pixels: the center of the first one is (0, 0), y points down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QPixmap
from PyQt6.QtWidgets import QGraphicsPixmapItem

if TYPE_CHECKING:
    from PyQt6.QtGui import QImage

BEHIND = -1000.0  # everything else in a plot


class PictureItem(QGraphicsPixmapItem):
    """Draws a picture behind what is measured in it."""

    def __init__(self) -> None:
        super().__init__()
        self._key = 0
        self.setZValue(BEHIND)
        self.setOffset(-0.5, -0.5)  # pixel centers are at whole numbers
        self.setTransformationMode(Qt.TransformationMode.SmoothTransformation)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self.hide()

    def set_image(self, image: QImage | None, opacity: float) -> None:
        """Show a picture, or none."""
        self.setVisible(image is not None)
        self.setOpacity(opacity)
        if image is not None and image.cacheKey() != self._key:
            self._key = image.cacheKey()
            self.setPixmap(QPixmap.fromImage(image))
