import json
import shlex
from dataclasses import replace

import numpy as np
import pytest

from core import Settings, iterate, load_result, read_sequence, reconstruct, simulate, write_npz
from core.cli import main
from core.data import hide_observations
from core.evaluation import bilinear_residuals, solve_hiding_outliers

QUICK = Settings(rank=3, starts=1, rotations="truth", objective="wnn")


@pytest.fixture(scope="module")
def clean():
    return simulate("balloon", frames=30, points=24, noise=0.3)


@pytest.fixture(scope="module")
def wrong(clean):
    mask = np.zeros(clean.visible.shape, dtype=bool)
    mask[[3, 7, 7, 12, 20, 28], [1, 3, 20, 9, 15, 4]] = True
    return mask & clean.visible


@pytest.fixture(scope="module")
def sequence(clean, wrong):
    return replace(clean, tracks=clean.tracks + 120.0 * wrong[:, None])


def test_residuals_are_distances_of_what_was_solved_for(sequence):
    *_, last = iterate(sequence, QUICK, hide="2:1-4")
    residuals = bilinear_residuals(sequence, last)
    away = np.linalg.norm(last.result().reprojections() - sequence.tracks, axis=1)
    used = hide_observations(sequence, "2:1-4").visible
    np.testing.assert_allclose(residuals[used], away[used], rtol=1e-9)
    assert np.isnan(residuals[~used]).all()


def test_gross_outliers_are_hidden_before_the_first_round(clean, sequence, wrong):
    iterates = list(solve_hiding_outliers(sequence, QUICK))
    last = iterates[-1]
    hidden = sequence.visible & ~last.best.problem.visible
    assert (hidden & wrong).sum() == wrong.sum()
    assert (hidden & ~wrong).sum() < 0.02 * sequence.visible.sum()
    numbers = [each.iteration for each in iterates]
    assert (np.diff(numbers) >= 0).all()  # counted through all rounds
    # The settings of the last round give its result.
    again = reconstruct(sequence, last.settings)
    assert again.loss == last.best.loss
    expected = reconstruct(hide_observations(clean, last.settings.hide), QUICK)
    assert again.loss == pytest.approx(expected.loss, rel=1e-3)


def test_what_was_hidden_before_stays_hidden(sequence):
    *_, last = solve_hiding_outliers(sequence, QUICK.with_changes(hide="5:2-6"), rounds=1)
    assert not last.best.problem.visible[1:6, 4].any()


def test_the_command_line_hides_and_solves_again(sequence, wrong, tmp_path, capsys):
    write_npz(sequence, tmp_path / "sequence.npz")
    words = ["solve", str(tmp_path / "sequence.npz"), "--rank", "3", "--starts", "1", "--rotations", "truth"]
    words += ["--objective", "wnn", "-o", str(tmp_path / "result.npz")]
    assert main([*words, "--outliers", "hide", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["output"]
    result = load_result(tmp_path / "result.npz")
    assert not (result.visible & wrong).any()
    again = [*shlex.split(result.meta["command"])[1:], "--quiet"]
    assert "--hide" in again
    assert main(again) == 0
    assert load_result(tmp_path / "result.npz").loss == result.loss
    assert read_sequence(tmp_path / "sequence.npz").visible.sum() > result.visible.sum()
    assert main([*words, "--outliers", "hide", "--iterates", "3"]) == 2
    assert "its rounds run to their ends" in capsys.readouterr().err
