"""Where the panels stand at first, and putting them back where they were the last time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtWidgets import QDockWidget, QMainWindow, QSizePolicy, QToolBar, QWidget

from .arguments import DEFAULT_SIZE, SMALLEST_SIZE
from .help.panels import TIMELINE, panel_help
from .views.dock_title import DockTitle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .state.settings_store import SettingsStore

# Shares of the window that the docks get at first.
LEFT_WIDTH, RIGHT_WIDTH, BELOW_HEIGHT = 0.175, 0.24, 0.245
LEFT_RANGE, RIGHT_RANGE = (256, 330), (316, 400)


def arrange(
    window: QMainWindow,
    *,
    left: Mapping[str, QWidget],
    right: Mapping[str, QWidget],
    below: Mapping[str, QWidget],
    bottom: QWidget,
) -> None:
    """Put panels into docks around the central widget, and one across the whole bottom.

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
    window.setTabPosition(area.AllDockWidgetAreas, _north())
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
    bottom.setWhatsThis(panel_help(TIMELINE))
    window.addToolBar(Qt.ToolBarArea.BottomToolBarArea, bar)
    window.setMinimumSize(*SMALLEST_SIZE)
    window.resize(*_first_size(window))
    resize_docks(window, tuple(left), tuple(right), tuple(below))


def resize_docks(
    window: QMainWindow, left: tuple[str, ...], right: tuple[str, ...], below: tuple[str, ...]
) -> None:
    """Give the docks their shares of the window as large as it is."""
    width = round(min(max(LEFT_WIDTH * window.width(), LEFT_RANGE[0]), LEFT_RANGE[1]))
    other = round(min(max(RIGHT_WIDTH * window.width(), RIGHT_RANGE[0]), RIGHT_RANGE[1]))
    sides = [_find(window, left[0]), _find(window, right[0])]
    window.resizeDocks(sides, [width, other], Qt.Orientation.Horizontal)
    lowest = [_find(window, title) for title in below[:2]]
    height = round(BELOW_HEIGHT * window.height())
    window.resizeDocks(lowest, [height] * len(lowest), Qt.Orientation.Vertical)
    middle = max(window.width() - width - other, 100)
    window.resizeDocks(lowest, [middle // 2, middle - middle // 2], Qt.Orientation.Horizontal)
    for column, shares in ((left, (3, 2)), (right, (5, 3))):
        docks = [_find(window, title) for title in column]
        heights = [round(window.height() * share / sum(shares)) for share in shares]
        window.resizeDocks(docks, heights, Qt.Orientation.Vertical)


def restore(window: QMainWindow, store: SettingsStore) -> bool:
    """Put everything back where it was the last time; False where there was none, or it does not fit."""
    layout = store.layout()
    if layout is None:
        return False
    geometry, docks = layout
    return window.restoreGeometry(geometry) and window.restoreState(docks)


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


def _north() -> object:
    from PyQt6.QtWidgets import QTabWidget

    return QTabWidget.TabPosition.North
