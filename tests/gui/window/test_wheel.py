"""The mouse wheel scrolls panels; it changes no value in the window or in its dialogs."""

import pytest
from hands import turn_wheel
from PyQt6.QtCore import QPoint
from PyQt6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDoubleSpinBox,
    QScrollArea,
    QScrollBar,
    QSlider,
    QSpinBox,
    QWidget,
)

from core import Settings
from nrsfm_gui.panels.parameters.parameter_texts import FOLDED
from nrsfm_gui.panels.parameters.parameters_panel import ParametersPanel
from nrsfm_gui.panels.timeline.frame_slider import FrameSlider
from nrsfm_gui.shell.layout import docks
from nrsfm_gui.widgets.fields import NumberField

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")
FIELDS = (QComboBox, QAbstractSpinBox, QAbstractSlider, NumberField)
SCROLLING = (QScrollBar, FrameSlider)  # these show a position, and are no fields


def turn(target, angle):
    """Turn the wheel over the middle of a widget: by 120 for a notch, away from the user where positive.

    An event of a real mouse goes from parent to parent until one accepts it; Qt does so with no other event.
    """
    while not turn_wheel(target, angle) and not target.isWindow():
        target = target.parentWidget()


def value(field):
    if isinstance(field, QComboBox):
        return field.currentIndex()
    return field.text() if isinstance(field, (NumberField, QAbstractSpinBox)) else field.value()


def fields_of(top):
    return [
        each
        for each in top.findChildren(QWidget)
        if isinstance(each, FIELDS) and not isinstance(each, SCROLLING) and each.window() is top.window()
    ]


def changed_by_the_wheel(top):
    """Return the fields below a widget that the wheel changes, with the focus or without."""
    found = []
    for field in fields_of(top):
        before = value(field)
        for focused in (False, True):
            if focused:
                field.setFocus()
            for angle in (120, -120, -120):
                turn(field, angle)
                if value(field) != before:
                    found.append(f"{type(field).__name__} {field.objectName() or field.accessibleName()}")
                    break
    return found


@pytest.fixture(scope="module")
def window(make_shared_window, add_run, make_iterate, known):
    """Return a window with a run, so that no panel is empty."""
    made = make_shared_window(known.sequence, settings=QUICK)
    add_run(made.session, make_iterate(known, noise=0.01), QUICK)
    made.display.refresh()
    return made


def test_the_wheel_changes_no_field_of_any_panel(window):
    for dock in docks(window):
        dock.show()
    settings, appearance = window.session.settings, window.session.appearance
    for kind in (QComboBox, QSpinBox, QSlider, NumberField):
        assert any(isinstance(field, kind) for field in fields_of(window))
    assert len(fields_of(window)) > 40
    weights = [field for field in fields_of(window) if field.accessibleName().startswith("weight ")]
    assert len(weights) == QUICK.rank
    assert changed_by_the_wheel(window) == []
    assert window.session.settings == settings and window.parameters_panel.settings == settings
    assert window.session.appearance == appearance


def test_the_wheel_changes_no_field_of_a_dialog_or_of_the_appearance(window):
    for action, least in (("export", 8), ("preferences", 7)):
        before = set(QApplication.topLevelWidgets())
        window.toolbars.actions[action].trigger()
        (dialog,) = (each for each in set(QApplication.topLevelWidgets()) - before if each.isVisible())
        assert len(fields_of(dialog)) >= least
        assert changed_by_the_wheel(dialog) == []
        dialog.close()
    panel = window.appearance_panel
    panel.show()
    for kind in (QComboBox, QSpinBox, QDoubleSpinBox):
        assert any(isinstance(field, kind) for field in fields_of(panel))
    assert changed_by_the_wheel(panel) == []
    panel.hide()
    window.session.set_frame(3)
    turn(window.timeline.findChild(FrameSlider), 120)
    assert window.session.frame != 3  # which shows a position


@pytest.fixture
def parameters(show):
    """Return the panel of parameters in less height than it needs."""
    panel = ParametersPanel()
    panel.sections.set_open(FOLDED)
    return show(panel, 330, 300)


def test_the_wheel_over_a_field_scrolls_the_parameters(parameters):
    bar = parameters.verticalScrollBar()
    asked = []
    for field in fields_of(parameters):
        inner = field.parentWidget().parentWidget().parentWidget()
        if not field.isVisibleTo(parameters) or isinstance(inner, QScrollArea):
            continue
        bar.setValue(bar.maximum() // 2)
        turn(field, -120)
        assert bar.value() > bar.maximum() // 2, field.objectName()
        asked.append(field)
    assert len(asked) > 15
    bar.setValue(0)
    turn(parameters.spectrum_plot.canvas.viewport(), -120)  # whose weights are dragged
    assert bar.value() > 0


def test_the_wheel_scrolls_the_open_list_of_a_combo_box(qtbot, parameters):
    choice = parameters.findChild(QComboBox, "method")
    choice.setStyleSheet("combobox-popup: 0")  # a list that scrolls, in every style
    choice.setMaxVisibleItems(3)
    choice.showPopup()
    entries = choice.view()
    qtbot.waitUntil(entries.isVisible)
    top = entries.indexAt(QPoint(5, 5)).row()
    turn(entries.viewport(), -120)
    assert entries.indexAt(QPoint(5, 5)).row() > top
    choice.hidePopup()
