"""The session as a file: saved where the user says, opened again, and not lost when something ends it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, Qt

from core import InputError
from nrsfm_gui.engine.jobs import Job, Jobs, Order
from nrsfm_gui.model.log_records import Level
from nrsfm_gui.scene import summaries
from nrsfm_gui.sessions.autosave import LAST, Autosave, summary
from nrsfm_gui.sessions.recovery import Recovering
from nrsfm_gui.sessions.session_file import SUFFIX, SavedRun, SavedSequence, SavedSession, write_session
from nrsfm_gui.sessions.view_state import Viewpoint, layout_of, show_layout
from nrsfm_gui.widgets.path_dialog import Wanted, ask_for_path

if TYPE_CHECKING:
    from pathlib import Path

    from core import Sequence
    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.model.run import Run
    from nrsfm_gui.model.theme import Theme

ONCE = Qt.ConnectionType.SingleShotConnection
TITLE = "NRSfM Studio"
FILTER = f"Sessions (*{SUFFIX})"


class Keeping(QObject):
    """Saves and opens the session of a window, and names it in the title bar."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.file: Path | None = None  # where the session was saved last
        self._changes = self._saved_changes = 0
        self._recovered = False  # whether what is open was never saved by hand since it was lost or closed
        self._opened = 0  # how many sessions were opened
        self._jobs = Jobs(self, Order.QUEUE)
        self._enabled = True  # whether anything is saved by itself
        self.folder = window.store.data_folder()
        self.autosave = Autosave(self.folder, self._snapshot, self._seconds, self)
        self.autosave.failed.connect(self._tell_failure)
        self.autosave.saved.connect(
            lambda: window.habits.logbook.add(Level.DETAIL, "files", "The session was saved by itself")
        )
        self.autosave.works_again.connect(
            lambda: window.messages.note("The session is saved by itself again.")
        )
        session = window.session
        for signal in (session.runs_changed, session.settings_changed):
            signal.connect(lambda *_: self._note_change())
        session.run_changed.connect(lambda run: self._note_change() if self._holds(run) else None)
        session.sequence_changed.connect(lambda _sequence: self.show_title())
        window.control.ended.connect(lambda run: self.autosave.note_end() if self._holds(run) else None)
        window.opening.session_read.connect(self.show)
        window.opening.result_read.connect(self.show_result)
        self.recovering = Recovering(window, self.folder)  # after `show` is connected
        self.show_title()

    @property
    def busy(self) -> bool:
        """Whether a file is being written."""
        return bool(self._jobs)

    @property
    def modified(self) -> bool:
        """Whether there are runs that differ from what was saved."""
        return self._changes != self._saved_changes and self._worth_keeping

    # -- what the actions call ------------------------------------------------------------------------------

    def save(self) -> None:
        """Save where the session was saved before, or ask where to."""
        if self.file is None:
            self.save_as()
        else:
            self.save_to(self.file)

    def save_as(self) -> None:
        """Ask for a file, and save there."""
        ask_for_path(
            self._window,
            "Save the session",
            self.save_to,
            wanted=Wanted.NEW_FILE,
            start=self.file or self._proposed(),
            filters=FILTER,
        )

    def save_to(self, path: Path) -> None:
        """Write the session as it is now to a file, beside the window, after what is being written yet."""
        saved = self._snapshot(file=path)
        if saved is None:
            self._window.report(f"{path} is not written: nothing is open", "")
            return
        opened, changes = self._opened, self._changes
        self._jobs.start(
            Job(
                lambda _job: write_session(saved, path),
                done=lambda _path: self._finish_saving(path, opened, changes),
                failed=self._window.report,
            )
        )

    def last_session(self) -> tuple[Path, str] | None:
        """Return the session that was closed without having been saved, and what it holds; None of none."""
        path = self.folder / LAST
        try:
            return (path, summary(path)) if os.path.isfile(path) else None
        except InputError:
            return None

    # -- opening --------------------------------------------------------------------------------------------

    def show(self, saved: SavedSession, path: Path) -> None:
        """Put a session that was read in place of what is open."""
        window, session = self._window, self._window.session
        automatic = path.parent == self.folder  # of a file that nobody chose
        window.parameters.flush()
        window.control.cancel()
        adopted = automatic and self._enabled and self.autosave.adopt(path)
        if self.modified and self._keeps:
            self.autosave.keep_as_last()
        self._opened += 1
        self._recovered = automatic
        session.replace_everything(_with_runs(each) for each in saved.sequences)
        window.steering.take(saved.settings)
        current = saved.sequences[saved.current]
        entry = None if current.change else window.opening.entry_of(current.sequence)
        window.opening.opened.emit(current.sequence, entry)
        self._show_view(saved, path)
        self.file = saved.file if automatic else path
        self._saved_changes = -1 if automatic else self._changes
        if automatic and not adopted:
            self.autosave.note_change()
        elif not automatic:
            self.autosave.forget()
            window.store.add_recent(path)
        self.show_title()
        for each in saved.sequences:
            if each.change:
                self._offer_file(each)

    def show_result(self, sequence: Sequence, saved: SavedRun, path: Path) -> None:
        """Show a result that was read, as one more run of its sequence."""
        window = self._window
        window.opening.opened.emit(sequence, window.opening.entry_of(sequence))
        window.session.take_run(saved.run(sequence))
        window.steering.take(saved.settings)
        window.display.refresh()
        window.fit()
        window.store.add_recent(path)

    def _show_view(self, saved: SavedSession, path: Path) -> None:
        show_layout(self._window, saved.layout)
        if not saved.view:  # written by a script
            return
        try:
            Viewpoint.from_plain(saved.view).show(self._window)
        except InputError as error:
            self._window.messages.warn(f"{path}: {error}. The session is shown from the front instead.")

    def _offer_file(self, saved: SavedSequence) -> None:
        """Say what became of a sequence's file, and offer what there is now."""
        source = saved.sequence.source
        assert source is not None  # something has become of it
        again = (("Open the file as it is now", lambda: self._window.opening.open(source)),)
        self._window.messages.warn(saved.change, action=again if os.path.exists(source) else ())

    # -- what the window calls ------------------------------------------------------------------------------

    def begin(self, *, scripted: bool) -> None:
        """Offer what was lost; a script neither is asked nor leaves anything behind."""
        self._enabled = not scripted
        if self._enabled:
            self.recovering.offer()
            self._window.opening.shown.connect(self._offer_last, ONCE)  # type: ignore[call-arg]  # not in the stub

    def _offer_last(self) -> None:
        """Offer, once and when the first sequence is there, what was closed without having been saved."""
        last = self.last_session()
        if last is None:
            return
        path, holds = last
        when = str(path.stat().st_mtime_ns)
        if when != self._window.store.offered_session():
            self._window.store.set_offered_session(when)
            self._window.messages.warn(
                f"The session before was closed without having been saved: {holds}.",
                action=("Open it", lambda: self._window.opening.open(path)),
            )

    def shut_down(self) -> None:
        """Wait for what is being written, and keep what was not saved as the last session."""
        self._jobs.wait()
        self.recovering.shut_down()
        self.autosave.shut_down(keep=self.modified and self._keeps)

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self.recovering.bar.set_theme(theme)

    def show_title(self) -> None:
        """Name the session and its sequence in the title bar, with a mark where it is not saved."""
        sequence = self._window.session.sequence
        parts = [] if self.file is None else [f"{self.file.name}[*]"]
        if sequence is not None:
            parts.append(summaries.sequence_title(sequence) + ("" if parts else "[*]"))
        self._window.setWindowTitle(" – ".join((*parts, TITLE)) if parts else f"{TITLE}[*]")
        self._window.setWindowModified(self.modified)

    def _note_change(self) -> None:
        self._changes += 1
        if self._window.isWindowModified() != self.modified:  # a hand that drags changes much and often
            self._window.setWindowModified(self.modified)
        if self._worth_keeping:
            self.autosave.note_change()

    def _holds(self, run: Run) -> bool:
        """Whether a run is of this session; one that was stopped by opening another still has mail."""
        return any(run in runs for _sequence, runs, _shown in self._window.session.everything())

    @property
    def _keeps(self) -> bool:
        """Whether what is open is kept though nobody saves it: by preference, or as it was kept before."""
        return self._seconds() > 0 or (self._recovered and self._enabled)

    @property
    def _worth_keeping(self) -> bool:
        return any(runs for _sequence, runs, _shown in self._window.session.everything())

    def _seconds(self) -> float:
        return self._window.store.autosave_seconds() if self._enabled else 0

    def _snapshot(self, *, file: Path | None = None) -> SavedSession | None:
        """Return the session as it is now, None where nothing is open."""
        window, session = self._window, self._window.session
        if session.sequence is None:
            return None
        saved = tuple(
            SavedSequence(sequence, tuple(map(SavedRun.of, runs)), None if shown is None else shown.number)
            for sequence, runs, shown in session.everything()
        )
        view = Viewpoint.of(window).as_plain()
        return SavedSession(saved, 0, session.settings, view, layout_of(window), file or self.file)

    def _finish_saving(self, path: Path, opened: int, changes: int) -> None:
        """Know the file in which a session is now: the `opened`-th of this window, after so many changes."""
        if opened == self._opened:  # no other session was opened meanwhile
            self.file, self._saved_changes, self._recovered = path, changes, False
            if not self.modified:
                self.autosave.forget()
        self._window.store.add_recent(path)
        self._window.store.set_writing_folder(path.parent)
        self._window.messages.note(f"Saved {path}")
        self.show_title()

    def _tell_failure(self, sentence: str, details: str) -> None:
        said = sentence.rstrip(".")
        self._window.report(f"The session is not saved by itself at the moment: {said}.", details)

    def _proposed(self) -> Path:
        stem = summaries.file_stem(self._window.session.sequence, "session")
        return self._window.store.writing_folder() / f"{stem}{SUFFIX}"


def _with_runs(saved: SavedSequence) -> tuple[Sequence, list[Run], Run | None]:
    """Return a sequence, its runs and the one that is shown, as a session takes them."""
    runs = [run.run(saved.sequence) for run in saved.runs]
    return saved.sequence, runs, next((run for run in runs if run.number == saved.shown), None)
