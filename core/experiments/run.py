"""Jobs over processes: joblib, so that a cluster takes them unchanged.

    with joblib.parallel_config("dask"):
        perform(jobs, store)

Every job uses one thread of BLAS. What is finished is kept at once, by the process that called: nothing but
what the job found has to travel.
"""

from __future__ import annotations

import signal
import time
import warnings
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING

import numpy as np

from ..foundation.exceptions import InputError
from ..solvers.solver import single_threaded
from .job import JobResult

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from .job import ExperimentJob
    from .store import Store


@dataclass(frozen=True)
class ExperimentProgress:
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
    jobs: Collection[ExperimentJob],
    store: Store,
    *,
    processes: int | None = None,
    progress: Callable[[ExperimentProgress], None] | None = None,
) -> dict[str, JobResult]:
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
            progress(
                ExperimentProgress(len(found), total, kept, done / work, time.monotonic() - began, label)
            )

    tell("")
    with warnings.catch_warnings(), ExitStack() as at_end:
        warnings.filterwarnings("ignore", module="joblib")  # of results that nobody waits for after Ctrl-C
        with _deaf_workers():
            parallel = joblib.Parallel(n_jobs=processes, return_as="generator_unordered")
            calls = (joblib.delayed(_perform)(job) for job in ordered)
            outcomes = at_end.enter_context(closing(parallel(calls)))
        for key, finished in outcomes:
            if not finished.problem:
                store.save(key, finished)
            found[key] = finished
            done += waiting[key].cost
            tell(waiting[key].label)
    return found


@contextmanager
def _deaf_workers() -> Iterator[None]:
    """Let processes that begin in the block, and those that replace them later, never see Ctrl-C.

    At a terminal it reaches every process of the command, from their first instruction on. It is for the
    caller, which ends its workers, and to which it comes when the block is left at the latest.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # if a pool has to start it, Python 3.11 forgets what is blocked
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _perform(job: ExperimentJob) -> tuple[str, JobResult]:
    """Run a job in a worker; what keeps it from its end is a sentence, so that the other jobs go on."""
    with single_threaded():
        try:
            return job.key, job.run()
        except (InputError, np.linalg.LinAlgError, MemoryError) as error:
            return job.key, JobResult({}, problem=str(error) or type(error).__name__)
