"""The editors of parameters: texts, words, K that is given, where something comes from; and their rows."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from core import Settings
from core.foundation import Parameter, printable
from nrsfm_gui.model.numbers import format_number
from nrsfm_gui.widgets.dialogs import ask_for_path
from nrsfm_gui.widgets.fields import Choice, NumberField, filled, grid_layout, with_tip
from nrsfm_gui.widgets.focal_length_editor import FocalLengthEditor
from nrsfm_gui.widgets.form import Form
from nrsfm_gui.widgets.labels import PlainLabel, known, plain_tip

Intrinsics = tuple[float, float, float, float]

CENTER_TIP = (
    "Principal point: where the camera's axis meets the picture, in pixels from its upper left corner."
)
FILE, NUMBERS = "\0file", "\0numbers"


class TextField(QLineEdit):
    """A line for a text, which is None where it is empty."""

    edited = pyqtSignal()

    def __init__(self, absent: str) -> None:
        super().__init__()
        self.setPlaceholderText(absent)
        self.textEdited.connect(self.edited)

    def value(self) -> object:
        """Return what was typed, None where nothing was."""
        return self.text().strip() or None

    def set_value(self, value: Any, /) -> None:
        """Show a text; where it is the same, the cursor stays."""
        if self.text() != (value or ""):
            self.setText(value or "")


class ModesField(TextField):
    """A line for the weights of the modes."""

    def value(self) -> tuple[float, ...]:
        """Return the weights. Raises ValueError where they are no numbers."""
        text = self.text().strip().strip(",")
        try:
            return tuple(map(float, text.split(","))) if text else Settings().mode_weights
        except ValueError:
            raise ValueError(f"weights are {text!r}; accepted are numbers such as 1, 1, 20") from None

    def set_value(self, value: Any, /) -> None:
        """Show weights; where the text has these already, the cursor stays."""
        try:
            shown = self.value()
        except ValueError:
            shown = ()
        if value != shown:
            self.setText("" if value == Settings().mode_weights else ", ".join(map(format_number, value)))


class GivenIntrinsics(QWidget):
    """Edits fx, fy, cx and cy; the ratio of fx and fy stays what it is."""

    edited = pyqtSignal()  # something was typed, whether or not it is accepted

    def __init__(self) -> None:
        super().__init__()
        self._focals: tuple[float, float] | None = None  # until the focal length is edited
        self._ratio = 1.0  # of fy to fx
        self.known = False  # whether some numbers were set or typed
        self._focal = FocalLengthEditor()
        self._cx, self._cy = NumberField(), NumberField()
        self.set_side = self._focal.set_side
        layout = grid_layout(self, 6, 4)
        layout.addWidget(self._focal, 0, 0, 1, 3)
        label = PlainLabel("center")
        label.setToolTip(CENTER_TIP)
        layout.addWidget(label, 1, 0)
        for column, (name, field) in enumerate((("cx", self._cx), ("cy", self._cy)), start=1):
            field.setObjectName(name)
            with_tip(field, f"Principal point, {name[1]}", CENTER_TIP)
            field.edited.connect(self.edited)
            layout.addWidget(field, 1, column)
        self._focal.edited.connect(self._on_focal_edited)
        self.setFocusProxy(self._focal)

    def set_value(self, value: Intrinsics) -> None:
        """Show fx, fy, cx and cy."""
        fx, fy, cx, cy = value
        self._focals, self._ratio, self.known = (fx, fy), fy / fx, True
        self._focal.set_focal_length(math.sqrt(fx * fy) if fx != fy else fx)
        for field, number in ((self._cx, cx), (self._cy, cy)):
            if not field.hasFocus():
                field.set_value(number)

    def offer(self, value: Intrinsics) -> None:
        """Show numbers to begin with; they are not among those that were set or typed."""
        self.set_value(value)
        self.known = False

    def value(self) -> Intrinsics:
        """Return fx, fy, cx and cy. Raises ValueError where something that is typed is not accepted."""
        if self._focals is None:
            focal, root = self._focal.focal_length(), math.sqrt(self._ratio)
            fx, fy = focal / root, focal * root
        else:
            fx, fy = self._focals
        center = []
        for name, field in (("cx", self._cx), ("cy", self._cy)):
            try:
                center.append(float(known(field.value())))  # the fields are not optional
            except ValueError as error:
                raise ValueError(f"principal point, {name}: {error}") from None
        return fx, fy, center[0], center[1]

    def _on_focal_edited(self) -> None:
        self._focals, self.known = None, True
        self.edited.emit()


class SourceChoice(QWidget):
    """A choice of an entry, a file, and optionally numbers in an editor below."""

    edited = pyqtSignal()  # something else was chosen or typed

    def __init__(
        self,
        entries: Mapping[str, str],
        *,
        file_tip: str,
        numbers: GivenIntrinsics | None = None,
        titles: Mapping[str, str],
    ) -> None:
        super().__init__()
        self._file: Path | None = None
        self._before = next(iter(entries))
        self.choice = Choice(entries, titles=titles)
        self._numbers = numbers
        if numbers is not None:
            self.choice.add(NUMBERS, "given", "focal length and principal point")
        self.choice.add(FILE, "from a file…", file_tip)
        self.choice.setAccessibleName("Where it comes from")
        self.choice.chosen.connect(self._on_source_chosen)
        layout = filled(QVBoxLayout(self), self.choice, spacing=4)
        if numbers is not None:
            numbers.edited.connect(self.edited)
            numbers.hide()
            layout.addWidget(numbers)

    def set_value(self, value: Any, /) -> None:
        """Show a key, a file or four numbers."""
        if isinstance(value, tuple):
            assert self._numbers is not None  # no other setting is given in numbers
            self.choice.set_key(NUMBERS)
            self._numbers.set_value(value)
        elif isinstance(value, Path):
            self._file = value
            index = self.choice.findData(FILE)
            self.choice.setItemText(index, f"file: {printable(value.name)}")
            self.choice.setItemData(index, plain_tip(printable(str(value))), Qt.ItemDataRole.ToolTipRole)
            self.choice.setCurrentIndex(index)
        else:
            self.choice.set_key(value)
        self._before = self.choice.key
        self._show_numbers()

    def value(self) -> str | Path | Intrinsics:
        """Return the key, the file or the four numbers. Raises ValueError where these are refused."""
        if self.choice.key == FILE:
            assert self._file is not None  # only `set_value` leaves this entry chosen
            return self._file
        if self.choice.key != NUMBERS:
            return self.choice.key
        assert self._numbers is not None  # else there is no such entry
        return self._numbers.value()

    def _on_source_chosen(self, key: str) -> None:
        if key == FILE:
            # The dialog stops nothing: until a file is chosen, the source is the one before.
            self.choice.set_key(self._before)
            ask_for_path(self, "Open", self._choose_file, filters="NumPy arrays (*.npz);;All files (*)")
            return
        self._before = key
        self._show_numbers()
        if key == NUMBERS and self._numbers is not None:
            self._numbers.setFocus()
        self.edited.emit()

    def _choose_file(self, path: Path) -> None:
        self.set_value(path)
        self.edited.emit()

    def _show_numbers(self) -> None:
        if self._numbers is not None:
            self._numbers.setVisible(self.choice.key == NUMBERS)


Editor = NumberField | TextField | Choice | SourceChoice  # of a value


class ParameterRows(QObject):
    """Editors in the rows of several forms, by the names of their parameters, which are read together."""

    edited = pyqtSignal()  # something was typed
    dragged = pyqtSignal()  # a number was dragged: it counts at once
    chosen = pyqtSignal()  # something was chosen from a list

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.editors: dict[str, Editor] = {}
        self.forms: dict[str, Form] = {}

    def add(self, form: Form, described: Parameter, default: Any, editor: Editor | None = None) -> None:
        """Append the row of a parameter to a form."""
        if editor is None and described.choices:
            editor = Choice(dict.fromkeys(described.choices, described.tip))
        elif editor is None and described.text:
            editor = TextField(described.absent)
        elif editor is None:
            editor = NumberField(integer=described.integer, optional=described.optional)
            editor.setPlaceholderText(described.absent)
        form.add_parameter(described, editor, default)
        self.keep(form, described.name, editor)

    def keep(self, form: Form, name: str, editor: Editor) -> None:
        """Read a row that a form has already, and signal what a person does with its editor."""
        self.editors[name], self.forms[name] = editor, form
        if isinstance(editor, Choice):
            editor.chosen.connect(self.chosen)
        else:
            editor.edited.connect(self.edited)
        if isinstance(editor, NumberField):
            editor.dragged.connect(self.dragged)

    def read(self, checks: Mapping[str, Callable[[Any], Any]]) -> tuple[dict[str, Any], list[str]]:
        """Return what the checks of rows give, None of empty ones, and why others are refused.

        A check raises ValueError; its sentence is shown below the editor, and names it as its label does.
        """
        values, refusals = {}, []
        for name, check in checks.items():
            form, sentence = self.forms[name], ""
            title = form.rows[name].caption.text()
            try:
                value = self.editors[name].value()
                values[name] = None if value is None else check(value)
            except ValueError as refusal:  # InputError is one
                sentence = re.sub(rf"^{name}\b", title, str(refusal))
                refusals.append(sentence if sentence.startswith(title) else f"{title}: {sentence}")
            form.set_message(name, sentence)
        return values, refusals

    def show_kind(self, every: Iterable[str], own: Collection[str], values: Mapping[str, Any]) -> None:
        """Show of every row those of the chosen kind, with their values, and no others."""
        for name in every:
            self.forms[name].set_row_visible(name, name in own)
            self.forms[name].set_message(name, "")
            if name in own:
                self.editors[name].set_value(values[name])

    def refused(self) -> Iterator[Form]:
        """Return the forms in which a value is refused."""
        return (form for name, form in self.forms.items() if form.rows[name].editor.property("invalid"))
