"""How things are drawn, from the View menu: colors, trails, mesh, camera path, turntable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject

if TYPE_CHECKING:
    from .main_window import MainWindow


class Looks(QObject):
    """Changes the appearance that a window's display draws with."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def change(self, **changes: Any) -> None:
        """Change some fields of the appearance."""
        display = self._window.display
        display.set_appearance(display.appearance.changed(**changes))

    def set_layer(self, layer: str, on: bool) -> None:
        """Show a layer or not."""
        display = self._window.display
        display.set_appearance(display.appearance.with_layer(layer, on))

    def color_by_error(self, on: bool) -> None:
        """Color points by their error, or by their role."""
        self.change(color_by="error" if on else "role")
