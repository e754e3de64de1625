"""The single weights in the form of parameters: known, typed, dragged, given back to the rule."""

from dataclasses import replace

import numpy as np
import pytest
from hands import type_into

from core import ExplicitWeights, Settings
from nrsfm_gui.panels.parameters.weights_list import WEIGHTS
from nrsfm_gui.widgets.drag_number import Scale
from nrsfm_gui.widgets.fields import NumberField


def test_a_weight_that_is_typed_makes_the_penalty_explicit(qtbot, panel, form):
    weights = np.array([0.01, 0.05, 0.1, 0.5, 1.0, 2.0])
    reference = panel.settings.penalty.reference(weights)
    panel.penalty.set_spectrum(reference, np.array([30.0, 9, 4, 1, 0.5, 0.1]))
    field = form.weights()[2]
    field.setFocus()
    field.selectAll()
    with qtbot.waitSignal(panel.settings_changed) as changed:
        qtbot.keyClicks(field, "0.2")
    assert changed.args[0].penalty == ExplicitWeights((0.01, 0.05, 0.2, 0.5, 1.0, 2.0))
    for name in ("xi", "gamma"):
        assert form.field(name).isVisibleTo(panel)
        assert not form.field(name).isEnabled()
    form.choose("penalty", "wnn")
    assert form.field("xi").isEnabled()


def test_a_decreasing_weight_that_is_typed_is_refused_with_the_reason(qtbot, panel, form):
    panel.set_settings(Settings(rank=2, penalty=ExplicitWeights((0.5, 1.0))))
    typed = next(f for f in panel.findChildren(NumberField) if f.accessibleName() == "weight 1")
    type_into(typed, "2")
    qtbot.waitUntil(lambda: bool(panel.refusal))
    assert "weights decrease from 2 (weight 1) to 1 (weight 2)" in form.texts()


def test_weights_of_a_run_predict_those_of_another_strength(panel, form):
    form.learn()
    form.field("xi").setText("0.05")
    panel.flush()
    shown = [f.value() for f in panel.findChildren(NumberField) if f.accessibleName().startswith("weight ")]
    assert shown == pytest.approx(0.05 / form.REFERENCE, rel=0.01)


def test_a_scale_spans_its_range_and_zero_and_gives_back_what_it_is_given():
    assert WEIGHTS.value(0) == 0.0
    assert WEIGHTS.value(1) == WEIGHTS.lowest
    assert WEIGHTS.value(WEIGHTS.steps) == WEIGHTS.highest
    assert WEIGHTS.position(0) == 0
    for weight in (1e-5, 3e-3, 0.4, 27.0):
        assert WEIGHTS.value(WEIGHTS.position(weight)) == pytest.approx(weight, rel=1e-3)
        assert WEIGHTS.value(round(WEIGHTS.position(weight)) + 1) / weight == pytest.approx(1.01, abs=0.006)
    for scale in (Scale(0.01, 0.99, logarithmic=False), Scale(1e-3, 1.0), Scale(0, 12, integer=True)):
        assert (scale.value(0), scale.value(scale.steps)) == (scale.lowest, scale.highest)
        for value in (0.02, 0.5, 0.75) if not scale.integer else (3.0, 7.0):
            assert scale.value(scale.position(value)) == pytest.approx(value, rel=1e-3)


def test_known_weights_stay_while_another_run_compares_rotations(panel, form, known):
    panel.set_sequence(known.sequence)
    panel.set_settings(form.LEARNED)
    assert form.weights() == []
    assert "a run shows them once it iterates" in form.texts()
    form.learn()
    assert len(form.weights()) == 3
    shown = panel.penalty.weights_list.weights
    panel.penalty.set_spectrum(None, None)  # the next run has begun
    panel.penalty.set_spectrum(None, np.array([3.0, 2.0, 1.0]))  # it compares
    assert len(form.weights()) == 3
    assert all(field.isEnabled() for field in form.weights())
    assert panel.penalty.weights_list.weights == shown
    assert "a run shows them once it iterates" not in form.texts()


def test_weights_of_one_sequence_are_not_used_for_another(panel, form, known):
    panel.set_sequence(known.sequence)
    form.learn()
    panel.set_sequence(replace(known.sequence, name="another"))
    assert form.weights() == []
    assert "a run shows them once it iterates" in form.texts()


def test_a_weight_is_given_back_to_the_rule_and_brings_others_along(qtbot, panel, form):
    form.learn()
    before = panel.penalty.weights_list.weights
    panel.set_settings(panel.settings.with_changes(penalty=ExplicitWeights((0.3, 0.3, 0.5))))
    panel.penalty.reset_weight(1)
    qtbot.waitUntil(lambda: panel.settings.penalty.a[1] == pytest.approx(before[1], rel=1e-6))
    assert panel.settings.penalty.a == pytest.approx((before[1], before[1], 0.5), rel=1e-6)
    panel.set_settings(form.LEARNED)
    panel.penalty.reset_weight(1)  # of weights that follow the rule
    panel.flush()
    assert panel.settings == form.LEARNED
