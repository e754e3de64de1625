"""The plot of singular values and weights: its items, and its mouse and key events.

The items are created once; later changes only set their data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QGraphicsRectItem

from nrsfm_gui.model.theme import DARK
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.drag_number import FINE
from nrsfm_gui.widgets.plots.plot_export import INTERACTIVE_ONLY
from nrsfm_gui.widgets.plots.plot_style import PlainPlot

if TYPE_CHECKING:
    from PyQt6.QtGui import QFocusEvent, QMouseEvent, QPen
    from PyQt6.QtWidgets import QWidget

    from core.foundation import Floats
    from nrsfm_gui.model.theme import Theme

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


class SpectrumItems:
    """The items of a plot whose vertical axis is 0 to 1."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self._plot = plot
        self._bars = pg.BarGraphItem(x=[], height=[], width=BAR_WIDTH, pen=pg.mkPen(None))
        self._line = pg.PlotCurveItem()
        self._handles = pg.ScatterPlotItem(symbol="d", size=HANDLE)
        self._ghost = QGraphicsRectItem()
        self._level = pg.InfiniteLine(angle=0, label="", labelOpts={"position": 0.98, "anchors": LABEL_PLACE})
        self._plus = pg.TextItem("+", anchor=(0.5, 0.5))
        self._number = pg.TextItem("", anchor=(0.5, 1.3))
        for depth, item in enumerate(
            (self._bars, self._level, self._ghost, self._plus, self._line, self._handles, self._number)
        ):
            item.setZValue(depth)
            plot.addItem(item, ignoreBounds=True)
        for item in (self._ghost, self._plus):
            item.setData(INTERACTIVE_ONLY, True)
        self._number.hide()
        self._level.hide()
        self.grows = True  # whether there is a place for one more
        self.heights = np.zeros(0)  # (N,) how high the bars are, 0 to 1
        self.shares = np.zeros(0)  # (K,) the heights of the handles, 0 to 1
        self._kept = 0
        self._pointed: int | None = None  # a bar, 0-based
        self._active: int | None = None  # a handle
        self.barrier: int | None = None  # a handle that stopped another one
        self.set_colors(DARK)

    @property
    def number(self) -> str:
        """The number next to a handle, "" where there is none."""
        return self._number.toPlainText() if self._number.isVisible() else ""

    @property
    def columns(self) -> int:
        """How many there are, without the place for one more."""
        return max(len(self.heights), len(self.shares))

    def set_bars(self, heights: Floats, kept: int) -> None:
        """Show bars; those from `kept` on are to be dropped."""
        self.heights, self._kept = heights, kept
        self._draw_bars()
        self.place_ghost()

    def set_handles(self, shares: Floats) -> None:
        """Show handles."""
        others = len(shares) != len(self.shares)
        self.shares = shares
        self._draw_handles()
        if others:
            self.place_ghost()

    def set_level(self, height: float | None, text: str = "") -> None:
        """Show a line across the bars at a height, 0 to 1, with its meaning; None shows none."""
        self._level.setVisible(height is not None)
        if height is not None:
            self._level.setPos(height)
            self._level.label.setFormat(text)

    def point_at(self, bar: int | None) -> None:
        """Show the bases that a click on a bar would keep; None shows those that are kept."""
        if bar != self._pointed:
            self._pointed = bar
            self._draw_bars()
            self._ghost.setPen(self._ghost_pen(bar == self.columns and bar is not None))

    def set_active(self, handle: int | None, text: str = "") -> None:
        """Mark a handle and show a number next to it."""
        changed = handle != self._active
        self._active = handle
        there = handle is not None and handle < len(self.shares)
        self._number.setVisible(there)
        if handle is not None and there:
            share = float(self.shares[handle])
            self._number.setText(text)
            self._number.setPos(handle + 1, share)
            self._number.setAnchor((self._inside(handle + 1), 1.3 if share < NEAR_TOP else -0.3))
        if changed:
            self._draw_handles()

    def _inside(self, k: float) -> float:
        """Return where the number, 0 to 1 of its width, is at component k, so that no edge cuts it."""
        box, width = self._plot.getViewBox(), self._number.boundingRect().width()
        low, high = box.viewRange()[0]
        at = (k - low) / (high - low) * box.width()
        return float((at - np.clip(at - width / 2, 0.0, max(box.width() - width, 0.0))) / width)

    def set_barrier(self, handle: int | None) -> None:
        """Mark a handle that stopped another one."""
        if handle != self.barrier:
            self.barrier = handle
            self._draw_handles()

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        opacities = (KEPT, DROPPED, POINTED)
        self._brushes = {each: pg.mkBrush(qcolor(theme.estimate, each)) for each in opacities}
        self._colors = {
            "handle": pg.mkBrush(theme.residual),
            "active": pg.mkBrush(theme.selection),
            "barrier": pg.mkBrush(theme.warning),
        }
        self._edge = pg.mkPen(theme.panel)
        self._line.setPen(pg.mkPen(theme.residual, width=1))
        self._muted = pg.mkColor(theme.muted)
        self._accent = pg.mkColor(theme.accent)
        self._ghost.setPen(self._ghost_pen(False))
        self._plus.setColor(theme.muted)
        self._level.setPen(pg.mkPen(theme.muted, width=1, style=Qt.PenStyle.DotLine))
        self._level.label.setColor(theme.muted)
        self._number.setColor(theme.text)
        self._number.fill = pg.mkBrush(theme.raised)
        self._number.border = pg.mkPen(theme.border)
        self._draw_bars()
        self._draw_handles()

    def _ghost_pen(self, pointed: bool) -> QPen:
        color = self._accent if pointed else self._muted
        pen: QPen = pg.mkPen(color, width=1, style=Qt.PenStyle.DashLine)
        return pen

    def _draw_bars(self) -> None:
        count = len(self.heights)
        kept = self._kept if self._pointed is None else self._pointed + 1
        pointed = self._pointed is not None
        brushes = [
            self._brushes[(POINTED if pointed else KEPT) if k < kept else DROPPED] for k in range(count)
        ]
        self._bars.setOpts(
            x=np.arange(1, count + 1), y0=np.zeros(count), height=self.heights, brushes=brushes
        )

    def _draw_handles(self) -> None:
        count = len(self.shares)
        k = np.arange(1, count + 1)
        marks = [
            "barrier" if i == self.barrier else "active" if i == self._active else "handle" for i in k - 1
        ]
        self._handles.setData(
            x=k,
            y=self.shares,
            brush=[self._colors[mark] for mark in marks],
            size=[HANDLE if mark == "handle" else ACTIVE_HANDLE for mark in marks],
            pen=self._edge,
        )
        self._line.setData(k, self.shares)

    def place_ghost(self) -> None:
        """Put the place for one more behind the last bar, wide enough for the mouse."""
        there = self.columns > 0 and self.grows
        self._ghost.setVisible(there)
        self._plus.setVisible(there)
        rest = max(self._plot.getViewBox().width() - GHOST_WIDTH, 1.0)
        width = max(GHOST_WIDTH * (self.columns + 0.2) / rest, 1.0)  # in columns
        left = self.columns + 0.5
        width = width if self.grows else 0.1
        self._ghost.setRect(QRectF(left, 0.0, width, GHOST_HEIGHT).adjusted(MARGIN, 0.0, -MARGIN, 0.0))
        self._plus.setPos(left + width / 2, GHOST_HEIGHT / 2)
        self._plot.setRange(xRange=(0.4, left + width + 0.1), yRange=(0.0, 1.0 + HEADROOM), padding=0)


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
    handle_pressed = pyqtSignal(int)  # a handle was pressed
    # The pressed handle was moved to a height, 0 to 1; whether the others are moved as well.
    handle_dragged = pyqtSignal(float, bool)
    handle_released = pyqtSignal()  # the handle was released
    handle_reset = pyqtSignal(int)  # a handle was clicked twice
    bar_clicked = pyqtSignal(int)  # a bar, or the place for one more, was clicked: the requested rank
    handle_step_requested = pyqtSignal(int)  # a key requested another handle, relative to the marked one
    # A key moved the marked handle up by so many percent; whether the others are moved as well.
    weight_step_requested = pyqtSignal(float, bool)
    focus_changed = pyqtSignal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        plot: pg.PlotItem = self.getPlotItem()
        plot.setMouseEnabled(x=False, y=False)
        self.parts = SpectrumItems(plot)
        self.target: Target | None = None  # what is under the mouse
        self.dragged_handle: int | None = None  # the handle that is being dragged
        self._y = 0.0  # of the mouse when it last moved the handle, in pixels
        self._share = 0.0  # of the handle, unclipped
        self._labels = {"left": ("", ""), "right": ("", "")}  # of the axes, short and in full
        self._ticks: dict[str, list[tuple[float, str]]] = {}  # heights and texts of both vertical axes
        self._marked: dict[str, list[tuple[float, str]]] = {}  # places and texts that the axes show
        self._adapt_axes()
        plot.getViewBox().sigResized.connect(self._adapt_axes)
        self.setMinimumHeight(LEAST_HEIGHT)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def sizeHint(self) -> QSize:
        """Return the least height; the width is given by the layout."""
        return QSize(200, LEAST_HEIGHT)

    def _adapt_axes(self) -> None:
        self.parts.place_ghost()
        for side in self._ticks:
            self._show_ticks(side)
        self.show_columns()
        for side, (short, full) in self._labels.items():
            axis = self.getPlotItem().getAxis(side)  # whose plot would show it with the label
            label = full if self.height() >= (TALL if side == "bottom" else ROOMY) else short
            if axis.labelText != label:
                axis.setLabel(label or None)

    def set_columns(self, labels: dict[str, tuple[str, str]], *, grows: bool) -> None:
        """Name the axes, in short and in full. Where it does not grow, the last column is of all others."""
        if (labels, grows) != (self._labels, self.parts.grows):
            self._labels, self.parts.grows = labels, grows
            self._adapt_axes()

    def set_ticks(self, side: str, ticks: list[tuple[float, str]]) -> None:
        """Mark heights, 0 to 1, on an axis with texts: as many of them as there is room for."""
        self._ticks[side] = ticks
        self._show_ticks(side)

    def _show_ticks(self, side: str) -> None:
        ticks = self._ticks[side]
        room = max(int((self.height() - AXIS) / (TICK_LINES * self.fontMetrics().height())), 2)
        every = -(-len(ticks) // room)
        self._mark_axis(side, ticks[::every])

    def show_columns(self) -> None:
        """Show the numbers of the columns: as many of them as there is room for."""
        columns = self.parts.columns
        width = self.pixel(2, 0.0).x() - self.pixel(1, 0.0).x()
        every = math.ceil(self.fontMetrics().horizontalAdvance(f" {columns} ") / max(width, 1.0))
        last = columns + 1 if self.parts.grows else columns - every + 1
        ticks: list[tuple[float, str]] = [(k, str(k)) for k in range(1, last, every)]
        self._mark_axis("bottom", ticks if self.parts.grows else [*ticks, (columns, f"{columns}…")])

    def _mark_axis(self, side: str, ticks: list[tuple[float, str]]) -> None:
        """Set the ticks of an axis where they are others: it is drawn anew then."""
        if ticks != self._marked.get(side):
            self._marked[side] = ticks
            self.getPlotItem().getAxis(side).setTicks([ticks])

    def pixel(self, column: float, share: float) -> QPointF:
        """Return where a place of the plot is, in pixels of this widget."""
        scene = self.getPlotItem().getViewBox().mapViewToScene(QPointF(column, share))
        return QPointF(self.mapFromScene(scene))

    def target_at(self, position: QPointF) -> Target | None:
        """Return what is at a place of this widget."""
        place = self.getPlotItem().getViewBox().mapSceneToView(self.mapToScene(position.toPoint()))
        count = self.parts.columns
        column = min(round(place.x()) - 1, count)  # that of one more is wider where there are many
        if not 0 <= column < count + self.parts.grows or place.y() > 1 or count == 0:
            return None
        near = [k for k in (column - 1, column, column + 1) if 0 <= k < len(self.parts.shares)]
        distances = {k: self._distance(position, k) for k in near}
        closest = min(distances, key=lambda k: distances[k], default=None)
        if closest is not None and distances[closest] <= REACH:
            return Target("handle", closest)
        if column == count:
            return Target("more", column) if place.y() < GHOST_HEIGHT else None
        return Target("bar", column) if place.y() < LOW else None

    def _distance(self, position: QPointF, k: int) -> float:
        apart = position - self.pixel(k + 1, float(self.parts.shares[k]))
        return float((apart.x() ** 2 + apart.y() ** 2) ** 0.5)

    # -- mouse ----------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Start to drag a handle."""
        assert event is not None
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        self._update_target(event.position())
        if self.target is not None and self.target.kind == "handle":
            self.dragged_handle = self.target.index
            self._y, self._share = event.position().y(), float(self.parts.shares[self.dragged_handle])
            self._show_cursor()
            self.handle_pressed.emit(self.dragged_handle)

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
        if self.dragged_handle is not None:
            self.dragged_handle = None
            self.handle_released.emit()
        elif (
            self.target is not None
            and self.target.kind != "handle"
            and self.target == self.target_at(event.position())
        ):
            self.bar_clicked.emit(self.target.index + 1)
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
        if (
            isinstance(event, QKeyEvent)
            and event.type() is QEvent.Type.ShortcutOverride
            and len(self.parts.shares)
            and (event.key() in STEPS or event.key() in CHOICES or event.key() == Qt.Key.Key_Escape)
        ):
            event.accept()
            return True
        return bool(super().event(event))

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Choose a handle, move it, or leave the plot."""
        assert event is not None
        key, keys = Qt.Key(event.key()), event.modifiers()
        if key in CHOICES:
            self.handle_step_requested.emit(CHOICES[key])
        elif key in STEPS:
            percent = 10.0 if keys & Qt.KeyboardModifier.ShiftModifier else 1.0
            self.weight_step_requested.emit(
                STEPS[key] * percent, bool(keys & Qt.KeyboardModifier.ControlModifier)
            )
        elif key == Qt.Key.Key_Escape:
            self.clearFocus()
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent | None) -> None:
        """Emit `focus_changed`."""
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent | None) -> None:
        """Emit `focus_changed`."""
        super().focusOutEvent(event)
        self.focus_changed.emit(False)
