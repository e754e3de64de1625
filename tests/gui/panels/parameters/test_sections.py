"""What the objective depends on is in sight; the other parameters are in sections, folded and counted."""

import pytest
from PyQt6.QtCore import QEvent, Qt
from PyQt6.QtGui import QFont
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QComboBox, QLabel

from core import METHODS, PENALTIES, PRESETS, ExplicitWeights, LogPenalty, NuclearNorm, Settings
from core.foundation import DEPTHS, WNN, parameters_of
from core.reconstruction import SETTINGS
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.parameters.parameter_texts import FOLDED
from nrsfm_gui.panels.parameters.parameters_controller import ParametersController
from nrsfm_gui.panels.parameters.parameters_panel import ParametersPanel
from nrsfm_gui.panels.parameters.spectrum_plot import KEYS_HINT
from nrsfm_gui.panels.parameters.spectrum_state import WORDS, SpectrumState
from nrsfm_gui.widgets.fields import NumberField
from nrsfm_gui.widgets.form import Form
from nrsfm_gui.widgets.style import apply_theme

USUAL_SIZE = 346, 530  # pixels that the panel has in a window of 1280 x 800
ALWAYS = {"preset", "objective", "camera_model", "intrinsics"}
USUAL = {
    WNN: ALWAYS | {"method", "rank", "eta", "penalty"},
    DEPTHS: ALWAYS | {"mode_weights", "isometry", "smallest_movement", "noise", "neighbors"},
}


@pytest.fixture(scope="module", autouse=True)
def theme(qapp):
    """Give the application the theme that it has: sizes depend on it."""
    apply_theme(DARK)


@pytest.fixture
def closed(show, known):
    """Return the panel as it is at first."""
    panel = ParametersPanel()
    panel.set_sequence(known.sequence)
    return show(panel, *USUAL_SIZE)


def rows(panel):
    forms = [form for form in panel.findChildren(Form) if form.isVisibleTo(panel)]
    return {name for form in forms for name in form.rows if form.is_row_visible(name)}


def test_the_usual_parameters_need_no_scroll_bar_in_a_window_of_800_pixels(closed):
    for settings in PRESETS.values():
        closed.set_settings(settings)
        QApplication.processEvents()
        bar = closed.verticalScrollBar()
        assert bar is not None and bar.maximum() == 0
        objective, own = settings.objective, parameters_of(settings.penalty)
        numbers = own.keys() - {"gamma", "epsilon"} if objective == WNN else set()
        assert rows(closed) == USUAL[objective] | numbers


def test_the_tab_key_goes_from_top_to_bottom(qtbot, show, known):
    panel = ParametersPanel()
    panel.set_sequence(known.sequence)
    panel.sections.set_open(FOLDED)
    qtbot.activate(show(panel, USUAL_SIZE[0], 1100))
    for preset, rank in (("recommended", 4), ("bilinear", 4), ("recommended", 3), ("bilinear", 3)):
        panel.set_settings(PRESETS[preset].with_changes(rank=rank, penalty=NuclearNorm()))
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # to fields of another rank
        QApplication.processEvents()
        panel.findChild(QComboBox, "preset").setFocus()
        seen = []
        while (field := QApplication.focusWidget()) not in seen and panel.isAncestorOf(field):
            seen.append(field)
            QTest.keyClick(field, Qt.Key.Key_Tab)
        tops = [field.mapTo(panel.widget(), field.rect().center()).y() for field in seen]
        assert tops == sorted(tops)
        assert sum(field.accessibleName().startswith("weight ") for field in seen) == rank
        assert {"preset", "rank", "camera_model", "seed"} <= {field.objectName() for field in seen}


@pytest.mark.parametrize("objective", [WNN, DEPTHS])
def test_the_hints_at_the_weights_are_readable_beside_their_buttons_and_a_scroll_bar(closed, objective):
    weights = {"mode_weights": (1.0, 20.0), "penalty": ExplicitWeights((0.1, 0.2))}
    closed.sections.set_open(FOLDED)
    closed.set_settings(Settings(rank=2, objective=objective, **weights))
    words, plot = WORDS[objective], closed.spectrum_plot
    plot.set_state(SpectrumState((1.0,) * 4, (20.0, 6.0, 1.0, 0.3), explicit=True, objective=objective))
    QApplication.processEvents()
    assert closed.verticalScrollBar().maximum() > 0 and plot.back.isVisibleTo(closed)
    for text in (words.hint, words.handle, KEYS_HINT, plot.canvas._click_hint(4, more=False)):
        plot.canvas.hint.set_full_text(text)
        assert plot.canvas.hint._shown_text() == text


def test_every_parameter_is_in_one_place(closed):
    placed = [name for form in closed.findChildren(Form) for name in form.rows]
    options = {option.name for method in METHODS.values() for option in method.options}
    numbers = {name for kind in PENALTIES.values() for name in parameters_of(kind)}
    others = {"preset", "method", "penalty", "mode_weights"}
    assert sorted(placed) == sorted({*SETTINGS, *options, *numbers, *others})


@pytest.mark.parametrize("percent", [100, 200])
def test_labels_are_shown_in_full_in_the_least_width(qtbot, show, known, percent):
    font = QFont(QApplication.font())
    font.setPointSizeF(font.pointSizeF() * percent / 100)
    panel = ParametersPanel()
    panel.setFont(font)
    panel.set_sequence(known.sequence)
    panel.sections.set_open(FOLDED)
    show(panel, panel.minimumSizeHint().width(), 800)
    qtbot.wait(1)
    viewport = panel.viewport()
    for form in panel.findChildren(Form):
        for label in form.findChildren(QLabel):
            if label.isVisibleTo(panel) and not label.wordWrap():
                assert label.width() >= label.sizeHint().width(), (label.text(), percent)
        assert form.mapTo(viewport, form.rect().topRight()).x() < viewport.width()


