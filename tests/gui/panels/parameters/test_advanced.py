"""What is changed often is in sight; the other parameters are in the section "Advanced", and counted."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QFont
from PyQt6.QtWidgets import QApplication, QComboBox, QLabel

from core import METHODS, PENALTIES, PRESETS, LogPenalty, Settings, WeightedNuclearNorm
from core.foundation import parameters_of
from core.reconstruction import SETTINGS
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.parameters.parameters_controller import ParametersController
from nrsfm_gui.panels.parameters.parameters_panel import ParametersPanel
from nrsfm_gui.widgets.form import Collapsible, Form
from nrsfm_gui.widgets.style import apply_theme

USUAL_SIZE = 359, 469  # pixels that the panel has in a window of 1440 x 900
USUAL = {"preset", "problem", "rank", "eta", "penalty", "xi", "camera_model", "intrinsics"}


@pytest.fixture
def closed(qapp, show, known) -> ParametersPanel:
    """Return the panel as it is at first."""
    apply_theme(qapp, DARK)
    panel = ParametersPanel()
    panel.set_sequence(known.sequence)
    show(panel, *USUAL_SIZE)
    return panel


def rows(panel: ParametersPanel) -> set[str]:
    forms = [form for form in panel.findChildren(Form) if form.isVisibleTo(panel)]
    return {name for form in forms for name in form.names if form.is_row_visible(name)}


@pytest.mark.parametrize("preset", PRESETS)
def test_the_usual_parameters_need_no_scroll_bar_in_a_window_of_900_pixels(closed, preset):
    closed.set_settings(PRESETS[preset])
    QApplication.processEvents()
    bar = closed.verticalScrollBar()
    assert bar is not None and bar.maximum() == 0
    own = parameters_of(PRESETS[preset].penalty)
    assert rows(closed) == USUAL - {"xi"} | (own.keys() - {"gamma", "epsilon"})


def test_every_parameter_is_in_one_place(closed):
    placed = [name for form in closed.findChildren(Form) for name in form.names]
    options = {option.name for method in METHODS.values() for option in method.options}
    numbers = {name for kind in PENALTIES.values() for name in parameters_of(kind)}
    others = {"preset", "problem", "method", "penalty"}
    assert sorted(placed) == sorted({*SETTINGS, *options, *numbers, *others})


@pytest.mark.parametrize("percent", [100, 150, 200])
def test_labels_are_shown_in_full_in_the_least_width(qtbot, show, known, percent):
    font = QFont(QApplication.font())
    font.setPointSizeF(font.pointSizeF() * percent / 100)
    panel = ParametersPanel()
    panel.setFont(font)
    panel.set_sequence(known.sequence)
    panel.set_advanced_shown(True)
    show(panel, panel.minimumSizeHint().width(), 800)
    qtbot.wait(1)
    viewport = panel.viewport()
    for form in panel.findChildren(Form):
        for label in form.findChildren(QLabel):
            if label.isVisibleTo(panel) and not label.wordWrap():
                assert label.width() >= label.sizeHint().width(), (label.text(), percent)
        assert form.mapTo(viewport, form.rect().topRight()).x() < viewport.width()


def test_the_heading_counts_and_names_what_differs_from_the_preset(closed):
    heading = closed.findChild(Collapsible)
    assert heading.summary == ""
    for settings, summary in (
        (Settings(rank=3, eta=0.2), ""),  # in sight
        (Settings(starts=8), "1 changed: starts"),
        (Settings(seed=3, penalty=WeightedNuclearNorm(xi=0.1, gamma=0.01)), "2 changed: gamma, seed"),
        (Settings(penalty=LogPenalty(mu=0.2)), ""),
        (Settings(penalty=LogPenalty(epsilon=0.2)), "1 changed: epsilon"),
        (Settings(options=(("damping", 0.5),)), "1 changed: damping"),
        (Settings(loss="huber", loss_scale=2.0, hide="3:1-4"), "3 changed: hidden observations, loss"),
        (PRESETS["paper"], ""),
        (PRESETS["paper"].with_changes(rotation_rank=None), "1 changed: rotation rank"),
    ):
        closed.set_settings(settings)
        assert heading.summary.startswith(summary) and bool(heading.summary) == bool(summary), settings
        assert not heading.expanded
    preset = closed.findChild(QComboBox, "preset")
    assert preset.currentText() == "paper, changed"
    assert "rotation rank 2 → several" in preset.toolTip()


def test_whether_the_section_is_open_is_remembered(qtbot, session, control, closed, store):
    ParametersController(session, control, closed, store, session)
    heading = closed.findChild(Collapsible)
    assert not heading.expanded
    qtbot.mouseClick(heading._button, Qt.MouseButton.LeftButton)
    assert heading.expanded and store.advanced_shown()
    again = ParametersPanel()
    ParametersController(session, control, again, store, session)
    assert again.findChild(Collapsible).expanded


def test_an_invalid_option_opens_the_section(closed):
    closed.set_settings(Settings(penalty=LogPenalty()))
    closed.set_value("epsilon", -1.0)
    closed.flush()
    assert not closed.valid and closed.findChild(Collapsible).expanded


def test_methods_are_in_two_groups_each_with_its_meaning(closed):
    choice = closed.findChild(QComboBox, "method")
    entries = [(choice.itemText(k), choice.itemData(k)) for k in range(choice.count())]
    headings = [text for text, key in entries if key is None]
    assert headings == ["Recommended", "For comparison"]
    assert {key for _text, key in entries if key} == set(METHODS)
    second = entries.index(("For comparison", None))
    assert [key for _text, key in entries[1:second]] == [k for k, m in METHODS.items() if m.recommended]
    for k, (_text, key) in enumerate(entries):
        flags = choice.model().index(k, 0).flags()
        assert bool(flags & Qt.ItemFlag.ItemIsSelectable) == (key is not None)
        if key is not None:
            assert choice.itemData(k, Qt.ItemDataRole.ToolTipRole) == METHODS[key].meaning


def test_parameters_are_found_by_name_and_symbol_and_get_the_focus(qtbot, closed):
    entries = {entry.key: entry for entry in closed.parameter_entries()}
    assert {"rank", "xi", "gamma", "damping", "noise", "weights"} <= entries.keys()
    assert not {"mu", "rho"} & entries.keys()  # of other penalties and methods
    assert "ξ" in entries["xi"].symbols and "K" in entries["rank"].symbols
    assert entries["loss_scale"].reason and not entries["eta"].reason
    assert all(entry.label and entry.description for entry in entries.values())
    with qtbot.waitActive(closed):
        closed.activateWindow()
    for key in ("xi", "noise", "weights"):
        closed.focus_parameter(key)
        focused = QApplication.focusWidget()
        wanted = closed.spectrum_plot.canvas if key == "weights" else focused
        assert focused is wanted and (key == "weights" or focused.objectName() == key)
        assert not focused.visibleRegion().isEmpty()
    assert closed.findChild(Collapsible).expanded  # the noise is there


def test_every_control_explains_itself(closed):
    for form in closed.findChildren(Form):
        for name in form.names:
            if form.is_row_visible(name):
                assert form.label(name) in form.editor(name).whatsThis(), name
    eta = closed.findChild(Form).editor("eta").whatsThis()
    assert "POSE weight" in eta.replace("pOSE", "POSE")
    assert "a number above 0 and at most 1" in eta and "By default: 0.05" in eta
    assert "Diamonds" in closed.spectrum_plot.canvas.whatsThis()


def test_the_limit_of_iterations_is_named_for_what_it_counts(closed):
    labels = {entry.key: entry.label for entry in closed.parameter_entries()}
    assert labels["max_iterations"] == "iterations per phase"  # a run has several, and more in all
