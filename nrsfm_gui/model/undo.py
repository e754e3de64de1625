"""What can be undone, in one order: changes of the parameters and of the view, and removals. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from core import Settings
from nrsfm_gui.model.changes import differences, named, one_gesture, parameters

MOST_ENTRIES = 200  # that can be undone


@dataclass(frozen=True, eq=False)
class UndoChange:
    """A change of the parameters, or of what is seen: all changes of one gesture."""

    parts: frozenset[str]  # that it is of; changes of the same ones in quick succession are one gesture
    before: Any
    after: Any
    apply: Callable[[Any], object]  # sets one of both
    describe: Callable[[Any, Any], str]  # "rank 2 → 3", "trails shown"

    @property
    def description(self) -> str:
        """What changed, from what to what."""
        return self.describe(self.before, self.after)


def settings_change(before: Settings, after: Settings, apply: Callable[[Settings], object]) -> UndoChange:
    """Return a change of the parameters."""
    return UndoChange(parameters(before, after), before, after, apply, named)


def values_before(before: Settings, after: Settings) -> str:
    """Return what changed, as it was: "xi 0.5, rank 6"."""
    found = differences(before, after)
    return ", ".join(f"{difference.name} {difference.before}" for difference in found) or "before"


@dataclass(frozen=True, eq=False)
class UndoEntry:
    """What was done to something else than the parameters, and how it is undone."""

    description: str  # "3 runs forgotten"
    undo: Callable[[], object]
    redo: Callable[[], object]


Undoable = UndoChange | UndoEntry


class UndoStack:
    """What can be undone and done again. Pure: the time is given."""

    def __init__(self) -> None:
        self._undone: list[Undoable] = []
        self._done: list[Undoable] = []
        self._at = 0.0

    def clear(self) -> None:
        """Forget everything."""
        self._undone, self._done, self._at = [], [], 0.0

    def add(self, change: UndoChange, now: float) -> None:
        """Add a change at a time in seconds; it joins the last one where both are one gesture."""
        last = self._done[-1] if self._done and not self._undone else None
        if isinstance(last, UndoChange) and one_gesture(last.parts, change.parts, now - self._at):
            self._done.pop()
            change = replace(change, parts=last.parts | change.parts, before=last.before)
        if change.before != change.after:
            self.push(change)
        self._undone.clear()
        self._at = now

    def push(self, entry: Undoable) -> None:
        """Add something that joins nothing."""
        self._done = [*self._done, entry][-MOST_ENTRIES:]
        self._undone.clear()

    def drop(self, entry: UndoEntry) -> None:
        """Forget an entry that was undone by other means."""
        self._done = [other for other in self._done if other is not entry]
        self._undone = [other for other in self._undone if other is not entry]

    def undo(self) -> Undoable | None:
        """Return the last entry, which is undone from now on; None where there is none."""
        if not self._done:
            return None
        self._undone.append(self._done.pop())
        return self._undone[-1]

    def redo(self) -> Undoable | None:
        """Return the entry that was undone last, which is done from now on; None where there is none."""
        if not self._undone:
            return None
        self._done.append(self._undone.pop())
        self._at = 0.0
        return self._done[-1]
