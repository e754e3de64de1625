"""What is done to the runs of a sequence: named, noted, pinned, forgotten and taken back, used again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QTimer

from nrsfm_gui.engine.undo import Deed
from nrsfm_gui.model.run_names import run_name, settings_words

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.model.run import Run

REST_MILLISECONDS = 900  # without a change of the parameters, after which a hand rests


class RunHistory(QObject):
    """Does what the list of runs asks for, and offers to undo what takes something away.

    A run that live mode added is told of once the hand rests: a message would be gone with the next move.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._session = session = window.session
        runs = window.run_list
        runs.pin_requested.connect(
            lambda number, on: session.with_run(number, lambda run: session.pin_run(run, on))
        )
        runs.title_changed.connect(
            lambda number, text: session.with_run(number, lambda run: self._rename(run, text))
        )
        runs.note_changed.connect(
            lambda number, note: session.with_run(number, lambda run: session.set_note(run, note))
        )
        runs.delete_requested.connect(lambda number: session.with_run(number, self.forget))
        for wanted in (runs.parameters_requested, window.parameters.run_parameters_wanted):
            wanted.connect(lambda number: session.with_run(number, self.use_parameters))
        self._branched: tuple[Run, Run] | None = None  # a run that follows, and the one it goes on from
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MILLISECONDS)
        self._rest.timeout.connect(self._tell_branch)
        window.control.branched.connect(self._note_branch)
        self._session.settings_changed.connect(lambda _settings: self._branched and self._rest.start())

    def forget(self, run: Run) -> None:
        """Forget a run, with the offer to take it back; a pinned one only after another word."""
        if run.pinned:
            self._window.messages.note(
                f"Run {run.number} is pinned, so that it is kept.",
                action=("Forget it all the same", lambda: self._forget([run])),
            )
        else:
            self._forget([run])

    def forget_all(self) -> None:
        """Stop, and forget the runs of the sequence but the pinned ones, with the offer to take them back."""
        runs = [run for run in self._session.runs if not run.pinned]
        if not runs:
            self._window.messages.note("All runs are pinned, so that they are kept.")
            return
        self._forget(runs, front=None)

    def use_parameters(self, run: Run) -> None:
        """Take the parameters of a run, as it is looked at, with the offer to take back those before."""
        session, before, shown = self._session, self._session.settings, self._session.shown
        session.set_shown(run)  # first: under live parameters the run that is shown follows them
        seen = session.seen
        settings = run.settings if session.moment is None or seen is None else seen.settings
        if before == settings:
            self._window.messages.note(f"The parameters are those of run {run.number} already.")
            return
        self._window.steering.take(settings)

        def undo() -> None:
            session.set_shown(shown if shown in session.runs else None)
            self._window.steering.take(before)

        self._window.messages.note(
            f"The parameters are those of run {run.number} now: {settings_words(settings)}.",
            action=("Undo", undo),
        )

    def _note_branch(self, run: Run, source: Run) -> None:
        self._branched = run, source
        self._rest.start()

    def _tell_branch(self) -> None:
        branched, self._branched = self._branched, None
        if branched is not None and branched[0] in self._session.runs:
            run, source = branched
            self._window.messages.note(
                f"Run {run.number} follows your changes; run {source.number} stays as it was."
            )

    def _rename(self, run: Run, text: str) -> None:
        # The name that its parameters give is no title: it would stay when they change.
        self._session.rename_run(run, "" if text == run_name(run.settings) else text)

    def _forget(self, runs: list[Run], front: int | None = -1) -> None:
        """Forget runs. `front` is the run to show where the shown one goes: None, or -1 for a neighbor."""
        session, control = self._session, self._window.control
        sequence, shown, compared = session.sequence, session.shown, session.compared

        def forget() -> None:
            if control.current in runs:
                control.cancel()
            for run in runs:
                session.drop_run(run)
            if shown in runs and front is None:
                session.set_shown(None)
            elif session.shown is None and session.runs:
                session.set_shown(session.runs[-1])

        def take_back() -> None:
            if session.sequence is not sequence:
                self._window.messages.note("These runs are of another sequence: open it to take them back.")
                return
            for run in runs:
                session.restore_run(run)
            session.set_shown(shown)
            session.set_compared(compared)

        forget()
        kept = sum(run.pinned for run in session.runs)
        words = (
            f"Run {runs[0].number} is forgotten." if len(runs) == 1 else f"{len(runs)} runs are forgotten."
        )
        if front is None and kept:
            words += f" {kept} {'stays' if kept == 1 else 'stay'}, pinned."
        what = f"run {runs[0].number}" if len(runs) == 1 else f"{len(runs)} runs"
        deed = Deed(f"{what} forgotten", undo=take_back, redo=forget)
        steering = self._window.steering
        steering.add(deed)
        self._window.messages.note(
            f"{words} Ctrl+Z takes {'it' if len(runs) == 1 else 'them'} back.",
            action=("Undo", lambda: steering.undo_deed(deed)),
        )
