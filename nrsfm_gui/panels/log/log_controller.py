"""What goes into the log of a window: files, settings, runs, messages; and the panel that shows it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from PyQt6.QtCore import QObject, QTimer

from core import InputError
from core.foundation import replacing
from core.reconstruction import settings_to_dict
from nrsfm_gui.model.log_records import Level, Logbook
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.run_names import run_name
from nrsfm_gui.scene import summaries
from nrsfm_gui.widgets.path_dialog import Wanted, ask_for_path

if TYPE_CHECKING:
    from core import Sequence
    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.model.run import Run

SETTLED_MILLISECONDS = 600  # settings that are being dragged are one change


class LogKeeping(QObject):
    """Fills a logbook with what happens in a window, and serves the panel of it."""

    def __init__(self, window: MainWindow, logbook: Logbook) -> None:
        super().__init__(window)
        self._window = window
        self._logbook = logbook
        self._states: WeakKeyDictionary[Run, RunState] = WeakKeyDictionary()  # as logged last
        self._settings = settings_to_dict(window.session.settings)  # as logged last
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(SETTLED_MILLISECONDS)
        self._settled.timeout.connect(self.log_settings)
        session, panel = window.session, window.log_panel
        logbook.added.connect(panel.add_line)
        logbook.cleared.connect(lambda: panel.set_lines(()))
        panel.clear_requested.connect(logbook.clear)
        panel.save_requested.connect(self.ask_for_file)
        window.messages.said.connect(self._log_message)
        window.opening.started.connect(lambda what: logbook.add(Level.INFO, "files", f"Reading {what}"))
        session.sequence_changed.connect(self._log_sequence)
        session.settings_changed.connect(lambda _settings: self._settled.start())
        session.run_changed.connect(self._log_run)

    def ask_for_file(self) -> None:
        """Ask where to save the log, and save it."""
        ask_for_path(
            self._window, "Save the log", self.save,
            wanted=Wanted.NEW_FILE, start="nrsfm-log.txt", filters="Text (*.txt)",
        )  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write all lines into a text file; say so, or why not."""
        try:
            with replacing(Path(path)) as temporary:
                temporary.write_text(self._logbook.text(), encoding="utf-8")
        except InputError as refusal:
            self._window.report(str(refusal), "")
        else:
            self._window.messages.note(f"Saved {path}")

    def log_settings(self) -> None:
        """Log what changed in the settings since they were logged last."""
        self._settled.stop()
        now = settings_to_dict(self._window.session.settings)
        changes = differences(self._settings, now)
        if changes:
            self._logbook.add(Level.INFO, "settings", "; ".join(changes))
        self._settings = now

    def _log_message(self, sentence: str, warning: bool) -> None:
        self._logbook.add(Level.WARNING if warning else Level.INFO, "message", sentence)

    def _log_sequence(self, sequence: Sequence) -> None:
        self._logbook.add(Level.INFO, "files", f"Opened {summaries.sequence_facts(sequence)}")

    def _log_run(self, run: Run) -> None:
        before = self._states.get(run)
        if before is run.state:
            return
        self._states[run] = run.state
        if before is None:
            self.log_settings()  # those that the run starts under
            warm = "from nothing" if run.warm_from is None else f"from run {run.warm_from}"
            self._logbook.add(Level.INFO, f"run {run.number}", f"Started {warm}: {run_name(run.settings)}")
        if run.state is not RunState.RUNNING or before is not None:
            level = Level.ERROR if run.state is RunState.FAILED else Level.INFO
            self._logbook.add(level, f"run {run.number}", summaries.activity(run))


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
    """Return a value in a few words."""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
