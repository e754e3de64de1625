"""What the thread of a solver sends to the window."""

from __future__ import annotations

from dataclasses import dataclass

from core import HistoryEntry, Iterate, Settings
from nrsfm_gui.model.run import RunState


@dataclass(frozen=True)
class Ending:
    """How a run ended, and why."""

    state: RunState  # one that is over
    sentence: str = ""  # of a refusal of the settings or the sequence, or the last line of the traceback
    details: str = ""  # the traceback of a defect


@dataclass(frozen=True)
class Change:
    """Settings that were applied while a run was active."""

    iteration: int  # of the first record under them
    settings: Settings
    restarts: bool = False  # whether rotations are chosen anew, so that nothing of the point before is used
    rest: float = 0.0  # most seconds between two changes since the one that was applied before


@dataclass(frozen=True, eq=False)
class MailboxContent:
    """What happened since the mailbox was last emptied."""

    records: tuple[HistoryEntry, ...] = ()  # every one, oldest first
    iterate: Iterate | None = None  # the newest
    seen: tuple[tuple[int, Iterate], ...] = ()  # some of all, oldest first, with the number of their record
    changes: tuple[Change, ...] = ()
    refusal: str = ""  # why changed settings were not taken; the run goes on under the old ones
    ending: Ending | None = None
