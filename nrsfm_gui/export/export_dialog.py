"""The export dialog: what to export, the format, its options, and the path."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import pyqtSignal
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
    ExportRequest,
    FigureKind,
    MovieOptions,
    parse_frames,
)
from nrsfm_gui.widgets.dialogs import PathKind, ask_for_path
from nrsfm_gui.widgets.fields import Choice, NumberField, PairField, filled, push_button
from nrsfm_gui.widgets.form import Form
from nrsfm_gui.widgets.labels import PlainLabel
from nrsfm_gui.widgets.plots.plot_export import FigureSize

if TYPE_CHECKING:
    from PyQt6.QtGui import QShowEvent

Kinds = Mapping[str, ExportKind] | Mapping[str, FigureKind]
SIZE = (1280, 720)  # pixels, at first
ALIGN_TITLES = {
    "none": "none: calibrated units, or those of a known length",
    "scale": "size of the ground truth",
    "truth": "every frame by a similarity",
    "sequence": "all frames by one similarity",
}
WIDTH = 560
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

    def set_path(self, path: Path) -> None:
        """Show a path; its end stays in view."""
        self.line.setText(str(path))

    def _ask(self) -> None:
        ask_for_path(
            self,
            "Export",
            self._set_path,
            kind=PathKind.NEW_FILE,
            start=self.line.text(),
            filters=self.filter,
        )

    def _set_path(self, path: Path) -> None:
        self.set_path(path)
        self.edited.emit()


class ExportForm(Form):
    """All rows of the dialog; the dialog decides which are visible."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.what = _choice_of(KINDS)
        self.format = Choice({})
        self.view = Choice(VIEWS, titles=VIEWS)
        self.figure = _choice_of(FIGURES)
        self.shapes = QLineEdit(SHAPES)
        self.paper = PairField("×", ("Width in centimeters", "Height in centimeters"), integer=False)
        self.paper.set_values((FigureSize.width, FigureSize.height))
        self.dpi = NumberField(integer=True)
        self.dpi.set_value(FigureSize.dpi)
        self.transparent = QCheckBox("none: what is behind the picture shows through")
        self.frames = Choice(WHICH_FRAMES, titles=WHICH_FRAMES)
        self.range = PairField("to", ("First frame, counted from 1", "Last frame"))
        self.seconds = NumberField()
        self.seconds.set_value(6.0)
        self.coordinates = Choice(
            COORDINATES,
            titles={
                "upright": "upright, y up",
                "object": "of the solver or the truth",
                "camera": "of each camera",
            },
        )
        self.align = Choice(ALIGNMENTS, titles=ALIGN_TITLES)
        self.mirror = QCheckBox("use it where it is nearer to the truth")
        self.text = QCheckBox("readable text, not binary")
        self.color = Choice(
            COLORS, titles={"plain": "one color", "std": "standard deviation", "error": "3-D error"}
        )
        self.video = QCheckBox("behind the camera, at the size of its picture")
        self.size_field = PairField("×", ("Width in pixels", "Height in pixels"))
        self.size_field.set_values(SIZE)
        self.fps = NumberField()
        self.fps.set_value(DEFAULT_FPS)
        self.turning = Choice(TURNINGS, titles={"none": "none", "once": "one turn", "speed": "at a speed"})
        self.speed = NumberField()
        self.speed.set_value(30.0)
        self.interpolation = Choice(INTERPOLATIONS, titles={"linear": "straight lines", "step": "steps"})
        self.path = PathField()
        for name, label, editor, tip in (
            ("what", "export", self.what, "What is written."),
            ("format", "format", self.format, "The file format; its suffix ends the file's name."),
            ("view", "view", self.view, "Which view, as it is drawn now."),
            ("figure", "figure", self.figure, "Which figure is written."),
            ("shapes", "frames", self.shapes, 'Numbers from 1, as "1, 25, 50", or "5 evenly".'),
            (
                "paper",
                "size (cm)",
                self.paper,
                "Width and height on paper, in centimeters; text is in points.",
            ),
            ("dpi", "dots per inch", self.dpi, "Of a PNG. SVG and PDF are drawings of any resolution."),
            ("transparent", "background", self.transparent, "Whether a picture of the 3-D view has none."),
            ("frames", "frames", self.frames, "Which frames; numbered files count from 1, as the window."),
            ("range", "frames", self.range, "First and last frame of the movie, counted from 1."),
            ("seconds", "duration (s)", self.seconds, "How long a single frame is shown, in seconds."),
            ("coordinates", "coordinates", self.coordinates, "Of the object, S, or of each camera, R S + t."),
            ("align", "alignment", self.align, "How shapes are laid over the ground truth, and its unit."),
            ("mirror", "mirror image", self.mirror, "Take the mirror image if the ground truth is nearer."),
            ("color", "color", self.color, "What the color of a point shows, along viridis."),
            ("text", "text", self.text, "Write a PLY file that can be read, not a smaller one."),
            (
                "size",
                "size (px)",
                self.size_field,
                "Width and height in pixels; an MP4 accepts even numbers.",
            ),
            ("fps", "frames per second", self.fps, "How fast the frames follow: above 0, up to 240."),
            ("turning", "turntable", self.turning, "Whether the 3-D camera turns around the object."),
            ("speed", "degrees per second", self.speed, "Speed of the turntable; below 0 it turns back."),
            ("video", "video", self.video, "Pictures of all frames beside USD, of the first inside glTF."),
            ("interpolation", "between frames", self.interpolation, "How points move between frames."),
            ("path", "file", self.path, "Where to; other files of the name are replaced."),
        ):
            self.add(name, label, editor, tip=tip)


