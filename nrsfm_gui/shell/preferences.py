"""The preferences: their dialog, and the controller that applies and stores them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QVBoxLayout, QWidget

from core.io.readers import GIGABYTE, set_memory_limit
from core.solvers import set_solver_threads
from nrsfm_gui.model.appearance import COLOR_MAPS, POINT_SIZES
from nrsfm_gui.model.preferences import (
    MOST_AUTOSAVE_SECONDS,
    MOST_FILE_MEMORY,
    PROCESSORS,
    SIZES,
    SYSTEM,
    Preferences,
)
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.widgets.dialogs import fits_on_screen, show_on_screen
from nrsfm_gui.widgets.fields import ComboBox, DoubleSpinBox, SpinBox, form_layout, with_tip
from nrsfm_gui.widgets.labels import PlainLabel
from nrsfm_gui.widgets.style import theme_named

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

    from nrsfm_gui.model.app_store import AppStore
    from nrsfm_gui.model.session import Session

THEMES = {"system": "As the system", "dark": "Dark", "light": "Light"}
NumberBox = TypeVar("NumberBox", SpinBox, DoubleSpinBox)
RENDERERS = {"auto": "Automatic", "opengl": "OpenGL", "software": "Software"}


class PreferencesDialog(QDialog):
    """Shows preferences and lets them be changed; never modal."""

    changed = pyqtSignal(str, object)  # name of a field of `Preferences` and its new value
    defaults_requested = pyqtSignal()  # all preferences are to be as they were at first
    first_steps_requested = pyqtSignal()  # the card with the first steps is wanted again

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Preferences")
        self._showing = False
        self._boxes: dict[str, ComboBox | SpinBox | DoubleSpinBox] = {}  # by the fields of `Preferences`
        layout = QVBoxLayout(self)
        self._form = form_layout()
        layout.addLayout(self._form)
        self._heading("Looks")
        self.theme = self._choice("theme", "Theme", THEMES, "Colors of the window")
        self.size_of_all = self._choice(
            "size", "Text and buttons", {size: f"{size} %" for size in SIZES},
            "Size of text, buttons and lines, in percent of what suits the screen; "
            "the variable QT_SCALE_FACTOR goes before it",
        )  # fmt: skip
        self.point_size = self._number(
            "point_size", "Size of points", DoubleSpinBox(), POINT_SIZES,
            "Times the size that suits the number of points",
        )  # fmt: skip
        self.point_size.setSingleStep(0.25)
        self.point_size.setPrefix("× ")
        maps = {name: name for name in COLOR_MAPS}
        self.color_map = self._choice("color_map", "Color map", maps, "Colors of errors, depths and the like")
        self.renderer = self._choice(
            "renderer", "3-D drawing", RENDERERS,
            "Automatic uses OpenGL where it works; software paints without it",
        )  # fmt: skip
        self._remark("Another size of text or way of drawing is used at the next start.")
        self._heading("Work")
        self.autosave_seconds = self._number(
            "autosave_seconds", "Save the session", SpinBox(), (0, MOST_AUTOSAVE_SECONDS),
            "How often the session is saved by itself, in seconds; 0 for never",
        )  # fmt: skip
        self.autosave_seconds.setPrefix("every ")
        self.autosave_seconds.setSuffix(" s")
        self.autosave_seconds.setSpecialValueText("never")
        self.threads = self._number(
            "threads", "Solver's threads", SpinBox(), (1, PROCESSORS),
            "Threads of the solver's linear algebra, from the next run on",
        )  # fmt: skip
        self._remark("One is fastest below some thousand points.")
        self.file_memory = self._number(
            "file_memory", "Memory for a file", SpinBox(), (1, MOST_FILE_MEMORY),
            "What the content of one file may need; a file that asks for more is refused",
        )  # fmt: skip
        self.file_memory.setSuffix(" GB")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        for text, tip, signal in (
            ("Restore defaults", "Set all preferences as they were at first", self.defaults_requested),
            ("Show the first steps", "Show the card with the first steps again", self.first_steps_requested),
        ):
            button = with_tip(QPushButton(text), text, tip)
            button.setAutoDefault(False)
            button.clicked.connect(signal)
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ResetRole)
        close = buttons.button(QDialogButtonBox.StandardButton.Close)
        assert close is not None
        close.setDefault(True)
        layout.addSpacing(12)
        layout.addWidget(buttons)

    def set_sizes(self, fitting: Container[int]) -> None:
        """Offer the sizes of text and buttons at which the window fits its screen."""
        for row in range(self.size_of_all.count()):
            fits, item = self.size_of_all.itemData(row) in fitting, self.size_of_all.item(row)
            item.setEnabled(fits)
            item.setToolTip("" if fits else "The window would not fit this screen")

    def set_preferences(self, preferences: Preferences) -> None:
        """Show preferences; emits nothing."""
        self._showing = True
        for name, box in self._boxes.items():
            value = getattr(preferences, name)
            if isinstance(box, ComboBox):
                box.setCurrentIndex(box.findData(value))
            else:
                box.setValue(value)
        self._showing = False

    def _on_edited(self, name: str, value: object) -> None:
        if not self._showing:
            self.changed.emit(name, value)

    def _heading(self, text: str) -> None:
        self._form.addRow(PlainLabel(text, role="heading"))

    def _remark(self, text: str) -> None:
        self._form.addRow("", PlainLabel(text, role="muted", wraps=True))

    def _choice(self, name: str, title: str, choices: Mapping[Any, str], tip: str) -> ComboBox:
        box = ComboBox()
        for key, text in choices.items():
            box.addItem(text, key)
        box.currentIndexChanged.connect(lambda _index: self._on_edited(name, box.currentData()))
        self._add(name, box, title, tip)
        return box

    def _number(self, name: str, title: str, box: NumberBox, span: tuple[Any, Any], tip: str) -> NumberBox:
        box.setRange(*span)
        box.setKeyboardTracking(False)
        box.valueChanged.connect(lambda value: self._on_edited(name, value))
        self._add(name, box, title, tip)
        return box

    def _add(self, name: str, box: ComboBox | SpinBox | DoubleSpinBox, title: str, tip: str) -> None:
        self._boxes[name] = with_tip(box, title, tip)
        box.setMinimumHeight(ComboBox().sizeHint().height())  # a spin box is lower by itself
        box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        label = PlainLabel(title)
        label.setToolTip(tip)
        label.setBuddy(box)
        self._form.addRow(label, box)


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
        present = self._store.preferences()
        fitting = {size for size in SIZES if fits_on_screen(self._window, size / self._size)}
        self.dialog.set_sizes(fitting | {100, present.size})
        self.dialog.set_preferences(present)
        show_on_screen(self.dialog)

    def change(self, name: str, value: Any) -> None:
        """Store one preference, and apply it."""
        preferences = replace(self._store.preferences(), **{name: value})
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

    def restore_defaults(self) -> None:
        """Set all preferences as they were at first."""
        before, usual = self._store.preferences(), Preferences()
        self._store.set_preferences(usual)
        for name in vars(usual):
            if getattr(before, name) != getattr(usual, name):
                self._apply(name, usual)
        if self.dialog is not None:
            self.dialog.set_preferences(usual)

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
