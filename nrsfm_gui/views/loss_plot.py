"""The loss as it falls: log10 of it over iterations or seconds, phases marked, earlier runs underneath."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from .labels import ElidedLabel
from .plots import dress

if TYPE_CHECKING:
    from nrsfm_gui.history import History
    from nrsfm_gui.theme import Theme

AXES = {"iterations": "iteration", "seconds": "computing time (s)"}
SELECTION = "rotations"  # how the names of the phases begin that choose rotations
LABEL_GAP = 6  # pixels between the labels of two phases; those that do not fit are left out
EMPTY = "The loss appears here while a run goes on"
EARLIER_ALPHA = 110  # of 255: earlier runs stay in the background


@dataclass(eq=False)
class _Curve:
    history: History
    item: pg.PlotDataItem
    drawn: int = -1  # records in the item


class _PhaseMark:
    """A vertical line where a phase begins, and its name, which is hidden where there is no room."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self.line = pg.InfiniteLine(angle=90, movable=False)
        self.text = pg.TextItem(anchor=(0, 0))
        for item in (self.line, self.text):
            item.setZValue(-10)
            plot.addItem(item, ignoreBounds=True)

    def set_visible(self, visible: bool) -> None:
        self.line.setVisible(visible)
        self.text.setVisible(visible)


