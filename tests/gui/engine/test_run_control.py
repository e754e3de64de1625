"""Runs of a session: started, held, stepped, stopped, changed while they go on."""

import time
from dataclasses import replace

import pytest

from core import HistoryEntry, InputError, Settings
from core.depth.search import LIGHT
from core.foundation import Phase, PhaseKind
from nrsfm_gui.engine.run_control import RunControl
from nrsfm_gui.engine.solver_thread import SolverThread
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.session import Session
from nrsfm_gui.scene.incumbent import incumbent_of
from nrsfm_gui.scene.summaries import time_left
from nrsfm_gui.text.run_numbers import numbers as panel_numbers
from nrsfm_gui.text.run_rows import run_row
from nrsfm_gui.text.status_text import activity


def wnn(**changes):
    """Return settings of the weighted nuclear norm, whose parameters are live from the beginning."""
    return Settings(objective="wnn", **changes)


@pytest.fixture
def controls(qapp, known, monkeypatch):
    """Make (session, control) on a small sequence; every control is shut down."""
    made = []
    monkeypatch.setattr("nrsfm_gui.engine.run_control.LINGER", 0.05)

    def make(stream):
        session = Session()
        session.set_sequence(known.sequence)
        session.set_settings(wnn())
        session.undo_stack.clear()
        control = RunControl(session, work=stream)
        made.append(control)
        return session, control

    yield make
    for control in made:
        control.shut_down()


@pytest.fixture
def started(qtbot, controls):
    """Make (session, control, run) of a run that has done more than so many iterations."""

    def make(stream, more_than):
        session, control = controls(stream)
        run = control.start(warm=False)
        qtbot.waitUntil(lambda: len(run.history) > more_than)
        return session, control, run

    return make


@pytest.fixture
def working(started, make_stream):
    """Make (session, control, run) of a run that goes on until it is stopped."""
    return lambda **options: started(make_stream(pause=0.001, **options), 5)


@pytest.fixture
def finished(qtbot, started, make_stream):
    """Make (session, control, run) of a run of ten iterations that is done."""

    def make(**options):
        session, control, run = started(make_stream(**{"length": 10} | options), 0)
        qtbot.waitUntil(lambda: run.state is RunState.FINISHED)
        return session, control, run

    return make


@pytest.fixture
def stopping(started, make_stream):
    """Return (session, control, run) of a run that was stopped, and whose thread computes yet."""
    session, control, run = started(make_stream(length=10, pause=0.05), 0)
    control.cancel()
    session.set_settings(wnn(eta=0.2))
    return session, control, run


def test_the_last_residuals_of_admm_are_among_the_numbers(known, make_iterate):
    matrix = Phase(PhaseKind.MATRIX, name="ADMM")
    run = Run(1, known.sequence, wnn())
    residuals = (0.5, 0.25), (0.0123, 4.56e-5)
    run.history.extend(HistoryEntry(k, 0.1 * k, 1.0, matrix, *each) for k, each in enumerate(residuals))
    run.history.extend([HistoryEntry(2, 0.2, 0.1, Phase(PhaseKind.REFINE))])
    run.last = replace(make_iterate(known, noise=0.1), record=run.history.records[-1])
    found = incumbent_of(run, run.last, None)
    rows = {row.label: row.value for row in panel_numbers(run, found, known.sequence)}
    assert rows["residuals"] == "0.012, 4.6e-05"


def numbers(run):
    return [record.iteration for record in run.history.records]


def test_a_run_that_is_stopped_before_its_first_iteration_leaves_no_row(qtbot, finished):
    session, control, run = finished()
    for records in (0, 1):  # the first is of its start
        stopped = control.start(warm=True, paused=True)
        if records:
            control.step()
            qtbot.waitUntil(lambda stopped=stopped: numbers(stopped) == [0])
        assert session.shown is stopped
        control.cancel()
        qtbot.waitUntil(lambda: session.runs == [run])
        assert session.shown is run
    control.start(warm=True, paused=True)
    control.cancel()
    after = control.start(warm=True)  # while the thread of that one ends
    assert session.runs == [run, after]
    assert after.warm_from == after.shown_before == run.number


