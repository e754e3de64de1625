"""Errors of the runs that are not shown, and of the moments of a run: found in the background."""

from dataclasses import replace
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest

from core import Alignment, Settings
from core.evaluation import PER_FRAME, Kind
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.scene.incumbent import incumbent_of
from nrsfm_gui.scene.run_errors import MOST, ErrorTraces, RunErrors
from nrsfm_gui.scene.sequence_errors import SceneRequest, find_quality, make_picture
from nrsfm_gui.scene.shapes import build_shapes

QUICK = Settings(rank=2, starts=1, rotations="truth", objective="wnn")


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


# The errors of what was shown at moments of a run


@pytest.fixture
def traces(session):
    traces = ErrorTraces(session, session)
    yield traces
    traces.shut_down()


def trace_when_complete(qtbot, traces, run):
    qtbot.waitUntil(lambda: traces.of(run) is not None and not traces._jobs)
    return traces.of(run)


def test_the_errors_of_snapshots_are_computed_when_the_run_is_over(
    qtbot, session, traces, add_solved_run, known
):
    run = add_solved_run(session, known.sequence, QUICK)
    run.state = RunState.RUNNING
    assert traces.of(run) is None and not traces._jobs
    run.state = RunState.FINISHED
    trace = trace_when_complete(qtbot, traces, run)
    assert (trace.name, trace.unit) == ("3-D error", "mm")
    assert tuple(trace.records.tolist()) == run.snapshots.indices
    for record, error in zip(trace.records[[0, 3, -1]].tolist(), trace.errors[[0, 3, -1]], strict=True):
        request = SceneRequest(run.sequence, run.snapshots.at(record)[1], session.alignment)
        assert error == pytest.approx(find_quality(request).error, rel=1e-12)
    assert trace.errors[-1] < trace.errors[0]
    assert trace.nearest(3) == (3, trace.errors[3]) and trace.nearest(10_000)[1] == trace.errors[-1]
    assert traces.of(run) is trace  # until there are others


def test_the_errors_of_a_run_wait_while_another_one_is_under_way(
    qtbot, session, traces, add_solved_run, known, monkeypatch
):
    run, other = (add_solved_run(session, known.sequence, QUICK) for _ in range(2))
    begun, going_on = Event(), Event()

    def find(request):
        begun.set()
        assert going_on.wait(60)
        return find_quality(request)

    monkeypatch.setattr("nrsfm_gui.scene.run_errors.find_quality", find)
    assert traces.of(run) is None and begun.wait(60)
    other.state = RunState.RUNNING
    session.report_run(other)
    going_on.set()
    qtbot.waitUntil(lambda: not traces._jobs)
    kept = traces.of(run)
    assert len(kept.errors) == 1 and not traces.is_complete(run) and not traces._jobs
    other.state = RunState.FINISHED
    assert trace_when_complete(qtbot, traces, run).errors.size == len(run.snapshots.indices)


def test_published_errors_are_noted_and_another_alignment_begins_anew(
    qtbot, session, traces, add_solved_run, known
):
    run = add_solved_run(session, known.sequence, QUICK)
    run.state = RunState.RUNNING
    errors = find_quality(SceneRequest(run.sequence, run.last, session.alignment))
    traces.note(run, incumbent_of(run, run.last, errors))
    assert traces.of(run).errors.tolist() == [errors.error]
    assert traces.of(run).records.tolist() == [len(run.history) - 1]
    for record in range(3 * MOST):
        traces._notes_of(run).add(record, float(record))
    assert len(traces.of(run).records) <= MOST
    session.set_alignment(replace(session.alignment, kind=Kind.SEQUENCE))
    assert traces.of(run) is None
    run.state = RunState.FINISHED
    other = trace_when_complete(qtbot, traces, run)
    assert other.errors[-1] != errors.error and len(other.records) == len(run.snapshots.indices)


def test_without_a_truth_the_error_is_that_of_held_out_observations(
    qtbot, session, traces, add_solved_run, known
):
    bare = replace(known.sequence, truth=None)
    run = add_solved_run(session, bare, QUICK.with_changes(hide="3:2-9;7:1-6"))
    trace = trace_when_complete(qtbot, traces, run)
    assert (trace.name, trace.unit) == ("held-out error", bare.units)
    shapes = build_shapes(bare, run.last)
    held = bare.visible & ~np.isfinite(shapes.residuals)
    distances = np.linalg.norm(shapes.reprojected - bare.tracks, axis=1)[held]
    assert held.sum() == 14
    assert trace.errors[-1] == pytest.approx(np.sqrt(np.mean(distances**2)), rel=1e-12)
    plain = add_solved_run(session, bare, QUICK)
    assert traces.of(plain) is None and not traces._jobs
