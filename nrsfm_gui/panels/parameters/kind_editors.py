"""Choices of a kind with the parameters of what is chosen: the method and the penalty.

Their rows are in two forms: the kind and what is changed often, and, for a section that is folded, the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from PyQt6.QtWidgets import QVBoxLayout

from core import METHODS, PENALTIES, ExplicitWeights, InputError, NuclearNorm, Penalty, WeightedNuclearNorm
from core.foundation import Floats, Parameter, ParameterValue, parameters_of
from core.penalties import EXPLICIT, is_spectral, penalty_name
from core.reconstruction import RECOMMENDED_PENALTY
from nrsfm_gui.model.numbers import format_number
from nrsfm_gui.panels.parameters.value_editors import EditorGroup, TextField, editor_of
from nrsfm_gui.panels.parameters.weights_list import WeightsList, enforce_order
from nrsfm_gui.widgets.fields import Choice, NumberField, filled
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


class KindEditor(EditorGroup):
    """A choice with rows below it: for every kind those of its parameters.

    The choice and the parameters that are changed often are in `usual`, the others in `rare`, for a section
    that is folded. A field that is `optional` has its default where it is empty.
    """

    def __init__(
        self, name: str, tip: str, choice: Choice, parameters: Mapping[str, Parameter],
        *, rare: Collection[str], optional: bool,
    ) -> None:  # fmt: skip
        super().__init__()
        self._choice, self._optional = choice, optional
        self.usual, self.rare = Form(), Form()
        self.usual.add(name, name, choice, tip=tip)
        self.fields: dict[str, NumberField | TextField | Choice] = {}  # of the parameters
        self._forms = {each: self.rare if each in rare else self.usual for each in parameters}
        for each, described in parameters.items():
            editor = editor_of(described, optional=optional)
            self.watch(editor)
            self.fields[each] = editor
            self._forms[each].add_parameter(described, editor, None)
        filled(QVBoxLayout(self), self.usual)

    def show_rows(
        self, own: Mapping[str, Parameter], values: Mapping[str, Any], defaults: Mapping[str, Any]
    ) -> None:
        """Show the rows of the parameters of the chosen kind, with their values, and no others."""
        for name, form in self._forms.items():
            form.set_row_visible(name, name in own)
            form.set_message(name, "")
            if name in own:
                editor, default = self.fields[name], defaults[name]
                editor.set_value(values[name])
                if not self._optional:
                    form.describe(own[name], default)
                    continue
                form.set_tip(name, f"{own[name].tip} {value_details(own[name], default)}")
                if isinstance(editor, NumberField):
                    editor.setPlaceholderText(f"default: {format_number(default)}")

    def read_rows(self, own: Mapping[str, Parameter]) -> dict[str, ParameterValue]:
        """Return the parameters that are not empty. Raises InputError, and tells why below the field."""
        values, refusals = {}, []
        for name, described in own.items():
            sentence = ""
            try:
                value = self.fields[name].value()
                if value is not None:
                    values[name] = described.checked(value)
            except ValueError as refusal:  # InputError is one
                sentence = str(refusal)
                refusals.append(sentence)
            self._forms[name].set_message(name, sentence)
        if refusals:
            raise InputError(refusals[0])
        return values


class MethodEditor(KindEditor):
    """Edits a method and its options; an option that is left empty is the method's default."""

    def __init__(self) -> None:
        choice = Choice({}, explained=True)
        for heading, recommended in GROUPS.items():
            choice.add_heading(heading)
            for name, method in METHODS.items():
                if method.recommended is recommended:
                    choice.add(name, method.title, method.meaning)
        every = {name: option for own in OPTIONS.values() for name, option in own.items()}
        super().__init__("method", METHOD_TIP, choice, every, rare=every, optional=True)
        choice.chosen.connect(self._on_method_chosen)
        self._show_options({})

    @property
    def method(self) -> str:
        """The key of the chosen method."""
        return self._choice.key

    def set_method(self, method: str, options: Options) -> None:
        """Show a method and those of its options that are not its defaults."""
        self._choice.set_key(method)
        self._show_options(dict(options))

    def read(self) -> Options:
        """Return the options that are not empty. Raises InputError where one is refused."""
        return tuple(self.read_rows(OPTIONS[self.method]).items())

    def _on_method_chosen(self, _key: str) -> None:
        """Keep what was set of the options that the chosen method has too."""
        before, given = self._shown, {}
        for name, option in OPTIONS[before].items():
            try:
                (value,) = self.read_rows({name: option}).values()
            except ValueError:  # it is refused, or empty
                continue
            if value != METHODS[before].default(name):
                given[name] = value
        self._show_options(given)
        self.chosen.emit()

    def _show_options(self, given: dict[str, ParameterValue]) -> None:
        """Show the rows of the chosen method, with the values that are given of them."""
        self._shown, own = self.method, OPTIONS[self.method]
        defaults = {name: METHODS[self.method].default(name) for name in own}
        self.show_rows(own, defaults | given, defaults)


class PenaltyEditor(KindEditor):
    """Edits a penalty; `read` returns it, or raises after it has marked the invalid field."""

    def __init__(self) -> None:
        choice = Choice(EXPLANATIONS, titles=TITLES, explained=True)
        super().__init__("penalty", PENALTY_TIP, choice, NUMBERS, rare=RARE_NUMBERS, optional=False)
        self._rank = 1
        self._derived_kind = "wnn"  # the last one that was not explicit
        self._known = dict(FIRST)  # the last accepted numbers of each kind
        self.reference: Floats | None = None  # (K,) sigma(X0#), as far as they are known
        self._singular: Floats | None = None
        choice.chosen.connect(self._choose)
        self.choose = choice.choose
        self.weights_list = WeightsList()
        self.weights_list.weights_edited.connect(self._apply_weights)
        self.set_penalty(RECOMMENDED_PENALTY, 1)

    @property
    def refused_in_rare(self) -> bool:
        """Whether a weight, or a number that is not changed often, is refused."""
        return bool(self.weights_list.warning.text()) or any(self.rare.note(name) for name in self.rare.rows)

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
        kind = self._choice.key
        if kind != EXPLICIT:
            penalty: Penalty = PENALTIES[kind](**self.read_rows(parameters_of(PENALTIES[kind])))
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
        if k < min(len(given), len(weights)) and self._choice.key == EXPLICIT:
            moved = enforce_order((*weights[:k], float(given[k]), *weights[k + 1 :]), k)
            self.weights_list.set_values(moved, self._singular)
            self.dragged.emit()

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
        penalties = self._known[self._derived_kind], FIRST[self._derived_kind]
        self.show_rows(parameters_of(PENALTIES[self._derived_kind]), *map(vars, penalties))
        for name, form in self._forms.items():
            form.set_row_enabled(name, kind != EXPLICIT)

    def _apply_weights(self, _weights: tuple[float, ...]) -> None:
        if self._choice.key != EXPLICIT:
            self._choice.set_key(EXPLICIT)
            self._show_kind()
        self.dragged.emit()


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
