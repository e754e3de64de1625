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
from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from core import PENALTIES, Settings
from core.foundation import DEPTHS, WNN, Floats
from core.penalties import EXPLICIT, extend_last
from nrsfm_gui.engine.throttle import Debounce
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.panels.parameters.kind_editors import TITLES
from nrsfm_gui.panels.parameters.spectrum_canvas import ROOMY, SpectrumCanvas, SpectrumPicture, Target
from nrsfm_gui.panels.parameters.weights_list import (
    MODE_WEIGHTS,
    SUPPRESSED,
    WEIGHTS,
    describe_limit,
    enforce_order,
    limit_weight,
    short,
)
from nrsfm_gui.widgets.drag_number import Scale
from nrsfm_gui.widgets.fields import filled, tool_button
from nrsfm_gui.widgets.labels import ElidedLabel, EmptyLabel
from nrsfm_gui.widgets.plots.plot_export import PlotFigure
from nrsfm_gui.widgets.plots.plot_style import apply_plot_theme, log_ticks
from nrsfm_gui.widgets.style import Themed, set_property

FEWEST_MODES, MOST_MODES = 3, 10  # that are shown: those above the smallest movement
DEEPEST = 6.0  # decades below the largest value of smaller values: zero has no logarithm
ZERO_SHARE = 0.12  # share of a scale with a zero that lies below its lowest number
ZERO = 0.03  # height of the zero in it
CLEAR = 0.14  # above the zero begin the ticks, so that their texts do not touch
KEYS_HINT = "Arrow keys: left, right choose; up, down: 1 %."
DRAGGED = "Drag a diamond up or down; {order},\nCtrl is fine, the bottom is 0; a double click {reset}.\n"
KEYS = (
    "Keys: left and right choose a weight, up and down change it by 1 %, with Shift by 10 %,\n"
    "with Ctrl the others come along; Esc gives the arrow keys back. {exact}"
)
STOPS = "it stops where weights would decrease. Shift brings the others along"
ALONG = "The others come along."
MOST_HEIGHT = 260  # pixels
SENTENCE_MILLISECONDS = 4000  # that the reason for a stop is shown
BELOW = 2.0  # times: a mode below the smallest movement over it has no part in the scale
WEIGHT_MARGIN, WEIGHT_SPAN = 1.0, 4.0  # decades around the weights, and at least in all


@dataclass(frozen=True)
class SpectrumWords:
    """What the plot says of the singular values and weights of one objective."""

    empty: str  # before there are any
    letter: str  # of a weight
    hint: str
    handle: str  # the hint at a handle
    tip: str
    scale: Scale  # of the weights
    labels: dict[str, tuple[str, str]]  # of the axes, short and in full


WORDS = {
    WNN: SpectrumWords(
        "Singular values and weights appear here with the first run",
        "a",
        "Drag a weight. Click a bar to set the rank.",
        "Drag up or down. Shift: all, Ctrl: fine.",
        "Bars: singular values of X#, left axis. Diamonds: their weights, right axis; both logarithmic.\n"
        f"{DRAGGED.format(order=STOPS, reset='gives the weight back to the penalty')}"
        "Click low in a bar to keep so many basis shapes, + to add one.\n"
        f"{KEYS.format(exact='Exact numbers are in the section Options.')}",
        WEIGHTS,
        {"left": ("σ", "singular value σ"), "right": ("weight a", "weight a"), "bottom": ("", "component k")},
    ),
    DEPTHS: SpectrumWords(
        "The modes of the shape and their weights appear here when its depths are refined",
        "w",
        "Drag a weight. Click the last mode to keep.",
        "Drag up or down; the others come along.",
        "Bars: the modes in which the shape deviates from its mean, in % of the object's size, left axis.\n"
        "Diamonds: their weights, right axis; both logarithmic. A heavier mode occurs less.\n"
        f"{DRAGGED.format(order='the others come along, since weights never decrease', reset='sets 1')}"
        "The last one is of all smaller modes, too. Click low in a bar to suppress the modes behind it;\n"
        "a second click gives them back. Below the dotted line movements cost nothing.\n"
        f"{KEYS.format(exact='Exact numbers are in the row below.')}",
        MODE_WEIGHTS,
        {
            "left": ("deviation (%)", "deviation (% of size)"),
            "right": ("weight w", "weight w"),
            "bottom": ("", "mode k"),
        },
    ),
}


