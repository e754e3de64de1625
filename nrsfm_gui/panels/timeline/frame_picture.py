"""What the parts of the timeline share: what they show, the axis of the frames, a picture over it."""

from __future__ import annotations

from dataclasses import dataclass

from PyQt6.QtCore import QLineF, QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QPainter, QPen
from PyQt6.QtWidgets import QSizePolicy

from core.foundation import Bools
from nrsfm_gui.model.appearance import COLOR_MAPS
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.scene.scene import ErrorSeries
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.style import Themed

LEFT, RIGHT = 58, 74  # pixels left and right of the frames: axis labels, color bar
GRASP = (7.0, 2.0)  # pixels outside and inside of an edge within which the mouse drags it
BRACKET = 4.0  # width of the brackets that mark the edges
SHADE = 0.62  # opacity over the frames that are not played


@dataclass(frozen=True, eq=False)
class TimelineState:
    """What the timeline shows; frames and points are counted from 0."""

    count: int = 0  # of frames
    frame: int = 0  # the current one
    played: tuple[int, int] | None = None  # the frames that playing loops over, first and last; None: all
    truth: tuple[int, ...] = ()  # frames that have ground truth
    reference: int = -1  # that of them which intrinsics come from
    kinds: tuple[
        ErrorSeries, ...
    ] = ()  # of errors: one is shown, of frames above the slider, of points below
    chosen: str = ""  # the name of the requested kind, if any
    by_error: bool = False  # whether points are in the order of their mean errors, the worst on top
    hidden: frozenset[int] = frozenset()  # points that are not drawn elsewhere
    excluded: Bools | None = None  # (F, P) the observations that are hidden from the solver
    selection: tuple[int, ...] = ()  # points, ascending
    point: int = -1  # that of them which was selected last
    color_map: str = COLOR_MAPS[0]  # of errors of points

    @property
    def series(self) -> ErrorSeries | None:
        """The errors that are shown: of the kind that was chosen, if there are some."""
        chosen = (kind for kind in self.kinds if kind.name == self.chosen)
        return next(chosen, self.kinds[0] if self.kinds else None)


@dataclass(frozen=True)
class FrameAxis:
    """Frames side by side in a widget, each with an equal share of the width between the margins."""

    count: int
    width: int  # of the widget, pixels

    @property
    def left(self) -> float:
        """Left end of the first frame, pixels."""
        return float(LEFT)

    @property
    def span(self) -> float:
        """Width of all frames, pixels."""
        return float(max(self.width - LEFT - RIGHT, 1))

    @property
    def right(self) -> float:
        """Right end of the last frame, pixels."""
        return self.left + self.span

    def center(self, frame: float) -> float:
        """Return the x of the middle of a frame, pixels."""
        return self.left + (frame + 0.5) * self.span / max(self.count, 1)

    def frame_at(self, x: float) -> int:
        """Return the frame at an x, the nearest one beyond the ends."""
        frame = int((x - self.left) * self.count // self.span)
        return min(max(frame, 0), max(self.count - 1, 0))


class FramePicture(Themed):
    """A picture over the frames, with the range of those that are played, whose edges the mouse can drag.

    What stays the same from frame to frame is drawn once and kept.
    """

    frame_requested = pyqtSignal(int)
    range_requested = pyqtSignal(object)  # (first, last) or None

    def __init__(self) -> None:
        super().__init__()
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._state = TimelineState()
        self._held: int | None = None  # the edge that the mouse drags: 0 is the first frame, 1 the last

    def set_state(self, state: TimelineState) -> None:
        """Show a state. Emits nothing."""
        self._state = state
        self.update()

    @property
    def _axis(self) -> FrameAxis:
        return FrameAxis(self._state.count, self.width())

    def _apply_theme(self, _theme: Theme) -> None:
        self.redraw()

    def redraw(self) -> None:
        """Draw anew what was kept; a subclass forgets it."""
        self.update()

    def _paint_line(self, painter: QPainter, area: QRectF) -> None:
        x = self._axis.center(self._state.frame)
        painter.setPen(QPen(qcolor(self._theme.text), 1.0))
        painter.drawLine(QLineF(x, area.top(), x, area.bottom()))

    # The range

    def _edges(self, frames: tuple[int, int]) -> tuple[float, float]:
        axis = self._axis
        half = 0.5 * axis.span / max(axis.count, 1)
        return axis.center(frames[0]) - half, axis.center(frames[1]) + half

    def _edge_at(self, x: float) -> int | None:
        """Return 0 or 1 where the left or the right edge can be dragged, else None."""
        if self._state.played is None:
            return None
        left, right = self._edges(self._state.played)
        outside, inside = GRASP
        if -outside <= x - left <= inside:
            return 0
        return 1 if -inside <= x - right <= outside else None

    def _show_edge(self, x: float) -> None:
        """Show by the cursor whether there is an edge to drag."""
        cursor = Qt.CursorShape.ArrowCursor if self._edge_at(x) is None else Qt.CursorShape.SizeHorCursor
        self.setCursor(cursor)

    def _drag_edge(self, x: float) -> bool:
        """Request the range with the held edge at an x; False where none is held. Edges may change places."""
        if self._state.played is None or self._held is None:
            return False
        ends = list(self._state.played)
        ends[self._held] = self._axis.frame_at(x)
        if ends[0] > ends[1]:
            ends.reverse()
            self._held = 1 - self._held
        self.range_requested.emit((ends[0], ends[1]))
        return True

    def _paint_range(self, painter: QPainter, area: QRectF, *, shades: bool = True) -> None:
        """Draw both edges, and shade the frames that are not played, or else fill those that are."""
        if self._state.played is None:
            return
        theme, (left, right) = self._theme, self._edges(self._state.played)
        filled = [(area.left(), left), (right, area.right())] if shades else [(left, right)]
        color = qcolor(theme.panel, SHADE) if shades else qcolor(theme.accent, 0.22)
        for start, end in filled:
            painter.fillRect(QRectF(start, area.top(), end - start, area.height()), color)
        painter.setPen(QPen(qcolor(theme.accent), 2.0, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
        top, bottom = area.top() + 1, area.bottom() - 1
        for x, out in ((left, -BRACKET), (right, BRACKET)):
            painter.drawLine(QPointF(x, top), QPointF(x, bottom))
            for y in (top, bottom):
                painter.drawLine(QPointF(x, y), QPointF(x + out, y))
