"""What surrounds the panels: menus, tool bar and status bar, made of the table of actions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QSize, Qt
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QLabel, QMenu, QProgressBar, QSizePolicy, QToolBar, QToolButton, QWidget

from nrsfm_gui.scene import summaries
from nrsfm_gui.scene.scene import LAYERS
from nrsfm_gui.shell.actions import ActionSpec, Situation, make_action, with_own_letters
from nrsfm_gui.shell.layout import docks
from nrsfm_gui.widgets.icons import icon
from nrsfm_gui.widgets.labels import ElidedLabel, MemoryLabel
from nrsfm_gui.widgets.style import faint_text

if TYPE_CHECKING:
    from collections.abc import Collection

    from core import Sequence
    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.model.run import Run
    from nrsfm_gui.model.theme import Theme

TOOLS = ("run", "pause", "step", "stop", "reset", "", "live")
TOOLS_WITH_TEXT = {"run": "Run", "reset": "Forget runs", "live": "Live"}
ICON_SIZE = 18
PROGRESS_WIDTH = 140


class Chrome(QObject):
    """Owns menus, tool bar and status bar of a window."""

    def __init__(self, window: MainWindow, table: Collection[ActionSpec]) -> None:
        super().__init__(window)
        self._window = window
        self._table = table
        self.actions: dict[str, QAction] = {}
        self._menus: dict[str, QMenu] = {}
        self._headline = ElidedLabel(alignment=Qt.AlignmentFlag.AlignRight)
        self._activity = ElidedLabel()
        self._hover = QLabel()
        self._facts = QLabel()
        self._progress = QProgressBar()
        self._make_menus()
        self._make_tool_bar()
        self._make_status_bar()
        self.say("Ready")

    # -- setters --------------------------------------------------------------------------------------------

    def say(self, sentence: str) -> None:
        """Show what is going on."""
        self._activity.set_whole(sentence)

    def show_activity(self, run: Run | None) -> None:
        """Show what the solver does, how far it is and how long it will take."""
        session = self._window.session
        past = session.seen if session.moment is not None and run is session.shown else None
        self.say(summaries.activity(run, past=past))
        alive = run is not None and run.state.alive
        self._progress.setUpdatesEnabled(False)  # else it has the whole window painted before it returns
        if run is not None and alive:
            self._progress.setValue(round(1000 * run.last.fraction) if run.last is not None else 0)
        self._progress.setUpdatesEnabled(True)
        self._progress.setVisible(alive)

    def show_headline(self, text: str) -> None:
        """Show the numbers that matter most."""
        self._headline.set_whole(text)

    def show_hover(self, text: str) -> None:
        """Show the values of the point under the mouse."""
        self._hover.setText(text)

    def show_sequence(self, sequence: Sequence) -> None:
        """Show the size of a sequence."""
        self._facts.setText(summaries.sequence_facts(sequence))
        self._facts.setToolTip(sequence.provenance)
        self.say("Ready")

    def show_situation(self, situation: Situation) -> None:
        """Enable what is possible, and check what is so."""
        for spec in self._table:
            self.actions[spec.name].setEnabled(spec.when(situation))
        self.actions["pause"].setChecked(situation.paused)
        self.actions["pause"].setText("Res&ume" if situation.paused else "Pa&use")

    def set_theme(self, theme: Theme) -> None:
        """Draw the icons in the colors of a theme."""
        for spec in self._table:
            if spec.icon:
                color = theme.accent if spec.name == "run" else theme.text
                self.actions[spec.name].setIcon(icon(spec.icon, color, disabled=faint_text(theme)))
        self.actions["theme"].setChecked(theme.name == "light")

    def needs(self, name: str) -> str:
        """Return what has to be done before an action of the table is possible."""
        return next((spec.when.needs for spec in self._table if spec.name == name), "")

    def button_of(self, name: str) -> QWidget | None:
        """Return the button of the tool bar for an action, None where it has none."""
        return self._bar.widgetForAction(self.actions[name])

    def fill_menus(self) -> None:
        """Fill the menus that are filled when they open."""
        self._fill_recent(self._recent)
        self._fill_samples(self._samples)

    # -- making ---------------------------------------------------------------------------------------------

    def _make_menus(self) -> None:
        bar = self._window.menuBar()
        assert bar is not None
        for spec in self._table:
            if spec.menu not in self._menus:
                menu = bar.addMenu(spec.menu)
                assert menu is not None
                menu.setToolTipsVisible(True)
                self._menus[spec.menu] = menu
            action = make_action(spec, self._window)
            self.actions[spec.name] = action
            self._window.addAction(action)  # its shortcut works even where the menu bar is hidden
            if spec.separated:
                self._menus[spec.menu].addSeparator()
            self._menus[spec.menu].addAction(action)
        self._make_file_menus()
        self._make_view_menus()
        for owner in (bar, *self._menus.values()):
            items = [item for item in owner.actions() if not item.isSeparator()]
            for item, title in zip(items, with_own_letters([item.text() for item in items]), strict=True):
                item.setText(title)

    def _make_file_menus(self) -> None:
        menu, before = self._menus["&File"], self.actions["save"]
        recent = QMenu("&Recent", menu)
        recent.aboutToShow.connect(lambda: self._fill_recent(recent))
        samples = QMenu("&Samples", menu)
        samples.aboutToShow.connect(lambda: self._fill_samples(samples))
        for submenu in (recent, samples):
            submenu.setToolTipsVisible(True)
            menu.insertMenu(before, submenu)
        menu.insertSeparator(before)
        self._recent, self._samples = recent, samples

    def _make_view_menus(self) -> None:
        window, menu, before = self._window, self._menus["&View"], self.actions["theme"]
        layers = QMenu("L&ayers", menu)
        for key, title in LAYERS.items():
            action = QAction(title, layers)
            action.setCheckable(True)
            action.setChecked(key in window.display.layers)
            action.setObjectName(f"layer {key}")
            action.toggled.connect(lambda on, key=key: self._toggle_layer(key, on))
            layers.addAction(action)
        panels = QMenu("&Panels", menu)
        for dock in docks(window):
            panels.addAction(dock.toggleViewAction())
        for submenu in (layers, window.aligning.menu, panels):
            menu.insertMenu(before, submenu)

    def _make_tool_bar(self) -> None:
        bar = QToolBar("Tools", self._window)
        bar.setObjectName("tool bar")
        self._bar = bar
        bar.setMovable(False)
        bar.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        opener = QToolButton()
        opener.setDefaultAction(self.actions["open"])
        opener.setText("Open")
        opener.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        opener.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        menu = QMenu(opener)
        menu.addAction(self.actions["open"])
        menu.addAction(self.actions["open_folder"])
        menu.addMenu(self._samples)
        menu.addMenu(self._recent)
        opener.setMenu(menu)
        opener.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        bar.addWidget(opener)
        bar.addSeparator()
        for name in TOOLS:
            if not name:
                bar.addSeparator()
                continue
            bar.addAction(self.actions[name])
            button = bar.widgetForAction(self.actions[name])
            if name in TOOLS_WITH_TEXT and isinstance(button, QToolButton):
                self.actions[name].setIconText(TOOLS_WITH_TEXT[name])
                button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            if name == "run" and isinstance(button, QToolButton):
                button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
                choices = QMenu(button)
                choices.setToolTipsVisible(True)
                choices.addActions([self.actions["run"], self.actions["run_cold"]])
                button.setMenu(choices)
        self._headline.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._headline.setMinimumWidth(60)
        self._headline.setObjectName("headline")
        bar.addWidget(self._headline)
        self._window.aligning.place_in(bar)
        for name in ("fit", "export", "export_report", "theme"):
            bar.addAction(self.actions[name])
        self._window.addToolBar(Qt.ToolBarArea.TopToolBarArea, bar)

    def _make_status_bar(self) -> None:
        bar = self._window.statusBar()
        assert bar is not None
        bar.setSizeGripEnabled(False)
        self._progress.setRange(0, 1000)
        self._progress.setTextVisible(False)
        self._progress.setFixedWidth(PROGRESS_WIDTH)
        self._progress.hide()
        bar.addWidget(self._activity, 1)
        for widget in (self._progress, self._hover, self._facts, MemoryLabel()):
            bar.addPermanentWidget(widget)

    # -- menus that are filled when they open ---------------------------------------------------------------

    def _fill_recent(self, menu: QMenu) -> None:
        menu.clear()
        self._offer_last_session(menu)
        paths = self._window.store.recent()
        for path in paths:
            action = menu.addAction(_short(path), lambda path=path: self._window.opening.open(path))
            assert action is not None
            action.setToolTip(str(path))
        if not paths:
            _say_none(menu, "Nothing was opened yet")
            return
        menu.addSeparator()
        menu.addAction("Forget these", self._window.store.clear_recent)

    def _offer_last_session(self, menu: QMenu) -> None:
        last = self._window.keeping.last_session()
        if last is not None:
            path, holds = last
            action = menu.addAction("Last session, not saved", lambda: self._window.opening.open(path))
            assert action is not None
            action.setToolTip(f"{holds}: what was open when the window was closed")
            menu.addSeparator()

    def _fill_samples(self, menu: QMenu) -> None:
        menu.clear()
        for title, tip, path in self._window.opening.samples():
            action = menu.addAction(title, lambda path=path: self._window.opening.open(path))
            assert action is not None
            action.setToolTip(tip)
        if menu.isEmpty():
            _say_none(menu, "No samples are installed")

    def _toggle_layer(self, key: str, shown: bool) -> None:
        display = self._window.display
        display.set_layers(display.layers | {key} if shown else display.layers - {key})


def _short(path: Path) -> str:
    """Return the last parts of a path; the whole is the tip."""
    kept = 4 if "sequence" in path.parts[-3:] else 3  # below the folder of an object of the Challenge
    return str(Path(*path.parts[-kept:])) if len(path.parts) > kept + 1 else str(path)


def _say_none(menu: QMenu, sentence: str) -> None:
    action = menu.addAction(sentence)
    assert action is not None
    action.setEnabled(False)
