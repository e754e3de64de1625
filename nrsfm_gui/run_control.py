"""Starting, holding, stepping and stopping runs: the only writer of a `Run`, between session and threads.

Mail is applied to the run whose thread wrote it and to no other, so that a run which is still finishing its
last iteration after a cancel neither loses its records nor disturbs its successor.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, Qt, QTimer, pyqtSignal

from core.methods import METHODS

from .runs import Run, RunState
from .solver_thread import Mail, Outcome, SolverThread, Work, real_work

if TYPE_CHECKING:
    from core.methods import OptionValue
    from core.settings import Settings

    from .session import Session

POLL_MILLISECONDS = 33  # every second refresh of a display: a picture of the window takes its time, too

ENDINGS = {
    Outcome.FINISHED: RunState.FINISHED,
    Outcome.STOPPED: RunState.STOPPED,
    Outcome.REFUSED: RunState.FAILED,
    Outcome.CRASHED: RunState.FAILED,
}


class RunControl(QObject):
    """Owns the solver threads.

    Signals
    -------
    refused(str)
        a sentence: settings that the sequence cannot serve.
    crashed(str, str)
        a sentence and the traceback of a defect.
    ended(Run)
        no thread works on this run any more.
    """

    refused = pyqtSignal(str)
    crashed = pyqtSignal(str, str)
    ended = pyqtSignal(object)

    def __init__(self, session: Session, *, work: Work = real_work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._work = work
        self._threads: dict[Run, SolverThread] = {}
        self._delay = 0.0
        self._live = False
        self._refused_settings: Settings | None = None
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(POLL_MILLISECONDS)
        self._timer.timeout.connect(self._poll)
        session.settings_changed.connect(self._apply_settings)

    @property
    def current(self) -> Run | None:
        """The run that is being worked on, or None; a run that was cancelled no longer is."""
        return next((run for run in reversed(self._threads) if run.state.alive), None)

    def start(self, *, warm: bool, paused: bool = False) -> Run:
        """Start a run with the session's settings, stopping the present one first.

        Parameters
        ----------
        warm
            whether to go on from the reconstruction that is shown.
        paused
            whether to hold it before its first iteration.
        """
        self.cancel()
        shown = self._session.shown
        source = shown if warm and shown is not None and shown.last is not None else None
        run = self._session.add_run(self._session.settings, warm_from=source)
        thread = SolverThread(run.sequence, run.settings, start=run.last, work=self._work)
        if paused:
            thread.set_paused(True)
            run.state = RunState.PAUSED
        self._launch(run, thread)
        return run

    def set_paused(self, paused: bool) -> None:
        """Hold the run that is being worked on, or let it go on."""
        run = self.current
        if run is not None:
            self._threads[run].set_paused(paused)
            run.state = RunState.PAUSED if paused else RunState.RUNNING
            self._session.run_changed.emit(run)

    def step(self) -> None:
        """Do one iteration: of the present run, which is paused, or of a new one that is paused at once."""
        run = self.current
        if run is None:
            run = self.start(warm=True, paused=True)
        if run.state is RunState.RUNNING:
            self.set_paused(True)
        self._threads[run].step()

    def cancel(self) -> None:
        """Stop the present run after its current iteration; it keeps what it has."""
        run = self.current
        if run is not None:
            self._threads[run].cancel()
            run.state = RunState.STOPPED
            self._session.run_changed.emit(run)

    def reset(self) -> None:
        """Stop, and forget the runs, so that the next one starts from nothing."""
        self.cancel()
        self._session.remove_runs()

    def set_live(self, live: bool) -> None:
        """Solve on after every change of the parameters, even when the run was done."""
        self._live = live

    def set_slow(self, slow: bool, *, seconds: float = 0.1) -> None:
        """Wait after every iteration, so that an eye can follow."""
        self._delay = seconds if slow else 0.0
        for thread in self._threads.values():
            thread.set_delay(self._delay)

    def shut_down(self) -> None:
        """Cancel every run, wait for its thread, and take its last mail."""
        for thread in self._threads.values():
            thread.cancel()
        for thread in self._threads.values():
            thread.wait()
        self._poll()
        self._timer.stop()

    def _launch(self, run: Run, thread: SolverThread) -> None:
        thread.set_delay(self._delay)
        self._threads[run] = thread
        thread.start()
        self._timer.start()
        self._session.run_changed.emit(run)

    def _apply_settings(self, settings: Settings) -> None:
        run = self.current
        if run is None or not self._threads[run].change(settings):
            self._follow(self._session.shown)

    def _follow(self, run: Run | None) -> None:
        """In live mode, take up a run that is over where the settings have changed since."""
        settings = self._session.settings
        if not self._live or run is None or run is not self._session.shown or run.last is None:
            return
        if run in self._threads or settings in (run.settings, self._refused_settings):
            return
        thread = SolverThread(run.sequence, run.settings, start=run.last, continued=True, work=self._work)
        thread.change(settings)
        run.state = RunState.RUNNING
        self._launch(run, thread)

    def _poll(self) -> None:
        for run, thread in list(self._threads.items()):
            over = thread.isFinished()  # asked first: it may write between this look and its end
            if over:
                self._threads.pop(run, None)
            self._apply(run, thread.take())
            if over:
                self.ended.emit(run)
                if run.state is RunState.FINISHED:
                    self._follow(run)
        if not self._threads:
            self._timer.stop()

    def _apply(self, run: Run, mail: Mail) -> None:
        run.history.extend(mail.records)
        for change in mail.changes:
            run.history.tick(change, difference(run.settings, change.settings))
            run.settings = change.settings
        if mail.update is not None:
            run.last = mail.update
            run.message = mail.update.phase
        if mail.ending is not None:
            run.state = ENDINGS[mail.ending.outcome]
            run.message = mail.ending.sentence or run.message
        if mail.update is not None or mail.ending is not None or mail.refusal:
            self._session.run_changed.emit(run)
        if mail.refusal:
            self._refused_settings = self._session.settings
            self.refused.emit(mail.refusal)
        if mail.ending is not None and mail.ending.outcome is Outcome.REFUSED:
            if not len(run.history):
                self._session.drop_run(run)
            self.refused.emit(mail.ending.sentence)
        if mail.ending is not None and mail.ending.outcome is Outcome.CRASHED:
            self.crashed.emit(mail.ending.sentence, mail.ending.details)


def difference(old: Settings, new: Settings) -> str:
    """Return what differs between two settings, for a label: "rank 3", "rank 3, eta 0.1"."""
    changes = []
    for entry in fields(new):
        value = getattr(new, entry.name)
        if value == getattr(old, entry.name):
            continue
        if entry.name == "options":
            changes += [f"{name} {number}" for name, number in _other_options(old, new)]
        else:
            words = entry.name.replace("_", " ")
            changes.append("weights" if entry.name == "penalty" else f"{words} {value}")
    return ", ".join(changes) or "settings"


def _other_options(old: Settings, new: Settings) -> list[tuple[str, OptionValue]]:
    """Return the options of the method that are others now; of another method, those off its defaults."""
    if old.method != new.method:
        return list(new.options)
    method, before, after = METHODS[new.method], dict(old.options), dict(new.options)
    return [
        (name, after.get(name, method.default(name)))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
