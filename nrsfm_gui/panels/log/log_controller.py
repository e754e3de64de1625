"""The log of a window: files, settings, runs, messages; and the panel that shows it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from PyQt6.QtCore import QObject

from core import InputError
from core.foundation import protecting, replacing
from core.reconstruction import settings_to_dict
from nrsfm_gui.engine.throttle import IDLE_MILLISECONDS, Debounce
from nrsfm_gui.model.log_records import Level, Logbook
from nrsfm_gui.model.names import numbered_title
from nrsfm_gui.model.run import RunState
from nrsfm_gui.text import status_text
from nrsfm_gui.widgets.dialogs import PathKind, ask_for_path

if TYPE_CHECKING:
    from core import Sequence
    from nrsfm_gui.model.run import Run
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.log.log_panel import LogPanel


class LogController(QObject):
    """Fills a logbook with what happens in a session, and shows it in the panel."""

    def __init__(
        self, session: Session, logbook: Logbook, panel: LogPanel, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._notifier = session, session.notifier
        self._logbook, self._panel = logbook, panel
        self._states: WeakKeyDictionary[Run, RunState] = WeakKeyDictionary()  # as seen last
        self._unlogged: list[tuple[Run, RunState | None, RunState]] = []  # changes of state, in their order
        self._settings = settings_to_dict(session.settings)  # as logged last
        self._settled = Debounce(self.log_settings, IDLE_MILLISECONDS, self)
        logbook.added.connect(panel.add_line)
        logbook.cleared.connect(lambda: panel.set_lines(()))
        panel.clear_requested.connect(lambda _checked: logbook.clear())
        panel.save_requested.connect(lambda _checked: self.ask_for_file())
        session.notifier.informed.connect(lambda sentence, *_: self._log_message(Level.INFO, sentence))
        session.notifier.warned.connect(lambda sentence, _action: self._log_message(Level.WARNING, sentence))
        session.sequence_changed.connect(self._on_sequence_changed)
        # A state is recorded at once, for a run that was refused is gone when `changed` follows; its line
        # is written then, after the new picture has been requested.
        session.run_changed.connect(self._on_run_changed)
        session.changed.connect(self._log_runs)
        session.settings_changed.connect(self._settled.request)

    def ask_for_file(self) -> None:
        """Ask where to save the log, and save it."""
        ask_for_path(
            self._panel, "Save the log", self.save,
            kind=PathKind.NEW_FILE, start="nrsfm-log.txt", filters="Text (*.txt)",
        )  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write all lines into a text file, and report it or the failure."""
        try:
            with protecting(self._session.inputs()), replacing(Path(path)) as temporary:
                temporary.write_text(self._logbook.text(), encoding="utf-8", errors="backslashreplace")
        except InputError as refusal:
            self._notifier.fail(str(refusal), "")
        else:
            self._notifier.inform(f"Saved {path}")

    def log_reading(self, what: str) -> None:
        """Log that a file is being read."""
        self._logbook.add(Level.INFO, "files", f"Reading {what}")

    def log_settings(self) -> None:
        """Log what changed in the settings since they were logged last."""
        self._settled.cancel()
        now = settings_to_dict(self._session.settings)
        changes = differences(self._settings, now)
        if changes:
            self._logbook.add(Level.INFO, "settings", "; ".join(changes))
        self._settings = now

    def _log_message(self, level: Level, sentence: str) -> None:
        self._log_runs()  # what the message is about comes first
        self._logbook.add(level, "message", sentence)

    def _on_sequence_changed(self, sequence: Sequence) -> None:
        self._log_runs()
        self._logbook.add(Level.INFO, "files", f"Opened {status_text.sequence_facts(sequence)}")

    def _on_run_changed(self, run: Run) -> None:
        before = self._states.get(run)
        if before is not run.state:
            self._states[run] = run.state
            self._unlogged.append((run, before, run.state))

    def _log_runs(self) -> None:
        changes, self._unlogged = self._unlogged, []
        for run, before, state in changes:
            if before is None:
                self.log_settings()  # those that the run starts under
                warm = "from nothing" if run.warm_from is None else f"from run {run.warm_from}"
                self._logbook.add(Level.INFO, f"run {run.number}", f"Started {warm}: {numbered_title(run)}")
            if state is not RunState.RUNNING or before is not None:
                level = Level.ERROR if state is RunState.FAILED else Level.INFO
                self._logbook.add(level, f"run {run.number}", status_text.activity(run))


def differences(before: dict[str, Any], after: dict[str, Any], *, within: str = "") -> list[str]:
    """Return what differs between two nested dictionaries, each as "name before → after"."""
    found = []
    for key in {**before, **after}:
        one, two = before.get(key), after.get(key)
        if isinstance(one, dict) and isinstance(two, dict):
            found += differences(one, two, within=f"{within}{key} ")
        elif one != two:
            found.append(f"{within}{key} {_short(one)} → {_short(two)}")
    return found


def _short(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
