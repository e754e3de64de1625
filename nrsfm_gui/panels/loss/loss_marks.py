"""Marks in the loss plot: phases, changes of parameters, the iteration cursor, the value under the mouse."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetricsF
from PyQt6.QtWidgets import QGraphicsEllipseItem

from core.foundation import DEPTHS, Phase, PhaseKind, phase_text
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.loss.attempts import attempt_parts
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.plots.plot_export import INTERACTIVE_ONLY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from core.foundation import Floats, Ints, RunStage
    from nrsfm_gui.model.history import History
    from nrsfm_gui.model.theme import Theme

GAP = 6.0  # pixels between two names
LEAST_NAME = 44.0  # pixels that an elided name needs to be readable
BEHIND = -10  # the curves are in front
TICK_SIZE = 11
HANDLE_SIZE = 9
DOT_SIZE = 7
TICK_LENGTH = 0.04  # of the height of the plot
SPAN_OPACITY = 90 / 255
COMPARISON = "rotations"
START = "start (WNN)"  # of a run whose depths are refined, its WNN problem


class _Mark:
    """A line or a span of a plot, and its name at the upper end."""

    def __init__(self, plot: pg.PlotItem, item: pg.GraphicsObject, anchor: tuple[float, float]) -> None:
        self.item, self.text = item, pg.TextItem(anchor=anchor)
        for each in (self.item, self.text):
            each.setZValue(BEHIND)
            plot.addItem(each, ignoreBounds=True)

    def set_name(self, name: str, x: float, top: float) -> None:
        self.text.setVisible(bool(name))
        if name and self.text.toPlainText() != name:
            self.text.setPlainText(name)
        self.text.setPos(x, top)


class _Marks(ABC):
    """The marks of a plot: as many as were ever needed."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self._plot = plot
        self._marks: list[_Mark] = []
        self._theme = DARK

    @property
    def names(self) -> list[pg.TextItem]:
        """The names that are shown."""
        return [mark.text for mark in self._marks if mark.text.isVisible()]

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self._theme = theme
        for mark in self._marks:
            self.color_mark(mark)

    def _prepare(self, count: int) -> list[_Mark]:
        """Return so many marks; hide the others."""
        while len(self._marks) < count:
            self._marks.append(self._new_mark())
            self.color_mark(self._marks[-1])
        for mark in self._marks[count:]:
            mark.item.setVisible(False)
            mark.text.setVisible(False)
        return self._marks[:count]

    def _range(self) -> tuple[float, float, float, float]:
        """Return the left, right and upper end of the plot, and what a pixel is of its width."""
        box = self._plot.getViewBox()
        (left, right), (_bottom, top) = box.viewRange()
        return left, right, top, (right - left) / max(box.width(), 1.0)

    @abstractmethod
    def _new_mark(self) -> _Mark:
        """Return a further mark in the plot."""

    def color_mark(self, mark: _Mark) -> None:
        """Use the colors of the theme."""
        mark.text.setColor(self._theme.muted)


class PhaseMarks(_Marks):
    """The lines and names of phases in a plot; names never overlap."""

    def place(self, history: History | None, x: Floats) -> None:
        """Put a line where each phase of a history begins, if any, and the names that there is space for.

        `x` (N,) is where the plot has its records.
        """
        phases = [] if history is None else short_phases(history)
        marks = self._prepare(len(phases))
        if not marks:
            return
        left, _right, top, pixel = self._range()
        starts = x[[first for first, _ in phases]]
        width = self._plot.getViewBox().width()
        shown = self._names([name for _, name in phases], (starts - left) / pixel, width)
        for k, mark in enumerate(marks):
            mark.item.setValue(float(starts[k]))
            mark.item.setVisible(len(phases) > 1)
            mark.set_name(shown.get(k, ""), float(starts[k]), top)

    def _new_mark(self) -> _Mark:
        return _Mark(self._plot, pg.InfiniteLine(angle=90, movable=False), (0, 0))

    def color_mark(self, mark: _Mark) -> None:
        """Use the colors of the theme."""
        super().color_mark(mark)
        mark.item.setPen(pg.mkPen(self._theme.grid, width=1))

    def _names(self, names: list[str], starts: Floats, width: float) -> dict[int, str]:
        """Return what to write at which phase; `starts` (N,) and `width` are in pixels.

        Names that are not numbers go first, those of long phases before short ones, elided where another name
        begins; numbers are added where they fit without elision.
        """
        document = self._marks[0].text.textItem.document()
        metrics, margins = QFontMetricsF(document.defaultFont()), 2 * document.documentMargin()
        words = [k for k, name in enumerate(names) if not name.isdigit()]
        ends = np.clip([*starts[words[1:]], width], 0.0, width)
        lengths = dict(zip(words, ends - np.clip(starts[words], 0.0, width), strict=True))
        numbers = [k for k in range(len(names)) if k not in lengths]
        shown: dict[int, str] = {}
        occupied: list[tuple[float, float]] = []
        for k in [*sorted(words, key=lambda k: -lengths[k]), *numbers]:
            start, name = float(starts[k]), names[k]
            if start < 0 or any(low - GAP < start < high + GAP for low, high in occupied):
                continue
            free = min([width, *(low - GAP for low, _ in occupied if low > start)]) - start
            needed = metrics.horizontalAdvance(name) + margins
            if needed > free:
                if k not in lengths or free < LEAST_NAME:
                    continue
                name = metrics.elidedText(name, Qt.TextElideMode.ElideRight, free - margins)
            shown[k] = name
            occupied.append((start, start + min(needed, free)))
        return shown


