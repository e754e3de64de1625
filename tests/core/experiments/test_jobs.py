"""The jobs of an experiment: workers, what is kept, Ctrl-C, and jobs that come to no end."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import joblib
import numpy as np
import pytest

from core import read_sequence
from core.cli import main
from core.experiments import JobResult, JobStore, RecoveryJob, TableJob, load_table_data, run_jobs


def has_workers(process):
    """Whether a process has begun workers."""
    for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if b"loky" in Path(f"/proc/{child}/cmdline").read_bytes():
                time.sleep(0.15)  # until Python has begun in them; they import for longer
                return True
    return False


@pytest.mark.parametrize("moment", ["workers begin", "a job is done"])
def test_a_stopped_run_keeps_what_is_done_and_continues(moment, folder, tmp_path):
    """Ctrl-C as a terminal sends it, to all processes of the group."""
    if moment == "workers begin" and not sys.platform.startswith("linux"):
        pytest.skip("the workers are found in /proc")
    jobs = tmp_path / "report" / "jobs"
    words = ["reproduce", "tableA1", "--data", str(folder), "-o", str(jobs.parent)]
    process = subprocess.Popen(
        [sys.executable, "-m", "core", *words, "--jobs", "2"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if has_workers(process) if moment == "workers begin" else list(jobs.glob("[!.]*.npz")):
            break
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    kept = {path: path.stat().st_mtime_ns for path in jobs.glob("[!.]*.npz")}
    if len(kept) == 2:
        assert process.returncode in (0, 130), errors
        pytest.skip("all jobs were done before they could be stopped")
    assert process.returncode == 130
    assert re.fullmatch(r"nrsfm reproduce: stopped; \d of 2 jobs are kept in .*, and the same .*\n", errors)
    assert len(kept) == 1 or moment == "workers begin"
    assert main([*words, "--jobs", "1"]) == 0
    assert all(path.stat().st_mtime_ns == before for path, before in kept.items())
    assert len(list(jobs.iterdir())) == 2 and (jobs.parent / "report.html").is_file()


def stop_after_one(standing):
    if standing.done:
        raise KeyboardInterrupt


@pytest.mark.parametrize("workers", ["sequential", "threading", "loky"])
def test_a_run_that_is_stopped_between_two_ends_reports_nothing_else(workers, folder, tmp_path):
    """joblib would warn of results that nobody waited for."""
    items = load_table_data(folder).items
    jobs = [TableJob(i.object_name, i.path_name, i.sequence, "NN") for i in items]
    with joblib.parallel_config(workers, n_jobs=2), pytest.raises(KeyboardInterrupt):
        run_jobs(jobs, JobStore(tmp_path), progress=stop_after_one)
    gc.collect()  # a generator that nobody closed would warn now
    assert len(list(tmp_path.iterdir())) == 1


def test_ctrl_c_while_workers_are_begun_comes_after_that(folder, tmp_path, monkeypatch):
    begun = []

    class Interrupted(joblib.Parallel):
        def __call__(self, calls):
            signal.raise_signal(signal.SIGINT)
            outcomes = super().__call__(calls)
            begun.append(outcomes)
            return outcomes

    monkeypatch.setattr(joblib, "Parallel", Interrupted)
    items = load_table_data(folder).items
    jobs = [TableJob(i.object_name, i.path_name, i.sequence, "NN") for i in items]
    with joblib.parallel_config("threading", n_jobs=2), pytest.raises(KeyboardInterrupt):
        run_jobs(jobs, JobStore(tmp_path))
    assert len(begun) == 1
    begun.clear()
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_workers_are_those_of_the_context(folder, tmp_path):
    items = load_table_data(folder).items[:2]
    jobs = [TableJob(i.object_name, i.path_name, i.sequence, "NN") for i in items]
    alone = run_jobs(jobs, JobStore(tmp_path / "one"))
    with joblib.parallel_config("threading", n_jobs=2):
        together = run_jobs(jobs, JobStore(tmp_path / "two"))
    for key, finished in alone.items():
        assert together[key].facts["rows"][0]["loss"] == finished.facts["rows"][0]["loss"]


@dataclass(frozen=True)
class Ending:
    """A job that ends with an error, or finds something."""

    label: str
    error: Exception | None = None
    cost: float = 1.0

    @property
    def key(self) -> str:
        return self.label

    def run(self) -> JobResult:
        if self.error is not None:
            raise self.error
        return JobResult({"found": 1})


def test_a_job_that_never_ends_does_not_delay_the_others(tmp_path):
    errors = [np.linalg.LinAlgError("SVD did not converge"), MemoryError()]
    jobs = [*(Ending(type(error).__name__, error) for error in errors), Ending("good")]
    store = JobStore(tmp_path)
    found = run_jobs(jobs, store)
    assert found["LinAlgError"].failure == "SVD did not converge"
    assert found["MemoryError"].failure == "MemoryError"
    assert found["good"].facts == {"found": 1}
    assert store.load("good") is not None and store.load("LinAlgError") is None


def test_damaged_ends_are_computed_again(tmp_path):
    store = JobStore(tmp_path)
    store.save("a", JobResult({"x": 1.5}, {"y": np.arange(3.0)}))
    again = store.load("a")
    assert again.facts == {"x": 1.5} and np.array_equal(again.arrays["y"], np.arange(3.0))
    content = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(content[: len(content) // 2])
    assert store.load("a") is None and store.load("b") is None


def test_keys_follow_data_and_settings(folder):
    items = load_table_data(folder).items
    sequence = items[0].sequence
    jobs = [
        TableJob("balloon", "circle", sequence, "NN"),
        TableJob("balloon", "circle", sequence, "WNN"),
        TableJob("balloon", "circle", items[1].sequence, "NN"),
        *(
            RecoveryJob("a", sequence, "rigid", p, e, "ADMM", s)
            for p in ("NN", "TNN")
            for e, s in ((0.1, 1), (0.2, 2))
        ),
    ]
    assert len({job.key for job in jobs}) == len(jobs)
    file = folder / "balloon" / "sequence" / "perspective" / "circle.txt"
    assert TableJob("other", "name", read_sequence(file), "NN").key in {job.key for job in jobs}
