"""The loss as it falls: log10 of it over iterations or seconds, phases marked, earlier runs underneath.

The range follows the run in front, whole or its final part, or all runs, until the mouse zooms; another run
in front takes it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt, QTimer, pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from nrsfm_gui.model.numbers import MINUS
from nrsfm_gui.panels.loss.loss_cursor import ChangeTicks, CurveReading, IterationCursor
from nrsfm_gui.panels.loss.loss_curves import AXES, LossCurves
from nrsfm_gui.panels.loss.loss_header import LossHeader
from nrsfm_gui.panels.loss.loss_range import Follow, followed_range
from nrsfm_gui.panels.loss.phase_marks import PhaseMarks
from nrsfm_gui.panels.loss.residual_curves import ResidualCurves
from nrsfm_gui.widgets.labels import EmptyLabel
from nrsfm_gui.widgets.plots.plots import dress, log_ticks
from nrsfm_gui.widgets.plots.signed_axis import SignedAxis

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent

    from nrsfm_gui.model.history import History
    from nrsfm_gui.model.theme import Theme

REFRESH_MILLISECONDS = 150  # a picture of a plot costs as much as one of the scene
LEAST_SPAN = 0.01  # decades of loss that the vertical axis holds at least
PADDING = 0.04
EMPTY = "The loss appears here while a run goes on"


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
        self._follow = Follow.WHOLE
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
        self._curves = LossCurves(self._plot)
        self._ticks, self._cursor = ChangeTicks(self._plot), IterationCursor(self._plot)
        self._reading = CurveReading(self._plot)
        self._ticks.chosen.connect(self.change_chosen)
        self._cursor.requested.connect(self.moment_requested)
        box = self._plot.getViewBox()
        box.setDefaultPadding(PADDING)
        box.sigRangeChanged.connect(self._place_phases)
        box.sigResized.connect(self._place_phases)
        box.sigRangeChangedManually.connect(lambda _axes: self._set_follow(Follow.NOTHING))
        self._empty = EmptyLabel(EMPTY, self._widget)
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
        front = self._curves.front
        self._curves.set_histories(histories, current, compared, names or {})
        if self._curves.front is not front and self._follow is Follow.NOTHING:
            self._follow = Follow.WHOLE
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
        self._curves.draw()
        empty = not self._curves.histories
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
        self.header.set_axis(axis)
        self._plot.setLabel("bottom", AXES[axis])
        self._curves.set_axis(axis)
        if self._follow is Follow.NOTHING:
            self._follow = Follow.WHOLE
        self.refresh()

    def fit(self) -> None:
        """Show the whole of the run in front, and follow it."""
        self._set_follow(Follow.WHOLE)

    def set_final(self, on: bool) -> None:
        """Show and follow only the part of the run in front whose rotations are fixed, or all of it."""
        self._set_follow(Follow.FINAL if on else Follow.WHOLE)

    def set_all(self, on: bool) -> None:
        """Show and follow all runs, or the run in front alone."""
        self._set_follow(Follow.ALL if on else Follow.WHOLE)

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        dress(self._widget, theme)
        marks = (self._ticks, self._cursor, self._reading, self._phases)
        for part in (self._curves, self._residuals, *marks):
            part.set_theme(theme)
        self._place_phases()

    # -- drawing --------------------------------------------------------------------------------------------

    def _set_follow(self, follow: Follow) -> None:
        self._follow = follow
        self.header.set_followed(final=follow is Follow.FINAL, all_runs=follow is Follow.ALL)
        self._apply_range()

    def _apply_range(self) -> None:
        """Let the range follow: to the run in front alone, for a short one vanishes beside a long one."""
        history = self._curves.front
        if history is None or self._follow is Follow.NOTHING:
            return
        left, right, low, high = followed_range(self._follow, history, self._curves.histories, self._curves.x)
        low, high = min(low, self._residuals.bounds[0]), max(high, self._residuals.bounds[1])
        self._plot.setXRange(left, right if right > left else left + 1.0, padding=PADDING)
        self._plot.setYRange(low, max(high, low + LEAST_SPAN), padding=3 * PADDING)

    def _show_ticks(self) -> None:
        history = self._curves.front
        self._ticks.show(history, None if history is None else self._curves.x(history))

    def _show_cursor(self) -> None:
        """Stand where the run is looked at, and say where that is."""
        history = self._curves.front
        self._cursor.show(None if history is None else self._curves.x(history), self._moment)
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
        history = self._curves.front
        there = history is not None and history.has_residuals
        self.header.offer_residuals(there)
        shown = history if there and self.header.residuals else None
        self._residuals.show(shown, None if shown is None else self._curves.x(shown))

    def _place_phases(self, *_: object) -> None:
        logarithmic = self._curves.logarithmic
        left, right = self._plot.getViewBox().viewRange()[0]
        named = log_ticks(left, right) if logarithmic else []
        ticks = [[(place, name.replace("-", MINUS)) for place, name in named]] if logarithmic else None
        self._plot.getAxis("bottom").setTicks(ticks)
        history = self._curves.front
        if history is None:
            self._phases.clear()
        else:
            self._phases.place(history, self._curves.x(history))

    def _read_at(self, position: object) -> None:
        """Say the value of the current curve under the mouse."""
        history, box = self._curves.front, self._plot.getViewBox()
        if history is None or not box.sceneBoundingRect().contains(position):
            self._read_nothing()
            return
        x = self._curves.x(history)
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
        self._empty.fill()
