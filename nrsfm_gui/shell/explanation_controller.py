"""Shift+F1: the next click is on what is to be explained, in a card next to the pointer.

Pressed a second time, it explains what is under the pointer. No mouse button is needed for that.

The explanation of a control is its "What's This" text, else its tip; of a button, a line of a menu or a
tab, it is that of what it does or shows. A part without any has that of what it is in, up to its panel.
"""

from __future__ import annotations

import html

from PyQt6.QtCore import QEvent, QObject, QPoint, Qt
from PyQt6.QtGui import QAction, QContextMenuEvent, QCursor, QHelpEvent, QKeyEvent, QMouseEvent
from PyQt6.QtWidgets import (
    QApplication,
    QDockWidget,
    QMainWindow,
    QMenu,
    QMenuBar,
    QTabBar,
    QToolButton,
    QWhatsThis,
    QWidget,
)

from nrsfm_gui.shell.actions import written_keys
from nrsfm_gui.shell.layout import enclosing
from nrsfm_gui.shell.toolbars import Toolbars
from nrsfm_gui.text.help_pages import panel_help
from nrsfm_gui.widgets.labels import known, tip_as_html, tip_as_text

BELOW = QPoint(0, 18)  # of the pointer, pixels


class ExplanationController(QObject):
    """Explains the control under the pointer, or the focused one where the pointer is outside the window."""

    def __init__(self, toolbars: Toolbars, window: QMainWindow) -> None:
        super().__init__(window)
        self._toolbars, self._window = toolbars, window
        toolbars.menu_opened.connect(lambda menu: menu.installEventFilter(self))
        for menu in window.findChildren(QMenu):
            menu.installEventFilter(self)

    def wait_for_click(self) -> None:
        """Explain what is clicked next, which does not act on the click; asked again, what is pointed at."""
        if not QWhatsThis.inWhatsThisMode():
            QWhatsThis.enterWhatsThisMode()
            known(QApplication.instance()).installEventFilter(self)
            return
        QWhatsThis.leaveWhatsThisMode()
        place = QCursor.pos()
        widget = QApplication.widgetAt(place)
        if widget is None:  # outside of all windows
            widget = QApplication.focusWidget() or self._window
            place = widget.mapToGlobal(widget.rect().center())
        self._explain(widget, place)

    def _explain(self, widget: QWidget, place: QPoint) -> bool:
        text = self.explanation_of(widget, widget.mapFromGlobal(place))
        if text:  # its link is followed by the dock
            QWhatsThis.showText(place + BELOW, text, enclosing(widget, QDockWidget) or widget)
        return bool(text)

    def explanation_of(self, widget: QWidget, place: QPoint) -> str:
        """Return the explanation of what is at a place of a widget, "" where nothing around it has one."""
        above: QWidget | None = widget
        while above is not None:
            text = self._own_explanation(above, above.mapFromGlobal(widget.mapToGlobal(place)))
            if text:
                return text
            above = above.parentWidget()
        return ""

    def _own_explanation(self, widget: QWidget, place: QPoint) -> str:
        if isinstance(widget, (QMenu, QMenuBar)):
            action = widget.actionAt(place)
            return widget.whatsThis() if action is None else self._of_action(action)
        default = widget.defaultAction() if isinstance(widget, QToolButton) else None
        if default is not None:
            return self._of_action(default)
        if isinstance(widget, QTabBar):
            tab = widget.tabAt(place)
            return panel_help(widget.tabText(widget.currentIndex() if tab < 0 else tab))
        if widget.whatsThis():
            return widget.whatsThis()
        name, tip = widget.accessibleName(), tip_as_text(widget.toolTip())
        if "<" in tip and tip == widget.toolTip():  # it is complete in itself
            return tip_as_html(tip)
        if not tip or name in ("", tip):
            return tip
        return f"<b>{html.escape(name)}</b><p>{html.escape(tip)}</p>".replace("\n", "<br>")

    def _of_action(self, action: QAction) -> str:
        """Return title, keys and tip of an action, and what it needs where it is not possible."""
        title, tip = action.text().replace("&", ""), action.whatsThis() or action.toolTip()
        keys = written_keys(action.shortcuts())
        needs = "" if action.isEnabled() else self._toolbars.needs(action.objectName())
        lines = [f"<b>{html.escape(title)}</b>" + (f" ({html.escape(keys)})" if keys else "")]
        lines += [tip_as_html(line) for line in (tip, needs) if line and line != title]
        return lines[0] + "".join(f"<p>{line}</p>" for line in lines[1:])

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Explain what Qt asks for, or the line of a menu, which would otherwise handle the key itself."""
        if isinstance(event, QHelpEvent) and isinstance(watched, QWidget):
            if event.type() == QEvent.Type.QueryWhatsThis:
                event.accept()
                return True
            return event.type() == QEvent.Type.WhatsThis and self._explain(watched, event.globalPos())
        if event is not None and event.type() == QEvent.Type.LeaveWhatsThisMode:
            known(QApplication.instance()).removeEventFilter(self)
        if QWhatsThis.inWhatsThisMode() and isinstance(watched, QWidget):
            if isinstance(event, QContextMenuEvent):
                return True
            if isinstance(event, QMouseEvent) and self._explain_click(watched, event):
                return True
        if isinstance(event, QKeyEvent):
            pressed = event.type() == QEvent.Type.KeyPress
            if pressed and event.key() == Qt.Key.Key_F1 and isinstance(watched, QMenu):
                self._explain_line(watched)
                return True
            if QWhatsThis.inWhatsThisMode() and event.key() == Qt.Key.Key_Escape and not pressed:
                event.accept()  # before it is a shortcut: it ends the wait
                return True
        return super().eventFilter(watched, event)

    def _explain_click(self, widget: QWidget, event: QMouseEvent) -> bool:
        """Take a click that Qt leaves to the widget, and explain on its release."""
        if event.button() != Qt.MouseButton.RightButton and not isinstance(widget, QMenuBar):
            return False
        if event.type() == QEvent.Type.MouseButtonRelease:
            QWhatsThis.leaveWhatsThisMode()
            self._explain(widget, event.globalPosition().toPoint())
        return event.type() != QEvent.Type.MouseMove

    def _explain_line(self, menu: QMenu) -> None:
        """Explain the line of a menu under the pointer, or the one that the arrow keys have chosen."""
        action = menu.actionAt(menu.mapFromGlobal(QCursor.pos())) or menu.activeAction()
        if action is not None:
            corner = menu.mapToGlobal(menu.actionGeometry(action).bottomLeft())
            QWhatsThis.showText(corner, self._of_action(action), menu)
