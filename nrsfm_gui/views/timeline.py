"""The timeline: playing, scrubbing, the error of every frame and of every point in every frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from nrsfm_gui.playback import FRAMES_PER_SECOND, SPEEDS
from nrsfm_gui.theme import DARK, Theme

from .frame_slider import ErrorCurve, FrameSlider
from .heat_strip import HeatStrip
from .transport_icons import transport_icon

if TYPE_CHECKING:
    from core.arrays import Floats

TIPS = {
    "first": "First frame (Home)",
    "previous": "Previous frame (J)",
    "play": "Play or stop (Space)",
    "next": "Next frame (L)",
    "last": "Last frame (End)",
}


class Timeline(QWidget):
    """Buttons on the left; curve, slider and heat-strip on one axis to their right."""

    frame_requested = pyqtSignal(int)  # 0-based
    playing_requested = pyqtSignal(bool)
    speed_requested = pyqtSignal(float)  # times the usual rate
    loop_requested = pyqtSignal(bool)
    point_selected = pyqtSignal(int)
    point_hovered = pyqtSignal(int)  # -1 = none

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._count = 0
        self._frame = 0
        self._playing = False
        self._theme = DARK
        self.curve = ErrorCurve()
        self.slider = FrameSlider()
        self.strip = HeatStrip()
        self._buttons = {name: self._button(name) for name in TIPS}
        self._speed = QComboBox()
        self._loop = QToolButton()
        self._label = QLabel()
        self._build()
        for part in (self.curve, self.slider, self.strip):
            part.frame_requested.connect(self.frame_requested)
        self.strip.point_selected.connect(self.point_selected)
        self.strip.point_hovered.connect(self.point_hovered)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.set_theme(DARK)
        self.set_frame_count(0)

    def sizeHint(self) -> QSize:
        """Return a comfortable size."""
        return QSize(900, 136)

    def minimumSizeHint(self) -> QSize:
        """Return the size below which the parts no longer fit."""
        return QSize(560, 116)

    # Setters

    def set_frame_count(self, count: int) -> None:
        """Tell how many frames there are."""
        self._count = count
        for part in (self.curve, self.slider, self.strip):
            part.set_frame_count(count)
        for button in self._buttons.values():
            button.setEnabled(count > 1)
        self.set_frame(min(self._frame, max(count - 1, 0)))

    def set_frame(self, frame: int) -> None:
        """Show which frame is the current one, 0-based. Asks for nothing."""
        self._frame = frame
        self.slider.setValue(frame)
        self.curve.set_frame(frame)
        self.strip.set_frame(frame)
        self._label.setText(f"frame {frame + 1} / {self._count}" if self._count else "no frames")

    def set_errors(
        self, per_frame: Floats | None, per_point: Floats | None, unit: str = "", name: str = ""
    ) -> None:
        """Show errors: (F,) above the slider, (F, P) below it; NaN, or None, where there is none."""
        self.curve.set_errors(per_frame, unit, name)
        self.strip.set_errors(per_point, unit, name)

    def set_truth_frames(self, frames: tuple[int, ...], reference: int = -1) -> None:
        """Mark the frames that have ground truth, and the one that intrinsics are estimated from."""
        self.slider.set_truth_frames(frames, reference)

    def set_selected(self, point: int | None) -> None:
        """Mark a point in the heat-strip, or none."""
        self.strip.set_selected(-1 if point is None else point)

    def set_playing(self, playing: bool) -> None:
        """Show whether frames are playing. Asks for nothing."""
        self._playing = playing
        self._buttons["play"].setIcon(transport_icon("pause" if playing else "play", self._theme))

    def set_speed(self, speed: float) -> None:
        """Show a speed of `playback.SPEEDS`. Asks for nothing."""
        self._speed.blockSignals(True)
        self._speed.setCurrentIndex(SPEEDS.index(speed))
        self._speed.blockSignals(False)

    def set_loop(self, loop: bool) -> None:
        """Show whether playing begins again at the end. Asks for nothing."""
        self._loop.setChecked(loop)

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self._theme = theme
        for name, button in self._buttons.items():
            button.setIcon(transport_icon(name, theme))
        self._loop.setIcon(transport_icon("loop", theme))
        self.set_playing(self._playing)
        for part in (self.curve, self.slider, self.strip):
            part.set_theme(theme)

    # Construction

    def _button(self, name: str) -> QToolButton:
        button = QToolButton()
        button.setObjectName(name)
        button.setToolTip(TIPS[name])
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setIconSize(QSize(16, 16))
        if name in ("previous", "next"):
            button.setAutoRepeat(True)
        button.clicked.connect(lambda: self._pressed(name))
        return button

    def _build(self) -> None:
        self._speed.addItems([f"{speed:g}×" for speed in SPEEDS])
        self._speed.setCurrentIndex(SPEEDS.index(1.0))
        self._speed.setToolTip(f"Speed: 1× is {FRAMES_PER_SECOND:g} frames per second")
        self._speed.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._speed.currentIndexChanged.connect(lambda index: self.speed_requested.emit(SPEEDS[index]))
        self._loop.setObjectName("loop")
        self._loop.setCheckable(True)
        self._loop.setChecked(True)
        self._loop.setAutoRaise(True)
        self._loop.setIconSize(QSize(16, 16))
        self._loop.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._loop.setToolTip("Loop: begin again after the last frame")
        self._loop.toggled.connect(self.loop_requested)
        self._label.setObjectName("frame")
        self._label.setAlignment(Qt.AlignmentFlag.AlignCenter)

        transport = QHBoxLayout()
        transport.setSpacing(2)
        for button in self._buttons.values():
            transport.addWidget(button)
        options = QHBoxLayout()
        options.setSpacing(6)
        options.addWidget(self._speed)
        options.addWidget(self._loop)
        options.addStretch()
        controls = QVBoxLayout()
        controls.setSpacing(6)
        controls.addStretch()
        controls.addWidget(self._label)
        controls.addLayout(transport)
        controls.addLayout(options)
        controls.addStretch()
        charts = QVBoxLayout()
        charts.setSpacing(0)
        charts.addWidget(self.curve, 4)
        charts.addWidget(self.slider)
        charts.addWidget(self.strip, 5)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 4, 4, 6)
        row.setSpacing(4)
        row.addLayout(controls)
        row.addLayout(charts, 1)

    def _pressed(self, name: str) -> None:
        if name == "play":
            self.playing_requested.emit(not self._playing)
            return
        last = max(self._count - 1, 0)
        target = {"first": 0, "previous": self._frame - 1, "next": self._frame + 1, "last": last}[name]
        self.frame_requested.emit(min(max(target, 0), last))
