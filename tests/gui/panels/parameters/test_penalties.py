"""The penalties in the form of parameters: each with numbers of its own, and the single weights."""

from dataclasses import replace

import numpy as np
import pytest
from hands import type_into

from core import PENALTIES, ExplicitWeights, LogPenalty, Settings
from core.foundation import parameters_of
from nrsfm_gui.panels.parameters.weights_list import WEIGHTS
from nrsfm_gui.widgets.drag_number import Scale


def test_every_penalty_can_be_chosen_and_shows_its_own_numbers_and_tips(panel, form):
    names = {name for kind in PENALTIES.values() for name in parameters_of(kind)}
    for kind, penalty in PENALTIES.items():
        form.choose("penalty", kind)
        own = parameters_of(penalty)
        assert {name for name in names if form.field(name).isVisibleTo(panel)} == own.keys()
        assert all(form.field(name).toolTip() == described.tip for name, described in own.items())
        panel.flush()
        assert panel.settings.penalty == (Settings().penalty if kind == "wnn" else penalty())


def test_each_penalty_remembers_its_numbers(panel, form):
    form.choose("penalty", "rank")
    form.write("mu", "0.25")
    panel.flush()
    form.choose("penalty", "log")
    assert form.field("mu").value() == LogPenalty().mu
    form.choose("penalty", "weights")
    assert form.field("mu").isVisibleTo(panel) and not form.field("mu").isEnabled()
    form.choose("penalty", "rank")
    assert form.field("mu").value() == 0.25


def test_weights_of_a_concave_penalty_are_its_slopes_at_the_singular_values(qtbot, panel, form):
    settings = Settings(rank=3, penalty=LogPenalty(mu=0.2, epsilon=0.5))
    panel.set_settings(settings)
    assert form.weights() == []
    assert "follow the singular values" in form.texts()
    for sigma in (np.array([19.0, 4.0, 0.5]), np.array([18.0, 5.0, 0.0])):
        panel.penalty.set_spectrum(None, sigma)
        shown = panel.penalty.weights_list.weights
        assert shown == pytest.approx(tuple(0.2 / (sigma + 0.5)), rel=1e-6)
    assert "slopes of the penalty" in form.texts()
    with qtbot.waitSignal(panel.settings_changed) as changed:
        type_into(form.weights()[2], "2")
    penalty = changed.args[0].penalty
    assert penalty.a[:2] == pytest.approx(shown[:2])
    assert penalty.a[2] == 2.0


def test_a_weight_that_is_typed_makes_the_penalty_explicit(qtbot, panel, form):
    weights = np.array([0.01, 0.05, 0.1, 0.5, 1.0, 2.0])
    reference = panel.settings.penalty.reference(weights)
    panel.penalty.set_spectrum(reference, np.array([30.0, 9, 4, 1, 0.5, 0.1]))
    with qtbot.waitSignal(panel.settings_changed) as changed:
        type_into(form.weights()[2], "0.2")
    assert changed.args[0].penalty == ExplicitWeights((0.01, 0.05, 0.2, 0.5, 1.0, 2.0))
    for name in ("xi", "gamma"):
        assert form.field(name).isVisibleTo(panel)
        assert not form.field(name).isEnabled()
    form.choose("penalty", "wnn")
    assert form.field("xi").isEnabled()


def test_a_decreasing_weight_that_is_typed_is_refused_with_the_reason(qtbot, panel, form):
    panel.set_settings(Settings(rank=2, penalty=ExplicitWeights((0.5, 1.0))))
    type_into(form.weights()[0], "2")
    qtbot.waitUntil(lambda: bool(panel.refusal))
    assert "weights decrease from 2 (weight 1) to 1 (weight 2)" in form.texts()


def test_weights_of_a_run_predict_those_of_another_strength(panel, form):
    form.learn()
    form.field("xi").setText("0.05")
    panel.flush()
    assert [field.value() for field in form.weights()] == pytest.approx(0.05 / form.REFERENCE, rel=0.01)


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


def test_known_weights_stay_while_another_run_compares_rotations_but_not_for_another_sequence(
    panel, form, known
):
    panel.set_sequence(known.sequence)
    panel.set_settings(form.LEARNED)
    unknown = "a run shows them once it iterates"
    assert form.weights() == [] and unknown in form.texts()
    form.learn()
    shown = panel.penalty.weights_list.weights
    panel.penalty.set_spectrum(None, None)  # the next run has begun
    panel.penalty.set_spectrum(None, np.array([3.0, 2.0, 1.0]))  # it compares
    assert len(form.weights()) == 3 and all(field.isEnabled() for field in form.weights())
    assert panel.penalty.weights_list.weights == shown and unknown not in form.texts()
    panel.set_sequence(replace(known.sequence, name="another"))
    assert form.weights() == [] and unknown in form.texts()


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
