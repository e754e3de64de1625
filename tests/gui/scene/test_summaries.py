"""What is said of runs: every method and penalty has a name, and changes are named after what changed."""

import pytest

from core import METHODS, PENALTIES, PRESETS, ExplicitWeights, Settings
from core.reconstruction import DEFAULT_PRESETS
from nrsfm_gui.model.names import run_name, settings_text
from nrsfm_gui.scene.summaries import measure, relative_measure, size_text


@pytest.mark.parametrize("problem", ["nonrigid", "lowrank"])
def test_every_method_and_penalty_has_a_short_name_of_its_own(problem):
    base = PRESETS[DEFAULT_PRESETS[problem]].with_changes(eta=0.1)
    methods = {run_name(base.with_changes(method=name)) for name in METHODS}
    penalties = {run_name(base.with_changes(penalty=kind())) for kind in PENALTIES.values()}
    assert len(methods) == len(METHODS)
    assert len(penalties) == len(PENALTIES)
    assert all(len(name) <= 60 for name in methods | penalties)


def test_names_show_preset_problem_method_and_penalty():
    assert [run_name(settings) for settings in PRESETS.values()] == list(PRESETS)
    explicit = ExplicitWeights((1.0, 2.0))
    assert run_name(Settings(method="r-bmm", rank=2, penalty=explicit)) == "R-BMM, rank 2, weights 1, 2"
    assert run_name(PRESETS["lowrank"].with_changes(method="irnn")) == "lowrank, IRNN"
    assert run_name(Settings(eta=0.1)) == "bilinear, eta 0.1"
    assert run_name(Settings(isometry=0.5)) == "isometry 0.5"
    assert run_name(Settings(mode_weights=(1.0, 1.0, 20.0))) == "weights 1, 1, 20"
    assert run_name(Settings(loss="cauchy", loss_scale=2.0)) == "Cauchy, loss scale 2"
    assert run_name(Settings(eta=0.1, loss="huber", hide="3:*")) == "bilinear, eta 0.1, held out, Huber"
    assert run_name(PRESETS["bilinear"].with_changes(eta=0.1)) == "bilinear, eta 0.1"
    assert run_name(Settings(intrinsics=(1400.0, 1400.0, 640.0, 480.0))) == "given K"
    loose = (("relaxation", 1.0), ("rho", 0.1))
    assert run_name(Settings(method="admm", options=loose)) == "ADMM, relaxation 1, rho 0.1"


def test_settings_in_a_line_begin_with_those_of_what_is_minimized():
    start = "rank 6, eta 0.05, WNN, xi 0.5, gamma 1e-06"
    depths = "isometry 0.3, smallest movement 0.0025, 8 neighbors"
    assert settings_text(Settings()) == f"recommended, {depths}; start: {start}"
    assert settings_text(PRESETS["bilinear"]) == f"bilinear, {start}"


def test_a_name_has_few_parts_and_few_weights():
    many = Settings(rank=6, penalty=ExplicitWeights((0.0, 0.1, 0.2, 0.3, 0.4, 0.5)))
    assert run_name(many) == "bilinear, weights 0, 0.1, 0.2, 0.3, …"
    assert run_name(Settings(mode_weights=(1.0,) * 9 + (5.179,))) == "weights 9 × 1, 5.18"
    many = Settings(seed=3, starts=1, rotation_rank=2, noise=0.1, isometry=0.5, neighbors=4)
    assert run_name(many) == "rotation rank 2, starts 1, seed 3, isometry 0.5, 2 more"


def test_lengths_have_three_digits_and_an_exponent_only_where_nothing_would_be_left():
    values = (None, float("nan"), 0.0, 6.68e-6, 0.0123, 0.135, 2.754, 181.93, 1673264.4)
    assert [measure(value, "px") for value in values] == [
        *("–", "–", "0.000 px", "6.7e-06 px", "0.012 px", "0.135 px", "2.75 px", "181.9 px", "1.67e+06 px")
    ]


def test_a_length_has_its_part_of_the_object_beside_it():
    assert relative_measure(7.5, "mm", 156.2) == "7.50 mm, 4.8 % of the object"
    assert relative_measure(7.5, "mm", 156.2, short=True) == "7.50 mm · 4.8 %"
    shares = [relative_measure(value, "mm", 100.0, short=True) for value in (250.0, 12.6, 0.0, 0.012, 2e-6)]
    texts = ("250.0 mm · 250 %", "12.60 mm · 13 %", "0.000 mm · 0 %", "0.012 mm · 0.012 %")
    assert shares == [*texts, "2.0e-06 mm · below 0.001 %"]
    assert relative_measure(7.5, "mm", None) == relative_measure(7.5, "mm", float("nan")) == "7.50 mm"
    assert relative_measure(None, "mm", 156.2) == "–"
    assert size_text(156.2, "mm") == "the object: 156 mm"
    assert size_text(None, "mm") == ""
