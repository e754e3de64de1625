"""The style of the application from a theme: a palette for the Fusion style, and a style sheet.

The sheet covers only what Fusion has no palette role for: dock titles, tool bars, tabs, headers, messages.
What draws with other colors of the theme is a `Themed` widget, which has the theme of its palette.
Tabs cannot be reordered: after docks were shown and hidden, Qt confuses the order of its tabs with that of
its docks, and the process crashes.
"""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, Qt
from PyQt6.QtGui import QColor, QGuiApplication, QPalette
from PyQt6.QtWidgets import QApplication, QStyleFactory, QWidget

from nrsfm_gui.model.preferences import SYSTEM
from nrsfm_gui.model.theme import DARK, LIGHT, PAPER, THEMES, Theme

if TYPE_CHECKING:
    _Widget = QWidget
else:
    _Widget = object  # Qt does not allow two of its classes among the bases of one

_BY_LINK = {QColor(theme.accent).rgb(): theme for theme in (*THEMES.values(), PAPER)}
TICK = Path(__file__).with_name("tick.svg")  # of a box that is checked: a style sheet draws none by itself
ARROW = Path(__file__).with_name("arrow.svg")  # of a choice, in a gray that is seen in both themes
SHEET = Template("""
QMainWindow, QDialog { background: $window; }
QMainWindow::separator { background: $window; width: 5px; height: 5px; }
QMainWindow::separator:hover { background: $accent; }
QDockWidget { color: $muted; font-weight: 600; }
QDockWidget::title { background: $window; padding: 5px 8px 4px 8px; text-align: left; }
QDockWidget > QWidget { border: 0; }
DockTitle { border: 0; border-bottom: 1px solid transparent; }
DockTitle:focus { border-bottom-color: $accent; }
QToolBar { background: $window; border: 0; spacing: 4px; padding: 4px 6px; }
QToolBar::separator { background: $border; width: 1px; margin: 5px 6px; }
QToolBar QToolButton { padding: 4px 8px; border: 1px solid transparent; border-radius: 5px; color: $text; }
QToolBar QToolButton:hover { background: $raised; border-color: $border; }
QToolBar QToolButton:pressed, QToolBar QToolButton:checked { background: $raised; border-color: $accent; }
QToolBar QToolButton:disabled { color: $faint; }
QToolBar QToolButton[popupMode="1"] { padding-right: 20px; }
QToolButton::menu-button { border: 0; width: 16px; }
QMenuBar { background: $window; padding: 1px 4px; }
QMenuBar::item { padding: 4px 9px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: $raised; }
QStatusBar { background: $window; color: $muted; }
QStatusBar::item { border: 0; }
QStatusBar QLabel { color: $muted; padding: 0 6px; }
QTabBar { qproperty-drawBase: 0; qproperty-movable: 0; qproperty-elideMode: ElideNone;
    qproperty-usesScrollButtons: 1; }
QTabBar::tab { background: $window; color: $muted; padding: 4px 8px; border: 0;
    border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: $text; border-bottom-color: $accent; }
QTabBar::tab:hover { color: $text; }
QHeaderView { background: $panel; border: 0; }
QHeaderView::section { background: $panel; color: $muted; border: 0; border-bottom: 1px solid $border;
    padding: 4px 5px; }
QHeaderView::up-arrow, QHeaderView::down-arrow { subcontrol-origin: border; subcontrol-position: top center;
    width: 10px; height: 6px; }  /* not over the end of a heading that is aligned right */
QAbstractScrollArea { border: 0; }
QGraphicsView, QScrollArea { border: 1px solid transparent; }
QGraphicsView:focus, QScrollArea:focus { border-color: $accent; }
QTreeView, QListView, QTableView, QPlainTextEdit, QTextBrowser { background: $panel;
    border: 1px solid $panel; alternate-background-color: $stripe; }
QTreeView:focus, QListView:focus, QTableView:focus, QPlainTextEdit:focus, QTextBrowser:focus {
    border-color: $accent; }
QToolButton:focus, QToolBar QToolButton:focus { border: 1px solid $accent; border-radius: 4px; }
QTreeView::item, QListView::item { padding: 2px 0; }
QMenu { background: $raised; border: 1px solid $border; padding: 4px 0; }
QMenu::item { padding: 5px 22px 5px 30px; color: $text; }
QMenu::item:selected { background: $accent; color: #ffffff; }
QMenu::item:disabled { color: $faint; background: transparent; }
QMenu::separator { height: 1px; background: $border; margin: 4px 8px; }
QMenu::icon { left: 8px; }
QMenu::indicator { left: 9px; }
QMenu::indicator, QCheckBox::indicator, QAbstractItemView::indicator { width: 12px; height: 12px;
    border: 1px solid $muted; border-radius: 3px; background: $panel; }
QMenu::indicator:exclusive { border-radius: 6px; }
QMenu::indicator:checked, QCheckBox::indicator:checked, QAbstractItemView::indicator:checked {
    border-color: $accent; background: $accent; image: url("$tick"); }
QMenu::indicator:selected { border-color: #ffffff; }
QCheckBox::indicator:hover, QCheckBox:focus::indicator { border-color: $accent; }
QMenu::indicator:disabled, QCheckBox::indicator:disabled { border-color: $border; background: transparent; }
QToolTip { background: $raised; color: $text; border: 1px solid $border; padding: 4px; }
QLineEdit { background: $panel; border: 1px solid $border; border-radius: 3px; padding: 2px 4px; }
QLineEdit:focus { border-color: $accent; }
QLineEdit:disabled { color: $faint; border-color: $raised; }
QComboBox { background: $raised; border: 1px solid $border; border-radius: 3px; padding: 3px 4px 3px 6px;
    color: $text; }
QComboBox:hover { border-color: $muted; }
QComboBox:focus { border-color: $accent; }
QComboBox:disabled { color: $faint; border-color: $raised; }
QComboBox::drop-down { border: 0; width: 18px; }
QComboBox::down-arrow { image: url("$arrow"); width: 9px; height: 9px; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: $border; border-radius: 4px; margin: 1px; }
QScrollBar::handle:vertical { min-height: 24px; }
QScrollBar::handle:horizontal { min-width: 24px; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QProgressBar { background: $raised; border: 0; border-radius: 3px; max-height: 6px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QLineEdit[invalid="true"] { border-color: $warning; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QLabel[role="warning"] { color: $warning; }
QLabel[role="muted"] { color: $muted; }
QLabel[role="heading"] { color: $muted; font-weight: 600; }
QLabel[role="title"] { color: $text; font-weight: 600; }
QFrame[role="line"] { background: $border; border: 0; min-height: 1px; max-height: 1px; }
QFrame[role="bar"] { background: $raised; border: 0; }
QFrame[role="banner"] { background: $raised; border: 1px solid $border; }
QFrame[edge="accent"] { border-left: 4px solid $accent; }
QFrame[edge="warning"] { border-left: 4px solid $warning; }
QFrame[edge="other"] { border-left: 4px solid $other; }
QFrame[edge="done"] { border-left: 4px solid $reprojected; }
QFrame[role="popup"] { background: $window; border: 1px solid $border; }
QFrame[role="card"] { background: $window; border: 1px solid $border; border-radius: 8px; }
QFrame[role="palette"] { background: $window; border: 1px solid $accent; border-radius: 8px; }
QLabel[role="run"] { background: $panel; color: $text; padding: 2px 8px; border: 0;
    border-top: 3px solid $estimate; }
QLabel[role="other run"] { background: $panel; color: $text; padding: 2px 8px; border: 0;
    border-top: 3px solid $other; }
CompareTable, CompareTable:focus { border: 1px solid $border; }
SequenceTree::item:selected { background: $raised; color: $text; }
ViewButtons { background: $panel; }
ViewButtons QToolButton { background: $raised; color: $muted; border: 1px solid $border; border-radius: 4px;
    padding: 2px 7px; }
ViewButtons QToolButton:hover { color: $text; border-color: $muted; }
ViewButtons QToolButton:checked { color: $text; border-color: $accent; }
ViewButtons QToolButton:disabled { color: $border; background: transparent; }
""")