def _choice_of(kinds: Kinds) -> Choice:
    titles = {key: kind.title for key, kind in kinds.items()}
    return Choice({key: kind.tip for key, kind in kinds.items()}, titles=titles)


class ExportDialog(QDialog):
    """The export dialog. It is not modal, and keeps its choices while the application runs."""

    requested = pyqtSignal(object)  # what was chosen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export")
        self._context = ExportContext()
        self._typed = False  # whether the user typed a name
        self._formats: dict[str, str] = {}  # the one chosen last of every kind
        self.form = ExportForm()
        self._connect()
        self._note = PlainLabel(role="muted")
        self._note.setWordWrap(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self._export = push_button("Export", "Write the file in the background", self._request)
        self._export.setDefault(True)
        buttons.addButton(self._export, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.rejected.connect(self.reject)
        close = buttons.button(QDialogButtonBox.StandardButton.Close)
        assert close is not None  # it was asked for
        close.setAutoDefault(False)  # Return exports, wherever the focus was before
        layout = QVBoxLayout(self)
        layout.setSpacing(10)
        for part in (self.form, self._note):
            layout.addWidget(part)
        layout.addStretch(1)
        layout.addWidget(buttons)
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
        other = (context.name, context.frame_count) != (self._context.name, self._context.frame_count)
        ranged = context.frames != self._context.frames
        self._context = context
        if other or ranged:
            self.form.range.set_values((context.frames[0] + 1, context.frames[1] + 1))
        if other:
            self.form.fps.set_value(context.fps)
            self.form.align.set_key(context.align)
            self.form.mirror.setChecked(context.mirror)
        for key in ("scale", "truth", "sequence"):
            self.form.align.set_available(key, context.truth, why_not=NO_TRUTH)
        self.form.color.set_available("error", context.truth, why_not=NO_TRUTH)
        self.form.color.set_available("std", context.std, why_not=NO_STD)
        if not {"plain": True, "std": context.std, "error": context.truth}[self.form.color.key]:
            self.form.color.set_key("plain")
        if not context.truth:
            self.form.align.set_key("none")
        self._offer(self.form.figure, FIGURES, "shapes")
        self._offer(self.form.what, KINDS, "movie")
        self._show_kind()

    def _offer(self, choice: Choice, kinds: Kinds, first: str) -> None:
        """Offer what is possible now: `first` always is."""
        there = self._context.reconstruction
        for key, kind in kinds.items():
            choice.set_available(key, there or kind.needs == "sequence", why_not=NO_RECONSTRUCTION)
        if not there and kinds[choice.key].needs != "sequence":
            choice.set_key(first)

    def choose(self, kind: str, figure: str = "") -> None:
        """Show the options of a key of KINDS, and of one of FIGURES."""
        self.form.what.set_key(kind)
        if figure:
            self.form.figure.set_key(figure)
        self._typed = False
        self._show_kind()

    def request(self) -> ExportRequest:
        """Return what is chosen. Raises ValueError with a sentence, where a field is refused."""
        kind, rows = self.form.what.key, self._rows()
        form = self.form
        values: dict[str, Any] = {
            "coordinates": form.coordinates.key,
            "align": form.align.key,
            "color": form.color.key,
            "mirror": form.mirror.isChecked(),
            "frames": form.frames.key,
            "text": form.text.isChecked(),
            "video": self._context.video and form.video.isChecked(),
            "interpolation": form.interpolation.key,
        }
        options = {name: value for name, value in values.items() if name in rows}
        if "frames" in rows:
            options["frame"] = self._context.frame if form.frames.key == "one" else None
        if "fps" in rows and "view" not in rows:
            options["fps"] = _positive(self.form.fps, "fps")
        movie = self._movie() if "view" in rows else None
        if kind != "figure":
            clear = "transparent" in rows and self.form.view.key == "3d" and self.form.transparent.isChecked()
            return ExportRequest(kind, self.form.path.path, options, movie, transparent=clear)
        return ExportRequest(
            kind,
            self.form.path.path,
            figure=self.form.figure.key,
            figure_size=self._figure_size(),
            shapes=self.form.shapes.text(),
        )

    def _connect(self) -> None:
        form = self.form
        form.what.chosen.connect(self.choose)
        for choice in (form.format, form.view, form.figure, form.frames, form.align, form.turning):
            choice.chosen.connect(lambda _key: self._update_rows())
        for field in (form.range, form.size_field):
            field.edited.connect(self._update_rows)
        form.paper.edited.connect(self._check)
        form.shapes.textEdited.connect(lambda _text: self._check())
        form.path.edited.connect(self._on_path_edited)
        for number in (form.seconds, form.fps, form.speed, form.dpi):
            number.textChanged.connect(lambda _text: self._check())

    # Keeping it consistent

    def _show_kind(self) -> None:
        """Offer the formats of what is chosen."""
        kind = self.form.what.key
        known = self._formats.get(kind)
        self.form.format.clear()
        for suffix, label in KINDS[kind].formats.items():
            self.form.format.add(suffix, f"{label} (*{suffix})", _purpose(suffix) or label)
        if known in KINDS[kind].formats:
            self.form.format.set_key(str(known))
        self._update_rows()

    def _update_rows(self) -> None:
        """Show the rows that apply, and propose a name unless the user typed one."""
        form = self.form
        kind, suffix = form.what.key, form.format.key
        self._formats[kind] = suffix
        rows = {*ALWAYS_SHOWN, *self._rows()}
        if suffix != ".ply" and form.frames.key == "stacked":
            form.frames.set_key("numbered")
        form.frames.set_available(
            "stacked", suffix == ".ply", why_not="Only a PLY file separates the frames."
        )
        if form.align.key not in ("truth", "sequence"):
            rows.discard("mirror")
        if not self._context.video:
            rows.discard("video")
        if not self._single:
            rows.discard("seconds")
        if form.view.key != "3d":
            rows -= {"turning", "speed", "transparent"}
        if form.figure.key != "shapes":
            rows.discard("shapes")
        if suffix != ".png":
            rows.discard("dpi")
        if form.turning.key != "speed":
            rows.discard("speed")
        for name in form.names:
            form.set_row_visible(name, name in rows)
        form.path.filter = f"{KINDS[kind].formats[suffix]} (*{suffix})"
        self._propose(suffix)
        self._check()

    def _rows(self) -> set[str]:
        """Return the rows of the kind that have a meaning for the format."""
        rows, writer = set(KINDS[self.form.what.key].rows), WRITERS.get(self.form.format.key)
        return rows if writer is None else rows & writer.options

    @property
    def _single(self) -> bool:
        """Whether one frame is filmed."""
        try:
            first, last = self.form.range.values()
        except ValueError:
            return False
        return first == last

    def _on_path_edited(self) -> None:
        """Keep a name that was typed or chosen."""
        self._typed = True
        self._check()

    def _propose(self, suffix: str) -> None:
        """Name the file after the sequence and what is chosen; of a name that was typed, only the suffix."""
        typed, kind = self.form.path.line.text().strip(), self.form.what.key
        if self._typed and typed:
            known = [end for each in KINDS.values() for end in each.formats if typed.lower().endswith(end)]
            ending = max(known, key=len, default="")
            self.form.path.set_path(Path(typed[: len(typed) - len(ending)] + suffix))
            return
        part = {"figure": self.form.figure.key, "report": "report"}.get(kind, "")
        part = self.form.view.key if "view" in KINDS[kind].rows else part
        stem = f"{self._context.name}-{part}" if part else self._context.name
        folder = Path(typed).parent
        if not folder.is_absolute():
            folder = Path(self._context.folder)
        self.form.path.set_path(folder / f"{stem}{suffix}")

    def _check(self) -> None:
        """Show what is refused, and what would be replaced."""
        notes = dict.fromkeys(self.form.names, "")
        notes["format"] = self._context.missing.get(self.form.format.key, "")
        path = self.form.path.path
        if not self.form.path.line.text().strip() or path.name == self.form.format.key:
            notes["path"] = "Give a file."
        elif not os.path.isdir(path.parent):  # False, too, of what no path can be: `Path` would raise
            notes["path"] = f"There is no folder {path.parent}."
        elif os.path.isdir(path):
            notes["path"] = f"{path} is a folder."
        notes |= self._refusals()
        for name, sentence in notes.items():
            self.form.set_message(name, sentence)
        self._export.setEnabled(not any(notes.values()))
        replaced = "The file is there already, and is replaced. " if os.path.isfile(path) else ""
        sentences = [KINDS[self.form.what.key].tip, _purpose(self.form.format.key)]
        earlier = self._context.earlier and f"Of {self._context.earlier}, which is shown. "
        self._note.setText(replaced + earlier + " ".join(f"{each}." for each in sentences if each))

    def _refusals(self) -> dict[str, str]:
        """Return what is wrong with fields that are shown, by row."""
        kind, found = KINDS[self.form.what.key], {}
        for name, read in (
            ("fps", lambda: _positive(self.form.fps, "fps")),
            ("seconds", lambda: _positive(self.form.seconds, "duration") if self._single else 0),
            ("speed", self.form.speed.value),
            ("size", self.form.size_field.values),
            ("range", self._range),
            ("paper", self._figure_size),
            ("shapes", lambda: parse_frames(self.form.shapes.text(), self._context.frame_count)),
        ):
            if name in kind.rows and (name != "shapes" or self.form.figure.key == "shapes"):
                try:
                    read()
                except ValueError as refusal:
                    found[name] = f"{str(refusal)[0].upper()}{str(refusal)[1:]}."
        if "view" in kind.rows and not found:
            try:
                self._movie()
            except ValueError as refusal:  # InputError is one
                name = next((row for row in ("fps", "seconds") if row in str(refusal)), "size")
                found[name] = f"{str(refusal)[0].upper()}{str(refusal)[1:]}."
        return found

    def _figure_size(self) -> FigureSize:
        width, height = self.form.paper.numbers()
        return FigureSize(width, height, int(self.form.dpi.value() or 0))

    def _range(self) -> tuple[int, int]:
        first, last = self.form.range.values()
        if not 1 <= first <= last <= self._context.frame_count:
            raise ValueError(f"there are frames 1 to {self._context.frame_count}, in this order")
        return first - 1, last - 1

    def _movie(self) -> MovieOptions:
        width, height = self.form.size_field.values()
        if self.form.what.key == "picture":
            frame = self._context.frame
            return MovieOptions(view=self.form.view.key, width=width, height=height, first=frame, last=frame)
        first, last = self._range()
        turning = self.form.turning.key if self.form.view.key == "3d" else "none"
        return MovieOptions(
            view=self.form.view.key,
            width=width,
            height=height,
            fps=_positive(self.form.fps, "fps"),
            first=first,
            last=last,
            seconds=_positive(self.form.seconds, "duration") if first == last else 1.0,
            turn=float(self.form.speed.value() or 0.0) if turning == "speed" else 0.0,
            one_turn=turning == "once",
        )

    def _request(self) -> None:
        self._check()
        if self._export.isEnabled():
            self.requested.emit(self.request())
            self.accept()


def _purpose(suffix: str) -> str:
    """Return what a format is for, "" where nothing is known of it."""
    purpose = WRITERS[suffix].purpose if suffix in WRITERS else ""
    return f"{purpose[:1].upper()}{purpose[1:]}"


def _positive(field: NumberField, name: str) -> float:
    value = field.value()
    if value is None or not value > 0:
        raise ValueError(f"{name} must be above 0")
    return float(value)
