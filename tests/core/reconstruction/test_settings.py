"""Settings keep plain numbers, and refuse other values in a sentence."""

import json
from dataclasses import fields

import numpy as np
import pytest

from core import (
    METHODS,
    PRESETS,
    CameraModel,
    ExplicitWeights,
    InputError,
    NuclearNorm,
    RampWeights,
    RankPenalty,
    Settings,
    TruncatedNuclearNorm,
    WeightedNuclearNorm,
    python_for,
    reconstruct,
    simulate,
)
from core.foundation import DEPTHS, WNN
from core.reconstruction import (
    OBJECTIVE_OF,
    OBJECTIVES,
    chosen_objective,
    mode_weights_by,
    settings_from_dict,
    settings_of,
    settings_to_dict,
)
from core.reconstruction.refinement import depth_options
from core.reconstruction.settings import SettingsFields

DEPTH_PARAMETERS = {"isometry": 0.5, "neighbors": 5, "mode_weights": (1.0, 2.0), "smallest_movement": 0.01}
ACCEPTED = "accepted are numbers of at least 0 that do not decrease, the last one above 0"


def test_every_field_is_a_keyword_and_every_parameter_of_the_depths_reaches_their_refinement():
    assert {"preset", *(field.name for field in fields(Settings))} == SettingsFields.__annotations__.keys()
    own = {name for name, objective in OBJECTIVE_OF.items() if objective == DEPTHS}
    assert own == {*DEPTH_PARAMETERS, "noise", "mirror"}  # the last two are of the tracks and of the start
    default = depth_options(Settings(), thorough=True)
    for name, value in DEPTH_PARAMETERS.items():
        assert depth_options(Settings(**{name: value}), thorough=True) != default, name


def test_numbers_are_kept_as_numbers_of_python():
    settings = Settings(
        rank=2.0,
        eta=np.float64(0.25),
        seed=np.int64(2**60 + 1),
        penalty=WeightedNuclearNorm(xi=np.float32(0.5)),
    )
    assert settings == Settings(rank=2, eta=0.25, seed=2**60 + 1, penalty=WeightedNuclearNorm(0.5))
    kept = (settings.rank, settings.eta, settings.seed, settings.penalty.xi, RankPenalty(3).mu)
    assert [type(value) for value in kept] == [int, float, int, float, float]
    assert repr(Settings(intrinsics=np.array([1400, 1399, 640, 480])).intrinsics).startswith(
        "(1400.0, 1399.0,"
    )
    weights = ExplicitWeights(np.array([0.25, 0.5]))
    assert weights == ExplicitWeights((0.25, 0.5)) and {type(each) for each in weights.a} == {float}
    settings = Settings(rank=2, penalty=weights)
    json.dumps(settings_to_dict(settings))
    assert "a=(0.25, 0.5)" in python_for(simulate("balloon", frames=10, points=16), settings)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"eta": "0.1"}, "eta is '0.1', a text; accepted is a number above 0 and at most 1"),
        ({"rank": 10**400}, "rank is too large; accepted is a whole number of at least 1 and at most 10000"),
        ({"rank": (2,)}, "rank is (2,); accepted is a whole number of at least 1 and at most 10000"),
        ({"penalty": 0.5}, "penalty is 0.5; accepted is a penalty such as WeightedNuclearNorm(5e-3)"),
        ({"objective": "rays"}, "objective is 'rays'; accepted are depths, wnn"),
        ({"noise": -1.0}, "noise is -1; accepted is a number of at least 0"),
        ({"isometry": -0.1}, "isometry is -0.1; accepted is a number of at least 0"),
        ({"neighbors": 0}, "neighbors is 0; accepted is a whole number of at least 1 and at most 1000"),
        ({"smallest_movement": 2}, "smallest_movement is 2; accepted is a number above 0 and at most 1"),
        ({"mode_weights": (2, 1)}, f"the weights of the modes are 2, 1; {ACCEPTED}"),
        ({"mode_weights": ()}, f"the weights of the modes are none; {ACCEPTED}"),
        ({"hide": 5}, "hide is 5; accepted is a text"),
        ({"problem": ["lowrank"]}, "problem is ['lowrank']; accepted are nonrigid, lowrank"),
        ({"options": "ab"}, "options is 'ab'; accepted is names and values"),
        ({"mode_weights": 1.0}, "mode_weights is 1.0; accepted is numbers"),
        *(
            (
                {"intrinsics": intrinsics},
                f"intrinsics is {intrinsics!r}; accepted are four numbers fx, fy, cx, cy, an existing file, "
                "auto, estimate, gt, calibrated",
            )
            for intrinsics in ((1, 2), ("a", 1, 2, 3), 1400.0)
        ),
    ],
)
def test_what_no_setting_accepts_is_refused(changes, sentence):
    with pytest.raises(InputError) as refused:
        Settings(**changes)
    assert str(refused.value) == sentence


