"""One table of everything that can be done: title, shortcut, tip, what it calls and when it is possible.

Menus, tool bar and the sheet of shortcuts (F1) are all made of this table. Shortcuts work from any focus in
the window; a text field takes the keys that it can use before they become shortcuts, and typing stays typing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QAction, QKeySequence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from PyQt6.QtWidgets import QWidget

    from nrsfm_gui.main_window import MainWindow


@dataclass(frozen=True)
class Situation:
    """What decides which actions are possible."""

    sequence: bool  # one is open
    frames: bool  # it has more than one
    alive: bool  # a run is being worked on
    paused: bool
    reconstruction: bool  # one is shown
    runs: bool  # there are some
    background: bool  # pictures lie behind the tracks


class Condition:
    """When an action is possible, and what to do first where it is not."""

    def __init__(self, holds: Callable[[Situation], bool], needs: str) -> None:
        self._holds = holds
        self.needs = needs  # a sentence without its point

    def __call__(self, situation: Situation) -> bool:
        """Return whether the action is possible."""
        return self._holds(situation)


always = Condition(lambda _situation: True, "")
with_sequence = Condition(lambda s: s.sequence, "Open a sequence first")
with_reconstruction = Condition(lambda s: s.reconstruction, "Run the solver first")
with_runs = Condition(lambda s: s.runs, "Run the solver first")
with_background = Condition(lambda s: s.background, "Put pictures behind the tracks first")
alive = Condition(lambda s: s.alive, "Nothing is running")
playable = Condition(lambda s: s.frames, "Open a sequence of several frames first")


@dataclass(frozen=True)
class ActionSpec:
    """One line of the table."""

    name: str
    menu: str
    title: str  # with & before the letter of the menu
    tip: str
    callback: Callable[..., object]  # takes the checked state where the action is checkable
    shortcuts: tuple[str, ...] = ()
    when: Condition = always
    checkable: bool = False
    checked: bool = False
    icon: str = ""
    separated: bool = False  # a line above it in its menu

    @property
    def keys(self) -> str:
        """The shortcuts as they are written on this platform, "" where there is none."""
        native = QKeySequence.SequenceFormat.NativeText
        return ", ".join(QKeySequence(key).toString(native) for key in self.shortcuts)


def action_table(w: MainWindow) -> tuple[ActionSpec, ...]:
    """Return the table, bound to a window; its rows are in `menus`, one module for each menu."""
    from nrsfm_gui.shell.menus import all_rows

    return all_rows(w)


def with_own_letters(titles: Collection[str]) -> list[str]:
    """Return titles of a menu with the mark & moved wherever two of them had the same letter."""
    wanted = [title[title.index("&") + 1].lower() if "&" in title else "" for title in titles]
    taken = set(wanted)
    used: set[str] = set()
    result = []
    for title, letter in zip(titles, wanted, strict=True):
        if letter and letter in used:
            plain = title.replace("&", "")
            free = next((i for i, c in enumerate(plain) if c.isalpha() and c.lower() not in taken), None)
            title = plain if free is None else f"{plain[:free]}&{plain[free:]}"
            letter = "" if free is None else plain[free].lower()
            taken.add(letter)
        used.add(letter)
        result.append(title)
    return result


def make_action(spec: ActionSpec, parent: QWidget) -> QAction:
    """Return the QAction of a line of the table."""
    action = QAction(spec.title, parent)
    action.setObjectName(spec.name)
    action.setShortcuts([QKeySequence(key) for key in spec.shortcuts])
    action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
    action.setToolTip(f"{spec.tip} ({spec.keys})" if spec.keys else spec.tip)
    action.setWhatsThis(spec.tip)  # no status tip: it would lie over what the solver says
    action.setCheckable(spec.checkable)
    action.setChecked(spec.checked)
    if spec.checkable:
        action.triggered.connect(lambda checked: spec.callback(checked))
    else:
        action.triggered.connect(lambda _checked: spec.callback())
    return action
