"""The preferences: stored, applied to the parts of the window, changed in their dialog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject
from PyQt6.QtGui import QGuiApplication

from core.io.readers import GIGABYTE, set_memory_limit
from core.solvers import set_solver_threads
from nrsfm_gui.model.preferences import SIZES, SYSTEM, Preferences
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.shell.preferences_dialog import PreferencesDialog
from nrsfm_gui.widgets.fit_to_screen import fits_on_screen, show_on_screen
from nrsfm_gui.widgets.style import theme_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from PyQt6.QtWidgets import QWidget

    from nrsfm_gui.model.app_store import AppStore
    from nrsfm_gui.model.session import Session


class PreferencesController(QObject):
    """Owns the dialog of preferences."""

    def __init__(
        self, session: Session, store: AppStore, window: QWidget, *, restart_first_steps: Callable[[], object]
    ) -> None:
        super().__init__(window)
        self._session, self._store, self._window = session, store, window
        self._notifier, self._restart_first_steps = session.notifier, restart_first_steps
        self._dialog: PreferencesDialog | None = None
        self._size = store.preferences().size  # in force until the next start
        # Only where they are not as at first: a saved view and the environment are not overruled.
        usual, now = Preferences(), store.preferences()
        for name in ("point_size", "color_map", "file_memory"):
            if getattr(now, name) != getattr(usual, name):
                self._apply(name, now)
        self._apply("threads", now)
        hints = QGuiApplication.styleHints()
        if hints is not None:
            hints.colorSchemeChanged.connect(self._on_color_scheme_changed)

    def show(self) -> None:
        """Show the dialog, and leave everything else usable."""
        if self._dialog is None:
            self._dialog = PreferencesDialog(self._window)
            self._dialog.changed.connect(self.change)
            self._dialog.defaults_requested.connect(self.restore_defaults)
            self._dialog.first_steps_requested.connect(self._restart_first_steps)
        present = self._store.preferences()
        self._dialog.set_sizes({size for size in SIZES if size in (100, present.size) or self._fits(size)})
        self._dialog.set_preferences(present)
        show_on_screen(self._dialog)

    @property
    def dialog(self) -> PreferencesDialog | None:
        """The dialog, where it was shown once."""
        return self._dialog

    def change(self, name: str, value: object) -> None:
        """Store one preference, and apply it."""
        preferences = self._store.preferences().changed(name, value)
        self._store.set_preferences(preferences)
        self._apply(name, preferences)

    def set_light(self, light: bool) -> None:
        """Choose the light theme or the dark one, and store it."""
        self._session.set_theme(LIGHT if light else DARK)
        self._store.set_theme(self._session.theme.name)

    def report_refused(self) -> None:
        """Name stored settings that cannot be read, once: their defaults are in force."""
        refused = self._store.refused()
        if refused:
            self._notifier.warn(
                f"Stored settings cannot be read, and their defaults are used: {', '.join(refused)}."
            )
            self._store.forget(refused)

    def check_size(self) -> None:
        """Say so where the window is too large for its screen because all is larger than usual."""
        if self._size > 100 and not fits_on_screen(self._window):
            self._notifier.warn(
                f"The window does not fit this screen with text and buttons at {self._size} %. "
                "Choose a smaller size in the preferences; it is used from the next start on.",
                action=("Preferences", self.show),
            )

    def _fits(self, size: int) -> bool:
        return fits_on_screen(self._window, size / self._size)

    def restore_defaults(self) -> None:
        """Set all preferences as they were at first."""
        before, usual = self._store.preferences(), Preferences()
        self._store.set_preferences(usual)
        for name in vars(usual):
            if getattr(before, name) != getattr(usual, name):
                self._apply(name, usual)
        if self._dialog is not None:
            self._dialog.set_preferences(usual)

    def _on_color_scheme_changed(self, _scheme: object) -> None:
        """Use the light or dark scheme of the desktop where the preferences say so."""
        if self._store.theme() == SYSTEM:
            self._apply("theme", self._store.preferences())

    def _apply(self, name: str, preferences: Preferences) -> None:
        """Apply one preference; the others are read where they are needed."""
        session = self._session
        if name == "theme":
            session.set_theme(theme_named(preferences.theme))
        elif name in ("point_size", "color_map"):
            session.change_appearance(**{name: getattr(preferences, name)}, undoable=False)
        elif name == "threads":
            set_solver_threads(preferences.threads)
        elif name == "file_memory":
            set_memory_limit(preferences.file_memory * GIGABYTE)