def palette(theme: Theme) -> QPalette:
    """Return the palette of a theme."""
    result = QPalette()
    role = QPalette.ColorRole
    for color, roles in (
        (theme.window, (role.Window, role.AlternateBase)),
        (theme.panel, (role.Base,)),
        (theme.raised, (role.Button, role.ToolTipBase)),
        (theme.text, (role.WindowText, role.Text, role.ButtonText, role.ToolTipText)),
        (theme.muted, (role.PlaceholderText,)),
        (theme.warning, (role.BrightText,)),
        (theme.accent, (role.Highlight, role.Accent, role.Link)),
        ("#ffffff", (role.HighlightedText,)),
        (theme.border, (role.Light, role.Midlight, role.Mid, role.Dark)),
    ):
        for which in roles:
            result.setColor(which, QColor(color))
    faint = QColor(faint_text(theme))
    for which in (role.WindowText, role.Text, role.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, which, faint)
    result.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(theme.border))
    return result


def faint_text(theme: Theme) -> str:
    """Return the color of disabled text: half way from muted to the window."""
    return mixed(theme.muted, theme.window, 0.5)


def mixed(first: str, second: str, share: float) -> str:
    """Return a color between two "#rrggbb" colors, `share` of the way to the second."""
    one, two = QColor(first), QColor(second)
    channels = (round(a + (b - a) * share) for a, b in zip(one.getRgb()[:3], two.getRgb()[:3], strict=True))
    return "#{:02x}{:02x}{:02x}".format(*channels)


