"""The panel Guidance: a parameter, its values, the curve of held-out errors, the recommendation."""

from __future__ import annotations

import numpy as np
from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QProgressBar,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core.evaluation import HIDING, OBJECTIVE, values_in_range
from core.reconstruction import SETTINGS
from nrsfm_gui.panels.guidance.guidance_plot import GuidanceCurves, GuidancePlot
from nrsfm_gui.text.guidance_text import TITLES
from nrsfm_gui.widgets.fields import Choice, NumberField, explained, filled, push_button
from nrsfm_gui.widgets.labels import ClampedLabel, PlainLabel
from nrsfm_gui.widgets.style import set_property

EMPTY = (
    "Which value suits these tracks, without ground truth? A part of them is hidden, the rest is solved for "
    "several values of a parameter, and the curve shows how well what was hidden is predicted."
)
NOT_YET = "Guidance starts from a reconstruction with its rotations chosen: run one first."
UNREFINED = "The depths are not the objective: choose them in Parameters"
MEANINGS = {
    "xi": "the strength of the penalty",
    "mu": "the strength of the penalty",
    "scale": "a factor on all explicit weights",
    "rank": "the number of basis shapes",
    "eta": "the pOSE weight",
    OBJECTIVE: "what is minimized: the energy of the depths, or the weighted nuclear norm",
    "isometry": "the weight of the lengths between neighbors in the energy of the depths",
    "smallest_movement": "deviations well below it cost nothing in the energy of the depths",
    "noise": "the noise that the energy of the depths expects in the tracks",
    "neighbors": "the neighbors of a point whose distances the energy of the depths keeps",
}
HIDING_TITLES = {"tracks": "hide tracks", "blocks": "hide blocks", "entries": "hide entries"}
USE_TIP = (
    "Put the value with the ring into Parameters: among those that predict equally well, the strongest.\n"
    "It is judged by hidden tracks, which give little information on depth: check the shapes as well"
)
MOST_VALUES = 40
FIELD_WIDTH, COUNT_WIDTH = 54, 38
LEAST_CHOICE_WIDTH = 66


