"""The picture of the tracks that are understood: one frame, with a slider for the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QRectF, Qt
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QStackedLayout, QVBoxLayout, QWidget

from nrsfm_gui.panels.view2d.tracks_view import TracksView
from nrsfm_gui.scene.scene import build_scene
from nrsfm_gui.widgets.fields import Slider

if TYPE_CHECKING:
    from PyQt6.QtGui import QResizeEvent

    from core import Sequence
    from nrsfm_gui.scene.shapes import Shapes

ROOM = 0.04  # of the picture, around it
NOTHING = "The tracks are drawn here once the file is understood."


class TracksPicture(QWidget):
    """The 2-D view of a sequence that is not open yet, and a slider for its frames."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sequence: Sequence | None = None
        self._shapes: Shapes | None = None
        self.view = TracksView()
        self.view.setAccessibleName("Tracks as they are understood")
        self.slider = Slider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Frame")
        self.slider.setToolTip("Another frame of the tracks")
        self.slider.valueChanged.connect(lambda _value: self._draw())
        self._label = QLabel()
        self._label.setProperty("role", "muted")
        self._label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        row.addWidget(self.slider, 1)
        row.addWidget(self._label)
        seen = QWidget()
        layout = QVBoxLayout(seen)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.view, 1)
        layout.addLayout(row)
        nothing = QLabel(NOTHING)
        nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        nothing.setWordWrap(True)
        nothing.setProperty("role", "muted")
        self._pages = QStackedLayout(self)
        self._pages.addWidget(nothing)
        self._pages.addWidget(seen)

    @property
    def text(self) -> str:
        """Which frame is shown, and how many points are seen in it."""
        return self._label.text()

    def set_sequence(self, sequence: Sequence | None, shapes: Shapes | None) -> None:
        """Show tracks at the frame that is shown, or with None nothing."""
        self._sequence, self._shapes = sequence, shapes
        self.slider.blockSignals(True)
        self.slider.setRange(0, 0 if sequence is None else sequence.frame_count - 1)
        self.slider.blockSignals(False)
        self._pages.setCurrentIndex(0 if sequence is None else 1)
        self._draw()
        self._fit()

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
        widest = len(str(sequence.frame_count))
        seen = int(sequence.visible[frame].sum())
        self._label.setText(
            f"frame {frame + 1:{widest}d} / {sequence.frame_count}, {seen} of {sequence.point_count} seen"
        )

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
