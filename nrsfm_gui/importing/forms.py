"""The parts of the import dialog: the arrays of a file, how it is read, and how its tracks were filmed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from core import CameraModel
from core.cameras import DEFAULT_RATIO, view_of_focal
from core.foundation import printable_name
from core.io.readers import ArrayEntry, FileContents, ReadingOptions
from nrsfm_gui.engine.throttle import TYPING_MILLISECONDS, Debounce
from nrsfm_gui.model.app_store import StoredImport
from nrsfm_gui.model.numbers import format_number
from nrsfm_gui.widgets.fields import Choice, NumberField, PairField, grid_layout, with_tip
from nrsfm_gui.widgets.focal_length_editor import FocalLengthEditor
from nrsfm_gui.widgets.form import Form
from nrsfm_gui.widgets.labels import PlainLabel, known, plain_tip

# -- the arrays of a file ------------------------------------------------------------------------------------

TRACKS, SEEN, HIDDEN, UNUSED = "tracks", "visible", "hidden", ""
NONE = "none"  # as a reading option: no array is the visibility
SCORE = "0.5"  # from which on a point is seen, unless another one is given
USES = {
    TRACKS: "The positions of the points in the pictures.",
    SEEN: "Whether a point is seen in a frame: 1, true or a high score where it is.",
    HIDDEN: "Whether a point is hidden in a frame: 1, true or a high score where it is.",
    UNUSED: "The array is left out.",
}
USE_TITLES = {
    TRACKS: "tracks",
    SEEN: "visibility: 1 is seen",
    HIDDEN: "visibility: 1 is hidden",
    UNUSED: "not used",
}
HEADINGS = ("array", "size", "type", "is read as")
MOST_ROWS = 7  # that are seen without scrolling
LETTERS = 18  # of a size and a type, as wide as their columns: their tips have all


class ArraysTable(QTableWidget):
    """Arrays in rows, each with a choice of what it is read as."""

    use_chosen = pyqtSignal(str, str)  # the name of an array, and a key of USES

    def __init__(self) -> None:
        super().__init__(0, len(HEADINGS))
        self.choices: dict[str, Choice] = {}  # by the name of the array
        self.setAccessibleName("Arrays of the file")
        self.setHorizontalHeaderLabels(HEADINGS)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Tab goes through the choices
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        vertical, header = known(self.verticalHeader()), known(self.horizontalHeader())
        vertical.hide()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)

    def set_arrays(
        self, arrays: Collection[ArrayEntry], reading: Mapping[str, Any], *, editable: bool = True
    ) -> None:
        """Show arrays and what each is read as, `editable` where that is left open; emits nothing."""
        names = [each.name for each in arrays]
        if names != list(self.choices):
            self.choices = {}
            self.setRowCount(0)
            self.setRowCount(len(names))
            for row, name in enumerate(names):
                self._add_choice(row, name)
        for row, entry in enumerate(arrays):
            kind = "text" if entry.dtype.startswith("<U") else entry.dtype
            for column, text in enumerate((entry.name, entry.size.replace(" x ", " × "), kind)):
                item = QTableWidgetItem(text if column == 0 else printable_name(text, LETTERS))
                item.setToolTip(plain_tip(text))
                item.setFlags(Qt.ItemFlag.ItemIsEnabled)
                self.setItem(row, column, item)
            choice, use = self.choices[entry.name], use_of(entry, reading)
            choice.clear()
            for key in dict.fromkeys((*USES, use)):
                choice.add(key, USE_TITLES.get(key, key), USES.get(key, f"The array is read as {key}."))
            choice.set_key(use)
            choice.setEnabled(editable)
        self.setMaximumHeight(self.sizeHint().height())

    def sizeHint(self) -> QSize:
        """Return the height of all rows, up to MOST_ROWS."""
        header = known(self.horizontalHeader())
        rows = sum(self.rowHeight(row) for row in range(min(self.rowCount(), MOST_ROWS)))
        return QSize(420, header.sizeHint().height() + rows + 2)

    def minimumSizeHint(self) -> QSize:
        """Return the height of the first rows."""
        return QSize(300, min(self.sizeHint().height(), 120))

    def _add_choice(self, row: int, name: str) -> None:
        choice = self.choices[name] = Choice({})
        choice.setMinimumContentsLength(max(map(len, USE_TITLES.values())) - 6)
        with_tip(choice, f"{name} is read as", plain_tip(f"What the array {name} is read as"))
        choice.chosen.connect(lambda key: self.use_chosen.emit(name, key))
        self.setCellWidget(row, len(HEADINGS) - 1, choice)
        self.setRowHeight(row, choice.sizeHint().height() + 4)


def use_of(entry: ArrayEntry, reading: Mapping[str, Any]) -> str:
    """Return the key of USES for an array, or another role; that of an unread file is among the options."""
    visible = str(reading.get("visible", ""))
    if entry.role == "visibility" or (not entry.role and visible.removeprefix("~") == entry.name):
        return HIDDEN if visible.startswith("~") else SEEN
    if not entry.role and reading.get("tracks") == entry.name:
        return TRACKS
    return UNUSED if entry.role == "not read" else entry.role


def reading_with_use(
    reading: Mapping[str, Any], effective: Mapping[str, str], entry: ArrayEntry, use: str
) -> dict[str, Any]:
    """Return the reading options with another use of an array."""
    result, name = dict(reading), entry.name
    shown = str({**reading, **effective}.get("visible", "")).removeprefix("~")
    if use == TRACKS:
        result["tracks"] = name
        if shown == name:
            result["visible"] = NONE
    elif use in (SEEN, HIDDEN):
        result["visible"] = name if use == SEEN else f"~{name}"
        if entry.dtype.startswith("float"):  # scores; of 0 and 1 it is right as well
            result.setdefault("threshold", SCORE)
        if result.get("tracks") == name:
            del result["tracks"]
    elif name == shown:
        result["visible"] = NONE
    elif result.get("tracks") == name:
        del result["tracks"]
    return result


# -- how a file is read --------------------------------------------------------------------------------------

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
        grid = grid_layout(self, 8, 4)
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
        self._sides = self.size_field.first, self.size_field.second
        for option, read, fields in (
            ("threshold", self._read_threshold, (self.threshold,)), ("size", self._read_size, self._sides)
        ):  # fmt: skip
            typed = Debounce(partial(self._emit, option, read), TYPING_MILLISECONDS, self)
            for field in fields:
                field.edited.connect(typed.request)
        choices = {"order": self.order, "xy": self.axes, "individual": self.individual}
        for option, choice in choices.items():
            choice.chosen.connect(partial(self.option_changed.emit, option))
        self.columns.edited.connect(lambda: self.option_changed.emit("columns", self.columns.value()))

    def show_contents(
        self, contents: FileContents, given: Mapping[str, Any], accepted: Collection[str]
    ) -> None:
        """Show the options in effect of a file, or those given where it was not read; emits nothing."""
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
        for name in self.rows:
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
        size = ReadingOptions(size=reading.get("size")).image_size
        if size is None and contents.sequence is not None:
            size = contents.sequence.image_size
        for field, value in zip(self._sides, size or (None, None), strict=True):
            field.setText("" if value is None else str(value))

    def _read_threshold(self) -> str | None:
        value = self.threshold.value()
        return "" if value is None else f"{value:g}"

    def _read_size(self) -> str | None:
        texts = [field.text().strip() for field in self._sides]
        if not all(texts):
            return None if any(texts) else ""  # one of the two is still to be typed
        width, height = self.size_field.value()
        return f"{width}x{height}"

    def _emit(self, option: str, read: Callable[[], str | None]) -> None:
        """Report what was typed, or show why it is refused; None is still being typed."""
        try:
            value = read()
        except ValueError as refusal:
            sentence = str(refusal)
            self.set_message(option, f"{sentence[:1].upper()}{sentence[1:]}.")
            return
        if value is not None:
            self.set_message(option, "")
            self.option_changed.emit(option, value)


# -- how its tracks were filmed ------------------------------------------------------------------------------

AUTO = "auto"  # the file's perspective camera, with the assumed focal length
UNKNOWN, ESTIMATE, KNOWN, ORTHOGONAL = AUTO, "estimate", "known", CameraModel.ORTHOGONAL.value
TITLES = {
    UNKNOWN: "perspective, focal length not known",
    ESTIMATE: "perspective, focal length estimated by each run",
    KNOWN: "perspective, focal length known",
    ORTHOGONAL: "orthogonal: no perspective at all",
}
TIPS = {
    UNKNOWN: f"{DEFAULT_RATIO:g} times the longer side of the picture is assumed.",
    ESTIMATE: "Self-calibration by the tracks, where they determine it; a run takes twice as long.",
    KNOWN: "In pixels, in millimeters of the lens, or as a field of view.",
    ORTHOGONAL: "For very far objects, telephoto lenses and motion capture: size does not change with depth.",
}


class CameraForm(Form):
    """Rows for the camera model and its focal length."""

    edited = pyqtSignal()  # another answer was chosen or typed

    def __init__(self) -> None:
        super().__init__()
        self._size = self._middle = (0.0, 0.0)
        self._guessed = True
        self.kind = Choice(TIPS, titles=TITLES)
        self.focal = FocalLengthEditor()
        self.add("camera", "model", self.kind, tip="How the tracks were filmed.")
        tip = "Of the lens: in pixels, in mm, or as a field of view."
        self.add("focal", "focal length", self.focal, tip=tip)
        self.kind.chosen.connect(self._on_kind_chosen)
        self.focal.edited.connect(self._on_focal_edited)

    def set_picture(self, size: tuple[float, float], middle: tuple[float, float], *, guessed: bool) -> None:
        """Set width, height and middle of the picture in pixels, and whether they are only guessed."""
        self._size, self._middle, self._guessed = size, middle, guessed
        self.focal.set_side(max(size))
        self._show()

    def set_answer(self, how: StoredImport) -> None:
        """Show what was answered when a file was imported; emits nothing."""
        if how.camera_model == ORTHOGONAL:
            self.kind.set_key(ORTHOGONAL)
        elif isinstance(how.intrinsics, tuple):
            self.kind.set_key(KNOWN)
            self.focal.set_focal_length(how.intrinsics[0])
        else:
            self.kind.set_key(ESTIMATE if how.intrinsics == ESTIMATE else UNKNOWN)
            self.focal.set_focal_length(None)
        self._show()

    def answer(self, reading: Mapping[str, Any]) -> StoredImport:
        """Return what is answered. Raises ValueError with a sentence, where the focal length is refused."""
        kind = self.kind.key
        if kind == ORTHOGONAL:
            return StoredImport(reading, AUTO, ORTHOGONAL)
        if kind in (UNKNOWN, ESTIMATE):
            return StoredImport(reading, kind, AUTO)
        focal = self.focal.focal_length()
        return StoredImport(reading, (focal, focal, *self._middle), AUTO)

    def _on_kind_chosen(self, kind: str) -> None:
        if kind == KNOWN:
            try:
                self.focal.focal_length()
            except ValueError:  # none is given yet
                self.focal.set_focal_length(round(DEFAULT_RATIO * max(self._size)))
        self._show()
        if kind == KNOWN:
            self.focal.setFocus()
        self.edited.emit()

    def _on_focal_edited(self) -> None:
        self._show()
        self.edited.emit()

    def _show(self) -> None:
        """Show the rows that apply, and below them what follows from the answer."""
        kind, side = self.kind.key, max(self._size)
        self.set_row_visible("focal", kind == KNOWN)
        guess = " (guessed)" if self._guessed else ""
        note, sentence, refused = TIPS[kind], "", False
        if kind == UNKNOWN:
            assumed = f"{DEFAULT_RATIO:g} × {format_number(side)} = {DEFAULT_RATIO * side:.0f} px is assumed"
            picture = f"{' × '.join(f'{each:.0f}' for each in self._size)} px{guess}"
            note = f"Picture {picture}: {assumed}. An error of 20 % costs little."
        elif kind == KNOWN:
            note = ""
            try:
                focal = self.focal.focal_length()
            except ValueError as refusal:
                sentence, refused = f"{str(refusal)[0].upper()}{str(refusal)[1:]}.", True
            else:
                angle = view_of_focal(focal, side)
                sentence = f"{focal:.0f} px: {angle:.0f}° along the {side:.0f} px of the longer side{guess}."
        self.set_message("camera", note, refused=False)
        self.set_message("focal", sentence, refused=refused)
