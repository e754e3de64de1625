"""The panel Outliers: a histogram of the residuals, a list of what exceeds the threshold, and what to do.

Outliers of the reconstruction that is shown are found, hidden and counted in rounds.
"""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QObject, QSignalBlocker, Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from core import Iterate, Sequence
from core.evaluation import Outliers, bilinear_residuals, find_outliers
from core.foundation import Floats
from nrsfm_gui.engine.throttle import PanelUpdater
from nrsfm_gui.model.session import Session
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.scene.summaries import measure
from nrsfm_gui.text.status_text import solved_point
from nrsfm_gui.widgets.dock_title import show_dock_of
from nrsfm_gui.widgets.fields import filled, push_button, with_tip
from nrsfm_gui.widgets.labels import ElidedLabel, EmptyLabel, known
from nrsfm_gui.widgets.plots.plot_style import PlainPlot, apply_plot_theme, log_ticks
from nrsfm_gui.widgets.style import Themed
from nrsfm_gui.widgets.tables import prepare_tree

TIP = (
    "How many observations have which residual, both on logarithmic scales. Drag the line:\n"
    "what lies to the right of it is listed. Dashed: the threshold that the residuals suggest."
)
EMPTY = (
    "Which tracks are wrong? Run the solver first: observations that the reconstruction does not fit have "
    "large residuals."
)
BINS = 48
DECADES_BELOW = 2.0  # of the threshold: smaller residuals are counted in the first bin
BASE = -0.35  # log10 of a count: the foot of a bar, so that a single observation is seen
TICK_WIDTH = 34.0  # pixels that a number of the axis needs
PADDING, HEADROOM = 0.03, 0.12  # of the range
MOST_ROWS = 300
LIST_WIDTH = 180
HIDE_TIP = "Hide all that are listed from the solver, in one step that can be undone (Ctrl+Z)"
SOLVE_TIP = (
    "Solve from scratch without what is hidden: rotations and starts are chosen again, "
    "which wrong tracks have misled"
)
SHOW_TIP = "Let the solver use all observations again (Shift+Y)"
SUGGEST_TIP = "Put the threshold back to what the residuals suggest"


@dataclass(frozen=True, eq=False)
class OutlierRow:
    """A line of the list: an observation, or a point that drifts."""

    point: int
    frame: int
    residual: float  # of a point that drifts, the largest from the frame on
    drifting: bool = False


@dataclass(frozen=True)
class OutliersState:
    """What the panel shows."""

    outliers: Outliers | None = None  # None where there is nothing yet
    suggested: float = 0.0  # the threshold that the residuals suggest
    unit: str = ""
    solution: str = ""  # what the residuals are of, "" where it is what is shown
    sentence: str = ""  # what was found
    can_hide: bool = False
    can_solve: bool = False
    can_show: bool = False  # all again


def outlier_rows(outliers: Outliers, most: int = MOST_ROWS) -> list[OutlierRow]:
    """Return the points that drift, then the single observations, each from the largest residual down."""
    residuals = np.where(outliers.mask, outliers.residuals, np.nan)
    drifting = []
    for each in outliers.drifting:
        column = residuals[each.frame :, each.point]
        drifting.append(OutlierRow(each.point, each.frame, float(np.nanmax(column)), drifting=True))
        residuals[each.frame :, each.point] = np.nan
    frames, points = np.nonzero(np.isfinite(residuals))
    order = np.argsort(-residuals[frames, points], kind="stable")[:most]
    single = [
        OutlierRow(int(points[k]), int(frames[k]), float(residuals[frames[k], points[k]])) for k in order
    ]
    return [*sorted(drifting, key=lambda row: -row.residual), *single][:most]