def test_a_change_is_followed_at_once_as_soon_as_a_run_is_over(finished, monkeypatch):
    run_thread = SolverThread.run

    def run_and_end_late(thread):
        run_thread(thread)
        time.sleep(0.1)  # as where another process has the processor

    monkeypatch.setattr(SolverThread, "run", run_and_end_late)
    session, control, _run = finished()
    session.set_settings(wnn(eta=0.2))
    assert control.current is session.shown is session.runs[1]


def test_a_second_start_stops_the_first_run_and_neither_loses_a_record(qtbot, working):
    session, control, first = working()
    second = control.start(warm=True)
    assert second.warm_from == first.number
    qtbot.waitUntil(lambda: len(second.history) > 5)
    assert first.state is RunState.STOPPED
    assert numbers(first) == list(range(len(first.history)))
    assert numbers(second) == list(range(len(second.history)))
    assert control.current is second
    assert session.shown is second


def test_step_without_a_run_starts_one_that_is_held(qtbot, controls, make_stream):
    _session, control = controls(make_stream())
    control.step()
    run = control.current
    qtbot.waitUntil(lambda: len(run.history) == 1)
    qtbot.wait(50)
    assert len(run.history) == 1
    assert run.state is RunState.PAUSED
    control.step()
    qtbot.waitUntil(lambda: len(run.history) == 2)


def test_changed_settings_are_ticked_on_the_history(qtbot, working):
    session, _control, run = working()
    session.set_settings(wnn(rank=4))
    qtbot.waitUntil(lambda: bool(run.history.ticks))
    (tick,) = run.history.ticks
    assert (tick.text, tick.before) == ("rank 6 → 4", wnn())
    assert run.settings == wnn(rank=4)
    assert run.history.records[tick.first].iteration == tick.first
    assert len(session.runs) == 1


def test_refused_settings_are_reported_and_the_run_continues(qtbot, working):
    session, control, run = working(refuses=wnn(rank=3))
    with qtbot.waitSignal(control.refused) as refused:
        session.set_settings(wnn(rank=3))
    assert refused.args == ["rank 3 is refused"]
    count = len(run.history)
    qtbot.waitUntil(lambda: len(run.history) > count)
    assert run.state is RunState.RUNNING


def test_live_parameters_leave_a_run_that_was_done_as_it_is_and_go_on_in_another(qtbot, finished):
    session, control, run = finished()
    last, received = run.last, []
    control.branched.connect(lambda *runs: received.append(runs))
    session.set_settings(wnn(rank=4))
    live = session.shown
    assert received == [(live, run)] and live.warm_from == run.number
    qtbot.waitUntil(lambda: len(live.history) == 10 and live.state is RunState.FINISHED)
    assert numbers(live) == list(range(10))
    assert [(tick.first, tick.text) for tick in live.history.ticks] == [(0, "from run 1: rank 6 → 4")]
    session.set_settings(wnn(rank=5))
    qtbot.waitUntil(lambda: len(live.history) == 20 and live.state is RunState.FINISHED)
    assert session.runs == [run, live] and session.shown is live and len(received) == 1
    assert (len(run.history), run.settings, run.state) == (10, wnn(), RunState.FINISHED)
    assert run.last is last and not run.history.ticks


def test_a_run_that_is_selected_while_another_works_changes_neither_and_is_steered(qtbot, working):
    session, control, first = working()
    control.cancel()
    qtbot.waitUntil(lambda: not control._threads)
    control.ignore_settings(Settings(rank=4))
    session.set_settings(Settings(rank=4))
    second = control.start(warm=False)
    count = len(first.history)
    control.select(first)
    assert session.shown is first and session.settings == wnn()
    qtbot.waitUntil(lambda: len(second.history) > 10)
    assert (second.settings, second.state) == (Settings(rank=4), RunState.RUNNING)
    assert session.runs == [first, second] and not second.history.ticks
    session.set_settings(Settings(rank=5))
    third = session.shown
    assert session.runs == [first, second, third] and third.warm_from == first.number
    assert (second.settings, second.state) == (Settings(rank=4), RunState.STOPPED)
    qtbot.waitUntil(lambda: third.settings == Settings(rank=5))
    assert (len(first.history), first.settings) == (count, wnn())
    session.set_settings(wnn())  # those that were only shown are followed like any others now
    qtbot.waitUntil(lambda: third.settings == wnn())


