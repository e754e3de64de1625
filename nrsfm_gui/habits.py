"""What every application of a kind has, beside what this one is about: finding actions, preferences, help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from .palette import Palette

if TYPE_CHECKING:
    from .main_window import MainWindow
    from .theme import Theme


class Habits(QObject):
    """Owns the parts of a window that serve it without being about a sequence."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.palette = Palette(window)

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self.palette.set_theme(theme)
