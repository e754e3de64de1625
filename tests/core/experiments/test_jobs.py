import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from patience import PATIENCE
from worker_functions import Ending

from core import InputError, read_sequence
from core.cli import main
from core.experiments.figure1 import FigureSequence, recovery_job
from core.experiments.job_store import JobStore
from core.experiments.jobs import JobResult, load_job_results, run_jobs, save_job_result
from core.experiments.tables import TableSequence, load_table_data, table_job


def results_in(jobs):
    """The files of the results that the lines of a store name."""
    path = jobs / "runs.jsonl"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    return [jobs / "results" / f"{json.loads(line)['key']}.npz" for line in lines]


@pytest.mark.slow
def test_a_stopped_run_keeps_what_is_done_and_continues(folder, tmp_path):
    """Ctrl-C as a terminal sends it, to all processes of the group."""
    jobs = tmp_path / "report" / "jobs"
    words = ["reproduce", "tableA1", "--data", str(folder), "-o", str(jobs.parent)]
    process = subprocess.Popen(
        [sys.executable, "-m", "core", *words, "--jobs", "2"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None and not results_in(jobs):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    kept = {path: path.stat().st_mtime_ns for path in results_in(jobs)}
    if len(kept) == 2:
        assert process.returncode in (0, 130), errors
        pytest.skip("all jobs were done before they could be stopped")
    assert process.returncode == 130
    assert re.fullmatch(r"nrsfm reproduce: stopped; \d of 2 jobs are kept in .*, and the same .*\n", errors)
    assert len(kept) == 1
    assert main([*words, "--jobs", "1"]) == 0
    assert all(path.stat().st_mtime_ns == before for path, before in kept.items())
    assert len(list((jobs / "results").iterdir())) == 2 and (jobs.parent / "report.html").is_file()


def stop_after_one(standing):
    if standing.done:
        raise KeyboardInterrupt


def test_a_run_that_is_stopped_between_two_ends_keeps_one_and_leaves_no_worker(tmp_path):
    jobs = [Ending(name, seconds=0.01 * len(name)) for name in ("a", "bb", "ccc", "dddd")]
    with JobStore(tmp_path) as store:
        with pytest.raises(KeyboardInterrupt):
            run_jobs(jobs, store, processes=2, progress=stop_after_one)
        (line,) = store.path.read_text().splitlines()
        assert json.loads(line)["status"] == "done" and not multiprocessing.active_children()
        run_jobs(jobs, store, processes=2)
        assert {job.key for job in jobs} == store.keys


def test_ctrl_c_while_workers_are_begun_comes_after_that(tmp_path, monkeypatch):
    begun = []

    class Interrupted(ThreadPoolExecutor):
        def submit(self, *call):
            signal.raise_signal(signal.SIGINT)
            begun.append(super().submit(*call))
            return begun[-1]

    monkeypatch.setattr("core.experiments.jobs.ThreadPoolExecutor", Interrupted)
    with JobStore(tmp_path) as store, pytest.raises(KeyboardInterrupt):
        run_jobs([Ending("long", seconds=3600.0)], store)
    assert len(begun) == 1 and not store.path.read_bytes()


class GivingUp:
    """A cluster of one worker, which gives every job up so many times before it computes it here."""

    threads, connected = 1, True

    def __init__(self, times):
        self.times = times

    def executor(self):
        cluster = self

        class Executor(ThreadPoolExecutor):
            def submit(self, *call):
                cluster.times -= 1
                if cluster.times < 0:
                    return super().submit(*call)
                future = Future()
                future.set_exception(RuntimeError("the worker died"))
                return future

        return Executor(1)


def test_a_job_that_the_workers_give_up_is_given_to_them_again_but_not_forever(tmp_path):
    with JobStore(tmp_path) as store:
        run_jobs([Ending("a")], store, cluster=GivingUp(2))
        assert store.has_result("a")
        with pytest.raises(InputError, match="the workers gave up b: RuntimeError the worker died"):
            run_jobs([Ending("b")], store, cluster=GivingUp(3))
        assert "b" not in store


@pytest.mark.slow
def test_a_job_without_a_result_is_recorded_and_the_others_continue(tmp_path):
    errors = [np.linalg.LinAlgError("SVD did not converge"), MemoryError(), TypeError("a defect")]
    jobs = [Ending(type(error).__name__, error) for error in errors]
    jobs += [Ending("dies", code=7), Ending("good")]
    with JobStore(tmp_path) as store:
        run_jobs(jobs, store)
        found = load_job_results(store, jobs)
    assert found["LinAlgError"].failure == "LinAlgError: SVD did not converge"
    assert found["MemoryError"].failure == "MemoryError"
    assert found["TypeError"].failure == "TypeError: a defect"
    assert found["dies"].failure == "its process died with code 7" and found["dies"].status == "died"
    assert found["good"].facts == {"label": "good", "found": 1} and found["good"].memory_mb > 0
    with JobStore(tmp_path) as store:
        assert store.has_result("good") and not any(store.has_result(job.key) for job in jobs[:-1])
        before = store.path.read_bytes()
        run_jobs(jobs, store, retry=False)
        assert store.path.read_bytes() == before
        run_jobs(jobs, store, retry=True)
    assert len(store.path.read_text().splitlines()) == 5 + 4


@pytest.mark.slow
def test_a_job_that_takes_too_long_is_ended_and_recorded(tmp_path):
    jobs = [Ending("long", seconds=3600.0), Ending("short")]
    with JobStore(tmp_path) as store:
        began = time.monotonic()
        run_jobs([Ending("first")], store, processes=1)
        # A process begins within it, on a slow machine too.
        limit = max(2, round(8 * (time.monotonic() - began)))
        run_jobs(jobs, store, processes=1, timeout=limit)
        found = load_job_results(store, jobs)
    assert found["long"].status == "time limit" and found["long"].failure == f"it was ended after {limit} s"
    assert limit <= found["long"].seconds < 3600 and found["short"].facts == {"label": "short", "found": 1}


def test_the_time_left_follows_the_work_that_is_done(tmp_path):
    jobs = [Ending("a", cost=3.0, seconds=0.3), Ending("b", cost=1.0, seconds=0.1)]
    reports = []
    with JobStore(tmp_path) as store:
        run_jobs(jobs, store, progress=reports.append)
        first = load_job_results(store, jobs)["a"]
    assert [each.done for each in reports] == [0, 1, 2]
    assert [each.fraction for each in reports] == [0.0, 0.75, 1.0]
    assert reports[0].seconds_left is None and reports[2].seconds_left == 0.0
    assert reports[1].seconds_left == pytest.approx(first.seconds / 3)  # without the start of the worker


def test_damaged_results_are_computed_again(tmp_path):
    with JobStore(tmp_path) as store:
        save_job_result(store, "a", JobResult({"x": 1.5}, {"y": np.arange(3.0)}))
        (again,) = load_job_results(store, [SimpleNamespace(key="a"), SimpleNamespace(key="b")]).values()
        assert again.facts == {"x": 1.5} and np.array_equal(again.arrays["y"], np.arange(3.0))
        assert store.has_result("a")
        path = store.arrays_path("a")
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])
        assert not store.has_result("a") and "a" in store and "b" not in store
        assert not load_job_results(store, [SimpleNamespace(key="a")])


def test_keys_follow_data_and_settings(folder):
    items = load_table_data(folder)
    curves = FigureSequence("a", "rigid", items[0].sequence)
    jobs = [
        table_job(items[0], "NN"),
        table_job(items[0], "WNN"),
        table_job(items[1], "NN"),
        *(recovery_job(curves, p, e, "ADMM", s) for p in ("NN", "TNN") for e, s in ((0.1, 1), (0.2, 2))),
    ]
    assert len({job.key for job in jobs}) == len(jobs)
    file = folder / "balloon" / "sequence" / "perspective" / "circle.txt"
    other = TableSequence("other", "name", read_sequence(file), real=True)
    assert table_job(other, "NN").key in {job.key for job in jobs}
