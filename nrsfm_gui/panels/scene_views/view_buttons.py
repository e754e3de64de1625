"""The small buttons in the corner of the 3-D view."""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QToolButton, QWidget

if TYPE_CHECKING:
    from nrsfm_gui.model.theme import Theme

SHEET = Template("""
ViewButtons { background: $panel; }
QToolButton { background: $raised; color: $muted; border: 1px solid $border; border-radius: 4px;
              padding: 2px 7px; }
QToolButton:hover { color: $text; border-color: $muted; }
QToolButton:checked { color: $text; border-color: $accent; }
QToolButton:disabled { color: $border; background: transparent; }
""")
PRESETS = {
    "front": ("Front", "Look along the z axis"),
    "side": ("Side", "Look against the x axis"),
    "top": ("Top", "Look down the y axis"),
    "iso": ("Iso", "Look from the upper right"),
}


class ViewButtons(QWidget):
    """Axis presets, orthographic projection, the camera of the frame, turntable, appearance, and fit."""

    preset_requested = pyqtSignal(str)
    orthographic_requested = pyqtSignal(bool)
    lock_requested = pyqtSignal(bool)
    turntable_requested = pyqtSignal(bool)
    look_requested = pyqtSignal()
    fit_requested = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # Opaque, so that the picture behind them can change without a need to paint them again.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(3)
        self._presets: list[QToolButton] = []
        for name, (text, tip) in PRESETS.items():
            button = self._add(text, tip, name)
            self._presets.append(button)
            button.clicked.connect(lambda _, name=name: self.preset_requested.emit(name))
        self._row.addSpacing(6)
        self._orthographic = self._add("Ortho", "Orthographic: project along parallel rays", "orthographic")
        self._orthographic.setCheckable(True)
        self._orthographic.clicked.connect(self.orthographic_requested)
        self._lock = self._add(
            "Camera", "See through the camera of the current frame, as in the 2-D panel", "lock"
        )
        self._lock.setCheckable(True)
        self._lock.clicked.connect(self.lock_requested)
        self._turntable = self._add("Turn", "Turn slowly around the object (R)", "turntable")
        self._turntable.setCheckable(True)
        self._turntable.clicked.connect(self.turntable_requested)
        self._row.addSpacing(6)
        self.look = self._add("Look…", "Colors, trails, mesh, sizes and layers (B)", "look")
        self.look.clicked.connect(lambda _on: self.look_requested.emit())
        fit = self._add("Fit", "Show the whole sequence (double-click)", "fit")
        fit.clicked.connect(self.fit_requested)

    def set_state(self, *, orthographic: bool, locked: bool, lockable: bool, turning: bool) -> None:
        """Show what is on; `lockable` is whether the camera of the frame is known."""
        self._orthographic.setChecked(orthographic)
        self._lock.setChecked(locked)
        self._lock.setEnabled(lockable)
        self._turntable.setChecked(turning)

    def set_room(self, width: int) -> None:
        """Leave the presets to their keys where there is not enough room for all."""
        for button in self._presets:
            button.show()
        enough = self.sizeHint().width() <= width
        for button in self._presets:
            button.setVisible(enough)

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self.setStyleSheet(
            SHEET.substitute(
                panel=theme.panel,
                raised=theme.raised,
                muted=theme.muted,
                border=theme.border,
                text=theme.text,
                accent=theme.accent,
            )
        )

    def _add(self, text: str, tip: str, name: str) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setToolTip(tip)
        button.setObjectName(name)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setCursor(Qt.CursorShape.ArrowCursor)
        self._row.addWidget(button)
        return button
