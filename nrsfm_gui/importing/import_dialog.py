"""The import dialog: what is understood of a file with tracks, drawn and in words, and how to change it.

Its controller states when it opens, and what an import changes in the session.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PyQt6.QtCore import QObject, QRectF, QSignalBlocker, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QImage, QResizeEvent
from PyQt6.QtWidgets import QDialog, QDialogButtonBox, QFrame, QLabel, QScrollArea, QStackedLayout, QWidget

from core import Sequence
from core.cameras import image_size_of
from core.foundation import printable
from core.io.readers import READING_OPTIONS, FileContents, inspect_file, installed_readers
from nrsfm_gui.engine.jobs import Job, Jobs, Order
from nrsfm_gui.importing.forms import ArraysTable, CameraForm, ReadingForm, reading_with_use
from nrsfm_gui.model.app_store import StoredImport
from nrsfm_gui.model.background import Background
from nrsfm_gui.model.session import Session
from nrsfm_gui.panels.background.image_sources import BackgroundReader
from nrsfm_gui.panels.view2d.tracks_view import TracksView
from nrsfm_gui.scene.scene import build_scene
from nrsfm_gui.scene.shapes import Shapes, build_shapes
from nrsfm_gui.sessions.opening import SequenceOpening
from nrsfm_gui.text.import_text import asks_for_camera, describe_camera, describe_tracks, without_options
from nrsfm_gui.widgets.dialogs import ask_for_path, resize_within_screen
from nrsfm_gui.widgets.fields import Slider, column, push_button, row, with_tip
from nrsfm_gui.widgets.labels import ElidedLabel, PlainLabel

SIZE = QSize(1120, 700)
LEFT, ABOVE_HEADING = 480, 8  # pixels: of the column of questions, and above its headings
HELP_LINK = "<a href='tracks'>Your own tracks: how to save them</a>"
ROOM = 0.04  # of the picture, around it
NOTHING = "The tracks are drawn here once the file is understood."


@dataclass(frozen=True, eq=False)
class Inspected:
    """What one inspection has found, and what is shown of it."""

    contents: FileContents
    shapes: Shapes | None  # None where there are no tracks, as of the fields below
    summary: str = ""
    size: tuple[float, float] = (0.0, 0.0)  # of the picture, guessed where it is not known
    middle: tuple[float, float] = (0.0, 0.0)


def inspect(contents: FileContents) -> Inspected:
    """Return the contents of a file with what is shown of them: a second's work for very many points."""
    sequence = contents.sequence
    if sequence is None:
        return Inspected(contents, None)
    shapes, summary = build_shapes(sequence, None), describe_tracks(sequence)
    return Inspected(contents, shapes, summary, *image_size_of(sequence))


