"""The window without a mouse, for eyes that need larger letters, and for programs that read it aloud."""

import html
import time

import pytest
from hands import docks_rest, texts_of, visible_in
from patience import PATIENCE
from PyQt6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PyQt6.QtGui import QCursor, QFont, QKeyEvent, QKeySequence
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDockWidget,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QScrollBar,
    QTabBar,
    QTableView,
    QTextBrowser,
    QTextEdit,
    QTreeView,
    QWidget,
)

from core import Settings, simulate
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.panels.parameters.spectrum_plot import SpectrumCanvas
from nrsfm_gui.shell.actions import ACTIONS
from nrsfm_gui.shell.keyboard import VIEWS, acts, acts_in_views_only
from nrsfm_gui.shell.layout import docks, is_in_front
from nrsfm_gui.shell.shortcut_sheet import GESTURES, ShortcutSheet
from nrsfm_gui.widgets.labels import ElidedLabel

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")
INTERACTIVE = (
    QAbstractButton, QLineEdit, QComboBox, QAbstractSlider, QAbstractSpinBox, QAbstractItemView,
    QPlainTextEdit, QTextEdit,
)  # fmt: skip


SEQUENCE = simulate("paper", frames=8, points=20, noise=0.3, seed=2)


@pytest.fixture(scope="module")
def shared(make_shared_window, add_solved_run):
    """Return a window with a run that is over, so that all panels are filled."""
    made = make_shared_window()
    made.session.set_theme(DARK)
    add_solved_run(made.session, SEQUENCE, QUICK)
    made.parameters_panel.set_settings(QUICK)
    made.display.refresh()
    return made


@pytest.fixture
def window(qtbot, shared):
    """Return that window in its usual size, with its usual layout."""
    shared.resize(1280, 800)
    shared.dock_layout.reset()
    qtbot.activate(shared)
    qtbot.waitUntil(lambda: docks_rest(shared))
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)  # tab bars of the layout before
    return shared


def actions_of_views():
    """Return the actions whose keys act in the views only."""
    keys = [(spec, QKeySequence(key)[0]) for spec in ACTIONS for key in spec.shortcuts]
    return [spec for spec, key in keys if acts_in_views_only(key.keyboardModifiers(), key.key())]


def parts(window):
    """Return the widgets that a person can do something with; Qt's own inner ones are left out."""
    for widget in window.findChildren(QWidget):
        above = widget.parentWidget()
        inner = isinstance(widget, (QScrollBar, QHeaderView, QTabBar, QMenu, QLabel))
        inner |= widget.objectName().startswith("qt_") or isinstance(above, (QTabBar, QLineEdit))
        inner |= any(isinstance(each, (QComboBox, QAbstractSpinBox)) for each in ancestors(widget))
        inner |= isinstance(above, QAbstractScrollArea) and widget is above.viewport()
        focusable = widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        if not inner and (isinstance(widget, INTERACTIVE) or focusable):
            yield widget


def ancestors(widget):
    above = widget.parentWidget()
    while above is not None:
        yield above
        above = above.parentWidget()


def described(widget):
    path = [type(widget).__name__, *(type(above).__name__ for above in ancestors(widget))]
    text = widget.text() if isinstance(widget, (QAbstractButton, QLineEdit, QLabel)) else ""
    return f"{' < '.join(path[:4])} {widget.objectName()!r} {text!r}"


def test_everything_that_can_be_used_has_a_name_to_be_read_aloud_and_a_tip(window):
    buddies = {label.buddy(): label.text() for label in window.findChildren(QLabel)}
    nameless = []
    for widget in parts(window):
        text = widget.text() if isinstance(widget, QAbstractButton) else buddies.get(widget, "")
        if not any(letter.isalnum() for letter in f"{text}{widget.accessibleName()}"):
            nameless.append(described(widget))
    assert "\n".join(nameless) == ""

    tipless = [
        described(widget)
        for widget in parts(window)
        if isinstance(widget, INTERACTIVE) and not widget.toolTip() and not widget.whatsThis()
        and not any(above.toolTip() for above in list(ancestors(widget))[:2])
        and not isinstance(widget, QTextBrowser)
        and not (widget.isHidden() or widget.parentWidget().isHidden())
    ]  # fmt: skip
    assert "\n".join(tipless) == ""


