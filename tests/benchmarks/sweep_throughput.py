"""How sweeps grow: runs per hour with 1 and 2 processes and with workers of Dask, and rows in the store.

    python tests/benchmarks/sweep_throughput.py                    a table of all of it, in some minutes
    python tests/benchmarks/sweep_throughput.py --rows 1000000     the store alone

The runs are small ones of a simulated object, so that what a sweep adds to them is seen. On a machine that
has other work, the CPU milliseconds are what compares.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
from machine import Meanwhile

from core import Settings, write_challenge
from core.experiments import JobStore, read_sweep, run_jobs
from core.experiments.cluster import IN_FLIGHT, connect_to_dask
from core.experiments.sweep import find_sequences, plan_sweep

WORKERS = (1, 2)


@contextmanager
def dask_workers(folder, count):
    """A scheduler and workers as processes of this machine; yields the scheduler's file and process."""
    file = folder / "scheduler.json"
    commands = [["scheduler", "--port", "0", "--scheduler-file", str(file), "--no-dashboard"]]
    worker = ["worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-dashboard"]
    commands += count * [[*worker, "--local-directory", str(folder)]]
    processes = []
    try:
        for command in commands:
            words = [sys.executable, "-m", f"distributed.cli.dask_{command[0]}", *command[1:]]
            processes.append(
                subprocess.Popen(
                    words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
                )
            )
            while not file.is_file():
                time.sleep(0.05)
        yield file, psutil.Process(processes[0].pid)
    finally:
        for process in reversed(processes):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def measure_runs(data, seeds, folder, *, workers, dask):
    """Run a sweep, and return a line of the table."""
    with ExitStack() as at_end:
        cluster = scheduler = None
        if dask:
            file, scheduler = at_end.enter_context(dask_workers(at_end.enter_context(temporary()), workers))
            cluster = at_end.enter_context(connect_to_dask(str(file)))
            cluster.client.wait_for_workers(workers, timeout=120)
        settings = [
            Settings(rank=2, rotations="truth", refine="none", starts=1, seed=seed) for seed in range(seeds)
        ]
        plan = plan_sweep(find_sequences([str(data)], cameras=["perspective"]), settings, folder)
        (folder / "results").mkdir(parents=True)
        store = at_end.enter_context(JobStore(folder))
        began, first = time.perf_counter(), []

        def note(now):
            if now.done and not first:
                first.append((time.perf_counter(), time.process_time(), cpu_seconds(scheduler)))

        processes = None if dask else workers
        run_jobs(plan.jobs, store, processes=processes, ahead=IN_FLIGHT if dask else "n_jobs", progress=note)
        wall, spent = time.perf_counter() - first[0][0], time.process_time() - first[0][1]
        scheduled = cpu_seconds(scheduler) - first[0][2]
    rows = read_sweep(folder).rows
    count = len(rows) - 1
    solving = sum(row["seconds"] for row in rows) / len(rows)
    name = f"{workers} {'Dask worker' if dask else 'process'}{'s' if workers > 1 and dask else ''}"
    name += "es" if workers > 1 and not dask else ""
    return [
        name,
        f"{len(rows)}",
        f"{3600 * count / wall:.0f}",
        f"{1e3 * solving:.0f}",
        f"{1e3 * (workers * wall / count - solving):.0f}",
        f"{1e3 * spent / count:.1f}",
        f"{1e3 * scheduled / count:.1f}",
        f"{first[0][0] - began:.1f}",
    ]


def cpu_seconds(process):
    """CPU seconds of a process so far; 0 where there is none."""
    return 0.0 if process is None else sum(process.cpu_times()[:2])


@contextmanager
def temporary():
    with tempfile.TemporaryDirectory(prefix="nrsfm-sweep-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def measure_store(folder, line, count):
    """Append lines of the length of real ones, read them again, and return a line of the table."""
    row = json.loads(line)
    with JobStore(folder) as store:
        began, cpu = time.perf_counter(), time.process_time()
        for k in range(count):
            store.append(row | {"key": f"{k:032x}"})
        wall, spent = time.perf_counter() - began, time.process_time() - cpu
    size = store.path.stat().st_size
    began, cpu = time.perf_counter(), time.process_time()
    with JobStore(folder) as store:
        assert f"{count - 1:032x}" in store
    opened = time.process_time() - cpu
    return [
        f"{count}",
        f"{count / wall:.0f}",
        f"{1e6 * spent / count:.0f}",
        f"{size / 1e6:.1f}",
        f"{size / count:.0f}",
        f"{opened:.2f}",
    ]


def show(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "---:|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, help="the largest store, and no runs")
    parser.add_argument(
        "--seeds", type=int, default=60, help="runs of each of two sequences (default %(default)s)"
    )
    args = parser.parse_args()
    meanwhile = Meanwhile()
    with temporary() as folder:
        data = write_challenge(
            folder / "data", "paper", paths=("circle", "line"), frames=20, points=40, seed=1
        )
        modes = [(1, False)] if args.rows else [(n, dask) for dask in (False, True) for n in WORKERS]
        seeds = 2 if args.rows else args.seeds
        lines = []
        for workers, dask in modes:
            output = folder / f"{workers}-{dask}"
            lines.append(measure_runs(data, seeds, output, workers=workers, dask=dask))
        if not args.rows:
            show(
                (
                    "workers",
                    "runs",
                    "runs per hour",
                    "ms of a run",
                    "ms around it",
                    "CPU ms of the command per run",
                    "CPU ms of the scheduler per run",
                    "s to the first",
                ),
                lines,
            )
        line = (folder / "1-False" / "runs.jsonl").read_bytes().splitlines()[0]
        largest = args.rows or 100_000
        counts = [count for count in (1000, 10_000, 100_000, 1_000_000) if count < largest] + [largest]
        rows = []
        for count in counts:
            rows.append(measure_store(folder / f"store{count}", line, count))
            for file in (folder / f"store{count}").iterdir():
                file.unlink()
        header = ("rows", "rows per second", "CPU us per row", "MB", "bytes per row", "CPU s to open again")
        show(header, rows)
    print(meanwhile)


if __name__ == "__main__":
    main()
