"""A sweep on Dask: a real scheduler and worker processes, of which one is killed and one joins late."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack

import distributed
import pytest

from core.cli import main
from core.experiments import read_sweep
from core.experiments.sweep import MEASURED_COLUMNS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "killpg"), reason="Windows has no groups of processes"),
]
DEADLINE = 300.0  # seconds
RUNS = ["--camera", "perspective", "--set", "rank=1,2,3", "eta=0.05,0.1", "--seeds", "0:4"]
RUNS += ["--rotations", "truth", "--refine", "none", "--starts", "2"]
COUNT = 2 * 3 * 2 * 4  # paths, ranks, etas, seeds


def wait_for(condition, process=None):
    """Wait until a condition holds; a process that ends before is an error."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline
        assert process is None or process.poll() is None
        time.sleep(0.02)


class LocalCluster:
    """A scheduler and workers, each a process of its own in a group of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes = []
        self.sweep = None  # the command that uses it
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(self.file))
        wait_for(self.file.is_file, self.scheduler)

    def _start(self, *words):
        command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:], "--no-dashboard"]
        with (self.folder / f"log{len(self.processes)}").open("w") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.folder, start_new_session=True
            )
        self.processes.append(process)
        return process

    def start_worker(self, name, *, threads=1):
        """Start a worker with its nanny, which would start it again, too."""
        words = ["--scheduler-file", str(self.file), "--nthreads", str(threads), "--name", name]
        return self._start("worker", *words, "--local-directory", str(self.folder))

    def wait_for_workers(self, count):
        with distributed.Client(scheduler_file=str(self.file), set_as_default=False) as client:
            client.wait_for_workers(count, timeout=DEADLINE)

    def close(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def cluster(tmp_path, request, monkeypatch):
    """A scheduler; a parameter is how many workers may die during a job until it is given up."""
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", str(getattr(request, "param", 3)))
    with ExitStack() as at_end:
        cluster = LocalCluster(tmp_path)
        at_end.callback(cluster.close)
        yield cluster
        if cluster.sweep is not None and cluster.sweep.poll() is None:  # the test has failed
            cluster.sweep.kill()
            cluster.sweep.communicate()


def start_sweep(cluster, folder, output):
    words = ["sweep", str(folder), *RUNS, "--backend", "dask", "--scheduler", str(cluster.file)]
    command = [sys.executable, "-m", "core", *words, "-o", str(output)]
    cluster.sweep = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return cluster.sweep


def count_lines(output):
    path = output / "runs.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def rows_of(output):
    rows = read_sweep(output).rows
    return [{name: row[name] for name in row if name not in MEASURED_COLUMNS} for row in rows]


@pytest.mark.parametrize("cluster", [3, 0], indirect=True, ids=["given again", "given up"])
def test_a_killed_worker_and_a_late_one_leave_every_row_once_and_equal_to_serial_ones(
    cluster, folder, tmp_path
):
    workers = [cluster.start_worker(f"worker {k}") for k in range(4)]
    cluster.wait_for_workers(4)
    output = tmp_path / "on dask"
    sweep = start_sweep(cluster, folder, output)
    wait_for(lambda: count_lines(output) >= 4, sweep)
    os.killpg(workers[0].pid, signal.SIGKILL)  # its nanny, the worker, and the process that computes
    wait_for(lambda: count_lines(output) >= 8, sweep)
    cluster.start_worker("late")
    text, errors = sweep.communicate(timeout=DEADLINE)
    assert sweep.returncode == 0, errors
    assert f"{COUNT} runs of 2 sequences; about " in text and "with 4 workers that have 4 threads" in text
    keys = [json.loads(line)["key"] for line in (output / "runs.jsonl").read_text().splitlines()]
    assert len(keys) == len(set(keys)) == COUNT
    serial = tmp_path / "serial"
    assert main(["sweep", str(folder), *RUNS, "--jobs", "1", "-o", str(serial)]) == 0
    assert rows_of(output) == rows_of(serial)
    assert all((output / row["result"]).is_file() for row in read_sweep(output).rows)


def test_a_scheduler_that_ends_is_one_sentence_and_the_same_call_goes_on(cluster, folder, tmp_path):
    cluster.start_worker("only", threads=2)
    cluster.wait_for_workers(1)
    output = tmp_path / "out"
    sweep = start_sweep(cluster, folder, output)
    wait_for(lambda: count_lines(output) >= 3, sweep)
    cluster.close()
    _, errors = sweep.communicate(timeout=DEADLINE)
    assert sweep.returncode == 2
    sentence = errors.splitlines()[-1]
    assert sentence.startswith(f"nrsfm sweep: the scheduler {cluster.file} has ended; ")
    assert sentence.endswith("and the same command continues from there") and "Traceback" not in errors
    assert main(["sweep", str(folder), *RUNS, "--jobs", "2", "-o", str(output)]) == 0
    assert len(read_sweep(output).rows) == COUNT == count_lines(output)


def test_an_address_without_a_scheduler_is_one_sentence(folder, tmp_path, capsys):
    words = ["sweep", str(folder), *RUNS, "--backend", "dask", "--scheduler", "127.0.0.1:9"]
    assert main([*words, "-o", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("nrsfm sweep: --scheduler 127.0.0.1:9: no scheduler of Dask answers there")
