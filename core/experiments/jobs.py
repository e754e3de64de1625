"""The jobs of an experiment, each computed in another process and kept when it has ended.

What waits for a job is a thread here or a worker of a cluster; it is computed in a process of its own, which
is ended where it takes too long, and whose death ends nothing else. Every job uses one thread of BLAS. The
calling process writes what has ended into the store at once; only the results travel between processes.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy.typing as npt

from ..foundation import PROGRAM, VERSION, InputError, needs
from ..foundation.memory import PeakMemory, peak_megabytes
from ..foundation.processes import ProcessDied, ProcessPool, signals_blocked
from ..solvers.solver import single_threaded
from .job_store import DIED, FAILED, TIME_LIMIT, JobStore

DONE = "done"  # how a job with a result ended, unless it has a better word for it
RECENT = 32  # jobs that ended last, from whose pace the time left is estimated
ATTEMPTS = 3  # to compute a job that workers give up
CONNECT_SECONDS = 15.0  # that a scheduler may take to answer
WORKER_SECONDS = 60.0  # that the first worker may take to come
IN_FLIGHT = 2000  # jobs given to the scheduler at least, so that workers that join later have some at once


@dataclass(frozen=True, eq=False)
class JobResult:
    """What a job computed: facts for JSON, and arrays by name. `failure` is why there is nothing."""

    facts: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    failure: str = ""
    status: str = DONE  # how it ended, unless the facts have it
    seconds: float = 0.0  # from its start to its end
    memory_mb: float | None = None  # the highest resident memory of its process meanwhile


class ResultNotWritten(InputError):
    """The result of a job cannot be written where it is kept: it ends all jobs, and fails none."""


@dataclass(frozen=True, eq=False)
class ExperimentJob(ABC):
    """One piece of an experiment, computed in a process of its own; it must be picklable."""

    key: str  # a name that changes with the data, the settings and the version of the program
    label: str  # what it computes, for the line of progress
    cost: float  # about how long it runs, relative to other jobs

    @property
    def identity(self) -> dict[str, Any]:
        """Facts that are known before it runs, and kept even where it has no result."""
        return {"label": self.label}

    @abstractmethod
    def run(self) -> JobResult:
        """Compute it; raises ResultNotWritten where arrays that it writes itself cannot be written."""


def job_key(kind: str, digest: str, settings: dict[str, Any]) -> str:
    """Return the name under which the result of a job is stored."""
    text = json.dumps([VERSION, kind, digest, settings], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def load_job_results(store: JobStore, jobs: Iterable[ExperimentJob]) -> dict[str, JobResult]:
    """Return the results of jobs that have ended, by their keys, but those whose arrays are damaged."""
    found = {}
    for job in jobs:
        row = store.load_row(job.key)
        if row is None:
            continue
        arrays = store.load_arrays(job.key) if row.pop("arrays", False) else {}
        if arrays is None:
            continue
        status, failure = row["status"], row["error"]
        seconds, memory = row["seconds"], row["memory_mb"]
        own = {"key", "error", "seconds", "memory_mb"} | ({"status"} if status == DONE or failure else set())
        facts = {name: value for name, value in row.items() if name not in own}
        found[job.key] = JobResult(facts, arrays, failure, status, seconds, memory)
    return found


def save_job_result(store: JobStore, key: str, result: JobResult) -> None:
    """Write the result of a job."""
    if result.arrays:
        store.save_arrays(key, result.arrays)
    row = {"key": key, "status": result.status, "error": result.failure, **result.facts}
    held = {"arrays": True} if result.arrays else {}
    store.append(row | {"seconds": result.seconds, "memory_mb": result.memory_mb} | held)


@dataclass(frozen=True)
class JobsProgress:
    """How many jobs of an experiment have ended."""

    done: int
    total: int
    fraction: float  # of the expected work of this run
    label: str  # of the job that ended last
    failed: int = 0  # of this run
    seconds_left: float | None = None  # about; None before the first has ended


class JobQueue:
    """Jobs in the order of their costs, so that none that is long starts last; subclasses have others."""

    def __init__(self, jobs: Iterable[ExperimentJob]) -> None:
        self._jobs = deque(sorted(jobs, key=lambda job: job.cost, reverse=True))

    def pop(self) -> ExperimentJob | None:
        """Return the next job, None where no other is left."""
        return self._jobs.popleft() if self._jobs else None

    def learn(self, job: ExperimentJob, result: JobResult) -> None:
        """Note the result of a job; the order of costs does not depend on it."""


def run_jobs(
    jobs: Iterable[ExperimentJob],
    store: JobStore,
    *,
    processes: int = 1,
    cluster: Cluster | None = None,
    timeout: float | None = None,
    retry: bool = True,
    queue: Callable[[list[ExperimentJob]], JobQueue] = JobQueue,
    ahead: int = 0,
    progress: Callable[[JobsProgress], None] | None = None,
) -> None:
    """Compute every job whose result is not in the store, and put it there; `load_job_results` reads it.

    `processes`: how many at a time, where no `cluster` computes them; `timeout`: seconds after which a job is
    ended; `ahead`: how many are given to the workers at least, before any of these has ended. Raises
    InputError where a result cannot be written, or workers give up a job several times; then, and after
    Ctrl-C, what had ended before is in the store.
    """
    every = {job.key: job for job in jobs}
    waiting = {key: job for key, job in every.items() if not store.is_done(key, retry=retry)}
    total, failed = len(every), 0
    pace = _Pace(waiting.values())

    def report(label: str) -> None:
        if progress is not None:
            counts = total - len(waiting), total
            progress(JobsProgress(*counts, pace.fraction, label, failed, pace.seconds_left()))

    report("")
    left, given_up = queue(list(waiting.values())), Counter[str]()
    running: dict[Future[JobResult], ExperimentJob] = {}
    most = max(ahead, processes if cluster is None else cluster.threads)
    with _workers(processes, cluster, timeout) as submit:
        while waiting:
            while len(running) < most and (further := left.pop()) is not None:
                running[submit(further)] = further
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job = running.pop(future)
                try:
                    result = future.result()
                except InputError:
                    raise
                except Exception as error:  # of the cluster: an error of a job is a result
                    given_up[job.key] += 1
                    if given_up[job.key] == ATTEMPTS or (cluster is not None and not cluster.connected):
                        raise InputError(
                            f"the workers gave up {job.label}: {type(error).__name__} "
                            f"{' '.join(str(error).split())[:200]}"
                        ) from error
                    running[submit(job)] = job
                    continue
                save_job_result(store, job.key, replace(result, facts=job.identity | result.facts))
                del waiting[job.key]
                left.learn(job, result)
                failed += bool(result.failure)
                pace.add(job.cost, result.seconds)
                report(job.label)


@contextmanager
def _workers(
    processes: int, cluster: Cluster | None, timeout: float | None
) -> Iterator[Callable[[ExperimentJob], Future[JobResult]]]:
    """Yield what lets a worker compute a job; after the block none does."""
    pool = JobPool()
    executor = ThreadPoolExecutor(processes) if cluster is None else cluster.executor()

    def submit(job: ExperimentJob) -> Future[JobResult]:
        with signals_blocked():  # in a thread that begins: they are for this one
            return executor.submit(_run_job, job, VERSION, timeout, pool)

    try:
        yield submit
    finally:
        pool.close()  # first, so that no thread waits for a job any more
        executor.shutdown(wait=cluster is None)


class JobPool(ProcessPool):
    """The processes of a run; in a worker of a cluster, where it is sent to, those of that worker."""

    def __reduce__(self) -> tuple[Callable[[], JobPool], tuple[()]]:
        return _pool_of_worker, ()


@cache
def _pool_of_worker() -> JobPool:
    return JobPool()


def _run_job(job: ExperimentJob, version: str, timeout: float | None, pool: JobPool) -> JobResult:
    """Compute a job in a process of the pool; why there is no result is one, too."""
    began = time.monotonic()
    status, failure = FAILED, ""
    try:
        if version == VERSION:
            done: JobResult = pool.call(_compute, job, timeout=timeout)
            return done
        failure = f"the worker has {PROGRAM} {VERSION}; the command that began the run has {version}"
    except ResultNotWritten:
        raise
    except ProcessDied as error:
        status, failure = DIED, f"its process died with code {error.code}"
    except TimeoutError as error:
        status, failure = TIME_LIMIT, str(error)
    except InputError as error:
        failure = str(error)
    except Exception as error:  # whatever it is, the other jobs continue
        failure = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return JobResult({}, failure=failure, status=status, seconds=time.monotonic() - began)


def _compute(job: ExperimentJob) -> JobResult:
    PeakMemory()
    began = time.monotonic()
    with single_threaded():
        result = job.run()
    return replace(result, seconds=time.monotonic() - began, memory_mb=peak_megabytes())


class _Pace:
    """How much of the expected work is done, and how fast the jobs ended that ended last."""

    def __init__(self, jobs: Iterable[ExperimentJob]) -> None:
        self._work = sum(job.cost for job in jobs)
        self._done = 0.0
        self._began = time.monotonic()
        self._marks = deque([(self._began, 0.0)], maxlen=RECENT)

    @property
    def fraction(self) -> float:
        return self._done / self._work if self._work else 1.0

    def add(self, cost: float, seconds: float) -> None:
        now = time.monotonic()
        if self._done == 0.0:  # the first job began when its worker had started
            self._marks[0] = max(self._began, now - seconds), 0.0
        self._done += cost
        self._marks.append((now, self._done))

    def seconds_left(self) -> float | None:
        (first, before), (last, done) = self._marks[0], self._marks[-1]
        return (self._work - self._done) * (last - first) / (done - before) if done > before else None


@dataclass(frozen=True, eq=False)
class Cluster:
    """A scheduler of Dask and its workers."""

    client: Any  # distributed.Client

    @property
    def workers(self) -> int:
        """The workers that are connected now."""
        return len(self.client.scheduler_info(n_workers=-1)["workers"])

    @property
    def connected(self) -> bool:
        """Whether the scheduler still answers."""
        return bool(self.client.status == "running")

    @property
    def threads(self) -> int:
        """How many jobs the workers run at the same time."""
        return sum(self.client.ncores().values())

    def executor(self) -> Executor:
        """Return what gives calls to the workers; its end cancels them."""
        executor: Executor = self.client.get_executor(pure=False)
        return executor


@contextmanager
def connect_to_dask(address: str) -> Iterator[Cluster]:
    """Yield the workers of a scheduler for `run_jobs`; raises InputError where there are none."""
    try:
        import distributed
    except ImportError as error:
        raise InputError(needs("--backend dask", str(error.name), "cluster")) from error
    # Dask writes nothing of its own to stderr: what ends the runs is an exception, too.
    for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
        for handler in logging.getLogger(name).handlers:
            handler.setLevel(logging.CRITICAL + 1)
    where = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
    connect: Any = distributed.Client
    try:
        if "scheduler_file" in where:  # for which Dask would wait without end
            latest = time.monotonic() + CONNECT_SECONDS
            while not os.path.exists(address) and time.monotonic() < latest:
                time.sleep(0.1)
            os.stat(address)
        client = connect(**where, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"--scheduler {address}: no scheduler of Dask answers there ({error})") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except TimeoutError:
            raise InputError(
                f"--scheduler {address}: no worker has come for {WORKER_SECONDS:g} s; start some with: "
                f"dask worker {address}"
            ) from None
        yield Cluster(client)
