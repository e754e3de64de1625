"""Changes of parameters in words, what live mode takes up of them, and the observations that they hide."""

from pathlib import Path

import numpy as np
import pytest

from core import PRESETS, ExplicitWeights, NuclearNorm, Settings, WeightedNuclearNorm
from nrsfm_gui.model.changes import (
    GESTURE,
    live_settings,
    named,
    one_gesture,
    parameters,
    unapplied,
    waiting_sentence,
)
from nrsfm_gui.model.excluded import excluded, with_excluded
from nrsfm_gui.model.names import run_name

BILINEAR = PRESETS["bilinear"]
MANY = ";".join(f"{point}:5" for point in range(1, 30))
WEIGHTS = Settings(rank=4, penalty=ExplicitWeights((0.0, 0.1, 0.2, 0.4)))


def weighed(*values):
    return WEIGHTS.with_changes(penalty=ExplicitWeights(values))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (BILINEAR, BILINEAR.with_changes(rank=3, eta=0.1), "rank 6 → 3, eta 0.05 → 0.1"),
        (BILINEAR, BILINEAR.with_changes(penalty=WeightedNuclearNorm(2e-7)), "xi 0.5 → 2e-7"),
        (BILINEAR, BILINEAR.with_changes(penalty=NuclearNorm()), "penalty WNN → NN"),
        (BILINEAR, BILINEAR.with_changes(penalty=ExplicitWeights((1.0,) * 6)), "penalty WNN → weights"),
        (WEIGHTS, weighed(0.0, 0.1, 0.3, 0.4), "a3 0.2 → 0.3"),
        (WEIGHTS, weighed(0.0, 0.15, 0.15, 0.4), "a2 0.1 → 0.15, a3 0.2 → 0.15"),
        (WEIGHTS, weighed(0.5, 0.5, 0.5, 0.5), "a1 and 3 more 0 → 0.5"),
        (WEIGHTS, Settings(rank=2, penalty=ExplicitWeights((0.0, 0.1))), "rank 4 → 2"),
        (Settings(), Settings(problem="lowrank"), "problem nonrigid → lowrank, objective depths → wnn"),
        (Settings(), Settings(mode_weights=(1.0, 1.0, 5.0)), "w3 1 → 5"),
        (Settings(mode_weights=(1.0, 5.0)), Settings(), "w2 5 → 1"),
        (Settings(), Settings(mode_weights=(1.0, 20.0, 20.0, 20.0)), "w2 and 2 more 1 → 20"),
        (Settings(), Settings(noise=0.5), "noise estimated from the tracks → 0.5"),
        (Settings(), Settings(max_iterations=5), "max iterations 1000 → 5"),
        (Settings(method="admm"), Settings(method="admm", options=(("rho", 2.5),)), "rho 0.01 → 2.5"),
        (Settings(), Settings(rotation_rank=3), "rotation rank several → 3"),
        (Settings(), Settings(rotations=Path("/a/cameras.npz")), "rotations best → cameras.npz"),
        (Settings(), Settings(intrinsics=(800.0, 8.0, 320.0, 2.5)), "intrinsics auto → (800, 8, 320, 2.5)"),
        (Settings(), Settings(hide="3:5"), "held-out observations none → 3:5"),
        (Settings(hide="3:5"), Settings(hide=MANY), "held-out observations 3:5 → of 29 points"),
        (Settings(), Settings(), "settings"),
    ],
)  # fmt: skip
def test_a_change_shows_from_what_to_what(old, new, words):
    assert named(old, new) == words


def test_a_movement_is_of_one_parameter_and_without_a_rest():
    moved = parameters(WEIGHTS, weighed(0.0, 0.1, 0.3, 0.4))
    pushed = parameters(weighed(0.0, 0.1, 0.3, 0.4), weighed(0.0, 0.1, 0.5, 0.5))
    assert one_gesture(moved, pushed, 0.1)
    assert not one_gesture(moved, pushed, GESTURE + 0.1)
    assert not one_gesture(moved, parameters(WEIGHTS, WEIGHTS.with_changes(eta=0.1)), 0.1)
    first = parameters(Settings(rank=4), WEIGHTS)  # the first move makes the weights explicit
    assert one_gesture(first, moved, 0.1)


def test_live_mode_applies_only_weights_eta_and_rank_of_the_norm_and_what_is_hidden():
    run = BILINEAR.with_changes(starts=1)
    live = {"eta": 0.2, "rank": 3, "penalty": NuclearNorm(), "hide": "3:5"}
    wanted = run.with_changes(starts=8, rotations="truth", **live)
    assert live_settings(run, wanted) == run.with_changes(**live)
    assert waiting_sentence(run, wanted) == "Press Run (Ctrl+R) to apply: rotations, starts"
    assert waiting_sentence(run, run.with_changes(eta=0.2)) == ""


def test_live_mode_applies_what_the_energy_of_the_depths_has_and_the_start_waits():
    live = {"isometry": 1.0, "mode_weights": (1.0, 20.0), "smallest_movement": 0.01, "noise": 0.3}
    wanted = Settings().with_changes(rank=3, starts=8, **live)
    assert live_settings(Settings(), wanted) == Settings(**live)
    assert waiting_sentence(Settings(), wanted) == "Press Run (Ctrl+R) to apply: rank, starts"


def test_under_another_method_problem_or_objective_all_waits():
    wanted = BILINEAR.with_changes(method="admm", eta=0.2)
    assert live_settings(BILINEAR, wanted) == BILINEAR
    assert waiting_sentence(BILINEAR, wanted) == "Press Run (Ctrl+R) to apply: method, eta"
    assert live_settings(Settings(), Settings(problem="lowrank", rank=4)) == Settings()
    assert waiting_sentence(Settings(), BILINEAR) == "Press Run (Ctrl+R) to apply: objective"


def test_what_goes_on_under_changed_settings_mirrors_no_frames():
    run = Settings(mirror="3-5")
    assert live_settings(run, Settings(mirror="7")) == run
    assert live_settings(run, Settings(isometry=1.0, mirror="7")) == Settings(isometry=1.0)


def test_mirrored_frames_of_a_run_ask_for_nothing_and_those_that_are_typed_for_a_new_run():
    assert unapplied(Settings(mirror="3-5"), Settings()) == ()
    assert unapplied(Settings(), Settings(mirror="3-5", rank=2)) == ("rank", "mirror")
    assert not waiting_sentence(Settings(mirror="3-5"), Settings())
    assert waiting_sentence(Settings(), Settings(mirror="3-5")) == "Press Run (Ctrl+R) to apply: mirror"


def test_a_run_is_named_after_the_frames_that_it_mirrors():
    assert run_name(Settings(mirror="31-40")) == "31-40 mirrored"
    assert run_name(Settings(mirror="31-40", isometry=0.5)) == "isometry 0.5, 31-40 mirrored"


def test_what_settings_hide_is_a_mask_and_comes_back(known):
    mask = np.zeros(known.sequence.visible.shape, dtype=bool)
    mask[4, 2] = mask[6:, 7] = mask[:, 9] = True
    settings = with_excluded(Settings(rank=3), mask)
    assert settings.rank == 3 and settings.hide == "3:5;8:7-;10:*"
    found = excluded(known.sequence, settings)
    assert np.array_equal(found, mask)
    with pytest.raises(ValueError, match="read-only"):
        found[0, 0] = True
    assert with_excluded(settings, np.zeros_like(mask)).hide is None
    assert excluded(known.sequence, Settings()) is None


def test_what_does_not_fit_the_tracks_hides_nothing(known):
    assert excluded(known.sequence, Settings(hide="4000:*")) is None