class GuidancePanel(QWidget):
    """Controls, a curve and a recommendation. `header` is the line above, placed by the window."""

    compute_requested = pyqtSignal(str, object, str)  # the parameter, a tuple of values, and what is hidden
    cancel_requested = pyqtSignal()  # the series is to be stopped
    use_requested = pyqtSignal()  # the recommended value is to be used
    parameter_chosen = pyqtSignal(str)  # another parameter was chosen
    truth_toggled = pyqtSignal(bool)  # whether the 3-D error is shown

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._available = False
        self._touched = False  # whether a range was typed
        self._computing = False
        self.plot = GuidancePlot()
        choice = Choice(MEANINGS, titles=TITLES)
        self._parameter = explained(choice, "parameter", "The parameter that the curve is over")
        self._parameter.setMinimumContentsLength(6)
        self._parameter.chosen.connect(self._on_parameter_chosen)
        choice = Choice(HIDING, titles=HIDING_TITLES)
        self._hiding = explained(choice, "what is hidden", "What is hidden: " + ";\n".join(HIDING.values()))
        self._hiding.setMinimumContentsLength(8)
        self._low = _field("lowest value", "The lowest value that is tried")
        self._high = _field("highest value", "The highest value that is tried")
        tip = "How many values are tried; of the rank, every one in the range"
        self._count = _field("number of values", tip)
        for field in (self._low, self._high, self._count):
            field.edited.connect(self._on_range_edited)
        self._compute = push_button("Compute", "Solve for all values; the window stays free", self._request)
        self._cancel = push_button("Cancel", "Stop, and keep the results so far", self.cancel_requested.emit)
        self._use = push_button("Use it", USE_TIP, self.use_requested.emit)
        self._truth = QCheckBox("Truth")
        self._truth.setToolTip(
            "Show the 3-D error too (per-frame similarity), on the right axis: it does not enter the "
            "recommendation"
        )
        self._truth.toggled.connect(self.plot.set_with_truth)
        self._truth.toggled.connect(self.truth_toggled)
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._left = PlainLabel(role="muted")
        self._line = ClampedLabel()
        self._build()
        self.setMinimumSize(240, 150)
        self.set_curves(None)
        self.set_sentence("", usable=False)
        self.set_progress(None)
        self.set_available(False)

    # -- setters --------------------------------------------------------------------------------------------

    @property
    def parameter(self) -> str:
        """The chosen parameter."""
        return self._parameter.key

    @property
    def with_truth(self) -> bool:
        """Whether the 3-D error is to be shown."""
        return self._truth.isChecked() and not self._truth.isHidden()

    @property
    def sentence(self) -> str:
        """The recommendation."""
        return self._line.label.text()

    def set_parameters(self, names: list[str] | tuple[str, ...]) -> None:
        """Offer parameters; where the chosen one is not among them, the first is chosen."""
        for name in TITLES:
            unrefined = OBJECTIVE in names and name in SETTINGS
            why_not = UNREFINED if unrefined else "Not a parameter of this problem"
            self._parameter.set_available(name, name in names, why_not=why_not)
        if self._parameter.key not in names:
            self._parameter.set_key(names[0])
            self._touched = False
        self._show_situation()

    def suggest(self, low: float, high: float, count: int) -> None:
        """Put a range into the fields, where none was typed."""
        if not self._touched:
            for field, value in ((self._low, low), (self._high, high), (self._count, count)):
                field.set_value(value)
            self._show_situation()

    def set_available(self, available: bool) -> None:
        """Set whether there is a reconstruction to start from."""
        self._available = available
        self.plot.set_empty(EMPTY if available else f"{EMPTY} {NOT_YET}")
        self._show_situation()

    def set_curves(self, curves: GuidanceCurves | None) -> None:
        """Draw a curve, or none."""
        self.plot.set_curves(curves)
        self._use.setVisible(curves is not None)
        self._truth.setVisible(curves is not None and curves.truth is not None)

    def set_progress(self, progress: tuple[int, int, str] | None) -> None:
        """Show the number of finished solves and the time left; None while nothing is computed."""
        self._computing = progress is not None
        self._top.setCurrentIndex(int(self._computing))
        self._cancel.setVisible(self._computing)
        self._compute.setVisible(not self._computing)
        if progress is not None:
            done, count, left = progress
            self._progress.setMaximum(count)
            self._progress.setValue(done)
            words = f"{done} of {count} solves" + (f", {left} left" if left else "")
            self._progress.setAccessibleDescription(words)
            self._left.setText(words)
        self._show_situation()

    def set_sentence(self, sentence: str, *, usable: bool, warning: bool = False) -> None:
        """Show the recommendation of the curve, or why there is none."""
        self._line.set_text(sentence)
        self._line.setVisible(bool(sentence))
        set_property(self._line.label, "role", "warning" if warning else "")
        self._use.setEnabled(usable)

    # -- making ---------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.header = QWidget()
        bar = filled(QHBoxLayout(self.header), margins=(8, 2, 4, 2))
        for choice in (self._parameter, self._hiding):
            choice.setMinimumWidth(LEAST_CHOICE_WIDTH)
            bar.addWidget(choice, 1)
        bar.addWidget(self._cancel)
        bar.addWidget(self._compute)
        self._range: list[QWidget] = []  # what is hidden where values are words
        for text, field in (("from", self._low), ("to", self._high), ("values", self._count)):
            label = PlainLabel(text, role="muted")
            label.setBuddy(field)
            self._range += [label, field]
        self._words = PlainLabel(f"values {' and '.join(SETTINGS[OBJECTIVE].choices)}", role="muted")
        self._top = QStackedWidget()  # the range, or how far it is
        for parts in (
            (*self._range, self._words, None, self._truth, self._use), (self._progress, self._left)
        ):  # fmt: skip
            row = QWidget()
            filled(QHBoxLayout(row), *parts, grows=self._progress, spacing=6, margins=(8, 2, 8, 2))
            self._top.addWidget(row)
        self._top.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        filled(QVBoxLayout(self), self._top, self._line, self.plot, grows=self.plot, spacing=0)

    # -- what happens in it ---------------------------------------------------------------------------------

    def _on_parameter_chosen(self, parameter: str) -> None:
        self._touched = False
        self._show_situation()
        self.parameter_chosen.emit(parameter)

    def _on_range_edited(self) -> None:
        self._touched = True
        self._show_situation()

    def _request(self) -> None:
        values = self._values()
        if values:
            self.compute_requested.emit(self.parameter, values, self._hiding.key)

    def _values(self) -> tuple[float, ...]:
        """Return the values of the fields, () where the fields are not valid."""
        if self.parameter == OBJECTIVE:
            return values_in_range(OBJECTIVE, 0, 1, 2)
        by_one = self.parameter == "rank"
        try:
            low, high = self._low.value(), self._high.value()
            count = MOST_VALUES if by_one else self._count.value()
        except ValueError:
            return ()
        assert low is not None and high is not None and count is not None  # no field here is optional
        if not (np.isfinite([low, high]).all() and 0 < low < high and 2 <= count <= MOST_VALUES):
            return ()
        if by_one and high - low >= MOST_VALUES:
            return ()
        return values_in_range(self.parameter, low, high, int(count))

    def _show_situation(self) -> None:
        values = self._values()
        self._compute.setEnabled(self._available and bool(values))
        if not self._available:
            tip = NOT_YET
        elif not values:
            tip = f"The range must ascend from above 0, with 2 to {MOST_VALUES} values"
        else:
            tip = f"Solve for {len(values)} values; the window stays free"
        self._compute.setToolTip(tip)
        for field in (self._low, self._high, self._count, self._parameter, self._hiding):
            field.setEnabled(not self._computing)
        self._count.setEnabled(not self._computing and self.parameter != "rank")
        for widget in self._range:
            widget.setVisible(self.parameter != OBJECTIVE)
        self._words.setVisible(self.parameter == OBJECTIVE)


def _field(name: str, tip: str) -> NumberField:
    integer = name == "number of values"
    field = explained(NumberField(integer=integer), name, tip)
    field.setFixedWidth(COUNT_WIDTH if integer else FIELD_WIDTH)
    field.setAlignment(Qt.AlignmentFlag.AlignLeft)
    field.setObjectName(f"guidance {name}")
    return field
