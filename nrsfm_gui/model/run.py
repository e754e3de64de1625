"""A run: one reconstruction with its history, as a session has it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypedDict

from core import Alignment, Iterate, Sequence, Settings
from core.foundation import DEPTHS, Floats, PhaseKind
from nrsfm_gui.model.history import History
from nrsfm_gui.model.snapshots import Snapshots

# Of the time of a search for depths, about what its phases would take that are planned: many samples are
# searched again. When deviations are computed nothing else follows.
SEARCH_SHARE = 0.7


class RunState(Enum):
    """Where a run stands."""

    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "done"
    STOPPED = "stopped"
    FAILED = "failed"

    @property
    def alive(self) -> bool:
        """Whether a thread works on it."""
        return self in (RunState.RUNNING, RunState.PAUSED)


class RunAdditions(TypedDict, total=False):
    """What a user adds to a run, see `Run`."""

    title: str
    note: str
    pinned: bool
    dismissed: frozenset[str]


@dataclass(frozen=True, eq=False)
class StoredErrors:
    """The errors of a run that are known under an alignment and a scale, as a session stores them."""

    alignment: Alignment
    scale: str | None
    points: Floats  # (M, 2) record and error


@dataclass(eq=False, repr=False)
class Run:
    """One reconstruction of this session; `run_control` writes it, but for what a user adds to it."""

    number: int  # 1-based
    sequence: Sequence
    settings: Settings  # in force now
    warm_from: int | None = None  # number of the run it went on from
    shown_before: int | None = None  # number of the run that was shown when it was added
    state: RunState = RunState.RUNNING
    history: History = field(default_factory=History)
    last: Iterate | None = None
    snapshots: Snapshots = field(default_factory=Snapshots)  # kept iterates of its history
    message: str = ""
    seconds_left: float | None = None  # by the clock, until it ends; None where nothing is known
    title: str = ""  # what the user calls it, "" for a text of its settings
    note: str = ""
    pinned: bool = False  # kept when all are forgotten
    dismissed: frozenset[str] = frozenset()  # sentences of verdicts that the user has read
    errors: tuple[StoredErrors, ...] = ()  # that were known when it was stored

    def as_of(self, moment: int | None) -> Run:
        """Return a copy that does not change any more: as it was at a kept moment, or with None as it is."""
        if moment is None or not len(self.snapshots):
            return replace(self, history=self.history.until(len(self.history)), snapshots=Snapshots())
        index, iterate = self.snapshots.at(moment)
        past = replace(self, settings=iterate.settings, state=RunState.STOPPED, last=iterate)
        past.history, past.snapshots = self.history.until(index + 1), Snapshots()
        return past

    def as_stored(self, errors: tuple[StoredErrors, ...] = ()) -> Run:
        """Return a copy for a session to store: it does not change any more, and is over."""
        state = RunState.STOPPED if self.state.alive else self.state
        return replace(self.as_of(None), state=state, errors=errors)

    @property
    def share_done(self) -> float:
        """About the part of its time that has passed, from the part of its phases that is done."""
        if self.last is None:
            return 0.0
        searches = self.settings.objective == DEPTHS and self.last.phase.kind is not PhaseKind.UNCERTAINTY
        return SEARCH_SHARE * self.last.fraction if searches else self.last.fraction

    @property
    def steered(self) -> bool:
        """Whether its parameters were changed on the way, so that it may be steered further."""
        return bool(self.history.ticks)

    @property
    def has_begun(self) -> bool:
        """Whether there is more of it than its start: an iteration, or the answer to a change."""
        return self.steered or bool(self.history.iterations.any())