def test_a_run_that_is_added_for_refused_settings_is_removed(qtbot, finished):
    session, control, run = finished(refuses=wnn(rank=3))
    qtbot.waitUntil(lambda: control.current is None)
    session.set_moment(run.snapshots.indices[0])
    with qtbot.waitSignal(control.refused):
        session.set_settings(wnn(rank=3))
    assert session.runs == [run] and session.shown is run
    assert session.moment == run.snapshots.indices[0]
    qtbot.waitUntil(lambda: not control._threads)  # its thread ends without it
    assert session.add_run(wnn()).number == run.number + 1  # that of the run that was removed


def test_run_right_after_a_change_continues_from_the_shown_iteration(qtbot, finished):
    """What is typed last is taken when Run is pressed: live mode adds no run for it besides."""
    session, control, run = finished()
    qtbot.waitUntil(lambda: control.current is None)
    moment = run.snapshots.indices[0]
    session.set_moment(moment)
    session.set_settings(wnn(rank=3))
    further = control.start(warm=True)
    assert session.runs == [run, further]
    assert further.warm_from == run.number and further.last is run.snapshots.at(moment)[1]


@pytest.mark.parametrize("stopped", [False, True])
def test_a_live_run_is_stopped_by_stop_and_not_by_run(qtbot, finished, stopped):
    session, control, _run = finished(length=60, pause=0.005)
    qtbot.waitUntil(lambda: not control._threads)
    session.set_settings(wnn(rank=3))
    live = session.shown
    qtbot.waitUntil(lambda: len(live.history) > 3)
    control.cancel() if stopped else control.start(warm=True)
    qtbot.waitUntil(lambda: live not in control._threads)
    assert len(live.history) < 60 and ("stopped" in run_row(live, None).origin) is stopped
    assert activity(live).startswith("Stopped" if stopped else "Done") and "· start ·" in activity(live)


@pytest.mark.slow
def test_a_drag_is_one_tick_with_its_first_and_last_value(qtbot, finished, one_gesture):
    session, _control, run = finished()
    for eta in (0.06, 0.07, 0.08):
        session.set_settings(wnn(eta=eta))
        live = session.shown
        qtbot.waitUntil(
            lambda live=live: live.state is RunState.FINISHED and live.settings == session.settings
        )
    session.set_settings(wnn(eta=0.08, rank=3))
    qtbot.waitUntil(lambda: live.state is RunState.FINISHED and live.settings == session.settings)
    first = len(live.history) - 10
    ticks = [(tick.first, tick.text) for tick in live.history.ticks]
    assert ticks == [(0, "from run 1: eta 0.05 → 0.08"), (first, "rank 6 → 3")]
    assert live.history.ticks[0].before == wnn()
    assert live.snapshots.at(first - 1)[0] == first - 1
    assert session.runs == [run, live]


def test_what_would_start_the_search_again_waits_for_run(qtbot, finished):
    session, control, run = finished()
    reported = []
    session.notifier.status_changed.connect(reported.append)
    session.set_settings(wnn(starts=3))
    qtbot.wait(30)
    assert len(run.history) == 10
    assert reported == ["Press Run (Ctrl+R) to apply: starts"]
    session.set_settings(wnn())
    assert reported[1:] == [""]
    session.set_settings(wnn(starts=3))
    control.select(run)
    assert reported[3:] == [""]
    session.set_settings(wnn(starts=3, eta=0.1))
    live = session.shown
    qtbot.waitUntil(lambda: len(live.history) == 10 and live.state is RunState.FINISHED)
    assert live.settings == wnn(eta=0.1)  # the cheap one alone is followed


def test_a_stopped_search_is_not_followed(qtbot, started, compare):
    """Its cameras are not chosen: going on would be another search."""
    session, control, run = started(compare(unsettled=10_000), 5)
    with qtbot.waitSignal(control.ended):
        control.cancel()
    count = len(run.history)
    session.set_settings(wnn(eta=0.2))
    qtbot.wait(30)
    assert len(run.history) == count


