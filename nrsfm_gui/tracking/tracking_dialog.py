"""The dialog that follows points through a video: region, numbers, progress, corrections of tracks."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from PyQt6.QtCore import QObject, QPointF, QSignalBlocker, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QImage, QKeyEvent, QKeySequence
from PyQt6.QtWidgets import QDialog, QDialogButtonBox, QProgressBar, QPushButton, QWidget

from core import InputError, Sequence
from core.data import VIDEO_SUFFIXES
from core.foundation import Floats, printable
from core.tracking import (
    CHECK,
    POINTS,
    TrackingStep,
    cut_track,
    follow_places,
    missing_packages,
    plugin_warning,
    replace_track,
    sample_videos,
    track_video,
    video_path,
    without_track,
)
from nrsfm_gui.engine.jobs import Job, Jobs
from nrsfm_gui.model.notifier import Notifier
from nrsfm_gui.panels.background.image_sources import BackgroundReader, as_image
from nrsfm_gui.sessions.opening import SequenceOpening
from nrsfm_gui.text.status_text import hidden_share
from nrsfm_gui.tracking.video_picture import VideoPicture
from nrsfm_gui.widgets.dialogs import DropTarget, PathKind, ask_for_path, resize_within_screen
from nrsfm_gui.widgets.fields import (
    Choice,
    DoubleSpinBox,
    Slider,
    SpinBox,
    column,
    push_button,
    row,
    with_tip,
)
from nrsfm_gui.widgets.form import Form
from nrsfm_gui.widgets.labels import ElidedLabel, PlainLabel

SIZE = QSize(1180, 720)
LEFT = 300  # pixels: of the column of questions
MOST_POINTS, MOST_FRAMES, MOST_STEP = 5000, 1_000_000, 1000
WHOLE, RECTANGLE, LASSO = "whole", "rectangle", "lasso"
REGIONS = {
    RECTANGLE: "Drag a rectangle around the object in the first frame, or start without one",
    LASSO: "Drag a closed curve around the object in the first frame, or start without one",
    WHOLE: "Points begin everywhere in the picture",
}
DRAWN = "Press Start to follow the points inside, or draw again"
TITLES = {RECTANGLE: "in a rectangle", LASSO: "in a lasso", WHOLE: "everywhere"}
CHOOSE = (
    "Click a point to choose it. It can be deleted, cut in two at this frame, or followed again from a click."
)
RESEED = "Click where this point is in this frame: it is followed again from there on."
NOTHING = "Choose a video or a folder of pictures, drop one here, or try the sample."
Followed = tuple["Sequence", str]  # the tracks, and remarks on them


class TrackingDialog(QDialog):
    """Follows points through a video, shows them as they are found, and lets them be corrected."""

    accepted_tracks = pyqtSignal(object)  # the tracks are to be opened

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Track a video")
        self._jobs = Jobs(self)
        self._job: Job | None = None  # the one that follows points
        self._reader: BackgroundReader | None = None
        self._video: Path | None = None
        self._opened = False  # whether the numbers of its frames are shown
        self._step: TrackingStep | None = None  # the newest of the job
        self._began = 0.0
        self._region_drawn: Floats | None = None  # in the first frame
        self.sequence: Sequence | None = None  # what was followed, as it is corrected
        self._before: list[Sequence] = []  # what it was before each correction
        self._chosen = -1
        self._reseeding = False
        DropTarget(self).dropped.connect(self._on_dropped)
        self._make_parts()
        self._place_parts()
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)
        self._show_state()
        resize_within_screen(self, SIZE)

    # -- setters --------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether points are being followed."""
        return self._job is not None

    def open_video(self, path: Path) -> None:
        """Show the first frame of a video."""
        self._close_video()
        self._video = path
        self._name.set_full_text(f"{printable(path.name)}: opening")
        self._message.show_text("")
        reader = self._reader = BackgroundReader(path)
        reader.opened.connect(self._on_opened)
        reader.failed.connect(self._on_failed)
        reader.read.connect(self._on_picture_read)
        self._jobs.start(reader)
        self._show_state()

    def reject(self) -> None:
        """Stop what is being followed, else close."""
        if self._job is not None:
            self._job.cancel()
        else:
            super().reject()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Delete the chosen point, or undo a correction; a field with the focus has used its own keys."""
        assert event is not None
        if event.matches(QKeySequence.StandardKey.Delete):
            self._delete_track()
        elif event.matches(QKeySequence.StandardKey.Undo):
            self._undo_correction()
        else:
            super().keyPressEvent(event)

    def shut_down(self) -> None:
        """End what is being read or followed."""
        self._jobs.shut_down()

    def done(self, result: int) -> None:
        """Close the dialog and the video; tracks that were not opened are there again the next time."""
        if result or self.sequence is None:
            self._close_video()
        self._message.show_text("")
        self._show_state()
        super().done(result)

    # -- making ---------------------------------------------------------------------------------------------

    def _make_parts(self) -> None:
        self._name, self._picture = ElidedLabel(role="title"), VideoPicture()
        self._name.set_full_text(NOTHING)
        self._choose = push_button("Choose a video…", "A video file, or a folder of pictures", self._ask)
        tip = "A sheet of printed cloth, drawn by this program"
        self._sample = push_button("Try the sample", tip, self._open_sample)
        self._sample.setVisible(bool(sample_videos()))
        self._region = Choice(REGIONS, titles=TITLES)
        self._region.chosen.connect(self._on_region_chosen)
        self._points, self._check = SpinBox(), DoubleSpinBox()
        self._points.setRange(8, MOST_POINTS)
        self._points.setValue(POINTS)
        self._check.setRange(0.0, 0.99)
        self._check.setSingleStep(0.05)
        self._check.setValue(CHECK)
        self._first, self._last, self._every = SpinBox(), SpinBox(), SpinBox()
        self._first.valueChanged.connect(self._on_first_changed)
        for box, most in ((self._first, MOST_FRAMES), (self._last, MOST_FRAMES), (self._every, MOST_STEP)):
            box.setRange(1, most)
        self._hint = PlainLabel(role="muted", wraps=True)
        self._message = PlainLabel(role="warning", wraps=True)
        self._hint.setMinimumHeight(2 * self._hint.fontMetrics().lineSpacing() + 2)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._start = push_button("Start", "Follow points through the video", self.start)
        tip = "Stop here, and keep what has been followed (Escape)"
        self._cancel = push_button("Cancel", tip, self.reject)
        self._progress, self._time = QProgressBar(), PlainLabel(role="muted")
        self._progress.setTextVisible(False)
        self._delete = push_button("Delete", "Leave the chosen point out (Delete)", self._delete_track)
        tip = "Make two points of the chosen one: until this frame, and from it on"
        self._cut = push_button("Cut here", tip, self._cut_track)
        tip = "Follow the chosen point again, from a click in this frame on"
        self._reseed = push_button("Follow again", tip, self._begin_reseeding)
        self._undo = push_button("Undo", "Take the last correction back (Ctrl+Z)", self._undo_correction)
        self._slider, self._frame = Slider(Qt.Orientation.Horizontal), PlainLabel(role="muted")
        with_tip(self._slider, "Frame", "Another frame of the tracks")
        self._slider.valueChanged.connect(lambda _frame: self._show_tracks())
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        tip = "Open the tracks, with the video behind them"
        self._use = push_button("Use these tracks", tip, self._accept)
        self._buttons.addButton(self._use, QDialogButtonBox.ButtonRole.AcceptRole)
        self._buttons.rejected.connect(self.reject)
        self._picture.region_drawn.connect(self._on_region_drawn)
        self._picture.clicked.connect(self._on_clicked)

    def _place_parts(self) -> None:
        self._form = Form()
        for name, label, editor, tip in (
            ("region", "Begin", self._region, "Where points begin in the first frame"),
            ("points", "Points", self._points,
             "Points that are followed at a time, and at most in the result"),
            ("check", "Similarity", self._check,
             "A point ends where the picture around it is less similar to that where it began: from 0, "
             "which never ends one, to 1, which needs the same picture"),
            ("first", "First frame", self._first, "First frame of the video that is used"),
            ("last", "Last frame", self._last, "Last frame of the video that is used"),
            ("every", "Every", self._every, "Every so many frames are in the result, for a long video"),
        ):  # fmt: skip
            self._form.add(name, label, editor, tip=tip)
        self._corrections = QWidget()
        pairs = (self._delete, self._cut), (self._reseed, self._undo)
        rows = [row(*((button, 1) for button in pair), spacing=6) for pair in pairs]
        self._corrections.setLayout(column(PlainLabel("Correct", role="heading"), *rows))
        questions = QWidget()
        questions.setFixedWidth(LEFT)
        asked = (
            self._form, self._hint, row((self._start, 1), (self._cancel, 1), spacing=6), self._progress,
            self._time, self._message, self._corrections, None,
        )  # fmt: skip
        questions.setLayout(column(*asked, spacing=8))
        seen = column((self._picture, 1), row((self._slider, 1), self._frame))
        top = row((self._name, 1), self._choose, self._sample, spacing=6)
        middle = row(questions, (seen, 1), spacing=14)
        self.setLayout(column(top, (middle, 1), self._buttons, spacing=10, margins=(16, 14, 16, 14)))

    # -- following ------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Follow points through the video; where that has been done, go back to what it begins with."""
        video = self._video
        if video is None or self._reader is None or self._job is not None:
            return
        again = self.sequence is not None
        self._forget_tracks()
        if again:
            self._reader.request(self._first.value() - 1)
            self._frame.setText("")
            self._show_state()
            return
        region = self._region_drawn
        points, check, every = self._points.value(), self._check.value(), self._every.value()
        first, last = self._first.value(), self._last.value()
        if last <= first:
            self._message.show_text(f"Last frame is {last}; accepted is one after the first frame, {first}")
            return

        def follow(job: Job) -> Followed:
            following = track_video(
                video, points=points, region=region, check=check, start=first, end=last, step=every,
                stopped=lambda: job.stopping,
            )  # fmt: skip
            with closing(following):
                for step in following:
                    job.found.emit(step)
                    job.watch(step.done, step.total)
            return _followed(step)

        self._run(follow, self._on_followed)

    def _run(self, function: Callable[[Job], object], done: Callable[[Any], None]) -> None:
        """Run a function in a job, with its progress on view."""
        self._job = job = Job(function, done=done, failed=self._on_following_failed)
        self._began = time.monotonic()
        job.found.connect(self._on_step)
        job.cancelled.connect(self._on_cancelled)
        self._message.show_text("")
        self._time.setText("")
        self._progress.setValue(0)
        job.progressed.connect(self._on_progressed)
        self._jobs.start(job)
        self._show_state()

    def _on_progressed(self, done: int, total: int) -> None:
        if self._job is None:
            return
        elapsed = time.monotonic() - self._began
        left = elapsed * (total - done) / max(done, 1)
        self._progress.setRange(0, total)
        self._progress.setValue(done)
        self._time.setText(f"frame {done} of {total}, {left:.0f} s left")

    def _on_step(self, step: TrackingStep) -> None:
        if self._job is None or self.sender() is not self._job:
            return
        self._step = step
        self._picture.set_image(as_image(step.image))
        self._picture.set_region(step.region)
        self._picture.set_tracks(step.tracks)
        self._frame.setText(f"frame {step.picture + 1}, {step.followed} points")

    def _on_followed(self, followed: Followed) -> None:
        self._job = None
        sequence, remarks = followed
        self._message.show_text(remarks)
        self._set_sequence(sequence)
        self._slider.setValue(0)
        self._show_tracks()

    def _on_following_failed(self, sentence: str, details: str) -> None:
        if self._job is not None and self._job.stopping:  # the video was still being opened
            self._on_cancelled()
            return
        self._job = None
        self._message.show_text(sentence)
        self._show_state()

    def _on_cancelled(self) -> None:
        """Keep what was followed before the cancel; a point that was followed again stays as it was."""
        self._job = None
        if self._step is None or self._video is None or self.sequence is not None:
            self._show_state()
            return
        try:
            self._on_followed(_followed(self._step))
        except InputError as refusal:
            self._on_following_failed(str(refusal), "")

    # -- corrections ----------------------------------------------------------------------------------------

    def _set_sequence(self, sequence: Sequence) -> None:
        self.sequence = sequence
        with QSignalBlocker(self._slider):
            self._slider.setRange(0, sequence.frame_count - 1)
        self._show_state()

    def _correct(self, change: Callable[[Sequence], Sequence], chosen: int) -> None:
        """Change the tracks, or state why they cannot be changed."""
        assert self.sequence is not None
        try:
            changed = change(self.sequence)
        except InputError as refusal:
            self._message.show_text(str(refusal))
            return
        self._message.show_text("")
        self._before.append(self.sequence)
        self._chosen = chosen
        self._set_sequence(changed)
        self._show_tracks()

    def _delete_track(self) -> None:
        point = self._chosen
        if self._can_correct and point >= 0:
            self._correct(lambda sequence: without_track(sequence, point), -1)

    def _cut_track(self) -> None:
        assert self.sequence is not None  # or the button is not enabled
        point, frame, last = self._chosen, self._slider.value(), self.sequence.point_count
        self._correct(lambda sequence: cut_track(sequence, point, frame), last)

    def _begin_reseeding(self) -> None:
        self._reseeding = True
        self._show_state()

    def _follow_again(self, place: QPointF) -> None:
        """Follow the chosen point from a place in this frame on."""
        sequence, video, point, frame = self.sequence, self._video, self._chosen, self._slider.value()
        assert sequence is not None and video is not None
        numbers = sequence.video_frames
        pictures = (np.arange(sequence.frame_count) if numbers is None else numbers)[frame:]
        check, begin = self._check.value(), [[place.x(), place.y()]]

        def follow(job: Job) -> Floats:
            return follow_places(video, begin, pictures=pictures, check=check, watch=job.watch)

        def finish(tracks: Floats) -> None:
            self._job = None
            self._correct(lambda old: replace_track(old, point, frame, tracks[:, :, 0]), point)

        self._run(follow, finish)

    def _undo_correction(self) -> None:
        if self._can_correct and self._before:
            self._chosen = -1
            self._set_sequence(self._before.pop())
            self._show_tracks()

    @property
    def _can_correct(self) -> bool:
        return self.sequence is not None and self._job is None

    # -- what is shown --------------------------------------------------------------------------------------

    def _show_state(self) -> None:
        """Enable what is possible, and state what to do next."""
        busy = self._job is not None
        tracked, chosen, opened = self._can_correct, self._chosen >= 0, self._opened
        self._form.setEnabled(opened and not busy)
        self._start.setEnabled(opened and not busy)
        self._start.setText("Start over" if tracked else "Start")
        self._start.setDefault(not tracked)
        self._cancel.setEnabled(busy)
        self._choose.setEnabled(not busy)
        self._sample.setEnabled(not busy)
        self._progress.setVisible(busy)
        self._time.setVisible(busy or tracked)
        self._corrections.setVisible(tracked)
        self._picture.drawing = opened and not busy and not tracked and self._region.key != WHOLE
        self._slider.setEnabled(tracked)
        for button in (self._delete, self._cut, self._reseed):
            button.setEnabled(tracked and chosen)
        self._undo.setEnabled(tracked and bool(self._before))
        self._use.setEnabled(tracked)
        self._use.setDefault(tracked)
        if not opened:
            self._hint.setText("")
        elif busy:
            self._hint.setText("The points are drawn as they are followed.")
        elif tracked:
            self._reseeding = self._reseeding and chosen
            self._hint.setText(RESEED if self._reseeding else CHOOSE)
        else:
            self._hint.setText(REGIONS[self._region.key] if self._region_drawn is None else DRAWN)
        if tracked:
            assert self.sequence is not None
            sequence = self.sequence
            words = f"{sequence.point_count} points in {sequence.frame_count} frames", hidden_share(sequence)
            self._time.setText(", ".join(filter(None, words)))

    def _show_tracks(self) -> None:
        """Show the frame of the slider, and the points in it."""
        sequence, reader = self.sequence, self._reader
        if sequence is None or reader is None:
            return
        frame = self._slider.value()
        tracks = np.where(sequence.visible[: frame + 1, None], sequence.tracks[: frame + 1], np.nan)
        self._picture.set_region(None)
        self._picture.set_tracks(tracks, self._chosen)
        picture = frame if sequence.video_frames is None else int(sequence.video_frames[frame])
        reader.request(picture)
        seen = int(sequence.visible[frame].sum())
        self._frame.setText(f"frame {frame + 1} / {sequence.frame_count}, {seen} points")

    # -- handlers -------------------------------------------------------------------------------------------

    def _ask(self) -> None:
        videos = " ".join(f"*{suffix}" for suffix in VIDEO_SUFFIXES)
        start = "" if self._video is None else str(self._video)
        filters = f"Videos ({videos});;All files (*)"
        title = "A video, or a folder of pictures"
        ask_for_path(self, title, self.open_video, kind=PathKind.ANY, start=start, filters=filters)

    def _on_dropped(self, path: Path) -> None:
        if not self.busy:
            self.open_video(path)

    def _open_sample(self) -> None:
        self.open_video(video_path(Path(f"sample:{sample_videos()[0]}")))

    def _close_video(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.cancel()
        self._video, self._region_drawn, self._opened = None, None, False
        self._forget_tracks()
        self._picture.set_image(None)
        self._frame.setText("")
        self._name.set_full_text(NOTHING)

    def _forget_tracks(self) -> None:
        self.sequence, self._step, self._chosen, self._reseeding = None, None, -1, False
        self._before.clear()
        self._picture.set_tracks(np.zeros((1, 2, 0)))
        self._picture.set_region(self._region_drawn)

    def _on_opened(self, count: int, size: QSize) -> None:
        if self.sender() is not self._reader or self._reader is None or self._video is None:
            return
        self._name.set_full_text(f"{self._video.name}: {count} frames of {size.width()} × {size.height()} px")
        for box, value in ((self._first, 1), (self._last, count)):
            box.setMaximum(count)
            box.setValue(value)
        self._every.setValue(1)
        self._opened = True
        self._reader.request(0)
        self._message.show_text(plugin_warning())
        self._show_state()
        self._start.setFocus()

    def _on_failed(self, sentence: str, _details: str) -> None:
        if self.sender() is self._reader:
            self._close_video()
            self._message.show_text(sentence)
            self._show_state()

    def _on_picture_read(self, _index: int, image: QImage) -> None:
        if self.sender() is self._reader and not self.busy and not image.isNull():
            self._picture.set_image(image)

    def _on_first_changed(self, first: int) -> None:
        """Show the frame in which the region is drawn."""
        if self._reader is not None:
            self._reader.request(first - 1)

    def _on_region_chosen(self, kind: str) -> None:
        self._picture.lasso.rectangular = kind == RECTANGLE
        self._region_drawn = None
        self._picture.set_region(None)
        self._show_state()

    def _on_region_drawn(self, region: Floats) -> None:
        self._region_drawn = region
        self._picture.set_region(region)
        self._show_state()

    def _on_clicked(self, place: QPointF) -> None:
        if not self._can_correct:
            return
        if self._reseeding:
            self._reseeding = False
            self._follow_again(place)
            return
        self._chosen = self._picture.point_at(place)
        self._show_tracks()
        self._show_state()

    def _accept(self) -> None:
        sequence = self.sequence
        self.accept()
        self.accepted_tracks.emit(sequence)


def _followed(step: TrackingStep) -> Followed:
    """Return the tracks up to a step, and remarks on them. Raises InputError where they are too few."""
    sequence = step.sequence()
    remarks = *step.remarks(sequence), plugin_warning()
    return sequence, "\n".join(f"{remark[0].upper()}{remark[1:]}." for remark in remarks if remark)


class TrackingController(QObject):
    """Shows the dialog in the window, and opens the tracks that it ends with."""

    def __init__(self, opening: SequenceOpening, notifier: Notifier, window: QWidget) -> None:
        super().__init__(window)
        self._opening, self._notifier, self._window = opening, notifier, window
        self.dialog: TrackingDialog | None = None  # made when it is first needed
        queued = Qt.ConnectionType.QueuedConnection  # after the window's own, which a dialog must not precede
        opening.video_found.connect(self.show, queued)  # type: ignore[call-arg]  # not in the stub

    def show(self, video: Path | None = None) -> None:
        """Show the dialog with a video, or what has to be installed first."""
        missing = missing_packages()
        if missing:
            self._notifier.fail(missing)
            return
        if self.dialog is None:
            self.dialog = TrackingDialog(self._window)
            self.dialog.accepted_tracks.connect(self._opening.open_sequence)
            self.dialog.rejected.connect(self._opening.given_up)
        if video is not None and not self.dialog.busy:
            self.dialog.open_video(video)
        self.dialog.open()

    def shut_down(self) -> None:
        """End what is being read or followed."""
        if self.dialog is not None:
            self.dialog.shut_down()
