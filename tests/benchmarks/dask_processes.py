"""A scheduler of Dask and its workers, each a process of this machine in a group of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import distributed
import psutil

DEADLINE = 300.0  # seconds


class DaskProcesses:
    """A scheduler, and workers that can be started and killed; a context manager, after which none is left.

    `folder`: of the scheduler's file, of what they print, and of what workers put aside.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.ended_cpu = 0.0  # CPU seconds of the workers that were killed
        self._processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(self.file))
        wait_for(self.file.is_file, self.scheduler)
        self.client = distributed.Client(scheduler_file=str(self.file), set_as_default=False)

    def __enter__(self) -> DaskProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        for process in reversed(self._processes):
            self.kill(process)

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:], "--no-dashboard"]
        with (self.folder / f"log{len(self._processes)}").open("w") as log:
            own = {"stdout": log, "stderr": log, "cwd": self.folder, "start_new_session": True}
            self._processes.append(subprocess.Popen(command, **own))
        return self._processes[-1]

    def start_worker(self, *, threads: int = 1) -> subprocess.Popen[bytes]:
        """Start a worker, which nothing starts again."""
        words = ["--scheduler-file", str(self.file), "--nthreads", str(threads), "--no-nanny"]
        return self._start("worker", *words, "--local-directory", str(self.folder))

    def wait_for_workers(self, count: int) -> None:
        """Wait until so many workers are there, and those that were killed are gone."""
        wait_for(lambda: len(self.client.scheduler_info(n_workers=-1)["workers"]) == count)

    def executed(self) -> dict[int, int]:
        """Return how many jobs each worker that is connected has ended, by its process."""
        found = self.client.run(lambda dask_worker: (os.getpid(), dask_worker.state.executed_count))
        return dict(found.values())

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """End the scheduler or a worker at once, with the processes that it started."""
        if process.poll() is None:
            self.ended_cpu += cpu_seconds(process.pid)
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def cpu_seconds(self) -> float:
        """Return the CPU seconds of all of them, also of those that were killed."""
        return self.ended_cpu + sum(cpu_seconds(each.pid) for each in self._processes if each.poll() is None)


def wait_for(condition: Callable[[], object], process: subprocess.Popen[Any] | None = None) -> None:
    """Wait until a condition holds; a process that ends before is an error."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline
        assert process is None or process.poll() is None
        time.sleep(0.02)


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process and of all that it started so far."""
    process = psutil.Process(pid)
    total = 0.0
    for each in (process, *process.children(recursive=True)):
        try:
            total += sum(each.cpu_times()[:4])  # its own, and those of its children that have ended
        except psutil.NoSuchProcess:
            continue
    return total
