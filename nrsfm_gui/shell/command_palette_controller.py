"""The command palette of a window: everything in its menus, samples and recent files too, by typing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject
from PyQt6.QtGui import QAction, QKeySequence

from nrsfm_gui.widgets.command_palette import CommandPalette, PaletteEntry

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QMainWindow, QMenu

    from nrsfm_gui.shell.toolbars import Toolbars

STEP = " › "  # between a menu and the menu in it


class CommandPaletteController(QObject):
    """Owns the palette; the entries are read from the menus each time that it opens."""

    def __init__(self, toolbars: Toolbars, window: QMainWindow) -> None:
        super().__init__(window)
        self._toolbars, self._window = toolbars, window
        self.view = CommandPalette(window)

    def open(self) -> None:
        """Show the palette."""
        self.view.open(self.entries())

    def entries(self) -> tuple[PaletteEntry, ...]:
        """Return everything in the menus, in their order; what opens the palette itself is left out."""
        self._toolbars.fill_menus()
        bar = self._window.menuBar()
        assert bar is not None
        found: list[PaletteEntry] = []
        for action in bar.actions():
            menu = action.menu()
            if menu is not None:
                self._collect(menu, _plain(action.text()), found)
        return tuple(found)

    def _collect(self, menu: QMenu, place: str, found: list[PaletteEntry]) -> None:
        for action in menu.actions():
            inner = action.menu()
            if inner is not None:
                self._collect(inner, f"{place}{STEP}{_plain(action.text())}", found)
            elif not action.isSeparator() and action.isVisible() and action.objectName() != "palette":
                found.append(self._entry(action, place))

    def _entry(self, action: QAction, place: str) -> PaletteEntry:
        tip = action.whatsThis() or action.toolTip()
        native = QKeySequence.SequenceFormat.NativeText
        return PaletteEntry(
            title=_plain(action.text()),
            place=place,
            tip="" if tip == _plain(action.text()) else tip,
            run=action.trigger,
            keys=", ".join(key.toString(native) for key in action.shortcuts()),
            enabled=action.isEnabled(),
            reason="" if action.isEnabled() else self._toolbars.needs(action.objectName()),
            checked=action.isChecked() if action.isCheckable() else None,
        )


def _plain(title: str) -> str:
    """Return a title of a menu without its mark of the letter."""
    return title.replace("&", "")
