"""The loss as it falls: log10 of it over iterations or seconds, phases marked, earlier runs underneath.

The range follows the run in front, whole or its final part, or all runs, until the mouse zooms; another run
in front takes it back.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt, QTimer, pyqtSignal
from PyQt6.QtWidgets import QLabel, QVBoxLayout, QWidget

from .loss_cursor import ChangeTicks, CurveReading, IterationCursor
from .loss_header import LossHeader
from .phase_marks import PhaseMarks
from .plots import dress, log_ticks
from .residual_curves import ResidualCurves
from .signed_axis import MINUS, SignedAxis

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent

    from nrsfm_gui.state.history import History
    from nrsfm_gui.theme import Theme

AXES = {
    "iterations": "iteration",
    "seconds": "computing time (s)",
    "log seconds": "computing time (s), logarithmic",
}
REFRESH_MILLISECONDS = 150  # a picture of a plot costs as much as one of the scene
SHORTEST = 1e-4  # seconds: where a logarithmic axis begins
SELECTION = "rotations"  # how the names of the phases begin that choose rotations
LEAST_SPAN = 0.01  # decades of loss that the vertical axis holds at least
PADDING = 0.04
EMPTY = "The loss appears here while a run goes on"
EARLIER_ALPHA = 190  # of 255: earlier runs stay in the background
FAINT_ALPHA = 60  # while two runs are compared
LEGEND_ALPHA = 150
MOST_NAMES = 8  # of runs in the legend, the newest


@dataclass(eq=False)
class _Curve:
    history: History
    item: pg.PlotDataItem
    name: str
    drawn: int = -1  # records in the item


class _Follow(Enum):
    """What the range follows."""

    WHOLE = "the whole run in front"
    FINAL = "its part after the choice of rotations"
    ALL = "all runs"
    NOTHING = "nothing since the mouse zoomed"


class LossPlot(QWidget):
    """Shows histories; the current one in front. `header` is the line above it, placed by the window.

    Signals
    -------
    moment_requested(object)
        the record of the run in front that is to be looked at, None for the newest.
    change_chosen(int)
        the number of the change of parameters to go back to.
    """

    moment_requested = pyqtSignal(object)
    change_chosen = pyqtSignal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._axis = "iterations"
        self._curves: dict[int, _Curve] = {}
        self._current: int | None = None
        self._compared: int | None = None
        self._follow = _Follow.WHOLE
        self._theme: Theme | None = None
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self.refresh)
        self._moment: int | None = None
        axes = {side: SignedAxis(side) for side in ("left", "bottom")}
        self._widget = pg.PlotWidget(axisItems=axes)
        self._widget.setAccessibleName("Loss over iterations or seconds")
        self._plot: pg.PlotItem = self._widget.getPlotItem()
        self._plot.hideButtons()
        self._plot.setMenuEnabled(False)
        self._plot.setLabel("left", "log10 loss")
        self._plot.getAxis("left").enableAutoSIPrefix(False)
        self._plot.getAxis("bottom").enableAutoSIPrefix(False)
        self._phases = PhaseMarks(self._plot)
        self._legend = pg.LegendItem(labelTextSize="9pt", verSpacing=-4)
        self._legend.setParentItem(self._plot.getViewBox())
        self._legend.anchor((1, 0), (1, 0), offset=(-6, 20))  # below the names of the phases
        self._legend.setZValue(30)
        self._legend.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self._ticks, self._cursor = ChangeTicks(self._plot), IterationCursor(self._plot)
        self._reading = CurveReading(self._plot)
        self._ticks.chosen.connect(self.change_chosen)
        self._cursor.requested.connect(self.moment_requested)
        box = self._plot.getViewBox()
        box.setDefaultPadding(PADDING)
        box.sigRangeChanged.connect(self._place_phases)
        box.sigResized.connect(self._place_phases)
        box.sigRangeChangedManually.connect(lambda _axes: self._set_follow(_Follow.NOTHING))
        self._empty = QLabel(EMPTY, self._widget)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._empty.setProperty("role", "muted")
        self._empty.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._residuals = ResidualCurves(self._plot)
        self.header = LossHeader(AXES)
        self.header.axis_chosen.connect(self.set_axis)
        self.header.fit_requested.connect(self.fit)
        self.header.final_requested.connect(self.set_final)
        self.header.all_requested.connect(self.set_all)
        self.header.residuals_requested.connect(self.refresh)
        self.header.newest_requested.connect(lambda: self.moment_requested.emit(None))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._widget, 1)
        self.setMinimumSize(240, 150)
        self._widget.scene().sigMouseMoved.connect(self._read_at)
        self._widget.scene().sigMouseClicked.connect(self._go_to)
        self.set_axis("iterations")

    # -- setters --------------------------------------------------------------------------------------------

    @property
    def plot_widget(self) -> pg.PlotWidget:
        """The plot itself, for export."""
        return self._widget

    def set_histories(
        self,
        histories: dict[int, History],
        current: int | None,
        names: Mapping[int, str] | None = None,
        *,
        compared: int | None = None,
    ) -> None:
        """Show histories by the number of their run; `current` is drawn in front, with its phases.

        `names` of the runs are for the legend. Beside a `compared` one all others but the current are faint.
        """
        front = self._front()
        gone = [n for n, curve in self._curves.items() if histories.get(n) is not curve.history]
        for number in gone:
            self._plot.removeItem(self._curves.pop(number).item)
        for number, history in histories.items():
            if number not in self._curves:
                item = pg.PlotDataItem(connect="all", antialias=False)
                item.setDownsampling(auto=True, method="peak")
                item.setClipToView(True)
                self._plot.addItem(item)
                self._curves[number] = _Curve(history, item, "")
        for number, curve in self._curves.items():
            curve.name = (names or {}).get(number, f"run {number}")
        self._current = current if current in self._curves else None
        self._compared = compared if compared in self._curves else None
        if self._front() is not front and self._follow is _Follow.NOTHING:
            self._follow = _Follow.WHOLE
        self._color()
        self.refresh()

    def set_moment(self, record: int | None) -> None:
        """Show which record of the run in front is looked at, None for the newest."""
        self._moment = record
        self._show_cursor()

    def refresh_soon(self) -> None:
        """Draw what the histories gained, together with what they gain in the moments that follow."""
        if not self._soon.isActive():
            self._soon.start(REFRESH_MILLISECONDS)

    def refresh(self) -> None:
        """Draw what the histories gained since the last time."""
        self._soon.stop()
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
        self._show_cursor()
        self._show_residuals()
        self._apply_range()
        self._place_phases()

    def set_axis(self, axis: str) -> None:
        """Count iterations or seconds along the horizontal axis."""
        self._axis = axis
        self.header.set_axis(axis)
        self._plot.setLabel("bottom", AXES[axis])
        for curve in self._curves.values():
            curve.drawn = -1
        if self._follow is _Follow.NOTHING:
            self._follow = _Follow.WHOLE
        self.refresh()

    def fit(self) -> None:
        """Show the whole of the run in front, and follow it."""
        self._set_follow(_Follow.WHOLE)

    def set_final(self, on: bool) -> None:
        """Show and follow only the part of the run in front whose rotations are fixed, or all of it."""
        self._set_follow(_Follow.FINAL if on else _Follow.WHOLE)

    def set_all(self, on: bool) -> None:
        """Show and follow all runs, or the run in front alone."""
        self._set_follow(_Follow.ALL if on else _Follow.WHOLE)

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self._theme = theme
        dress(self._widget, theme)
        self._color()
        self._place_phases()

    # -- drawing --------------------------------------------------------------------------------------------

    def _x(self, history: History) -> np.ndarray:
        if self._axis == "iterations":
            return history.iterations
        return history.seconds if self._axis == "seconds" else np.log10(np.maximum(history.seconds, SHORTEST))

    def _set_follow(self, follow: _Follow) -> None:
        self._follow = follow
        self.header.set_followed(final=follow is _Follow.FINAL, all_runs=follow is _Follow.ALL)
        self._apply_range()

    def _apply_range(self) -> None:
        """Let the range follow: to the run in front alone, for a short one vanishes beside a long one."""
        history = self._front()
        if history is None or self._follow is _Follow.NOTHING:
            return
        x, y = self._x(history), history.log_losses
        low, high = float(y.min()), float(y.max())
        if self._follow is _Follow.FINAL:
            first = _final_part(history)
            x, y = x[first:], y[first:]
            # The first steps of a phase may lie far above all others.
            low, high = float(y.min()), float(np.quantile(y, 0.9))
        left, right = float(x[0]), float(x[-1])
        if self._follow is _Follow.ALL:
            others = [curve.history for curve in self._curves.values() if len(curve.history)]
            left, right = (f(float(self._x(h)[end]) for h in others) for f, end in ((min, 0), (max, -1)))
            low = min(float(h.log_losses.min()) for h in others)
            high = max(float(h.log_losses.max()) for h in others)
        low, high = min(low, self._residuals.bounds[0]), max(high, self._residuals.bounds[1])
        self._plot.setXRange(left, right if right > left else left + 1.0, padding=PADDING)
        self._plot.setYRange(low, max(high, low + LEAST_SPAN), padding=3 * PADDING)

    def _front(self) -> History | None:
        """Return the history in front, None where there is none or nothing in it."""
        curve = self._curves.get(self._current) if self._current is not None else None
        return curve.history if curve is not None and len(curve.history) else None

    def _color(self) -> None:
        if self._theme is None:
            return
        for number, curve in self._curves.items():
            front, beside = number == self._current, number == self._compared
            color = pg.mkColor(self._theme.runs[number % len(self._theme.runs)])
            color.setAlpha(EARLIER_ALPHA if self._compared is None else FAINT_ALPHA)
            chosen = self._theme.accent if front else self._theme.other if beside else color
            curve.item.setPen(pg.mkPen(chosen, width=1))
            curve.item.setZValue(10 if front else 5 if beside else 0)
        self._residuals.set_theme(self._theme)
        self._name_curves(self._theme)
        self._ticks.set_theme(self._theme)
        self._cursor.set_theme(self._theme)
        self._reading.set_theme(self._theme)
        self._phases.set_theme(self._theme)

    def _name_curves(self, theme: Theme) -> None:
        """Write the legend, where there is more than one curve."""
        self._legend.clear()
        ground = pg.mkColor(theme.panel)
        ground.setAlpha(LEGEND_ALPHA)
        self._legend.setBrush(pg.mkBrush(ground))
        self._legend.setLabelTextColor(theme.muted)
        shown = sorted(self._curves.items())[-MOST_NAMES:]
        for number, curve in shown if len(shown) > 1 else []:
            self._legend.addItem(curve.item, f"{number} {curve.name}")

    def _show_ticks(self) -> None:
        history = self._front()
        self._ticks.show(history, None if history is None else self._x(history))

    def _show_cursor(self) -> None:
        """Stand where the run is looked at, and say where that is."""
        history = self._front()
        self._cursor.show(None if history is None else self._x(history), self._moment)
        text = ""
        if history is not None:
            last = history.records[-1].iteration
            record = -1 if self._moment is None else min(self._moment, len(history) - 1)
            seen = history.records[record].iteration
            text = f"{last}: newest" if self._moment is None else f"{seen} of {last}"
        self._cursor.say("" if self._moment is None else f"iteration {text}")
        self.header.set_moment(text, newest=self._moment is None)

    def _show_residuals(self) -> None:
        """Draw the residuals of the run in front, where it has some and they are asked for."""
        history = self._front()
        there = history is not None and history.has_residuals
        self.header.offer_residuals(there)
        shown = history if there and self.header.residuals else None
        self._residuals.show(shown, None if shown is None else self._x(shown))

    def _place_phases(self, *_: object) -> None:
        logarithmic = self._axis.startswith("log")
        left, right = self._plot.getViewBox().viewRange()[0]
        named = log_ticks(left, right) if logarithmic else []
        ticks = [[(place, name.replace("-", MINUS)) for place, name in named]] if logarithmic else None
        self._plot.getAxis("bottom").setTicks(ticks)
        history = self._front()
        if history is None:
            self._phases.clear()
        else:
            self._phases.place(history, self._x(history))

    def _read_at(self, position: object) -> None:
        """Say the value of the current curve under the mouse."""
        history, box = self._front(), self._plot.getViewBox()
        if history is None or not box.sceneBoundingRect().contains(position):
            self._read_nothing()
            return
        x = self._x(history)
        index = int(np.abs(x - box.mapSceneToView(position).x()).argmin())
        record = history.records[index]
        residuals = (
            f" · residuals {record.primal:.1e}, {record.dual:.1e}" if record.primal is not None else ""
        )
        loss = f"{history.log_losses[index]:.4f}".replace("-", MINUS)
        self.header.set_reading(
            f"{record.iteration}: {loss} · {record.phase} · {record.seconds:.3g} s{residuals}"
        )
        self._reading.show(float(x[index]), float(history.log_losses[index]), f"{record.iteration}: {loss}")

    def _read_nothing(self) -> None:
        self.header.set_reading("")
        self._reading.hide()

    def _go_to(self, click: MouseClickEvent) -> None:
        """Look at the iteration that was clicked, unless a change of the parameters was."""
        box = self._plot.getViewBox()
        inside = box.sceneBoundingRect().contains(click.scenePos())
        if inside and click.button() == Qt.MouseButton.LeftButton and not click.isAccepted():
            self._cursor.go_to(box.mapSceneToView(click.scenePos()).x())

    def leaveEvent(self, event: object) -> None:
        """Nothing is under the mouse any more."""
        self._read_nothing()

    def resizeEvent(self, event: object) -> None:
        """Keep the sentence for the empty state in the middle."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._empty.setGeometry(self._widget.rect().adjusted(12, 0, -12, 0))


def _final_part(history: History) -> int:
    """Return the record after the last choice of rotations; 0 where there is none yet."""
    first = 0
    for phase in reversed(history.phases):
        if phase.name.startswith(SELECTION):
            break
        first = phase.first
    return first
