"""The preferences: their dialog, and the controller that applies and stores them."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from typing import Any

from PyQt6.QtCore import QObject, QSignalBlocker, Qt, pyqtSignal
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from core.foundation import Parameter
from core.io.readers import GIGABYTE, set_memory_limit
from core.solvers import set_solver_threads
from nrsfm_gui.model.app_store import AppStore
from nrsfm_gui.model.appearance import COLOR_MAPS
from nrsfm_gui.model.preferences import PREFERENCES, SIZES, SYSTEM, Preferences
from nrsfm_gui.model.session import Session
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.widgets.dialogs import fits_on_screen, show_on_screen
from nrsfm_gui.widgets.fields import ComboBox, DoubleSpinBox, SpinBox, form_layout, push_button, with_tip
from nrsfm_gui.widgets.labels import PlainLabel, known
from nrsfm_gui.widgets.style import theme_named

CHOICES: Mapping[str, Mapping[Any, str]] = {  # the values of a preference that are offered, and their texts
    "theme": {SYSTEM: "As the system", "dark": "Dark", "light": "Light"},
    "size": {size: f"{size} %" for size in SIZES},
    "color_map": {name: name for name in COLOR_MAPS},
    "renderer": {"auto": "Automatic", "opengl": "OpenGL", "software": "Software"},
}
NUMBERS: Mapping[str, Mapping[str, Any]] = {  # properties of the boxes of numbers
    "point_size": {"singleStep": 0.25, "prefix": "× "},
    "autosave_seconds": {"prefix": "every ", "suffix": " s", "specialValueText": "never"},
    "file_memory": {"suffix": " GB"},
}
REMARKS = {  # below a preference
    "renderer": "Another size of text or way of drawing is used at the next start.",
    "threads": "One is fastest below some thousand points.",
}


class PreferencesDialog(QDialog):
    """Shows preferences and lets them be changed; never modal."""

    changed = pyqtSignal(str, object)  # name of a field of `Preferences` and its new value
    defaults_requested = pyqtSignal()  # all preferences are to be as they were at first
    first_steps_requested = pyqtSignal()  # the card with the first steps is wanted again

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Preferences")
        self.boxes: dict[str, ComboBox | SpinBox | DoubleSpinBox] = {}  # by the fields of `Preferences`
        layout = QVBoxLayout(self)
        form = form_layout()
        layout.addLayout(form)
        section = ""
        for name, described in PREFERENCES.items():
            if described.section != section:
                section = described.section
                form.addRow(PlainLabel(section, role="heading"))
            label = PlainLabel(described.title)
            label.setToolTip(described.tip)
            label.setBuddy(self._make_box(described))
            form.addRow(label, self.boxes[name])
            if name in REMARKS:
                form.addRow("", PlainLabel(REMARKS[name], role="muted", wraps=True))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        for text, tip, signal in (
            ("Restore defaults", "Set all preferences as they were at first", self.defaults_requested),
            ("Show the first steps", "Show the card with the first steps again", self.first_steps_requested),
        ):
            button = push_button(text, tip, signal.emit)
            button.setAutoDefault(False)
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ResetRole)
        known(buttons.button(QDialogButtonBox.StandardButton.Close)).setDefault(True)
        layout.addSpacing(12)
        layout.addWidget(buttons)

    def set_sizes(self, fitting: Container[int]) -> None:
        """Offer the sizes of text and buttons at which the window fits its screen."""
        box = self.boxes["size"]
        assert isinstance(box, ComboBox)  # as CHOICES has it
        for row, size in enumerate(SIZES):
            box.item(row).setEnabled(size in fitting)
            box.item(row).setToolTip("" if size in fitting else "The window would not fit this screen")

    def set_preferences(self, preferences: Preferences) -> None:
        """Show preferences; emits nothing."""
        for name, box in self.boxes.items():
            value = getattr(preferences, name)
            with QSignalBlocker(box):
                if isinstance(box, ComboBox):
                    box.setCurrentIndex(box.findData(value))
                else:
                    box.setValue(value)

    def _make_box(self, described: Parameter) -> QWidget:
        name = described.name
        box: ComboBox | SpinBox | DoubleSpinBox
        if name in CHOICES:
            box = choice = ComboBox()
            for key, text in CHOICES[name].items():
                box.addItem(text, key)
            box.currentIndexChanged.connect(lambda _at: self.changed.emit(name, choice.currentData()))
        else:
            if described.integer:
                box = SpinBox()
                box.setRange(int(described.least), int(described.most))
            else:
                box = DoubleSpinBox()
                box.setRange(described.least, described.most)
            box.setKeyboardTracking(False)
            box.pyqtConfigure(**NUMBERS.get(name, {}))
            box.valueChanged.connect(lambda value: self.changed.emit(name, value))
        box.setMinimumHeight(ComboBox().sizeHint().height())  # a spin box is lower by itself
        box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.boxes[name] = with_tip(box, described.title, described.tip)
        return box


class PreferencesController(QObject):
    """Owns the dialog of preferences."""

    def __init__(
        self, session: Session, store: AppStore, window: QWidget, *, restart_first_steps: Callable[[], object]
    ) -> None:
        super().__init__(window)
        self._session, self._store, self._window = session, store, window
        self._notifier, self._restart_first_steps = session.notifier, restart_first_steps
        self.dialog: PreferencesDialog | None = None  # made when it is first shown
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
        if self.dialog is None:
            self.dialog = PreferencesDialog(self._window)
            self.dialog.changed.connect(self.change)
            self.dialog.defaults_requested.connect(self.restore_defaults)
            self.dialog.first_steps_requested.connect(self._restart_first_steps)
        present = self._in_force()
        fitting = {size for size in SIZES if fits_on_screen(self._window, size / self._size)}
        self.dialog.set_sizes(fitting | {100, present.size})
        self.dialog.set_preferences(present)
        show_on_screen(self.dialog)

    def _in_force(self) -> Preferences:
        """Return the preferences with the theme on view: an option or a session may have brought it."""
        stored, theme = self._store.preferences(), self._session.theme
        return stored if theme_named(stored.theme) is theme else replace(stored, theme=theme.name)

    def change(self, name: str, value: Any) -> None:
        """Store one preference, and apply it."""
        preferences = replace(self._store.preferences(), **{name: value})
        self._store.set_preferences(preferences)
        self._apply(name, preferences)

    def set_light(self, light: bool) -> None:
        """Choose the light theme or the dark one, and store it."""
        self._session.set_theme(LIGHT if light else DARK)
        self._store.theme = self._session.theme.name

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

    def restore_defaults(self) -> None:
        """Set all preferences as they were at first."""
        for name, value in vars(Preferences()).items():
            if getattr(self._in_force(), name) != value:
                self.change(name, value)
        if self.dialog is not None:
            self.dialog.set_preferences(Preferences())

    def _on_color_scheme_changed(self, _scheme: object) -> None:
        """Use the light or dark scheme of the desktop where the preferences say so."""
        if self._store.theme == SYSTEM:
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
