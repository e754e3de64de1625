"""The thread of a solver and its mailbox: the only module that two threads share.

`SolverThread` drains the stream of a reconstruction into a mailbox: the newest iterate, a few of those before
it, and every record since it was last read. The window reads it at display rate (`read_mailbox`), so that a
run of 20 000 iterations costs it no more than one of 20. The first iterate under changed settings is
announced at once, because the user waits for it. A pause is a condition on which the thread waits between two
iterations; a cancel ends the wait. A thread is never terminated: its owner cancels it, waits for its end, and
only then deletes it.

It is the only thread of the window that is not a `Job`. A job reports by signals, one event for each, and
ends with one value; a run is read from a mailbox at the window's pace, is paused, takes changed settings and
answers them, and its mailbox is read once more after its end.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from PyQt6.QtCore import QThread, pyqtSignal

from core import HistoryEntry, InputError, Iterate, Sequence, Settings
from core.foundation import PhaseKind
from core.reconstruction import count_shift, shift_counts
from nrsfm_gui.model.run import RunState

# During a drag: the least seconds between two steps, and the least multiple of the duration of a step.
STEP_EVERY, STEP_SHARE = 0.1, 40.0
STEP_ANSWERS = 5.0  # assumed duration of a step, in durations of a first iterate, before a step was done
# Seconds that a step waits for another change: while a large picture is painted, mouse events are late.
DRAG_PAUSE = 0.1
MOST_SEEN = 12  # iterates that the mailbox holds for the snapshots of a run

Work = Callable[["Sequence", "Settings", "Iterate | None"], Iterator["Iterate"]]


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


@dataclass(eq=False)
class MailboxContent:
    """What happened since the mailbox was last emptied; once it is read, nobody writes it any more."""

    records: list[HistoryEntry] = field(default_factory=list)  # every one, oldest first
    iterate: Iterate | None = None  # the newest
    seen: list[tuple[int, Iterate]] = field(default_factory=list)  # some, oldest first, with their records
    changes: list[Change] = field(default_factory=list)
    refusal: str = ""  # why changed settings were not taken; the run goes on under the old ones
    ending: Ending | None = None


def real_work(sequence: Sequence, settings: Settings, start: Iterate | None) -> Iterator[Iterate]:
    """Return the stream of `core.iterate`."""
    from core import iterate  # here: elsewhere in this module an iterate is a value

    return iterate(sequence, settings, start=start)


class SolverThread(QThread):
    """A thread that drains one stream of iterates; see the module's docstring.

    `after`: the last record of the history that goes on, which iterations and seconds are counted from; None
    where a history begins; `linger`: seconds that it waits for changed settings once the stream has ended,
    before the run is over; `work`: gives the stream for (sequence, settings, start).
    """

    arrived = pyqtSignal()  # the mailbox has the first iterate under changed settings

    def __init__(
        self,
        sequence: Sequence,
        settings: Settings,
        *,
        start: Iterate | None = None,
        after: HistoryEntry | None = None,
        linger: float = 0.0,
        work: Work = real_work,
    ) -> None:
        super().__init__()
        self._work = work
        self._linger = linger
        self._sequence = sequence
        self._start = start
        self._condition = threading.Condition()
        # All that follows is shared and only touched while the condition is held.
        self._settings = settings
        self._pending: tuple[Settings, float] | None = None  # with the rest before them
        self._paused = self._cancelled = self._over = False
        self._steps = 0
        self._delay = 0.0
        self._mailbox = MailboxContent()
        self._answering = False  # whether changed settings are being applied
        self._stepping = False  # whether an iteration is being done
        self._answer_seconds = 0.0
        # Only the thread itself touches these.
        self._last: Iterate | None = None
        self._record = after  # the last one of the history
        self._step_pending = False  # whether no step was done under the present settings yet
        self._step_seconds, self._stepped_at = 0.0, time.perf_counter()
        self._shift: tuple[int, float] | None = None  # unknown before the first iterate

    # -- called by the window -------------------------------------------------------------------------------

    def read_mailbox(self) -> MailboxContent:
        """Empty the mailbox."""
        with self._condition:
            content, self._mailbox = self._mailbox, MailboxContent()
        return content

    def set_paused(self, paused: bool) -> None:
        """Pause the run between two iterations, or resume it."""
        self._share(_paused=paused, _steps=0)

    def step(self) -> None:
        """Let a paused run do one iteration."""
        with self._condition:
            self._steps += 1
            self._condition.notify_all()

    def set_delay(self, seconds: float) -> None:
        """Wait this long after every iteration, so that the changes can be seen."""
        self._share(_delay=seconds)

    def change(self, settings: Settings, rest: float = 0.0) -> bool:
        """Continue from the current iterate under other settings; False where the run has already ended.

        `rest`: seconds since they were changed before; of changes that come fast, the longest is kept.
        """
        with self._condition:
            if self._over:
                return False
            self._pending = settings, max(rest, self._pending[1] if self._pending else 0.0)
            self._condition.notify_all()
            return True

    def await_answer(self, seconds: float) -> bool:
        """Wait for the first iterate under changed settings, so that no other thread disturbs it.

        Returns whether the mailbox has one. Where the last one took longer than so many seconds, or a step
        has to be ended first, it is not waited for: `arrived` is emitted then.
        """
        with self._condition:
            if self._answer_seconds <= seconds:
                self._condition.wait_for(self._has_answered, seconds)
            return bool(self._mailbox.changes or self._mailbox.refusal)

    def _has_answered(self) -> bool:
        """Whether there is nothing to wait for: asked while the condition is held."""
        answered = not (self._pending or self._answering)
        return answered or self._stepping or self._over or self._cancelled

    def cancel(self) -> None:
        """Stop after the current iteration; a paused run stops, too."""
        self._share(_cancelled=True)

    def _share(self, **values: object) -> None:
        """Set values that both threads use, and wake the one that waits for them."""
        with self._condition:
            vars(self).update(values)
            self._condition.notify_all()

    # -- the thread itself ----------------------------------------------------------------------------------

    def run(self) -> None:
        """Drain the stream; every exception becomes a value in the mailbox, none leaves the thread."""
        try:
            ending = Ending(self._drain())
        except InputError as refusal:
            ending = Ending(RunState.FAILED, str(refusal))
        except Exception as defect:
            ending = Ending(RunState.FAILED, f"{type(defect).__name__}: {defect}", traceback.format_exc())
        with self._condition:
            self._over = True
            self._mailbox.ending = ending
            self._condition.notify_all()

    def _drain(self) -> RunState:
        stream = self._work(self._sequence, self._settings, self._start)
        try:
            while self._wait_while_paused():
                change = self._pop_change()
                if change is not None:
                    stream = self._redirected(stream, *change)
                    self._share(_answering=False)
                    continue
                if self._wait_for_change():
                    continue
                self._share(_stepping=True)
                began = time.perf_counter()
                iterate = next(stream, None)
                self._share(_stepping=False)
                self._stepped_at, self._step_pending = time.perf_counter(), False
                if iterate is not None:
                    self._step_seconds = self._stepped_at - began
                    self._post(iterate)
                elif self._is_over():
                    return RunState.FINISHED
            return RunState.STOPPED
        finally:
            _close(stream)

    def _wait_while_paused(self) -> bool:
        """Wait while paused; return False once cancelled."""
        with self._condition:
            if self._delay and not self._paused:
                self._condition.wait_for(lambda: self._cancelled or self._paused, timeout=self._delay)
            self._condition.wait_for(lambda: self._cancelled or not self._paused or self._steps > 0)
            self._steps = max(0, self._steps - 1)
            return not self._cancelled

    def _is_over(self) -> bool:
        """Whether nothing is left to do: no change has arrived, or arrives now."""
        with self._condition:
            self._condition.wait_for(lambda: self._cancelled or self._pending is not None, self._linger)
            self._over = self._cancelled or self._pending is None
            return self._over

    def _pop_change(self) -> tuple[Settings, float] | None:
        """Return changed settings that are to be applied now and the rest before, None where there are none.

        During a drag there are always newer ones. A step is done from time to time all the same: else the
        point would never get further than the first iterate under each.
        """
        if self._step_is_due():
            return None
        with self._condition:
            change, self._pending = self._pending, None
            self._answering = change is not None
        return change

    def _step_is_due(self) -> bool:
        step = self._step_seconds or STEP_ANSWERS * self._answer_seconds
        rest = max(STEP_EVERY, STEP_SHARE * step)
        return self._step_pending and time.perf_counter() - self._stepped_at > rest

    def _wait_for_change(self) -> bool:
        """Wait a moment for another change before a step, which would delay it; return whether one came.

        The steps of the uncertainty take as long as many others: they wait until the hand has rested.
        """
        last = self._last
        if self._step_is_due():
            return False
        phase = None if last is None or last.status.finished else last.phase
        if phase is not None and phase.kind is PhaseKind.UNCERTAINTY and not phase.number:
            pause = self._linger  # it has just come to its shape, whose uncertainty is next
        elif self._step_pending:
            pause = DRAG_PAUSE
        else:
            return False
        with self._condition:
            return self._condition.wait_for(lambda: self._cancelled or self._pending is not None, pause)

    def _redirected(self, stream: Iterator[Iterate], settings: Settings, rest: float) -> Iterator[Iterate]:
        """Return a stream from the current iterate under other settings, or the old one where refused."""
        before, began = self._last or self._start, time.thread_time()
        try:
            other = self._work(self._sequence, settings, before)
            first = next(other, None)
        except InputError as refusal:
            with self._condition:
                self._mailbox.refusal = str(refusal)
            return stream
        _close(stream)
        self._settings = settings
        with self._condition:
            self._answer_seconds = time.thread_time() - began  # of this thread
        if not self._step_pending:  # the first change of a drag, or after a step
            self._stepped_at = time.perf_counter()
        self._step_pending = first is not None and not first.status.finished
        if first is not None:
            self._post(first, Change(first.record.iteration, settings, _restarts(before, first), rest))
        return other

    def _post(self, iterate: Iterate, change: Change | None = None) -> None:
        """Put an iterate into the mailbox; a change comes with the first one under changed settings."""
        if self._record is not None and (change is not None or self._shift is None):
            self._shift = count_shift(self._record, iterate.record)
        if self._shift is not None:
            iterate = shift_counts(iterate, self._shift)
        else:
            self._shift = (0, 0.0)
        self._last, self._record = iterate, iterate.record
        with self._condition:
            mailbox = self._mailbox
            mailbox.records.append(iterate.record)
            mailbox.iterate = iterate
            if len(mailbox.seen) == MOST_SEEN:
                del mailbox.seen[1::2]
            mailbox.seen.append((len(mailbox.records) - 1, iterate))
            if change is not None:
                mailbox.changes.append(replace(change, iteration=iterate.record.iteration))
        if change is not None:
            self.arrived.emit()


def _restarts(before: Iterate | None, first: Iterate) -> bool:
    """Whether the first iterate under changed settings does not continue from the one before."""
    if before is None:
        return False  # there was nothing yet
    return not (before.rotations_chosen and first.rotations_chosen) or before.rotations != first.rotations


def _close(stream: Any) -> None:
    """Close a stream that is a generator; other iterators have nothing to close."""
    close = getattr(stream, "close", None)
    if close is not None:
        close()