def short_phases(history: History) -> list[tuple[int, str]]:
    """Return where phases begin and what to call them: "rotations 1 of 7", "2", "3", "start 1 of 4".

    Parts of an attempt are one, and so are the levels of the depth refinement, which is named at its first
    phase only. Losses of a subset, which are not those of all points, are named so.
    """
    result: list[tuple[int, str]] = []
    before: Phase | None = None
    for first, phase in history.phases:
        short = phase.brief
        if short == before:
            continue
        same = before is not None and (short.kind, short.focal) == (before.kind, before.focal)
        text = phase_text(short)
        if same and short.number:
            text = str(short.number)
        elif before is not None and before.objective == short.objective == DEPTHS:
            text = text.removeprefix("depth, ")
        result.append((first, text))
        before = short
    return result


class SpanMarks(_Marks):
    """The stages of a run with their names, and ticks where a candidate or a start ended.

    Those that are not on the axis at the left are shaded, and so is the comparison of rotations.
    """

    def __init__(self, plot: pg.PlotItem) -> None:
        super().__init__(plot)
        self._ticks = pg.VTickGroup(yrange=[0.0, TICK_LENGTH])
        self._ticks.setZValue(BEHIND)
        self._ticks.setData(INTERACTIVE_ONLY, True)
        plot.addItem(self._ticks, ignoreBounds=True)

    def place(self, history: History | None, x: Floats, stage: RunStage | None, *, named: bool) -> None:
        """Mark the spans of a history, of nothing with None, and if `named` their names and the ticks.

        `x` (N,) is where its records are; `stage` is that of the axis at the left.
        """
        found = [] if history is None or stage is None else spans(history, stage)
        left, right, top, pixel = self._range()
        for mark, (first, last, name, shaded) in zip(self._prepare(len(found)), found, strict=True):
            start, end = float(x[first]), float(x[min(last + 1, len(x) - 1)])
            mark.item.setVisible(shaded)
            mark.item.setRegion((start, end))
            start, end = max(start, left), min(end, right)
            metrics, room = QFontMetricsF(mark.text.textItem.document().defaultFont()), (end - start) / pixel
            if room > LEAST_NAME:
                name = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room - GAP)
            fits = metrics.horizontalAdvance(name) + GAP <= room
            mark.set_name(name if named and fits else "", (start + end) / 2, top)
        self._ticks.setVisible(named and history is not None)
        if history is not None:
            self._ticks.setXVals([float(x[last]) for _first, last in attempt_parts(history).values()])

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        super().set_colors(theme)
        self._ticks.setPen(pg.mkPen(theme.muted, width=1))

    def _new_mark(self) -> _Mark:
        region = pg.LinearRegionItem(movable=False, pen=pg.mkPen(None))
        return _Mark(self._plot, region, (0.5, 0))

    def color_mark(self, mark: _Mark) -> None:
        """Use the colors of the theme."""
        super().color_mark(mark)
        mark.item.setBrush(pg.mkBrush(qcolor(self._theme.grid, SPAN_OPACITY)))


def spans(history: History, stage: RunStage) -> list[tuple[int, int, str, bool]]:
    """Return the first and the last record of every span, its name, and whether it is shaded.

    `stage`: that of the axis at the left. One that a change of the parameters began has the name of this. A
    run of one stage has no name for it.
    """
    found: list[tuple[int, int, str, bool]] = []
    changes = {tick.first: tick.text for tick in history.ticks}
    for each, first, last in history.stage_spans:
        shaded = each != stage
        name = START if shaded and each == Phase(PhaseKind.REFINE).stage else each.name
        name = changes.get(first, name)
        if found and found[-1][2:] == (name, shaded):
            first = found.pop()[0]
        found.append((first, last, name, shaded))
    found = found if len(found) > 1 else []
    for phase, first, last in history.phase_spans:
        if phase.kind is PhaseKind.ROTATIONS and history.stage_of(first) == stage:
            found = [each for each in found if each[:1] != (first,) or each[3]]  # the names would overlap
            if found and found[-1][1:] == (first - 1, COMPARISON, True):
                first = found.pop()[0]
            found.append((first, last, COMPARISON, True))
    return found


