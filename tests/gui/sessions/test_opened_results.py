"""Results opened as runs: with the sequence that they were made of, or with the tracks in their file."""

import os
import shutil

import numpy as np
import pytest

from core import (
    PRESETS,
    CameraModel,
    InputError,
    Settings,
    TruncatedNuclearNorm,
    finish,
    iterate,
    load_result,
    read_sequence,
    reconstruct,
    save_result,
    simulate,
    write_challenge,
    write_npz,
)
from nrsfm_gui.model.run import RunState
from nrsfm_gui.sessions.opening import is_result, read_opened_result
from nrsfm_gui.sessions.session_file import SavedRun, SavedSequence, SavedSession, read_session, write_session

QUICK = Settings(rank=2, starts=2, rotations="truth", objective="wnn")
RANK_3 = PRESETS["lowrank"].with_changes(rank=3, starts=1, penalty=TruncatedNuclearNorm(mu=1.0, free=3))
LOW_RANK = PRESETS["lowrank"].with_changes(rank=3, starts=2, penalty=TruncatedNuclearNorm(mu=1.0, free=3))


@pytest.fixture
def make_result(tmp_path, solve_once):
    """Solve a sequence in a file, and save the result beside it."""

    def make(settings, camera=CameraModel.PERSPECTIVE):
        write_npz(simulate("balloon", frames=14, points=16, seed=3, camera=camera), tmp_path / "tracks.npz")
        sequence = read_sequence(tmp_path / "tracks.npz")
        iterates = solve_once(sequence, settings)
        result = finish(sequence, settings, iterates[-1], [each.record for each in iterates])
        return sequence, save_result(result, tmp_path / "result.npz")

    return make


def test_a_result_is_distinguished_from_a_sequence_and_from_other_files(make_result, tmp_path):
    sequence, path = make_result(QUICK)
    assert is_result(path)
    assert not is_result(sequence.source)
    (tmp_path / "text.npz").write_text("PK")
    assert not is_result(tmp_path / "text.npz")
    assert not is_result(tmp_path)
    os.mkfifo(tmp_path / "pipe.npz")
    assert not is_result(tmp_path / "pipe.npz")


@pytest.mark.parametrize(
    "settings",
    [QUICK, pytest.param(PRESETS["lowrank"].with_changes(starts=1), marks=pytest.mark.slow), RANK_3],
    ids=["non-rigid", "low rank, metric", "low rank, not metric"],
)
def test_without_its_file_the_tracks_come_from_the_result(make_result, settings):
    sequence, path = make_result(settings)
    assert read_opened_result(path).sequence.source == sequence.source
    sequence.source.unlink()
    opened = read_opened_result(path)
    seen = sequence.visible
    assert opened.sequence.source is None
    assert np.array_equal(opened.sequence.visible, seen)
    there = np.moveaxis(opened.sequence.tracks, 1, 0)[:, seen]
    assert there == pytest.approx(np.moveaxis(sequence.tracks, 1, 0)[:, seen], rel=1e-12, abs=1e-9)
    assert np.array_equal(opened.sequence.truth.points, sequence.truth.points)
    assert (opened.sequence.intrinsics is None) == (settings is RANK_3)
    state = opened.last
    result = load_result(path)
    assert state.best.loss == result.loss
    assert state.best.problem.loss(state.best.factors) == pytest.approx(result.loss, rel=1e-9)
    assert np.array_equal(state.geometry.points, result.points)
    changed = settings.with_changes(eta=0.2)
    *_, last = iterate(opened.sequence, changed, start=state)
    *_, other = iterate(sequence, changed, start=state)
    assert last.best.loss == pytest.approx(other.best.loss, rel=1e-8)


def test_orthogonal_tracks_are_orthogonal_again(make_result):
    sequence, path = make_result(QUICK, CameraModel.ORTHOGONAL)
    sequence.source.unlink()
    opened = read_opened_result(path)
    assert (opened.sequence.camera, opened.sequence.intrinsics) == (CameraModel.ORTHOGONAL, None)
    assert opened.last.best.problem.affine


def test_a_sequence_that_is_read_differently_now_is_not_used_as_that_of_the_result(tmp_path):
    folder = write_challenge(tmp_path, "balloon", paths=("circle",), frames=14, points=16, seed=3)
    sequence = read_sequence(folder)
    path = save_result(reconstruct(sequence, QUICK), tmp_path / "result.npz")
    assert read_opened_result(path).sequence.source == sequence.source
    shutil.rmtree(folder / "visibility")
    opened = read_opened_result(path).sequence
    assert opened.source is None and np.array_equal(opened.visible, sequence.visible)


