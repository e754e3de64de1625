"""Problem, method, penalty and their numbers in the form: all can be set, and what is refused says why."""

from dataclasses import replace

import numpy as np
import pytest
from hands import type_into
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLineEdit, QSlider

from core import (
    METHODS,
    PENALTIES,
    PRESETS,
    CameraModel,
    ExplicitWeights,
    LogPenalty,
    NuclearNorm,
    Settings,
    WeightedNuclearNorm,
)
from core.foundation import DEPTHS, WNN, parameters_of
from core.reconstruction import RECOMMENDED_PENALTY, SETTINGS
from nrsfm_gui.panels.parameters.weights_list import WEIGHTS
from nrsfm_gui.widgets.drag_number import Scale
from nrsfm_gui.widgets.fields import Choice, NumberField

NUMBERS = {  # of every option a value that is not its default, and one that is refused
    "damping": (0.25, "0"),
    "rho": (2.5, "0"),
    "relaxation": (1.2, "2"),
    "progress": (1e-4, "-1"),
    "patience": (7, "0"),
    "alpha": (3.0, "1"),
    "margin": (1.5, "0.5"),
    "tau": (0.4, "1.5"),
    "shrinkage": (0.5, "0.95"),
    "growth": (1.7, "1"),
}
# Each with one of the methods that have it.
OPTIONS = {option.name: method for method, row in METHODS.items() for option in row.options}


def test_a_method_shows_its_own_options_and_no_others(panel, form):
    for method, row in METHODS.items():
        form.choose("method", method)
        own = {option.name for option in row.options}
        assert {name for name in OPTIONS if form.widget(name).isVisibleTo(panel)} == own
        for editor in map(form.widget, own):
            assert editor.toolTip() and editor.width() <= panel.width()


def test_every_option_is_written_read_refused_and_given_back(panel, form):
    for name, method in OPTIONS.items():
        form.choose("method", method)
        option = next(option for option in METHODS[method].options if option.name == name)
        penalty = METHODS[method].penalty if method == "bmm" else RECOMMENDED_PENALTY
        plain = Settings().with_changes(method=method, penalty=penalty)
        if option.choices:
            value = next(word for word in option.choices if word != METHODS[method].default(name))
            form.choose(name, value)
        else:
            value, refused = NUMBERS[name]
            form.write(name, refused)
            assert f"{name} is {float(refused):g}" in form.note(name) and panel.refusal
            form.write(name, str(value))
            panel.flush()
        assert panel.settings == plain.with_changes(options=((name, value),)) and not panel.refusal
        if option.choices:
            form.choose(name, METHODS[method].default(name))
        else:
            form.write(name, "")  # left empty, it is the default again
            panel.flush()
        assert panel.settings == plain


def test_what_was_set_of_a_shared_option_stays_with_the_next_method(panel, form):
    form.choose("method", "admm")
    form.write("rho", "3")
    form.write("patience", "9")
    form.choose("method", "r-bmm")
    assert panel.settings == Settings(method="r-bmm", options=(("rho", 3.0),))
    form.choose("method", "bilinear")
    form.choose("method", "admm")
    assert panel.settings == Settings(method="admm")  # nothing hidden comes back


def test_what_is_not_offered_together_is_reported_below_the_method_until_it_is_changed(panel, known, form):
    emitted = []
    panel.settings_changed.connect(emitted.append)
    panel.set_settings(Settings(method="paper", penalty=LogPenalty()))
    assert not panel.refusal  # nothing is open that could refuse them
    panel.set_sequence(known.sequence)
    assert "linear in the singular values" in form.note("method") and panel.refusal
    panel.set_settings(Settings())
    form.choose("method", "bmm")
    assert form.note("method") == ("BMM is for orthogonal cameras of known rotations (eta = 1); choose admm.")
    assert panel.refusal
    assert emitted == []
    panel.set_sequence(replace(known.sequence, camera=CameraModel.ORTHOGONAL))
    form.choose("penalty", "wnn")
    assert form.note("method").startswith("BMM minimizes the nuclear norm")
    panel.flush()
    assert panel.refusal and emitted == []
    form.choose("penalty", "nn")
    panel.flush()
    assert not panel.refusal
    assert emitted == [Settings(method="bmm", penalty=NuclearNorm())]


GIVEN = [WeightedNuclearNorm(xi=0.02), ExplicitWeights((0.1, 0.2, 0.3))]