def test_what_no_penalty_accepts_is_refused():
    with pytest.raises(InputError, match="xi is nan; accepted is a finite number of at least 0"):
        WeightedNuclearNorm(xi=np.nan)
    with pytest.raises(InputError, match="weights are 'ab'; accepted is a list of at least one number"):
        ExplicitWeights("ab")


@pytest.mark.parametrize("preset", [None, "paper"])
def test_a_method_brings_its_penalty_where_none_is_given(preset):
    scene = simulate("balloon", frames=10, points=16, camera=CameraModel.ORTHOGONAL)
    quick = {"method": "bmm", "rank": 2, "rotations": "truth", "intrinsics": "auto", "max_iterations": 3}
    result = reconstruct(scene, preset, **quick)
    assert settings_from_dict(result.meta["settings"]).penalty == METHODS["bmm"].penalty == NuclearNorm()
    kept = settings_of(preset, method="r-bmm").penalty
    assert kept == settings_of(preset).penalty  # R-BMM accepts that of the preset
    for settings, given in ((preset, {"penalty": WeightedNuclearNorm(0.5)}), (Settings(), {})):
        with pytest.raises(InputError, match="BMM minimizes the nuclear norm"):
            reconstruct(scene, settings, **given, **quick)


@pytest.mark.parametrize(
    ("given", "objective"),
    [
        ({}, DEPTHS),
        ({"penalty": NuclearNorm(0.1)}, WNN),
        ({"options": (("rho", 2.0),), "method": "admm"}, WNN),
        ({"mode_weights": (1.0, 2.0)}, DEPTHS),
        ({"mirror": "3-5"}, DEPTHS),
        ({"rank": 3, "isometry": 1.0}, DEPTHS),  # the rank is of the start
        ({"starts": 4, "loss": "cauchy", "rotations": "truth", "seed": 3}, DEPTHS),  # of both
        ({"problem": "lowrank", "starts": 2}, WNN),
    ],
)
def test_a_parameter_of_one_objective_alone_chooses_it(given, objective):
    assert Settings(**given).objective == settings_of(**given).objective == objective
    assert chosen_objective(given) == objective


def test_a_preset_or_an_objective_is_kept_whatever_else_is_given():
    for name, preset in PRESETS.items():
        assert (
            settings_of(name, rank=2).objective == preset.with_changes(rank=2).objective == preset.objective
        )
        assert settings_of(name, isometry=1.0).objective == preset.objective
    assert settings_of(rank=Settings().rank).objective == WNN  # also where it is the default
    for objective in OBJECTIVES:
        assert Settings(objective=objective, rank=2, isometry=1.0).objective == objective
        assert settings_of(objective=objective, rank=2).objective == objective
    assert PRESETS["recommended"].with_changes(objective=WNN) == PRESETS["bilinear"]
    assert {PRESETS[name].objective for name in ("paper", "lowrank")} == {WNN}


