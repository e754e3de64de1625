"""The controllers of the panel Sequences: what is opened from a file or from the list, and the runs of it.

Parameters belong to a sequence. One that was open before, now or in an earlier launch, has those that it had;
a new one begins with the recommended preset. Runs are listed, renamed, noted, pinned, forgotten and restored.
"""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QObject, pyqtSignal

from core import Sequence, SequenceEntry, Settings
from core.foundation import DEPTHS
from core.reconstruction import OBJECTIVE_OF, is_collapsed
from nrsfm_gui.engine.run_control import RunControl
from nrsfm_gui.engine.throttle import IDLE_MILLISECONDS, Debounce, PanelUpdater
from nrsfm_gui.model.app_store import AppStore, StoredImport
from nrsfm_gui.model.names import run_name, sentence_name
from nrsfm_gui.model.notifier import Action
from nrsfm_gui.model.run import Run, RunAdditions, RunState
from nrsfm_gui.model.session import Session
from nrsfm_gui.model.undo import UndoEntry
from nrsfm_gui.panels.sequences.sequence_tree import describe
from nrsfm_gui.panels.sequences.sequences_panel import SequencesPanel
from nrsfm_gui.scene.display import Display
from nrsfm_gui.sessions.opening import SequenceOpening
from nrsfm_gui.text import status_text
from nrsfm_gui.text.run_numbers import remarks_on
from nrsfm_gui.text.run_rows import SequenceRow, run_row