@pytest.mark.parametrize("given", GIVEN, ids=lambda penalty: type(penalty).__name__)
def test_a_method_brings_its_penalty_and_the_one_before_is_restored(panel, known, given, form):
    panel.set_sequence(replace(known.sequence, camera=CameraModel.ORTHOGONAL))
    before = Settings(rank=3, penalty=given, objective=DEPTHS)
    panel.set_settings(before)
    emitted = []
    panel.settings_changed.connect(emitted.append)
    form.choose("method", "bmm")
    assert not panel.refusal
    assert emitted == [before.with_changes(method="bmm", penalty=NuclearNorm())]  # at once, not in two steps
    words = form.note("method")
    assert (
        words.startswith("BMM brings its own penalty (nuclear norm)")
        and "a suitable method restores the" in words
    )
    assert not panel.findChild(Choice, "method").property("invalid")
    form.choose("method", "r-bmm")
    kept = isinstance(given, WeightedNuclearNorm)
    assert panel.settings.penalty == (given if kept else WeightedNuclearNorm())
    assert (form.note("method") == "") is kept
    form.choose("method", "bilinear")
    assert panel.settings == before
    assert form.note("method") == ""


def test_another_run_s_parameters_are_not_mixed_with_a_penalty_that_was_replaced(panel, known, form):
    panel.set_sequence(replace(known.sequence, camera=CameraModel.ORTHOGONAL))
    panel.set_settings(Settings(penalty=LogPenalty()))
    form.choose("method", "bmm")
    form.write("mu", "0.02")  # one that was changed is not replaced again
    panel.flush()
    assert form.note("method") == ""
    form.choose("method", "bilinear")
    assert panel.settings.penalty == NuclearNorm(mu=0.02)
    form.choose("method", "bmm")
    panel.set_settings(Settings(method="bmm", penalty=NuclearNorm(), rank=4))
    assert form.note("method") == ""
    form.choose("method", "bilinear")
    assert panel.settings == Settings(rank=4, penalty=NuclearNorm(), objective=DEPTHS)


def test_what_changes_nothing_is_disabled_with_the_reason(panel, known, form):
    orthogonal = replace(known.sequence, camera=CameraModel.ORTHOGONAL)
    lowrank = dict.fromkeys(("rotations", "rotation_rank"), "low-rank problem")
    closed = dict.fromkeys(("starts", "seed"), "closed form")
    for settings, sequence, reasons in (
        (Settings(), known.sequence, {"starts": "Depths start from the candidates"}),
        (Settings(rotations="truth"), known.sequence, {}),
        (PRESETS["bilinear"], orthogonal, {"eta": "solved at eta = 1", "intrinsics": "need no intrinsics"}),
        (PRESETS["lowrank"], known.sequence, lowrank),
        (PRESETS["lowrank"], orthogonal, lowrank | {"intrinsics": "without K"}),
        (Settings(method="admm+bilinear"), known.sequence, closed),
        (Settings(method="agd"), known.sequence, closed | {"tolerance": "AGD has no second-order step"}),
    ):
        panel.set_settings(settings)
        panel.set_sequence(sequence)
        reasons |= {"loss_scale": "choose a robust loss"}
        assert {name for name in SETTINGS if not form.widget(name).isEnabled()} == set(reasons)
        assert all(words in form.widget(name).toolTip() for name, words in reasons.items())
    panel.set_settings(PRESETS["lowrank"])
    assert "closed form, grown, then random" in form.widget("starts").toolTip()


def test_each_problem_keeps_its_rank_and_penalty(panel, form):
    form.choose("penalty", "log")
    form.write("rank", "3")
    panel.flush()
    form.choose("objective", "lowrank")
    assert panel.settings == PRESETS["lowrank"]
    form.write("rank", "5")
    form.choose("penalty", "nn")
    panel.flush()
    form.choose("objective", "depths")
    assert (panel.settings.rank, panel.settings.penalty) == (3, LogPenalty())
    form.choose("objective", "lowrank")
    assert (panel.settings.rank, panel.settings.penalty) == (5, NuclearNorm(mu=1e-3))


def test_the_rank_of_a_matrix_is_at_most_its_sides(panel, known, form):
    sequence = known.sequence  # 12 frames, 20 points
    panel.set_sequence(sequence)
    form.write("rank", "13")
    assert "12 frames of 20 points allow 1 to 12" in form.note("rank")
    form.choose("objective", "lowrank")
    form.write("rank", "20")
    assert form.note("rank") == ""
    form.write("rank", "21")
    assert "allow 1 to 20" in form.note("rank")


