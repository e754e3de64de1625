"""Jobs over processes: joblib, so that a cluster takes them unchanged.

    with joblib.parallel_config("dask"):
        perform(jobs, store)

Every job uses one thread of BLAS. What is finished is kept at once, by the process that called: nothing but
what the job found has to travel.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import InputError
from ..solver import single_threaded
from .job import Finished

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Sequence as Items

    from .job import Job
    from .store import Store


@dataclass(frozen=True)
class Standing:
    """How far the jobs of a run are."""

    done: int
    total: int
    kept: int  # of `done`, those that an earlier run had finished
    fraction: float  # of the expected work of this run
    elapsed: float  # seconds since it began
    label: str  # of the job that was finished last

    @property
    def seconds_left(self) -> float | None:
        """About how long the rest takes; None before anything is known."""
        return self.elapsed * (1 - self.fraction) / self.fraction if self.fraction > 0 else None


def perform(
    jobs: Items[Job],
    store: Store,
    *,
    processes: int | None = None,
    progress: Callable[[Standing], None] | None = None,
) -> dict[str, Finished]:
    """Return what every job found, by its key: from the store where it is there.

    Parameters
    ----------
    jobs
        what to do; the longest begin first.
    store
        where finished jobs are kept. Those that have not come to an end are not.
    processes
        how many at a time; None leaves number and kind of workers to joblib's context, one by default.
    progress
        called with where the run stands, first before anything is done.

    Raises
    ------
    InputError
        where the store cannot be written.
    KeyboardInterrupt
        after Ctrl-C; what was finished before is kept.
    """
    import joblib  # an optional dependency: `core.experiments.needed` says how to install it

    found = {job.key: before for job in jobs if (before := store.load(job.key)) is not None}
    waiting = {job.key: job for job in jobs if job.key not in found}
    ordered = sorted(waiting.values(), key=lambda job: job.cost, reverse=True)
    total, kept = len(waiting) + len(found), len(found)
    work, done, began = sum(job.cost for job in ordered) or 1.0, 0.0, time.monotonic()

    def tell(label: str) -> None:
        if progress is not None:
            progress(Standing(len(found), total, kept, done / work, time.monotonic() - began, label))

    tell("")
    parallel = joblib.Parallel(n_jobs=processes, return_as="generator_unordered")
    for key, finished in parallel(joblib.delayed(_perform)(job, os.getpid()) for job in ordered):
        if not finished.problem:
            store.save(key, finished)
        found[key] = finished
        done += waiting[key].cost
        tell(waiting[key].label)
    return found


def _perform(job: Job, caller: int) -> tuple[str, Finished]:
    """Run a job in a worker; what keeps it from its end is a sentence, so that the other jobs go on.

    Ctrl-C at a terminal reaches every process; it is for the caller, which ends its workers.
    """
    if os.getpid() != caller and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with single_threaded():
        try:
            return job.key, job.run()
        except (InputError, np.linalg.LinAlgError, MemoryError) as error:
            return job.key, Finished({}, problem=str(error) or type(error).__name__)