def changes(panel):
    """Return what the headings name as changed."""
    tips = {name: panel.sections._buttons[name].toolTip() for name in FOLDED}
    return {name: tip[9:-1] for name, tip in tips.items() if tip.startswith("Changed: ")}


def test_the_headings_name_what_differs_from_the_preset(closed):
    for settings, summaries in (
        (Settings(rank=3, objective=DEPTHS), {"Start": "rank"}),
        (Settings(rank=3, eta=0.2), {}),  # in sight
        (Settings(starts=8, mirror="3"), {"Search": "starts, mirror"}),
        (Settings(penalty=LogPenalty(mu=0.2)), {}),
        (Settings(penalty=LogPenalty(epsilon=0.2)), {"Start": "epsilon"}),
        (Settings(options=(("damping", 0.5),), objective=DEPTHS), {"Start": "damping"}),
        (Settings(loss="huber", hide="3:1-4"), {"Data": "held-out observations, loss"}),
        (PRESETS["paper"], {}),
        (PRESETS["paper"].with_changes(rotation_rank=None), {"Cameras": "rotation rank"}),
    ):
        closed.set_settings(settings)
        assert changes(closed) == summaries
        summary = closed.differs.changed.full_text
        assert bool(summary) is bool(summaries) and all(words in summary for words in summaries.values())
        assert not closed.sections.open
    preset = closed.findChild(QComboBox, "preset")
    assert preset.currentText() == "paper, changed"
    assert "rotation rank 2 → several" in preset.toolTip()
    closed.set_settings(PRESETS["bilinear"].with_changes(method="admm"))
    assert preset.currentText() == "bilinear, changed" and "Changed: method bilinear" in preset.toolTip()
    assert "objective" not in preset.toolTip()


def test_nothing_moves_where_what_is_changed_is_named(closed):
    def places():
        QApplication.processEvents()
        fields = (each for each in closed.findChildren(NumberField) if each.isVisibleTo(closed))
        return [(each.objectName(), each.mapTo(closed, each.rect().topLeft())) for each in fields]

    for opened in ((), ("Start",)):
        closed.sections.set_open(opened)
        closed.differs.set_difference(-1, "")
        closed.set_settings(Settings(objective=DEPTHS))
        before = places()
        closed.set_settings(Settings(objective=DEPTHS, eta=0.2))
        assert closed.differs.changed.isVisibleTo(closed) and places() == before
        closed.differs.set_difference(1, "eta")
        assert closed.differs.use.isVisibleTo(closed) and places() == before


def test_the_norm_is_the_objective_or_in_the_section_of_the_start(closed):
    found = closed.sections
    rank = closed.findChild(NumberField, "rank")
    for preset, folded in (("recommended", True), ("bilinear", False), ("recommended", True)):
        closed.set_settings(PRESETS[preset])
        assert found.section_of(rank) == ("Start" if folded else "")
        assert found._buttons["Start"].text() == ("Start" if folded else "Options")


def test_which_sections_are_open_is_remembered(qtbot, session, control, closed, store):
    ParametersController(session, control, closed, store)
    for name in ("Cameras", "Data"):
        qtbot.mouseClick(closed.sections._buttons[name], Qt.MouseButton.LeftButton)
    assert closed.sections.open == store.open_sections == ("Cameras", "Data")
    again = ParametersPanel()
    ParametersController(session, control, again, store)
    assert again.sections.open == ("Cameras", "Data")


def test_an_invalid_option_opens_its_section(closed):
    for objective in (DEPTHS, WNN):
        closed.sections.set_open(())
        closed.set_settings(Settings(penalty=LogPenalty(), objective=objective))
        closed.set_value("epsilon", -1.0)
        closed.flush()
        assert closed.refusal and closed.sections.open == ("Start",)


def test_methods_are_in_two_groups_each_with_its_meaning(closed):
    choice = closed.findChild(QComboBox, "method")
    entries = [(choice.itemText(k), choice.itemData(k)) for k in range(choice.count())]
    assert [key or text for text, key in entries] == [
        "Recommended", *(key for key, method in METHODS.items() if method.recommended),
        "For comparison", *(key for key, method in METHODS.items() if not method.recommended),
    ]  # fmt: skip
    for k, (_text, key) in enumerate(entries):
        assert bool(choice.model().index(k, 0).flags() & Qt.ItemFlag.ItemIsSelectable) == (key is not None)
        assert key is None or choice.itemData(k, Qt.ItemDataRole.ToolTipRole) == METHODS[key].meaning


def test_the_parameters_that_there_are_have_symbols_and_are_shown_on_request(qtbot, closed):
    entries = {entry.symbols[0]: entry for entry in closed.parameter_entries()}
    assert {"rank", "xi", "gamma", "damping", "noise", "mode_weights"} <= entries.keys()
    assert not {"mu", "rho"} & entries.keys()  # of other penalties and methods
    assert "ξ" in entries["xi"].symbols and "K" in entries["rank"].symbols
    assert entries["loss_scale"].reason and not entries["eta"].reason
    for key in ("noise", "starts", "weights"):
        assert not closed.focus_parameter(key).visibleRegion().isEmpty()
    assert closed.sections.open == ("Search",)


def test_what_is_explained_of_a_number_has_its_limits_and_its_default(closed):
    eta = closed.findChild(NumberField, "eta").whatsThis()
    assert "pOSE weight" in eta and "a number above 0 and at most 1" in eta and "By default: 0.05" in eta
    for form in closed.findChildren(Form):
        for name in filter(form.is_row_visible, form.rows):
            assert form.rows[name].caption.text() in form.rows[name].editor.whatsThis(), name
