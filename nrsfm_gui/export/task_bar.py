"""Progress of tasks over the view: title, progress, time left, Cancel."""

from __future__ import annotations

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from nrsfm_gui.widgets.fields import tool_button
from nrsfm_gui.widgets.labels import ElidedLabel, PlainLabel

STEPS = 1000
BAR_WIDTH = 220
FLOATING_WIDTH = 640
CLOSE = "Close this: what is being written goes on"


class TaskBar(QFrame):
    """A line for every task; hidden while there is none. A floating one is a small window of its own."""

    cancel_requested = pyqtSignal(object)  # the key of a task

    def __init__(self, parent: QWidget | None = None, *, floating: bool = False) -> None:
        super().__init__(parent)
        if floating:
            self.setWindowFlag(Qt.WindowType.Tool)
            self.setWindowTitle("Exporting")
            self.setMinimumWidth(FLOATING_WIDTH)
        self.setProperty("role", "banner")
        self._rows: dict[int, _TaskRow] = {}
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 8, 4)
        self._layout = QVBoxLayout()
        self._layout.setSpacing(2)
        row.addLayout(self._layout, 1)
        if not floating:  # which has one of its window
            close = tool_button("✕", CLOSE, CLOSE, keyboard=False)
            close.clicked.connect(self.hide)
            row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def has_task(self, key: int) -> bool:
        """Return whether a task has a line."""
        return key in self._rows

    def show_task(self, key: int, title: str, progress: str, share: float) -> None:
        """Show the progress of a task; a share below 0 is unknown."""
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = _TaskRow(title)
            row.cancel.clicked.connect(lambda _checked: self.cancel_requested.emit(key))
            self._layout.addWidget(row)
            self._show()
        row.show_progress(title, progress, share)

    def _show(self) -> None:
        """Show the bar; a floating one over the lower edge of its window."""
        parent = self.parentWidget()
        if self.isWindow() and parent is not None and not self.isVisible():
            size, below = self.sizeHint(), parent.frameGeometry()
            self.move(below.center().x() - size.width() // 2, below.bottom() - 3 * size.height())
        self.show()

    def remove_task(self, key: int) -> None:
        """Remove the row of a task."""
        row = self._rows.pop(key, None)
        if row is not None:
            row.hide()
            self._layout.removeWidget(row)
            row.deleteLater()
        if not self._rows:
            self.hide()


class _TaskRow(QWidget):
    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = ElidedLabel()
        self._progress = PlainLabel()
        self._progress.setProperty("role", "muted")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(BAR_WIDTH)
        self._bar.setAccessibleName(title)
        self._bar.setToolTip("Share of the frames that are written")
        self.cancel = QPushButton("Cancel")
        self.cancel.setToolTip("Stop; nothing half-written is left")
        self.cancel.setAccessibleName(f"Cancel: {title}")
        self.cancel.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        layout.addWidget(self._title, 1)
        for part in (self._progress, self._bar, self.cancel):
            layout.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_progress(self, title: str, progress: str, share: float) -> None:
        self._title.set_full_text(title)
        self._progress.setText(progress)
        if share < 0:
            self._bar.setRange(0, 0)
        else:
            self._bar.setRange(0, STEPS)
            self._bar.setValue(round(STEPS * share))
