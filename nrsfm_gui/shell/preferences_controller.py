"""Preferences at work: kept in the store, given to the parts that they concern, changed in their dialog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject
from PyQt6.QtGui import QGuiApplication

from core.solvers import set_solver_threads
from nrsfm_gui.model.preferences import SIZES, SYSTEM, Preferences
from nrsfm_gui.shell.preferences_dialog import PreferencesDialog
from nrsfm_gui.widgets.fit_to_screen import has_room, show_whole
from nrsfm_gui.widgets.style import theme_named

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow


class Preferring(QObject):
    """Owns the dialog of preferences."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._dialog: PreferencesDialog | None = None
        self._size = window.store.preferences().size  # in force until the next start
        # Points and colors are set only where they are not as at first: a saved view is not overruled.
        usual, now = Preferences(), window.store.preferences()
        for name in ("point_size", "color_map"):
            if getattr(now, name) != getattr(usual, name):
                self._apply(name, now)
        self._apply("threads", now)
        hints = QGuiApplication.styleHints()
        if hints is not None:
            hints.colorSchemeChanged.connect(self._follow_system)

    def show(self) -> None:
        """Show the dialog, and leave everything else usable."""
        if self._dialog is None:
            self._dialog = PreferencesDialog(self._window)
            self._dialog.changed.connect(self.change)
            self._dialog.defaults_requested.connect(self.restore_defaults)
            self._dialog.first_steps_requested.connect(lambda: self._window.habits.first_steps.restart())
        present = self._window.store.preferences()
        self._dialog.set_sizes({size for size in SIZES if size in (100, present.size) or self._fits(size)})
        self._dialog.set_preferences(present)
        show_whole(self._dialog)

    @property
    def dialog(self) -> PreferencesDialog | None:
        """The dialog, where it was shown once."""
        return self._dialog

    def change(self, name: str, value: object) -> None:
        """Change one preference: keep it, and let it take effect."""
        preferences = self._window.store.preferences().changed(name, value)
        self._window.store.set_preferences(preferences)
        self._apply(name, preferences)

    def check_size(self) -> None:
        """Say so where the window is too large for its screen because all is larger than usual."""
        if self._size > 100 and not has_room(self._window):
            self._window.messages.warn(
                f"The window does not fit this screen with text and buttons at {self._size} %; "
                "a smaller size is taken at the next start.",
                action=("Preferences", self.show),
            )

    def _fits(self, size: int) -> bool:
        return has_room(self._window, size / self._size)

    def restore_defaults(self) -> None:
        """Set all preferences as they were at first."""
        before, usual = self._window.store.preferences(), Preferences()
        self._window.store.set_preferences(usual)
        for name in vars(usual):
            if getattr(before, name) != getattr(usual, name):
                self._apply(name, usual)
        if self._dialog is not None:
            self._dialog.set_preferences(usual)

    def _follow_system(self, _scheme: object) -> None:
        """Take the desktop's light or dark where that is what the person wants."""
        if self._window.store.theme() == SYSTEM:
            self._apply("theme", self._window.store.preferences())

    def _apply(self, name: str, preferences: Preferences) -> None:
        """Let one preference take effect; the others are read by those who need them."""
        window = self._window
        if name == "theme":
            window.session.set_theme(theme_named(preferences.theme))
        elif name == "point_size":
            window.looks.change(point_size=preferences.point_size)
        elif name == "color_map":
            window.looks.change(color_map=preferences.color_map)
        elif name == "threads":
            set_solver_threads(preferences.threads)
