"""Results opened as runs."""

from __future__ import annotations

import pytest

from core import PRESETS, Settings, TruncatedNuclearNorm, reconstruct, save_result
from nrsfm_gui.model.run import RunState

QUICK = Settings(rank=2, starts=2, rotations="truth")
LOW_RANK = PRESETS["lowrank"].with_changes(rank=3, starts=2, penalty=TruncatedNuclearNorm(mu=1.0, free=3))


@pytest.mark.parametrize(
    ("settings", "there"), [(QUICK, False), (LOW_RANK, True)], ids=["without its file", "low rank, with it"]
)
def test_a_result_is_shown_as_a_run_and_gone_on_from(
    qtbot, make_window, sequence, tmp_path, settings, there, opened
):
    result = reconstruct(sequence, settings)
    path = save_result(result, tmp_path / "result.npz")
    if not there:
        sequence.source.unlink()
    window = make_window()
    opened(qtbot, window, path)
    qtbot.waitUntil(lambda: bool(window.session.runs))
    window.parameters_controller.flush()
    assert window.session.settings == window.parameters.settings == settings
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
    window.parameters.set_settings(settings.with_changes(eta=0.3))
    window.parameters_controller.run()
    further = window.control.current
    qtbot.waitUntil(lambda: further.state is RunState.FINISHED, timeout=20_000)
    assert "from where it was" in [start.name for start in further.last.starts]
    assert further.warm_from == run.number


def result_quality(sequence, result):
    """The reprojection error by itself: RMS over visible observations."""
    import numpy as np

    apart = np.linalg.norm(result.reprojections() - sequence.tracks, axis=1)[sequence.visible]
    return float(np.sqrt(np.mean(apart**2)))


def test_a_result_of_the_open_sequence_joins_its_runs(qtbot, solved, tmp_path, sequence, opened):
    window, run = solved()
    path = save_result(reconstruct(sequence, QUICK.with_changes(eta=0.2)), tmp_path / "other.npz")
    opened(qtbot, window, path)
    qtbot.waitUntil(lambda: len(window.session.runs) == 2)
    assert [each.number for each in window.session.runs] == [run.number, run.number + 1]
    assert window.session.shown.title == "opened: other"
