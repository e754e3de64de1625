"""Runs that leave observations out: what they use, how they continue, and how they are written down."""

import shlex
from dataclasses import replace

import numpy as np
import pytest

import core
from core.cli import main
from core.data import parse_hidden
from core.reconstruction import LIVE

HIDDEN = "3:2-4,8;7:6-;11:*"
QUICK = core.Settings(rank=2, starts=1, rotations="truth", objective="wnn")
REFINED = QUICK.with_changes(objective="depths", noise=0.0)
LOW_RANK = core.Settings(
    problem="lowrank", rank=4, penalty=core.TruncatedNuclearNorm(mu=1.0, free=4), starts=1
)


@pytest.fixture(scope="module")
def sequence():
    return core.simulate("paper", frames=8, points=15, seed=1)


@pytest.fixture(scope="module")
def mask(sequence):
    return parse_hidden(HIDDEN, *sequence.visible.shape)


@pytest.mark.parametrize("settings", [QUICK, LOW_RANK], ids=["bilinear", "low rank"])
def test_a_run_gives_the_same_as_of_a_sequence_that_lacks_the_observations(sequence, mask, settings):
    settings = settings.with_changes(max_iterations=4)
    result = core.reconstruct(sequence, settings, hide=HIDDEN)
    tracks = np.where(mask[:, None], np.nan, sequence.tracks)
    without = core.reconstruct(replace(sequence, tracks=tracks, visible=sequence.visible & ~mask), settings)
    assert np.array_equal(result.visible, sequence.visible & ~mask)
    assert result.loss == without.loss
    assert np.array_equal(result.points, without.points)
    assert result.meta["content"] == sequence.content  # of the file, whatever is hidden
    assert result.meta["settings"]["hide"] == HIDDEN


@pytest.mark.slow
@pytest.mark.parametrize("settings", [QUICK, LOW_RANK], ids=["bilinear", "low rank"])
def test_a_run_that_continues_leaves_the_observations_out_from_its_present_shapes(sequence, mask, settings):
    assert all("hide" in names for names in LIVE.values())
    *_, all_seen = core.iterate(sequence, settings)
    first, *_, last = core.iterate(sequence, settings.with_changes(hide=HIDDEN), start=all_seen)
    used = last.best.problem.visible
    assert np.array_equal(used, sequence.visible & ~mask)
    assert "from where it was" in [report.name for report in last.starts]
    assert np.array_equal(first.best.problem.visible, used)
    # And back: what was hidden is read from the sequence again.
    *_, back = core.iterate(sequence, settings, start=last)
    assert np.array_equal(back.best.problem.visible, sequence.visible)
    np.testing.assert_allclose(back.best.problem.tracks, all_seen.best.problem.tracks, rtol=0, atol=1e-15)
    assert back.best.loss == pytest.approx(all_seen.best.loss, rel=1e-6)


@pytest.mark.slow
def test_refined_shapes_have_points_where_observations_are_hidden_and_rays_where_they_are_seen_again(
    sequence, mask
):
    *_, refined = core.iterate(sequence, REFINED, hide=HIDDEN)
    result = refined.result()
    assert np.array_equal(result.visible, sequence.visible & ~mask)
    assert np.isfinite(result.points).all()
    *_, back = core.iterate(sequence, REFINED, start=refined)
    missed = np.linalg.norm(back.result().reprojections() - sequence.tracks, axis=1)[sequence.visible]
    assert missed.max() < 1e-6  # without noise the rays are kept exactly


def test_results_commands_and_starts_know_what_was_hidden(sequence, tmp_path):
    core.write_npz(sequence, tmp_path / "sequence.npz")
    read = core.read_sequence(tmp_path / "sequence.npz")
    result = core.reconstruct(read, QUICK, hide=HIDDEN)
    file = core.save_result(result, tmp_path / "result.npz")
    command = core.command_for(read, QUICK.with_changes(hide=HIDDEN), tmp_path / "b.npz")
    assert f"--hide '{HIDDEN}'" in command
    assert main([*shlex.split(command)[1:], "--quiet"]) == 0
    assert core.load_result(tmp_path / "b.npz").loss == result.loss
    (tmp_path / "hidden.txt").write_text(HIDDEN.replace(";", "\n") + "\n")
    by_file = command.replace(f"'{HIDDEN}'", str(tmp_path / "hidden.txt")).replace("b.npz", "c.npz")
    assert main([*shlex.split(by_file)[1:], "--quiet"]) == 0
    assert core.load_result(tmp_path / "c.npz").meta["settings"]["hide"] == HIDDEN
    start = core.load_start(file, sequence)
    assert start.settings.hide == HIDDEN
    *_, further = core.iterate(sequence, start.settings.with_changes(hide=None), start=start)
    assert np.array_equal(further.best.problem.visible, sequence.visible)


def test_a_start_with_entries_that_the_sequence_does_not_have_is_refused(sequence, tmp_path):
    result = core.reconstruct(sequence, QUICK, hide=HIDDEN)
    result.meta["settings"]["hide"] = "16:*"
    path = core.save_result(result, tmp_path / "result.npz")
    sentence = r"hide names point 16; accepted are points from 1 to 15"
    with pytest.raises(core.InputError, match=rf"result\.npz: {sentence}"):
        core.load_start(path, sequence)
    with pytest.raises(core.InputError, match=sentence):
        core.reconstruct(sequence, QUICK, hide="16:*")
