"""How much memory the application has, in the status bar; hidden where the system does not tell."""

from __future__ import annotations

from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import QLabel, QWidget

from nrsfm_gui.widgets.memory import resident_bytes

EVERY_MILLISECONDS = 2000


class MemoryLabel(QLabel):
    """Shows the memory in MB, read again every two seconds while it can be seen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Memory of this application")
        self.setToolTip("Memory that this application has in RAM, in MB (1 000 000 bytes)")
        # As wide as its widest usual text, so that the bar does not shift every two seconds.
        self.setMinimumWidth(self.fontMetrics().horizontalAdvance("8888 MB") + 12)
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MILLISECONDS)
        self._timer.timeout.connect(self.refresh)
        self._timer.start()
        self.refresh()

    def refresh(self) -> None:
        """Read the memory and show it."""
        size = resident_bytes()
        self.setVisible(size is not None)
        if size is not None:
            self.setText(f"{size / 1e6:.0f} MB")
