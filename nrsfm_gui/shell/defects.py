"""Uncaught exceptions: in a slot, a thread, a destructor. The window stays open and shows them.

Without this, PyQt ends the process at the first exception in a slot, and one in a thread goes unseen.
"""

from __future__ import annotations

import html
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from PyQt6.QtCore import QObject, QSize, pyqtSignal
from PyQt6.QtGui import QFontDatabase
from PyQt6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from nrsfm_gui.model.log_records import Level, Logbook
from nrsfm_gui.model.session import Session
from nrsfm_gui.shell.help import system_text
from nrsfm_gui.widgets.dialogs import resize_within_screen
from nrsfm_gui.widgets.fields import filled, with_tip
from nrsfm_gui.widgets.labels import PlainLabel, known


class DefectReporter(QObject):
    """Shows the first defect in a dialog, counts those that follow while it is open, and logs all of them."""

    # a sentence, the traceback, whether a dialog shows it; from any thread
    _happened = pyqtSignal(str, str, bool)

    def __init__(
        self,
        window: QWidget,
        session: Session,
        logbook: Logbook,
        *,
        drawn_by: Callable[[], str],
        save_session: Callable[[], object],
        save_reconstruction: Callable[[], object],
    ) -> None:
        super().__init__(window)
        self._window, self._session, self._logbook = window, session, logbook
        self._notifier, self._drawn_by = session.notifier, drawn_by
        self._save_session, self._save_reconstruction = save_session, save_reconstruction
        self._happened.connect(self._on_happened)
        session.notifier.defect_found.connect(self.show)
        self.dialog: DefectDialog | None = None

    def install(self) -> None:
        """Receive uncaught exceptions of all threads."""
        sys.excepthook, threading.excepthook = self._uncaught, self._uncaught_in_thread
        sys.unraisablehook = self._unraisable

    def show(self, sentence: str, details: str) -> None:
        """Show a defect with its traceback and the offers to save."""
        self._logbook.add(Level.ERROR, "defect", sentence, details)
        if self.dialog is not None and self.dialog.isVisible():
            self.dialog.count_another()  # the first of many is the most informative
            return
        report = f"{details.rstrip()}\n\n{system_text()}\n{self._drawn_by()}"
        saves = {}
        if self._session.sequence is not None:
            saves["Save the session…"] = self._save_session
        if self._session.seen is not None:
            saves["Save the reconstruction…"] = self._save_reconstruction
        self.dialog = DefectDialog(sentence, report, self._window, saves=saves)
        self.dialog.open()

    def _on_happened(self, sentence: str, details: str, show_dialog: bool) -> None:
        if show_dialog:
            self._notifier.fail(sentence, details)
        else:
            self._logbook.add(Level.ERROR, "defect", sentence, details)

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._window.close()
            return
        self._report(kind, error, trace, "")

    def _uncaught_in_thread(self, given: threading.ExceptHookArgs) -> None:
        if not issubclass(given.exc_type, SystemExit):
            name = "" if given.thread is None else f" (in the thread {given.thread.name})"
            self._report(given.exc_type, given.exc_value, given.exc_traceback, name)

    def _unraisable(self, given: Any) -> None:
        message = given.err_msg or "Exception ignored in"
        self._report(given.exc_type, given.exc_value, given.exc_traceback, f" ({message})", show_dialog=False)

    def _report(
        self, kind: type[BaseException], error: Any, trace: Any, where: str, *, show_dialog: bool = True
    ) -> None:
        details = "".join(traceback.format_exception(kind, error, trace))
        if sys.stderr is not None:
            sys.stderr.write(details)
        # The interpreter keeps the last traceback. A painter among the variables of its functions would
        # outlive its paint device, and end the process when it is destroyed.
        traceback.clear_frames(trace)
        with suppress(RuntimeError):  # the window is gone already; stderr has it
            self._happened.emit(f"{kind.__name__}: {error}{where}", details, show_dialog)


class DefectDialog(QDialog):
    """A defect of the program: what happened, and offers to save what there is."""

    def __init__(
        self, sentence: str, details: str, parent: QWidget, *, saves: Mapping[str, Callable[[], object]]
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Something went wrong")
        message = QLabel(
            f"<p><b>{html.escape(sentence)}</b></p><p>This is a defect of the program, not of your data. "
            "The application goes on; save your work if you are in doubt.</p>"
        )
        message.setWordWrap(True)
        self._others = 0
        self._count = PlainLabel(role="muted")
        self._count.hide()
        tip = "Where it happened; copy this when you report the defect"
        text = with_tip(QPlainTextEdit(details), "Details of the defect", tip)
        text.setReadOnly(True)
        text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)

        def copy() -> None:
            text.selectAll()
            text.copy()

        for title, function in {"Copy the details": copy, **saves}.items():
            button = known(buttons.addButton(title, QDialogButtonBox.ButtonRole.ActionRole))
            button.clicked.connect(lambda _checked, function=function: function())
        filled(QVBoxLayout(self), message, text, self._count, buttons, margins=None)
        resize_within_screen(self, QSize(720, 420))

    def count_another(self) -> None:
        """Count a defect that followed while this one was shown."""
        self._others += 1
        self._count.setText(f"{self._others} more followed; the log has them.")
        self._count.show()
