"""Messages for the user: any part of the application sends them, the views and the log listen."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QObject, pyqtSignal

from core.foundation import LONGEST_SENTENCE, printable_name

Action = tuple[str, Callable[[], object]]  # the text of a button, and what it calls
Actions = Action | tuple[Action, ...]


class Notifier(QObject):
    """Sends messages to whoever shows them."""

    status_changed = pyqtSignal(str)  # what is going on, for the status bar; "" for what the solver does
    # A sentence that may disappear by itself, and its actions; it replaces the one before.
    informed = pyqtSignal(str, object)
    warned = pyqtSignal(str, object)  # a sentence that stays until it is closed, and its actions
    defect_found = pyqtSignal(str, str)  # a sentence and the traceback of an exception
    # Something that was asked for was not done; a warning or a defect follows unless it is shown elsewhere.
    failed = pyqtSignal(str)
    cleared = pyqtSignal()  # all messages are about something that is over

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._closed = False

    def show_status(self, sentence: str) -> None:
        """Show what is going on, in place of what was shown before; "" shows what the solver does."""
        self.status_changed.emit(printable_name(sentence, LONGEST_SENTENCE))

    def inform(self, sentence: str, *, action: Actions = ()) -> None:
        """Show a sentence for a few seconds."""
        if not self._closed:
            self.informed.emit(printable_name(sentence, LONGEST_SENTENCE), action)

    def warn(self, sentence: str, *, action: Actions = ()) -> None:
        """Show a sentence until it is closed or followed by another one."""
        if not self._closed:
            self.warned.emit(printable_name(sentence, LONGEST_SENTENCE), action)

    def fail(self, sentence: str, details: str = "", *, action: Actions = (), shown: bool = False) -> None:
        """Report that something was not done."""
        self.failed.emit(sentence)
        if self._closed or shown:
            return
        if details:
            self.defect_found.emit(sentence, details)
        else:
            self.warn(sentence, action=action)

    def clear(self) -> None:
        """Close all messages."""
        self.cleared.emit()

    def close(self) -> None:
        """Show nothing any more; what fails is still signalled."""
        self._closed = True