@dataclass(frozen=True)
class LogScale:
    """A logarithmic scale from one power of ten to another."""

    low: float  # exponents
    high: float
    zero: bool = False  # whether there is space for 0 at the bottom

    def holds(self, other: LogScale, decades: float = 2.0) -> bool:
        """Whether it covers another scale, and is at most so many decades longer."""
        inside = self.low <= other.low and other.high <= self.high
        return inside and (self.high - self.low) <= (other.high - other.low) + decades

    def shares(self, values: Floats) -> Floats:
        """Return the heights of values, 0 to 1; values outside are at an end."""
        bottom = ZERO_SHARE * self.zero
        values = np.nan_to_num(values, nan=0.0, posinf=10.0**self.high)
        exponents = np.log10(np.maximum(values, 10.0 ** (self.low - 1)))
        fraction = np.clip((exponents - self.low) / (self.high - self.low), 0.0, 1.0)
        places = bottom + (1 - bottom) * fraction
        return np.where(values > 0, places, ZERO) if self.zero else np.asarray(places)

    def value(self, share: float) -> float:
        """Return the value at a height, to four digits; nearer to the zero than to the lowest it is 0."""
        bottom = ZERO_SHARE * self.zero
        if self.zero and share < (ZERO + ZERO_SHARE) / 2:
            return 0.0
        fraction = min(max((share - bottom) / (1 - bottom), 0.0), 1.0)
        return float(f"{10.0 ** (self.low + fraction * (self.high - self.low)):.4g}")

    def ticks(self) -> list[tuple[float, str]]:
        """Return places and texts of round numbers."""
        bottom = ZERO_SHARE * self.zero
        found = [
            (bottom + (1 - bottom) * (place - self.low) / (self.high - self.low), text)
            for place, text in log_ticks(self.low, self.high)
            if float(text) == 10.0 ** round(place)
        ]
        return [(ZERO, "0"), *(tick for tick in found if tick[0] > CLEAR)] if self.zero else found


def decades_of(values: Floats, *, zero: bool, margin: float, least: float) -> LogScale:
    """Return a scale for values with some decades of margin around them, in half decades."""
    positive = values[np.isfinite(values) & (values > 0)]
    if not positive.size:
        return LogScale(-3.0 - margin, -3.0 - margin + max(least, 1.0), zero)
    top = math.log10(positive.max())
    bottom = max(math.log10(positive.min()), top - DEEPEST)
    low, high = math.floor(2 * (bottom - margin)) / 2, math.ceil(2 * (top + margin)) / 2
    missing = max(least - (high - low), 0.0)
    return LogScale(low - math.ceil(missing) / 2, high + math.ceil(missing) / 2, zero)


@dataclass(frozen=True)
class SpectrumState:
    """What the plot shows."""

    kind: str = "wnn"  # of the penalty that the parameters have: a key of PENALTIES, or "weights"
    rule: str = "wnn"  # the last kind that was not explicit weights
    weights: tuple[float, ...] = ()  # (K,) of that penalty; empty where they are not known yet
    singular_values: tuple[float, ...] | None = None  # (N,) of the reconstruction that is looked at
    run_weights: tuple[float, ...] = ()  # (N,) that it was found with
    objective: str = WNN  # of the depths the values are in %, and the last weight is of all smaller ones, too
    smallest: float | None = None  # deviation well below which movements cost nothing, in %


def mode_count(values: Floats | None, settings: Settings) -> int:
    """Return how many modes are shown: those above the smallest movement, and those that have own weights.

    `values`: (N,) sqrt(lambda_k) over the size of the object, the largest first; None where not known.
    """
    there = 0 if values is None else int(np.count_nonzero(values > settings.smallest_movement))
    return max(min(max(there, FEWEST_MODES), MOST_MODES), len(settings.mode_weights))


