"""Offering the sessions of windows that ended without closing: killed, crashed, or without power."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from nrsfm_gui.sessions.autosave import lost_sessions
from nrsfm_gui.sessions.recovery_bar import RecoveryBar

if TYPE_CHECKING:
    from pathlib import Path

    from nrsfm_gui.model.notifier import Notifier
    from nrsfm_gui.sessions.autosave import Lost
    from nrsfm_gui.sessions.opening import SequenceOpening


class Recovery(QObject):
    """Owns the bar that offers one lost session after the other."""

    def __init__(self, notifier: Notifier, opening: SequenceOpening, folder: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._notifier, self._opening, self._folder = notifier, opening, folder
        self._lost: list[Lost] = []  # the first one is offered
        self._chosen: tuple[Lost, str] | None = None  # asked for, and what it holds
        self.bar = RecoveryBar()
        self.bar.recover_requested.connect(self._on_recover_requested)
        self.bar.discard_requested.connect(self._on_discard_requested)
        self.bar.later_requested.connect(self.shut_down)
        opening.failed.connect(lambda *_: self._release())

    def offer(self) -> None:
        """Look for lost sessions, and offer the newest."""
        self._lost = lost_sessions(self._folder)
        self._show()

    def shut_down(self) -> None:
        """Let what was not decided be offered again."""
        for lost in self._lost:
            lost.release()
        self._lost = []

    def _show(self) -> None:
        if not self._lost:
            return
        more = f" There are {len(self._lost) - 1} more." if len(self._lost) > 1 else ""
        self.bar.offer(f"A session was not closed properly: {self._lost[0].describe()}.{more}")

    def _on_recover_requested(self) -> None:
        lost = self._lost.pop(0)
        self._chosen = lost, lost.describe()
        self._opening.open(lost.path)
        self.shut_down()

    def _on_discard_requested(self) -> None:
        self._lost.pop(0).discard()
        self._show()

    def on_session_shown(self, path: Path) -> None:
        """Report what was recovered: it is open, and its file is this window's own."""
        if self._chosen is not None and path == self._chosen[0].path:
            self._notifier.inform(f"Recovered {self._chosen[1]}.")
            self._release()

    def _release(self) -> None:
        if self._chosen is not None:
            self._chosen[0].release()
            self._chosen = None
