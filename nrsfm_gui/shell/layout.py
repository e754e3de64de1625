"""The layout of the panels: at first, in windows of other sizes, and as it was the last time."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count, pairwise
from typing import TypeVar

from PyQt6.QtCore import QByteArray, QEvent, QObject, QSize, Qt
from PyQt6.QtGui import QContextMenuEvent
from PyQt6.QtWidgets import QDockWidget, QMainWindow, QSizePolicy, QTabBar, QTabWidget, QToolBar, QWidget

from nrsfm_gui.engine.throttle import TYPING_MILLISECONDS, Debounce
from nrsfm_gui.model.app_store import LAYOUT, AppStore
from nrsfm_gui.model.arguments import DEFAULT_SIZE, SMALLEST_SIZE
from nrsfm_gui.text.help_pages import TIMELINE, panel_help
from nrsfm_gui.widgets.dialogs import resize_within_screen
from nrsfm_gui.widgets.dock_state import restore_docks
from nrsfm_gui.widgets.dock_title import DockTitle

USUAL = (1280, 800)  # a window with the docks below, in pixels
LEFT, RIGHT, BELOW = 240, 340, 184
# The share of a dock in each pixel that the window is larger; the 3-D view gets the rest.
LEFT_SHARE, RIGHT_SHARE, BELOW_SHARE = 0.11, 0.12, 0.28
NARROW_SHARE, NARROWEST = 0.34, 160  # what the left one gives of each pixel that it is smaller, and its least
FIRST_HEIGHT, FIRST_SHARE = 524, 0.5  # pixels of the first dock at the right, or its share where that is more
TALL = 880  # pixels of height that have room for them so
NARROW = 1100  # pixels of width below which the docks at the left join those at the right
SHORT, SHORTEST = 800, 620  # pixels of height below which those below do, in a narrow and in a wide window
PLACE = "place among the docks"
COLUMN = "column "  # of the docks below, in what is stored
TRACKS = "2-D"  # stands below, or beside the 3-D view, as wide, where there is a video


SomeWidget = TypeVar("SomeWidget", bound=QWidget)
DockAreas = dict[str, list[QDockWidget]]  # that stand "left", "right" and "below" at first


def arrange(
    window: QMainWindow,
    *,
    left: Mapping[str, QWidget],
    right: Mapping[str, QWidget],
    below: Mapping[str, QWidget],
    on_request: Mapping[str, QWidget],
    bottom: QWidget,
) -> DockAreas:
    """Put panels into docks around the central widget, and one across the bottom.

    Those `on_request` are hidden at first; they share the place of the first panel below, as tabs.
    """
    area, corner = Qt.DockWidgetArea, Qt.Corner
    window.setDockNestingEnabled(True)
    window.setAnimated(False)  # every layout of the window would start an animation per dock
    for where in (corner.TopLeftCorner, corner.BottomLeftCorner):
        window.setCorner(where, area.LeftDockWidgetArea)
    for where in (corner.TopRightCorner, corner.BottomRightCorner):
        window.setCorner(where, area.RightDockWidgetArea)
    window.setTabPosition(area.AllDockWidgetAreas, QTabWidget.TabPosition.North)
    places, made = count(), DockAreas()
    for name, side, panels in (
        ("left", area.LeftDockWidgetArea, left),
        ("right", area.RightDockWidgetArea, right),
        ("below", area.BottomDockWidgetArea, {**below, **on_request}),
    ):
        made[name] = [_dock(title, panel, window, next(places)) for title, panel in panels.items()]
        for dock in made[name]:
            window.addDockWidget(side, dock)
    for one, two in pairwise(made["below"][: len(below)]):
        window.splitDockWidget(one, two, Qt.Orientation.Horizontal)
    for dock in made["below"][len(below) :]:
        window.tabifyDockWidget(made["below"][0], dock)
        dock.hide()
    bar = QToolBar("Timeline", window)
    bar.setObjectName("dock Timeline")
    bar.setMovable(False)
    bar.setFloatable(False)
    bottom.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    bar.addWidget(bottom)
    bar.setWhatsThis(panel_help(TIMELINE))  # of all that is in it, and of the margin around it
    window.addToolBar(Qt.ToolBarArea.BottomToolBarArea, bar)
    window.setMinimumSize(*SMALLEST_SIZE)
    resize_within_screen(window, QSize(*DEFAULT_SIZE))
    return made


def _shares(size: QSize) -> dict[str, int]:
    """Return the widths of the docks at the left, at the right and beside, and the height of those below."""
    wider, higher = size.width() - USUAL[0], size.height() - USUAL[1]
    left = max(LEFT + (LEFT_SHARE if wider > 0 else NARROW_SHARE) * wider, NARROWEST)
    right = RIGHT + RIGHT_SHARE * max(wider, 0)  # which could not be narrower
    below = BELOW + BELOW_SHARE * max(higher, 0)
    shares = {"left": left, "beside": (size.width() - left - right) / 2, "right": right, "below": below}
    return {name: round(share) for name, share in shares.items()}


class DockLayout(QObject):
    """Gives the docks their room in a window of any size, and puts them back where they were the last time.

    In a narrow window the docks at the left are tabs of those at the right, and in one that is short, too,
    those below; they come back when the window grows. Qt leaves the room that a window gains to the central
    widget alone: here the docks get their shares of it, but one that a person made larger or smaller keeps
    its size. Made when all docks and tool bars are there.
    """

    def __init__(self, window: QMainWindow, store: AppStore, areas: DockAreas) -> None:
        super().__init__(window)
        self._window, self._store, self._areas, self._right = window, store, areas, areas["right"]
        self._tracks = next(dock for dock in areas["below"] if dock.windowTitle() == TRACKS)
        self._first_state = window.saveState()
        self._wide_state: QByteArray | None = None  # where the docks were before some of them joined others
        self._joined: tuple[bool, bool] = (False, False)  # whether those at the left have, and those below
        self._beside = False  # whether the 2-D view was put beside the 3-D view
        self._in_front: QDockWidget | None = None  # what is to be in front of its tabs next
        self._own: dict[str, int] = {}  # the sizes that a person gave
        self._pressed: dict[str, int] = {}  # the sizes when a person began to move a splitter
        self._widths: list[int] = []  # of the docks below from the left, before the window was resized
        self._restored = False
        self._shown = False
        self._rest = Debounce(self._follow, TYPING_MILLISECONDS, self)
        self._first = Debounce(self._begin, 0, self)
        window.installEventFilter(self)

    # -- the last time --------------------------------------------------------------------------------------

    def restore(self) -> bool:
        """Put everything where it was the last time; False where there was none, or it does not fit."""
        layout = self._store.layout()
        if layout is None:
            return False
        geometry, docks, sizes = layout
        self._widths = [sizes.pop(name) for name in list(sizes) if name.startswith(COLUMN)]
        self._own = sizes
        self._restored = self._window.restoreGeometry(geometry) and restore_docks(self._window, docks)
        return self._restored

    def reset(self) -> None:
        """Put everything where it was at first, for the window as large as it is now."""
        self._store.forget(LAYOUT)
        self._own, self._widths, self._wide_state, self._joined = {}, [], None, (False, False)
        self._window.restoreState(self._first_state)
        self._arrange_first()
        self._follow()

    def place_tracks(self, video: object) -> None:
        """Put the 2-D view beside the 3-D view, or below it without a video, unless it was put elsewhere."""
        beside = video is not None
        if beside == self._beside:
            return
        self._beside = beside
        self._separate()
        area, dock = Qt.DockWidgetArea, self._tracks
        places = area.BottomDockWidgetArea, area.LeftDockWidgetArea
        if not dock.isFloating() and self._window.dockWidgetArea(dock) is places[not beside]:
            hidden = dock.isHidden()
            self._window.addDockWidget(places[beside], dock, Qt.Orientation.Horizontal)
            dock.setHidden(hidden)
        self._in_front = dock if beside else None
        self._rest.request()

    def save(self) -> None:
        """Remember where everything is, and would be without a video."""
        self.place_tracks(None)
        state = self._window.saveState() if self._wide_state is None else self._wide_state
        columns = {f"{COLUMN}{place}": width for place, width in enumerate(self._widths)}
        self._store.set_layout(self._window.saveGeometry(), state, self._own | columns)

    def adopt(self) -> None:
        """Fit docks that were put elsewhere by a session: it may be of a window of another width."""
        self._widths, self._wide_state, self._joined = [], None, (False, False)
        if self._areas["left"][0] in self._window.tabifiedDockWidgets(self._right[0]):
            self._window.restoreState(self._first_state)  # it was narrow
            self._arrange_first()
        self._rest.request()

    # -- the size of the window -----------------------------------------------------------------------------

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Follow the size of the window."""
        if watched is self._window and event is not None:
            if event.type() == QEvent.Type.Show and not self._shown:
                self._shown = True
                self._first.request()  # when the layout has that size, too
            elif event.type() == QEvent.Type.Resize and self._shown:
                self._rest.request()
            elif event.type() == QEvent.Type.MouseButtonPress:  # on a splitter: docks get those on them
                self._pressed = self._sizes()
            elif event.type() == QEvent.Type.MouseButtonRelease:
                before = self._pressed.items()
                self._own |= {
                    name: size for name, size in self._sizes().items() if (name, size) not in before
                }
                if not any(self._joined):
                    self._widths = []
                    self._share_below()
            elif isinstance(event, QContextMenuEvent):
                return self._open_menu_of_tab(event)
        return False

    def _open_menu_of_tab(self, event: QContextMenuEvent) -> bool:
        """Open the menu of the dock whose tab is below the mouse; False where none is."""
        bar = self._window.childAt(event.pos())
        tab = bar.tabAt(bar.mapFrom(self._window, event.pos())) if isinstance(bar, QTabBar) else -1
        if not isinstance(bar, QTabBar) or tab < 0:
            return False
        below = next(dock for dock in docks(self._window) if dock.windowTitle() == bar.tabText(tab))
        title = below.titleBarWidget()
        assert isinstance(title, DockTitle)  # made below
        title.open_menu(event.globalPos())
        return True

    def _begin(self) -> None:
        if not self._restored:
            self._arrange_first()
        self._follow()

    def _arrange_first(self) -> None:
        """Let the docks at the right share a place where the window has no room for both."""
        if self._window.height() < TALL:
            self._tabify(self._right)

    def _follow(self) -> None:
        """Let docks join others or come back, and give all of them their sizes."""
        window = self._window
        narrow = window.width() < NARROW
        join = narrow, window.height() < (SHORT if narrow else SHORTEST)
        if join != self._joined:
            window.setUpdatesEnabled(False)
            self._separate()
            self._wide_state = window.saveState() if any(join) else None
            self._joined = join
            self._join(*join)
            window.setUpdatesEnabled(True)
        if self._in_front is not None:
            self._in_front.raise_()
            self._in_front = None
        sizes = {**_shares(window.size()), **self._own}
        for orientation in (Qt.Orientation.Horizontal, Qt.Orientation.Vertical):
            vertical = orientation is Qt.Orientation.Vertical
            seen = {name: dock for name, dock in self._docks_seen().items() if (name == "below") is vertical}
            window.resizeDocks(list(seen.values()), [sizes[name] for name in seen], orientation)
        if not any(join):
            self._share_below()
        if self._are_stacked():
            height = sum(dock.height() for dock in self._right)
            first = self._own.get("upper", max(FIRST_HEIGHT, round(FIRST_SHARE * height)))
            window.resizeDocks(self._right, [first, max(height - first, 1)], Qt.Orientation.Vertical)

    def _share_below(self) -> None:
        """Give the docks below the shares of the width that they had before the window was resized."""
        area = Qt.DockWidgetArea.BottomDockWidgetArea
        below = [dock for dock in self._areas["below"] if self._is_seen_at(area, dock)]
        below.sort(key=QDockWidget.x)
        if len(below) != len(self._widths):
            self._widths = [dock.width() for dock in below]
        self._window.resizeDocks(below, self._widths, Qt.Orientation.Horizontal)

    def _separate(self) -> None:
        """Put docks that joined others where they were before."""
        if self._wide_state is None:
            return
        hidden = {dock: dock.isHidden() for dock in docks(self._window)}  # before any of them is moved
        self._window.restoreState(self._wide_state)
        self._wide_state, self._joined = None, (False, False)
        for moved, out in hidden.items():
            moved.setHidden(out)

    def _join(self, narrow: bool, short: bool) -> None:
        """Let docks share the place of those at the right, and those below one of their own."""
        window, area = self._window, Qt.DockWidgetArea
        ordered = [*self._right, *self._areas["left"], *self._areas["below"]]
        docked = [(window.dockWidgetArea(dock), dock) for dock in ordered if not dock.isFloating()]
        sides = area.RightDockWidgetArea, area.LeftDockWidgetArea, area.BottomDockWidgetArea
        right, left, lower = ([dock for place, dock in docked if place is side] for side in sides)
        if narrow or short:
            self._tabify([*right, *(left if narrow else ()), *(lower if short else ())])
        if narrow and not short:
            self._tabify(lower)

    def _tabify(self, together: list[QDockWidget]) -> None:
        """Let docks share the place of the first one, which is in front."""
        for one, two in pairwise(together):
            hidden = two.isHidden()
            self._window.tabifyDockWidget(one, two)
            two.setHidden(hidden)
        for dock in together[:1]:
            dock.raise_()

    def _sizes(self) -> dict[str, int]:
        """Return the widths of the docks at the sides, and the height of those below, where they are seen.

        "upper" is the height of the first one at the right, where the others there are below it.
        """
        found = {"upper": self._right[0].height()} if self._are_stacked() else {}
        return found | {
            name: dock.height() if name == "below" else dock.width()
            for name, dock in self._docks_seen().items()
        }

    def _docks_seen(self) -> dict[str, QDockWidget]:
        """Return a dock of each area that is in front in its place: others there have the same size."""
        seen: dict[str, QDockWidget] = {}
        at_left, (narrow, short) = Qt.DockWidgetArea.LeftDockWidgetArea, self._joined
        joined = {"right": False, "below": short, "left": narrow, "beside": narrow}
        for area, stood in self._areas.items():
            for dock in stood:
                moved = dock is self._tracks and self._window.dockWidgetArea(dock) is at_left
                name = "beside" if moved else area
                if not joined[name] and is_in_front(dock) and not dock.isFloating():
                    seen.setdefault(name, dock)
        return seen

    def _are_stacked(self) -> bool:
        """Return whether the docks at the right are where they were at first, below each other."""
        return all(self._is_seen_at(Qt.DockWidgetArea.RightDockWidgetArea, dock) for dock in self._right)

    def _is_seen_at(self, area: Qt.DockWidgetArea, dock: QDockWidget) -> bool:
        return is_in_front(dock) and not dock.isFloating() and self._window.dockWidgetArea(dock) is area