class OutliersPlot(Themed, PlainPlot):
    """A histogram with a line that can be dragged, or a text where there is nothing to show."""

    GESTURES = (("Drag the line of the histogram", "choose the largest residual that is kept"),)
    threshold_requested = pyqtSignal(object)  # that the line was dragged to; None for the suggested one

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[int, float] | None = None  # the residuals that the bins are of, by identity
        self._edges: Floats = np.zeros(0)
        self.counts: Floats = np.zeros(0)  # (N,) observations in the bins
        self._limit = 0.0
        with_tip(self, "Histogram of the residuals", TIP)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._plot.setMouseEnabled(x=False, y=False)
        self._kept, self._beyond = (pg.BarGraphItem(x=[0], height=[0], width=0) for _ in range(2))
        self._suggested = pg.InfiniteLine(angle=90)
        self._line = pg.InfiniteLine(angle=90, movable=True)
        self._line.addMarker("v", 1.0, 8)
        self._items = self._kept, self._beyond, self._suggested, self._line
        for item in self._items:
            self._plot.addItem(item, ignoreBounds=True)
        self._line.sigPositionChanged.connect(
            lambda line: self.threshold_requested.emit(float(10.0 ** line.value()))
        )
        self._plot.getViewBox().sigResized.connect(self._name_places)
        self._empty = EmptyLabel(EMPTY, self, margin=16)
        self._follow_theme()
        self.set_state(OutliersState())

    def set_state(self, state: OutliersState) -> None:
        """Show the residuals of a solution with their outliers, and both thresholds; or nothing."""
        outliers, suggested = state.outliers, state.suggested
        there = outliers is not None and bool(np.isfinite(outliers.residuals).any())
        self._empty.setVisible(not there)
        for item in (*self._items, self._plot.getAxis("left"), self._plot.getAxis("bottom")):
            item.setVisible(there)
        if not there or outliers is None:
            self._shown = None
            return
        shown = id(outliers.residuals), suggested
        if shown != self._shown:
            self._shown = shown
            self._bin(outliers.residuals, suggested)
            # Of "the bilinear solution" the word in the middle.
            words = [*state.solution.split()[1:2], "residual", f"({state.unit})"]
            self._plot.setLabel("bottom", html.escape(" ".join(words)))
        self._limit = outliers.threshold
        with QSignalBlocker(self._line):
            self._line.setValue(float(np.log10(self._limit)))
        self._draw_bars()

    def _bin(self, residuals: Floats, suggested: float) -> None:
        known = residuals[np.isfinite(residuals)]
        largest = max(float(known.max()), 1.2 * suggested)
        left = float(np.log10(suggested)) - DECADES_BELOW
        places = np.log10(np.maximum(known, 10.0**left))
        left = max(left, float(places.min()))
        right = float(np.log10(largest))
        self._edges = np.linspace(left, max(right, left + 0.1) + 1e-9, BINS + 1)
        self.counts = np.histogram(places, self._edges)[0].astype(float)
        self._suggested.setValue(float(np.log10(suggested)))
        self._line.setBounds((left, float(self._edges[-1])))
        top = max(float(np.log10(max(self.counts.max(), 1.0))), 0.5)
        width = float(self._edges[-1]) - left
        self._plot.setRange(
            xRange=(left - PADDING * width, float(self._edges[-1]) + PADDING * width),
            yRange=(BASE, top + HEADROOM * (top - BASE)),
            padding=0,
        )
        self._plot.setLabel("left", "observations")
        self._name_places()
        decades = range(int(np.ceil(top)) + 1)
        self._plot.getAxis("left").setTicks([[(float(k), f"{10**k}") for k in decades]])

    def _name_places(self) -> None:
        """Name as many round residuals as there is space for, the largest first."""
        if not len(self._edges):
            return
        left, right = float(self._edges[0]), float(self._edges[-1])
        apart = TICK_WIDTH * (right - left) / max(self._plot.getViewBox().width(), 1.0)
        named: list[tuple[float, str]] = []
        for place, name in reversed(log_ticks(left, right)):
            if not named or named[-1][0] - place >= apart:
                named.append((place, name))
        self._plot.getAxis("bottom").setTicks([named])

    def _draw_bars(self) -> None:
        theme = self._theme
        middles = 0.5 * (self._edges[1:] + self._edges[:-1])
        heights = np.where(self.counts > 0, np.log10(np.maximum(self.counts, 1.0)) - BASE, 0.0)
        beyond = middles > np.log10(self._limit)
        width = 0.92 * float(self._edges[1] - self._edges[0])
        for item, which, color in (
            (self._kept, ~beyond, theme.accent), (self._beyond, beyond, theme.warning)
        ):  # fmt: skip
            item.setOpts(
                x=middles[which], y0=BASE, height=heights[which], width=width,
                pen=pg.mkPen(None), brush=pg.mkBrush(color),
            )  # fmt: skip

    def _apply_theme(self, theme: Theme) -> None:
        apply_plot_theme(self, theme)
        self._line.setPen(pg.mkPen(theme.text, width=1))
        self._line.setHoverPen(pg.mkPen(theme.selection, width=2))
        self._suggested.setPen(pg.mkPen(theme.muted, width=1, style=Qt.PenStyle.DashLine))
        if self._shown is not None:
            self._draw_bars()


