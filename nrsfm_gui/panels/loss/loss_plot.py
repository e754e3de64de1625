"""The panel Loss: log10 of the loss over iterations or seconds, with phases and earlier runs.

The visible range follows the current run, its final part, or all runs, until the mouse zooms; it follows
again when another run becomes the current one.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from nrsfm_gui.model.numbers import MINUS
from nrsfm_gui.panels.loss.loss_curves import AXES, EnergyCurve, LossCurves, ResidualCurves, below_names
from nrsfm_gui.panels.loss.loss_marks import ChangeTicks, CurveReading, IterationCursor, PhaseMarks
from nrsfm_gui.widgets.fields import ComboBox, tool_button
from nrsfm_gui.widgets.labels import ElidedLabel, EmptyLabel
from nrsfm_gui.widgets.plots.plot_style import TOP_MARGIN, PlotAxis, apply_plot_theme, log_ticks
from nrsfm_gui.widgets.style import Themed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent

    from core.foundation import Floats
    from nrsfm_gui.model.history import History
    from nrsfm_gui.model.theme import Theme

SELECTION = "rotations"  # how the names of the phases begin that choose rotations
LEAST_SPAN = 0.01  # decades of loss that the vertical axis holds at least
PADDING = 0.04
TIP = (
    "Left: base-10 logarithm of the loss. Right: the energy of the depth refinement, per point and frame; "
    "energies of two phases do not compare, so each has a line of its own.\n"
    "Click: go to an iteration. Wheel: zoom; drag: move."
)
EMPTY = "The loss appears here while a run goes on"


class LossHeader(QWidget):
    """The header of the loss plot: buttons, and the value under the mouse.

    Signals
    -------
    axis_chosen(str), fit_requested(), final_requested(bool), all_requested(bool), residuals_requested(bool),
    newest_requested()
        what was pressed.
    """

    axis_chosen = pyqtSignal(str)
    fit_requested = pyqtSignal()
    final_requested = pyqtSignal(bool)
    all_requested = pyqtSignal(bool)
    residuals_requested = pyqtSignal(bool)
    newest_requested = pyqtSignal()

    def __init__(self, axes: Iterable[str]) -> None:
        super().__init__()
        self.reading = ElidedLabel()
        self.reading.setProperty("role", "muted")
        self._moment = ""
        self._newest = tool_button("Newest", "go back to the newest iteration, and to its parameters")
        self._newest.clicked.connect(lambda _checked: self.newest_requested.emit())
        self._newest.hide()
        policy = self._newest.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # the panel would become wider with it
        self._newest.setSizePolicy(policy)
        self._axis = ComboBox()
        self._axis.setAccessibleName("Horizontal axis of the loss")
        self._axis.addItems(list(axes))
        self._axis.setToolTip("what the horizontal axis counts")
        self._axis.currentTextChanged.connect(self.axis_chosen)
        self._residuals = tool_button(
            "Residuals", "ADMM's relative residuals too: dashed primal, dotted dual"
        )
        self._residuals.hide()
        self._fit = tool_button("Fit", "show the complete run again, and follow it")
        self._final = tool_button("Final", "follow only the part after the rotations were chosen")
        self._all = tool_button("All", "follow all runs, to compare them")
        for button, signal in (
            (self._residuals, self.residuals_requested),
            (self._final, self.final_requested),
            (self._all, self.all_requested),
        ):
            button.setCheckable(True)
            button.clicked.connect(signal)
        self._fit.clicked.connect(lambda _checked: self.fit_requested.emit())
        bar = QHBoxLayout(self)
        bar.setContentsMargins(8, 2, 4, 2)
        bar.addWidget(self.reading, 1)
        for widget in (self._newest, self._residuals, self._axis, self._fit, self._final, self._all):
            bar.addWidget(widget)

    @property
    def residuals(self) -> bool:
        """Whether residuals are shown."""
        return self._residuals.isChecked()

    def set_reading(self, text: str) -> None:
        """Show the value under the mouse; "" shows the shown iteration."""
        self.reading.set_full_text(text or self._moment)

    def set_moment(self, text: str, *, newest: bool) -> None:
        """Show the number of the shown iteration, and the button to the newest one."""
        if self.reading.full_text in ("", self._moment):
            self.reading.set_full_text(text)
        self._moment = text
        self._newest.setVisible(not newest)

    def set_axis(self, axis: str) -> None:
        """Show what the axis counts."""
        self._axis.setCurrentText(axis)

    def set_followed(self, *, final: bool, all_runs: bool) -> None:
        """Show what the range follows."""
        self._final.setChecked(final)
        self._all.setChecked(all_runs)

    def offer_residuals(self, there: bool) -> None:
        """Show the button for residuals, or hide it where there are none."""
        self._residuals.setVisible(there)


class Follow(Enum):
    """What the range follows."""

    RUN = "the complete run in front"
    FINAL = "its part after the choice of rotations"
    ALL = "all runs"
    NOTHING = "nothing since the mouse zoomed"


def followed_range(
    follow: Follow, front: History, histories: Iterable[History], place: Callable[[History], Floats]
) -> tuple[float, float, float, float]:
    """Return what is to be seen: left, right, least and largest logarithm of the loss.

    Parameters
    ----------
    follow
        anything but `NOTHING`.
    front
        the history of the run in front.
    histories
        those of all runs that are drawn.
    place
        where a history has its records along the horizontal axis.
    """
    x, y = place(front), front.log_losses
    low, high = float(y.min()), float(y.max())
    if follow is Follow.FINAL:
        first = _final_part(front)
        x, y = x[first:], y[first:]
        # The first steps of a phase may lie far above all others.
        low, high = float(y.min()), float(np.quantile(y, 0.9))
    left, right = float(x[0]), float(x[-1])
    if follow is Follow.ALL:
        every = list(histories)
        left, right = (f(float(place(h)[end]) for h in every) for f, end in ((min, 0), (max, -1)))
        low = min(float(h.log_losses.min()) for h in every)
        high = max(float(h.log_losses.max()) for h in every)
    return left, right, low, high


def _final_part(history: History) -> int:
    """Return the record after the last choice of rotations; 0 where there is none yet."""
    first = 0
    for phase in reversed(history.phases):
        if phase.name.startswith(SELECTION):
            break
        first = phase.first
    return first


class LossPlot(Themed, QWidget):
    """Shows histories; the current one in front. `header` is the line above it, placed by the window.

    Signals
    -------
    moment_requested(object)
        the requested record of the current run, None for the newest.
    change_chosen(int)
        the number of the change of parameters to go back to.
    """

    moment_requested = pyqtSignal(object)
    change_chosen = pyqtSignal(int)

    GESTURES = (
        ("Click, drag the line", "see the run as it was then"),
        ("Click a triangle", "go back to before a change of the parameters"),
        ("Wheel, right drag", "zoom"),
        ("Left drag", "move"),
    )

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._follow = Follow.RUN
        self._moment: int | None = None
        axes = {side: PlotAxis(side) for side in ("left", "bottom", "right")}
        self._widget = pg.PlotWidget(axisItems=axes)
        self._widget.setAccessibleName("Loss over iterations or seconds")
        self._widget.setToolTip(TIP)
        self._plot: pg.PlotItem = self._widget.getPlotItem()
        self._plot.hideButtons()
        self._plot.setContentsMargins(0, TOP_MARGIN, 0, 0)
        self._plot.setMenuEnabled(False)
        self._plot.setLabel("left", "log10 loss")
        self._phases = PhaseMarks(self._plot)
        self._curves = LossCurves(self._plot)
        self._ticks, self._cursor = ChangeTicks(self._plot), IterationCursor(self._plot)
        self._reading = CurveReading(self._plot)
        self._ticks.chosen.connect(self.change_chosen)
        self._cursor.requested.connect(self.moment_requested)
        box = self._plot.getViewBox()
        box.setDefaultPadding(PADDING)
        box.sigRangeChanged.connect(self._place_phases)
        box.sigResized.connect(lambda _box: self._apply_range())
        box.sigResized.connect(self._place_phases)
        box.sigRangeChangedManually.connect(lambda _axes: self._set_follow(Follow.NOTHING))
        self._empty = EmptyLabel(EMPTY, self._widget)
        self._residuals = ResidualCurves(self._plot)
        self._energy = EnergyCurve(self._plot)
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
        self._widget.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self._widget.scene().sigMouseClicked.connect(self._on_mouse_clicked)
        self._follow_theme()
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

        `names` of the runs are for the legend. With a `compared` run all others but the current are faint.
        """
        front = self._curves.front
        self._curves.set_histories(histories, current, compared, names or {})
        if self._curves.front is not front and self._follow is Follow.NOTHING:
            self._follow = Follow.RUN
        self.refresh()

    def set_moment(self, record: int | None) -> None:
        """Set the shown record of the current run, None for the newest."""
        self._moment = record
        self._show_cursor()

    def refresh(self) -> None:
        """Draw what the histories gained since the last time."""
        self._curves.draw()
        empty = not self._curves.histories
        self._empty.setVisible(empty)
        for side in ("left", "bottom"):
            self._plot.showAxis(side, not empty)
        self._show_ticks()
        self._show_cursor()
        self._show_residuals()
        self._apply_range()
        self._show_energy()
        self._place_phases()

    def set_axis(self, axis: str) -> None:
        """Count iterations or seconds along the horizontal axis."""
        self.header.set_axis(axis)
        self._plot.setLabel("bottom", AXES[axis])
        self._curves.set_axis(axis)
        if self._follow is Follow.NOTHING:
            self._follow = Follow.RUN
        self.refresh()

    def fit(self) -> None:
        """Show all of the current run, and follow it."""
        self._set_follow(Follow.RUN)

    def set_final(self, on: bool) -> None:
        """Show and follow only the part of the run in front whose rotations are fixed, or all of it."""
        self._set_follow(Follow.FINAL if on else Follow.RUN)

    def set_all(self, on: bool) -> None:
        """Show and follow all runs, or the run in front alone."""
        self._set_follow(Follow.ALL if on else Follow.RUN)

    def _apply_theme(self, theme: Theme) -> None:
        apply_plot_theme(self._widget, theme)
        marks = (self._ticks, self._cursor, self._reading, self._phases)
        for part in (self._curves, self._residuals, self._energy, *marks):
            part.set_colors(theme)
        self._place_phases()

    # -- drawing --------------------------------------------------------------------------------------------

    def _set_follow(self, follow: Follow) -> None:
        self._follow = follow
        self.header.set_followed(final=follow is Follow.FINAL, all_runs=follow is Follow.ALL)
        self._apply_range()

    def _apply_range(self) -> None:
        """Set the range that is followed."""
        history = self._curves.front
        if history is None or self._follow is Follow.NOTHING:
            return
        left, right, low, high = followed_range(self._follow, history, self._curves.histories, self._curves.x)
        low, high = min(low, self._residuals.bounds[0]), max(high, self._residuals.bounds[1])
        self._plot.setXRange(left, right if right > left else left + 1.0, padding=PADDING)
        low, high = below_names(low, max(high, low + LEAST_SPAN), self._plot.getViewBox().height())
        self._plot.setYRange(low, high, padding=0)

    def _show_ticks(self) -> None:
        history = self._curves.front
        self._ticks.show(history, None if history is None else self._curves.x(history))

    def _show_cursor(self) -> None:
        """Place the cursor at the shown iteration, with its number."""
        history = self._curves.front
        self._cursor.show(None if history is None else self._curves.x(history), self._moment)
        text = ""
        if history is not None:
            last = history.records[-1].iteration
            record = -1 if self._moment is None else min(self._moment, len(history) - 1)
            seen = history.records[record].iteration
            text = f"{last}: newest" if self._moment is None else f"{seen} of {last}"
        self._cursor.set_text("" if self._moment is None else f"iteration {text}")
        self.header.set_moment(text, newest=self._moment is None)

    def _show_residuals(self) -> None:
        """Draw the residuals of the current run, if it has some and they are switched on."""
        history = self._curves.front
        there = history is not None and history.has_residuals
        self.header.offer_residuals(there)
        shown = history if there and self.header.residuals else None
        self._residuals.show(shown, None if shown is None else self._curves.x(shown))

    def _show_energy(self) -> None:
        """Draw the energy of the run in front, if it has one."""
        history = self._curves.front
        self._energy.show(history, None if history is None else self._curves.x(history))

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

    def _on_mouse_moved(self, position: object) -> None:
        """Show the value of the current curve under the mouse."""
        history, box = self._curves.front, self._plot.getViewBox()
        if history is None or not box.sceneBoundingRect().contains(position):
            self._clear_reading()
            return
        x = self._curves.x(history)
        index = int(np.abs(x - box.mapSceneToView(position).x()).argmin())
        record = history.records[index]
        residuals = (
            f" · residuals {record.primal:.1e}, {record.dual:.1e}" if record.primal is not None else ""
        )
        loss = f"{history.log_losses[index]:.4f}".replace("-", MINUS)
        energy = "" if record.energy is None else f" · energy {record.energy:.5f}".replace("-", MINUS)
        self.header.set_reading(
            f"{record.iteration}: {loss}{energy} · {record.phase} · {record.seconds:.3g} s{residuals}"
        )
        place = self._energy.place(index)
        seen = float(history.log_losses[index]) if place is None else place
        value = loss if place is None else energy.removeprefix(" · ")
        self._reading.show(float(x[index]), seen, f"{record.iteration}: {value}")

    def _clear_reading(self) -> None:
        self.header.set_reading("")
        self._reading.hide()

    def _on_mouse_clicked(self, click: MouseClickEvent) -> None:
        """Request the clicked iteration, unless a change of parameters was clicked."""
        box = self._plot.getViewBox()
        inside = box.sceneBoundingRect().contains(click.scenePos())
        if inside and click.button() == Qt.MouseButton.LeftButton and not click.isAccepted():
            self._cursor.go_to(box.mapSceneToView(click.scenePos()).x())

    def leaveEvent(self, event: object) -> None:
        """Clear what belongs to the point under the mouse."""
        self._clear_reading()

    def resizeEvent(self, event: object) -> None:
        """Keep the text of the empty state centered."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._empty.fill()
