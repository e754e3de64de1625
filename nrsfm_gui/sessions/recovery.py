"""Offering the sessions of windows that ended without closing: killed, crashed, or without power."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from nrsfm_gui.sessions.autosave import lost_sessions
from nrsfm_gui.sessions.recovery_bar import RecoveryBar

if TYPE_CHECKING:
    from pathlib import Path

    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.sessions.autosave import Lost


class Recovering(QObject):
    """Owns the bar that offers one lost session after the other."""

    def __init__(self, window: MainWindow, folder: Path) -> None:
        super().__init__(window)
        self._window = window
        self._folder = folder
        self._lost: list[Lost] = []  # the first one is offered
        self._taken: tuple[Lost, str] | None = None  # asked for, and what it holds
        self.bar = RecoveryBar()
        window.banners.add(self.bar)
        self.bar.recover_requested.connect(self._recover)
        self.bar.discard_requested.connect(self._discard)
        self.bar.later_requested.connect(self.shut_down)
        window.opening.session_read.connect(self._tell)
        window.opening.failed.connect(lambda *_: self._let_go())

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

    def _recover(self) -> None:
        lost = self._lost.pop(0)
        self._taken = lost, lost.describe()
        self._window.opening.open(lost.path)
        self.shut_down()

    def _discard(self) -> None:
        self._lost.pop(0).discard()
        self._show()

    def _tell(self, _saved: object, path: Path) -> None:
        """Say what was recovered: it is open, and its file is this window's own."""
        if self._taken is not None and path == self._taken[0].path:
            self._window.messages.note(f"Recovered {self._taken[1]}.")
            self._let_go()

    def _let_go(self) -> None:
        if self._taken is not None:
            self._taken[0].release()
            self._taken = None
