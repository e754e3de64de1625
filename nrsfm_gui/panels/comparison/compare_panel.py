"""The bar above the 3-D view while two runs are compared: which two, in which mode, and the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QPainter, QPixmap
from PyQt6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from nrsfm_gui.widgets.fields import ComboBox, explained, filled, tool_button
from nrsfm_gui.widgets.labels import ElidedLabel, PlainLabel
from nrsfm_gui.widgets.style import Themed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nrsfm_gui.model.theme import Theme

MODES = {"overlay": "Overlay", "side": "Side by side", "difference": "Difference"}
TIPS = {
    "overlay": "Draw both runs in one view, the other one in its own color",
    "side": "Draw both runs side by side, seen from the same viewpoint",
    "difference": "Color every point by its distance from the same point of the other run; "
    "the heat-strip shows these distances",
}
LETTERS = 22  # of the name of a run
SWATCH = 10


class ComparePanel(Themed, QFrame):
    """Chooses the second run and the way of comparing."""

    run_chosen = pyqtSignal(str)  # key of the second run, of those that are offered
    mode_chosen = pyqtSignal(str)  # a key of MODES
    swap_requested = pyqtSignal()  # let the two change their places; compare no longer
    closed = pyqtSignal()
    table_requested = pyqtSignal(bool)  # show what differs, or do not

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self.setProperty("edge", "other")
        self._first = PlainLabel()
        self._first.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._first.setToolTip("The run that is shown; choose another one in the list of runs")
        self._swatches = PlainLabel(), PlainLabel()
        tip = "The run to compare with, in its own color"
        self._second = explained(ComboBox(), "Run to compare with", tip)
        self._second.setMinimumContentsLength(10)
        self._second.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._second.setMaximumWidth(240)
        self._second.activated.connect(lambda index: self.run_chosen.emit(self._second.itemData(index)))
        self._modes: dict[str, QToolButton] = {}
        group = QButtonGroup(self)
        for mode, title in MODES.items():
            button = self._modes[mode] = _button(title, TIPS[mode])
            button.setCheckable(True)
            button.clicked.connect(lambda _on, mode=mode: self.mode_chosen.emit(mode))
            group.addButton(button)
        self._summary = ElidedLabel()
        self._more = _button("What differs", "List the parameters and numbers in which the two runs differ")
        self._more.setCheckable(True)
        self._more.setArrowType(Qt.ArrowType.RightArrow)
        self._more.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._more.toggled.connect(self._on_more_toggled)
        self._build()
        self.set_mode("overlay")
        self._follow_theme()

    @property
    def second(self) -> str:
        """The name of the second run."""
        return self._second.currentText()

    # -- setters --------------------------------------------------------------------------------------------

    def set_runs(self, first: str, others: Mapping[str, str], second: str) -> None:
        """Name the run that is shown, and offer the others by key and name."""
        self._first.setText(_short(first))
        self._first.setAccessibleName(first)
        offered = [(self._second.itemData(k), self._second.itemText(k)) for k in range(self._second.count())]
        if offered != list(others.items()):
            self._second.clear()
            for key, name in others.items():
                self._second.addItem(name, key)
        self._second.setCurrentIndex(self._second.findData(second))

    def set_mode(self, mode: str) -> None:
        """Show the way of comparing, a key of MODES. Emits nothing."""
        self._modes[mode].setChecked(True)

    def set_summary(self, text: str) -> None:
        """Show the distance between the two runs."""
        self._summary.set_full_text(text)

    def _apply_theme(self, theme: Theme) -> None:
        for label, color in zip(self._swatches, (theme.estimate, theme.other), strict=True):
            label.setPixmap(_swatch(color))

    # -- construction ---------------------------------------------------------------------------------------

    def _build(self) -> None:
        swap = _button("⇄", "Let the two runs change their places")
        swap.clicked.connect(self.swap_requested)
        close = _button("Stop comparing", "Show one run alone (Escape, or Ctrl+D)")
        close.clicked.connect(self.closed)
        chosen = (self._swatches[0], self._first, swap, self._swatches[1], self._second)
        runs = filled(QHBoxLayout(), *chosen, None, *self._modes.values(), spacing=4)
        runs.addSpacing(8)
        runs.addWidget(close)
        below = filled(QHBoxLayout(), self._summary, self._more, grows=self._summary)
        filled(QVBoxLayout(self), runs, below, spacing=1, margins=(10, 3, 6, 3))

    def _on_more_toggled(self, on: bool) -> None:
        self._more.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)
        self.table_requested.emit(on)


def _button(text: str, tip: str) -> QToolButton:
    return tool_button(text, tip, f"{text}: {tip}")


def _short(name: str) -> str:
    return name if len(name) <= LETTERS else name[: LETTERS - 1] + "…"


def _swatch(color: str) -> QPixmap:
    picture = QPixmap(3 * SWATCH, 3 * SWATCH)
    picture.fill(Qt.GlobalColor.transparent)
    picture.setDevicePixelRatio(3)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(color))
    painter.drawRoundedRect(QRectF(0, 2, SWATCH, SWATCH - 4), 1.5, 1.5)
    painter.end()
    return picture
