"""A run that estimates its focal length from the tracks: its answer, and that only its end is continued."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import core
from core.reconstruction.nonrigid_pipeline import SHARE


@pytest.fixture(scope="module")
def scene() -> core.Sequence:
    made = core.simulate("paper", frames=14, points=20, noise=0.3, occlusion=0.0, seed=3)
    return replace(made, intrinsics=None, truth=None, rotations=None, translations=None, companion=None)


TRUE_FOCAL = 1400.0


@pytest.fixture(scope="module")
def iterates(scene) -> list[core.Iterate]:
    return list(core.iterate(scene, rank=2, starts=1, rotation_rank=2, intrinsics="estimate"))


@pytest.mark.slow
def test_the_interval_holds_the_true_focal_length_and_the_result_names_it(iterates):
    last = iterates[-1]
    assert last.origin.source == "tracks"
    low, high = last.origin.interval
    assert low < TRUE_FOCAL < high
    assert low < last.intrinsics[0, 0] < high
    assert high < 2.0 * low
    result = last.result()
    assert result.meta["remarks"][0].startswith(f"focal length {last.intrinsics[0, 0]:.0f} px estimated")
    assert result.meta["intrinsics"]["interval"] == [*last.origin.interval]


@pytest.mark.slow
def test_both_runs_are_one_history_whose_last_iterate_alone_is_finished(iterates):
    assert (np.diff([(each.iteration, each.record.seconds) for each in iterates], axis=0) >= 0).all()
    assert [each for each in iterates if each.status.finished] == iterates[-1:]
    assert max(each.fraction for each in iterates[: len(iterates) // 4]) <= SHARE
    assert iterates[-1].settings.intrinsics == "estimate"


@pytest.mark.slow
def test_a_run_continues_with_the_estimate_but_not_from_before_it(scene, iterates):
    settings = iterates[-1].settings.with_changes(eta=0.2, objective="wnn")
    early = next(each for each in iterates if each.phase.focal and each.depth)
    again = next(iter(core.iterate(scene, settings, start=early)))
    assert again.phase.focal
    *_, continued = core.iterate(scene, settings, start=iterates[-1])
    np.testing.assert_array_equal(continued.intrinsics, iterates[-1].intrinsics)
    assert continued.origin == iterates[-1].origin


def test_an_orthogonal_camera_has_no_focal_length_to_estimate(scene):
    flat = {"intrinsics": "estimate", "camera_model": "orthogonal"}
    first = next(core.iterate(scene, rank=2, starts=1, **flat))
    assert not first.phase.focal
    assert first.origin.source == "normalized"


def test_tracks_that_do_not_determine_it_keep_the_assumed_focal_length(scene):
    few = core.Sequence(scene.tracks[:2], scene.visible[:2], image_size=(1280, 960))  # is not refined
    *_, last = core.iterate(few, rank=1, starts=1, rotation_rank=1, intrinsics="estimate")
    assert last.origin.source == "assumed"
    assert last.intrinsics[0, 0] == 1536.0
    assert last.origin.remark.endswith("the tracks do not determine it")
