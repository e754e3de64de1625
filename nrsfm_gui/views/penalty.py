"""The penalty on the singular values: its kind, its numbers, and the weights that follow from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from core.arrays import InputError
from core.penalties import ExplicitWeights, NuclearNorm, Penalty, TruncatedNuclearNorm, WeightedNuclearNorm

from .fields import Form, NumberField
from .sources import Choice
from .weights import WeightsEditor

if TYPE_CHECKING:
    from core.arrays import Floats
    from nrsfm_gui.theme import Theme

TITLES = {
    "wnn": "weighted nuclear norm",
    "nn": "nuclear norm",
    "tnn": "truncated nuclear norm",
    "explicit": "explicit weights",
}
EXPLANATIONS = {
    "wnn": "a_k = xi / (sigma_k(X0#) + gamma): large singular values cost less",
    "nn": "a_k = mu for every singular value",
    "tnn": "the first few singular values cost nothing, each further one mu",
    "explicit": "one weight per singular value, as the sliders below stand",
}
# name: label, whether whole, kinds that use it, tip
NUMBERS = {
    "xi": (
        "xi",
        False,
        ("wnn",),
        "Strength of the penalty, 0 or more. 0.005 in the paper; 0.5 keeps rank 4 to 6 safe.",
    ),
    "gamma": (
        "gamma",
        False,
        ("wnn",),
        "Added to the singular values before dividing, above 0, in their units.",
    ),
    "mu": (
        "mu",
        False,
        ("nn", "tnn"),
        "Weight of a penalized singular value, 0 or more. 0.001 in the paper.",
    ),
    "free": ("free", True, ("tnn",), "Number of singular values that cost nothing, 0 or more."),
}
DEFAULTS = {"xi": 0.5, "gamma": 1e-6, "mu": 1e-3, "free": 1}
NO_WEIGHTS_YET = "These weights follow from the data: a run shows them after the rotations are chosen."


def kind_of(penalty: Penalty) -> str:
    """Return the key of a penalty in `TITLES`."""
    kinds = {
        WeightedNuclearNorm: "wnn",
        NuclearNorm: "nn",
        TruncatedNuclearNorm: "tnn",
        ExplicitWeights: "explicit",
    }
    return kinds[type(penalty)]


class PenaltyEditor(QWidget):
    """Edits a penalty; `read` gives it or raises with the field to blame noted.

    Signals
    -------
    edited()
        something was typed or chosen.
    moved()
        a weight was dragged or typed: the penalty is explicit now.
    """

    edited = pyqtSignal()
    moved = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rank = 1
        self._derived_kind = "wnn"  # the last one that was not explicit
        self._reference: Floats | None = None  # (K,) sigma(X0#), as far as they are known
        self._singular: Floats | None = None
        self._choice = Choice(EXPLANATIONS, titles=TITLES)
        self._choice.chosen.connect(self._choose)
        self._form = Form()
        self._form.add("penalty", "penalty", self._choice, tip="What the singular values of X# cost.")
        self._fields: dict[str, NumberField] = {}
        for name, (label, whole, _kinds, tip) in NUMBERS.items():
            field = NumberField(whole=whole)
            field.set_value(DEFAULTS[name])
            field.edited.connect(self.edited)
            self._fields[name] = field
            self._form.add(name, label, field, tip=tip)
        self._weights = WeightsEditor()
        self._weights.weights_edited.connect(self._take_weights)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self._form)
        layout.addWidget(self._weights)
        self._show_kind()

    @property
    def weights_editor(self) -> WeightsEditor:
        """The rows of sliders."""
        return self._weights

    @property
    def reference(self) -> Floats | None:
        """(K,) sigma(X0#), as far as they are known."""
        return self._reference

    @property
    def form(self) -> Form:
        """The rows above the sliders."""
        return self._form

    def set_penalty(self, penalty: Penalty, rank: int) -> None:
        """Show a penalty for a rank."""
        self._rank = rank
        kind = kind_of(penalty)
        self._choice.set_key(kind)
        for name, (_label, _whole, kinds, _tip) in NUMBERS.items():
            if kind in kinds:
                self._fields[name].set_value(getattr(penalty, name))
            self._form.set_note(name, "")
        self._show_kind()
        self._show_weights(penalty)

    def set_spectrum(self, reference: Floats | None, singular_values: Floats | None) -> None:
        """Take sigma(X0#), from which weights follow, and the singular values of the reconstruction."""
        self._reference, self._singular = reference, singular_values
        try:
            self._show_weights(self.read(self._rank))
        except InputError:
            return  # the note beside the field says why

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self._weights.set_theme(theme)

    def read(self, rank: int) -> Penalty:
        """Return the penalty for a rank; explicit weights are cut, or continued with their last.

        Raises
        ------
        InputError
            where a number is refused; the sentence then stands below its field.
        """
        kind = self._choice.key
        if kind == "explicit":
            return self._read_explicit(rank)
        values = {name: self._number(name) for name, (_l, _w, kinds, _t) in NUMBERS.items() if kind in kinds}
        makers = {"wnn": WeightedNuclearNorm, "nn": NuclearNorm, "tnn": TruncatedNuclearNorm}
        penalty: Penalty = makers[kind](**values)
        return penalty

    def _read_explicit(self, rank: int) -> Penalty:
        weights = self._weights.weights or (DEFAULTS["mu"],)
        try:
            penalty = ExplicitWeights((weights + weights[-1:] * rank)[:rank])
        except InputError as refusal:
            self._weights.set_warning(str(refusal))
            raise
        self._weights.set_warning("")
        return penalty

    def _number(self, name: str) -> float | int:
        """Read one number, try it alone in its penalty, and note what is wrong with it."""
        kinds = NUMBERS[name][2]
        try:
            value = self._fields[name].value()
            assert value is not None  # no field here is optional
            maker = {"wnn": WeightedNuclearNorm, "nn": NuclearNorm, "tnn": TruncatedNuclearNorm}[kinds[-1]]
            maker(**{name: value})
        except ValueError as refusal:
            sentence = str(refusal)
            self._form.set_note(name, sentence)
            raise InputError(sentence) from None
        self._form.set_note(name, "")
        return value

    def show_weights(self, penalty: Penalty, rank: int) -> None:
        """Show what a penalty gives each singular value."""
        self._rank = rank
        self._show_weights(penalty)

    def _show_weights(self, penalty: Penalty) -> None:
        weights, note = self._derived(penalty)
        self._weights.set_values(weights, self._singular, note=note)

    def _derived(self, penalty: Penalty) -> tuple[Floats | tuple[float, ...], str]:
        if isinstance(penalty, WeightedNuclearNorm) and self._reference is None:
            return (), NO_WEIGHTS_YET
        reference = self._reference if self._reference is not None else np.ones(1)
        try:
            return penalty.weights(self._rank, reference), ""
        except InputError:
            return (), ""

    def _choose(self, kind: str) -> None:
        if kind == "explicit" and len(self._weights.weights) != self._rank:
            self._weights.set_values((DEFAULTS["mu"],) * self._rank, self._singular)
        self._show_kind()
        self.edited.emit()

    def _show_kind(self) -> None:
        """Show the numbers of a kind; explicit weights leave the rows before them, so that nothing moves."""
        kind = self._choice.key
        if kind != "explicit":
            self._derived_kind = kind
        for name, (_label, _whole, kinds, _tip) in NUMBERS.items():
            self._form.set_row_visible(name, self._derived_kind in kinds)
            self._form.set_row_enabled(name, kind in kinds)
            if kind not in kinds:
                self._form.set_note(name, "")

    def _take_weights(self, _weights: tuple[float, ...]) -> None:
        self._choice.set_key("explicit")
        self._show_kind()
        self.moved.emit()