def explained(window, widget):
    place = widget.rect().center()
    return window.explanation_controller.explanation_of(widget, place)


def test_everything_that_can_be_seen_has_an_explanation_and_every_control_one_of_its_own(window):
    of_panels = {*(dock.whatsThis() for dock in docks(window)), window.scene_view.whatsThis()}
    without, general = [], []
    for dock in docks(window):
        dock.show()
        dock.raise_()
        QApplication.sendPostedEvents()
        for widget in window.findChildren(QWidget):
            if widget.isVisible() and not widget.visibleRegion().isEmpty() and not explained(window, widget):
                without.append(described(widget))
        for widget in parts(window):
            shown = widget.isVisible() and isinstance(widget, INTERACTIVE)
            if shown and not isinstance(widget, QTextBrowser) and explained(window, widget) in of_panels:
                general.append(described(widget))
    assert "\n".join(sorted(set(without))) == ""
    assert "\n".join(sorted(set(general))) == ""


def read_explanation(qtbot):
    """Return where the explanation is that is shown, and leave it with Escape."""
    card = QApplication.activePopupWidget()
    assert card.inherits("QWhatsThat") and QApplication.overrideCursor() is None
    qtbot.keyClick(card, Qt.Key.Key_Escape)
    assert not card.isVisible()
    return card.geometry()


def test_every_line_of_the_menus_is_explained_with_its_keys_and_what_it_needs(qtbot, window):
    explanations = window.explanation_controller
    (menu,) = (each for each in window.menuBar().findChildren(QMenu) if each.title() == "&Run")
    menu.popup(window.mapToGlobal(QPoint(20, 40)))
    for action in menu.actions():
        if not action.isSeparator():
            text = explanations.explanation_of(menu, menu.actionGeometry(action).center())
            assert action.whatsThis() in html.unescape(text), action.text()
    run, pause = window.toolbars.actions["run"], window.toolbars.actions["pause"]
    assert "Ctrl+R" in explanations.explanation_of(menu, menu.actionGeometry(run).center())
    assert "Nothing is running" in explanations.explanation_of(menu, menu.actionGeometry(pause).center())
    menu.setActiveAction(run)
    QCursor.setPos(window.mapToGlobal(window.rect().bottomRight() - QPoint(5, 5)))
    # The platform gives an open menu its keys before any shortcut, which `keyClick` does not.
    shift = Qt.KeyboardModifier.ShiftModifier
    QApplication.sendEvent(menu, QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_F1, shift))
    read_explanation(qtbot)
    menu.close()


def test_the_key_pressed_twice_explains_the_control_under_the_pointer(qtbot, window):
    tree = window.sequences_panel.findChild(QTreeView)
    QCursor.setPos(tree.mapToGlobal(tree.rect().center()))
    qtbot.keyClick(window.scene_view, Qt.Key.Key_F1, Qt.KeyboardModifier.ShiftModifier)
    assert QApplication.overrideCursor().shape() is Qt.CursorShape.WhatsThisCursor
    assert QApplication.activePopupWidget() is None
    qtbot.keyClick(window.scene_view, Qt.Key.Key_F1, Qt.KeyboardModifier.ShiftModifier)
    assert read_explanation(qtbot).intersects(QRect(QCursor.pos(), QSize(40, 60)))


@pytest.mark.parametrize("part", ["button", "menu bar", "right click"])
def test_chosen_from_the_menu_the_next_click_is_explained_and_does_not_act(qtbot, window, part):
    """Of the menu bar and of right clicks Qt leaves the explanation to the widget."""
    bar, widget, live = window.menuBar(), window.toolbars.button_of("live"), window.session.live
    place = widget.rect().center()
    if part == "menu bar":
        widget, place = bar, bar.actionGeometry(bar.actions()[0]).center()
    window.toolbars.actions["whats_this"].trigger()
    assert QApplication.activePopupWidget() is None
    button = Qt.MouseButton.RightButton if part == "right click" else Qt.MouseButton.LeftButton
    qtbot.mouseClick(widget, button, pos=place)
    read_explanation(qtbot)
    assert window.session.live is live


