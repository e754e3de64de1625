"""A line below the parameters where they are not those of the run that is shown."""

from __future__ import annotations

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from nrsfm_gui.widgets.labels import ElidedLabel


class DiffersBar(QFrame):
    """Says which parameters differ, and offers those of the run.

    Signals
    -------
    wanted(int)
        the number of the run whose parameters are to be used.
    """

    wanted = pyqtSignal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._number = -1
        self.text = ElidedLabel()
        self.text.setProperty("role", "warning")
        self.use = QPushButton()
        self.use.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.use.clicked.connect(lambda _checked: self.wanted.emit(self._number))
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 3, 10, 3)
        row.addWidget(self.text, 1)
        row.addWidget(self.use)
        self.hide()

    def set_difference(self, number: int, names: str) -> None:
        """Name what differs from a run: "rank, xi"; "" hides the line."""
        self._number = number
        self.text.set_whole(f"Not those of run {number}: {names}")
        self.use.setText(f"Use run {number}'s")
        tip = f"Run {number} is shown, and it was made with other parameters than these: {names}."
        self.use.setToolTip(f"{tip}\nPress to put its parameters here.")
        self.use.setAccessibleName(f"Use the parameters of run {number}")
        self.setToolTip(tip)
        self.setVisible(bool(names))
