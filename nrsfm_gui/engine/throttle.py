"""Throttle and debounce: limits on the rate of work for requests.

`Throttle` calls a function at most once in an interval, `Debounce` once requests have rested, or only the
events that wait. Their speeds have names. A `QTimer` is for clocks, which run without requests: playback,
polling a run, how long a message stays. Where another one is used, a comment there states why.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from PyQt6.QtCore import QEvent, QObject, QTimer, pyqtBoundSignal

State = TypeVar("State")

REFRESH_MILLISECONDS = 8  # changes that come together are drawn together
FRAME_MILLISECONDS = 33  # every second refresh of a display
DRAG_MILLISECONDS = 80  # between two pictures of the other views while parameters are dragged
TURN_MILLISECONDS = 40  # between the updates of two panels meanwhile
DRAG_RESTS = 0.25  # seconds without a change of a parameter, after which a drag is over
READING_MILLISECONDS = 100  # numbers that change faster cannot be read
TYPING_MILLISECONDS = 200  # without another key or movement, after which a value counts
SERIES_MILLISECONDS = 300  # between two computations over all frames, while a run goes on
IDLE_MILLISECONDS = 600  # without another change, after which the user has finished


class Throttle(QObject):
    """Calls a function at most once in an interval; requests meanwhile are one call."""

    _delay = 0  # milliseconds from a request to the call, at least

    def __init__(
        self, function: Callable[[], object], parent: QObject, *, milliseconds: int = READING_MILLISECONDS
    ) -> None:
        super().__init__(parent)
        self._function, self._seconds = function, milliseconds / 1000
        self._called_at = float("-inf")
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.run)

    def request(self, *_: object) -> None:
        """Call the function soon."""
        if self._timer.isActive():
            return
        wait = max(1000 * (self._called_at + self._seconds - time.perf_counter()), self._delay)
        if wait <= 0:
            self.run()
        else:
            self.run_after(wait)

    def follow(self, *signals: pyqtBoundSignal) -> None:
        """Request the call whenever one of the signals is emitted."""
        for signal in signals:
            signal.connect(self.request)

    def run(self) -> None:
        """Call the function now."""
        self._timer.stop()
        self._called_at = time.perf_counter()
        self._function()

    def flush(self) -> None:
        """Call the function now, if it was requested."""
        if self._timer.isActive():
            self.run()

    def cancel(self) -> None:
        """Drop what was requested."""
        self._timer.stop()

    def run_after(self, wait: float) -> None:
        """Call the function once, after so many milliseconds."""
        self._timer.start(round(wait))


class PanelTurns:
    """While parameters are dragged, panels are updated seldom and in turn: the picture has the time.

    An update of the loss with its paint takes as long as one of the 3-D view. An eye that follows the shape
    does not read numbers meanwhile.
    """

    def __init__(self) -> None:
        self._dragged_at = self._last = float("-inf")

    def notice_drag(self) -> None:
        """Note that a parameter was changed that a run follows."""
        self._dragged_at = time.perf_counter()

    @property
    def dragging(self) -> bool:
        """Whether the hand still moves a parameter."""
        return time.perf_counter() - self._dragged_at <= DRAG_RESTS

    def next(self, wait: float) -> float:
        """Return how many milliseconds an update has to wait that would be made after so many."""
        if not self.dragging:
            return wait
        now = time.perf_counter()
        self._last = max(now + SERIES_MILLISECONDS / 1000, self._last + TURN_MILLISECONDS / 1000)
        return max(wait, 1000 * (self._last - now))


PANEL_TURNS = PanelTurns()


class PanelUpdater(Throttle):
    """Updates one panel: a frame after a change, at most once in an interval, and where its state differs.

    The frame is left to the picture: what a mouse moves is drawn first, the numbers of it follow. While
    parameters are dragged, panels follow one by one (`PANEL_TURNS`).
    """

    _delay = FRAME_MILLISECONDS
    _panel: QObject | None = None  # while it is hidden, nothing is updated

    def __init__(
        self,
        resolve: Callable[[], State],
        apply: Callable[[State], object],
        parent: QObject,
        *,
        milliseconds: int = READING_MILLISECONDS,
    ) -> None:
        super().__init__(self._update, parent, milliseconds=milliseconds)
        self._parts: list[tuple[Callable[[], Any], Callable[[Any], object]]] = [(resolve, apply)]
        self._shown: list[Any] = []  # the state of every part; none where nothing is known to be shown

    def add(self, resolve: Callable[[], State], apply: Callable[[State], object]) -> None:
        """Update one more part of the panel, after those before, where the state of that part differs."""
        self._parts.append((resolve, apply))
        self._shown = []

    def rest_while_hidden(self, panel: QObject) -> None:
        """Follow requests only while a panel is visible, and update it whenever it becomes so."""
        self._panel = panel
        panel.installEventFilter(self)

    def request(self, *_: object) -> None:
        """Update the panel soon, unless it is hidden."""
        if self._panel is None or self._panel.property("visible"):
            super().request()

    def eventFilter(self, _watched: QObject | None, event: QEvent | None) -> bool:
        """Update the panel before it is seen."""
        if event is not None and event.type() is QEvent.Type.Show:
            self.run()
        return False

    def forget(self) -> None:
        """Drop the request, and show any state at the next update: the view was changed by other means."""
        self.cancel()
        self._shown = []

    def run_after(self, wait: float) -> None:
        """Update the panel after so many milliseconds, or later while others have their turn."""
        super().run_after(PANEL_TURNS.next(wait))

    def _update(self) -> None:
        before, states = self._shown, [resolve() for resolve, _ in self._parts]
        self._shown = states
        for place, (_, apply) in enumerate(self._parts):
            if not before or states[place] != before[place]:
                apply(states[place])


class Debounce(QTimer):
    """Calls a function when nothing was requested for a while; after 0 ms, once no events wait.

    A queued signal would be over sooner. But where each call takes as long as the mouse needs to send another
    event, the queue is never empty, and timers are late.
    """

    def __init__(self, function: Callable[[], object], milliseconds: int, parent: QObject) -> None:
        super().__init__(parent)
        self._function = function
        self.setSingleShot(True)
        self.setInterval(milliseconds)
        self.timeout.connect(function)

    def request(self, *_: object) -> None:
        """Call the function after a rest that begins now."""
        self.start()

    def flush(self) -> None:
        """Call the function now, if it was requested."""
        if self.isActive():
            self.stop()
            self._function()

    def cancel(self) -> None:
        """Drop what was requested."""
        self.stop()
