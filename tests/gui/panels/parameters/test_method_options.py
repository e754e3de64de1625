"""Problem, method and the method's options in the form: all can be set, and what is refused says why."""

from dataclasses import replace

import pytest
from hands import type_into
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLineEdit, QSlider

from core import (
    METHODS,
    PRESETS,
    CameraModel,
    ExplicitWeights,
    LogPenalty,
    NuclearNorm,
    Settings,
    WeightedNuclearNorm,
)
from core.foundation import DEPTHS, WNN
from core.reconstruction import RECOMMENDED_PENALTY, SETTINGS
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
    assert form.note("hide") == "hide names point 21; accepted are points from 1 to 20"
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
