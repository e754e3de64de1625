"""The plot of singular values and weights: its items, and its mouse and key events."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent
from PyQt6.QtWidgets import QGraphicsRectItem, QWidget

from core.foundation import Floats
from nrsfm_gui.model.theme import DARK, Theme
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.drag_number import FINE
from nrsfm_gui.widgets.plots.plot_export import INTERACTIVE_ONLY
from nrsfm_gui.widgets.plots.plot_style import PlainPlot

BAR_WIDTH = 0.56
MARGIN = (1.0 - BAR_WIDTH) / 2  # at either side of a bar
KEPT, DROPPED, POINTED = 150 / 255, 50 / 255, 225 / 255  # opacities of bars
LABEL_PLACE = [(1, 1), (1, 1)]  # of what a line means: at its right end, above it
HANDLE, ACTIVE_HANDLE = 12, 17  # pixels across
GHOST_HEIGHT, GHOST_WIDTH = 0.3, 30  # of the picture's height, and pixels of its column at least
HEADROOM = 0.06  # above the top of the scales
NEAR_TOP = 0.85  # above it the number is below the handle
REACH = 14  # pixels around a handle within which the mouse drags it
LOW = 0.34  # of the picture's height: below it a click in a bar means the bar
LEAST_HEIGHT = 100  # pixels
TICK_LINES, AXIS = 1.3, 30  # lines from a tick to the next at least; pixels of the lower axis
# Pixels of height, from which the axes have their full names, and from which the lower one has a name.
ROOMY, TALL = 180, 270
STEPS = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}
CHOICES = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
KEYS = {*STEPS, *CHOICES, Qt.Key.Key_Escape}


@dataclass(frozen=True, eq=False)
class SpectrumPicture:
    """What is drawn; heights are 0 to 1 of the picture, columns and handles are counted from 0."""

    heights: Floats  # (N,) of the bars
    shares: Floats  # (K,) heights of the handles
    texts: tuple[str, ...] = ()  # (K,) of the handles; that of the marked one is next to it
    kept: int = 0  # how many bars are not faint
    level: float | None = None  # height of a line across the bars
    meaning: str = ""  # of this line
    barrier: int | None = None  # the handle that stopped another one
    ticks: Mapping[str, list[tuple[float, str]]] = field(default_factory=dict)  # heights, texts by axis
    labels: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # of the axes, short and in full
    grows: bool = True  # whether there is a place for one more; else the last column is of all others, too

    @property
    def columns(self) -> int:
        """How many there are, without the place for one more."""
        return max(len(self.heights), len(self.shares))


@dataclass(frozen=True)
class Target:
    """What is under the mouse: a "handle", a "bar", or the place for "more"."""

    kind: str
    index: int  # 0-based


class SpectrumCanvas(PlainPlot):
    """A plot whose handles are dragged and whose bars are clicked."""

    GESTURES = (
        ("Drag a handle", "change the weight; with Shift those after it, too; with Ctrl finely"),
        ("Click a bar", "drop what is behind it; the hollow one adds one"),
        ("Left, Right", "choose a weight"),
        ("Up, Down", "change it by 1 %; with Shift by 10 %, with Ctrl those after it, too"),
        ("Escape", "leave the plot"),
    )
    target_changed = pyqtSignal(object)  # what is under the mouse changed
    # The pressed handle was moved to a height, 0 to 1; whether the others are moved as well.
    handle_dragged = pyqtSignal(float, bool)
    handle_released = pyqtSignal()  # the handle was released
    handle_reset = pyqtSignal(int)  # a handle was clicked twice
    bar_clicked = pyqtSignal(int)  # a bar, or the place for one more, was clicked: the requested rank
    # A key moved the marked handle up by so many percent; whether the others are moved as well.
    weight_step_requested = pyqtSignal(float, bool)
    focus_changed = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._plot: pg.PlotItem = self.getPlotItem()
        self._plot.setMouseEnabled(x=False, y=False)
        self._bars = pg.BarGraphItem(x=[], height=[], width=BAR_WIDTH, pen=pg.mkPen(None))
        self._level = pg.InfiniteLine(angle=0, label="", labelOpts={"position": 0.98, "anchors": LABEL_PLACE})
        self._ghost = QGraphicsRectItem()
        self._plus = pg.TextItem("+", anchor=(0.5, 0.5))
        self._line = pg.PlotCurveItem()
        self._handles = pg.ScatterPlotItem(symbol="d", size=HANDLE)
        self._number = pg.TextItem("", anchor=(0.5, 1.3))
        for depth, item in enumerate(
            (self._bars, self._level, self._ghost, self._plus, self._line, self._handles, self._number)
        ):
            item.setZValue(depth)
            self._plot.addItem(item, ignoreBounds=True)
        for item in (self._ghost, self._plus):
            item.setData(INTERACTIVE_ONLY, True)
        self._theme = DARK
        self.picture = SpectrumPicture(np.zeros(0), np.zeros(0))
        self.target: Target | None = None  # what is under the mouse
        self.dragged_handle: int | None = None  # the handle that is being dragged
        self.marked: int | None = None  # the handle that keys move, or that was under the mouse last
        self._y = 0.0  # of the mouse when it last moved the handle, in pixels
        self._share = 0.0  # of the handle, unclipped
        self._marked: dict[str, list[tuple[float, str]]] = {}  # places and texts that the axes show
        self.set_colors(DARK)
        self._on_resized()
        self._plot.getViewBox().sigResized.connect(self._on_resized)
        self.setMinimumHeight(LEAST_HEIGHT)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @property
    def number(self) -> str:
        """The number next to a handle, "" where there is none."""
        return self._number.toPlainText() if self._number.isVisible() else ""

    # -- drawing --------------------------------------------------------------------------------------------

    def draw(self, picture: SpectrumPicture) -> None:
        """Draw bars, handles and the line across the bars."""
        before, self.picture = self.picture, picture
        if (picture.columns, picture.grows) != (before.columns, before.grows):
            self._place_ghost()
        self._draw_axes()
        self._draw_bars()
        self._draw_handles()
        self._level.setVisible(picture.level is not None)
        if picture.level is not None:
            self._level.setPos(picture.level)
            self._level.label.setFormat(picture.meaning)

    def mark(self, handle: int | None) -> None:
        """Mark a handle, which keys move then, or none."""
        self.marked = handle
        self.draw(self.picture)

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self._theme = theme
        self._line.setPen(pg.mkPen(theme.residual, width=1))
        self._plus.setColor(theme.muted)
        self._level.setPen(pg.mkPen(theme.muted, width=1, style=Qt.PenStyle.DotLine))
        self._level.label.setColor(theme.muted)
        self._number.setColor(theme.text)
        self._number.fill = pg.mkBrush(theme.raised)
        self._number.border = pg.mkPen(theme.border)
        self.draw(self.picture)

    def _draw_bars(self) -> None:
        """Draw the bars that are kept, or that a click on the one under the mouse would keep."""
        picture, theme, target = self.picture, self._theme, self.target
        pointed = None if target is None or target.kind == "handle" else target.index
        kept, full = (picture.kept, KEPT) if pointed is None else (pointed + 1, POINTED)
        k = np.arange(len(picture.heights))
        brushes = [pg.mkBrush(qcolor(theme.estimate, full if i < kept else DROPPED)) for i in k]
        self._bars.setOpts(x=k + 1, y0=np.zeros(len(k)), height=picture.heights, brushes=brushes)
        ghost = theme.accent if pointed == picture.columns else theme.muted
        self._ghost.setPen(pg.mkPen(ghost, width=1, style=Qt.PenStyle.DashLine))

    def _draw_handles(self) -> None:
        picture, theme, shares = self.picture, self._theme, self.picture.shares
        if self.marked is None and self.hasFocus():
            self.marked = 0
        if self.marked is not None and self.marked >= len(shares):
            self.marked = None
        active = self.marked
        marks = {active: theme.selection, picture.barrier: theme.warning}
        k = np.arange(len(shares))
        self._handles.setData(
            x=k + 1,
            y=shares,
            brush=[pg.mkBrush(marks.get(i, theme.residual)) for i in k.tolist()],
            size=[ACTIVE_HANDLE if i in marks else HANDLE for i in k.tolist()],
            pen=pg.mkPen(theme.panel),
        )
        self._line.setData(k + 1, shares)
        text = "" if active is None else picture.texts[active]
        self.setAccessibleDescription(text)
        self._number.setVisible(active is not None)
        if active is not None:
            self._number.setText(text)
            self._number.setPos(active + 1, shares[active])
            self._number.setAnchor((self._inside(active + 1), 1.3 if shares[active] < NEAR_TOP else -0.3))

    def _inside(self, k: float) -> float:
        """Return where the number, 0 to 1 of its width, is at component k, so that no edge cuts it."""
        box, width = self._plot.getViewBox(), self._number.boundingRect().width()
        low, high = box.viewRange()[0]
        at = (k - low) / (high - low) * box.width()
        return float((at - np.clip(at - width / 2, 0.0, max(box.width() - width, 0.0))) / width)

    def _place_ghost(self) -> None:
        """Put the place for one more behind the last bar, wide enough for the mouse."""
        columns, grows = self.picture.columns, self.picture.grows
        self._ghost.setVisible(columns > 0 and grows)
        self._plus.setVisible(columns > 0 and grows)
        rest = max(self._plot.getViewBox().width() - GHOST_WIDTH, 1.0)
        width = max(GHOST_WIDTH * (columns + 0.2) / rest, 1.0) if grows else 0.1  # in columns
        left = columns + 0.5
        self._ghost.setRect(QRectF(left, 0.0, width, GHOST_HEIGHT).adjusted(MARGIN, 0.0, -MARGIN, 0.0))
        self._plus.setPos(left + width / 2, GHOST_HEIGHT / 2)
        self._plot.setRange(xRange=(0.4, left + width + 0.1), yRange=(0.0, 1.0 + HEADROOM), padding=0)

    def sizeHint(self) -> QSize:
        """Return the least height; the width is given by the layout."""
        return QSize(200, LEAST_HEIGHT)

    def _on_resized(self) -> None:
        self._place_ghost()
        self._draw_axes()

    def _draw_axes(self) -> None:
        """Name the axes, and mark as many heights and columns as there is room for."""
        picture, metrics, columns = self.picture, self.fontMetrics(), self.picture.columns
        room = max(int((self.height() - AXIS) / (TICK_LINES * metrics.height())), 2)
        for side, ticks in picture.ticks.items():
            self._mark_axis(side, ticks[:: -(-len(ticks) // room)])
        width = self.pixel(2, 0.0).x() - self.pixel(1, 0.0).x()
        every = math.ceil(metrics.horizontalAdvance(f" {columns} ") / max(width, 1.0))
        last = columns + 1 if picture.grows else columns - every + 1
        numbers: list[tuple[float, str]] = [(k, str(k)) for k in range(1, last, every)]
        self._mark_axis("bottom", numbers if picture.grows else [*numbers, (columns, f"{columns}…")])
        for side, (short, full) in picture.labels.items():
            axis = self._plot.getAxis(side)  # whose plot would show it with the label
            label = full if self.height() >= (TALL if side == "bottom" else ROOMY) else short
            if axis.labelText != label:
                axis.setLabel(label or None)

    def _mark_axis(self, side: str, ticks: list[tuple[float, str]]) -> None:
        """Set the ticks of an axis where they are others: it is drawn anew then."""
        if ticks != self._marked.get(side):
            self._marked[side] = ticks
            self._plot.getAxis(side).setTicks([ticks])

    def pixel(self, column: float, share: float) -> QPointF:
        """Return where a place of the plot is, in pixels of this widget."""
        scene = self._plot.getViewBox().mapViewToScene(QPointF(column, share))
        return QPointF(self.mapFromScene(scene))

    def target_at(self, position: QPointF) -> Target | None:
        """Return what is at a place of this widget."""
        place = self._plot.getViewBox().mapSceneToView(self.mapToScene(position.toPoint()))
        count = self.picture.columns
        column = min(round(place.x()) - 1, count)  # that of one more is wider where there are many
        if not 0 <= column < count + self.picture.grows or place.y() > 1 or count == 0:
            return None
        shares = self.picture.shares
        near = [k for k in (column - 1, column, column + 1) if 0 <= k < len(shares)]
        apart = {k: position - self.pixel(k + 1, float(shares[k])) for k in near}
        distances = {k: math.hypot(each.x(), each.y()) for k, each in apart.items()}
        closest = min(distances, key=lambda k: distances[k], default=None)
        if closest is not None and distances[closest] <= REACH:
            return Target("handle", closest)
        if column == count:
            return Target("more", column) if place.y() < GHOST_HEIGHT else None
        return Target("bar", column) if place.y() < LOW else None

    # -- mouse ----------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Start to drag a handle."""
        assert event is not None
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        self._update_target(event.position())
        if self.target is not None and self.target.kind == "handle":
            self.dragged_handle = self.target.index
            self._y, self._share = event.position().y(), float(self.picture.shares[self.dragged_handle])
            self._show_cursor()
            self.mark(self.dragged_handle)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Drag the pressed handle, or update the target under the mouse."""
        assert event is not None
        if self.dragged_handle is None:
            self._update_target(event.position())
            return
        height = self.pixel(1, 0.0).y() - self.pixel(1, 1.0).y()
        keys = event.modifiers()
        speed = FINE if keys & Qt.KeyboardModifier.ControlModifier else 1.0
        y = event.position().y()
        # A mouse that went beyond an end must come back as far.
        self._share += speed * (self._y - y) / max(height, 1.0)
        self._y = y
        share = min(max(self._share, 0.0), 1.0)
        self.handle_dragged.emit(share, bool(keys & Qt.KeyboardModifier.ShiftModifier))

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:
        """End the drag of a handle, or click a bar."""
        assert event is not None
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        target = self.target
        if self.dragged_handle is not None:
            self.dragged_handle = None
            self.handle_released.emit()
        elif target is not None and target.kind != "handle" and target == self.target_at(event.position()):
            self.bar_clicked.emit(target.index + 1)
        self._update_target(event.position(), again=True)

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:
        """Request what the rule gives a handle; elsewhere, count as another press."""
        assert event is not None
        self._update_target(event.position())
        if self.target is not None and self.target.kind == "handle":
            self.handle_reset.emit(self.target.index)
        else:
            self.mousePressEvent(event)

    def wheelEvent(self, event: QEvent | None) -> None:
        """Leave the range as it is."""
        assert event is not None
        event.ignore()

    def leaveEvent(self, event: QEvent | None) -> None:
        """Clear what belongs to the point under the mouse."""
        if self.dragged_handle is None:
            self._set_target(None)
        super().leaveEvent(event)

    def _update_target(self, position: QPointF, *, again: bool = False) -> None:
        target = self.target_at(position)
        if again:
            self.target = None
        self._set_target(target)

    def _set_target(self, target: Target | None) -> None:
        if target != self.target:
            self.target = target
            self._show_cursor()
            if target is None:
                self.mark(self.marked if self.hasFocus() else None)
            else:
                self.mark(target.index if target.kind == "handle" else self.marked)
            self.target_changed.emit(target)

    def _show_cursor(self) -> None:
        shape = Qt.CursorShape.ArrowCursor
        if self.target is not None:
            handle = self.target.kind == "handle"
            shape = Qt.CursorShape.SizeVerCursor if handle else Qt.CursorShape.PointingHandCursor
        self.viewport().setCursor(shape)

    # -- keys -----------------------------------------------------------------------------------------------

    def event(self, event: QEvent | None) -> bool:
        """Accept the arrow keys, which would otherwise step through the frames."""
        override = event is not None and event.type() is QEvent.Type.ShortcutOverride
        if override and isinstance(event, QKeyEvent) and event.key() in KEYS and len(self.picture.shares):
            event.accept()
            return True
        return bool(super().event(event))

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Choose a handle, move it, or leave the plot."""
        assert event is not None
        key, keys, count = Qt.Key(event.key()), event.modifiers(), len(self.picture.shares)
        if key in CHOICES:
            first = 0 if CHOICES[key] > 0 else count - 1
            handle = first if self.marked is None else self.marked + CHOICES[key]
            self.mark(min(max(handle, 0), count - 1) if count else None)
        elif key in STEPS:
            percent = 10.0 if keys & Qt.KeyboardModifier.ShiftModifier else 1.0
            move_others = bool(keys & Qt.KeyboardModifier.ControlModifier)
            self.weight_step_requested.emit(STEPS[key] * percent, move_others)
        elif key == Qt.Key.Key_Escape:
            self.clearFocus()
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent | None) -> None:
        """Mark the handle that the keys would move."""
        super().focusInEvent(event)
        self.mark(self.marked)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent | None) -> None:
        """Mark no handle that keys would not move."""
        super().focusOutEvent(event)
        self.mark(self.dragged_handle)
        self.focus_changed.emit()
