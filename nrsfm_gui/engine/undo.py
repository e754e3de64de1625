"""Undo and redo: of changes of the parameters, which a live run then follows, and of what was taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from nrsfm_gui.model.undo import UndoEntry

if TYPE_CHECKING:
    from nrsfm_gui.model.session import Session


class UndoController(QObject):
    """Undoes and redoes what a session's undo stack holds."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._notifier = session.notifier

    def undo(self) -> None:
        """Undo the last change of the parameters, or what was taken away after it."""
        entry = self._session.undo_stack.undo()
        if entry is None:
            self._notifier.show_status("Nothing is left to undo")
        elif isinstance(entry, UndoEntry):
            self._notifier.clear()  # its own button for undo is among the messages
            entry.undo()
            self._notifier.show_status(f"Undone: {entry.description}")
        else:
            self._session.set_settings(entry.before, undoable=False)
            self._notifier.show_status(f"Undone: back to {entry.values_before}")

    def redo(self) -> None:
        """Do again what was undone last."""
        entry = self._session.undo_stack.redo()
        if entry is None:
            self._notifier.show_status("Nothing was undone")
            return
        if isinstance(entry, UndoEntry):
            entry.redo()
        else:
            self._session.set_settings(entry.after, undoable=False)
        self._notifier.show_status(f"Done again: {entry.description}")
