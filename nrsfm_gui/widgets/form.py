"""Forms: rows of label and editor with a message below, numbers that can be dragged, folded sections."""

from __future__ import annotations

import html
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QLayout, QLineEdit, QToolButton, QVBoxLayout, QWidget

from core.foundation import Parameter
from nrsfm_gui.model.numbers import format_number
from nrsfm_gui.widgets.drag_number import DRAG_TIP, DragLabel, DragSlider, scale_of
from nrsfm_gui.widgets.fields import NumberField, filled, grid_layout, tool_button
from nrsfm_gui.widgets.labels import PlainLabel, known, plain_tip
from nrsfm_gui.widgets.style import set_property

LABEL_WIDTH = 100  # of the labels at least
FIELD_CHARACTERS = 9  # that a field with a slider shows at once
FIELD_MARGIN = 14  # pixels of its frame and padding
ROW_GAP = 2  # pixels above and below the sentence of a row, also where there is none


@dataclass(frozen=True, eq=False)
class FormRow:
    """The widgets of a row; `note` is the sentence below its editor."""

    caption: QLabel
    editor: QWidget
    note: QLabel
    slider: DragSlider | None

    @property
    def parts(self) -> tuple[QWidget, ...]:
        """The widgets that are shown and hidden together."""
        return self.caption, self.editor, *([] if self.slider is None else [self.slider])


