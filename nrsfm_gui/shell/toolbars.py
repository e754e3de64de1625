"""Menus and tool bar of the window, made of the table of actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from PyQt6.QtCore import QObject, QPoint, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QMainWindow, QMenu, QMenuBar, QToolBar, QToolButton, QWidget

from core.foundation import printable
from nrsfm_gui.model.app_store import RECENT, AppStore
from nrsfm_gui.model.appearance import LAYERS
from nrsfm_gui.model.session import Session
from nrsfm_gui.panels.alignment.alignment_controller import AlignmentController
from nrsfm_gui.sessions.autosave import MOST_CLOSED
from nrsfm_gui.sessions.opening import SequenceOpening
from nrsfm_gui.shell.actions import ACTIONS, OUTSIDE_MENUS, STEP, bind, is_paused, make_action
from nrsfm_gui.shell.layout import docks
from nrsfm_gui.shell.status_bar import StatusController
from nrsfm_gui.widgets.labels import known, plain_tip

TOOLS = ("", "run", "pause", "stop", "", "live")
TOOLS_WITH_TEXT = {"run": "Run", "live": "Live"}
ICON_SIZE = 18
# The actions of the menus of a point and of the 3-D view, "" for a line between them.
POINT_MENU = (
    "hide_observation", "hide_onwards", "hide_range", "hide_point", "show_again", "", "hide_points",
    "isolate_points", "", "find_outliers",
)  # fmt: skip
VIEW_MENU = (
    "fit", "reset_view", "", "orthographic", "camera_lock", "turntable", "", "look", "color_by_error",
    "trails", "mesh", "path", "", "show_points",
)  # fmt: skip
MENUS = "The menus have everything that can be done. Ctrl+K finds it by its name, F1 lists the keys."


class Toolbars(QObject):
    """Owns the menus and the tool bar of a window."""

    menu_opened = pyqtSignal(QMenu)  # one that is made for a place, and deleted when it closes

    def __init__(
        self,
        window: QMainWindow,
        session: Session,
        store: AppStore,
        opening: SequenceOpening,
        *,
        owner: object,
        alignment: AlignmentController,
        status: StatusController,
        closed_sessions: Callable[[], Sequence[tuple[Path, str, str]]],
    ) -> None:
        super().__init__(window)
        self._window, self._session, self._store, self._opening = window, session, store, opening
        self._alignment, self._closed_sessions = alignment, closed_sessions
        self._headline, self._progress = status.headline, status.progress
        self.actions: dict[str, QAction] = {}
        self._layers: dict[str, QAction] = {}
        self._menus: dict[str, QMenu] = {}
        self._make_menus(owner)
        self._make_tool_bar()
        session.changed.connect(self.show_situation)
        self.show_situation()

    # -- setters --------------------------------------------------------------------------------------------

    def show_situation(self) -> None:
        """Enable what is possible, check what is so, and let the headline offer the alignments there are."""
        session = self._session
        for spec in ACTIONS:
            action = self.actions[spec.name]
            action.setEnabled(spec.when.holds(session))
            if spec.checked is not None:
                action.setChecked(spec.checked(session))
        for key, action in self._layers.items():
            action.setChecked(key in session.appearance.layers)
        self.actions["pause"].setText("Res&ume" if is_paused(session) else "Pa&use")
        offered = self._alignment.possible and session.seen is not None
        self._headline.set_menu(self._alignment.menu if offered else None)

    def needs(self, name: str) -> str:
        """Return what has to be done before an action of the table is possible."""
        return next((spec.when.needs for spec in ACTIONS if spec.name == name), "")

    def button_of(self, name: str) -> QWidget | None:
        """Return the button of the tool bar for an action, None where it has none."""
        return self._bar.widgetForAction(self.actions[name])

    def fill_menus(self) -> None:
        """Fill the menus that are filled when they open."""
        self._fill_recent()
        self._fill_samples()

    def open_menu(self, names: Iterable[str], where: QPoint) -> QMenu:
        """Open a menu of some actions, POINT_MENU or VIEW_MENU, at a place of the screen."""
        menu = QMenu(self._window)
        menu.setToolTipsVisible(True)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._add(menu, names)
        self.menu_opened.emit(menu)
        menu.popup(where)
        return menu

    def _add(self, to: QMenu | QToolBar, names: Iterable[str]) -> None:
        for name in names:
            if name:
                to.addAction(self.actions[name])
            else:
                to.addSeparator()

    # -- making ---------------------------------------------------------------------------------------------

    def _make_menus(self, owner: object) -> None:
        bar = known(self._window.menuBar())
        bar.setWhatsThis(MENUS)
        for spec in ACTIONS:
            action = make_action(spec, bind(spec, owner), self._window)
            self.actions[spec.name] = action
            self._window.addAction(action)  # its shortcut works without a menu
            if spec.name in OUTSIDE_MENUS:
                action.setText(action.text().replace("&", ""))
                continue
            menu = self._menu(spec.menu, bar)
            if spec.separated:
                menu.addSeparator()
            menu.addAction(action)
        self._make_file_menus()
        self._make_view_menus()

    def _menu(self, path: str, bar: QMenuBar) -> QMenu:
        """Return the menu of a row of the table, made where it is the first of it."""
        if path not in self._menus:
            above, _, title = path.rpartition(STEP)
            holder = self._menu(above, bar) if above else bar
            if above:
                holder.addSeparator()
            menu = known(holder.addMenu(title))
            menu.setToolTipsVisible(True)
            self._menus[path] = menu
        return self._menus[path]

    def _make_file_menus(self) -> None:
        menu, before = self._menus["&File"], self.actions["save"]
        self._recent, self._samples = QMenu("&Recent", menu), QMenu("&Samples", menu)
        for submenu, fill in ((self._recent, self._fill_recent), (self._samples, self._fill_samples)):
            submenu.aboutToShow.connect(fill)
            submenu.setToolTipsVisible(True)
            menu.insertMenu(before, submenu)
        menu.insertSeparator(before)

    def _make_view_menus(self) -> None:
        menu, before = self._menus["&View"], self.actions["theme"]
        layers = QMenu("L&ayers", menu)
        for key, title in LAYERS.items():
            action = QAction(title, layers)
            action.setCheckable(True)
            action.setObjectName(f"layer {key}")
            action.triggered.connect(lambda on, key=key: self._set_layer(key, on))
            layers.addAction(action)
            self._layers[key] = action
        panels = QMenu("&Panels", menu)
        for dock in docks(self._window):
            panels.addAction(dock.toggleViewAction())
        for submenu in (layers, self._alignment.menu, panels):
            menu.insertMenu(before, submenu)

    def _make_tool_bar(self) -> None:
        self._bar = bar = QToolBar("Tools", self._window)
        bar.setObjectName("tool bar")
        bar.setMovable(False)
        bar.setWhatsThis(MENUS)
        bar.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        opener = QToolButton()
        opener.setDefaultAction(self.actions["open"])
        opener.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        opener.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        menu = QMenu(opener)
        self._add(menu, ("open", "import_as"))
        menu.addMenu(self._samples)
        menu.addMenu(self._recent)
        opener.setMenu(menu)
        opener.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        bar.addWidget(opener)
        self._add(bar, TOOLS)
        for name, text in TOOLS_WITH_TEXT.items():
            self.actions[name].setIconText(text)
            button = bar.widgetForAction(self.actions[name])
            assert isinstance(button, QToolButton)  # a tool bar makes one
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            if name == "run":
                button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
                choices = QMenu(button)
                choices.setToolTipsVisible(True)
                self._add(choices, ("run", "run_cold"))
                button.setMenu(choices)
        self._headline.setObjectName("headline")
        bar.addWidget(self._progress)
        bar.addWidget(self._headline)
        bar.addAction(self.actions["export"])
        self._window.addToolBar(Qt.ToolBarArea.TopToolBarArea, bar)

    # -- menus that are filled when they open ---------------------------------------------------------------

    def _fill_recent(self) -> None:
        menu = self._recent
        menu.clear()
        closed, paths = self._closed_sessions(), self._store.recent()
        for path, when, holds in closed:
            tip = f"{holds}: what was open when a window was closed; the newest {MOST_CLOSED} are kept"
            self._offer(menu, f"{holds.partition(':')[0]}, not saved, closed at {when}", tip, path)
        if closed:
            menu.addSeparator()
        for path in paths:
            self._offer(menu, _short(path), printable(str(path)), path)
        if not paths:
            _add_disabled(menu, "Nothing was opened yet")
            return
        menu.addSeparator()
        menu.addAction("Forget these", lambda: self._store.forget([RECENT]))

    def _fill_samples(self) -> None:
        menu = self._samples
        menu.clear()
        for title, tip, path in self._opening.samples():
            self._offer(menu, title, tip, path)
        if menu.isEmpty():
            _add_disabled(menu, "No samples are installed")

    def _offer(self, menu: QMenu, title: str, tip: str, path: str | Path) -> None:
        """Add a line that opens a path."""
        text = printable(title).replace("&", "&&")  # one alone marks a key
        action = known(menu.addAction(text, lambda: self._opening.open(path)))
        action.setToolTip(plain_tip(tip))
        action.setData(str(path))  # what it opens

    def _set_layer(self, key: str, shown: bool) -> None:
        self._session.set_appearance(self._session.appearance.with_layer(key, shown))


def _short(path: Path) -> str:
    """Return the last parts of a path as the text of an action; the whole is the tip."""
    kept = 4 if "sequence" in path.parts[-3:] else 3  # below the folder of an object of the Challenge
    return str(Path(*path.parts[-kept:])) if len(path.parts) > kept + 1 else str(path)


def _add_disabled(menu: QMenu, sentence: str) -> None:
    known(menu.addAction(sentence)).setEnabled(False)