def test_the_affine_low_rank_problem_is_refused_and_eta_stays_free_on_orthogonal_tracks(panel, known, form):
    panel.set_sequence(replace(known.sequence, camera=CameraModel.ORTHOGONAL))
    form.choose("objective", "lowrank")
    assert panel.findChild(NumberField, "eta").isEnabled()
    form.write("eta", "1")
    assert "needs eta below 1" in form.note("method")
    form.write("eta", "0.95")
    assert form.note("method") == ""


def test_the_objective_decides_which_parameters_there_are(panel, form):
    mirror = panel.findChild(QLineEdit, "mirror")
    fields = [form.field(name) for name in ("noise", "isometry", "smallest_movement", "neighbors")]
    for objective in (WNN, DEPTHS, WNN):
        form.choose("objective", objective)
        panel.flush()
        assert panel.settings == Settings(objective=objective)
        there = [field.isVisibleTo(panel) for field in (*fields, mirror)]
        assert set(there) == {objective == DEPTHS}
        assert {"isometry", "mode_weights"} <= {
            e.symbols[0] for e in panel.parameter_entries()
        } or objective == WNN
        assert "gives the start" in form.texts() or objective == WNN
        assert form.field("rank").isVisibleTo(panel)  # of the objective, or of its start


def test_the_weights_of_the_modes_are_typed_or_refused_below_their_row(panel, form):
    field = panel.findChild(QLineEdit, "mode_weights")
    for text, weights in (("1, 1, 20", (1.0, 1.0, 20.0)), ("0,0,2,", (0.0, 0.0, 2.0)), ("", (1.0,))):
        type_into(field, text)
        panel.flush()
        assert panel.settings == Settings(mode_weights=weights)
        panel.set_settings(Settings())
        assert field.text() == ""
        panel.set_settings(Settings(mode_weights=weights))
        panel.flush()
        assert panel.settings.mode_weights == weights
    for text in ("2, 1", "a", "0", "1,,2", "nan"):
        type_into(field, text)
        panel.flush()
        assert panel.refusal and form.note("mode_weights")
    panel.set_settings(Settings())
    assert not panel.refusal and form.note("mode_weights") == ""


def test_hidden_observations_are_typed_and_refused_where_the_tracks_do_not_have_them(panel, form, known):
    panel.set_sequence(known.sequence)
    hide = panel.findChild(QLineEdit, "hide")
    QTest.keyClicks(hide, "3:4-6;20:*")
    panel.flush()
    assert panel.settings.hide == "3:4-6;20:*"
    QTest.keyClicks(hide, ";21:1")
    assert form.note("hide") == "hidden names point 21; accepted are points from 1 to 20"
    assert panel.refusal
    panel.set_settings(Settings())
    assert hide.text() == "" and not panel.refusal


def test_a_robust_loss_is_chosen_and_its_scale_is_dragged_or_automatic(panel, form):
    scale, slider = form.field("loss_scale"), panel.findChild(QSlider, "drag loss_scale")
    assert not scale.isEnabled() and "choose a robust loss" in scale.toolTip()
    form.choose("loss", "cauchy")
    assert panel.settings.loss == "cauchy" and panel.settings.loss_scale is None
    assert scale.isEnabled() and scale.text() == "" and scale.placeholderText() == "auto"
    slider.setValue(slider.value() + 10)
    panel.flush()
    assert panel.settings.loss_scale == pytest.approx(10**0.5 * 1.01**10, rel=0.02)
    panel.set_value("loss_scale", None)
    panel.flush()
    assert panel.settings.loss_scale is None
    panel.set_settings(Settings(loss="huber", loss_scale=2.5))
    assert scale.text() == "2.5" and panel.findChild(Choice, "loss").key == "huber"


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


def test_a_weight_is_given_back_to_the_rule_and_brings_others_along(panel, form):
    form.learn()
    before = panel.penalty.weights_list.weights
    panel.set_settings(panel.settings.with_changes(penalty=ExplicitWeights((0.3, 0.3, 0.5))))
    panel.penalty.reset_weight(1)
    panel.flush()
    assert panel.settings.penalty.a == pytest.approx((before[1], before[1], 0.5), rel=1e-6)
    panel.set_settings(form.LEARNED)
    panel.penalty.reset_weight(1)  # of weights that follow the rule
    panel.flush()
    assert panel.settings == form.LEARNED
