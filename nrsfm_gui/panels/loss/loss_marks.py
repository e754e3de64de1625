"""Marks in the loss plot: phases, changes of parameters, the iteration cursor, the value under the mouse."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetricsF
from PyQt6.QtWidgets import QGraphicsEllipseItem

from core.foundation import DEPTHS, Floats, Ints, Phase, PhaseKind, RunStage, phase_text
from nrsfm_gui.model.history import LIGHTER, History
from nrsfm_gui.model.theme import DARK, Theme
from nrsfm_gui.panels.loss.attempts import attempt_parts
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.plots.plot_export import INTERACTIVE_ONLY

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


def _vertical_lines(plot: pg.PlotItem, length: float) -> pg.VTickGroup:
    """Return lines of a share of the height of a plot, from its lower end on."""
    lines = pg.VTickGroup(yrange=[0.0, length])
    lines.setZValue(BEHIND)
    plot.addItem(lines, ignoreBounds=True)
    return lines


class StageMarks:
    """The stages of a run, or its phases, with names that never overlap.

    Stages that are not on the axis at the left are shaded, and so is the comparison of rotations.
    """

    def __init__(self, plot: pg.PlotItem) -> None:
        self._plot = plot
        self.lines, self.ticks = _vertical_lines(plot, 1.0), _vertical_lines(plot, TICK_LENGTH)
        self.ticks.setData(INTERACTIVE_ONLY, True)
        self.shade = pg.BarGraphItem(x0=[], x1=[], height=0.0, pen=pg.mkPen(None))
        self.shade.setZValue(BEHIND)
        plot.getViewBox().addItem(self.shade, ignoreBounds=True)  # no data of the plot
        self._texts: list[pg.TextItem] = []  # as many as were ever needed
        self._color = DARK.muted
        text = pg.TextItem()
        document = text.textItem.document()
        self._metrics, self._margins = QFontMetricsF(document.defaultFont()), 2 * document.documentMargin()

    def place(self, history: History | None, x: Floats, stage: RunStage | None, *, everything: bool) -> None:
        """Mark the stages of a history with records at x (N,), of nothing with None.

        `stage` is that of the axis at the left. With `everything`, phases have lines and names. Else stages
        have names, and ticks are where a candidate or a start ended.
        """
        found = [] if history is None or stage is None else spans(history, stage)
        ends = [(float(x[first]), float(x[min(last + 1, len(x) - 1)])) for first, last, *_ in found]
        shaded = [span for span, (*_, shaded) in zip(ends, found, strict=True) if shaded]
        starts, stops = np.array(shaded).reshape(-1, 2).T
        box = self._plot.getViewBox()
        (left, right), (bottom, top) = box.viewRange()
        self.shade.setOpts(x0=starts, x1=stops, y0=bottom, height=top - bottom)
        self.ticks.setVisible(history is not None and not everything)
        if history is not None:
            self.ticks.setXVals([float(x[last]) for _first, last in attempt_parts(history).values()])
        phases = [] if history is None or not everything else short_phases(history)
        begins = x[[first for first, _ in phases]] if phases else np.zeros(0)
        self.lines.setVisible(len(phases) > 1)
        self.lines.setXVals(begins)
        pixel = (right - left) / max(box.width(), 1.0)
        if everything:
            shown = self._fitting([name for _, name in phases], (begins - left) / pixel)
            self._write([(name, float(begins[k])) for k, name in shown.items()], 0.0)
            return
        names = []
        for (start, end), (_first, _last, name, _shaded) in zip(ends, found, strict=True):
            start, end = max(start, left), min(end, right)
            room = (end - start) / pixel
            name = self._elided(name, room - GAP) if room > LEAST_NAME else name
            if self._metrics.horizontalAdvance(name) + GAP <= room:
                names.append((name, (start + end) / 2))
        self._write(names, 0.5)

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self._color = theme.muted
        for text in self._texts:
            text.setColor(theme.muted)
        self.lines.setPen(pg.mkPen(theme.grid, width=1))
        self.ticks.setPen(pg.mkPen(theme.muted, width=1))
        self.shade.setOpts(brush=pg.mkBrush(qcolor(theme.grid, SPAN_OPACITY)))

    def _elided(self, name: str, room: float) -> str:
        """Return a name as it fits into so many pixels."""
        return str(self._metrics.elidedText(name, Qt.TextElideMode.ElideRight, room))

    def _write(self, names: Sequence[tuple[str, float]], anchor: float) -> None:
        """Write names, each at an x; `anchor`: which part of it is there, from 0 to 1."""
        while len(self._texts) < len(names):
            text = pg.TextItem(color=self._color)
            text.setZValue(BEHIND)
            self._plot.addItem(text, ignoreBounds=True)
            self._texts.append(text)
        top = self._plot.getViewBox().viewRange()[1][1]
        for k, text in enumerate(self._texts):
            name, x = names[k] if k < len(names) else ("", 0.0)
            text.setVisible(bool(name))
            if name and text.toPlainText() != name:
                text.setPlainText(name)
            text.setAnchor((anchor, 0))
            text.setPos(x, top)

    def _fitting(self, names: list[str], starts: Floats) -> dict[int, str]:
        """Return what to write at which phase; `starts` (N,) in pixels.

        Names that are not numbers go first, those of long phases before short ones, elided where another name
        begins; numbers are added where they fit without elision.
        """
        width = self._plot.getViewBox().width()
        words = [k for k, name in enumerate(names) if not name.isdigit()]
        ends = np.clip([*starts[words[1:]], width], 0.0, width)
        lengths = dict(zip(words, ends - np.clip(starts[words], 0.0, width), strict=False))
        numbers = [k for k in range(len(names)) if k not in lengths]
        shown: dict[int, str] = {}
        occupied: list[tuple[float, float]] = []
        for k in [*sorted(words, key=lambda k: -lengths[k]), *numbers]:
            start, name = float(starts[k]), names[k]
            if start < 0 or any(low - GAP < start < high + GAP for low, high in occupied):
                continue
            free = min([width, *(low - GAP for low, _ in occupied if low > start)]) - start
            needed = self._metrics.horizontalAdvance(name) + self._margins
            if needed > free:
                if k not in lengths or free < LEAST_NAME:
                    continue
                name = self._elided(name, free - self._margins)
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


def spans(history: History, stage: RunStage) -> list[tuple[int, int, str, bool]]:
    """Return the first and the last record of every span, its name, and whether it is shaded.

    `stage`: that of the axis at the left. One that a change of the parameters began has the name of this, and
    those of a search with lighter lengths are named as one. A run of one stage has no name for it.
    """
    found: list[tuple[int, int, str, bool]] = []
    changes = {tick.first: tick.text for tick in history.ticks}
    for each, first, last in history.stage_spans:
        shaded = each != stage
        name = START if shaded and each == Phase(PhaseKind.REFINE).stage else each.name
        name = changes.get(first, LIGHTER if bisect_right(history.lighter, first) % 2 else name)
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
        self._item.sigClicked.connect(lambda _item, points: self.chosen.emit(int(points[-1].data())))
        plot.addItem(self._item, ignoreBounds=True)

    def show(self, history: History | None, x: Floats, places: Callable[[Ints], Floats]) -> None:
        """Show the changes of a history with records at x (N,), whose heights `places` returns."""
        ticks = [] if history is None else [tick for tick in history.ticks if tick.first < len(x)]
        if not ticks and not self.texts:
            return
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

    def show(self, x: Floats, moment: int | None, text: str) -> None:
        """Place line and text at a record of x (N,), with None at the newest; hide them without records."""
        self._x, self._moment = x, moment
        self.line.setVisible(len(x) > 0)
        if not self.line.moving:
            self._place()
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