def test_escape_leaves_explaining_and_a_click_acts_again(qtbot, window):
    live = window.session.live
    window.toolbars.actions["whats_this"].trigger()
    assert QApplication.overrideCursor().shape() is Qt.CursorShape.WhatsThisCursor
    qtbot.keyClick(window.scene_view, Qt.Key.Key_Escape)
    assert QApplication.overrideCursor() is None
    qtbot.mouseClick(window.toolbars.button_of("live"), Qt.MouseButton.LeftButton)
    assert window.session.live is not live
    window.session.set_live(live)


def text_height(widget):
    """Return the height of all lines of a label; of one line of others, and of those `texts_of` measures."""
    lines = isinstance(widget, QLabel) and not widget.wordWrap()
    return widget.minimumSizeHint().height() if lines else widget.fontMetrics().height()


def test_no_text_is_cut_off(qtbot, window):
    """Letters are larger than usual: what holds them then holds the usual ones, too."""
    app, cut = QApplication.instance(), []
    font = QFont(app.font())
    font.setPointSizeF(font.pointSizeF() + 3)
    for theme in (LIGHT, DARK):
        window.session.set_theme(theme)
        app.setFont(font)
        for dock in docks(window):
            dock.raise_()
            qtbot.wait(5)
            QApplication.sendPostedEvents()  # layouts of what was updated last
            shown = [each for each in visible_in(window) if not isinstance(each, ElidedLabel)]
            texts = list(texts_of(shown))
            low = (widget for widget, *_ in texts if widget.height() + 2 < text_height(widget))
            narrow = (widget for widget, _text, needed, room in texts if room < needed)
            cut += map(described, (*low, *narrow))
    assert "\n".join(sorted(set(cut))) == ""


def test_f6_goes_through_all_panels_that_can_be_seen_and_back(window):
    window.scene_view.setFocus()
    seen = []
    for _ in range(20):
        window.toolbars.actions["next_panel"].trigger()
        panel = window.panel_navigation.current()
        if panel in seen:
            break
        seen.append(panel)
    visible = [dock for dock in docks(window) if is_in_front(dock)]
    assert set(visible) <= set(seen)
    assert window.timeline in seen
    window.toolbars.actions["previous_panel"].trigger()
    assert window.panel_navigation.current() is seen[-1]


def test_f6_reaches_what_stands_in_the_place_of_another_panel_before_what_is_right_of_it(qtbot, window):
    found = {dock.windowTitle(): dock for dock in docks(window)}
    window.panel_navigation.show(found["Guidance"])
    qtbot.waitUntil(lambda: is_in_front(found["Guidance"]) and not is_in_front(found["Loss"]))
    assert found["Guidance"].x() < found["2-D"].x()
    window.toolbars.actions["next_panel"].trigger()
    assert window.panel_navigation.current() is found["2-D"]
    found["Guidance"].hide()


def focusable(window):
    """Give the focus to each widget of the window that the tab key or a click would, and return it."""
    for widget in parts(window):
        if widget.focusPolicy() == Qt.FocusPolicy.NoFocus or not widget.isEnabled():
            continue
        if not widget.isVisible():
            show_dock_of_part(widget)
        widget.setFocus()
        if widget.hasFocus():
            yield widget


def show_dock_of_part(widget):
    for above in ancestors(widget):
        if isinstance(above, QDockWidget):
            above.show()
            above.raise_()


def triggered_by(window, specs):
    """Return the list that the names of triggered actions are added to, in place of what they do."""
    names: list[str] = []
    for spec in specs:
        action = window.toolbars.actions[spec.name]
        action.triggered.disconnect()
        action.triggered.connect(lambda _on, name=spec.name: names.append(name))
    return names


def is_typed_into(widget):
    editable = isinstance(widget, QComboBox) and widget.isEditable()
    return editable or isinstance(widget, (QLineEdit, QAbstractSpinBox, QPlainTextEdit, QTextEdit))


