"""Sweeps on one machine and on Dask: whether they give the same rows, and how many runs an hour they do.

    python tests/benchmarks/sweep_acceptance.py                        one sweep in five ways, in some minutes
    python tests/benchmarks/sweep_acceptance.py --throughput           runs per hour, and rows in the store
    python tests/benchmarks/sweep_acceptance.py --rows 1000000         the store alone

The sweep is of 5 objects with 2 penalties, 3 ranks and 3 seeds: 90 runs. It is computed by one process, by
two, on Dask, where one of four workers is killed and one joins late, and by one and by two processes that are
interrupted ten times at random moments by SIGKILL, SIGTERM and SIGINT. The rows have to be equal bit for bit
but for seconds and memory; else the columns that differ and the largest relative difference are printed.

Throughput is measured with small runs of a simulated object, so that what a sweep adds to them is seen. On a
machine that has other work, the CPU milliseconds are what compares.
"""

import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

from dask_processes import DaskProcesses, cpu_seconds, wait_for
from frame import FOLDERS, Meanwhile, Table, parser

from core import Settings, write_challenge
from core.experiments.job_store import JobStore
from core.experiments.jobs import IN_FLIGHT, connect_to_dask, run_jobs
from core.experiments.sweep.frame import records_of
from core.experiments.sweep.rows import MEASURED_COLUMNS, read_sweep
from core.experiments.sweep.runs import find_sequences, plan_sweep

WORKERS = (1, 2)
OBJECTS = "back,drink,mat,stretch,face"  # the last one of challenge_like, the others of challenge_more
SWEEP = ["--object", OBJECTS, "--camera", "perspective", "--path", "circle"]
SWEEP += ["--set", "penalty=wnn,nn", "rank=2,3,4", "--seeds", "0:3"]
SWEEP += ["--rotations", "truth", "--objective", "wnn", "--starts", "3", "--max-iterations", "200"]
COUNT = 5 * 2 * 3 * 3
INTERRUPTIONS = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}  # with the exit code
WITHIN_A_RUN, WITHIN_THE_START = 0.3, 1.5  # seconds, at most, that a command goes on until it is interrupted


class SweepCommand:
    """A sweep that runs in a process of its own."""

    def __init__(self, data, folder, *words):
        command = [sys.executable, "-m", "core", "sweep", *map(str, data), *SWEEP, *words, "-o", str(folder)]
        self._runs = folder / "runs.jsonl"
        self._output, self._errors = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        self._pid = subprocess.Popen(command, stdout=self._output, stderr=self._errors).pid
        self._spent = 0.0  # CPU seconds until it was killed

    def wait_for_rows(self, count):
        wait_for(lambda: self._has_ended() or len(self.keys()) >= count)

    def _has_ended(self):
        return os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def keys(self):
        """The keys of all complete lines."""
        lines = self._runs.read_bytes().splitlines(keepends=True) if self._runs.exists() else []
        return [json.loads(line)["key"] for line in lines if line.endswith(b"\n")]

    def stop(self, kind):
        """Send a signal."""
        self._spent = cpu_seconds(self._pid)
        os.kill(self._pid, kind)

    def end(self):
        """Wait for its end; return its exit code, its CPU seconds, and how long it expected to run."""
        _, status, usage = os.wait4(self._pid, 0)
        self._output.seek(0)
        self._errors.seek(0)
        found, errors = re.search(r"; about (.*) with", self._output.read()), self._errors.read()
        code = os.waitstatus_to_exitcode(status)
        assert "Traceback" not in errors and (code or not errors), errors
        spent = max(usage.ru_utime + usage.ru_stime, self._spent)
        return code, spent, "" if found is None else found[1]


def uninterrupted(data, folder, jobs):
    """Run a sweep; return its CPU seconds and a note."""
    code, spent, estimate = SweepCommand(data, folder, "--jobs", str(jobs)).end()
    assert code == 0
    return spent, f"expected to take {estimate}"


