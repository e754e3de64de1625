"""Starting, holding, stepping and stopping runs: the only writer of a `Run`, between session and threads.

The content of a mailbox is applied to the run whose thread wrote it and to no other. So a run that is still
in its last iteration after a cancel neither loses its records nor changes the next run.

What was solved stays: in live mode a run that is over and was never steered is not changed. The first change
of the parameters adds a run that goes on from it; that one takes this change and all that follow.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import partial

from PyQt6.QtCore import QObject, Qt, QTimer, pyqtSignal

from core import Settings
from core.foundation import DEPTHS, WNN, phase_text
from nrsfm_gui.engine.solver_thread import Change, MailboxContent, SolverThread, Work, real_work
from nrsfm_gui.engine.throttle import FRAME_MILLISECONDS, PANEL_TURNS
from nrsfm_gui.model.changes import live_settings, named, one_gesture, parameters, waiting_sentence
from nrsfm_gui.model.names import sentence_name
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.session import Session
from nrsfm_gui.model.snapshots import LEAST
from nrsfm_gui.model.undo import UndoEntry

QUEUED = Qt.ConnectionType.QueuedConnection

ANSWER_SECONDS = 0.025  # that the window leaves to the solver for the first iterate after a change
SLOW_SECONDS = 0.1  # after every iteration in slow motion
LINGER = 0.4  # seconds without a change after which a run in live mode ends
ALL_SNAPSHOTS = 256_000_000  # bytes of the snapshots of all runs; above, runs that are not shown keep fewer
SMOOTHING = 2.0  # seconds
LEAST_SHARE = 0.02  # that must be done before anything is estimated
LEAST_SECONDS = 1.0  # that must have passed before


class RunControl(QObject):
    """Owns the solver threads."""

    refused = pyqtSignal(str)  # a sentence: settings that the sequence cannot serve
    ended = pyqtSignal(object)  # no thread works on this run any more
    # A run was added that follows changes, and the one that it goes on from, which stays as it is.
    branched = pyqtSignal(object, object)

    def __init__(self, session: Session, *, work: Work = real_work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._work = work
        self._threads: dict[Run, SolverThread] = {}
        self._delay = 0.0
        self._stopped: dict[Run, Settings] = {}  # those of the session when a run was stopped
        self._ignored_settings: Settings | None = None  # settings that were refused, or only shown again
        self._following: set[Run] = set()  # those whose threads follow changes of live settings only
        # Runs that were added for a change that is not applied yet, with the moment that they continue from.
        self._unconfirmed: dict[Run, int | None] = {}
        self._closing = False  # while all runs are ended, and none may follow one
        self._ticks = _TickRecorder()
        # When the settings were changed last, and how long they had rested before. A movement of the hand is
        # one tick, however long each of its changes takes to be answered.
        self._changed_at, self._rest = float("-inf"), float("inf")
        self._left: dict[Run, TimeLeft] = {}
        self._timer = QTimer(self)  # a clock: threads are polled while there are any
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(FRAME_MILLISECONDS)
        self._timer.timeout.connect(self._poll)
        session.live_changed.connect(self._on_live_changed)
        session.settings_changed.connect(self._apply_settings)
        # Queued: after all other slots of this signal, and before anything is painted.
        session.settings_changed.connect(self._on_settings_applied, QUEUED)  # type: ignore[call-arg]  # not in the stub

    @property
    def current(self) -> Run | None:
        """The active run, None without one; a run that was cancelled is not active."""
        return next((run for run in reversed(self._threads) if run.state.alive), None)

    def start(self, *, warm: bool, paused: bool = False, settings: Settings | None = None) -> Run:
        """Start a run, which replaces the present one."""
        self.cancel(replaced=True)
        for run in self._threads:
            if not run.has_begun:  # it is dropped at its end, and no run may go on from it
                self._withdraw(run)
        shown = self._session.shown
        source = shown if warm and shown is not None and shown.last is not None else None
        settings = settings or self._session.settings
        other = source if source is not None and source.settings.method != settings.method else None
        run = self._session.add_run(settings, warm_from=None if other is not None else source)
        thread = SolverThread(run.sequence, run.settings, start=run.last, work=self._work)
        if paused:
            thread.set_paused(True)
            run.state = RunState.PAUSED
        self._launch(run, thread)
        if other is not None:
            reason = f"run {sentence_name(other)} is of another method"
            self._session.notifier.show_status(f"Run {sentence_name(run)} starts from nothing: {reason}")
        return run

    def set_paused(self, paused: bool) -> None:
        """Pause the active run, or resume it."""
        run = self.current
        if run is not None:
            self._threads[run].set_paused(paused)
            run.state = RunState.PAUSED if paused else RunState.RUNNING
            self._session.report_run(run)

    def step(self) -> None:
        """Do one iteration: of the present run, which is paused, or of a new one that is paused at once."""
        run = self.current
        if run is None:
            run = self.start(warm=True, paused=True)
        if run.state is RunState.RUNNING:
            self.set_paused(True)
        self._threads[run].step()

    def cancel(self, *, replaced: bool = False) -> None:
        """Stop the present run after its current iteration; it keeps what it has."""
        run = self.current
        if run in self._unconfirmed:
            self._withdraw(run)
        elif run is not None:
            self._threads[run].cancel()
            followed = replaced and run in self._following
            run.state = RunState.FINISHED if followed else RunState.STOPPED
            self._stopped[run] = self._session.settings
            self._session.report_run(run)

    def _on_live_changed(self, live: bool) -> None:
        """Follow the changes since live mode was off, with the active run or with a new one."""
        run = self.current
        if live and run is None:
            self._follow(self._session.shown)
        elif live and run is not None and run.settings != self._session.settings:
            self._apply_settings(self._session.settings)

    def select(self, run: Run) -> None:
        """Show a run with its parameters. It can be undone, and no run follows it."""
        session = self._session
        before = session.shown, session.settings, session.moment
        settings = run.settings.shown_as(session.settings).with_changes(mirror=None)
        self.show(run, settings)
        if settings != before[1]:
            what = f"selection of run {sentence_name(run)}"
            undo, redo = partial(self.show, *before), partial(self.show, run, settings)
            session.undo_stack.push(UndoEntry(what, undo, redo))

    def show(self, run: Run | None, settings: Settings, moment: int | None = None) -> None:
        """Show a run, if it is still there, beside parameters that no run follows."""
        self.ignore_settings(settings)
        self._session.notifier.show_status("")  # what waited for Run waits no longer
        self._session.look_at(run, settings, moment)

    def ignore_settings(self, settings: Settings) -> None:
        """Do not follow these settings until others are set: they are only shown."""
        self._ignored_settings = settings

    def waiting(self, run: Run) -> str:
        """Return a sentence about the parameters that a run under way does not follow yet, "" for none."""
        searches = run.settings.objective == DEPTHS and run not in self._following
        return waiting_sentence(run.settings, self._session.settings, searches=searches)

    def set_slow(self, slow: bool) -> None:
        """Wait after every iteration, so that the changes can be seen."""
        self._delay = SLOW_SECONDS if slow else 0.0
        for thread in self._threads.values():
            thread.set_delay(self._delay)

    def shut_down(self) -> None:
        """Cancel every run, wait for its thread, and read its mailbox for the last time."""
        self._closing = True
        for thread in self._threads.values():
            thread.cancel()
        for thread in self._threads.values():
            thread.wait()
        self._poll()
        self._timer.stop()
        self._closing = False  # the window may stay open: its session could not be kept

    def _launch(self, run: Run, thread: SolverThread) -> None:
        thread.set_delay(self._delay)
        self._threads[run] = thread
        thread.arrived.connect(self._poll, QUEUED)  # type: ignore[call-arg]  # not in the stub
        thread.start()
        self._timer.start()
        self._session.report_run(run)

    def _apply_settings(self, settings: Settings) -> None:
        now = time.perf_counter()
        self._changed_at, self._rest = now, now - self._changed_at
        if settings == self._ignored_settings:
            return
        self._ignored_settings = None
        if not self._session.live:
            return
        run = self.current if self.current is self._session.shown else None  # what is shown is steered
        if run is not None and searches_depths(run):
            return
        if run is not None and run.settings.objective == WNN and settings.method != run.settings.method:
            return  # it waits for Run: what this method has found would be lost under another name
        if run in self._following:
            settings = live_settings(run.settings, settings)
        if run is None or not self._threads[run].change(settings, self._rest):
            self._follow(self._session.shown)
            run = self.current
        if run is not None and run.state is RunState.RUNNING and not self._delay:
            PANEL_TURNS.notice_drag()
            # Two threads that both compute switch thousands of times, and each needs twice as long. While the
            # solver computes the next iterate, nothing in the window is urgent.
            self._threads[run].await_answer(ANSWER_SECONDS)

    def _on_settings_applied(self, _settings: Settings) -> None:
        """Show the first iterate under changed settings where it is already in the mailbox."""
        run = self.current
        if run is not None and self._threads[run].await_answer(0.0):
            self._poll()

    def _follow(self, run: Run | None) -> None:
        """In live mode, continue a run that has ended where live settings have changed since.

        It goes on from what is looked at, be that a moment of it. A run that was steered before counts on
        from its newest record; one that was not stays as it is, and a run is added.
        """
        session = self._session
        seen, moment = session.seen, session.moment
        if self._closing or not session.live or run is None:
            return
        if run is not session.shown or run in self._threads:
            return
        if seen is None or not seen.rotations_chosen or session.settings == self._ignored_settings:
            return
        session.notifier.show_status(waiting_sentence(run.settings, session.settings))
        under = run.settings if moment is None else seen.settings
        settings = live_settings(under, session.settings)
        if settings in (under, self._ignored_settings):
            return
        self.cancel()  # another run, which is not shown
        place = "" if moment is None else f"from iteration {seen.record.iteration}"
        source, continued = run, run.steered
        after = run.history.records[-1] if continued and len(run.history) else None
        if continued:
            run.state, run.settings, run.last = RunState.RUNNING, under, seen
            session.set_moment(None)
        else:
            place = f"{place} of run {run.number}" if place else f"from run {run.number}"
            run = session.add_run(under, warm_from=run)
            self._unconfirmed[run] = moment
        if place:
            self._ticks.expect(run, under, place)
        thread = SolverThread(run.sequence, under, start=seen, after=after, linger=LINGER, work=self._work)
        thread.change(settings, self._rest)
        self._ignored_settings = None
        self._following.add(run)
        self._launch(run, thread)
        if not continued:
            self.branched.emit(run, source)

    def _poll(self) -> None:
        for run, thread in list(self._threads.items()):
            over = thread.isFinished()  # asked first: it may still write before its end
            content = thread.read_mailbox()
            if content.ending is not None and not over:
                thread.wait()  # It only has to return: a run that is shown as over can be followed at once.
                over = True
            if over:
                self._threads.pop(run, None)
                self._following.discard(run)
            self._apply(run, content)
            self._estimate(run, over=over)
            if over:
                self._unconfirmed.pop(run, None)
                self._thin_snapshots()
                stopped = self._stopped.pop(run, None)
                self.ended.emit(run)
                # What was changed after Stop, while the last iteration was still under way, is followed.
                if run.state is RunState.FINISHED or stopped not in (None, self._session.settings):
                    self._follow(run)
        if not self._threads:
            self._timer.stop()

    def _estimate(self, run: Run, *, over: bool) -> None:
        """Estimate how long a run still takes, and signal it where the second is another one."""
        before, run.seconds_left = _whole(run.seconds_left), None
        if over:
            self._left.pop(run, None)
        elif run.last is not None and len(run.history):
            left = self._left.setdefault(run, TimeLeft())
            running = run.state is RunState.RUNNING
            run.seconds_left = left.update(time.perf_counter(), run.share_done, running=running)
        if _whole(run.seconds_left) != before:
            self._session.report_run(run, stored=False)

    def _apply(self, run: Run, content: MailboxContent) -> None:
        first = len(run.history)
        run.history.extend(content.records)
        for record, iterate in content.seen:
            run.snapshots.add(first + record, iterate)
        for change in content.changes:
            self._left.pop(run, None)  # the share that is done is of what begins here
            self._unconfirmed.pop(run, None)
            self._ticks.add(run, change)
        if content.iterate is not None:
            run.last = content.iterate
            run.message = phase_text(content.iterate.phase)
        ending = content.ending
        if ending is not None:
            if run.state.alive or ending.state is not RunState.STOPPED:
                run.state = ending.state
            run.message = ending.sentence or run.message
        if content.iterate is not None or ending is not None or content.refusal:
            self._session.report_run(run)
        if content.refusal:
            self._ignored_settings = self._session.settings
            if run in self._unconfirmed:
                self._withdraw(run)
            self.refused.emit(content.refusal)
        if ending is not None and ending.details:
            self._session.notifier.fail(ending.sentence, ending.details)
        elif ending is not None:
            if run.state is not RunState.FINISHED and not run.has_begun:
                self._session.withdraw_run(run)
            if ending.state is RunState.FAILED:
                self.refused.emit(ending.sentence)

    def _withdraw(self, run: Run) -> None:
        """Remove a run that has done nothing yet: it would repeat the run before."""
        moment = self._unconfirmed.pop(run, None)
        shown = self._session.shown is run
        if run in self._threads:
            self._threads[run].cancel()
        run.state = RunState.STOPPED
        self._session.withdraw_run(run)
        if shown:
            self._session.set_moment(moment)

    def _thin_snapshots(self) -> None:
        """Drop snapshots of runs that are not shown, the largest first, where all are too large."""
        everything = self._session.all_runs
        runs = [run for run in everything if run is not self._session.shown]
        while runs and sum(run.snapshots.size for run in everything) > ALL_SNAPSHOTS:
            largest = max(runs, key=lambda run: run.snapshots.size)
            if len(largest.snapshots) <= LEAST:
                runs.remove(largest)
            largest.snapshots.shrink()


def _whole(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds)


@dataclass(frozen=True)
class _Gesture:
    """A continuous change of parameters, such as a drag, that may continue."""

    run: Run
    keys: frozenset[str]  # of the parameters that it changes
    before: Settings  # the settings at its start
    prefix: str = ""  # of the text of its tick


class _TickRecorder:
    """Adds a tick to the history of a run where its settings changed: one tick per gesture."""

    def __init__(self) -> None:
        self._gesture: _Gesture | None = None

    def expect(self, run: Run, settings: Settings, place: str) -> None:
        """Let the next tick of a run, which has these settings, name the place that it continues from."""
        self._gesture = _Gesture(run, frozenset(), settings, f"{place}: ")  # without parameters yet

    def add(self, run: Run, change: Change) -> None:
        """Apply changed settings to a run, and add a tick or extend that of the present gesture."""
        keys, last = parameters(run.settings, change.settings), self._gesture
        if last is not None and last.run is not run:
            last = None
        if last is not None and not change.restarts and one_gesture(last.keys, keys, change.rest):
            run.history.extend_tick(change.iteration, last.prefix + named(last.before, change.settings))
            self._gesture = replace(last, keys=last.keys | keys)
        else:
            prefix = last.prefix if last is not None and not last.keys else ""
            text = prefix + named(run.settings, change.settings)
            tick = run.history.tick(change.iteration, text, before=run.settings, restarts=change.restarts)
            run.snapshots.protect(tick.first - 1)
            self._gesture = None if change.restarts else _Gesture(run, keys, run.settings, prefix)
        run.settings = change.settings


def searches_depths(run: Run) -> bool:
    """Return whether a run has not come to the shape that changes of its parameters are followed from."""
    if run.settings.objective != DEPTHS or not run.state.alive:
        return False
    if run.last is None or run.last.record.energy is None:
        return True
    return run.last.depth is not None and run.last.depth.followed is None


class TimeLeft:
    """How long one run still takes by the clock, estimated from the share of it that is done.

    With a share f done after t seconds, t (1 - f) / f seconds are left where the rest is as fast. The share
    grows in steps, from phase to phase: f is exact where it grows. From then on the time that is left falls
    by a second per second, but not below t (1 - g) / g, where g is the share after another step like the last
    one: what will be right when that step is done. So it grows where nothing gets done. Phases differ in
    speed, so that this estimate jumps, too: what is shown approaches it at the rate 1 / SMOOTHING. Pauses are
    not counted.
    """

    def __init__(self) -> None:
        self._elapsed = 0.0
        self._at: float | None = None
        self._left: float | None = None
        self._share = self._growth = self._grown_at = 0.0  # at the last step: the share, its growth, the time

    def update(self, now: float, share: float, *, running: bool = True) -> float | None:
        """Return the seconds that are left, None where nothing is known."""
        step = now - self._at if self._at is not None and running else 0.0
        self._at = now
        self._elapsed += step
        if share != self._share:
            self._growth, self._grown_at = max(share - self._share, 0.0), self._elapsed
            self._share = share
        if not LEAST_SHARE <= share < 1.0 or self._elapsed < LEAST_SECONDS:
            self._left = None
            return None
        next_share = min(share + self._growth, 1.0)
        after_step = self._elapsed * (1.0 - next_share) / next_share
        plain = max(self._grown_at / share - self._elapsed, after_step, 0.0)
        if self._left is None:
            self._left = plain
        else:
            fallen = max(self._left - step, 0.0)
            self._left = plain + (fallen - plain) * math.exp(-step / SMOOTHING)
        return self._left
