"""The editor of the method and its options, as the table of methods defines them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from core import METHODS, InputError
from nrsfm_gui.model.numbers import format_number
from nrsfm_gui.panels.parameters.value_editors import WordChoice
from nrsfm_gui.widgets.fields import Choice, NumberField, filled
from nrsfm_gui.widgets.form import Form, value_details

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.foundation import Parameter, ParameterValue

Options = tuple[tuple[str, "ParameterValue"], ...]

GROUPS = {"Recommended": True, "For comparison": False}
METHOD_TIP = "How the minimum is searched."


class MethodEditor(QWidget):
    """Edits a method and its options; an option that is left empty is the method's default."""

    edited = pyqtSignal()  # something was typed
    chosen = pyqtSignal()  # another method, or another value of an option, was chosen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choice = Choice({}, explained=True)
        for heading, recommended in GROUPS.items():
            self._choice.add_heading(heading)
            for name, method in METHODS.items():
                if method.recommended is recommended:
                    self._choice.add(name, method.title, method.meaning)
        self._choice.chosen.connect(self._on_method_chosen)
        # The method, and its options for a section that is folded.
        self.usual, self.rare = Form(), Form()
        self.usual.add("method", "method", self._choice, tip=METHOD_TIP)
        self._editors: dict[str, NumberField | WordChoice] = {}
        for option in {each.name: each for method in METHODS.values() for each in method.options}.values():
            editor = self._editor(option)
            self._editors[option.name] = editor
            self.rare.add(option.name, option.name.replace("_", " "), editor, tip=option.tip)
        filled(QVBoxLayout(self), self.usual)
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
        """Return the options that are not empty.

        Raises InputError where one is refused; the reason is then shown below its field.
        """
        values, refusal = [], ""
        for option in METHODS[self.method].options:
            try:
                value = self._value(option)
                self.rare.set_message(option.name, "")
            except ValueError as error:  # InputError is one
                refusal = str(error)
                self.rare.set_message(option.name, refusal)
                continue
            if value is not None:
                values.append((option.name, value))
        if refusal:
            raise InputError(refusal)
        return tuple(values)

    def _editor(self, option: Parameter) -> NumberField | WordChoice:
        if option.choices:
            choice = WordChoice(dict.fromkeys(option.choices, option.tip))
            choice.chosen.connect(lambda _key: self.chosen.emit())
            return choice
        field = NumberField(integer=option.integer, optional=True)
        field.edited.connect(self.edited)
        return field

    def _value(self, option: Parameter) -> ParameterValue | None:
        value = self._editors[option.name].value()
        return None if value is None else option.checked(value)

    def _on_method_chosen(self, _key: str) -> None:
        """Keep what was set of the options that the chosen method has too."""
        before, given = METHODS[self._shown], {}
        for option in before.options:
            try:
                value = self._value(option)
            except ValueError:
                continue
            if value is not None and value != before.default(option.name):
                given[option.name] = value
        self._show_options(given)
        self.chosen.emit()

    def _show_options(self, given: Mapping[str, ParameterValue]) -> None:
        """Show the rows of the chosen method, with the values that are given of them."""
        self._shown = self.method
        method = METHODS[self.method]
        own = {option.name: option for option in method.options}
        for name, editor in self._editors.items():
            self.rare.set_row_visible(name, name in own)
            if name not in own:
                self.rare.set_message(name, "")
                continue
            default = method.default(name)
            value = given.get(name, default)
            if isinstance(editor, WordChoice):
                editor.set_value(value)
            else:
                editor.set_value(float(value))
                editor.setPlaceholderText(f"default: {format_number(float(default))}")
            self.rare.set_tip(name, f"{own[name].tip} {value_details(own[name], default)}")
