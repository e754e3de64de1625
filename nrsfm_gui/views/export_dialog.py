"""One dialog for everything that can be exported: what, in which format, with which options, where to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QLabel, QVBoxLayout, QWidget

from core.exporters import ALIGNMENTS, COORDINATES, INTERPOLATIONS
from nrsfm_gui.export_request import (
    KINDS,
    PLOTS,
    TURNINGS,
    WHICH_FRAMES,
    ExportContext,
    ExportRequest,
)
from nrsfm_gui.movie_options import VIEWS, MovieOptions

from .export_fields import PairField, PathField
from .fields import NumberField, push_button
from .form import Form
from .sources import Choice

WIDTH = 560
ALIGN_TITLES = {
    "none": "none: calibrated units",
    "scale": "size of the ground truth",
    "truth": "every frame by a similarity",
    "sequence": "all frames by one similarity",
}
NO_TRUTH = "The sequence has no ground truth."
NO_RECONSTRUCTION = "There is no reconstruction yet: press Run (Ctrl+R)."


class ExportDialog(QDialog):
    """Asks what to export; it blocks nothing, and keeps its choices while the application runs.

    Signals
    -------
    requested(ExportRequest)
        what was chosen.
    """

    requested = pyqtSignal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export")
        self._context = ExportContext()
        self._typed = False  # whether somebody named the file
        self._formats: dict[str, str] = {}  # the one chosen last of every kind
        self._make_editors()
        self._form = self._make_form()
        self._note = QLabel()
        self._note.setProperty("role", "muted")
        self._note.setWordWrap(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self._export = push_button("Export", "Write the file, beside the window", self._request)
        self._export.setDefault(True)
        buttons.addButton(self._export, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setSpacing(10)
        for part in (self._form, self._note):
            layout.addWidget(part)
        layout.addStretch(1)
        layout.addWidget(buttons)
        self.setMinimumWidth(WIDTH)
        self._show_kind()

    # What is shown

    def set_context(self, context: ExportContext) -> None:
        """Take what the window shows: names, frames, and what is possible."""
        other = (context.name, context.frame_count) != (self._context.name, self._context.frame_count)
        ranged = context.frames != self._context.frames
        self._context = context
        if other or ranged:
            self.range.set_values((context.frames[0] + 1, context.frames[1] + 1))
        if other:
            self.align.set_key("truth" if context.truth else "none")
        for key in ("scale", "truth", "sequence"):
            self.align.set_available(key, context.truth, why_not=NO_TRUTH)
        if not context.truth:
            self.align.set_key("none")
        for key, kind in KINDS.items():
            possible = context.reconstruction or kind.needs == "sequence"
            self.what.set_available(key, possible, why_not=NO_RECONSTRUCTION)
        if not context.reconstruction and KINDS[self.what.key].needs != "sequence":
            self.what.set_key("movie")
        self._show_kind()

    def choose(self, kind: str) -> None:
        """Show the options of a key of KINDS."""
        self.what.set_key(kind)
        self._typed = False
        self._show_kind()

    def request(self) -> ExportRequest:
        """Return what is chosen.

        Raises
        ------
        ValueError
            with a sentence, where a field is refused.
        """
        kind, rows = self.what.key, KINDS[self.what.key].rows
        options: dict[str, Any] = {}
        for name, editor in (("coordinates", self.coordinates), ("align", self.align)):
            if name in rows:
                options[name] = editor.key
        if "mirror" in rows:
            options["mirror"] = self.mirror.isChecked()
        if "frames" in rows:
            one = self.frames.key == "one"
            options |= {"frames": self.frames.key, "frame": self._context.frame if one else None}
            options["text"] = self.text.isChecked() and self.format.key == ".ply"
        if "interpolation" in rows:
            options |= {"fps": _positive(self.fps, "fps"), "interpolation": self.interpolation.key}
        movie = self._movie() if "view" in rows else None
        return ExportRequest(kind, self.path.path, options, movie, self.plot.key if kind == "plot" else "")

    # Making

    def _make_editors(self) -> None:
        self.what = Choice(
            {key: kind.tip for key, kind in KINDS.items()},
            titles={key: kind.title for key, kind in KINDS.items()},
        )
        self.format = Choice({})
        self.view = Choice(VIEWS, titles=VIEWS)
        self.plot = Choice(PLOTS, titles=PLOTS)
        self.frames = Choice(WHICH_FRAMES, titles=WHICH_FRAMES)
        self.range = PairField("to", "", ("First frame, counted from 1", "Last frame"))
        self.seconds = NumberField()
        self.seconds.set_value(6.0)
        self.coordinates = Choice(COORDINATES, titles={"object": "of the object", "camera": "of each camera"})
        self.align = Choice(ALIGNMENTS, titles=ALIGN_TITLES)
        self.mirror = QCheckBox("where that is nearer")
        self.text = QCheckBox("readable text, not binary")
        self.size_field = PairField("×", "px", ("Width in pixels", "Height in pixels"))
        self.size_field.set_values(self._context.view_size)
        self.fps = NumberField()
        self.fps.set_value(15.0)
        self.turning = Choice(TURNINGS, titles={"none": "none", "once": "one turn", "speed": "at a speed"})
        self.speed = NumberField()
        self.speed.set_value(30.0)
        self.interpolation = Choice(INTERPOLATIONS, titles={"linear": "straight lines", "step": "steps"})
        self.path = PathField()

    def _make_form(self) -> Form:
        form = Form()
        for name, label, editor, tip in (
            ("what", "export", self.what, "What is written."),
            ("format", "format", self.format, "The file format; its suffix ends the file's name."),
            ("view", "view", self.view, "Which view, as it is drawn now."),
            ("plot", "plot", self.plot, "Which plot is written."),
            ("frames", "frames", self.frames, "Which frames; numbered files count from 1, as the window."),
            ("range", "frames", self.range, "First and last frame of the movie, counted from 1."),
            ("seconds", "duration", self.seconds, "How long a single frame is shown, in seconds."),
            ("coordinates", "coordinates", self.coordinates, "Of the object, S, or of each camera, R S + t."),
            (
                "align",
                "alignment",
                self.align,
                "How shapes are laid over the ground truth, and its unit.",
            ),
            ("mirror", "mirror image", self.mirror, "Take the mirror image if the ground truth is nearer."),
            ("text", "text", self.text, "Write a PLY file that can be read, not a smaller one."),
            ("size", "size", self.size_field, "Width and height in pixels; an MP4 takes even numbers."),
            ("fps", "frames per second", self.fps, "How fast the frames follow: above 0, up to 240."),
            ("turning", "turntable", self.turning, "Whether the 3-D camera turns around the object."),
            ("speed", "degrees per second", self.speed, "Speed of the turntable; below 0 it turns back."),
            ("interpolation", "between frames", self.interpolation, "How points move between frames."),
            ("path", "file", self.path, "Where to; other files of the name are replaced."),
        ):
            form.add(name, label, editor, tip=tip)
        self.what.chosen.connect(self.choose)
        for choice in (self.format, self.view, self.plot, self.frames, self.align, self.turning):
            choice.chosen.connect(lambda _key: self._show_rows())
        for field in (self.range, self.size_field):
            field.edited.connect(self._show_rows)
        self.path.edited.connect(self._take_name)
        for number in (self.seconds, self.fps, self.speed):
            number.textChanged.connect(lambda _text: self._check())
        return form

    # Keeping it consistent

    def _show_kind(self) -> None:
        """Offer the formats of what is chosen."""
        kind = self.what.key
        known = self._formats.get(kind)
        self.format.clear()
        for suffix, label in KINDS[kind].formats.items():
            self.format.add(suffix, f"{label} (*{suffix})", label)
        if known in KINDS[kind].formats:
            self.format.set_key(str(known))
        self._show_rows()

    def _show_rows(self) -> None:
        """Show the rows that matter, and propose a name that nobody typed."""
        kind, suffix = self.what.key, self.format.key
        self._formats[kind] = suffix
        rows = set(KINDS[kind].rows)
        if suffix != ".ply":
            rows.discard("text")
        if suffix != ".ply" and self.frames.key == "stacked":
            self.frames.set_key("numbered")
        self.frames.set_available("stacked", suffix == ".ply", why_not="Only a PLY file tells frames apart.")
        if self.align.key not in ("truth", "sequence"):
            rows.discard("mirror")
        if not self._single:
            rows.discard("seconds")
        if self.view.key != "3d":
            rows -= {"turning", "speed"}
        if self.turning.key != "speed":
            rows.discard("speed")
        for name in self._form.names:
            self._form.set_row_visible(name, name in rows or name in ("what", "format", "path"))
        self.path.filter = f"{KINDS[kind].formats[suffix]} (*{suffix})"
        self._propose(suffix)
        self._check()
        self.adjustSize()

    @property
    def _single(self) -> bool:
        """Whether one frame is filmed."""
        try:
            first, last = self.range.values()
        except ValueError:
            return False
        return first == last

    def _take_name(self) -> None:
        """Keep a name that was typed or chosen."""
        self._typed = True
        self._check()

    def _propose(self, suffix: str) -> None:
        """Name the file after the sequence and what is chosen; of a name that was typed, only the suffix."""
        typed, kind = self.path.line.text().strip(), self.what.key
        if self._typed and typed:
            known = [end for each in KINDS.values() for end in each.formats if typed.lower().endswith(end)]
            ending = max(known, key=len, default="")
            self.path.set_path(Path(typed[: len(typed) - len(ending)] + suffix))
            return
        part = {"plot": self.plot.key, "report": "report"}.get(kind, "")
        part = self.view.key if "view" in KINDS[kind].rows else part
        stem = f"{self._context.name}-{part}" if part else self._context.name
        folder = Path(typed).parent
        if not folder.is_absolute():
            folder = Path(self._context.folder)
        self.path.set_path(folder / f"{stem}{suffix}")

    def _check(self) -> None:
        """Note what is refused, and what would be replaced."""
        notes = dict.fromkeys(self._form.names, "")
        notes["format"] = self._context.missing.get(self.format.key, "")
        path = self.path.path
        if not self.path.line.text().strip() or path.name == self.format.key:
            notes["path"] = "Give a file."
        elif not path.parent.is_dir():
            notes["path"] = f"There is no folder {path.parent}."
        elif path.is_dir():
            notes["path"] = f"{path} is a folder."
        for name, refusal in self._refusals().items():
            notes[name] = refusal
        for name, sentence in notes.items():
            self._form.set_note(name, sentence)
        self._export.setEnabled(not any(notes.values()))
        replaced = "The file is there already, and is replaced. " if path.is_file() else ""
        self._note.setText(f"{replaced}{KINDS[self.what.key].tip}.")

    def _refusals(self) -> dict[str, str]:
        """Return what is wrong with fields that are shown, by row."""
        kind, found = KINDS[self.what.key], {}
        for name, read in (
            ("fps", lambda: _positive(self.fps, "fps")),
            ("seconds", lambda: _positive(self.seconds, "duration") if self._single else 0),
            ("speed", self.speed.value),
            ("size", self.size_field.values),
            ("range", self._range),
        ):
            if name in kind.rows:
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

    def _range(self) -> tuple[int, int]:
        first, last = self.range.values()
        if not 1 <= first <= last <= self._context.frame_count:
            raise ValueError(f"there are frames 1 to {self._context.frame_count}, in this order")
        return first - 1, last - 1

    def _movie(self) -> MovieOptions:
        width, height = self.size_field.values()
        if self.what.key == "picture":
            frame = self._context.frame
            return MovieOptions(view=self.view.key, width=width, height=height, first=frame, last=frame)
        first, last = self._range()
        turning = self.turning.key if self.view.key == "3d" else "none"
        return MovieOptions(
            view=self.view.key,
            width=width,
            height=height,
            fps=_positive(self.fps, "fps"),
            first=first,
            last=last,
            seconds=_positive(self.seconds, "duration") if first == last else 1.0,
            turn=float(self.speed.value() or 0.0) if turning == "speed" else 0.0,
            one_turn=turning == "once",
        )

    def _request(self) -> None:
        self._check()
        if self._export.isEnabled():
            self.requested.emit(self.request())
            self.accept()


def _positive(field: NumberField, name: str) -> float:
    value = field.value()
    if value is None or not value > 0:
        raise ValueError(f"{name} must be above 0")
    return float(value)
