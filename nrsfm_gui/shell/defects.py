"""Exceptions that nobody caught: in a slot, a thread, a destructor. The window lives on and shows them.

Without this, PyQt ends the process at the first exception in a slot, and one in a thread goes unseen.
"""

from __future__ import annotations

import sys
import threading
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, pyqtSignal

from nrsfm_gui.model.log_records import Level
from nrsfm_gui.shell.dialogs import DefectDialog

if TYPE_CHECKING:
    from collections.abc import Callable

    from PyQt6.QtWidgets import QWidget

    from nrsfm_gui.model.log_records import Logbook
    from nrsfm_gui.model.notifier import Notifier


class DefectReporter(QObject):
    """Shows the first defect in a dialog, counts those that follow while it is open, and logs all of them.

    Parameters
    ----------
    window
        the dialog stands over it, and an interrupt from the keyboard closes it.
    notifier, logbook
        where defects come from, and where they go to.
    saves
        returns what can be saved now: the texts of buttons, and what they call.
    """

    _happened = pyqtSignal(str, str, bool)  # a sentence, the traceback, whether a dialog shows it; any thread

    def __init__(
        self,
        window: QWidget,
        notifier: Notifier,
        logbook: Logbook,
        *,
        saves: Callable[[], dict[str, Callable[[], object]]],
    ) -> None:
        super().__init__(window)
        self._window, self._notifier, self._logbook, self._saves = window, notifier, logbook, saves
        self._hooks: tuple[Any, Any, Any] | None = None
        self._happened.connect(self._on_happened)
        notifier.defect_found.connect(self.show)
        self.dialog: DefectDialog | None = None

    def install(self) -> None:
        """Take the exceptions that nobody catches, in whatever thread."""
        if self._hooks is None:
            self._hooks = (sys.excepthook, threading.excepthook, sys.unraisablehook)
            sys.excepthook, threading.excepthook = self._uncaught, self._uncaught_in_thread
            sys.unraisablehook = self._unraisable

    def uninstall(self) -> None:
        """Give the hooks back."""
        if self._hooks is not None:
            sys.excepthook, threading.excepthook, sys.unraisablehook = self._hooks
            self._hooks = None

    def show(self, sentence: str, details: str) -> None:
        """Show a defect with its traceback and the offers to save."""
        self._logbook.add(Level.ERROR, "defect", sentence, details)
        if self.dialog is not None and self.dialog.isVisible():
            self.dialog.count_another()  # one defect often comes with many: the first one tells the most
            return
        self.dialog = DefectDialog(sentence, details, self._window, saves=self._saves())
        self.dialog.open()

    def _on_happened(self, sentence: str, details: str, grave: bool) -> None:
        if grave:
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
        self._report(given.exc_type, given.exc_value, given.exc_traceback, f" ({message})", grave=False)

    def _report(
        self, kind: type[BaseException], error: Any, trace: Any, where: str, *, grave: bool = True
    ) -> None:
        details = "".join(traceback.format_exception(kind, error, trace))
        if sys.stderr is not None:
            sys.stderr.write(details)
        # The interpreter keeps the last traceback. A painter among the variables of its functions would
        # outlive what it paints on, and end the process when it is destroyed.
        traceback.clear_frames(trace)
        with suppress(RuntimeError):  # the window is gone already; stderr has it
            self._happened.emit(f"{kind.__name__}: {error}{where}", details, grave)
