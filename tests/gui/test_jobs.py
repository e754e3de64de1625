"""Functions beside the window: where they report, and how long they are held."""

from __future__ import annotations

import gc
import os
import threading

from PyQt6 import sip

from core import InputError
from nrsfm_gui.engine.jobs import Job, Jobs


def test_a_job_reports_in_the_thread_that_made_it(qtbot):
    here = threading.get_ident()
    reported = []

    def refuse():
        raise InputError("cannot be read")

    def look():
        os.stat(400 * "a")

    for function in (lambda: 42, refuse, look, lambda: 1 / 0):
        job = Job(function)
        job.done.connect(lambda value: reported.append((value, threading.get_ident())))
        job.failed.connect(lambda sentence, details: reported.append((sentence, bool(details))))
        with qtbot.waitSignal(job.finished):
            job.start()
        qtbot.waitUntil(lambda job=job: job.isFinished())
    assert reported == [
        (42, here),
        ("cannot be read", False),
        (f"{400 * 'a'}: File name too long", False),
        ("ZeroDivisionError: division by zero", True),
    ]


def test_jobs_are_held_while_they_run_and_destroyed_after_they_have_reported(qtbot):
    jobs, go_on, reported, destroyed = Jobs(), threading.Event(), [], []

    def wait_and_refuse():
        go_on.wait(10)
        raise InputError("cannot be read")

    for function in (lambda: go_on.wait(10), wait_and_refuse):
        job = jobs.add(function, reported.append, lambda sentence, _details: reported.append(sentence))
        job.destroyed.connect(lambda: destroyed.append(True))
        job.start()
    gc.collect()
    assert jobs
    go_on.set()
    jobs.wait()
    assert not reported  # it is told by the window's events, after which the job may go
    qtbot.waitUntil(lambda: len(destroyed) == 2)
    assert sorted(map(str, reported)) == ["True", "cannot be read"]
    assert not jobs
    assert sip.isdeleted(job)