def docks(window: QMainWindow) -> list[QDockWidget]:
    """Return the docks of a window in the order in which they were made, which raising them changes in Qt."""
    direct = Qt.FindChildOption.FindDirectChildrenOnly  # PyQt wraps all that it looks at
    return sorted(
        window.findChildren(QDockWidget, options=direct), key=lambda dock: dock.property(PLACE) or 0
    )


def is_in_front(dock: QDockWidget) -> bool:
    """Return whether a dock can be seen: Qt puts those behind a tab outside of their window."""
    window = dock.parentWidget()
    inside = window is not None and window.rect().intersects(dock.geometry())
    return dock.isVisible() and (inside or dock.isFloating())


def enclosing(widget: QWidget, kind: type[SomeWidget]) -> SomeWidget | None:
    """Return what is of a class, of a widget and those that it is in; None where nothing is."""
    above: QWidget | None = widget
    while above is not None and not isinstance(above, kind):
        above = above.parentWidget()
    return above


def _dock(title: str, panel: QWidget, window: QMainWindow, place: int) -> QDockWidget:
    dock = QDockWidget(title, window)
    dock.setObjectName(f"dock {title}")
    dock.setProperty(PLACE, place)
    dock.setWidget(panel)
    if not panel.accessibleName():
        panel.setAccessibleName(title)
    dock.setWhatsThis(panel_help(title))
    dock.setTitleBarWidget(DockTitle(dock, getattr(panel, "header", None)))
    return dock
