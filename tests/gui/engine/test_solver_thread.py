"""The mailbox between the solver's thread and the window."""

import threading
import time
from dataclasses import replace

import pytest
from patience import PATIENCE

from core import InputError, Settings
from core.foundation import Phase, PhaseKind
from nrsfm_gui.engine.solver_thread import STEP_EVERY, SolverThread
from nrsfm_gui.model.run import RunState


@pytest.fixture
def threads():
    """Make threads; none outlives its test."""
    made = []

    def make(stream, settings=None, **options):
        thread = SolverThread(None, settings or Settings(), work=stream, **options)
        made.append(thread)
        return thread

    yield make
    for thread in made:
        thread.cancel()
        assert has_ended(thread)


def has_ended(thread):
    return thread.wait(round(1000 * PATIENCE))


def drained(thread):
    """Read the mailbox until the run has ended; return records, changes, the last iterate and the ending."""
    records, changes, last, ending = [], [], None, None
    deadline = time.monotonic() + PATIENCE
    while ending is None:
        assert time.monotonic() < deadline, "the run did not end"
        content = thread.read_mailbox()
        records += content.records
        changes += content.changes
        last = content.iterate or last
        ending = content.ending
        time.sleep(0.001)
    return records, changes, last, ending


def held_after(count, thread, stream):
    """Let a thread do some iterations and hold it; return it."""
    thread.set_paused(True)
    thread.start()
    for _ in range(count):
        thread.step()
    wait_until(lambda: stream.given == count)
    return thread


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.001)


def test_a_paused_run_does_nothing_and_pause_followed_at_once_by_resume_continues(threads, make_stream):
    stream = make_stream(pause=0.0005)
    thread = threads(stream)
    thread.start()
    wait_until(lambda: stream.given > 5)
    thread.set_paused(True)
    before = stream.given
    time.sleep(0.05)
    assert stream.given <= before + 1  # that which had begun
    for _ in range(50):
        thread.set_paused(True)
        thread.set_paused(False)
    wait_until(lambda: stream.given > before + 10)


def test_a_change_continues_from_the_current_iterate_and_the_count_goes_on(threads, make_stream):
    stream = make_stream(length=400)
    thread = held_after(20, threads(stream), stream)
    assert thread.change(Settings(rank=3))
    thread.set_paused(False)
    records, changes, last, _ending = drained(thread)
    assert [record.iteration for record in records] == list(range(len(records)))
    seconds = [record.seconds for record in records]
    assert seconds == sorted(seconds)
    (change,) = changes
    assert change.settings == Settings(rank=3)
    assert last.settings == Settings(rank=3)
    start = stream.starts[1]
    assert start.record.iteration == change.iteration - 1
    assert stream.closed == 2  # the first stream was closed when the second began


def test_changes_that_come_fast_keep_the_longest_rest_between_them(threads, make_stream):
    stream = make_stream()
    thread = held_after(3, threads(stream), stream)
    for rank, rest in ((3, 0.1), (4, 5.0), (5, 0.1)):
        thread.change(Settings(rank=rank), rest)
    thread.step()
    found = []
    wait_until(lambda: found.extend(thread.read_mailbox().changes) or found)
    assert [(change.settings.rank, change.rest) for change in found] == [(5, 5.0)]
    thread.change(Settings(rank=6), 0.1)
    thread.step()
    wait_until(lambda: found.extend(thread.read_mailbox().changes) or found[1:])
    assert (found[1].settings.rank, found[1].rest) == (6, 0.1)


def test_a_change_after_the_end_is_refused_as_too_late(threads, make_stream):
    thread = threads(make_stream(length=3))
    thread.start()
    assert has_ended(thread)
    assert not thread.change(Settings(rank=3))


def test_a_refusal_and_a_defect_end_as_values(threads):
    def refuse(sequence, settings, start):
        raise InputError("the tracks are not there")

    def break_down(sequence, settings, start):
        yield from ()
        raise RuntimeError("a defect")

    for stream, sentence, defect in (
        (refuse, "the tracks are not there", False),
        (break_down, "RuntimeError: a defect", True),
    ):
        thread = threads(stream)
        thread.start()
        ending = drained(thread)[3]
        assert (ending.state, ending.sentence) == (RunState.FAILED, sentence)
        assert ("Traceback" in ending.details) is defect


def test_slow_motion_waits_between_iterations_and_cancel_does_not_wait_for_it(threads, make_stream):
    stream = make_stream()
    thread = threads(stream)
    thread.set_delay(10 * PATIENCE)
    thread.start()
    time.sleep(0.05)
    assert stream.given <= 1
    thread.cancel()
    assert has_ended(thread)


def test_the_answer_to_a_change_is_waited_for(threads, make_stream):
    stream = make_stream(length=4)
    thread = threads(stream, linger=PATIENCE)
    thread.start()
    wait_until(lambda: stream.closed and not thread._stepping)  # it waits for a change
    thread.read_mailbox()
    assert not thread.await_answer(PATIENCE)  # nothing was changed
    thread.change(Settings(rank=3))
    assert thread.await_answer(PATIENCE)
    content = thread.read_mailbox()
    assert content.iterate.settings == Settings(rank=3)
    assert [change.settings for change in content.changes] == [Settings(rank=3)]


def test_an_answer_is_not_waited_for_where_the_last_one_took_too_long(threads, make_stream):
    stream, go_on = make_stream(length=1), threading.Event()
    go_on.set()

    def slow(sequence, settings, start):
        began = time.thread_time()
        while time.thread_time() - began < 0.05:
            pass
        go_on.wait(5.0)
        yield from stream(sequence, settings, start)

    thread = threads(slow, linger=PATIENCE)
    thread.start()
    wait_until(lambda: stream.closed)
    thread.change(Settings(rank=3))
    wait_until(lambda: thread.read_mailbox().changes)
    assert 0.05 <= thread._answer_seconds < 5.0  # of its own computing
    thread._answer_seconds = 3600.0
    go_on.clear()
    thread.change(Settings(rank=2))
    assert not thread.await_answer(3000.0)  # or it would wait until there is one, after 5 s
    go_on.set()
    wait_until(lambda: thread.read_mailbox().changes)


def test_who_waits_for_an_answer_is_not_left_waiting(threads, make_stream):
    stream = make_stream(pause=0.0005)
    thread = threads(stream)
    thread.start()
    wait_until(lambda: stream.given > 5)
    thread.change(Settings(rank=2))
    wait_until(lambda: thread.await_answer(PATIENCE))  # not while an iteration is being done
    thread.read_mailbox()
    began = time.monotonic()
    thread.await_answer(PATIENCE)  # nothing more is to come
    thread.cancel()
    thread.change(Settings(rank=4))
    thread.await_answer(PATIENCE)
    assert time.monotonic() - began < PATIENCE


def test_changes_are_answered_where_only_the_uncertainty_is_left(threads, make_stream):
    stream = make_stream()

    def settled(sequence, settings, start):
        for each in stream(sequence, settings, start):
            yield replace(each, record=replace(each.record, phase=Phase(PhaseKind.UNCERTAINTY)))

    thread = threads(settled, linger=PATIENCE)
    thread.start()
    answered = []
    for seed in range(100):  # for longer than until a step is due
        thread.change(Settings(seed=seed))
        time.sleep(3 * STEP_EVERY / 100)
        answered += thread.read_mailbox().changes
    deadline = time.monotonic() + PATIENCE
    while answered[-1].settings.seed != 99:
        assert time.monotonic() < deadline, "the last change was not answered"
        answered += thread.read_mailbox().changes
