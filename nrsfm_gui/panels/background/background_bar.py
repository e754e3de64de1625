"""The bar below the 2-D view: name, opacity and frame offset of the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from nrsfm_gui.widgets.fields import Slider, SpinBox, tool_button
from nrsfm_gui.widgets.labels import ElidedLabel

if TYPE_CHECKING:
    from nrsfm_gui.model.theme import Theme

MOST_OFFSET = 1_000_000
SLIDER_WIDTHS = (36, 90)


class BackgroundBar(QFrame):
    """Opacity and frame offset of a background; hidden where there is none.

    Signals
    -------
    opacity_requested(float)
        0 (not seen) to 1.
    offset_requested(int)
        frames by which the background is ahead of the tracks.
    remove_requested()
    """

    opacity_requested = pyqtSignal(float)
    offset_requested = pyqtSignal(int)
    remove_requested = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = ElidedLabel()
        self._opacity = Slider(Qt.Orientation.Horizontal)
        self._opacity.setRange(0, 100)
        self._opacity.setMinimumWidth(SLIDER_WIDTHS[0])
        self._opacity.setMaximumWidth(SLIDER_WIDTHS[1])
        self._opacity.setToolTip("Opacity of the background, 0 to 100 %")
        self._opacity.setAccessibleName("Opacity of the background in percent")
        self._opacity.valueChanged.connect(lambda value: self.opacity_requested.emit(value / 100))
        self._offset = SpinBox()
        self._offset.setRange(-MOST_OFFSET, MOST_OFFSET)
        self._offset.setKeyboardTracking(False)
        self._offset.setToolTip("Frame 1 of the tracks is frame 1 + this of the background")
        self._offset.setAccessibleName("Frame offset of the background")
        self._offset.setFixedWidth(66)
        self._offset.valueChanged.connect(self.offset_requested)
        remove = tool_button("✕", "Remove the background", "Remove the background")
        remove.clicked.connect(lambda _checked: self.remove_requested.emit())
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 2, 4, 2)
        layout.setSpacing(6)
        layout.addWidget(self._name, 1)
        for title, editor in (("opacity", self._opacity), ("offset", self._offset)):
            label = QLabel(title)
            label.setProperty("role", "muted")
            label.setToolTip(editor.toolTip())
            label.setBuddy(editor)
            layout.addWidget(label)
            layout.addWidget(editor, 1 if editor is self._opacity else 0)
        layout.addWidget(remove)
        self.hide()

    def set_values(self, words: str, opacity: float, offset: int) -> None:
        """Show what the background is. Emits nothing."""
        self._name.set_whole(words)
        for editor, value in ((self._opacity, round(100 * opacity)), (self._offset, offset)):
            editor.blockSignals(True)
            editor.setValue(value)
            editor.blockSignals(False)

    def set_theme(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self.setStyleSheet(f"BackgroundBar {{ background: {theme.raised}; border: 0; }}")
