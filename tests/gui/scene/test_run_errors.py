"""Errors of the runs that are not shown: computed in the background, kept as numbers."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from core import Alignment
from core.evaluation import PER_FRAME, Kind
from nrsfm_gui.model.run import Run
from nrsfm_gui.scene.run_errors import RunErrors
from nrsfm_gui.scene.sequence_errors import SceneRequest, make_picture


@pytest.fixture
def errors(session, add_three_runs):
    """Return the errors of three runs that are over, of which none is shown."""
    add_three_runs(session)
    session.set_shown(None)
    made = RunErrors(session, session)
    yield made
    made.shut_down()


def quality_of(errors, run, *, exact=False):
    found = errors.of_run(run, exact=exact)
    return None if found is None else found.errors


def known_of(qtbot, errors, run):
    qtbot.waitUntil(lambda: quality_of(errors, run, exact=True) is not None)
    return quality_of(errors, run)


def error(run, alignment=PER_FRAME):
    return make_picture(SceneRequest(run.sequence, run.last, alignment)).quality.error


def test_errors_are_found_one_after_the_other_for_an_alignment(qtbot, session, errors):
    assert [quality_of(errors, run) for run in session.runs] == [None] * 3
    assert all(errors.of_run(run).iterate is run.last for run in session.runs)
    for run in session.runs:
        assert known_of(qtbot, errors, run).error == error(run)
    whole = Alignment(Kind.SEQUENCE)
    session.set_alignment(whole)
    assert quality_of(errors, session.runs[0]) is None
    assert known_of(qtbot, errors, session.runs[0]).error == error(session.runs[0], whole)


def test_until_newer_errors_are_known_those_before_stand(qtbot, session, errors, make_iterate, known):
    run = session.runs[0]
    before = known_of(qtbot, errors, run)
    run.last = replace(run.last, record=replace(run.last.record, iteration=run.last.record.iteration + 1))
    assert quality_of(errors, run, exact=True) is before  # the same shape
    assert errors.of_run(run).iterate is run.last
    run.last = make_iterate(known, noise=0.2, seed=2)
    assert quality_of(errors, run) is before and quality_of(errors, run, exact=True) is None
    assert known_of(qtbot, errors, run).error == error(run) > before.error


def test_a_defect_is_reported_and_does_not_stop_the_others(qtbot, session, errors):
    bad, good, _ = session.runs
    bad.last = SimpleNamespace(**vars(bad.last) | {"view": None, "depth": None, "geometry": None})
    with qtbot.waitSignal(session.notifier.failed):
        errors.of_run(bad, exact=True)
        errors.of_run(good, exact=True)
    assert known_of(qtbot, errors, good).error == error(good)


def test_nothing_is_computed_any_more_once_it_is_over(qtbot, session, errors):
    """Whoever hears that errors are found asks for more: a thread that begins after the end would be torn."""
    one, other, _ = session.runs
    errors.found.connect(lambda: errors.of_run(other))
    errors.of_run(one)
    errors.shut_down()
    qtbot.wait(50)
    assert quality_of(errors, other) is None and not errors._jobs


def test_what_is_asked_of_runs_that_are_gone_or_have_no_reconstruction_is_dropped(
    qtbot, session, errors, monkeypatch
):
    assert errors.of_run(Run(9, session.runs[0].sequence, session.settings)) is None and not errors._asked
    for run in session.runs:
        errors.of_run(run)
    assert len(errors._asked) == 2
    monkeypatch.setattr(session, "everything", tuple)  # without any run
    qtbot.waitUntil(lambda: not errors._jobs)
    assert not errors._asked