class OutliersPanel(QWidget):
    """A histogram, a list and buttons. `header` is the line above, placed by the window."""

    hide_requested = pyqtSignal()
    solve_requested = pyqtSignal()
    show_requested = pyqtSignal()
    observation_chosen = pyqtSignal(int, int)  # a frame and a point of the list

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumSize(240, 150)
        self.plot = OutliersPlot()
        self.threshold_requested = self.plot.threshold_requested
        self._listed: tuple[Outliers | None, str] | None = None  # outliers and unit
        self.sentence = ElidedLabel()  # what was found
        tip = "The worst ones; click one to go to its frame and select its point"
        self.list = with_tip(QTreeWidget(), "Outliers", tip)
        self.list.setRootIsDecorated(False)
        self.list.setAlternatingRowColors(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setFixedWidth(LIST_WIDTH)
        self.list.setHeaderLabels(["point", "frame", "residual"])
        self.list.currentItemChanged.connect(lambda item, _before: self._on_chosen(item))
        self.list.itemClicked.connect(lambda item, _column: self._on_chosen(item))
        heading = prepare_tree(self.list)
        heading.setMinimumSectionSize(30)
        heading.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        heading.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._hide = push_button("Hide all", HIDE_TIP, self.hide_requested.emit)
        self._solve = push_button("Solve again", SOLVE_TIP, self.solve_requested.emit)
        self._show = push_button("Show all", SHOW_TIP, self.show_requested.emit)
        self._suggest = push_button("Reset", SUGGEST_TIP, lambda: self.threshold_requested.emit(None))
        self.header = QWidget()
        filled(QHBoxLayout(self.header), None, self._hide, self._solve, self._show, margins=(8, 2, 4, 2))
        top = filled(QHBoxLayout(), self.sentence, self._suggest, grows=self.sentence, margins=(2, 2, 8, 2))
        row = filled(QHBoxLayout(), self.plot, self.list, grows=self.plot, spacing=1)
        filled(QVBoxLayout(self), top, row, grows=row, spacing=0)
        self.set_state(OutliersState())

    def set_state(self, state: OutliersState) -> None:
        """Show outliers, what is known of them in words, and what can be done."""
        outliers = state.outliers
        self.plot.set_state(state)
        self.sentence.set_full_text(state.sentence)
        for button, can in (
            (self._hide, state.can_hide), (self._solve, state.can_solve), (self._show, state.can_show)
        ):  # fmt: skip
            button.setEnabled(can)
        self._suggest.setVisible(outliers is not None and outliers.threshold != state.suggested)
        self.list.setVisible(outliers is not None)
        if (outliers, state.unit) == self._listed:
            return  # the chosen row stays
        self._listed = outliers, state.unit
        blocker = QSignalBlocker(self.list)
        self.list.clear()
        self.list.setHeaderLabels(["point", "frame", state.unit or "residual"])
        for each in () if outliers is None else outlier_rows(outliers):
            frame = f"{each.frame + 1} on" if each.drifting else f"{each.frame + 1}"
            item = QTreeWidgetItem([f"{each.point + 1}", frame, f"{each.residual:.3g}"])
            for column in range(3):
                item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setData(0, Qt.ItemDataRole.UserRole, (each.frame, each.point))
            if each.drifting:
                item.setToolTip(1, f"Point {each.point + 1} drifts from frame {each.frame + 1} on")
            self.list.addTopLevelItem(item)
        blocker.unblock()

    def _on_chosen(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            frame, point = item.data(0, Qt.ItemDataRole.UserRole)
            self.observation_chosen.emit(frame, point)


class OutliersController(QObject):
    """Finds outliers while the panel is visible and no run is active."""

    def __init__(self, session: Session, panel: OutliersPanel) -> None:
        super().__init__(panel)
        self._session, self._panel, self._notifier = session, panel, session.notifier
        # Of an iterate, under what is hidden.
        self._residuals: tuple[Iterate, str | None, Floats] | None = None
        self._threshold: float | None = None  # that was dragged; None for the suggested one
        self._suggested = 0.0
        self._found: Outliers | None = None
        self._rounds: list[str] = []  # what was hidden after each round
        self._updater = PanelUpdater(self._resolve, panel.set_state, self)
        panel.threshold_requested.connect(self._on_threshold_requested)
        panel.hide_requested.connect(self.hide_all)
        panel.observation_chosen.connect(self._on_observation_chosen)
        session.sequence_changed.connect(self._on_sequence_changed)
        self._updater.rest_while_hidden(panel)
        self._updater.follow(
            session.settings_changed, session.shown_changed, session.run_changed, session.moment_changed,
            session.sequence_changed,
        )  # fmt: skip

    def show(self) -> None:
        """Bring the panel to the front."""
        show_dock_of(self._panel)
        self._updater.run()

    def hide_all(self) -> None:
        """Hide all outliers from the solver."""
        session, sequence, found = self._session, self._session.sequence, self._found
        if sequence is None or found is None or not found.count:
            return
        before = session.excluded
        mask = found.mask if before is None else found.mask | before
        if not session.exclude(mask):
            return
        self._rounds.append(known(session.settings.hide))
        many = f"{found.count} observation{'s' * (found.count != 1)} hidden from the solver"
        self._notifier.show_status(f"{many}: Ctrl+Z shows them again")

    @property
    def round(self) -> int:
        """The number of the present round, from 1: one more than those whose outliers are hidden."""
        hide = self._session.settings.hide
        if hide is None:
            return 1
        return 2 + (self._rounds.index(hide) if hide in self._rounds else len(self._rounds) - 1)

    def _on_sequence_changed(self, _sequence: Sequence) -> None:
        self._residuals, self._found, self._threshold, self._rounds = None, None, None, []

    def _on_threshold_requested(self, threshold: float | None) -> None:
        self._threshold = threshold
        self._updater.run()

    def _on_observation_chosen(self, frame: int, point: int) -> None:
        self._session.set_frame(frame)
        self._session.set_point(point)

    def _resolve(self) -> OutliersState:
        session, sequence, seen = self._session, self._session.sequence, self._session.seen
        excluded = session.excluded
        hidden = 0 if excluded is None or sequence is None else int((excluded & sequence.visible).sum())
        active = session.active_run is not None
        if sequence is None or seen is None:
            return OutliersState(can_show=bool(hidden))
        unsolved = seen.settings.hide != session.settings.hide
        if not active:
            self._find(sequence, seen)
        found, of = self._found, solved_point(seen)
        return OutliersState(
            found,
            self._suggested,
            sequence.units,
            of,
            sentence=self._words(found, hidden, unsolved, active, of),
            can_hide=bool(found is not None and found.count and not active),
            can_solve=(unsolved or bool(hidden)) and not active,
            can_show=bool(hidden),
        )

    def _find(self, sequence: Sequence, seen: Iterate) -> None:
        """Find the outliers of an iterate among what is not hidden now."""
        known, hide = self._residuals, self._session.settings.hide
        if known is None or known[0] is not seen or known[1] != hide:
            residuals = bilinear_residuals(sequence, seen)
            excluded = self._session.excluded
            if excluded is not None:
                residuals = np.where(excluded, np.nan, residuals)
            if known is None or known[0] is not seen:
                self._threshold, self._suggested = None, find_outliers(residuals).threshold
            self._residuals = seen, hide, residuals
            self._found = None
        assert self._residuals is not None  # as just made
        threshold = self._threshold or self._suggested
        if self._found is None or self._found.threshold != threshold:
            usable = threshold if threshold > 0 else None
            self._found = find_outliers(self._residuals[2], threshold=usable)

    def _words(self, found: Outliers | None, hidden: int, unsolved: bool, active: bool, of: str) -> str:
        """Return what was found, in words. The residuals are `of` a solution, "" of what is shown."""
        session = self._session
        unit = "" if session.sequence is None else session.sequence.units
        if active:
            return "A run is under way"
        if unsolved:
            what = f"{hidden} observation{'s' * (hidden != 1)} hidden" if hidden else "None is hidden now"
            return f"{what}: press Solve again"
        if found is None:
            return ""
        head = f"Round {self.round}: " if self.round > 1 else ""
        more = " more" if self.round > 1 else ""
        limit = measure(found.threshold, unit) + (f" in {of}" if of else "")
        if not found.count:
            return f"{head}no{more} observation exceeds {limit}"
        drifting = len(found.drifting)
        words = (
            f"{head}{found.count}{more} of {int(np.isfinite(found.residuals).sum())} "
            f"({100 * found.share:.2g} %) exceed{'s' * (found.count == 1)} {limit}"
        )
        return words + (f"; {drifting} point{'s drift' if drifting > 1 else ' drifts'}" if drifting else "")
