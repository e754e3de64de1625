"""The session as a file: saved where the user chooses, opened again, and saved automatically."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from PyQt6.QtCore import QByteArray, QObject, Qt, pyqtSignal
from PyQt6.QtWidgets import QAbstractButton, QMainWindow, QMessageBox

from core import InputError, Settings
from core.foundation import PROGRAM, printable, protecting, write_elsewhere
from core.io.readers import named_path
from nrsfm_gui.engine.jobs import Job, Jobs, Order
from nrsfm_gui.engine.run_control import RunControl
from nrsfm_gui.engine.throttle import IDLE_MILLISECONDS
from nrsfm_gui.model.app_store import AppStore
from nrsfm_gui.model.log_records import Level, Logbook
from nrsfm_gui.model.run import Run
from nrsfm_gui.model.session import OpenSequence, Session
from nrsfm_gui.model.standard_error import report
from nrsfm_gui.scene import summaries
from nrsfm_gui.scene.display import Display
from nrsfm_gui.scene.view_camera import ViewCamera
from nrsfm_gui.sessions.autosave import CLOSED, PREFIX, Autosave, Mark, closed_sessions, mark_of, time_text
from nrsfm_gui.sessions.opening import SequenceOpening
from nrsfm_gui.sessions.recovery import Recovery
from nrsfm_gui.sessions.session_file import (
    SUFFIX,
    SavedSession,
    ViewState,
    is_contained,
    session_summary,
    write_session,
)
from nrsfm_gui.widgets.dialogs import PathKind, ask_for_path
from nrsfm_gui.widgets.dock_state import restore_docks

ONCE = Qt.ConnectionType.SingleShotConnection
CHANGED = "has been written by another window or program since; it is not replaced"
NOT_KEPT = "The session that was closed without being saved is not kept as the last one"
FILTER = f"Sessions (*{SUFFIX})"


class SessionSaver(QObject):
    """Saves and opens sessions, and names the open one in the title bar of the window."""

    session_shown = pyqtSignal(object)  # a session was read from a file and is shown

    def __init__(
        self,
        session: Session,
        store: AppStore,
        control: RunControl,
        opening: SequenceOpening,
        display: Display,
        *,
        view: ViewCamera,
        window: QMainWindow,
        logbook: Logbook,
        commit: Callable[[], object],
        fit: Callable[[], object],
    ) -> None:
        super().__init__(window)
        self._session, self._store, self._control = session, store, control
        self._opening, self._display, self._view, self._window = opening, display, view, window
        self._notifier, self._commit, self._fit = session.notifier, commit, fit
        self.keeps_theme = False  # whether a session that is opened does not bring its own
        self.file: Path | None = None  # where the session was saved last
        self._known: tuple[Path | None, Mark | None] = None, None  # that file, as it was read or written here
        self._saved_edits: int | None = session.edits  # None: the user has not saved what was recovered
        self._autosaved_edits = session.edits
        self._opened = 0  # how many sessions were opened
        self._jobs = Jobs(self, Order.QUEUE)
        self._ended = False  # whether the session was kept or given up, and the window closes
        self._enabled = True  # whether anything is saved by itself
        self.folder = store.data_folder()
        self.autosave = Autosave(self.folder, self._snapshot, self._seconds, self._notifier, self)
        self.autosave.not_kept.connect(self._on_not_kept)
        self.autosave.saved.connect(
            lambda: logbook.add(Level.DETAIL, "files", "The session was saved by itself")
        )
        session.changed.connect(self._on_changed)
        session.sequence_changed.connect(lambda _sequence: self.show_title())
        control.ended.connect(self._on_ended)
        opening.session_read.connect(self.show)
        opening.result_read.connect(self.show_result)
        self.recovery = Recovery(self._notifier, opening, self.folder, self)
        self.show_title()

    @property
    def busy(self) -> bool:
        """Whether a file is being written."""
        return bool(self._jobs)

    @property
    def modified(self) -> bool:
        """Whether there are runs that differ from what was saved."""
        return self._session.edits != self._saved_edits and self._has_runs

    # -- what the actions call ------------------------------------------------------------------------------

    def save(self) -> None:
        """Save where the session was saved before, or ask where to."""
        if self.file is None:
            self.save_as()
        else:
            self.save_to(self.file, over_others=False)

    def save_as(self) -> None:
        """Ask for a file, and save there."""
        self._ask(self.save_to)

    def save_to(
        self,
        path: Path,
        *,
        then: Callable[[], object] = lambda: None,
        over_others: bool = True,
        left: SavedSession | None = None,
    ) -> None:
        """Write the present session, or one that was left, in the background after those before it."""
        saved = left or self._snapshot(file=path)
        if saved is None:
            self._notifier.fail(f"{path} is not written: nothing is open", "")
            return
        opened = self._opened if left is None else None
        edits, inputs = self._session.edits, self._session.inputs()

        def write(_job: Job) -> None:
            if not over_others and self._known[0] == path and mark_of(path) not in (None, self._known[1]):
                raise InputError(f"{path} {CHANGED}")
            with protecting(inputs):
                write_session(saved, path)
            if opened == self._opened:
                self._known = path, mark_of(path)

        def finish(_value: object) -> None:
            if opened == self._opened:  # no other session was opened meanwhile
                self.file, self._saved_edits = path, edits
                if not self.modified:
                    self.autosave.forget()
            self._store.add_recent(path)
            self._store.writing_folder = path.parent
            self._notifier.inform(f"Saved {path}")
            self.show_title()
            then()

        def fail(reason: str, details: str) -> None:
            if left is not None:
                self._on_not_kept(left, reason, details)
                return
            over = [("Replace it", lambda: self.save_to(path, then=then))] if reason.endswith(CHANGED) else []
            self._notifier.fail(reason, details, action=(("Save elsewhere…", self.save_as), *over))

        self._jobs.start(Job(write, done=finish, failed=fail))

    def _on_not_kept(self, saved: SavedSession, reason: str, details: str) -> None:
        """Offer to save a session elsewhere that was left for another one."""
        elsewhere = ("Save it elsewhere…", lambda: self._ask(partial(self.save_to, left=saved)))
        self._notifier.fail(f"{NOT_KEPT}: {reason.rstrip('.')}.", details, action=(elsewhere,))

    def _ask(self, then: Callable[[Path], object]) -> None:
        stem = summaries.file_stem(self._session.sequence, "session")
        start = self.file or self._store.writing_folder / f"{stem}{SUFFIX}"
        ask_for_path(
            self._window, "Save the session", then, kind=PathKind.NEW_FILE, start=start, filters=FILTER
        )

    def closed_sessions(self) -> list[tuple[Path, str, str]]:
        """Return the sessions that were closed without being saved, the newest first: when, and with what."""
        found = []
        for path in closed_sessions(self.folder):
            with suppress(InputError, OSError):
                found.append((path, time_text(path.stat().st_mtime), session_summary(path)))
        return found

    # -- opening --------------------------------------------------------------------------------------------

    def show(self, saved: SavedSession, path: Path) -> None:
        """Put a session that was read in place of what is open."""
        session = self._session
        automatic = path.parent == self.folder and path.name.startswith((PREFIX, CLOSED))
        known = (saved.file, _mark_before(saved.file, path)) if automatic else (path, mark_of(path))
        self._commit()
        self._control.cancel()
        adopted = self.autosave.begin_session(
            path if automatic and self._enabled else None, keep=self.modified and self._saves_automatically
        )
        if adopted:
            self.recovery.follow(self.autosave.own.path)
        self._opened += 1
        self._known = known
        self._saved_edits = None if automatic else session.edits
        self._autosaved_edits = session.edits
        session.replace_everything(saved.sequences)
        self._opening.open_sequence(saved.sequences[0].sequence)
        self._show_view(saved, path)
        self.file = saved.file if automatic else path
        if automatic and not adopted:
            self.autosave.schedule_save()
        elif not automatic:
            self._store.add_recent(path)
        self.show_title()
        for each in saved.sequences:
            if each.change:
                self._offer_file(each)
        self.recovery.report_recovered(path)
        self.session_shown.emit(path)

    def show_result(self, run: Run, path: Path | None) -> None:
        """Show a result that was read, as one more run of its sequence; `path` is a recent file then."""
        session = self._session
        if session.is_open(run.sequence) and session.sequence is not None:
            self._control.cancel()
            self._notifier.clear()
            run.sequence = session.sequence
        else:
            self._opening.open_sequence(run.sequence)
        fits = session.shown is None
        session.append_run(run)
        session.set_settings(run.settings)
        self._display.refresh()
        if fits:
            self._fit()
        if path is not None:
            self._store.add_recent(path)

    def _show_view(self, saved: SavedSession, path: Path) -> None:
        if self.recovery.cautious:
            return
        show_layout(self._window, saved.layout)
        if not saved.view:  # written by a script
            return
        try:
            state = ViewState.from_plain(saved.view)
        except InputError as error:
            self._notifier.warn(f"{path}: {error}. The session is shown from the front instead.")
            return
        file = None if state.background is None else state.background.path
        # What this program has saved by itself names what the user has opened.
        if file is not None and self._saved_edits is not None and named_path(str(file), path) != file:
            state = replace(state, background=None)
            self._notifier.warn(
                f"The session's background {file} is on another computer or in no folder: it is opened by "
                "View > Background"
            )
        state.show(self._session, theme=not self.keeps_theme)
        self._display.refresh()
        self._view.move(state.orbit, fitted=False, aimed=False)
        self._view.saved_views = state.saved_views

    def _offer_file(self, opened: OpenSequence) -> None:
        """Report a change of a sequence's file, and offer to open the file as it is now."""
        source = opened.sequence.source
        again: tuple[tuple[str, Callable[[], object]], ...] = ()
        if source is not None and os.path.exists(source):
            again = (("Open the file as it is now", lambda: self._opening.open(source)),)
        self._notifier.warn(opened.change, action=again)

    # -- what the window calls ------------------------------------------------------------------------------

    def begin(self, *, scripted: bool) -> None:
        """Offer lost sessions; with a script, offer nothing and save nothing automatically."""
        self._enabled = not scripted
        if self._enabled:
            self.recovery.offer()
            self._opening.shown.connect(self._offer_last, ONCE)  # type: ignore[call-arg]  # not in the stub

    def _offer_last(self) -> None:
        """Offer a session that was closed without being saved: once, when the first sequence is shown."""
        closed = self.closed_sessions()
        if not closed or closed[0][0].name == self._store.offered_session:
            return
        path, _time, holds = closed[0]
        self._store.offered_session = path.name
        more = " Earlier ones are listed under File > Recent." if len(closed) > 1 else ""
        self._notifier.warn(
            f"The session before was closed without having been saved: {holds}.{more}",
            action=("Open it", lambda: self._opening.open(path)),
        )

    def end(self, *, ask: bool) -> bool:
        """Keep a session that was not saved as a closed one; return whether the window may close."""
        if self._ended:
            return True
        self._jobs.wait()
        failures: list[tuple[str, str]] = []
        if self.modified and self._saves_automatically:
            Job(lambda _job: self.autosave.keep(), failed=lambda *why: failures.append(why)).run()
        for reason, details in failures:
            rest = self.autosave.own.describe_rest()
            if ask and not self.autosave.up_to_date:
                self._ask_what_becomes(f"{reason.rstrip('.')}. {rest}.")
                return False
            rest = rest if self.autosave.up_to_date else self.write_copy()
            sentence = f"{NOT_KEPT}: {reason.rstrip('.')}. {rest}."
            self._notifier.fail(sentence, details)
            report(sentence)  # the window closes, and nobody sees it anymore
        self._close(discard=not failures)
        return True

    def _ask_what_becomes(self, reason: str) -> None:
        """Ask what becomes of a session that could not be kept; the window stays open meanwhile."""
        buttons = QMessageBox.StandardButton
        box = QMessageBox(
            QMessageBox.Icon.Warning, PROGRAM, "The session is not saved.",
            buttons.Save | buttons.Discard | buttons.Cancel, self._window,
        )  # fmt: skip
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.PlainText)  # names of files are not markup
        box.setInformativeText(printable(reason))

        def answer(button: QAbstractButton) -> None:
            if button is box.button(buttons.Save):
                self._ask(partial(self.save_to, then=self._window.close))
            elif button is box.button(buttons.Discard):
                self._close(discard=False)
                self._window.close()

        box.buttonClicked.connect(answer)
        box.open()

    def _close(self, *, discard: bool) -> None:
        self._ended = True
        self.recovery.shut_down()
        self.autosave.shut_down(discard=discard)

    def write_copy(self) -> str:
        """Write the session to the temporary folder; return a sentence that names the file."""
        saved = self._snapshot()
        assert saved is not None  # there are runs
        path = write_elsewhere("session", SUFFIX, lambda path: write_session(saved, path, private=True))
        return self.autosave.own.describe_rest() if path is None else f"The session is saved in {path}"

    def show_title(self) -> None:
        """Name the session and its sequence in the title bar, with a mark where it is not saved."""
        sequence = self._session.sequence
        parts = [] if self.file is None else [f"{printable(self.file.name)}[*]"]
        if sequence is not None:
            parts.append(summaries.sequence_title(sequence) + ("" if parts else "[*]"))
        self._window.setWindowTitle(" – ".join((*parts, PROGRAM)) if parts else f"{PROGRAM}[*]")
        self._window.setWindowModified(self.modified)

    def _on_changed(self) -> None:
        """Mark in the title bar whether there is something to save, and schedule automatic saving."""
        if self._window.isWindowModified() != self.modified:
            self._window.setWindowModified(self.modified)
        if self._session.edits != self._autosaved_edits:
            self._autosaved_edits = self._session.edits
            if self._has_runs:
                self.autosave.schedule_save()

    def _on_ended(self, run: Run) -> None:
        if run in self._session.all_runs:  # not one that opening another session has stopped
            self.autosave.schedule_save(IDLE_MILLISECONDS)

    @property
    def _saves_automatically(self) -> bool:
        """Whether the open session is saved automatically: by preference, or because it was before."""
        return self._seconds() > 0 or (self._saved_edits is None and self._enabled)

    @property
    def _has_runs(self) -> bool:
        return bool(self._session.all_runs)

    def _seconds(self) -> float:
        return self._store.preferences().autosave_seconds if self._enabled else 0

    def _snapshot(self, *, file: Path | None = None) -> SavedSession | None:
        """Return the session as it is now, None where nothing is open."""
        session = self._session
        if session.sequence is None:
            return None
        saved = tuple(
            self._stored(each)
            for each in session.everything(without_runs=True)
            if each.runs or each.sequence is session.sequence or is_contained(each.sequence)
        )
        view = ViewState.of(session, self._view.orbit, self._view.saved_views).as_plain()
        listed = tuple(dict.fromkeys(str(entry.place) for entry in self._opening.entries))
        return SavedSession(saved, view, layout_of(self._window), listed, file or self.file)

    def _stored(self, opened: OpenSequence) -> OpenSequence:
        """Return a sequence with copies of its runs and their errors, which do not change any more."""
        traces = self._display.errors.traces
        runs = {run: run.as_stored(traces.curves_of(run)) for run in opened.runs}
        shown = None if opened.shown is None else runs.get(opened.shown)
        return OpenSequence(opened.sequence, opened.settings or Settings(), list(runs.values()), shown)


def _mark_before(file: Path | None, copy: Path) -> Mark | None:
    """Return the mark of the file of a session, None where it was written after an automatic copy of that."""
    mark, copied = None if file is None else mark_of(file), mark_of(copy)
    return mark if mark is not None and copied is not None and mark[1] <= copied[1] else None


def layout_of(window: QMainWindow) -> dict[str, str]:
    """Return where the panels of a window stand, as text; the window itself is its screen's matter."""
    return {"docks": bytes(window.saveState().toBase64().data()).decode("ascii")}


def show_layout(window: QMainWindow, layout: Mapping[str, str]) -> None:
    """Restore the layout of the panels; what does not fit is not changed."""
    if "docks" in layout:
        restore_docks(window, QByteArray.fromBase64(layout["docks"].encode("ascii", "replace")))
