"""The default layout of the panels, and restoring the layout of the last time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QObject, QSize, Qt
from PyQt6.QtWidgets import QDockWidget, QMainWindow, QSizePolicy, QTabWidget, QToolBar, QWidget

from nrsfm_gui.engine.throttle import TYPING_MILLISECONDS, Debounce
from nrsfm_gui.model.arguments import DEFAULT_SIZE, SMALLEST_SIZE
from nrsfm_gui.text.help_pages import TIMELINE, panel_help
from nrsfm_gui.widgets.dock_title import DockTitle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nrsfm_gui.model.app_store import AppStore

USUAL = (1280, 800)  # a window with the docks below, in pixels
LEFT, RIGHT, BELOW = 256, 316, 200
RIGHT_HEIGHTS = (5, 3)  # of the two docks at the right
# The share of a dock in each pixel that the window is larger; the 3-D view gets the rest.
LEFT_SHARE, RIGHT_SHARE, BELOW_SHARE = 0.11, 0.12, 0.44
NARROW_SHARE, NARROWEST = 0.34, 160  # what the left one gives of each pixel that it is smaller, and its least


def arrange(
    window: QMainWindow,
    *,
    left: Mapping[str, QWidget],
    right: Mapping[str, QWidget],
    below: Mapping[str, QWidget],
    bottom: QWidget,
) -> None:
    """Put panels into docks around the central widget, and one across the bottom.

    The panels below the center but the first share a place, as tabs.
    """
    area = Qt.DockWidgetArea
    corner = Qt.Corner
    window.setDockNestingEnabled(True)
    window.setAnimated(False)  # every layout of the window would start an animation per dock
    for where, side in (
        (corner.TopLeftCorner, area.LeftDockWidgetArea),
        (corner.BottomLeftCorner, area.LeftDockWidgetArea),
        (corner.TopRightCorner, area.RightDockWidgetArea),
        (corner.BottomRightCorner, area.RightDockWidgetArea),
    ):
        window.setCorner(where, side)
    window.setTabPosition(area.AllDockWidgetAreas, QTabWidget.TabPosition.North)
    for side, panels in (
        (area.LeftDockWidgetArea, left),
        (area.RightDockWidgetArea, right),
        (area.BottomDockWidgetArea, below),
    ):
        for title, panel in panels.items():
            window.addDockWidget(side, _dock(title, panel, window))
    docks = [_find(window, title) for title in below]
    first, front, *behind = docks
    window.splitDockWidget(first, front, Qt.Orientation.Horizontal)
    for one, two in pairwise([front, *behind]):
        window.tabifyDockWidget(one, two)
    front.raise_()
    bar = QToolBar("Timeline", window)
    bar.setObjectName("dock Timeline")
    bar.setMovable(False)
    bar.setFloatable(False)
    bottom.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    bar.addWidget(bottom)
    bar.setWhatsThis(panel_help(TIMELINE))  # of all that is in it, and of the margin around it
    window.addToolBar(Qt.ToolBarArea.BottomToolBarArea, bar)
    window.setMinimumSize(*SMALLEST_SIZE)
    window.resize(*_first_size(window))
    resize_docks(window, tuple(left), tuple(right), tuple(below))
    window.installEventFilter(_Growth(window, tuple(left), tuple(right), tuple(below)))


def _shares(size: QSize) -> tuple[int, int, int]:
    """Return the widths of the docks at the left and at the right, and the height of those below."""
    wider, higher = size.width() - USUAL[0], size.height() - USUAL[1]
    left = LEFT + (LEFT_SHARE if wider > 0 else NARROW_SHARE) * wider
    right = RIGHT + RIGHT_SHARE * max(wider, 0)  # which could not be narrower
    below = BELOW + (BELOW_SHARE if higher > 0 else BELOW / USUAL[1]) * higher
    return round(max(left, NARROWEST)), round(right), round(below)


class _Growth(QObject):
    """Lets the docks grow and shrink with their window, which Qt leaves to the central widget alone.

    A dock that a person made larger or smaller stays so: it gets its share of the difference, but grows
    no further than it is at first in a window of that size.
    """

    def __init__(self, window: QMainWindow, *areas: tuple[str, ...]) -> None:
        super().__init__(window)
        self._window, self._areas = window, areas  # titles at the left, at the right, and below
        self.restored = False  # whether the docks are where they were the last time
        self._before: QSize | None = None  # the size that the docks are as large for; None: not shown yet
        self._rest = Debounce(self._follow, TYPING_MILLISECONDS, self)
        self._first = Debounce(self.share, 0, self)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        if watched is self._window and event is not None:
            if event.type() == QEvent.Type.Show and self._before is None:
                self._before = self._window.size()
                if not self.restored:
                    self._first.request()  # when the layout has that size, too
            elif event.type() == QEvent.Type.Resize and self._before is not None:
                self._rest.request()
        return False

    def share(self) -> None:
        """Give the docks their shares of the window as large as it is."""
        resize_docks(self._window, *self._areas)

    def _follow(self) -> None:
        assert self._before is not None  # the timer runs only then
        size, before = self._window.size(), self._before
        self._before = size
        horizontal, vertical = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        for titles, orientation, was, share in zip(
            self._areas, (horizontal, horizontal, vertical), _shares(before), _shares(size), strict=True
        ):
            docks_there = [_find(self._window, title) for title in titles]
            shown = [dock for dock in docks_there if dock.isVisible() and not dock.isFloating()]
            for dock in shown[:1]:  # the others of the same area have the same width or height
                now = dock.width() if orientation is horizontal else dock.height()
                self._window.resizeDocks([dock], [_grown(now, was, share)], orientation)


def _grown(now: int, before: int, after: int) -> int:
    """Return the size of a dock whose share of the window was one size and is another."""
    if after > before:
        return max(now, min(now + after - before, after))
    return min(now, max(now + after - before, after))


def resize_docks(
    window: QMainWindow, left: tuple[str, ...], right: tuple[str, ...], below: tuple[str, ...]
) -> None:
    """Give the docks their shares of the window as large as it is."""
    width, other, height = _shares(window.size())
    sides = [_find(window, left[0]), _find(window, right[0])]
    window.resizeDocks(sides, [width, other], Qt.Orientation.Horizontal)
    lowest = [_find(window, title) for title in below[:2]]
    window.resizeDocks(lowest, [height] * len(lowest), Qt.Orientation.Vertical)
    middle = max(window.width() - width - other, 100)
    window.resizeDocks(lowest, [middle // 2, middle - middle // 2], Qt.Orientation.Horizontal)
    column = [_find(window, title) for title in right]
    heights = [round(window.height() * share / sum(RIGHT_HEIGHTS)) for share in RIGHT_HEIGHTS]
    window.resizeDocks(column, heights, Qt.Orientation.Vertical)


class LayoutMemory(QObject):
    """Puts the panels back where they were the last time, or at first; made when all of them are there."""

    def __init__(self, window: QMainWindow, store: AppStore) -> None:
        super().__init__(window)
        self._window, self._store = window, store
        self._first_state = window.saveState()

    def restore(self) -> bool:
        """Put everything where it was the last time; False where there was none, or it does not fit."""
        layout = self._store.layout()
        if layout is None:
            return False
        geometry, docks = layout
        growth = self._window.findChild(_Growth)
        growth.restored = self._window.restoreGeometry(geometry) and self._window.restoreState(docks)
        return growth.restored

    def reset(self) -> None:
        """Put everything where it was at first, for the window as large as it is now."""
        self._store.forget_layout()
        self._window.restoreState(self._first_state)
        self._window.findChild(_Growth).share()

    def save(self) -> None:
        """Remember where everything is."""
        self._store.set_layout(self._window.saveGeometry(), self._window.saveState())


def docks(window: QMainWindow) -> list[QDockWidget]:
    """Return the docks of a window, in the order in which they were made."""
    return window.findChildren(QDockWidget)


def _dock(title: str, panel: QWidget, window: QMainWindow) -> QDockWidget:
    dock = QDockWidget(title, window)
    dock.setObjectName(f"dock {title}")
    dock.setWidget(panel)
    if not panel.accessibleName():
        panel.setAccessibleName(title)
    dock.setWhatsThis(panel_help(title))
    dock.setTitleBarWidget(DockTitle(dock, getattr(panel, "header", None)))
    return dock


def _find(window: QMainWindow, title: str) -> QDockWidget:
    dock = window.findChild(QDockWidget, f"dock {title}")
    assert dock is not None  # made above
    return dock


def _first_size(window: QMainWindow) -> tuple[int, int]:
    """Return the default size, or less where the screen is smaller."""
    screen = window.screen()
    room = screen.availableSize() if screen is not None else QSize(*DEFAULT_SIZE)
    return min(DEFAULT_SIZE[0], room.width()), min(DEFAULT_SIZE[1], room.height())
