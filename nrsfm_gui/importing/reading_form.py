"""The rows of reading options: order of the axes, threshold, size of the picture, individual, columns."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QGridLayout, QWidget

from nrsfm_gui.engine.throttle import TYPING_MILLISECONDS, Debounce
from nrsfm_gui.widgets.fields import Choice, NumberField, PairField, with_tip
from nrsfm_gui.widgets.form import Form
from nrsfm_gui.widgets.labels import PlainLabel

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from core.io.readers import FileContents

ORDERS = {"tnxy": "frames, points, x y", "ntxy": "points, frames, x y"}
AXES = {"xy": "x (to the right), then y (down)", "yx": "y (down), then x (to the right)"}
COLUMNS = {
    "frame": "Number of the frame.",
    "point": "Number or name of the point.",
    "x": "To the right, in pixels.",
    "y": "Down, in pixels.",
    "visible": "1 or a score where the point is seen; it may be left out.",
}
NO_COLUMN = ""


class ColumnsField(QWidget):
    """A choice of a column of a table for each of frame, point, x, y and visible."""

    edited = pyqtSignal()  # another column was chosen

    def __init__(self) -> None:
        super().__init__()
        self.choices = {name: Choice({}) for name in COLUMNS}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        for place, (name, choice) in enumerate(self.choices.items()):
            label = PlainLabel(name, role="muted")
            label.setBuddy(choice)
            with_tip(choice, f"Column of {name}", COLUMNS[name])
            choice.chosen.connect(lambda _key: self.edited.emit())
            row, side = divmod(place, 2)
            grid.addWidget(label, row, 2 * side)
            grid.addWidget(choice, row, 2 * side + 1)
            grid.setColumnStretch(2 * side + 1, 1)

    def set_columns(self, columns: tuple[str, ...], chosen: Mapping[str, str]) -> None:
        """Offer columns, with one chosen for some of the names; emits nothing."""
        for name, choice in self.choices.items():
            choice.clear()
            choice.add(NO_COLUMN, "–", "None of the columns.")
            for column in columns:
                choice.add(column, column, COLUMNS[name])
            choice.set_key(chosen[name] if chosen.get(name) in columns else NO_COLUMN)

    def value(self) -> str:
        """Return "frame=..,point=..,x=..,y=.." with what is chosen."""
        return ",".join(f"{name}={choice.key}" for name, choice in self.choices.items() if choice.key)


class ReadingForm(Form):
    """Rows of reading options; those that a file does not have are hidden."""

    option_changed = pyqtSignal(str, str)  # the name of a reading option and its value, "" for none

    def __init__(self) -> None:
        super().__init__()
        self.order = Choice(dict.fromkeys(ORDERS, "Which axis of the array counts what."), titles=ORDERS)
        self.axes = Choice(dict.fromkeys(AXES, "Which coordinate comes first."), titles=AXES)
        self.threshold = NumberField(optional=True)
        self.size_field = PairField(
            "×", ("Width of the picture in pixels", "Height of the picture in pixels")
        )
        self.individual = Choice({})
        self.columns = ColumnsField()
        for name, label, editor, tip in (
            ("columns", "columns", self.columns, "Which column of the table has what."),
            ("individual", "individual", self.individual, "Which of the persons or animals is read."),
            ("order", "order of axes", self.order, "Which axis of the tracks counts what."),
            ("xy", "coordinates", self.axes, "Which coordinate comes first."),
            ("threshold", "seen from score", self.threshold, "The score from which on a point is seen."),
            ("size", "picture (px)", self.size_field,
             "Width and height of the picture; tracks from 0 to 1 are multiplied by it."),
        ):  # fmt: skip
            self.add(name, label, editor, tip=tip)
        typed_threshold = Debounce(self._emit_threshold, TYPING_MILLISECONDS, self)
        typed_size = Debounce(self._emit_size, TYPING_MILLISECONDS, self)
        choices = {"order": self.order, "xy": self.axes, "individual": self.individual}
        for option, choice in choices.items():
            choice.chosen.connect(partial(self.option_changed.emit, option))
        self.columns.edited.connect(lambda: self.option_changed.emit("columns", self.columns.value()))
        self.threshold.edited.connect(typed_threshold.request)
        self._sides = self.size_field.first, self.size_field.second
        for side in self._sides:
            side.edited.connect(typed_size.request)

    def show_contents(
        self, contents: FileContents, given: Mapping[str, Any], accepted: Collection[str]
    ) -> None:
        """Show the options in effect of a file, in the rows that it has; emits nothing.

        Where it could not be read with the options that were given, those are shown, and the rows of all that
        are accepted.
        """
        reading = {name: str(value) for name, value in {**given, **contents.reading}.items()}
        self.order.set_key(reading.get("order", "tnxy"))
        self.axes.set_key(reading.get("xy", "xy"))
        if not self.threshold.hasFocus():
            threshold = reading.get("threshold", "")
            self.threshold.set_value(float(threshold) if threshold else None)
        self._show_size(contents, reading)
        self.individual.clear()
        for name in contents.individuals:
            self.individual.add(name, name, f"Read the tracks of {name}.")
        if "individual" in reading:
            self.individual.set_key(reading["individual"])
        chosen = dict(part.split("=", 1) for part in reading.get("columns", "").split(",") if "=" in part)
        self.columns.set_columns(contents.columns, chosen)
        unread = contents.sequence is None and bool(contents.arrays)
        applies = {
            "columns": bool(contents.columns) and ("columns" in reading or contents.sequence is None),
            "individual": len(contents.individuals) > 1,
            "size": contents.sequence is None or contents.sequence.units == "px",
        }
        for name in self.names:
            self.set_row_visible(name, name in accepted and applies.get(name, name in reading or unread))

    def set_guessed_size(self, size: tuple[float, float]) -> None:
        """Show the size of the picture that is assumed while none is given."""
        for field, pixels in zip(self._sides, size, strict=True):
            field.setPlaceholderText(f"{pixels:.0f} guessed")

    def _show_size(self, contents: FileContents, reading: Mapping[str, str]) -> None:
        for field in self._sides:
            field.setPlaceholderText("")
        if any(field.hasFocus() for field in self._sides):
            return
        size = None if contents.sequence is None else contents.sequence.image_size
        if "size" in reading:
            width, height = (int(part) for part in reading["size"].lower().split("x"))
            size = width, height
        for field, value in zip(self._sides, size or (None, None), strict=True):
            field.setText("" if value is None else str(value))

    def _emit_threshold(self) -> None:
        try:
            value = self.threshold.value()
        except ValueError as refusal:
            self.set_message("threshold", f"The threshold is {refusal}.")
            return
        self.set_message("threshold", "")
        self.option_changed.emit("threshold", "" if value is None else f"{value:g}")

    def _emit_size(self) -> None:
        texts = [field.text().strip() for field in self._sides]
        if not all(texts):  # one of the two is still to be typed
            if not any(texts):
                self.set_message("size", "")
                self.option_changed.emit("size", "")
            return
        try:
            width, height = self.size_field.values()
        except ValueError as refusal:
            self.set_message("size", f"The size is {refusal}.")
            return
        self.set_message("size", "")
        self.option_changed.emit("size", f"{width}x{height}")
