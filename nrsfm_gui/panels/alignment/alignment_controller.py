"""The alignment of the estimate with the ground truth: its menu and its key."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtGui import QAction, QActionGroup
from PyQt6.QtWidgets import QMenu, QWidget

from core import Alignment
from core.evaluation import Kind, Mirror
from nrsfm_gui.scene.shapes import obstacle
from nrsfm_gui.widgets.labels import plain_tip

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nrsfm_gui.model.session import Session

WITHOUT_OUTLIERS = (
    "points of the truth that are far from their neighbors in single frames have no error; nothing is "
    "fitted to them in any case"
)
MIRRORS = {Mirror.AUTOMATIC: "&Automatic", Mirror.ON: "O&n", Mirror.OFF: "O&ff"}


class AlignmentMenu(QMenu):
    """Radio items for the kind, and a submenu of them for the mirror."""

    alignment_requested = pyqtSignal(object)  # what was chosen

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.setToolTipsVisible(True)
        self._alignment = Alignment()
        self._kinds: dict[Kind, QAction] = {}
        self._mirrors: dict[Mirror, QAction] = {}
        group = QActionGroup(self)
        for kind in Kind:
            self._kinds[kind] = _checkable(self, group, f"&{kind.label.capitalize()}", kind.meaning)
            self._kinds[kind].triggered.connect(lambda _on, kind=kind: self._request(kind=kind))
        self.addSeparator()
        submenu = QMenu("&Mirror image", self)
        submenu.setToolTipsVisible(True)
        group = QActionGroup(submenu)
        for mirror, words in MIRRORS.items():
            self._mirrors[mirror] = _checkable(submenu, group, words, mirror.meaning)
            self._mirrors[mirror].triggered.connect(lambda _on, mirror=mirror: self._request(mirror=mirror))
        self.addMenu(submenu)
        self._outliers = _checkable(self, None, "&Without outliers of the truth", WITHOUT_OUTLIERS)
        self._outliers.triggered.connect(lambda on: self._request(outliers=not on))
        self.set_state(self._alignment, {})

    def set_state(self, alignment: Alignment, obstacles: Mapping[Kind, str]) -> None:
        """Check the chosen entries, and disable those with an obstacle. Emits nothing."""
        self._alignment = alignment
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

    def _request(self, **changes: Kind | Mirror | bool) -> None:
        self.alignment_requested.emit(replace(self._alignment, **changes))  # type: ignore[arg-type]


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _checkable(menu: QMenu, group: QActionGroup | None, title: str, meaning: str) -> QAction:
    action = QAction(title, menu)
    action.setCheckable(True)
    action.setActionGroup(group)
    action.setToolTip(_sentence(meaning))
    menu.addAction(action)
    return action


class AlignmentController(QObject):
    """Updates the menu of alignments from the session, and the session from the menu."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._notifier = session, session.notifier
        self.menu = AlignmentMenu("Ali&gnment of the ground truth", parent)
        self.menu.alignment_requested.connect(self.choose)
        for signal in (session.alignment_changed, session.sequence_changed):
            signal.connect(lambda _: self.show())
        self.show()

    @property
    def possible(self) -> bool:
        """Whether there is a ground truth to align with."""
        obstacles = self._obstacles()
        return any(not obstacles.get(kind) for kind in Kind)

    def choose(self, alignment: Alignment) -> None:
        """Choose an alignment."""
        self._session.set_alignment(alignment)
        self.show()

    def cycle(self) -> None:
        """Choose the next kind that is possible, and explain it."""
        current = self._session.alignment
        obstacles, kinds = self._obstacles(), list(Kind)
        start = kinds.index(current.kind)
        turned = [*kinds[start + 1 :], *kinds[: start + 1]]
        possible = [kind for kind in turned if not obstacles.get(kind)]
        if not possible:
            self._notifier.inform(f"There is nothing to align with: {obstacles[current.kind]}.")
            return
        chosen = replace(current, kind=possible[0])
        self.choose(chosen)
        self._notifier.inform(f"{chosen.label().capitalize()}: {chosen.kind.meaning}.")

    def leave_out_outliers(self, out: bool) -> None:
        """Leave outliers of the truth out of all means, or let them count."""
        self.choose(replace(self._session.alignment, outliers=not out))
        self._notifier.show_status(
            "Outliers of the truth are left out of all means"
            if out
            else "All points of the truth count in the means; nothing is fitted to outliers"
        )

    def show(self) -> None:
        """Check the present alignment, and enable the possible ones."""
        self.menu.set_state(self._session.alignment, self._obstacles())

    def _obstacles(self) -> dict[Kind, str]:
        sequence = self._session.sequence
        return {} if sequence is None else {kind: obstacle(sequence, kind) for kind in Kind}
