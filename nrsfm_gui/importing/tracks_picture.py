"""The picture of the tracks that are understood: one frame over its video, with a slider for the others."""

from __future__ import annotations

from PyQt6.QtCore import QRectF, QSignalBlocker, Qt
from PyQt6.QtGui import QImage, QResizeEvent
from PyQt6.QtWidgets import QStackedLayout, QWidget

from core import Sequence
from nrsfm_gui.engine.jobs import Jobs
from nrsfm_gui.model.background import Background
from nrsfm_gui.panels.background.background_reader import BackgroundReader
from nrsfm_gui.panels.view2d.tracks_view import TracksView
from nrsfm_gui.scene.scene import build_scene
from nrsfm_gui.scene.shapes import Shapes
from nrsfm_gui.widgets.fields import Slider, column, row, with_tip
from nrsfm_gui.widgets.labels import PlainLabel

ROOM = 0.04  # of the picture, around it
NOTHING = "The tracks are drawn here once the file is understood."


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