class ChangeTicks(QObject):
    """Triangles where parameters changed: the tip names the change, a click restores the state before it."""

    chosen = pyqtSignal(int)  # the number of the change that was clicked, counted from 0

    def __init__(self, plot: pg.PlotItem) -> None:
        super().__init__(plot)
        self.texts: list[str] = []  # the changes, as text
        self._item = pg.ScatterPlotItem(symbol="t", size=TICK_SIZE, hoverable=True, hoverSize=TICK_SIZE + 4)
        self._item.opts["tip"] = self._tip
        self._item.setZValue(20)
        self._item.setCursor(Qt.CursorShape.PointingHandCursor)
        self._item.sigClicked.connect(self._on_tick_clicked)
        plot.addItem(self._item, ignoreBounds=True)

    def show(self, history: History | None, x: Floats, places: Callable[[Ints], Floats]) -> None:
        """Show the changes of a history, none without one.

        `x`: (N,) where its records are; `places` returns where records are on the vertical axis.
        """
        ticks = [] if history is None else [tick for tick in history.ticks if tick.first < len(x)]
        self.texts = [tick.text for tick in ticks]
        ends = [(tick.first, min(tick.last, len(x) - 1)) for tick in ticks]
        firsts, lasts = np.array(ends, dtype=np.int64).reshape(-1, 2).T
        self._item.setData(x=x[firsts], y=places(lasts), data=np.arange(len(ticks)))

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self._item.setBrush(pg.mkBrush(theme.selection))
        self._item.setPen(pg.mkPen(theme.panel))

    def _tip(self, x: float, y: float, data: object) -> str:
        return f"{self.texts[int(str(data))]}\nClick to go back to before it."

    def _on_tick_clicked(self, _item: object, points: Sequence[pg.SpotItem]) -> None:
        self.chosen.emit(int(points[-1].data()))


class IterationCursor(QObject):
    """A vertical line at the shown iteration; dragging it requests other iterations of the run."""

    requested = pyqtSignal(object)  # a record of the run, None for the newest

    def __init__(self, plot: pg.PlotItem) -> None:
        super().__init__(plot)
        self._x: Floats = np.zeros(0)
        self._moment: int | None = None
        self.line = pg.InfiniteLine(
            angle=90, movable=True, label="", labelOpts={"position": 0.5, "anchors": [(0, 0.5), (1, 0.5)]}
        )
        self.line.addMarker("v", position=1.0, size=HANDLE_SIZE)
        self.line.setData(INTERACTIVE_ONLY, True)
        self.line.setZValue(15)
        self.line.setCursor(Qt.CursorShape.SizeHorCursor)
        self.line.sigDragged.connect(lambda line: self.go_to(line.value()))
        self.line.sigPositionChangeFinished.connect(self._place)
        self.line.hide()
        plot.addItem(self.line, ignoreBounds=True)

    def show(self, x: Floats, moment: int | None) -> None:
        """Place the line at a record of x (N,), with None at the newest; hide it without records."""
        self._x, self._moment = x, moment
        self.line.setVisible(len(x) > 0)
        if not self.line.moving:
            self._place()

    def set_text(self, text: str) -> None:
        """Show a text next to the line."""
        self.line.label.setFormat(text)
        self.line.label.setVisible(bool(text))  # without text its ground would cut the line

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self.line.setPen(pg.mkPen(theme.muted, width=1))
        self.line.setHoverPen(pg.mkPen(theme.accent, width=1))
        self.line.label.setColor(theme.text)
        self.line.label.fill = pg.mkBrush(theme.panel)

    def _place(self, _line: object = None) -> None:
        if len(self._x):
            last = len(self._x) - 1
            record = last if self._moment is None else min(self._moment, last)
            self.line.setValue(float(self._x[record]))

    def go_to(self, place: float) -> None:
        """Request the record nearest to a value of the horizontal axis."""
        if len(self._x):
            record = int(np.abs(self._x - place).argmin())
            self.requested.emit(None if record == len(self._x) - 1 else record)


class CurveReading:
    """A dot on the curve at the mouse, with the iteration and the loss next to it."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self._plot = plot
        # A plain circle: a plot item would receive the clicks on the ticks below it.
        self._dot = QGraphicsEllipseItem(-DOT_SIZE / 2, -DOT_SIZE / 2, DOT_SIZE, DOT_SIZE)
        self._dot.setFlag(QGraphicsEllipseItem.GraphicsItemFlag.ItemIgnoresTransformations)
        self._text = pg.TextItem()
        for item, z in ((self._dot, 25), (self._text, 26)):
            item.setZValue(z)
            item.hide()
            plot.getViewBox().addItem(item, ignoreBounds=True)  # no data of the plot

    @property
    def text(self) -> str:
        """The text next to the dot, "" where it is hidden."""
        return self._text.toPlainText() if self._text.isVisible() else ""

    def show(self, x: float, y: float, text: str) -> None:
        """Put the dot at a point of the curve; the text stays inside the plot."""
        (left, right), (bottom, top) = self._plot.getViewBox().viewRange()
        self._dot.setPos(x, y)
        self._text.setPlainText(text)
        self._text.setAnchor((float(x > (left + right) / 2), float(y <= (bottom + top) / 2)))
        self._text.setPos(x, y)
        self._dot.show()
        self._text.show()

    def hide(self) -> None:
        """Hide the dot and its text."""
        self._dot.hide()
        self._text.hide()

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self._dot.setBrush(pg.mkBrush(theme.accent))
        self._dot.setPen(pg.mkPen(theme.panel))
        self._text.setColor(theme.text)
        self._text.fill = pg.mkBrush(theme.panel)
