"""One table of actions: every line of it has a menu, a tip, a key of its own, and is found by typing.

So are panels, sequences, parameters, exports and runs.
"""

from collections import Counter

import pytest
from hands import entries_of, open_palette
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QKeySequence
from PyQt6.QtWidgets import QApplication

from core import Settings, bundled_samples
from nrsfm_gui.model.theme import LIGHT
from nrsfm_gui.shell.actions import ACTIONS, OUTSIDE_MENUS, STEP, always
from nrsfm_gui.shell.layout import docks
from nrsfm_gui.shell.toolbars import POINT_MENU, VIEW_MENU
from nrsfm_gui.widgets.command_palette import PaletteEntry, match
from nrsfm_gui.widgets.labels import WIDEST_TIP
from nrsfm_gui.widgets.style import apply_theme


@pytest.fixture(scope="module")
def shared(make_shared_window, known):
    return make_shared_window(known.sequence)


@pytest.fixture
def window(qtbot, shared):
    """Return the window of this file, active, without runs and without the palette."""
    shared.session.set_live(False)
    shared.runs_controller.forget_all()
    shared.session.set_settings(Settings())
    shared.parameters_panel.set_settings(Settings())
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
    palette.open((PaletteEntry("Xi in the title", "", int), named))
    for text in ("xi", "ξ", "Ξ"):
        palette.field.setText(text)
        assert entries_of(palette)[0] is named


def test_typing_and_return_does_it_and_gives_the_focus_back(qtbot, window):
    window.scene_view.setFocus()
    view = open_palette(qtbot, window)
    qtbot.keyClicks(view.field, "last frame")
    qtbot.keyClick(view.field, Qt.Key.Key_Return)
    assert window.session.frame == 11
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


def test_panels_sequences_exports_and_runs_are_found(qtbot, window, add_run, make_iterate, known, tmp_path):
    (tmp_path / "mine.npz").touch()
    window.store.add_recent(tmp_path / "mine.npz")
    window.sequence_opening.entries = bundled_samples()
    first, second = (
        add_run(window.session, make_iterate(known, noise=noise), Settings(rank=rank))
        for noise, rank in ((0.01, 2), (0.02, 3))
    )
    entries = window.command_palette_controller.entries()
    kinds = Counter(entry.kind for entry in entries)
    assert kinds["panel"] == len(docks(window)) and kinds["run"] == 2 and kinds["export"] > 8
    titles = Counter(entry.title for entry in entries if entry.kind == "sequence")
    assert set(titles.values()) == {1}
    circles = {title for title in titles if title.startswith("balloon, circle")}
    assert circles == {"balloon, circle", "balloon, circle (orthogonal)"}
    kinds_of = {entry.title: entry.kind for entry in entries}
    assert kinds_of["Forget these"] == "action"
    assert [kind for title, kind in kinds_of.items() if title.endswith("mine.npz")] == ["sequence"]
    palette = open_palette(qtbot, window)
    for text, kind, title in (("loss", "panel", "Loss"), ("glTF", "export", "3-D scene…")):
        palette.field.setText(text)
        assert any((entry.kind, entry.title) == (kind, title) for entry in entries_of(palette)[:3]), text
    palette.field.setText(f"run {first.number}")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert window.session.shown is first is not second
    palette = open_palette(qtbot, window)
    palette.field.setText("panel points")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert window.points_panel.isVisible()
    assert window.points_panel.isAncestorOf(QApplication.focusWidget())


def test_a_parameter_is_found_by_its_name_and_symbol_and_its_field_focused(qtbot, window):
    dock = window.parameters_panel.parentWidget()
    for text, key in (("xi", "xi"), ("ξ", "xi"), ("η", "eta"), ("K", "rank"), ("gamma", "gamma")):
        dock.hide()
        palette = open_palette(qtbot, window)
        palette.field.setText(text)
        assert (entries_of(palette)[0].kind, entries_of(palette)[0].symbols[0]) == ("parameter", key)
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
        focused = QApplication.focusWidget()
        assert dock.isVisible() and window.parameters_panel.isAncestorOf(focused)
        assert focused.objectName() == key


def test_the_weights_of_each_objective_are_found_and_get_the_focus(qtbot, window):
    panel = window.parameters_panel
    for objective, key in (("depths", "mode_weights"), ("wnn", "weights")):
        settings = Settings(objective=objective)
        window.session.set_settings(settings)
        panel.set_settings(settings)
        palette = open_palette(qtbot, window)
        palette.field.setText("sigma")
        wanted = {key, "noise"} if objective == "depths" else {key}
        assert {row.symbols[0] for row in entries_of(palette)[: len(wanted)]} == wanted
        palette.field.setText("weights")
        assert entries_of(palette)[0].symbols[0] == key
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
        focused = QApplication.focusWidget()
        assert focused is (panel.spectrum_plot.canvas if key == "weights" else focused)
        assert panel.isAncestorOf(focused) and focused.objectName() in (key, "")


def test_every_parameter_of_every_problem_is_found_by_its_label(qtbot, window):
    palette = open_palette(qtbot, window)
    for settings in (Settings(), Settings(problem="lowrank", rank=4)):
        window.session.set_settings(settings)
        window.parameters_panel.set_settings(settings)
        entries = list(window.parameters_panel.parameter_entries())
        assert len(entries) > 8 and any(entry.reason for entry in entries)
        window.command_palette_controller.open()
        for entry in entries:
            palette.field.setText(entry.title)
            found = [row for row in entries_of(palette)[:4] if row.symbols == entry.symbols]
            assert found and found[0].reason == entry.reason, entry.title


def test_the_values_of_choices_are_found_and_chosen(qtbot, window):
    def chosen():
        return {each.title for each in window.parameters_panel.value_entries() if each.checked}

    for text, title in (("admm", "Method: ADMM"), ("schatten", "Penalty: Schatten-p")):
        palette = open_palette(qtbot, window)
        palette.field.setText(text)
        first = entries_of(palette)[0]
        assert (first.kind, first.title, first.checked) == ("value", title, False)
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda title=title: title in chosen())
        palette = open_palette(qtbot, window)
        palette.field.setText(text)
        assert entries_of(palette)[0].checked
