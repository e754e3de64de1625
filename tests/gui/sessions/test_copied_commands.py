"""What "Copy as Python" and "Copy as command" give again."""

import contextlib
import runpy
import shlex

import pytest

from core import NuclearNorm, Settings, load_result
from core.cli import main
from nrsfm_gui.model.run import RunState

QUICK = Settings(rank=2, starts=2, rotations="truth", objective="wnn")
DIGITS = 1e-12


def losses_of_copies(window, tmp_path, text_of):
    """Run what is copied as Python and as command; return the losses that they save."""
    program, result = tmp_path / "program.py", tmp_path / "result.npz"
    program.write_text(text_of(window, "Python program"))
    name, *words = shlex.split(text_of(window, "command"))
    with contextlib.chdir(tmp_path):
        runpy.run_path(str(program), run_name="__main__")
        loss = load_result(result).loss
        result.unlink()
        assert name == "nrsfm" and main([*words, "--quiet"]) == 0
        return loss, load_result(result).loss


@pytest.mark.slow
def test_what_is_copied_of_a_run_that_was_steered_live_gives_its_loss(qtbot, solved, tmp_path, text_of):
    settings = QUICK
    window, run = solved(settings, parameters=True)
    window.session.set_live(True)
    for number, penalty in enumerate((NuclearNorm(0.03), NuclearNorm(0.02), NuclearNorm(0.011))):
        window.session.set_settings(settings.with_changes(penalty=penalty, eta=0.1 + 0.01 * number))
        qtbot.wait(15 * number)
    live = window.session.shown
    qtbot.waitUntil(lambda: live.settings == window.session.settings and not live.state.alive)
    assert window.session.runs == [run, live]
    for loss in losses_of_copies(window, tmp_path, text_of):
        assert loss == pytest.approx(live.last.best.loss, rel=DIGITS, abs=0)
    window.parameters_controller.run()
    warm = window.run_control.current
    qtbot.waitUntil(lambda: not warm.state.alive)
    window.session.set_settings(window.session.settings.with_changes(rank=settings.rank + 1))
    last = window.session.shown
    qtbot.waitUntil(lambda: last.settings == window.session.settings and not last.state.alive)
    assert window.session.runs == [run, live, warm, last] and last.warm_from == warm.number
    assert len(last.last.provenance.steps) >= 3
    for loss in losses_of_copies(window, tmp_path, text_of):
        assert loss == pytest.approx(last.last.best.loss, rel=DIGITS, abs=0)


@pytest.mark.slow
def test_what_is_copied_of_a_run_that_went_on_from_a_moment_gives_its_loss(qtbot, solved, tmp_path, text_of):
    window, _done = solved()
    for eta in (0.4, 0.2):
        window.session.set_settings(QUICK.with_changes(eta=eta))
        run = window.session.shown
        wanted = window.session.settings
        qtbot.waitUntil(lambda run=run, wanted=wanted: run.settings == wanted and not run.state.alive)
        window.session.set_moment(run.snapshots.indices[0])  # the next change goes on from there
    assert len(run.last.provenance.steps) == 3
    for moment in (window.session.moment, None):
        window.session.set_moment(moment)
        seen = window.session.seen
        assert (seen is run.last) == (moment is None)
        for loss in losses_of_copies(window, tmp_path, text_of):
            assert loss == pytest.approx(seen.best.loss, rel=DIGITS, abs=0)


def test_what_is_copied_of_a_stopped_run_stops_there(qtbot, make_session_window, sequence, tmp_path, text_of):
    window = make_session_window(
        sequence, settings=QUICK.with_changes(method="lm", starts=1), parameters=True
    )
    window.parameters_controller.step()
    run = window.run_control.current
    for count in range(2, 7):
        qtbot.waitUntil(lambda count=count: len(run.history) == count - 1)
        window.parameters_controller.step()
    qtbot.waitUntil(lambda: len(run.history) == 6)
    window.run_control.cancel()
    qtbot.waitUntil(lambda: run.state is RunState.STOPPED)
    assert "--iterates 6" in text_of(window, "command")
    for loss in losses_of_copies(window, tmp_path, text_of):
        assert loss == pytest.approx(run.last.best.loss, rel=DIGITS, abs=0)