def test_a_method_whose_solutions_are_no_starts_for_depths_brings_the_weighted_nuclear_norm():
    for method in METHODS:
        brought = DEPTHS if method in ("bilinear", "lm") else WNN
        assert Settings().with_changes(method=method).objective == brought
        assert PRESETS["bilinear"].with_changes(method=method).objective == WNN
        for given in OBJECTIVES:  # what was asked for stays
            assert Settings(method=method, objective=given).objective == given
            assert settings_of("recommended", method=method, objective=given).objective == given
    assert Settings(method="admm", isometry=1.0).objective == WNN


def test_a_low_rank_problem_has_no_energy_of_depths():
    assert Settings().with_changes(problem="lowrank").objective == WNN
    with pytest.raises(InputError, match="the low-rank problem has no energy of depths"):
        reconstruct(simulate("balloon", frames=10, points=16), "lowrank", objective=DEPTHS)


def test_a_penalty_that_is_not_registered_is_refused():
    class Halves(NuclearNorm):
        """A penalty of another package."""

    with pytest.raises(InputError, match=r"Halves is not in PENALTIES; PENALTIES\['name'\] = Halves"):
        Settings(penalty=Halves())


def test_mirrored_frames_are_kept_in_one_form():
    for text, kept in (("31-40", "31-40"), (" 7 ", "7"), ("7-7", "7"), ("03 \N{EN DASH} 5", "3-5")):
        assert Settings(mirror=text).mirror == kept
    for text in ("", "0-3", "5-4", "1-2-3"):
        with pytest.raises(InputError, match="such as 31-40"):
            Settings(mirror=text)


DEVIATIONS = np.array([0.4, 0.2, 0.1, 0.02, 1e-4, 0.0])  # of which four exceed a movement of .01


def test_weights_of_modes_by_a_penalty_end_at_the_smallest_movement_that_counts():
    norm = WeightedNuclearNorm(xi=3.0, gamma=1e-9)
    np.testing.assert_allclose(mode_weights_by(norm, DEVIATIONS, 0.15), (1.0, 2.0))
    np.testing.assert_allclose(mode_weights_by(norm, DEVIATIONS, 0.01), (1.0, 2.0, 4.0, 20.0))
    np.testing.assert_allclose(mode_weights_by(norm, DEVIATIONS, 1e-5), (1.0, 2.0, 4.0, 20.0, 100.0))
    assert mode_weights_by(norm, np.zeros(3), 0.01) == (1.0,)
    assert mode_weights_by(RampWeights(mu=2.0, free=1), DEVIATIONS, 0.05) == (0.0, 0.5, 1.0)
    assert mode_weights_by(TruncatedNuclearNorm(mu=0.5, free=9), DEVIATIONS, 0.15) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("rnak", "there is no setting 'rnak'; the nearest is 'rank'"),
        ("penalty", "penalty is 1; accepted is a penalty such as WeightedNuclearNorm"),
        ("preset", r"settings is 1; accepted is Settings\(...\), or a preset: recommended, bilinear, paper"),
        ("zzz", "there is no setting 'zzz'; accepted are problem, method"),
    ],
)
def test_a_setting_that_does_not_exist_names_the_nearest(name, sentence):
    with pytest.raises(InputError, match=sentence):
        settings_of(**{name: 1})


def test_presets_and_penalties_are_given_by_their_names():
    assert settings_of(preset="paper", rank=3) == settings_of("paper", rank=3)
    assert settings_of(penalty="nn") == settings_of(penalty=NuclearNorm())
    assert Settings(penalty="wnn").penalty == WeightedNuclearNorm()
    with pytest.raises(InputError, match="penalty is 'wn'; accepted are wnn, nn,"):
        settings_of(penalty="wn")
    with pytest.raises(InputError, match="settings and a preset are given; accepted is one of them"):
        settings_of("paper", preset="bilinear")
