"""The runs of a sequence: their list, their names, notes and pins; forgetting and restoring them."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QObject

from core import Sequence
from core.reconstruction import is_collapsed
from nrsfm_gui.engine.run_control import RunControl
from nrsfm_gui.engine.throttle import IDLE_MILLISECONDS, Debounce, PanelUpdater
from nrsfm_gui.model.names import run_name, sentence_name
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.session import Session
from nrsfm_gui.model.undo import UndoEntry
from nrsfm_gui.panels.sequences.sequences_panel import SequencesPanel
from nrsfm_gui.scene.display import Display
from nrsfm_gui.text.run_numbers import remarks_on
from nrsfm_gui.text.run_rows import SequenceRow, run_row


class RunsController(QObject):
    """Shows the sequences of the session with their runs, handles requests, and offers to undo removals.

    A run that live mode added is announced once the parameters rest: a message would be gone with the next
    change.
    """

    def __init__(
        self, session: Session, control: RunControl, display: Display, panel: SequencesPanel
    ) -> None:
        super().__init__(panel)
        self._session, self._control, self._errors = session, control, display.errors
        self._notifier = session.notifier

        def act(sequence: Sequence | None, number: int, function: Callable[[Run], object]) -> None:
            session.with_run(number, function, sequence=sequence)

        self.updater = PanelUpdater(self._resolve, lambda state: panel.set_rows(*state), self)
        self.updater.follow(
            session.sequence_changed, session.runs_changed, session.shown_changed, session.compared_changed,
            session.run_changed, display.errors.found, session.alignment_changed,
        )  # fmt: skip
        display.errors.incumbent_changed.connect(self.updater.run)
        display.refreshed.connect(self.updater.flush)
        session.changed.connect(self._on_changed)
        self._settings = session.settings  # that were seen last
        panel.run_requested.connect(self.show)
        panel.pin_requested.connect(
            lambda of, number, on: act(of, number, lambda run: session.change_run(run, pinned=on))
        )
        panel.title_changed.connect(
            lambda of, number, name: act(of, number, lambda run: self._rename(run, name))
        )
        panel.note_changed.connect(
            lambda number, note: act(None, number, lambda run: session.change_run(run, note=note))
        )
        panel.delete_requested.connect(lambda of, number: act(of, number, self.forget))
        panel.forget_requested.connect(lambda sequence: self._forget_all(session.runs_of(sequence)))
        self._branched: tuple[Run, Run] | None = None  # a run that follows, and the one it goes on from
        self._rest = Debounce(self._announce_branch, IDLE_MILLISECONDS, self)
        control.branched.connect(self._on_branched)
        control.ended.connect(self._on_run_ended)

    # -- what is asked for ----------------------------------------------------------------------------------

    def show(self, number: int) -> None:
        """Show a run with its parameters."""
        self._notifier.clear()
        self._session.with_run(number, self._control.select)

    def forget(self, run: Run) -> None:
        """Forget a run, with the offer to undo it; a pinned one only after a confirmation."""
        if run.pinned:
            self._notifier.inform(
                f"Run {sentence_name(run)} is pinned, so that it is kept.",
                action=("Forget it all the same", lambda: self._forget([run])),
            )
        else:
            self._forget([run])

    def forget_all(self) -> None:
        """Stop, and forget the runs of the open sequence but the pinned ones, with the offer to undo it."""
        self._forget_all(self._session.runs)

    def _on_branched(self, run: Run, source: Run) -> None:
        self._branched = run, source
        self._rest.request()

    def _announce_branch(self) -> None:
        branched, self._branched = self._branched, None
        if branched is not None and branched[0] in self._session.runs:
            run, source = branched
            self._notifier.inform(
                f"Run {sentence_name(run)} follows your changes; run {sentence_name(source)} stays as it was."
            )

    def _rename(self, run: Run, text: str) -> None:
        # The name that its parameters give is no title: it would stay when they change.
        self._session.change_run(run, title="" if text == run_name(run.settings) else text)

    def _forget_all(self, runs: list[Run]) -> None:
        pinned = [run for run in runs if run.pinned]
        if len(pinned) == len(runs):
            self._notifier.inform("All runs are pinned, so that they are kept.")
        else:
            self._forget([run for run in runs if not run.pinned], front=None, kept=len(pinned))

    def _forget(self, runs: list[Run], front: int | None = -1, kept: int = 0) -> None:
        """Forget runs of a sequence, and show `front`, or with -1 a neighbor, where the shown one goes."""
        session, control = self._session, self._control
        sequence, shown, compared = session.sequence, session.shown, session.compared
        here = runs[0].sequence is sequence

        def forget() -> None:
            if control.current in runs:
                control.cancel()
            for run in runs:
                session.drop_run(run)
            if shown in runs and front is None:
                session.set_shown(None)
            elif shown in runs and session.shown is None and session.runs:
                session.set_shown(session.runs[-1])

        def restore() -> None:
            for run in runs:
                session.restore_run(run)
            if here and session.sequence is sequence:
                session.set_shown(shown)
                session.set_compared(compared)

        forget()
        what = f"run {sentence_name(runs[0])}" if len(runs) == 1 else f"{len(runs)} runs"
        what += "" if here else f" of {runs[0].sequence.name}"
        sentence = f"{what[0].upper()}{what[1:]} {'is' if len(runs) == 1 else 'are'} forgotten."
        if kept:
            sentence += f" {kept} {'stays' if kept == 1 else 'stay'}, pinned."
        sentence += f" Ctrl+Z restores {'it' if len(runs) == 1 else 'them'}."
        session.report_removal(sentence, UndoEntry(f"{what} forgotten", undo=restore, redo=forget))

    # -- what the session has come to -----------------------------------------------------------------------

    def _resolve(self) -> tuple[tuple[SequenceRow, ...], int | None]:
        session = self._session
        shown, compared = session.shown, session.compared
        rows = []
        for sequence, runs, _shown in session.everything():
            here = {
                "shown": shown if shown in runs else None,
                "compared": compared if compared in runs else None,
            }
            listed = tuple(run_row(run, self._errors.of_run(run), **here) for run in reversed(runs))
            rows.append(SequenceRow(sequence, sequence is session.sequence, listed))
        return tuple(rows), None if shown is None else shown.number

    def _on_changed(self) -> None:
        before, self._settings = self._settings, self._session.settings
        if before is not self._settings and self._branched is not None:
            self._rest.request()

    def _on_run_ended(self, run: Run) -> None:
        """Warn where a run has ended with nothing; a rank that a penalty lowers is among the numbers."""
        self.updater.request()
        if run.state is not RunState.FINISHED or run is not self._session.shown or run.last is None:
            return
        best = run.last.best
        if is_collapsed(best.problem, best.factors):
            self._notifier.warn(f"Run {sentence_name(run)}: {' '.join(remarks_on(run))}")
