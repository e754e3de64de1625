"""Choices of a kind with the parameters of what is chosen: the method and the penalty.

Their rows are in two forms: the kind and what is changed often, and, for a section that is folded, the rest.
Only the rows of the chosen kind are shown and read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from core import METHODS, PENALTIES, ExplicitWeights, InputError, NuclearNorm, Penalty, WeightedNuclearNorm
from core.foundation import Floats, Parameter, ParameterValue, parameters_of
from core.penalties import EXPLICIT, is_spectral, penalty_name
from core.reconstruction import RECOMMENDED_PENALTY
from nrsfm_gui.model.numbers import format_number
from nrsfm_gui.panels.parameters.value_editors import ParameterRows
from nrsfm_gui.panels.parameters.weights_list import WeightsList, enforce_order
from nrsfm_gui.widgets.fields import Choice, NumberField
from nrsfm_gui.widgets.form import Form, value_details

Options = tuple[tuple[str, "ParameterValue"], ...]

GROUPS = {"Recommended": True, "For comparison": False}
METHOD_TIP = "How the minimum is searched."
OPTIONS = {method: {option.name: option for option in row.options} for method, row in METHODS.items()}

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


class MethodEditor:
    """Edits a method and its options; an option that is left empty is the method's default."""

    def __init__(self, rows: ParameterRows, form: Form, folded: Form) -> None:
        self._rows = rows
        self.choice = choice = Choice({}, explained=True)
        for heading, recommended in GROUPS.items():
            choice.add_heading(heading)
            for name, method in METHODS.items():
                if method.recommended is recommended:
                    choice.add(name, method.title, method.meaning)
        form.add("method", "method", choice, tip=METHOD_TIP)
        self._every = {name: option for own in OPTIONS.values() for name, option in own.items()}
        for option in self._every.values():
            rows.add(folded, replace(option, optional=True), None)
        choice.chosen.connect(self._on_method_chosen)
        choice.chosen.connect(rows.chosen)
        self._show_options({})

    def set_method(self, method: str, options: Options) -> None:
        """Show a method and those of its options that are not its defaults."""
        self.choice.set_key(method)
        self._show_options(dict(options))

    def read(self) -> tuple[Options, list[str]]:
        """Return the options that are not empty, and why others are refused."""
        checks = {name: option.checked for name, option in OPTIONS[self._shown].items()}
        values, refusals = self._rows.read(checks)
        return tuple((name, value) for name, value in values.items() if value is not None), refusals

    def _on_method_chosen(self, _key: str) -> None:
        """Keep what was set of the options that the chosen method has too."""
        before, (given, _refusals) = METHODS[self._shown], self.read()
        self._show_options({name: value for name, value in given if value != before.default(name)})

    def _show_options(self, given: dict[str, ParameterValue]) -> None:
        """Show the rows of the chosen method, with the values that are given of them."""
        self._shown = method = self.choice.key
        own = OPTIONS[method]
        defaults: dict[str, Any] = {name: METHODS[method].default(name) for name in own}
        self._rows.show_kind(self._every, own, defaults | given)
        for name, option in own.items():
            editor, details = self._rows.editors[name], value_details(option, defaults[name])
            self._rows.forms[name].set_tip(name, f"{option.tip} {details}")
            if isinstance(editor, NumberField):
                editor.setPlaceholderText(f"default: {format_number(defaults[name])}")


class PenaltyEditor:
    """Edits a penalty; `read` returns it, or raises after it has marked the invalid field."""

    def __init__(self, rows: ParameterRows, form: Form, folded: Form) -> None:
        self._rows = rows
        self.choice = choice = Choice(EXPLANATIONS, titles=TITLES, explained=True)
        form.add("penalty", "penalty", choice, tip=PENALTY_TIP)
        for name, described in NUMBERS.items():
            rows.add(folded if name in RARE_NUMBERS else form, described, None)
        self._rank = 1
        self._derived_kind = "wnn"  # the last one that was not explicit
        self._known = dict(FIRST)  # the last accepted numbers of each kind
        self.reference: Floats | None = None  # (K,) sigma(X0#), as far as they are known
        self._singular: Floats | None = None
        self.weights_list = WeightsList()
        choice.chosen.connect(self._on_kind_chosen)
        choice.chosen.connect(rows.edited)
        self.weights_list.weights_edited.connect(self._on_weights_edited)
        self.weights_list.weights_edited.connect(rows.dragged)
        self.set_penalty(RECOMMENDED_PENALTY, 1)

    def set_penalty(self, penalty: Penalty, rank: int) -> None:
        """Show a penalty for a rank; explicit weights are cut, or continued with their last."""
        self._rank = rank
        if isinstance(penalty, ExplicitWeights):
            penalty = penalty.with_rank(rank)
        kind = penalty_name(penalty)
        self.choice.set_key(kind)
        if kind != EXPLICIT:
            self._known[kind] = penalty
        self._show_kind()
        self.show_weights(penalty, rank)

    def set_spectrum(self, reference: Floats | None, singular_values: Floats | None) -> None:
        """Set the singular values (K,) of the reconstruction, and sigma(X0#), which the weights follow from.

        Where a run does not know sigma(X0#), that of an earlier run of the sequence is kept.
        """
        self.reference = self.reference if reference is None else reference
        self._singular = singular_values
        try:
            self.show_weights(self.read(self._rank), self._rank)
        except InputError:
            return  # the message below the field has the reason

    def read(self, rank: int) -> Penalty:
        """Return the penalty for a rank; explicit weights are cut, or continued with their last."""
        kind = self.choice.key
        if kind != EXPLICIT:
            own = parameters_of(PENALTIES[kind])
            values, refusals = self._rows.read({name: number.checked for name, number in own.items()})
            if refusals:
                raise InputError(refusals[0])
            penalty: Penalty = PENALTIES[kind](**values)
            self._known[kind] = penalty
            return penalty
        self.weights_list.warning.show_text("")
        try:
            return ExplicitWeights(self.weights_list.weights or (NuclearNorm().mu,)).with_rank(rank)
        except InputError as refusal:
            self.weights_list.warning.show_text(str(refusal))
            raise

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
        if k < min(len(given), len(weights)) and self.choice.key == EXPLICIT:
            moved = enforce_order((*weights[:k], float(given[k]), *weights[k + 1 :]), k)
            self.weights_list.set_values(moved, self._singular)

    def _on_kind_chosen(self, kind: str) -> None:
        if kind == EXPLICIT and len(self.weights_list.weights) != self._rank:
            self.weights_list.set_values((NuclearNorm().mu,) * self._rank, self._singular)
        self._show_kind()

    def _show_kind(self) -> None:
        """Show the numbers of a kind; explicit weights leave the rows before them, so that nothing moves."""
        kind = self.choice.key
        if kind != EXPLICIT:
            self._derived_kind = kind
        own, first = parameters_of(PENALTIES[self._derived_kind]), vars(FIRST[self._derived_kind])
        self._rows.show_kind(NUMBERS, own, vars(self._known[self._derived_kind]))
        for name in NUMBERS:
            form = self._rows.forms[name]
            form.set_row_enabled(name, kind != EXPLICIT)
            if name in own:
                form.describe(own[name], first[name])

    def _on_weights_edited(self, _weights: tuple[float, ...]) -> None:
        if self.choice.key != EXPLICIT:
            self.choice.set_key(EXPLICIT)
            self._show_kind()


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