def on_dask(data, folder):
    """Run a sweep by four workers, of which one is killed after a third of the runs and another one comes."""
    with temporary() as place, DaskProcesses(place) as cluster:
        workers = [cluster.start_worker() for _ in range(4)]
        cluster.wait_for_workers(4)
        command = SweepCommand(data, folder, "--backend", "dask", "--scheduler", str(cluster.file))
        command.wait_for_rows(COUNT // 3)
        killed = len(command.keys())
        cluster.kill(workers[0])
        late = cluster.start_worker()
        code, spent, estimate = command.end()
        assert code == 0
        spent += cluster.cpu_seconds()
        executed = cluster.executed()
        assert executed[late.pid] > 0, f"the worker that joined late computed no run: {executed}"
    note = f"a worker killed at {killed} rows, another one computed {executed[late.pid]}"
    return spent, f"{note}; expected to take {estimate}"


def interrupted(data, folder, jobs, times, seed):
    """Interrupt a sweep at random moments, and start it again each time."""
    rng = random.Random(seed)
    known, moments, total = [], [], 0.0
    for k in range(times):
        kind = list(INTERRUPTIONS)[k % len(INTERRUPTIONS)]
        command = SweepCommand(data, folder, "--jobs", str(jobs))
        more = int(rng.uniform(0, 1.2) * (COUNT - len(known)) / (times + 1 - k))
        command.wait_for_rows(len(known) + more)
        time.sleep(rng.uniform(0, WITHIN_A_RUN if more else WITHIN_THE_START))
        command.stop(kind)
        code, spent, _ = command.end()
        assert code == INTERRUPTIONS[kind], (kind, code)
        now = command.keys()
        assert now[: len(known)] == known, "rows were lost"
        known, total = now, total + spent
        moments.append(f"{len(now)}")
    spent, _ = uninterrupted(data, folder, jobs)
    return total + spent, f"at {', '.join(moments)} rows"


def compare(folder, reference):
    """Return how the rows of a sweep differ from those of another one."""
    keys = [json.loads(line)["key"] for line in (folder / "runs.jsonl").read_bytes().splitlines()]
    assert len(keys) == len(set(keys)) == COUNT, f"{len(keys)} rows of {len(set(keys))} runs"
    equal, columns, largest = 0, set(), 0.0
    rows, others = (records_of(read_sweep(each).runs) for each in (folder, reference))
    for row, other in zip(rows, others, strict=True):
        differing = [name for name in row if name not in MEASURED_COLUMNS and row[name] != other[name]]
        equal += not differing
        columns.update(differing)
        for name in differing:
            one, two = row[name], other[name]
            numbers = isinstance(one, float) and isinstance(two, float)
            largest = max(largest, abs(one - two) / abs(two) if numbers and two else float("inf"))
    if columns:
        return f"{equal} of {COUNT}; {', '.join(sorted(columns))} differ by up to {largest:.1e}"
    return f"{equal} of {COUNT}"


def accept(data, folder, times, seed):
    """Print a table of all ways to compute the sweep."""
    ways = {
        "1 process": lambda place: uninterrupted(data, place, 1),
        "2 processes": lambda place: uninterrupted(data, place, 2),
        "Dask, 4 workers": lambda place: on_dask(data, place),
        f"1 process, {times} interruptions": lambda place: interrupted(data, place, 1, times, seed),
        f"2 processes, {times} interruptions": lambda place: interrupted(data, place, 2, times, seed + 1),
    }
    table, first = Table("", "runs", "wall s :.0f", "CPU s :.0f", "rows equal", ""), folder / next(iter(ways))
    for name, way in ways.items():
        began = time.perf_counter()
        spent, note = way(folder / name)
        wall = time.perf_counter() - began
        table.row(name, COUNT, wall, spent, compare(folder / name, first), note)
    print()


def measure_runs(data, seeds, folder, *, workers, dask):
    """Run a sweep, and return a line of the table."""
    with ExitStack() as at_end:
        scheduler = cluster = None
        if dask:
            processes = at_end.enter_context(DaskProcesses(at_end.enter_context(temporary())))
            for _ in range(workers):
                processes.start_worker()
            processes.wait_for_workers(workers)
            scheduler = processes.scheduler.pid
            cluster = at_end.enter_context(connect_to_dask(str(processes.file)))
        quick = Settings(rank=2, rotations="truth", objective="wnn", starts=1)
        settings = [quick.with_changes(seed=seed) for seed in range(seeds)]
        plan = plan_sweep(find_sequences([str(data)], cameras=["perspective"]), settings, folder)
        (folder / "results").mkdir(parents=True)
        store = at_end.enter_context(JobStore(folder))
        began, first = time.perf_counter(), []

        def scheduler_cpu():
            return 0.0 if scheduler is None else cpu_seconds(scheduler)

        def note(now):
            if now.done and not first:
                first.append((time.perf_counter(), time.process_time(), scheduler_cpu()))

        how = {"ahead": IN_FLIGHT, "cluster": cluster} if dask else {"processes": workers}
        run_jobs(plan.jobs, store, **how, progress=note)
        wall, spent = time.perf_counter() - first[0][0], time.process_time() - first[0][1]
        scheduled = scheduler_cpu() - first[0][2]
    rows = records_of(read_sweep(folder).runs)
    count = len(rows) - 1
    solving = sum(row["seconds"] for row in rows) / len(rows)
    name = f"{workers} {'Dask worker' if dask else 'process'}{'s' if workers > 1 and dask else ''}"
    name += "es" if workers > 1 and not dask else ""
    around = workers * wall / count - solving
    milliseconds = (1e3 * each for each in (solving, around, spent / count, scheduled / count))
    return name, len(rows), 3600 * count / wall, *milliseconds, first[0][0] - began


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
    return count, count / wall, 1e6 * spent / count, size / 1e6, size / count, opened


def measure_throughput(folder, seeds, largest):
    """Print the runs per hour of every kind of workers, and how fast the store is at several sizes.

    Without seeds only the store is measured.
    """
    data = write_challenge(folder / "data", "paper", paths=("circle", "line"), frames=20, points=40, seed=1)
    if seeds:
        of_command = "CPU ms of the command per run :.1f", "CPU ms of the scheduler per run :.1f"
        of_run = "runs per hour :.0f", "ms of a run :.0f", "ms around it :.0f"
        table = Table("workers", "runs", *of_run, *of_command, "s to the first :.1f")
        for dask, workers in itertools.product((False, True), WORKERS):
            place = folder / f"{workers}-{dask}"
            table.row(*measure_runs(data, seeds, place, workers=workers, dask=dask))
        print()
    else:
        measure_runs(data, 2, folder / "1-False", workers=1, dask=False)
    line = (folder / "1-False" / "runs.jsonl").read_bytes().splitlines()[0]
    of_row = "rows per second :.0f", "CPU us per row :.0f", "MB :.1f", "bytes per row :.0f"
    table = Table("rows", *of_row, "CPU s to open again :.2f")
    for count in [each for each in (1000, 10_000, 100_000, 1_000_000) if each < largest] + [largest]:
        table.row(*measure_store(folder / f"store{count}", line, count))
        shutil.rmtree(folder / f"store{count}")
    print()


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--throughput", action="store_true", help="measure runs per hour and the store")
    arguments.add_argument("--rows", type=int, help="measure the store alone, up to so many rows")
    arguments.add_argument("--seeds", type=int, default=60, help="runs of both sequences of --throughput")
    arguments.add_argument("--interruptions", type=int, default=10, help="of each sweep that is interrupted")
    arguments.add_argument("--seed", type=int, default=0, help="of the moments of the interruptions")
    args = arguments.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what it starts with & ignore it
    meanwhile = Meanwhile()
    with temporary() as folder:
        if args.throughput or args.rows:
            measure_throughput(folder, args.seeds if args.throughput else 0, args.rows or 100_000)
        else:
            accept(FOLDERS[::-1], folder, args.interruptions, args.seed)
    print(meanwhile)


if __name__ == "__main__":
    main()