def modes_state(values: Floats | None, settings: Settings, count: int) -> SpectrumState:
    """Return the first modes of a refined shape and their weights; `values` as of `mode_count`."""
    weights = tuple(extend_last(np.array(settings.mode_weights), count).tolist())
    alike = settings.mode_weights == Settings().mode_weights
    if values is None and alike:
        weights = ()  # nothing is known, and nothing asked for
    return SpectrumState(
        kind="" if alike else EXPLICIT,
        weights=weights,
        singular_values=None if values is None else tuple((100.0 * values[:count]).tolist()),
        run_weights=weights,
        objective=DEPTHS,
        smallest=100.0 * settings.smallest_movement,
    )


class SpectrumPlot(Themed, QWidget):
    """Bars for singular values, handles for weights."""

    weights_edited = pyqtSignal(object)  # a tuple of non-decreasing floats: a handle was moved
    rule_requested = pyqtSignal(str)  # a key of `core.PENALTIES`: all weights are to follow it again
    penalty_requested = pyqtSignal(str)  # such a key: it is to choose the weights of the modes once

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._singular: Floats | None = None  # (N,) of the reconstruction
        self._weights: tuple[float, ...] = ()  # (K,) that the parameters have now
        self._base: tuple[float, ...] | None = None  # that they had when a drag began
        self._moves_others = False
        self._barrier: int | None = None  # the handle that stopped another one
        self.canvas = SpectrumCanvas()
        self.canvas.setAccessibleName("singular values and their weights")
        self._empty = EmptyLabel(WORDS[WNN].empty, self.canvas)
        self._hint = ElidedLabel(role="muted")
        self._note = ""
        self._state = SpectrumState()
        self._by = tool_button("∑", "Let a penalty choose the weights once, from the bars", "By a penalty")
        self._by.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._by.setMenu(self._penalties())
        self.back = tool_button("↺", "", "To the rule")
        self.back.clicked.connect(lambda _checked: self.rule_requested.emit(self._state.rule))
        self._limit = Debounce(self._end_limit, SENTENCE_MILLISECONDS, self)
        canvas = self.canvas
        canvas.target_changed.connect(self._on_target_changed)
        canvas.handle_dragged.connect(self._on_handle_dragged)
        canvas.handle_released.connect(self._on_handle_released)
        # How many basis shapes or modes are kept; and which weight (0-based) is to follow the rule again.
        self.rank_requested, self.reset_requested = canvas.bar_clicked, canvas.handle_reset
        canvas.weight_step_requested.connect(self._on_weight_step_requested)
        canvas.focus_changed.connect(self._on_focus_changed)
        line = filled(QHBoxLayout(), self._hint, self._by, self.back, grows=self._hint, spacing=2)
        filled(QVBoxLayout(self), canvas, line, grows=canvas, spacing=0)
        self.setMaximumHeight(MOST_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._follow_theme()
        self._use_words(WNN)
        self._show()

    def _penalties(self) -> QMenu:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        for kind, penalty in PENALTIES.items():
            action = menu.addAction(penalty.title, partial(self.penalty_requested.emit, kind))
            if action is not None:
                action.setToolTip(penalty.formula)
        return menu

    def _use_words(self, objective: str) -> None:
        self._words = words = WORDS[objective]
        self._empty.setText(words.empty)
        self.canvas.setToolTip(words.tip)
        self.canvas.setWhatsThis(f"<p><b>Weights</b></p><p>{words.tip.replace(chr(10), ' ')}</p>")
        lowest, highest = (-1.0, 2.0) if objective == DEPTHS else (-3.0, 1.0)
        self._left, self._right = LogScale(-1.0, 1.0), LogScale(lowest, highest, zero=True)
        self._rest()

    @property
    def figure(self) -> PlotFigure:
        """The plot, for export."""
        return PlotFigure(self.canvas, self)

    @property
    def hint(self) -> str:
        """The sentence below the plot."""
        return self._hint.full_text

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights at the handles, (K,)."""
        return self._weights or self._state.run_weights

    def set_state(self, state: SpectrumState) -> None:
        """Show singular values and weights; a handle that is being dragged stays under the mouse."""
        if state.objective != self._state.objective:
            self._use_words(state.objective)
        self._state = state
        plain = "Let all modes weigh 1 again"
        rule = f"Let the weights follow the {TITLES[state.rule]} again"
        self.back.setToolTip(plain if state.objective == DEPTHS else rule)
        self.back.setVisible(state.kind == EXPLICIT)
        self._singular = None if state.singular_values is None else np.asarray(state.singular_values)
        if self.canvas.dragged_handle is None or len(state.weights) != len(self._weights):
            if state.weights != self._weights:
                self._end_limit()
            self._weights = state.weights
        self._show()

    def set_note(self, sentence: str) -> None:
        """Show a sentence below the plot while nothing in it is pointed at, "" for what can be done."""
        before, self._note = self._resting_hint, sentence
        if self.hint in (before, self._words.handle):
            self._rest()

    def _apply_theme(self, theme: Theme) -> None:
        apply_plot_theme(self.canvas, theme)
        plot = self.canvas.getPlotItem()
        for side, color in (("left", theme.estimate), ("right", theme.residual)):
            plot.getAxis(side).setTextPen(color)
        self.canvas.set_colors(theme)

    # -- drawing --------------------------------------------------------------------------------------------

    def _show(self) -> None:
        weights = np.asarray(self.weights)
        empty = self._singular is None and not self._weights
        self._empty.setVisible(empty)
        plot = self.canvas.getPlotItem()
        for side, there in (
            ("left", self._singular is not None),
            ("right", not empty),
            ("bottom", not empty),
        ):
            if plot.getAxis(side).isVisible() != there:
                plot.showAxis(side, there)
        self._hint.setVisible(not empty)
        self._by.setVisible(not empty and self._state.objective == DEPTHS)
        self._fit_scales(weights)
        self._draw()

    def _draw(self) -> None:
        bars, smallest, level = np.zeros(0), self._state.smallest, None
        if self._singular is not None:
            bars = self._left.shares(self._singular)
            level = None if smallest is None else float(self._left.shares(np.array([smallest]))[0])
        self.canvas.draw(
            SpectrumPicture(
                heights=bars,
                shares=self._right.shares(np.asarray(self.weights)),
                texts=tuple(f"{self._name(k)} = {short(weight)}" for k, weight in enumerate(self.weights)),
                kept=self._kept,
                level=level,
                meaning="smallest movement" if self.canvas.height() >= ROOMY else "",
                barrier=self._barrier,
                ticks={"left": self._left.ticks(), "right": self._right.ticks()},
                labels=self._words.labels,
                grows=self._state.objective == WNN,
            )
        )

    @property
    def _kept(self) -> int:
        """How many bars are not dropped."""
        if self._state.objective == WNN:
            return len(self.weights)
        return sum(weight < SUPPRESSED for weight in self.weights)

    def _fit_scales(self, weights: Floats) -> None:
        """Keep the scales while all values fit, so that nothing jumps between updates or during a drag."""
        smallest, modes = self._state.smallest, self._state.objective == DEPTHS
        if self._singular is not None:
            values = self._singular
            if smallest is not None:
                values = np.append(values[values > smallest / BELOW], smallest)
            wanted = decades_of(values, zero=False, margin=0.1 if modes else 0.3, least=1.0)
            self._left = self._left if self._left.holds(wanted, 0.5 if modes else 2.0) else wanted
        if weights.size and self.canvas.dragged_handle is None:
            margin, least = (0.0, 1.0) if modes else (WEIGHT_MARGIN, WEIGHT_SPAN)
            wanted = decades_of(weights, zero=True, margin=margin, least=least)
            inside = self._right.low <= wanted.low and wanted.high <= self._right.high
            if not (inside if modes else self._right.holds(wanted)):
                self._right = wanted

    def _name(self, handle: int) -> str:
        """Return the symbol of a weight: "a2", or of the last one of the modes "w6…"."""
        return f"{self._words.letter}{handle + 1}{'…' * self._is_of_others(handle)}"

    @property
    def _resting_hint(self) -> str:
        return self._note or (KEYS_HINT if self.canvas.hasFocus() else self._words.hint)

    def _rest(self) -> None:
        self._set_hint(self._resting_hint)

    def _set_hint(self, sentence: str, *, role: str = "muted") -> None:
        self._hint.set_full_text(sentence)
        set_property(self._hint, "role", role)

    # -- mouse and keys ------------------------------------------------------------------------------------

    def _on_target_changed(self, target: Target | None) -> None:
        if target is None:
            self._rest()
        elif target.kind == "handle":
            others = self._is_of_others(target.index)
            self._set_hint(
                f"Of mode {target.index + 1} and all smaller ones." if others else self._words.handle
            )
        else:
            self._set_hint(self._click_hint(target.index + 1, more=target.kind == "more"))

    def _is_of_others(self, handle: int) -> bool:
        """Return whether a weight is of all smaller modes, too."""
        return self._state.objective == DEPTHS and handle + 1 == len(self.weights)

    def _click_hint(self, count: int, *, more: bool) -> str:
        """Return what a click into the bar of a singular value or a mode does, or behind the last one."""
        if self._state.objective == DEPTHS:
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
        return f"All {count} are kept. Click in a bar to the left to keep fewer."

    def _on_handle_dragged(self, share: float, move_others: bool) -> None:
        handle = self.canvas.dragged_handle
        if handle is None:
            return
        if self._base is None or move_others != self._moves_others:  # what was moved so far stays
            self._moves_others, self._base = move_others, self.weights
            self._weights = self._base
        weight = min(self._right.value(share), self._words.scale.highest)
        self._move(handle, weight, self._base, move_others=move_others)

    def _on_handle_released(self) -> None:
        self._base = None
        self._show()  # the scale may have to follow now
        if self.hint == ALONG:  # where nothing is under the mouse, no other hint follows
            self._rest()

    def _on_weight_step_requested(self, percent: float, move_others: bool) -> None:
        handle = self.canvas.marked
        if handle is None:
            return
        weights, scale = self.weights, self._words.scale
        weight = weights[handle] * (1 + abs(percent) / 100) ** np.sign(percent)
        if weight == 0 and percent > 0:
            weight = scale.lowest
        weight = float(f"{weight:.4g}") if weight >= scale.lowest else 0.0
        self._move(handle, min(weight, scale.highest), weights, move_others=move_others)
        self._show()

    def _move(self, handle: int, wanted: float, base: tuple[float, ...], *, move_others: bool) -> None:
        """Set a weight to a value, or as near as the order allows; emit the weights if they changed."""
        barrier = None
        modes = self._state.objective == DEPTHS
        if modes and handle + 1 == len(base):
            wanted = max(wanted, self._words.scale.lowest)  # all smaller modes cost something
        move_others |= modes  # which have equal weights at first, where none could be moved alone
        if not move_others:
            wanted, barrier = limit_weight(base, handle, wanted)
        moved = (*base[:handle], wanted, *base[handle + 1 :])
        weights = enforce_order(moved, handle) if move_others else moved
        self._barrier = barrier
        if barrier is None:
            self._set_hint(ALONG if move_others else self._note or self._words.handle)
        else:
            self._limit.request()
            key = "Ctrl" if self.canvas.dragged_handle is None else "Shift"
            limit = describe_limit(base, handle, barrier, self._words.letter)
            self._set_hint(f"{limit} {key} moves both.", role="warning")
        changed, self._weights = weights != self._weights, weights
        self._draw()
        if changed:
            self.weights_edited.emit(weights)

    def _end_limit(self) -> None:
        """Clear what was shown of a weight that could go no further."""
        self._limit.cancel()
        self._barrier = None
        self._draw()
        if self._hint.property("role") == "warning":
            self._rest()

    def _on_focus_changed(self) -> None:
        if self.hint in (self._words.hint, KEYS_HINT):
            self._rest()

    def resizeEvent(self, event: object) -> None:
        """Name the line where there is room."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._show()
