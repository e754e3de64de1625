"""A sweep on Dask: a real scheduler and worker processes, of which some are killed and some join late."""

import json
import os
import signal
import subprocess
import sys

import pytest
from dask_processes import DEADLINE, DaskProcesses, wait_for

from core.cli import main
from core.experiments.sweep.frame import records_of
from core.experiments.sweep.rows import MEASURED_COLUMNS, read_sweep

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "killpg"), reason="Windows has no groups of processes"),
]
RUNS = ["--camera", "perspective", "--set", "rank=1,2,3", "eta=0.05,0.1", "--seeds", "0:2"]
RUNS += ["--rotations", "truth", "--objective", "wnn", "--starts", "2"]
COUNT = 2 * 3 * 2 * 2  # paths, ranks, etas, seeds
WORKERS = 3


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """One scheduler for all tests but the one that ends it, because it takes seconds to start."""
    with DaskProcesses(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def cluster(scheduler):
    """The cluster with workers for one test."""
    scheduler.workers = [scheduler.start_worker() for _ in range(WORKERS)]
    yield scheduler
    for worker in scheduler.workers:
        scheduler.kill(worker)


@pytest.fixture(scope="module")
def serial(folder, tmp_path_factory):
    """The rows of the sweep by one process."""
    output = tmp_path_factory.mktemp("serial")
    assert main(["sweep", str(folder), *RUNS, "--jobs", "1", "-o", str(output)]) == 0
    return rows_of(output)


@pytest.fixture
def start_sweep(cluster, folder):
    """Return a function that starts the command on the cluster when all workers are there."""
    started = []

    def start(output):
        cluster.wait_for_workers(WORKERS)
        words = ["sweep", str(folder), *RUNS, "--backend", "dask", "--scheduler", str(cluster.file)]
        command = [sys.executable, "-m", "core", *words, "-o", str(output)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:  # the test has failed
            process.kill()
            process.communicate()


def count_lines(output):
    path = output / "runs.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def rows_of(output):
    rows = records_of(read_sweep(output).runs)
    return [{name: row[name] for name in row if name not in MEASURED_COLUMNS} for row in rows]


@pytest.mark.parametrize("failures", [3, 0], ids=["given again", "given up"])
def test_a_killed_worker_and_a_late_one_leave_every_row_once_and_equal_to_serial_ones(
    failures, cluster, start_sweep, serial, tmp_path
):
    def allow(dask_scheduler):
        dask_scheduler.allowed_failures = failures  # workers that may die during a job until it is given up

    cluster.client.run_on_scheduler(allow)
    output = tmp_path / "on dask"
    sweep = start_sweep(output)
    wait_for(lambda: count_lines(output) >= 4, sweep)
    cluster.kill(cluster.workers.pop(0))  # and the process in which it computes
    wait_for(lambda: count_lines(output) >= 8, sweep)
    cluster.workers.append(cluster.start_worker())
    text, errors = sweep.communicate(timeout=DEADLINE)
    assert sweep.returncode == 0, errors
    assert f"{COUNT} runs of 2 sequences; about " in text and "with 3 workers that run 3 at a time" in text
    keys = [json.loads(line)["key"] for line in (output / "runs.jsonl").read_text().splitlines()]
    assert len(keys) == len(set(keys)) == COUNT
    assert rows_of(output) == serial
    assert all((output / row["result"]).is_file() for row in records_of(read_sweep(output).runs))


def test_a_signal_ends_the_command_with_its_code_and_the_same_call_goes_on(start_sweep, serial, tmp_path):
    kept = 0
    for kind, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
        sweep = start_sweep(tmp_path)
        wait_for(lambda known=kept: count_lines(tmp_path) > known, sweep)
        sweep.send_signal(kind)
        _, errors = sweep.communicate(timeout=DEADLINE)
        kept = count_lines(tmp_path)
        assert sweep.returncode == code and 0 < kept < COUNT
        assert errors == (
            f"nrsfm sweep: stopped; {kept} of {COUNT} runs are kept in {tmp_path}, "
            "and the same command continues from there\n"
        )
    text, errors = start_sweep(tmp_path).communicate(timeout=DEADLINE)
    assert f"{kept} have ended, {COUNT - kept} are left" in text and not errors
    assert count_lines(tmp_path) == COUNT and rows_of(tmp_path) == serial


@pytest.mark.parametrize("scheduler", ["of its own"], indirect=True)
def test_a_scheduler_that_ends_is_one_sentence_and_the_call_goes_on(cluster, start_sweep, folder, tmp_path):
    sweep = start_sweep(tmp_path)
    wait_for(lambda: count_lines(tmp_path) >= 3, sweep)
    cluster.kill(cluster.scheduler)
    _, errors = sweep.communicate(timeout=DEADLINE)
    assert sweep.returncode == 2
    (sentence,) = errors.splitlines()
    assert sentence.startswith(f"nrsfm sweep: the scheduler {cluster.file} has ended; ")
    assert sentence.endswith("and the same command continues from there")
    assert main(["sweep", str(folder), *RUNS, "--jobs", "2", "-o", str(tmp_path)]) == 0
    assert len(records_of(read_sweep(tmp_path).runs)) == COUNT == count_lines(tmp_path)


@pytest.mark.parametrize("address", ["127.0.0.1:9", "absent.json"])
def test_an_address_without_a_scheduler_is_one_sentence(folder, tmp_path, capsys, monkeypatch, address):
    monkeypatch.setattr("core.experiments.jobs.CONNECT_SECONDS", 1.0)
    words = ["sweep", str(folder), *RUNS, "--backend", "dask", "--scheduler", address]
    assert main([*words, "-o", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"nrsfm sweep: --scheduler {address}: no scheduler of Dask answers there")
