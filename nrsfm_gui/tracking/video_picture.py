"""One picture of a video: the region where points begin is drawn on it, and points are shown and clicked."""

from __future__ import annotations

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QImage, QPainter, QPaintEvent, QPen, QPolygonF, QTransform
from PyQt6.QtWidgets import QSizePolicy, QWidget

from core.foundation import Floats
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.lasso import Lasso
from nrsfm_gui.widgets.style import Themed

TRAIL = 10  # frames of a track that are drawn behind its point
RADIUS, CHOSEN_RADIUS = 2.6, 6.0  # pixels of the screen
REACH = 14.0  # pixels of the screen within which a click finds a point
DOT, CHOSEN = "#35e0ff", "#ffd23f"  # they lie on a picture in either theme
SMALLEST = QSize(320, 220)


class VideoPicture(Themed, QWidget):
    """A picture with points."""

    region_drawn = pyqtSignal(object)  # a region was drawn, in pixels of the picture
    clicked = pyqtSignal(object)  # a place was clicked, in pixels of the picture

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(SMALLEST)
        self.setAccessibleName("Picture of the video")
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.drawing = True
        self._image: QImage | None = None
        self._trails = np.zeros((1, 2, 0))  # (K, 2, N) px, the last row is the present frame
        self.region: Floats | None = None  # that is shown, (M, 2) pixels of the picture
        self._chosen = -1
        self.lasso = Lasso(self, Qt.KeyboardModifier.NoModifier)
        self.lasso.rectangular = True
        self.lasso.clicked.connect(lambda place: self.clicked.emit(self._in_picture(place)))
        self.lasso.closed.connect(self._on_closed)
        self.lasso.changed.connect(self.update)

    def set_image(self, image: QImage | None) -> None:
        """Show a picture, or none."""
        self._image = image
        self.update()

    def set_region(self, region: Floats | None) -> None:
        """Show a region, (M, 2) pixels of the picture, or none."""
        self.region = region
        self.update()

    def set_tracks(self, tracks: Floats, chosen: int = -1) -> None:
        """Show the last frame of tracks (F, 2, N) with the way of the points to it, and choose one."""
        self._trails, self._chosen = tracks[-TRAIL:], chosen
        self.update()

    def point_at(self, place: QPointF) -> int:
        """Return the point that is shown at a place of the picture, -1 where there is none."""
        apart = np.hypot(self._trails[-1, 0] - place.x(), self._trails[-1, 1] - place.y())
        if not np.isfinite(apart).any():
            return -1
        nearest = int(np.nanargmin(apart))
        return nearest if apart[nearest] * self._to_screen.m11() <= REACH else -1

    def on_screen(self, x: float, y: float) -> QPointF:
        """Return the place of the widget at which a pixel of the picture is drawn."""
        return self._to_screen.map(QPointF(x + 0.5, y + 0.5))

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint the picture, the region and the points."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), qcolor(self._theme.panel))
        if self._image is None:
            return
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(self._to_screen.mapRect(QRectF(self._image.rect())), self._image)
        if self.region is not None:
            painter.setPen(QPen(qcolor(CHOSEN), 1.6, Qt.PenStyle.DashLine))
            painter.drawPolygon(QPolygonF([self.on_screen(x, y) for x, y in self.region.tolist()]))
        self._paint_tracks(painter)
        if self.drawing:
            self.lasso.paint(painter, self._theme)

    def _paint_tracks(self, painter: QPainter) -> None:
        to_screen = self._to_screen
        trails = (self._trails + 0.5) * to_screen.m11() + [[to_screen.dx()], [to_screen.dy()]]
        painter.setPen(QPen(qcolor(DOT, 0.55), 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for point in range(trails.shape[2]):
            seen = np.isfinite(trails[:, 0, point])
            if seen.sum() > 1:
                way = [QPointF(x, y) for x, y in trails[seen, :, point].tolist()]
                painter.drawPolyline(QPolygonF(way))
        painter.setPen(QPen(qcolor("#000000", 0.55), 1.0))
        painter.setBrush(qcolor(DOT))
        for x, y in trails[-1].T[np.isfinite(trails[-1, 0])].tolist():
            painter.drawEllipse(QPointF(x, y), RADIUS, RADIUS)
        if 0 <= self._chosen < trails.shape[2] and np.isfinite(trails[-1, 0, self._chosen]):
            painter.setPen(QPen(qcolor(CHOSEN), 2.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            x, y = trails[-1, :, self._chosen].tolist()
            painter.drawEllipse(QPointF(x, y), CHOSEN_RADIUS, CHOSEN_RADIUS)

    @property
    def _to_screen(self) -> QTransform:
        """Where the picture is drawn: as large as it fits, in the middle."""
        if self._image is None:
            return QTransform()
        width, height = self._image.width(), self._image.height()
        scale = min(self.width() / width, self.height() / height)
        left, top = (self.width() - scale * width) / 2, (self.height() - scale * height) / 2
        return QTransform.fromTranslate(left, top).scale(scale, scale)

    def _in_picture(self, place: QPointF) -> QPointF:
        return self._to_screen.inverted()[0].map(place) - QPointF(0.5, 0.5)

    def _on_closed(self, polygon: Floats, _adding: bool) -> None:
        if self.drawing and self._image is not None:
            places = [self._in_picture(QPointF(x, y)) for x, y in polygon.tolist()]
            low, high = np.zeros(2), np.array([self._image.width() - 1.0, self._image.height() - 1.0])
            self.region_drawn.emit(np.clip([(place.x(), place.y()) for place in places], low, high))
