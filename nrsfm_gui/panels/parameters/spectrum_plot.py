"""The editor of the weights: singular values as bars, their weights as handles that can be dragged.

Bars use the left axis, handles the right one; both are logarithmic. A handle stops where the order of the
weights would be violated, highlights the handle that limits it and shows the reason; with Shift it moves
the others as well; a double click gives it back to the rule. A click low in a bar drops what is behind it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent
from PyQt6.QtWidgets import (
    QGraphicsRectItem,
    QHBoxLayout,
    QMenu,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from core import PENALTIES
from core.foundation import DEPTHS, WNN, Floats
from nrsfm_gui.engine.throttle import Debounce
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.panels.parameters.kind_editors import TITLES
from nrsfm_gui.panels.parameters.spectrum_state import WORDS, LogScale, SpectrumState, decades_of
from nrsfm_gui.panels.parameters.weights_list import (
    SUPPRESSED,
    describe_limit,
    enforce_order,
    limit_weight,
    short,
)
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.drag_number import FINE
from nrsfm_gui.widgets.fields import IgnoresWheel, filled, tool_button
from nrsfm_gui.widgets.labels import ElidedLabel, EmptyLabel
from nrsfm_gui.widgets.plots.plot_export import INTERACTIVE_ONLY, PlotFigure
from nrsfm_gui.widgets.plots.plot_style import PlainPlot, apply_plot_theme
from nrsfm_gui.widgets.style import Themed, set_property

KEYS_HINT = "Keys: ← → choose, ↑ ↓ change by 1 %."
ALONG = "The others come along."
MOST_HEIGHT = 260  # pixels
SENTENCE_MILLISECONDS = 4000  # that the reason for a stop is shown
BELOW = 2.0  # times: a mode below the smallest movement over it has no part in the scale
WEIGHT_MARGIN, WEIGHT_SPAN = 1.0, 4.0  # decades around the weights, and at least in all
BAR_WIDTH = 0.56
MARGIN = (1.0 - BAR_WIDTH) / 2  # at either side of a bar
KEPT, DROPPED, POINTED = 150 / 255, 50 / 255, 225 / 255  # opacities of bars
NAME_TOP = 0.93  # of the name of the line, below handles at the top
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


@dataclass(frozen=True)
class Target:
    """What is under the mouse: a "handle", a "bar", or the place for "more"."""

    kind: str
    index: int  # 0-based


class SpectrumCanvas(IgnoresWheel, Themed, PlainPlot):
    """A plot whose handles are dragged and whose bars are clicked. Heights are 0 to 1 of the picture.

    `hint` is the line below it, which `SpectrumPlot` places.
    """

    GESTURES = (
        ("Drag a handle", "change the weight; with Shift those after it, too; with Ctrl finely"),
        ("Click a bar", "drop what is behind it; the hollow one adds one"),
        ("Left, Right", "choose a weight"),
        ("Up, Down", "change it by 1 %; with Shift by 10 %, with Ctrl those after it, too"),
        ("Escape", "leave the plot"),
    )
    weights_edited = pyqtSignal(object)  # a tuple of non-decreasing floats: a handle was moved
    rank_requested = pyqtSignal(int)  # a bar, or the place for one more, was clicked: so many are to be kept
    reset_requested = pyqtSignal(int)  # a handle (0-based) was clicked twice: it is to follow the rule again

    def __init__(self) -> None:
        super().__init__()
        self.hint = ElidedLabel(role="muted")
        self._plot.setMouseEnabled(x=False, y=False)
        self._plot.setContentsMargins(0, 0, 0, 0)  # it is low, and without a title below
        self._bars = pg.BarGraphItem(x=[], height=[], width=BAR_WIDTH, pen=pg.mkPen(None))
        self._level = pg.InfiniteLine(angle=0)
        self._level_name = pg.TextItem("dotted: smallest movement", anchor=(1, 0))
        self._ghost = QGraphicsRectItem()
        self._plus = pg.TextItem("+", anchor=(0.5, 0.5))
        self._line = pg.PlotCurveItem()
        self._handles = pg.ScatterPlotItem(symbol="d", size=HANDLE)
        self._number = pg.TextItem("", anchor=(0.5, 1.3))
        below = self._bars, self._level, self._level_name, self._ghost, self._plus
        for depth, item in enumerate((*below, self._line, self._handles, self._number)):
            item.setZValue(depth)
            self._plot.addItem(item, ignoreBounds=True)
        for item in (self._ghost, self._plus):
            item.setData(INTERACTIVE_ONLY, True)
        self._empty = EmptyLabel("", self)
        self.state = SpectrumState()
        self.weights: tuple[float, ...] = ()  # (K,) at the handles
        self._base: tuple[float, ...] | None = None  # that they had when a drag began
        self._moves_others = False
        self.barrier: int | None = None  # the handle that stopped another one
        self._said = ""  # of the last movement of a handle
        self._note = ""
        self.heights: Floats = np.zeros(0)  # (N,) of the bars
        self.shares: Floats = np.zeros(0)  # (K,) heights of the handles
        self.target: Target | None = None  # what is under the mouse
        self.dragged_handle: int | None = None  # the handle that is being dragged
        self.marked: int | None = None  # the handle that keys move, or that was under the mouse last
        self._y = 0.0  # of the mouse when it last moved the handle, in pixels
        self._share = 0.0  # of the handle, unclipped
        self._placed: tuple[int, bool] | None = None  # for how many columns the place for more was put
        self._ticks: dict[str, list[tuple[float, str]]] = {}  # places and texts that the axes show
        self._limit = Debounce(self._end_limit, SENTENCE_MILLISECONDS, self)
        self.setAccessibleName("singular values and their weights")
        self.setMinimumHeight(LEAST_HEIGHT)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._use_words(WNN)
        self._follow_theme()
        self._show()
        self._plot.getViewBox().sigResized.connect(self._on_resized)

    def set_state(self, state: SpectrumState) -> None:
        """Show singular values and weights; a handle that is being dragged stays under the mouse."""
        if state.objective != self.state.objective:
            self._use_words(state.objective)
        self.state = state
        if self.dragged_handle is None or len(state.weights) != len(self.weights):
            if state.weights != self.weights:
                self._end_limit()
            self.weights = state.weights
        self._show()

    def set_note(self, sentence: str) -> None:
        """Show a sentence below the plot while no bar in it is pointed at, "" for what can be done."""
        self._note = sentence
        self._show_hint()

    @property
    def columns(self) -> int:
        """How many there are, without the place for one more."""
        return max(len(self.heights), len(self.shares))

    @property
    def is_empty(self) -> bool:
        """Whether neither values nor weights are known."""
        return self.state.singular_values is None and not self.weights

    @property
    def _modes(self) -> bool:
        """Whether the values are of modes: the last column is of all others, too, and none can be added."""
        return self.state.objective == DEPTHS

    @property
    def _kept(self) -> int:
        """How many bars are not dropped."""
        return sum(weight < SUPPRESSED for weight in self.weights) if self._modes else len(self.weights)

    def _apply_theme(self, theme: Theme) -> None:
        apply_plot_theme(self, theme)
        for side, color in (("left", theme.estimate), ("right", theme.residual)):
            self._plot.getAxis(side).setTextPen(color)
        self._line.setPen(pg.mkPen(theme.residual, width=1))
        self._plus.setColor(theme.muted)
        self._level.setPen(pg.mkPen(theme.muted, width=1, style=Qt.PenStyle.DotLine))
        self._level_name.setColor(theme.muted)
        self._number.setColor(theme.text)
        self._number.fill = pg.mkBrush(theme.raised)
        self._number.border = pg.mkPen(theme.border)
        self._draw()

    # -- words ----------------------------------------------------------------------------------------------

    def _use_words(self, objective: str) -> None:
        self._words = words = WORDS[objective]
        self._empty.setText(words.empty)
        self.setToolTip(words.tip)
        self.setWhatsThis(f"<p><b>Weights</b></p><p>{words.tip.replace(chr(10), ' ')}</p>")
        lowest, highest = (-1.0, 2.0) if objective == DEPTHS else (-3.0, 1.0)
        self._left, self._right = LogScale(-1.0, 1.0), LogScale(lowest, highest, zero=True)
        self._said = ""

    def _show_hint(self) -> None:
        self.hint.set_full_text(self._hint_text())
        set_property(self.hint, "role", "warning" if self._said and self.barrier is not None else "muted")

    def _hint_text(self) -> str:
        """Return what a movement did, what a click would do, or what can be done."""
        target = self.target
        if self._said:
            return self._said
        if target is None:
            return self._note or (KEYS_HINT if self.hasFocus() else self._words.hint)
        if target.kind != "handle":
            return self._click_hint(target.index + 1, more=target.kind == "more")
        if self.dragged_handle is None and self._is_of_others(target.index):
            return f"Of mode {target.index + 1} and all smaller ones."
        return (self._note if self.dragged_handle is not None else "") or self._words.handle

    def _is_of_others(self, handle: int) -> bool:
        """Return whether a weight is of all smaller modes, too."""
        return self._modes and handle + 1 == len(self.weights)

    def _click_hint(self, count: int, *, more: bool) -> str:
        """Return what a click into the bar of a singular value or a mode does, or behind the last one."""
        if self._modes:
            if count not in (self._kept, len(self.weights)):
                return f"Click to suppress the modes behind {count}."
            suppressed = self._kept < len(self.weights)
            return "Click to give the others back." if suppressed else "None is suppressed."
        if more:
            return f"Click to add one: rank {count}."
        if count < len(self.weights):
            return f"Click to keep {f'these {count}' if count > 1 else 'this one alone'}: rank {count}."
        if count == 1:
            return "The only one is kept."
        return f"All {count} are kept; click before for fewer."

    # -- drawing --------------------------------------------------------------------------------------------

    def _show(self) -> None:
        there, known = not self.is_empty, self.state.singular_values is not None
        self._empty.setVisible(not there)
        for side, visible in (("left", known), ("right", there), ("bottom", there)):
            if self._plot.getAxis(side).isVisible() != visible:
                self._plot.showAxis(side, visible)
        self.hint.setVisible(there)
        self._fit_scales()
        self._show_hint()
        self._draw()

    def _fit_scales(self) -> None:
        """Keep the scales while all values fit, so that nothing jumps between updates or during a drag."""
        smallest, weights, modes = self.state.smallest, np.asarray(self.weights), self._modes
        if self.state.singular_values is not None:
            values = np.asarray(self.state.singular_values)
            if smallest is not None:
                values = np.append(values[values > smallest / BELOW], smallest)
            wanted = decades_of(values, zero=False, margin=0.1 if modes else 0.3, least=1.0)
            self._left = self._left if self._left.holds(wanted, 0.5 if modes else 2.0) else wanted
        if weights.size and self.dragged_handle is None:
            margin, least = (0.0, 1.0) if modes else (WEIGHT_MARGIN, WEIGHT_SPAN)
            wanted = decades_of(weights, zero=True, margin=margin, least=least)
            self._right = self._right if self._right.holds(wanted, math.inf if modes else 2.0) else wanted

    def _draw(self) -> None:
        """Draw bars, handles and the line of the smallest movement across the bars."""
        smallest, values = self.state.smallest, self.state.singular_values
        self.heights = np.zeros(0) if values is None else self._left.shares(np.asarray(values))
        self.shares = self._right.shares(np.asarray(self.weights))
        if self._placed != (self.columns, self._modes):
            self._place_ghost()
        self._draw_axes()
        self._draw_bars()
        self._draw_handles()
        self._level.setVisible(values is not None and smallest is not None)
        if smallest is not None:
            self._level.setPos(float(self._left.shares(np.array([smallest]))[0]))
        self._name_level()

    def _name_level(self) -> None:
        """Name the line at the upper right, where the bars below reach no higher than the name."""
        box, name = self._plot.getViewBox(), self._level_name.boundingRect()
        (left, right), (low, high) = box.viewRange()
        first = right - name.width() * (right - left) / max(box.width(), 1.0)
        bottom = NAME_TOP - name.height() * (high - low) / max(box.height(), 1.0)
        highest = float(self.heights[max(math.floor(first - BAR_WIDTH / 2), 0) :].max(initial=0.0))
        self._level_name.setPos(right, NAME_TOP)
        self._level_name.setVisible(self._level.isVisible() and highest < bottom)

    def mark(self, handle: int | None) -> None:
        """Mark a handle, which keys move then, or none."""
        self.marked = handle
        self._draw()

    def _draw_bars(self) -> None:
        """Draw the bars that are kept, or that a click on the one under the mouse would keep."""
        theme, target = self._theme, self.target
        pointed = None if target is None or target.kind == "handle" else target.index
        kept, full = (self._kept, KEPT) if pointed is None else (pointed + 1, POINTED)
        k = np.arange(len(self.heights))
        brushes = [pg.mkBrush(qcolor(theme.estimate, full if i < kept else DROPPED)) for i in k]
        self._bars.setOpts(x=k + 1, y0=np.zeros(len(k)), height=self.heights, brushes=brushes)
        ghost = theme.accent if pointed == self.columns else theme.muted
        self._ghost.setPen(pg.mkPen(ghost, width=1, style=Qt.PenStyle.DashLine))

    def _draw_handles(self) -> None:
        theme, shares = self._theme, self.shares
        if self.marked is None and self.hasFocus():
            self.marked = 0
        if self.marked is not None and self.marked >= len(shares):
            self.marked = None
        active = self.marked
        marks = {active: theme.selection, self.barrier: theme.warning}
        k = np.arange(len(shares))
        self._handles.setData(
            x=k + 1,
            y=shares,
            brush=[pg.mkBrush(marks.get(i, theme.residual)) for i in k.tolist()],
            size=[ACTIVE_HANDLE if i in marks else HANDLE for i in k.tolist()],
            pen=pg.mkPen(theme.panel),
        )
        self._line.setData(k + 1, shares)
        text = ""
        if active is not None:  # of the modes the last weight is that of all smaller ones: "w6…"
            name = f"{self._words.letter}{active + 1}{'…' * self._is_of_others(active)}"
            text = f"{name} = {short(self.weights[active])}"
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
        columns, grows = self.columns, not self._modes
        self._placed = columns, self._modes
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
        self._draw()

    def _draw_axes(self) -> None:
        """Name the axes, and mark as many heights and columns as there is room for."""
        metrics, columns, grows = self.fontMetrics(), self.columns, not self._modes
        room = max(int((self.height() - AXIS) / (TICK_LINES * metrics.height())), 2)
        for side, scale in (("left", self._left), ("right", self._right)):
            ticks = scale.ticks()
            self._mark_axis(side, ticks[:: -(-len(ticks) // room)])
        width = self.pixel(2, 0.0).x() - self.pixel(1, 0.0).x()
        every = math.ceil(metrics.horizontalAdvance(f" {columns} ") / max(width, 1.0))
        last = columns + 1 if grows else columns - every + 1
        numbers: list[tuple[float, str]] = [(k, str(k)) for k in range(1, last, every)]
        self._mark_axis("bottom", numbers if grows else [*numbers, (columns, f"{columns}…")])
        for side, (brief, full) in self._words.labels.items():
            axis = self._plot.getAxis(side)  # whose plot would show it with the label
            label = full if self.height() >= (TALL if side == "bottom" else ROOMY) else brief
            if axis.labelText != label:
                axis.setLabel(label or None)

    def _mark_axis(self, side: str, ticks: list[tuple[float, str]]) -> None:
        """Set the ticks of an axis where they are others: it is drawn anew then."""
        if ticks != self._ticks.get(side):
            self._ticks[side] = ticks
            self._plot.getAxis(side).setTicks([ticks])

    def pixel(self, column: float, share: float) -> QPointF:
        """Return where a place of the plot is, in pixels of this widget."""
        scene = self._plot.getViewBox().mapViewToScene(QPointF(column, share))
        return QPointF(self.mapFromScene(scene))

    def target_at(self, position: QPointF) -> Target | None:
        """Return what is at a place of this widget."""
        place = self._plot.getViewBox().mapSceneToView(self.mapToScene(position.toPoint()))
        count, shares = self.columns, self.shares
        column = min(round(place.x()) - 1, count)  # that of one more is wider where there are many
        if not 0 <= column < count + (not self._modes) or place.y() > 1 or count == 0:
            return None
        near = [k for k in (column - 1, column, column + 1) if 0 <= k < len(shares)]
        apart = {k: position - self.pixel(k + 1, float(shares[k])) for k in near}
        distances = {k: math.hypot(each.x(), each.y()) for k, each in apart.items()}
        closest = min(distances, key=lambda k: distances[k], default=None)
        if closest is not None and distances[closest] <= REACH:
            return Target("handle", closest)
        if column == count:
            return Target("more", column) if place.y() < GHOST_HEIGHT else None
        return Target("bar", column) if place.y() < LOW else None

    # -- weights --------------------------------------------------------------------------------------------

    def _move(self, handle: int, wanted: float, base: tuple[float, ...], *, move_others: bool) -> None:
        """Set a weight to a value, or as near as the order allows; emit the weights if they changed."""
        barrier = None
        if self._is_of_others(handle):
            wanted = max(wanted, self._words.scale.lowest)  # all smaller modes cost something
        move_others |= self._modes  # which have equal weights at first, where none could be moved alone
        if not move_others:
            wanted, barrier = limit_weight(base, handle, wanted)
        moved = (*base[:handle], wanted, *base[handle + 1 :])
        weights = enforce_order(moved, handle) if move_others else moved
        self.barrier, self._said = barrier, ALONG if move_others else ""
        if barrier is not None:
            self._limit.request()
            key = "Ctrl" if self.dragged_handle is None else "Shift"
            limit = describe_limit(base, handle, barrier, self._words.letter)
            self._said = f"{limit} {key} moves both."
        changed, self.weights = weights != self.weights, weights
        self._show_hint()
        self._draw()
        if changed:
            self.weights_edited.emit(weights)

    def _end_limit(self) -> None:
        """Clear what was shown of a weight that could go no further."""
        self._limit.cancel()
        if self.barrier is not None:
            self.barrier, self._said = None, ""
            self._show_hint()
            self._draw()

    # -- mouse ----------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Start to drag a handle."""
        assert event is not None
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        self._set_target(self.target_at(event.position()))
        if self.target is not None and self.target.kind == "handle":
            self.dragged_handle = self.target.index
            self._y, self._share = event.position().y(), float(self.shares[self.dragged_handle])
            self._show_cursor()
            self.mark(self.dragged_handle)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Drag the pressed handle, or update the target under the mouse."""
        assert event is not None
        if self.dragged_handle is None:
            self._set_target(self.target_at(event.position()))
            return
        height = self.pixel(1, 0.0).y() - self.pixel(1, 1.0).y()
        keys = event.modifiers()
        speed = FINE if keys & Qt.KeyboardModifier.ControlModifier else 1.0
        y = event.position().y()
        # A mouse that went beyond an end must come back as far.
        self._share += speed * (self._y - y) / max(height, 1.0)
        self._y = y
        move_others = bool(keys & Qt.KeyboardModifier.ShiftModifier)
        if self._base is None or move_others != self._moves_others:  # what was moved so far stays
            self._moves_others, self._base = move_others, self.weights
        weight = self._right.value(min(max(self._share, 0.0), 1.0))
        weight = min(weight, self._words.scale.highest)
        self._move(self.dragged_handle, weight, self._base, move_others=move_others)

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:
        """End the drag of a handle, or click a bar."""
        assert event is not None
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        target, reason = self.target_at(event.position()), ""
        if self.dragged_handle is not None:
            self.dragged_handle = self._base = None
            reason = self._said if self.barrier is not None else ""
            self._show()  # the scale may have to follow now
        elif target is not None and target.kind != "handle" and target == self.target:
            self.rank_requested.emit(target.index + 1)
        self._set_target(self.target_at(event.position()))
        self._said = reason  # of a stop: it is shown for some time
        self._show_hint()

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:
        """Request what the rule gives a handle; elsewhere, count as another press."""
        assert event is not None
        self._set_target(self.target_at(event.position()))
        if self.target is not None and self.target.kind == "handle":
            self.reset_requested.emit(self.target.index)
        else:
            self.mousePressEvent(event)

    def leaveEvent(self, event: QEvent | None) -> None:
        """Clear what belongs to the point under the mouse."""
        if self.dragged_handle is None:
            self._set_target(None)
        super().leaveEvent(event)

    def _set_target(self, target: Target | None) -> None:
        if target != self.target:
            self.target, self._said = target, ""
            self._show_cursor()
            if target is None:
                self.mark(self.marked if self.hasFocus() else None)
            else:
                self.mark(target.index if target.kind == "handle" else self.marked)
        self._show_hint()

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
        if override and isinstance(event, QKeyEvent) and event.key() in KEYS and len(self.shares):
            event.accept()
            return True
        return bool(super().event(event))

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Choose a handle, move it, or leave the plot."""
        assert event is not None
        key, keys, count = Qt.Key(event.key()), event.modifiers(), len(self.shares)
        if key in CHOICES:
            first = 0 if CHOICES[key] > 0 else count - 1
            handle = first if self.marked is None else self.marked + CHOICES[key]
            self.mark(min(max(handle, 0), count - 1) if count else None)
        elif key in STEPS:
            percent = 10.0 if keys & Qt.KeyboardModifier.ShiftModifier else 1.0
            move_others = bool(keys & Qt.KeyboardModifier.ControlModifier)
            self.step_weight(STEPS[key] * percent, move_others=move_others)
        elif key == Qt.Key.Key_Escape:
            self.clearFocus()
        else:
            event.ignore()

    def step_weight(self, percent: float, *, move_others: bool = False) -> None:
        """Change the weight of the marked handle by so many percent."""
        if self.marked is None:
            return
        weights, scale = self.weights, self._words.scale
        weight = weights[self.marked] * (1 + abs(percent) / 100) ** np.sign(percent)
        if weight == 0 and percent > 0:
            weight = scale.lowest
        weight = float(f"{weight:.4g}") if weight >= scale.lowest else 0.0
        self._move(self.marked, min(weight, scale.highest), weights, move_others=move_others)
        self._show()

    def focusInEvent(self, event: QFocusEvent | None) -> None:
        """Mark the handle that the keys would move."""
        super().focusInEvent(event)
        self.mark(self.marked)
        self._show_hint()

    def focusOutEvent(self, event: QFocusEvent | None) -> None:
        """Mark no handle that keys would not move."""
        super().focusOutEvent(event)
        self.mark(self.dragged_handle)
        self._show_hint()


