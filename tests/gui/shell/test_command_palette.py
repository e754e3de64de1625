"""One table of actions: every line of it has a menu, a tip, a key of its own, and is found by typing."""

from collections import Counter

import pytest
from hands import entries_of, open_palette
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QKeySequence
from PyQt6.QtWidgets import QApplication, QDockWidget, QMainWindow, QStatusBar

from core import simulate
from nrsfm_gui.model.app_store import AppStore
from nrsfm_gui.model.session import Session
from nrsfm_gui.model.theme import LIGHT
from nrsfm_gui.panels.alignment.alignment_controller import AlignmentController
from nrsfm_gui.panels.parameters.parameters_panel import ParametersPanel
from nrsfm_gui.panels.timeline.timeline import Timeline, TimelineController
from nrsfm_gui.panels.view3d.scene_view import SceneView
from nrsfm_gui.scene.display import Display
from nrsfm_gui.sessions.opening import SequenceOpening
from nrsfm_gui.shell.actions import ACTIONS, OUTSIDE_MENUS, STEP, always
from nrsfm_gui.shell.command_palette_controller import CommandPaletteController
from nrsfm_gui.shell.status_bar import StatusController
from nrsfm_gui.shell.toolbars import POINT_MENU, VIEW_MENU, Toolbars
from nrsfm_gui.widgets.command_palette import PaletteEntry, match
from nrsfm_gui.widgets.labels import WIDEST_TIP
from nrsfm_gui.widgets.style import apply_theme


class ActionWindow(QMainWindow):
    """All actions in menus and a tool bar, a 3-D view and a timeline, and none of the other panels."""

    def __init__(self, session, store):
        super().__init__()
        self.session, self.sequence_opening = session, SequenceOpening(session, store, self)
        self.scene_view, timeline = SceneView(software=True), Timeline()
        self.setCentralWidget(self.scene_view)
        self.scene_view.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        dock = QDockWidget("Timeline", self)
        dock.setWidget(timeline)
        self.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, dock)
        self.display = Display(session, (self.scene_view,), parent=self)
        self.timeline_controller = TimelineController(session, self.display, timeline)
        self.toolbars = Toolbars(
            self, session, store, self.sequence_opening, owner=self,
            alignment=AlignmentController(session, self), closed_sessions=list,
            status=StatusController(session, self.display, QStatusBar(self), self),
        )  # fmt: skip
        self.command_palette_controller = CommandPaletteController(
            self.toolbars,
            session,
            self.sequence_opening,
            ParametersPanel(),
            self,
            show_panel=QDockWidget.raise_,
            show_run=lambda _number: None,
        )


@pytest.fixture(scope="module")
def shared(qapp, tmp_path_factory):
    """Return a window of actions, for all tests of this file."""
    store = AppStore(tmp_path_factory.mktemp("actions") / "settings.json")
    made = ActionWindow(Session(), store)
    made.session.set_sequence(simulate("paper", frames=8, points=20, noise=0.3, seed=2))
    made.resize(1280, 800)
    made.show()
    yield made
    made.display.shut_down()
    made.close()
    made.deleteLater()
    made.session.deleteLater()


@pytest.fixture
def window(qtbot, shared):
    """Return that window, active and without the palette."""
    shared.command_palette_controller.view.close()
    return qtbot.activate(shared)


# -- the table --------------------------------------------------------------------------------------------


def test_every_action_has_a_menu_a_tip_and_a_key_of_its_own():
    keys = Counter(QKeySequence(key).toString() for spec in ACTIONS for key in spec.shortcuts)
    assert "" not in keys
    for counts in (keys, Counter(spec.name for spec in ACTIONS)):
        assert [each for each, count in counts.items() if count > 1] == []
    for spec in ACTIONS:
        assert "&" in spec.menu and spec.title.replace("&", ""), spec.name
        assert len(spec.tip) > 5 and not spec.tip.endswith("."), spec.name
        assert spec.when.needs or spec.when is always, spec.name


def test_letters_of_a_menu_are_used_once(window):
    bar = window.menuBar()
    for menu in (bar, *(action.menu() for action in bar.actions())):
        titles = [action.text() for action in menu.actions() if "&" in action.text().replace("&&", "")]
        letters = Counter(title[title.index("&") + 1].lower() for title in titles)
        assert [letter for letter, count in letters.items() if count > 1] == [], titles


def test_tips_are_shown_as_they_are_written(window):
    entries = window.command_palette_controller.entries()
    tips = [entry.tip for entry in entries]
    places = {entry.place for entry in entries}
    assert {"File › Samples", "View › Layers"} <= places and any("lignment" in place for place in places)
    assert max(map(len, tips)) > WIDEST_TIP  # one that is wrapped
    assert not [tip for tip in tips if "<span" in tip]


def test_half_of_the_actions_are_in_the_menus(window):
    in_menus = {
        action for holder in window.menuBar().actions() for action in holder.menu().actions() if action.text()
    }
    for spec in ACTIONS:
        action = window.toolbars.actions[spec.name]
        is_nested = STEP in spec.menu
        assert is_nested or (action in in_menus) != (spec.name in OUTSIDE_MENUS), spec.name
    assert OUTSIDE_MENUS <= {spec.name for spec in ACTIONS}
    shown = [spec for spec in ACTIONS if spec.name not in OUTSIDE_MENUS]
    nested = {spec.menu for spec in shown if STEP in spec.menu}
    assert len([spec for spec in shown if STEP not in spec.menu]) + len(nested) <= 54


