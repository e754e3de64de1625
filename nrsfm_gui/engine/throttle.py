"""What is shown as often as it can be read, however often it changes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

from PyQt6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from collections.abc import Callable

State = TypeVar("State")

FRAME_MILLISECONDS = 33  # every second refresh of a display
READING_MILLISECONDS = 100  # numbers that change faster cannot be read


class Throttle(QObject):
    """Calls a function at once, and then again only after a rest; requests meanwhile are one call.

    Parameters
    ----------
    function
        without parameters: it looks up what there is to show.
    parent
        as of any QObject.
    """

    def __init__(self, function: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._function = function
        self._requested = False
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(READING_MILLISECONDS)
        self._rest.timeout.connect(self._on_rested)

    def request(self, *_: object) -> None:
        """Call the function, now or as soon as the last call is long enough ago."""
        if self._rest.isActive():
            self._requested = True
        else:
            self.run()

    def run(self) -> None:
        """Call the function."""
        self._requested = False
        self._rest.start()
        self._function()

    def _on_rested(self) -> None:
        if self._requested:
            self.run()


class PanelUpdater(QObject):
    """Brings one panel up to date: a frame after a change, at most once in an interval, and where it differs.

    The frame is left to the picture: what a mouse moves is drawn first, the numbers of it follow.

    Parameters
    ----------
    resolve
        returns what the panel has to show, as a value that can be compared.
    apply
        shows it.
    parent
        as of any QObject.
    milliseconds
        least time between two updates.
    """

    def __init__(
        self,
        resolve: Callable[[], State],
        apply: Callable[[State], object],
        parent: QObject,
        *,
        milliseconds: int = READING_MILLISECONDS,
    ) -> None:
        super().__init__(parent)
        self._resolve: Callable[[], Any] = resolve
        self._apply: Callable[[Any], object] = apply
        self._seconds = milliseconds / 1000
        self._shown: Any = _NOTHING
        self._updated_at = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.update)

    def request(self, *_: object) -> None:
        """Update the panel soon; connected to every signal of what it shows."""
        if not self._timer.isActive():
            rest = self._updated_at + self._seconds - time.perf_counter()
            self._timer.start(max(round(1000 * rest), FRAME_MILLISECONDS))

    def update(self) -> None:
        """Show what there is to show now, where it is not shown yet."""
        self._timer.stop()
        self._updated_at = time.perf_counter()
        state = self._resolve()
        if self._shown is _NOTHING or state != self._shown:
            self._shown = state
            self._apply(state)

    def flush(self) -> None:
        """Do now what was requested, if anything was."""
        if self._timer.isActive():
            self.update()

    def forget(self) -> None:
        """Drop what was requested, and show whatever there is at the next update: the view was changed."""
        self._timer.stop()
        self._shown = _NOTHING


_NOTHING = object()