class SpectrumPlot(QWidget):
    """The plot, and below it a line with what can be done and how to get weights from a penalty."""

    rule_requested = pyqtSignal(str)  # a key of `core.PENALTIES`: all weights are to follow it again
    penalty_requested = pyqtSignal(str)  # such a key: it is to choose the weights of the modes once

    def __init__(self) -> None:
        super().__init__()
        self.canvas = canvas = SpectrumCanvas()
        self.figure = PlotFigure(canvas)
        self._by = tool_button("∑", "Let a penalty choose the weights once, from the bars", "By a penalty")
        self._by.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._by.setMenu(self._penalties())
        self.back = tool_button("↺", "", "To the rule", lambda: self.rule_requested.emit(canvas.state.rule))
        line = filled(QHBoxLayout(), canvas.hint, self._by, self.back, grows=canvas.hint, spacing=2)
        filled(QVBoxLayout(self), canvas, line, grows=canvas, spacing=0)
        self.setMaximumHeight(MOST_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.set_state(SpectrumState())

    def set_state(self, state: SpectrumState) -> None:
        """Show singular values and weights, and how to get back to the rule."""
        self.canvas.set_state(state)
        modes = state.objective == DEPTHS
        rule = f"Let the weights follow the {TITLES[state.rule]} again"
        self.back.setToolTip("Let all modes weigh 1 again" if modes else rule)
        self.back.setVisible(state.explicit)
        self._by.setVisible(modes and not self.canvas.is_empty)

    def _penalties(self) -> QMenu:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        for kind, penalty in PENALTIES.items():
            action = menu.addAction(penalty.title, partial(self.penalty_requested.emit, kind))
            if action is not None:
                action.setToolTip(penalty.formula)
        return menu
