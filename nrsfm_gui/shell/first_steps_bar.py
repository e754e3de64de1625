"""A line over the 3-D view with the first steps of a new user; it covers nothing and can be put away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from nrsfm_gui.widgets.fields import tool_button
from nrsfm_gui.widgets.style import Themed

if TYPE_CHECKING:
    from collections.abc import Collection

    from PyQt6.QtGui import QResizeEvent

    from nrsfm_gui.model.theme import Theme


class StepsStrip(Themed, QFrame):
    """Shows short names of steps, those done with a mark, and one sentence about the one to do now.

    Signals
    -------
    shown_where()
        the place of the step is to be shown.
    dismissed()
        the steps are to be put away for good.
    """

    shown_where = pyqtSignal()
    dismissed = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("first steps")
        self.setProperty("role", "bar")
        self.setProperty("edge", "done")
        self.setAccessibleName("First steps")
        self._names = QLabel()
        self._names.setTextFormat(Qt.TextFormat.RichText)
        self._sentence = QLabel()
        self._sentence.setWordWrap(True)
        self._sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._where = QPushButton("Show me where")
        self._where.setAccessibleName("Show me where")
        self._where.setToolTip("Point out what this step is about")
        self._where.clicked.connect(self.shown_where)
        close = tool_button(
            "✕", "Put the first steps away; Preferences shows them again", "Put the first steps away"
        )
        close.clicked.connect(self.dismissed)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 5, 8, 5)
        row.setSpacing(14)
        row.addWidget(self._names)
        row.addWidget(self._sentence, 1)
        row.addWidget(self._where)
        row.addWidget(close)
        self._steps: Collection[tuple[str, bool]] = ()
        self._follow_theme()
        self.hide()

    @property
    def sentence(self) -> str:
        """The sentence on view, "" where the strip is hidden."""
        return "" if self.isHidden() else self._sentence.text()

    def set_steps(self, steps: Collection[tuple[str, bool]], sentence: str) -> None:
        """Show names of steps and whether they are done; the sentence is about the first that is not."""
        if self.isVisible():  # a shorter sentence leaves the view below where it is
            self.setMinimumHeight(self.height())
        self._steps = steps
        self._sentence.setText(sentence)
        self._where.setVisible(not all(done for _name, done in steps))
        self._apply_theme(self._theme)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Take the height that another width asks for."""
        super().resizeEvent(event)
        if event is not None and event.size().width() != event.oldSize().width():
            self.setMinimumHeight(0)

    def _apply_theme(self, theme: Theme) -> None:
        parts, current = [], next((k for k, (_name, done) in enumerate(self._steps) if not done), -1)
        for index, (name, done) in enumerate(self._steps):
            if done:
                parts.append(f"<span style='color:{theme.reprojected}'>✓ {name}</span>")
            elif index == current:
                parts.append(f"<b>{index + 1} {name}</b>")
            else:
                parts.append(f"<span style='color:{theme.muted}'>{index + 1} {name}</span>")
        self._names.setText("&nbsp;&nbsp;&nbsp;".join(parts))
