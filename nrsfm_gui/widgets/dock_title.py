"""The title bar of a dock: its name, the panel's header, and the buttons of every panel."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QEvent, QPoint, QSize, Qt, QTimer
from PyQt6.QtGui import QContextMenuEvent, QEnterEvent, QIcon, QKeyEvent, QPalette
from PyQt6.QtWidgets import (
    QApplication,
    QDockWidget,
    QHBoxLayout,
    QMainWindow,
    QMenu,
    QSizePolicy,
    QTabBar,
    QToolButton,
    QWhatsThis,
    QWidget,
)

from nrsfm_gui.widgets.fields import filled, tool_button, with_tip
from nrsfm_gui.widgets.icons import icon
from nrsfm_gui.widgets.labels import PlainLabel, known

SIDE, ICON_SIDE = 20, 10  # pixels of a button and of its icon
ABOUT = "What is this panel for?"
FLOAT = "Take this panel out of the window, or put it back"
CLOSE = "Close this panel; View, Panels shows it again"


class DockTitle(QWidget):
    """A title with a help button, a button that floats the panel, and one that closes it.

    The buttons are seen while the mouse or the keyboard is in the header; the context menu has the same. The
    tab of a dock stands for its title: without a header of its own, the panel then has all the room.
    """

    GESTURES = (
        ("Drag the header of a panel", "put it elsewhere"),
        ("Right button on the header or the tab of a panel", "what it is for, take it out, close it"),
    )

    def __init__(self, dock: QDockWidget, header: QWidget | None = None) -> None:
        super().__init__(dock)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        name = dock.windowTitle()
        tip = "Drag to move this panel; Return or the right button shows what it can do"
        with_tip(self, f"Header of {name}", tip)
        self._dock, self._header = dock, header
        self._tabbed = False
        self._mark = ""
        self._name = PlainLabel(name, role="heading")
        row = filled(QHBoxLayout(self), spacing=1, margins=(8, 2, 2, 2))
        row.addWidget(self._name, 0 if header is not None else 1)
        if header is not None:
            header.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            row.addWidget(header, 1)
        self.question = self._button(f"What is {name}?", ABOUT, self._explain, text="?")
        self._buttons = (
            self.question,
            self._button(f"Take {name} out", FLOAT, self._change_floating, "float"),
            self._button(f"Close {name}", CLOSE, dock.close, "close"),
        )
        for button in self._buttons:
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self._show_buttons(False)
        self._rest = QTimer(self)  # a restored layout shows one dock after the other
        self._rest.setSingleShot(True)
        self._rest.timeout.connect(self._update_name)
        # A method is disconnected with the title; a function would be called while the window is destroyed.
        dock.visibilityChanged.connect(self._on_dock_changed)
        dock.topLevelChanged.connect(self._on_dock_changed)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._on_focus_changed)

    def sizeHint(self) -> QSize:
        """Return the preferred size: nothing where a tab has the name and there is no header."""
        return QSize() if self._tabbed and self._header is None else super().sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the least size."""
        return QSize() if self._tabbed and self._header is None else super().minimumSizeHint()

    def set_mark(self, text: str) -> None:
        """Mark the panel and its tab with a sign, and say why; "" removes it."""
        self._mark = text
        name = self._dock.windowTitle()
        self._name.setText(f"{name} · {text}" if text else name)
        self._mark_tab()

    def menu(self) -> QMenu:
        """Return the context menu."""
        menu = QMenu(self._dock)
        menu.addAction(ABOUT, self._explain)
        words = "Put back into the window" if self._dock.isFloating() else "Take out of the window"
        menu.addAction(words, self._change_floating)
        menu.addAction("Close", self._dock.close)
        return menu

    def open_menu(self, place: QPoint) -> None:
        """Open the context menu at a place of the screen."""
        menu = self.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def contextMenuEvent(self, event: QContextMenuEvent | None) -> None:
        """Open the context menu."""
        self.open_menu(known(event).globalPos())

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Open the context menu."""
        assert event is not None
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_menu(self.mapToGlobal(QPoint(0, self.height())))
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent | None) -> None:
        """Show the buttons."""
        super().enterEvent(event)
        self._show_buttons(True)

    def leaveEvent(self, event: QEvent | None) -> None:
        """Hide the buttons, unless the keyboard is here."""
        super().leaveEvent(event)
        self._on_focus_changed(None, QApplication.focusWidget())

    def _on_focus_changed(self, _before: QWidget | None, now: QWidget | None) -> None:
        inside = now is not None and (now is self or self.isAncestorOf(now))
        self._show_buttons(inside or self.underMouse())

    def _show_buttons(self, shown: bool) -> None:
        for button in self._buttons:
            button.setVisible(shown)

    def _on_dock_changed(self, _changed: bool) -> None:
        self._rest.start()

    def _update_name(self) -> None:
        """Leave the name out where a tab shows it."""
        window = self._dock.parentWidget()
        beside = window.tabifiedDockWidgets(self._dock) if isinstance(window, QMainWindow) else []
        tabbed = not self._dock.isFloating() and any(not dock.isHidden() for dock in beside)
        if tabbed != self._tabbed:
            self._tabbed = tabbed
            self._name.setVisible(not tabbed)
            empty = tabbed and self._header is None
            self.setFocusPolicy(Qt.FocusPolicy.NoFocus if empty else Qt.FocusPolicy.TabFocus)
            self.updateGeometry()
        self._mark_tab()

    def _mark_tab(self) -> None:
        """Mark the tab, which Qt makes anew with each place of the dock."""
        window, name = self._dock.parentWidget(), self._dock.windowTitle()
        direct = Qt.FindChildOption.FindDirectChildrenOnly
        bars = [] if window is None else window.findChildren(QTabBar, options=direct)
        sign = icon("worst", QPalette.ColorRole.BrightText) if self._mark else QIcon()
        for bar in bars:
            for tab in range(bar.count()):
                if bar.tabText(tab) == name:
                    bar.setTabIcon(tab, sign)
                    bar.setTabToolTip(tab, self._mark or name)

    def _change_floating(self) -> None:
        self._dock.setFloating(not self._dock.isFloating())

    def _explain(self) -> None:
        place = self.mapToGlobal(QPoint(self.width() - len(self._buttons) * SIDE, self.height()))
        QWhatsThis.showText(place, self._dock.whatsThis(), self._dock)

    def _button(
        self, name: str, tip: str, function: Callable[[], object], drawing: str = "", *, text: str = ""
    ) -> QToolButton:
        button = tool_button(text, tip, name, function)
        if drawing:
            button.setIcon(icon(drawing, QPalette.ColorRole.PlaceholderText))  # the muted text of the theme
        button.setFixedSize(SIDE, SIDE)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the context menu of the header has the same
        button.setIconSize(QSize(ICON_SIDE, ICON_SIDE))
        policy = button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        button.setSizePolicy(policy)
        return button


def show_dock_of(panel: QWidget) -> None:
    """Bring a panel to the front of those that share its place."""
    dock = panel.parentWidget()
    if isinstance(dock, QDockWidget):
        dock.show()
        dock.raise_()


def mark_dock_of(panel: QWidget, text: str) -> None:
    """Mark the dock of a panel with a sign, and say why; "" removes it."""
    dock = panel.parentWidget()
    title = dock.titleBarWidget() if isinstance(dock, QDockWidget) else None
    if isinstance(title, DockTitle):
        title.set_mark(text)