def test_a_run_keeps_snapshots_and_continues_from_the_shown_one(qtbot, finished):
    session, control, run = finished(length=30, pause=0.003)
    assert 2 < len(run.snapshots) <= 30
    assert run.snapshots.indices[-1] == 29
    index = run.snapshots.indices[1]
    session.set_moment(index)
    assert session.seen.record == run.history.records[index]
    session.set_settings(wnn(eta=0.2))
    live = session.shown
    assert session.moment is None and live.last is run.snapshots.at(index)[1]
    qtbot.waitUntil(lambda: len(live.history) == 30 and live.state is RunState.FINISHED)
    assert [tick.text for tick in live.history.ticks] == [f"from iteration {index} of run 1: eta 0.05 → 0.2"]
    index = live.snapshots.indices[1]
    session.set_moment(index)
    session.set_settings(wnn(eta=0.3))
    assert session.moment is None and live.last is live.snapshots.at(index)[1]  # with a record of its own
    qtbot.waitUntil(lambda: len(live.history) == 60 and live.state is RunState.FINISHED)
    assert numbers(live) == list(range(60))
    assert live.history.ticks[1].text == f"from iteration {index}: eta 0.2 → 0.3"
    session.set_moment(index)
    again = control.start(warm=True)
    assert again.last is live.snapshots.at(index)[1]
    assert session.moment is None


def test_settings_that_are_only_gone_back_to_are_not_followed(finished):
    session, control, run = finished()
    control.ignore_settings(wnn(eta=0.3))
    session.set_settings(wnn(eta=0.3))
    assert session.runs == [run]
    session.set_settings(wnn(eta=0.31))
    assert len(session.runs) == 2


def test_runs_that_are_not_shown_give_their_moments_up_first(qtbot, controls, make_stream, monkeypatch):
    session, control = controls(make_stream(length=10, pause=0.01))
    runs = []
    for _ in range(3):
        runs.append(control.start(warm=False))
        qtbot.waitUntil(lambda: runs[-1].state is RunState.FINISHED and control.current is None)
    assert all(len(run.snapshots) > 2 for run in runs)
    monkeypatch.setattr("nrsfm_gui.engine.run_control.ALL_SNAPSHOTS", 1)
    session.set_settings(wnn(eta=0.3))
    with qtbot.waitSignal(control.ended):
        pass
    assert [len(run.snapshots) for run in runs] == [2, 2, 2]
    assert len(session.shown.snapshots) > 2


def test_without_live_parameters_a_run_under_way_stays_so_until_they_are_live(qtbot, controls, make_stream):
    session, control = controls(make_stream(length=10_000, pause=0.002))
    session.set_live(False)
    run = control.start(warm=False)
    qtbot.waitUntil(lambda: len(run.history) > 3)
    session.set_settings(wnn(eta=0.2))
    count = len(run.history)
    qtbot.waitUntil(lambda: len(run.history) > count + 5)
    assert run.settings == wnn() and not run.history.ticks
    session.set_live(True)
    qtbot.waitUntil(lambda: run.settings == wnn(eta=0.2))
    assert [tick.text for tick in run.history.ticks] == ["eta 0.05 → 0.2"]


def test_a_change_after_stop_is_followed_once_the_last_iteration_is_done(qtbot, stopping):
    session, _control, run = stopping
    assert session.runs == [run]
    qtbot.waitUntil(lambda: session.shown is not run and session.shown.settings == wnn(eta=0.2))


def test_a_change_after_stop_is_not_followed_by_what_closes(stopping):
    session, control, run = stopping
    control.shut_down()
    assert session.runs == [run] and control.current is None
    session.set_settings(wnn(eta=0.3))  # the window could not be closed
    assert control.current is session.runs[1]


def test_a_refused_start_fails_with_its_sentence(qtbot, controls):
    def refuse(sequence, settings, start):
        raise InputError("there is no companion")

    session, control = controls(refuse)
    with qtbot.waitSignal(control.refused) as refused:
        run = control.start(warm=False)
    assert refused.args == ["there is no companion"]
    assert run.state is RunState.FAILED
    assert run.message == "there is no companion"
    assert session.runs == [] and session.add_run(wnn()).number == 1


