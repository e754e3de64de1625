"""Settings keep plain numbers, and refuse other values in a sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest

from core import (
    METHODS,
    PRESETS,
    CameraModel,
    ExplicitWeights,
    InputError,
    NuclearNorm,
    RankPenalty,
    Settings,
    WeightedNuclearNorm,
    python_for,
    reconstruct,
    simulate,
)
from core.reconstruction import OBJECTIVES, settings_from_dict, settings_of, settings_to_dict


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
    weights = ExplicitWeights(np.array([0.25, 0.5]))
    assert weights == ExplicitWeights((0.25, 0.5)) and {type(each) for each in weights.a} == {float}
    settings = Settings(rank=2, penalty=weights)
    json.dumps(settings_to_dict(settings))
    assert "a=(0.25, 0.5)" in python_for(simulate("balloon", frames=10, points=16), settings)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: Settings(rank="2"),
            "rank is '2', a text; accepted is a whole number of at least 1 and at most 10000",
        ),
        (lambda: Settings(eta="0.1"), "eta is '0.1', a text; accepted is a number above 0 and at most 1"),
        (
            lambda: Settings(rank=(2,)),
            "rank is (2,); accepted is a whole number of at least 1 and at most 10000",
        ),
        (lambda: WeightedNuclearNorm(xi="0.5"), "xi is '0.5', a text; accepted is a number of at least 0"),
        (lambda: WeightedNuclearNorm(xi=np.nan), "xi is nan; accepted is a finite number of at least 0"),
        (lambda: ExplicitWeights("ab"), "weights are 'ab'; accepted is a list of at least one number"),
    ],
)
def test_what_is_no_accepted_number_is_refused(make, sentence):
    with pytest.raises(InputError) as refused:
        make()
    assert str(refused.value) == sentence


@pytest.mark.parametrize("intrinsics", [(1, 2), (1400.0, 1400.0, 640.0, 480.0, 0.0), ("a", 1, 2, 3), 1400.0])
def test_intrinsics_that_are_not_four_numbers_are_refused(intrinsics):
    with pytest.raises(InputError) as refused:
        Settings(intrinsics=intrinsics)
    assert str(refused.value) == (
        f"intrinsics is {intrinsics!r}; accepted are four numbers fx, fy, cx, cy, an existing file, "
        "auto, estimate, gt, calibrated"
    )


def test_four_numbers_of_intrinsics_are_kept_as_floats():
    assert repr(Settings(intrinsics=np.array([1400, 1399, 640, 480])).intrinsics) == (
        "(1400.0, 1399.0, 640.0, 480.0)"
    )


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


def test_a_method_brings_its_refinement_where_none_is_given():
    for method in METHODS:
        brought = "depth" if method in ("bilinear", "lm") else "none"
        assert (
            Settings(method=method).objective == Settings().with_changes(method=method).objective == brought
        )
        for given in OBJECTIVES:  # what was asked for stays
            assert Settings(method=method, objective=given).objective == given
            assert settings_of("recommended", method=method, objective=given).objective == given
        assert PRESETS["bilinear"].with_changes(method=method).objective == WNN
    assert PRESETS["recommended"].with_changes(objective="wnn") == PRESETS["bilinear"]
    assert {PRESETS[name].objective for name in ("paper", "lowrank")} == {"none"}
    assert (
        Settings().with_changes(rank=3).objective == Settings().with_changes(method="lm").objective == DEPTHS
    )


def test_a_low_rank_problem_is_not_refined():
    assert (
        Settings(problem="lowrank").objective == Settings().with_changes(problem="lowrank").objective == WNN
    )
    scene = simulate("balloon", frames=10, points=16)
    with pytest.raises(InputError, match="the low-rank problem has no depth refinement"):
        reconstruct(scene, "lowrank", objective="depths")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"objective": "rays"}, "objective is 'rays'; accepted are depths, wnn"),
        ({"noise": -1.0}, "noise is -1; accepted is a number of at least 0"),
        ({"isometry": -0.1}, "isometry is -0.1; accepted is a number of at least 0"),
        ({"neighbors": 0}, "neighbors is 0; accepted is a whole number of at least 1"),
    ],
)
def test_numbers_of_the_refinement_are_checked(changes, sentence):
    with pytest.raises(InputError) as refused:
        Settings(**changes)
    assert str(refused.value) == sentence


@pytest.mark.parametrize("penalty", ["wnn", 0.5, None, WeightedNuclearNorm])
def test_what_is_no_penalty_is_refused(penalty):
    with pytest.raises(InputError) as refused:
        Settings(penalty=penalty)
    assert str(refused.value) == (
        f"penalty is {penalty!r}; accepted is a penalty such as WeightedNuclearNorm(5e-3)"
    )


def test_a_penalty_that_is_not_registered_is_refused():
    class Halves(NuclearNorm):
        """A penalty of another package."""

    with pytest.raises(InputError, match=r"Halves is not in PENALTIES; PENALTIES\['name'\] = Halves"):
        Settings(penalty=Halves())


@pytest.mark.parametrize(
    ("text", "kept"), [("31-40", "31-40"), (" 7 ", "7"), ("7-7", "7"), ("03 \N{EN DASH} 5", "3-5")]
)
def test_mirrored_frames_are_kept_in_one_form(text, kept):
    assert Settings(mirror=text).mirror == kept
    assert Settings(mirror=text) == Settings(mirror=kept)


@pytest.mark.parametrize("text", ["", "0-3", "5-4", "a", "1-2-3", "1,2", "-3"])
def test_mirrored_frames_that_are_none_are_refused(text):
    with pytest.raises(InputError, match="such as 31-40"):
        Settings(mirror=text)
