"""The camera state of the 3-D view: an orbit, the camera of the frame, or the turntable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from PyQt6.QtCore import QObject, Qt, QTimer, pyqtSignal

from core.foundation import Floats
from nrsfm_gui.engine.throttle import Debounce
from nrsfm_gui.scene.orbit_camera import Orbit

DEGREES_PER_PIXEL = 0.4
TURN = 20.0  # degrees a second of the turntable
MISFIT = 1.3  # times that an object may be too large or too small before it is fitted again
OFF_CENTER = 0.06  # of the distance: how far its center may be from that of the view
SLACK = 1.02  # of the distance: what is inside may reach so far out of the free part of a picture
GESTURE_RESTS = 400  # milliseconds after the last turn of the wheel
TICK = 16  # milliseconds between two of its pictures


@dataclass(frozen=True)
class Viewpoint:
    """Where the view is seen from, and what it may change by itself."""

    orbit: Orbit
    locked: bool  # the camera of the frame replaces the orbit
    fitted: bool  # until a person moves it: it fits itself again when the view or the object has another size
    aimed: bool  # until a person turns it: the default direction


class ViewCamera(QObject):
    """An orbit, and whether the camera of the current frame replaces it."""

    moved = pyqtSignal()  # the picture changed
    # A gesture of a person is over: from where, to where, and what it was.
    viewpoint_changed = pyqtSignal(object, object, str)
    orbit_changed = pyqtSignal(object)  # the user or the turntable moved the orbit
    orthographic_changed = pyqtSignal(bool)
    locked_changed = pyqtSignal(bool)
    turning_changed = pyqtSignal(bool)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.orbit, self.locked, self.fitted, self.aimed = Orbit(), False, True, True  # see `Viewpoint`
        self.saved_views: dict[str, Orbit] = {}  # by the key that shows it
        self._gesture: tuple[Viewpoint, str] | None = None  # where it began, and what it is
        self._pause = Debounce(self.end_gesture, GESTURE_RESTS, self)  # of turns of the wheel
        self._turned_at = 0.0
        self._timer = QTimer(self)  # the clock of the turntable
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK)
        self._timer.timeout.connect(self._on_turn_timeout)

    @property
    def viewpoint(self) -> Viewpoint:
        """Where the view is seen from now."""
        return Viewpoint(self.orbit, self.locked, self.fitted, self.aimed)

    @property
    def turning(self) -> bool:
        """Whether the turntable is on."""
        return self._timer.isActive()

    @contextmanager
    def gesture(self, text: str) -> Iterator[None]:
        """Take what is changed meanwhile as one gesture."""
        self.end_gesture()
        self.begin_gesture(text)
        yield
        self.end_gesture()

    def begin_gesture(self, text: str, *, pause: bool = False) -> None:
        """Begin a gesture unless one goes on; with `pause`, it ends when no other begins for a while."""
        if self._gesture is None:
            self._gesture = self.viewpoint, text
        if pause:
            self._pause.request()

    def end_gesture(self) -> None:
        """End a gesture, if any; one that changed nothing is not reported."""
        self._pause.cancel()
        if self._gesture is not None:
            (before, text), self._gesture = self._gesture, None
            if (before.orbit, before.locked) != (self.orbit, self.locked):
                self.viewpoint_changed.emit(before, self.viewpoint, text)

    def set_orbit(self, orbit: Orbit) -> None:
        """Set the orbit; emits no `orbit_changed`."""
        self.change(orbit=orbit, fitted=False, aimed=False)

    def set_viewpoint(self, viewpoint: Viewpoint) -> None:
        """Look from a place where the view was before."""
        self.set_turning(False)
        self.move(**vars(viewpoint))

    def misses(self, wanted: Orbit) -> bool:
        """Return whether an object is clearly larger, smaller or elsewhere than what its orbit shows."""
        ratio = wanted.distance / self.orbit.distance
        off = float(np.linalg.norm(np.subtract(wanted.center, self.orbit.center))) / wanted.distance
        return not (1.0 / MISFIT < ratio < MISFIT and off < OFF_CENTER)

    def set_locked(self, on: bool) -> None:
        """See through the camera of the frame, or through the orbiting one."""
        if on != self.locked:
            self.change(locked=on)
            if on:
                self.set_turning(False)

    def set_turning(self, on: bool) -> None:
        """Start or stop the turntable."""
        if on == self.turning:
            return
        if on:
            self.change(locked=False, aimed=False)
            self._turned_at = perf_counter()
            self._timer.start()
        else:
            self._timer.stop()
        self.turning_changed.emit(on)

    def turn(self, right: float, down: float, held: Floats | None, width: int, height: int) -> None:
        """Follow a drag, in pixels; points (N, 3) that are inside a picture of a size remain so."""
        turned = self.orbit.turned(right * DEGREES_PER_PIXEL, down * DEGREES_PER_PIXEL)
        farthest = SLACK * self.orbit.distance
        if held is not None and self.orbit.holding(held, width, height).distance < farthest:
            turned = turned.holding(held, width, height)
        self.move(turned, aimed=False)

    def interrupt(self) -> None:
        """End the lock, the turntable, and the fit to the size of the view."""
        self.change(fitted=False)
        self.stop()

    def stop(self) -> None:
        """End the lock and the turntable."""
        self.set_turning(False)
        self.set_locked(False)

    def _on_turn_timeout(self) -> None:
        now = perf_counter()
        seconds, self._turned_at = min(now - self._turned_at, 0.1), now
        self.move(self.orbit.turned(-TURN * seconds, 0.0))

    def move(self, orbit: Orbit, **flags: bool) -> None:
        """Look from another orbit; `flags` are fields of the viewpoint."""
        before = self.orbit
        self.change(orbit=orbit, **flags)
        if orbit != before:
            self.orbit_changed.emit(orbit)

    def change(self, **changes: Any) -> None:
        """Change fields of the viewpoint, and emit what has changed but `orbit_changed`."""
        before = self.viewpoint
        for name, value in changes.items():
            setattr(self, name, value)
        if before.orbit.orthographic != self.orbit.orthographic:
            self.orthographic_changed.emit(self.orbit.orthographic)
        if before.orbit != self.orbit or before.locked != self.locked:
            self.moved.emit()
        if before.locked != self.locked:
            self.locked_changed.emit(self.locked)
