"""Plays the frames: their order, their speed, and the clock."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from enum import Enum

from PyQt6.QtCore import QObject, Qt, QTimer, pyqtSignal

FRAMES_PER_SECOND = 15.0  # at speed 1: the files give no frame rate
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0)


class Loop(Enum):
    """What comes after the last frame."""

    AGAIN = "loop"
    BACK = "back and forth"
    ONCE = "once"


def frame_in_round(step: int, count: int, loop: Loop) -> int:
    """Return the frame, 0 to count - 1, that comes `step` steps after the first."""
    if loop is Loop.ONCE:
        return min(step, count - 1)
    if loop is Loop.AGAIN or count == 1:
        return step % count
    place = step % (2 * count - 2)
    return place if place < count else 2 * count - 2 - place


EARLY = 0.05  # of a frame by which the clock may fire too soon
LEAST_PAUSE = 2  # milliseconds between two frames that leave the window its events
STALL = 0.5  # seconds; frames that a longer pause missed are skipped
COUNTED = 0.5  # seconds over which the drawn frames are counted


class Playback(QObject):
    """Requests one frame after the other during playback; the receiver shows them."""

    frame_requested = pyqtSignal(int)  # 0-based
    playing_changed = pyqtSignal(bool)  # playing began or ended
    rate_measured = pyqtSignal(float)  # frames per second that were drawn lately

    def __init__(
        self, parent: QObject | None = None, *, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__(parent)
        self._clock = clock
        self._timer = QTimer(self)  # the clock of the frames
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_timeout)
        self._count = self._frame = 0
        self._range: tuple[int, int] | None = None
        self._loop, self._rate, self.playing = Loop.AGAIN, FRAMES_PER_SECOND, False
        self._began = 0.0  # when the round of frames would have begun at this rate
        self._steps = 0  # frames since then
        self._drawn, self._counted_from = 0, 0.0

    def set_frame_count(self, count: int) -> None:
        """Set the number of frames; playing stops, since the sequence is another one."""
        self.set_playing(False)
        self._count, self._range, self._frame = count, None, 0

    def set_frame(self, frame: int) -> None:
        """Set the shown frame, from which playback continues."""
        if frame != self._frame:
            self._frame = frame
            self._begin()

    def set_range(self, frames: tuple[int, int] | None) -> None:
        """Play only from a first to a last frame, or with None all."""
        self._range = frames
        self._begin()

    def set_speed(self, speed: float) -> None:
        """Play at `speed` times 15 frames per second."""
        self._rate = FRAMES_PER_SECOND * speed
        self._begin()

    def set_loop(self, loop: Loop) -> None:
        """Choose what comes after the last frame."""
        self._loop = loop
        self._begin()

    def set_playing(self, playing: bool) -> None:
        """Start or stop. At the last frame without a loop, playing starts from the first."""
        first, last = self._ends
        playing = playing and last > first
        if playing == self.playing:
            return
        self.playing = playing
        if playing:
            outside = not first <= self._frame <= last
            if outside or (self._loop is Loop.ONCE and self._frame == last):
                self._request(first)
            self._drawn, self._counted_from = 0, self._clock()
            self._begin()
        else:
            self._timer.stop()
        self.playing_changed.emit(playing)

    def count_drawn(self) -> None:
        """Count a drawn frame."""
        if not self.playing:
            return
        self._drawn += 1
        passed = self._clock() - self._counted_from
        if passed >= COUNTED:
            self.rate_measured.emit(self._drawn / passed)
            self._drawn, self._counted_from = 0, self._clock()

    @property
    def _ends(self) -> tuple[int, int]:
        return self._range if self._range is not None else (0, self._count - 1)

    def _begin(self) -> None:
        """Count from the frame that is shown."""
        if not self.playing:
            return
        first, last = self._ends
        self._steps = min(max(self._frame, first), last) - first
        self._began = self._clock() - self._steps / self._rate
        self._schedule()

    def _schedule(self) -> None:
        due = self._began + (self._steps + 1) / self._rate
        self._timer.start(max(math.ceil(1000 * (due - self._clock())), LEAST_PAUSE))

    def _on_timeout(self) -> None:
        steps = math.floor((self._clock() - self._began) * self._rate + EARLY)
        if steps - self._steps > max(STALL * self._rate, 1.0):
            self._began += (steps - self._steps - 1) / self._rate
            steps = self._steps + 1
        if steps > self._steps:
            self._steps = steps
            first, last = self._ends
            frame = first + frame_in_round(steps, last - first + 1, self._loop)
            over = self._loop is Loop.ONCE and frame == last
            self._request(frame)
            if over:
                self.set_playing(False)
        if self.playing:
            self._schedule()

    def _request(self, frame: int) -> None:
        self._frame = frame  # which is then no news from outside
        self.frame_requested.emit(frame)
