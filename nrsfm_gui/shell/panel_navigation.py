"""Moving the focus from panel to panel by keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, Qt
from PyQt6.QtWidgets import QApplication, QDockWidget, QWidget

from nrsfm_gui.shell.layout import docks, is_in_front

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QMainWindow


class PanelNavigation(QObject):
    """Moves the focus between the panels that can be seen: from the left to the right, then the bottom.

    Parameters
    ----------
    window
        has the docks.
    first, last
        the widgets before and after the docks.
    """

    def __init__(self, window: QMainWindow, *, first: QWidget, last: QWidget) -> None:
        super().__init__(window)
        self._window, self._first, self._last = window, first, last

    def current(self) -> QWidget | None:
        """Return the panel that has the focus, None where none has."""
        focused = QApplication.focusWidget()
        return next((panel for panel in self._all() if panel is focused or panel.isAncestorOf(focused)), None)

    def go(self, by: int) -> None:
        """Move the focus by a number of panels."""
        panels = self._all()
        now = self.current()
        place = panels.index(now) + by if now in panels else 0
        self._focus(panels[place % len(panels)])

    def show(self, dock: QDockWidget) -> None:
        """Show a dock in front of those that share its place, and move the focus into it."""
        dock.show()
        dock.raise_()
        QApplication.sendPostedEvents()  # its parts are laid out now
        self._focus(dock)

    def _focus(self, panel: QWidget) -> None:
        _first_to_focus(panel).setFocus(Qt.FocusReason.TabFocusReason)
        panel.activateWindow()

    def _all(self) -> list[QWidget]:
        seen = [dock for dock in docks(self._window) if is_in_front(dock)]
        return [self._first, *seen, self._last]


def _first_to_focus(panel: QWidget) -> QWidget:
    """Return the part of a panel that gets the focus: the first that the tab key would reach."""
    for part in panel.findChildren(QWidget):
        reachable = part.focusPolicy() & Qt.FocusPolicy.TabFocus
        if reachable and part.isVisible() and part.isEnabled() and not part.visibleRegion().isEmpty():
            return part
    if panel.focusPolicy() == Qt.FocusPolicy.NoFocus:
        panel.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return panel
