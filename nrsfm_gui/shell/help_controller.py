"""Help in windows: the method, the formats of files, and "What is this?" on every panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QObject
from PyQt6.QtGui import QWhatsThisClickedEvent
from PyQt6.QtWidgets import QWhatsThis

from nrsfm_gui.shell.actions import ACTIONS
from nrsfm_gui.shell.dialogs import show_about
from nrsfm_gui.shell.layout import docks
from nrsfm_gui.shell.shortcut_sheet import ShortcutSheet
from nrsfm_gui.text.help_pages import SCENE, panel_help

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QMainWindow, QWidget

    from nrsfm_gui.model.session import Session
    from nrsfm_gui.shell.help_window import FormatsWindow, HelpWindow, MethodWindow


class HelpController(QObject):
    """Owns the windows of help, and opens them from the links of "What is this?".

    Parameters
    ----------
    window, session
        the window has docks, the session the theme.
    scene_view, timeline
        what is explained beside the docks.
    """

    def __init__(
        self, window: QMainWindow, session: Session, *, scene_view: QWidget, timeline: QWidget
    ) -> None:
        super().__init__(window)
        self._window, self._session = window, session
        self.page: MethodWindow | None = None  # made when it is first asked for
        self.formats: FormatsWindow | None = None
        scene_view.setWhatsThis(panel_help(SCENE))
        for part in (scene_view, timeline, *docks(window)):
            part.installEventFilter(self)

    def show_page(self) -> None:
        """Show the method on one page, beside the window."""
        from nrsfm_gui.shell.help_window import MethodWindow

        if self.page is None:
            self.page = MethodWindow(self._window)
        self._show_in_front(self.page)

    def show_formats(self) -> None:
        """Show the formats of files, beside the window."""
        from nrsfm_gui.shell.help_window import FormatsWindow

        if self.formats is None:
            self.formats = FormatsWindow(self._window)
        self._show_in_front(self.formats)

    def _show_in_front(self, page: HelpWindow) -> None:
        page.show()
        page.raise_()
        page.activateWindow()

    def show_shortcuts(self) -> None:
        """Show all shortcuts."""
        ShortcutSheet(ACTIONS, self._window).open()

    def show_about(self) -> None:
        """Show version and licence."""
        show_about(self._window)

    def ask_what(self) -> None:
        """Let the next click say what it is on."""
        QWhatsThis.enterWhatsThisMode()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Follow the link at the end of an explanation."""
        if isinstance(event, QWhatsThisClickedEvent):
            QWhatsThis.hideText()
            self.show_page()
            return True
        return super().eventFilter(watched, event)
