"""The ticks on a run's curve where its settings changed: one for a whole movement of the hand. No Qt."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nrsfm_gui.model.changes import named, one_gesture, parameters

if TYPE_CHECKING:
    from core import Settings
    from nrsfm_gui.engine.mailbox import Change
    from nrsfm_gui.model.run import Run


@dataclass(frozen=True)
class _Gesture:
    """A movement of the hand that may go on: the tick it made says how far it went."""

    run: Run
    keys: frozenset[str]  # of the parameters that it moves
    at: float  # when it moved last, in seconds
    before: Settings  # where it began
    note: str = ""  # before what changed

    def goes_on(self, run: Run, keys: frozenset[str], now: float) -> bool:
        """Whether another change is of the same movement."""
        return run is self.run and one_gesture(self.keys, keys, now - self.at)


class Ticks:
    """Puts them; knows the movement that goes on."""

    def __init__(self) -> None:
        self._gesture: _Gesture | None = None

    def expect(self, run: Run, settings: Settings, place: str) -> None:
        """Let the next tick of a run, which has these settings, say from what place it goes on."""
        self._gesture = _Gesture(run, frozenset(), 0.0, settings, f"{place}: ")  # of nothing yet

    def note(self, run: Run, change: Change) -> None:
        """Put a tick where the settings changed, or take it along with the hand; the run has them then."""
        now, keys, last = time.perf_counter(), parameters(run.settings, change.settings), self._gesture
        if last is not None and not change.restarts and last.goes_on(run, keys, now):
            run.history.rename_tick(last.note + named(last.before, change.settings))
            self._gesture = replace(last, keys=last.keys | keys, at=now)
        else:
            note = last.note if last is not None and last.run is run and not last.keys else ""
            text = note + named(run.settings, change.settings)
            tick = run.history.tick(change.iteration, text, before=run.settings, restarts=change.restarts)
            run.moments.hold(tick.first - 1)
            self._gesture = None if change.restarts else _Gesture(run, keys, now, run.settings, note)
        run.settings = change.settings
