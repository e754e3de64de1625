"""The title bar of a dock: its name or the panel's header, and the buttons of every panel."""

from __future__ import annotations

from PyQt6.QtCore import QPoint, QSize, Qt
from PyQt6.QtGui import QPalette
from PyQt6.QtWidgets import (
    QDockWidget,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QSizePolicy,
    QToolButton,
    QWhatsThis,
    QWidget,
)

from nrsfm_gui.widgets.fields import tool_button
from nrsfm_gui.widgets.icons import icon

SIDE, ICON_SIDE = 20, 10  # pixels of a button and of its icon


class DockTitle(QWidget):
    """A title with a help button, a button that floats the panel, and one that closes it.

    Parameters
    ----------
    dock
        whose title it is.
    header
        the panel's own header, shown in place of the name.
    """

    def __init__(self, dock: QDockWidget, header: QWidget | None = None) -> None:
        super().__init__(dock)
        self._dock = dock
        self._name = QLabel(dock.windowTitle())
        self._name.setProperty("role", "heading")
        row = QHBoxLayout(self)
        row.setContentsMargins(8 if header is None else 0, 2, 2, 2)
        row.setSpacing(1)
        if header is None:
            row.addWidget(self._name, 1)
        else:
            header.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            row.addWidget(header, 1)
        name = dock.windowTitle()
        self.question = self._button(f"What is {name}?", "What is this panel for?", text="?")
        self.question.clicked.connect(lambda _checked: self._explain())
        self._float = self._button(
            f"Take {name} out",
            "Take this panel out of the window, or put it back",
            "float",
        )
        self._float.clicked.connect(lambda _checked: dock.setFloating(not dock.isFloating()))
        self._close = self._button(f"Close {name}", "Close this panel; View, Panels shows it again", "close")
        self._close.clicked.connect(lambda _checked: dock.close())
        for button in (self.question, self._float, self._close):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        # A method is disconnected with the title; a function would be called while the window is destroyed.
        dock.visibilityChanged.connect(self._update_name)
        dock.topLevelChanged.connect(self._update_name)

    def _update_name(self, _changed: bool = False) -> None:
        """Leave the name out where a tab shows it."""
        window = self._dock.parentWidget()
        tabbed = isinstance(window, QMainWindow) and bool(window.tabifiedDockWidgets(self._dock))
        self._name.setText("" if tabbed and not self._dock.isFloating() else self._dock.windowTitle())

    def _explain(self) -> None:
        below = self.question.mapToGlobal(QPoint(0, self.question.height()))
        QWhatsThis.showText(below, self._dock.whatsThis(), self._dock)

    def _button(self, name: str, tip: str, drawing: str = "", *, text: str = "") -> QToolButton:
        button = tool_button(text, tip, name, keyboard=False)
        if drawing:
            button.setIcon(icon(drawing, QPalette.ColorRole.PlaceholderText))  # the muted text of the theme
        button.setFixedSize(SIDE, SIDE)
        button.setIconSize(QSize(ICON_SIDE, ICON_SIDE))
        return button


def show_dock_of(panel: QWidget) -> None:
    """Bring a panel to the front of those that share its place."""
    dock = panel.parentWidget()
    if isinstance(dock, QDockWidget):
        dock.show()
        dock.raise_()
