"""The export dialog: what to export, the format, its options, and the path."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtGui import QShowEvent
from PyQt6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from core import WRITERS
from core.io.writers import ALIGNMENTS, COLORS, COORDINATES, DEFAULT_FPS, INTERPOLATIONS
from nrsfm_gui.export.export_request import (
    FIGURES,
    KINDS,
    SHAPES,
    TURNINGS,
    VIEWS,
    WHICH_FRAMES,
    ExportContext,
    ExportKind,
    MovieOptions,
    parse_frames,
)
from nrsfm_gui.widgets.dialogs import PathKind, ask_for_path
from nrsfm_gui.widgets.fields import Choice, NumberField, PairField, filled, push_button
from nrsfm_gui.widgets.form import Form
from nrsfm_gui.widgets.labels import PlainLabel, known
from nrsfm_gui.widgets.plots.plot_export import FigureSize

FIRST_VALUES = {
    "paper": (FigureSize.width, FigureSize.height),
    "dpi": FigureSize.dpi,
    "seconds": 6.0,
    "size": (1280, 720),
    "fps": DEFAULT_FPS,
    "speed": 30.0,
    "shapes": SHAPES,
}
COORDINATE_TITLES = {
    "upright": "upright, y up",
    "object": "of the solver or the truth",
    "camera": "of each camera",
}
ALIGN_TITLES = {
    "none": "none: calibrated units, or those of a known length",
    "scale": "size of the ground truth",
    "truth": "every frame by a similarity",
    "sequence": "all frames by one similarity",
}
COLOR_TITLES = {"plain": "one color", "std": "standard deviation", "error": "3-D error"}
TURNING_TITLES = {"none": "none", "once": "one turn", "speed": "at a speed"}
INTERPOLATION_TITLES = {"linear": "straight lines", "step": "steps"}
WIDTH = 560
ALWAYS_POSSIBLE = {"align": "none", "color": "plain", "figure": "shapes", "what": "movie"}
ALWAYS_SHOWN = ("what", "format", "path")
NOTE_LINES, MARGINS = 3, 60  # lines of the sentence below the form; pixels around everything
NO_STD = "The reconstruction has no standard deviations: a refinement finds them."
NO_TRUTH = "The sequence has no ground truth."
NO_RECONSTRUCTION = "There is no reconstruction yet: press Run (Ctrl+R)."


class PathField(QWidget):
    """A field for the path to write, with a button that opens a file dialog."""

    edited = pyqtSignal()  # another path was typed or chosen

    def __init__(self) -> None:
        super().__init__()
        self.filter = ""
        self.line = QLineEdit()
        self.line.setAccessibleName("File to write")
        self.line.textEdited.connect(lambda _text: self.edited.emit())
        button = push_button("…", "Choose the file to write", self._ask)
        button.setAccessibleName("Choose the file to write")
        button.setFixedWidth(32)
        button.setAutoDefault(False)  # Return in a field exports
        filled(QHBoxLayout(self), self.line, button, grows=self.line)

    @property
    def path(self) -> Path:
        """The text of the field."""
        return Path(self.line.text().strip())

    def _ask(self) -> None:
        kind, start = PathKind.NEW_FILE, self.line.text()
        ask_for_path(self, "Export", self._set_path, kind=kind, start=start, filters=self.filter)

    def _set_path(self, path: Path) -> None:
        self.line.setText(str(path))
        self.edited.emit()


class ExportForm(Form):
    """All rows of the dialog, from one table; the dialog decides which are visible."""

    changed = pyqtSignal(str)  # the name of a row that has another value

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        cm = ("Width in centimeters", "Height in centimeters")
        pixels = ("Width in pixels", "Height in pixels")
        first_last = ("First frame, counted from 1", "Last frame")
        self.path = PathField()
        self.choices: dict[str, Choice] = {}  # by the names of their rows
        for name, label, editor, tip in (
            ("what", "export", _choice_of(KINDS), "What is written."),
            ("format", "format", Choice({}), "The file format; its suffix ends the file's name."),
            ("view", "view", Choice(VIEWS, titles=VIEWS), "Which view, as it is drawn now."),
            ("figure", "figure", _choice_of(FIGURES), "Which figure is written."),
            ("shapes", "frames", QLineEdit(), 'Numbers from 1, as "1, 25, 50", or "5 evenly".'),
            ("paper", "size (cm)", PairField("×", cm, integer=False),
             "Width and height on paper, in centimeters; text is in points."),
            ("dpi", "dots per inch", NumberField(integer=True),
             "Of a PNG. A PDF is a drawing of any resolution."),
            ("transparent", "background", QCheckBox("none: what is behind the picture shows through"),
             "Whether a picture of the 3-D view has none."),
            ("frames", "frames", Choice(WHICH_FRAMES, titles=WHICH_FRAMES),
             "Which frames; numbered files count from 1, as the window."),
            ("range", "frames", PairField("to", first_last),
             "First and last frame of the movie, counted from 1."),
            ("seconds", "duration (s)", NumberField(), "How long a single frame is shown, in seconds."),
            ("coordinates", "coordinates", Choice(COORDINATES, titles=COORDINATE_TITLES),
             "Of the object, S, or of each camera, R S + t."),
            ("align", "alignment", Choice(ALIGNMENTS, titles=ALIGN_TITLES),
             "How shapes are laid over the ground truth, and its unit."),
            ("mirror", "mirror image", QCheckBox("use it where it is nearer to the truth"),
             "Take the mirror image if the ground truth is nearer."),
            ("color", "color", Choice(COLORS, titles=COLOR_TITLES),
             "What the color of a point shows, along viridis."),
            ("text", "text", QCheckBox("readable text, not binary"),
             "Write a PLY file that can be read, not a smaller one."),
            ("size", "size (px)", PairField("×", pixels),
             "Width and height in pixels; an MP4 accepts even numbers."),
            ("fps", "frames per second", NumberField(), "How fast the frames follow: above 0, up to 240."),
            ("turning", "turntable", Choice(TURNINGS, titles=TURNING_TITLES),
             "Whether the 3-D camera turns around the object."),
            ("speed", "degrees per second", NumberField(),
             "Speed of the turntable; below 0 it turns back."),
            ("video", "video", QCheckBox("behind the camera, at the size of its picture"),
             "Pictures of all frames beside USD, of the first inside glTF."),
            ("interpolation", "between frames", Choice(INTERPOLATIONS, titles=INTERPOLATION_TITLES),
             "How points move between frames."),
            ("path", "file", self.path, "Where to; other files of the name are replaced."),
        ):  # fmt: skip
            self.add(name, label, editor, tip=tip)
            self._report_changes(name, editor)
        for name, value in FIRST_VALUES.items():
            self.set_value(name, value)

    def _report_changes(self, name: str, editor: QWidget) -> None:
        if isinstance(editor, Choice):
            self.choices[name] = editor
            editor.chosen.connect(lambda _key: self.changed.emit(name))
        elif isinstance(editor, PairField | PathField):
            editor.edited.connect(lambda: self.changed.emit(name))
        elif isinstance(editor, QLineEdit):
            editor.textChanged.connect(lambda _text: self.changed.emit(name))

    def value(self, name: str) -> Any:
        """Return what is chosen or typed in a row. Raises ValueError with a sentence where it is refused."""
        editor: Any = self.rows[name].editor
        if isinstance(editor, QCheckBox):
            return editor.isChecked()
        return editor.text() if type(editor) is QLineEdit else editor.value()

    def set_value(self, name: str, value: Any) -> None:
        """Show another value of a row, as `value` returns it."""
        editor: Any = self.rows[name].editor
        if isinstance(editor, QCheckBox):
            editor.setChecked(value)
        elif type(editor) is QLineEdit:
            editor.setText(value)
        else:
            editor.set_value(value)


def _choice_of(kinds: Mapping[str, ExportKind]) -> Choice:
    titles = {key: kind.title for key, kind in kinds.items()}
    return Choice({key: kind.tip for key, kind in kinds.items()}, titles=titles)


class ExportDialog(QDialog):
    """The export dialog. It is not modal, and keeps its choices while the application runs."""

    requested = pyqtSignal(str, object, object)  # a key of KINDS, a path, and the options of what writes it

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export")
        self._context = ExportContext()
        self._typed = False  # whether the user typed a name
        self._formats: dict[str, str] = {}  # the one chosen last of every kind
        self.form = ExportForm()
        self.form.changed.connect(self._on_changed)
        self._note = PlainLabel(role="muted")
        self._note.setWordWrap(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self._export = push_button("Export", "Write the file in the background", self._request)
        self._export.setDefault(True)
        buttons.addButton(self._export, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.rejected.connect(self.reject)
        close = known(buttons.button(QDialogButtonBox.StandardButton.Close))  # it was asked for
        close.setAutoDefault(False)  # Return exports, wherever the focus was before
        filled(QVBoxLayout(self), self.form, self._note, None, buttons, spacing=10, margins=None)
        self.setMinimumWidth(WIDTH)
        self._show_kind()

    # What is shown

    def showEvent(self, event: QShowEvent | None) -> None:
        """Use the height of the longest form from the start, so that the buttons do not move."""
        longest = max(len(kind.rows) for kind in KINDS.values()) + len(ALWAYS_SHOWN)
        row = self.form.path.sizeHint().height() + self.form.spacing
        below = self._note.fontMetrics().lineSpacing() * NOTE_LINES + self._export.sizeHint().height()
        self.setMinimumHeight(longest * row + below + MARGINS)
        super().showEvent(event)

    def set_context(self, context: ExportContext) -> None:
        """Set what can be exported: names, frames, formats."""
        form, before, self._context = self.form, self._context, context
        other = (context.name, context.frame_count) != (before.name, before.frame_count)
        if other or context.frames != before.frames:
            form.set_value("range", context.frames)
        if other:
            for name in ("fps", "align", "mirror"):
                form.set_value(name, getattr(context, name))
        choices = form.choices
        for key in ("scale", "truth", "sequence"):
            choices["align"].set_available(key, context.truth, why_not=NO_TRUTH)
        choices["color"].set_available("error", context.truth, why_not=NO_TRUTH)
        choices["color"].set_available("std", context.std, why_not=NO_STD)
        for name, kinds in (("figure", FIGURES), ("what", KINDS)):
            for key, kind in kinds.items():
                possible = context.reconstruction or not kind.needs_run
                choices[name].set_available(key, possible, why_not=NO_RECONSTRUCTION)
        for name, key in ALWAYS_POSSIBLE.items():
            if choices[name].refusal(choices[name].key):
                choices[name].set_key(key)
        self._show_kind()

    def choose(self, kind: str, figure: str = "") -> None:
        """Show the options of a key of KINDS, and of one of FIGURES."""
        self.form.set_value("what", kind)
        if figure:
            self.form.set_value("figure", figure)
        self._typed = False
        self._show_kind()

    # Keeping it consistent

    def _on_changed(self, name: str) -> None:
        if name == "what":
            self.choose(self.form.value("what"))
        elif name == "path":  # a name that was typed or chosen is kept
            self._typed = True
            self._check()
        else:
            self._update_rows()

    def _show_kind(self) -> None:
        """Offer the formats of what is chosen; values that were left refused become those of the start."""
        kind, choice = self.form.value("what"), self.form.choices["format"]
        known = self._formats.get(kind)
        choice.clear()
        for suffix, label in KINDS[kind].formats.items():
            choice.add(suffix, f"{label} (*{suffix})", _purpose(suffix) or label)
        if known in KINDS[kind].formats:
            choice.set_key(str(known))
        self._update_rows()
        for name, value in (FIRST_VALUES | {"fps": self._context.fps, "range": self._context.frames}).items():
            if name in self._read()[1]:
                self.form.set_value(name, value)

    def _update_rows(self) -> None:
        """Show the rows that apply, and propose a name unless the user typed one."""
        form = self.form
        kind, suffix, frames = form.value("what"), form.value("format"), form.choices["frames"]
        self._formats[kind] = suffix
        if suffix != ".ply" and frames.key == "stacked":
            frames.set_key("numbered")
        frames.set_available("stacked", suffix == ".ply", why_not="Only a PLY file separates the frames.")
        rows = self._rows()
        for name in form.rows:
            form.set_row_visible(name, name in rows or name in ALWAYS_SHOWN)
        form.path.filter = f"{KINDS[kind].formats[suffix]} (*{suffix})"
        self._propose(suffix)
        self._check()

    def _rows(self) -> set[str]:
        """Return the rows of the kind that have a meaning for the format and what is chosen in others."""
        form = self.form
        suffix, view, turning = form.value("format"), form.value("view"), form.value("turning")
        writer, rows = WRITERS.get(suffix), set(KINDS[form.value("what")].rows)
        meaningless = {
            "mirror": form.value("align") not in ("truth", "sequence"),
            "video": not self._context.video,
            "seconds": not self._single,
            "turning": view != "3d",
            "transparent": view != "3d",
            "speed": view != "3d" or turning != "speed",
            "shapes": form.value("figure") != "shapes",
            "dpi": suffix != ".png",
        }
        rows = {name for name in rows if not meaningless.get(name)}
        return rows if writer is None else rows & writer.options

    @property
    def _single(self) -> bool:
        """Whether one frame is filmed."""
        try:
            first, last = self.form.value("range")
        except ValueError:
            return False
        return bool(first == last)

    def _propose(self, suffix: str) -> None:
        """Name the file after the sequence and what is chosen; of a name that was typed, only the suffix."""
        typed, kind = self.form.path.line.text().strip(), self.form.value("what")
        if self._typed and typed:
            known = [end for each in KINDS.values() for end in each.formats if typed.lower().endswith(end)]
            ending = max(known, key=len, default="")
            self.form.path.line.setText(str(Path(typed[: len(typed) - len(ending)] + suffix)))
            return
        part = {"figure": self.form.value("figure"), "report": "report"}.get(kind, "")
        part = self.form.value("view") if "view" in KINDS[kind].rows else part
        stem = f"{self._context.name}-{part}" if part else self._context.name
        folder = Path(typed).parent
        if not (folder.is_absolute() and os.path.isdir(folder)):
            folder = Path(self._context.folder)
        self.form.path.line.setText(str(folder / f"{stem}{suffix}"))

    def _check(self) -> None:
        """Show what is refused, and what would be replaced."""
        path, suffix = self.form.path.path, self.form.value("format")
        notes = dict.fromkeys(self.form.rows, "")
        notes["format"] = self._context.missing.get(suffix, "")
        if not self.form.path.line.text().strip() or path.name == suffix:
            notes["path"] = "Give a file."
        elif not os.path.isdir(path.parent):  # False, too, of what no path can be: `Path` would raise
            notes["path"] = f"There is no folder {path.parent}."
        elif os.path.isdir(path):
            notes["path"] = f"{path} is a folder."
        notes |= self._read()[1]
        for name, sentence in notes.items():
            self.form.set_message(name, sentence)
        self._export.setEnabled(not any(notes.values()))
        replaced = "The file is there already, and is replaced. " if os.path.isfile(self._target) else ""
        sentences = [KINDS[self.form.value("what")].tip, _purpose(suffix)]
        earlier = self._context.earlier and f"Of {self._context.earlier}, which is shown. "
        self._note.setText(replaced + earlier + " ".join(f"{each}." for each in sentences if each))

    # What is chosen

    @property
    def _target(self) -> Path:
        """The file to write: one whose name tells no format of the kind gets the suffix of that chosen."""
        path, formats = self.form.path.path, KINDS[self.form.value("what")].formats
        ends = path.name.lower().endswith(tuple(formats))
        return path if ends or not path.name else path.with_name(path.name + self.form.value("format"))

    def options(self) -> dict[str, Any]:
        """Return what is chosen; of what is refused, which is shown below its field, there is no option."""
        return self._read()[0]

    def _read(self) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the options of what is chosen, and sentences on the rows whose values are refused."""
        values, refusals = {}, {}
        for name in self._rows():
            try:
                values[name] = self._value(name)
            except ValueError as refusal:
                refusals[name] = str(refusal)
        options: dict[str, Any] = {}
        if not refusals:
            try:
                options = self._options(values)
            except ValueError as refusal:  # InputError is one
                rows = ("dpi", "paper") if "paper" in values else ("fps", "seconds", "size")
                refusals[next((row for row in rows if row in str(refusal)), rows[-1])] = str(refusal)
        return options, {name: f"{words[0].upper()}{words[1:]}." for name, words in refusals.items()}

    def _value(self, name: str) -> Any:
        """Return the value of a row. Raises ValueError with a sentence where it is refused."""
        value, count = self.form.value(name), self._context.frame_count
        if name in ("fps", "seconds") and not value > 0:
            raise ValueError(f"{'duration' if name == 'seconds' else name} must be above 0")
        if name == "range" and not 1 <= value[0] <= value[1] <= count:
            raise ValueError(f"there are frames 1 to {count}, in this order")
        if name == "shapes":
            parse_frames(value, count)
        return value

    def _options(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the options of what writes the kind. Raises ValueError where values are refused."""
        kind, frame = self.form.value("what"), self._context.frame
        if kind == "figure":
            width, height = values["paper"]
            size = FigureSize(width, height, values.get("dpi", FigureSize.dpi))
            return {"name": values["figure"], "size": size, "shapes": values.get("shapes", "")}
        if "view" not in values:
            if "frames" in values:
                values["frame"] = frame if values["frames"] == "one" else None
            return values
        first, last = values.get("range", (frame + 1, frame + 1))
        width, height = values["size"]
        options = MovieOptions(
            view=values["view"],
            width=width,
            height=height,
            fps=float(values.get("fps", MovieOptions.fps)),
            first=first - 1,
            last=last - 1,
            seconds=float(values.get("seconds", 1.0)),
            turn=float(values.get("speed", 0.0)),
            one_turn=values.get("turning") == "once",
            transparent=values.get("transparent", False),
        )
        return {"options": options}

    def _request(self) -> None:
        self._check()
        if self._export.isEnabled():
            self.form.path.line.setText(str(self._target))
            self.requested.emit(self.form.value("what"), self.form.path.path, self.options())
            self.accept()


def _purpose(suffix: str) -> str:
    """Return what a format is for, "" where nothing is known of it."""
    purpose = WRITERS[suffix].purpose if suffix in WRITERS else ""
    return f"{purpose[:1].upper()}{purpose[1:]}"
