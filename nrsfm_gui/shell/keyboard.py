"""The keyboard: where the keys without Ctrl or Alt act, and how keys move the focus from panel to panel.

Letters, digits, brackets, Space, arrows, Home, End and Escape are shortcuts of actions in the menus. Qt lets
a shortcut of a window act whatever has the focus in it; only text fields are exempt. Here they are limited:

* the views (3-D, 2-D, timeline, plots), or where nothing has the focus: all of them act;
* lists, tables, buttons and whatever else text is not typed into: letters, digits and brackets act, and
  Space where it does not press a button or choose a row;
* text fields, spin boxes, combo boxes that can be edited, and the menu bar, whose letters open menus: none
  acts.

A key that does not act is delivered to the focused widget, as any other. Escape that nothing uses moves the
focus to the 3-D view.
"""

from __future__ import annotations

from PyQt6.QtCore import QEvent, QObject, QPoint, Qt
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
    QMenuBar,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)

from nrsfm_gui.panels.timeline.frame_slider import FrameSlider
from nrsfm_gui.panels.timeline.timeline import Timeline
from nrsfm_gui.shell.layout import docks, enclosing, is_in_front
from nrsfm_gui.widgets.dock_title import DockTitle
from nrsfm_gui.widgets.labels import known
from nrsfm_gui.widgets.point_view import PointSignals

VIEWS = (PointSignals, QGraphicsView, Timeline, FrameSlider, QMainWindow, QDockWidget)
TAKES_LETTERS = (QLineEdit, QAbstractSpinBox, QPlainTextEdit, QTextEdit, QMenuBar)
SPACE_ACTS_ON = (QAbstractButton, QAbstractItemView, QComboBox)  # by pressing, choosing or opening it
PRINTED = range(Qt.Key.Key_Exclam, Qt.Key.Key_AsciiTilde + 1)  # letters, digits, brackets
EVERYWHERE = (
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
)


def acts(key: Qt.Key, focused: QWidget | None) -> bool:
    """Return whether a key without Ctrl or Alt is a shortcut while a widget has the focus."""
    if focused is None or isinstance(focused, VIEWS):
        return True
    if isinstance(focused, TAKES_LETTERS) or (isinstance(focused, QComboBox) and focused.isEditable()):
        return False
    return key in PRINTED or (key == Qt.Key.Key_Space and not isinstance(focused, SPACE_ACTS_ON))


class ViewKeys(QObject):
    """Delivers the keys of the views to the focused widget where they do not act."""

    def __init__(self, window: QMainWindow, home: QWidget) -> None:
        super().__init__(window)
        self._home = home
        # A key that nothing uses arrives at the top of its window, or at the menu bar that kept the focus.
        for top in (window, known(window.menuBar()), *docks(window)):
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


class PanelNavigation(QObject):
    """Moves the focus between the panels that can be seen, and from part to part in that order.

    The order is from the left to the right, then the bottom. That of Qt is the one in which panels were made,
    and leads into those behind a tab.
    """

    def __init__(self, window: QMainWindow, *, first: QWidget, last: QWidget) -> None:
        super().__init__(window)
        self._window, self._first, self._last = window, first, last

    def current(self) -> QWidget | None:
        """Return the panel that has the focus, None where none has."""
        focused = QApplication.focusWidget()
        return next((panel for panel in self._all() if panel is focused or panel.isAncestorOf(focused)), None)

    def go(self, by: int) -> None:
        """Move the focus by a number of panels."""
        panels = self._all()
        now = self.current()
        place = panels.index(now) + by if now in panels else panels.index(self._first)
        self._focus(panels[place % len(panels)])

    def go_to_part(self, by: int) -> bool:
        """Move the focus by a number of parts that the tab key reaches; False where it is in none of them."""
        parts, focused = self._parts(), QApplication.focusWidget()
        if focused not in parts:
            return False
        reason = Qt.FocusReason.TabFocusReason if by > 0 else Qt.FocusReason.BacktabFocusReason
        parts[(parts.index(focused) + by) % len(parts)].setFocus(reason)
        return True

    def show(self, dock: QDockWidget) -> None:
        """Show a dock in front of those that share its place, and move the focus into it."""
        dock.show()
        dock.raise_()
        QApplication.sendPostedEvents()  # its parts are laid out now
        self._focus(dock)

    def _focus(self, panel: QWidget) -> None:
        """Move the focus to the first part of a panel that the tab key would reach, else to the panel."""
        parts = (part for part in panel.findChildren(QWidget) if _takes_focus(part))
        first = next((part for part in parts if not part.visibleRegion().isEmpty()), panel)
        if first is panel and panel.focusPolicy() == Qt.FocusPolicy.NoFocus:
            panel.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        first.setFocus(Qt.FocusReason.TabFocusReason)
        panel.activateWindow()

    def _all(self) -> list[QWidget]:
        below = Qt.DockWidgetArea.BottomDockWidgetArea
        seen = sorted(
            (dock for dock in docks(self._window) if is_in_front(dock)),
            key=lambda dock: (self._window.dockWidgetArea(dock) is below, dock.x(), dock.y()),
        )
        start = self._first.mapTo(self._window, QPoint()).x()
        left = [dock for dock in seen if not dock.isFloating() and dock.geometry().right() < start]
        return [*left, self._first, *(dock for dock in seen if dock not in left), self._last]

    def _parts(self) -> list[QWidget]:
        """Return what the tab key reaches: of each panel its tabs, its header, then what is in it."""
        panels = self._all()
        parts: list[tuple[int, int, QWidget]] = []
        part = self._window.nextInFocusChain()
        while part is not None and part is not self._window:
            if _takes_focus(part) and part.focusProxy() is None and part.window() is self._window:
                panel = self._panel_of(part, panels)
                if panel is not None:
                    parts.append((panels.index(panel), _depth(part), part))
            part = part.nextInFocusChain()
        return [part for _panel, _depth, part in sorted(parts, key=lambda found: found[:2])]

    def _panel_of(self, part: QWidget, panels: list[QWidget]) -> QWidget | None:
        """Return the panel that a part belongs to, None for what is behind a tab."""
        if isinstance(part, QTabBar) and part.parentWidget() is self._window:  # of the dock below it
            below = part.geometry().center() + QPoint(0, part.height())
            return next((panel for panel in panels if panel.geometry().contains(below)), None)
        dock = enclosing(part, QDockWidget)
        if dock is not None:
            return dock if dock in panels else None
        return self._last if self._last.isAncestorOf(part) or part is self._last else self._first


def _depth(part: QWidget) -> int:
    """Return 0 for tabs, 1 for the header of a panel and what is in it, 2 for everything else."""
    return 0 if isinstance(part, QTabBar) else 2 if enclosing(part, DockTitle) is None else 1


def _takes_focus(part: QWidget) -> bool:
    return bool(part.focusPolicy() & Qt.FocusPolicy.TabFocus) and part.isVisible() and part.isEnabled()
