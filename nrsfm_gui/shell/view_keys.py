"""Where the keys without Ctrl or Alt act: in the views, not in the window.

Letters, digits, brackets, Space, arrows, Home, End and Escape are shortcuts of actions in the menus. Qt lets
a shortcut of a window act whatever has the focus in it; only text fields are exempt. Here they are limited:

* the views (3-D, 2-D, timeline, plots), or where nothing has the focus: all of them act;
* other widgets that use no letters, such as a button or a tab: J, K, L and Space play the frames, but Space
  presses a button;
* fields, lists, trees, tables and combo boxes: none acts.

A key that does not act is delivered to the focused widget, as any other. Escape that nothing uses moves the
focus to the 3-D view.
"""

from __future__ import annotations

from PyQt6.QtCore import QEvent, QObject, Qt
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDockWidget,
    QGraphicsView,
    QLineEdit,
    QMainWindow,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from nrsfm_gui.panels.timeline.frame_slider import FrameSlider
from nrsfm_gui.shell.layout import docks
from nrsfm_gui.widgets.point_view import PointSignals

VIEWS = (PointSignals, QGraphicsView, FrameSlider, QMainWindow, QDockWidget)
TYPED_INTO = (QLineEdit, QAbstractSpinBox, QPlainTextEdit, QTextEdit, QComboBox, QAbstractItemView)
PLAYING = frozenset({Qt.Key.Key_J, Qt.Key.Key_K, Qt.Key.Key_L, Qt.Key.Key_Space})
PRESSING = frozenset({Qt.Key.Key_Space, Qt.Key.Key_Select, Qt.Key.Key_Return, Qt.Key.Key_Enter})  # a button
EVERYWHERE = (
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
)


def acts(key: Qt.Key, focused: QWidget | None) -> bool:
    """Return whether a key without Ctrl or Alt is a shortcut while a widget has the focus."""
    if focused is None or isinstance(focused, VIEWS):
        return True
    if isinstance(focused, TYPED_INTO) or (isinstance(focused, QAbstractButton) and key in PRESSING):
        return False
    return key in PLAYING


class ViewKeys(QObject):
    """Delivers the keys of the views to the focused widget where they do not act."""

    def __init__(self, window: QMainWindow, home: QWidget) -> None:
        super().__init__(window)
        self._home = home
        for top in (window, *docks(window)):  # a key that nothing uses arrives at the top of its window
            top.installEventFilter(self)

    def eventFilter(self, _watched: QObject | None, event: QEvent | None) -> bool:
        """Accept the keys that do not act, before they become shortcuts."""
        if not isinstance(event, QKeyEvent) or not acts_in_views_only(event.modifiers(), Qt.Key(event.key())):
            return False
        key, focused = Qt.Key(event.key()), QApplication.focusWidget()
        if event.type() == QEvent.Type.ShortcutOverride and not acts(key, focused):
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress and key == Qt.Key.Key_Escape:
            self._home.setFocus(Qt.FocusReason.OtherFocusReason)
        return False


def acts_in_views_only(modifiers: Qt.KeyboardModifier, key: Qt.Key) -> bool:
    """Return whether a key is one that acts in the views only: without Ctrl and Alt, no function key."""
    return not modifiers & EVERYWHERE and not Qt.Key.Key_F1 <= key <= Qt.Key.Key_F35