def test_every_key_acts_in_every_view_and_letters_wherever_no_text_is_typed(make_window, add_solved_run):
    window = make_window()
    add_solved_run(window.session, SEQUENCE, QUICK)
    window.display.refresh()
    window.toolbars.show_situation()
    specs = actions_of_views()
    letters = [spec for spec in specs if spec.name in {"worst_frame", "worst_point", "front", "range_first"}]
    arrows = {Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Escape}
    triggered, reached = triggered_by(window, specs), []
    for widget in focusable(window):
        reached.append(widget)
        for spec in specs if isinstance(widget, VIEWS) else letters:
            for key in map(QKeySequence, spec.shortcuts):
                code, held = key[0].key(), key[0].keyboardModifiers()
                if isinstance(widget, SpectrumCanvas) and code in arrows:
                    continue  # the arrows choose a weight there, Escape leaves it
                triggered.clear()
                QTest.keyClick(widget, code, held)
                wanted = [] if is_typed_into(widget) else [spec.name]
                assert triggered == wanted, (described(widget), spec.name)
    assert {window.scene_view, window.tracks_view, window.timeline, window.timeline.slider} <= set(reached)
    assert {window.loss_plot.plot_widget, window.parameters_panel.spectrum_plot.canvas} <= set(reached)
    for kind in (QTreeView, QTableView, QComboBox, QAbstractButton, QLineEdit):
        assert any(isinstance(widget, kind) for widget in reached), kind


def test_keys_of_the_window_are_typed_into_a_choice_only_where_it_can_be_edited(qtbot):
    choice = qtbot.addWidget(QComboBox())
    keys = Qt.Key.Key_W, Qt.Key.Key_1, Qt.Key.Key_BracketLeft, Qt.Key.Key_Space, Qt.Key.Key_End
    assert [acts(key, choice) for key in keys] == [True, True, True, False, False]
    choice.setEditable(True)
    assert not any(acts(key, choice) for key in keys)


HANDLERS = {"mousePressEvent", "mouseDoubleClickEvent", "keyPressEvent", "contextMenuEvent"}


def own_classes(widget):
    return [each for each in type(widget).__mro__ if each.__module__.startswith("nrsfm_gui.")]


def test_letters_in_the_menu_bar_open_its_menus(qtbot, make_window):
    window = make_window()
    bar = window.menuBar()
    bar.setFocus()
    qtbot.waitUntil(bar.hasFocus)
    triggered = triggered_by(window, actions_of_views())
    QTest.keyClick(bar, Qt.Key.Key_F)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu) and menu.title() == "&File" and not triggered
    for widget in (menu, bar):
        QTest.keyClick(widget, Qt.Key.Key_Escape)


def test_the_sheet_has_every_gesture_that_is_declared_and_all_that_handles_the_mouse_declares(window):
    listed = {each for classes in GESTURES.values() for each in classes}
    widgets = window.findChildren(QWidget)
    declared = {each for widget in widgets for each in own_classes(widget) if "GESTURES" in vars(each)}
    assert declared <= listed  # charts over the frames are made when points are selected
    assert {SpectrumCanvas, type(window.scene_view), type(window.timeline.strip)} <= declared
    silent = []
    for widget in widgets:
        handles = any(HANDLERS & set(vars(each)) for each in own_classes(widget))
        if handles and not any(hasattr(each, "GESTURES") for each in (widget, *ancestors(widget))):
            silent.append(described(widget))
    assert "\n".join(silent) == ""
    sheet = ShortcutSheet(window)
    labels = {label.text() for label in sheet.findChildren(QLabel)}
    for each in listed:
        for keys, tip in each.GESTURES:
            assert {f"<b>{keys}</b>", tip} <= labels
    for spec in ACTIONS:
        if spec.shortcuts:
            assert {f"<b>{html.escape(spec.keys)}</b>", spec.tip} <= labels
    sheet.show()
    for pattern, words in (("worst", "<b>W</b>"), ("qqqq", "Ctrl+K finds actions")):
        sheet.field.setText(pattern)
        shown = {label.text() for label in sheet.findChildren(QLabel) if label.isVisible()}
        assert any(words in text for text in shown) and "<b>Ctrl+O</b>" not in shown
    sheet.close()
    sheet.deleteLater()