class SequencesController(QObject):
    """Shows in the session what was opened, and in the list what else there is."""

    leaving = pyqtSignal()  # another sequence replaces the present one
    shown = pyqtSignal()  # the session has it now

    def __init__(
        self,
        session: Session,
        control: RunControl,
        opening: SequenceOpening,
        store: AppStore,
        panel: SequencesPanel,
    ) -> None:
        super().__init__(panel)
        self._session, self._control, self._opening = session, control, opening
        self._store, self._notifier = store, session.notifier
        self.remembers = True
        self._given: Settings | None = None  # of the sequence that is opened next
        self._known = False  # whether the parameters of the open sequence are those that it had before
        opening.started.connect(self._on_reading_started)
        opening.opened.connect(self._on_opened)
        opening.listed.connect(panel.set_entries)
        found = opening.inspected, opening.sweep_found, opening.video_found
        for ended in (opening.failed, opening.given_up, *found):
            ended.connect(self._on_reading_ended)
        panel.sequence_requested.connect(opening.open_entry)
        panel.left_requested.connect(self._on_left_requested)
        panel.remove_requested.connect(self._on_remove_requested)

    def give_settings(self, settings: Settings) -> None:
        """Set the parameters that the sequence that is opened next begins with."""
        self._given = settings
        self._session.set_settings(settings)

    def remember_settings(self) -> None:
        """Store the parameters of the open sequence; weights and those of the depths are of a run."""
        session, plain = self._session, Settings()
        depths = {name: getattr(plain, name) for name, of in OBJECTIVE_OF.items() if of == DEPTHS}
        settings = session.settings.with_changes(penalty=session.rule, **depths)
        if self.remembers and session.sequence is not None:
            self._store.set_parameters(session.sequence.content, settings)

    def _on_reading_started(self, _what: str, name: str) -> None:
        self._notifier.clear()
        self._notifier.show_status(f"Reading {name}")

    def _on_reading_ended(self, *_: object) -> None:
        session = self._session
        self._notifier.show_status(status_text.activity(session.active_run or session.shown))

    def _on_left_requested(self, sequence: Sequence, number: int) -> None:
        self._opening.open_sequence(sequence)
        if number >= 0:
            self._session.with_run(number, self._control.select)

    def _on_remove_requested(
        self, entries: tuple[SequenceEntry, ...], sequences: tuple[Sequence, ...]
    ) -> None:
        """Remove sequences from the list with their runs, with the offer to undo it; the open one stays."""
        here = self._session.sequence
        others = tuple(each for each in sequences if each is not here)
        pinned = [run for each in others for run in self._session.runs_of(each) if run.pinned]
        if here in sequences:
            entries = tuple(entry for entry in entries if entry.file != here.source)
        if pinned:
            text = "A run of it is pinned, so that it is kept."
            again = ("Remove it all the same", lambda: self._remove(entries, others))
            self._notifier.inform(text, action=again)
        elif entries or others:
            self._remove(entries, others)
        else:
            self._notifier.inform("The open sequence stays in the list. Open another one to remove it.")

    def _remove(self, entries: tuple[SequenceEntry, ...], sequences: tuple[Sequence, ...]) -> None:
        session, count = self._session, sum(len(self._session.runs_of(each)) for each in sequences)
        restores: list[Callable[[], object]] = []

        def remove() -> None:
            restores[:] = [self._opening.remove_entries(entries), *map(session.remove_sequence, sequences)]

        def restore() -> None:
            for each in restores:
                each()

        remove()
        number = max(len(entries), len(sequences))
        what = f"{number} sequences"
        if number == 1:
            what = describe(entries[0]) if entries else sequences[0].name
        runs = f", with {count} run{'s' if count > 1 else ''}" if count else ""
        sentence = (
            f"{what} {'is' if number == 1 else 'are'} removed from the list{runs}. "
            f"Ctrl+Z restores {'it' if number == 1 else 'them'}."
        )
        session.report_removal(sentence, UndoEntry(f"{what} removed", undo=restore, redo=remove))

    def _on_opened(self, sequence: Sequence, how: StoredImport, answered: bool) -> None:
        session, left = self._session, self._session.sequence
        self.leaving.emit()
        self.remember_settings()
        stopped, others = session.active_run, session.transferable_settings
        self._control.cancel()
        self._notifier.clear()
        stored = self._store.parameters(sequence.content) if self.remembers else None
        given, self._given = self._given, None
        self._known = session.settings_of(sequence) is not None or (stored is not None and given is None)
        session.set_sequence(sequence, given or stored)
        self._report_switch(stopped, left, others)
        self.shown.emit()
        # Where the camera was answered before, the parameters of a known sequence have it.
        if how.camera_model is not None and (answered or not self._known):
            camera = {"camera_model": how.camera_model, "intrinsics": how.intrinsics}
            session.set_settings(session.settings.with_changes(**camera), undoable=False)

    def _report_switch(self, stopped: Run | None, left: Sequence | None, others: Settings) -> None:
        """Report a run that was stopped, and offer a new sequence the parameters of the one that was left."""
        session, sentences = self._session, list[str]()
        buttons: list[Action] = []
        if stopped is not None:
            again = f"opening {stopped.sequence.name} again shows what it has"
            sentences.append(f"Run {sentence_name(stopped)} was stopped; {again}.")
            buttons.append((f"Go on with run {sentence_name(stopped)}", lambda: self._go_on(stopped)))
        if left is not None and session.sequence is not None and not self._known and others != Settings():
            name = session.sequence.name
            sentences.append(f"{name} begins with the recommended parameters, not with those of {left.name}.")
            buttons.append(("Use those here, too", lambda: session.set_settings(others)))
        if sentences:
            self._notifier.inform(" ".join(sentences), action=tuple(buttons))

    def _go_on(self, run: Run) -> None:
        """Open the sequence of a run again, and go on from where the run was stopped."""
        self._on_left_requested(run.sequence, run.number)
        self._control.start(warm=True, settings=run.settings)


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
        self.updater = PanelUpdater(self._resolve, lambda state: panel.set_rows(*state), self)
        self.updater.follow(
            session.sequence_changed,
            session.runs_changed,
            session.shown_changed,
            session.compared_changed,
            session.run_changed,
            display.errors.found,
            session.alignment_changed,
        )
        display.errors.incumbent_changed.connect(self.updater.run)
        display.refreshed.connect(self.updater.flush)
        session.changed.connect(self._on_changed)
        self._settings = session.settings  # that were seen last
        panel.run_requested.connect(self.show)
        panel.change_requested.connect(self._on_change_requested)
        panel.delete_requested.connect(lambda of, number: session.with_run(number, self.forget, sequence=of))
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

    def _on_change_requested(self, sequence: Sequence | None, number: int, changes: RunAdditions) -> None:
        def change(run: Run) -> None:
            # The name that its parameters give is no title: it would stay when they change.
            if changes.get("title") == run_name(run.settings):
                changes["title"] = ""
            self._session.change_run(run, **changes)

        self._session.with_run(number, change, sequence=sequence)

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
        for each in session.everything():
            here = {
                "shown": shown if shown in each.runs else None,
                "compared": compared if compared in each.runs else None,
            }
            listed = tuple(run_row(run, self._errors.of_run(run), **here) for run in reversed(each.runs))
            rows.append(SequenceRow(each.sequence, each.sequence is session.sequence, listed))
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
