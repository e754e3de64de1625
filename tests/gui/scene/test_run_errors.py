"""Errors of the runs that are not shown: computed in the background, kept as numbers, forgotten."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from core import Alignment
from core.evaluation import PER_FRAME, Kind
from nrsfm_gui.model.session import Session
from nrsfm_gui.scene.run_errors import RunErrors
from nrsfm_gui.scene.sequence_errors import SceneRequest, make_picture


class Run:
    """What of a run errors are of."""

    def __init__(self, known, iterate):
        self.sequence, self.last = known.sequence, iterate


@pytest.fixture
def errors(qtbot):
    session = Session()
    made = RunErrors(session, session)
    yield made
    made.shut_down()


def quality_of(errors, run, alignment=PER_FRAME, **how):
    known = errors.errors_of(run, alignment, **how)
    return None if known is None else known[1]


def error(run, alignment):
    return make_picture(SceneRequest(run.sequence, run.last, alignment)).quality.error


def test_errors_are_found_one_after_the_other_and_kept(qtbot, errors, make_iterate, known):
    runs = [Run(known, make_iterate(known, noise=noise)) for noise in (0.01, 0.02, 0.03)]
    assert [quality_of(errors, run, compute=True) for run in runs] == [None] * 3
    qtbot.waitUntil(lambda: all(quality_of(errors, run, compute=False) for run in runs))
    assert [quality_of(errors, run, compute=False).error for run in runs] == [
        error(run, PER_FRAME) for run in runs
    ]
    assert not errors._jobs or not errors._asked
    whole = Alignment(Kind.SEQUENCE)
    assert quality_of(errors, runs[0], whole, compute=False) is None  # under another one nothing is known
    errors.forget_runs()  # of which the session has none
    assert quality_of(errors, runs[0], compute=False) is None


def test_until_newer_errors_are_known_those_before_stand(qtbot, errors, make_iterate, known):
    run = Run(known, make_iterate(known, noise=0.01))
    quality_of(errors, run, compute=True)
    qtbot.waitUntil(lambda: quality_of(errors, run, compute=False) is not None)
    before = quality_of(errors, run, compute=False)
    run.last = make_iterate(known, noise=0.2, seed=2)
    assert quality_of(errors, run, compute=False) is before
    quality_of(errors, run, compute=True)
    # Not until `found`: that of the first errors may still be on its way.
    qtbot.waitUntil(lambda: quality_of(errors, run, compute=False) is not before)
    assert quality_of(errors, run, compute=False).error == error(run, PER_FRAME) > before.error


def test_the_errors_of_a_shape_are_of_the_newest_iterate_that_has_it(qtbot, errors, make_iterate, known):
    run = Run(known, make_iterate(known, noise=0.01))
    quality_of(errors, run, compute=True)
    qtbot.waitUntil(lambda: quality_of(errors, run, compute=False) is not None)
    before, record = quality_of(errors, run, compute=False), run.last.record
    run.last = replace(run.last, record=replace(record, iteration=record.iteration + 1))
    assert quality_of(errors, run, compute=False, exact=True) is before
    assert errors.errors_of(run, PER_FRAME, compute=False)[0].iterate is run.last


def test_a_defect_is_reported_and_does_not_stop_the_others(qtbot, errors, make_iterate, known):
    good, bad = Run(known, make_iterate(known, noise=0.01)), Run(known, make_iterate(known, noise=0.01))
    bad.last = SimpleNamespace(shown=None, view=None)
    with qtbot.waitSignal(errors.failed):
        quality_of(errors, bad, compute=True)
        quality_of(errors, good, compute=True)
    qtbot.waitUntil(lambda: quality_of(errors, good, compute=False) is not None)


def test_nothing_is_computed_any_more_once_it_is_over(qtbot, errors, make_iterate, known):
    """Whoever hears that errors are found asks for more: a thread that begins after the end would be torn."""
    runs = [Run(known, make_iterate(known, noise=noise)) for noise in (0.01, 0.02)]
    errors.found.connect(lambda: quality_of(errors, runs[1], compute=True))
    quality_of(errors, runs[0], compute=True)
    errors.shut_down()
    qtbot.wait(50)
    quality_of(errors, runs[1], compute=True)
    assert not errors._jobs and quality_of(errors, runs[1], compute=False) is None


def test_a_run_without_a_reconstruction_has_no_errors(errors, known):
    run = Run(known, None)
    assert quality_of(errors, run, compute=True) is None and not errors._asked