def test_a_click_into_a_view_gives_it_the_keys_and_escape_leads_back_to_the_shape(qtbot, window):
    tree = window.sequences_panel.findChild(QTreeView)
    plot = window.tracks_view.findChild(QAbstractScrollArea).viewport()
    loss = window.loss_plot.plot_widget.viewport()
    for clicked in (window.scene_view, plot, window.timeline.curve, window.timeline.strip, loss):
        tree.setFocus()
        qtbot.keyClick(tree, Qt.Key.Key_Escape)
        assert window.scene_view.hasFocus()
        tree.setFocus()
        qtbot.mouseClick(clicked, Qt.MouseButton.LeftButton, pos=QPoint(clicked.width() - 30, 12))
        focused = QApplication.focusWidget()
        assert isinstance(focused, VIEWS), described(clicked)
        window.session.set_frame(3)
        qtbot.keyClick(focused, Qt.Key.Key_L)
        assert window.session.frame == 4, described(clicked)


def test_escape_leaves_the_menu_bar_also_after_several_menus_were_opened_by_their_keys(qtbot, window):
    window.scene_view.setFocus()
    for key in (Qt.Key.Key_F, Qt.Key.Key_V):
        qtbot.keyClick(window, key, Qt.KeyboardModifier.AltModifier)
        qtbot.waitUntil(lambda: QApplication.activePopupWidget() is not None)
        qtbot.keyClick(QApplication.activePopupWidget(), Qt.Key.Key_Escape)
        qtbot.waitUntil(lambda: QApplication.activePopupWidget() is None)
    assert window.menuBar().hasFocus()
    qtbot.keyClick(window.menuBar(), Qt.Key.Key_Escape)
    assert window.scene_view.hasFocus()


def test_where_the_keyboard_is_can_be_seen(qtbot, window):
    unseen = []
    for widget in parts(window):
        if not widget.isVisible() or not widget.isEnabled() or widget.window() is not window:
            continue
        if not widget.focusPolicy() & Qt.FocusPolicy.TabFocus or widget.visibleRegion().isEmpty():
            continue
        if widget is window.scene_view:
            continue
        focused = QApplication.focusWidget()
        if focused is not None:
            focused.clearFocus()
        qtbot.wait(1)
        if not widget.isVisible():  # a button of a header, which is seen while the keyboard is there
            continue
        around = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size()).adjusted(-4, -4, 4, 4)
        before = window.grab(around).toImage()
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        end = time.monotonic() + PATIENCE  # the server may take a while to say that the window is active
        while (same := window.grab(around).toImage() == before) and time.monotonic() < end:
            qtbot.wait(1)
        if same:
            unseen.append(described(widget))
    assert "\n".join(unseen) == ""


@pytest.mark.parametrize("size", [(1280, 800), (800, 600)])
def test_the_tab_key_leads_through_what_is_seen_from_the_left_to_the_right(qtbot, window, size):
    window.resize(*size)
    qtbot.waitUntil(lambda: docks_rest(window))
    window.scene_view.setFocus()
    before = [window.scene_view]
    for _ in range(60):
        qtbot.keyClick(before[-1], Qt.Key.Key_Tab)
        if QApplication.focusWidget() is window.scene_view:
            break
        before.append(part := QApplication.focusWidget())
        assert window.rect().intersects(QRect(part.mapTo(window, QPoint()), part.size()))
    assert QApplication.focusWidget() is window.scene_view and len(set(before)) == len(before)
    navigation, panels = window.panel_navigation, []
    for part in before:
        part.setFocus()
        panel = navigation.current()
        if panel is not None and panel not in panels[-1:]:
            panels.append(panel)
    started = navigation._all().index(window.scene_view)
    order = navigation._all()[started:] + navigation._all()[:started]
    assert panels == [panel for panel in order if panel in panels] and len(panels) > 2
    weights = window.parameters_panel.spectrum_plot.canvas
    assert before.index(weights) <= 10
    weights.setFocus()
    qtbot.keyClick(weights, Qt.Key.Key_Backtab)
    assert QApplication.focusWidget() is before[before.index(weights) - 1]


def test_arrow_keys_on_the_plot_of_the_weights_do_not_step_through_the_frames(qtbot, window):
    canvas = window.parameters_panel.spectrum_plot.canvas
    window.session.set_frame(0)
    canvas.setFocus()
    qtbot.keyClick(canvas, Qt.Key.Key_Right)
    assert window.session.frame == 0 and canvas._number.isVisible()
    qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    qtbot.keyClick(window, Qt.Key.Key_Right)
    assert window.session.frame == 1
