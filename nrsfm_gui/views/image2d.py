"""The 2-D panel: measured and reprojected points of the current frame, as the image has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QBrush, QColor, QPainter, QPen
from PyQt6.QtWidgets import QToolTip, QVBoxLayout, QWidget

from nrsfm_gui.scene import NO_SEQUENCE
from nrsfm_gui.style import mixed
from nrsfm_gui.theme import DARK, Theme

from .colors import error_levels, error_table, qcolor
from .legend import LegendEntry, paint_legend
from .overlay3d import paint_message
from .pick import nearest_of

if TYPE_CHECKING:
    from PyQt6.QtGui import QImage, QPaintEvent, QResizeEvent
    from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent

    from core.arrays import Bools, Floats
    from nrsfm_gui.scene import Scene

RING = 17
FAINTNESS = 0.6  # of predicted dots where points are many
MANY_SIZE = 4  # diameter of dots where points are many


class _Overlay(QWidget):
    """A transparent sheet over the plot."""

    def __init__(self, view: TracksView) -> None:
        super().__init__(view)
        self._view = view
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        painter = QPainter(self)
        self._view.paint_labels(painter)
        painter.end()


class TracksView(QWidget):
    """Measured points blue, hidden ones hollow, reprojected ones green, residuals between them.

    Left button moves, the wheel zooms, a double click fits, a click selects the nearest point.
    """

    point_selected = pyqtSignal(int)  # index, or -1 for none
    point_hovered = pyqtSignal(int)  # index, or -1 for none

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumSize(200, 160)
        self._scene: Scene | None = None
        self._theme = DARK
        self._hovered = -1
        self._brushes: list[QBrush] = []
        self._faint = ""
        self._plot = pg.PlotWidget()
        self._plot.setMenuEnabled(False)
        self._plot.hideButtons()
        self._plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._plot.setFrameShape(pg.QtWidgets.QFrame.Shape.NoFrame)
        self._box = self._plot.getPlotItem().getViewBox()
        self._box.setAspectLocked(True)
        self._box.invertY(True)
        self._box.disableAutoRange()
        self._plot.getAxis("left").setWidth(60)
        self._plot.getAxis("bottom").setHeight(42)
        self._residuals = pg.PlotCurveItem(connect="pairs")
        self._hidden = pg.ScatterPlotItem(pxMode=True)
        self._measured = pg.ScatterPlotItem(pxMode=True)
        self._reprojected = pg.ScatterPlotItem(pxMode=True)
        self._predicted = pg.ScatterPlotItem(pxMode=True)
        self._rings = pg.ScatterPlotItem(pxMode=True)
        for item in (
            self._residuals, self._predicted, self._hidden, self._measured, self._reprojected, self._rings,
        ):  # fmt: skip
            self._plot.addItem(item)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._plot)
        self._overlay = _Overlay(self)
        self._plot.viewport().installEventFilter(self)
        self._plot.scene().sigMouseMoved.connect(self._moved)
        self._plot.scene().sigMouseClicked.connect(self._clicked)
        self.set_theme(DARK)

    def sizeHint(self) -> QSize:
        """Return a size that leaves room for the other panels."""
        return QSize(420, 320)

    # What is shown

    def set_scene(self, scene: Scene) -> None:
        """Show a scene; the range stays as it is unless the subject is another one."""
        old, self._scene = self._scene, scene
        self._show_points(scene)
        self._show_rings()
        if old is None or old.track_unit != scene.track_unit:
            self._name_axes()
        if old is None or not np.array_equal(old.image_extent, scene.image_extent):
            self._hovered = -1
            self.fit()
        self._overlay.update()

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self._theme = theme
        self._brushes = [QBrush(QColor(*color)) for color in error_table(theme.name)[:, :3].tolist()]
        self._faint = mixed(theme.reprojected, theme.panel, FAINTNESS)
        self._plot.setBackground(qcolor(theme.panel))
        for side in ("left", "bottom"):
            axis = self._plot.getAxis(side)
            axis.enableAutoSIPrefix(False)  # a unit has its prefix already
            axis.setPen(qcolor(theme.border))
            axis.setTextPen(qcolor(theme.muted))
        self._residuals.setPen(QPen(qcolor(theme.residual), 0))
        self._name_axes()
        if self._scene is not None:
            self._show_points(self._scene)
            self._show_rings()
        self._overlay.update()

    def set_hovered(self, index: int) -> None:
        """Circle a point that the mouse is on elsewhere, or none with -1. Emits nothing."""
        if index != self._hovered and self._scene is not None:
            self._hovered = index
            self._show_rings()

    def fit(self) -> None:
        """Show the range that holds all tracks of the sequence."""
        if self._scene is None:
            return
        (x0, y0), (x1, y1) = self._scene.image_extent
        self._box.setRange(QRectF(x0, y0, x1 - x0, y1 - y0), padding=0.02)

    def grab_image(self) -> QImage:
        """Return what is shown."""
        return self.grab().toImage()

    def paint_labels(self, painter: QPainter) -> None:
        """Paint the legend and, where there is nothing to show, what to do."""
        painter.setFont(self.font())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = self._box.sceneBoundingRect()
        theme, scene = self._theme, self._scene
        if scene is None:
            paint_message(painter, NO_SEQUENCE, self.width(), self.height(), theme)
            return
        entries = [LegendEntry("measured", theme.measured)]
        if self._hidden_mask(scene).any():
            entries.append(LegendEntry("hidden", theme.measured, hollow=True))
        if scene.reprojected is not None:
            if not scene.colored:
                entries.append(LegendEntry("reprojected", theme.reprojected))
            hidden = ~scene.visible & np.isfinite(scene.reprojected).all(axis=1)
            if hidden.any() and not scene.colored:
                rings = _dot_size(len(hidden)) > MANY_SIZE
                color = theme.reprojected if rings else self._faint
                entries.append(LegendEntry("predicted", color, hollow=rings))
            entries.append(LegendEntry("residual", theme.residual, line=True))
        paint_legend(painter, entries, theme, area.left() + 8, area.top() + 6, horizontal_to=area.right() - 8)

    def _name_axes(self) -> None:
        unit = self._scene.track_unit if self._scene is not None else "px"
        style = {"color": self._theme.muted, "font-size": "9pt"}
        self._plot.setLabel("bottom", f"x ({unit})", **style)
        self._plot.setLabel("left", f"y ({unit})", **style)

    @staticmethod
    def _hidden_mask(scene: Scene) -> Floats:
        """(P,) not seen, but the file gives a position."""
        return ~scene.visible & np.isfinite(scene.measured).all(axis=1)

    def _show_points(self, scene: Scene) -> None:
        theme = self._theme
        size = _dot_size(len(scene.visible))
        seen = scene.measured[scene.visible]
        hidden = scene.measured[self._hidden_mask(scene)]
        none = pg.mkPen(None)
        self._measured.setData(x=seen[:, 0], y=seen[:, 1], size=size, pen=none, brush=qcolor(theme.measured))
        self._hidden.setData(
            x=hidden[:, 0],
            y=hidden[:, 1],
            size=size + 1,
            pen=pg.mkPen(qcolor(theme.measured, 0.85), width=1.2),
            brush=None,
        )
        if scene.reprojected is None:
            self._reprojected.clear()
            self._predicted.clear()
            self._residuals.setData(x=[], y=[])
            return
        finite = np.isfinite(scene.reprojected).all(axis=1)
        both, hidden = scene.visible & finite, ~scene.visible & finite
        shown = scene.reprojected[both]
        self._reprojected.setData(
            x=shown[:, 0], y=shown[:, 1], size=max(size - 2, 2), pen=none, brush=self._brush(scene, both)
        )
        predicted = scene.reprojected[hidden]
        pen, brush = none, self._brush(scene, hidden)
        if not scene.colored and size > MANY_SIZE:
            pen, brush = pg.mkPen(qcolor(theme.reprojected), width=1.2), None
        elif not scene.colored:  # rings would cover each other
            brush = QBrush(qcolor(self._faint))
        self._predicted.setData(
            x=predicted[:, 0],
            y=predicted[:, 1],
            size=max(size - 2, 2) + (brush is None),
            pen=pen,
            brush=brush,
        )
        pairs = np.stack([scene.measured[both], scene.reprojected[both]], axis=1).reshape(-1, 2)
        if "residuals" not in scene.layers:
            pairs = pairs[:0]
        self._residuals.setData(x=pairs[:, 0], y=pairs[:, 1], connect="pairs")

    def _brush(self, scene: Scene, which: Bools) -> list[QBrush] | QBrush:
        values = scene.color_values
        if not scene.colored or values is None or scene.color_top is None:
            return QBrush(qcolor(self._theme.reprojected))
        return [self._brushes[level] for level in error_levels(values[which], scene.color_top)]

    def _show_rings(self) -> None:
        """Circle the hovered and the selected point, where they are measured or else where they reproject."""
        scene, spots = self._scene, []
        assert scene is not None  # rings are shown only with a scene
        for index, color, width in (
            (self._hovered, self._theme.text, 1.2),
            (-1 if scene.selected is None else scene.selected, self._theme.selection, 2.4),
        ):
            if not 0 <= index < len(scene.visible):
                continue
            where = scene.measured[index]
            if not np.isfinite(where).all() and scene.reprojected is not None:
                where = scene.reprojected[index]
            if np.isfinite(where).all():
                pen = pg.mkPen(qcolor(color), width=width)
                spots.append({"pos": tuple(where), "size": RING, "pen": pen, "brush": None})
        self._rings.setData(spots=spots)

    # Mouse

    def point_at(self, position: QPointF) -> int:
        """Return the index of the point nearest to a pixel of the plot, or -1 where none is near."""
        scene = self._scene
        if scene is None:
            return -1
        origin = self._box.mapSceneToView(position)
        per_pixel = np.array(self._box.viewPixelSize())
        drawn = [points for points in (scene.measured, scene.reprojected) if points is not None]
        return nearest_of([(points - (origin.x(), origin.y())) / per_pixel for points in drawn], (0.0, 0.0))

    def describe(self, index: int) -> str:
        """Return a point's number, error and state in words."""
        scene = self._scene
        assert scene is not None  # only points of a scene are hovered
        parts = [f"point {index + 1}"]
        x, y = scene.measured[index]
        if np.isfinite(x) and np.isfinite(y):
            parts.append(f"({x:.1f}, {y:.1f}) {scene.track_unit}")
        if not scene.visible[index]:
            parts.append("hidden")
        elif scene.residuals_px is not None:
            parts.append(f"residual {scene.residuals_px[index]:.3g} {scene.track_unit}")
        if scene.errors is not None and np.isfinite(scene.errors[index]):
            parts.append(f"3-D error {scene.errors[index]:.3g} {scene.error_unit}")
        return " · ".join(parts)

    def _moved(self, position: QPointF) -> None:
        inside = self._box.sceneBoundingRect().contains(position)
        self._hover(self.point_at(position) if inside else -1)
        if self._hovered >= 0:
            place = self._plot.mapToGlobal(self._plot.mapFromScene(position))
            QToolTip.showText(place, self.describe(self._hovered), self)
        else:
            QToolTip.hideText()

    def _clicked(self, event: MouseClickEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if not event.double() and self._box.sceneBoundingRect().contains(event.scenePos()):
            self.point_selected.emit(self.point_at(event.scenePos()))

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Fit on a double click into the plot."""
        if event is not None and event.type() == QEvent.Type.MouseButtonDblClick:
            self.fit()
        return super().eventFilter(watched, event)

    def _hover(self, index: int) -> None:
        if index != self._hovered:
            self.set_hovered(index)
            self.point_hovered.emit(index)

    def leaveEvent(self, event: QEvent | None) -> None:
        """Nothing is under the mouse any more."""
        self._hover(-1)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Keep the overlay over the plot."""
        self._overlay.setGeometry(self.rect())
        self._overlay.raise_()


def _dot_size(count: int) -> int:
    """Diameter in pixels: smaller where points are many, so that they stay apart."""
    return 7 if count <= 600 else 4 if count <= 4000 else 3
