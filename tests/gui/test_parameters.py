"""The form of parameters: what it accepts, what it refuses and how it says so."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, QPointF, Qt
from PyQt6.QtGui import QMouseEvent, QWheelEvent
from PyQt6.QtWidgets import QApplication, QLabel, QSlider, QWidget

from core.penalties import (
    MCP,
    PENALTIES,
    PENALTY_TEXTS,
    ExplicitWeights,
    LogPenalty,
    NuclearNorm,
    RampWeights,
    SchattenNorm,
    TruncatedNuclearNorm,
    WeightedNuclearNorm,
)
from core.sequence import CameraModel
from core.settings import PRESETS, Settings
from nrsfm_gui.views.fields import NumberField, stepped
from nrsfm_gui.views.form import Collapsible
from nrsfm_gui.views.parameters import ParametersPanel
from nrsfm_gui.views.scrub import PIXELS_PER_UNIT, Scale, ScrubLabel, ScrubSlider
from nrsfm_gui.views.sources import Choice
from nrsfm_gui.views.weight_order import ordered
from nrsfm_gui.views.weights import WEIGHTS
from nrsfm_gui.words.number import format_number


@pytest.fixture
def panel(show) -> ParametersPanel:
    panel = ParametersPanel()
    show(panel, 330, 900)
    return panel


def field(panel: QWidget, name: str) -> NumberField:
    found = panel.findChild(NumberField, name)
    assert found is not None
    return found


def note(panel: QWidget, name: str) -> str:
    found = panel.findChild(QLabel, f"{name}_note")
    assert found is not None
    return found.text() if found.isVisibleTo(panel) else ""


def write(qtbot, panel: QWidget, name: str, text: str) -> None:
    target = field(panel, name)
    target.setFocus()
    target.selectAll()
    qtbot.keyClicks(target, text)


def choose(panel: QWidget, name: str, key: str) -> None:
    choice = panel.findChild(Choice, name)
    assert choice is not None
    choice.set_key(key)
    choice.chosen.emit(key)


def test_what_is_typed_becomes_settings_a_moment_later(qtbot, panel):
    with qtbot.waitSignal(panel.settings_changed) as changed:
        write(qtbot, panel, "rank", "12")
    assert changed.args == [Settings(rank=12)]  # one signal: not first for a rank of 1


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("eta", "2", "eta is 2; accepted is 0 < eta <= 1"),
        ("eta", "0", "eta is 0"),
        ("eta", "five", "'five' is not a number"),
        ("rank", "0", "rank is 0"),
        ("rank", "2.5", "'2.5' is not a whole number"),
        ("starts", "-1", "starts is -1"),
        ("tolerance", "1", "tolerance is 1"),
        ("max_iterations", "0", "max_iterations is 0"),
        ("seed", "-3", "seed is -3"),
        ("rotation_rank", "0", "rotation rank is 0"),
        ("xi", "-1", "xi is -1"),
        ("gamma", "0", "gamma is 0"),
        ("xi", "nan", "xi is nan"),
    ],
)
def test_an_invalid_value_is_explained_beside_its_field(qtbot, panel, name, text, words):
    emitted = []
    panel.settings_changed.connect(emitted.append)
    write(qtbot, panel, name, text)
    assert words in note(panel, name)
    assert not panel.valid
    assert field(panel, name).property("invalid") is True
    panel.flush()
    assert emitted == []
    assert panel.settings == Settings()
    panel.set_settings(Settings())
    assert panel.valid
    assert note(panel, name) == ""


def test_an_invalid_advanced_field_unfolds_its_section(qtbot, panel):
    advanced = panel.findChild(Collapsible)
    assert advanced is not None
    assert not advanced.expanded
    write(qtbot, panel, "seed", "x")
    assert advanced.expanded


def test_an_empty_field_is_only_accepted_where_it_means_something(qtbot, panel):
    target = field(panel, "rank")
    target.selectAll()
    qtbot.keyClick(target, Qt.Key.Key_Delete)
    assert "whole number" in note(panel, "rank")
    panel.set_settings(Settings(rotation_rank=3))
    target = field(panel, "rotation_rank")
    target.selectAll()
    with qtbot.waitSignal(panel.settings_changed) as changed:
        qtbot.keyClick(target, Qt.Key.Key_Delete)
    assert changed.args == [Settings(rotation_rank=None)]


@pytest.mark.parametrize(
    "settings",
    [
        *PRESETS.values(),
        Settings(penalty=NuclearNorm(mu=0.02), rotations="tracks", rotation_rank=3),
        Settings(penalty=TruncatedNuclearNorm(mu=0.5, free=2), method="lm", intrinsics="calibrated"),
        Settings(penalty=ExplicitWeights((0.1, 0.2)), rank=2, intrinsics=(1400.0, 1400.0, 640.0, 480.0)),
        *(Settings(penalty=kind()) for kind in PENALTIES.values()),
        Settings(penalty=SchattenNorm(mu=0.3, p=0.125, epsilon=1e-9)),
        Settings(penalty=MCP(mu=0.0, theta=250.0)),
        Settings(penalty=RampWeights(mu=0.5, free=0)),
    ],
)
def test_settings_shown_are_settings_read(panel, settings):
    panel.set_settings(settings)
    panel.flush()
    assert panel.settings == settings
    assert panel.valid


def test_a_preset_sets_everything_and_a_change_makes_it_custom(qtbot, panel):
    with qtbot.waitSignal(panel.settings_changed) as changed:
        choose(panel, "preset", "paper")
    assert changed.args == [PRESETS["paper"]]
    write(qtbot, panel, "rank", "3")
    qtbot.waitUntil(lambda: panel.settings.rank == 3)
    assert panel.findChild(Choice, "preset").key == "custom"


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e308", "5e-324", "-1", "0"])
def test_arrow_keys_leave_numbers_alone_that_have_no_next(qtbot, text):
    field = NumberField()
    qtbot.addWidget(field)
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
        field.setText(text)
        for _ in range(5):
            qtbot.keyClick(field, key)
        value = field.value()
        assert field.text() == text or 0 < value < math.inf


def test_arrow_keys_step_by_a_tenth_of_a_decade_and_return_leaves_the_field(qtbot, panel):
    eta = field(panel, "eta")
    eta.setFocus()
    qtbot.keyClick(eta, Qt.Key.Key_Up)
    assert eta.text() == "0.063"
    qtbot.keyClick(eta, Qt.Key.Key_Down)
    assert eta.text() == "0.05"
    rank = field(panel, "rank")
    rank.setFocus()
    qtbot.keyClick(rank, Qt.Key.Key_Up)
    assert rank.text() == "7"
    qtbot.keyClick(rank, Qt.Key.Key_Return)
    assert not rank.hasFocus()


def test_steps_are_round_numbers_over_many_decades():
    value = 1e-6
    for _ in range(60):
        value = stepped(value, 1)
    assert value == 1.0
    assert stepped(1.0, -1) == 0.8
    assert stepped(0.005, 10) == 0.05


def test_numbers_are_written_short():
    assert [format_number(value) for value in (0.5, 5e-3, 1e-6, 1e-14, 0, 250.0)] == [
        "0.5",
        "0.005",
        "1e-6",
        "1e-14",
        "0",
        "250",
    ]


def test_moving_a_weight_makes_the_penalty_explicit_and_brings_the_others_along(qtbot, panel):
    weights = np.array([0.01, 0.05, 0.1, 0.5, 1.0, 2.0])
    panel.set_spectrum(panel.settings, weights, np.array([30.0, 9, 4, 1, 0.5, 0.1]))
    slider = next(s for s in panel.findChildren(QSlider) if s.accessibleName() == "weight 3")
    with qtbot.waitSignal(panel.settings_changed) as changed:
        slider.setValue(round(WEIGHTS.position(10.0)))
    penalty = changed.args[0].penalty
    assert isinstance(penalty, ExplicitWeights)
    assert penalty.a[:2] == pytest.approx((0.01, 0.05))
    assert penalty.a[2:] == pytest.approx((10.0,) * 4, rel=0.02)


def test_a_decreasing_weight_that_is_typed_is_refused_with_the_reason(qtbot, panel):
    panel.set_settings(Settings(rank=2, penalty=ExplicitWeights((0.5, 1.0))))
    typed = next(f for f in panel.findChildren(NumberField) if f.accessibleName() == "weight 1")
    typed.setFocus()
    typed.selectAll()
    qtbot.keyClicks(typed, "2")
    qtbot.waitUntil(lambda: not panel.valid)
    assert "weights decrease from 2 (weight 1) to 1 (weight 2)" in labels(panel)


def test_explicit_weights_follow_the_rank(qtbot, panel):
    panel.set_settings(Settings(rank=2, penalty=ExplicitWeights((0.5, 1.0))))
    write(qtbot, panel, "rank", "3")
    qtbot.waitUntil(lambda: panel.settings.rank == 3)
    assert panel.settings.penalty == ExplicitWeights((0.5, 1.0, 1.0))


def test_weights_of_a_run_tell_what_another_strength_would_give(panel):
    reference = np.array([20.0, 5.0, 1.0])
    settings = Settings(rank=3, penalty=WeightedNuclearNorm(xi=0.5))
    panel.set_settings(settings)
    panel.set_spectrum(settings, settings.penalty.weights(3, reference), np.array([19.0, 4.0, 0.5]))
    field(panel, "xi").setText("0.05")
    panel.flush()
    shown = [f.value() for f in panel.findChildren(NumberField) if f.accessibleName().startswith("weight ")]
    assert shown == pytest.approx(0.05 / reference, rel=0.01)


def test_weights_are_ordered_around_the_one_that_was_moved():
    assert ordered((1.0, 2.0, 3.0, 4.0), 1) == (1.0, 2.0, 3.0, 4.0)
    assert ordered((1.0, 9.0, 3.0, 4.0), 1) == (1.0, 9.0, 9.0, 9.0)
    assert ordered((1.0, 2.0, 0.5, 4.0), 2) == (0.5, 0.5, 0.5, 4.0)


def test_a_scale_spans_its_range_and_zero_and_gives_back_what_it_is_given():
    assert WEIGHTS.value(0) == 0.0
    assert WEIGHTS.value(1) == WEIGHTS.lowest
    assert WEIGHTS.value(WEIGHTS.steps) == WEIGHTS.highest
    assert WEIGHTS.position(0) == 0
    for weight in (1e-5, 3e-3, 0.4, 27.0):
        assert WEIGHTS.value(WEIGHTS.position(weight)) == pytest.approx(weight, rel=1e-3)
        assert WEIGHTS.value(round(WEIGHTS.position(weight)) + 1) / weight == pytest.approx(1.01, abs=0.006)
    for scale in (Scale(0.01, 0.99, logarithmic=False), Scale(1e-3, 1.0), Scale(0, 12, whole=True)):
        assert (scale.value(0), scale.value(scale.steps)) == (scale.lowest, scale.highest)
        for value in (0.02, 0.5, 0.75) if not scale.whole else (3.0, 7.0):
            assert scale.value(scale.position(value)) == pytest.approx(value, rel=1e-3)


def test_sources_that_a_sequence_does_not_have_are_grayed_out(panel, known):
    panel.set_sequence(known.sequence)
    choice = panel.findChild(QWidget, "rotations").findChild(Choice)
    model = choice.model()
    assert model.item(choice.findData("truth")).isEnabled()
    assert not model.item(choice.findData("companion")).isEnabled()
    panel.set_sequence(replace(known.sequence, companion=known.sequence.observations))
    assert model.item(choice.findData("companion")).isEnabled()


def test_eta_does_not_apply_to_orthogonal_tracks(panel, known):
    panel.set_sequence(replace(known.sequence, camera=CameraModel.ORTHOGONAL))
    assert not field(panel, "eta").isEnabled()
    panel.set_sequence(known.sequence)
    assert field(panel, "eta").isEnabled()


def test_four_numbers_are_accepted_as_intrinsics_and_three_are_refused(qtbot, panel):
    panel.set_settings(Settings(intrinsics=(1.0, 2.0, 3.0, 4.0)))
    source = panel.findChild(QWidget, "intrinsics")
    line = source._line
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, "900, 900, 320")
    assert "give four numbers" in note(panel, "intrinsics")
    qtbot.keyClicks(line, ", 240")
    assert note(panel, "intrinsics") == ""
    qtbot.waitUntil(lambda: panel.settings.intrinsics == (900.0, 900.0, 320.0, 240.0))


def sliders(panel: QWidget) -> list[QSlider]:
    """The sliders of the single weights."""
    found = panel.findChildren(QSlider)
    return [s for s in found if s.objectName().startswith("weight ") and s.isVisibleTo(panel)]


def labels(panel: QWidget) -> str:
    return " ".join(label.text() for label in panel.findChildren(QLabel) if label.isVisibleTo(panel))


REFERENCE = np.array([20.0, 5.0, 1.0])
THREE = Settings(rank=3, penalty=WeightedNuclearNorm(xi=0.5))


def learn(panel: ParametersPanel) -> None:
    """Tell the panel what a run with its rotations chosen knows."""
    panel.set_settings(THREE)
    panel.set_spectrum(THREE, THREE.penalty.weights(3, REFERENCE), np.array([19.0, 4.0, 0.5]))


def test_known_weights_stay_while_another_run_compares_rotations(panel, known):
    panel.set_sequence(known.sequence)
    panel.set_settings(THREE)
    assert sliders(panel) == []
    assert "a run shows them once it iterates" in labels(panel)
    learn(panel)
    assert len(sliders(panel)) == 3
    shown = panel._penalty.weights_editor.weights
    panel.set_spectrum(None, None, None)  # the next run has begun
    panel.set_spectrum(None, np.array([7.0, 8.0, 9.0]), np.array([3.0, 2.0, 1.0]))  # it compares
    assert len(sliders(panel)) == 3
    assert all(slider.isEnabled() for slider in sliders(panel))
    assert panel._penalty.weights_editor.weights == shown
    assert "a run shows them once it iterates" not in labels(panel)


def test_weights_that_one_sequence_told_are_not_those_of_another(panel, known):
    panel.set_sequence(known.sequence)
    learn(panel)
    panel.set_sequence(replace(known.sequence, name="another"))
    assert sliders(panel) == []
    assert "a run shows them once it iterates" in labels(panel)


def test_nothing_moves_when_a_weight_is_dragged(qtbot, panel):
    learn(panel)
    slider = sliders(panel)[1]
    qtbot.waitUntil(lambda: slider.width() > 50)
    before = slider.mapTo(panel, QPoint(0, 0))
    middle = QPoint(slider.width() // 2, slider.height() // 2)
    weight = panel._penalty.weights_editor.weights[1]
    qtbot.mousePress(slider, Qt.MouseButton.LeftButton, pos=middle)
    assert panel.settings == THREE  # a click alone changes nothing
    qtbot.mouseMove(slider, middle + QPoint(slider.width() // 4, 0))
    qtbot.wait(20)
    assert isinstance(panel.settings.penalty, ExplicitWeights)
    # A quarter of the width is one decade of the four.
    expected = weight * 10 ** (4 * (slider.width() // 4) / slider.width())
    assert panel.settings.penalty.a[1] == pytest.approx(expected, rel=0.02)
    assert slider.mapTo(panel, QPoint(0, 0)) == before
    qtbot.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=middle)
    for name in ("xi", "gamma"):
        assert field(panel, name).isVisibleTo(panel)
        assert not field(panel, name).isEnabled()
    choose(panel, "penalty", "wnn")
    assert field(panel, "xi").isEnabled()


def test_keys_and_wheel_change_a_weight_by_one_percent(qtbot, panel):
    learn(panel)
    slider = sliders(panel)[0]
    with qtbot.waitActive(panel):
        panel.activateWindow()
    slider.setFocus()
    weights = [panel._penalty.weights_editor.weights[0]]
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    for _ in range(3):
        weights.append(panel._penalty.weights_editor.weights[0])
        qtbot.keyClick(slider, Qt.Key.Key_Right)
    ratios = np.divide(weights[1:], weights[:-1])
    assert ratios[0] == pytest.approx(1.01, abs=0.006)  # from between two steps
    assert ratios[1:] == pytest.approx(1.01, abs=1e-3)
    turn(slider, 120)
    turn(slider, -120)
    turn(slider, -120)
    assert panel._penalty.weights_editor.weights[0] == pytest.approx(weights[-1], rel=1e-3)


def test_the_wheel_over_a_slider_without_the_focus_changes_nothing(panel):
    learn(panel)
    turn(sliders(panel)[0], 120)
    assert panel.settings == THREE


def turn(slider: QSlider, angle: int) -> None:
    center = QPointF(slider.rect().center())
    QApplication.sendEvent(slider, QWheelEvent(
        center, QPointF(slider.mapToGlobal(center)), QPoint(), QPoint(0, angle), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    ))  # fmt: skip


def shown_numbers(panel: QWidget) -> list[str]:
    names = dict.fromkeys(name for text in PENALTY_TEXTS.values() for name in text.numbers)
    return [name for name in names if field(panel, name).isVisibleTo(panel)]


@pytest.mark.parametrize("kind", PENALTIES)
def test_every_penalty_can_be_chosen_and_shows_its_own_numbers_and_tips(panel, kind):
    choose(panel, "penalty", kind)
    assert sorted(shown_numbers(panel)) == sorted(PENALTY_TEXTS[kind].numbers)
    for name, tip in PENALTY_TEXTS[kind].numbers.items():
        assert field(panel, name).toolTip() == tip
    panel.flush()
    assert panel.settings.penalty == (Settings().penalty if kind == "wnn" else PENALTIES[kind]())


@pytest.mark.parametrize(
    ("kind", "name", "text", "words"),
    [
        ("schatten", "p", "1", "p is 1; accepted is 0 < p < 1"),
        ("schatten", "epsilon", "0", "epsilon is 0; accepted is a positive number"),
        ("log", "mu", "-1", "mu is -1"),
        ("mcp", "theta", "0", "theta is 0"),
        ("ramp", "free", "1.5", "'1.5' is not a whole number"),
        ("rank", "mu", "inf", "mu is inf"),
    ],
)
def test_a_number_that_a_penalty_refuses_says_why_beside_it(qtbot, panel, kind, name, text, words):
    choose(panel, "penalty", kind)
    write(qtbot, panel, name, text)
    assert words in note(panel, name)
    assert not panel.valid
    choose(panel, "penalty", "nn")
    assert panel.valid


def test_each_penalty_remembers_its_numbers(qtbot, panel):
    choose(panel, "penalty", "rank")
    write(qtbot, panel, "mu", "0.25")
    panel.flush()
    choose(panel, "penalty", "log")
    assert field(panel, "mu").value() == LogPenalty().mu
    choose(panel, "penalty", "weights")
    assert field(panel, "mu").isVisibleTo(panel) and not field(panel, "mu").isEnabled()
    choose(panel, "penalty", "rank")
    assert field(panel, "mu").value() == 0.25


def test_weights_of_a_concave_penalty_are_its_slopes_at_the_singular_values(qtbot, panel):
    settings = Settings(rank=3, penalty=LogPenalty(mu=0.2, epsilon=0.5))
    panel.set_settings(settings)
    assert sliders(panel) == []
    assert "follow the singular values" in labels(panel)
    for sigma in (np.array([19.0, 4.0, 0.5]), np.array([18.0, 5.0, 0.0])):
        panel.set_spectrum(settings, np.ones(3), sigma)
        shown = panel._penalty.weights_editor.weights
        assert shown == pytest.approx(tuple(0.2 / (sigma + 0.5)), rel=1e-6)
    assert "slopes of the penalty" in labels(panel)
    with qtbot.waitSignal(panel.settings_changed) as changed:
        sliders(panel)[2].setValue(round(WEIGHTS.position(2.0)))
    penalty = changed.args[0].penalty
    assert penalty.a[:2] == pytest.approx(shown[:2])
    assert penalty.a[2] == pytest.approx(2.0, rel=0.02)


def drag(qtbot, widget: QWidget, steps: list[int], modifier=Qt.KeyboardModifier.NoModifier) -> None:
    """Press in the middle, move to the right by so many pixels one after the other, do not release."""
    x, y = widget.width() // 2, widget.height() // 2
    qtbot.mousePress(widget, Qt.MouseButton.LeftButton, pos=QPoint(x, y))
    for step in steps:
        x += step
        send_move(widget, QPoint(x, y), modifier)


def send_move(widget: QWidget, position: QPoint, modifier: Qt.KeyboardModifier) -> None:
    left = Qt.MouseButton.LeftButton
    where = QPointF(position)
    everywhere = QPointF(widget.mapToGlobal(position))
    QApplication.sendEvent(
        widget, QMouseEvent(QMouseEvent.Type.MouseMove, where, everywhere, left, left, modifier)
    )


def scrubbed(panel: QWidget, name: str) -> tuple[ScrubSlider, ScrubLabel]:
    slider = panel.findChild(ScrubSlider, f"scrub {name}")
    label = panel.findChild(ScrubLabel, f"scrub label {name}")
    assert slider is not None and label is not None
    return slider, label


@pytest.mark.parametrize("name", ["eta", "xi", "gamma"])
def test_a_drag_on_a_label_goes_a_decade_in_a_hundred_pixels_and_counts_in_the_next_turn(qtbot, panel, name):
    _, label = scrubbed(panel, name)
    told = []
    panel.settings_changed.connect(told.append)
    before = field(panel, name).value()
    drag(qtbot, label, [10, 10, 10])
    assert told == []
    assert field(panel, name).value() == pytest.approx(before * 10**0.3, rel=1e-3)
    QApplication.processEvents()
    assert len(told) == 1  # of three moves that came together the last one counts
    source = told[0] if name == "eta" else told[0].penalty
    assert getattr(source, name) == field(panel, name).value()
    qtbot.mouseRelease(label, Qt.MouseButton.LeftButton)
    qtbot.mouseDClick(label, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert told[-1] == Settings()  # back at the default
    assert len(told) == 2


def test_shift_makes_a_drag_coarse_and_control_fine(qtbot, panel):
    _, label = scrubbed(panel, "eta")
    for modifier, decades in (
        (Qt.KeyboardModifier.ShiftModifier, -0.5),
        (Qt.KeyboardModifier.ControlModifier, -0.01),
    ):
        panel.set_settings(Settings())
        drag(qtbot, label, [-10], modifier)
        qtbot.mouseRelease(label, Qt.MouseButton.LeftButton)
        assert field(panel, "eta").value() == pytest.approx(0.05 * 10**decades, rel=1e-3)


def test_a_slider_follows_what_is_typed_and_stays_inside_what_is_accepted(qtbot, panel):
    slider, _ = scrubbed(panel, "eta")
    write(qtbot, panel, "eta", "0.2")
    assert slider.number == 0.2
    assert slider.value() == round(slider.scale.position(0.2))
    drag(qtbot, slider, [1000])
    QApplication.processEvents()
    assert panel.settings.eta == 1.0
    assert panel.valid
    drag(qtbot, slider, [-5000])
    QApplication.processEvents()
    assert panel.settings.eta == slider.scale.lowest
    write(qtbot, panel, "eta", "five")
    assert slider.number == slider.scale.lowest  # what is no number does not move it


def test_whole_numbers_are_dragged_one_by_one(qtbot, panel):
    choose(panel, "penalty", "tnn")
    _, label = scrubbed(panel, "free")
    drag(qtbot, label, [PIXELS_PER_UNIT, PIXELS_PER_UNIT // 2 - 1])
    QApplication.processEvents()
    assert panel.settings.penalty == TruncatedNuclearNorm(free=2)
    _, label = scrubbed(panel, "rank")
    drag(qtbot, label, [-4 * PIXELS_PER_UNIT])
    QApplication.processEvents()
    assert panel.settings.rank == 2


def test_sliders_are_named_and_grayed_out_with_their_rows(panel, known):
    slider, label = scrubbed(panel, "eta")
    assert slider.accessibleName() == "eta"
    assert "double click" in label.toolTip() and "0.05" in label.toolTip()
    panel.set_sequence(replace(known.sequence, camera=CameraModel.ORTHOGONAL))
    assert not slider.isEnabled() and not label.isEnabled()
    assert all(not scrubbed(panel, name)[0].isVisibleTo(panel) for name in ("mu", "theta", "p"))


def test_a_double_click_on_the_number_of_a_weight_gives_it_back_to_the_rule(qtbot, panel):
    learn(panel)
    before = panel._penalty.weights_editor.weights
    sliders(panel)[1].setValue(round(WEIGHTS.position(0.3)))
    QApplication.processEvents()
    assert panel.settings.penalty.a[1] == pytest.approx(0.3, rel=0.01)
    label = next(each for each in panel.findChildren(ScrubLabel) if each.text() == "2")
    qtbot.mouseDClick(label, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert panel.settings.penalty.a == pytest.approx(before, rel=1e-6)
