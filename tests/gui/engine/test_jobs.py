"""Functions in threads: where they report, how they are cancelled, and how long they are held."""

import gc
import os
import threading
import weakref

import pytest
from PyQt6 import sip
from PyQt6.QtCore import QCoreApplication, QEvent, QTimer

from core import InputError
from nrsfm_gui.engine.jobs import Job, Jobs, Order


def test_a_job_reports_in_the_thread_that_made_it(qtbot):
    here = threading.get_ident()
    reported = []

    def refuse(_job):
        raise InputError("cannot be read")

    def look(_job):
        os.stat(300 * "a")

    for function in (lambda _job: 42, refuse, look, lambda _job: 1 / 0):
        job = Job(
            function,
            done=lambda value: reported.append((value, threading.get_ident())),
            failed=lambda sentence, details: reported.append((sentence, bool(details))),
        )
        with qtbot.waitSignal(job.finished):
            job.start()
        qtbot.waitUntil(lambda job=job: job.isFinished())
    assert reported == [
        (42, here),
        ("cannot be read", False),
        (f"{300 * 'a'}: File name too long", False),
        ("ZeroDivisionError: division by zero", True),
    ]


def test_jobs_are_held_while_they_run_and_destroyed_after_they_have_reported(qtbot):
    jobs, go_on, reported, destroyed = Jobs(), threading.Event(), [], []

    def wait_and_refuse(_job):
        go_on.wait(60)
        raise InputError("cannot be read")

    for function in (lambda _job: go_on.wait(60), wait_and_refuse):
        job = Job(function, done=reported.append, failed=lambda sentence, _details: reported.append(sentence))
        job.destroyed.connect(lambda: destroyed.append(True))
        jobs.start(job)
    gc.collect()
    assert jobs
    go_on.set()
    jobs.wait()
    assert not reported  # it is told by the window's events, after which the job may go
    qtbot.waitUntil(lambda: len(destroyed) == 2)
    assert sorted(map(str, reported)) == ["True", "cannot be read"]
    assert not jobs
    assert sip.isdeleted(job)


def test_a_job_is_no_garbage_before_it_is_deleted(qtbot):
    """A function that the garbage collector has cleared ends the process when a timer calls it."""
    jobs, fired = Jobs(), []
    job = jobs.start(Job(lambda _job: None))
    timer = QTimer(job)
    timer.timeout.connect(lambda job=job: fired.append(job.isFinished()))
    reference = weakref.ref(job)
    job.wait()
    del job, timer
    QCoreApplication.sendPostedEvents(None, QEvent.Type.MetaCall.value)  # signals, not the deletion
    assert not jobs
    gc.collect()
    assert reference() is not None
    reference().findChild(QTimer).timeout.emit()
    assert fired == [True]
    qtbot.waitUntil(lambda: reference() is None)  # it is not held for good


def test_a_cancelled_job_cleans_up_and_keeps_its_results(qtbot):
    entered, cleared = threading.Event(), []
    found, ends = [], []

    def work(job):
        try:
            job.found.emit("first")
            entered.set()
            while True:
                job.watch()
        finally:
            cleared.append(True)

    jobs = Jobs()
    job = Job(work, done=ends.append, failed=lambda *_: ends.append("failed"))
    job.found.connect(found.append)
    job.cancelled.connect(lambda: ends.append("cancelled"))
    with qtbot.waitSignal(jobs.ended):
        jobs.start(job)
        assert entered.wait(60)
        jobs.cancel()
    assert (found, ends, cleared) == (["first"], ["cancelled"], [True])
    assert not jobs


def test_progress_is_reported_at_the_rate_of_a_display_and_always_at_the_end(qtbot):
    reported = []

    def work(job):
        for done in range(10_001):
            job.watch(done, 10_000)

    job = Job(work)
    job.progressed.connect(lambda done, total: reported.append((done, total)))
    with qtbot.waitSignal(job.finished):
        job.start()
    assert reported[0] == (0, 10_000) and reported[-1] == (10_000, 10_000)
    assert len(reported) < 1000


@pytest.mark.parametrize(("order", "expected"), [(Order.QUEUE, [0, 1, 2, 3]), (Order.NEWEST, [3])])
def test_jobs_that_wait_for_one_another(qtbot, order, expected):
    jobs, go_on, done, together = Jobs(order=order), threading.Event(), [], []
    inside = threading.Lock()

    def work(job, number):
        together.append(inside.acquire(blocking=False))
        go_on.wait(60)
        inside.release()
        job.watch()
        return number

    for number in range(4):
        jobs.start(Job(lambda job, number=number: work(job, number), done=done.append))
    go_on.set()
    qtbot.waitUntil(lambda: not jobs)
    assert done == expected and all(together)


def test_nothing_outlives_a_shut_down_and_what_waits_is_still_done_after_a_wait(qtbot):
    ran = []
    jobs = Jobs(order=Order.QUEUE)
    for number in range(3):
        jobs.start(Job(lambda _job, number=number: ran.append(number)))
    jobs.wait()
    assert ran == [0, 1, 2]
    qtbot.waitUntil(lambda: not jobs)

    def endless(job):
        while True:
            job.watch()

    last = jobs.start(Job(endless))
    jobs.start(Job(lambda _job: ran.append("never")))
    jobs.shut_down()
    assert last.isFinished() and ran == [0, 1, 2]
    qtbot.waitUntil(lambda: not jobs)
