"""The camera state of the 3-D view: an orbit, the camera of the frame, or the turntable."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, Qt, QTimer, pyqtSignal

from nrsfm_gui.scene.orbit_camera import Orbit, Projection, locked_projection

if TYPE_CHECKING:
    from core.foundation import Floats
    from nrsfm_gui.scene.scene import Scene

DEGREES_PER_PIXEL = 0.4
TURN = 20.0  # degrees a second of the turntable
TICK = 16  # milliseconds between two of its pictures


class ViewCamera(QObject):
    """An orbit, and whether the camera of the current frame replaces it.

    Signals
    -------
    moved()
        the picture changed.
    orbit_changed(Orbit)
        the user or the turntable moved the orbit.
    orthographic_changed(bool), locked_changed(bool), turning_changed(bool)
        emitted when the named state changes.
    """

    moved = pyqtSignal()
    orbit_changed = pyqtSignal(object)
    orthographic_changed = pyqtSignal(bool)
    locked_changed = pyqtSignal(bool)
    turning_changed = pyqtSignal(bool)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.orbit = Orbit()
        self.locked = False
        self.fitted = True  # until the user moves it: a resized view fits itself again
        self._turned_at = 0.0
        self._timer = QTimer(self)  # the clock of the turntable
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK)
        self._timer.timeout.connect(self._on_turn_timeout)

    @property
    def turning(self) -> bool:
        """Whether the turntable is on."""
        return self._timer.isActive()

    def projection(self, scene: Scene | None, width: int, height: int) -> Projection:
        """Return the map to a picture of that size."""
        if self.locked and scene is not None and scene.camera is not None and scene.extent is not None:
            return locked_projection(scene.camera, scene.image_extent, scene.extent, width, height)
        return self.orbit.projection(width, height)

    def sees_through_frame(self, scene: Scene | None) -> bool:
        """Return whether the camera of the frame is the one that is looked through."""
        return self.locked and scene is not None and scene.camera is not None and scene.extent is not None

    def set_orbit(self, orbit: Orbit) -> None:
        """Set the orbit; emits only `moved`."""
        if orbit != self.orbit:
            orthographic, self.orbit, self.fitted = self.orbit.orthographic, orbit, False
            if orthographic != orbit.orthographic:
                self.orthographic_changed.emit(orbit.orthographic)
            self.moved.emit()

    def fit(self, points: Floats, width: int, height: int) -> None:
        """Fill a picture with points (N, 3), seen from the same direction, or from all that it turns to."""
        fit = self.orbit.around if self.turning else self.orbit.fitted
        self._move(fit(points, width, height))
        self.fitted = True

    def preset(self, name: str) -> None:
        """Look along an axis; `name` is a key of `orbit.PRESETS`."""
        self.stop()
        self._move(self.orbit.preset(name))

    def set_orthographic(self, on: bool) -> None:
        """Project along parallel rays, or towards a point; what is at the center keeps its size."""
        if on != self.orbit.orthographic:
            self._move(replace(self.orbit, orthographic=on))
            self.orthographic_changed.emit(on)

    def set_locked(self, on: bool) -> None:
        """See through the camera of the frame, or through the orbiting one."""
        if on != self.locked:
            self.locked = on
            if on:
                self.set_turning(False)
            self.moved.emit()
            self.locked_changed.emit(on)

    def set_turning(self, on: bool) -> None:
        """Start or stop the turntable."""
        if on == self.turning:
            return
        if on:
            self.set_locked(False)
            self._turned_at = perf_counter()
            self._timer.start()
        else:
            self._timer.stop()
        self.turning_changed.emit(on)

    def turn(self, right: float, down: float) -> None:
        """Follow a drag, in pixels."""
        self._move(self.orbit.turned(right * DEGREES_PER_PIXEL, down * DEGREES_PER_PIXEL))

    def pan(self, right: float, down: float, height: int) -> None:
        """Follow a drag, in pixels of a picture of that height."""
        self._move(self.orbit.panned(right, down, height))

    def zoom(self, factor: float) -> None:
        """Enlarge by a factor."""
        self._move(self.orbit.zoomed(factor))

    def interrupt(self) -> None:
        """End the lock, the turntable, and the fit to the size of the view."""
        self.fitted = False
        self.stop()

    def stop(self) -> None:
        """End the lock and the turntable."""
        self.set_turning(False)
        self.set_locked(False)

    def _on_turn_timeout(self) -> None:
        now = perf_counter()
        seconds, self._turned_at = min(now - self._turned_at, 0.1), now
        self._move(self.orbit.turned(-TURN * seconds, 0.0))

    def _move(self, orbit: Orbit) -> None:
        if orbit != self.orbit:
            self.orbit = orbit
            self.moved.emit()
            self.orbit_changed.emit(orbit)
