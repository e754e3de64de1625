"""The panel Log: the messages of the application, filtered, copied, saved and cleared; and what fills it."""

from __future__ import annotations

import html
from pathlib import Path
from weakref import WeakKeyDictionary

from PyQt6.QtCore import QObject, Qt
from PyQt6.QtGui import QFontDatabase, QShowEvent
from PyQt6.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit, QSizePolicy, QVBoxLayout, QWidget

from core import InputError, Sequence
from core.foundation import protecting, replacing
from nrsfm_gui.engine.throttle import IDLE_MILLISECONDS, Debounce
from nrsfm_gui.model.changes import named
from nrsfm_gui.model.log_records import LINES, Level, Logbook, LogLine
from nrsfm_gui.model.names import numbered_title
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.session import Session
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.text import status_text
from nrsfm_gui.widgets.dialogs import PathKind, ask_for_path
from nrsfm_gui.widgets.fields import ComboBox, copy_text, filled, tool_button, with_tip
from nrsfm_gui.widgets.style import Themed

LEVELS = {
    "everything": Level.DETAIL,
    "from notes": Level.INFO,
    "from warnings": Level.WARNING,
    "errors": Level.ERROR,
}
NARROWEST = 54  # pixels of a field in a narrow dock


class LogPanel(Themed, QWidget):
    """Lines from the chosen level on with the filter text; `header` has the controls, for the dock."""

    def __init__(self, logbook: Logbook, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._logbook = logbook
        self._stale = False  # lines came while the panel could not be seen
        self._level = with_tip(ComboBox(), "Level", "Which lines are shown, by how much they matter")
        self._level.addItems(LEVELS)
        self._level.setCurrentText("from notes")
        self._filter = with_tip(QLineEdit(), "Filter", "Show lines with this text only")
        self._filter.setPlaceholderText("Filter")
        self._filter.setClearButtonEnabled(True)
        self._filter.setMinimumWidth(NARROWEST)
        tip = "The messages of the application: time, level, source, text"
        self._text = with_tip(QPlainTextEdit(), "Log", tip)
        self._text.setReadOnly(True)
        self._text.setMaximumBlockCount(4 * LINES)
        self._text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._text.setPlaceholderText("There are no messages yet")
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        tip = "Copy the lines that are shown, or what is selected"
        copy = tool_button("Copy", tip, "Copy the log", self._on_copy_clicked)
        save = tool_button("Save…", "Save all lines as a text file", "Save the log")
        clear = tool_button("Clear", "Forget all lines", "Clear the log", logbook.clear)
        self._level.setMinimumWidth(NARROWEST)  # a panel as wide as all texts would squeeze its neighbors
        self._level.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.header = QWidget()
        parts = (self._level, self._filter, copy, save, clear)
        filled(QHBoxLayout(self.header), *parts, grows=self._filter, spacing=3, margins=(6, 2, 2, 2))
        filled(QVBoxLayout(self), self._text)
        for changed in (self._level.currentTextChanged, self._filter.textChanged, logbook.cleared):
            changed.connect(self._rebuild)
        logbook.added.connect(self._on_line_added)
        self.save_requested = save.clicked
        self._follow_theme()

    @property
    def shown_text(self) -> str:
        """The lines that pass the filter, as text."""
        return "\n".join(str(line) for line in self._logbook.lines if self._passes(line))

    def _on_line_added(self, line: LogLine) -> None:
        """Append a line; the view stays at the end where it was there."""
        if not self.isVisible():
            self._stale = True
        elif self._passes(line):
            self._text.appendHtml(self._as_html(line))

    def _apply_theme(self, _theme: Theme) -> None:
        self._rebuild()

    def showEvent(self, event: QShowEvent | None) -> None:
        """Show what came while the panel could not be seen."""
        super().showEvent(event)
        if self._stale:
            self._rebuild()

    def _passes(self, line: LogLine) -> bool:
        terms = self._filter.text().lower().split()
        line_text = f"{line.source} {line.text} {line.details}".lower()
        return line.level >= LEVELS[self._level.currentText()] and all(word in line_text for word in terms)

    def _rebuild(self, _changed: object = None) -> None:
        self._stale = not self.isVisible()
        if self._stale:
            return
        self._text.clear()
        for line in self._logbook.lines:
            if self._passes(line):
                self._text.appendHtml(self._as_html(line))
        bar = self._text.verticalScrollBar()
        if bar is not None:
            bar.setValue(bar.maximum())

    def _as_html(self, line: LogLine) -> str:
        """Return a line as rich text in the color of its level."""
        theme = self._theme
        color = {Level.DETAIL: theme.muted, Level.INFO: theme.text}.get(line.level, theme.warning)
        urgent = f"{line.level.name}  " if line.level >= Level.WARNING else ""
        line_text = f"{line.time:%H:%M:%S}  {line.source:<8}  {urgent}{line.text}"
        rows = [line_text, *(f"    {row}" for row in line.details.splitlines())]
        text = "<br>".join(html.escape(row) for row in rows)
        return f'<span style="color:{color}; white-space:pre-wrap">{text}</span>'

    def _on_copy_clicked(self) -> None:
        chosen = self._text.textCursor().selectedText().replace("\u2029", "\n").replace("\u2028", "\n")
        copy_text(chosen or self.shown_text)


class LogController(QObject):
    """Fills a logbook with what happens in a session, and saves it."""

    def __init__(self, session: Session, logbook: Logbook, panel: LogPanel) -> None:
        super().__init__(panel)
        self._session, self._notifier = session, session.notifier
        self._logbook, self._panel = logbook, panel
        self._states: WeakKeyDictionary[Run, RunState] = WeakKeyDictionary()  # as seen last
        self._unlogged: list[tuple[Run, RunState | None, RunState]] = []  # changes of state, in their order
        self._settings = session.settings  # as logged last
        self._settled = Debounce(self.log_settings, IDLE_MILLISECONDS, self)
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
        before, self._settings = self._settings, self._session.settings
        if before != self._settings:
            self._logbook.add(Level.INFO, "settings", named(before, self._settings))

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
