"""The menu of the alignment with the ground truth: its kind, and the mirror image."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtGui import QAction, QActionGroup
from PyQt6.QtWidgets import QMenu, QWidget

from core import Alignment
from core.evaluation import Kind, Mirror

if TYPE_CHECKING:
    from collections.abc import Mapping

MIRRORS = {Mirror.AUTOMATIC: "&Automatic", Mirror.ON: "O&n", Mirror.OFF: "O&ff"}


class AlignmentMenu(QMenu):
    """Radio items for the kind, and a submenu of them for the mirror.

    Signals
    -------
    alignment_requested(Alignment)
        what was chosen.
    """

    alignment_requested = pyqtSignal(object)

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.setToolTipsVisible(True)
        self._alignment = Alignment()
        self._kinds: dict[Kind, QAction] = {}
        self._mirrors: dict[Mirror, QAction] = {}
        group = QActionGroup(self)
        for kind in Kind:
            self._kinds[kind] = self._radio(self, group, f"&{kind.words.capitalize()}", kind.meaning)
            self._kinds[kind].triggered.connect(lambda _on, kind=kind: self._request(kind=kind))
        self.addSeparator()
        submenu = QMenu("&Mirror image", self)
        submenu.setToolTipsVisible(True)
        group = QActionGroup(submenu)
        for mirror, words in MIRRORS.items():
            self._mirrors[mirror] = self._radio(submenu, group, words, mirror.meaning)
            self._mirrors[mirror].triggered.connect(lambda _on, mirror=mirror: self._request(mirror=mirror))
        self.addMenu(submenu)
        self.set_state(self._alignment, {})

    def set_state(self, alignment: Alignment, obstacles: Mapping[Kind, str]) -> None:
        """Check the chosen entries, and disable those with an obstacle. Emits nothing."""
        self._alignment = alignment
        for kind, action in self._kinds.items():
            action.setChecked(kind is alignment.kind)
            obstacle = obstacles.get(kind, "")
            action.setEnabled(not obstacle)
            action.setToolTip(_sentence(obstacle or kind.meaning))
        for mirror, action in self._mirrors.items():
            action.setChecked(mirror is alignment.mirror)
            action.setEnabled(alignment.compares)

    def _request(self, *, kind: Kind | None = None, mirror: Mirror | None = None) -> None:
        chosen = Alignment(kind or self._alignment.kind, mirror or self._alignment.mirror)
        self.alignment_requested.emit(chosen)

    @staticmethod
    def _radio(menu: QMenu, group: QActionGroup, title: str, meaning: str) -> QAction:
        action = QAction(title, menu)
        action.setCheckable(True)
        action.setToolTip(_sentence(meaning))
        group.addAction(action)
        menu.addAction(action)
        return action


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."