@pytest.mark.slow
def test_a_refined_result_opens_with_the_stages_of_its_run(tmp_path):
    sequence = simulate("paper", frames=8, points=16, noise=0.3, seed=2)
    settings = Settings(rank=2, starts=1, rotations="truth", noise=0.25)
    iterates = list(iterate(sequence, settings))
    records = [each.record for each in iterates]
    path = save_result(finish(sequence, settings, iterates[-1], records), tmp_path / "result.npz")
    opened = read_opened_result(path).history.records
    for name in ("iteration", "phase", "stage", "value", "candidate"):
        assert [getattr(each, name) for each in opened] == [getattr(each, name) for each in records]
    assert len({each.stage for each in opened}) > 4


@pytest.mark.parametrize("phases", [[[0, {"kind": "else"}]], 5])
def test_phases_that_cannot_be_read_are_refused_with_the_path(make_result, phases):
    _sequence, path = make_result(QUICK)
    result = load_result(path)
    result.meta["phases"] = phases
    save_result(result, path)
    with pytest.raises(InputError, match=r"result\.npz"):
        read_opened_result(path)


# -- in the window ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "there"),
    [(QUICK, False), pytest.param(LOW_RANK, True, marks=pytest.mark.slow)],
    ids=["without its file", "low rank, with it"],
)
def test_a_result_is_shown_as_a_run_and_continued(
    qtbot, make_session_window, sequence, tmp_path, settings, there, opened
):
    result = reconstruct(sequence, settings)
    path = save_result(result, tmp_path / "result.npz")
    if not there:
        sequence.source.unlink()
    window = make_session_window(parameters=True)
    opened(window, path)
    qtbot.waitUntil(lambda: bool(window.session.runs))
    window.parameters_controller.flush()
    assert window.session.settings == window.parameters_panel.settings == settings
    (run,) = window.session.runs
    assert (run.title, run.state, run.last.best.loss) == ("opened: result", RunState.FINISHED, result.loss)
    assert (window.session.sequence.source is None) == (not there)
    assert len(run.history) == len(result.history)
    window.display.refresh()
    assert window.display.errors.of_run(run).reprojection == pytest.approx(
        result_quality(sequence, result), rel=1e-9
    )
    window.session.set_live(False)
    window.session.set_settings(settings.with_changes(eta=0.3))
    window.parameters_panel.set_settings(settings.with_changes(eta=0.3))
    window.parameters_controller.run()
    further = window.run_control.current
    qtbot.waitUntil(lambda: further.state is RunState.FINISHED)
    assert "from where it was" in [start.name for start in further.last.starts]
    assert further.warm_from == run.number


def result_quality(sequence, result):
    """The reprojection error by itself: RMS over visible observations."""
    apart = np.linalg.norm(result.reprojections() - sequence.tracks, axis=1)[sequence.visible]
    return float(np.sqrt(np.mean(apart**2)))


def test_a_result_of_the_open_sequence_joins_its_runs(qtbot, solved, tmp_path, sequence, opened):
    window, run = solved()
    path = save_result(reconstruct(sequence, QUICK.with_changes(eta=0.2)), tmp_path / "other.npz")
    opened(window, path)
    qtbot.waitUntil(lambda: len(window.session.runs) == 2)
    assert [each.number for each in window.session.runs] == [run.number, run.number + 1]
    assert window.session.shown.title == "opened: other"


def test_a_refined_result_opens_with_its_energies_and_is_kept_in_a_session(
    make_result, move_along_rays, tmp_path
):
    sequence, path = make_result(QUICK)
    refined = move_along_rays(load_result(path))
    save_result(refined, path)
    opened = read_opened_result(path)
    energies = [record.energy for record in opened.history.records]
    assert energies[:-2] == [None] * (len(energies) - 2) and energies[-2:] == [-3.0, -12.5]
    session = SavedSession((SavedSequence(sequence, (SavedRun.of(opened),), 1, QUICK),), 0)
    (saved,) = read_session(write_session(session, tmp_path / "a.nrsfm")).sequences
    (run,) = saved.runs
    assert run.records == tuple(opened.history.records)
    assert run.iterate.record.energy == -12.5
    assert run.iterate.verdicts == opened.last.verdicts != ()
    assert np.array_equal(run.iterate.geometry.std, refined.std)
    assert np.array_equal(run.iterate.geometry.points, refined.points)