def theme_named(name: str) -> Theme:
    """Return a theme by its name; "system" is the desktop's choice, dark where it has none."""
    if name == SYSTEM:
        hints = QGuiApplication.styleHints()
        light = hints is not None and hints.colorScheme() is Qt.ColorScheme.Light
        return LIGHT if light else DARK
    return THEMES.get(name, DARK)


def theme_of(palette: QPalette) -> Theme:
    """Return the theme that a palette is of, the dark one for a palette of none."""
    return _BY_LINK.get(palette.color(QPalette.ColorRole.Link).rgb(), DARK)


def set_property(widget: QWidget, name: str, value: str | bool) -> None:
    """Set a property that the style sheet uses, like `role`, and draw the widget again."""
    if (widget.property(name) or False) != value:
        widget.setProperty(name, value)
        style = widget.style()
        assert style is not None
        style.unpolish(widget)
        style.polish(widget)


class Themed(_Widget):
    """A widget that draws with colors of the theme; it precedes a class of Qt among the bases.

    `_theme` is that of the palette at any time. What does more than to paint with it, overrides
    `_apply_theme` and ends its constructor with `_follow_theme`.
    """

    _applied: Theme | None = None  # None until the constructor has ended

    @property
    def _theme(self) -> Theme:
        return theme_of(self.palette())

    def changeEvent(self, event: QEvent | None) -> None:
        """Apply the colors of another palette."""
        super().changeEvent(event)
        if event is not None and event.type() is QEvent.Type.PaletteChange and self._applied is not None:
            self._follow_theme()

    def _follow_theme(self) -> None:
        """Apply the colors of the theme, now and after each change of it."""
        theme = self._theme
        if theme is not self._applied:
            self._applied = theme
            self._apply_theme(theme)

    def _apply_theme(self, theme: Theme) -> None:
        """Use the colors of a theme."""


def apply_theme(theme: Theme) -> None:
    """Apply a theme to the application."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    # A sheet in the place of another is applied to a widget once for each of its ancestors, and behind a
    # sheet the style has no name: without this line a change of the theme takes four times as long.
    app.setStyleSheet("")
    style = app.style()
    if style is None or style.objectName().lower() != "fusion":
        app.setStyle(QStyleFactory.create("Fusion"))
    app.setPalette(palette(theme))
    colors = vars(theme) | {"faint": faint_text(theme), "stripe": mixed(theme.panel, theme.window, 0.5)}
    app.setStyleSheet(SHEET.substitute(colors, tick=TICK.as_posix(), arrow=ARROW.as_posix()))