class LossPlot(QWidget):
    """Shows histories; the current one in front. `header` is the line above it, placed by the window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._axis = "iterations"
        self._curves: dict[int, _Curve] = {}
        self._current: int | None = None
        self._theme: Theme | None = None
        self._widget = pg.PlotWidget()
        self._plot: pg.PlotItem = self._widget.getPlotItem()
        self._plot.hideButtons()
        self._plot.setMenuEnabled(False)
        self._plot.setLabel("left", "log10 loss")
        self._plot.getAxis("left").enableAutoSIPrefix(False)
        self._plot.getAxis("bottom").enableAutoSIPrefix(False)
        self._plot.getViewBox().setDefaultPadding(0.04)
        self._marks: list[_PhaseMark] = []
        self._ticks = pg.ScatterPlotItem(symbol="t", size=9, hoverable=True, tip=_tick_tip)
        self._ticks.setZValue(20)
        self._plot.addItem(self._ticks, ignoreBounds=True)
        self._plot.getViewBox().sigRangeChanged.connect(self._place_phases)
        self._empty = QLabel(EMPTY, self._widget)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._empty.setProperty("role", "muted")
        self._empty.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._reading = ElidedLabel()
        self._reading.setProperty("role", "muted")
        self._axis_choice = QComboBox()
        self._axis_choice.addItems(list(AXES))
        self._axis_choice.setToolTip("what the horizontal axis counts")
        self._axis_choice.currentTextChanged.connect(self.set_axis)
        fit = QToolButton()
        fit.setText("Fit")
        fit.setAutoRaise(True)
        fit.setToolTip("show the whole curve again, and follow it")
        fit.clicked.connect(self.fit)
        final = QToolButton()
        final.setText("Final")
        final.setAutoRaise(True)
        final.setToolTip("show the part after the rotations were chosen")
        final.clicked.connect(self.show_final)
        self.header = QWidget()
        bar = QHBoxLayout(self.header)
        bar.setContentsMargins(8, 2, 4, 2)
        bar.addWidget(self._reading, 1)
        bar.addWidget(self._axis_choice)
        bar.addWidget(fit)
        bar.addWidget(final)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._widget, 1)
        self.setMinimumSize(240, 150)
        self._widget.scene().sigMouseMoved.connect(self._read_at)
        self.set_axis("iterations")

    # -- setters --------------------------------------------------------------------------------------------

    @property
    def plot_widget(self) -> pg.PlotWidget:
        """The plot itself, for export."""
        return self._widget

    def set_histories(self, histories: dict[int, History], current: int | None) -> None:
        """Show histories by the number of their run; `current` is drawn in front, with its phases."""
        for number in [number for number in self._curves if number not in histories]:
            self._plot.removeItem(self._curves.pop(number).item)
        for number, history in histories.items():
            if number not in self._curves:
                item = pg.PlotDataItem(connect="all", antialias=False)
                item.setDownsampling(auto=True, method="peak")
                item.setClipToView(True)
                self._plot.addItem(item)
                self._curves[number] = _Curve(history, item)
        self._current = current if current in self._curves else None
        self._color()
        self.refresh()

    def refresh(self) -> None:
        """Draw what the histories gained since the last time."""
        for curve in self._curves.values():
            count = len(curve.history)
            if count != curve.drawn and count:
                curve.item.setData(self._x(curve.history), curve.history.log_losses)
                curve.drawn = count
        empty = not any(len(curve.history) for curve in self._curves.values())
        self._empty.setVisible(empty)
        for side in ("left", "bottom"):
            self._plot.showAxis(side, not empty)
        self._show_ticks()
        self._place_phases()

    def set_axis(self, axis: str) -> None:
        """Count iterations or seconds along the horizontal axis."""
        self._axis = axis
        self._axis_choice.setCurrentText(axis)
        self._plot.setLabel("bottom", AXES[axis])
        for curve in self._curves.values():
            curve.drawn = -1
        self.refresh()
        self.fit()

    def fit(self) -> None:
        """Show everything, and keep following the curve."""
        self._plot.enableAutoRange()

    def show_final(self) -> None:
        """Show the part of the current curve in which the rotations are fixed."""
        curve = self._curves.get(self._current) if self._current is not None else None
        if curve is None or not len(curve.history):
            return
        firsts = [phase.first for phase in curve.history.phases if not phase.name.startswith(SELECTION)]
        first = firsts[0] if firsts else 0
        x, y = self._x(curve.history)[first:], curve.history.log_losses[first:]
        low, high = float(y.min()), float(np.quantile(y, 0.9))
        self._plot.setXRange(float(x[0]), float(x[-1]), padding=0.04)
        self._plot.setYRange(low, max(high, low + 1e-6), padding=0.15)

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self._theme = theme
        dress(self._widget, theme)
        self._color()
        self._place_phases()

    # -- drawing --------------------------------------------------------------------------------------------

    def _x(self, history: History) -> np.ndarray:
        return history.iterations if self._axis == "iterations" else history.seconds

    def _color(self) -> None:
        if self._theme is None:
            return
        muted = pg.mkColor(self._theme.muted)
        muted.setAlpha(EARLIER_ALPHA)
        for number, curve in self._curves.items():
            front = number == self._current
            curve.item.setPen(pg.mkPen(self._theme.accent if front else muted, width=1))
            curve.item.setZValue(10 if front else 0)
        self._ticks.setBrush(pg.mkBrush(self._theme.selection))
        self._ticks.setPen(pg.mkPen(self._theme.panel))
        for mark in self._marks:
            self._color_mark(mark)

    def _color_mark(self, mark: _PhaseMark) -> None:
        assert self._theme is not None
        mark.line.setPen(pg.mkPen(self._theme.grid, width=1))
        mark.text.setColor(self._theme.muted)

    def _show_ticks(self) -> None:
        curve = self._curves.get(self._current) if self._current is not None else None
        spots = []
        if curve is not None:
            x, y = self._x(curve.history), curve.history.log_losses
            for tick in curve.history.ticks:
                if tick.first < len(x):
                    spots.append({"pos": (x[tick.first], y[tick.first]), "data": tick.text})
        if len(spots) != len(self._ticks.points()):
            self._ticks.setData(spots)

    def _place_phases(self, *_: object) -> None:
        """Put a line where each phase of the current run begins; name those whose names do not overlap."""
        curve = self._curves.get(self._current) if self._current is not None else None
        phases = short_phases(curve.history) if curve is not None and len(curve.history) else []
        while len(self._marks) < len(phases):
            self._marks.append(_PhaseMark(self._plot))
            if self._theme is not None:
                self._color_mark(self._marks[-1])
        for mark in self._marks[len(phases) :]:
            mark.set_visible(False)
        if curve is None or not phases:
            return
        box = self._plot.getViewBox()
        (left, right), (_bottom, top) = box.viewRange()
        pixel = (right - left) / max(box.width(), 1.0)
        free_from = -np.inf
        x = self._x(curve.history)
        for mark, (first, name) in zip(self._marks, phases, strict=False):
            where = float(x[first])
            mark.line.setValue(where)
            mark.line.setVisible(len(phases) > 1)
            if mark.text.toPlainText() != name:
                mark.text.setPlainText(name)
            width = mark.text.boundingRect().width() * pixel
            fits = where >= free_from and left <= where and where + width <= right + width * 0.2
            mark.text.setVisible(fits)
            if fits:
                mark.text.setPos(where, top)
                free_from = where + width + LABEL_GAP * pixel

    def _read_at(self, position: object) -> None:
        """Say the value of the current curve under the mouse."""
        curve = self._curves.get(self._current) if self._current is not None else None
        if curve is None or not len(curve.history):
            self._reading.set_whole("")
            return
        x = self._x(curve.history)
        where = self._plot.getViewBox().mapSceneToView(position).x()
        index = int(np.clip(np.searchsorted(x, where), 0, len(x) - 1))
        record = curve.history.records[index]
        self._reading.set_whole(
            f"{record.phase} · iteration {record.iteration} · {record.seconds:.3g} s · "
            f"log10 loss {curve.history.log_losses[index]:.4f}"
        )

    def resizeEvent(self, event: object) -> None:
        """Keep the sentence for the empty state in the middle."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._empty.setGeometry(self._widget.rect().adjusted(12, 0, -12, 0))


def short_phases(history: History) -> list[tuple[int, str]]:
    """Return where phases begin and what to call them: "rotations 1 of 7", "2", "3", "rigid", "rank 2", "3".

    Parts of a phase, which a colon sets apart, are not told from each other.
    """
    result: list[tuple[int, str]] = []
    before = ""
    for phase in history.phases:
        name = phase.name.split(":")[0]
        if name == before:
            continue
        words, last = name.split(), before.split()
        numbered = len(words) > 1 and words[1].isdigit() and words[:1] == last[:1] and last[1].isdigit()
        result.append((phase.first, words[1] if numbered else name))
        before = name
    return result


def _tick_tip(x: float, y: float, data: object) -> str:
    return f"{data} from here"