def test_shutting_down_waits_for_every_thread(working):
    _session, control, run = working()
    control.set_paused(True)
    control.shut_down()
    assert run.state is RunState.STOPPED
    assert numbers(run) == list(range(len(run.history)))
    assert control.current is None


@pytest.fixture
def compare(make_stream):
    """Return work that chooses rotations for so many iterates, unless it goes on from chosen ones."""

    def make(*, unsettled):
        stream = make_stream(pause=0.001)

        def work(sequence, settings, start):
            chosen = start is not None and start.rotations_chosen
            for count, iterate in enumerate(stream(sequence, settings, start)):
                settled = chosen or count >= unsettled
                phase = Phase(PhaseKind.REFINE) if settled else Phase(PhaseKind.ROTATIONS, 1, 2, "x")
                yield replace(iterate, rotations_chosen=settled, record=replace(iterate.record, phase=phase))

        return work

    return make


def test_a_change_while_rotations_are_compared_shows_that_it_starts_again(qtbot, started, compare):
    session, control, run = started(compare(unsettled=60), 5)
    assert not run.last.rotations_chosen
    control.set_paused(True)
    session.set_settings(wnn(rank=4))
    control.step()
    qtbot.waitUntil(lambda: bool(run.history.ticks))
    assert [tick.text for tick in run.history.ticks] == ["rank 6 → 4: starts again"]
    assert "rotations 1 of 2 · starts again (rank 6 → 4) · " in activity(run)
    control.set_paused(False)
    qtbot.waitUntil(lambda: run.last.rotations_chosen)
    assert "starts again" not in activity(run)
    session.set_settings(wnn(rank=5))
    qtbot.waitUntil(lambda: len(run.history.ticks) == 2)
    assert run.history.ticks[1].text == "rank 4 → 5"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(12.4, "12 s left"), (43.0, "45 s left"), (127.0, "2 min 10 s left"), (0.5, ""), (None, "")],
)
def test_the_row_of_a_run_shows_the_time_that_is_left(known, make_iterate, seconds, text):
    run = Run(1, known.sequence, Settings(), last=make_iterate(known, noise=0.1), seconds_left=seconds)
    run.history.extend([run.last.record])
    assert run_row(run, None).origin == text
    assert time_left(run) == text
    run.state = RunState.PAUSED
    assert time_left(run) == ""
    again = Phase(PhaseKind.DEPTH_START, 1, 2, f"first end, {LIGHT}")
    run.history.extend([replace(run.last.record, phase=again)])
    run.state = RunState.RUNNING
    assert time_left(run) == "second search"


def test_the_time_left_is_estimated_anew_after_a_change(qtbot, working):
    session, control, run = working()
    qtbot.waitUntil(lambda: run in control._left)
    before = control._left[run]
    session.set_settings(wnn(rank=4))
    qtbot.waitUntil(lambda: bool(run.history.ticks))
    assert control._left[run] is not before
    control.cancel()
    qtbot.waitUntil(lambda: run not in control._left)
    assert run.seconds_left is None


def test_a_run_of_another_method_starts_from_nothing_and_says_so(qtbot, working):
    session, control, first = working()
    session.set_settings(session.settings.with_changes(method="lm"))
    assert control.waiting(first) == "Press Run (Ctrl+R) to apply: method"
    count = len(first.history)
    qtbot.waitUntil(lambda: len(first.history) > count + 2)
    assert (first.settings.method, first.state, first.steered) == ("bilinear", RunState.RUNNING, False)
    with qtbot.waitSignal(session.notifier.status_changed) as said:
        second = control.start(warm=True)
    assert said.args == ["Run 2 (bilinear, LM) starts from nothing: run 1 (bilinear) is of another method"]
    assert second.warm_from is None
    qtbot.waitUntil(lambda: len(second.history) > 5)
    assert activity(second).startswith("Running: run 2 (bilinear, LM), from nothing")
    third = control.start(warm=True)
    assert third.warm_from == 2
    qtbot.waitUntil(lambda: len(third.history) > 5)
    assert activity(third).startswith("Running: run 3 (bilinear, LM), from run 2")
