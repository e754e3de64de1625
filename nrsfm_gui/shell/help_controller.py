"""Help in a window: the page of the method, and "What is this?" on every panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QObject
from PyQt6.QtGui import QWhatsThisClickedEvent
from PyQt6.QtWidgets import QWhatsThis

from nrsfm_gui.shell.dialogs import show_about
from nrsfm_gui.shell.layout import docks
from nrsfm_gui.shell.shortcut_sheet import ShortcutSheet
from nrsfm_gui.text.panel_help import SCENE, panel_help

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.model.theme import Theme
    from nrsfm_gui.shell.help_window import HelpWindow


class Helping(QObject):
    """Owns the help window, and opens it from the links of "What is this?"."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.page: HelpWindow | None = None  # made when it is first asked for
        window.scene_view.setWhatsThis(panel_help(SCENE))
        for part in (window.scene_view, window.timeline, *docks(window)):
            part.installEventFilter(self)

    def show_page(self) -> None:
        """Show the method on one page, beside the window."""
        from nrsfm_gui.shell.help_window import HelpWindow

        if self.page is None:
            self.page = HelpWindow(self._window)
            self.page.set_theme(self._window.session.theme)
        self.page.show()
        self.page.raise_()
        self.page.activateWindow()

    def show_shortcuts(self) -> None:
        """Show all shortcuts."""
        ShortcutSheet(self._window.table, self._window).open()

    def show_about(self) -> None:
        """Show version and licence."""
        show_about(self._window)

    def ask_what(self) -> None:
        """Let the next click say what it is on."""
        QWhatsThis.enterWhatsThisMode()

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        if self.page is not None:
            self.page.set_theme(theme)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Follow the link at the end of an explanation."""
        if isinstance(event, QWhatsThisClickedEvent):
            QWhatsThis.hideText()
            self.show_page()
            return True
        return super().eventFilter(watched, event)
