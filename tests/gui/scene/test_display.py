"""Pictures of a session that are computed while it changes."""

import pytest

from core import Settings
from nrsfm_gui.model.run import RunState


@pytest.fixture(autouse=True)
def runs(session, display, add_three_runs):
    """Draw a session with three runs that are over."""
    add_three_runs(session)
    display.refresh()


@pytest.fixture
def compute(session, display, make_iterate, known):
    """Begin to make the picture of an iterate that a newer one follows at once; return the former."""

    def begin():
        iterate = session.shown.last = make_iterate(known, noise=0.2)
        display._moved_at = display._next_picture_at = 0.0  # nothing rests
        display._tick()
        assert display._jobs
        session.shown.last = make_iterate(known, noise=0.1)
        return iterate

    return begin


def test_errors_of_a_picture_are_of_the_run_that_it_shows_where_another_was_chosen_meanwhile(
    session, display
):
    session.set_shown(session.runs[0])
    errors = display.errors
    display._publish()  # its picture is not made yet: that of run 3 is the newest
    first, _, last = (errors.of_run(run).errors for run in session.runs)
    assert last.reprojection > 0
    assert first is None or first.reprojection != last.reprojection


def test_errors_of_a_picture_are_not_those_of_a_run_that_was_started_meanwhile(
    qtbot, session, display, compute
):
    noted, run, iterate = [], session.shown, compute()
    display.errors.publish = lambda run, wanted, *_, newest: noted.append((run, wanted.iterate))
    started = session.add_run(Settings())
    started.state = RunState.RUNNING
    qtbot.waitUntil(lambda: (run, iterate) in noted)
    assert started not in {run for run, _ in noted}


def test_runs_that_were_stopped_before_their_first_record_show_the_run_that_they_go_on_from(session, display):
    run = session.shown
    for _ in range(2):
        started = session.add_run(run.settings, warm_from=session.shown)
        started.state = RunState.STOPPED
    display.refresh()
    assert display.errors.incumbent.run == run.number and display.drawn is run.last


def test_a_picture_that_was_made_meanwhile_does_not_replace_a_newer_one(qtbot, session, display, compute):
    compute()
    newest, drawn = session.shown.last, []
    display.refresh()
    display.scene_shown.connect(lambda _scene: drawn.append(display._picture.of.iterate))
    qtbot.waitUntil(lambda: not display._jobs)
    qtbot.wait(60)
    assert display._picture.of.iterate is newest
    assert all(iterate is newest for iterate in drawn)
