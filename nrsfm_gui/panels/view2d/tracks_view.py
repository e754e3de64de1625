"""The 2-D view: measured and reprojected points of the current frame in image coordinates."""

from __future__ import annotations

import html

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QFontMetricsF, QImage, QMouseEvent, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PyQt6.QtWidgets import QGraphicsPixmapItem, QGraphicsRectItem, QToolTip, QVBoxLayout, QWidget
from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent

from core.foundation import Floats
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.panels.view2d.tracks_dots import TracksDots, described, drawn_places, places
from nrsfm_gui.scene.scene import NO_SEQUENCE, Scene
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.fields import filled
from nrsfm_gui.widgets.labels import plain_tip
from nrsfm_gui.widgets.lasso import Lasso
from nrsfm_gui.widgets.picture_labels import (
    LegendEntry,
    paint_legend,
    paint_message,
    paint_point_numbers,
    place_legend,
)
from nrsfm_gui.widgets.plots.plot_style import BOTTOM_MARGIN, PlainPlot, apply_plot_theme
from nrsfm_gui.widgets.point_view import PointView, nearest_of

BEHIND = -1000.0  # everything else in a plot
NARROW, FEW_ENTRIES = 300, 3  # width of the view in pixels, and the number of signs that fit
LEGEND_LEFT, LEGEND_TOP, LEGEND_BELOW = 6.0, 2.0, 6.0  # pixels around the legend, which is above the plot
ALL_HIDDEN = "All points are left out: Shift+H shows them"


class PictureItem(QGraphicsPixmapItem):
    """Draws a picture behind what is measured in it."""

    def __init__(self) -> None:
        super().__init__()
        self._key = 0
        self.setOffset(-0.5, -0.5)  # pixel centers are at integers
        self.setTransformationMode(Qt.TransformationMode.SmoothTransformation)

    @property
    def place(self) -> QRectF:
        """The area of the picture, which is empty where there is none."""
        return self.boundingRect() if self.isVisible() else QRectF()

    def set_image(self, image: QImage | None, opacity: float) -> None:
        """Show a picture, or none."""
        self.setVisible(image is not None)
        self.setOpacity(opacity)
        if image is not None and image.cacheKey() != self._key:
            self._key = image.cacheKey()
            self.setPixmap(QPixmap.fromImage(image))


class _Overlay(QWidget):
    """A transparent sheet over the plot."""

    def __init__(self, view: TracksView) -> None:
        super().__init__(view)
        self._view = view
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        painter = QPainter(self)
        self._view.paint_labels(painter)