class Form(QWidget):
    """Rows of a label, an editor, and a sentence below the editor where its value is refused."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.grid = grid_layout(self, 10, ROW_GAP)
        self.grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        self.grid.setColumnStretch(1, 1)
        self.rows: dict[str, FormRow] = {}
        self._defaults: dict[str, Any] = {}
        self._described: dict[str, tuple[str, str, Any]] = {}  # by tip, details and default

    @property
    def spacing(self) -> int:
        """Pixels between two rows; the space of the sentence below a row is always included."""
        return 2 * self.grid.verticalSpacing()

    def add(
        self, name: str, label: str, editor: QWidget, *, tip: str, details: str = "",
        slider: DragSlider | None = None,
    ) -> None:  # fmt: skip
        """Append a row; `tip` gives meaning, unit and range, `details` more for its explanation."""
        row = 2 * len(self.rows)
        caption = PlainLabel(label)
        if slider is not None:
            caption = drag_label = DragLabel(label, slider)
            assert isinstance(editor, NumberField)  # only numbers have sliders
            drag_label.reset.connect(lambda: editor.drag_to(self._defaults[name]))
            drag_label.setObjectName(f"drag label {name}")
            self.grid.addWidget(slider, row, 1)
        caption.setBuddy(editor)
        editor.setObjectName(name)
        editor.setAccessibleName(label)
        note = PlainLabel(role="warning", wraps=True)
        note.setObjectName(f"{name}_note")
        note.hide()
        self.grid.addWidget(caption, row, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.grid.addWidget(editor, row, 1 if slider is None else 2, 1, -1)
        self.grid.addWidget(note, row + 1, 0, 1, 3)
        self.rows[name] = FormRow(caption, editor, note, slider)
        self.set_tip(name, tip, details=details)

    def add_parameter(self, described: Parameter, editor: QWidget, default: Any) -> None:
        """Append the row of a parameter; where it has a slider, its label is dragged, too.

        A double click on that label sets the default, where it is None an empty field. Without a default the
        slider begins in the middle of its scale.
        """
        name, slider = described.name, None
        self._defaults[name] = default
        if isinstance(editor, NumberField) and described.slider is not None:
            slider = _slider_of(editor, described)
            if default is None:
                slider.set_number(slider.scale.value(slider.scale.steps / 2))
        details = value_details(described, default)
        self.add(name, described.title, editor, tip=described.tip, details=details, slider=slider)

    def describe(self, described: Parameter, default: Any) -> None:
        """Describe a row anew: of the parameter that has this name now."""
        self._defaults[described.name] = default
        self.set_tip(described.name, described.tip, details=value_details(described, default))

    def set_row_visible(self, name: str, visible: bool) -> None:
        """Show or hide a row."""
        row = self.rows[name]
        for part in row.parts:
            part.setVisible(visible)
        row.note.setVisible(visible and bool(row.note.text()))

    def set_tip(self, name: str, tip: str, *, details: str = "") -> None:
        """Set the tip of a row, and its explanation: the label, the tip and the details."""
        row, default = self.rows[name], self._defaults.get(name)
        if self._described.get(name) == (tip, details, default):
            return  # the rows of a form are described again at every key
        self._described[name] = tip, details, default
        explanation = f"<p><b>{html.escape(row.caption.text())}</b></p>" + "".join(
            f"<p>{html.escape(text)}</p>" for text in (tip, details) if text
        )
        for part in row.parts:
            part.setWhatsThis(explanation)
        row.editor.setToolTip(plain_tip(tip))
        if row.slider is not None:
            words = "automatic" if default is None else format_number(default)
            tip += f"\n{DRAG_TIP}\nA double click on the label: {words}."
            row.slider.setToolTip(plain_tip(tip))
        row.caption.setToolTip(plain_tip(tip))

    def set_automatic(self, name: str, text: str, number: float | None) -> None:
        """Show what stands for the number of a row that is empty, from which its slider then begins."""
        row = self.rows[name]
        assert isinstance(row.editor, QLineEdit)
        row.editor.setPlaceholderText(text)
        if row.slider is not None and number is not None and not row.editor.text():
            row.slider.set_number(number)

    def set_row_enabled(self, name: str, enabled: bool) -> None:
        """Enable or disable a row."""
        for part in self.rows[name].parts:
            part.setEnabled(enabled)

    def set_message(self, name: str, sentence: str, *, refused: bool = True) -> None:
        """Show a sentence below an editor, and mark both where a value is refused."""
        row = self.rows[name]
        if row.note.text() != sentence:
            row.note.setText(sentence)
        row.note.setVisible(bool(sentence) and not row.editor.isHidden())
        set_property(row.note, "role", "warning" if refused else "muted")
        set_property(row.editor, "invalid", bool(sentence) and refused)

    def is_row_visible(self, name: str) -> bool:
        """Return whether a row is among those that are shown."""
        return not self.rows[name].editor.isHidden()


def _widgets_of(layout: QLayout | None) -> Iterator[QWidget]:
    """Return the widgets of a layout in its order, each before those in its own layout."""
    for index in range(0 if layout is None else layout.count()):
        item = known(known(layout).itemAt(index))
        widget = item.widget()
        if widget is not None:
            yield widget
        yield from _widgets_of(item.layout() if widget is None else widget.layout())


def order_focus(widget: QWidget) -> None:
    """Let the tab key follow the layout of a widget, also to parts that were moved or added."""
    takers = (each for each in _widgets_of(widget.layout()) if each.focusPolicy() != Qt.FocusPolicy.NoFocus)
    for one, two in pairwise(takers):
        QWidget.setTabOrder(one, two)


def align(*forms: Form) -> None:
    """Let the editors of several forms begin at one place."""
    captions = [row.caption for form in forms for row in form.rows.values()]
    widest = max(caption.sizeHint().width() for caption in captions)
    for form in forms:
        form.grid.setColumnMinimumWidth(0, widest)


def value_details(described: Parameter, default: object) -> str:
    """Return what is accepted for a parameter, and its default, as sentences."""
    shown = described.absent if default is None else default
    shown = format_number(shown) if isinstance(shown, float) else str(shown)
    accepted = "" if described.text or described.choices else f"Accepted: {described.accepted}. "
    return f"{accepted}By default: {shown}."


def _slider_of(field: NumberField, described: Parameter) -> DragSlider:
    """Return a slider that sets the number in a field, and follows it where there is one."""
    slider = DragSlider(scale_of(described))
    slider.setObjectName(f"drag {described.name}")
    slider.setAccessibleName(described.title)

    def follow(_text: str) -> None:
        try:
            value = field.value()
            number = math.nan if value is None else float(value)
        except (ValueError, OverflowError):  # a whole number may be larger than any float
            return
        if math.isfinite(number):
            slider.set_number(number)

    field.setFixedWidth(FIELD_CHARACTERS * field.fontMetrics().horizontalAdvance("0") + FIELD_MARGIN)
    field.textChanged.connect(follow)
    slider.moved.connect(field.drag_to)
    return slider


class FoldedSections(QWidget):
    """A row of headings, each of which shows or hides what it names; hidden at first."""

    toggled = pyqtSignal()  # a person has opened or closed one

    def __init__(self, contents: Mapping[str, QWidget]) -> None:
        super().__init__()
        self._contents = dict(contents)
        self._buttons: dict[str, QToolButton] = {}
        self._headings: dict[str, PlainLabel] = {}
        row = filled(QHBoxLayout(), spacing=0)
        layout = filled(QVBoxLayout(self), row, spacing=4)
        for name, content in contents.items():
            self._buttons[name] = button = tool_button(name, "", pressed=self.toggled.emit, checkable=True)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.toggled.connect(lambda _on, name=name: self._show(name))
            self._headings[name] = heading = PlainLabel(name, role="heading")
            row.addWidget(button)
            for widget in (heading, content):
                layout.addWidget(widget)
            self._show(name)
        row.addStretch(1)
        self.set_changes({})

    def minimumSizeHint(self) -> QSize:
        """Return the width of the headings, also under a font that no layout has seen yet."""
        width = sum(button.sizeHint().width() for button in self._buttons.values())
        return QSize(width, super().minimumSizeHint().height())

    @property
    def open(self) -> tuple[str, ...]:
        """The names of those that are open."""
        return tuple(name for name, button in self._buttons.items() if button.isChecked())

    def set_open(self, names: Collection[str]) -> None:
        """Open these, and close the others."""
        for name, button in self._buttons.items():
            button.setChecked(name in names)

    def section_of(self, part: QWidget | None) -> str:
        """Return the name of the section that a widget is in, "" where it is in none."""
        return next((name for name, content in self._contents.items() if content.isAncestorOf(part)), "")

    def set_title(self, name: str, title: str) -> None:
        """Give a section another title than its name."""
        self._buttons[name].setText(title)
        self._headings[name].setText(title)

    def set_changes(self, changes: Mapping[str, Collection[str]]) -> None:
        """Name what is changed in each section in the tips of their headings."""
        for name, button in self._buttons.items():
            tip = f"Changed: {', '.join(changes.get(name, ()))}." if changes.get(name) else ""
            button.setToolTip(tip or "Show what is changed less often, or hide it")
            button.setAccessibleName(f"{button.text()}. {tip}" if tip else button.text())

    def _show(self, name: str) -> None:
        on = self._buttons[name].isChecked()
        self._buttons[name].setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)
        for widget in (self._headings[name], self._contents[name]):
            widget.setVisible(on)
