"""What hands do with mouse and keys in tests of the window, and the buttons that they find there."""

from contextlib import contextmanager
from itertools import pairwise

import pytest
from PyQt6.QtCore import QEvent, QPoint, QPointF, Qt
from PyQt6.QtGui import QContextMenuEvent, QMouseEvent, QWheelEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QPushButton,
    QTabBar,
    QToolButton,
    QWidget,
)

from nrsfm_gui.widgets.labels import ElidedLabel

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
NO_KEY = Qt.KeyboardModifier.NoModifier


def button_of(parent, text):
    """Return the one button below a widget that has a text and is not hidden."""
    buttons = (each for each in parent.findChildren(QPushButton) if not each.isHidden())
    (found,) = (each for each in buttons if each.text() == text)
    return found


def text_of(widget):
    """Return the texts of the labels in a widget, "" where it is hidden."""
    return "" if widget.isHidden() else "\n".join(each.text() for each in widget.findChildren(QLabel))


def docks_rest(window):
    """Return whether the docks of a window have got the room that suits its size."""
    layout = window.dock_layout
    return not layout._first.isActive() and not layout._rest.isActive()


def type_into(field, text):
    """Replace what a field holds by what is typed."""
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text) if text else QTest.keyClick(field, Qt.Key.Key_Delete)


def choose(choice, key):
    choice.set_key(key)
    choice.chosen.emit(key)


def send_mouse(widget, kind, place, button=LEFT, keys=NO_KEY, *, held=None):
    """Send an event of the mouse as a window system does: `QTest` moves it without buttons."""
    where = QPointF(place)
    changed = NONE if kind == QEvent.Type.MouseMove else button
    held = (NONE if kind == QEvent.Type.MouseButtonRelease else button) if held is None else held
    QApplication.sendEvent(widget, QMouseEvent(kind, where, widget.mapToGlobal(where), changed, held, keys))


def drag(widget, *places, button=LEFT, keys=NO_KEY):
    """Press a button at the first place, move to all others, half of each way first, and release it."""
    send_mouse(widget, QEvent.Type.MouseButtonPress, places[0], button, keys)
    for start, end in pairwise(places):
        for place in ((QPointF(start) + QPointF(end)) / 2, end):
            send_mouse(widget, QEvent.Type.MouseMove, place, button, keys)
    send_mouse(widget, QEvent.Type.MouseButtonRelease, places[-1], button, keys)


def turn_wheel(widget, angle=120, place=None, held=NO_KEY):
    """Turn the wheel over a place of a widget, its middle by default; return whether it was accepted."""
    where = QPointF(widget.rect().center() if place is None else place)
    event = QWheelEvent(
        where, widget.mapToGlobal(where), QPoint(), QPoint(0, angle), NONE, held,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    return QApplication.sendEvent(widget, event) and event.isAccepted()


def ask_for_menu(widget, place, reason=QContextMenuEvent.Reason.Mouse):
    """Ask for the menu of a place, by the right button or the key of menus."""
    QApplication.sendEvent(widget, QContextMenuEvent(reason, place, widget.mapToGlobal(place)))


def open_palette(qtbot, window):
    """Open the list of all that can be done, and return it when it has the keyboard."""
    window.toolbars.actions["palette"].trigger()
    view = window.command_palette_controller.view
    qtbot.waitUntil(lambda: QApplication.focusWidget() is view.field)
    return view


def entries_of(palette):
    items = (palette.list.item(row) for row in range(palette.list.count()))
    return [item.data(Qt.ItemDataRole.UserRole)[0] for item in items]


@contextmanager
def files_of_at_most(count):
    """Let no file of this process grow beyond so many bytes, as on a full disk."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def visible_in(window):
    """Return the widgets of a window that can be seen, without those that are scrolled out of sight."""
    return [
        each
        for each in window.findChildren(QWidget)
        if each.isVisible() and each.window() is window and not each.visibleRegion().isEmpty()
    ]


def is_icon(button):
    only = button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly
    return only and not button.icon().isNull()


def texts_of(widgets):
    """Yield labels, buttons, choices and tabs with a text, and the pixels that it needs and has."""
    for widget in widgets:
        room = widget.contentsRect().width()
        width = widget.fontMetrics().horizontalAdvance
        if isinstance(widget, ElidedLabel):
            yield widget, widget.full_text, width(widget.full_text), room
        elif isinstance(widget, QLabel) and widget.text():
            if widget.wordWrap():
                yield widget, widget.text(), widget.heightForWidth(widget.width()), widget.height()
            else:
                yield widget, widget.text(), widget.sizeHint().width(), widget.width()
        elif isinstance(widget, QToolButton) and is_icon(widget):
            continue
        elif isinstance(widget, QAbstractButton) and widget.text():
            yield widget, widget.text(), width(widget.text().replace("&", "")), room
        elif isinstance(widget, QComboBox):
            yield widget, widget.currentText(), width(widget.currentText()) + 20, room
        elif isinstance(widget, QTabBar):
            for tab in range(widget.count()):
                area = widget.tabRect(tab) & widget.rect()
                yield widget, widget.tabText(tab), width(widget.tabText(tab)), area.width()
