"""Rows and columns, buttons, boxes, sliders, a field for numbers over many decades, and one for a pair.

The mouse wheel changes the value of none of them. Every combo box, spin box and slider of the application
is one of the classes below, not the class of Qt that it extends: Qt's would use the wheel while the user
scrolls the panel around it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from PyQt6.QtCore import QModelIndex, QRect, QSize, Qt, pyqtSignal
from PyQt6.QtGui import (
    QGuiApplication,
    QKeyEvent,
    QPainter,
    QPalette,
    QStandardItem,
    QStandardItemModel,
    QWheelEvent,
)
from PyQt6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from nrsfm_gui.model.numbers import format_number
from nrsfm_gui.widgets.labels import PlainLabel, known, plain_tip

TOP, MIDDLE = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignVCenter

SomeWidget = TypeVar("SomeWidget", bound=QWidget)
SomeLayout = TypeVar("SomeLayout", bound=QBoxLayout)
# Of a layout: a part, with its stretch or with its place in the space that it gets, or empty space.
Part = QWidget | QLayout | tuple[QWidget | QLayout, int] | tuple[QWidget, Qt.AlignmentFlag] | None
Margins = tuple[int, int, int, int]
NO_MARGINS = 0, 0, 0, 0

# Ten presses of an arrow key are one decade, and every step is a round number.
DECADE = (1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 6.3, 8.0)
ENTRY_MARGIN, WIDEST_ENTRIES = 4, 620  # pixels around an entry of two lines, and of the list at most


def stepped(value: float, steps: int) -> float:
    """Return a positive number moved along 1, 1.25, 1.6, 2 ... by a number of steps."""
    exponent = math.floor(math.log10(value) + 1e-9)
    share = math.log10(value) - exponent
    nearest = min(range(len(DECADE)), key=lambda k: abs(math.log10(DECADE[k]) - share))
    decades, k = divmod(nearest + steps, len(DECADE))
    return float(f"{DECADE[k]:g}e{exponent + decades}")


def with_tip(widget: SomeWidget, name: str, tip: str) -> SomeWidget:
    """Give a widget its name for screen readers and its tip; return it."""
    widget.setAccessibleName(name)
    widget.setToolTip(tip)
    return widget


def filled(
    layout: SomeLayout,
    *parts: Part,
    grows: QWidget | QLayout | None = None,
    spacing: int | None = None,
    margins: Margins | None = NO_MARGINS,
) -> SomeLayout:
    """Put parts into a layout, one after the other, and return it.

    `grows` is the part that takes what is left; None is empty space that does. A part can have its stretch or
    its alignment. Without `margins` and `spacing`, those of the style stay.
    """
    if margins is not None:
        layout.setContentsMargins(*margins)
    if spacing is not None:
        layout.setSpacing(spacing)
    for given in parts:
        part, stretch = given if isinstance(given, tuple) else (given, int(given is grows))
        if isinstance(part, QWidget) and isinstance(stretch, Qt.AlignmentFlag):
            layout.addWidget(part, 0, stretch)
        elif isinstance(part, QWidget):
            layout.addWidget(part, stretch)
        elif isinstance(part, QLayout):
            layout.addLayout(part, stretch)
        else:
            layout.addStretch(1)
    return layout


def row(*parts: Part, spacing: int = 10, margins: Margins = NO_MARGINS) -> QHBoxLayout:
    """Return parts side by side."""
    return filled(QHBoxLayout(), *parts, spacing=spacing, margins=margins)


def column(*parts: Part, spacing: int = 6, margins: Margins = NO_MARGINS) -> QVBoxLayout:
    """Return parts below each other."""
    return filled(QVBoxLayout(), *parts, spacing=spacing, margins=margins)


def grid_layout(widget: QWidget, horizontal: int, vertical: int) -> QGridLayout:
    """Return a layout of a widget without margins, with pixels between its columns and its rows."""
    grid = QGridLayout(widget)
    grid.setContentsMargins(*NO_MARGINS)
    grid.setHorizontalSpacing(horizontal)
    grid.setVerticalSpacing(vertical)
    return grid


def form_layout() -> QFormLayout:
    """Return the layout of a dialog of settings, whose fields grow."""
    layout = QFormLayout()
    layout.setHorizontalSpacing(18)
    layout.setVerticalSpacing(8)
    layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    return layout


def push_button(title: str, tip: str, function: Callable[[], object]) -> QPushButton:
    """Return a button that calls a function."""
    button = QPushButton(title)
    button.setToolTip(tip)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.clicked.connect(lambda _checked: function())
    return button


def tool_button(
    text: str, tip: str, name: str = "", pressed: Callable[[], object] | None = None, *,
    object_name: str = "", keyboard: bool = True, checkable: bool = False,
) -> QToolButton:  # fmt: skip
    """Return a flat button, which calls a function where one is given."""
    button = with_tip(QToolButton(), name, tip)
    button.setObjectName(object_name)
    button.setText(text)
    button.setAutoRaise(True)
    button.setCheckable(checkable)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus if keyboard else Qt.FocusPolicy.NoFocus)
    if pressed is not None:
        button.clicked.connect(lambda _checked: pressed())
    return button


def close_button(tip: str, pressed: Callable[[], object], *, keyboard: bool = True) -> QToolButton:
    """Return the button that puts away what it belongs to."""
    return tool_button("✕", tip, tip, pressed, keyboard=keyboard)


class ButtonRow(QHBoxLayout):
    """Buttons that are replaced together."""

    def set_buttons(self, buttons: Iterable[tuple[str, str, Callable[[], object]]]) -> None:
        """Show buttons, each given by its title, its tip and what it calls, in place of those before."""
        while (item := self.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for title, tip, function in buttons:
            button = push_button(title, tip, function)
            self.addWidget(button)
            button.show()


def copy_text(text: str) -> None:
    """Put a text onto the clipboard."""
    known(QGuiApplication.clipboard()).setText(text)


class IgnoresWheel:
    """Leaves the mouse wheel to the parent widget, which scrolls; comes first among the bases of a class."""

    def wheelEvent(self, event: QWheelEvent | None) -> None:
        """Change nothing, with the focus or without it."""
        known(event).ignore()


class ComboBox(IgnoresWheel, QComboBox):
    """A combo box that the wheel does not change, and that elides an entry it has no room for."""

    def initStyleOption(self, option: QStyleOptionComboBox | None) -> None:
        """Elide the entry that is shown, which a style sheet would cut."""
        super().initStyleOption(option)
        control, field = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = known(self.style()).subControlRect(control, option, field, self).width()
        shown = known(option)
        shown.currentText = shown.fontMetrics.elidedText(shown.currentText, Qt.TextElideMode.ElideRight, room)

    def item(self, index: int) -> QStandardItem:
        """Return the item of an entry, which can be disabled."""
        model = self.model()
        assert isinstance(model, QStandardItemModel)  # a combo box makes it
        return known(model.item(index))


class _ExplainedEntry(QStyledItemDelegate):
    """Draws the title of an entry, and its explanation in a second line."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:
        """Return space for both lines; headings have one."""
        size = super().sizeHint(option, index)
        text = index.data(Qt.ItemDataRole.ToolTipRole) or ""
        line = option.fontMetrics
        width = min(max(size.width(), line.horizontalAdvance(text) + 4 * ENTRY_MARGIN), WIDEST_ENTRIES)
        return QSize(width, (2 if text else 1) * line.height() + 2 * ENTRY_MARGIN)

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Draw the background as for any entry, and the two lines on it."""
        assert painter is not None
        option = QStyleOptionViewItem(option)  # the next entry gets the same
        self.initStyleOption(option, index)
        title, explanation = option.text, index.data(Qt.ItemDataRole.ToolTipRole) or ""
        option.text = ""
        style = option.widget.style() if option.widget is not None else None
        if style is not None:
            style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        roles, enabled = QPalette.ColorRole, option.state & QStyle.StateFlag.State_Enabled
        chosen = option.state & QStyle.StateFlag.State_Selected
        group = QPalette.ColorGroup.Normal if enabled else QPalette.ColorGroup.Disabled
        indent = ENTRY_MARGIN if not explanation else 3 * ENTRY_MARGIN
        area = option.rect.adjusted(indent, ENTRY_MARGIN, -ENTRY_MARGIN, -ENTRY_MARGIN)
        line = option.fontMetrics.height()
        painter.save()
        painter.setFont(option.font)
        for row, (text, role) in enumerate(((title, roles.Text), (explanation, roles.PlaceholderText))):
            if not explanation:
                group, role = QPalette.ColorGroup.Normal, roles.PlaceholderText  # a heading
            painter.setPen(option.palette.color(group, roles.HighlightedText if chosen else role))
            shown = option.fontMetrics.elidedText(text, Qt.TextElideMode.ElideRight, area.width())
            painter.drawText(QRect(area.left(), area.top() + row * line, area.width(), line), 0, shown)
        painter.restore()


class Choice(ComboBox):
    """A combo box over keys with a line of explanation each; it does not grow with its longest entry."""

    chosen = pyqtSignal(str)

    def __init__(
        self, entries: Mapping[str, str], *, titles: Mapping[str, str] | None = None, explained: bool = False
    ) -> None:
        super().__init__()
        self._explained = explained
        if explained:
            self.setItemDelegate(_ExplainedEntry(self))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(10)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._explanations: dict[str, str] = {}
        self._refusals: dict[str, str] = {}  # of entries that are grayed out
        for key, explanation in entries.items():
            self.add(key, (titles or {}).get(key, key), explanation)
        self.activated.connect(lambda _index: self.chosen.emit(self.key))

    def add_heading(self, title: str) -> None:
        """Append a heading, which cannot be chosen, of the entries that are added next."""
        self.addItem(title)
        item = self.item(self.count() - 1)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        font = item.font()
        font.setBold(True)
        item.setFont(font)

    def add(self, key: str, title: str, explanation: str) -> None:
        """Append an entry."""
        self.addItem(title, key)
        if self.currentData() is None:  # a heading
            self.setCurrentIndex(self.count() - 1)
        self._explanations[key] = explanation
        self.setItemData(self.count() - 1, explanation, Qt.ItemDataRole.ToolTipRole)

    def showPopup(self) -> None:
        """Show the list; with explanations as wide as they need."""
        view = self.view()
        if self._explained and view is not None:
            view.setMinimumWidth(view.sizeHintForColumn(0) + 2 * ENTRY_MARGIN)
        super().showPopup()

    @property
    def key(self) -> str:
        """The chosen key."""
        return str(self.currentData())

    def set_key(self, key: str) -> None:
        """Choose a key."""
        self.setCurrentIndex(self.findData(key))

    def value(self) -> str:
        """Return the chosen key, as any editor does its value."""
        return self.key

    def set_value(self, value: Any, /) -> None:
        """Choose a key."""
        self.set_key(value)

    def choose(self, key: str) -> None:
        """Choose a key as a person does in the list."""
        self.set_key(key)
        self.activated.emit(self.currentIndex())

    def entries(self) -> dict[str, tuple[str, str]]:
        """Return the title and the explanation of each entry by its key, without headings."""
        found = ((self.itemData(place), self.itemText(place)) for place in range(self.count()))
        return {key: (title, self._explanations[key]) for key, title in found if key is not None}

    def refusal(self, key: str) -> str:
        """Return why an entry is grayed out, "" where it can be chosen."""
        return self._refusals.get(key, "")

    def set_available(self, key: str, available: bool, *, why_not: str) -> None:
        """Gray an entry out, with the reason as its tip."""
        self._refusals[key] = "" if available else why_not
        item = self.item(self.findData(key))
        item.setEnabled(available)
        item.setToolTip(plain_tip(self._explanations[key] if available else why_not))


class SpinBox(IgnoresWheel, QSpinBox):
    """A box for integers that the wheel does not change."""


class DoubleSpinBox(IgnoresWheel, QDoubleSpinBox):
    """A box for numbers that the wheel does not change."""


class Slider(IgnoresWheel, QSlider):
    """A slider that the wheel does not change."""


class NumberField(QLineEdit):
    """A line for one number. Arrow keys step it: by a tenth of a decade, or by one for integers."""

    GESTURES = (
        ("Up, Down", "step a number by a tenth of a decade, or by one"),
        ("Page Up, Page Down", "ten of these steps"),
        ("Return", "select the number, so that the next one replaces it"),
        ("Escape", "leave the field, so that the keys of the views act again"),
        ("Ctrl+Z", "undo what was typed into this field"),
    )

    edited = pyqtSignal()  # the text was changed by the user, whether or not it is a number
    # A slider or label set the number by a drag, or its default was requested: it applies at once.
    dragged = pyqtSignal()

    def __init__(self, *, integer: bool = False, optional: bool = False) -> None:
        super().__init__()
        self._integer, self._optional = integer, optional
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(56)
        self.textEdited.connect(self.edited)

    def set_value(self, value: float | None) -> None:
        """Show a number, unless the text already has this value (the caret then stays)."""
        with suppress(ValueError):
            if self.text().strip() and self.value() == value:
                return
        self.setText("" if value is None else str(int(value)) if self._integer else format_number(value))

    def drag_to(self, value: float | None) -> None:
        """Set a number, or none, that applies at once."""
        self.set_value(value)
        self.dragged.emit()

    def value(self) -> float | int | None:
        """Return the number, None of an optional field that is empty. Raises ValueError where it is none."""
        text = self.text().strip().replace(",", ".")
        if not text and self._optional:
            return None
        try:
            return int(text) if self._integer else float(text)
        except ValueError:
            kind = "a whole number" if self._integer else "a number"
            raise ValueError(f"{text!r} is not {kind}" if text else f"{kind} is missing") from None

    def step_by(self, steps: int) -> None:
        """Move the number by steps, as an arrow key does."""
        try:
            value = self.value()
        except ValueError:
            return
        if self._integer:
            stepped_value: float = (0 if value is None else int(value)) + steps
        elif value is None or not 0 < value < math.inf:  # a NaN is neither
            return
        else:
            stepped_value = stepped(float(value), steps)
            if not 0 < stepped_value < math.inf:
                return
        self.set_value(stepped_value)
        self.edited.emit()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Step on Up and Down, select all on Return, leave on Escape, so that the keys of the views act."""
        assert event is not None
        steps = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1, Qt.Key.Key_PageUp: 10, Qt.Key.Key_PageDown: -10}
        key = Qt.Key(event.key())
        if key in steps:
            self.step_by(steps[key])
            return
        super().keyPressEvent(event)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.selectAll()  # and stay: outside of it digits are keys of the views
        elif key == Qt.Key.Key_Escape:
            self.clearFocus()


class PairField(QWidget):
    """Two numbers with a text between them: integers, unless they are said not to be."""

    edited = pyqtSignal()  # one of them was changed

    def __init__(self, between: str, names: tuple[str, str], *, integer: bool = True) -> None:
        super().__init__()
        self.first, self.second = NumberField(integer=integer), NumberField(integer=integer)
        for field, name in zip((self.first, self.second), names, strict=True):
            with_tip(field, name, name)
            field.textChanged.connect(self.edited)
        filled(QHBoxLayout(self), (self.first, 1), PlainLabel(between), (self.second, 1), spacing=6)

    def set_value(self, value: tuple[float, float]) -> None:
        """Show two numbers."""
        self.first.set_value(value[0])
        self.second.set_value(value[1])

    def value(self) -> tuple[float, float]:
        """Return the two numbers. Raises ValueError with a sentence, where a text is not a number."""
        return self.first.value() or 0, self.second.value() or 0