class TracksPicture(QWidget):
    """The 2-D view of a sequence that is not open yet, over the video that it names, and a frame slider."""

    def __init__(self) -> None:
        super().__init__()
        self._sequence: Sequence | None = None
        self._shapes: Shapes | None = None
        self._video: Background | None = None
        self._reader: BackgroundReader | None = None
        self._jobs = Jobs(self)
        self.view = TracksView()
        self.view.setAccessibleName("Tracks as they are understood")
        self.slider = Slider(Qt.Orientation.Horizontal)
        with_tip(self.slider, "Frame", "Another frame of the tracks")
        self.slider.valueChanged.connect(lambda _value: self._draw())
        self._label = PlainLabel(role="muted")
        self._label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        seen = QWidget()
        seen.setLayout(column((self.view, 1), row((self.slider, 1), self._label)))
        nothing = PlainLabel(NOTHING, role="muted", wraps=True)
        nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(nothing)
        self._pages.addWidget(seen)

    def set_sequence(self, sequence: Sequence | None, shapes: Shapes | None) -> None:
        """Show tracks at the frame that is shown, or with None nothing."""
        self._sequence, self._shapes = sequence, shapes
        self._show_video(None if sequence is None else Background.of_sequence(sequence))
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, 0 if sequence is None else sequence.frame_count - 1)
        self._pages.setCurrentIndex(0 if sequence is None else 1)
        self._draw()
        self._fit()

    def close_video(self) -> None:
        """Stop reading pictures."""
        self._show_video(None)

    def shut_down(self) -> None:
        """Stop reading pictures, and wait for the end of it."""
        self.close_video()
        self._jobs.wait()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Keep all of the picture in view."""
        super().resizeEvent(event)
        self._fit()

    def _draw(self) -> None:
        sequence = self._sequence
        if sequence is None or self._shapes is None:
            self._label.setText("")
            return
        frame = self.slider.value()
        self.view.set_scene(build_scene(sequence, self._shapes, frame=frame))
        if self._video is not None and self._reader is not None:
            self._reader.request(self._video.picture(frame, sequence))
        widest = len(str(sequence.frame_count))
        seen = int(sequence.visible[frame].sum())
        self._label.setText(
            f"frame {frame + 1:{widest}d} / {sequence.frame_count}, {seen} of {sequence.point_count} seen"
        )

    def _show_video(self, video: Background | None) -> None:
        """Read the pictures of a video, or of none; one that cannot be read leaves the tracks alone."""
        if video == self._video:
            return
        if self._reader is not None:
            self._reader.cancel()
        self._video, self._reader = video, None
        self.view.set_background(None, 1.0)
        self.view.show_axes(True)
        if video is not None:
            self._reader = BackgroundReader(video.path)
            self._reader.read.connect(self._on_picture_read)
            self._jobs.start(self._reader)

    def _on_picture_read(self, index: int, image: QImage) -> None:
        video, sequence = self._video, self._sequence
        if video is None or sequence is None or self.sender() is not self._reader:
            return
        if index == video.picture(self.slider.value(), sequence) and not image.isNull():
            self.view.set_background(image, video.opacity)
            self.view.show_axes(False)

    def _fit(self) -> None:
        """Show the tracks, and the border of the picture where its size is known."""
        if self._sequence is None or self._shapes is None:
            return
        self.view.fit()
        if self._sequence.image_size is not None:
            width, height = self._sequence.image_size
            border = QRectF(-0.5, -0.5, width, height)
            room = ROOM * max(width, height)
            shown = self.view.range_shown.united(border.adjusted(-room, -room, room, room))
            self.view.show_range(shown)


class ImportDialog(QDialog):
    """The import dialog. Every change reads the file again, in a thread of its own."""

    ready = pyqtSignal()  # the file of `set_contents` can be seen: the dialog can open
    # It was accepted: the sequence, and the `StoredImport` that gives it again.
    imported = pyqtSignal(object, object)
    help_requested = pyqtSignal()  # the page about own tracks is wanted

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Import tracks")
        self._jobs = Jobs(self, Order.NEWEST)
        self._inspected: Inspected | None = None
        self.reading: dict[str, Any] = {}  # the options that are given at present
        self._asked = 0  # number of the inspection that was asked for last
        self._make_parts()
        self._place_parts()
        resize_within_screen(self, SIZE)

    # -- setters --------------------------------------------------------------------------------------------

    def set_contents(self, contents: FileContents, how: StoredImport) -> None:
        """Show a file that was inspected with some options, and what is known of its camera."""
        self.reading, several = dict(how.reading), contents.individuals
        self._camera.set_answer(how)
        if contents.sequence is None and len(several) > 1 and "individual" not in self.reading:
            self.reading["individual"] = several[0]  # there is something to see, and the others are offered
            path, options = contents.path, dict(self.reading)
            self._start(lambda: inspect(inspect_file(path, **options)), then=self.ready.emit)
        else:
            self._start(lambda: inspect(contents), then=self.ready.emit)

    def shut_down(self) -> None:
        """Wait for what is being read."""
        self._jobs.shut_down()
        self._picture.shut_down()

    # -- making ---------------------------------------------------------------------------------------------

    def _make_parts(self) -> None:
        self._title, self._where = PlainLabel(role="title"), ElidedLabel(role="muted")
        self._summary, self._guesses = PlainLabel(wraps=True), PlainLabel(wraps=True)
        self._problem = PlainLabel(role="warning", wraps=True)
        for label, name in (
            (self._summary, "What was understood"),
            (self._guesses, "What was guessed or left out"),
            (self._problem, "What is wrong"),
        ):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setAccessibleName(name)
        self._arrays, self._form, self._camera = ArraysTable(), ReadingForm(), CameraForm()
        self._known_camera = PlainLabel(wraps=True)
        self._picture = TracksPicture()
        self.finished.connect(lambda _result: self._picture.close_video())
        self._arrays.use_chosen.connect(self._on_use_chosen)
        self._form.option_changed.connect(self._on_option_changed)
        self._camera.edited.connect(self._on_camera_edited)
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self._import = push_button("Import", "Open the tracks as they are understood", self._accept)
        self._import.setDefault(True)
        self._guess_again = push_button(
            "Guess again", "Drop what was chosen here, and understand the file by itself", self._reset
        )
        self._guess_again.setAutoDefault(False)
        self._buttons.addButton(self._import, QDialogButtonBox.ButtonRole.AcceptRole)
        self._buttons.addButton(self._guess_again, QDialogButtonBox.ButtonRole.ResetRole)
        self._buttons.rejected.connect(self.reject)
        self._help = QLabel(HELP_LINK)
        self._help.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self._help.setAccessibleName("Your own tracks")
        self._help.linkActivated.connect(lambda _link: self.help_requested.emit())

    def _place_parts(self) -> None:
        self._arrays_heading, self._camera_heading = _heading("Arrays"), _heading("Camera")
        self._guesses_heading = _heading("Guessed or left out: please check")
        asked = column(
            self._guesses_heading, self._guesses, self._arrays_heading, self._arrays, self._form,
            self._camera_heading, self._known_camera, self._camera, None, spacing=8, margins=(0, 0, 10, 0),
        )  # fmt: skip
        questions = QWidget()
        questions.setLayout(asked)
        area = QScrollArea()
        area.setWidget(questions)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setFixedWidth(LEFT)
        top = row(self._title, (self._where, 1), spacing=8)
        middle = row(area, (self._picture, 1), spacing=14)
        below = row(self._help, (self._buttons, 1), spacing=6)
        parts = top, self._summary, self._problem, (middle, 1), below
        self.setLayout(column(*parts, spacing=10, margins=(16, 14, 16, 14)))

    # -- what is shown --------------------------------------------------------------------------------------

    def _show(self, inspected: Inspected) -> None:
        """Show what an inspection has found."""
        self._inspected = inspected
        contents, sequence = inspected.contents, inspected.contents.sequence
        self._title.setText(printable(contents.path.name))
        self._where.set_full_text(
            " · ".join(filter(None, (contents.producer, printable(str(contents.path.parent)))))
        )
        self._summary.show_text(inspected.summary)
        names = {entry.name for entry in contents.arrays}
        remarks = (without_options(remark, names) for remark in contents.remarks)
        self._problem.show_text(without_options(contents.problem.removeprefix(f"{contents.path}: "), names))
        accepted = accepted_options(contents)
        self._arrays.set_arrays(
            contents.arrays, {**self.reading, **contents.reading}, editable="tracks" in accepted
        )
        others = bool(names - set(contents.columns))  # than those of a table, which have a row of their own
        for part in (self._arrays_heading, self._arrays):
            part.setVisible(others)
        self._form.show_contents(contents, self.reading, accepted)
        self._show_camera(inspected)
        self._guesses.show_text("\n".join(f"• {remark}" for remark in remarks))
        self._guesses_heading.setVisible(bool(contents.remarks))
        self._picture.set_sequence(sequence, inspected.shapes)
        self._guess_again.setEnabled(bool(self.reading))
        self._allow_import()

    def _show_camera(self, inspected: Inspected) -> None:
        """Ask for the camera, or state the one that the file gives."""
        sequence = inspected.contents.sequence
        known = "" if sequence is None else describe_camera(sequence)
        asked = sequence is not None and asks_for_camera(sequence)
        self._known_camera.show_text(known)
        self._camera.setVisible(asked)
        self._camera_heading.setVisible(bool(known) or asked)
        if sequence is None or not asked:
            return
        self._camera.set_picture(inspected.size, inspected.middle, guessed=sequence.image_size is None)
        self._form.set_guessed_size(inspected.size)

    def _allow_import(self) -> None:
        """Allow the import where there are tracks, and the answer about the camera is accepted."""
        possible = self._inspected is not None and self._inspected.contents.sequence is not None
        try:
            self._answer()
        except ValueError:
            possible = False
        self._import.setEnabled(possible)

    def _answer(self) -> StoredImport:
        """Return how the file is read, and the answer about the camera where that is asked for."""
        asked = not self._camera.isHidden()
        return self._camera.answer(self.reading) if asked else StoredImport(self.reading)

    # -- handlers -------------------------------------------------------------------------------------------

    def _on_use_chosen(self, name: str, use: str) -> None:
        assert self._inspected is not None  # its arrays are shown
        contents = self._inspected.contents
        entry = next(entry for entry in contents.arrays if entry.name == name)
        self._change(reading_with_use(self.reading, contents.reading, entry, use))

    def _on_option_changed(self, option: str, value: str) -> None:
        changed = {key: known for key, known in self.reading.items() if key != option}
        self._change(changed | ({option: value} if value else {}))

    def _on_camera_edited(self) -> None:
        if self._inspected is not None and not self._jobs:  # there is nothing to read
            self._allow_import()

    def _reset(self) -> None:
        self._camera.set_answer(StoredImport())
        self._change({})

    def _change(self, reading: dict[str, Any]) -> None:
        """Inspect the file with other options."""
        if self._inspected is None or reading == self.reading:
            return
        self.reading, path = reading, self._inspected.contents.path
        self._start(lambda: inspect(inspect_file(path, **reading)))

    def _start(self, function: Callable[[], Inspected], then: Callable[[], object] | None = None) -> None:
        self._asked += 1
        number = self._asked

        def finish(inspected: Inspected) -> None:
            if number == self._asked:
                self._show(inspected)
                if then is not None:
                    then()

        def fail(sentence: str, _details: str) -> None:
            if number == self._asked:
                self._problem.show_text(sentence)

        self._jobs.start(Job(lambda _job: function(), done=finish, failed=fail))
        self._import.setEnabled(False)

    def _accept(self) -> None:
        assert self._inspected is not None  # or the button is not enabled
        sequence, how = self._inspected.contents.sequence, self._answer()
        self.accept()
        self.imported.emit(sequence, how)


def accepted_options(contents: FileContents) -> frozenset[str]:
    """Return the reading options that a file accepts: none, where it states itself how it is read."""
    if contents.sequence is not None and not contents.reading:
        return frozenset()
    reader = installed_readers().get(contents.path.suffix.lower())
    return frozenset(READING_OPTIONS if reader is None else reader.options)


def _heading(text: str) -> QLabel:
    label = PlainLabel(text, role="heading")
    label.setContentsMargins(0, ABOVE_HEADING, 0, 0)
    return label


class ImportController(QObject):
    """Shows the import dialog for files that are not clear, and opens what it understood."""

    def __init__(
        self, session: Session, opening: SequenceOpening, window: QWidget, *, show_help: Callable[[], object]
    ) -> None:
        super().__init__(window)
        self._session, self._opening, self._window = session, opening, window
        self._show_help = show_help
        self.dialog: ImportDialog | None = None  # made when it is first needed
        opening.inspected.connect(self._on_inspected)

    def ask(self) -> None:
        """Ask for a file, and show how it is understood."""
        start, sequence = self._opening.folder, self._session.sequence
        if sequence is not None and sequence.source is not None and sequence.source.is_file():
            start = str(sequence.source)
        filters = "All files (*)"
        ask_for_path(self._window, "Import tracks", self._opening.inspect, start=start, filters=filters)

    def shut_down(self) -> None:
        """Wait for what is being read."""
        if self.dialog is not None:
            self.dialog.shut_down()

    def _on_inspected(self, contents: FileContents, how: StoredImport) -> None:
        if self.dialog is None:
            self.dialog = ImportDialog(self._window)
            self.dialog.ready.connect(self.dialog.open)
            self.dialog.imported.connect(self._opening.open_imported)
            self.dialog.rejected.connect(self._opening.given_up)
            self.dialog.help_requested.connect(self._show_help)
        self.dialog.set_contents(contents, how)
