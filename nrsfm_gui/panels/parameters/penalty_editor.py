"""The editor of the penalty: its kind, its numbers, and the weights that follow from them.

Its rows are in two forms: the kind and the numbers that are changed often, and, for a section that is
folded, the other numbers and the list of the weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from core import PENALTIES, ExplicitWeights, InputError, NuclearNorm, Penalty, WeightedNuclearNorm
from core.foundation import Parameter, parameters_of
from core.penalties import EXPLICIT, is_spectral, penalty_name
from core.reconstruction import RECOMMENDED_PENALTY
from nrsfm_gui.panels.parameters.weights_list import WeightsList, enforce_order
from nrsfm_gui.widgets.drag_number import scale_of
from nrsfm_gui.widgets.fields import Choice, NumberField, filled
from nrsfm_gui.widgets.form import Form, value_details

if TYPE_CHECKING:
    from core.foundation import Floats

KINDS = PENALTIES | {EXPLICIT: ExplicitWeights}
TITLES = {name: kind.title for name, kind in KINDS.items()}
EXPLANATIONS = {name: kind.formula for name, kind in KINDS.items()}
# Every number once, in the order of the penalties.
NUMBERS: dict[str, Parameter] = {
    name: described for kind in PENALTIES.values() for name, described in parameters_of(kind).items()
}
RARE_NUMBERS = ("gamma", "epsilon")  # what keeps weights finite at 0
PENALTY_TIP = "What is added to the loss for large singular values of X#: it keeps the shape simple."
FIRST = {name: kind() for name, kind in PENALTIES.items()} | {"wnn": RECOMMENDED_PENALTY}
NO_WEIGHTS_YET = "These weights follow from the data: a run shows them once it iterates."
NO_SLOPES_YET = "The weights of this penalty follow the singular values: a run shows them."
SLOPES = "These weights are the slopes of the penalty at the singular values; they follow them."


class PenaltyEditor(QWidget):
    """Edits a penalty; `read` returns it, or raises after it has marked the invalid field."""

    edited = pyqtSignal()  # something was typed or chosen
    moved = pyqtSignal()  # a number was dragged, or a weight was dragged or typed: it counts at once

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rank = 1
        self._derived_kind = "wnn"  # the last one that was not explicit
        self._known = dict(FIRST)  # the last accepted numbers of each kind
        self.reference: Floats | None = None  # (K,) sigma(X0#), as far as they are known
        self._singular: Floats | None = None
        self._choice = Choice(EXPLANATIONS, titles=TITLES, explained=True)
        self._choice.chosen.connect(self._choose)
        self.choose = self._choice.choose
        # The kind and the numbers that are changed often; the others, for a section that is folded.
        self.usual, self.rare = Form(), Form()
        self.usual.add("penalty", "penalty", self._choice, tip=PENALTY_TIP)
        self.fields: dict[str, NumberField] = {}  # of the penalties' numbers
        self._forms: dict[str, Form] = {}  # that the row of a number is in
        for name, described in NUMBERS.items():
            field = NumberField(integer=described.integer)
            field.edited.connect(self.edited)
            field.dragged.connect(self.moved)
            self.fields[name] = field
            scale = scale_of(described)
            form = self._forms[name] = self.rare if name in RARE_NUMBERS else self.usual
            form.add_draggable(name, described.title, field, scale, tip="", default=scale.lowest)
        self.weights_list = WeightsList()
        self.weights_list.weights_edited.connect(self._apply_weights)
        filled(QVBoxLayout(self), self.usual)
        self.set_penalty(RECOMMENDED_PENALTY, 1)

    @property
    def refused_in_rare(self) -> bool:
        """Whether a weight, or a number that is not changed often, is refused."""
        return self.weights_list.refused or any(self.rare.note(name) for name in self.rare.names)

    def set_penalty(self, penalty: Penalty, rank: int) -> None:
        """Show a penalty for a rank; explicit weights are cut, or continued with their last."""
        self._rank = rank
        if isinstance(penalty, ExplicitWeights):
            penalty = penalty.with_rank(rank)
        kind = penalty_name(penalty)
        self._choice.set_key(kind)
        if kind != EXPLICIT:
            self._known[kind] = penalty
        self._show_kind()
        self.show_weights(penalty, rank)

    def set_spectrum(self, reference: Floats | None, singular_values: Floats | None) -> None:
        """Set sigma(X0#), which the weights follow from, and the singular values of the reconstruction."""
        self.reference, self._singular = reference, singular_values
        try:
            self.show_weights(self.read(self._rank), self._rank)
        except InputError:
            return  # the message below the field has the reason

    def read(self, rank: int) -> Penalty:
        """Return the penalty for a rank; explicit weights are cut, or continued with their last.

        Raises InputError where a number is refused; the reason is then shown below its field.
        """
        kind = self._choice.key
        if kind == EXPLICIT:
            return self._read_explicit(rank)
        values = {name: self._number(name) for name in parameters_of(PENALTIES[kind])}
        penalty: Penalty = PENALTIES[kind](**values)
        self._known[kind] = penalty
        return penalty

    def _read_explicit(self, rank: int) -> Penalty:
        weights = self.weights_list.weights or (NuclearNorm().mu,)
        try:
            penalty = ExplicitWeights(weights).with_rank(rank)
        except InputError as refusal:
            self.weights_list.set_warning(str(refusal))
            raise
        self.weights_list.set_warning("")
        return penalty

    def _number(self, name: str) -> float | int:
        """Read one number, try it alone in its penalty, and note what is wrong with it."""
        try:
            value = self.fields[name].value()
            assert value is not None  # no field here is optional
            PENALTIES[self._choice.key](**{name: value})
        except ValueError as refusal:
            sentence = str(refusal)
            self._forms[name].set_message(name, sentence)
            raise InputError(sentence) from None
        self._forms[name].set_message(name, "")
        return value

    def show_weights(self, penalty: Penalty, rank: int) -> None:
        """Show what a penalty gives each singular value."""
        self._rank = rank
        weights, note = derive_weights(penalty, rank, self.reference, self._singular)
        self.weights_list.set_values(weights, self._singular, note=note)

    def reset_weight(self, k: int) -> None:
        """Reset a weight (0-based) to the value of the last rule, where that is known, and others with it."""
        rule = self._known[self._derived_kind]
        given, _note = derive_weights(rule, self._rank, self.reference, self._singular)
        weights = self.weights_list.weights
        if k < min(len(given), len(weights)) and self._choice.key == EXPLICIT:
            moved = enforce_order((*weights[:k], float(given[k]), *weights[k + 1 :]), k)
            self.weights_list.set_values(moved, self._singular)
            self.moved.emit()

    def _choose(self, kind: str) -> None:
        if kind == EXPLICIT and len(self.weights_list.weights) != self._rank:
            self.weights_list.set_values((NuclearNorm().mu,) * self._rank, self._singular)
        self._show_kind()
        self.edited.emit()

    def _show_kind(self) -> None:
        """Show the numbers of a kind; explicit weights leave the rows before them, so that nothing moves."""
        kind = self._choice.key
        if kind != EXPLICIT:
            self._derived_kind = kind
        shown, known = parameters_of(PENALTIES[self._derived_kind]), self._known[self._derived_kind]
        for name, form in self._forms.items():
            form.set_row_visible(name, name in shown)
            form.set_row_enabled(name, kind != EXPLICIT)
            form.set_message(name, "")
            if name in shown:
                first = getattr(FIRST[self._derived_kind], name)
                self.fields[name].set_value(getattr(known, name))
                form.set_tip(name, shown[name].tip, details=value_details(shown[name], first))
                form.set_default(name, float(first))

    def _apply_weights(self, _weights: tuple[float, ...]) -> None:
        if self._choice.key != EXPLICIT:
            self._choice.set_key(EXPLICIT)
            self._show_kind()
        self.moved.emit()


def derive_weights(
    penalty: Penalty, rank: int, reference: Floats | None, singular_values: Floats | None
) -> tuple[Floats | tuple[float, ...], str]:
    """Return what a penalty gives each singular value, empty where that is not known yet, and a sentence.

    `reference`: (K,) sigma(X0#), as far as they are known; `singular_values`: (K,) of the reconstruction,
    where there is one.
    """
    if is_spectral(penalty):
        if singular_values is None:
            return (), NO_SLOPES_YET
        return penalty.weights(rank, singular_values), SLOPES
    if isinstance(penalty, WeightedNuclearNorm) and reference is None:
        return (), NO_WEIGHTS_YET
    try:
        return penalty.weights(rank, np.ones(1) if reference is None else reference), ""
    except InputError:
        return (), ""
