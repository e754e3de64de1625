"""The alignment of the estimate with the ground truth: its menu and its key."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PyQt6.QtCore import QObject
from PyQt6.QtGui import QAction, QActionGroup
from PyQt6.QtWidgets import QMenu, QWidget

from core.evaluation import Kind, Mirror
from nrsfm_gui.model.session import Session
from nrsfm_gui.scene.shapes import obstacle
from nrsfm_gui.widgets.labels import plain_tip

WITHOUT_OUTLIERS = (
    "points of the truth that are far from their neighbors in single frames have no error; nothing is "
    "fitted to them in any case"
)
MIRRORS = {Mirror.AUTOMATIC: "&Automatic", Mirror.ON: "O&n", Mirror.OFF: "O&ff"}


class AlignmentController(QObject):
    """Lets the alignment of the session be chosen in a menu, or by a key."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._notifier = session, session.notifier
        self.menu = menu = QMenu("Ali&gnment of the ground truth", parent)
        submenu = QMenu("&Mirror image", menu)
        kinds, mirrors = QActionGroup(menu), QActionGroup(submenu)
        self._kinds, self._mirrors = dict[Kind, QAction](), dict[Mirror, QAction]()
        for kind in Kind:
            self._kinds[kind] = _checkable(menu, kinds, f"&{kind.label.capitalize()}", kind.meaning)
            self._kinds[kind].triggered.connect(lambda _on, kind=kind: self._change(kind=kind))
        for mirror, words in MIRRORS.items():
            self._mirrors[mirror] = _checkable(submenu, mirrors, words, mirror.meaning)
            self._mirrors[mirror].triggered.connect(lambda _on, mirror=mirror: self._change(mirror=mirror))
        menu.addSeparator()
        menu.addMenu(submenu)
        self._outliers = _checkable(menu, None, "&Without outliers of the truth", WITHOUT_OUTLIERS)
        self._outliers.triggered.connect(lambda on: self._change(outliers=not on))
        for signal in (session.alignment_changed, session.sequence_changed):
            signal.connect(lambda _: self._show())
        self._show()

    @property
    def possible(self) -> bool:
        """Whether there is a ground truth to align with."""
        obstacles = self._obstacles()
        return any(not obstacles.get(kind) for kind in Kind)

    def cycle(self) -> None:
        """Choose the next kind that is possible, and explain it."""
        current = self._session.alignment
        obstacles, kinds = self._obstacles(), list(Kind)
        following = kinds.index(current.kind) + 1
        possible = [kind for kind in kinds[following:] + kinds[:following] if not obstacles.get(kind)]
        if not possible:
            self._notifier.inform(f"There is nothing to align with: {obstacles[current.kind]}.")
            return
        self._change(kind=possible[0])
        chosen = self._session.alignment
        self._notifier.inform(f"{chosen.label().capitalize()}: {chosen.kind.meaning}.")

    def leave_out_outliers(self, out: bool) -> None:
        """Leave outliers of the truth out of all means, or let them count."""
        self._change(outliers=not out)
        self._notifier.show_status(
            "Outliers of the truth are left out of all means"
            if out
            else "All points of the truth count in the means; nothing is fitted to outliers"
        )

    def _change(self, **changes: Any) -> None:
        self._session.set_alignment(replace(self._session.alignment, **changes))
        self._show()

    def _show(self) -> None:
        """Check the present alignment, and enable the possible ones."""
        alignment, obstacles = self._session.alignment, self._obstacles()
        for kind, action in self._kinds.items():
            action.setChecked(kind is alignment.kind)
            obstacle = obstacles.get(kind, "")
            action.setEnabled(not obstacle)
            action.setToolTip(plain_tip(_sentence(obstacle or kind.meaning)))
        for mirror, action in self._mirrors.items():
            action.setChecked(mirror is alignment.mirror)
            action.setEnabled(alignment.compares)
        self._outliers.setChecked(not alignment.outliers)
        self._outliers.setEnabled(alignment.compares and not obstacles.get(alignment.kind))

    def _obstacles(self) -> dict[Kind, str]:
        sequence = self._session.sequence
        return {} if sequence is None else {kind: obstacle(sequence, kind) for kind in Kind}


def _checkable(menu: QMenu, group: QActionGroup | None, title: str, meaning: str) -> QAction:
    menu.setToolTipsVisible(True)
    action = QAction(title, menu)
    action.setCheckable(True)
    action.setActionGroup(group)
    action.setToolTip(_sentence(meaning))
    menu.addAction(action)
    return action


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."
