"""The line above the plot of the loss: what is under the mouse, what the axis counts, what is in view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QWidget

from nrsfm_gui.widgets.fields import ComboBox, tool_button
from nrsfm_gui.widgets.labels import ElidedLabel

if TYPE_CHECKING:
    from collections.abc import Iterable


class LossHeader(QWidget):
    """Buttons and a reading.

    Signals
    -------
    axis_chosen(str), fit_requested(), final_requested(bool), all_requested(bool), residuals_requested(bool),
    newest_requested()
        what was pressed.
    """

    axis_chosen = pyqtSignal(str)
    fit_requested = pyqtSignal()
    final_requested = pyqtSignal(bool)
    all_requested = pyqtSignal(bool)
    residuals_requested = pyqtSignal(bool)
    newest_requested = pyqtSignal()

    def __init__(self, axes: Iterable[str]) -> None:
        super().__init__()
        self.reading = ElidedLabel()
        self.reading.setProperty("role", "muted")
        self._moment = ""
        self._newest = tool_button("Newest", "go back to the newest iteration, and to its parameters")
        self._newest.clicked.connect(lambda _checked: self.newest_requested.emit())
        self._newest.hide()
        policy = self._newest.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # the panel would become wider with it
        self._newest.setSizePolicy(policy)
        self._axis = ComboBox()
        self._axis.setAccessibleName("Horizontal axis of the loss")
        self._axis.addItems(list(axes))
        self._axis.setToolTip("what the horizontal axis counts")
        self._axis.currentTextChanged.connect(self.axis_chosen)
        self._residuals = tool_button(
            "Residuals", "ADMM's relative residuals too: dashed primal, dotted dual"
        )
        self._residuals.hide()
        self._fit = tool_button("Fit", "show the whole run again, and follow it")
        self._final = tool_button("Final", "follow only the part after the rotations were chosen")
        self._all = tool_button("All", "follow all runs, to compare them")
        for button, signal in (
            (self._residuals, self.residuals_requested),
            (self._final, self.final_requested),
            (self._all, self.all_requested),
        ):
            button.setCheckable(True)
            button.clicked.connect(signal)
        self._fit.clicked.connect(lambda _checked: self.fit_requested.emit())
        bar = QHBoxLayout(self)
        bar.setContentsMargins(8, 2, 4, 2)
        bar.addWidget(self.reading, 1)
        for widget in (self._newest, self._residuals, self._axis, self._fit, self._final, self._all):
            bar.addWidget(widget)

    @property
    def residuals(self) -> bool:
        """Whether residuals are asked for."""
        return self._residuals.isChecked()

    def set_reading(self, text: str) -> None:
        """Show what is under the mouse; "" shows which iteration is looked at."""
        self.reading.set_whole(text or self._moment)

    def set_moment(self, text: str, *, newest: bool) -> None:
        """Say which iteration is looked at, with the way back to the newest one."""
        if self.reading.whole in ("", self._moment):
            self.reading.set_whole(text)
        self._moment = text
        self._newest.setVisible(not newest)

    def set_axis(self, axis: str) -> None:
        """Show what the axis counts."""
        self._axis.setCurrentText(axis)

    def set_followed(self, *, final: bool, all_runs: bool) -> None:
        """Show what the range follows."""
        self._final.setChecked(final)
        self._all.setChecked(all_runs)

    def offer_residuals(self, there: bool) -> None:
        """Show the button for residuals, or hide it where there are none."""
        self._residuals.setVisible(there)