class TracksView(PointView):
    """Measured points as rings, reprojected ones as dots, residuals between them."""

    GESTURES = (
        ("Left drag", "move"),
        ("Wheel, right drag", "zoom"),
        ("Double click", "fit"),
        ("Click", "select the nearest point, or none"),
        ("Ctrl+click", "add a point to the selected ones, or remove it"),
        ("Ctrl+drag, Ctrl+Shift+drag", "select what a lasso encloses, or add it"),
        ("Right click", "menu of the point"),
    )

    def __init__(self) -> None:
        super().__init__()
        self._scene: Scene | None = None
        self.setAccessibleName("2-D view")
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # the keys of the views act then
        self._legend_height = 0.0  # pixels of the strip above the plot
        self._fitted = False  # whether the range was not moved since it was fitted
        self._fitting = False
        self.axes_shown = True
        self.plot_widget = PlainPlot()
        self.plot_widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plot_widget.setFrameShape(pg.QtWidgets.QFrame.Shape.NoFrame)
        self.plot_widget.getPlotItem().setContentsMargins(0, 0, 0, BOTTOM_MARGIN)
        self._box = self.plot_widget.getPlotItem().getViewBox()
        self._box.setAspectLocked(True)
        self._box.invertY(True)
        self._box.disableAutoRange()
        self._background = PictureItem()
        self._border = QGraphicsRectItem()  # of the picture that the tracks are of
        for item in (self._background, self._border):
            item.setZValue(BEHIND)
            item.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
            item.hide()
            self._box.addItem(item, ignoreBounds=True)
        self._box.sigRangeChangedManually.connect(self._on_range_moved)
        self._box.sigResized.connect(self._on_resized)
        self.plot_widget.getAxis("left").setWidth(60)
        self.plot_widget.getAxis("bottom").setHeight(42)
        self._dots = TracksDots(self.plot_widget)
        self._column = filled(QVBoxLayout(self), self.plot_widget)
        self._overlay = _Overlay(self)
        self._box.sigRangeChanged.connect(self._on_range_changed)
        self._lasso = Lasso(self.plot_widget.viewport())
        to_scene = self.plot_widget.mapToScene
        self._lasso.clicked.connect(lambda position: self._toggle(to_scene(position.toPoint())))
        self._lasso.closed.connect(self._select_inside)
        self._lasso.changed.connect(self._overlay.update)
        self.plot_widget.viewport().installEventFilter(self)
        self.plot_widget.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.plot_widget.scene().sigMouseClicked.connect(self._on_mouse_clicked)
        self._follow_theme()

    def sizeHint(self) -> QSize:
        """Return a size that leaves space for the other panels."""
        return QSize(420, 320)

    # What is shown

    def set_scene(self, scene: Scene) -> None:
        """Show a scene; the range stays as it is unless the subject is another one."""
        old, self._scene = self._scene, scene
        self._border.setVisible(scene.sequence.image_size is not None)
        if scene.sequence.image_size is not None:
            self._border.setRect(-0.5, -0.5, *scene.sequence.image_size)
        self._dots.set_scale(scene, self._box.viewPixelSize())
        self._dots.show_points(scene)
        self._dots.show_rings(scene, self._hovered)
        if old is None or old.sequence.units != scene.sequence.units:
            self._name_axes()
        other = old is None or not np.array_equal(old.shapes.image_extent, scene.shapes.image_extent)
        self._make_room(at_least=0.0 if other else self._legend_height)
        if other:
            self._hovered = -1
            self.plot_widget.getPlotItem().layout.activate()  # visible axes get their space at once
            self.fit()
        self._overlay.update()

    def _apply_theme(self, theme: Theme) -> None:
        self._dots.set_colors(theme)
        apply_plot_theme(self.plot_widget, theme)
        self._border.setPen(pg.mkPen(theme.muted, width=1, style=Qt.PenStyle.DashLine))
        self._name_axes()
        if self._scene is not None:
            self._dots.show_points(self._scene)
            self._dots.show_rings(self._scene, self._hovered)
        self._overlay.update()

    def set_hovered(self, index: int) -> None:
        """Mark the point that the mouse is over in another view, or none with -1. Emits nothing."""
        if index != self._hovered and self._scene is not None:
            self._hovered = index
            self._dots.show_rings(self._scene, index)

    def set_background(self, image: QImage | None, opacity: float) -> None:
        """Show an image behind the points, or none; its pixel centers are at integers."""
        before = self._background.place
        self._background.set_image(image, opacity)
        if self._fitted and self._background.place != before:
            self.fit()

    def show_axes(self, on: bool) -> None:
        """Show the axes, or leave their place to pictures, which say where points are."""
        if on != self.axes_shown:
            self.axes_shown = on
            self._name_axes()

    def add_below(self, widget: QWidget) -> None:
        """Put a widget below the plot."""
        self._column.addWidget(widget)

    @property
    def range_shown(self) -> QRectF:
        """The part of the picture that is seen, in the units of the tracks."""
        return QRectF(self._box.viewRect())

    def show_range(self, part: QRectF) -> None:
        """Show a part of the picture: all of it, and more where the shape of the view differs."""
        self._fitted = False
        self._box.setRange(part, padding=0)

    def fit(self) -> None:
        """Show the range that holds all tracks of the sequence, and the picture behind them."""
        if self._scene is None:
            return
        (x0, y0), (x1, y1) = self._scene.shapes.image_extent
        self._fitting = True
        self._box.setRange(QRectF(x0, y0, x1 - x0, y1 - y0).united(self._background.place), padding=0.02)
        self._fitting = False
        self._fitted = True

    def _on_range_changed(self, *_: object) -> None:
        """Let dots have the size that suits the part that is seen."""
        if self._scene is not None and self._dots.set_scale(self._scene, self._box.viewPixelSize()):
            self._dots.show_points(self._scene)
        self._overlay.update()

    def _on_range_moved(self, *_: object) -> None:
        self._fitted = False

    def _on_resized(self, *_: object) -> None:
        """Keep what is fitted as large as the plot."""
        if self._fitted and not self._fitting:
            self.fit()

    def grab_image(self) -> QImage:
        """Return what is shown."""
        return self.grab().toImage()

    def paint_labels(self, painter: QPainter) -> None:
        """Paint the legend and, where there is nothing to show, what to do."""
        painter.setFont(self.font())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, scene = self._theme, self._scene
        if scene is None:
            paint_message(painter, NO_SEQUENCE, self.width(), self.height(), theme)
            return
        self._lasso.paint(painter, theme)
        labeled = {"none": (), "selected": scene.selection, "all": range(len(scene.drawn))}
        chosen = np.array(labeled[scene.appearance.labels], dtype=int)
        if len(chosen):
            pixels = self._to_pixels(places(scene)[chosen])
            inside = (pixels > 0) & (pixels < (self.width(), self.height()))
            seen = scene.drawn[chosen] & inside.all(axis=1)
            paint_point_numbers(painter, chosen[seen], pixels[seen], theme)
        self._paint_hidden_count(painter, int(np.count_nonzero(~scene.drawn)), len(scene.drawn))
        end = self.width() - LEGEND_LEFT
        paint_legend(painter, self._entries(scene), theme, LEGEND_LEFT, LEGEND_TOP, horizontal_to=end)

    def _entries(self, scene: Scene) -> list[LegendEntry]:
        """Return what the legend explains: in a narrow view the most important ones."""
        entries = self._dots.legend(scene)
        return entries[:FEW_ENTRIES] if self.width() < NARROW else entries

    def _make_room(self, *, at_least: float) -> None:
        """Leave a strip above the plot for the legend, `at_least` as high as before from frame to frame."""
        entries = [] if self._scene is None else self._entries(self._scene)
        metrics, end = QFontMetricsF(self.font()), self.width() - LEGEND_LEFT
        placed = place_legend(entries, metrics, LEGEND_LEFT, LEGEND_TOP, horizontal_to=end)
        lowest = max((place.bottom() + LEGEND_BELOW for *_, place in placed), default=0.0)
        height = max(lowest, at_least)
        if height != self._legend_height:
            self._legend_height = height
            self.plot_widget.getPlotItem().setContentsMargins(0, height, 0, BOTTOM_MARGIN)

    def _paint_hidden_count(self, painter: QPainter, hidden: int, count: int) -> None:
        """Paint the number of hidden points, and the key that shows them."""
        if hidden == count > 0:
            paint_message(painter, ALL_HIDDEN, self.width(), self.height(), self._theme)
        elif hidden:
            painter.setPen(qcolor(self._theme.muted))
            flags = int(Qt.AlignmentFlag.AlignBottom) | int(Qt.TextFlag.TextWordWrap)
            area = self._box.sceneBoundingRect().adjusted(8, 0, -8, -4)
            painter.drawText(area, flags, f"{hidden} of {count} points left out (Shift+H: show all)")

    def _name_axes(self) -> None:
        """Name the axes where there is something to measure."""
        axes = self._scene is not None and self.axes_shown
        style = {"color": self._theme.muted, "font-size": "9pt"}
        for side, name in (("bottom", "x"), ("left", "y")):
            self.plot_widget.showAxis(side, axes)
            if axes and self._scene is not None:
                self.plot_widget.setLabel(
                    side, f"{name} ({html.escape(self._scene.sequence.units)})", **style
                )

    def _to_pixels(self, where: Floats) -> Floats:
        """Return where (N, 2) places of the plot are seen in this widget."""
        low, high = np.array(self._box.viewRange()).T
        corners = [self._box.mapViewToScene(QPointF(*place)) for place in (low, high)]
        seen = [self.plot_widget.viewportTransform().map(corner) for corner in corners]
        first, second = (np.array([corner.x(), corner.y()]) for corner in seen)
        pixels: Floats = first + (where - low) / (high - low) * (second - first)
        return pixels

    # Mouse

    def point_at(self, position: QPointF) -> int:
        """Return the index of the point nearest to a pixel of the plot, or -1 where none is near."""
        scene = self._scene
        if scene is None:
            return -1
        place, per_pixel = self._box.mapSceneToView(position), np.array(self._box.viewPixelSize())
        away = [(points - (place.x(), place.y())) / per_pixel for points in drawn_places(scene)]
        return nearest_of(away, (0.0, 0.0))

    def _on_mouse_moved(self, position: QPointF) -> None:
        inside_box = self._box.sceneBoundingRect().contains(position)
        self._hover(self.point_at(position) if inside_box and not self._lasso.active else -1)
        if self._hovered >= 0 and self._scene is not None:
            place = self.plot_widget.mapToGlobal(self.plot_widget.mapFromScene(position))
            QToolTip.showText(place, plain_tip(described(self._scene, self._hovered)), self)
        else:
            QToolTip.hideText()

    def _on_mouse_clicked(self, event: MouseClickEvent) -> None:
        scene, place, point = self._scene, event.scenePos(), self.point_at(event.scenePos())
        if event.button() == Qt.MouseButton.RightButton and scene is not None and point >= 0:
            if point not in scene.selection:
                self.point_selected.emit(point)
            self.menu_requested.emit(event.screenPos().toPoint())
        elif event.button() == Qt.MouseButton.LeftButton and not event.double():
            if self._box.sceneBoundingRect().contains(place):
                self.point_selected.emit(point)

    def _point_pixels(self) -> list[Floats]:
        scene = self._scene
        return [] if scene is None else [self._to_pixels(where) for where in drawn_places(scene)]

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Fit on a double click into the plot."""
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonDblClick:
            if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self.fit()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Keep the overlay over the plot."""
        self._overlay.setGeometry(self.rect())
        self._overlay.raise_()
        self._make_room(at_least=0.0)
