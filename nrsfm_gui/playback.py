"""Playing through the frames: a timer that asks for the next one."""

from __future__ import annotations

from PyQt6.QtCore import QObject, Qt, QTimer, pyqtSignal

FRAMES_PER_SECOND = 15.0  # at speed 1: the files give no frame rate
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0)


class Playback(QObject):
    """Asks for one frame after the other while playing; never decides by itself which frame is shown."""

    frame_requested = pyqtSignal(int)  # 0-based
    playing_changed = pyqtSignal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._advance)
        self._count = 0
        self._frame = 0
        self._loop = True
        self._playing = False
        self.set_speed(1.0)

    @property
    def playing(self) -> bool:
        """Whether frames are being asked for."""
        return self._playing

    def set_frame_count(self, count: int) -> None:
        """Tell how many frames there are; playing stops, since the sequence is another one."""
        self.set_playing(False)
        self._count = count
        self._frame = 0

    def set_frame(self, frame: int) -> None:
        """Tell which frame is shown, so that playing goes on from there."""
        self._frame = frame

    def set_speed(self, speed: float) -> None:
        """Play at `speed` times 15 frames per second."""
        self._timer.setInterval(max(1, round(1000.0 / (FRAMES_PER_SECOND * speed))))

    def set_loop(self, loop: bool) -> None:
        """Begin again after the last frame, or stop there."""
        self._loop = loop

    def set_playing(self, playing: bool) -> None:
        """Start or stop. At the last frame without a loop, playing starts from the first."""
        playing = playing and self._count > 1
        if playing == self._playing:
            return
        self._playing = playing
        if playing:
            if not self._loop and self._frame >= self._count - 1:
                self.frame_requested.emit(0)
            self._timer.start()
        else:
            self._timer.stop()
        self.playing_changed.emit(playing)

    def _advance(self) -> None:
        following = self._frame + 1
        if following >= self._count:
            if not self._loop:
                self.set_playing(False)
                return
            following = 0
        self.frame_requested.emit(following)
