"""The theme as palette and style sheet: who follows it, and when."""

from PyQt6.QtCore import QCoreApplication, QEvent
from PyQt6.QtWidgets import QFrame, QVBoxLayout, QWidget

from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.widgets.style import Themed, apply_theme, set_property


class Painted(Themed, QWidget):
    """Notes every theme that it takes the colors of."""

    def __init__(self, parent=None):
        super().__init__(parent)
        QCoreApplication.sendEvent(self, QEvent(QEvent.Type.PaletteChange))  # before it is ready
        self.taken: list[str] = []
        self._follow_theme()

    def _apply_theme(self, theme):
        self.taken.append(theme.name)


def test_a_widget_applies_the_colors_of_a_theme_once_per_change(qtbot, qapp):
    apply_theme(DARK)
    outer = qtbot.addWidget(QWidget())
    inner = Painted()
    QVBoxLayout(outer).addWidget(inner)
    apply_theme(LIGHT)  # what is in no window yet takes them when it is shown
    with qtbot.waitExposed(outer):
        outer.show()
    assert inner.taken == ["dark", "light"]
    for theme in (LIGHT, DARK, LIGHT):
        apply_theme(theme)
        assert inner._theme is theme
    outer.hide()
    apply_theme(DARK)
    assert inner.taken == ["dark", "light", "dark", "light", "dark"]


def test_a_property_that_the_sheet_uses_changes_the_color(qtbot, qapp, near):
    apply_theme(DARK)
    bar = qtbot.addWidget(QFrame())
    bar.setProperty("role", "banner")
    bar.setProperty("edge", "accent")
    bar.resize(60, 20)
    bar.show()
    for edge, color in (("accent", DARK.accent), ("warning", DARK.warning)):
        set_property(bar, "edge", edge)
        assert near(bar.grab().toImage(), color)[2:-2, 1:3].all()


def test_a_change_of_the_theme_reaches_a_widget_as_often_however_deep_it_is(qapp, show):
    class Changes(QWidget):
        count = 0

        def changeEvent(self, event):
            self.count += event.type() is QEvent.Type.StyleChange

    apply_theme(LIGHT)
    around = QWidget()
    nested = [Changes(around)]
    for _ in range(6):
        nested.append(Changes(nested[-1]))
    show(around, 100, 100)
    for each in nested:
        each.count = 0
    apply_theme(DARK)
    assert {each.count for each in nested} == {nested[0].count} and nested[0].count > 0
