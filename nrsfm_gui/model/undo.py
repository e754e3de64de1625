"""What can be undone, in one order: changes of the parameters and of the view, and removals. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nrsfm_gui.model.changes import differences, named, one_gesture, parameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from core import Settings

MOST_ENTRIES = 200  # that can be undone
VIEW_GESTURE = 1.0  # seconds without a change of the same part of the view that end a gesture


@dataclass(frozen=True)
class SettingsChange:
    """A change of the parameters: all changes of one gesture."""

    before: Settings
    after: Settings

    @property
    def description(self) -> str:
        """What changed, from what to what."""
        return named(self.before, self.after)

    @property
    def values_before(self) -> str:
        """What changed, as it was: "xi 0.5, rank 6"."""
        found = differences(self.before, self.after)
        return ", ".join(f"{difference.name} {difference.before}" for difference in found) or "before"


@dataclass(frozen=True, eq=False)
class UndoEntry:
    """What was done to something else than the parameters, and how it is undone."""

    description: str  # "3 runs forgotten"
    undo: Callable[[], object]
    redo: Callable[[], object]


@dataclass(frozen=True, eq=False)
class ViewChange:
    """A change of what is seen: all changes of one gesture. Nothing is solved when it is undone."""

    part: str  # of the view; changes of the same part in quick succession are one gesture
    description: str  # "trails shown"
    before: Any
    after: Any
    apply: Callable[[Any], object]  # shows one of both

    def undo(self) -> None:
        """Show what was there before."""
        self.apply(self.before)

    def redo(self) -> None:
        """Show what was there after."""
        self.apply(self.after)


Undoable = SettingsChange | UndoEntry | ViewChange


class UndoStack:
    """What can be undone and done again. Pure: the time is given."""

    def __init__(self) -> None:
        self._undone: list[Undoable] = []
        self._done: list[Undoable] = []
        self._at = 0.0

    def clear(self) -> None:
        """Forget everything."""
        self._undone, self._done, self._at = [], [], 0.0

    def add(self, before: Settings, after: Settings, now: float) -> None:
        """Add a change at a time in seconds; it joins the last one where both are one gesture."""
        keys = parameters(before, after)
        last = self._last
        if isinstance(last, SettingsChange) and one_gesture(
            parameters(last.before, last.after), keys, now - self._at
        ):
            self._done.pop()
            before = last.before
        if before != after:
            self._append(SettingsChange(before, after))
        self._undone.clear()
        self._at = now

    def add_view_change(self, change: ViewChange, now: float) -> None:
        """Add a change of the view at a time in seconds; it joins the last one of the same gesture."""
        last = self._last
        if isinstance(last, ViewChange) and last.part == change.part and now - self._at < VIEW_GESTURE:
            self._done.pop()
            change = replace(change, before=last.before)
        if change.before != change.after:
            self._append(change)
        self._undone.clear()
        self._at = now

    def push(self, entry: UndoEntry) -> None:
        """Add something that is no change of the parameters or the view."""
        self._append(entry)
        self._undone.clear()

    def drop(self, entry: UndoEntry) -> None:
        """Forget an entry that was undone by other means."""
        self._done = [other for other in self._done if other is not entry]
        self._undone = [other for other in self._undone if other is not entry]

    @property
    def _last(self) -> Undoable | None:
        """The entry that a change may join."""
        return self._done[-1] if self._done and not self._undone else None

    def _append(self, entry: Undoable) -> None:
        self._done = [*self._done, entry][-MOST_ENTRIES:]

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
