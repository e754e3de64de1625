"""Errors of the runs that are not shown: computed in the background, kept as numbers, forgotten."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from core import Alignment
from core.evaluation import PER_FRAME, Kind
from nrsfm_gui.scene.run_errors import Qualities
from nrsfm_gui.scene.sequence_errors import SceneRequest, make_picture


class Run:
    """What of a run errors are of."""

    def __init__(self, known, iterate):
        self.sequence, self.last = known.sequence, iterate


@pytest.fixture
def qualities(qtbot):
    made = Qualities()
    yield made
    made.shut_down()


def error(run, alignment):
    return make_picture(SceneRequest(run.sequence, run.last, alignment)).quality.error


def test_errors_are_found_one_after_the_other_and_kept(qtbot, qualities, make_iterate, known):
    runs = [Run(known, make_iterate(known, noise=noise)) for noise in (0.01, 0.02, 0.03)]
    assert [qualities.of(run, PER_FRAME, compute=True) for run in runs] == [None] * 3
    qtbot.waitUntil(lambda: all(qualities.of(run, PER_FRAME, compute=False) for run in runs))
    assert [qualities.of(run, PER_FRAME, compute=False).error for run in runs] == [
        error(run, PER_FRAME) for run in runs
    ]
    assert not qualities._jobs or not qualities._asked
    whole = Alignment(Kind.SEQUENCE)
    assert qualities.of(runs[0], whole, compute=False) is None  # under another alignment nothing is known
    qualities.forget_others(runs[1:])
    assert qualities.of(runs[0], PER_FRAME, compute=False) is None


def test_until_newer_errors_are_known_those_before_stand(qtbot, qualities, make_iterate, known):
    run = Run(known, make_iterate(known, noise=0.01))
    qualities.of(run, PER_FRAME, compute=True)
    qtbot.waitUntil(lambda: qualities.of(run, PER_FRAME, compute=False) is not None)
    before = qualities.of(run, PER_FRAME, compute=False)
    run.last = make_iterate(known, noise=0.2, seed=2)
    assert qualities.of(run, PER_FRAME, compute=False) is before
    qualities.of(run, PER_FRAME, compute=True)
    # Not until `found`: that of the first errors may still be on its way.
    qtbot.waitUntil(lambda: qualities.of(run, PER_FRAME, compute=False) is not before)
    assert qualities.of(run, PER_FRAME, compute=False).error == error(run, PER_FRAME) > before.error


def test_the_errors_of_a_shape_are_of_the_newest_iterate_that_has_it(qtbot, qualities, make_iterate, known):
    run = Run(known, make_iterate(known, noise=0.01))
    qualities.of(run, PER_FRAME, compute=True)
    qtbot.waitUntil(lambda: qualities.of(run, PER_FRAME, compute=False) is not None)
    before, record = qualities.of(run, PER_FRAME, compute=False), run.last.record
    run.last = replace(run.last, record=replace(record, iteration=record.iteration + 1))
    assert qualities.of(run, PER_FRAME, compute=False, exact=True) is before
    assert qualities.point(run) is run.last


def test_a_defect_is_reported_and_does_not_stop_the_others(qtbot, qualities, make_iterate, known):
    good, bad = Run(known, make_iterate(known, noise=0.01)), Run(known, make_iterate(known, noise=0.01))
    bad.last = SimpleNamespace(shown=None, view=None)
    with qtbot.waitSignal(qualities.failed):
        qualities.of(bad, PER_FRAME, compute=True)
        qualities.of(good, PER_FRAME, compute=True)
    qtbot.waitUntil(lambda: qualities.of(good, PER_FRAME, compute=False) is not None)


def test_nothing_is_computed_any_more_once_it_is_over(qtbot, qualities, make_iterate, known):
    """Whoever hears that errors are found asks for more: a thread that begins after the end would be torn."""
    runs = [Run(known, make_iterate(known, noise=noise)) for noise in (0.01, 0.02)]
    qualities.found.connect(lambda: qualities.of(runs[1], PER_FRAME, compute=True))
    qualities.of(runs[0], PER_FRAME, compute=True)
    qualities.shut_down()
    qtbot.wait(50)
    qualities.of(runs[1], PER_FRAME, compute=True)
    assert not qualities._jobs and qualities.of(runs[1], PER_FRAME, compute=False) is None


def test_a_run_without_a_reconstruction_has_no_errors(qualities, known):
    run = Run(known, None)
    assert qualities.of(run, PER_FRAME, compute=True) is None and not qualities._asked