@pytest.mark.parametrize("names", [POINT_MENU, VIEW_MENU])
def test_the_menus_of_a_point_and_of_the_view_have_the_actions_with_their_keys(window, names):
    menu = window.toolbars.open_menu(names, QPoint(5, 5))
    shown = [action for action in menu.actions() if not action.isSeparator()]
    assert [window.toolbars.actions[name] for name in names if name] == shown
    assert all(action.shortcut().toString() for action in shown)
    menu.close()


# -- finding ----------------------------------------------------------------------------------------------


def test_a_title_is_found_by_its_start_any_word_or_its_initials_in_their_order():
    texts = ("Run from scratch", "Run", "Solve from nothing")
    start, word, scattered, tip = (match(pattern, texts) for pattern in ("run", "scr", "rfs", "nothing"))
    assert start[0] < word[0] < scattered[0] and word[0] < tip[0]
    assert scattered[1] == {0, 4, 9} and tip[1] == frozenset()
    assert match("scr ru", texts)[1] == {0, 1, 9, 10, 11}
    assert match("runx", texts) is None and match("", texts)[0] == 0
    assert match("gtf", ("Go to the frame",)) and not match("tseg", ("Go to the frame",))


def test_every_action_is_reached_by_typing_its_title_and_of_two_found_alike_the_shorter_first(qtbot, window):
    view = open_palette(qtbot, window)
    view.field.setText("worst")
    assert [entry.title for entry in entries_of(view)[:2]] == ["Worst frame", "Worst point of this frame"]
    for spec in ACTIONS:
        if spec.name == "palette":
            continue
        title = window.toolbars.actions[spec.name].text().replace("&", "")
        view.field.setText(title)
        found = entries_of(view)
        assert any(entry.title == title for entry in found[:4]), title


def test_a_symbol_finds_what_it_stands_for_before_all_that_contains_its_letters(window):
    palette = window.command_palette_controller.view
    named = PaletteEntry("strength", "", int, "parameter", symbols=("xi", "ξ"))
    entries = PaletteEntry("Xi in the title", "", int), named
    palette.open(entries)
    for text in ("xi", "ξ", "Ξ"):
        palette.field.setText(text)
        assert entries_of(palette)[0] is named
    titled = PaletteEntry("Xi", "", int, "panel")
    palette.open((*entries, titled))
    palette.field.setText("xi ")
    assert entries_of(palette)[:2] == [titled, named]


def test_typing_and_return_does_it_and_gives_the_focus_back(qtbot, window):
    window.scene_view.setFocus()
    view = open_palette(qtbot, window)
    qtbot.keyClicks(view.field, "last frame")
    qtbot.keyClick(view.field, Qt.Key.Key_Return)
    assert window.session.frame == 7
    assert not view.isVisible()
    assert QApplication.focusWidget() is window.scene_view


def test_letters_typed_here_are_not_keys_of_the_window_and_escape_keeps_the_selection(qtbot, window):
    window.session.set_point(3)
    view = open_palette(qtbot, window)
    locked = window.toolbars.actions["camera_lock"].isChecked()
    qtbot.keyClicks(view.field, "c l")
    qtbot.keyClick(view.field, Qt.Key.Key_Home)
    assert view.field.text() == "c l"
    assert window.toolbars.actions["camera_lock"].isChecked() == locked
    assert not window.timeline_controller.playback.playing
    qtbot.keyClick(view.field, Qt.Key.Key_Escape)
    assert not view.isVisible()
    assert window.session.point == 3


def test_what_is_not_possible_is_gray_shows_why_and_does_nothing(qtbot, window):
    view = open_palette(qtbot, window)
    qtbot.keyClicks(view.field, "Forget runs")
    assert entries_of(view)[0].reason == "Run the solver first"
    qtbot.keyClick(view.field, Qt.Key.Key_Return)
    assert view.isVisible()


def test_arrows_move_in_the_list_and_wrap(qtbot, window):
    view = open_palette(qtbot, window)
    qtbot.keyClick(view.field, Qt.Key.Key_Down)
    assert view.list.currentRow() == 1
    qtbot.keyClick(view.field, Qt.Key.Key_Up)
    qtbot.keyClick(view.field, Qt.Key.Key_Up)
    assert view.list.currentRow() == view.list.count() - 1
    qtbot.keyClick(view.field, Qt.Key.Key_PageDown)
    assert view.list.currentRow() == view.list.count() - 1
    view.field.setText("zzzzzz")
    assert view.list.count() == 0
    qtbot.keyClick(view.field, Qt.Key.Key_Return)
    assert view.isVisible()
    window.scene_view.setFocus()  # it goes when the focus does
    assert not view.isVisible()


def test_found_letters_are_painted_in_the_color_of_the_accent(qtbot, qapp, window, near):
    view = open_palette(qtbot, window)
    apply_theme(LIGHT)
    before = near(view.list.grab().toImage(), LIGHT.accent, tolerance=30).sum()
    view.field.setText("frame")
    qtbot.wait(10)
    assert near(view.list.grab().toImage(), LIGHT.accent, tolerance=30).sum() > before + 40
